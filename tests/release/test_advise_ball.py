import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Ball,
    Euclidean,
    Grassmann,
    InvalidParameterError,
    NotOnManifoldError,
    Power,
    PureDP,
    Rotations,
    SPDLogEuclidean,
    Sphere,
    Torus,
    UnsupportedError,
    advise_ball,
    private_mean,
)


@pytest.fixture
def heavy():
    """Public points and private records with heavy tails, of means a public guess apart."""

    def drawn(seed, n):
        generator = np.random.default_rng(seed)
        return generator.standard_t(4, size=(n, 6))

    return drawn


def measured(ball, records, budget):
    """Root mean square error of releases on a ball."""
    generator = np.random.default_rng(7)
    squares = []
    for x in records:
        value = private_mean(x, ball, budget, generator=generator).value
        squares.append(np.sum((value - x.mean(axis=0)) ** 2))
    return np.sqrt(np.mean(squares))


@pytest.mark.fast(1)
@pytest.mark.parametrize(("n", "budget"), [(50, GDP(1.0)), (200, PureDP(1.0))])
def test_the_advised_radius_has_the_error_that_it_says_and_others_have_more(heavy, n, budget):
    space, public = Euclidean(6), heavy(1, 400)
    advice = advise_ball(public, n, budget, manifold=space)
    off = advice.shift / np.sqrt(6.0)

    records = [heavy(100 + repeat, n) + off for repeat in range(25)]

    def error(radius):
        return measured(Ball(space, public.mean(axis=0), radius), records, budget)

    far = np.linalg.norm(public - public.mean(axis=0), axis=1)
    best = error(advice.best.radius)
    assert best == pytest.approx(advice.best.error, rel=0.3)
    assert 1.15 * best < error(np.median(far))
    assert 1.1 * best < error(np.quantile(far, 0.95))


def test_it_is_about_the_mean_of_the_points(heavy):
    public = heavy(2, 50)
    advice = advise_ball(public, 100, GDP(1.0), manifold=Euclidean(6))
    np.testing.assert_allclose(advice.ball.center, public.mean(axis=0), atol=1e-9)
    assert advice.ball.radius == advice.best.radius
    assert advice.points == 50


def test_more_records_ask_for_a_larger_ball(heavy):
    public = heavy(3, 300)
    radii = [
        advise_ball(public, n, PureDP(1.0), manifold=Euclidean(6)).best.radius
        for n in (50, 500, 5000)
    ]
    assert radii == sorted(radii)
    assert radii[-1] > 1.5 * radii[0]


def test_the_bias_is_that_of_clipping_shifted_points():
    """Two opposite points: moved by s along their line, the mean after clipping is known."""
    points = np.array([[1.0], [-1.0]] * 5000)  # so many that the variance of the mean is nothing
    advice = advise_ball(points, 100, GDP(1.0), manifold=Euclidean(1), shift=0.5)
    assert advice.shift == 0.5
    for row in advice.rows:
        # records at 1.5 and -0.5, and the other way round
        mean = 0.5 * (min(1.5, row.radius) - min(0.5, row.radius))
        assert row.bias == pytest.approx(0.5 - mean, abs=1e-3)
        assert row.clipped == float(row.radius < 1.0)
    assert advice.rows[-1].radius == pytest.approx(1.5)


def test_where_nothing_can_be_learned_it_says_so(heavy):
    advice = advise_ball(heavy(4, 100), 2, PureDP(0.1), manifold=Euclidean(6))
    assert "the public centre alone is about as good" in str(advice)
    enough = advise_ball(heavy(4, 100), 10**5, PureDP(0.1), manifold=Euclidean(6))
    assert "the public centre alone" not in str(enough)
    assert "<- advised" in str(enough)
    few = advise_ball(heavy(4, 8), 10**5, PureDP(0.1), manifold=Euclidean(6))
    assert "8 public points say little" in str(few)


@pytest.mark.parametrize(
    ("space", "spread"),
    [
        (Sphere(2), 0.4),
        (Rotations(), 0.3),
        (SPDLogEuclidean(3), 0.4),
        (Torus(2), 0.4),
        (Grassmann(2, 5), 0.15),
        (Power(SPDLogEuclidean(2), 2), 0.3),
    ],
    ids=str,
)
def test_it_advises_on_every_kind_of_space(space, spread):
    generator = np.random.default_rng(11)
    coordinates = spread * generator.normal(size=(60, space.dim))
    points = np.array([space.point(space.origin, one) for one in coordinates])
    advice = advise_ball(points, 500, PureDP(1.0), manifold=space)
    assert 0.0 < advice.best.radius <= space.diameter
    assert 0.0 <= advice.best.clipped < 0.7
    release = private_mean(points, advice.ball, PureDP(1.0), generator=generator)
    assert release.ball.radius == advice.best.radius


def test_radii_that_a_space_does_not_allow_are_left_out():
    generator = np.random.default_rng(12)
    points = generator.normal(size=(200, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    advice = advise_ball(points, 100, PureDP(1.0), manifold=Sphere(2))
    assert all(row.radius < np.pi for row in advice.rows)


def test_what_no_mechanism_satisfies_is_refused():
    points = np.eye(3)[:, :, None]
    with pytest.raises(UnsupportedError, match="at any radius"):
        advise_ball(points, 10, riemdp.KLDP(1e-300), manifold=Grassmann(1, 3))


@pytest.mark.slow
def test_what_a_tangent_mean_misses_on_a_sphere_is_in_the_error():
    """With so many records noise is nothing: what is left is that the two means differ."""
    generator = np.random.default_rng(13)
    spread = 0.35 * generator.normal(size=(300, 2))
    space = Sphere(2)
    public = np.array([space.point(space.origin, one) for one in spread])
    advice = advise_ball(public, 10**6, GDP(1.0), manifold=space)
    assert advice.best.noise < 1e-4
    assert 0.004 < advice.best.error < 0.03
    small = advise_ball(public, 10**6, GDP(1.0), manifold=space, shift=0.01)
    assert small.best.error < 0.2 * advice.best.error


def test_points_that_differ_by_rounding_alone_are_the_same():
    space = Rotations()
    one = space.point(space.origin, np.array([0.3, -0.2, 0.1]))
    with pytest.raises(NotOnManifoldError, match="all the same"):
        advise_ball(np.stack([one] * 5), 100, GDP(1.0), manifold=space)


def test_a_mean_cannot_lie_farther_off_than_the_space_is_wide():
    with pytest.raises(InvalidParameterError, match="longer than any distance"):
        advise_ball(np.eye(3), 100, PureDP(1.0), manifold=Sphere(2), shift=3.2)


def test_few_points_do_not_hide_the_bias():
    advice = advise_ball(np.eye(2), 10, PureDP(1.0), manifold=Euclidean(2))
    assert advice.rows[0].bias > 0.5 * advice.shift


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"points": [[1.0, 2.0]]}, NotOnManifoldError, "one public point"),
        ({"points": [[1.0, 2.0]] * 9}, NotOnManifoldError, "all the same"),
        ({"points": [[1.0, np.nan], [0.0, 0.0]]}, NotOnManifoldError, "row 0"),
        ({"points": []}, NotOnManifoldError, "shape"),
        ({"n": 0}, InvalidParameterError, "number of private records"),
        ({"shift": 0.0}, InvalidParameterError, "shift"),
        ({"shift": np.inf}, InvalidParameterError, "shift"),
        ({"manifold": "sphere"}, InvalidParameterError, "manifold"),
        ({"budget": 1.0}, InvalidParameterError, "budget"),
    ],
)
def test_bad_arguments_are_refused(change, error, message):
    given = {"points": np.eye(2), "n": 10, "budget": GDP(1.0), "manifold": Euclidean(2)} | change
    with pytest.raises(error, match=message):
        advise_ball(given.pop("points"), given.pop("n"), given.pop("budget"), **given)


def test_its_table_is_one_in_notebooks_and_a_frame():
    pandas = pytest.importorskip("pandas")
    points = np.random.default_rng(0).normal(size=(40, 2))
    advice = riemdp.advise_ball(points, 200, riemdp.GDP(1.0), manifold=riemdp.Euclidean(2))
    page = advice._repr_html_()
    assert page.count("<tr>") == 1 + len(advice.rows)
    assert page.count("advised") == 1
    assert advice.notes[0] in page
    found = advice.to_frame()
    assert isinstance(found, pandas.DataFrame)
    assert found["error"].tolist() == [row.error for row in advice.rows]
    assert f"noise          {advice.best.noise:.4g}" in str(advice.best)
