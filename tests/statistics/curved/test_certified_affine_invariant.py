"""Proved distances from the affine-invariant mean, against 50 digits and with each part broken."""

from __future__ import annotations

import math
from collections import namedtuple

import numpy as np
import pytest

from riemdp import Ball, SPDAffineInvariant
from riemdp.spaces import _symmetric, clip_norm
from riemdp.spaces._spd_affine_invariant import spectral_log
from riemdp.statistics.curved import _certified_affine_invariant as certified
from riemdp.statistics.curved import _descent_affine_invariant as enclosed_point
from riemdp.statistics.curved._certified_affine_invariant import (
    exact_records,
    exponential,
    floor,
)
from riemdp.statistics.curved._descent_affine_invariant import certified_mean

flint = pytest.importorskip("flint")
mpmath = pytest.importorskip("mpmath")

Seen = namedtuple("Seen", "logs vectors distances defects")

KINDS = ("graded", "one rank", "opposite", "clustered", "any")


@pytest.fixture(autouse=True)
def digits():
    with mpmath.workdps(50):
        yield


def exact(array):
    return mpmath.matrix(np.asarray(array).tolist())


def norm(matrix):
    return mpmath.sqrt(mpmath.fsum(x * x for x in matrix))


def function_of(matrix, function):
    values, vectors = mpmath.eigsy((matrix + matrix.T) / 2)
    return vectors * mpmath.diag([function(x) for x in values]) * vectors.T


def nearest_orthogonal(frame):
    turn = exact(frame)
    for _ in range(7):
        turn = (turn + mpmath.inverse(turn).T) / 2
    return turn


def matrix_of(logs, turn):
    return turn * mpmath.diag([mpmath.exp(mpmath.mpf(float(x))) for x in logs]) * turn.T


def records_of(logs, vectors):
    return [matrix_of(s, nearest_orthogonal(u)) for s, u in zip(logs, vectors, strict=True)]


def logarithm_of(point, k):
    """Matrix that float64 coordinates stand for, exactly."""
    matrix, rest = mpmath.zeros(k), iter(point[k:])
    for i in range(k):
        matrix[i, i] = mpmath.mpf(float(point[i]))
        for j in range(i + 1, k):
            matrix[i, j] = matrix[j, i] = mpmath.mpf(float(next(rest))) / mpmath.sqrt(2)
    return matrix


def root_of(logarithm, sign):
    return function_of(logarithm, lambda x: mpmath.exp(sign * x / 2))


def gradient_at(logarithm, records):
    inverse = root_of(logarithm, -1)
    total = mpmath.zeros(logarithm.rows)
    for record in records:
        total += function_of(inverse * record * inverse, mpmath.log)
    return total / len(records)


def distance_of(first, second):
    """Geodesic distance of two matrices."""
    inverse = function_of(first, lambda x: 1 / mpmath.sqrt(x))
    return norm(function_of(inverse * second * inverse, mpmath.log))


def distance_to_mean(point, logs, vectors, accuracy, share):
    """Distance of a point from the exact mean of the records, right to the accuracy.

    Steps are that share of the gradient, one over a bound of the Hessian.
    """
    k = logs.shape[1]
    start = at = logarithm_of(point, k)
    records = records_of(logs, vectors)
    while True:
        gradient = gradient_at(at, records)
        if norm(gradient) < accuracy:
            return distance_of(function_of(start, mpmath.exp), function_of(at, mpmath.exp))
        half = root_of(at, 1)
        step = function_of(gradient * share, mpmath.exp)
        at = function_of(half * step * half, mpmath.log)


def unit_matrix(rng, k, kind):
    """Symmetric matrix of norm one."""
    if kind == "graded":  # D C D of condition number 1e12
        scale = 10.0 ** np.linspace(-3.0, 3.0, k)
        factors = rng.normal(size=(k, 2 * k))
        matrix = scale[:, None] * (factors @ factors.T) * scale
        matrix = _symmetric.compose(*_symmetric.log_eigh(_symmetric.symmetrise(matrix)[None]))[0]
    elif kind == "one rank":
        vector = rng.normal(size=k)
        matrix = np.outer(vector, vector)
    elif kind == "opposite":
        frame = np.linalg.qr(rng.normal(size=(k, k)))[0]
        matrix = _symmetric.compose(np.r_[-1.0, np.zeros(k - 2), 1.0], frame)
    elif kind == "clustered":
        matrix = np.eye(k) + 1e-14 * _symmetric.symmetrise(rng.normal(size=(k, k)))
    else:
        matrix = _symmetric.symmetrise(rng.normal(size=(k, k)))
    return matrix / np.linalg.norm(matrix)


def some_records(rng, k, radius, kinds=KINDS):
    """One record of each kind on the boundary."""
    logarithms = radius * np.array([unit_matrix(rng, k, kind) for kind in kinds])
    return exact_records(*np.linalg.eigh(logarithms), radius)


def seen_by(point, logs, vectors):
    whitening, _ = enclosed_point.whitening(point, logs.shape[1])
    return Seen(*certified._seen(whitening, logs, vectors, certified._defect(vectors)))


def certificate(point, logs, vectors):
    whitening, moved = enclosed_point.whitening(point, logs.shape[1])
    partial = certified.added(*certified.seen_from(whitening, logs, vectors))
    return certified.bound(moved, partial, logs.shape[1])


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("radius", [1e-9, 0.15, 3.0, 15.0])
@pytest.mark.fast("1e-09-2", "3.0-2", "15.0-3")
def test_no_bound_is_below_the_norm_of_the_exact_gradient(k, radius):
    """Which the proof goes through; the distance to the mean is no larger."""
    rng = np.random.default_rng([k, round(1e9 * radius)])
    logs, vectors = some_records(rng, k, radius)
    records = records_of(logs, vectors)
    for kind in ("opposite", "any", "at a record"):
        logarithm = radius * unit_matrix(rng, k, kind if kind != "at a record" else "any")
        if kind == "at a record":
            logarithm = _symmetric.compose(logs[0], vectors[0])
        point = _symmetric.vecd(logarithm)
        truth = norm(gradient_at(logarithm_of(point, k), records))
        bound = certificate(point, logs, vectors)
        assert truth <= bound <= truth * (1 + 1e-9) + floor(k, radius)


@pytest.mark.parametrize(
    ("k", "radius"), [(2, 1e-9), (3, 0.15), (2, 3.0), (2, 12.0), (5, 0.15), (3, 3.0)]
)
@pytest.mark.fast("2-1e-09", "3-0.15")
def test_the_certified_mean_is_as_near_as_is_proved(k, radius):
    rng = np.random.default_rng(k)
    logs, vectors = some_records(rng, k, radius, ("graded", "opposite", "any"))
    tol = floor(k, radius)
    point = certified_mean(logs, vectors, radius, tol)
    bound = certificate(point, logs, vectors)
    assert bound <= tol
    share = 1.0 / (1.0 + math.sqrt(2.0) * radius)
    truth = distance_to_mean(point, logs, vectors, 1e-4 * bound, share)
    assert truth <= bound * (1 + mpmath.mpf("1e-3"))


@pytest.mark.parametrize("k", [2, 3, 5])
def test_a_point_moved_by_a_millionth_is_reported_a_millionth_away(k):
    rng = np.random.default_rng(k)
    logs, vectors = some_records(rng, k, 0.15)
    point = certified_mean(logs, vectors, 0.15, floor(k, 0.15))
    direction = rng.normal(size=len(point))
    moved = point + 1e-6 * direction / np.linalg.norm(direction)
    assert certificate(moved, logs, vectors) == pytest.approx(1e-6, rel=1e-2, abs=0.0)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("radius", [1e-9, 0.15, 3.0, 15.0])
@pytest.mark.fast("1e-09-2", "3.0-2", "15.0-3")
def test_each_record_is_as_near_its_logarithm_as_is_claimed(k, radius):
    rng = np.random.default_rng([k, round(1e9 * radius)])
    logs, vectors = some_records(rng, k, radius)
    point = _symmetric.vecd(radius * unit_matrix(rng, k, "opposite"))
    whitening, moved = enclosed_point.whitening(point, k)
    found = seen_by(point, logs, vectors)
    frames = certified._frame_distances(logs, certified._defect(vectors))
    shares = []
    for i, record in enumerate(records_of(logs, vectors)):
        claimed = matrix_of(found.logs[i], nearest_orthogonal(found.vectors[i]))
        raw = matrix_of(logs[i], exact(vectors[i]))
        truth = distance_of(exact(whitening) * raw * exact(whitening).T, claimed)
        assert truth <= found.distances[i]
        assert distance_of(raw, record) <= frames[i]
        shares.append(float(truth / found.distances[i]))
    assert max(shares) > 1e-4
    nearby = mpmath.inverse(exact(whitening).T * exact(whitening))
    assert distance_of(nearby, function_of(logarithm_of(point, k), mpmath.exp)) <= moved


def test_vectors_off_by_a_millionth_are_noticed():
    """Half of what they are counted as would not do; nor would none of it."""
    logs, vectors = np.zeros((1, 3)), np.eye(3)[None].copy()
    vectors[0, 0, 1] = 1e-6
    bound = certificate(np.zeros(6), logs, vectors)
    truth = distance_of(matrix_of(logs[0], exact(vectors[0])), mpmath.eye(3))
    claimed = certified._frame_distances(logs, certified._defect(vectors))[0]
    assert 0.5 * claimed < truth <= claimed <= bound
    assert certificate(np.zeros(6), logs, np.eye(3)[None]) < 1e-12


@pytest.mark.parametrize("what", ["logarithms", "vectors"])
def test_decompositions_off_by_a_millionth_are_noticed(what, monkeypatch):
    """Of which half would not do. Vectors are stretched so that all products fit."""
    right = certified._decomposed

    def wrong(factor):
        logs, vectors = right(factor)
        if what == "logarithms":
            return logs + 1e-6, vectors
        return logs + 2e-6, vectors * math.exp(1e-6)

    monkeypatch.setattr(certified, "_decomposed", wrong)
    logs, vectors = np.zeros((1, 3)), np.eye(3)[None]
    found = seen_by(np.zeros(6), logs, vectors)
    truth = distance_of(mpmath.eye(3), matrix_of(found.logs[0], mpmath.eye(3)))
    assert truth == pytest.approx(found.logs[0, 0] * math.sqrt(3.0), rel=1e-9)
    assert 0.5 * found.distances[0] < truth <= found.distances[0]


@pytest.mark.parametrize("call", [0, 1])
def test_exponentials_off_by_a_millionth_are_noticed(call, monkeypatch):
    """Of records, or of what is seen: logarithms are such that all products fit."""
    calls, right = [], certified._decomposed

    def wrong(x):
        values, errors = exponential(x)
        calls.append(x)
        off = 1e-6 if len(calls) == call + 1 else 0.0
        return values * (1.0 + off), errors + off

    monkeypatch.setattr(certified, "exponential", wrong)
    if call == 1:
        monkeypatch.setattr(
            certified, "_decomposed", lambda factor: (right(factor)[0] + 2e-6, right(factor)[1])
        )
    found = seen_by(np.zeros(6), np.zeros((1, 3)), np.eye(3)[None])
    turn = nearest_orthogonal(found.vectors[0])
    truth = distance_of(mpmath.eye(3), matrix_of(found.logs[0], turn))
    assert truth > 1e-6
    assert 0.6 * found.distances[0] < truth <= found.distances[0]


def test_the_rounding_of_products_is_covered_and_is_all_that_covers_it(monkeypatch):
    """At a record far from the centre all large numbers cancel before they are decomposed."""
    rng = np.random.default_rng(0)
    logs, vectors = some_records(rng, 3, 15.0, ("opposite",) * 3)

    def missed():
        for i in range(3):
            point = _symmetric.vecd(_symmetric.compose(logs[i], vectors[i]))
            whitening, _ = enclosed_point.whitening(point, 3)
            found = seen_by(point, logs[i : i + 1], vectors[i : i + 1])
            claimed = matrix_of(found.logs[0], nearest_orthogonal(found.vectors[0]))
            raw = matrix_of(logs[i], exact(vectors[i]))
            truth = distance_of(exact(whitening) * raw * exact(whitening).T, claimed)
            yield bool(truth > found.distances[0])

    assert not any(missed())
    monkeypatch.setattr(certified, "_product_rounding", lambda _: 0.0)
    assert any(missed())


def test_the_errors_of_point_and_compositions_are_part_of_the_bound(monkeypatch):
    logs, vectors = some_records(np.random.default_rng(5), 3, 1.0)
    point = certified_mean(logs, vectors, 1.0, floor(3, 1.0))
    sizes = certified._norm(seen_by(point, logs, vectors).logs)
    whitening, _ = enclosed_point.whitening(point, 3)
    with monkeypatch.context() as broken:
        broken.setattr(enclosed_point, "whitening", lambda *_: (whitening, 1e-3))
        assert certificate(point, logs, vectors) == pytest.approx(1e-3, rel=1e-6)
    with monkeypatch.context() as broken:
        broken.setattr(certified, "_composition_rounding", lambda *_: 1e-3)
        assert certificate(point, logs, vectors) == pytest.approx(1e-3 * sizes.mean(), rel=1e-6)


def test_exponentials_are_as_right_as_is_claimed(monkeypatch):
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.uniform(-64.0, 64.0, 1000), rng.uniform(-0.5, 0.5, 1000), [0.0, 1e-9]])

    def worst():
        values, errors = exponential(x)
        truth = [mpmath.exp(mpmath.mpf(float(value))) for value in x]
        shares = [abs(v / t - 1) / e for v, t, e in zip(values, truth, errors, strict=True)]
        return max(shares)

    assert 0.25 < worst() <= 1.0
    monkeypatch.setattr(certified, "_LN2", (certified._LN2[0], certified._LN2[1] * (1 + 1e-3)))
    assert worst() > 1.0


def test_the_rounding_of_the_mean_of_logarithms_is_needed():
    """Of records on both sides of the point, whose exact mean is known to vanish or not."""
    rng = np.random.default_rng(1)
    seen, missed = 0, 0
    for _ in range(20):
        logs, vectors = some_records(rng, 2, 0.1, ("any", "opposite"))
        found = seen_by(np.zeros(3), logs, vectors)
        terms = (found.vectors * found.logs[:, None, :]) @ np.swapaxes(found.vectors, 1, 2)
        truth = mpmath.zeros(2)
        for i in range(2):
            turn = nearest_orthogonal(found.vectors[i])
            truth += turn * mpmath.diag(list(map(mpmath.mpf, found.logs[i].tolist()))) * turn.T
        difference = norm(exact(terms[0] + terms[1]) - truth)
        allowed = certified._composition_rounding(2, found.defects) * certified._norm(found.logs)
        seen += bool(difference <= allowed.sum())
        missed += bool(difference > 0.02 * allowed.sum())
    assert seen == 20
    assert missed


def test_records_lie_in_the_ball_exactly():
    rng = np.random.default_rng(2)
    ball = Ball(SPDAffineInvariant(3), np.eye(3), 0.7)
    data = ball.point(3.0 * rng.normal(size=(200, 6)))
    logs, _ = exact_records(*spectral_log(ball.center, data), 0.7)
    lengths = [norm(exact(row)) for row in logs]
    assert max(lengths) <= 0.7
    assert max(lengths) > 0.7 * (1 - 1e-11)
    clipped = clip_norm(spectral_log(ball.center, data)[0], 0.7)
    assert max(norm(exact(row)) for row in clipped) > 0.7  # without a margin, some lie outside


def test_a_record_that_cannot_be_certified_is_the_centre_and_touches_no_other():
    rng = np.random.default_rng(3)
    logs, vectors = some_records(rng, 3, 0.5)
    broken, spoilt = vectors.copy(), logs.copy()
    broken[1, 0, 0] += 1e-6
    broken[2] = np.nan
    spoilt[3, 0] = np.inf
    found_logs, found_vectors = exact_records(spoilt, broken, 1.0)
    for i in (1, 2, 3):
        np.testing.assert_array_equal(found_logs[i], 0.0)
        np.testing.assert_array_equal(found_vectors[i], np.eye(3))
    for i in (0, 4):
        np.testing.assert_array_equal(found_logs[i], logs[i])
        np.testing.assert_array_equal(found_vectors[i], vectors[i])


def from_hex(rows):
    return np.array([[float.fromhex(x) for x in row.split()] for row in rows.split(",")])


#: Eigenvectors of a valid matrix that LAPACK returned on a Haswell processor, off by 13.7 ku.
ROUGH = from_hex(
    "0x1.f955506bb3c3bp-2 0x1.bd4599e49cb3ep-1 0x1.82ce10d6fd856p-7,"
    "0x1.8e15d3b9bb2c8p-2 -0x1.aad583392fd1cp-3 -0x1.cb7fbe0ea5948p-1,"
    "0x1.8e5a86c1cfe39p-1 -0x1.ca370a891a2b1p-2 0x1.c385c3f810b26p-2"
)
#: Valid matrices with such eigenvectors: on Haswell and SkylakeX, Haswell, Nehalem, SkylakeX.
ROUGHLY_SEEN = [
    from_hex(rows)
    for rows in (
        "0x1.30115bb8feb34p-1 -0x1.0623c1ce67b00p-3 -0x1.f172a8f90769dp-3,"
        "-0x1.0623c1ce67b00p-3 0x1.0ec92f66f2152p+0 -0x1.91bcd18e01c0dp-2,"
        "-0x1.f172a8f90769dp-3 -0x1.91bcd18e01c0dp-2 0x1.d73d23ae6abbep-2",
        "0x1.131cf36210214p-2 0x1.6a19f86f7a5f1p-8 -0x1.2ee8ad455f825p-2,"
        "0x1.6a19f86f7a5f1p-8 0x1.79013dbc06bbep+0 -0x1.0e8496d2ab584p-2,"
        "-0x1.2ee8ad455f825p-2 -0x1.0e8496d2ab584p-2 0x1.7af886aa5b9cep+0",
        "0x1.bb52a43bc383dp-1 -0x1.8033350c06233p-10 -0x1.144b1b30b1565p-3,"
        "-0x1.8033350c06233p-10 0x1.c2d21c5290d4ap-1 -0x1.7ae198bc1e57ep-4,"
        "-0x1.144b1b30b1565p-3 -0x1.7ae198bc1e57ep-4 0x1.977f50b221c3bp-2",
        "0x1.740b55dfe2400p+0 0x1.32ef0854653d6p-2 0x1.4f3a635cbb616p-1,"
        "0x1.32ef0854653d6p-2 0x1.7475d401cb33cp-1 -0x1.cfe8a31a9287ap-4,"
        "0x1.4f3a635cbb616p-1 -0x1.cfe8a31a9287ap-4 0x1.4137dbbf19f69p+0",
    )
]


def proved_defect(k):
    """Defect of frames after the step, as docs/proofs/certified-means.md proves it."""
    return (1.02 * (k * k + 2.0 * k**1.5 + 2.0 * k**0.5) + 0.01) * 2.0**-53


def defect(frame):
    return norm(exact(frame).T * exact(frame) - mpmath.eye(frame.shape[-1]))


def test_a_record_whose_eigenvectors_lapack_returns_a_little_off_is_kept():
    logs = np.array([[-1.4, -0.2, 0.15]])
    found, frames = exact_records(logs, ROUGH[None], 2.0)
    np.testing.assert_array_equal(found, logs)
    assert defect(frames[0]) <= proved_defect(3) < defect(ROUGH) * 1.2
    moved = norm(nearest_orthogonal(frames[0]) - nearest_orthogonal(ROUGH))
    assert moved <= 8.0 * 2.0**-53  # it is the same record


def test_no_valid_matrix_of_a_search_is_taken_for_the_centre():
    ball = Ball(SPDAffineInvariant(3), np.eye(3), 1.5)
    data = np.array(ROUGHLY_SEEN)
    logs, _ = exact_records(*spectral_log(ball.center, data), ball.radius)
    assert (logs != 0.0).any(axis=-1).all()


@pytest.mark.slow
def test_none_of_a_million_valid_matrices_is_taken_for_the_centre():
    ball = Ball(SPDAffineInvariant(3), np.eye(3), 1.5)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        rows = rng.normal(size=(10_000, 3, 10 if seed % 2 else 3))
        data = rows @ np.swapaxes(rows, -1, -2) / (10.0 if seed % 2 else 1.0)
        logs, _ = exact_records(*spectral_log(ball.center, data), ball.radius)
        assert (logs != 0.0).any(axis=-1).all()


@pytest.mark.parametrize("k", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("off", [1e-15, 1e-13, 1e-10, 4e-10])
@pytest.mark.fast("1e-13-2", "1e-10-3", "4e-10-7", "1e-15-1")
def test_rough_frames_become_orthogonal_to_what_is_proved(off, k):
    rng = np.random.default_rng(k)
    frames = np.linalg.qr(rng.normal(size=(20, k, k)))[0]
    change = rng.normal(size=frames.shape)
    frames += off * change / np.linalg.norm(change, axis=(-1, -2), keepdims=True)
    logs = np.tile(np.linspace(0.1, 0.4, k), (20, 1))
    found, nearest = exact_records(logs, frames, 5.0 * k)
    np.testing.assert_array_equal(found, logs)
    kept = (8.0 + k + 1.0) * k * 2.0**-53  # which need no step
    assert max(map(defect, nearest)) <= max(proved_defect(k), kept)
    stepped = certified._nearest(frames)
    assert max(map(defect, stepped)) <= proved_defect(k)
    for before, after in zip(frames[:3], stepped[:3], strict=True):
        moved = norm(nearest_orthogonal(after) - nearest_orthogonal(before))
        assert moved <= proved_defect(k)


@pytest.mark.parametrize("broken", ["point", "far", "logs", "vectors", "length", "svd"])
def test_nothing_is_proved_of_numbers_that_are_not_finite_or_too_long(broken, monkeypatch):
    logs, vectors = np.array([[4.0, -3.0]]), np.eye(2)[None].copy()
    point = np.zeros(3)
    assert certificate(point, logs, vectors) < 6.0
    if broken == "point":
        point[0] = np.nan
    elif broken == "logs":
        logs[0, 0] = np.inf
    elif broken == "vectors":
        vectors[0, 0, 0] = np.nan
    elif broken == "far":
        point[0] = 1e5
    elif broken == "length":
        logs[0, 0] = 65.0
    else:

        def fails(_):
            raise np.linalg.LinAlgError

        monkeypatch.setattr(np.linalg, "svd", fails)
    assert certificate(point, logs, vectors) == math.inf


@pytest.mark.parametrize("k", [2, 3, 5, 10])
@pytest.mark.parametrize("radius", [1e-9, 1e-3, 0.15, 0.3, 1.0, 3.0, 8.0, 15.0])
@pytest.mark.fast("1e-09-2", "0.15-2", "1.0-2", "3.0-5", "15.0-3")
def test_errors_stay_under_half_the_floor_wherever_the_point_lies(k, radius):
    """The other half is the solver's. Hostile records and points, on the boundary."""
    rng = np.random.default_rng([k, round(1e9 * radius)])
    logs, vectors = some_records(rng, k, radius, KINDS * 4)
    lost = []
    for kind in (*KINDS, "at a record"):
        logarithm = radius * unit_matrix(rng, k, "any" if kind == "at a record" else kind)
        if kind == "at a record":
            logarithm = _symmetric.compose(logs[2], vectors[2])
        point = _symmetric.vecd(logarithm)
        _, moved = enclosed_point.whitening(point, k)
        found = seen_by(point, logs, vectors)
        errors = found.distances + certified._frame_distances(logs, certified._defect(vectors))
        errors += certified._composition_rounding(k, found.defects) * certified._norm(found.logs)
        lost.append(moved + errors.max())
    assert max(lost) <= 0.5 * floor(k, radius)


@pytest.mark.parametrize("k", [2, 3, 10])
@pytest.mark.parametrize("radius", [1e-9, 0.15, 1.0, 8.0, 15.0])
@pytest.mark.fast(3)
def test_every_data_set_of_a_search_is_certified_to_the_floor(k, radius):
    rng = np.random.default_rng([k, round(1e9 * radius), 1])
    for kinds in (("opposite",) * 2, ("graded", "one rank"), ("clustered",) * 3, KINDS):
        logs, vectors = some_records(rng, k, radius, kinds)
        certified_mean(logs, vectors, radius, floor(k, radius))
        copies = np.repeat(logs[:1], 50, axis=0), np.repeat(vectors[:1], 50, axis=0)
        certified_mean(*copies, radius, floor(k, radius))


def test_nothing_is_promised_beyond_the_longest_logarithm():
    assert floor(3, 65.0) == math.inf
    assert floor(3, 8.0) < math.inf
