"""Resultant and scatter: how far one record moves them, and what they say of directions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.stats

from riemdp import Ball, InvalidParameterError, Sphere
from riemdp._part_document import decode, encode, from_text
from riemdp.spaces import unvecd
from riemdp.statistics import DirectionalMoments, answer
from riemdp.statistics._seen import view_from_centre

ORDERS = [1, 2, (1, 2)]
#: What a record can become, in the plane and in space, beside others that are drawn.
SPECIAL = [
    [1.0, 0.0, 0.0],
    [-1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [0.0, 0.0, 0.0],
    [1e-320, 1e-320, 0.0],
    [1e300, -1e300, 1e300],
    [1.0 + 1e-9, 0.0, 0.0],
    [0.6, 0.8, 0.0],
    [-0.6, -0.8, 0.0],
]


def whole(dim):
    return Ball.whole(Sphere(dim - 1))


def directions(n, dim, seed=0):
    found = np.random.default_rng(seed).normal(size=(n, dim))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def integers(statistic, vectors):
    """What each of several vectors is added as."""
    ball = whole(vectors.shape[1])
    query = statistic.query(ball)
    return [query.rows(ball, row[None])[0].tolist() for row in vectors]


def farthest(statistic, vectors):
    """Largest squared move between two of them, in steps of the grid."""
    found = integers(statistic, vectors)
    return max(
        sum((a - b) ** 2 for a, b in zip(one, other, strict=True))
        for i, one in enumerate(found)
        for other in found[:i]
    )


def candidates(dim, seed):
    """Directions, short vectors, and pairs about those that attain a sensitivity."""
    rng = np.random.default_rng(seed)
    free = directions(25, dim, seed)
    corner = np.array(SPECIAL)[:, :dim]
    cosine = -rng.uniform(0.5, 1.0, size=15)
    frame = np.linalg.qr(rng.normal(size=(dim, 2)))[0].T
    at_angles = cosine[:, None] * frame[0] + np.sqrt(1.0 - cosine**2)[:, None] * frame[1]
    short = free[:5] * rng.uniform(0.0, 1.0, size=(5, 1))
    return np.concatenate([free, -free[:5], corner, frame, at_angles, short])


@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("dim", [2, 3, 7])
def test_integers_never_move_farther_than_is_said(order, dim):
    statistic = DirectionalMoments(order)
    limit = statistic.shape(dim).move * 2**80
    vectors = candidates(min(dim, 3), dim)
    vectors = np.pad(vectors, ((0, 0), (0, dim - vectors.shape[1])))
    found = farthest(statistic, vectors)
    assert found <= limit
    assert found >= limit * Fraction(1.0 - 2e-6)  # attained: the square, to a millionth each


def test_sensitivities_are_those_of_the_note():
    for order, square in zip(ORDERS, (4, 2, 4), strict=True):
        move = DirectionalMoments(order).shape(3).move
        assert square <= move <= square + Fraction(1, 10**10)


def test_axes_have_no_sign():
    points, ball = directions(30, 4), whole(4)
    query = DirectionalMoments(2).query(ball)
    signs = np.where(np.arange(30) % 2, -1.0, 1.0)[:, None]
    assert answer(query, ball, points, 0.0) == answer(query, ball, signs * points, 0.0)


def test_order_is_one_of_three():
    assert DirectionalMoments((1,)) == DirectionalMoments(1)
    assert DirectionalMoments([1, 2]) == DirectionalMoments((1, 2))
    for wrong in (0, 3, (2, 1), (), "1", 1.0, True, None, (1, 2, 2)):
        with pytest.raises(InvalidParameterError, match="order must be 1, 2 or"):
            DirectionalMoments(wrong)


def test_documents_and_texts_name_it():
    for order in ORDERS:
        statistic = DirectionalMoments(order)
        assert decode(encode(statistic)) == statistic
    assert from_text("directional-moments:order=2", "statistic") == DirectionalMoments(2)
    assert DirectionalMoments().proofs() == {
        "directional-moments": "docs/proofs/joint-sensitivities.md"
    }


def test_half_vectors_are_an_isometry():
    """So that noise of one size in all features has the variance sigma^2 |H|_F^2 along H."""
    rng = np.random.default_rng(0)
    for dim in (2, 3, 6):
        one, other = rng.normal(size=(2, dim * (dim + 1) // 2))
        matrices = unvecd(one, dim), unvecd(other, dim)
        assert np.sum(matrices[0] * matrices[1]) == pytest.approx(one @ other, rel=1e-12)


def test_noise_along_a_matrix():
    rng = np.random.default_rng(1)
    along = rng.normal(size=(3, 3))
    along = along + along.T
    noise = unvecd(rng.normal(size=(20_000, 6)), 3)
    found = np.einsum("nij,ij->n", noise, along)
    ratio = found.var() / np.sum(along**2)
    spread = math.sqrt(2.0 / len(found))
    assert abs(ratio - 1.0) < 4.0 * spread
    # negative control: entries of one size, that of the diagonal
    wrong = np.triu(noise) + np.triu(rng.normal(size=noise.shape), 1)
    wrong = np.triu(wrong) + np.triu(wrong, 1).transpose(0, 2, 1)
    assert np.einsum("nij,ij->n", wrong, along).var() / np.sum(along**2) > 1.1


def parts_of(order, features, sd):
    statistic, ball = DirectionalMoments(order), whole(3)
    return statistic.parts(view_from_centre(ball), np.asarray(features, dtype=float), sd, 0.0)


def test_parts_of_a_resultant():
    found = parts_of(1, [0.0, 0.3, 0.4], 0.01)
    assert np.allclose(found["direction"], [0.0, 0.6, 0.8])
    assert found["length"] == pytest.approx(0.5)
    assert found["corrected_length"] == pytest.approx(math.sqrt(0.25 - 3e-4))
    length = found["corrected_length"]
    kappa = found["kappa"]
    assert 1.0 / math.tanh(kappa) - 1.0 / kappa == pytest.approx(length, rel=1e-12)
    limit = 0.01 * math.sqrt(scipy.stats.chi2.isf(0.05, 3))
    assert found["length_limit"] == pytest.approx(limit)
    assert found["direction_significant"]
    assert found["direction_bound"] == pytest.approx(math.asin(limit / 0.5))
    assert found["resultant_sd"] == 0.01


def test_parts_where_noise_is_all():
    found = parts_of(1, [0.01, 0.0, 0.0], 0.1)
    assert (found["corrected_length"], found["kappa"]) == (0.0, 0.0)
    assert not found["direction_significant"]
    assert found["direction_bound"] == math.pi
    assert np.linalg.norm(parts_of(1, [0.0, 0.0, 0.0], 0.1)["direction"]) == 1.0
    assert parts_of(1, [1.2, 0.0, 0.0], 1e-9)["kappa"] == math.inf


def test_parts_where_the_noise_is_not_known():
    found = parts_of((1, 2), [0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0], math.nan)
    assert found["length"] == found["corrected_length"] == 0.5
    assert not found["direction_significant"]
    assert not found["axis_significant"]
    assert all(math.isnan(found[name]) for name in ("direction_bound", "axis_bound"))


def test_directions_are_within_their_bound():
    rng = np.random.default_rng(2)
    exact, sd, draws = np.array([0.0, 0.1, 0.2]), 0.08, 3000
    off, significant = 0, 0
    for row in exact + sd * rng.normal(size=(draws, 3)):
        found = parts_of(1, row, sd)
        angle = math.acos(found["direction"] @ exact / np.linalg.norm(exact))
        off += angle > found["direction_bound"]
        significant += parts_of(1, row - exact, sd)["direction_significant"]
    assert off < 0.05 * draws
    # of directions that cancel: the level, exactly
    assert scipy.stats.binomtest(significant, draws, 0.05).pvalue > 1e-4


def test_parts_of_both_are_in_one_release():
    points = directions(400, 3) * [1.0, 2.0, 5.0]
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    scatter = points.T @ points / 400
    exact = answer(DirectionalMoments((1, 2)).query(whole(3)), whole(3), points, 0.0)
    found = parts_of((1, 2), [float(x) for x in exact], 0.001)
    assert np.allclose(found["scatter"], scatter, atol=1e-9)
    assert np.allclose(found["resultant"], points.mean(axis=0), atol=1e-9)
    assert found["scatter_sd"] == pytest.approx(0.001 * math.sqrt(2.0), rel=1e-6)
    values, vectors = np.linalg.eigh(scatter)
    assert np.allclose(found["eigenvalues"], values[::-1])
    assert abs(found["axis"] @ vectors[:, -1]) == pytest.approx(1.0)
    assert found["axis"][np.argmax(np.abs(found["axis"]))] > 0.0
    assert found["axis_significant"]
    assert 0.0 < found["axis_bound"] < 0.1


def test_laplace_noise_exceeds_limits_more_often_than_gaussian_and_not_much():
    rng = np.random.default_rng(4)
    for dim, wanted in ((2, 0.0755), (3, 0.0829)):
        noise = rng.normal(size=(4000, dim))
        noise *= rng.gamma(dim, size=(4000, 1)) / np.linalg.norm(noise, axis=1, keepdims=True)
        sd = math.sqrt(dim + 1)  # of each entry
        statistic, view = DirectionalMoments(1), view_from_centre(whole(dim))
        found = sum(statistic.parts(view, row, sd, 0.0)["direction_significant"] for row in noise)
        assert scipy.stats.binomtest(int(found), 4000, wanted).pvalue > 1e-4
