import functools
import inspect
import warnings
from pathlib import Path

import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Accountant,
    Ball,
    Euclidean,
    PlanarShapes,
    Power,
    ProductBall,
    PublicWarning,
    PureDP,
    Records,
    Release,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    private_directional_summary,
    private_mean,
    private_means,
    private_moments,
    private_statistic,
    private_variance,
    verify,
)
from riemdp.release import Check, Verification
from riemdp.statistics import ClassMoments, FrechetMean, Moments, Recentred
from riemdp.workers import private_mean as distributed_mean
from riemdp.workers import private_statistic as distributed_statistic

SPACE = SPDLogEuclidean(2)
BALL = Ball(SPACE, np.eye(2), 1.0)
NEAR = np.stack([np.eye(2) * 1.1] * 400)


def made(points, ball=BALL, budget=GDP(1.0), **options):  # noqa: B008
    return private_mean(points, ball, budget, generator=np.random.default_rng(3), **options)


def said(release, words):
    return any(words in text for text in release.warnings)


def test_records_in_other_units_put_the_value_at_the_boundary():
    """Volts squared in a ball of microvolts squared: nothing else tells."""
    assert said(made(NEAR * 1e12), "check the centre, the radius and the units")
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


def test_a_draw_that_was_not_projected_is_seen_too(projecting):
    projecting(False)
    space = Euclidean(3)
    ball = Ball(space, np.zeros(3), 5.0)
    release = made(np.full((400, 3), 4e6), ball)
    assert said(release, "at its boundary")
    assert not said(made(np.full((400, 3), 0.5), ball), "boundary")


def test_noise_longer_than_the_radius_is_said():
    release = made(NEAR[:2], budget=PureDP(0.1))
    assert release.expected_distance > 1.0
    assert said(release, "this release is noise")
    assert not said(made(NEAR[:40], budget=PureDP(1.0)), "this release is noise")


def test_means_of_several_factors_are_at_a_boundary_too():
    """As a whole, where records are clipped so; else factor by factor."""
    many = Power(SPACE, 3)
    points = np.broadcast_to(1e9 * np.eye(2), (400, 3, 2, 2)).copy()
    whole = ProductBall(many, many.origin, rms_radius=1.0)
    assert said(made(points, whole), "at its boundary")
    assert said(made(points, whole), "covariances in microvolts squared")
    each = ProductBall(many, many.origin, radii=1.0)
    assert said(made(points, each), "(as in 3 of 3 factors)")
    points[:, 1:] = np.eye(2)
    assert said(made(points, each), "(as in 1 of 3 factors)")
    points[:, 0] = 1.1 * np.eye(2)
    assert not said(made(points, each), "boundary")
    assert not said(made(points, whole), "boundary")


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


LINE = Ball(Euclidean(1), np.zeros(1), 1.0)
PLANE = Ball(Euclidean(2), np.zeros(2), 1.0)
#: Covariances of eight channels, in a ball about 10 microvolts squared.
EEG = Ball(SPDLogEuclidean(8), 10.0 * np.eye(8), 12.0)
UNITS = "the radius and the units"


def at(ball, length, n):
    """Records at one point, so far from the centre."""
    point = ball.manifold.point(ball.center, np.eye(ball.manifold.dim)[0] * length)
    return np.repeat(point[None], n, axis=0)


def share(released, draws):
    """Share of draws that blame the ball or the units."""
    found = (released(np.random.default_rng(seed)) for seed in range(draws))
    return sum(said(release, UNITS) for release in found) / draws


@pytest.mark.fast("Euclidean(dim=2)-PureDP(epsilon=2.0)")
@pytest.mark.parametrize("budget", [GDP(2.0), PureDP(2.0)], ids=str)
@pytest.mark.parametrize("ball", [LINE, PLANE, BALL], ids=lambda ball: str(ball.manifold))
def test_records_that_are_all_outside_are_noticed_in_nearly_every_draw(ball, budget):
    """A value falls short of the boundary by its noise in half of the draws."""
    far, half = at(ball, 69.0, 500), at(ball, 0.5, 500)
    mean = functools.partial(private_mean, ball=ball, budget=budget)
    assert share(lambda generator: mean(far, generator=generator), 200) >= 0.99
    assert share(lambda generator: mean(half, generator=generator), 200) == 0.0


def _classes(points, statistic, **options):
    labels = np.resize(["feet", "fists"], len(points))
    return private_statistic(statistic, Records(points, labels=labels), EEG, **options)


#: Releases of several answers or parts, of points in the ball EEG.
PARTS = {
    "moments": functools.partial(private_moments, ball=EEG),
    "re-centred moments": functools.partial(private_moments, ball=EEG, base="recentred"),
    "classes": functools.partial(_classes, statistic=ClassMoments(("feet", "fists"))),
    "re-centred classes": functools.partial(
        _classes, statistic=Recentred(ClassMoments(("feet", "fists"), "matrix"))
    ),
    "refined": functools.partial(private_mean, ball=EEG, method="refined"),
}


@pytest.mark.fast(2)
@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
@pytest.mark.parametrize("name", PARTS)
def test_volts_are_noticed_in_means_of_every_kind(name, adjacency):
    """Covariances of volts squared lie at distance 69 from those of microvolts squared."""
    microvolts = at(EEG, 5.0, 100)
    made = functools.partial(PARTS[name], budget=GDP(8.0), adjacency=adjacency)
    volts = 1e-12 * microvolts
    assert share(lambda generator: made(volts, generator=generator), 10) == 1.0
    assert share(lambda generator: made(microvolts, generator=generator), 10) == 0.0


@pytest.mark.slow
def test_class_means_that_noise_has_moved_do_not_blame_the_units():
    groups = {"feet": at(EEG, 5.0, 40), "fists": at(EEG, -5.0, 40)}
    assert share(lambda g: private_means(groups, EEG, GDP(0.5), generator=g), 20) == 0.0
    means = private_means(groups, EEG, GDP(0.5), generator=np.random.default_rng(0))
    assert said(means, "noise alone may have put it there")
    records = np.concatenate([*groups.values()])  # in one release each class has its noise
    classes = functools.partial(PARTS["classes"], records, budget=GDP(0.5))
    assert share(lambda generator: classes(generator=generator), 20) == 0.0


def test_a_class_outside_is_named():
    points = np.concatenate([at(PLANE, 0.3, 400), at(PLANE, 69.0, 400)])
    records = Records(points, labels=np.repeat([0, 7], 400))
    release = private_statistic(
        ClassMoments((0, 7)), records, PLANE, GDP(1.0), generator=np.random.default_rng(3)
    )
    assert said(release, "the mean of class 7 lies")
    assert not said(release, "the mean of class 0 lies")


def test_a_ball_that_was_found_is_held_against_the_public_one():
    far, near = at(PLANE, 69.0, 2000), at(PLANE, 0.4, 2000)
    assert said(made(far, PLANE, method="adaptive"), UNITS)
    assert not said(made(near, PLANE, method="adaptive"), UNITS)


def made_by(function, *points, **options):
    return lambda generator: function(*points, PLANE, GDP(1.0), generator=generator, **options)


POINTS, DIRECTIONS = at(PLANE, 0.3, 400), np.tile([0.0, 0.0, 1.0], (400, 1))
LANDMARKS = np.random.default_rng(0).normal(size=(50, 4, 2))
FILE = Path("points.npy")
#: What makes a release, by the name of the function that does.
MAKES = {
    "riemdp.private_mean": made_by(private_mean, POINTS),
    "riemdp.private_ball": made_by(riemdp.private_ball, POINTS),
    "riemdp.private_median": made_by(riemdp.private_median, POINTS),
    "riemdp.private_huber": made_by(riemdp.private_huber, POINTS),
    "riemdp.private_moments": made_by(private_moments, POINTS),
    "riemdp.private_variance": made_by(private_variance, POINTS),
    "riemdp.private_statistic": made_by(private_statistic, FrechetMean(), POINTS),
    "riemdp.private_means": made_by(private_means, {"a": POINTS, "b": 0.5 * POINTS}),
    "riemdp.private_directional_summary": lambda generator: private_directional_summary(
        DIRECTIONS, GDP(1.0), generator=generator
    ),
    "riemdp.private_rotation_mean": lambda generator: riemdp.private_rotation_mean(
        np.tile(np.eye(3), (400, 1, 1)), GDP(1.0), generator=generator
    ),
    "riemdp.private_procrustes_mean": lambda generator: riemdp.private_procrustes_mean(
        LANDMARKS, GDP(1.0), generator=generator
    ),
    "riemdp.combine": lambda generator: riemdp.combine([silently(generator), silently(generator)]),
    "riemdp.workers.private_mean": made_by(distributed_mean, FILE, client=map),
    "riemdp.workers.private_statistic": made_by(distributed_statistic, Moments(), FILE, client=map),
    "riemdp.Release.shrink": lambda generator: silently(generator, NEAR, BALL).shrink(),
    "riemdp.Release.denoise": lambda generator: silently(generator, *VOXELS).denoise(grid=(2, 2)),
}
FIELD = Power(Euclidean(2), 4)
VOXELS = np.full((400, 4, 2), 0.3), ProductBall(FIELD, FIELD.origin, rms_radius=1.0)
RESULTS = "Combination", "Denoised", "PrivateBall", "PrivateMeans", "Release"


def silently(generator, points=POINTS, ball=PLANE):
    """Make a release whose warnings are none of the test's."""
    kind = "tangent-gaussian"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PublicWarning)
        return private_mean(points, ball, GDP(1.0), mechanism=kind, generator=generator)


def test_every_function_that_makes_a_release_is_among_these():
    found = {}
    for home in (riemdp, riemdp.workers):
        for public in home.__all__:
            each = getattr(home, public)
            found[f"{home.__name__}.{public}"] = each
            if inspect.isclass(each):
                methods = inspect.getmembers(each, inspect.isfunction)
                found |= {f"riemdp.{public}.{name}": method for name, method in methods}
    made = {
        name
        for name, each in found.items()
        if inspect.isfunction(each)
        and inspect.signature(each).return_annotation in RESULTS
        and not name.rpartition(".")[2].startswith("_")
    }
    assert made == set(MAKES)


@pytest.mark.parametrize("name", MAKES)
def test_every_one_issues_its_warnings_once_where_it_was_called(name, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    np.save(FILE, POINTS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = MAKES[name](np.random.default_rng(3))
    issued = [each for each in caught if each.category is PublicWarning]
    texts = [str(each.message) for each in issued]
    assert issued
    assert len(set(texts)) == len(texts)
    before = silently(np.random.default_rng(3)).warnings if "Release." in name else ()
    assert set(texts) == set(found.warnings) - set(before)
    assert {each.filename for each in issued} == {__file__}
    assert all(each.message.release is found for each in issued)


@pytest.mark.filterwarnings("error")
def test_what_fits_well_is_released_without_a_word():
    assert private_mean(POINTS, PLANE, GDP(1.0)).warnings == ()


@pytest.mark.filterwarnings("error")
def test_a_filter_that_raises_loses_no_release():
    account = Accountant(GDP(1.0))
    with pytest.raises(PublicWarning) as caught:
        private_mean(at(PLANE, 69.0, 400), PLANE, GDP(1.0), accountant=account)
    release = caught.value.release
    assert isinstance(release, Release)
    assert verify(release).passed
    assert str(caught.value) in release.warnings
    assert account.spent == GDP(1.0)


def test_a_remark_that_fails_costs_no_release(monkeypatch):
    monkeypatch.setattr(FrechetMean, "caveat", property(lambda self: 1 / 0))
    assert private_mean(POINTS, PLANE, GDP(1.0)).n == 400


def test_a_charge_that_comes_first_hides_no_warning():
    def records():
        warnings.warn("of a record", stacklevel=1)
        return at(PLANE, 69.0, 400)

    account = Accountant(GDP(1.0))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        private_mean(records, PLANE, GDP(1.0), accountant=account, n=400)
    assert [each.category for each in caught] == [PublicWarning]
