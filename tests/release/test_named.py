"""Mechanisms by what a caller may name them with."""

from __future__ import annotations

import pytest

import riemdp
from riemdp import InvalidParameterError, Sphere
from riemdp.mechanisms import MECHANISMS, Mechanism, RiemannianLaplace
from riemdp.release import _least_error
from riemdp.release._least_error import check_accountant, kinds, named


@pytest.mark.parametrize("wrong", [None, 3, "magic", int, Mechanism, "some.magic"])
def test_what_is_no_mechanism_is_refused(wrong):
    with pytest.raises(InvalidParameterError, match="mechanism"):
        named(wrong)


@pytest.mark.parametrize("name", MECHANISMS)
def test_names_classes_and_instances(name):
    kind = named(name)
    assert kind is MECHANISMS[name]
    assert named(kind) is kind
    assert kinds()[name] is kind
    given = RiemannianLaplace(Sphere(2), 1.0)
    assert named(given) is given


def test_an_account_can_be_charged():
    check_accountant(None)
    check_accountant(riemdp.Accountant(riemdp.PureDP(1.0)))
    for wrong in (3, object(), riemdp.PureDP(1.0), riemdp.Accountant):
        with pytest.raises(InvalidParameterError, match="spend"):
            check_accountant(wrong)


def test_abstract_classes_of_other_packages_are_not_compared(monkeypatch):
    class Concrete(RiemannianLaplace):
        name = "x.Concrete"

    found = {"x.Concrete": Concrete, "x.Abstract": Mechanism}
    monkeypatch.setattr(_least_error, "offered", lambda sort: found if sort == "mechanism" else {})
    assert set(kinds()) == {*MECHANISMS, "x.Concrete"}


def test_unknown_names_say_what_is_known():
    with pytest.raises(InvalidParameterError, match="known: auto, riemannian-laplace"):
        named("magic")
    with pytest.raises(InvalidParameterError, match="those of installed packages"):
        named("nowhere.Magic")
