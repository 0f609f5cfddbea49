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
    main_axis,
    main_preshape,
    mean_direction,
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


@pytest.mark.parametrize("own", [mean_direction, main_axis, main_preshape])
def test_it_is_a_unit_vector_in_whatever_order_records_come(own):
    vectors = units(7, 6)
    found = own(vectors)
    assert np.linalg.norm(found) == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_array_equal(own(vectors[::-1]), found)
    assert not np.array_equal(own(vectors[1:]), found)


def test_signs_of_axes_and_phases_of_shapes_do_not_count():
    vectors, signs = units(7, 6), np.array([1, -1, 1, 1, -1, -1, 1])[:, None]
    np.testing.assert_allclose(
        outer(main_axis(signs * vectors)), outer(main_axis(vectors)), atol=1e-12
    )
    z = (vectors[:, :3] + 1j * vectors[:, 3:]) * np.exp(1j * np.arange(7.0))[:, None]
    turned = np.concatenate([z.real, z.imag], axis=-1)
    np.testing.assert_allclose(
        outer(complex_of(main_preshape(turned))),
        outer(complex_of(main_preshape(vectors))),
        atol=1e-12,
    )
    far = np.abs(outer(main_axis(turned)) - outer(main_axis(vectors)))
    assert far.max() > 0.1  # of axes they would


def test_of_others_records_no_bit_counts_and_those_without_a_direction_have_a_public_one():
    vectors = np.concatenate([units(4, 3), [[0.0, 0.6, 0.8], [0.0, -0.6, -0.8]]])
    ids = np.array([1, 2, 1, 2, "a", "a"], dtype=object)
    pole = np.array([0.0, 0.0, 1.0])
    found = own_directions(vectors, ids, mean_direction, pole)
    np.testing.assert_array_equal(found[2], pole)
    alone = own_directions(vectors[[2, 0]], ids[[2, 0]], mean_direction, pole)
    np.testing.assert_array_equal(alone[0], found[0])
    single = own_directions(vectors[:1], ids[:1], mean_direction, pole)
    np.testing.assert_array_equal(single, vectors[:1])
    assert own_directions(vectors[:0], ids[:0], mean_direction, pole).shape == (0, 3)


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
