"""Which matrices pass as symmetric and positive definite."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import NotOnManifoldError, SPDAffineInvariant, SPDLogEuclidean, _compiled
from riemdp.spaces import _symmetric

both_metrics = pytest.mark.parametrize("metric", [SPDLogEuclidean, SPDAffineInvariant])


@both_metrics
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_validate_symmetrises_small_asymmetry_only(metric, dtype):
    inside, beyond = 0.8e-4, 1.3e-4
    space = metric(3)
    # Units of wildly different size: the tolerance has to scale with them.
    units = np.diag([1e3, 1.0, 1e-3])
    matrices = np.tile(units @ (np.eye(3) + 0.5) @ units / 1.5, (4, 1, 1))
    near, far = matrices.copy(), matrices.copy()
    near[2, 0, 2] += inside
    far[2, 0, 2] += beyond
    mended = space.validate(near.astype(dtype))
    np.testing.assert_array_equal(mended, np.swapaxes(mended, -1, -2))
    tolerance = 1e-15 if dtype is float else 1e-6
    np.testing.assert_allclose(mended[2, 0, 2], near[2, [0, 2], [2, 0]].mean(), rtol=tolerance)
    with pytest.raises(NotOnManifoldError, match="row 2 is not symmetric") as caught:
        space.validate(far.astype(dtype))
    assert "0.333" not in str(caught.value)


@both_metrics
def test_validate_keeps_symmetric_matrices_bit_by_bit(metric, random_points):
    points = random_points(metric(4), np.random.default_rng(0), 6)
    np.testing.assert_array_equal(metric(4).validate(points), points)


@both_metrics
@pytest.mark.parametrize("k", [1, 2, 3])
def test_validate_refuses_what_is_not_positive_definite(metric, k):
    rng = np.random.default_rng(k)
    good = np.tile(np.eye(k), (5, 1, 1))
    rotation = np.linalg.qr(rng.normal(size=(k, k)))[0]
    for values in (np.linspace(-1.0, 2.0, k), np.linspace(0.0, 1.0, k), np.full(k, -1.0)):
        bad = good.copy()
        bad[3] = _symmetric.symmetrise(rotation * values @ rotation.T)
        if values[0] == 0.0:
            bad[3] -= 1e-13 * np.eye(k)
        with pytest.raises(NotOnManifoldError, match=r"row 3 .*positive"):
            metric(k).validate(bad)
        with pytest.raises(NotOnManifoldError, match=r"the point .*positive"):
            metric(k).validate(bad[3])


@both_metrics
def test_validate_refuses_positive_diagonal_but_indefinite(metric):
    with pytest.raises(NotOnManifoldError, match=r"row \(0, 1\) is not positive definite"):
        metric(2).validate([[np.eye(2), [[1.0, 2.0], [2.0, 1.0]]]])


@pytest.mark.parametrize("metric", [SPDLogEuclidean, SPDAffineInvariant])
def test_the_largest_asymmetry_is_refused_quietly(metric):
    matrix = np.array([[1e308, 1.7e308], [-1.7e308, 1e308]])
    with pytest.raises(NotOnManifoldError, match="not symmetric"):
        metric(2).validate(matrix)


def hard_3x3(rng):
    """Correlations near every border of positive definite matrices, in units of all sizes."""
    corner = np.sign(rng.normal(size=(600, 3)))
    near = corner * (1.0 - 10.0 ** rng.uniform(-17.0, 0.0, size=(600, 3)))
    wild = rng.normal(size=(300, 3)) * 10.0 ** rng.uniform(-1.0, 12.0, size=(300, 1))
    any_ = rng.uniform(-1.0, 1.0, size=(600, 3))
    # a third correlation within its range, which the other two leave, up to digits of all sizes
    gap = 10.0 ** rng.uniform(-17.0, 0.0, size=600) * np.sign(rng.normal(size=600))
    reach = np.sqrt((1.0 - any_[:, 0] ** 2) * (1.0 - any_[:, 1] ** 2))
    edge = np.stack([*any_[:, :2].T, any_[:, 0] * any_[:, 1] + reach * (1.0 + gap)], axis=-1)
    off = np.concatenate([near, wild, any_, edge])
    units = 10.0 ** rng.choice([0.0, 0.0, 5.0, 40.0, 85.0, 150.0], size=(len(off), 1))
    units = units ** rng.uniform(-1.0, 1.0, size=(len(off), 3))
    matrices = np.tile(np.eye(3), (len(off), 1, 1))
    for (i, j), values in zip([(0, 1), (0, 2), (1, 2)], off.T, strict=True):
        matrices[:, i, j] = matrices[:, j, i] = values
    matrices = matrices * units[:, :, None] * units[:, None, :]
    extremes = np.array([np.nan, np.inf, -np.inf, 0.0, 5e-324, 1.7e308, -1.0])
    odd = np.tile(np.eye(3), (70, 1, 1))
    odd[np.arange(70), np.arange(70) % 3, np.arange(70) // 3 % 3] = np.tile(extremes, 10)
    return np.concatenate([matrices, np.maximum(odd, np.swapaxes(odd, 1, 2))])


@pytest.mark.parametrize("limit", [96 * 2.0**-52, 1e-7, 2.0**-22, 1.14e-5, 0.09, 0.5])
def test_the_closed_form_for_3x3_changes_no_verdict(limit, monkeypatch):
    matrices = hard_3x3(np.random.default_rng(0))
    with np.errstate(all="ignore"):
        found = _symmetric._nearly_singular(matrices, limit)
        sure = _symmetric._surely_definite_3x3(matrices, limit)
        nobody = np.zeros(len(matrices), dtype=bool)
        monkeypatch.setattr(_symmetric, "_surely_definite_3x3", lambda *_: nobody)
        by_factors = _symmetric._nearly_singular(matrices, limit)
    np.testing.assert_array_equal(found, by_factors)
    assert 100 < by_factors.sum() < len(matrices) - (100 if limit < 0.5 else -1)
    assert sure.sum() > 100 or limit > 0.05
    # the control: of the determinant alone two negative eigenvalues are not seen
    monkeypatch.setattr(
        _symmetric, "_surely_definite_3x3", lambda block, _: np.linalg.det(block) > 0.0
    )
    with np.errstate(all="ignore"):
        assert (_symmetric._nearly_singular(matrices, limit) != by_factors).any()


@pytest.mark.parametrize("k", [2, 4, 9, 31])
def test_compiled_pivots_change_no_verdict(k, lanes, monkeypatch):
    rng = np.random.default_rng(k)
    frames = np.linalg.qr(rng.normal(size=(120, k, k)))[0]
    limit = _symmetric._limit(k)
    least = limit * np.concatenate([rng.uniform(-1.0, 4.0, 60), 10.0 ** rng.uniform(0.0, 9.0, 60)])
    values = np.concatenate([least[:, None], rng.uniform(0.5, 1.5, (120, k - 1))], axis=1)
    matrices = _symmetric.compose(values, frames)
    matrices *= 2.0 ** rng.integers(-50, 50, (120, 1, 1))
    matrices[5] = np.nan

    def verdicts():
        with np.errstate(all="ignore"):
            return [bool(_symmetric._nearly_singular(m[None], limit)[0]) for m in matrices]

    asked = []
    factor = _symmetric.has_factor
    monkeypatch.setattr(_symmetric, "has_factor", lambda m: asked.append(len(m)) or factor(m))
    found, used = verdicts(), len(asked)
    monkeypatch.setattr(_compiled, "widest", lambda: 0)
    assert verdicts() == found
    assert 10 < sum(found) < 60
    assert used < len(asked) - used or not lanes  # plain ones are not factored
    # the control: pivots of the matrices themselves are positive where verdicts are not
    monkeypatch.setattr(_symmetric, "_is_plainly_definite", lambda m, _: factor(m))
    assert verdicts() != found


def test_plain_3x3_matrices_need_no_factor(monkeypatch):
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(9000, 3, 20))
    points = _symmetric.symmetrise(parts @ np.swapaxes(parts, 1, 2))
    asked = []
    monkeypatch.setattr(
        _symmetric,
        "without_factor",
        lambda c: asked.append(len(c)) or np.zeros(len(c), bool),
    )
    np.testing.assert_array_equal(SPDLogEuclidean(3).validate(points), points)
    assert sum(asked) == 0
    points[8000] = np.diag([1e-300, 1.0, 1.0])  # of which products leave float64
    SPDLogEuclidean(3).validate(points)
    assert asked == [1]


def test_a_bad_matrix_behind_thousands_is_named():
    points = np.tile(np.eye(3), (2, 9000, 1, 1))
    points[1, 8123, 0, 1] = points[1, 8123, 1, 0] = 1.0
    with pytest.raises(NotOnManifoldError, match=r"row \(1, 8123\) is not positive definite"):
        SPDLogEuclidean(3).validate(points)


@pytest.mark.parametrize("k", [2, 3, 5, 22, 40])
@pytest.mark.parametrize("n", [1, 20])
def test_what_is_plain_decides_nothing_else(k, n, monkeypatch):
    """Smallest eigenvalues about the limit, and units about the range of float64."""
    limit = 32.0 * k * 2.0**-52
    rng = np.random.default_rng(k)
    verdicts = []
    for share in (0.5, 0.9, 1.1, 1.5, 1.9, 2.1, 10.0):
        for unit in (1.0, 1e-140, 1e140):
            units = unit * 10.0 ** rng.uniform(-3, 3, k)
            matrix = np.eye(k)
            matrix[0, 1] = matrix[1, 0] = 1.0 - share * limit  # eigenvalues 1 ± this
            matrices = np.tile(np.eye(k), (n, 1, 1))
            matrices[n // 2] = matrix
            matrices = units[:, None] * matrices * units
            verdicts.append(_symmetric.is_held(matrices))
            with monkeypatch.context() as patch:
                patch.setattr(_symmetric, "_is_plainly_definite", lambda *args: False)
                np.testing.assert_array_equal(_symmetric.is_held(matrices), verdicts[-1])
    held = np.array(verdicts).reshape(7, 3, n)[:, :, n // 2]
    assert not held[0].any()
    assert held[-1].all()


@pytest.mark.parametrize("k", [4, 5])
def test_what_is_plain_is_seen_as_such(k, random_points):
    points = random_points(SPDAffineInvariant(k), np.random.default_rng(0), 50)
    assert _symmetric._is_plainly_definite(points, 1e-10)
    for bad in (-points[7], np.ones((k, k)), np.full((k, k), np.nan)):
        broken = points.copy()
        broken[7] = bad
        assert not _symmetric._is_plainly_definite(broken, 1e-10)
