"""Means of clipped affine-invariant records, in the coordinates that noise is added to."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest

from riemdp import Ball, SPDAffineInvariant, UnsupportedBallError, frechet_mean_sensitivity
from riemdp.release._offer import computed_sensitivity
from riemdp.spaces import _symmetric
from riemdp.spaces._spd_affine_invariant import logarithms_from
from riemdp.statistics import FrechetMean, ReplaceOne, TangentMean, answer
from riemdp.statistics._footpoint import Footpoint
from riemdp.statistics.curved import _descent_affine_invariant
from riemdp.statistics.curved._descent_affine_invariant import _Clipped


def certified(ball, data, tol):
    """The Fréchet mean that a release is drawn about, in coordinates."""
    return np.array(answer(Footpoint(), ball, data, tol), dtype=float)


def sensitivity_of(mean, ball, n, metric):
    query = next(mean.queries(ball))
    return computed_sensitivity(mean, query, ball, n, metric, ReplaceOne())


def function_of(matrix, function):
    values, vectors = mpmath.eigsy((matrix + matrix.T) / 2)
    return vectors * mpmath.diag([function(x) for x in values]) * vectors.T


def norm(matrix):
    return mpmath.sqrt(mpmath.fsum(x * x for x in matrix))


def exact(array):
    return mpmath.matrix(np.asarray(array).tolist())


def exact_gradient(point, records):
    """Mean of the logarithms as seen from ``exp(point)``."""
    root = function_of(point, lambda x: mpmath.exp(-x / 2))
    total = mpmath.zeros(point.rows)
    for record in records:
        total += function_of(root * record * root, mpmath.log)
    return total / len(records)


def exact_mean(point, records, accuracy):
    """Mean of the records, by gradient descent from ``exp(point)``, as a logarithm."""
    for _ in range(400):
        gradient = exact_gradient(point, records)
        if norm(gradient) < accuracy:
            return point
        half = function_of(point, lambda x: mpmath.exp(x / 2))
        step = function_of(gradient * mpmath.mpf("0.4"), mpmath.exp)
        point = function_of(half * step * half, mpmath.log)
    raise AssertionError("the reference did not converge")


def exact_distance(first, second):
    """Geodesic distance of ``exp(first)`` and ``exp(second)``."""
    root = function_of(first, lambda x: mpmath.exp(-x / 2))
    return norm(function_of(root * function_of(second, mpmath.exp) * root, mpmath.log))


def awkward_matrix(rng, k, kind):
    """Symmetric matrix of norm one, the logarithm of a record or a point on the boundary."""
    if kind == "graded":  # D C D
        scale = 10.0 ** rng.uniform(-8, 8, k)
        factors = rng.normal(size=(k, 2 * k))
        levels, frame = _symmetric.log_eigh((scale[:, None] * (factors @ factors.T) * scale)[None])
        matrix = _symmetric.compose(levels, frame)[0]
    elif kind == "rank one":
        vector = rng.normal(size=k)
        matrix = np.outer(vector, vector)
    elif kind == "opposite":  # the largest condition number
        frame = np.linalg.qr(rng.normal(size=(k, k)))[0]
        matrix = _symmetric.compose(np.r_[-1.0, np.zeros(k - 2), 1.0], frame)
    else:
        matrix = _symmetric.symmetrise(rng.normal(size=(k, k)))
    return matrix / np.linalg.norm(matrix)


@pytest.mark.parametrize(
    ("radius", "kind"), [(0.5, "graded"), (0.5, "opposite"), (4.0, "opposite"), (9.0, "graded")]
)
def test_the_coordinates_lie_within_the_tolerance_of_the_exact_mean(radius, kind):
    """In geodesic distance, from the very coordinates that are handed to the sampler."""
    rng = np.random.default_rng(5)
    space = SPDAffineInvariant(3)
    ball = Ball(space, np.eye(3), radius)
    logarithms = radius * np.array([awkward_matrix(rng, 3, kind) for _ in range(3)])
    data = space.validate(_symmetric.expm(logarithms)) if radius < 5.0 else None
    if data is None:  # rounding of such matrices is large: take records that it leaves alone
        scale = np.exp(rng.uniform(-0.4, 0.4, (3, 3)) * radius)
        factors = rng.normal(size=(3, 3, 6))
        data = scale[:, :, None] * (factors @ np.swapaxes(factors, 1, 2)) * scale[:, None, :]
        data = space.validate(_symmetric.symmetrise(data))
    tol = Footpoint().tolerance(ball, frechet_mean_sensitivity(ball, 3))
    mean = _symmetric.unvecd(certified(ball, data, tol), 3)
    logarithms = logarithms_from(ball.center, data)
    norms = np.linalg.norm(logarithms, axis=(1, 2))
    logarithms *= np.minimum(1.0, radius / norms)[:, None, None]
    with mpmath.workdps(50):
        records = [function_of(exact(each), mpmath.exp) for each in logarithms]
        truth = exact_mean(exact(mean), records, 1e-3 * tol)
        assert exact_distance(exact(mean), truth) <= tol


#: A graded matrix on which a logarithm through plain eigenvalues moved by 16 sensitivities.
GRADED = np.array(
    [
        [0.6988484284389117, -4.473638830593285e-05, -183.03240016058112],
        [-4.473638830593285e-05, 2.872528638943215e-07, 0.34501256103191075],
        [-183.03240016058112, 0.34501256103191075, 4981414.032976244],
    ]
)


@pytest.mark.parametrize("radius", [3.0, 8.0, 12.0, 15.0])
def test_one_graded_record_moves_the_mean_by_no_more_than_the_sensitivity(radius):
    ball, n = Ball(SPDAffineInvariant(3), np.eye(3), radius), 500
    data = np.repeat(GRADED[None], n, axis=0)
    other = data.copy()
    other[-1] *= 1.5
    sensitivity, tol = sensitivity_of(FrechetMean(), ball, n, "distance")
    move = certified(ball, data, tol) - certified(ball, other, tol)
    assert np.linalg.norm(move) <= sensitivity


@pytest.mark.parametrize(
    ("radius", "n"), [(22.0, 200_000), (22.0, 20_000), (21.0, 100_000), (1500.0, 7)]
)
def test_balls_that_float64_cannot_certify_are_refused_from_public_numbers(radius, n):
    ball = Ball(SPDAffineInvariant(3), np.eye(3), radius)
    with pytest.raises(UnsupportedBallError, match="cannot be certified"):
        sensitivity_of(FrechetMean(), ball, n, "distance")
    sensitivity, _ = sensitivity_of(TangentMean(), ball, n, "coordinates")
    assert sensitivity == pytest.approx(2.0 * radius / n, rel=1e-5)


def test_the_plain_logarithm_of_the_mean_would_exceed_the_sensitivity():
    """What went wrong: eigenvalues of the matrix are known to eps times the largest one only."""
    rng = np.random.default_rng(1)
    scale = 10.0 ** np.array([0.0, 6.0, -6.0])
    factors = rng.normal(size=(3, 6))
    matrix = scale[:, None] * (factors @ factors.T) * scale
    matrix = 0.5 * (matrix + matrix.T)
    good = _symmetric.compose(*_symmetric.log_eigh(matrix[None]))[0]
    with mpmath.workdps(50):
        truth = function_of(exact(matrix), mpmath.log)
        values, vectors = np.linalg.eigh(matrix)
        plain = _symmetric.compose(np.log(np.abs(values)), vectors)
        assert norm(truth - exact(good)) < 1e-12
        assert norm(truth - exact(plain)) > 1e-6


def test_few_passes_are_enough(monkeypatch):
    passes = []
    evaluate = _Clipped.evaluate
    monkeypatch.setattr(
        _Clipped, "evaluate", lambda self, point: passes.append(1) or evaluate(self, point)
    )
    rng = np.random.default_rng(3)
    ball = Ball(SPDAffineInvariant(4), np.eye(4), 3.0)
    data = ball.point(rng.normal(size=(300, 10)))
    tol = Footpoint().tolerance(ball, frechet_mean_sensitivity(ball, 300))
    certified(ball, data, tol)
    assert len(passes) <= 8
    monkeypatch.setattr(_descent_affine_invariant, "_accelerated", lambda p, s: p[-1] + s[-1])
    passes.clear()
    certified(ball, data, tol)
    assert len(passes) > 12  # the control


@pytest.mark.parametrize(
    ("radius", "angle"), [(7.714773384415859, 0.41738030446221774), (16.0, 2.1891139240506328)]
)
def test_newton_steps_do_not_alternate_between_two_points(radius, angle):
    """Two clusters on the boundary: full steps decrease the objective by a hundredth each time."""
    space, n = SPDAffineInvariant(2), 50
    turned = np.array([[np.cos(angle), np.sin(angle)], [np.sin(angle), -np.cos(angle)]])
    pair = _symmetric.expm(radius / np.sqrt(2.0) * np.array([np.diag([1.0, -1.0]), turned]))
    ball = Ball(space, np.eye(2), radius)
    tol = Footpoint().tolerance(ball, frechet_mean_sensitivity(ball, n))
    mean = certified(ball, np.repeat(pair, n // 2, axis=0), tol)
    middle = space.exp(pair[0], 0.5 * space.log(pair[0], pair[1]))  # of two points, in closed form
    assert space.dist(ball.point(mean), middle) <= 1e-4 * radius
