"""A released value with everything that is public about it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp.release import _serialise

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from riemdp.manifolds import Ball
    from riemdp.mechanisms import Mechanism
    from riemdp.privacy import Budget

_FORMAT = "riemdp-release/1"
#: What reading a document that is no release may raise.
_MALFORMED = (
    ValueError,
    KeyError,
    TypeError,
    AttributeError,
    ArithmeticError,
    RecursionError,
)


@dataclass(frozen=True, eq=False)
class Release:
    """What may leave the building: the private value, its guarantee, and public numbers.

    It holds nothing private: no exact mean, no count of clipped records, nothing about the run of
    the solver.

    Attributes
    ----------
    value : ndarray, shape (*point_shape,)
        Released point.
    guarantee : PureDP, ApproxDP, GDP or ZCDP
        Proved guarantee of the release, in real arithmetic: the budget that was asked for.
    mechanism : Mechanism
        Calibrated mechanism; ``mechanism.name`` and ``mechanism.sigma`` name it.
    summary : str
        ``"frechet-mean"`` or ``"tangent-mean"``.
    reason : str
        Why this mechanism.
    sensitivity : float
        Largest effect of one record on the summary as computed, ``2 tol`` included.
    tol : float
        Public tolerance of the summary.
    ball : Ball
        Public ball to which records were clipped.
    n : int
        Number of records, public.
    adjacency : str
        ``"replace-one"``: neighbouring data sets differ in one record.
    proven : bool
        Whether the guarantee is proved.
    private : bool
        Whether the noise came from the secure generator. A seeded release is not private.
    reproducible : bool
        Whether the noise came from a generator of the caller.
    numerical_delta : None
        Allowance for float64 arithmetic. None: not quantified in this version.
    stated_error : tuple of float, optional
        Expected distance and 95 % quantile as a document states them, for :func:`verify` to hold
        against the mechanism's.
    """

    value: NDArray[np.float64]
    guarantee: Budget
    mechanism: Mechanism
    summary: str
    reason: str
    sensitivity: float
    tol: float
    ball: Ball = field(repr=False)
    n: int
    adjacency: str = "replace-one"
    proven: bool = True
    private: bool = True
    reproducible: bool = False
    numerical_delta: None = None
    stated_error: tuple[float, float] | None = field(default=None, repr=False)

    @property
    def sigma(self) -> float:
        """Scale of the noise."""
        return self.mechanism.sigma

    @property
    def expected_distance(self) -> float:
        """Mean distance between the exact summary and its noisy draw, from public numbers.

        The released point is the draw projected onto the ball. On Hadamard spaces projection
        only moves points closer together, so that this is an upper bound there.
        """
        return self.mechanism.expected_distance()

    def error_quantile(self, q: float) -> float:
        """Distance that the draw exceeds with probability ``1 - q``; ``q`` in [0, 1]."""
        return self.mechanism.error_quantile(q)

    def to_json(self) -> str:
        """Return the release as JSON; floats come back bit by bit.

        Returns
        -------
        str
        """
        document = {
            "format": _FORMAT,
            "value": self.value.tolist(),
            "guarantee": _serialise.budget_to_dict(self.guarantee),
            "manifold": _serialise.manifold_to_dict(self.ball.manifold),
            "ball": {"center": self.ball.center.tolist(), "radius": self.ball.radius},
            "n": self.n,
            "summary": self.summary,
            "mechanism": _serialise.mechanism_to_dict(self.mechanism),
            "reason": self.reason,
            "sensitivity": self.sensitivity,
            "tol": self.tol,
            "adjacency": self.adjacency,
            "proven": self.proven,
            "private": self.private,
            "reproducible": self.reproducible,
            "numerical_delta": self.numerical_delta,
            "expected_distance": self.expected_distance,
            "error_quantile_95": self.error_quantile(0.95),
        }
        return json.dumps(document, indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a release that :meth:`to_json` wrote. It is not verified: see :func:`verify`.

        Parameters
        ----------
        text : str

        Returns
        -------
        Release

        Raises
        ------
        InvalidParameterError
            If the text is no release; also every error of the objects in it.
        """
        try:
            document: dict[str, Any] = json.loads(text)
            return cls._from_document(document)
        except RiemdpError:
            raise
        except _MALFORMED as error:
            raise InvalidParameterError(
                f"this is not a release written by Release.to_json ({type(error).__name__}: "
                f"{error})"
            ) from None

    @classmethod
    def _from_document(cls, document: dict[str, Any]) -> Release:
        if document["format"] != _FORMAT:
            raise InvalidParameterError(
                f"format {document['format']!r} is not {_FORMAT!r}: written by another version"
            )
        manifold = _serialise.manifold_from_dict(document["manifold"])
        ball = _serialise.ball_from_dict(manifold, document["ball"])
        return cls(
            value=manifold.validate(document["value"]),
            guarantee=_serialise.budget_from_dict(document["guarantee"]),
            mechanism=_serialise.mechanism_from_dict(document["mechanism"], ball),
            summary=str(document["summary"]),
            reason=str(document["reason"]),
            sensitivity=float(document["sensitivity"]),
            tol=float(document["tol"]),
            ball=ball,
            n=int(document["n"]),
            adjacency=str(document["adjacency"]),
            proven=bool(document["proven"]),
            private=bool(document["private"]),
            reproducible=bool(document["reproducible"]),
            numerical_delta=document["numerical_delta"],
            stated_error=(
                float(document["expected_distance"]),
                float(document["error_quantile_95"]),
            ),
        )
