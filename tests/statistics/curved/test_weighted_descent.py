"""Steps to means with public weights: the same integers, certificates and neighbours."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from riemdp import (
    Ball,
    Chunks,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    NotOnManifoldError,
    Product,
    ProjectiveSpace,
    Records,
    SPDAffineInvariant,
    Sphere,
)
from riemdp._errors import ConvergenceError
from riemdp.statistics import (
    FrechetMean,
    Prepared,
    Streamed,
    TangentMean,
    Weighted,
    largest_share,
)
from riemdp.statistics._records import whole_weights
from riemdp.statistics.curved._descent import added_rows

CAP = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
DISC = Ball(Hyperbolic(2), Hyperbolic(2).origin, 1.0)
TENSORS = Ball(SPDAffineInvariant(2), [[2.0, 0.5], [0.5, 1.0]], 0.8)
MIXED = Ball(Product(Sphere(2), Euclidean(2)), [0.0, 0.0, 1.0, 0.0, 0.0], 0.6)
AXES = Ball(ProjectiveSpace(2), ProjectiveSpace(2).origin, 0.3)
BALLS = [CAP, DISC, TENSORS, MIXED, AXES]
N = 12


def rows_in(ball, n=N, seed=0):
    """Coordinates of records, half of them at the boundary or beyond it."""
    rows = np.random.default_rng(seed).normal(size=(n, ball.manifold.dim))
    lengths = ball.radius * np.linspace(0.1, 1.2, n)
    return rows * (lengths / np.linalg.norm(rows, axis=1))[:, None]


def weights_of(kind, n=N):
    found = {
        "mixed": np.linspace(1.0, 0.0, n),
        "one of nearly 1": np.r_[1.0, np.full(n - 1, 2.0**-40)],
        "one of 1": np.r_[np.zeros(n - 1), 1.0],
        "all tiny": np.full(n, 2.0**-40),
    }
    return found[kind]


def query_of(share, ball):
    """The weighted Fréchet mean of that share, or of no weights."""
    return next((Weighted(FrechetMean(), share) if share else FrechetMean()).queries(ball))


def descended(share, ball, chunks, n, tol):
    """Return the mean of records in chunks, and the integers of the first pass."""
    statistic, mean = Weighted(FrechetMean(), share), query_of(share, ball)
    read = Streamed(ball, chunks, statistic, n, keeps_places=True)
    first = read.summary(mean.in_passes(ball, tol))
    last, partial = read.found(mean, tol)
    return last.finish(ball, partial, tol), first


def tolerance(mean, ball, n):
    return mean.tolerance(ball, mean.replace_one(ball, n, "distance"))


@pytest.mark.parametrize("kind", ["mixed", "one of nearly 1", "one of 1", "all tiny"])
@pytest.mark.parametrize("ball", BALLS, ids=lambda ball: type(ball.manifold).__name__)
def test_means_are_those_of_all_records_together(ball, kind):
    weights = weights_of(kind)
    records = Records(ball.point(rows_in(ball)), weights=weights).validated(ball.manifold)
    share = largest_share(weights)
    mean = query_of(share, ball)
    tol = tolerance(mean, ball, N)
    assert not mean.adds(ball)
    assert mean.in_passes(ball, tol).left == query_of(None, ball).in_passes(ball, tol).left
    whole = mean.finish(ball, Prepared(ball, records).summary(mean), tol)
    turned = np.random.default_rng(1).permutation(N)
    shuffled = Records(np.asarray(records.points)[turned], weights=weights[turned])
    cuts = [slice(0, 1), slice(1, 4), slice(4, N)]
    with ThreadPoolExecutor(2) as pool:
        forms = [
            Chunks([records.at(rows) for rows in cuts], n=N),
            Chunks([shuffled.at(rows) for rows in cuts], sizes=[1, 3, N - 4]),
            Chunks([shuffled.at(rows) for rows in cuts[::-1]], n=N, mapper=pool.map),
            Chunks([records.at(rows) for rows in cuts], sizes=[1, 3, N - 4], mapper=elsewhere),
        ]
        # each pass by itself: records that are worked on together may differ in the last bits
        found = [descended(share, ball, chunks, N, tol) for chunks in forms]
    assert all(each == found[0] for each in found)
    far = [float(x - y) for x, y in zip(found[0][0], whole, strict=True)]
    assert np.linalg.norm(far) <= 4.0 * tol
    if kind == "mixed":  # the control: weights one place further are of other records
        other = Records(records.points, weights=np.roll(weights, 1))
        moved, first = descended(share, ball, Chunks([other], n=N), N, tol)
        assert first != found[0][1]
        assert np.linalg.norm([float(x - y) for x, y in zip(moved, whole, strict=True)]) > 1e3 * tol


def elsewhere(function, tasks):
    function, tasks = pickle.loads(pickle.dumps((function, list(tasks))))
    return [pickle.loads(pickle.dumps(function(each))) for each in reversed(tasks)]


@pytest.mark.parametrize("ball", BALLS[:4], ids=lambda ball: type(ball.manifold).__name__)
def test_one_record_is_its_own_mean(ball):
    row = rows_in(ball, 1)
    tol = tolerance(query_of(1.0, ball), ball, 1)
    given = Chunks([Records(ball.point(row), weights=[0.3])], n=1)
    found, _ = descended(1.0, ball, given, 1, tol)
    assert np.allclose([float(x) for x in found], row[0], rtol=0.0, atol=2.0 * tol)


@pytest.mark.parametrize("ball", BALLS[:4], ids=lambda ball: type(ball.manifold).__name__)
def test_a_weight_is_a_number_of_records(ball):
    """Exactly: the same rational number at every point, so that all of what follows is the same."""
    mean = query_of(None, ball)
    exact = mean.exact(ball)
    rows = exact.rows(ball, 0.8 * rows_in(ball, 6))
    descent = mean.in_passes(ball, 1e-8).descent
    whole = np.array([1, 3, 2, 1, 1, 5])
    repeated = exact.rows(ball, 0.8 * np.repeat(rows_in(ball, 6), whole, axis=0))
    view = descent.view(np.full(ball.manifold.dim, 0.05))

    def counted(seen):
        return [(x.total, x.count) for x in parts_of(seen)]

    ones = [descent.seen(rows, view, np.full(6, size), last=False) for size in (1, 2**40)]
    for (total, count), (large, many) in zip(*map(counted, ones), strict=True):
        assert many == 2**40 * count == 2**40 * 6
        assert [x << 40 for x in total[: ball.manifold.dim]] == list(large[: ball.manifold.dim])
    assert np.array_equal(*(descent.moved(np.zeros(ball.manifold.dim), x, 0) for x in ones))
    found = descent.seen(rows, view, whole, last=False)
    assert counted(found) == counted(descent.seen(repeated, view, np.ones(13, int), last=False))
    assert counted(found) != counted(descent.seen(rows, view, whole[::-1], last=False))


def parts_of(seen):
    """Sums of the factors, or the one that there is."""
    return seen if isinstance(seen, tuple) else (seen,)


@pytest.mark.parametrize("ball", [CAP, DISC], ids=["sphere", "hyperbolic"])
def test_so_it_is_in_the_last_pass(ball):
    """They are the same integers; those of others are not."""
    mean = query_of(None, ball)
    descent, rows = mean.in_passes(ball, 1e-8).descent, 0.5 * rows_in(ball, 6)
    whole, point = np.array([1, 3, 2, 1, 1, 5]), np.array([0.1, -0.05])
    one, many, other = (
        descent.seen(*each, last=True)
        for each in (
            (rows, point, whole),
            (np.repeat(rows, whole, axis=0), point),
            (rows, point, whole[::-1].copy()),
        )
    )
    assert one == many
    assert one.count == other.count == 13
    assert one.total != other.total


@pytest.mark.parametrize("ball", [CAP, DISC], ids=["sphere", "hyperbolic"])
def test_the_last_pass_certifies_what_weights_say(ball):
    """About the mean of all records alike it finds that this is not the weighted one."""
    weights = weights_of("mixed")
    points = ball.point(rows_in(ball))
    alike = query_of(None, ball)
    tol = tolerance(alike, ball, N)
    asked, seen = alike.in_passes(ball, tol), Prepared(ball, points)
    while asked.left > 1:
        asked = asked.after(ball, seen.summary(asked))
    assert asked.finish(ball, seen.summary(asked), tol)
    mean = query_of(largest_share(weights), ball)
    rows, whole = mean.terms(ball, mean.rows(ball, Records(points, weights=weights)))
    partial = asked.descent.seen(rows, asked.view, whole, last=True)
    assert partial.count == sum(whole_weights(weights).tolist())
    with pytest.raises(ConvergenceError):
        asked.finish(ball, partial, tol)


def test_products_with_weights_are_added_exactly():
    rng = np.random.default_rng(2)
    rows = rng.uniform(-128.0, 128.0, size=(50, 3)) * [1.0, 1e-9, 0.999999]
    rows[:2] = [[-127.99999] * 3, [127.99999] * 3]
    whole = rng.integers(0, 2**40, 50)
    whole[:3] = (2**40, 2**40, 0)
    right = tuple(
        sum(int(x) * q for x, q in zip(np.ldexp(column, 54), whole.tolist(), strict=True))
        for column in rows.T
    )
    assert added_rows(rows, 54, whole) == right
    assert added_rows(rows, 54, np.ones(50, int)) == added_rows(rows, 54)
    assert added_rows(np.empty((0, 2)), 54, np.empty(0, int)) == (0, 0)


@pytest.mark.parametrize("ball", [CAP, DISC], ids=["sphere", "hyperbolic"])
def test_no_record_moves_a_streamed_mean_farther_than_its_share(ball):
    """Records at the boundary, and one with the largest weight that goes from end to end."""
    rng, dim, worst, even = np.random.default_rng(3), ball.manifold.dim, 0.0, 0.0
    across, along = np.eye(dim)
    for case in range(8):
        n = (1, 2, 3, 9)[case % 4]
        rows = rng.normal(size=(n, dim))
        if case >= 4:  # as bent, or as flat, as it can be
            rows[1:] = np.where(np.arange(n - 1)[:, None] % 2, along, -along)
            rows[0] = across
        weights = rng.uniform(size=n) ** 3 if case < 4 else np.full(n, 0.4)
        weights[0] = 1.0
        rows *= ball.radius * (1.0 - 2.0**-38) / np.linalg.norm(rows, axis=1)[:, None]
        share = largest_share(weights)
        mean = query_of(share, ball)
        stated = mean.replace_one(ball, n, "distance")
        tol = mean.tolerance(ball, stated)
        ends = []
        for sign in (1.0, -1.0):
            rows[0] *= sign
            given = Chunks([Records(ball.point(rows), weights=weights)], sizes=[n])
            found, _ = descended(share, ball, given, n, tol)
            ends.append(ball.point(np.array([[float(x) for x in found]]))[0])
        far = float(ball.manifold.dist(*ends))
        assert far <= stated + 2.0 * tol + 1e-12
        worst = max(worst, far / stated)
        even = max(even, far / query_of(None, ball).replace_one(ball, n, "distance"))
    assert worst > 0.8
    assert even > 1.2  # the control: what one of equal weights would say


def test_shares_are_those_of_all_chunks_together():
    weights = np.linspace(0.1, 1.0, N)
    parts = [
        Records(CAP.point(rows_in(CAP)), weights=weights).at(slice(i, i + 4)) for i in (0, 4, 8)
    ]
    share = largest_share(weights)
    for mean in (FrechetMean(), TangentMean()):

        def read(stated, given=parts, mean=mean, n=N):
            statistic = Weighted(mean, stated)
            query = next(statistic.queries(CAP))
            Streamed(CAP, Chunks(given, n=n), statistic, n, keeps_places=True).check()
            read = Streamed(CAP, Chunks(given, n=n), statistic, n, keeps_places=True)
            return read.found(query, 1e-8)

        read(share)
        with pytest.raises(InvalidParameterError, match="more than the stated share"):
            read(np.nextafter(share, 0.0))
        assert largest_share(parts[0].weights) > share  # of a chunk by itself it says nothing
        broken = [Records(part.points, weights=np.zeros(4)) for part in parts]
        with pytest.raises(InvalidParameterError, match="must not all be 0"):
            read(1.0, broken)
        with pytest.raises(InvalidParameterError, match="nobody knows the weights"):
            read(1.0, parts[:2])
        for bad, error in (
            (np.nan, NotOnManifoldError),
            (-0.5, NotOnManifoldError),
            (1.5, NotOnManifoldError),
        ):
            other = Records(parts[0].points, weights=[bad, 1.0, 1.0, 1.0])
            with pytest.raises(error, match="chunk 2: row 0: its weight is"):
                read(1.0, [*parts[1:], other])
        short = Records(parts[0].points, weights=np.ones(3))
        with pytest.raises(InvalidParameterError, match="one for each point"):
            read(1.0, [*parts[1:], short])
