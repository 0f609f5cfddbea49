"""On what a release rests: the proofs that it lists, and that foreign parts have none."""

from __future__ import annotations

import importlib.metadata

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Hyperbolic,
    PureDP,
    Sphere,
    _part,
    private_mean,
    private_statistic,
)
from riemdp._part import borrowed
from riemdp.release._offer import offer
from riemdp.research._net import BallNet, ball_net
from riemdp.research._net_laplace import NetLaplace
from riemdp.spaces import Product
from riemdp.statistics import FrechetMean, ReplaceOne
from riemdp.statistics.curved import _solver_of_space

PLANE = Ball(Euclidean(2), np.zeros(2), 1.0)


class Lopsided(Sphere):
    """A space that is not homogeneous, and says nothing of it."""

    def dist(self, a, b):
        return super().dist(a, b) * (1.0 + 0.5 * np.asarray(a)[..., 0] ** 2)


class Vouched(Sphere):
    """A space whose author names a proof."""

    name = "tests.Vouched"
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
        "exact draw": "docs/proofs/exact-draws.md",
        "exact mean": "docs/proofs/certified-means.md",
    }
    (check,) = (check for check in riemdp.verify(release).checks if check.name == "proof")
    assert check.passed
    assert check.detail.count("docs/proofs/") == 7


@pytest.mark.parametrize(
    ("manifold", "mechanism", "missing"),
    [
        (Lopsided(2), "tangent-gaussian", None),
        (Lopsided(2), "tangent-laplace", "Lopsided"),
        (Lopsided(2), "riemannian-laplace", "Lopsided, law on Lopsided, frechet-mean"),
        (Vouched(2), "riemannian-laplace", "law on tests.Vouched, frechet-mean"),
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
    assert release.proofs["tests.Vouched"] == "https://example.org/vouched"


@pytest.mark.fast("warped")
@pytest.mark.parametrize(
    ("factor", "missing"),
    [
        (Vouched(2), {"law on tests.Vouched", "frechet-mean"}),
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


class Loose(Ball):
    """A ball that clips nothing."""

    def project(self, points):
        return np.asarray(points, float)


def on_a_net(ball, kind=NetLaplace, net=None):
    net = ball_net(ball, 200) if net is None else net
    return kind(ball, net, np.ones(len(net.points)), 0.5, 0.4)


def with_a_prior(ball, kind=riemdp.research.PublicPriorLaplace):
    return kind(ball, lambda x: np.ones(len(x)), 0.5, 0.4, bounds=(0.5, 1.0))


def by_rejection(ball, kind=riemdp.research.ConformalRejection):
    return kind(ball, lambda x: np.ones(len(x)), 0.5, 0.4, bounds=(0.5, 1.0))


def conformal(ball, kind=riemdp.research.ConformalLaplace):
    return kind.public(ball, lambda x: np.ones(len(x)), 0.5, 0.4, nodes=200)


CONFORMAL = [on_a_net, with_a_prior, by_rejection, conformal]


@pytest.mark.parametrize("law", CONFORMAL)
def test_a_law_on_a_ball_is_proved_as_its_class_its_ball_and_its_space_are(law):
    space, kind = Euclidean(2), type(law(PLANE))
    assert law(PLANE).proven is True
    assert law(Loose(space, space.origin, 1.0)).proven is False
    assert law(Ball(type("Bent", (Euclidean,), {})(2), space.origin, 1.0)).proven is False
    assert law(PLANE, type("Changed", (kind,), {})).proven is False


def test_a_law_on_a_net_is_proved_as_its_net_is():
    net = ball_net(PLANE, 200)
    rest = (net.points, net.volumes, net.covering_radius)
    loose = Loose(PLANE.manifold, PLANE.center, PLANE.radius)
    assert on_a_net(PLANE, net=BallNet(PLANE, *rest)).proven
    assert not on_a_net(PLANE, net=type("Coarse", (BallNet,), {})(PLANE, *rest)).proven
    assert not on_a_net(PLANE, net=BallNet(loose, *rest)).proven


def test_a_draw_costs_what_its_law_does():
    law = on_a_net(PLANE)
    assert riemdp.research.ConformalLaplace(law, 0.5).proven
    assert not riemdp.research.ConformalLaplace(law, 0.1).proven
    assert not riemdp.research.ConformalLaplace(law, 0.5, 0.1).proven
    changed = on_a_net(PLANE, type("Changed", (NetLaplace,), {}))
    assert not riemdp.research.ConformalLaplace(changed, 0.5).proven


def borrowing(kind, name=None, **members):
    """Make a subclass that says it is the class itself."""
    return type(kind.__name__, (kind,), {"name": name or kind.name, "proof": kind.proof, **members})


TINY = {"replace_one": lambda self, ball, n, metric: 1e-9}
SPHERE = borrowing(Sphere)(2)


@pytest.mark.parametrize(
    ("missing", "changed"),
    [
        ("frechet-mean", {"statistic": borrowing(FrechetMean, **TINY)()}),
        ("riemannian-laplace", {"mechanism": borrowing(riemdp.RiemannianLaplace)(Sphere(2), 9.0)}),
        ("PureDP", {"budget": borrowing(PureDP)(1.0)}),
        ("replace-one", {"adjacency": borrowing(ReplaceOne)()}),
        ("Sphere", {"ball": Ball(SPHERE, SPHERE.origin, 0.5)}),
        ("new", {"statistic": borrowing(FrechetMean, "new", **TINY)()}),
    ],
    ids=str,
)
def test_a_class_that_borrows_a_name_has_no_proof(missing, changed):
    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    given = {"statistic": FrechetMean(), "mechanism": riemdp.RiemannianLaplace, "ball": ball}
    given |= {"budget": PureDP(1.0), "adjacency": None} | changed
    statistic, ball, budget = given["statistic"], given["ball"], given["budget"]
    options = {"mechanism": given["mechanism"], "adjacency": given["adjacency"]}
    points = np.tile(ball.center, (20, 1))
    with pytest.raises(riemdp.UnprovenMechanismError, match=f"of {missing}|, {missing}"):
        private_statistic(statistic, points, ball, budget, **options)
    release = private_statistic(statistic, points, ball, budget, allow_unproven=True, **options)
    assert missing in [name for name, proof in release.proofs.items() if proof is None]
    assert not release.proven
    assert not {c.name: c.passed for c in riemdp.verify(release).checks}["proof"]


def test_a_borrowed_name_in_a_product_or_of_a_mechanism_alone():
    manifold = Product(SPHERE, Euclidean(1))
    assert borrowed(manifold) == {"Sphere": None}
    assert borrowed(Product(Sphere(2), Euclidean(1)), PureDP(1.0)) == {}
    assert riemdp.RiemannianLaplace(Sphere(2), 1.0).proven
    assert not borrowing(riemdp.RiemannianLaplace)(Sphere(2), 1.0).proven
    assert not on_a_net(Ball(borrowing(Euclidean)(2), np.zeros(2), 1.0)).proven


def test_a_name_of_another_package_is_its_own_where_nobody_has_it(monkeypatch):
    mine = borrowing(FrechetMean, "tests.Mine")
    assert borrowed(mine()) == {}
    monkeypatch.setitem(_part._registry, "tests.Mine", borrowing(FrechetMean, "tests.Mine"))
    assert borrowed(mine()) == {"tests.Mine": None}
    broken = importlib.metadata.EntryPoint("tests.Broken", "no_such_module:Part", _part.GROUP)
    monkeypatch.setattr(_part, "_installed", lambda: {"tests.Broken": (broken,)})
    assert borrowed(borrowing(FrechetMean, "tests.Broken")()) == {"tests.Broken": None}


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
    solver = type(_solver_of_space._solvers[Sphere])
    assert _solver_of_space.is_solved(Sphere(2))
    monkeypatch.setattr(solver, "proof", stated)
    assert not _solver_of_space.is_solved(Sphere(2))


@pytest.mark.parametrize("given", [{}, {"another": "https://example.org"}])
def test_a_part_that_says_nothing_of_itself_has_no_proof(given):
    class Silent(FrechetMean):
        name, proof = "tests.Silent", "https://example.org"

        def proofs_on(self, ball):
            return given

    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    with pytest.raises(riemdp.UnprovenMechanismError, match=r"tests\.Silent"):
        private_statistic(Silent(), np.tile(ball.center, (20, 1)), ball, PureDP(1.0))
