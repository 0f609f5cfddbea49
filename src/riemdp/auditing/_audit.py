"""A lower bound on the privacy loss of any mechanism, from its outputs on two neighbours."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Sized
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from riemdp._checks import count, plain_array, real, shown
from riemdp._described import Described
from riemdp._errors import (
    InsufficientSamplesError,
    InvalidParameterError,
    UnsupportedManifoldError,
)
from riemdp._keywords import with_advice
from riemdp._progress import ticks, work
from riemdp.auditing._claims import Claim, check_samples, excess
from riemdp.auditing._events import CertifiedEvent, certify, choose, error_probability
from riemdp.auditing._neighbours import check_neighbours, same_records
from riemdp.auditing._picture import draw_audit
from riemdp.auditing._scores import (
    DistanceScore,
    IdentityScore,
    LearnedScore,
    LinearScore,
    LogLikelihoodRatio,
    Score,
    evaluate,
    flat,
)
from riemdp.auditing._trade_off import TradeOff, measure
from riemdp.noise import resolve_generator
from riemdp.privacy import check_claim, check_delta, check_epsilon

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    FloatArray = NDArray[np.float64]

Verdict = Literal["consistent", "violated"]
_MEANS = {
    "consistent": "this pair of data sets and these samples show no violation; that is no proof",
    "violated": "the claim is wrong, but for the probability that the confidence leaves",
}


@dataclass(frozen=True, repr=False)
class AuditResult(Described):
    """What an audit has shown. All lower bounds hold at once, with the stated confidence.

    Parameters
    ----------
    claim : Budget or PrivacyCurve
        The guarantee that was held against the outputs, with its relation between data sets.
    samples : int
        Outputs drawn on each of the two data sets; half of them chose the events.
    confidence : float
        Probability, at least, that every lower bound is one.
    score : str
        Name of the score.
    events : tuple of CertifiedEvent
        The events that tell the data sets apart, with bounds of their error rates.
    trade_off : TradeOff
        Measured error rates of all thresholds, for a figure.

    Notes
    -----
    ``"consistent"`` means that this pair, this score and so many samples show no violation. It is
    no proof of privacy. ``"violated"`` is wrong with probability at most ``1 - confidence``.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> law = riemdp.TangentGaussian(riemdp.Euclidean(1), 1.0)  # GDP(1) at a distance of 1
    >>> result = riemdp.audit(
    ...     law, [1.0], [0.0], riemdp.GDP(0.5), samples=4000, generator=np.random.default_rng(0)
    ... )
    >>> result.verdict, 0.5 < result.mu_lower < 1.0
    ('violated', True)
    """

    claim: Claim
    samples: int
    confidence: float
    score: str
    events: tuple[CertifiedEvent, ...]
    trade_off: TradeOff = field(repr=False, compare=False)

    def __repr__(self) -> str:
        return (
            f"AuditResult({self.verdict!r}, claim={self.claim!r}, mu_lower={self.mu_lower:.4g}, "
            f"pure_epsilon_lower={self.pure_epsilon_lower:.4g}, samples={self.samples}, "
            f"confidence={self.confidence:g}, score={self.score!r})"
        )

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        """Title and lines of the text; see :class:`riemdp._described.Described`."""
        return f"Audit of {self.claim}: {self.verdict}", [
            ("shown", f"mu >= {self.mu_lower:.4g}, pure epsilon >= {self.pure_epsilon_lower:.4g}"),
            ("samples", f"{self.samples:,} on each of two data sets, score {self.score}"),
            ("confidence", f"{self.confidence:.4g}"),
            ("means", _MEANS[self.verdict]),
        ]

    def plot(self, ax: Any = None) -> Any:
        """Draw the error rates that were measured, against those that the claim allows.

        No test of a mechanism that keeps the claim has rates under its curve; certified bounds
        there refute it.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; new ones by default.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        UnsupportedError
            If matplotlib is not installed.
        InvalidParameterError
            If ``ax`` is something else.
        """
        return draw_audit(self, ax)

    @property
    def mu_lower(self) -> float:
        """Lower bound of ``mu`` in Gaussian differential privacy; 0 shows nothing."""
        return max(event.mu_lower() for event in self.events)

    @property
    def pure_epsilon_lower(self) -> float:
        """Lower bound of ``epsilon`` in pure differential privacy."""
        return self.epsilon_lower(0.0)

    @property
    def verdict(self) -> Verdict:
        """``"violated"`` if a lower bound exceeds the claim, else ``"consistent"``."""
        broken = any(excess(self.claim, event.fpr, event.fnr) > 0.0 for event in self.events)
        return "violated" if broken else "consistent"

    def epsilon_lower(self, delta: float) -> float:
        """Lower bound of ``epsilon`` at a ``delta``.

        Parameters
        ----------
        delta : float
            In [0, 1).

        Returns
        -------
        float
            ``inf`` where an exact likelihood ratio shows outputs that only one data set has.

        Raises
        ------
        InvalidParameterError
            If ``delta`` is outside [0, 1).
        """
        delta = check_delta(delta)
        return max(event.epsilon_lower(delta) for event in self.events)

    def delta_lower(self, epsilon: ArrayLike) -> FloatArray:
        """Lower bound of ``delta`` at each ``epsilon``.

        Parameters
        ----------
        epsilon : array_like, shape (...)
            At least 0.

        Returns
        -------
        ndarray, shape (...)

        Raises
        ------
        InvalidParameterError
            If an ``epsilon`` is negative or NaN.
        """
        epsilon = check_epsilon(epsilon)
        return np.asarray(np.max([event.delta_lower(epsilon) for event in self.events], axis=0))


@with_advice
@work("audit")
def audit(
    mechanism: Any,
    dataset: Any,
    neighbour: Any,
    claim: Claim,
    *,
    samples: int,
    confidence: float = 0.95,
    score: Score | LearnedScore | None = None,
    generator: np.random.Generator | None = None,
    adjacency: str | None = None,
    users: ArrayLike | None = None,
    neighbour_users: ArrayLike | None = None,
) -> AuditResult:
    """Hold a claimed guarantee against the outputs of a mechanism on two neighbouring data sets.

    The outputs are scored, one half of them chooses which scores to tell the data sets apart by,
    and the other half bounds the error rates of that decision, by Clopper and Pearson. The bounds
    are lower bounds of the true loss whatever the score is; a better score makes them larger.

    Parameters
    ----------
    mechanism : callable or Mechanism
        ``mechanism(dataset, generator) -> output``, called ``samples`` times on either data set
        with independent randomness each time; or anything with
        ``sample(footpoint, size, generator)``, such as the mechanisms of riemdp.
    dataset, neighbour : array_like or object
        Data sets that are neighbours in the relation of the claim (the first axis counts records):
        under replace-one, which is meant where none is named, they differ in one record; of a
        mechanism with ``sample``, two footpoints. Arrays and sequences are checked; any other
        object is taken as it is.
    claim : Budget or PrivacyCurve
        What the mechanism is said to guarantee for this pair.
    samples : int
        Outputs to draw on each data set.
    confidence : float, default 0.95
        Of all statements together, in [0.5, 1).
    score : callable or LearnedScore, optional
        ``score(outputs) -> (N,)``, higher where an output is more likely under ``dataset``, or a
        score with ``fit`` that learns on the choosing half. By default the exact log-likelihood
        ratio where the mechanism has ``log_density``, :class:`riemdp.auditing.DistanceScore` where
        that is not known on its space, outputs that are single numbers themselves, and
        :class:`riemdp.auditing.LinearScore` for other arrays.
    generator : numpy.random.Generator, optional
        Passed on to the mechanism; this process's secure generator by default.
    adjacency : str, optional
        Name of the relation of the claim, where that names none. Under ``"add-remove"`` one data
        set has one record more, under ``"replace-user"`` and ``"add-remove-user"`` the records of
        one person differ, or are all there or not; a pair under another name is taken as it is.
    users, neighbour_users : array_like, shape (n,), optional
        Whose record each is, for claims about people; needed unless the data sets have ``users``
        themselves, as :class:`riemdp.statistics.Records`. The mechanism does not see them.

    Returns
    -------
    AuditResult

    Raises
    ------
    InsufficientSamplesError
        If no outcome of so few samples could refute the claim; the message says how many can.
    InvalidParameterError
        If the data sets are not neighbours, or a parameter is outside its domain; also if
        ``adjacency`` contradicts the claim.
    NotOnManifoldError
        If a footpoint, or an output that is scored on a manifold, is not on it.

    References
    ----------
    Jagielski, Ullman, Oprea, "Auditing differentially private machine learning: how private is
    private SGD?", NeurIPS 2020; Nasr et al., "Tight auditing of differentially private machine
    learning", USENIX Security 2023; docs/proofs/auditing.md

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> def release(data, generator):
    ...     return data.mean() + generator.laplace(scale=0.5 / len(data))  # half of what is needed
    ...
    >>> zeros, one = np.zeros(100), np.eye(100)[0]
    >>> seeded = np.random.default_rng(0)
    >>> claim = riemdp.PureDP(1.0)
    >>> riemdp.audit(release, one, zeros, claim, samples=4000, generator=seeded).verdict
    'violated'
    """
    claim = _with_relation(check_claim(claim), adjacency)
    confidence = check_confidence(confidence)
    samples = count(samples, "samples, the number of outputs per data set,")
    if samples < 2:
        raise InsufficientSamplesError("samples must be at least 2: one chooses, one certifies")
    check_samples(samples, claim, confidence)
    check_score(score)
    generator = resolve_generator(generator)
    check = functools.partial(
        check_neighbours,
        adjacency=claim.adjacency or "replace-one",
        users=users,
        neighbour_users=neighbour_users,
    )
    if hasattr(mechanism, "sample") and not (users is None and neighbour_users is None):
        raise InvalidParameterError(
            "a mechanism with sample is audited on two footpoints, which are no records of people; "
            "leave users out"
        )
    draw = _drawer(mechanism, dataset, neighbour, check)
    half = samples // 2
    first = draw(dataset, samples, generator)
    second = draw(neighbour, samples, generator)
    if score is None:
        score = _default_score(mechanism, dataset, neighbour, first, second)
    name = getattr(score, "__name__", type(score).__name__)
    is_ratio = isinstance(score, LogLikelihoodRatio)
    if isinstance(score, LearnedScore):
        score = score.fit(first[:half], second[:half])
    scores = [
        evaluate(score, part, len(part))
        for part in (first[:half], second[:half], first[half:], second[half:])
    ]
    chosen, certifying = (scores[0], scores[1]), (scores[2], scores[3])
    exact = is_ratio and not _contradicted(*chosen) and not _contradicted(*certifying)
    alpha = error_probability(confidence)
    events = choose(*chosen, claim, alpha, exact=exact)
    return AuditResult(
        claim,
        samples,
        confidence,
        name,
        certify(events, *certifying, alpha, exact=exact),
        measure(chosen, certifying, confidence),
    )


def check_confidence(confidence: float) -> float:
    """Return a confidence in [0.5, 1) as a float."""
    confidence = real(confidence, "confidence")
    if not 0.5 <= confidence < 1.0:
        raise InvalidParameterError(f"confidence must lie in [0.5, 1), got {confidence}")
    return confidence


def check_score(score: object) -> None:
    """Check that a score is callable, or learns, before anything is drawn."""
    if isinstance(score, type) and hasattr(score, "fit"):
        raise InvalidParameterError(
            f"score must be an object and not its class: {score.__name__}(), not {score.__name__}"
        )
    if score is not None and not callable(score) and not isinstance(score, LearnedScore):
        raise InvalidParameterError(
            "score must be a function of the outputs or have fit(first, second), got "
            f"{shown(score)}; riemdp.auditing has scores of both kinds"
        )


def _with_relation(claim: Claim, adjacency: str | None) -> Claim:
    """Return the claim under the relation that it or the caller names."""
    if adjacency is None:
        return claim
    if claim.adjacency not in (None, "replace-one", adjacency):  # the default may be unsaid
        raise InvalidParameterError(
            f"the claim is about {claim.adjacency} data sets, and adjacency says "
            f"{shown(adjacency)}; leave one of them out"
        )
    return claim.under(adjacency)


def _drawer(
    mechanism: Any,
    dataset: Any,
    neighbour: Any,
    check: Callable[[Any, Any], None],
) -> Callable[..., Any]:
    """Return ``draw(dataset, samples, generator) -> outputs``, the pair being checked."""
    if hasattr(mechanism, "sample"):
        manifold = getattr(mechanism, "manifold", None)
        if manifold is not None:
            for footpoint in (dataset, neighbour):
                _check_footpoint(manifold, footpoint)
        return lambda footpoint, samples, generator: _counted(
            mechanism.sample(footpoint, size=samples, generator=generator), samples
        )
    if not callable(mechanism):
        raise InvalidParameterError(
            "mechanism must be a function of (dataset, generator) or have sample(footpoint, size, "
            f"generator), got {shown(mechanism)}"
            + ("; of a release audit release.mechanism" if hasattr(mechanism, "mechanism") else "")
        )
    _check_takes_two(mechanism)
    check(dataset, neighbour)

    def draw(data: Any, samples: int, generator: np.random.Generator) -> Any:
        before = copy.deepcopy(data) if isinstance(data, (np.ndarray, list)) else data
        calls = ticks(range(samples), samples, "outputs on one data set")
        outputs = [_kept(mechanism(data, generator)) for _ in calls]
        if before is not data and not same_records(before, data):
            raise InvalidParameterError(
                "mechanism changed the data set it was given, so its later outputs belong to "
                "another one; let it work on a copy"
            )
        return _stacked(outputs)

    return draw


def _check_takes_two(mechanism: Callable[..., Any]) -> None:
    """Refuse a function that cannot be called with a data set and a generator."""
    try:
        inspect.signature(mechanism).bind(None, None)
    except TypeError:
        raise InvalidParameterError(
            "mechanism must take two arguments, mechanism(dataset, generator); one with randomness "
            "of its own may ignore the second"
        ) from None
    except ValueError:  # nobody knows what it takes
        return


def _check_footpoint(manifold: Any, footpoint: Any) -> None:
    point = manifold.validate(footpoint)
    if point.shape != manifold.point_shape:
        raise InvalidParameterError(
            f"a mechanism of riemdp is audited on two footpoints of shape {manifold.point_shape}, "
            f"got shape {point.shape}; audit a function of (dataset, generator) to include the "
            "summary"
        )


def _kept(output: Any) -> Any:
    """Return an output that later calls cannot change: some write all into the same array."""
    return copy.copy(output) if isinstance(output, (np.ndarray, list)) else output


def _counted(outputs: Any, samples: int) -> Any:
    """Return the outputs of ``sample``, which are as many as asked for."""
    number = len(outputs) if isinstance(outputs, Sized) and np.iterable(outputs) else 1
    if number != samples:
        raise InvalidParameterError(
            f"mechanism.sample(footpoint, size={samples}) returned {number} outputs"
        )
    plain_array(outputs, "outputs")  # refuses masked ones
    return outputs


def _contradicted(first: FloatArray, second: FloatArray) -> bool:
    """Whether a data set has outputs that its own density calls impossible."""
    return bool(np.isneginf(first).any() or np.isposinf(second).any())


def _stacked(outputs: list[Any]) -> Any:
    """Return outputs as one array if they have one shape, else as an array of objects."""
    array = plain_array(outputs, "outputs")
    if array is None:
        array = np.empty(len(outputs), dtype=object)
        for row, output in enumerate(outputs):
            array[row] = output
    return array


def _default_score(mechanism: Any, dataset: Any, neighbour: Any, first: Any, second: Any) -> Any:
    if hasattr(mechanism, "sample") and hasattr(mechanism, "log_density"):
        if _has_density(mechanism, dataset):
            return LogLikelihoodRatio(mechanism, dataset, neighbour)
        return DistanceScore(mechanism.manifold, dataset, neighbour)
    is_number = flat(first).shape[1] == 1 and flat(second).shape[1] == 1
    return IdentityScore() if is_number else LinearScore()


def _has_density(mechanism: Any, dataset: Any) -> bool:
    """Whether a density of its draws is known, unlike on spaces that noise may leave."""
    try:
        mechanism.log_density(dataset, dataset)
    except UnsupportedManifoldError:
        return not hasattr(mechanism, "manifold")
    return True
