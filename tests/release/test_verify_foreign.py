"""Releases with parts of other packages: verified by the parts themselves."""

from dataclasses import replace

import numpy as np
import pytest

from riemdp import Ball, PureDP, Sphere, private_mean, verify
from riemdp.mechanisms import RiemannianLaplace
from riemdp.noise.exact import FlatDraw


def release_of(**options):
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.7)
    options = {"mechanism": "riemannian-laplace"} | options
    return private_mean(np.tile([0.0, 0.0, 1.0], (40, 1)), ball, PureDP(1.0), **options)


def failed(release):
    return {check.name for check in verify(release).checks if not check.passed}


@pytest.mark.parametrize("found", [lambda *_: None, lambda *_: FlatDraw("laplace", 5, 1.0)])
def test_integers_are_not_those_of_a_mechanism_that_cannot_draw_them(found):
    """A document may state them of a part of another package, whose exact draw is none."""
    release = release_of()
    kind = type("M", (RiemannianLaplace,), {"name": "lab.M", "exact_draw": found})
    assert "arithmetic" in failed(replace(release, mechanism=kind(Sphere(2), release.sigma)))
