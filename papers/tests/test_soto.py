from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.integrate

from riemdp.privacy import RaoDP
from riemdp.research import GeneralizedGaussian
from riemdp.spaces import Hyperbolic, Sphere
from riemdp_papers._experiment import Settings
from riemdp_papers._soto import (
    PAPER,
    composition,
    generalized_information,
    laplace_affinity,
    mechanisms,
)


def _rows(function):
    seen = []
    outcome = function(Settings(quick=True), seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == 1.0
    return {row.quantity: row for row in outcome.rows}


def _start(rows, text):
    (row,) = [row for quantity, row in rows.items() if quantity.startswith(text)]
    return row


def test_table_1():
    rows = _rows(composition)
    assert len(rows) == 10
    for text, value in (("pure", "1"), ("Kullback", "0.2"), ("Gaussian", "0.7071")):
        row = _start(rows, text)
        assert row.reproduced == row.exact == value
    angle = _start(rows, "Rao, angle")
    assert angle.reproduced == "1.191"
    # the product law of two Laplace pairs, by brute force
    x, step = np.linspace(-25, 26, 20_001, retstep=True)
    root = np.exp(-0.5 * np.abs(x)) / math.sqrt(2), np.exp(-0.5 * np.abs(x - 1)) / math.sqrt(2)
    affinity = np.sum(root[0] * root[1]) * step
    assert 2 * math.acos(affinity**2) == pytest.approx(float(angle.exact), abs=1e-4)
    # the rule for lengths is not exact for angles
    assert float(angle.paper.split(" ")[0]) > float(angle.exact) + 0.01


def test_a_theta_is_no_epsilon():
    row = _start(_rows(composition), "100 Laplace")
    assert row.reproduced == "θ = 1 alone guarantees δ = 0.308 at ε = 1 and ε = inf at δ = 1e-6"
    assert row.exact == "δ = 0.121 at ε = 1 and ε = 4.693 at δ = 1e-6"


def test_affinity_of_two_laplace_laws():
    value, _ = scipy.integrate.quad(
        lambda x: 0.5 * math.exp(-0.5 * (abs(x) + abs(x - 0.7))), -60, 60, points=[0, 0.7]
    )
    assert laplace_affinity(0.7) == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("power", [1.5, 2.0, 3.0])
def test_information_of_the_generalised_gaussian(power):
    ours = GeneralizedGaussian(2.0, power).rao(1.0, "parametric").theta
    right = math.sqrt(generalized_information(power, 2.0, as_printed=False))
    assert right == pytest.approx(ours, rel=1e-8)
    # negative control: of the density as printed the formula is wrong
    printed = math.sqrt(generalized_information(power, 2.0, as_printed=True))
    assert abs(printed / ours - 1) > 0.1
    unit = math.sqrt(generalized_information(power, 1.0, as_printed=True))
    assert unit == pytest.approx(2.0 * right, rel=1e-8)


@pytest.mark.parametrize("theta", [0.1, 1.0])
def test_the_pair_of_the_least_delta_has_the_angle(theta):
    square = math.sin(0.5 * theta) ** 2
    affinity = math.sqrt(1.0 - square)  # of (1 - square, square) and (1, 0)
    assert 2 * math.acos(affinity) == pytest.approx(theta)
    # no epsilon helps against an event that the other law does not have
    for epsilon in (0.0, 1.0, 50.0):
        assert RaoDP(theta, distance="angle").delta_at(epsilon) >= square
    # negative control: a third outcome in place of the first makes the angle larger
    assert 2 * math.acos(1.0 - square) > theta * 1.3


def test_section_4():
    rows = _rows(mechanisms)
    for power, formula in (("1.5", "0.6091"), ("3", "0.8707"), ("4", "1.0070")):
        row = _start(rows, f"θ of the generalised Gaussian, N = {power},")
        # sqrt(N Gamma(2 - 1/N) / Gamma(1 + 1/N)) / 2 by hand
        assert row.paper.split(";")[0] == row.exact == row.reproduced.split(" ")[0] == formula
    assert _start(rows, "θ of the Laplace").reproduced == "length 1.0000, angle 0.8560"
    assert _start(rows, "θ of the Gaussian").reproduced == "length 1.0000, angle 0.9793"
    normal = _start(rows, "distance of N(0, 1) and N(0, 4)")
    assert normal.paper.startswith("1.96052")
    assert normal.reproduced == normal.exact == "0.98026"
    same = _start(rows, "distance of N(0, 1) and N(1, 1)")
    assert same.reproduced == same.exact
    for theta in ("0.1", "1"):
        row = _start(rows, f"least δ that an angle of {theta} ")
        assert row.reproduced == row.exact


@pytest.mark.parametrize(
    ("space", "value"), [(Sphere(2), 10.7798), (Sphere(5), 9.8782), (Hyperbolic(2), 11.4464)]
)
def test_fisher_information_on_manifolds(space, value):
    row = _start(_rows(mechanisms), f"Fisher information of the Gaussian on {space}")
    assert float(row.exact) == pytest.approx(value, abs=6e-5)
    mean, error = map(float, row.reproduced.split(" ± "))
    assert mean == pytest.approx(value, abs=5 * (error + 0.005))


def test_the_paper_lists_its_experiments():
    assert PAPER.key == "soto"
    names = [experiment.name for experiment in PAPER.experiments]
    assert names == ["composition", "mechanisms", "releases"]
