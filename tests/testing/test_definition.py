"""The checks of definitions hold of this library's, and each fails for one with that mistake."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from riemdp import GDP, ZCDP, ApproxDP, PureDP
from riemdp.privacy import KLDP, RDP, MeanCDP, RaoDP
from riemdp.testing import check_part

DEFINITIONS = [
    PureDP(1.0),
    ApproxDP(1.0, 1e-6),
    GDP(0.7),
    ZCDP(0.3),
    RDP(4.0, 0.5),
    KLDP(0.3),
    MeanCDP(0.3, 0.5),
    RaoDP(0.4, distance="angle"),
    RaoDP(0.4, distance="parametric"),
]


@pytest.mark.parametrize("part", DEFINITIONS, ids=str)
def test_the_definitions_pass(part):
    check_part(part)


@dataclass(frozen=True)
class Rising(PureDP):
    name = "tests.Rising"

    def delta_at(self, epsilon):
        return 1.0 - super().delta_at(epsilon)


@dataclass(frozen=True)
class Small(ApproxDP):
    name = "tests.Small"

    def epsilon_at(self, delta):
        return 0.5 * super().epsilon_at(delta)


@dataclass(frozen=True)
class Generous(PureDP):
    name = "tests.Generous"

    def allows(self, curve):
        return curve.pure_epsilon() <= 2.0 * self.epsilon


@dataclass(frozen=True)
class Doubling(GDP):
    name = "tests.Doubling"

    def split(self, releases):
        return Doubling(self.mu)


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Rising(1.0), "delta_falls"),
        (Small(1.0, 1e-6), "epsilon_inverts_delta"),
        (Generous(1.0), "allows_less"),
        (Doubling(1.0), "shares_add_up"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_broken_definition_is_noticed(part, expected, failures):
    assert expected in failures(part)
