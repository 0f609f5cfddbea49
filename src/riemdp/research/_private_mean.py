"""The mean of records with noise that has no exact draw."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._array_fields import ArrayFields
from riemdp._checks import shown
from riemdp._errors import (
    InvalidParameterError,
    NotAttainableError,
    UnsupportedNeighboursError,
)
from riemdp._keywords import with_advice
from riemdp._part import both_proved
from riemdp._part_document import encode, encode_value
from riemdp._progress import work
from riemdp._versions import installed_versions
from riemdp.mechanisms import Choice, Mechanism, as_choice
from riemdp.noise import resolve_generator, source_of
from riemdp.privacy import Budget, PureCurve, check_budget
from riemdp.release._charging import after_charge, charged, check_relation
from riemdp.release._least_error import check_accountant
from riemdp.release._offer import not_proved, unproven, wanted_mean
from riemdp.release._options import relation
from riemdp.release._remarks import tell
from riemdp.release._serialise import ball_to_dict
from riemdp.research._net_laplace import NetLaplace
from riemdp.research._public_prior import RejectionLaw
from riemdp.research._records import mean_sensitivity, unopened
from riemdp.research._sample import sample
from riemdp.spaces import Ball, ball_proofs, check_ball
from riemdp.statistics import FrechetMean, ReplaceOne, frechet_mean, tangent_mean

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.privacy import Anchor
    from riemdp.release._options import SupportsSpend
    from riemdp.spaces import FloatArray

#: Format of the documents.
FORMAT = "riemdp/research/1"
_NOTE = (
    "Drawn in float64 by riemdp.research. The guarantee is that of the law in real arithmetic: "
    "nothing is proved of the bits of the value, which may tell neighbouring data sets apart."
)


@dataclass(frozen=True, eq=False)
class ResearchRelease(ArrayFields):
    r"""A private mean whose guarantee holds in real arithmetic: nothing is proved of its bits.

    Attributes
    ----------
    value : ndarray, shape (\*point_shape)
        The draw, projected onto the ball.
    guarantee : Budget
        About data sets that differ in one record.
    mechanism : object
        What was drawn from.
    statistic : str
        Name of the mean.
    ball : Ball
    n : int
    sensitivity, tol : float
        Sensitivity of the mean as computed, and its tolerance, of which it has twice.
    private : bool
        Whether the random bits were those of a secure generator.
    proofs : tuple of (str, str or None)
        Where what the guarantee rests on is proved, in real arithmetic.
    anchor : Anchor or None
        Of the charge in a durable ledger.

    Examples
    --------
    >>> import json
    >>> import riemdp
    >>> from riemdp import research
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    >>> release = research.private_mean(
    ...     [ball.center] * 500, ball, riemdp.PureDP(1.0), mechanism=research.RestrictedLaplace
    ... )
    >>> json.loads(release.to_json())["format"]
    'riemdp/research/1'
    """

    value: FloatArray
    guarantee: Budget
    mechanism: Any
    statistic: str
    ball: Ball
    n: int
    sensitivity: float
    tol: float
    private: bool
    proofs: tuple[tuple[str, str | None], ...] = field(repr=False)
    anchor: Anchor | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._seal()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the value is used, as of :attr:`riemdp.Release.warnings`."""
        found = [] if self.private else ["the noise was seeded: this release is not private"]
        if missing := unproven(dict(self.proofs)):
            found.append(f"the guarantee is not proved: no proof is known of {missing}")
        return tuple(found)

    def to_json(self) -> str:
        """Return the document, whose format :func:`riemdp.verify` refuses.

        Returns
        -------
        str
        """
        law = self.mechanism
        numbers = {each.name: getattr(law, each.name) for each in fields(law)}
        kinds = (int, float, str)
        document = {
            "format": FORMAT,
            "note": _NOTE,
            "value": self.value.tolist(),
            "guarantee": encode(self.guarantee),
            "statistic": self.statistic,
            "manifold": encode(self.ball.manifold),
            "ball": ball_to_dict(self.ball),
            "mechanism": {
                "type": _name(law),
                **{name: encode_value(x) for name, x in numbers.items() if isinstance(x, kinds)},
            },
            "n": self.n,
            "sensitivity": self.sensitivity,
            "tol": self.tol,
            "private": self.private,
            "proofs": dict(self.proofs),
            "versions": dict(installed_versions()),
        }
        if self.anchor is not None:
            document["anchor"] = self.anchor.document()
        return json.dumps(document, allow_nan=False)


@with_advice
@work("private_mean")
def private_mean(
    points: ArrayLike,
    ball: Ball,
    budget: Budget,
    *,
    mechanism: type[Mechanism] | Choice | Mechanism | RejectionLaw | NetLaplace,
    generator: np.random.Generator | None = None,
    accountant: SupportsSpend | None = None,
    n: int | None = None,
    allow_unproven: bool = False,
) -> ResearchRelease:
    r"""Release a mean with a mechanism that draws in float64.

    The mean that the mechanism is for, of records that are clipped to the ball one by one: nothing
    but public numbers sets the noise. The guarantee is that of the law in real arithmetic, about
    one replaced record.

    Parameters
    ----------
    points : array_like, shape (n, \*point_shape)
        Data, n >= 1; or a function without arguments that returns them, called after the charge.
    ball : Ball
        Public ball, chosen without looking at the data.
    budget : Budget
        Guarantee that the release has to satisfy.
    mechanism : Mechanism class, Choice or Mechanism, PublicPriorLaplace, ConformalRejection
        With a ``sample`` of its own. A class is calibrated here; an instance has to satisfy the
        budget as it is. Also a :class:`NetLaplace`, such as ``ConformalLaplace.public(...).law``.
    generator : numpy.random.Generator, optional
        Source of noise; a new secure generator by default. Any other marks the release
        ``private=False``.
    accountant : object with ``spend(guarantee, label)``, optional
        Charged before the records are opened, as in :func:`riemdp.private_mean`.
    n : int, optional
        Number of records, where no shape or length says it.
    allow_unproven : bool, default False
        Whether the law's own guarantee may be one that nobody proved, as that of a
        :class:`Metropolis` chain.

    Returns
    -------
    ResearchRelease

    Raises
    ------
    InvalidParameterError
        If the mechanism has an exact draw, or an argument is outside its domain.
    NotAttainableError
        If no noise attains the budget, or an instance has too little noise.
    UnsupportedNeighboursError
        If the budget, or the account, is about something else than one replaced record.
    UnprovenMechanismError
        If the guarantee is not proved and ``allow_unproven`` is false.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> from riemdp import research
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 0.5)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.2, (500, 2)))
    >>> release = research.private_mean(
    ...     points, ball, riemdp.PureDP(1.0), mechanism=research.RestrictedLaplace
    ... )
    >>> release.value.shape, release.guarantee, release.private
    ((3,), PureDP(epsilon=1.0), True)
    """
    check_ball(ball)
    check_budget(budget)
    if not isinstance(relation(None, budget, has_users=False), ReplaceOne):
        raise UnsupportedNeighboursError(
            f"a research release is about one replaced record, and {budget} is not; leave the "
            "adjacency out"
        )
    budget = budget.under(ReplaceOne.name)
    check_accountant(accountant)
    check_relation(accountant, ReplaceOne())
    source = source_of(generator)
    _check_mechanism(mechanism)
    size, rows = unopened(points, ball, n, "research mean")
    mean: Any = FrechetMean()
    if not isinstance(mechanism, (RejectionLaw, NetLaplace)):
        mean = wanted_mean(ball, mechanism)
    metric: Any = getattr(mechanism, "metric", "distance")
    sensitivity, tol = mean_sensitivity(mean, ball, size, metric)
    law = _calibrated(mechanism, ball, sensitivity, budget)
    if isinstance(law, Mechanism):
        own = law.proofs()
    else:
        own = {_name(law): "docs/proofs/conformal-laplace.md" if law.proven else None}
    # the mean is not computed exactly here
    of_mean = {name: x for name, x in mean.proofs_on(ball).items() if name != "exact mean"}
    proofs = both_proved(ball_proofs(ball), of_mean, own)
    if (missing := unproven(proofs)) and not allow_unproven:
        raise not_proved(missing)

    def released(anchor: Anchor | None) -> ResearchRelease:
        records = rows()
        if isinstance(mean, FrechetMean):
            footpoint = frechet_mean(ball.manifold, records, ball=ball, tol=tol).value
        else:
            footpoint = ball.manifold.exp(ball.center, tangent_mean(ball, records))
        generator = resolve_generator(source)  # keyed after the records were read
        value = ball.project(sample(law, ball.project(footpoint), generator=generator))
        return ResearchRelease(
            value=value,
            guarantee=budget,
            mechanism=law,
            statistic=mean.name,
            ball=ball,
            n=size,
            sensitivity=sensitivity,
            tol=tol,
            private=source is None,
            proofs=tuple(proofs.items()),
            anchor=anchor,
        )

    label = f"research.private_mean, {_name(law)}"
    charge = functools.partial(charged, accountant, budget, label)
    return tell(after_charge(accountant, charge, released, read=rows))


def _check_mechanism(mechanism: Any) -> None:
    """Refuse what does not draw in float64."""
    kind: Any = mechanism.kind if isinstance(mechanism, Choice) else mechanism
    kind = kind if isinstance(kind, type) else type(kind)
    known = issubclass(kind, (Mechanism, RejectionLaw, NetLaplace)) and hasattr(kind, "sample")
    if known and (isinstance(mechanism, kind) or issubclass(kind, Mechanism)):
        return
    raise InvalidParameterError(
        "mechanism must be one with a sample(footpoint, size, generator) of its own, such as "
        f"riemdp.research.RestrictedLaplace, got {shown(mechanism)}; with one that has an exact "
        "draw release by riemdp.private_mean"
    )


def _calibrated(mechanism: Any, ball: Ball, sensitivity: float, budget: Budget) -> Any:
    """Return what is drawn from: enough noise for the budget, on this ball."""
    if isinstance(mechanism, (type, Choice)):
        choice = as_choice(mechanism)
        return choice.calibrate_on(ball.manifold, sensitivity, budget, **choice.needed(ball))
    if isinstance(mechanism, Mechanism):
        problem = mechanism.foreign_to(ball)
        enough = problem is None and mechanism.satisfies(sensitivity, budget)
    else:
        problem = None if mechanism.ball == ball else "the mechanism is for another ball"
        enough = mechanism.sensitivity >= sensitivity
        enough = enough and PureCurve(mechanism.epsilon).satisfies(budget)
    if problem is not None:
        raise InvalidParameterError(problem)
    if not enough:
        raise NotAttainableError(
            f"{_name(mechanism)} has too little noise for {budget} at sensitivity "
            f"{sensitivity:.6g}; calibrate it for these"
        )
    return mechanism


def _name(mechanism: Any) -> str:
    return str(getattr(mechanism, "name", type(mechanism).__name__))
