import dataclasses

import numpy as np
import pytest
from scipy import stats

import riemdp
from riemdp import (
    GDP,
    ApproxDP,
    Ball,
    Euclidean,
    Hyperbolic,
    PureDP,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    private_mean,
    research,
)
from riemdp.mechanisms import RiemannianLaplace, TangentGaussian, TangentLaplace
from riemdp.noise import SecureGenerator


def points_in(ball, n, seed=0, spread=1.0):
    """Points about the centre, some outside the ball where spread > 1."""
    generator = np.random.default_rng(seed)
    vectors = generator.normal(size=(n, ball.manifold.dim))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors *= spread * ball.radius * generator.uniform(size=(n, 1))
    tangent = ball.manifold.tangent_vector(ball.center, vectors)
    return ball.manifold.exp(ball.center, tangent)


SPACES = [
    (Euclidean(3), 1.0),
    (Sphere(1), 0.9),
    (Sphere(2), 0.9),
    (Sphere(3, 4.0), 0.5),
    (Hyperbolic(2), 1.0),
    (Hyperbolic(3, -0.5), 2.0),
    (SPDLogEuclidean(3), 1.5),
]


@pytest.mark.parametrize(("manifold", "radius"), SPACES)
@pytest.mark.parametrize("budget", [PureDP(1.0), ApproxDP(0.8, 1e-6), GDP(0.5)])
def test_release_on_every_space(manifold, radius, budget):
    ball = Ball(manifold, manifold.origin, radius)
    points = points_in(ball, 400, spread=1.3)
    release = private_mean(points, ball, budget, generator=np.random.default_rng(1))
    assert release.value.shape == manifold.point_shape
    assert ball.contains(release.value)
    curved = manifold.curvature_bound > 0.0
    assert release.statistic.name == ("tangent-mean" if curved else "frechet-mean")
    assert release.guarantee == budget
    assert release.mechanism.privacy(release.sensitivity).satisfies(budget)
    assert release.adjacency == "replace-one"
    assert release.n == 400
    assert riemdp.verify(release).passed
    assert "least expected distance" in release.reason


@pytest.mark.parametrize(("manifold", "radius"), [*SPACES, (SPDAffineInvariant(3), 1.0)])
@pytest.mark.parametrize("name", ["tangent-gaussian", "tangent-laplace"])
def test_tangent_mechanisms_on_every_space(manifold, radius, name):
    ball = Ball(manifold, manifold.origin, radius)
    budget = ApproxDP(1.0, 1e-6)
    release = private_mean(
        points_in(ball, 50), ball, budget, mechanism=name, generator=np.random.default_rng(1)
    )
    flat = isinstance(manifold, (Euclidean, SPDLogEuclidean))
    assert release.statistic.name == ("frechet-mean" if flat else "tangent-mean")
    assert release.sensitivity == pytest.approx(2 * radius / 50, rel=1e-6)


def test_affine_invariant_auto_falls_back_to_wrapped_noise():
    # at sensitivity 0.04 the Laplace law needs an epsilon above 0.04 / sqrt(2)
    ball = Ball(SPDAffineInvariant(2), np.eye(2), 1.0)
    assert private_mean(points_in(ball, 50), ball, PureDP(0.04)).statistic.name == "frechet-mean"
    release = private_mean(points_in(ball, 50), ball, PureDP(0.028))
    assert release.statistic.name == "frechet-mean"
    assert release.mechanism.name == "wrapped-laplace"
    with pytest.raises(riemdp.NotAttainableError, match=r"above 0\.0282843.*tangent-gaussian"):
        private_mean(points_in(ball, 50), ball, PureDP(0.028), mechanism="riemannian-laplace")


@pytest.mark.fast(3)
@pytest.mark.parametrize("k", [1, 2, 3, 8])
@pytest.mark.parametrize(
    "budget", [PureDP(1.0), ApproxDP(1.0, 1e-6), GDP(1.0), riemdp.ZCDP(0.5)], ids=str
)
@pytest.mark.parametrize("name", ["riemannian-laplace", "riemannian-gaussian"])
def test_exact_mechanisms_on_affine_invariant_matrices(k, budget, name):
    manifold = SPDAffineInvariant(k)
    ball = Ball(manifold, np.diag(np.linspace(1.0, 50.0, k)), 1.0)
    points = points_in(ball, 60, spread=1.3)
    if name == "riemannian-gaussian" and isinstance(budget, PureDP):
        with pytest.raises(riemdp.InvalidBudgetError, match="no pure epsilon"):
            private_mean(points, ball, budget, mechanism=name)
        return
    release = private_mean(points, ball, budget, mechanism=name)
    assert release.proven
    assert release.private
    assert release.statistic.name == "frechet-mean"
    assert release.projected == (release.expected_distance < ball.radius)
    assert ball.contains(release.value) or not release.projected
    assert release.sensitivity == pytest.approx(2.0 / 60, rel=1e-6)
    text = release.to_json()
    again = riemdp.Release.from_json(text)
    assert again.to_json() == text
    assert riemdp.verify(again).passed
    less = text.replace(f'"sigma": {release.sigma!r}', f'"sigma": {0.999 * release.sigma!r}')
    failed = riemdp.verify(riemdp.Release.from_json(less))
    assert not {check.name: check.passed for check in failed.checks}["guarantee"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["riemannian-laplace", "riemannian-gaussian"])
def test_released_matrices_are_as_far_from_the_mean_as_is_said(name):
    manifold = SPDAffineInvariant(3)
    ball = Ball(manifold, np.diag([1.0, 10.0, 100.0]), 2.0)
    points = points_in(ball, 40, spread=0.4)
    exact = riemdp.frechet_mean(manifold, points).value
    for seed in (1, 2):
        generator = np.random.default_rng(seed)
        releases = [
            private_mean(points, ball, GDP(1.0), mechanism=name, generator=generator)
            for _ in range(400)
        ]
        dist = manifold.dist(exact, np.stack([release.value for release in releases]))
        law = releases[0].mechanism._distance_law
        if stats.kstest(dist, law.cdf).pvalue > 1e-4:
            break
    else:
        pytest.fail("distances do not follow the law")
    # about another point, or with a fifth more noise, they do not
    values = np.stack([release.value for release in releases])
    assert stats.kstest(manifold.dist(1.5 * exact, values), law.cdf).pvalue < 1e-4
    assert stats.kstest(1.2 * dist, law.cdf).pvalue < 1e-4


def test_what_cannot_be_drawn_is_not_charged():
    manifold = SPDAffineInvariant(30)
    ball = Ball(manifold, np.eye(30), 1.0)
    points = np.broadcast_to(np.eye(30), (10, 30, 30))
    budget = PureDP(0.2 / (0.985 * np.sqrt(12.0 / (30 * (30**2 - 1)))))
    ledger = Ledger()
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    with pytest.raises(riemdp.NotAttainableError, match="seconds"):
        private_mean(
            points,
            ball,
            budget,
            mechanism="riemannian-laplace",
            accountant=ledger,
            generator=generator,
        )
    assert ledger.spent == []
    assert generator.bit_generator.state == before
    release = private_mean(points, ball, budget, accountant=ledger)
    assert release.mechanism.name == "wrapped-laplace"
    assert len(ledger.spent) == 1


def test_auto_takes_the_least_expected_distance():
    ball = Ball(SPDLogEuclidean(21), np.eye(21), 2.0)
    points = points_in(ball, 30)
    assert private_mean(points, ball, PureDP(1.0)).mechanism.name == "riemannian-laplace"
    for budget, least in ((GDP(1.0), "gaussian"), (ApproxDP(1.0, 1e-6), "laplace")):
        other = {"gaussian": "laplace", "laplace": "gaussian"}[least]
        chosen = private_mean(points, ball, budget)
        others = private_mean(points, ball, budget, mechanism=f"riemannian-{other}")
        assert chosen.mechanism.name == f"riemannian-{least}"
        assert chosen.expected_distance < others.expected_distance


@pytest.mark.parametrize(("manifold", "radius"), [*SPACES, (SPDAffineInvariant(3), 1.0)])
def test_noise_depends_on_public_numbers_only(manifold, radius):
    ball = Ball(manifold, manifold.origin, radius)
    clustered = np.broadcast_to(manifold.origin, (60, *manifold.point_shape))
    first = private_mean(points_in(ball, 60, seed=1, spread=1.4), ball, PureDP(1.0))
    second = private_mean(clustered, ball, PureDP(1.0))
    assert first.sigma == second.sigma
    assert first.sensitivity == second.sensitivity
    assert first.tol == second.tol
    assert first.reason == second.reason


def test_seed_marks_the_release():
    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    points = points_in(ball, 20)
    secure = private_mean(points, ball, PureDP(1.0))
    own = private_mean(points, ball, PureDP(1.0), generator=riemdp.secure_generator())
    assert secure.private
    assert own.private
    seeded = [
        private_mean(points, ball, PureDP(1.0), generator=np.random.default_rng(3))
        for _ in range(2)
    ]
    assert not seeded[0].private
    assert np.array_equal(seeded[0].value, seeded[1].value)
    assert not np.array_equal(secure.value, own.value)


def test_a_secure_generator_on_a_seeded_stream_marks_the_release():
    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    points = points_in(ball, 20)
    releases = []
    for _ in range(2):
        generator = SecureGenerator()
        np.random.Generator.__init__(generator, np.random.PCG64(3))
        releases.append(private_mean(points, ball, PureDP(1.0), generator=generator))
    assert np.array_equal(releases[0].value, releases[1].value)  # the noise is known: no privacy
    assert not any(release.private for release in releases)


def test_release_centres_on_the_clipped_mean():
    ball = Ball(SPDLogEuclidean(2), np.eye(2), 1.0)
    points = points_in(ball, 200, spread=2.0)
    exact = riemdp.frechet_mean(ball.manifold, ball.project(points)).value
    release = private_mean(points, ball, PureDP(1e6), generator=np.random.default_rng(0))
    assert ball.manifold.dist(exact, release.value) < 20 * release.sigma
    # a control: the mean of the unclipped data is elsewhere
    unclipped = riemdp.frechet_mean(ball.manifold, points).value
    assert ball.manifold.dist(unclipped, release.value) > 1000 * release.sigma


@pytest.mark.slow
def test_measured_error_matches_the_expected_distance():
    ball = Ball(SPDLogEuclidean(3), np.eye(3), 3.0)
    points = points_in(ball, 200, spread=0.3)
    exact = riemdp.frechet_mean(ball.manifold, points).value
    generator = np.random.default_rng(5)
    errors = []
    for _ in range(400):
        release = private_mean(points, ball, PureDP(1.0), generator=generator)
        errors.append(float(ball.manifold.dist(exact, release.value)))
    # E rho = d sigma, sd = sqrt(d) sigma
    d, sigma = ball.manifold.dim, release.sigma
    assert release.expected_distance == pytest.approx(d * sigma, rel=1e-12)
    assert np.mean(errors) == pytest.approx(d * sigma, abs=4.5 * np.sqrt(d) * sigma / 20)
    beyond = np.mean(np.array(errors) > release.error_quantile(0.95))
    assert 0.01 < beyond < 0.11


def test_neighbours_give_distributions_within_the_budget():
    """Histogram test of eps on the line; with half the noise it must fail."""
    ball = Ball(Euclidean(1), [0.0], 1.0)
    n, epsilon, draws = 3, 1.0, 60_000
    first = np.full((n, 1), -1.0)
    second = first.copy()
    second[0] = 1.0
    release = private_mean(first, ball, PureDP(epsilon))
    means = [float(np.mean(first)), float(np.mean(second))]

    def worst_ratio(sigma, seed):
        mechanism = RiemannianLaplace(ball.manifold, sigma)
        generator = np.random.default_rng(seed)
        edges = np.linspace(-1.5, 1.0, 9)
        counts = [
            np.histogram(research.sample(mechanism, [m], size=draws, generator=generator), edges)[0]
            for m in means
        ]
        return float(np.max(np.log(counts[0] / counts[1])))

    assert worst_ratio(release.sigma, 0) <= epsilon + 0.1
    assert worst_ratio(release.sigma / 2, 0) > epsilon + 0.3


def test_instances_have_to_satisfy_the_budget():
    ball = Ball(SPDLogEuclidean(2), np.eye(2), 1.0)
    points = points_in(ball, 100)
    enough = TangentGaussian(ball.manifold, 1.0)
    release = private_mean(points, ball, GDP(0.5), mechanism=enough)
    assert release.mechanism is enough
    with pytest.raises(riemdp.NotAttainableError, match="too little noise"):
        private_mean(points, ball, GDP(0.5), mechanism=TangentGaussian(ball.manifold, 0.01))
    with pytest.raises(riemdp.InvalidParameterError, match="the ball for"):
        private_mean(points, ball, GDP(0.5), mechanism=TangentGaussian(Euclidean(3), 1.0))


def test_instances_have_to_belong_to_the_ball():
    sphere = Sphere(2)
    ball = Ball(sphere, [0, 0, 1], 0.5)
    points = points_in(ball, 100)
    elsewhere = TangentLaplace(sphere, 1.0, base=[1, 0, 0])
    with pytest.raises(riemdp.InvalidParameterError, match="centre of the ball"):
        private_mean(points, ball, PureDP(1.0), mechanism=elsewhere)


def test_classes_and_names_agree():
    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    points = points_in(ball, 100)
    by_name = private_mean(points, ball, PureDP(1.0), mechanism="riemannian-laplace")
    by_class = private_mean(points, ball, PureDP(1.0), mechanism=RiemannianLaplace)
    assert by_name.mechanism == by_class.mechanism


class Foreign(TangentGaussian):
    """A mechanism that nobody proved here."""


def test_foreign_mechanisms_need_allow_unproven():
    ball = Ball(Euclidean(2), [0, 0], 1.0)
    points = points_in(ball, 10)
    foreign = Foreign(ball.manifold, 5.0)
    with pytest.raises(riemdp.UnprovenMechanismError, match="allow_unproven"):
        private_mean(points, ball, GDP(0.5), mechanism=foreign)
    release = private_mean(points, ball, GDP(0.5), mechanism=foreign, allow_unproven=True)
    assert not release.proven


class Flattened(Sphere):
    """A sphere whose distances nobody proved anything about."""

    def dist(self, a, b):
        return 0.01 * super().dist(a, b)


class Generous(Ball):
    """A ball that clips nothing."""

    def project(self, points):
        return np.asarray(points)


@pytest.mark.parametrize(
    "ball",
    [Ball(Flattened(2), [0, 0, 1], 0.5), Generous(Sphere(2), [0, 0, 1], 0.5)],
    ids=["manifold", "ball"],
)
def test_foreign_spaces_and_balls_need_allow_unproven(ball):
    points = points_in(Ball(Sphere(2), [0, 0, 1], 0.5), 20)
    with pytest.raises(riemdp.UnprovenMechanismError, match=r"known of (Flattened|Generous)"):
        private_mean(points, ball, PureDP(1.0))
    release = private_mean(points, ball, PureDP(1.0), allow_unproven=True)
    assert not release.proven


class Ledger:
    def __init__(self, refuse=False):
        self.spent = []
        self.refuse = refuse

    def spend(self, guarantee, label):
        if self.refuse:
            raise riemdp.BudgetExceededError("nothing left")
        self.spent.append((guarantee, label))


def test_accountant_is_charged_once_and_before_the_draw():
    ball = Ball(Euclidean(2), [0, 0], 1.0)
    ledger = Ledger()
    private_mean(points_in(ball, 10), ball, PureDP(1.0), accountant=ledger)
    assert ledger.spent == [(PureDP(1.0), "private_mean, riemannian-laplace")]
    with pytest.raises(riemdp.ReleaseFailedError):
        private_mean([[np.nan, 0.0]], ball, PureDP(1.0), accountant=ledger)
    assert len(ledger.spent) == 2
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    with pytest.raises(riemdp.BudgetExceededError):
        private_mean(
            points_in(ball, 10),
            ball,
            PureDP(1.0),
            generator=generator,
            accountant=Ledger(refuse=True),
        )
    assert generator.bit_generator.state == before


@pytest.mark.parametrize(
    ("points", "match"),
    [
        (np.zeros((0, 3)), "empty"),
        (np.array([[0, 0, 1.0], [0, np.nan, 1.0]]), "row 1 has entries that are NaN"),
        (np.array([[0, 0, np.inf]]), "row 0 has entries that are NaN"),
        (np.array([[0, 0, 1.0], [0, 0, 2.0]]), "row 1 does not have norm"),
        (np.zeros((4, 2)), "shape"),
        (np.array([0, 0, 1.0]), "shape"),
        ([["a", "b", "c"]], "real numbers"),
    ],
)
def test_bad_data_are_named_before_anything_is_drawn(points, match):
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    with pytest.raises(riemdp.NotOnManifoldError, match=match):
        private_mean(points, ball, PureDP(1.0), generator=generator)
    assert generator.bit_generator.state == before


def test_bad_matrices_are_named():
    ball = Ball(SPDLogEuclidean(2), np.eye(2), 1.0)
    good = np.eye(2)
    with pytest.raises(riemdp.NotOnManifoldError, match="row 1 is not symmetric"):
        private_mean([good, [[1, 0.5], [0.2, 1]]], ball, PureDP(1.0))
    with pytest.raises(riemdp.NotOnManifoldError, match="row 2 is not positive definite"):
        private_mean([good, good, [[1, 2], [2, 1]]], ball, PureDP(1.0))


def test_bad_arguments_are_named():
    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    points = points_in(ball, 10)
    with pytest.raises(riemdp.InvalidParameterError, match="Ball"):
        private_mean(points, 0.5, PureDP(1.0))
    with pytest.raises(riemdp.InvalidParameterError, match="budget"):
        private_mean(points, ball, 1.0)
    with pytest.raises(riemdp.InvalidParameterError, match="unknown mechanism"):
        private_mean(points, ball, PureDP(1.0), mechanism="laplace")
    with pytest.raises(riemdp.InvalidParameterError, match="mechanism must be"):
        private_mean(points, ball, PureDP(1.0), mechanism=int)
    with pytest.raises(riemdp.InvalidBudgetError, match="pure"):
        private_mean(points, ball, PureDP(1.0), mechanism="tangent-gaussian")


def test_large_sphere_ball_has_the_tangent_mean_only():
    ball = Ball(Sphere(2), [0, 0, 1], 2.0)
    points = points_in(ball, 100)
    with pytest.raises(riemdp.UnsupportedBallError, match="radius 2 must"):
        private_mean(points, ball, PureDP(1.0), mechanism="riemannian-laplace")
    assert private_mean(points, ball, PureDP(1.0)).statistic.name == "tangent-mean"


def test_caps_next_to_the_hemisphere_are_refused_before_the_data_count():
    with pytest.raises(riemdp.UnsupportedBallError, match="certified"):
        private_mean(
            [[0.0, 0.0, 1.0]] * 5,
            Ball(Sphere(2), [0, 0, 1], 1.57),
            PureDP(1.0),
            mechanism="riemannian-laplace",
        )


def test_hyperbolic_laplace_without_a_normaliser():
    ball = Ball(Hyperbolic(2), Hyperbolic(2).origin, 1.0)
    with pytest.raises(riemdp.NotAttainableError):
        private_mean(points_in(ball, 1), ball, PureDP(0.5), mechanism="riemannian-laplace")


def test_far_hyperbolic_noise_is_projected_without_overflow(projecting):
    projecting(True)
    ball = Ball(Hyperbolic(2), Hyperbolic(2).origin, 7.5)
    mechanism = RiemannianLaplace(ball.manifold, 0.9999)
    points = points_in(ball, 100)
    generator = np.random.default_rng(0)
    for _ in range(20):
        release = private_mean(points, ball, PureDP(0.5), mechanism=mechanism, generator=generator)
        assert ball.contains(release.value)


def test_one_record():
    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    release = private_mean([[0.0, 0.0, 1.0]], ball, PureDP(1.0))
    assert release.sensitivity == pytest.approx(1.0, rel=1e-6)


def test_release_holds_nothing_private():
    ball = Ball(Euclidean(2), [0, 0], 1.0)
    points = np.array([[0.123456789, 0.3], [7.0, 9.0]])
    release = private_mean(points, ball, PureDP(1.0), generator=np.random.default_rng(0))
    mean = riemdp.frechet_mean(ball.manifold, ball.project(points)).value
    text = release.to_json() + repr(release)
    assert not any(f"{x:.8f}" in text for x in [*mean, *points.ravel()])
    assert "passes" not in text
    assert "clip" not in text


@pytest.mark.fast(
    "0.01-2.0-manifold0",
    "0.01-16.0-manifold1",
    "1000000.0-30.0-manifold0",
    "1000000.0-30.0-manifold1",
    "1000000.0-1500.0-manifold1",
)
@pytest.mark.parametrize("manifold", [SPDLogEuclidean(3), SPDAffineInvariant(3)])
@pytest.mark.parametrize("radius", [2.0, 16.0, 30.0, 1500.0])
@pytest.mark.parametrize("epsilon", [0.01, 1e6])
def test_wide_balls_of_matrices_release_finite_verifiable_matrices(manifold, radius, epsilon):
    ball = Ball(manifold, np.eye(3), radius)
    top = min(radius / np.sqrt(2.0), 14.0)
    edge = np.diag(np.exp([top, 0.0, -top]))  # a mean on the boundary, or near it
    ledger = Ledger()
    for seed in range(5):
        release = private_mean(
            np.repeat([edge], 7, axis=0),
            ball,
            PureDP(epsilon),
            generator=np.random.default_rng(seed),
            accountant=ledger,
        )
        assert np.all(np.isfinite(release.value))
        assert np.linalg.eigvalsh(release.value)[0] > 0.0
        again = riemdp.Release.from_json(release.to_json())
        assert riemdp.verify(again).passed
    assert len(ledger.spent) == 5


def test_records_on_the_boundary_never_fail_after_the_charge():
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(3, 3)))[0]
    ball = Ball(SPDLogEuclidean(3), np.eye(3), 16.0)
    edge = (rotation * np.exp(np.array([2.0, -1.0, -1.0]) * 16.0 / np.sqrt(6.0))) @ rotation.T
    ledger = Ledger()
    for _ in range(20):
        private_mean(
            np.repeat([0.5 * (edge + edge.T)], 7, axis=0), ball, PureDP(1.0), accountant=ledger
        )
    assert len(ledger.spent) == 20


def test_bad_accountant_and_mechanism_are_named():
    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    points = points_in(ball, 10)
    with pytest.raises(riemdp.InvalidParameterError, match="spend"):
        private_mean(points, ball, PureDP(1.0), accountant=object())
    for mechanism in (5, None, np.ones(2), riemdp.mechanisms.Mechanism):
        with pytest.raises(riemdp.InvalidParameterError, match="mechanism must be"):
            private_mean(points, ball, PureDP(1.0), mechanism=mechanism)


@pytest.mark.fast("manifold2-RDP(order=8.0, epsilon=0.5)")
@pytest.mark.parametrize(
    "budget",
    [
        riemdp.RDP(8.0, 0.5),
        riemdp.RDP(np.inf, 0.5),
        riemdp.KLDP(0.1),
        riemdp.MeanCDP(0.5, 0.8),
        riemdp.ZCDP(0.2),
        riemdp.RaoDP(0.3, distance="angle"),
        riemdp.RaoDP(0.3, distance="parametric"),
    ],
    ids=str,
)
@pytest.mark.parametrize("manifold", [SPDLogEuclidean(2), Sphere(2), Euclidean(1)])
def test_every_definition_is_a_budget(manifold, budget):
    ball = Ball(manifold, manifold.origin, 0.6)
    release = private_mean(points_in(ball, 50), ball, budget, generator=np.random.default_rng(0))
    assert release.guarantee == budget
    assert release.mechanism.satisfies(release.sensitivity, budget)
    weak = dataclasses.replace(release.mechanism, sigma=0.999 * release.sigma)
    assert not weak.satisfies(release.sensitivity, budget)
    again = riemdp.Release.from_json(release.to_json())
    assert again.guarantee == budget
    assert riemdp.verify(again).passed
    table = riemdp.plan(manifold, 0.6, 50, budget, target_error=0.05)
    row = table[release.mechanism.name]
    assert row.sigma == release.sigma
    assert row.required_n is not None


def test_a_spent_accountant_refuses_before_the_draw():
    ball = Ball(Sphere(2), [0, 0, 1], 0.5)
    accountant = riemdp.Accountant(PureDP(1.5))
    private_mean(points_in(ball, 20), ball, PureDP(1.0), accountant=accountant)
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    with pytest.raises(riemdp.BudgetExceededError):
        private_mean(
            points_in(ball, 20), ball, PureDP(1.0), accountant=accountant, generator=generator
        )
    assert generator.bit_generator.state == before
    assert accountant.spent == PureDP(1.0)


@pytest.mark.fast(3)
@pytest.mark.parametrize(
    "manifold", [Sphere(1), Sphere(2), Sphere(9), Hyperbolic(2), Hyperbolic(3)]
)
@pytest.mark.parametrize("budget", [PureDP(1.0), ApproxDP(1.0, 1e-6), GDP(1.0), riemdp.ZCDP(0.1)])
def test_riemannian_gaussian_on_curved_spaces(manifold, budget):
    ball = Ball(manifold, manifold.origin, 0.8)
    points = points_in(ball, 200)
    if isinstance(budget, PureDP) and isinstance(manifold, Hyperbolic):
        with pytest.raises(riemdp.InvalidBudgetError, match="no pure epsilon"):
            private_mean(points, ball, budget, mechanism="riemannian-gaussian")
        return
    release = private_mean(points, ball, budget, mechanism="riemannian-gaussian")
    assert release.proven
    assert ball.contains(release.value)
    again = riemdp.Release.from_json(release.to_json())
    assert riemdp.verify(again).passed
    less = release.to_json().replace(f"{release.sigma!r}", f"{0.999 * release.sigma!r}")
    failed = riemdp.verify(riemdp.Release.from_json(less))
    assert not {check.name: check.passed for check in failed.checks}["guarantee"]


def test_arguments_by_keyword():
    ball = Ball(Euclidean(1), [0.0], 1.0)
    points = np.linspace(-1.0, 1.0, 30)[:, None]
    options = {"mechanism": "riemannian-laplace"}
    by_name = private_mean(
        points=points,
        ball=ball,
        budget=PureDP(1.0),
        generator=np.random.default_rng(1),
        **options,
    )
    same = private_mean(points, ball, PureDP(1.0), generator=np.random.default_rng(1), **options)
    assert by_name.value == same.value
