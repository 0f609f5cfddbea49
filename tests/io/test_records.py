"""Records from files: what a row is has to be said; the same records from every format."""

from __future__ import annotations

import numpy as np
import pytest

from riemdp import GDP, Ball, InvalidParameterError, SPDLogEuclidean, private_mean
from riemdp.io import read_records

ROWS = np.array([[2.0, 0.1, 0.2, 3.0, 0.3, 4.0], [1.0, 0.0, 0.1, 2.0, 0.2, 1.5]])
NAMES = ("xx", "xy", "xz", "yy", "yz", "zz")
EXTRAS = {"users": "who", "labels": "site", "covariates": "age", "weights": "w"}
WHO, SITE, AGE, W = ["p", "q"], ["x", "y"], [30.0, 40.0], [1.0, 0.5]


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "t.csv"
    lines = [",".join([*NAMES, "who", "site", "age", "w"])]
    for row, *others in zip(ROWS, WHO, SITE, AGE, W, strict=True):
        lines.append(",".join(map(str, [*row, *others])))
    path.write_text("\n".join(lines))
    return path


def check(records, unit=None, ids=WHO):
    assert records.unit == unit
    np.testing.assert_array_equal(records.points[0], [[2, 0.1, 0.2], [0.1, 3, 0.3], [0.2, 0.3, 4]])
    assert list(records.users) == ids
    checked = records.validated(SPDLogEuclidean(3))
    np.testing.assert_array_equal(checked.weights, W)
    np.testing.assert_array_equal(checked.covariates, AGE)
    assert checked.unit == checked.at(slice(0, 1)).unit == unit


def test_columns_of_a_table(table):
    check(read_records(table, NAMES, layout="tensor-fsl", **EXTRAS))
    check(read_records(table, NAMES, layout="tensor-fsl", unit="epoch", **EXTRAS), "epoch")


def test_arrays_of_an_archive(tmp_path):
    path = tmp_path / "t.npz"
    np.savez(path, d=ROWS, who=[7, 8], site=[0, 1], age=AGE, w=W)
    check(read_records(path, ["d"], layout="tensor-fsl", **EXTRAS), ids=[7, 8])


def test_the_same_from_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    columns = {"d": ROWS.tolist(), "who": WHO, "site": SITE, "age": AGE, "w": W}
    parquet.write_table(pyarrow.table(columns), tmp_path / "t.PARQUET")
    check(read_records(tmp_path / "t.PARQUET", ["d"], layout="tensor-fsl", **EXTRAS))


def test_the_same_from_zarr(tmp_path):
    zarr = pytest.importorskip("zarr", minversion="3")
    group = zarr.open_group(str(tmp_path / "t.zarr"), mode="w")
    arrays = {"d": ROWS, "who": [7, 8], "site": [0, 1], "age": AGE, "w": W}
    for name, values in arrays.items():
        group.create_array(name, data=np.asarray(values))
    check(read_records(tmp_path / "t.zarr", ["d"], layout="tensor-fsl", **EXTRAS), ids=[7, 8])


def test_images(tmp_path):
    nibabel = pytest.importorskip("nibabel")
    path = tmp_path / "a.nii.gz"
    nibabel.save(nibabel.Nifti1Image(ROWS.reshape(1, 1, 2, 6), np.eye(4)), path)
    for unit, shape in (("person", (1, 2, 3, 3)), ("voxel", (2, 3, 3))):
        records = read_records(path, unit=unit, layout="tensor-fsl")
        assert records.points.shape == shape
        assert records.unit == unit
    with pytest.raises(InvalidParameterError, match="say what a row"):
        read_records(path, layout="tensor-fsl")
    with pytest.raises(InvalidParameterError, match="no columns"):
        read_records(path, unit="voxel", users="who")


def test_arrays_without_names(tmp_path):
    np.save(tmp_path / "a.npy", ROWS)
    np.savetxt(tmp_path / "b.csv", ROWS, delimiter=",")
    for name in ("a.npy", "b.csv"):
        np.testing.assert_array_equal(read_records(tmp_path / name, unit="person").points, ROWS)
        with pytest.raises(InvalidParameterError, match="name"):
            read_records(tmp_path / name, users="who")
    with pytest.raises(InvalidParameterError, match="no columns"):
        read_records(tmp_path / "a.npy", ["x"], unit="person")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "say what a row of t.csv is"),
        ({"unit": ""}, "unit must be a word"),
        ({"unit": "a\nb"}, "unit must be a word"),
        ({"unit": 3}, "unit must be a word"),
        ({"unit": "person", "layout": "tensor"}, "layout must be one of"),
        ({"unit": "person", "layout": "lonlat-degrees"}, "2 numbers each"),
        ({"unit": "person", "mask": "mask.nii"}, "a mask is for"),
        ({"unit": "person", "points": "xx"}, "sequence of names"),
    ],
)
def test_arguments_that_do_not_go_together(table, arguments, said):
    with pytest.raises(InvalidParameterError, match=said):
        read_records(table, **{"points": NAMES, **arguments})


def test_a_release_of_people_with_several_rows(table):
    records = read_records(table, NAMES, layout="tensor-fsl", users="who")
    ball = Ball(SPDLogEuclidean(3), np.eye(3), 2.0)
    release = private_mean(records, ball, GDP(1.0), generator=np.random.default_rng(0))
    assert "users" in release.neighbours.takes
