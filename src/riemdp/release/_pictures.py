"""Pictures of releases: of the law of their error, and of the value in its space."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp import _plots
from riemdp._checks import is_one_of, shown
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp._plots import BLUE, GREEN, ORANGE, PURPLE
from riemdp.mechanisms import if_known

if TYPE_CHECKING:
    from riemdp.release._release import Release
    from riemdp.spaces import Manifold

View = Literal["auto", "value", "error"]
#: Probabilities that the law of an error is drawn at.
PROBABILITIES = np.concatenate(
    [[0.0, 0.0005, 0.002, 0.005, 0.01], np.linspace(0.025, 0.95, 38), [0.97, 0.98, 0.99]]
)
_LEVEL = 0.95


def draw_release(release: Release, ax: Any, view: View) -> Any:
    """Draw what :meth:`Release.plot` says."""
    if not is_one_of(view, ("auto", "value", "error")):
        raise InvalidParameterError(f'view must be "auto", "value" or "error", got {shown(view)}')
    axes = _plots.axes(ax)
    if view != "error" and _draw_value(release, axes):
        return axes
    if view == "value":
        if ax is None:
            _discard(axes)
        raise UnsupportedError(
            f'{_space(release)} has no picture of its points; view="error" draws the law of the '
            "error"
        )
    try:
        distances = np.array([release.error_quantile(q) for q in PROBABILITIES.tolist()])
    except UnsupportedError:
        if ax is None:
            _discard(axes)
        raise
    _draw_law(release, axes, distances)
    return axes


def _discard(axes: Any) -> None:
    """Close axes that were made for a picture that there is not."""
    import matplotlib.pyplot as plt

    plt.close(axes.figure)


def _draw_value(release: Release, axes: Any) -> bool:
    """Draw the value with what lies within its error; false where there is no picture."""
    radius, words = _reach(release)
    if _space(release).draw(axes, release.raw, radius) is None:
        return False
    _plots.titled(axes, *_headline(release), words)
    return True


def _reach(release: Release) -> tuple[float, str]:
    """Return how far the exact value is at most, mostly, and words for that."""
    if release.shrunk:
        return 0.0, "shrunk towards the centre: its error has not the law of the noise"
    exact = _is_a_distance(release)
    far = if_known(release.error_quantile, _LEVEL) if exact else None
    if far is not None:
        return far, f"orange: {100 * _LEVEL:g} % of the noise, {_said(_space(release), far)}"
    mechanism = release.mechanism
    far = if_known(lambda: release._longer(mechanism.expected_distance_in(release._answers)))
    if far is None:
        return 0.0, "how far noise gets is not known"
    return far, f"orange: expected at most {_said(_space(release), far)}"


def _is_a_distance(release: Release) -> bool:
    """Whether lengths of the noise are distances, and not those in a tangent space alone."""
    mechanism = release.mechanism
    known = if_known(lambda: mechanism.expected_distance_in(release._answers))
    return known == if_known(mechanism.expected_distance)


def _draw_law(release: Release, axes: Any, distances: np.ndarray[Any, Any]) -> None:
    """Draw how probable it is that an error stays under each distance."""
    space = _space(release)
    axes.plot(distances, PROBABILITIES, color=BLUE, linewidth=2.0, label="law of the noise")
    marks = [("median", 0.5, GREEN, ":"), (f"{100 * _LEVEL:g} % under", _LEVEL, PURPLE, "--")]
    for name, q, colour, style in marks:
        far = release.error_quantile(q)
        label = f"{name} {_said(space, far)}"
        axes.plot([far, far], [0.0, q], color=colour, linestyle=style, label=label)
    mean = if_known(lambda: release.expected_distance)
    if mean is not None:
        axes.axvline(mean, color=ORANGE, linewidth=1.2, label=f"expected {_said(space, mean)}")
    what = "error of the noise, geodesic distance"
    if not _is_a_distance(release):
        what = "length of the noise in the tangent space"
    axes.set(xlabel=what, ylabel="probability of at most that", ylim=(0.0, 1.02))
    axes.set_xlim(left=0.0, right=1.02 * distances[-1])
    _plots.second_axis(axes, space.unit(float(distances[-1])))
    axes.legend(loc="lower right", fontsize="small", framealpha=0.9)
    note = "before it was shrunk" if release.shrunk else ""
    _plots.titled(axes, *_headline(release), note)


def _headline(release: Release) -> tuple[str, ...]:
    n = "n private" if release.n is None else f"n = {release.n:,}"
    seeded = "" if release.private else "NOT PRIVATE: the noise was seeded"
    what = release.statistic.title.replace("-", " ")
    return f"{what}, {release.ball.manifold}, {n}, {release.guarantee}", seeded


def _space(release: Release) -> Manifold:
    return release.offer.value.ball.manifold


def _said(space: Manifold, distance: float) -> str:
    """Say a distance, with the users' unit where there is a short one."""
    unit = space.unit(distance)
    return f"{distance:.3g}" + (f" ({unit.short(distance)})" if unit is not None else "")
