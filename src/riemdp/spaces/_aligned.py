"""Points of a quotient by their representatives nearest to a public template."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, final

from riemdp._array_fields import ArrayFields
from riemdp._checks import is_one_of, kind_of, shown
from riemdp._errors import InvalidParameterError, NotOnManifoldError, UnsupportedBallError
from riemdp._part import register
from riemdp.spaces._ball import Ball
from riemdp.spaces._points import as_floats
from riemdp.spaces._quotient import Modelled, Quotient

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces._manifold import Manifold
    from riemdp.spaces._points import FloatArray
    from riemdp.spaces._slice import Slice

#: Rounding of an aligned representative, in units of that of a point of the slice.
_ALIGNING = 16.0
#: Distance of a centre from the template that rounding explains.
_AT_TEMPLATE = 1e-12


@final
@register
@dataclass(frozen=True, eq=False)
class Aligned(ArrayFields, Modelled):
    """Points of a quotient, with the geometry of their representatives nearest to a template's.

    These representatives lie in a totally geodesic part of the cover, the slice at the template:
    of planar and 3-D shapes a sphere of the dimension of the space, of rotations and axes the
    whole sphere. The slice is the model of the space: means, sensitivities and noise are those of
    the slice, and what is released is the point that a point of the slice stands for. Distances are
    those of the slice: no shorter than those of the quotient, and the same from the template.

    Parameters
    ----------
    space : Quotient
        Space of the points.
    template : array_like, shape (*point_shape,)
        Point of it, chosen without looking at the data. Never one that is computed from them,
        such as their Procrustes mean: alignment to that is no function of one record.

    Raises
    ------
    InvalidParameterError
        If the space is no quotient.
    NotOnManifoldError
        If the template is not one point of the space.
    UnsupportedManifoldError
        If the space does not know its slices.
    UnsupportedBallError
        If the orbit of the template has a lower dimension than others, as that of landmarks on
        one line.

    References
    ----------
    docs/proofs/aligned-means.md
    """

    proof = "docs/proofs/aligned-means.md"
    origin_name = "template"

    space: Quotient
    template: FloatArray = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.space, Quotient):
            raise InvalidParameterError(
                f"space must be a quotient, as shapes and rotations are, got {kind_of(self.space)}"
            )
        object.__setattr__(self, "template", self.space.validate(self.template))
        if self.template.shape != self.space.point_shape:
            raise NotOnManifoldError(
                f"the template must be one point of shape {self.space.point_shape}, got shape "
                f"{self.template.shape}"
            )
        self._seal()
        self.slice  # noqa: B018 -- refuses a template that has none

    @functools.cached_property
    def slice(self) -> Slice:
        """Where aligned representatives lie."""
        return self.space.slice_at(self.template)

    @functools.cached_property
    def _representative(self) -> FloatArray:
        """Representative of the template that others are nearest to."""
        return self.space.lift(self.template)

    def aligned(self, points: ArrayLike) -> FloatArray:
        r"""Return the representatives nearest to that of the template, as points of the slice.

        Parameters
        ----------
        points : array_like, shape (..., \*point_shape)

        Returns
        -------
        ndarray, shape (..., \*slice.space.point_shape)
            Of each point by itself; of several nearest ones, one by a fixed rule.
        """
        lifted = self.space.lift(points)
        return self.slice.restrict(self.space.nearest(self._representative, lifted))

    def stood_for(self, points: ArrayLike) -> FloatArray:
        r"""Return the points that points of the slice stand for.

        Parameters
        ----------
        points : array_like, shape (..., \*slice.space.point_shape)

        Returns
        -------
        ndarray, shape (..., \*point_shape)
        """
        return self.space.push(self.slice.embed(as_floats(points)))

    def ball_of_slice(self, ball: Ball) -> Ball:
        """Ball of the slice that has the same records and the same normal coordinates.

        Parameters
        ----------
        ball : Ball
            Ball of this space.

        Returns
        -------
        Ball
        """
        return Ball(self.slice.space, self.aligned(ball.center), ball.radius)

    @property
    def _model(self) -> Manifold:
        return self.slice.space

    def _in_model(self, points: ArrayLike) -> FloatArray:
        return self.aligned(points)

    def _of_model(self, points: ArrayLike) -> FloatArray:
        return self.stood_for(points)

    def _beside(self, base: ArrayLike, points: ArrayLike) -> tuple[FloatArray, FloatArray]:
        return self.aligned(base), self.aligned(points)

    @property
    def dim(self) -> int:
        """That of the slice."""
        return self.slice.space.dim

    @property
    def point_shape(self) -> tuple[int, ...]:
        """That of the quotient."""
        return self.space.point_shape

    @property
    def injectivity_radius(self) -> float:
        """Distance from the template under which points of the slice are aligned."""
        return min(self.slice.reach, self.slice.space.injectivity_radius)

    @property
    def convexity_radius(self) -> float:
        """That of the slice, where means are computed."""
        return self.slice.space.convexity_radius

    @property
    def diameter(self) -> float:
        """That of the slice."""
        return self.slice.space.diameter

    @property
    def origin(self) -> FloatArray:
        """The template."""
        return self.template

    @property
    def inside(self) -> tuple[Manifold, ...]:
        """The quotient, and the slice."""
        return (self.space, self.slice.space)

    def dist(self, a: ArrayLike, b: ArrayLike) -> FloatArray:
        """Distance in the slice."""
        return self.slice.space.dist(self.aligned(a), self.aligned(b))

    def check_ball(self, center: FloatArray, radius: float) -> None:
        """Keep the points of the ball to those that stand for points of it.

        About the template that is every radius under half of the slice's injectivity radius: of a
        sphere, that of an open hemisphere. A ball about another centre must be where all points of
        the slice are aligned. See :meth:`Manifold.check_ball`.
        """
        away = float(self.slice.space.dist(self.aligned(self.template), self.aligned(center)))
        centred = away <= _AT_TEMPLATE
        limit = self.convexity_radius
        if not centred:
            limit = min(limit, self.injectivity_radius)
        if not away + radius < limit:
            where = "about the template" if centred else f"{away:.6g} away from the template"
            other = "" if centred else ", or its centre as the template"
            raise UnsupportedBallError(
                f"radius {radius:.6g} of an aligned ball {where} must stay under "
                f"{limit - away:.6g}, beyond which several aligned points stand for one point, or "
                f"their mean is not unique; choose a smaller ball{other}"
            )
        self.slice.space.check_ball(self.aligned(center), radius)

    def rounding(self, center: FloatArray, radius: float) -> float:
        """Of the slice, and of aligned representatives."""
        return _ALIGNING * self.slice.space.rounding(self.aligned(center), radius)

    def validate(self, points: ArrayLike) -> FloatArray:
        """Check points of the quotient; see :meth:`Manifold.validate`."""
        return self.space.validate(points)

    def read(self, points: ArrayLike) -> FloatArray:
        """As the quotient does; see :meth:`Manifold.read`."""
        return self.space.read(points)

    def present(self, points: ArrayLike) -> Any:
        """As the quotient does; see :meth:`Manifold.present`."""
        return self.space.present(points)


def QuotientBall(  # noqa: N802 -- it stands where a class of balls would
    space: Quotient,
    center: ArrayLike,
    radius: float,
    mean: Literal["intrinsic", "aligned"] = "intrinsic",
) -> Ball:
    r"""Return a ball of a quotient, for one of two means of the records in it.

    Parameters
    ----------
    space : Quotient
        Rotations, axes, shapes, ...
    center : array_like, shape (\*point_shape,)
        Public centre; for the aligned mean also the template that records are aligned to.
    radius : float
        For the intrinsic Fréchet mean under pi/4 (axes, planar shapes) or pi/2 (rotations, angles);
        for the aligned one under pi/2 (axes, shapes), pi (rotations), or any (angles).
    mean : {"intrinsic", "aligned"}, default "intrinsic"
        ``"intrinsic"``: the Fréchet mean of the quotient. ``"aligned"``: that of the
        representatives nearest to the template, in a sphere or, of angles, in R^d. Of rotations,
        axes and angles it is the same point wherever both exist; of planar shapes it differs by
        the third order of the radius and has a smaller sensitivity. It allows larger balls, and
        is the only one of 3-D shapes.

    Returns
    -------
    Ball
        Of the space itself, or of :class:`riemdp.spaces.Aligned`.

    Raises
    ------
    InvalidParameterError
        If the space is no quotient, or there is no such mean.
    NotOnManifoldError
        If the centre is not one point of the space.
    UnsupportedBallError
        If the ball is too large, or the space has no intrinsic mean.
    UnsupportedManifoldError
        If nothing is known of aligned means on the space.

    References
    ----------
    docs/proofs/quotients.md, docs/proofs/aligned-means.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.QuotientBall(riemdp.Rotations(), [0.0, 0.0, 0.0, 1.0], 2.0, mean="aligned")
    >>> ball.radius
    2.0
    """
    if not isinstance(space, Quotient):
        raise InvalidParameterError(
            f"space must be a quotient, as shapes and rotations are, got {kind_of(space)}; "
            "Ball is for other spaces"
        )
    if not is_one_of(mean, ("intrinsic", "aligned")):
        raise InvalidParameterError(f'mean must be "intrinsic" or "aligned", got {shown(mean)}')
    if mean == "intrinsic":
        return Ball(space, center, radius)  # type: ignore[arg-type]
    return Ball(Aligned(space, center), center, radius)  # type: ignore[arg-type]
