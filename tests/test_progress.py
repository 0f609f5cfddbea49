"""Who asks is told how far work is, in public numbers, and nobody else is told anything."""

from __future__ import annotations

import contextlib
import os
import threading

import numpy as np
import pytest

import riemdp
from riemdp import GDP, Accountant, Ball, Chunks, Euclidean, Power, Sphere
from riemdp._progress import progress, ticks, uncounted, work
from riemdp.auditing import search_pair
from riemdp.release import _run

PLANE = Ball(Euclidean(2), [0.0, 0.0], 1.0)
BUDGET = GDP(1.0)


class Events(list):
    def __call__(self, label, done, total):
        self.append((label, done, total))

    def of(self, label):
        return [event for event in self if event[0] == label]


def watched(call):
    """Events of a call that knows nothing yet, whether it fails or not."""
    _run._kept.cache_clear()
    seen = Events()
    with progress(seen), contextlib.suppress(riemdp.RiemdpError, TypeError):
        call()
    return seen


def full(label, total):
    return [(label, done, total) for done in range(total + 1)]


def test_steps_are_told_when_they_are_over():
    seen = Events()
    with progress(seen), work("all"):
        for item in ticks("ab", 2, "letters"):
            seen.append(item)
    assert seen == [
        ("all", 0, None),
        ("letters", 0, 2),
        "a",
        ("letters", 1, 2),
        "b",
        ("letters", 2, 2),
    ]


def test_nothing_is_done_where_nobody_asks():
    items = iter("ab")
    assert ticks(items, 2, "letters") is items
    with progress(print), uncounted(True):
        assert ticks(items, 2, "letters") is items
    with progress(print):
        assert ticks(items, None, "letters") is items
        assert ticks(items, 2, "letters") is not items


def test_what_was_left_by_an_error_is_not_heard_of_again():
    seen, left = Events(), []
    with progress(seen):
        with contextlib.suppress(KeyError), work("fails"):
            left.append(ticks("ab", 2, "left"))
            next(left[0])
            raise KeyError
        next(left[0])
        with work("next"):
            pass
    assert [label for label, *_ in seen] == ["fails", "left", "left", "next"]
    with work("after"):
        assert seen[-1][0] == "next"


def test_an_error_of_the_listener_costs_nothing():
    def broken(*_):
        raise ValueError

    with progress(broken):
        release = riemdp.private_mean(np.zeros((9, 2)), PLANE, BUDGET)
    assert release.n == 9
    with pytest.raises(riemdp.InvalidParameterError, match="leave it out for bars"), progress(3):
        pass


def test_a_listener_is_not_told_of_what_it_does_itself():
    seen = Events()

    def curious(*event):
        seen(*event)
        riemdp.plan(Euclidean(2), 1.0, 100, BUDGET, mechanisms=["tangent-gaussian"])

    with progress(curious), work("once"):
        pass
    assert seen == [("once", 0, None)]


def test_other_threads_and_processes_say_nothing():
    seen = Events()

    def loop():
        for _ in ticks("ab", 2, "letters"):
            pass

    with progress(seen):
        import contextvars

        # as threads do where Python hands its context on to them
        thread = threading.Thread(target=contextvars.copy_context().run, args=(loop,))
        thread.start()
        thread.join()
        assert seen == []
        loop()
        assert len(seen) == 3
        if not hasattr(os, "fork"):
            return
        import warnings

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:  # pragma: no cover -- coverage does not see the child
            loop()
            os._exit(0 if len(seen) == 3 else 1)
        assert os.waitpid(child, 0)[1] == 0


#: Calls that may take over two seconds. Without arguments each fails, once it has begun.
LONG = [
    *(name for name in riemdp.__all__ if name.startswith("private_")),
    *("plan", "plan_grid", "advise_ball", "audit", "verify", "combine", "frechet_mean"),
    *("rayleigh_test", "two_sample_test"),
]


@pytest.mark.parametrize("name", LONG)
def test_long_calls_say_that_they_go_on(name):
    assert watched(getattr(riemdp, name))[0] == (name, 0, None)


def test_short_calls_say_nothing():
    assert watched(riemdp.secure_generator) == []
    assert watched(riemdp.frechet_mean_sensitivity) == []


def test_public_numbers_of_steps():
    space = Sphere(2)
    two = [GDP(1.0), GDP(2.0)]
    assert watched(lambda: riemdp.plan_grid(space, 0.7, [99], two)).of("plans") == full("plans", 2)
    rows = np.random.default_rng(0).uniform(-0.5, 0.5, (2, 9, 2))
    seen = watched(lambda: riemdp.private_means(dict(enumerate(rows)), PLANE, BUDGET))
    assert seen.of("groups") == full("groups", 2)
    seen = watched(
        lambda: riemdp.private_statistic(
            riemdp.statistics.GeometricMedian(steps=3), rows[0], PLANE, BUDGET
        )
    )
    assert seen.of("answers") == full("answers", 4)
    seen = watched(lambda: search_pair(lambda a, b: 0.0, PLANE, 2, restarts=1, steps=1))
    assert seen.of("starts") == full("starts", 2)
    public = PLANE.point(np.random.default_rng(0).normal(0.0, 0.2, (9, 2)))
    seen = watched(lambda: riemdp.advise_ball(public, 99, BUDGET, manifold=PLANE.manifold))
    assert seen.of("radii") == full("radii", len(seen.of("radii")) - 1)


def test_an_audit_counts_its_outputs():
    seen = watched(
        lambda: riemdp.audit(
            lambda data, source: data.mean() + source.normal(),
            np.zeros(5),
            np.eye(5)[0],
            BUDGET,
            samples=500,
        )
    )
    assert seen.of("outputs on one data set") == 2 * full("outputs on one data set", 500)


def test_passes_of_solvers_are_not_shown():
    space = Power(Sphere(2), 3)
    ball = Ball(space, space.origin, 0.7)
    noise = np.random.default_rng(0).normal(0.0, 1.0, (8, space.dim))
    easy = np.broadcast_to(space.origin, (8, *space.point_shape))

    def events(points):
        generator = np.random.default_rng(1)
        return watched(
            lambda: riemdp.private_mean(
                points, ball, BUDGET, mechanism="riemannian-gaussian", generator=generator
            )
        )

    assert events(ball.point(noise)) == events(easy)
    assert events(easy).of("means") == full("means", 3)
    assert events(easy).of("draws") == full("draws", 3)


def parts(numbers):
    return [np.zeros((number, 2)) for number in numbers]


def stream(numbers, **options):
    """Events of a mean of parts of these sizes."""
    chunks = Chunks(parts(numbers), sum(numbers), sizes=numbers)
    return watched(lambda: riemdp.private_mean(chunks, PLANE, BUDGET, **options))


def test_parts_are_counted_where_their_sizes_are_public():
    assert stream([5, 5]).of("parts") == full("parts", 2)
    assert stream([2, 2, 2, 4]).of("parts") == full("parts", 4)


def test_a_private_number_of_records_is_not_to_be_seen():
    few, many = (stream(sizes, adjacency="add-remove") for sizes in ([5], [5, 5, 5]))
    assert few == many
    assert few.of("parts") == []
    groups = [{"a": np.zeros((n, 2)), "b": np.zeros((3, 2))} for n in (1, 50)]
    few, many = (
        watched(
            lambda given=given: riemdp.private_means(given, PLANE, BUDGET, adjacency="add-remove")
        )
        for given in groups
    )
    assert few == many
    assert few.of("groups") == []


def test_parts_whose_sizes_nobody_states_are_not_counted():
    for number in (2, 5):
        chunks = Chunks(parts([10 // number] * number), 10)
        assert watched(lambda c=chunks: riemdp.private_mean(c, PLANE, BUDGET)).of("parts") == []


def test_a_failure_that_says_nothing_is_not_placed_by_a_count():
    broken = [*parts([5, 5]), np.full((5, 2), np.nan)]
    whole = parts([5, 5, 5])

    def events(given, **options):
        chunks = Chunks(given, 15, sizes=5)
        return watched(lambda: riemdp.private_mean(chunks, PLANE, BUDGET, **options))

    assert events(broken, accountant=Accountant(BUDGET)) == events(
        whole, accountant=Accountant(BUDGET)
    )
    # without an account the error names the part
    assert events(broken).of("parts") == full("parts", 3)[:3]
    assert events(whole).of("parts") == full("parts", 3)


def part_of_five():
    return np.zeros((5, 2))


def test_workers_tell_when_tasks_come_back():
    from concurrent.futures import ThreadPoolExecutor

    from riemdp.workers import private_mean as mean

    def events(**options):
        with ThreadPoolExecutor(2) as pool:
            return watched(
                lambda: mean(
                    Chunks([part_of_five] * 4, **options), PLANE, BUDGET, client=pool, tasks=3
                )
            )

    assert events(n=20, sizes=5).of("tasks") == full("tasks", 3)
    assert events(n=20).of("tasks") == []
