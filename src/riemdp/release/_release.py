"""A released value with everything that is public about it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from riemdp import _document
from riemdp._array_fields import ArrayFields
from riemdp._checks import count, real_array, shown
from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp._part import decode, encode
from riemdp.manifolds import Manifold
from riemdp.privacy import Budget
from riemdp.release import _serialise
from riemdp.release._proofs import proofs

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.manifolds import Ball
    from riemdp.mechanisms import Mechanism

_FORMAT = "riemdp-release/1"
#: What the parser, or arrays of odd shape, may raise.
_MALFORMED = (ValueError, TypeError, ArithmeticError, RecursionError)
_KEYS = {
    "format",
    "value",
    "guarantee",
    "manifold",
    "ball",
    "n",
    "summary",
    "mechanism",
    "reason",
    "sensitivity",
    "tol",
    "adjacency",
    "proven",
    "private",
    "reproducible",
    "numerical_delta",
    "expected_distance",
    "error_quantile_95",
}


@dataclass(frozen=True, eq=False)
class Release(ArrayFields):
    """What may leave the building: the private value, its guarantee, and public numbers.

    It holds nothing private: no exact mean, no count of clipped records, nothing about the run of
    the solver.

    Attributes
    ----------
    value : ndarray, shape (*point_shape,)
        Released point.
    guarantee : PureDP, ApproxDP, GDP, ZCDP, RDP, KLDP, MeanCDP or RaoDP
        Proved guarantee of the release, in real arithmetic: the budget that was asked for.
    mechanism : Mechanism
        Calibrated mechanism; ``mechanism.name`` and ``mechanism.sigma`` name it.
    summary : str
        ``"frechet-mean"`` or ``"tangent-mean"``.
    reason : str
        Why this mechanism: free text for people, which :func:`verify` does not check.
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

    def __post_init__(self) -> None:
        value = np.array(real_array(self.value, "value"))
        value.flags.writeable = False
        object.__setattr__(self, "value", value)
        if not isinstance(self.guarantee, Budget):
            raise InvalidParameterError(
                "the guarantee of a release must be a privacy definition such as PureDP, got "
                f"{type(self.guarantee).__name__}"
            )

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

    @property
    def proofs(self) -> dict[str, str | None]:
        """Where the claims that the guarantee rests on are proved, by the part that makes them.

        A note of this repository (``"docs/proofs/..."``), a paper or a URL; None where nobody
        says, and then :attr:`proven` is false.
        """
        return proofs(self.ball, self.summary, self.mechanism, self.guarantee)

    def error_quantile(self, q: float) -> float:
        """Distance that the draw exceeds with probability ``1 - q``.

        Parameters
        ----------
        q : float
            In [0, 1].

        Returns
        -------
        float
        """
        return self.mechanism.error_quantile(q)

    def to_json(self) -> str:
        """Return the release as JSON; floats come back bit by bit.

        Returns
        -------
        str

        Raises
        ------
        InvalidParameterError
            If the mechanism does not belong to the ball of the release.
        """
        document = {
            "format": _FORMAT,
            "value": self.value.tolist(),
            "guarantee": encode(self.guarantee),
            "manifold": encode(self.ball.manifold),
            "ball": {"center": self.ball.center.tolist(), "radius": self.ball.radius},
            "n": self.n,
            "summary": self.summary,
            "mechanism": _serialise.mechanism_to_dict(self.mechanism, self.ball),
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

        Every key has to be there, once, with a value of its type, and no other key.

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
            return cls._from_document(_document.load(text))
        except RiemdpError:
            raise
        except _MALFORMED as error:
            raise InvalidParameterError(
                f"this is not a release written by Release.to_json ({type(error).__name__})"
            ) from None

    @classmethod
    def _from_document(cls, document: object) -> Release:
        written = document.get("format") if isinstance(document, dict) else None
        if written is None:
            raise InvalidParameterError("this is not a release written by Release.to_json")
        if written != _FORMAT:
            raise InvalidParameterError(
                f"format {shown(written)} is not {_FORMAT!r}: written by another version"
            )
        fields = _document.fields(document, _KEYS)
        if fields["numerical_delta"] is not None:
            raise InvalidParameterError("numerical_delta must be null in this version")

        def number(name: str) -> float:
            return float(_document.number(fields[name], name))

        manifold = decode(fields["manifold"], Manifold.sort)
        ball = _serialise.ball_from_dict(manifold, fields["ball"])
        return cls(
            value=manifold.validate(_document.numbers(fields["value"], "value")),
            guarantee=decode(fields["guarantee"], Budget.sort),
            mechanism=_serialise.mechanism_from_dict(fields["mechanism"], ball),
            summary=_document.text(fields["summary"], "summary"),
            reason=_document.text(fields["reason"], "reason"),
            sensitivity=number("sensitivity"),
            tol=number("tol"),
            ball=ball,
            n=count(fields["n"], "n"),
            adjacency=_document.text(fields["adjacency"], "adjacency"),
            proven=_document.flag(fields["proven"], "proven"),
            private=_document.flag(fields["private"], "private"),
            reproducible=_document.flag(fields["reproducible"], "reproducible"),
            stated_error=(number("expected_distance"), number("error_quantile_95")),
        )
