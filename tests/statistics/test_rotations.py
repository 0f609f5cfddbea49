"""Mean rotations: over all of SO(3), whatever the sign of a quaternion."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from riemdp import Ball, NotOnManifoldError, Sphere
from riemdp._errors import UnsupportedManifoldError
from riemdp._part_document import decode, encode
from riemdp.statistics import MeanRotation, answer, unit_quaternions
from riemdp.statistics._seen import view_from_centre
from riemdp.testing import check_part

pytestmark = pytest.mark.usefixtures("small_tiles")

WHOLE = Ball.whole(Sphere(3))
STATISTIC = MeanRotation()
QUERY = STATISTIC.query(WHOLE)


def rotations(n, seed=0, spread=None):
    rng = np.random.default_rng(seed)
    if spread is None:
        return Rotation.random(n, random_state=seed).as_matrix()
    return Rotation.from_rotvec(spread * rng.normal(size=(n, 3))).as_matrix()


def exact_parts(matrices, sd=1e-6):
    found = answer(QUERY, WHOLE, unit_quaternions(matrices), 0.0)
    features = np.array([float(x) for x in found])
    return STATISTIC.parts(view_from_centre(WHOLE), features, sd, 0.0)


def test_quaternions_are_those_of_the_rotations():
    matrices = rotations(50)
    quaternions = unit_quaternions(matrices)
    assert quaternions.shape == (50, 4)
    assert np.allclose(np.linalg.norm(quaternions, axis=1), 1.0, rtol=1e-15)
    assert np.allclose(Rotation.from_quat(quaternions).as_matrix(), matrices, atol=1e-14)
    signs = np.resize([1.0, -1.0], (50, 1))
    assert np.allclose(unit_quaternions(signs * quaternions), quaternions, atol=1e-14)


def test_half_turns_and_no_turn_have_quaternions_too():
    turns = np.array(
        [np.diag(d) for d in ([1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1])], float
    )
    assert np.allclose(np.abs(unit_quaternions(turns)), np.roll(np.eye(4), -1, axis=1), atol=1e-15)


def test_a_quaternion_is_one_of_its_rotation_alone():
    matrices = rotations(30)
    whole = unit_quaternions(matrices)
    changed = matrices.copy()
    changed[7] = np.eye(3)
    found = unit_quaternions(changed)
    assert np.delete(found, 7, axis=0).tobytes() == np.delete(whole, 7, axis=0).tobytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: 1.001 * r, "row 3 is not a rotation: its columns are not orthonormal"),
        (lambda r: r * [1.0, 1.0, -1.0], "row 3 is not a rotation: its determinant is -1"),
        (lambda r: r + np.nan, "row 3 has entries that are NaN or infinite"),
        (lambda r: 1e-20 * r, "row 3 is not a rotation: its columns"),
        (lambda r: 1e200 * r, "row 3 is not a rotation: its columns"),
        (lambda r: r + 1e-3, "row 3 is not a rotation: its columns"),
    ],
)
def test_what_is_no_rotation_is_named(change, message):
    matrices = rotations(5)
    matrices[3] = change(matrices[3])
    with pytest.raises(NotOnManifoldError, match=message) as error:
        unit_quaternions(matrices)
    assert str(matrices[3][0, 0])[:6] not in str(error.value)


def test_small_deviations_are_mended():
    matrices = rotations(5)
    near = matrices * (1.0 + 5e-7)
    assert np.allclose(unit_quaternions(near), unit_quaternions(matrices), atol=1e-6)
    single = unit_quaternions(matrices.astype(np.float32))
    assert np.allclose(single, unit_quaternions(matrices), atol=1e-6)


@pytest.mark.parametrize("shape", [(3, 3), (2, 2, 3, 3), (4, 3), (2, 3, 2)], ids=str)
def test_other_shapes_are_refused(shape):
    with pytest.raises(NotOnManifoldError, match="shape"):
        unit_quaternions(np.zeros(shape))
    assert unit_quaternions(np.zeros((0, 3, 3))).shape == (0, 4)


def test_masks_are_refused(refused):
    with pytest.raises(NotOnManifoldError, match=r"masked|real numbers|shape"):
        unit_quaternions(refused(rotations(4)))


def test_containers_make_no_difference(container):
    matrices = rotations(4)
    assert np.array_equal(unit_quaternions(container(matrices)), unit_quaternions(matrices))


def test_the_mean_has_the_least_mean_square():
    """Of Frobenius norms, as the projection of the mean matrix onto the rotations has."""
    for spread in (0.2, 1.0):
        matrices = rotations(40, seed=1, spread=spread)
        left, _, right = np.linalg.svd(matrices.mean(axis=0))
        best = left @ np.diag([1.0, 1.0, np.linalg.det(left @ right)]) @ right
        found = exact_parts(matrices)["rotation"]
        assert np.allclose(found, best, atol=1e-8)
        nearby = [found @ rotations(1, seed, 0.1)[0] for seed in range(20)]
        assert all(np.sum((matrices - r) ** 2) > np.sum((matrices - found) ** 2) for r in nearby)


def test_the_mean_turns_with_the_rotations():
    matrices = rotations(40, spread=0.5)
    turn = rotations(1, seed=9)[0]
    one, other = exact_parts(matrices), exact_parts(turn @ matrices)
    assert np.allclose(other["rotation"], turn @ one["rotation"], atol=1e-9)
    assert other["gap"] == pytest.approx(one["gap"])


def test_signs_of_quaternions_do_not_count():
    quaternions = unit_quaternions(rotations(20))
    signs = np.where(np.arange(20) % 2, -1.0, 1.0)[:, None]
    one, other = (answer(QUERY, WHOLE, each, 0.0) for each in (quaternions, signs * quaternions))
    assert one == other


def test_parts():
    found = exact_parts(rotations(200, spread=0.3), sd=0.001)
    assert found["rotation"].shape == (3, 3)
    assert np.allclose(Rotation.from_quat(found["quaternion"]).as_matrix(), found["rotation"])
    assert found["rotation_significant"]
    assert 0.0 < found["rotation_bound"] < 0.1
    everywhere = exact_parts(rotations(200), sd=0.1)
    assert not everywhere["rotation_significant"]
    assert everywhere["rotation_bound"] == math.pi


def test_other_spheres_have_no_rotations():
    with pytest.raises(UnsupportedManifoldError, match=r"Sphere\(3\)"):
        STATISTIC.query(Ball.whole(Sphere(2)))


def test_it_is_a_statistic():
    sphere = Sphere(3)
    check_part(STATISTIC, ball=Ball(sphere, sphere.origin, 1.0))
    assert decode(encode(STATISTIC)) == STATISTIC
