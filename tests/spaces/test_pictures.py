import numpy as np
import pytest

from riemdp import (
    Euclidean,
    Hyperbolic,
    Power,
    Rotations,
    SPDAffineInvariant,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
)
from riemdp.spaces import _pictures

figure = pytest.importorskip("matplotlib.figure")


@pytest.fixture
def ax():
    return figure.Figure().add_subplot()


def lines(ax, label):
    return [line for line in ax.lines if line.get_label() == label]


@pytest.mark.parametrize("curvature", [1.0, 0.25])
@pytest.mark.parametrize("angle", [0.2, 1.2, 1.7])
@pytest.mark.parametrize("point", [[0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [-0.48, 0.6, 0.64]])
def test_the_region_on_a_globe_ends_at_its_angle(ax, curvature, angle, point):
    space, point = Sphere(2, curvature), np.array(point)
    scale = np.sqrt(curvature)
    assert space.draw(ax, point / scale, angle / scale) is ax
    (edge,) = lines(ax, "at the distance")
    seen = np.array(edge.get_data())
    seen = seen[:, np.isfinite(seen[0])]
    depth = np.sqrt(np.maximum(1.0 - np.sum(seen**2, axis=0), 0.0))
    on_globe = _pictures._view(point).T @ np.vstack([seen, depth])
    cosines = point @ on_globe
    assert cosines.size
    np.testing.assert_allclose(cosines, np.cos(angle), atol=1e-6)
    assert not np.allclose(cosines, np.cos(1.05 * angle), atol=1e-3)
    (dot,) = lines(ax, "released")
    middle = _pictures._view(point) @ point
    np.testing.assert_allclose(np.array(dot.get_data())[:, 0], middle[:2], atol=1e-12)
    assert middle[2] > 0.7  # it is in front


def test_a_cap_across_the_limb_is_filled_to_the_limb(ax):
    Sphere(2).draw(ax, np.array([0.0, 0.0, 1.0]), 1.2)
    corners = ax.patches[0].get_xy()
    lengths = np.hypot(*corners.T)
    assert np.max(lengths) == pytest.approx(1.0)
    assert np.sum(np.isclose(lengths, 1.0)) > 50


@pytest.mark.parametrize(
    "space",
    [SPDLogEuclidean(2), SPDAffineInvariant(2), SPDLogCholesky(2), SPDPower(2)],
    ids=str,
)
def test_ellipses_are_matrices_at_the_distance(ax, space):
    point = np.array([[2.0, 0.3], [0.3, 1.0]])
    assert space.draw(ax, point, 0.2) is ax
    (outline,) = lines(ax, "released")
    xy = np.array(outline.get_data())
    np.testing.assert_allclose(np.einsum("ik,ij,jk->k", xy, np.linalg.inv(point), xy), 1.0)
    (thin,) = lines(ax, "at the distance")
    broken = np.array(thin.get_data()).reshape(2, 18, -1)
    assert np.isnan(broken[:, :, -1]).all()
    turns = broken[:, :, :-2]  # the last one is the first again
    matrices = 2.0 * np.einsum("imk,jmk->mij", turns, turns) / turns.shape[-1]
    np.testing.assert_allclose(space.dist(point, matrices), 0.2, rtol=1e-6)
    np.testing.assert_allclose(np.max(turns[0] ** 2, axis=1), matrices[:, 0, 0], rtol=1e-3)
    x_limits = ax.get_xlim()
    assert x_limits[0] < np.nanmin(broken) < np.nanmax(broken) < x_limits[1]


def test_an_ellipsoid_has_three_shadows(ax):
    point = np.diag([1.0, 2.0, 3.0])
    assert SPDLogEuclidean(3).draw(ax, point, 0.1) is ax
    widths = [np.max(inset.lines[1].get_data(), axis=1) ** 2 for inset in ax.child_axes]
    np.testing.assert_allclose(widths, [[1.0, 2.0], [1.0, 3.0], [2.0, 3.0]], rtol=1e-3)


def test_without_a_radius_there_is_the_point_alone(ax):
    SPDLogEuclidean(2).draw(ax, np.eye(2), 0.0)
    assert not np.size(lines(ax, "at the distance")[0].get_xdata())
    other = figure.Figure().add_subplot()
    Sphere(2).draw(other, np.array([0.0, 0.0, 1.0]), 0.0)
    assert not lines(other, "at the distance")


@pytest.mark.parametrize(
    "space",
    [Sphere(3), SPDLogEuclidean(4), Euclidean(2), Hyperbolic(2), Rotations(), Power(Sphere(2), 2)],
    ids=str,
)
def test_other_spaces_have_no_picture_and_draw_nothing(ax, space):
    assert space.draw(ax, space.origin, 0.1) is None
    assert not ax.lines
    assert not ax.child_axes
    assert ax.axison
