from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from riemdp._errors import InvalidBudgetError, InvalidParameterError, NotOnManifoldError
from riemdp.cli._options import (
    DistanceName,
    budget_of,
    center_of,
    manifold_of,
    records_of,
)
from riemdp.privacy import GDP, ZCDP, ApproxDP, PureDP, RaoDP
from riemdp.spaces import (
    Euclidean,
    Hyperbolic,
    SPDAffineInvariant,
    SPDLogCholesky,
    SPDLogEuclidean,
    SPDPower,
    Sphere,
)

NPY, CSV = Path("a.npy"), Path("a.csv")


def test_budgets():
    assert budget_of(1.0, None, None, None) == PureDP(1.0)
    assert budget_of(1.0, 1e-6, None, None) == ApproxDP(1.0, 1e-6)
    assert budget_of(None, None, 0.5, None) == GDP(0.5)
    assert budget_of(None, None, None, 0.5) == ZCDP(0.5)


@pytest.mark.parametrize(
    "options",
    [
        (None, None, None, None),
        (1.0, None, 1.0, None),
        (1.0, 0.1, None, 1.0),
        (None, None, 1.0, 1.0),
    ],
)
def test_one_budget_exactly(options):
    with pytest.raises(InvalidParameterError, match="give one budget"):
        budget_of(*options)


def test_delta_alone_is_refused():
    with pytest.raises(InvalidParameterError, match="--delta goes with --epsilon"):
        budget_of(None, 1e-6, 1.0, None)


@pytest.mark.parametrize(
    "options",
    [
        (0.0, None, None, None),
        (1.0, 1.0, None, None),
        (None, None, -1.0, None),
        (math.nan,) + 3 * (None,),
    ],
)
def test_values_outside_their_domain(options):
    with pytest.raises(InvalidParameterError) as caught:
        budget_of(*options)
    assert not isinstance(caught.value, InvalidBudgetError)  # that one is exit code 3


def test_manifolds():
    assert manifold_of("euclidean", 3, None, None) == Euclidean(3)
    assert manifold_of("sphere", 2, None, None) == Sphere(2)
    assert manifold_of("sphere", 2, None, 4.0) == Sphere(2, 4.0)
    assert manifold_of("hyperbolic", 2, None, -0.5) == Hyperbolic(2, -0.5)
    assert manifold_of("spd-log-euclidean", None, 3, None) == SPDLogEuclidean(3)
    assert manifold_of("spd-affine-invariant", None, 3, None) == SPDAffineInvariant(3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sphere", None, None, None), "sphere needs --dim"),
        (("sphere", 2, 3, None), "sphere needs --dim"),
        (("spd-log-euclidean", 3, None, None), "spd-log-euclidean needs --size"),
        (("euclidean", 3, None, 1.0), "--curvature is for sphere and hyperbolic"),
        (("sphere", 2, None, -1.0), "curvature of a sphere must be positive"),
        (("euclidean", 0, None, None), "positive integer"),
    ],
)
def test_manifolds_that_do_not_exist(arguments, message):
    with pytest.raises(InvalidParameterError, match=message):
        manifold_of(*arguments)


@pytest.mark.parametrize(
    ("shape", "path", "name", "manifold", "records"),
    [
        ((5, 3), NPY, "euclidean", Euclidean(3), (5, 3)),
        ((5, 1), CSV, "euclidean", Euclidean(1), (5, 1)),
        ((5, 3), CSV, "sphere", Sphere(2), (5, 3)),
        ((1, 2), NPY, "sphere", Sphere(1), (1, 2)),
        ((5, 4), NPY, "hyperbolic", Hyperbolic(3), (5, 4)),
        ((5, 2, 2), NPY, "spd-log-euclidean", SPDLogEuclidean(2), (5, 2, 2)),
        ((5, 9), CSV, "spd-affine-invariant", SPDAffineInvariant(3), (5, 3, 3)),
        ((5, 1), CSV, "spd-log-euclidean", SPDLogEuclidean(1), (5, 1, 1)),
    ],
)
def test_dimensions_come_from_the_file(shape, path, name, manifold, records):
    found, array = records_of(np.zeros(shape), path, name, None)
    assert found == manifold
    assert array.shape == records


def test_csv_matrices_are_read_row_by_row():
    array = np.arange(8.0).reshape(2, 4)
    _, matrices = records_of(array, CSV, "spd-log-euclidean", None)
    np.testing.assert_array_equal(matrices[1], [[4, 5], [6, 7]])


@pytest.mark.parametrize(
    ("shape", "path", "name", "message"),
    [
        ((0, 3), NPY, "euclidean", "no records"),
        ((), NPY, "euclidean", r"shape \(n, d\), got \(\)"),
        ((5,), NPY, "euclidean", r"shape \(n, d\), got \(n,\)"),
        ((5, 1), NPY, "sphere", r"shape \(n, d \+ 1\)"),
        ((5, 3, 3), NPY, "hyperbolic", r"shape \(n, d \+ 1\)"),
        ((5, 9), NPY, "spd-log-euclidean", r"shape \(n, k, k\), got \(n, 9\)"),
        ((5, 2, 3), NPY, "spd-log-euclidean", r"shape \(n, k, k\)"),
        ((5, 8), CSV, "spd-log-euclidean", "flattened square matrix, got 8"),
    ],
)
def test_shapes_that_are_not_records(shape, path, name, message):
    with pytest.raises(NotOnManifoldError, match=message):
        records_of(np.zeros(shape), path, name, None)


@pytest.mark.parametrize(
    ("manifold", "name", "point"),
    [
        (Euclidean(2), "origin", [0, 0]),
        (Sphere(2), "north-pole", [0, 0, 1]),
        (Sphere(1, 4.0), "north-pole", [0, 0.5]),
        (Hyperbolic(2), "origin", [1, 0, 0]),
        (Hyperbolic(2, -4.0), "origin", [0.5, 0, 0]),
        (SPDLogEuclidean(2), "identity", np.eye(2)),
        (SPDAffineInvariant(3), "identity", np.eye(3)),
    ],
)
def test_named_centers(manifold, name, point):
    center = center_of(name, manifold)
    np.testing.assert_allclose(center, point, rtol=0, atol=1e-15)
    np.testing.assert_allclose(manifold.validate(center), point, rtol=0, atol=1e-15)


def test_center_of_another_space():
    with pytest.raises(InvalidParameterError, match="its own is north-pole"):
        center_of("identity", Sphere(2))
    with pytest.raises(InvalidParameterError, match="its own is identity"):
        center_of("origin", SPDLogEuclidean(2))


def test_center_from_a_file(tmp_path):
    (tmp_path / "c.csv").write_text("0,1,0\n")
    np.testing.assert_array_equal(center_of(str(tmp_path / "c.csv"), Sphere(2)), [0, 1, 0])
    with pytest.raises(NotOnManifoldError, match="norm"):
        center_of(str(tmp_path / "c.csv"), Sphere(2, 4.0))
    with pytest.raises(NotOnManifoldError, match="shape"):
        center_of(str(tmp_path / "c.csv"), Sphere(3))
    with pytest.raises(FileNotFoundError):
        center_of(str(tmp_path / "none.csv"), Sphere(2))
    with pytest.raises(InvalidParameterError, match=r"\.npy, \.npz or \.csv"):
        center_of("centre", Sphere(2))


def test_rao_budgets_need_their_distance():
    budget = budget_of(None, None, None, None, theta=0.5, distance=DistanceName.ANGLE)
    assert budget == RaoDP(0.5, distance="angle")
    for theta, distance in [(0.5, None), (None, DistanceName.ANGLE)]:
        with pytest.raises(InvalidParameterError):
            budget_of(
                1.0 if theta is None else None, None, None, None, theta=theta, distance=distance
            )
    with pytest.raises(InvalidParameterError):
        budget_of(None, None, None, None, theta=4.0, distance=DistanceName.ANGLE)


def test_flat_metrics_of_matrices_have_names_and_fields():
    assert manifold_of("spd-log-cholesky", None, 3, None) == SPDLogCholesky(3)
    assert manifold_of("spd-power", None, 3, None) == SPDPower(3)
    assert manifold_of("SPDPower:k=3,alpha=0.25", None, None, None) == SPDPower(3, 0.25)
    rows = np.tile(np.eye(2).ravel(), (4, 1))
    assert records_of(rows, CSV, "spd-power", None)[0] == SPDPower(2)
    assert center_of("identity", SPDPower(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(InvalidParameterError, match="alpha must lie"):
        manifold_of("SPDPower:k=3,alpha=2.0", None, None, None)
