"""What the experiments of Utpala et al. share: their data, mechanisms and settings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.mechanisms import RiemannianLaplace, TangentGaussian
from riemdp.privacy import ApproxDP, PureDP
from riemdp.spaces import SPDLogEuclidean
from riemdp_papers._experiment import Line, mean_and_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp.mechanisms import Mechanism
    from riemdp_papers._experiment import FloatArray

#: Section 6.1.
SIZES = (2, 5, 10, 15, 20, 25, 30)
EPSILONS = (0.1, 0.2, 0.3, 0.4)
DELTAS = (1e-6, 1e-7, 1e-8, 1e-9)
RECORDS, LOG_RANGE = 500, 0.25
#: Section 6.2.
IMAGE_EPSILONS = (0.1, 0.3, 0.5, 0.7, 0.9)
IMAGE_DELTAS = (1e-5, 1e-7, 1e-9)
CLASSES, ETA = 4, 1e-6
#: Appendix B.
BURN_INS = (10_000, 30_000, 50_000)

LAPLACE = "Riemannian Laplace"
CLASSICAL = "tangent Gaussian, classical"
ANALYTIC = "tangent Gaussian, analytic"


def synthetic_matrices(k: int, n: int, generator: np.random.Generator) -> FloatArray:
    """Matrices (n, k, k) of Section 6.1: eigenvalues uniform in [e^-1/4, e^1/4], Haar vectors."""
    values = generator.uniform(math.exp(-LOG_RANGE), math.exp(LOG_RANGE), (n, k))
    vectors, _ = np.linalg.qr(generator.standard_normal((n, k, k)))  # Haar up to signs
    matrices = (vectors * values[:, None]) @ vectors.swapaxes(1, 2)
    return np.asarray(0.5 * (matrices + matrices.swapaxes(1, 2)))


def synthetic_mechanisms(k: int, epsilon: float, delta: float) -> dict[str, Mechanism]:
    """Calibrate the mechanisms of Figure 1, for data within ``sqrt(k) / 4`` of the identity."""
    space, sensitivity = SPDLogEuclidean(k), 2.0 * LOG_RANGE * math.sqrt(k) / RECORDS
    approx = ApproxDP(epsilon, delta)
    return {
        LAPLACE: RiemannianLaplace.calibrate(space, sensitivity, PureDP(epsilon)),
        CLASSICAL: TangentGaussian.calibrate(space, sensitivity, approx, method="classical"),
        ANALYTIC: TangentGaussian.calibrate(space, sensitivity, approx),
    }


def extrinsic_sensitivity(radius: float, n: int) -> tuple[float, float]:
    """Frobenius sensitivity of the log-Euclidean mean: as published, and a valid one.

    Published: ``2 (e^r - 1) / n``. Valid: ``2 r e^r / n``, as the exponential has Lipschitz
    constant ``e^r`` on symmetric matrices of norm at most r. The published one is too small
    even for k = 1: with all logarithms at r, moving one to -r changes the mean by
    ``e^r (1 - e^(-2r/n))``, which is nearly the valid bound.
    """
    return 2.0 * math.expm1(radius) / n, 2.0 * radius * math.exp(radius) / n


def banded(label: str, x: Sequence[float], values: Sequence[FloatArray]) -> Line:
    """Means with a band of two standard deviations, as the paper draws them."""
    means = tuple(float(np.mean(value)) for value in values)
    return Line(f"{label} (± 2 sd)", tuple(x), means, tuple(2.0 * float(np.std(v)) for v in values))


def with_error(values: FloatArray) -> str:
    """Mean and its standard error, as text."""
    mean, error = mean_and_error(values)
    return f"{mean:.4g} ± {error:.1g}"
