"""The exponential mechanism on a public net with the distance of a public conformal metric."""

from __future__ import annotations

import bisect
import itertools
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import scipy

from riemdp._array_fields import ArrayFields
from riemdp._checks import positive, real_array, shown
from riemdp._errors import (
    InvalidBudgetError,
    InvalidParameterError,
    NotAttainableError,
    UnsupportedBallError,
)
from riemdp._part import both_proved
from riemdp.mechanisms._calibration import check_sensitivity
from riemdp.noise import resolve_generator
from riemdp.privacy import PureDP
from riemdp.research._conformal_calibration import (
    LARGEST_EXACT_NET,
    drawn_error,
    lipschitz_rate,
    snapped_rate,
)
from riemdp.research._graph_metric import (
    check_positive,
    conformal_graph,
    entered_distance,
    graph_distance,
)
from riemdp.research._net import ROUNDING, BallNet, ball_net, nodes_for
from riemdp.research._polar import leading_axes
from riemdp.spaces import Ball, ball_proofs, check_ball

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray

#: Log probability of the least likely nodes: nobody ever sees a draw of one.
_LEAST_LOG = -1000.0


@dataclass(frozen=True, eq=False)
class NetLaplace(ArrayFields):
    """Law on a public net, proportional to ``w(z) exp(-rate score(footpoint, z))``.

    The base measure ``w`` is the conformal volume of the node's cell, times a public prior if there
    is one. The score is either ``min_u [sqrt(max factor) dist(footpoint, u) + dist_G(u, z)]`` over
    all nodes u, which is Lipschitz with constant ``sqrt(max factor)`` however coarse the graph, or
    the graph distance from the node nearest to the footpoint (``snapped``), whose loss is computed
    exactly. Of the two the one with the larger rate is taken. Nothing here depends on data but the
    footpoint. See docs/proofs/conformal-laplace.md.

    Footpoints lie in the public ``ball``, which the region of the public ``net`` contains.
    ``factor`` and ``prior``, shape (J,), are public, positive and finite at the nodes; the prior is
    a density up to a constant. One draw has privacy ``epsilon`` where footpoints of neighbouring
    data sets are at most ``sensitivity`` apart.

    ``NotAttainableError`` where the net is too coarse for the noise, its covering radius over
    ``sensitivity / epsilon``, or ``epsilon`` so small, about 1e-12, that float64 does not carry the
    probabilities well enough; ``UnsupportedBallError`` where the region does not contain the ball.
    """

    ball: Ball
    net: BallNet = field(repr=False)
    factor: FloatArray = field(repr=False)
    epsilon: float
    sensitivity: float
    prior: FloatArray | None = field(default=None, repr=False, kw_only=True)
    rate: float = field(init=False)
    snapped: bool = field(init=False)
    _graph: scipy.sparse.csr_matrix = field(init=False, repr=False)
    _log_weights: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        epsilon = positive(self.epsilon, "epsilon", error=InvalidBudgetError)
        sensitivity = check_sensitivity(self.sensitivity)
        check_region(self.ball, self.net.ball)
        check_spacing(self.net, epsilon, sensitivity)
        factor = at_nodes(self.net, self.factor, "the conformal factor")
        prior = at_nodes(self.net, np.ones(factor.shape) if self.prior is None else self.prior)
        graph = conformal_graph(self.net, factor)
        dim = self.ball.manifold.dim
        log_weights = np.log(self.net.volumes) + 0.5 * dim * np.log(factor) + np.log(prior)
        log_weights -= np.max(log_weights)
        log_weights.flags.writeable = False
        ceiling = math.sqrt(float(np.max(factor)))
        # a score is at most the way to the nearest node and from there on through the first one
        farthest = float(np.max(graph_distance(graph, np.zeros(1, dtype=np.intp))))
        largest = 2.0 * farthest + ceiling * self.net.covering_radius
        rate = lipschitz_rate(epsilon, ceiling, sensitivity)
        error = drawn_error(log_weights, 2.0 * rate * largest)  # no rate is over twice this one
        _check_error(error, epsilon)
        kept = epsilon - error
        rate = lipschitz_rate(kept, ceiling, sensitivity)
        snapped = False
        if len(factor) <= LARGEST_EXACT_NET:
            exact = snapped_rate(self.net, graph, log_weights, kept, sensitivity)
            rate, snapped = max((rate, False), (exact, True))
        for name, value in (
            ("epsilon", epsilon),
            ("sensitivity", sensitivity),
            ("factor", factor),
            ("prior", prior),
            ("rate", rate),
            ("snapped", snapped),
            ("_graph", graph),
            ("_log_weights", log_weights),
        ):
            object.__setattr__(self, name, value)

    @property
    def nodes(self) -> FloatArray:
        r"""Points that a draw may be, shape ``(J, *point_shape)``."""
        return self.net.points

    @property
    def proven(self) -> bool:
        """Whether the guarantee is proved: of this very class, on an unchanged net and ball."""
        claims = both_proved(ball_proofs(self.ball), ball_proofs(self.net.ball))
        ours = type(self) is NetLaplace and type(self.net) is BallNet
        return ours and None not in claims.values()

    @property
    def guarantee(self) -> PureDP:
        """Guarantee of one draw."""
        return PureDP(self.epsilon)

    def score(self, footpoint: ArrayLike) -> FloatArray:
        r"""Score that the law penalises, in units of the conformal metric, shape ``(\*batch, J)``.

        Footpoints, ``(\*batch, \*point_shape)``, outside the ball are an ``UnsupportedBallError``.
        """
        manifold = self.ball.manifold
        footpoint = manifold.validate(footpoint)
        if not np.all(self.ball.contains(footpoint)):
            raise UnsupportedBallError(
                f"the footpoint must lie in the ball of radius {self.ball.radius:g}; "
                "project it first with ball.project"
            )
        batch = footpoint.shape[: footpoint.ndim - len(manifold.point_shape)]
        points = footpoint.reshape(-1, *manifold.point_shape)
        if self.snapped:
            scores = graph_distance(self._graph, self.net.nearest(points))
        else:
            ceiling = math.sqrt(float(np.max(self.factor)))
            scores = np.empty((len(points), len(self.nodes)))
            for row, point in zip(scores, points, strict=True):
                row[:] = entered_distance(self._graph, ceiling * self.net.distances(point))
        return scores.reshape(*batch, len(self.nodes))

    def log_probabilities(self, footpoint: ArrayLike) -> FloatArray:
        r"""Log probability of every node, shape ``(\*batch, J)``, for footpoints of the ball."""
        return normalised(self._log_weights - self.rate * self.score(footpoint))

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        r"""Exact draws, nodes ``(\*size, \*batch, \*point_shape)``; each costs ``epsilon``.

        By a new secure generator, if no other one is given: a seeded one makes the draw
        predictable, hence not private.
        """
        generator = resolve_generator(generator)
        axes = leading_axes(size)
        log_probabilities = self.log_probabilities(footpoint)
        batch = log_probabilities.shape[:-1]
        rows = log_probabilities.reshape(-1, len(self.nodes))
        index = np.empty((math.prod(axes), len(rows)), dtype=np.intp)
        for column, row in enumerate(rows):
            index[:, column] = _drawn(integer_weights(row), len(index), generator)
        return self.nodes[index].reshape(*axes, *batch, *self.ball.manifold.point_shape)

    def expected_distance(self, footpoint: ArrayLike) -> FloatArray:
        """Mean geodesic distance between footpoint and draw; private if the footpoint is."""
        manifold = self.ball.manifold
        points = np.expand_dims(manifold.validate(footpoint), -1 - len(manifold.point_shape))
        probability = np.exp(self.log_probabilities(footpoint))
        return np.asarray(np.sum(probability * manifold.dist(points, self.nodes), axis=-1))


def normalised(log_weights: FloatArray) -> FloatArray:
    """Log probabilities in proportion to weights along the last axis."""
    shifted = log_weights - np.max(log_weights, axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True)))


def integer_weights(log_probabilities: FloatArray) -> list[int]:
    """Integers in proportion to probabilities, each to 52 bits.

    Float64 sums of probabilities would change the small ones by much more. Logarithms under -1000
    are raised to it.
    """
    bits = np.maximum(log_probabilities, _LEAST_LOG) / math.log(2.0)
    whole = np.floor(bits)
    mantissa = np.exp2(bits - whole + 52.0).astype(np.int64)
    shift = (whole - np.min(whole)).astype(np.int64)
    return [m << s for m, s in zip(mantissa.tolist(), shift.tolist(), strict=True)]


def _drawn(weights: list[int], count: int, generator: np.random.Generator) -> list[int]:
    """Draw indices in proportion to integers, to a relative error of ``2**-64``."""
    cumulative = list(itertools.accumulate(weights))
    size = (cumulative[-1].bit_length() + 64 + 7) // 8
    data = generator.bytes(size * count)
    uniform = (int.from_bytes(data[i : i + size], "big") for i in range(0, len(data), size))
    return [bisect.bisect_right(cumulative, (u * cumulative[-1]) >> 8 * size) for u in uniform]


def public_net(ball: Ball, region: Ball | None, nodes: int) -> BallNet:
    """Net of the output region, which is the ball itself by default."""
    region = ball if region is None else region
    check_ball(ball)
    check_ball(region, "region")
    check_region(ball, region)
    return ball_net(region, nodes)


def at_nodes(net: BallNet, values: ArrayLike, what: str = "the prior") -> FloatArray:
    """Read-only copy of one positive finite number for each node."""
    array = np.array(check_positive(real_array(values, what), what))
    if array.shape != net.volumes.shape:
        raise InvalidParameterError(
            f"{what} must have shape {net.volumes.shape}, one number for each node, got "
            f"{array.shape}"
        )
    array.flags.writeable = False
    return array


def evaluated(function: Callable[[FloatArray], ArrayLike], net: BallNet, what: str) -> FloatArray:
    """Values of a callable at the nodes, checked to be one positive finite number each."""
    if not callable(function):
        raise InvalidParameterError(
            f"{what} must be a function of points, of shape (J, *point_shape), that returns J "
            f"positive numbers; got {shown(function)}"
        )
    return at_nodes(net, function(net.points), what)


def check_region(ball: Ball, region: Ball) -> None:
    """Require that the output region contains the ball."""
    if region is ball or region == ball:
        return
    if region.manifold != ball.manifold:
        raise InvalidParameterError(
            f"the region belongs to {region.manifold}, the ball to {ball.manifold}"
        )
    needed = float(ball.manifold.dist(ball.center, region.center)) + ball.radius
    if region.radius < needed:
        raise UnsupportedBallError(
            f"the region must contain the ball: about its centre it needs a radius of "
            f"{needed:.6g}, got {region.radius:.6g}"
        )


def check_spacing(net: BallNet, epsilon: float, sensitivity: float) -> None:
    """Refuse nets that are too coarse for the noise."""
    limit = sensitivity / epsilon
    if net.covering_radius > limit:
        raise NotAttainableError(
            f"the net of {len(net.points)} nodes has covering radius {net.covering_radius:.6g}, "
            f"more than sensitivity/epsilon = {limit:.6g}, the scale of the noise; that takes "
            f"about {nodes_for(net.ball, limit)} nodes, or use a smaller region, or noise without "
            'a net: RiemannianLaplace ("riemannian-laplace"), PublicPriorLaplace, '
            "ConformalRejection"
        )


def check_rounding(net: BallNet, epsilon: float, sensitivity: float, spread: float) -> None:
    """Refuse nets on which the law of some factor would be refused, from public numbers.

    The spread is the largest difference of two logarithms of the factor; see :class:`NetLaplace`.
    """
    # a path is at most as long as with the largest factor everywhere, which the rate divides by
    graph = conformal_graph(net, np.ones(len(net.points)))
    farthest = float(np.max(graph_distance(graph, np.zeros(1, dtype=np.intp))))
    exponent = 2.0 * lipschitz_rate(epsilon, 1.0, sensitivity)
    exponent *= (2.0 * farthest + net.covering_radius) * (1.0 + ROUNDING)
    weights = 0.5 * net.ball.manifold.dim * spread
    _check_error(drawn_error(np.log(net.volumes), exponent + weights), epsilon)


def _check_error(error: float, epsilon: float) -> None:
    if error > 0.5 * epsilon:
        raise NotAttainableError(
            f"epsilon = {epsilon:g} is too small for this net: rounding alone may change the "
            f"log ratio of two probabilities by {error:.2g}, and at least {2.0 * error:.2g} "
            "is needed; use a larger epsilon or fewer nodes"
        )
