"""Equality, hash, text, pickling and copying of everything public that is a dataclass."""

from __future__ import annotations

import copy
import dataclasses
import functools
import pickle
from dataclasses import dataclass, field

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Ball,
    Euclidean,
    PureDP,
    RiemannianGaussian,
    RiemannianLaplace,
    SPDAffineInvariant,
    Sphere,
    TangentGaussian,
    TangentLaplace,
    WrappedGaussian,
    WrappedLaplace,
    audit,
    compose,
    frechet_mean,
    plan,
    private_mean,
    verify,
)
from riemdp._array_fields import ArrayFields
from riemdp.auditing import (
    audit_density_ratio,
    audit_sampler,
    audit_sensitivity,
    search_pair,
)
from riemdp.noise import IsotropicLaw
from riemdp.research import (
    ConformalLaplace,
    ConformalRejection,
    GeneralizedGaussian,
    Metropolis,
    PublicPriorLaplace,
    RestrictedLaplace,
)
from riemdp.research._ball_laplace import BallLaplace
from riemdp.spaces import Aligned, BoxBall, ProjectiveSpace
from riemdp.statistics import ReleasedMoments, confidence_region, two_sample_test

SPHERE = Sphere(2)


def constant(points):
    return np.ones(len(points))


def zero(first, second):
    return 0.0


@functools.cache
def made(which):
    """Every public dataclass by name, made anew for each argument, from the same numbers."""
    del which
    rng = np.random.default_rng(0)
    ball = Ball(SPHERE, [0.0, 0.0, 1.0], 0.5)
    points = ball.point(0.1 * rng.normal(size=(30, 2)))
    laplace = RiemannianLaplace(SPHERE, 0.1)
    audited = audit(laplace, points[0], points[1], PureDP(2.0), samples=1000, generator=rng)
    conformal = ConformalLaplace.public(ball, constant, 1.0, 0.1, 300)
    search = {"restarts": 1, "steps": 1, "generator": rng}
    release = private_mean(points, ball, PureDP(1.0), generator=rng)
    moments = ReleasedMoments([0.1, 0.2], [[0.3, 0.1], [0.1, 0.2]], 0.01, 0.02, 50, 1.0)
    things = [
        frechet_mean(SPHERE, points, ball=ball),
        ball,
        release,
        private_mean(points, ball, GDP(1.0), mechanism="tangent-gaussian", generator=rng),
        verify(release),
        plan(SPHERE, 0.5, 30, PureDP(1.0)),
        conformal,
        conformal.law,
        conformal.law.net,
        ConformalRejection(ball, constant, 1.0, 0.1, bounds=(0.9, 1.1)),
        PublicPriorLaplace(ball, constant, 1.0, 0.1, bounds=(0.5, 1.0)),
        TangentGaussian(SPHERE, 0.1, base=points[0]),
        TangentLaplace(SPHERE, 0.1, base=points[0]),
        WrappedGaussian(SPHERE, 0.1, base=points[0]),
        WrappedLaplace(SPHERE, 0.1, base=points[0]),
        TangentGaussian(Euclidean(2), 0.1),
        laplace,
        RestrictedLaplace(SPHERE, 0.1, ball=ball),
        RiemannianGaussian(SPHERE, 0.1),
        GeneralizedGaussian(0.1, 1.5),
        audited,
        audited.events,
        audited.trade_off,
        audit_density_ratio(laplace, points[0], points[1], PureDP(2.0), samples=10, generator=rng),
        audit_sensitivity(constant, ball, 3, 1.0, distance=_no_distance, **search),
        search_pair(zero, ball, 3, **search),
        audit_sampler(laplace, points[0], samples=1000, generator=rng),
        laplace.privacy(0.1),
        compose([PureDP(0.1), GDP(0.2)]),
        IsotropicLaw("laplace", SPHERE, 0.1),
        BallLaplace(ball, 0.1),
        Metropolis(SPHERE, 0.1, "laplace"),
        PureDP(1.0),
        SPDAffineInvariant(3),
        Aligned(ProjectiveSpace(2), [0.0, 0.0, 1.0]),
        BoxBall(riemdp.Power(SPHERE, 2), [[0.0, 0.0, 1.0]] * 2, 0.5, radii=0.4),
        moments,
        confidence_region(moments),
        confidence_region(moments, method="directional"),
        two_sample_test(moments, moments),
        field_of_means(rng).denoise("wiener", grid=(16,)),
    ]
    return {f"{i} {type(thing).__name__}": thing for i, thing in enumerate(things)}


def field_of_means(generator):
    line = Euclidean(1)
    voxels = riemdp.Power(line, 16)
    ball = Ball(voxels, voxels.origin, 4.0)
    options = {"mechanism": "tangent-gaussian", "generator": generator}
    return private_mean(np.zeros((30, 16, 1)), ball, GDP(1.0), **options)


def _no_distance(first, second):
    return 0.0


NAMES = range(41)
every_thing = pytest.mark.parametrize("index", NAMES)


def pair(index):
    return list(made("first").values())[index], list(made("second").values())[index]


def arrays_of(thing):
    if not dataclasses.is_dataclass(thing):
        return []
    values = [getattr(thing, f.name) for f in dataclasses.fields(thing)]
    return [value for value in values if isinstance(value, np.ndarray)]


#: What is given, or handed on, as it is: no results.
GIVEN = (riemdp.Records, riemdp.Chunks, riemdp.statistics.Answer, riemdp.statistics.Value)


def test_the_list_is_complete():
    assert len(made("first")) == len(NAMES)
    listed = {type(thing) for thing in made("first").values()}
    packages = (riemdp.release, riemdp.mechanisms, riemdp.statistics, riemdp.spaces)
    packages = (*packages, riemdp, riemdp.auditing, riemdp.noise, riemdp.privacy)
    for package in packages:
        for name in package.__all__:
            kind = getattr(package, name)
            if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
                continue
            if kind in GIVEN:
                continue
            types = [str(f.type) for f in dataclasses.fields(kind)]
            holds_arrays = any("Array" in found and "Callable" not in found for found in types)
            if holds_arrays and not getattr(kind, "__abstractmethods__", None):
                assert issubclass(kind, ArrayFields), name
                assert kind in listed, name


@pytest.mark.fast(16)
@every_thing
def test_equal_arguments_make_equal_things(index):
    first, second = pair(index)
    assert first is not second or not isinstance(first, ArrayFields)
    assert (first == second) is True
    assert (first != second) is False
    assert hash(first) == hash(second)
    assert len({first, second}) == 1
    for other in (None, 1, "text", np.ones(3).tolist()):
        assert (first == other) is False
    assert repr(first) == repr(second)


@every_thing
@pytest.mark.parametrize(
    "duplicate",
    [
        copy.copy,
        copy.deepcopy,
        lambda thing: pickle.loads(pickle.dumps(thing)),
        lambda thing: pickle.loads(pickle.dumps(thing, protocol=2)),
    ],
    ids=["copy", "deepcopy", "pickle", "old pickle"],
)
def test_copies_are_equal_and_read_only(index, duplicate):
    thing = pair(index)[0]
    other = duplicate(thing)
    assert type(other) is type(thing)
    assert other == thing
    assert hash(other) == hash(thing)
    for array in arrays_of(other):
        assert not array.flags.writeable


@every_thing
def test_arrays_are_read_only(index):
    for array in arrays_of(pair(index)[0]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0


@every_thing
def test_another_number_makes_another_thing(index):
    thing = pair(index)[0]
    if not isinstance(thing, ArrayFields):
        return
    for f in dataclasses.fields(thing):
        value = getattr(thing, f.name)
        if not (f.init and isinstance(value, np.ndarray)):
            continue
        other = copy.copy(thing)
        changed = value.copy()
        changed.flat[0] += 0.25
        object.__setattr__(other, f.name, changed)
        assert other != thing
        shorter = copy.copy(thing)
        object.__setattr__(shorter, f.name, value[:-1])
        assert shorter != thing


def test_a_cached_mechanism_works_after_pickling():
    for thing in made("first").values():
        if not isinstance(thing, (ConformalRejection, ConformalLaplace, PublicPriorLaplace)):
            continue
        other = pickle.loads(pickle.dumps(thing))
        first, second = (
            law.sample([0.0, 0.0, 1.0], 5, np.random.default_rng(1)) for law in (thing, other)
        )
        np.testing.assert_array_equal(first, second)


@dataclass(frozen=True, eq=False)
class Numbers(ArrayFields):
    values: np.ndarray
    name: str = "a"
    remark: str = field(default="", compare=False)
    total: float = field(init=False)

    def __post_init__(self):
        self._seal()
        object.__setattr__(self, "total", float(self.values.sum()))


@dataclass(frozen=True, eq=False)
class MoreNumbers(Numbers):
    pass


def test_what_is_compared():
    values = np.array([0.0, 1.0])
    thing = Numbers(values)
    assert thing.values is not values  # the caller's array stays writeable
    values[0] = 5.0
    assert thing == Numbers(np.array([-0.0, 1.0]))
    assert hash(thing) == hash(Numbers(np.array([-0.0, 1.0])))
    assert thing == Numbers(np.array([0, 1]))
    assert hash(thing) == hash(Numbers(np.array([0, 1])))
    assert thing == Numbers(np.array([0.0, 1.0]), remark="another")
    assert thing != Numbers(np.array([0.0, 1.0]), "b")
    assert thing != Numbers(np.array([[0.0, 1.0]]))
    assert thing != MoreNumbers(np.array([0.0, 1.0]))
    assert thing != Numbers(np.array([0.0, 2.0]))


def test_a_plain_dataclass_with_an_array_cannot_be_compared():
    # negative control: what the mixin is there for
    @dataclass(frozen=True)
    class Plain:
        values: np.ndarray

    with pytest.raises(ValueError, match="truth value"):
        bool(Plain(np.ones(2)) == Plain(np.ones(2)))
    with pytest.raises(TypeError, match="unhashable"):
        hash(Plain(np.ones(2)))
