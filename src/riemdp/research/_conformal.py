"""Conformal noise: with a public factor, and with a private one."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import scale
from riemdp._described import Described
from riemdp.noise import source_of
from riemdp.privacy import PureDP
from riemdp.release._charging import after_charge, charged, check_relation
from riemdp.release._least_error import check_accountant
from riemdp.research._conformal_density import (
    LARGEST_SCALING,
    cell_counts,
    cell_number,
    density_factor,
    noisy_cell_counts,
    split_budget,
)
from riemdp.research._net import BallNet, ball_net
from riemdp.research._net_laplace import (
    NetLaplace,
    check_rounding,
    check_spacing,
    evaluated,
    public_net,
)
from riemdp.research._records import checked_records, mean_sensitivity, unopened
from riemdp.statistics import FrechetMean, ReplaceOne

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from riemdp.privacy import Anchor
    from riemdp.release._options import SupportsSpend
    from riemdp.spaces import Ball, FloatArray


@dataclass(frozen=True, eq=False)
class ConformalLaplace(ArrayFields, Described):
    """Laplace noise in a conformal metric, over a finite public net of a ball.

    Made by :meth:`public` or :meth:`private`, both proved. At equal epsilon neither was found to
    beat plain :class:`riemdp.RiemannianLaplace`; see the user guide.

    Attributes
    ----------
    law : NetLaplace
        The law of a draw.
    epsilon : float
        Total: the density, if it was private, and one draw.
    epsilon_density : float
        Part of it that the density took; 0 with a public factor.
    anchor : Anchor or None
        Of the charge in a durable ledger; None where there was no such account.

    References
    ----------
    He, Tang, Rahimian, Joshi, "Conformal-DP: Data Density Aware Privacy on Riemannian Manifolds via
    Conformal Transformation", 2025, for the idea; docs/proofs/conformal-laplace.md for the proof.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    >>> from riemdp.research import ConformalLaplace
    >>> law = ConformalLaplace.public(ball, lambda x: 1.0 + x[:, 2], 1.0, 0.1, nodes=200)
    >>> law.guarantee, law.sample(ball.center, generator=np.random.default_rng(0)).shape
    (PureDP(epsilon=1.0), (3,))
    """

    law: NetLaplace
    epsilon: float
    epsilon_density: float = 0.0
    anchor: Anchor | None = None

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        law = self.law
        return "Conformal Laplace noise, one private draw", [
            ("epsilon", f"{self.epsilon:.4g}, {self.epsilon_density:.4g} of it for the density"),
            ("sensitivity", f"{law.sensitivity:.4g}"),
            ("space", f"{law.ball.manifold}, ball of radius {law.ball.radius:.4g}"),
            ("nodes", f"{len(law.factor):,}"),
        ]

    @classmethod
    def public(
        cls,
        ball: Ball,
        conformal_factor: Callable[[FloatArray], ArrayLike] | ArrayLike,
        epsilon: float,
        sensitivity: float,
        nodes: int = 2000,
        *,
        prior: Callable[[FloatArray], ArrayLike] | None = None,
        region: Ball | None = None,
        cells: int | None = None,
    ) -> ConformalLaplace:
        r"""Noise in the metric of a public conformal factor.

        Parameters
        ----------
        ball : Ball
            Public ball in which footpoints lie; of dimension at most 3.
        conformal_factor : callable or array_like, shape (m, \*point_shape)
            Function of points ``(J, *point_shape)`` that returns J positive finite numbers; or
            public points, whose density makes the factor as in :meth:`private`, without noise.
        epsilon : float
            Privacy of one draw.
        sensitivity : float
            Largest distance between the footpoints of neighbouring data sets.
        nodes : int, default 2000
            Upper limit of the number of nodes. Up to 5,000 the noise is also calibrated exactly.
        prior : callable, optional
            Public density up to a constant, a function like ``conformal_factor``, that multiplies
            the base measure. With a constant factor this is :class:`PublicPriorLaplace` on
            a net.
        region : Ball, optional
            Public ball that draws lie in; it has to contain ``ball``, which is the default.
        cells : int, optional
            Upper limit of the number of cells of the partition that points are counted in.

        Returns
        -------
        ConformalLaplace

        Raises
        ------
        InvalidBudgetError, InvalidParameterError
            If a number is outside its domain, the factor not positive and finite, or the
            dimension above 3.
        NotAttainableError
            If the net is too coarse: its covering radius exceeds ``sensitivity / epsilon``.
        UnsupportedBallError
            If the region does not contain the ball.
        UnsupportedManifoldError
            If the curvature is not constant.
        """
        net = public_net(ball, region, nodes)
        if callable(conformal_factor):
            factor = evaluated(conformal_factor, net, "conformal_factor")
        else:
            public = checked_records(net.ball, conformal_factor)
            partition = _partition(net, cells, math.inf)
            factor = density_factor(net, partition, cell_counts(partition, public), len(public))
        weights = None if prior is None else evaluated(prior, net, "prior")
        law = NetLaplace(ball, net, factor, epsilon, sensitivity, prior=weights)
        return cls(law, law.epsilon)

    @classmethod
    def private(
        cls,
        points: ArrayLike,
        ball: Ball,
        epsilon: float,
        epsilon_density: float | None = None,
        *,
        sensitivity: float | None = None,
        nodes: int = 2000,
        cells: int | None = None,
        contract_dense: bool = False,
        generator: np.random.Generator | None = None,
        accountant: SupportsSpend | None = None,
        n: int | None = None,
    ) -> ConformalLaplace:
        r"""Noise in a metric that follows the data, whose density is itself released privately.

        Parameters
        ----------
        points : array_like, shape (n, \*point_shape)
            Private records; those outside the ball are projected onto it.
        ball : Ball
            Public ball of dimension at most 3, chosen without looking at the data.
        epsilon : float
            Total for the density and **one** draw about the footpoint of these records.
        epsilon_density : float, optional
            Part of the total for the density; a tenth by default.
        sensitivity : float, optional
            Largest distance between the footpoints of neighbouring data sets; by default that of
            ``frechet_mean(manifold, ball.project(points), ball=ball)``, tolerance included. The
            mean of records that were not projected has none.
        nodes, cells : int
            See :meth:`public`.
        contract_dense : bool, default False
            Whether the factor is small where the data are dense, as published. The default is the
            other sign, which makes less noise near the data.
        generator : numpy.random.Generator, optional
            Noise of the density; a new secure generator by default. A seeded one makes
            the noise predictable, hence neither density nor draws private.
        accountant, n
            As in :func:`riemdp.private_statistic`: charged with the total, before the records are
            opened.

        Returns
        -------
        ConformalLaplace
            It may be published: nothing in it tells more than the noisy density.

        Raises
        ------
        InvalidBudgetError, InvalidParameterError, NotAttainableError, UnsupportedManifoldError
            See :meth:`public`.
        NotOnManifoldError
            If a record is not on the manifold.
        """
        part, rest = split_budget(epsilon, epsilon_density)
        if sensitivity is not None:
            sensitivity = scale(sensitivity, "sensitivity")
        source = source_of(generator)
        check_accountant(accountant)
        net = public_net(ball, None, nodes)
        check_relation(accountant, ReplaceOne())
        size, rows = unopened(points, ball, n, "conformal mechanism")
        if sensitivity is None:
            sensitivity = mean_sensitivity(FrechetMean(), ball, size, "distance")[0]
        check_spacing(net, rest, sensitivity)
        check_rounding(net, rest, sensitivity, 4.0 * LARGEST_SCALING)
        partition = _partition(net, cells, 0.5 * size * part)
        label = "ConformalLaplace, density and one draw"
        charge = functools.partial(charged, accountant, PureDP(float(epsilon)), label)

        def released(anchor: Anchor | None) -> ConformalLaplace:
            counts = noisy_cell_counts(partition, rows(), part, source)
            factor = density_factor(net, partition, counts, size, contract_dense=contract_dense)
            law = NetLaplace(ball, net, factor, rest, sensitivity)
            return cls(law, float(epsilon), part, anchor)

        return after_charge(accountant, charge, released, read=rows)

    @property
    def proven(self) -> bool:
        """Whether the guarantee is proved: of this very class, for the draw that it holds."""
        ours = type(self) is ConformalLaplace and type(self.law) is NetLaplace
        paid = self.law.epsilon <= self.epsilon - self.epsilon_density
        return ours and paid and self.law.proven

    @property
    def guarantee(self) -> PureDP:
        """Guarantee of the density, if it was private, together with one draw."""
        return PureDP(self.epsilon)

    @property
    def nodes(self) -> FloatArray:
        r"""Points that a draw may be, shape ``(J, *point_shape)``."""
        return self.law.nodes

    @property
    def factor(self) -> FloatArray:
        """Conformal factor at the nodes, shape ``(J,)``."""
        return self.law.factor

    def log_probabilities(self, footpoint: ArrayLike) -> FloatArray:
        """Log probability of each node, shape ``(*batch, J)``.

        See :meth:`sample` for footpoints.
        """
        return self.law.log_probabilities(footpoint)

    def sample(
        self,
        footpoint: ArrayLike,
        size: int | tuple[int, ...] | None = None,
        generator: np.random.Generator | None = None,
    ) -> FloatArray:
        r"""Exact draws; the first is paid for by ``epsilon``.

        A further one costs ``epsilon - epsilon_density``. Footpoints of neighbouring data sets
        have to be within the sensitivity: project the records onto the ball before averaging.

        Parameters
        ----------
        footpoint : array_like, shape (\*batch, \*point_shape)
            Points of the ball.
        size : int or tuple of int, optional
            Leading axes of the result.
        generator : numpy.random.Generator, optional
            Source of randomness; a new secure generator by default. A seeded one makes
            the draw predictable, hence not private.

        Returns
        -------
        ndarray, shape (\*size, \*batch, \*point_shape)
            Nodes.

        Raises
        ------
        NotOnManifoldError, UnsupportedBallError
            If a footpoint is not on the manifold, or outside the ball.
        """
        return self.law.sample(footpoint, size, generator)

    def expected_distance(self, footpoint: ArrayLike) -> FloatArray:
        """Mean distance of a draw, shape ``(*batch,)``; private if the footpoint is.

        See :meth:`sample` for footpoints.
        """
        return self.law.expected_distance(footpoint)


def _partition(net: BallNet, cells: int | None, most: float) -> BallNet:
    return ball_net(net.ball, cell_number(cells, net.ball.manifold.dim, most))
