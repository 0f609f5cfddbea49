"""Random pairs of laws, and what they really guarantee."""

from dataclasses import dataclass
from functools import cached_property

import mpmath
import numpy as np
import pytest
import scipy

#: Orders minus 1, and exponents of the moment generating function of the loss: 1, 3 and more.
_SHIFTS = np.concatenate([[1.0, 3.0], np.geomspace(0.1, 1e4, 28)])
#: A supremum over these is within 5 % of the supremum (refined on the worst of the pairs).
_GRID_GAP = 1.05


@dataclass(frozen=True)
class Pairs:
    """Pairs of laws ``p`` and ``q`` on finitely many outcomes, shape (pairs, outcomes)."""

    p: np.ndarray
    q: np.ndarray

    def __len__(self):
        return len(self.p)

    def _both(self, measure):
        return np.maximum(measure(self.p, self.q), measure(self.q, self.p))

    def delta(self, epsilon):
        return self._both(lambda p, q: np.maximum(p - np.exp(epsilon) * q, 0.0).sum(axis=1))

    def renyi(self, order):
        def divergence(p, q):
            loss = np.log(p) - np.log(q)
            return scipy.special.logsumexp((order - 1.0) * loss, b=p, axis=1) / (order - 1.0)

        return self._both(divergence)

    @cached_property
    def pure(self):
        return np.max(np.abs(np.log(self.p) - np.log(self.q)), axis=1)

    @cached_property
    def kl(self):
        return self._both(lambda p, q: np.sum(p * (np.log(p) - np.log(q)), axis=1))

    @cached_property
    def zcdp(self):
        rates = [self.renyi(1.0 + shift) / (1.0 + shift) for shift in _SHIFTS]
        return _GRID_GAP * np.max([self.kl, *rates], axis=0)

    @cached_property
    def gdp(self):
        def mu(p, q):
            rows = np.argsort(np.log(q) - np.log(p), axis=1)
            p, q = np.take_along_axis(p, rows, 1), np.take_along_axis(q, rows, 1)
            power, alpha = np.cumsum(p, axis=1)[:, :-1], np.cumsum(q, axis=1)[:, :-1]
            miss = np.cumsum(p[:, ::-1], axis=1)[:, -2::-1]
            keep = np.cumsum(q[:, ::-1], axis=1)[:, -2::-1]
            quantile = np.where(power < 0.5, scipy.special.ndtri(power), -scipy.special.ndtri(miss))
            level = np.where(alpha < 0.5, scipy.special.ndtri(alpha), -scipy.special.ndtri(keep))
            return np.max(quantile - level, axis=1)

        return self._both(mu)

    @cached_property
    def tau(self):
        def proxy(p, q):
            loss = np.log(p) - np.log(q)
            loss -= np.sum(p * loss, axis=1, keepdims=True)
            proxies = [np.sum(p * loss**2, axis=1)]
            for t in np.concatenate([_SHIFTS, -_SHIFTS]):
                proxies.append(2.0 / t**2 * scipy.special.logsumexp(t * loss, b=p, axis=1))
            return np.sqrt(_GRID_GAP * np.maximum(np.max(proxies, axis=0), 0.0))

        return self._both(proxy)

    @cached_property
    def angle(self):
        square = np.sum((np.sqrt(self.p) - np.sqrt(self.q)) ** 2, axis=1)
        return 4.0 * np.arcsin(np.minimum(0.5 * np.sqrt(square), np.sqrt(0.5)))

    def then(self, first, second):
        """Draw from these; the second draw is from one of two pairs, by the first outcome."""
        half = self.p.shape[1] // 2
        p2 = np.stack([first.p] * half + [second.p] * half, axis=1)
        q2 = np.stack([first.q] * half + [second.q] * half, axis=1)
        joint = (len(self), -1)
        p, q = self.p[:, :, None] * p2, self.q[:, :, None] * q2
        return Pairs(p.reshape(joint), q.reshape(joint))


def _draw(generator, size):
    scale = np.exp(generator.uniform(np.log(1e-2), np.log(6.0), (size, 1)))
    base = generator.normal(size=(size, 4)) * generator.uniform(0.0, 4.0, (size, 1))
    shift = generator.normal(size=(size, 4)) * scale
    third = size // 3
    # two outcomes, each halved; then a third of randomised response
    base[: 2 * third, 2:] = base[: 2 * third, :2]
    shift[: 2 * third, 2:] = shift[: 2 * third, :2]
    base[:third] = 0.0
    shift[:third] = scale[:third] * np.array([0.5, -0.5, 0.5, -0.5])
    p, q = (scipy.special.softmax(base + sign * shift, axis=1) for sign in (0.5, -0.5))
    return Pairs(p, q)


def _sizes(few, many):
    return [few, pytest.param(many, marks=pytest.mark.slow)]


@pytest.fixture(scope="session", params=_sizes(12_000, 120_000))
def pairs(request):
    """Thousands of pairs: binary, randomised response, four outcomes."""
    return _draw(np.random.default_rng(20), request.param)


@pytest.fixture(scope="session", params=_sizes(4_000, 40_000))
def triples(request):
    """First pairs, and two alternatives of second ones."""
    generator = np.random.default_rng(21)
    return tuple(_draw(generator, request.param) for _ in range(3))


@pytest.fixture
def exact_kink():
    """``log(Phi(mu/2)/Phi(-mu/2))`` in high precision: the pure epsilon of the same ``mu``."""

    def kink(mu):
        with mpmath.workdps(50):
            half = mpmath.mpf(mu) / (2 * mpmath.sqrt(2))
            return mpmath.log(mpmath.erfc(-half) / mpmath.erfc(half))

    return kink
