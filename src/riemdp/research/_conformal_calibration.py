"""Rates of the exponential mechanism on a net: by a Lipschitz constant, or exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from riemdp.research._graph_metric import graph_distance

if TYPE_CHECKING:
    import scipy

    from riemdp.research._net import BallNet
    from riemdp.spaces import FloatArray

#: Largest net that is calibrated exactly: all distances between its nodes are held at once.
LARGEST_EXACT_NET = 5000
#: Relative allowance for the rounding of distances, normalisers and losses.
_ROUNDING = 1e-9
#: Absolute one, over the largest log normaliser.
_ULPS = 64.0 * float(np.finfo(np.float64).eps)
_CHUNK = 256
_HALVINGS = 10


def lipschitz_rate(epsilon: float, lipschitz: float, sensitivity: float) -> float:
    """Rate at which a score with this Lipschitz constant is ``epsilon``-private.

    ``epsilon / (2 lipschitz sensitivity)``, rounded down: half of epsilon for the score, half for
    the normaliser. The constant is that of the score in the footpoint, with respect to geodesic
    distance; docs/proofs/conformal-laplace.md, Lemma 1.
    """
    return epsilon / (2.0 * lipschitz * sensitivity) * (1.0 - _ROUNDING)


def drawn_error(log_weights: FloatArray, exponent: float) -> float:
    """Largest error of a loss, as log probabilities are computed and nodes drawn in float64.

    From logarithms of the base measure, and the largest rate times score;
    docs/proofs/conformal-laplace.md, What is only numerical.
    """
    return _ULPS * (1.0 + float(np.ptp(log_weights)) + exponent)


def snapped_rate(
    net: BallNet,
    graph: scipy.sparse.csr_matrix,
    log_weights: FloatArray,
    epsilon: float,
    sensitivity: float,
) -> float:
    """Largest rate found at which snapped footpoints are ``epsilon``-private; it is positive.

    Footpoints are moved to their nearest node; those of neighbours end at most
    ``sensitivity + 2 covering_radius`` apart. Over all such pairs of nodes, of at most
    :data:`LARGEST_EXACT_NET`, the loss is taken exactly. With a distance for a score, the largest
    loss of a pair is ``rate dist(u, v)`` plus the difference of the log normalisers. The loss was
    evaluated at this very rate, or it is the rate that always holds;
    docs/proofs/conformal-laplace.md, Proposition 3.
    """
    dist = graph_distance(graph, np.arange(len(net.points)))
    first, second, _ = net.close_pairs(sensitivity + 2.0 * net.covering_radius)
    apart = dist[first, second]

    def loss(rate: float) -> float:
        """Largest log ratio of the probabilities of a node from two neighbouring footpoints."""
        log_mass = _log_mass(dist, log_weights, rate)
        between = np.abs(log_mass[first] - log_mass[second])
        rounding = _ULPS * (1.0 + np.max(np.abs(log_mass)))  # counts at a tiny epsilon
        return float(np.max(rate * apart + between) + rounding)

    limit = epsilon * (1.0 - _ROUNDING)
    # The normalisers differ by at most rate * dist, so this rate always holds, and twice it never.
    low = 0.5 * limit / float(np.max(apart)) * (1.0 - _ROUNDING)
    high = 2.0 * low
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        if loss(middle) <= limit:
            low = middle
        else:
            high = middle
    return low


def _log_mass(dist: FloatArray, log_weights: FloatArray, rate: float) -> FloatArray:
    """Log normaliser of each node's law, shape ``(J,)``."""
    parts = []
    for start in range(0, len(dist), _CHUNK):
        exponent = log_weights - rate * dist[start : start + _CHUNK]
        peak = np.max(exponent, axis=-1, keepdims=True)
        parts.append(peak[:, 0] + np.log(np.sum(np.exp(exponent - peak), axis=-1)))
    return np.concatenate(parts)
