"""Orders and units: against matrices and vectors written out by hand, and wrong ones told apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from riemdp import InvalidParameterError, NotOnManifoldError, Rotations, Sphere
from riemdp.io import layouts, points_of
from riemdp.io._layouts import rows_of

PATH = Path("a.csv")
XX, YY, ZZ, XY, XZ, YZ = 5.0, 4.0, 3.0, 0.3, 0.2, 0.1
MATRIX = np.array([[XX, XY, XZ], [XY, YY, YZ], [XZ, YZ, ZZ]])
ORDERS = {
    "tensor-fsl": (XX, XY, XZ, YY, YZ, ZZ),
    "tensor-nifti": (XX, XY, YY, XZ, YZ, ZZ),
    "tensor-mrtrix": (XX, YY, ZZ, XY, XZ, YZ),
}


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.fast(9)
@pytest.mark.parametrize("layout", ORDERS)
def test_orders_of_tensors(order, layout):
    found = points_of(np.array([ORDERS[order]] * 2), layout, PATH)
    assert found.shape == (2, 3, 3)
    np.testing.assert_array_equal(found, found.swapaxes(1, 2))  # whichever order is meant
    assert np.array_equal(found[1], MATRIX) == (order == layout)


def test_a_wrong_order_may_be_positive_definite():
    rows = np.array([[4.0, 0.1, 1.2, 1.0, 0.1, 4.0]])
    right, wrong = (points_of(rows, f"tensor-{order}", PATH) for order in ("fsl", "nifti"))
    assert np.all(np.linalg.eigvalsh(np.concatenate([right, wrong])) > 0.0)
    assert not np.array_equal(right, wrong)  # and nothing but the caller can tell


def test_longitude_and_latitude():
    given = np.array([[0.0, 0.0], [90.0, 0.0], [-77.0, 90.0], [180.0, -30.0]])
    wanted = [[1, 0, 0], [0, 1, 0], [0, 0, 1], [-np.sqrt(0.75), 0, -0.5]]
    for unit, factor in (("degrees", 1.0), ("radians", np.pi / 180.0)):
        found = points_of(factor * given, f"lonlat-{unit}", PATH)
        np.testing.assert_allclose(found, wanted, atol=1e-15)
        Sphere(2).validate(found)


@pytest.mark.parametrize(
    ("row", "layout", "said"),
    [
        ([12.0, 91.0], "lonlat-degrees", "row 1 of a.csv: its latitude"),
        ([361.0, 1.0], "lonlat-degrees", "row 1 of a.csv: its longitude"),
        ([12.0, 40.0], "lonlat-radians", "row 1 of a.csv: its latitude"),
        ([np.nan, 0.0], "lonlat-degrees", "row 1 of a.csv: a number is not finite"),
        ([np.inf, 0.0], "angles-degrees", "row 1 of a.csv: a number is not finite"),
        ([0.0, -np.inf], None, "row 1 of a.csv: a number is not finite"),
    ],
)
def test_rows_out_of_range(row, layout, said):
    with pytest.raises(NotOnManifoldError, match=said) as caught:
        points_of(np.array([[0.5, 0.5], row]), layout, PATH)
    assert not any(f"{number:g}" in str(caught.value) for number in (361, 91, 12))


def test_angles():
    np.testing.assert_allclose(
        points_of(np.array([[180.0, -90.0]]), "angles-degrees", PATH), [[np.pi, -np.pi / 2]]
    )
    given = np.array([[180.0, -90.0]])
    np.testing.assert_array_equal(points_of(given, "angles-radians", PATH), given)


def test_orders_of_quaternions():
    half = np.sqrt(0.5)
    wanted = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # about z
    first = points_of(np.array([[half, 0.0, 0.0, half]]), "quaternion-scalar-first", PATH)
    last = points_of(np.array([[0.0, 0.0, half, half]]), "quaternion-scalar-last", PATH)
    for found in (first, last):
        np.testing.assert_allclose(Rotations().validate(found)[0], wanted, atol=1e-12)
    wrong = points_of(np.array([[half, half, 0.0, 0.0]]), "quaternion-scalar-last", PATH)
    right = points_of(np.array([[half, half, 0.0, 0.0]]), "quaternion-scalar-first", PATH)
    assert not np.allclose(Rotations().validate(wrong), Rotations().validate(right))


def test_matrices():
    np.testing.assert_array_equal(points_of(MATRIX.reshape(1, 9), "matrix", PATH), [MATRIX])


@pytest.mark.parametrize("layout", layouts())
def test_numbers_of_columns(layout):
    if layout.startswith("angles"):
        assert points_of(np.zeros((2, 5)), layout, PATH).shape == (2, 5)
        return
    with pytest.raises(InvalidParameterError, match=r"a\.csv"):
        points_of(np.zeros((2, 5)), layout, PATH)


def test_layouts_that_nobody_knows():
    for layout in ("tensor", ["tensor-fsl"], 6):
        with pytest.raises(InvalidParameterError, match=r"must be one of .*tensor-fsl"):
            points_of(np.zeros((2, 6)), layout, PATH)


@pytest.mark.parametrize("rows", [[["secret"]], [[1j]], np.array([[None]]), [[1.0], [1.0, 2.0]]])
def test_rows_that_are_no_numbers(rows):
    with pytest.raises(InvalidParameterError, match="real numbers") as caught:
        points_of(rows, None, PATH)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("layout", [*ORDERS, "matrix", None])
def test_rows_of_points(layout):
    wanted = ORDERS.get(layout, MATRIX.ravel())
    np.testing.assert_array_equal(rows_of(MATRIX[None], layout), [wanted])


@pytest.mark.parametrize(
    ("shape", "layout"), [((2, 6), "tensor-fsl"), ((2, 3, 3), "lonlat-degrees")]
)
def test_points_that_are_not_written_so(shape, layout):
    with pytest.raises(InvalidParameterError, match="cannot be written"):
        rows_of(np.zeros(shape), layout)


@pytest.mark.parametrize("layout", ORDERS)
def test_six_numbers_do_not_make_a_matrix_that_is_not_symmetric(layout):
    turned = MATRIX[None] * (1.0 + 1e-15 * np.arange(9.0).reshape(3, 3))  # rounding
    assert rows_of(turned, layout).shape == (1, 6)
    with pytest.raises(InvalidParameterError, match="symmetric"):
        rows_of(np.arange(9.0).reshape(1, 3, 3), layout)
