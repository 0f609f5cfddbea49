"""The statements of Utpala, Vepakomma, Miolane (TMLR 2023), one by one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from riemdp.io import covariance_descriptors, descriptor_radius
from riemdp.mechanisms import RiemannianLaplace, TangentGaussian
from riemdp.privacy import ApproxDP, gaussian_delta
from riemdp.research import sample
from riemdp.spaces import SPDLogEuclidean
from riemdp.statistics import frechet_mean
from riemdp_papers import _log_gaussian as lg
from riemdp_papers._experiment import Settings, mean_and_error
from riemdp_papers._theorems import Statements
from riemdp_papers._utpala_chain import Chain
from riemdp_papers._utpala_synthetic import (
    ETA,
    LOG_RANGE,
    RECORDS,
    extrinsic_sensitivity,
    synthetic_matrices,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riemdp_papers._experiment import FloatArray

_NOTE = "[note](proofs/log-gaussian.md)"
_TANGENT = "[note](proofs/tangent-gaussian.md)"
_DESCRIPTORS = "[note](proofs/covariance-descriptors.md)"
_COMPUTED = "[computed](reproduction/utpala.md)"
_K = 3
_SPACE = SPDLogEuclidean(_K)
_DELTA = 1e-6

ROWS = Statements("utpala")
_row = ROWS.row


def printed_condition(
    first: Sequence[float], second: Sequence[float], epsilon: float
) -> tuple[float, float]:
    """``delta`` of a pair of discrete laws, and the left side of section 2's condition.

    That has one loss in both terms. Both numbers are the larger one of the two orders of the pair:
    adjacency is symmetric.
    """
    factor, delta, printed = math.exp(epsilon), 0.0, 0.0
    for one, two in ((first, second), (second, first)):
        pairs = list(zip(one, two, strict=True))
        above = sum(p for p, q in pairs if p >= factor * q)
        below = sum(p for p, q in pairs if q >= factor * p)
        delta = max(delta, sum(max(p - factor * q, 0.0) for p, q in pairs))
        printed = max(printed, above - factor * below)
    return delta, printed


@_row(
    "Section 2 (conditions)",
    "P[L ≥ ε] - e^ε P[L ≤ -ε] ≤ δ for all D ~ D' is (ε, δ)-DP. (The second term is of the "
    "loss of D' against D under D', which for Gaussian noise has the same law. As printed, "
    "over both orders, it is sufficient at ε = 0 only; for ε > 0 it may state half of δ.)",
    "true with a correction",
    _NOTE,
)
def _condition() -> str:
    delta, printed = printed_condition((0.5, 0.09, 0.41), (0.0, 0.25, 0.75), 1.0)
    return (
        f"P = (.5, .09, .41), P' = (0, .25, .75), ε = 1: {printed:.3f} printed, in the larger of "
        f"the two orders, δ = {delta:.3f}"
    )


@_row(
    "Table 1",
    "Mean squares grow as k⁴ for Laplace and as ln(1/δ) k² for Gaussian noise.",
    "true",
    _TANGENT,
)
def _table_1() -> str:
    small, large = (k * (k + 1) // 2 for k in (15, 30))
    laplace = large * (large + 1) / (small * (small + 1))
    return (
        f"k = 15 → 30: Laplace × {laplace:.2f} (2⁴ = 16), Gaussian × {large / small:.2f} (2² = 4)"
    )


def _generator(name: str) -> np.random.Generator:
    return Settings(quick=True).generator("utpala", "theorems", name)


def _some(name: str, count: int) -> list[FloatArray]:
    """Matrices with standard normal coordinates."""
    return list(_SPACE.from_chart(_generator(name).standard_normal((count, _SPACE.dim))))


def _under(residual: float) -> str:
    """Say that a residual is rounding, or how large it is."""
    return "under 1e-10" if residual < 1e-10 else f"{residual:.1e}"


@_row("Table 2", "⊕, ⊖ and ⊙ make SPD(k) a vector space.", "true", _NOTE)
def _table_2() -> str:
    x, y, z = _some("table-2", 3)
    plus, times, a, b = lg.plus, lg.times, 0.6, -1.3
    pairs = [
        (plus(x, y), plus(y, x)),
        (plus(plus(x, y), z), plus(x, plus(y, z))),
        (plus(x, np.eye(_K)), x),
        (plus(x, times(-1.0, x)), np.eye(_K)),
        (times(a, times(b, x)), times(a * b, x)),
        (times(1.0, x), x),
        (times(a, plus(x, y)), plus(times(a, x), times(a, y))),
        (times(a + b, x), plus(times(a, x), times(b, x))),
        (lg.minus(x, y), plus(x, times(-1.0, y))),
    ]
    worst = max(float(_SPACE.dist(*pair)) for pair in pairs)
    return f"largest of {len(pairs)} residuals {_under(worst)}"


@_row(
    "Section 3 (metric)",
    "ρ_LE is the distance of that vector space. (So invariant under ⊕ from either side, and "
    "under inversion.)",
    "true",
    _NOTE,
)
def _invariance() -> str:
    x, y, shift = _some("invariance", 3)
    dist = float(_SPACE.dist(x, y))
    moved = abs(float(_SPACE.dist(lg.plus(x, shift), lg.plus(y, shift))) - dist)
    inverted = abs(float(_SPACE.dist(np.linalg.inv(x), np.linalg.inv(y))) - dist)
    return f"moved by ⊕ and by inversion: changes {_under(max(moved, inverted))}"


@_row("Section 3 (mean)", "The Fréchet mean is unique, Expm of the mean logarithm.", "true", _NOTE)
def _mean() -> str:
    *points, x = _some("mean", 9)
    mean = frechet_mean(_SPACE, points).value
    logs = np.mean(_SPACE.to_chart(np.stack(points)), axis=0)
    closed = float(_SPACE.dist(mean, _SPACE.from_chart(logs)))
    energy = [0.5 * float(np.mean(_SPACE.dist(p, np.stack(points)) ** 2)) for p in (x, mean)]
    excess = abs(energy[0] - energy[1] - 0.5 * float(_SPACE.dist(x, mean)) ** 2)
    return (
        f"closed form and solver differ by {_under(closed)}; F(x) - F(mean) - ρ²/2 is "
        f"{_under(excess)}"
    )


@_row(
    "Definition 1",
    "The log-Gaussian law has the density J(X) φ(X). (Of the Frobenius volume, with h over "
    "λi - λj.)",
    "true with a correction",
    _NOTE,
)
def _definition_1() -> str:
    x = _some("definition-1", 1)[0]
    columns, step = [], 1e-6
    for i in range(_K):
        for j in range(i, _K):
            unit = np.zeros((_K, _K))
            unit[i, j] = unit[j, i] = 1.0 if i == j else math.sqrt(0.5)
            ends = _SPACE.to_chart(np.stack([x + step * unit, x - step * unit]))
            columns.append((ends[0] - ends[1]) / (2.0 * step))
    volume = abs(float(np.linalg.det(np.stack(columns))))
    right, printed = (math.exp(lg.log_jacobian(x, as_printed=p)) for p in (False, True))
    return (
        f"J over the volume factor by differences: {right / volume:.6f} with h over "
        f"λi - λj, {printed / volume:.4f} without"
    )


@_row(
    "Definition 1 (general Σ)",
    "The tangent covariance Σ may be any. (Its privacy, which the paper does not give: exactly "
    "μ-GDP with μ = Δ/√(least eigenvalue of Σ).)",
    "true, sharper here",
    _NOTE,
)
def _general_covariance() -> str:
    covariance = np.diag([1.0, 4.0, 9.0]) / 100.0
    mu = lg.gaussian_separation(covariance, 0.1)
    tempting = 0.1 / math.sqrt(np.trace(covariance) / 3.0)
    shape = np.diag([1.0, 4.0, 16.0])
    best = np.trace(lg.least_covariance(shape, 1.0))
    return (
        f"Σ = diag(1, 4, 9)/100, Δ = .1: μ = {mu:.4f} (by its mean variance {tempting:.4f}); an "
        f"ellipsoid with semi-axes 1, 2, 4 needs {best / (3 * 16):.4f} of the round noise's "
        "mean square"
    )


@_row(
    "Definition 2, Algorithm 1, Corollary A.3",
    "The mechanism is normal noise on vecd Logm, or f ⊕ N.",
    "true",
    _TANGENT,
)
def _definition_2() -> str:
    mean, sigma = _some("definition-2", 1)[0], 0.7
    normal = sigma * _generator("normal").standard_normal((5, _SPACE.dim))
    draws = _SPACE.from_chart(_SPACE.to_chart(mean) + normal)  # Algorithm 1, lines 3 to 5
    sums = np.stack([lg.plus(mean, _SPACE.from_chart(row)) for row in normal])
    density = lg.log_density(draws, mean, sigma**2 * np.eye(_SPACE.dim))
    ours = TangentGaussian(_SPACE, sigma).log_density(draws, mean)
    apart = float(np.max(np.abs(density - ours)))
    return (
        f"Algorithm 1 and f ⊕ N with one normal vector differ by "
        f"{_under(float(np.max(_SPACE.dist(draws, sums))))}, log densities of Definition 2 and of "
        f"TangentGaussian by {_under(apart)}"
    )


@_row("Theorem 1, Theorem A.4", "The privacy loss is N(ρ²/(2σ²), ρ²/σ²).", "true", _TANGENT)
def _theorem_1() -> str:
    first, second = _some("theorem-1", 2)
    sigma, covariance = 2.0, 4.0 * np.eye(_SPACE.dim)
    draws = lg.draw(first, covariance, 20_000, _generator("loss"))
    loss = lg.log_density(draws, first, covariance) - lg.log_density(draws, second, covariance)
    square = float(_SPACE.dist(first, second)) ** 2 / sigma**2
    mean, error = mean_and_error(loss)
    return (
        f"mean {mean:.3f} ± {error:.3f} of {square / 2:.3f}, variance {np.var(loss):.3f} of "
        f"{square:.3f}"
    )


@_row(
    "Theorem 2 (classical)",
    "σ = Δ √(2 ln(1.25/δ))/ε is (ε, δ)-DP for ε < 1.",
    "true",
    f"{_TANGENT}, claim 3",
)
def _classical() -> str:
    def excess(epsilon: float, delta: float) -> float:
        mu = epsilon / math.sqrt(2.0 * math.log(1.25 / delta))
        return float(gaussian_delta(mu, epsilon)) / delta

    grid = [
        excess(epsilon, delta)
        for epsilon in np.linspace(0.04, 0.99, 20)
        for delta in np.geomspace(1e-12, 0.99, 50)
    ]
    beyond = max(excess(10.0, delta) for delta in np.geomspace(1e-12, 0.99, 50))
    return (
        f"δ(ε)/δ at most {max(grid):.3f} for ε < 1; {beyond:.2f} at ε = 10, where it is not claimed"
    )


@_row(
    "Theorem 2 (analytic)",
    "Φ(Δ/2σ - εσ/Δ) - e^ε Φ(-Δ/2σ - εσ/Δ) ≤ δ is enough. (A minus sign is lost in print.)",
    "true with a correction",
    f"{_TANGENT}, claim 2",
)
def _analytic() -> str:
    budget = ApproxDP(1.0, _DELTA)
    sigma = TangentGaussian.calibrate(_SPACE, 1.0, budget).sigma
    classical = math.sqrt(2.0 * math.log(1.25 / _DELTA))
    share = float(gaussian_delta(1.0 / sigma, 1.0)) / _DELTA
    return f"ε = 1, δ = 1e-6: σ/Δ = {sigma:.4f} (classical {classical:.4f}), δ(ε)/δ = {share:.6f}"


@_row(
    "Theorem 3",
    "The sensitivity of the log-Euclidean mean is at most 2r/n. (Exactly that.)",
    "true",
    _TANGENT,
)
def _theorem_3() -> str:
    n, radius = 7, 1.5
    logs = radius * np.ones((n, 1)) @ np.eye(1, _SPACE.dim)
    moved = logs.copy()
    moved[-1] *= -1.0
    one, two = (frechet_mean(_SPACE, _SPACE.from_chart(values)).value for values in (logs, moved))
    return f"r = 1.5: a pair moves n × {n * float(_SPACE.dist(one, two)):.6f}, 2r = {2 * radius:g}"


@_row(
    "Theorem 4",
    "ρ² is σ²χ²_d, with mean 4r² ln(1.25/δ) d/(nε)². (8r².)",
    "true with a correction",
    _TANGENT,
)
def _theorem_4() -> str:
    radius, n, epsilon = 1.0, 100, 0.5
    budget = ApproxDP(epsilon, _DELTA)
    law = TangentGaussian.calibrate(_SPACE, 2.0 * radius / n, budget, method="classical")
    draws = sample(law, np.eye(_K), 20_000, _generator("theorem-4"))
    value, error = mean_and_error(_SPACE.dist(np.eye(_K), draws) ** 2)
    unit = radius**2 * math.log(1.25 / _DELTA) * _SPACE.dim / (n * epsilon) ** 2
    return f"E ρ² = ({value / unit:.3f} ± {error / unit:.3f}) r² ln(1.25/δ) d/(nε)²: 8, not 4"


@_row(
    "Theorem 5, Theorem A.7",
    "Descriptors lie within √9 max{|ln η|, ln(14 + η)} of I, in colour √11 and 16.",
    "true, sharper here",
    _DESCRIPTORS,
)
def _theorem_5() -> str:
    images = _generator("images").random((20, 24, 24))
    found = float(np.max(SPDLogEuclidean(9).dist(np.eye(9), covariance_descriptors(images, ETA))))
    bounds = ", ".join(
        f"{math.sqrt(k) * math.log(value + 1.0):.3f} with {value}"
        for k, values in ((9, (12, 14)), (11, (14, 16)))
        for value in values
    )
    return (
        f"η = 1: {bounds}; η = 1e-6: {descriptor_radius(ETA, 1):.3f}, the largest of 20 random "
        f"images {found:.3f}"
    )


def _logm(matrix: FloatArray) -> FloatArray:
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray((vectors * np.log(values)) @ vectors.T)


@_row("Lemma A.1", "vecd Logm is an isometry onto R^d.", "true", _TANGENT)
def _lemma_a1() -> str:
    x, y = _some("a1", 2)
    frobenius = float(np.linalg.norm(_logm(x) - _logm(y)))
    chart = float(np.linalg.norm(_SPACE.to_chart(x) - _SPACE.to_chart(y)))
    return f"|Logm X - Logm Y| in either form differs by {_under(abs(frobenius - chart))}"


@_row(
    "Lemma A.2",
    "Sums, inner products and norms of log-Gaussian draws are normal and χ².",
    "true",
    _NOTE,
)
def _lemma_a2() -> str:
    direction = _SPACE.to_chart(_some("a2", 1)[0])
    draws = lg.draw(np.eye(_K), 0.25 * np.eye(_SPACE.dim), 20_000, _generator("A.2"))
    chart = _SPACE.to_chart(draws)
    share = float(np.var(chart @ direction) / (0.25 * direction @ direction))
    value, error = mean_and_error(np.sum(chart**2, axis=1) / 0.25)
    return (
        f"variance of ⟨Logm C, Logm X⟩ {share:.3f} of σ²|Logm C|²; E |Logm X|²/σ² = {value:.2f} ± "
        f"{error:.2f}, d = {_SPACE.dim}"
    )


@_row("Lemma A.5", "Eigenvalues in [ℓ, L] bound |Logm X| by √k max{|ln ℓ|, |ln L|}.", "true", _NOTE)
def _lemma_a5() -> str:
    low, high = 0.3, 5.0
    values = _generator("a5").uniform(low, high, (1000, _K))
    share = float(np.max(np.linalg.norm(np.log(values), axis=1)))
    bound = math.sqrt(_K) * max(abs(math.log(low)), abs(math.log(high)))
    return f"largest of 1000: {share / bound:.3f} of the bound"


@_row(
    "Lemma A.5 (proof)",
    "Cases 1 and 2b bound |ln ℓ| by |ln λmin| and |ln L| by |ln λmax|. (Neither holds, and "
    "neither is needed.)",
    "true with a correction",
    _NOTE,
)
def _lemma_a5_proof() -> str:
    return (
        f"case 2b at λmax = .5, L = 10: |ln L| = {math.log(10):.3f} > |ln λmax| = {math.log(2):.3f}"
    )


@_row(
    "Lemma A.6",
    "Descriptors have spectral norm at most 12 + η, in colour 14 + η.",
    "true",
    _DESCRIPTORS,
)
def _lemma_a6() -> str:
    images = np.stack([np.tile(np.arange(24) // period % 2, (24, 1)) for period in (1, 2, 3, 4)])
    found = np.linalg.eigvalsh(covariance_descriptors(images.astype(float), ETA))[:, -1]
    return (
        f"largest of four images of stripes {np.max(found):.3f}, below 9 + π²/4 = "
        f"{9 + math.pi**2 / 4:.4f} < 12"
    )


@_row(
    "Lemma A.6 (proof)",
    "Step 3: |φ - μ| ≤ |φ| pixel by pixel. (In the mean of the squares.)",
    "true with a correction",
    _DESCRIPTORS,
)
def _lemma_a6_proof() -> str:
    grid = np.stack(np.meshgrid(*[np.linspace(0.0, 1.0, 24)] * 2), axis=-1).reshape(-1, 2)
    middle = float(np.sum((grid[0] - np.mean(grid, axis=0)) ** 2))
    return f"φ = 0 has |φ - μ|² ≥ {middle:.2f}"


@_row("Section 6.1 (data)", "The synthetic matrices lie within √k/4 of I.", "true", _NOTE)
def _data() -> str:
    points = synthetic_matrices(30, RECORDS, _generator("data"))
    largest = float(np.max(SPDLogEuclidean(30).dist(np.eye(30), points)))
    return (
        f"k = 30: largest norm {largest:.3f} of {RECORDS}, √k/4 = {LOG_RANGE * math.sqrt(30):.3f}"
    )


@_row("Section 6.1 (extrinsic)", "The extrinsic sensitivity is 2(e^r - 1)/n.", "false", _COMPUTED)
def _extrinsic() -> str:
    radius, n = LOG_RANGE * math.sqrt(30), RECORDS
    printed = extrinsic_sensitivity(radius, n)[0]
    pair = math.exp(radius) * -math.expm1(-2.0 * radius / n)
    return f"r = √30/4, n = 500: {printed:.5f} printed, {pair:.5f} by a pair"


@_row(
    "Appendix B.1",
    "A Markov chain draws the Laplace law. (In the limit alone; exact draws exist.)",
    "true with a correction",
    "[note](proofs/exact-samplers.md)",
)
def _chain() -> str:
    dim = 55
    chain = Chain(dim, 1.0)
    start = _generator("start").standard_normal((100, dim)) * 5.0
    dist, _ = chain.run(start, (100, 3000), _generator("chain"))
    exact = RiemannianLaplace(SPDLogEuclidean(10), 1.0).expected_distance()
    early, late = (mean_and_error(row) for row in dist)
    return (
        f"k = 10: mean ρ/σ {early[0]:.1f} ± {early[1]:.1f} after 100 steps, {late[0]:.1f} ± "
        f"{late[1]:.1f} after 3000, {exact:.1f} exact"
    )
