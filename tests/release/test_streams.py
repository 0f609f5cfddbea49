"""Releases of records that are read a part at a time."""

from __future__ import annotations

import concurrent.futures
import io
import itertools
import logging
import pickle
import subprocess
import sys
import tracemalloc
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Accountant,
    Ball,
    Chunks,
    Euclidean,
    Hyperbolic,
    InvalidParameterError,
    NotOnManifoldError,
    PureDP,
    Records,
    ReleaseFailedError,
    RiemdpError,
    Rotations,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedError,
    UnsupportedNeighboursError,
    _files,
    check,
    private_mean,
    private_statistic,
)
from riemdp.release import chunks_of
from riemdp.release._streams import RowsOfFile, _whole, is_stream
from riemdp.statistics import (
    ClassMoments,
    FrechetMean,
    GeometricMedian,
    HuberMean,
    Recentred,
    ReplaceOne,
    ReplacePoint,
    ReplaceUser,
    TangentMean,
    TangentRegression,
    Weighted,
    largest_share,
)

PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
CAP = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
N = 40
ROWS = 0.8 * np.random.default_rng(0).normal(size=(N, 2))
POINTS = CAP.point(0.3 * ROWS)


def source():
    return np.random.default_rng(1)


def mapped(folder, points, name="points.npy"):
    np.save(folder / name, points)
    return np.load(folder / name, mmap_mode="r")


def same(one, other):
    assert one.rounded is not None
    assert (one.rounded, one.grid, one.n) == (other.rounded, other.grid, other.n)
    assert np.array_equal(one.value, other.value)


def given_forms(folder, rows):
    """Return the same records in every form, by name, with what has to be said beside them."""
    np.save(folder / "a.npy", rows[:7])
    np.savetxt(folder / "b.csv", rows[7:], delimiter=",", fmt="%.17g")
    n = len(rows)
    shuffled = rows[np.random.default_rng(2).permutation(n)]
    return {
        "iterator": (iter(np.split(rows, [7, 30])), n),
        "generator": ((shuffled[i : i + 9] for i in range(0, n, 9)), n),
        "memmap": (mapped(folder, rows), None),
        "backwards": (mapped(folder, rows)[::-1], None),
        "columns": (mapped(folder, np.asfortranarray(rows), "f.npy"), n),
        "paths": ([folder / "b.csv", folder / "a.npy"], n),
        "found paths": (folder.glob("[ab].*"), n),
        "function of paths": (Chunks(partial(folder.glob, "[ab].*"), n=n), None),
        "functions": ([lambda: rows[:3], lambda: Records(rows[3:])], n),
        "chunks": (Chunks(lambda: iter(np.split(rows, 4)), n=n), None),
        "paths of sizes": (
            Chunks([folder / "a.npy", folder / "b.csv"], sizes=[7, n - 7]),
            None,
        ),
        "sizes": (Chunks(np.split(rows, [13]), sizes=[13, n - 13]), None),
    }


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_releases_are_those_of_the_array(adjacency, tmp_path):
    def released(points, n=None):
        return private_mean(points, PLANE, GDP(1.0), n=n, adjacency=adjacency, generator=source())

    whole = released(ROWS)
    for name, (points, n) in given_forms(tmp_path, ROWS).items():
        assert is_stream(points), name
        same(released(points, n if adjacency == "replace-one" else None), whole)
    with pytest.raises(AssertionError):  # the control: of one record less it is another one
        same(released(iter([ROWS[1:]]), N if adjacency == "replace-one" else None), whole)


@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_what_type_a_chunk_has_decides_nothing(adjacency):
    """Records that are off the sphere by a float32 rounding or a few hundred."""
    rough = (POINTS * (1.0 + 3e-5)).astype(np.float32)
    found = []
    for first, second in [(np.float32, np.float64), (np.float64, np.float32), (float, float)]:
        parts = [rough[:7].astype(first), rough[7:].astype(second).tolist()]
        n = N if adjacency == "replace-one" else None
        found.append(
            private_mean(iter(parts), CAP, GDP(1.0), n=n, adjacency=adjacency, generator=source(),
                         mechanism="tangent-gaussian")
        )  # fmt: skip
    same(found[0], found[1])
    same(found[0], found[2])


def test_zarr_arrays_are_read_in_chunks(tmp_path):
    zarr = pytest.importorskip("zarr")
    array = zarr.open(str(tmp_path / "a.zarr"), mode="w", shape=ROWS.shape, dtype="f8")
    array[...] = ROWS
    assert is_stream(array)
    whole = private_mean(ROWS, PLANE, GDP(1.0), generator=source())
    same(private_mean(array, PLANE, GDP(1.0), generator=source()), whole)
    same(private_mean(chunks_of(array, rows=7), PLANE, GDP(1.0), generator=source()), whole)
    sent = pickle.dumps(chunks_of(array, rows=7).parts[1])
    assert len(sent) < 4000
    assert np.array_equal(pickle.loads(sent)(), ROWS[7:14])
    for own, rows in ((3, 65535), (100000, 100000), (10**9, 65536)):
        assert _whole(65536, (own, 2)) == rows


def test_iterative_means_make_a_pass_a_step(tmp_path):
    opened = []

    def parts():
        opened.append(1)
        return iter(np.split(POINTS, 4))

    for function, options, passes in (
        (partial(private_statistic, GeometricMedian(3)), {}, 4),
        (partial(private_statistic, HuberMean(2)), {}, 3),
        (riemdp.private_mean, {"method": "refined"}, 2),
        (riemdp.private_moments, {"base": "recentred"}, 2),
        (riemdp.private_variance, {"base": "public"}, 1),
    ):
        opened.clear()
        whole = function(POINTS, CAP, GDP(1.0), generator=source(), **options)
        found = function(Chunks(parts, n=N), CAP, GDP(1.0), generator=source(), **options)
        assert found.rounded == whole.rounded
        assert len(opened) == passes
        if passes > 1:
            with pytest.raises(UnsupportedError, match=f"takes {passes} passes"):
                function(iter([POINTS]), CAP, GDP(1.0), n=N, **options)


def test_summaries_without_a_ball_take_chunks(tmp_path):
    rng = np.random.default_rng(3)
    landmarks = rng.normal(size=(12, 4)) + 1j * rng.normal(size=(12, 4))
    quaternions = rng.normal(size=(12, 4))
    quaternions /= np.linalg.norm(quaternions, axis=1, keepdims=True)
    for function, points, shape in (
        (riemdp.private_directional_summary, POINTS[:12], (3,)),
        (riemdp.private_rotation_mean, quaternions, None),
        (riemdp.private_procrustes_mean, landmarks, (4,)),
    ):
        for adjacency in ("replace-one", "add-remove"):

            def released(given, function=function, adjacency=adjacency):
                return function(given, GDP(1.0), adjacency=adjacency, generator=source())

            whole = released(points)
            for form in (
                mapped(tmp_path, points),
                Chunks(iter(np.split(points, 3)), n=12, shape=shape),
                Chunks(np.split(points, 3), sizes=[4, 4, 4], shape=shape),
            ):
                assert released(form).rounded == whole.rounded
    with pytest.raises(InvalidParameterError, match="public shape"):
        riemdp.private_directional_summary(iter([POINTS]), GDP(1.0), n=N)


def backwards(points):
    return points[:, ::-1]


def test_summaries_take_what_the_function_of_the_chunks_makes():
    def released(given):
        return riemdp.private_directional_summary(given, GDP(1.0), generator=source()).rounded

    chunks = Chunks(np.split(POINTS, 4), n=N, shape=(3,), read=backwards)
    assert released(chunks) == released(backwards(POINTS)) != released(POINTS)


def test_auto_takes_what_can_be_added_up(tmp_path):
    space = Hyperbolic(2)
    ball = Ball(space, space.origin, 1.0)
    points = ball.point(ROWS)
    assert private_mean(points, ball, GDP(1.0)).statistic.name == "frechet-mean"
    found = private_mean(iter([points]), ball, GDP(1.0), n=N)
    assert found.statistic.name == "tangent-mean"
    assert riemdp.verify(found).passed
    with pytest.raises(UnsupportedError, match=r"takes \d+ passes.*or take the tangent mean"):
        private_mean(iter([POINTS]), CAP, PureDP(1.0), n=N, mechanism="riemannian-laplace")
    wide = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.4)
    with pytest.raises(UnsupportedError, match=r'radius 1\.4.*method="refined"'):
        private_mean(Chunks([POINTS]), wide, PureDP(1.0), n=N, mechanism="riemannian-laplace")


TENSORS = Ball(SPDAffineInvariant(3), np.eye(3), 1.0)
CURVED = [
    (CAP, POINTS),
    pytest.param(
        TENSORS,
        TENSORS.point(0.2 * np.random.default_rng(0).normal(size=(N, 6))),
        marks=pytest.mark.slow,
    ),
    pytest.param(
        Ball(Rotations(), Rotations().origin, 0.5),
        Ball(Rotations(), Rotations().origin, 0.5).point(0.2 * np.c_[ROWS, ROWS[:, 0]]),
        marks=pytest.mark.slow,
    ),
]


@pytest.mark.parametrize(("ball", "points"), CURVED)
def test_curved_means_are_found_in_several_passes(ball, points, tmp_path):
    options = {"mechanism": "riemannian-gaussian"}
    whole = private_mean(points, ball, GDP(1.0), generator=source(), **options)
    assert whole.statistic == FrechetMean()
    turned = np.random.default_rng(3).permutation(N)
    forms = {
        "memmap": mapped(tmp_path, points),
        "sizes": Chunks(np.split(points[turned], [13]), sizes=[13, N - 13]),
        "functions": Chunks([lambda: points[:3], lambda: points[3:]], n=N),
        "function": Chunks(lambda: iter(np.split(points, 4)), n=N),
        "sequence": Chunks(np.split(points, 4), n=N, mapper=in_reverse),
    }
    found = {
        name: private_mean(given, ball, GDP(1.0), generator=source(), **options)
        for name, given in forms.items()
    }
    for name, release in found.items():
        assert release.rounded == found["memmap"].rounded, name
    release = found["sizes"]
    assert riemdp.verify(release).passed
    assert (release.tol, release.sensitivity, release.mechanism, release.proofs) == (
        whole.tol,
        whole.sensitivity,
        whole.mechanism,
        whole.proofs,
    )
    assert ball.manifold.dist(release.value, whole.value) <= 4.0 * whole.tol + 2.0**-38
    assert private_mean(forms["sizes"], ball, GDP(1.0)).statistic.name == "tangent-mean"
    assert private_statistic(FrechetMean(), forms["sizes"], ball, GDP(1.0)).n == N


@pytest.mark.slow
def test_memory_of_a_curved_mean_does_not_grow_with_the_records():
    """Of an array it does."""
    ball = Ball(SPDAffineInvariant(3), np.eye(3), 0.1)

    def rows(number):
        return ball.point(0.03 * np.random.default_rng(number).normal(size=(2000, 6)))

    def peak(points):
        tracemalloc.start()
        private_statistic(FrechetMean(), points, ball, GDP(1.0))
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return found

    few, many = (
        peak(Chunks([partial(rows, i) for i in range(parts)], sizes=[2000] * parts))
        for parts in (3, 12)
    )
    assert many < 1.2 * few
    arrays = [np.concatenate([rows(i) for i in range(parts)]) for parts in (3, 12)]
    assert peak(arrays[1]) > 2.0 * peak(arrays[0])


def in_reverse(function, tasks):
    return list(map(function, list(tasks)[::-1]))


def test_the_centre_stands_for_what_is_missing_of_a_curved_mean():
    given = Chunks([POINTS[:30]], n=N)
    filled = np.concatenate([POINTS[:30], np.tile(CAP.center, (N - 30, 1))])
    found, whole = (
        private_statistic(FrechetMean(), some, CAP, GDP(1.0), generator=source())
        for some in (given, Chunks([filled], n=N))
    )
    same(found, whole)


def test_records_that_change_between_passes_are_one_failure_after_the_charge():
    """The last pass is about other records than the steps before: their mean is elsewhere."""
    account, reads = Accountant(GDP(5.0)), []

    def parts(changes):
        reads.append(1)
        moved = -POINTS * [1.0, 1.0, -1.0] if changes and len(reads) > 5 else POINTS
        return iter([moved])

    options = {"mechanism": "riemannian-gaussian", "generator": source(), "accountant": account}
    private_mean(Chunks(partial(parts, False), n=N), CAP, GDP(1.0), **options)
    query = next(FrechetMean().queries(CAP))
    assert len(reads) == query.in_passes(CAP, 1e-10).left > 5
    reads.clear()
    holder, written = logging.getLogger("riemdp.data_holder"), io.StringIO()
    handler = logging.StreamHandler(written)
    holder.addHandler(handler)
    try:
        with pytest.raises(ReleaseFailedError) as caught:
            private_mean(Chunks(partial(parts, True), n=N), CAP, GDP(1.0), **options)
    finally:
        holder.removeHandler(handler)
    assert len(reads) > 5
    assert caught.value.__cause__ is None
    assert "did the records change" in written.getvalue()
    assert "did the records change" not in str(caught.value)
    assert account.spent.mu > 1.4


def test_what_needs_all_records_of_a_file_reads_it(tmp_path):
    points = mapped(tmp_path, POINTS)
    users = np.arange(N) // 2
    found = private_mean(points, CAP, PureDP(1.0), generator=source(), users=users)
    whole = private_mean(POINTS, CAP, PureDP(1.0), generator=source(), users=users)
    assert (found.rounded, found.statistic) == (whole.rounded, whole.statistic)
    assert np.array_equal(found.value, whole.value)


WEIGHTS = np.linspace(0.5, 1.0, N)
SHARE = largest_share(WEIGHTS)


def weighted_forms(folder, points):
    """Return records with public weights in every form: with each chunk, and beside them."""
    turned, cuts = np.random.default_rng(2).permutation(N), [slice(0, 9), slice(9, N)]
    records = Records(points, weights=WEIGHTS)
    shuffled = Records(points[turned], weights=WEIGHTS[turned])
    np.save(folder / "a.npy", points[:9])
    np.save(folder / "b.npy", points[9:])
    paths = [folder / "a.npy", folder / "b.npy"]
    return {
        "sizes": Chunks([records.at(rows) for rows in cuts], sizes=[9, N - 9]),
        "shuffled": Chunks([shuffled.at(rows) for rows in cuts], n=N),
        "functions": Chunks([lambda: records.at(cuts[1]), lambda: records.at(cuts[0])], n=N),
        "function": Chunks(lambda: (shuffled.at(rows) for rows in cuts), n=N, mapper=in_reverse),
        "memmap": Records(mapped(folder, points), weights=WEIGHTS),
        "cut": Records(chunks_of(mapped(folder, points), rows=7), weights=WEIGHTS.tolist()),
        "arrays": Records(Chunks(np.split(points, [9]), sizes=[9, N - 9]), weights=WEIGHTS),
        "paths": Records(Chunks(lambda: iter(paths), sizes=[9, N - 9]), weights=WEIGHTS),
    }


@pytest.mark.parametrize(("ball", "points"), CURVED)
def test_means_with_public_weights_are_those_of_the_array(ball, points, tmp_path):
    mean = Weighted(FrechetMean(), SHARE)
    whole, turned = (
        private_statistic(mean, given, ball, GDP(1.0), generator=source())
        for given in (Records(points, weights=WEIGHTS), Records(points, weights=WEIGHTS[::-1]))
    )
    found = {
        name: private_statistic(mean, given, ball, GDP(1.0), generator=source())
        for name, given in weighted_forms(tmp_path, points).items()
    }
    release = found["sizes"]
    for name, each in found.items():
        assert each.rounded == release.rounded, name
    assert riemdp.verify(release).passed
    assert (release.tol, release.sensitivity, release.mechanism, release.proofs) == (
        whole.tol,
        whole.sensitivity,
        whole.mechanism,
        whole.proofs,
    )
    allowed = 4.0 * whole.tol + 2.0**-38
    assert ball.manifold.dist(release.value, whole.value) <= allowed
    assert ball.manifold.dist(release.value, turned.value) > 1e3 * allowed  # the control
    named = {"mechanism": "riemannian-gaussian"}
    other = private_mean(
        Chunks(np.split(points, [9]), sizes=[9, N - 9]),
        ball,
        GDP(1.0),
        weights=8.0 * WEIGHTS,
        generator=source(),
        **named,
    )
    given = weighted_forms(tmp_path, points)["functions"]
    assert other.statistic == mean
    same(other, private_statistic(mean, given, ball, GDP(1.0), generator=source(), **named))


def test_averages_with_public_weights_are_those_of_the_array_bit_for_bit(tmp_path):
    tangent = Weighted(TangentMean(), SHARE)
    for ball, points, mean in (
        (PLANE, ROWS, Weighted(FrechetMean(), SHARE)),
        (PLANE, ROWS, tangent),
        (CAP, POINTS, tangent),
    ):
        records = Records(points, weights=WEIGHTS)
        whole = private_statistic(mean, records, ball, GDP(1.0), generator=source())
        for given in weighted_forms(tmp_path, points).values():
            same(private_statistic(mean, given, ball, GDP(1.0), generator=source()), whole)
        once = iter([records.at(slice(0, 5)), records.at(slice(5, N))])
        same(private_statistic(mean, once, ball, GDP(1.0), n=N, generator=source()), whole)
        asked = Chunks(iter(np.split(points, [13])), sizes=[13, N - 13])
        found = private_mean(asked, ball, GDP(1.0), weights=WEIGHTS, generator=source())
        assert found.statistic.name in (tangent.name, "weighted-frechet-mean")
        same(
            found,
            private_mean(
                points,
                ball,
                GDP(1.0),
                weights=WEIGHTS,
                mechanism=found.mechanism.name,
                generator=source(),
            ),
        )


def test_public_weights_are_refused_before_the_charge(tmp_path):
    account, opened = Accountant(GDP(9.0)), []

    def parts():
        opened.append(1)
        return iter(np.split(POINTS, [13]))

    sized, mean = Chunks(parts, sizes=[13, N - 13]), Weighted(FrechetMean(), SHARE)
    options = {"accountant": account, "mechanism": "riemannian-laplace"}
    for wrong, error, text in (
        (WEIGHTS[1:], InvalidParameterError, "one for each point"),
        (WEIGHTS[None], InvalidParameterError, "one for each point"),
        ([*WEIGHTS[:-1], np.nan], NotOnManifoldError, "row 39: its weight is not finite"),
        ([-1.0, *WEIGHTS[1:]], NotOnManifoldError, "row 0: its weight is negative"),
        (0.0 * WEIGHTS, InvalidParameterError, "must not all be 0"),
    ):
        with pytest.raises(error, match=text):
            private_mean(sized, CAP, GDP(1.0), weights=wrong, **options)
    for beside, error, text in (
        ([*WEIGHTS[:-1], np.nan], NotOnManifoldError, "row 39: its weight is not finite"),
        ([-0.5, *WEIGHTS[1:]], NotOnManifoldError, "row 0: its weight is negative"),
        (np.ma.masked_less(WEIGHTS, np.inf), InvalidParameterError, "mask"),
        (["a"] * N, InvalidParameterError, "numbers"),
        ([None] * N, InvalidParameterError, "numbers"),
        ([2.0, *WEIGHTS[1:]], NotOnManifoldError, "row 0: its weight is more than 1"),
        (np.r_[1.0, 0.5 * WEIGHTS[1:]], InvalidParameterError, "more than the stated share"),
        (WEIGHTS[1:], InvalidParameterError, "one for each point"),
    ):
        for points in (sized, mapped(tmp_path, POINTS)):
            with pytest.raises(error, match=text):
                private_statistic(mean, Records(points, weights=beside), CAP, GDP(1.0), **options)
    with pytest.raises(InvalidParameterError, match=r"chunks of public sizes.*sizes="):
        private_mean(Chunks(parts, n=N), CAP, GDP(1.0), weights=WEIGHTS, **options)
    with pytest.raises(UnsupportedError, match=r"takes \d+ passes"):
        private_statistic(mean, iter([POINTS]), CAP, GDP(1.0), n=N, **options)
    with pytest.raises(UnsupportedNeighboursError, match="one record of each person"):
        private_statistic(mean, sized, CAP, GDP(1.0), users=range(N), **options)
    assert account.spent is None
    assert opened == []


def test_weights_that_come_with_chunks_are_checked_when_they_are_read():
    mean, account = Weighted(FrechetMean(), SHARE), Accountant(GDP(2.0))
    options = {"accountant": account, "mechanism": "riemannian-laplace"}
    for weights, text in (
        ([*WEIGHTS[:-1], np.nan], "row 39: its weight is not finite"),
        (np.r_[1.0, 0.5 * WEIGHTS[1:]], "more than the stated share"),
        (WEIGHTS[1:], "one for each point"),
    ):
        given = Chunks([partial(Records, POINTS, weights=weights)], n=N)
        with pytest.raises(RiemdpError, match=text):
            check(given, CAP, GDP(1.0), statistic=mean, **options)
    twice = Records(Chunks([Records(POINTS, weights=WEIGHTS)], sizes=[N]), weights=WEIGHTS)
    with pytest.raises(InvalidParameterError, match="give weights once"):
        check(twice, CAP, GDP(1.0), statistic=mean, **options)
    assert account.spent is None
    with pytest.raises(ReleaseFailedError) as caught:
        private_statistic(mean, given, CAP, GDP(1.0), **options)
    assert "one for each point" not in str(caught.value)
    assert account.spent == GDP(1.0)
    with pytest.raises(InvalidParameterError, match="nobody knows the weights"):
        private_statistic(
            mean, Chunks([Records(POINTS[1:], weights=WEIGHTS[1:])], n=N), CAP, GDP(1.0)
        )


def test_a_private_number_of_records_has_no_mean_of_curved_spaces():
    """Neither of an array nor of chunks, of which none is opened; the tangent mean there is."""
    opened = []

    def parts():
        opened.append(1)
        return iter([POINTS])

    account = Accountant(GDP(9.0), adjacency="add-remove")
    options = {"adjacency": "add-remove", "accountant": account}
    for points in (POINTS, Chunks(parts)):
        for call in (
            partial(private_statistic, FrechetMean(), points, CAP, GDP(1.0)),
            partial(private_mean, points, CAP, GDP(1.0), mechanism="riemannian-gaussian"),
            partial(private_mean, points, CAP, GDP(1.0), mechanism="wrapped-gaussian"),
        ):
            with pytest.raises(UnsupportedError) as caught:
                call(**options)
            assert str(caught.value).count("is no function of sums over the records") == 1
            assert "or the tangent mean" in str(caught.value)
        for call in (
            partial(private_statistic, Weighted(FrechetMean(), SHARE), points, CAP, GDP(1.0)),
            partial(private_mean, points, CAP, GDP(1.0), weights=WEIGHTS),
        ):
            with pytest.raises(UnsupportedError, match="private_weights=True"):
                call(**options)
    assert account.spent is None
    assert opened == []
    found = private_mean(Chunks(parts), CAP, GDP(1.0), generator=source(), **options)
    whole = private_mean(POINTS, CAP, GDP(1.0), generator=source(), **options)
    same(found, whole)
    assert (found.statistic.name, opened) == ("counted", [1])


def test_what_belongs_to_points_is_cut_with_them(tmp_path):
    labels = np.array(["a", "b"])[np.arange(N) % 2]
    statistic = ClassMoments(("a", "b"))

    def released(points, **options):
        return private_statistic(statistic, points, PLANE, GDP(1.0), generator=source(), **options)

    whole = released(Records(ROWS, labels=labels))
    file = mapped(tmp_path, ROWS)
    same(released(Records(file, labels=labels, ids=range(N))), whole)
    parts = [Records(ROWS[:9], labels=labels[:9]), Records(ROWS[9:], labels=labels[9:])]
    same(released(iter(parts), n=N), whole)
    cut = chunks_of(Records(file, labels=labels), rows=9)
    same(released(cut), whole)
    for points, options, text in (
        (Records(file, labels=labels[1:]), {}, "one for each point"),
        (Records(iter([ROWS]), labels=labels), {"n": N}, "with each chunk"),
        (Records(file, labels=labels, ids=[0] * N), {}, "its id is that of"),
        (iter([ROWS]), {"n": N}, "takes labels too"),
        (file, {}, "takes labels too"),
    ):
        with pytest.raises(InvalidParameterError, match=text):
            released(points, **options)


LABELS = np.array(["a", "b", "b"])[np.arange(N) % 3]
AGES = np.linspace(20.0, 80.0, N)
OF_CLASSES = ClassMoments(("a", "b"), sizes=(14, N - 14))
OF_AGES = TangentRegression(20.0, 80.0, AGES)


@pytest.mark.parametrize(
    ("statistic", "public", "wrong", "text"),
    [
        (OF_CLASSES, {"labels": LABELS}, ["b", *LABELS[1:]], "public sizes of the classes"),
        (Recentred(OF_CLASSES), {"labels": LABELS}, ["a"] * N, "public sizes of the classes"),
        (OF_AGES, {"covariates": AGES}, [*AGES[:-1], 79.0], "not those of the public design"),
        (Recentred(OF_AGES), {"covariates": AGES}, [*AGES[1:], 80.0], "the public design"),
    ],
)
def test_what_is_public_is_checked_of_all_chunks_together(statistic, public, wrong, text, tmp_path):
    (name,) = public
    account = Accountant(GDP(9.0), adjacency="replace-point")

    def released(points, **options):
        options = {"adjacency": ReplacePoint(), "generator": source(), **options}
        return private_statistic(statistic, points, PLANE, GDP(1.0), **options)

    def forms(extras):
        turned = np.random.default_rng(2).permutation(N)
        records = Records(ROWS[turned], **{name: np.asarray(extras)[turned]})
        within = [records.at(slice(0, 9)), records.at(slice(9, 9)), records.at(slice(9, N))]
        sized = Chunks(np.split(ROWS, [9]), sizes=[9, N - 9])
        beside = [Records(given, **{name: extras}) for given in (sized, mapped(tmp_path, ROWS))]
        given = [Chunks(within, n=N, mapper=in_reverse), Chunks(within, sizes=[9, 0, N - 9])]
        return given, beside

    whole = released(Records(ROWS, **public))
    within, beside = forms(public[name])
    for points in (*within, *beside):
        same(released(points), whole)
    # the control
    other = {name: np.roll(public[name], 1)}
    assert released(Records(ROWS, **other)).rounded != whole.rounded
    within, beside = forms(wrong)
    for points in beside:
        with pytest.raises(InvalidParameterError, match=text):
            released(points, accountant=account)
    for points in within:
        with pytest.raises(InvalidParameterError, match=text):
            released(points)
    assert account.spent is None
    with pytest.raises(ReleaseFailedError) as caught:
        released(points, accountant=account)
    assert text not in str(caught.value)
    assert account.spent.mu == 1.0


def test_private_labels_beside_chunks_are_not_checked_before_the_charge():
    account, labels = Accountant(GDP(9.0)), ["c", *LABELS[1:]]
    given = Records(Chunks(np.split(ROWS, [9]), sizes=[9, N - 9]), labels=labels)
    with pytest.raises(ReleaseFailedError) as caught:
        private_statistic(ClassMoments(("a", "b")), given, PLANE, GDP(1.0), accountant=account)
    assert "not among the public classes" not in str(caught.value)
    assert account.spent == GDP(1.0)


def test_names_beside_a_map_stay_what_they_are(tmp_path):
    file = mapped(tmp_path, ROWS)
    for ids in ([*range(N - 1), "5"], [-1, *range(N - 2), 2**63 + 1], ["a", "a\0", *range(N - 2)]):
        whole = private_mean(Records(ROWS, ids=ids), PLANE, GDP(1.0), generator=source())
        same(private_mean(Records(file, ids=ids), PLANE, GDP(1.0), generator=source()), whole)
    with pytest.raises(InvalidParameterError, match="its id is that of"):  # the control
        private_mean(Records(file, ids=[*range(N - 1), 5]), PLANE, GDP(1.0))
    with pytest.raises(InvalidParameterError, match="integers or texts"):
        private_mean(Records(file, ids=[[0, 1]] * N), PLANE, GDP(1.0))


def test_a_zarr_array_without_rows_is_one_of_zero_records(tmp_path):
    zarr = pytest.importorskip("zarr")
    options = {"shape": (0, 2), "chunks": (5, 2), "dtype": "f8"}
    empty = zarr.open(str(tmp_path / "a.zarr"), mode="w", **options)
    account = Accountant(GDP(1.0), adjacency="add-remove")  # n = 0 is private there, as n = 1 is
    found = private_mean(
        empty, PLANE, GDP(0.5), adjacency="add-remove", accountant=account, generator=source()
    )
    alike = private_mean(ROWS[:0], PLANE, GDP(0.5), adjacency="add-remove", generator=source())
    same(found, alike)
    one = zarr.open(str(tmp_path / "b.zarr"), mode="w", shape=(), dtype="f8")
    one[...] = 0.5
    for points in (empty, one):
        with pytest.raises((NotOnManifoldError, InvalidParameterError)):
            private_mean(points, PLANE, GDP(0.5))


def test_the_way_out_for_a_file_that_becomes_too_much_works(tmp_path, monkeypatch):
    monkeypatch.setattr(_files, "MOST_OF_FILE", 10)
    path = tmp_path / "a.npz"
    np.savez_compressed(path, x=np.zeros((10**4, 2)))
    with pytest.raises(InvalidParameterError, match=r"partial\(riemdp\.io\.read, path, most="):
        private_mean([path], PLANE, GDP(1.0), n=10**4)
    given = Chunks([partial(riemdp.io.read, path, most=2**15)], n=10**4)
    assert private_mean(given, PLANE, GDP(1.0)).n == 10**4


def test_n_is_public_or_given():
    for points in (iter([ROWS]), [lambda: ROWS], Chunks([ROWS]), [Path("nowhere.npy")]):
        with pytest.raises(InvalidParameterError, match="give the public number"):
            private_mean(points, PLANE, GDP(1.0))
    with pytest.raises(InvalidParameterError, match="chunks say 40"):
        private_mean(Chunks([ROWS], n=40), PLANE, GDP(1.0), n=41)
    with pytest.raises(InvalidParameterError, match="leave out n"):
        private_mean(iter([ROWS]), PLANE, GDP(1.0), n=N, adjacency="add-remove")
    with pytest.raises(InvalidParameterError, match="leave out the manifest"):
        private_mean(Chunks([ROWS], manifest=range(N)), PLANE, GDP(1.0), adjacency="add-remove")
    assert private_mean(Chunks([ROWS], n=N), PLANE, GDP(1.0), adjacency="add-remove").n is None


def test_a_ball_that_was_found_knows_how_many_records_there_are(tmp_path):
    found = riemdp.private_ball(ROWS, PLANE, GDP(1.0), generator=source())
    release = private_mean(iter([ROWS]), found, generator=source())
    assert (release.n, release.search is None) == (N, False)
    again = riemdp.private_ball(ROWS, PLANE, GDP(1.0), generator=source())
    with pytest.raises(InvalidParameterError, match="found in 40 records"):
        private_mean(iter([ROWS]), again, n=41)


def test_people_and_searches_need_all_records():
    for call in (
        lambda: private_mean(iter([ROWS]), PLANE, GDP(1.0), n=N, users=range(N)),
        lambda: private_mean(iter([ROWS]), PLANE, GDP(1.0), people=N, adjacency=ReplaceUser()),
        lambda: private_mean(iter([ROWS]), PLANE, GDP(1.0), n=N, method="adaptive"),
        lambda: riemdp.private_ball(iter([ROWS]), PLANE, GDP(1.0), n=N),
        lambda: riemdp.private_means({"a": iter([ROWS])}, PLANE, GDP(1.0)),
    ):
        with pytest.raises(UnsupportedError):
            call()
    with pytest.raises(UnsupportedNeighboursError, match="one record of each person"):
        private_mean(Chunks([ROWS], n=N), PLANE, GDP(1.0), users=range(N))


def test_the_account_is_charged_before_anything_is_opened():
    account = Accountant(GDP(2.0))
    spent = []

    def parts():
        spent.append(account.spent)
        yield ROWS
        raise ValueError("Ann")

    for bad in (parts, [ROWS[1:], ROWS[:1] * np.nan], [ROWS, lambda: ROWS]):
        with pytest.raises(ReleaseFailedError) as caught:
            private_mean(Chunks(bad, n=N), PLANE, GDP(1.0), accountant=account)
        assert caught.value.__context__ is None
        assert "Ann" not in str(caught.value)
    assert spent == [GDP(1.0)]
    assert account.spent.mu == pytest.approx(3.0**0.5)


#: Chunks whose parts are at hand, of which names, shapes and sizes rule out a release.
AT_HAND = {
    "names": (Chunks([POINTS, Records(POINTS, weights=WEIGHTS)], n=N), "chunk 1: .*no weights"),
    "people": (Chunks([Records(POINTS, users=range(N))], n=N), "chunk 0: .*one record of each"),
    "shape": (Chunks([POINTS[:, :2]], n=N), r"chunk 0: .*shape \(\.\.\., 3\)"),
    "ids": (Chunks([POINTS], manifest=range(N)), "chunk 0: .*manifest"),
    "few ids": (Chunks([Records(POINTS, ids=[1])], n=N), "chunk 0: ids must be one"),
    "size": (Chunks([POINTS[:9], POINTS[10:]], sizes=[9, N - 9]), "chunk 1: .*leave out sizes"),
    "too many": (Chunks([POINTS, lambda: POINTS, POINTS[:1]], n=N), "more records than n = 40"),
    "none": (Chunks([], n=N), "no chunks"),
    "beside": (
        Records(Chunks([lambda: POINTS], sizes=[N]), labels=["a"] * N),
        "takes no labels: leave out labels",
    ),
}


@pytest.mark.parametrize("name", AT_HAND)
def test_parts_that_are_at_hand_are_refused_before_the_charge(name):
    given, text = AT_HAND[name]
    account = Accountant(GDP(2.0))
    with pytest.raises(RiemdpError, match=text):
        private_mean(given, CAP, GDP(1.0), accountant=account)
    assert account.spent is None


def test_what_was_read_is_not_paid_for_again():
    for parts in ((part for part in np.split(ROWS, 4)), Chunks(iter(np.split(ROWS, 4)))):
        account = Accountant(GDP(2.0))
        private_mean(parts, PLANE, GDP(0.5), n=N, accountant=account)
        with pytest.raises(UnsupportedError, match="can be read once, and were"):
            private_mean(parts, PLANE, GDP(0.5), n=N, accountant=account)
        assert account.spent == GDP(0.5)


def test_missing_records_are_seen_before_the_charge_where_all_parts_are_at_hand():
    account = Accountant(GDP(2.0))
    given = Chunks([Records(ROWS[1:], weights=WEIGHTS[1:])], n=N)
    options = {"private_weights": True, "accountant": account}
    with pytest.raises(InvalidParameterError, match="nobody knows the weights"):
        private_mean(given, PLANE, GDP(1.0), **options)
    assert account.spent is None
    late = Chunks([given.parts[0], lambda: Records(ROWS[:1], weights=WEIGHTS[:1])], n=N)
    assert private_mean(late, PLANE, GDP(1.0), **options).n == N
    assert private_mean(Chunks([ROWS[1:], ROWS[:0]], n=N), PLANE, GDP(1.0)).n == N


def test_the_advice_about_private_weights_in_chunks_is_no_circle():
    account, parts = Accountant(GDP(2.0)), np.split(ROWS, 4)
    options = {"private_weights": True, "accountant": account}
    for given in (Chunks(parts, n=N), Chunks(lambda: iter(parts), n=N)):
        with pytest.raises(InvalidParameterError, match=r"keep private_weights=True.*each chunk"):
            private_mean(given, PLANE, GDP(0.1), weights=WEIGHTS, **options)
    assert account.spent is None
    options |= {"budget": GDP(0.1), "ball": PLANE, "n": N}
    whole = private_mean(ROWS, weights=WEIGHTS, generator=source(), **options)
    both = zip(parts, np.split(WEIGHTS, 4), strict=True)
    with_each = [Records(points, weights=weights) for points, weights in both]
    for given in (Chunks(with_each), iter(with_each)):
        same(private_mean(given, generator=source(), **options), whole)


def test_what_an_iterator_brings_is_known_when_it_is_read():
    """Names in parts that nobody has opened cost the budget: the limit of what is told before."""
    account, given = Accountant(GDP(2.0)), iter([Records(ROWS, weights=WEIGHTS)])
    with pytest.raises(ReleaseFailedError):
        private_mean(given, PLANE, GDP(1.0), n=N, accountant=account)
    assert account.spent == GDP(1.0)


def test_a_check_reads_all_chunks_once():
    opened = []

    def parts(last):
        opened.append(1)
        yield ROWS
        yield last

    with pytest.raises(NotOnManifoldError, match="chunk 1: row 0"):
        check(Chunks(lambda: parts(ROWS[:1] * np.nan), n=N), PLANE)
    check(Chunks(lambda: parts(ROWS[:1]), n=N + 1), PLANE)
    assert opened == [1, 1]
    with pytest.raises(UnsupportedError, match="can be read once"):
        check(iter([ROWS]), PLANE, n=N)


def test_chunks_fail_alike_with_an_account_alone():
    account = Accountant(GDP(3.0))
    with pytest.raises(ReleaseFailedError) as caught:
        private_mean(Chunks([ROWS * np.nan], n=N), PLANE, GDP(1.0), accountant=account)
    assert caught.value.__context__ is None
    assert account.spent == GDP(1.0)
    with pytest.raises(NotOnManifoldError, match="row 0"):  # without an account it costs nothing
        private_mean(Chunks([ROWS * np.nan], n=N), PLANE, GDP(1.0))


def test_workers_are_sent_paths_and_not_records(tmp_path):
    chunks = chunks_of(mapped(tmp_path, ROWS), rows=11)
    assert [len(part()) for part in chunks.parts] == [11, 11, 11, 7]
    assert max(len(pickle.dumps(part)) for part in chunks.parts) < 600
    assert all(np.array_equal(part(), row) for part, row in zip(chunks.parts, cut(11), strict=True))
    sent = pickle.loads(pickle.dumps(chunks.parts[2]))
    assert np.array_equal(sent(), ROWS[22:33])


def cut(rows):
    return np.split(ROWS, range(rows, N, rows))


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x[3:],
        lambda x: x[::-3],
        lambda x: x[:, ::-1],
        lambda x: x.T,
        lambda x: x[5:9, 1:],
        lambda x: x.reshape(-1, 1, 2),
        lambda x: x[3:][::2][1:],
    ],
)
def test_views_of_a_map_are_read_from_the_file(view, tmp_path):
    np.save(tmp_path / "a.npy", np.arange(80.0).reshape(N, 2))
    points = view(np.load(tmp_path / "a.npy", mmap_mode="r"))
    parts = chunks_of(points, rows=3).parts
    assert all(type(part) is RowsOfFile for part in parts)
    assert np.array_equal(np.concatenate([part() for part in parts]), points)


def test_arrays_that_are_no_file_are_arrays(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    private = np.load(tmp_path / "a.npy", mmap_mode="c")  # changes to it are not in the file
    for points in (
        ROWS,
        ROWS.tolist(),
        private,
        mapped(tmp_path, ROWS) + 0.0,
        (),
        [],
        lambda: ROWS,
    ):
        assert not is_stream(points)
        with pytest.raises(InvalidParameterError, match="chunks are"):
            chunks_of(points)
    short = RowsOfFile(str(tmp_path / "a.npy"), np.dtype(float), 0, (1000, 2), (16, 8))
    with pytest.raises(InvalidParameterError, match="shorter"):
        short()


@pytest.mark.slow
def test_processes_may_work_on_chunks(tmp_path):
    whole = private_mean(ROWS, PLANE, GDP(1.0), generator=source())
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        chunks = chunks_of(mapped(tmp_path, ROWS), rows=7).mapped(pool.map)
        same(private_mean(chunks, PLANE, GDP(1.0), generator=source()), whole)
        bad = chunks_of(mapped(tmp_path, ROWS * np.nan, "bad.npy")).mapped(pool.map)
        with pytest.raises(NotOnManifoldError, match="chunk 0, from row 0: row 0") as caught:
            private_mean(bad, PLANE, GDP(1.0))
        assert caught.value.__cause__ is None


_GROWTH = """
import re, sys
import numpy as np, riemdp
def largest():  # of this process alone: getrusage counts from what it was forked from
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])
points = np.memmap(sys.argv[1], np.float64, "r", shape=(10**6, 3, 3))
if sys.argv[2] == "array":
    points = np.array(points)
ball = riemdp.Ball(riemdp.SPDLogEuclidean(3), np.eye(3), 2.0)
riemdp.private_mean(np.tile(np.eye(3), (10, 1, 1)), ball, riemdp.GDP(1.0))
before = largest()
riemdp.private_mean(points, ball, riemdp.GDP(1.0))
print((largest() - before) / 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="units of memory differ")
def test_memory_does_not_grow_with_the_file(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "tensors.f64"
    with path.open("wb") as file:
        for _ in range(10):
            root = rng.normal(size=(10**5, 3, 3))
            file.write((np.eye(3) + 0.2 * root @ root.transpose(0, 2, 1)).tobytes())
    growth = [
        float(
            subprocess.run(
                [sys.executable, "-c", _GROWTH, str(path), form],
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for form in ("map", "array")
    ]
    assert growth[0] <= 100.0 < growth[1]


def test_tensors_are_streamed_as_they_are_released():
    root = np.random.default_rng(0).normal(size=(30, 3, 3))
    tensors = np.eye(3) + 0.2 * root @ root.transpose(0, 2, 1)
    ball = Ball(SPDLogEuclidean(3), np.eye(3), 2.0)
    whole = private_statistic(FrechetMean(), tensors, ball, GDP(1.0), generator=source())
    chunks = Chunks(np.split(tensors, 3), sizes=[10, 10, 10])
    same(private_statistic(FrechetMean(), chunks, ball, GDP(1.0), generator=source()), whole)


#: Records of 13 people.
WHOSE = np.random.default_rng(2).permutation(np.r_[0:13, 0:13, 0:9, 2, 2, 2, 2, 2])
LABELS_OF_PEOPLE = np.array(["a", "b", "c"])[np.random.default_rng(3).integers(0, 3, N)]
AGES = np.random.default_rng(4).uniform(0.0, 9.0, N)


def parts_of_people(**extras):
    """Parts of people, one without any record."""
    whose = np.sort(WHOSE)
    cuts = [0, *np.searchsorted(whose, [4, 9, 9, 13])]
    order = np.argsort(WHOSE, kind="stable")
    extras = {name: values[order] for name, values in extras.items()}
    return [
        Records(POINTS[order][i:j], users=whose[i:j], **{k: v[i:j] for k, v in extras.items()})
        for i, j in itertools.pairwise(cuts)
    ]


@pytest.mark.parametrize("people", [None, 15, range(20)], ids=["private", "number", "list"])
@pytest.mark.parametrize(
    ("statistic", "extras"),
    [
        (TangentMean(), {}),
        (ClassMoments(("a", "b", "c"), "scalar"), {"labels": LABELS_OF_PEOPLE}),
        (Recentred(TangentRegression(0.0, 9.0)), {"covariates": AGES}),
    ],
    ids=["points", "rows", "rounds"],
)
def test_people_of_whom_nobody_is_in_two_parts_come_in_chunks(statistic, extras, people):
    given = {"people": people, "mechanism": "tangent-gaussian"}
    whole = Records(POINTS, users=WHOSE, **extras)
    whole = private_statistic(statistic, whole, CAP, GDP(1.0), generator=source(), **given)
    parts = parts_of_people(**extras)
    for some in (parts, parts[::-1], [partial(lambda part: part, one) for one in parts]):
        chunks = Chunks(some, by_person=True)
        same(
            private_statistic(statistic, chunks, CAP, GDP(1.0), generator=source(), **given), whole
        )
        check(chunks, CAP, statistic=statistic, people=people)


def test_people_in_chunks_may_count_for_several_records():
    for people in (None, 15):
        given = {"people": people, "contribution": 2}
        whole = private_mean(POINTS, CAP, GDP(1.0), users=WHOSE, generator=source(), **given)
        chunks = Chunks(parts_of_people(), by_person=True)
        same(private_mean(chunks, CAP, GDP(1.0), generator=source(), **given), whole)


def test_somebody_in_two_chunks_is_one_failure_that_says_nothing():
    parts = parts_of_people()
    parts.append(Records(POINTS[:1], users=[2]))
    with pytest.raises(InvalidParameterError, match="somebody has records in two chunks"):
        private_mean(Chunks(parts, by_person=True), CAP, GDP(1.0))
    with pytest.raises(InvalidParameterError, match="somebody has records in two chunks"):
        check(Chunks(parts, by_person=True), CAP)
    account = Accountant(GDP(1.0), adjacency="add-remove-user")
    with pytest.raises(ReleaseFailedError) as caught:
        private_mean(Chunks(parts, by_person=True), CAP, GDP(1.0), accountant=account)
    assert "two chunks" not in str(caught.value)
    assert account.spent == GDP(1.0, adjacency="add-remove-user")
    other = [*parts[:-1], Records(POINTS[:1], users=["2"])]  # a text is another person
    assert private_mean(Chunks(other, by_person=True), CAP, GDP(1.0), people=14).n == 14


def test_people_in_chunks_may_have_no_records_at_all():
    for people in (None, 3):
        for parts in ([], [POINTS[:0]]):
            release = private_mean(Chunks(parts, by_person=True), CAP, GDP(1.0), people=people)
            assert release.n == people


@pytest.mark.parametrize(
    ("chunks", "options", "said"),
    [
        (Chunks([lambda: POINTS], by_person=True), {}, "chunk 0: .*all chunks say whose"),
        (Chunks([POINTS], by_person=True), {}, "chunk 0: .*takes users too"),
        (
            Chunks([Records(POINTS, users=WHOSE, ids=range(N))], by_person=True),
            {},
            "chunk 0: .*leave them out",
        ),
        (
            Chunks([lambda: Records(POINTS, users=WHOSE, ids=range(N))], by_person=True),
            {},
            "chunk 0: .*and have no ids",
        ),
        (Chunks(parts_of_people(), by_person=True), {"people": 12}, "more people than people = 12"),
        (Chunks(parts_of_people(), by_person=True), {"people": range(13, 30)}, "nobody on the"),
        (Chunks(parts_of_people(), by_person=True), {"users": WHOSE}, "by_person=True"),
        (Chunks(parts_of_people(), by_person=True), {"n": N}, "leave out n"),
        (Chunks(parts_of_people(), by_person=True), {"adjacency": ReplaceOne()}, "does not count"),
    ],
)
def test_what_chunks_of_people_contradict_is_refused(chunks, options, said):
    with pytest.raises(RiemdpError, match=said):
        private_mean(chunks, CAP, GDP(1.0), **options)


@pytest.mark.parametrize("stated", [{"n": N}, {"sizes": [N]}, {"manifest": range(N)}])
def test_how_many_records_people_have_is_not_stated(stated):
    with pytest.raises(InvalidParameterError, match=f"leave out {next(iter(stated))}"):
        Chunks([POINTS], by_person=True, **stated)
    with pytest.raises(InvalidParameterError, match="by_person must be true or false"):
        Chunks([POINTS], by_person=1)
