"""On what a release rests: the proofs that it lists, and that foreign parts have none."""

from __future__ import annotations

import numpy as np
import pytest

import riemdp
from riemdp import GDP, Ball, Euclidean, Hyperbolic, PureDP, Sphere, private_mean
from riemdp.manifolds import Product
from riemdp.release._offer import offer
from riemdp.statistics import FrechetMean, _mean_solver


class Lopsided(Sphere):
    """A space that is not homogeneous, and says nothing of it."""

    def dist(self, a, b):
        return super().dist(a, b) * (1.0 + 0.5 * np.asarray(a)[..., 0] ** 2)


class Vouched(Sphere):
    """A space whose author names a proof."""

    proof = "https://example.org/vouched"


class Warped(Hyperbolic):
    """A changed space."""


class Disguised(Sphere):
    """An unproved space under the name of a proved mechanism."""

    name = "tangent-laplace"


class Bold(riemdp.RiemannianLaplace):
    """A mechanism that promises more than it keeps."""

    name = "bold"


def released(manifold, mechanism, allow=False):
    ball = Ball(manifold, [0, 0, 1], 0.5)
    points = Sphere(2).exp(
        ball.center, np.random.default_rng(0).uniform(-0.2, 0.2, (20, 3)) * [1, 1, 0]
    )
    return private_mean(points, ball, PureDP(1.0), mechanism=mechanism, allow_unproven=allow)


def test_a_release_lists_what_it_rests_on():
    release = released(Sphere(2), "riemannian-laplace")
    assert release.proven
    assert release.proofs == {
        "frechet-mean": "docs/proofs/frechet-mean-sensitivity.md",
        "Sphere": "docs/proofs/spaces.md",
        "riemannian-laplace": "docs/proofs/riemannian-laplace.md",
        "PureDP": "docs/proofs/privacy-conversions.md",
        "replace-one": "docs/proofs/index.md",
    }
    (check,) = (check for check in riemdp.verify(release).checks if check.name == "proof")
    assert check.passed
    assert check.detail.count("docs/proofs/") == 5


@pytest.mark.parametrize(
    ("manifold", "mechanism", "missing"),
    [
        (Lopsided(2), "tangent-gaussian", None),
        (Lopsided(2), "tangent-laplace", "Lopsided"),
        (Lopsided(2), "riemannian-laplace", "Lopsided, law on Lopsided, frechet-mean"),
        (Vouched(2), "riemannian-laplace", "law on Vouched, frechet-mean"),
        (Disguised(2), "tangent-laplace", "tangent-laplace"),
        (Sphere(2), Bold, "bold"),
        (Sphere(2), Bold(Sphere(2), 1.0), "bold"),
    ],
)
def test_what_nobody_vouches_for_is_named(manifold, mechanism, missing):
    if missing is None:  # no pure epsilon
        with pytest.raises(riemdp.UnsupportedBudgetError):
            released(manifold, mechanism, allow=True)
        return
    with pytest.raises(riemdp.UnprovenMechanismError, match=f"of {missing}. Pass allow_unproven"):
        released(manifold, mechanism)
    release = released(manifold, mechanism, allow=True)
    assert not release.proven
    checks = {check.name: check for check in riemdp.verify(release).checks}
    assert not checks["proof"].passed
    assert checks["proof"].detail == f"no proof is known of {missing}"
    with pytest.raises(riemdp.InvalidParameterError, match="not registered"):
        release.to_json()


def test_a_space_whose_author_names_a_proof_is_proven_with_tangent_noise():
    release = released(Vouched(2), "tangent-laplace")
    assert release.proven
    assert release.proofs["Vouched"] == "https://example.org/vouched"


@pytest.mark.parametrize(
    ("factor", "missing"),
    [
        (Vouched(2), {"law on Vouched", "frechet-mean"}),
        (Warped(2), {"Warped", "law on Warped", "frechet-mean"}),
        (Hyperbolic(2), set()),
    ],
    ids=["vouched", "warped", "proved"],
)
def test_a_changed_space_in_a_product_is_no_better(factor, missing):
    manifold = Product(factor, Euclidean(1))
    ball = Ball(manifold, manifold.origin, 0.5)
    found = offer(FrechetMean(), riemdp.RiemannianGaussian, ball, 100, GDP(1.0)).proofs(GDP(1.0))
    assert {name for name, proof in found.items() if proof is None} == missing


@pytest.mark.parametrize("stated", ["", "  ", False, True])
def test_a_proof_that_says_nothing_proves_nothing(monkeypatch, stated):
    """A class cannot be made with it; a method, or a class that is changed, may return it."""
    manifold = Warped(2)
    monkeypatch.setattr(Warped, "proof", stated)
    ball = Ball(manifold, manifold.origin, 0.5)
    points = np.tile(ball.center, (20, 1))
    with pytest.raises(riemdp.UnprovenMechanismError, match="Warped"):
        private_mean(points, ball, PureDP(1.0), mechanism="tangent-laplace")
    bold = Bold(Sphere(2), 1.0)
    assert not bold.proven
    monkeypatch.setattr(Bold, "proofs", lambda _: {"bold": stated})
    assert not bold.proven
    with pytest.raises(riemdp.UnprovenMechanismError, match="bold"):
        released(Sphere(2), bold)


@pytest.mark.parametrize("stated", ["", "  "])
def test_a_solver_that_says_nothing_is_not_proved(monkeypatch, stated):
    solver = type(_mean_solver._solvers[Sphere])
    assert _mean_solver.is_solved(Sphere(2))
    monkeypatch.setattr(solver, "proof", stated)
    assert not _mean_solver.is_solved(Sphere(2))
