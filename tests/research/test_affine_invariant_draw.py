from __future__ import annotations

import math
from itertools import pairwise

import mpmath
import numpy as np
import pytest
import scipy.stats

from riemdp._errors import NotAttainableError
from riemdp.noise._volume_series import growth_rate
from riemdp.research import _affine_invariant_draw
from riemdp.research._affine_invariant_draw import AffineInvariantDraw, _sample_trace


def _draw(kind: str, k: int, scale: float) -> AffineInvariantDraw:
    sigma = scale / growth_rate(k) if kind == "laplace" and k > 1 else scale
    return AffineInvariantDraw(kind, k, sigma)


def _cdf(draw: AffineInvariantDraw, norms: np.ndarray) -> np.ndarray:
    """The radial law's cdf, interpolated where many values are asked for."""
    grid = np.linspace(norms.min(), norms.max(), 3_000)
    return np.interp(norms, grid, draw.radial.cdf(grid))


def _fit(draw: AffineInvariantDraw, logs: np.ndarray) -> float:
    norms = np.linalg.norm(logs, axis=-1)
    return float(scipy.stats.kstest(_cdf(draw, norms), "uniform").pvalue)


BOTH = [("gaussian", 2, 1.0), ("gaussian", 3, 0.8), ("gaussian", 4, 1.0), ("gaussian", 5, 1.3)]
BOTH += [("laplace", 2, 0.5), ("laplace", 3, 0.6), ("laplace", 4, 0.7), ("laplace", 5, 0.85)]


def _statistics(logs: np.ndarray) -> list[np.ndarray]:
    logs = np.sort(logs, axis=-1)
    return [np.linalg.norm(logs, axis=-1), logs.sum(axis=-1), logs[:, -1] - logs[:, 0]]


@pytest.mark.fast(1)
@pytest.mark.parametrize(("kind", "k", "scale"), BOTH)
def test_both_schemes_draw_the_same_law(kind, k, scale, holds):
    draw = _draw(kind, k, scale)

    def pvalue(generator: np.random.Generator) -> float:
        one, _ = draw.sample(15_000, generator, "shells")
        two, _ = draw.sample(15_000, generator, "ordered")
        pairs = zip(_statistics(one), _statistics(two), strict=True)
        return 3.0 * min(scipy.stats.ks_2samp(a, b).pvalue for a, b in pairs)

    assert holds(pvalue)


RADIAL = [*BOTH, ("gaussian", 1, 0.5), ("laplace", 1, 0.5), ("gaussian", 2, 1e-4)]
RADIAL += [("gaussian", 3, 1e-4), ("laplace", 3, 1e-4), ("gaussian", 5, 20.0), ("laplace", 3, 0.99)]
RADIAL += [("gaussian", 10, 0.3), ("laplace", 10, 0.65)]


@pytest.mark.fast("gaussian-3-0.8")
@pytest.mark.parametrize(("kind", "k", "scale"), RADIAL)
def test_norms_follow_the_radial_law(kind, k, scale, holds):
    draw = _draw(kind, k, scale)
    size = 40_000 if k <= 5 else 10_000

    def pvalue(generator: np.random.Generator) -> float:
        logs, vectors = draw.sample(size, generator)
        identity = vectors[:50] @ np.swapaxes(vectors[:50], -1, -2)
        np.testing.assert_allclose(identity, np.broadcast_to(np.eye(k), identity.shape), atol=1e-12)
        return _fit(draw, logs)

    assert holds(pvalue)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "k", "scale"), [c for c in RADIAL if c[1] <= 5])
@pytest.mark.parametrize("scheme", ["shells", "ordered"])
def test_a_million_norms_follow_the_radial_law(kind, k, scale, scheme, holds):
    draw = _draw(kind, k, scale)
    if k > 1 and draw.acceptance(scheme) < 0.01:
        pytest.skip("the other scheme serves this scale")

    def pvalue(generator: np.random.Generator) -> float:
        logs, _ = draw.sample(1_000_000, generator, scheme)
        return _fit(draw, logs)

    assert holds(pvalue)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "scale"), [("gaussian", 0.3), ("laplace", 0.65)])
def test_thirty_by_thirty(kind, scale, holds):
    draw = _draw(kind, 30, scale)

    def pvalue(generator: np.random.Generator) -> float:
        logs, _ = draw.sample(1_500, generator)
        return _fit(draw, logs)

    assert holds(pvalue)


@pytest.mark.fast("shells-gaussian-7-2.0", "ordered-gaussian-5-1.3")
@pytest.mark.parametrize(
    ("scheme", "kind", "k", "scale"),
    [
        ("shells", "gaussian", 7, 2.0),
        ("shells", "gaussian", 10, 2.0),
        ("shells", "laplace", 10, 0.93),
        ("ordered", "gaussian", 5, 1.3),
        ("ordered", "laplace", 4, 0.7),
    ],
)
def test_a_sampler_that_accepts_everything_is_noticed(scheme, kind, k, scale, monkeypatch):
    draw = _draw(kind, k, scale)
    assert draw.plan
    if scheme == "shells":
        monkeypatch.setattr(_affine_invariant_draw, "log_volume", lambda x: np.full(len(x), np.inf))
    else:
        monkeypatch.setattr(np, "expm1", lambda x: -np.ones_like(x))
    logs, _ = draw.sample(15_000, np.random.default_rng(3), scheme)
    monkeypatch.undo()
    assert _fit(draw, logs) < 1e-8


@pytest.mark.slow
def test_a_wrong_sign_is_noticed(monkeypatch):
    draw = _draw("gaussian", 4, 1.0)
    volume = _affine_invariant_draw.log_volume
    monkeypatch.setattr(_affine_invariant_draw, "log_volume", lambda x: -volume(x))
    logs, _ = draw.sample(5_000, np.random.default_rng(3), "shells")
    assert _fit(draw, logs) < 1e-8


def _gap_cells(kind: str, sigma: float, edges: np.ndarray) -> np.ndarray:
    """Probabilities of cells of both gaps and the trace of three log-eigenvalues, by midpoints."""
    fine = 20
    middles = [
        np.concatenate([a + (b - a) * (np.arange(fine) + 0.5) / fine for a, b in pairwise(line)])
        for line in edges
    ]
    low, high, t = np.meshgrid(*middles, indexing="ij", sparse=True)
    square = (low**2 + high**2 + (low + high) ** 2) / 3.0 + t**2 / 3.0
    energy = np.sqrt(square) / sigma if kind == "laplace" else 0.5 * square / sigma**2
    density = np.sinh(0.5 * low) * np.sinh(0.5 * high) * np.sinh(0.5 * (low + high))
    density = density * np.exp(-energy)
    widths = [np.repeat(np.diff(line), fine) for line in edges]
    density = density * widths[0][:, None, None] * widths[1][:, None] * widths[2]
    bins = [line.size - 1 for line in edges]
    cells = density.reshape(bins[0], fine, bins[1], fine, bins[2], fine).sum(axis=(1, 3, 5))
    return np.asarray(cells / cells.sum())


def _gap_pvalue(kind: str, sigma: float, logs: np.ndarray, claimed: float) -> float:
    """Chi-square of both gaps and the trace jointly, conditional on a box."""
    logs = np.sort(logs, axis=-1)
    coordinates = np.stack([logs[:, 1] - logs[:, 0], logs[:, 2] - logs[:, 1], logs.sum(axis=1)])
    edges = [np.quantile(line, np.linspace(0.0, 0.995, 6)) for line in coordinates[:2]]
    edges = [np.concatenate([[0.0], line[1:]]) for line in edges]
    edges.append(np.quantile(coordinates[2], np.linspace(0.003, 0.997, 6)))
    counts, _ = np.histogramdd(coordinates.T, edges)
    expected = counts.sum() * _gap_cells(kind, claimed * sigma, edges)
    return float(scipy.stats.chisquare(counts.ravel(), expected.ravel()).pvalue)


@pytest.mark.fast(1)
@pytest.mark.parametrize(("kind", "sigma"), [("gaussian", 0.8), ("laplace", 0.4)])
@pytest.mark.parametrize("scheme", ["shells", "ordered"])
def test_three_eigenvalues_jointly_against_cells_of_the_density(kind, sigma, scheme, holds):
    draw = AffineInvariantDraw(kind, 3, sigma)

    def pvalue(generator: np.random.Generator) -> float:
        return _gap_pvalue(kind, sigma, draw.sample(30_000, generator, scheme)[0], 1.0)

    assert holds(pvalue)
    logs, _ = draw.sample(30_000, np.random.default_rng(0), scheme)
    assert _gap_pvalue(kind, sigma, logs, 1.05) < 1e-8


@pytest.mark.fast(1)
@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("scheme", ["shells", "ordered"])
def test_eigenvectors_are_uniform_whatever_the_eigenvalues(k, scheme, holds):
    draw = _draw("gaussian", k, 1.0 if k < 10 else 2.5)
    axis = np.arange(1.0, k + 1.0)
    axis /= np.linalg.norm(axis)
    law = scipy.stats.beta(0.5, 0.5 * (k - 1))

    def pvalue(generator: np.random.Generator) -> float:
        logs, vectors = draw.sample(4_000, generator, scheme)
        squares = np.square(np.einsum("i,nij->nj", axis, vectors))
        norms = np.linalg.norm(logs, axis=-1)
        far = norms > np.median(norms)
        parts = [squares[half, j] for half in (far, ~far) for j in (0, k - 1)]
        return len(parts) * min(scipy.stats.kstest(part, law.cdf).pvalue for part in parts)

    assert holds(pvalue)


#: Acceptance of the scheme with the larger one, and what it is compared with.
TABLE = {
    ("gaussian", 5): [1.0, 0.999, 0.996, 0.952],
    ("gaussian", 10): [0.999, 0.992, 0.939, 0.614],
    ("gaussian", 20): [0.998, 0.882, 0.432, 0.069],
    ("gaussian", 30): [0.992, 0.545, 0.0369, 0.00191],
    ("laplace", 5): [0.998, 0.985, 0.955, 0.889],
    ("laplace", 10): [0.995, 0.959, 0.866, 0.681],
    ("laplace", 20): [0.986, 0.875, 0.621, 0.253],
    ("laplace", 30): [0.971, 0.757, 0.370, 0.0526],
}


@pytest.mark.parametrize(("kind", "k"), TABLE)
def test_acceptance_table(kind, k):
    scales = [0.1, 0.3, 0.5, 1.0] if kind == "gaussian" else [0.3, 0.5, 0.65, 0.8]
    rates = [_draw(kind, k, scale).plan[1] for scale in scales]
    np.testing.assert_allclose(rates, TABLE[kind, k], rtol=0.01)


@pytest.mark.fast(3)
@pytest.mark.parametrize(("kind", "k", "scale"), [*BOTH, ("gaussian", 10, 1.0)])
def test_the_acceptance_is_what_it_is_said_to_be(kind, k, scale):
    draw = _draw(kind, k, scale)
    generator = np.random.default_rng(8)
    size = 20_000 if k <= 5 else 5_000
    attempts = {"shells": draw._shells, "ordered": draw._ordered}
    for scheme, attempt in attempts.items():
        rate = draw.acceptance(scheme)
        accepted = len(attempt(size, generator)[0])
        assert abs(accepted - size * rate) < 5.0 * math.sqrt(size * rate * (1.0 - rate)) + 5.0


def test_a_draw_of_more_than_a_minute_is_refused():
    draw = _draw("laplace", 30, 0.985)
    assert draw.seconds() > 60.0
    with pytest.raises(NotAttainableError, match=r"would take about .* seconds"):
        draw.sample(1, np.random.default_rng(0))
    _draw("laplace", 30, 0.65).check()


def test_the_scheme_follows_the_scale():
    assert _draw("gaussian", 5, 0.1).plan[0] == "shells"
    assert _draw("gaussian", 5, 5.0).plan[0] == "ordered"


@pytest.mark.parametrize("rho", [1e-9, 0.1, 1.0, 50.0])
def test_traces_given_the_rest(rho, holds):
    def pvalue(generator: np.random.Generator) -> float:
        t = _sample_trace(np.full(20_000, rho), generator)
        grid = np.linspace(-80.0 - 10.0 * rho, 80.0 + 10.0 * rho, 400_001)
        density = np.exp(rho - np.hypot(grid, rho))
        cumulative = np.cumsum(density)
        return scipy.stats.kstest(
            t, lambda x: np.interp(x, grid, cumulative / cumulative[-1])
        ).pvalue

    assert holds(pvalue)


def test_graded_singular_values_keep_their_digits():
    rng = np.random.default_rng(3)
    rows = np.exp([-30.0, 0.0, -90.0, -60.0])[None, :, None] * rng.standard_normal((1, 4, 4))
    values, directions = _affine_invariant_draw._right_singular(rows, np.array([True]))
    with mpmath.workdps(200):
        exact = mpmath.svd_r(mpmath.matrix(rows[0].tolist()), compute_uv=False)
    # One-sided rotations keep the digits that the rows have once they are scaled to one length.
    lost = (
        16.0
        * np.finfo(float).eps
        * np.linalg.cond(rows[0] / np.linalg.norm(rows[0], axis=-1, keepdims=True))
    )
    np.testing.assert_allclose(
        np.sort(values[0])[::-1], np.array(exact.tolist(), float).ravel(), rtol=lost
    )
    np.testing.assert_allclose(directions[0] @ directions[0].T, np.eye(4), atol=1e-13)
    plain, _ = _affine_invariant_draw._right_singular(rows, np.array([False]))
    assert not np.allclose(np.sort(plain[0])[::-1], np.sort(values[0])[::-1], rtol=1e-12, atol=0.0)
