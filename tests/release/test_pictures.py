import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Ball,
    Euclidean,
    InvalidParameterError,
    PureDP,
    Release,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    UnsupportedError,
    private_mean,
)
from riemdp.release._pictures import PROBABILITIES

figure = pytest.importorskip("matplotlib.figure")


def new():
    return figure.Figure().add_subplot()


def released(space, budget, n=50, **options):
    ball = Ball(space, space.origin, 0.5)
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.1, (n, space.dim)))
    kind = "tangent-gaussian" if isinstance(budget, GDP) else "tangent-laplace"
    options.setdefault("mechanism", kind)
    return private_mean(points, ball, budget, **options)


def drawn(ax):
    """Everything that is drawn, in the insets too."""
    every = [ax, *ax.child_axes]
    lines = [np.array(line.get_data()) for one in every for line in getattr(one, "lines", ())]
    return [*lines, *(patch.get_xy() for patch in ax.patches)]


def test_the_law_is_that_of_the_noise():
    release = released(Sphere(2), GDP(1.0), mechanism="tangent-gaussian")
    ax = release.plot(new(), view="error")
    distances, probabilities = ax.lines[0].get_data()
    np.testing.assert_array_equal(probabilities, PROBABILITIES)
    rayleigh = release.sigma * np.sqrt(-2.0 * np.log1p(-probabilities))
    np.testing.assert_allclose(distances, rayleigh, rtol=1e-9, atol=1e-12)
    assert not np.allclose(distances, 1.01 * rayleigh)
    lines = {line.get_label().split()[0]: line.get_xdata()[0] for line in ax.lines[1:]}
    assert lines["median"] == release.error_quantile(0.5)
    assert lines["95"] == release.error_quantile(0.95)
    assert lines["expected"] == release.expected_distance
    assert "degrees" in ax.get_legend().get_texts()[1].get_text()
    assert len(ax.child_axes) == 1  # in degrees


@pytest.mark.parametrize(
    ("space", "budget", "view"),
    [
        (Sphere(2), GDP(1.0), "value"),
        (Sphere(2), PureDP(1.0), "error"),
        (SPDLogEuclidean(2), GDP(1.0), "value"),
        (SPDLogEuclidean(3), GDP(1.0), "value"),
        (Euclidean(2), PureDP(1.0), "auto"),
    ],
    ids=str,
)
def test_nothing_is_drawn_that_is_not_in_the_document(space, budget, view):
    release = released(space, budget)
    read = Release.from_json(release.to_json())
    first, again = (one.plot(new(), view=view) for one in (release, read))
    assert len(drawn(first)) == len(drawn(again)) > 0
    for one, other in zip(drawn(first), drawn(again), strict=True):
        np.testing.assert_array_equal(one, other)
    assert first.get_title() == again.get_title()
    another = drawn(released(space, budget, n=51).plot(new(), view=view))
    assert any(not np.array_equal(x, y) for x, y in zip(drawn(first), another, strict=True))


def test_the_value_has_a_picture_where_its_space_has():
    assert not released(Sphere(2), GDP(1.0)).plot(new()).axison
    assert released(Sphere(3), GDP(1.0)).plot(new()).get_ylabel()
    assert released(Sphere(2), GDP(1.0)).plot(new(), view="error").get_ylabel()
    with pytest.raises(UnsupportedError, match="has no picture"):
        released(Sphere(3), GDP(1.0)).plot(new(), view="value")
    with pytest.raises(InvalidParameterError, match="view"):
        released(Sphere(2), GDP(1.0)).plot(new(), view="both")


def test_a_refused_picture_leaves_no_figure():
    plt = pytest.importorskip("matplotlib.pyplot")
    before = plt.get_fignums()
    with pytest.raises(UnsupportedError):
        released(Sphere(3), GDP(1.0)).plot(view="value")
    assert plt.get_fignums() == before


def test_the_region_holds_what_noise_reaches():
    release = released(SPDLogEuclidean(2), GDP(1.0))
    ax = release.plot(new())
    thin = np.array(ax.lines[0].get_data()).reshape(2, 18, -1)[:, :, :-2]
    matrices = 2.0 * np.einsum("imk,jmk->mij", thin, thin) / thin.shape[-1]
    far = release.ball.manifold.dist(release.value, matrices)
    np.testing.assert_allclose(far, release.error_quantile(0.95), rtol=1e-6)
    assert f"95 % of the noise, {release.error_quantile(0.95):.3g}" in ax.get_title()


def test_lengths_in_a_tangent_space_are_not_called_distances():
    release = released(SPDAffineInvariant(2), GDP(1.0), mechanism="tangent-gaussian")
    assert "tangent space" in release.plot(new(), view="error").get_xlabel()
    bound = release.mechanism.expected_distance_in(release.ball)
    assert bound > release.expected_distance
    ax = release.plot(new())
    assert f"expected at most {bound:.3g}" in ax.get_title()


def test_a_picture_says_that_a_release_is_not_private_or_was_shrunk():
    release = released(SPDLogEuclidean(2), GDP(1.0), generator=np.random.default_rng(0))
    assert "NOT PRIVATE" in release.plot(new()).get_title()
    shrunk = released(SPDLogEuclidean(2), GDP(1.0)).shrink()
    ax = shrunk.plot(new())
    assert "shrunk" in ax.get_title()
    assert not np.size(ax.lines[0].get_xdata())
    assert "before it was shrunk" in shrunk.plot(new(), view="error").get_title()


@pytest.mark.slow
@pytest.mark.parametrize("view", ["auto", "error"])
@pytest.mark.parametrize(
    "make",
    [
        lambda x, b: riemdp.private_mean(x, b, PureDP(1.0)),
        lambda x, b: riemdp.private_mean(x, b, GDP(1.0), mechanism="wrapped-gaussian"),
        lambda x, b: riemdp.private_mean(x, b, GDP(1.0), adjacency="add-remove"),
        lambda x, b: riemdp.private_median(x, b, GDP(1.0)),
        lambda x, b: riemdp.private_variance(x, b, GDP(1.0)),
        lambda x, b: riemdp.private_moments(x, b, GDP(1.0)),
        lambda x, b: riemdp.private_mean(x, b, GDP(1.0), method="adaptive"),
    ],
)
@pytest.mark.parametrize("space", [Sphere(2), SPDLogEuclidean(3), SPDAffineInvariant(2)], ids=str)
def test_every_release_can_be_drawn(space, make, view):
    ball = Ball(space, space.origin, 0.5)
    points = ball.point(np.random.default_rng(0).normal(0.0, 0.1, (500, space.dim)))
    try:
        release = make(points, ball)
    except UnsupportedError as error:
        pytest.skip(str(error))
    try:
        release.error_quantile(0.5)
    except UnsupportedError:
        with pytest.raises(UnsupportedError):
            release.plot(new(), view="error")
        return
    ax = release.plot(new(), view=view)
    ax.figure.draw_without_rendering()
    assert ax.get_title()
