"""One direction, axis, rotation or shape for each person, of that person's records alone."""

from __future__ import annotations

import math

import numpy as np
import pytest

from riemdp import verify
from riemdp._errors import NotOnManifoldError
from riemdp.privacy import GDP
from riemdp.release import (
    _private_directions,
    private_directional_summary,
    private_procrustes_mean,
    private_rotation_mean,
)
from riemdp.release._private_directions import (
    MAIN_AXIS,
    MAIN_PRESHAPE,
    MEAN_DIRECTION,
    own_directions,
)
from riemdp.spaces import Rotations

SOURCE = np.random.default_rng(5)


def units(size, dim):
    drawn = SOURCE.normal(size=(size, dim)) + 2.0 * np.eye(dim)[0]
    return drawn / np.linalg.norm(drawn, axis=-1, keepdims=True)


def outer(vector):
    return np.outer(vector, vector.conj())


def complex_of(vector):
    return vector[: len(vector) // 2] + 1j * vector[len(vector) // 2 :]


def own_of(vectors, own):
    """The vector of one person."""
    (found,) = own_directions(vectors, np.zeros(len(vectors), int), own, vectors[0])
    return found


@pytest.mark.parametrize("own", [MEAN_DIRECTION, MAIN_AXIS, MAIN_PRESHAPE])
def test_it_is_a_unit_vector_in_whatever_order_records_come(own):
    vectors = units(7, 6)
    found = own_of(vectors, own)
    assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_array_equal(own_of(vectors[::-1], own), found)
    assert not np.array_equal(own_of(vectors[1:], own), found)


def test_it_is_what_numpy_makes_of_the_records():
    vectors = units(7, 6)
    total = vectors.sum(axis=0)
    np.testing.assert_allclose(
        own_of(vectors, MEAN_DIRECTION), total / np.linalg.norm(total), atol=1e-11
    )
    for own, rows in ((MAIN_AXIS, vectors), (MAIN_PRESHAPE, vectors[:, :3] + 1j * vectors[:, 3:])):
        found = own_of(vectors, own)
        found = found if own is MAIN_AXIS else complex_of(found)
        expected = np.linalg.eigh(rows.T @ rows.conj())[1][:, -1]
        np.testing.assert_allclose(outer(found), outer(expected), atol=1e-10)


@pytest.mark.parametrize("own", [MEAN_DIRECTION, MAIN_AXIS, MAIN_PRESHAPE])
def test_features_are_unit_vectors_whose_vector_is_the_record(own):
    vectors = units(5, 6)
    features = own.features(vectors)
    np.testing.assert_allclose(np.linalg.norm(features, axis=1), 1.0, atol=1e-14)
    back = own.vector(features)
    if own is MAIN_PRESHAPE:
        vectors, back = ([outer(complex_of(x)) for x in each] for each in (vectors, back))
    else:
        vectors, back = ([outer(x) for x in each] for each in (vectors, back))
    np.testing.assert_allclose(back, vectors, atol=1e-13)


def test_signs_of_axes_and_phases_of_shapes_do_not_count():
    vectors, signs = units(7, 6), np.array([1, -1, 1, 1, -1, -1, 1])[:, None]
    axis = outer(own_of(vectors, MAIN_AXIS))
    np.testing.assert_array_equal(outer(own_of(signs * vectors, MAIN_AXIS)), axis)
    z = (vectors[:, :3] + 1j * vectors[:, 3:]) * np.exp(1j * np.arange(7.0))[:, None]
    turned = np.concatenate([z.real, z.imag], axis=-1)
    np.testing.assert_allclose(
        outer(complex_of(own_of(turned, MAIN_PRESHAPE))),
        outer(complex_of(own_of(vectors, MAIN_PRESHAPE))),
        atol=1e-11,
    )
    assert np.abs(outer(own_of(turned, MAIN_AXIS)) - axis).max() > 0.1  # of axes they would


def test_of_others_records_no_bit_counts_and_those_without_a_direction_have_a_public_one():
    vectors = np.concatenate([units(4, 3), [[0.0, 0.6, 0.8], [0.0, -0.6, -0.8]]])
    ids = np.array([1, 2, 1, 2, "a", "a"], dtype=object)
    pole = np.array([0.0, 0.0, 1.0])
    found = own_directions(vectors, ids, MEAN_DIRECTION, pole)
    np.testing.assert_array_equal(found[2], pole)
    alone = own_directions(vectors[[2, 0]], ids[[2, 0]], MEAN_DIRECTION, pole)
    np.testing.assert_array_equal(alone[0], found[0])
    single = own_directions(vectors[:1], ids[:1], MEAN_DIRECTION, pole)
    np.testing.assert_array_equal(single, vectors[:1])
    assert own_directions(vectors[:0], ids[:0], MEAN_DIRECTION, pole).shape == (0, 3)


ROTATIONS = Rotations().present(
    Rotations().point(Rotations().origin, SOURCE.normal(scale=0.3, size=(12, 3)))
)
SHAPES = SOURCE.normal(size=(12, 5)) + 1j * SOURCE.normal(size=(12, 5))


@pytest.mark.parametrize(
    ("release", "points"),
    [
        (private_directional_summary, units(12, 3)),
        (lambda x, b, **k: private_directional_summary(x, b, order=(1, 2), **k), units(12, 3)),
        (lambda x, b, **k: private_directional_summary(x, b, axial=True, **k), units(12, 3)),
        (private_rotation_mean, ROTATIONS),
        (private_procrustes_mean, SHAPES),
    ],
    ids=["directions", "both", "axes", "rotations", "shapes"],
)
@pytest.mark.parametrize("adjacency", ["replace-one", "add-remove"])
def test_people_are_protected_with_all_their_directions(release, points, adjacency):
    public = adjacency == "replace-one"
    people = 4 if public else None
    found = release(points, GDP(1.0), users=np.arange(12) % 4, people=people, adjacency=adjacency)
    assert found.n == people
    assert "user" in found.guarantee.adjacency
    assert verify(found).passed
    # one record a person: that of the records
    source = [np.random.default_rng(1), np.random.default_rng(1)]
    options = {"people": 12 if public else None, "adjacency": adjacency, "generator": source[0]}
    single = release(points, GDP(1.0), users=range(12), **options)
    records = release(points, GDP(1.0), adjacency=adjacency, generator=source[1])
    assert single.rounded == records.rounded


def test_many_records_of_one_person_count_once():
    points = np.array([[0.0, 0.0, 1.0]] * 30 + [[1.0, 0.0, 0.0]] * 2)
    users = [0] * 30 + [1, 2]
    value = private_directional_summary(points, GDP(1e4), users=users).value
    expected = np.array([2.0, 0.0, 1.0]) / math.sqrt(5.0)
    np.testing.assert_allclose(value["direction"], expected, atol=1e-2)


def test_the_rotation_of_a_person_needs_no_signs():
    one, other = ROTATIONS[0], ROTATIONS[1]
    value = private_rotation_mean(
        np.array([one] * 5 + [other]), GDP(1e5), users=["a"] * 5 + ["b"]
    ).value
    halfway = private_rotation_mean(np.array([one, other]), GDP(1e5)).value
    np.testing.assert_allclose(value["rotation"], halfway["rotation"], atol=1e-2)


@pytest.mark.parametrize(
    "release", [private_directional_summary, private_rotation_mean, private_procrustes_mean]
)
@pytest.mark.parametrize("shape", [(17, 1), (17, 5, 5), (17,)])
def test_errors_do_not_say_how_many_rows_there_are(release, shape):
    with pytest.raises(NotOnManifoldError) as caught:
        release(np.zeros(shape), GDP(1.0), adjacency="add-remove")
    assert "17" not in str(caught.value)


@pytest.mark.parametrize("options", [{}, {"adjacency": "add-remove"}, {"users": 1}])
def test_how_many_directions_are_read_does_not_count(monkeypatch, options):
    points = np.random.default_rng(0).normal(0.5, 0.4, size=(30, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    if "users" in options:
        options = {"users": np.arange(30)}

    def drawn():
        generator = np.random.default_rng(1)
        return private_directional_summary(points, GDP(5.0), generator=generator, **options).raw

    def batched(rows):
        return -read(rows) if len(rows) == 30 else read(rows)

    read, before = _private_directions._unit_vectors, drawn()
    monkeypatch.setattr(_private_directions, "_unit_vectors", batched)
    assert np.array_equal(drawn(), before)
    whole = "riemdp.release._private_directions.in_tiles"  # the control
    monkeypatch.setattr(whole, lambda read, arrays, *_: (read(arrays[0]), None))
    assert not np.array_equal(drawn(), before)
