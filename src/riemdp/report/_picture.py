"""Error rates that a guarantee leaves to an adversary, as a picture inside the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp.report._markup import Markup, joined, tag
from riemdp.report._strength import largest_true_positive_rates

if TYPE_CHECKING:
    from riemdp.privacy import Budget

_RATES = np.concatenate([np.geomspace(1e-4, 0.02, 12), np.linspace(0.03, 0.99, 49)])
#: Of the square that the curve is in, in the units of the picture.
_LEFT, _TOP, _SIDE = 52.0, 10.0, 240.0


def trade_off(guarantee: Budget, marked: float) -> Markup | None:
    """Draw how often a test can be right against how often it is wrong, with a dot at one rate.

    None where nothing is known of such rates.
    """
    found = largest_true_positive_rates(guarantee, np.append(_RATES, marked))
    if found is None:
        return None
    *line, dot = found.tolist()
    curve = [(0.0, 0.0), *zip(_RATES.tolist(), line, strict=True), (1.0, 1.0)]
    ticks = [_tick(share) for share in (0.0, 0.5, 1.0)]
    middle = _LEFT + _SIDE / 2
    words = (
        f"Largest true positive rate against the false positive rate: {dot:.3f} at {marked:g}, "
        f"where a guess without the release has {marked:g}."
    )
    return tag(
        "svg",
        tag("title", words),
        _rectangle(),
        _polyline([(0.0, 0.0), (1.0, 1.0)], "guess"),
        _polyline(curve, "curve"),
        tag("circle", cx=_x(marked), cy=_y(dot), r="4", class_="dot"),
        *ticks,
        tag("text", "wrong alarms", x=f"{middle:g}", y="288", class_="axis"),
        tag("text", "right alarms", x="10", y="130", class_="axis", transform="rotate(-90 10 130)"),
        viewBox="0 0 312 296",
        role="img",
        class_="picture",
    )


def _x(share: float) -> str:
    return f"{_LEFT + _SIDE * share:.1f}"


def _y(share: float) -> str:
    return f"{_TOP + _SIDE * (1.0 - share):.1f}"


def _rectangle() -> Markup:
    side = f"{_SIDE:g}"
    return tag("rect", x=f"{_LEFT:g}", y=f"{_TOP:g}", width=side, height=side, class_="frame")


def _polyline(points: list[tuple[float, float]], class_: str) -> Markup:
    places = " ".join(f"{_x(x)},{_y(y)}" for x, y in points)
    return tag("polyline", points=places, class_=class_)


def _tick(share: float) -> Markup:
    label = f"{100 * share:g} %"
    below = tag("text", label, x=_x(share), y=f"{_TOP + _SIDE + 16:g}", class_="tick below")
    beside = tag("text", label, x=f"{_LEFT - 5:g}", y=f"{float(_y(share)) + 4:g}", class_="tick")
    return joined((below, beside))
