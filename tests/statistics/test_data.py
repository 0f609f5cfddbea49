"""Records: points with labels and covariates, checked before anything is drawn."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from riemdp import (
    Ball,
    Euclidean,
    InvalidParameterError,
    NotOnManifoldError,
    PlanarShapes,
    Power,
    Records,
    SPDAffineInvariant,
    Sphere,
)
from riemdp.statistics import as_records
from riemdp.statistics._data import check_extras

PLANE = Euclidean(2)
POINTS = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_the_text_of_records_names_what_they_hold_and_neither_values_nor_how_many_there_are():
    columns = {"labels": ["secret", "x", "x"], "weights": [7.25, 1, 1], "ids": ["me", "b", "c"]}
    fewer = {name: values[:2] for name, values in columns.items()}
    text = "Records(points of shape (2,), labels, weights, ids)"
    assert repr(Records(np.array(POINTS), **columns)) == text
    assert str(Records(np.array(POINTS[:2]), **fewer)) == text
    assert repr(Records(POINTS)) == repr(Records([])) == "Records(list)"
    assert repr(Records(np.array(3.0))) == "Records(ndarray)"


def test_records_are_made_arrays():
    found = Records(POINTS, labels=["a", "b", "a"], covariates=[1, 2, 3]).validated(PLANE)
    assert len(found) == 3
    assert found.extras == ("labels", "covariates")
    assert found.points.shape == (3, 2)
    assert found.covariates.dtype == np.float64
    assert found.labels.tolist() == ["a", "b", "a"]
    part = found.at(slice(1, 3))
    assert part.labels.tolist() == ["b", "a"]
    assert part.points.tolist() == POINTS[1:]
    assert found.with_points(found.points + 1.0).covariates is found.covariates


def test_labels_are_read_one_by_one_and_once():
    """What one of them is does not change what the others are."""
    given = [0, np.int64(1), "x"]
    found = Records(POINTS, labels=given).validated(PLANE)
    assert [type(label) for label in found.labels] == [int, int, str]
    array = np.array([0, 1, 1])
    found = Records(POINTS, labels=array).validated(PLANE)
    array[:] = 7
    assert found.labels.tolist() == [0, 1, 1]
    with pytest.raises(InvalidParameterError, match="row 1: labels must be integers or texts"):
        Records(POINTS, labels=[0, True, 1]).validated(PLANE)
    days = np.array(["2020-01-01"] * 3, dtype="datetime64[ns]")  # which would be integers in a list
    with pytest.raises(InvalidParameterError, match="row 0: labels must be integers or texts"):
        Records(POINTS, labels=days).validated(PLANE)


def test_points_alone_are_records_without_anything_else():
    assert as_records(POINTS).extras == ()
    given = Records(POINTS, labels=[0, 1, 1])
    assert as_records(given) is given


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"labels": [0, 1]}, "one for each point"),
        ({"labels": [[0], [1], [1]]}, "one for each point"),
        ({"labels": [0.5, 1.0, 2.0]}, "integers or texts"),
        ({"labels": 3}, "one for each point"),
        ({"covariates": ["a", "b", "c"]}, "real numbers"),
        ({"covariates": [1.0, 2.0]}, "one for each point"),
    ],
)
def test_what_belongs_to_points_has_their_length(more, said):
    with pytest.raises(InvalidParameterError, match=said):
        Records(POINTS, **more).validated(PLANE)


def test_rows_that_are_wrong_are_named_without_their_values():
    with pytest.raises(NotOnManifoldError, match="row 1") as error:
        Records(POINTS, covariates=[1.0, np.nan, 12345.0]).validated(PLANE)
    assert "12345" not in str(error.value)
    with pytest.raises(NotOnManifoldError):
        Records([[0.0, np.nan]] * 3).validated(PLANE)
    beyond = np.array([1.0, 2.0, np.longdouble("1e400")])
    with pytest.raises(NotOnManifoldError, match="row 2"):
        Records(POINTS, covariates=beyond).validated(PLANE)


def test_a_statistic_is_given_what_it_takes_and_no_more():
    labelled = Records(POINTS, labels=[0, 1, 1])
    check_extras(labelled, ("labels",), "x")
    with pytest.raises(InvalidParameterError, match=r"takes labels too: give Records\(points, lab"):
        check_extras(as_records(POINTS), ("labels",), "x")
    with pytest.raises(InvalidParameterError, match="takes no labels"):
        check_extras(labelled, (), "x")


@pytest.mark.parametrize("dim", [2, 4, 20])
def test_a_row_is_the_same_however_its_array_lies_in_memory(dim):
    """Arrays of several records may have steps between the entries of one; that of one has none."""
    sphere, rng = Sphere(dim), np.random.default_rng(dim)
    rows = rng.normal(size=(60, dim + 1))
    rows /= np.linalg.norm(rows, axis=-1, keepdims=True) * (1.0 + 1e-9 * rng.random((60, 1)))
    spaced = np.zeros((60, dim + 1, 2))
    spaced[..., 0] = rows
    alone = [Records(row[None].copy()).validated(sphere).points for row in rows]
    for given in (np.asfortranarray(rows), spaced[..., 0], rows.tolist()):
        found = Records(given).validated(sphere).points
        assert found.tobytes() == np.concatenate(alone).tobytes()


@pytest.mark.parametrize("manifold", [Sphere(2), SPDAffineInvariant(3), PlanarShapes(4)], ids=str)
def test_a_row_has_the_same_bits_in_any_company_of_any_type(manifold):
    rng = np.random.default_rng(1)
    ball = Ball(manifold, manifold.origin, 0.2)
    points = ball.point(0.1 * rng.normal(size=(9, manifold.dim))).astype(np.float32)
    row = points[0]
    alone = Records([row]).validated(manifold).points[0]
    kinds = (np.float32, np.float64, np.longdouble, np.ndarray.tolist)
    for kind, other in itertools.product(kinds, kinds):
        for size in (1, 2, 8):
            company = [convert(x, other) for x in points[1 : size + 1]]
            given = [*company[: size // 2], convert(row, kind), *company[size // 2 :]]
            found = Records(given).validated(manifold).points
            np.testing.assert_array_equal(found[size // 2], alone)


def convert(row, kind):
    return row.tolist() if kind is np.ndarray.tolist else row.astype(kind)


@pytest.mark.parametrize("space", [PLANE, SPDAffineInvariant(2), PlanarShapes(4)], ids=str)
def test_an_empty_list_is_no_records(space):
    """Where it is not told from others, nobody learns that there are none."""
    found = Records([], labels=[]).validated(space, tells_number=False)
    assert found.points.shape == (0, *space.point_shape)
    assert len(found.labels) == 0


class Batching(Euclidean):
    """A space of another package that moves rows by how many of them come together."""

    name = "tests.Batching"

    def validate(self, points):
        return np.asarray(points, dtype=np.float64) + len(points)


def test_another_package_is_given_one_row_at_a_time():
    alone = Records(POINTS).validated(Batching(2))
    assert alone.points.tolist() == (np.array(POINTS) + 1.0).tolist()
    together = Batching(2).validate(POINTS)
    assert together.tolist() == (np.array(POINTS) + 3.0).tolist()  # the control


@pytest.mark.parametrize("row", [0, 1023, 1024, 1500])
def test_a_row_that_is_wrong_is_named_in_whatever_tile_it_is(row):
    rows = np.tile(Sphere(2).origin, (1501, 1))
    rows[row] *= 2.0
    with pytest.raises(NotOnManifoldError, match=f"^row {row} does not have norm"):
        Records(rows).validated(Sphere(2))
    several = Power(Sphere(2), 2)
    pairs = np.tile(several.origin, (1501, 1, 1))
    pairs[row, 1] *= 2.0
    with pytest.raises(NotOnManifoldError, match=rf"^row \({row}, 1\) does not have norm"):
        Records(pairs).validated(several)


def test_records_are_copied():
    rows = np.tile(Sphere(2).origin, (3, 1))
    found = Records(rows).validated(Sphere(2)).points
    assert not np.shares_memory(found, rows)
    assert found.flags.c_contiguous
