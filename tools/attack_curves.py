"""Search for a privacy curve that is below the truth.

    python tools/attack_curves.py [--seed 0] [--rounds 200]

Random curves at random losses, next to zero and next to the largest loss among them: isotropic laws
against enclosures in ball arithmetic (python-flint), the Laplace law on the line and Gaussian
differential privacy against 60 digits. A value below the enclosure's lower end, or below the exact
number, is a guarantee that does not hold. Exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import math
import sys

import mpmath
import numpy as np

from riemdp import ConvergenceError, NotAttainableError
from riemdp.privacy import GaussianCurve, IsotropicCurve, LaplaceCurve, certified_delta


def losses(largest: float, rng: np.random.Generator) -> list[float]:
    """Choose losses from tiny ones up to the largest."""
    top = min(largest, 30.0)
    near = [top * (1.0 - 10.0 ** rng.uniform(-12, -1)) for _ in range(2)]
    return [0.0, 10.0 ** rng.uniform(-9, -2), *(top * rng.uniform(0.0, 1.0, 3)), *near]


def isotropic(rng: np.random.Generator) -> IsotropicCurve:
    """Choose a curve on a sphere, a hyperbolic or a flat space."""
    kind = str(rng.choice(["laplace", "gaussian"]))
    dim = int(rng.choice([2, 3, 5]))
    curvature = float(rng.choice([1.0, -1.0, 0.0]))
    reach = 3.0 if curvature > 0.0 else 10.0 ** rng.uniform(-2, 0.5)
    sensitivity = float(reach * rng.uniform(0.001, 1.0))
    sigma = float(reach * 10.0 ** rng.uniform(-0.5, 0.3))
    if curvature < 0.0 and kind == "laplace":
        sigma = min(sigma, 0.9 / (dim - 1))
    return IsotropicCurve(kind, dim, curvature, sigma, sensitivity)  # type: ignore[arg-type]


def gaussian_delta(mu: float, epsilon: float) -> mpmath.mpf:
    """``Phi(mu/2 - eps/mu) - e^eps Phi(-mu/2 - eps/mu)``."""
    m, e = mpmath.mpf(mu), mpmath.mpf(epsilon)
    return mpmath.ncdf(m / 2 - e / m) - mpmath.exp(e) * mpmath.ncdf(-m / 2 - e / m)


def laplace_delta(ratio: float, epsilon: float) -> mpmath.mpf:
    """``1 - e^((eps - ratio)/2)`` up to the largest loss, which is the ratio, then zero."""
    return mpmath.mpf(0) if epsilon >= ratio else -mpmath.expm1((mpmath.mpf(epsilon) - ratio) / 2)


def main(arguments: list[str] | None = None) -> int:
    """Search, print the counts, return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=60, help="curves of each kind")
    options = parser.parse_args(arguments)
    rng = np.random.default_rng(options.seed)
    tried = below = skipped = 0
    widest = 0.0
    for _ in range(options.rounds):
        try:
            curve = isotropic(rng)
            largest = float(curve.pure_epsilon())
        except NotAttainableError:
            continue
        for epsilon in losses(largest, rng):
            try:
                lower, upper = certified_delta(curve, epsilon)
                value = float(curve.delta_at(epsilon))
            except ConvergenceError:
                skipped += 1
                continue
            tried += 1
            below += value < lower
            widest = max(widest, (value - upper) / upper if upper > 1e-12 else 0.0)
    print(
        f"isotropic laws against enclosures: {tried} points, {below} below, {skipped} without an "
        f"enclosure, at most {widest:.1e} above where delta > 1e-12"
    )
    found = below
    with mpmath.workdps(60):
        for name, exact in (("gaussian", gaussian_delta), ("laplace", laplace_delta)):
            tried = below = 0
            for _ in range(5 * options.rounds):
                size = float(10.0 ** rng.uniform(-6, 1.3))
                made = GaussianCurve(size) if name == "gaussian" else LaplaceCurve(size)
                for epsilon in losses(size if name == "laplace" else math.inf, rng):
                    tried += 1
                    below += mpmath.mpf(float(made.delta_at(epsilon))) < exact(size, epsilon)
            print(f"{name} against 60 digits: {tried} points, {below} below")
            found += below
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
