"""What data do is not seen from outside: no warning, no refusal, no answer before the charge."""

from __future__ import annotations

import warnings

import mpmath
import numpy as np
import pytest

import riemdp
from riemdp import (
    GDP,
    Accountant,
    Ball,
    Chunks,
    ConvergenceError,
    Euclidean,
    Hyperbolic,
    PureDP,
    ReleaseFailedError,
    RiemdpError,
    SPDAffineInvariant,
    SPDLogEuclidean,
    Sphere,
    check,
    private_mean,
)
from riemdp.release import _run
from riemdp.statistics import FrechetMean, answer


def certified(ball, data, tol):
    """The Fréchet mean that a release is drawn about, in coordinates."""
    return np.array(answer(next(FrechetMean().queries(ball)), ball, data, tol), dtype=float)


#: Valid, and over so many decades that eigenvalue routines may not converge on it.
DECADES = np.array([1e-161, 1e-100, 1e100, 0.9])
WIDE = DECADES[:, None] * (0.3 + 0.7 * np.eye(4)) * DECADES


@pytest.mark.parametrize("kind", [SPDAffineInvariant, SPDLogEuclidean])
def test_a_record_over_hundreds_of_decades_is_no_reason_to_fail(kind, monkeypatch):
    ball = Ball(kind(4), np.eye(4), 1.0)
    data = np.repeat(ball.center[None], 5, axis=0)
    data[-1] = WIDE
    assert np.isfinite(private_mean(data, ball, PureDP(1.0)).value).all()
    plain = np.linalg.eigh

    def unconverged(matrices):
        if np.any(np.abs(np.asarray(matrices)[..., 0, 1] - 0.125) < 1e-9):
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        return plain(matrices)

    data[-1] = np.eye(4)
    data[-1, 0, 1] = data[-1, 1, 0] = 0.125
    expected = certified(ball, data, 1e-6)
    monkeypatch.setattr(np.linalg, "eigh", unconverged)
    assert np.linalg.norm(certified(ball, data, 1e-6) - expected) < 1e-9


@pytest.mark.parametrize(
    "record",
    [
        np.diag([1.7e308, 1e-28]),
        np.diag([1e308, 1e-20]),
        np.diag([1e20, 1e-310]),
        np.array([[1e300, 0.9e141], [0.9e141, 1e-18]]),
        np.array([[1e-310, 0.0], [0.0, 1e300]]),
    ],
)
def test_logarithms_of_2x2_matrices_hold_both_ends_of_float64(record):
    space = SPDLogEuclidean(2)
    found = space.to_chart(space.validate(record))
    with mpmath.workdps(700):
        values, vectors = mpmath.eigsy(mpmath.matrix(record.tolist()))
        exact = vectors * mpmath.diag([mpmath.log(x) for x in values]) * vectors.T
        truth = np.array([exact[0, 0], exact[1, 1], mpmath.sqrt(2) * exact[0, 1]], dtype=float)
    assert np.linalg.norm(found - truth) <= 1e-12 * np.linalg.norm(truth)


@pytest.mark.parametrize("radius", [1e-76, 1e76, 1e307])
def test_radii_whose_squares_leave_float64_are_refused_from_public_numbers(radius):
    ball = Ball(Euclidean(2), [0.0, 0.0], radius)
    account = Accountant(PureDP(1.0))
    with pytest.raises(riemdp.InvalidParameterError, match="must lie between 1e-75 and"):
        private_mean(
            np.zeros((3, 2)), ball, PureDP(1.0), accountant=account, mechanism="riemannian-laplace"
        )
    account.spend(PureDP(1.0), "all is left")


@pytest.mark.parametrize("radius", [1e-73, 1e73])
def test_the_most_extreme_radii_release_finite_values(radius):
    ball = Ball(Euclidean(2), [0.0, 0.0], radius)
    data = radius * np.random.default_rng(0).normal(size=(40, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", riemdp.PublicWarning)
        release = private_mean(data, ball, PureDP(1.0))
    assert np.isfinite(release.value).all()


def test_a_centre_at_the_other_end_of_float64_neither_warns_nor_fails():
    for manifold in (SPDAffineInvariant(3), SPDLogEuclidean(3), SPDAffineInvariant(2)):
        ball = Ball(manifold, 1e-200 * np.eye(manifold.k), 0.8)
        data = np.repeat(ball.center[None], 5, axis=0)
        data[2] = 1e200 * np.eye(manifold.k)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", riemdp.PublicWarning)
            release = private_mean(data, ball, PureDP(1.0), mechanism="riemannian-laplace")
        assert np.isfinite(release.value).all()


def test_the_tolerance_is_one_for_all_data_in_the_ball():
    """Records at the centre could be certified to less than the neighbour."""
    space = Hyperbolic(2)
    ball = Ball(space, space.origin, 3.0)
    same = np.repeat(space.origin[None], 20, axis=0)
    neighbour = same.copy()
    neighbour[0] = space.exp(space.origin, [0.0, 2.9, 0.0])
    account, query = Accountant(PureDP(10.0)), next(FrechetMean().queries(ball))
    for data in (same, neighbour):
        release = private_mean(data, ball, PureDP(1.0), accountant=account)
        assert release.tol >= 2.0 * query.rounding(ball) == pytest.approx(1.7e-11, rel=0.01)


def test_what_fails_after_the_checks_has_been_paid_for(monkeypatch):
    ball = Ball(Sphere(2), [0.0, 0.0, 1.0], 0.5)

    def fail(*_):
        raise ConvergenceError("as if the data were hard")

    monkeypatch.setattr(_run, "answer", fail)
    account = Accountant(PureDP(1.0))
    with pytest.raises(ReleaseFailedError):
        private_mean([[0.0, 0.0, 1.0]], ball, PureDP(1.0), accountant=account)
    with pytest.raises(riemdp.BudgetExceededError):
        private_mean([[0.0, 0.0, 1.0]], ball, PureDP(1.0), accountant=account)


def test_a_document_whose_tolerance_rounding_may_have_exceeded_does_not_verify():
    ball = Ball(SPDAffineInvariant(3), np.eye(3), 12.0)
    data = np.repeat(np.eye(3)[None], 4000, axis=0)
    release = private_mean(data, ball, PureDP(1.0), mechanism="riemannian-laplace")
    assert riemdp.verify(release).passed
    text = release.to_json()
    old = riemdp.Release.from_json(text.replace(repr(release.tol), repr(1e-3 * release.tol)))
    checks = {check.name: check for check in riemdp.verify(old).checks}
    assert not checks["sensitivity"].passed


class Panic(BaseException):
    """As compiled code of other languages raises it."""


@pytest.mark.parametrize("error", [SystemExit, Panic])
def test_an_iterator_that_ends_the_process_tells_nothing(error):
    def parts():
        yield np.zeros((10, 2))
        raise error("secret")

    account, ball = Accountant(GDP(5.0)), Ball(Euclidean(2), [0.0, 0.0], 1.0)
    with pytest.raises(ReleaseFailedError) as caught:
        private_mean(Chunks(parts, n=200), ball, GDP(1.0), accountant=account)
    assert "secret" not in str(caught.value)
    assert account.spent is not None
    with pytest.raises(RiemdpError) as caught:
        check(Chunks(parts, n=200), ball)
    assert "secret" not in str(caught.value)
