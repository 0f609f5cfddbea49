"""What must hold of a mechanism."""

from __future__ import annotations

import dataclasses
import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import GDP, ApproxDP, Ball, InvalidParameterError, PureDP, UnsupportedError
from riemdp.auditing import audit
from riemdp.research._sample import exact_sample, sample
from riemdp.testing._tools import ERRORS, available, require

if TYPE_CHECKING:
    from riemdp.mechanisms import Mechanism
    from riemdp.spaces import FloatArray

#: So many of exact draws, which take some tenths of a millisecond, and of others.
_EXACT, _DRAWS = 1500, 4000
_EPSILONS = np.linspace(0.0, 6.0, 25)


def _sample(mechanism: Mechanism, footpoint: Any, size: Any, generator: Any) -> FloatArray:
    """Draw as releases do: exactly; by its own ``sample`` a mechanism without an exact draw."""
    draw = exact_sample if _draws_exactly(mechanism) else sample
    return draw(mechanism, footpoint, size, generator)


def _draws_exactly(mechanism: Mechanism) -> bool:
    manifold = mechanism.manifold
    base = getattr(mechanism, "base", None)
    reach = min(mechanism.sigma, 0.25 * manifold.injectivity_radius)
    try:
        mechanism.exact_draw(Ball(manifold, manifold.origin if base is None else base, reach))
    except UnsupportedError:
        return False
    return True


@functools.lru_cache(maxsize=4)
def _draws(mechanism: Mechanism, seed: int = 0) -> FloatArray:
    number = _EXACT if _draws_exactly(mechanism) else _DRAWS
    return _sample(mechanism, mechanism.manifold.origin, number, np.random.default_rng(seed))


def _neighbour(mechanism: Mechanism, sensitivity: float) -> FloatArray:
    """Return a footpoint at that distance from the origin."""
    coordinates = np.zeros(mechanism.manifold.dim)
    coordinates[0] = sensitivity
    return mechanism.manifold.point(mechanism.manifold.origin, coordinates)


def _sensitivity(mechanism: Mechanism) -> float:
    return min(0.5 * mechanism.sigma, 0.4 * mechanism.manifold.injectivity_radius)


def _has_distance_law(mechanism: Mechanism) -> bool:
    """Whether the law of the distance is known, and not merely a bound."""
    try:
        mechanism.distance_law(mechanism.manifold.origin)
    except (InvalidParameterError, UnsupportedError):
        return False
    return True


def draws_are_points(mechanism: Mechanism) -> None:
    """Check that draws are points of the manifold, from the generator that was given."""
    manifold, origin = mechanism.manifold, mechanism.manifold.origin
    manifold.validate(_draws(mechanism))
    for size, leading in ((None, ()), (3, (3,)), ((2, 3), (2, 3))):
        found = np.shape(_sample(mechanism, origin, size, np.random.default_rng(1)))
        wanted = (*leading, *manifold.point_shape)
        require(found == wanted, f"sample(size={size}) has shape {wanted}, not {found}")
    one, same, other = (_sample(mechanism, origin, 3, np.random.default_rng(s)) for s in (1, 1, 2))
    require(one.tobytes() == same.tobytes(), "a seeded generator gives the same draws again")
    require(one.tobytes() != other.tobytes(), "draws come from the generator")


def distances_follow_the_law(mechanism: Mechanism) -> None:
    """Check that draws are as far away as ``expected_distance`` and ``error_quantile`` say.

    No farther, where the law of the distance is known as a bound only.
    """
    exact = _has_distance_law(mechanism)
    dist = mechanism.manifold.dist(mechanism.manifold.origin, _draws(mechanism))
    with available():
        error = float(np.std(dist)) / math.sqrt(len(dist))
        mean = mechanism.expected_distance()
        off = float(np.mean(dist)) - mean
        require(
            (abs(off) if exact else off) <= ERRORS * error,
            f"the mean distance is {mean:.6g}, {len(dist)} draws have {np.mean(dist):.6g}",
        )
    with available():
        for q in (0.1, 0.5, 0.9):
            share = float(np.mean(dist <= mechanism.error_quantile(q)))
            error = math.sqrt(q * (1.0 - q) / len(dist))
            require(
                (abs(share - q) if exact else q - share) <= ERRORS * error,
                f"the {q} quantile of the distance has {share:.4f} of {len(dist)} draws under it",
            )


def density_is_that_of_the_draws(mechanism: Mechanism) -> None:
    """Check that weights ``q(x)/p(x)`` of draws from p have the mean 1, for a q next to p."""
    with available():
        origin, other = mechanism.manifold.origin, _neighbour(mechanism, 0.3 * mechanism.sigma)
        draws = _draws(mechanism)
        change = mechanism.log_density(draws, other) - mechanism.log_density(draws, origin)
        require(np.isfinite(change), "log_density is finite at draws")
        weights = np.exp(change)
        error = float(np.std(weights)) / math.sqrt(len(draws)) + 1e-9
        require(
            abs(float(np.mean(weights)) - 1.0) <= ERRORS * error,
            f"log_density is that of the draws: the mean weight is {np.mean(weights):.4f}, not 1",
        )


def curve_falls(mechanism: Mechanism) -> None:
    """Check that ``delta`` falls in epsilon and grows with the sensitivity."""
    sensitivity = _sensitivity(mechanism)
    near, far = mechanism.privacy(0.5 * sensitivity), mechanism.privacy(sensitivity)
    delta = np.asarray(far.delta_at(_EPSILONS))
    require((delta >= 0.0) & (delta <= 1.0), "delta lies in [0, 1]")
    require(np.diff(delta) <= 1e-12, "delta falls in epsilon")
    smaller = np.asarray(near.delta_at(_EPSILONS))
    require(smaller <= delta + 1e-12, "delta grows with the sensitivity")
    wanted = 1e-3
    epsilon = far.epsilon_at(wanted)
    require(
        math.isinf(epsilon) or float(far.delta_at(epsilon)) <= wanted * (1.0 + 1e-9),
        "delta_at(epsilon_at(delta)) is at most delta",
    )


def curve_holds_for_draws(mechanism: Mechanism) -> None:
    """Check that an audit of two footpoints at the sensitivity finds no violation."""
    sensitivity = _sensitivity(mechanism)
    result = audit(
        mechanism,
        mechanism.manifold.origin,
        _neighbour(mechanism, sensitivity),
        mechanism.privacy(sensitivity),
        samples=_DRAWS,
        confidence=1.0 - 1e-6,
        generator=np.random.default_rng(2),
    )
    require(
        result.verdict == "consistent",
        f"draws keep within the privacy curve: epsilon is at least {result.epsilon_lower(0.0):.4g} "
        "at delta = 0",
    )


def calibration_keeps_the_budget(mechanism: Mechanism) -> None:
    """Check that ``calibrate`` keeps the budget, or refuses by ``UnsupportedError``."""
    sensitivity = _sensitivity(mechanism)
    chosen = {field.name: getattr(mechanism, field.name) for field in dataclasses.fields(mechanism)}
    options = {name: value for name, value in chosen.items() if name not in {"manifold", "sigma"}}
    for budget in (PureDP(1.0), ApproxDP(1.0, 1e-6), GDP(1.0)):
        with available():
            found = type(mechanism).calibrate(mechanism.manifold, sensitivity, budget, **options)
            require(found.satisfies(sensitivity, budget), f"calibrate satisfies {budget}")


CHECKS = (
    draws_are_points,
    distances_follow_the_law,
    density_is_that_of_the_draws,
    curve_falls,
    curve_holds_for_draws,
    calibration_keeps_the_budget,
)
