"""Logarithms of 3 x 3 matrices without eigenvalues: digits, and bits."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import mpmath
import numpy as np
import pytest

from riemdp.spaces import _log_fractions, _symmetric
from riemdp.spaces._log_fractions import logarithms_3x3
from riemdp.spaces._symmetric import full

EPS = 2.0**-52
#: Outer product of (.1, .3, 2.1), in the rounding of which all pivots are positive and the sum of
#: the minors is negative; and one whose determinant underflows.
LOST = np.array(
    [
        np.outer([0.1, 0.3, 2.1], [0.1, 0.3, 2.1]),
        [
            [1.1235809863624329, 3.676688178676499e-101, 6.813417959150339e-102],
            [3.676688178676499e-101, 1.2031207476181879e-201, 2.2295511913112404e-202],
            [6.813417959150339e-102, 2.2295511913112404e-202, 4.131670511474627e-203],
        ],
    ]
)


def exact_log(matrix):
    with mpmath.workdps(50):
        values, vectors = mpmath.eigsy(mpmath.matrix(matrix.tolist()))
        logs = mpmath.diag([mpmath.log(x) for x in values])
        return np.array((vectors * logs * vectors.T).tolist(), dtype=float)


def matrices(rng, n, digits):
    frames = np.linalg.qr(rng.normal(size=(n, 3, 3)))[0]
    values = 10.0 ** (-np.broadcast_to(digits, n)[:, None] * rng.uniform(size=(n, 3)))
    values[:, 0] = 1.0
    values[:, 1] = 10.0 ** -np.broadcast_to(digits, n)
    whole = (frames * values[:, None, :]) @ np.swapaxes(frames, -1, -2)
    return _symmetric.symmetrise(whole * rng.uniform(0.01, 100.0, (n, 1, 1)))


def mixed(n=600):
    """Matrices of every class, in no order, and some outside."""
    rng = np.random.default_rng(7)
    data = matrices(rng, n, rng.choice([0.0, 0.4, 1.0, 3.0, 6.0, 11.0, 14.0], n))
    data[3], data[5] = np.nan, -np.eye(3)
    data[8, 1, 0] = data[8, 0, 1] = np.inf
    data[10:12] = LOST
    return data


@pytest.mark.parametrize("digits", [0.0, 1.0, 6.0, 12.0])
def test_logarithms_against_forty_digits(digits):
    data = matrices(np.random.default_rng(3), 12, digits)
    found = logarithms_3x3(data)
    assert not found.outside.any()
    logs = full(found.entries, 3)
    exact = np.array([exact_log(matrix) for matrix in data])
    error = np.linalg.norm(logs - exact, axis=(-2, -1))
    size = np.linalg.norm(exact, axis=(-2, -1))
    by_eigenvalues = _symmetric.compose(*_symmetric.log_eigh(data))
    print(
        f"cond 1e{digits:g}: errors in eps |log| + eps cond:",
        (error / (EPS * (size + 10.0**digits))).max(),
        "by eigenvalues",
        (np.linalg.norm(by_eigenvalues - exact, axis=(-2, -1)) / EPS).max() / 10.0**digits,
    )
    assert (error <= EPS * (3.0 * size + 1.5 * 10.0**digits)).all()
    assert (error > 0.0).any()


def test_near_the_identity_the_error_is_that_of_the_matrix():
    rng = np.random.default_rng(0)
    data = [
        np.eye(3) + scale * _symmetric.symmetrise(rng.normal(size=(5, 3, 3)))
        for scale in (1e-9, 1e-6, 1e-3)
    ]
    # found by searches for a large error; means allow 3 in place of 2.5, and more for their sum
    found = np.array(
        [
            [1.0998257703092031, 3.830345809927504e-06, -1.4190266654285698e-06],
            [3.830345809927504e-06, 1.0998207303939427, -1.2453327627284373e-07],
            [-1.4190266654285698e-06, -1.2453327627284373e-07, 1.099816356238695],
        ]
    )
    worse = np.array(
        [
            [1.0688898532666609, -7.800933178886224e-05, 0.0001246608578877883],
            [-7.800933178886224e-05, 1.0695660327045327, 0.00016941056122729182],
            [0.0001246608578877883, 0.00016941056122729182, 1.0695083376412124],
        ]
    )
    matrices = np.concatenate([*data, found[None], worse[None]])
    logs = full(logarithms_3x3(matrices).entries, 3)
    for log, matrix in zip(logs, matrices, strict=True):
        assert np.linalg.norm(log - exact_log(matrix)) <= 2.5 * EPS * np.linalg.norm(matrix)
    for copies in (1, 5):
        assert not logarithms_3x3(np.repeat(np.eye(3)[None], copies, axis=0)).entries.any()


@pytest.mark.parametrize("copies", [1, 5])
def test_what_rounding_decides_is_outside(copies):
    found = logarithms_3x3(np.repeat(LOST, copies, axis=0))
    assert found.outside.all()
    assert not found.condition.any()
    # the control: an upper limit of the product of the traces alone lets the first one through
    (a, d, e), (_, b, f), (_, _, c) = LOST[0]
    pivot = b - d / a * d
    last = c - e / a * e - (f - d / a * e) ** 2 / pivot
    assert min(a, pivot, last) > 0.0
    assert (b * c - f * f) + (a * c - e * e) + (a * b - d * d) < 0.0


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [1, 2, 0]])
@pytest.mark.parametrize("copies", [1, 5])
def test_a_tiny_entry_hides_no_lack_of_rank(order, copies):
    tiny = 1e-170
    matrix = np.array([[tiny, 0.0, 0.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])[np.ix_(order, order)]
    assert logarithms_3x3(np.repeat(matrix[None], copies, axis=0)).outside.all()
    # the control: a square that leaves the range of float64 makes the last pivot 1
    minor, across = tiny * 1.0, -tiny * 1.0
    assert across * across / minor == 0.0
    assert 1.0 - across / minor * across / tiny == 0.0


@pytest.mark.parametrize("exponent", [-231, 232])
def test_traces_next_to_the_limits(exponent):
    rng = np.random.default_rng(2)
    data = matrices(rng, 50, rng.choice([0.0, 3.0, 9.0, 12.0], 50))
    data *= 2.0 ** -np.frexp(np.trace(data, axis1=1, axis2=2))[1][:, None, None]
    found, expected = logarithms_3x3(data * 2.0**exponent), logarithms_3x3(data)
    assert not found.outside.any()
    expected.entries[:3] += exponent * np.log(2.0)
    np.testing.assert_allclose(found.entries, expected.entries, rtol=0.0, atol=400.0 * EPS)


def test_outer_products_are_outside():
    steps = np.arange(1, 30) / 10.0
    vectors = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    matrices = vectors[:, :, None] * vectors[:, None, :]
    assert logarithms_3x3(matrices).outside.all()


@pytest.mark.parametrize("digits", [3.0, 5.0, 6.0])
def test_graded_matrices_are_no_worse_than_by_eigenvalues(digits):
    rng = np.random.default_rng(1)
    scales = 10.0 ** np.linspace(0.0, -digits, 3)
    ours, theirs = [], []
    for order in ([0, 1, 2], [2, 1, 0], [1, 0, 2]):
        core = np.eye(3) + 0.6 * _symmetric.symmetrise(rng.uniform(-1.0, 1.0, (3, 3)))
        matrix = scales[order][:, None] * core * scales[order]
        exact = exact_log(matrix)
        ours.append(np.abs(_symmetric.logm(matrix) - exact).max())
        by_eigenvalues = _symmetric.compose(*_symmetric.log_eigh(matrix))
        theirs.append(np.abs(by_eigenvalues - exact).max())
        size = np.linalg.norm(exact)
    assert max(ours) <= max(4.0 * EPS * size, 1.5 * max(theirs))


def same(found, expected, rows=slice(None)):
    np.testing.assert_array_equal(found.entries, expected.entries[:, rows])
    np.testing.assert_array_equal(found.condition, expected.condition[rows])
    np.testing.assert_array_equal(found.outside, expected.outside[rows])


def test_bits_depend_on_no_neighbour_and_no_layout(monkeypatch):
    data = mixed()
    whole = logarithms_3x3(data)
    assert 0 < whole.outside.sum() < len(data) / 3
    assert not whole.entries[:, whole.outside].any()
    for i in range(0, len(data), 17):
        same(logarithms_3x3(data[i : i + 1]), whole, slice(i, i + 1))
    order = np.random.default_rng(1).permutation(len(data))
    same(logarithms_3x3(data[order]), whole, order)
    same(logarithms_3x3(data[5:90]), whole, slice(5, 90))
    same(logarithms_3x3(data[::3]), whole, slice(None, None, 3))
    same(logarithms_3x3(np.asfortranarray(data)), whole)
    wide = np.zeros((len(data), 5, 7))
    wide[:, 1:4, 2:5] = data
    same(logarithms_3x3(wide[:, 1:4, 2:5]), whole)
    monkeypatch.setattr(_log_fractions, "CHUNK", 97)
    same(logarithms_3x3(data), whole)


def test_threads_work_in_memory_of_their_own():
    data = mixed()
    whole = logarithms_3x3(data)
    parts = [slice(start, start + 75) for start in range(0, len(data), 75)] * 9
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda rows: logarithms_3x3(data[rows]), parts)
        for rows, part in zip(parts, found, strict=True):
            same(part, whole, rows)


def test_sums_that_go_by_pairs_would_have_other_bits(monkeypatch):
    # what the test above is able to see
    def by_pairs(fraction, polynomial, found):
        trace, minors, det = polynomial
        s, w = np.array(fraction.shifts)[:, None], np.array(fraction.weights)[:, None]
        terms = np.ascontiguousarray((w / (((trace + s) * s + minors) * s + det)).T)
        s = s[:, 0]
        found[:3] = terms.sum(axis=1), (terms * s).sum(axis=1), (terms * s * s).sum(axis=1)

    data = mixed()
    whole = logarithms_3x3(data)
    monkeypatch.setattr(_log_fractions, "_few_sums", by_pairs)
    few = logarithms_3x3(data[:50])
    with pytest.raises(AssertionError):
        same(few, whole, slice(50))


def deterministic():
    """Matrices of exact arithmetic, the same on every processor."""
    steps = np.arange(1.0, 1201.0)
    lower = np.zeros((1200, 3, 3))
    for at, (i, j) in enumerate(((0, 0), (1, 0), (1, 1), (2, 0), (2, 1), (2, 2))):
        lower[:, i, j] = (steps * (at + 3.0) * 37.0) % 101.0 / 64.0 - (i != j) * 0.75
    lower[:, 0, 0] += 2.0 ** -(steps % 17.0)
    a, b, c, d, e, f = (lower[:, i, j] for i, j in ((0, 0), (1, 0), (2, 0), (1, 1), (2, 1), (2, 2)))
    made = np.empty((1200, 3, 3))
    for (i, j), value in {
        (0, 0): a * a,
        (0, 1): a * b,
        (0, 2): a * c,
        (1, 1): b * b + d * d,
        (1, 2): b * c + d * e,
        (2, 2): c * c + e * e + f * f,
    }.items():
        made[:, i, j] = made[:, j, i] = value
    return made


SCRIPT = """
import hashlib, sys
sys.path.insert(0, {folder!r})
from test_log_fractions import deterministic, logarithms_3x3
found = logarithms_3x3(deterministic())
print(hashlib.sha256(found.entries.tobytes() + found.condition.tobytes()).hexdigest())
"""


@pytest.mark.slow
@pytest.mark.parametrize("core", ["Haswell", "Nehalem", "SkylakeX"])
def test_bits_depend_on_no_processor(core):
    found = logarithms_3x3(deterministic())
    assert (~found.outside).sum() > 100
    here = hashlib.sha256(found.entries.tobytes() + found.condition.tobytes()).hexdigest()
    names = np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", [])
    beginnings = {"SkylakeX": (), "Haswell": ("AVX512", "X86_V4")}.get(
        core, ("AVX", "F16C", "FMA", "X86_V3", "X86_V4")
    )
    without = [name for name in names if name.startswith(beginnings)] if beginnings else []
    environment = os.environ | {"OPENBLAS_CORETYPE": core}
    if without:
        environment["NPY_DISABLE_CPU_FEATURES"] = " ".join(without)
    script = SCRIPT.format(folder=os.path.dirname(__file__))
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.split()[-1] == here


def test_records_that_no_pole_covers_are_outside():
    data = np.tile(np.eye(3), (9, 1, 1))
    data[0] *= 1e-80
    data[1] *= 1e80
    data[2, 0, 0] = 1e-14
    data[3, 0, 0] = 0.0
    data[4, 0, 1] = data[4, 1, 0] = 1.0
    data[5, 2, 2] = np.nan
    data[6, 2, 2] = np.inf
    data[7] = 0.0
    found = logarithms_3x3(data)
    assert found.outside.tolist() == [True] * 8 + [False]
    assert found.condition[8] >= 1.0
    assert np.isfinite(found.entries).all()
    # where they have a logarithm it is that of the eigenvalues
    np.testing.assert_allclose(
        _symmetric.logm(data[:3]), [exact_log(m) for m in data[:3]], rtol=1e-13
    )


def test_the_condition_is_bounded():
    data = matrices(np.random.default_rng(5), 200, np.linspace(0.0, 11.0, 200))
    found = logarithms_3x3(data)
    condition = np.linalg.cond(data)
    assert (found.condition >= condition * (1.0 - 1e-3)).all()
    assert (found.condition <= 2.0 * condition + 2.0).all()


def test_no_matrices_have_no_logarithms():
    assert logarithms_3x3(np.empty((0, 3, 3))).entries.shape == (6, 0)
    assert _symmetric.logm(np.empty((0, 3, 3))).shape == (0, 3, 3)
