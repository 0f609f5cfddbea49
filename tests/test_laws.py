"""Laws of everything that is registered: every space with every statistic and every adjacency.

What the laws say, and an example of every part, is in tools/laws.py.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import json
import os
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pytest
import threadpoolctl

import laws
import riemdp
from riemdp import GDP, Accountant, Records, RiemdpError, _compiled, verify
from riemdp._part import registered
from riemdp.kernel import UNIT, Moment, _sums, rows_for
from riemdp.kernel._verify import FOLLOWED, STATED
from riemdp.statistics import (
    AddRemove,
    DirectVariance,
    Moments,
    ReplaceOne,
    Statistic,
    Value,
    _answer,
    _counted,
    _statistic,
    answer,
    outline,
)
from riemdp.statistics._variance import _OwnVariance

PAIRS = list(laws.pairs())
QUICK = ("sphere 3 whole", "sphere", "line", "log-euclidean 2", "box", "hyperbolic")


def cases(pairs):
    return pytest.mark.parametrize(("place", "name"), pairs, ids=["-".join(each) for each in pairs])


#: Statistics that between them see records in every way.
SEEN = (
    *("tangent-mean", "frechet-mean", "point-statistic", "refined-mean", "recentred"),
    *("class-moments matrix", "directional-moments both", "mean-rotation"),
)


def each_pair(step, of=tuple(laws.BALLS), *, every=True, part=1):
    """All pairs, or one of every statistic and those of `SEEN`.

    Of one of every statistic, on different balls, `make test` runs a part.
    """
    quick = []
    for k, name in enumerate(laws.STATISTICS):
        places = [place for place in of if (place, name) in PAIRS]
        quick.append((places[step * k % len(places)], name))
    pairs = [pair for pair in PAIRS if every or pair in quick or pair[1] in SEEN]
    fast = pytest.mark.fast(*("-".join(pair) for pair in quick[::part]))
    return lambda function: fast(cases(pairs)(function))


@functools.cache
def ball_of(place):
    return laws.BALLS[place]()


def cells_of(place, name):
    ball = ball_of(place)
    return laws.cells(ball, laws.STATISTICS[name](ball))


def cell_on(place, statistic, relation=None):
    cell = laws.cell_of(ball_of(place), statistic, relation or ReplaceOne())
    assert cell is not None
    return cell


# Everything registered is here.


def inside(part):
    """A part, and those that it is made of."""
    yield part
    for name in ("space", "spaces", "statistic", "moments"):
        found = getattr(part, name, ())
        for other in found if isinstance(found, tuple) else (found,):
            if isinstance(other, riemdp.Part):
                yield from inside(other)


@pytest.mark.slow
def test_everything_registered_has_an_example():
    """A part that is new needs one in tools/laws.py; none that is there may drop out."""
    found = {sort: set() for sort in ("manifold", "statistic", "neighbours")}
    cells = [cell for pair in PAIRS for cell in cells_of(*pair)]
    for cell in cells:
        for part in (cell.ball.manifold, cell.form, cell.relation):
            for each in inside(part):
                found[each.sort].add(each.name)
    assert {sort: set(registered(sort)) for sort in found} == found
    assert len(cells) == 6915


# Norms and moves.


def attained(place, name):
    """Share of a stated move that has to be found: all of it but for these."""
    if name == "point-statistic":  # which its caller declares
        return 0.4
    if place == "power metric":  # whose coordinates are those of positive matrices alone
        return 0.5
    if name.startswith(("directional", "mean-rotation", "procrustes")) and "whole" not in place:
        return 0.7  # noise is that of the whole sphere
    return 1.0 - 1e-6


@pytest.mark.usefixtures("small_tiles")
@each_pair(1, QUICK)
def test_no_unit_moves_an_answer_farther_than_is_stated_and_one_as_far(place, name):
    found = {}
    for cell, share in laws.moves(cells_of(place, name)).items():
        kind = cell.form, cell.relation.size_is_public
        found[kind] = max(share, found.get(kind, 0.0))
    for (form, public_size), share in found.items():
        several = outline(form, ball_of(place)).queries
        wanderers = len(several) > 1 and several[0].sums and public_size  # where few steps have led
        assert share >= attained(place, name) - 5e-2 * wanderers, form


# What becomes of a unit does not depend on others.


@each_pair(7, every=False, part=2)
def test_a_record_does_not_change_what_becomes_of_another(place, name):
    for cell in cells_of(place, name):
        laws.company(cell)
        break


@each_pair(13, every=False, part=4)
def test_a_record_counts_the_same_at_any_place_and_among_any_number(place, name):
    seen = {(cell.form, cell.relation.keeps_places): cell for cell in cells_of(place, name)}
    for cell in seen.values():  # which see records in different ways
        laws.place(cell)


MAPS = [(place, name) for place in laws.BALLS for name in laws.maps(ball_of(place))]


@pytest.mark.fast(len(MAPS))
@cases(MAPS)
def test_a_map_keeps_every_bit_of_other_rows(place, name):
    laws.map_company(ball_of(place), name, 60)


@pytest.mark.slow
@cases(MAPS)
def test_a_map_keeps_every_bit_of_other_rows_where_tiles_end(place, name):
    ball = ball_of(place)
    laws.map_company(ball, name, max(60, rows_for(ball.manifold.point_shape) + 1))


@pytest.mark.slow
@cases([pair for pair in PAIRS if pair[1] in SEEN[:2]])
def test_a_record_changes_no_other_where_tiles_end(place, name):
    cell = cell_on(place, laws.STATISTICS[name](ball_of(place)))
    laws.company(cell, rows_for(cell.ball.manifold.point_shape) + 1, 1)


@pytest.mark.fast(10)
@cases(MAPS)
def test_a_map_makes_the_same_of_a_row_anywhere(place, name):
    laws.map_place(ball_of(place), name, 600)


@pytest.mark.fast(len(laws.BALLS))
@pytest.mark.parametrize("place", laws.BALLS)
def test_it_does_not_count_how_records_lie_in_memory(place):
    laws.layout(ball_of(place))


COMPILED = ["sphere", "hyperbolic 5", "affine-invariant 3", "log-euclidean 5", "mixed"]


def told(place, name, size):
    """All that the queries of a statistic are told of some records, and exact answers."""
    cell = cell_on(place, laws.STATISTICS[name](ball_of(place)))
    records = laws.company_of(cell, size)
    asked = list(laws.queries(cell.form, cell.ball))
    kept = [laws.summary(query, cell, records) for query in asked]
    return kept, [laws.answered(query, cell, records) for query in asked]


@pytest.mark.slow
@pytest.mark.parametrize("place", COMPILED)
@pytest.mark.parametrize("name", ["tangent-mean", "frechet-mean", "recentred"])
def test_compiled_code_changes_no_integer(place, name, monkeypatch):
    found = told(place, name, 300)
    monkeypatch.setattr(_compiled, "widest", lambda: 0)
    assert laws.same(told(place, name, 300), found)


@pytest.mark.slow
@pytest.mark.parametrize("place", COMPILED)
@pytest.mark.parametrize("name", SEEN[:2])
def test_the_number_of_threads_changes_no_integer(place, name, monkeypatch):
    found = []
    for cores in (1, 4):
        monkeypatch.setattr(os, "sched_getaffinity", lambda _, n=cores: set(range(n)), False)
        with threadpoolctl.threadpool_limits(cores):
            found.append(told(place, name, 20_000))
    assert laws.same(*found)


@pytest.mark.parametrize("relation", [ReplaceOne(), AddRemove()], ids=lambda each: each.name)
@pytest.mark.parametrize("place", ["sphere", "affine-invariant 3"])
def test_noise_is_added_to_the_answers_that_laws_look_at(place, relation, monkeypatch):
    seen = []

    def watched(*arguments):
        seen.append(answer(*arguments))
        return seen[-1]

    monkeypatch.setattr("riemdp.release._run.answer", watched)
    cell = cell_on(place, Moments("matrix"), relation)
    records = laws.company_of(cell, 40)
    riemdp.private_statistic(Moments("matrix"), records, cell.ball, GDP(1.0), adjacency=relation)
    assert seen == [laws.answered(cell.first, cell, records)]


# What is public of a release is complete before a record is opened.


class Watched(Accountant):
    """An account, and records, that write down when they are asked."""

    def __init__(self, records, adjacency):
        super().__init__(GDP(100.0), adjacency=adjacency)
        self.events = []
        late = {name: self._opened(getattr(records, name)) for name in ("points", *records.extras)}
        self.records = Records(**late)

    def _opened(self, values):
        def opened():
            self.events.append("opened")
            return values

        return opened

    def spend(self, guarantee, label):
        self.events.append("charged")
        return super().spend(guarantee, label)


def data_of(cell, number, seed):
    """Records for a release, others for each seed, with what it says of them in public."""
    n = next((n for n in (number, 5, 2) if cell.stated(n)), number)
    if cell.form.by_place:
        given = laws.places(cell.form, n)
        n = len(next(iter(given.values())))
        records = replace(laws.company_of(cell, n, seed), **given)
    else:
        records = laws.company_of(cell, n, seed)
    if "users" not in cell.relation.takes:
        return records, ({"n": n} if cell.relation.size_is_public else {})
    kept = replace(records, users=np.arange(n) // 2 % (9 + seed))
    kept = replace(kept, weights=None) if cell.relation.adds else kept
    return kept, ({"people": n} if cell.relation.size_is_public else {})


def public(release):
    """All of a document but the value, and what follows from a released number of records."""
    document = json.loads(release.to_json())
    del document["header"]["nonce"]  # of which each release has its own
    return {key: x for key, x in document.items() if key not in ("value", "rounded")}


def released(name, cell, seed):
    """A release of records that come with a seed, and in which order it asked for what."""
    number = 40 if cell.relation.size_is_public else 30 + seed
    records, given = data_of(cell, number, seed)
    watched = Watched(records, cell.relation.adjacency)
    release = riemdp.private_statistic(
        laws.STATISTICS[name](cell.ball),
        watched.records,
        cell.ball,
        GDP(1.0),
        adjacency=cell.relation,
        accountant=watched,
        allow_unproven=True,
        **given,
    )
    return release, watched.events


#: Every statistic, on the first ball that it is for.
FIRST = [
    (next(place for place in ("sphere", *dict(PAIRS)) if (place, name) in PAIRS), name)
    for name in laws.STATISTICS
]
each_statistic = cases(FIRST)


@pytest.mark.fast(3)
@each_statistic
def test_what_is_public_is_known_before_a_record_is_opened(place, name):
    for cell in cells_of(place, name):
        (one, events), (other, _) = (released(name, cell, seed) for seed in (0, 1))
        assert public(one) == public(other)
        assert events[0] == "charged"
        assert set(events[1:]) == {"opened"}


# Every edit of a document is refused, or listed. More of it: tests/kernel/test_verify.py.

LISTED = [part for key in (*STATED, *FOLLOWED) for part in key.split(", ")]


def leaves(document, path=()):
    """Yield every place of a document with what stands there."""
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        if isinstance(value, (dict, list)):
            yield from leaves(value, (*path, key))
        else:
            yield (*path, key), value


def other(value):
    """What may stand there instead, beyond what rounding explains."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + type(value)(max(1, 0.05 * abs(value)))
    return f"{value}x" if isinstance(value, str) else 1


def is_listed(path):
    """Whether an edit there may pass."""
    names = [key for key in path if isinstance(key, str) and key != "header"]
    return {names[0], names[-1], ".".join(names)} & set(LISTED)


def unnoticed(document, holds):
    """Places where an edit passes, of those that are not listed."""
    for path, value in leaves(document):
        edited = copy.deepcopy(document)
        functools.reduce(lambda inner, key: inner[key], path[:-1], edited)[path[-1]] = other(value)
        if not is_listed(path) and holds(edited):
            yield ".".join(map(str, path))


def verifies(document):
    with contextlib.suppress(RiemdpError):
        return verify(document).passed
    return False


@pytest.mark.fast(3)
@each_statistic
def test_every_edit_of_a_document_is_refused_or_listed(place, name):
    for cell in cells_of(place, name):
        document = json.loads(released(name, cell, 0)[0].to_json())
        assert verifies(document)
        found = set(unnoticed(document, verifies))
        if cell.relation.name == "groups" and name == "point-statistic":
            found -= {"header.statistic.sensitivity"}  # of two, which is the ball's diameter anyhow
        assert found == set()


# Controls: what the laws have to notice, of code that the kernel believes.


@pytest.fixture
def any_query(monkeypatch):
    """Queries of other packages, whose moves are what they say, are asked too."""
    for module in (_statistic, _counted):
        monkeypatch.setattr(module, "check_query", lambda *_: None)


@pytest.fixture
def believed(any_query, monkeypatch):
    """Rows are neither guarded nor, as those of other packages, asked for one by one."""
    monkeypatch.setattr(_sums, "guarded", lambda rows, *_: rows)
    for name in ("is_own_throughout", "is_own_code", "places_are_alike"):
        monkeypatch.setattr(_answer, name, lambda *_: True)


@dataclass(frozen=True)
class ShortMoment(Moment):
    """A shape that states squares of move and norm a little short."""

    share: Fraction = Fraction(1)

    @property
    def norm(self):
        return self.share * super().norm

    @property
    def move(self):
        return self.share * super().move


@dataclass(frozen=True)
class Short(Moments):
    """Moments whose move and norm are stated a little short."""

    name = "tests.Short"
    share: float = 0.99

    def shape(self, dim):
        return ShortMoment(dim, self.second, share=Fraction(self.share) ** 2)


class ShortQuery(_OwnVariance):
    """One that is no sum, stated short."""

    def replace_one(self, ball, n, metric):
        return 0.99 * super().replace_one(ball, n, metric)


@dataclass(frozen=True)
class ShortVariance(Statistic):
    name = "tests.ShortVariance"

    def queries(self, ball):
        own = outline(DirectVariance(), ball).queries[0]
        answer = yield ShortQuery(own.shape, own.unit, own.vectors, projects=True)
        return Value(answer.point, own.answers(ball))


class FatMoment(Moment):
    """Rows that are longer where nobody has a record: at the centre."""

    def rows(self, vectors, beside=None):
        found = super().rows(vectors, beside)
        found[(found == 0).all(axis=-1)] = 4 * UNIT
        return found


@dataclass(frozen=True)
class Fat(Moments):
    name = "tests.Fat"

    def shape(self, dim):
        return FatMoment(dim, self.second)


@pytest.mark.parametrize("relation", [ReplaceOne(), AddRemove()], ids=lambda each: each.name)
@pytest.mark.parametrize("place", ["sphere", "log-euclidean 3"])
def test_a_move_that_is_stated_one_percent_short_is_noticed(place, relation, believed):
    laws.moves([cell_on(place, Short(share=1.0), relation)])
    with pytest.raises(AssertionError, match=r"of the stated|is longer than"):
        laws.moves([cell_on(place, Short(), relation)])
    with pytest.raises(AssertionError, match=r"of the stated|is longer than"):
        laws.moves([cell_on(place, Fat(), relation)])


def test_a_short_move_of_what_is_no_sum_is_noticed(any_query):
    with pytest.raises(AssertionError, match="stated"):
        laws.moves([cell_on("sphere", ShortVariance())])


def depends(at, function, ball, points):
    """Vectors of records that look at something else."""
    found = function(ball, points)
    seen = {
        "neighbours": lambda: found.mean(axis=0),
        "place": lambda: found * np.linspace(0.0, 1.0, len(found))[:, None],
        "number": lambda: found * len(found) / 1000.0,
    }
    return 0.5 * (found + seen[at]())


@dataclass(frozen=True)
class Dependent(Moments):
    """Features that look at something else than the record."""

    name = "tests.Dependent"
    at: str = "neighbours"

    def query(self, ball, view=None, share=1.0):
        found = super().query(ball, view, share)
        return replace(found, vectors=functools.partial(depends, self.at, found.vectors))


@pytest.mark.parametrize("at", ["neighbours", "place"])
def test_a_row_that_looks_at_something_else_is_noticed(at, believed):
    cell = cell_on("sphere", Dependent(at=at))
    if at == "neighbours":
        with pytest.raises(AssertionError, match="changes what becomes of another"):
            laws.company(cell)
    else:
        laws.company(cell)
    with pytest.raises(AssertionError, match="it counts"):
        laws.place(cell)


def test_the_kernel_leaves_nothing_else_to_look_at():
    for at in ("neighbours", "place", "number"):
        cell = cell_on("sphere", Dependent(at=at))
        laws.company(cell)
        laws.place(cell)


def test_a_map_that_looks_at_all_rows_is_noticed():
    """One extreme record rescales all, as it once did."""
    ball = ball_of("log-euclidean 2")

    def switching(rows):
        small = np.linalg.det(np.minimum(rows, 1e100)).min() < 1e-200
        return ball.coordinates(0.25 * rows if small else rows)

    laws.map_company(ball, "coordinates", 60)
    with pytest.raises(AssertionError, match="changes another one"):
        laws.map_company(ball, "coordinates", 60, switching)


@pytest.mark.parametrize("key", ["queries", "proofs"])
def test_a_key_that_is_not_recomputed_is_noticed(key):
    release, _ = released("moments", cell_on("sphere", Moments()), 0)
    document = json.loads(release.to_json())
    right = document["header"][key]

    def holds(edited):
        return verifies({**edited, "header": {**edited["header"], key: right}})

    found = list(unnoticed(document, holds))
    assert found
    assert {name.split(".")[1] for name in found} == {key}
