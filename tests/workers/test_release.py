"""Releases by workers: the same bits, the charge first, the noise here, and never a value."""

from __future__ import annotations

import inspect
import os
import pickle
import pickletools
import re
import sys
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
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
    InvalidParameterError,
    NotOnManifoldError,
    Records,
    ReleaseFailedError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedError,
    WorkersFailedError,
    release,
)
from riemdp.ledger import Ledger
from riemdp.noise import _generator
from riemdp.statistics import (
    ClassMoments,
    FrechetMean,
    ReplacePoint,
    TangentMean,
    TangentRegression,
    Weighted,
    largest_share,
)
from riemdp.workers import private_mean, private_statistic, spread

N = 60
BALL = Ball(SPDLogEuclidean(2), np.eye(2), 2.0)
BUDGET = GDP(1.0)


def seeded():
    return np.random.default_rng(11)


@pytest.fixture(scope="module")
def points():
    rows = np.random.default_rng(3).normal(size=(N, 2, 2))
    return rows @ np.swapaxes(rows, -1, -2) + 0.1 * np.eye(2)


@pytest.fixture(scope="module")
def path(points, tmp_path_factory):
    found = tmp_path_factory.mktemp("points") / "points.npy"
    np.save(found, points)
    return found


def opens(path, start, stop):
    """Rows of an array in a file."""
    return np.load(path)[start:stop]


def cut(path, size, n=N, opens=opens):
    return [partial(opens, path, i, i + size) for i in range(0, n, size)]


def elsewhere(function, arguments):
    """Send everything there and back, and return it in another order."""
    function, arguments = pickle.loads(pickle.dumps((function, list(arguments))))
    return [pickle.loads(pickle.dumps(function(each))) for each in reversed(arguments)]


def test_the_same_integers_whoever_computes_them(points, path):
    one = riemdp.private_mean(points, BALL, BUDGET, generator=seeded())
    with ThreadPoolExecutor(2) as pool:
        clients = [map, elsewhere, pool]
        found = [
            private_mean(path, BALL, BUDGET, client=client, generator=seeded())
            for client in clients
        ]
        for size in (7, 20, 60):
            given = Chunks(cut(path, size), N, sizes=size)
            found.append(private_mean(given, BALL, BUDGET, client=pool, generator=seeded()))
            given = Chunks(cut(path, size)[::-1], N)
            found.append(
                private_statistic(
                    FrechetMean(),
                    given,
                    BALL,
                    BUDGET,
                    client=elsewhere,
                    tasks=2,
                    generator=seeded(),
                )
            )
    assert {release.rounded for release in found} == {one.rounded}
    assert {release.value.tobytes() for release in found} == {one.value.tobytes()}
    # negative control: one record more
    more = Chunks([*cut(path, 20), partial(opens, path, 0, 1)], N + 1)
    other = private_mean(more, BALL, BUDGET, client=map, generator=seeded())
    assert other.rounded != one.rounded


def test_spread_goes_where_points_go(points, path):
    one = riemdp.private_statistic(
        riemdp.statistics.GeometricMedian(steps=2), points, BALL, BUDGET, generator=seeded()
    )
    given = spread(str(path), elsewhere, tasks=3)
    other = riemdp.private_statistic(
        riemdp.statistics.GeometricMedian(steps=2), given, BALL, BUDGET, generator=seeded()
    )
    assert other.rounded == one.rounded


def opens_weighed(path, start, stop):
    """The same with weights, which are in the file too."""
    return Records(np.load(path)[start:stop], weights=np.linspace(0.5, 1.0, N)[start:stop])


#: An atlas: one record a part, whose sum is as large.
WIDE = Ball(Euclidean(5_000), np.zeros(5_000), 200.0)


def subject(number):
    """A record of an atlas."""
    return np.full((1, 5_000), 0.001 * number)


def peak(parts, mapper):
    """Most memory that the driver has in use at a time, and the integers of a release.

    Workers are other processes: what they found is on its way as bytes.
    """
    sent, most = [], []

    def client(function, arguments):
        sent[:] = [pickle.dumps(function(each)) for each in arguments]
        tracemalloc.start()
        start = tracemalloc.get_traced_memory()[0]
        try:
            for each in sent:
                yield pickle.loads(each)
        finally:
            most.append(tracemalloc.get_traced_memory()[1] - start)
            tracemalloc.stop()

    given = Chunks([partial(subject, i) for i in range(parts)], sizes=[1] * parts)
    given = spread(given, client)
    given = given.mapped(mapper(given.mapper))
    found = riemdp.private_statistic(TangentMean(), given, WIDE, BUDGET, generator=seeded())
    return most[0], max(map(len, sent)), found.rounded


def at_once(mapper):
    """Wait for all outcomes."""
    return lambda *given: list(mapper(*given))


def test_the_drivers_memory_does_not_grow_with_the_number_of_parts():
    (few, _, _), (many, sent, found) = (peak(parts, lambda mapper: mapper) for parts in (4, 64))
    assert many < 1.2 * few
    # negative control: sums that wait until all are there, of 4 tasks and of 40
    (few, _, _), (many, _, same) = (peak(parts, at_once) for parts in (4, 64))
    assert many > 5.0 * few
    assert found == same
    # a task hands in one sum of its parts
    query = riemdp.statistics.outline(TangentMean(), WIDE).queries[0]
    alone = riemdp.statistics.Prepared(WIDE, subject(1)).summary(query)
    assert sent < 2 * len(pickle.dumps(alone))


def test_public_weights_are_with_the_records_or_are_sent(points, path):
    """Of a curved space, in several passes; and workers that are lost in one of them."""
    weights, ball = np.linspace(0.5, 1.0, N), Ball(SPDAffineInvariant(2), np.eye(2), 1.0)
    mean, options = (
        Weighted(FrechetMean(), largest_share(weights)),
        {"mechanism": "riemannian-gaussian"},
    )

    def released(given, client, statistic=mean, **others):
        found = private_statistic(
            statistic, given, ball, BUDGET, client=client, generator=seeded(), **options, **others
        )
        return found.rounded

    parts = cut(path, 20, opens=opens_weighed)
    with ThreadPoolExecutor(2) as pool:
        found = [
            released(Chunks(parts, sizes=20, n=N), pool),
            released(Chunks(parts[::-1], sizes=20, n=N), elsewhere, tasks=2),
            private_mean(
                path, ball, BUDGET, weights=weights, client=pool, generator=seeded(), **options
            ).rounded,
            private_mean(
                Chunks(cut(path, 15), sizes=[15] * 4),
                ball,
                BUDGET,
                weights=weights,
                client=elsewhere,
                generator=seeded(),
                **options,
            ).rounded,
        ]
        alone = riemdp.private_statistic(
            mean, Chunks(parts, sizes=20, n=N), ball, BUDGET, generator=seeded(), **options
        )
    assert set(found) == {alone.rounded}
    assert released(Chunks(cut(path, 20), N, sizes=20), map, FrechetMean()) != alone.rounded
    calls, account = [], Accountant(GDP(2.0))

    def lost_in_the_third(function, arguments):
        calls.append(1)
        return (breaking if len(calls) == 3 else map)(function, arguments)

    with pytest.raises(ReleaseFailedError):
        released(Chunks(parts, sizes=20, n=N), lost_in_the_third, accountant=account)
    assert len(calls) == 3
    assert account.spent == BUDGET


def test_private_values_are_with_the_records_and_are_not_sent(points, path):
    """Whatever they are, and however they come to be beside the chunks; public ones are sent."""
    weights = np.linspace(0.5, 1.0, N)
    labels, ages = (weights > 0.8).astype(int), 100.0 * weights
    account, sent = Accountant(GDP(9.0)), []

    def client(function, arguments):
        sent.append(pickle.dumps(arguments))
        return map(function, arguments)

    options = {"weights": weights, "private_weights": True, "accountant": account}
    with pytest.raises(InvalidParameterError, match="weights would be sent") as caught:
        private_mean(path, BALL, BUDGET, client=client, **options)
    assert "Records(points, weights=...) that a function returns" in str(caught.value)
    for statistic, extras in (
        (riemdp.statistics.weighted(TangentMean(), BALL), {"weights": weights}),
        (ClassMoments((0, 1)), {"labels": labels}),
        (TangentRegression(50.0, 100.0), {"covariates": ages}),
        (TangentMean(), {"ids": range(N)}),
    ):
        given = Records(spread(path, client), **extras)
        cut_before = release.chunks_of(given)
        within = Records(cut_before, covariates=ages)
        for form in (given, cut_before, within, release.chunks_of(within)):
            with pytest.raises(
                InvalidParameterError, match=rf"{next(iter(extras))}.* would be sent"
            ):
                riemdp.private_statistic(statistic, form, BALL, BUDGET, accountant=account)
    with pytest.raises(UnsupportedError, match="about people"):
        private_mean(path, BALL, BUDGET, client=client, users=range(N), accountant=account)
    assert sent == []
    assert account.spent is None
    # the way out
    parts = Chunks(cut(path, 20, opens=opens_weighed), N)
    options = {"client": client, "generator": seeded()}
    weighted = riemdp.statistics.weighted(TangentMean(), BALL)
    found = private_statistic(weighted, parts, BALL, BUDGET, **options)
    whole = riemdp.private_mean(
        points, BALL, BUDGET, weights=weights, private_weights=True, generator=seeded()
    )
    assert found.rounded == whole.rounded
    rows = [weight.tobytes() for weight in weights[1:-1]]
    assert not any(row in each for row in rows for each in sent)
    # the control: what is public is sent, and would be found
    account = Accountant(GDP(9.0), adjacency="replace-point")
    for statistic, extras in (
        (ClassMoments((0, 1), sizes=tuple(np.bincount(labels))), {"labels": labels}),
        (TangentRegression(50.0, 100.0, ages), {"covariates": ages}),
    ):
        given = Records(spread(path, client), **extras)
        options = {"adjacency": ReplacePoint(), "accountant": account, "generator": seeded()}
        riemdp.private_statistic(statistic, given, BALL, BUDGET, **options)
    private_mean(path, BALL, BUDGET, client=client, weights=weights)
    assert all(row in sent[-1] for row in rows)


def test_points_between_passes_are_in_no_text():
    """They are sent, and whoever writes down what is sent by its text writes none of them."""
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.4)
    sent = []

    def client(function, arguments):
        sent.append(function)
        return map(function, arguments)

    given = {"n": N, "client": client, "generator": seeded(), "mechanism": "riemannian-gaussian"}
    found = private_statistic(FrechetMean(), [partial(_made_of, N)], ball, BUDGET, **given)
    assert len(sent) == found.offer.last.query.in_passes(ball, found.tol).left > 5
    spots = [spot for each in sent for spot in _points_in(each)]
    assert len(spots) == 2 * len(sent)
    for each in sent:
        assert not any(repr(float(x))[:7] in repr(each) for x in spots if x)


def _made_of(n):
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.4)
    return ball.point(0.1 * np.random.default_rng(3).normal(size=(n, 2)) + 0.1)


def _points_in(function):
    """Numbers of the point that a function was sent with, wherever it is."""
    inner = function
    while not hasattr(inner, "query"):
        inner = next(x for x in vars(inner).values() if callable(x) or hasattr(x, "query"))
    return inner.query.point.tolist()


@pytest.fixture
def paths(points, tmp_path):
    found = [tmp_path / f"{i}.npy" for i in range(3)]
    for each, part in zip(found, np.array_split(points, 3), strict=True):
        np.save(each, part)
    return found


def test_files_are_parts_of_their_own(points, paths):
    one = riemdp.private_mean(points, BALL, BUDGET, generator=seeded())
    other = private_mean(paths, BALL, BUDGET, client=elsewhere, n=N, generator=seeded())
    assert other.rounded == one.rounded


@pytest.mark.parametrize("name", ["private_statistic", "private_mean"])
def test_every_keyword_is_there(name, path):
    own = inspect.signature(getattr(riemdp.workers, name)).parameters
    whole = inspect.signature(getattr(riemdp, name)).parameters
    positional = [each.name for each in whole.values() if each.kind is each.POSITIONAL_OR_KEYWORD]
    assert list(own)[: len(positional)] == positional
    assert {"client", "n", "tasks", "options"} <= set(own)
    given = [FrechetMean()] if name == "private_statistic" else []
    release = getattr(riemdp.workers, name)(
        *given, path, BALL, GDP(0.5), client=map, mechanism="wrapped-gaussian"
    )
    assert release.mechanism.name == "wrapped-gaussian"


# What is sent


def sent(points, ball, make):
    """What a release has sent to workers, and what came back."""
    found = []

    def client(function, arguments):
        for each in arguments:
            found.append(pickle.dumps((function, each)))
            result = function(each)
            found.append(pickle.dumps(result))
            yield result

    make(spread(points, client), ball)
    return found


def modules(pickled):
    """Modules that are named in what was pickled."""
    strings = [str(text) for _, text, _ in pickletools.genops(pickled) if isinstance(text, str)]
    return {text.split(" ")[0] for text in strings}


def test_neither_records_nor_noise_nor_budgets_are_sent(points, path):
    found = sent(path, BALL, lambda given, ball: riemdp.private_mean(given, ball, BUDGET))
    assert len(found) == 2
    work, result = found
    assert str(path) in modules(work)
    assert len(work) < 4096
    assert len(result) < 2048
    rows = [row.tobytes() for row in points]
    assert not any(row in each for row in rows for each in found)
    banned = ("riemdp.noise", "riemdp.privacy", "riemdp.release._run", "numpy.random")
    assert [each for text in found for each in modules(text) if each.startswith(banned)] == []
    # negative control: they would be found
    whole = pickle.dumps((BUDGET, np.random.default_rng(0), points))
    assert rows[0] in whole
    assert any(each.startswith("riemdp.privacy") for each in modules(whole))
    assert any(each.startswith("numpy.random") for each in modules(whole))


def test_noise_is_drawn_after_the_workers_and_here(path, monkeypatch):
    working = []

    def client(function, arguments):
        working.append(True)
        yield from map(function, arguments)
        working.pop()

    draws = []
    resolve = np.random.Generator

    class Watched(resolve):
        def integers(self, *given, **options):
            draws.append(list(working))
            return super().integers(*given, **options)

        def bytes(self, *given, **options):
            draws.append(list(working))
            return super().bytes(*given, **options)

    generator = Watched(np.random.PCG64(1))
    private_mean(path, BALL, BUDGET, client=client, generator=generator)
    assert draws
    assert not any(draws)


def test_the_secure_generator_cannot_be_sent():
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(_generator.secure_generator())


@pytest.mark.parametrize(
    "given",
    [
        np.load,
        lambda path: np.load(path).tolist(),
        lambda path: iter([np.load(path)]),
        lambda path: Chunks([np.load(path)], N),
        lambda path: Chunks(lambda: iter([np.load(path)]), N),
        lambda path: riemdp.Records(np.load(path, mmap_mode="r"), labels=[1] * N),
        lambda path: Chunks([], N),
        lambda path: Chunks([partial(np.copy, np.load(path))], N),
        lambda path: Chunks([partial(np.copy, np.load(path, mmap_mode="r"))], N),
        lambda path: release.chunks_of(
            riemdp.Records(np.load(path, mmap_mode="r"), labels=["a"] * N)
        ),
    ],
)
def test_records_are_not_sent(given, path):
    with pytest.raises(InvalidParameterError, match=r"a numpy\.memmap|not records|may hold"):
        private_mean(given(path), BALL, BUDGET, client=map)


def test_what_needs_all_records_is_refused_before_anything_is_charged(path):
    account = Accountant(BUDGET)
    given = {"client": map, "n": N, "accountant": account}
    wide = Ball(Sphere(2), [0.0, 0.0, 1.0], 1.4)
    with pytest.raises(UnsupportedError, match="all records at once"):
        private_statistic(FrechetMean(), [path], wide, GDP(0.5), **given)
    assert account.spent is None


# Charges


class Told(Accountant):
    def __init__(self, events):
        super().__init__(GDP(1.0))
        self.events = events

    def spend(self, guarantee, label):
        self.events.append("charge")
        return super().spend(guarantee, label)


def test_the_charge_comes_before_the_first_task(path):
    events = []

    def client(function, arguments):
        events.append("work")
        return map(function, arguments)

    private_mean(path, BALL, GDP(0.5), client=client, accountant=Told(events))
    assert " ".join(events) == "charge work"


def breaking(function, arguments):
    yield function(arguments[0])
    raise ConnectionError("lost over 0.123")


def test_a_charge_stays_when_workers_are_lost(path, tmp_path):
    account = Ledger(tmp_path / "ledger.db").register(
        "study", GDP(1.0), unit="person", adjacency="replace-one"
    )
    with pytest.raises(ReleaseFailedError) as failure:
        private_mean(path, BALL, GDP(0.5), client=breaking, accountant=account)
    assert "0.123" not in str(failure.value)
    assert account.spent == GDP(0.5)
    # without an account nothing is said to be hidden
    with pytest.raises(WorkersFailedError, match="ConnectionError"):
        private_mean(path, BALL, GDP(0.5), client=breaking)


def test_records_that_do_not_arrive_do_not_change_n(path):
    account = Accountant(GDP(1.0))

    def losing(function, arguments):
        return [function(each) for each in arguments[1:]]

    given = Chunks(cut(path, 20), N, sizes=20)
    with pytest.raises(ReleaseFailedError):
        private_mean(given, BALL, GDP(0.5), client=losing, tasks=3, accountant=account)
    assert account.spent == GDP(0.5)


def twice(function, arguments):
    found = [function(each) for each in arguments]
    return [*found, found[0]]


def test_a_task_that_comes_twice_is_refused(path):
    with pytest.raises(riemdp.RiemdpError, match="counted twice"):
        private_mean(path, BALL, BUDGET, client=twice)


def test_of_a_record_that_is_not_valid_the_row_and_the_condition_are_told(points, tmp_path):
    broken = points.copy()
    broken[7, 0, 1] += 0.123456789
    path = tmp_path / "broken.npy"
    np.save(path, broken)
    account = Accountant(GDP(1.0))
    for ask in (
        lambda: private_mean(path, BALL, GDP(0.5), client=elsewhere),
        lambda: riemdp.check(spread(path, elsewhere), BALL),
    ):
        with pytest.raises(NotOnManifoldError, match="row 7 is not symmetric") as failure:
            ask()
        assert "123456789" not in str(failure.value)
    with pytest.raises(ReleaseFailedError) as hidden:
        private_mean(path, BALL, GDP(0.5), client=elsewhere, accountant=account)
    assert "row" not in str(hidden.value)
    assert account.spent == GDP(0.5)


def test_a_file_that_is_not_there_is_told_by_its_class(tmp_path):
    given = Chunks([partial(opens, tmp_path / "none.npy", 0, 3)], 3)
    with pytest.raises(riemdp.RiemdpError, match="FileNotFoundError"):
        private_mean(given, BALL, BUDGET, client=map)


PAGE = Path(__file__).parents[2] / "docs" / "distributed.md"
#: Runs what is handed to it once for each place of the array, as SLURM would.
SBATCH = """#!/bin/bash
[ "$1" = --wait ] || exit 1
for i in $(seq 0 "${2#--array=0-}"); do SLURM_ARRAY_TASK_ID=$i bash "$3" || exit 1; done
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="there is no bash")
def test_the_array_of_jobs_of_the_page(points, paths, tmp_path, monkeypatch):
    text = PAGE.read_text(encoding="utf-8").replace("/scratch/me/release", str(tmp_path))
    (code,) = [
        each for each in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if "def " in each
    ]
    (job,) = re.findall(r"```bash\n(.*?)```", text, re.DOTALL)
    (tmp_path / "job.sh").write_text(job.replace("python -c", f"{sys.executable} -c"))
    (tmp_path / "sbatch").write_text(SBATCH)
    (tmp_path / "sbatch").chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    names = {}
    exec(compile(code, PAGE.name, "exec"), names)
    client = names["array_of_jobs"]
    found = private_mean(paths, BALL, BUDGET, client=client, n=N, generator=seeded())
    one = riemdp.private_mean(points, BALL, BUDGET, generator=seeded())
    assert found.rounded == one.rounded
    left = [*tmp_path.glob("*.work"), *tmp_path.glob("*.found")]
    assert left == []
    (tmp_path / "job.sh").write_text("exit 1")
    with pytest.raises(WorkersFailedError):
        private_mean(paths, BALL, BUDGET, client=client, n=N)
    left = [*tmp_path.glob("*.work"), *tmp_path.glob("*.found")]
    assert left == []  # each holds a point near the mean, or sums


# Real workers: cluster.py

unix = pytest.mark.skipif(not hasattr(os, "fork"), reason="workers are killed by signals")


@pytest.fixture(scope="module")
def killed(program):
    pytest.importorskip("distributed")
    return program("killed")


@unix
@pytest.mark.slow
def test_three_killed_workers_change_no_bit(killed):
    assert killed["killed"] == 3
    (_, serial) = killed["serial"]["Fréchet mean"]
    assert killed["rounded"] == serial
    assert killed["dask"] == killed["mixed"] == killed["serial"]
    footpoints = [tuple(map(tuple, found)) for found, _ in killed["serial"].values()]
    assert len(set(footpoints)) == len(footpoints) == 5


@unix
@pytest.mark.slow
def test_control_sums_as_side_effects_count_too_many(killed):
    assert killed["counted"] > 240


@unix
@pytest.mark.slow
def test_workers_draw_nothing_and_keep_nothing(killed):
    driver, *workers = killed["draws"]
    assert driver
    assert workers == [False, False]
    assert killed["left"] == 0


@unix
@pytest.mark.slow
def test_pools_compute_the_same_and_break_plainly(program):
    pytest.importorskip("joblib")
    found = program("pools")
    assert found["joblib"] == found["processes"] == found["serial"]
    assert "BrokenProcessPool" in found["error"]
    assert "charged stays charged" in found["error"]


@unix
@pytest.mark.slow
def test_a_cluster_that_is_lost_costs_the_budget_and_says_so(program):
    pytest.importorskip("distributed")
    found = program("lost")
    assert found["error"][0] == "ReleaseFailedError"
    assert [kind for kind, _ in found["heard"]] == ["WorkersFailedError"]
    assert found["spent"] == 0.5
    assert 0 < found["begun"] < 240  # in the middle


@unix
@pytest.mark.slow
def test_no_value_gets_into_errors_and_logs(program):
    pytest.importorskip("distributed")
    found = program("told")
    kind, text = found["plain"]
    assert kind == "NotOnManifoldError"
    assert "row 6 is not symmetric" in text
    assert found["paid"][0] == "ReleaseFailedError"
    assert found["left"] == 0
    assert "123456" in found.pop("control")  # what raises is written down
    assert "123456" not in str(found)
    assert "Traceback" not in found["logs"]
    assert "Compute Failed" not in found["logs"]
    assert "riemdp-" in found["logs"]  # they are logs


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "not an .npy file"),
        (b"secret text", "not an .npy file"),
        ("cut", "cut off"),
        (np.array([{"secret": 1}]), "Python objects"),
        (np.ones((5, 2)) * 1j, "real numbers"),
        (np.ones((0, 2)), "with rows"),
        (np.ones(()), "with rows"),
    ],
    ids=str,
)
def test_files_that_hold_no_records(tmp_path, content, said):
    path = tmp_path / "points.npy"
    if isinstance(content, np.ndarray):
        np.save(path, content, allow_pickle=True)
    elif content == "cut":
        np.save(path, np.ones((50, 2)))
        path.write_bytes(path.read_bytes()[:-1])
    else:
        path.write_bytes(content)
    account = Accountant(GDP(1.0))
    with pytest.raises(InvalidParameterError, match=said) as caught:
        private_mean(path, BALL, GDP(1.0), client=map, accountant=account)
    assert "secret" not in str(caught.value)
    assert account.ledger == ()
    with pytest.raises(FileNotFoundError):
        private_mean(tmp_path / "absent.npy", BALL, GDP(1.0), client=map, accountant=account)
