import numpy as np

from riemdp import (
    GDP,
    Ball,
    Euclidean,
    PlanarShapes,
    Power,
    ProductBall,
    PureDP,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    private_directional_summary,
    private_mean,
    private_means,
    private_moments,
    private_variance,
    verify,
)
from riemdp.release import Check, Verification

SPACE = SPDLogEuclidean(2)
BALL = Ball(SPACE, np.eye(2), 1.0)
NEAR = np.stack([np.eye(2) * 1.1] * 400)


def made(points, ball=BALL, budget=GDP(1.0), **options):  # noqa: B008
    return private_mean(points, ball, budget, generator=np.random.default_rng(3), **options)


def said(release, words):
    return any(words in text for text in release.warnings)


def test_records_in_other_units_put_the_value_at_the_boundary():
    """Volts squared in a ball of microvolts squared: nothing else tells."""
    assert said(made(NEAR * 1e12), "look at the centre, the radius and the units")
    assert not said(made(NEAR), "boundary")


def test_units_that_matrices_are_often_in_are_named():
    """The value lies where another unit puts it, on the one side or the other."""
    volts, larger = "covariances in microvolts squared are 1e12 times", "with all entries larger"
    assert said(made(NEAR * 1e12), volts)
    assert said(made(NEAR * 1e12), larger)
    assert said(made(NEAR * 1e-3), "with all entries smaller alike")
    turned = made(np.tile(np.diag([9.0, 1.0 / 9.0]), (400, 1, 1)))  # of the same determinant
    assert said(turned, volts)
    assert not said(turned, "alike")
    for space in (SPDLogCholesky(2), SPDPower(2)):  # where a unit moves no factor of the space
        ball = Ball(space, np.eye(2), 0.5)
        assert said(made(NEAR * 1e12, ball), volts)
        assert not said(made(NEAR * 1e12, ball), "alike")


def test_other_spaces_have_no_units_of_matrices():
    plane = made(np.full((400, 2), 9.0), Ball(Euclidean(2), np.zeros(2), 1.0))
    assert said(plane, "radius and the units")
    assert not said(plane, "volts")


def test_a_draw_that_was_not_projected_is_seen_too():
    space = Euclidean(3)
    ball = Ball(space, np.zeros(3), 5.0)
    release = made(np.full((400, 3), 4e6), ball, project=False)
    assert said(release, "at its boundary")
    assert not said(made(np.full((400, 3), 0.5), ball, project=False), "boundary")


def test_noise_longer_than_the_radius_is_said():
    release = made(NEAR[:2], budget=PureDP(0.1))
    assert release.expected_distance > 1.0
    assert said(release, "this release is noise")
    assert not said(made(NEAR[:40], budget=PureDP(1.0)), "this release is noise")


def test_means_of_several_factors_are_not_at_a_boundary():
    many = Power(SPACE, 3)
    ball = ProductBall(many, many.origin, rms_radius=1.0)
    points = np.broadcast_to(1e9 * np.eye(2), (400, 3, 2, 2))
    assert not said(made(points, ball), "boundary")


def test_sums_of_features_lie_in_no_ball_of_points():
    assert not said(private_variance(NEAR * 1e9, BALL, GDP(1.0)), "boundary")


def test_its_text_says_what_matters_first():
    release = made(NEAR)
    lines = str(release).splitlines()
    assert lines[0] == "Private frechet-mean"
    text = " ".join(str(release).split())
    for words in (
        "guarantee GDP(mu=1.0), replace-one",
        "n 400",
        "private NO: the noise was seeded",
        "without the bias of clipping",
        "arithmetic exact",
    ):
        assert words in text
    assert max(map(len, lines)) <= 120
    assert repr(release.value[0, 0]) not in text  # seventeen digits are for documents


def test_a_private_number_of_records_is_not_in_it():
    text = str(made(NEAR, adjacency="add-remove"))
    assert "400" not in text
    assert "private" in text


def test_values_with_names_have_a_line_each():
    text = str(private_moments(NEAR, BALL, GDP(1.0)))
    assert "second_moment" in text
    assert "mean" in text


def test_notebooks_get_a_table():
    page = made(NEAR)._repr_html_()
    assert page.startswith("<table>")
    assert "GDP(mu=1.0)" in page
    assert "[[1" in BALL._repr_html_()
    assert "radius" in str(BALL)


def test_landmarks_of_a_shape_are_shown_with_both_coordinates():
    shapes = PlanarShapes(3)
    release = made([shapes.origin] * 50, Ball(shapes, shapes.origin, 0.3))
    assert np.iscomplexobj(release.value)
    second = release.value[1]
    assert f"{second:.4g}" in str(release)
    assert f"{second.imag:.4g}".lstrip("-") in release._repr_html_()


def test_a_verification_reads_as_a_list_of_its_checks():
    text = str(verify(made(NEAR)))
    assert text.startswith("Verified\n")
    assert "holds: replace-one, n = 400" in text
    assert "NOT verified" in str(Verification((Check("a", False, "b"),)))


def test_the_whole_of_a_space_has_no_radius():
    directions = np.tile([0.0, 0.0, 1.0], (400, 1))
    release = private_directional_summary(directions, GDP(1.0), generator=np.random.default_rng(3))
    assert "the whole of it" in str(release)
    assert "radius inf" not in str(release)


def test_means_of_groups_have_a_line_for_each_and_no_markup():
    groups = {"<script>": NEAR, "other": NEAR * 1e12}
    found = private_means(groups, BALL, GDP(1.0), generator=np.random.default_rng(3))
    assert "other" in str(found)
    assert "GDP(mu=1.0), of all together" in str(found)
    assert "at its boundary" in str(found)
    assert "&lt;script&gt;" in found._repr_html_()
    assert "<script" not in found._repr_html_()


def test_the_text_names_the_adjacency_once():
    ball = Ball(Euclidean(1), [0.0], 1.0)
    release = private_mean(np.zeros((9, 1)), ball, GDP(1.0), adjacency="add-remove")
    assert str(release).count("add-remove") == 1
