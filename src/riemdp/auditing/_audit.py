"""A lower bound on the privacy loss of any mechanism, from its outputs on two neighbours."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import count, real, shown
from riemdp._errors import InsufficientSamplesError, InvalidParameterError, UnsupportedManifoldError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.auditing._claims import Claim, check_samples, error_probability
from riemdp.auditing._events import certify, choose
from riemdp.auditing._learned_scores import LinearScore
from riemdp.auditing._neighbours import check_neighbours
from riemdp.auditing._outputs import drawer, draws_noise
from riemdp.auditing._result import AuditResult
from riemdp.auditing._scores import (
    DistanceScore,
    IdentityScore,
    LearnedScore,
    LogLikelihoodRatio,
    Score,
    evaluate,
    flat,
)
from riemdp.auditing._trade_off import measure
from riemdp.noise import resolve_generator
from riemdp.privacy import check_claim

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from riemdp.spaces import FloatArray


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
        with independent randomness each time; or a mechanism, drawn from by
        :func:`riemdp.research.sample`, or anything with ``sample(footpoint, size, generator)``.
    dataset, neighbour : array_like or object
        Data sets that are neighbours in the relation of the claim (the first axis counts records):
        under replace-one, which is meant where none is named, they differ in one record; of a
        mechanism two footpoints. Arrays and sequences are checked; any other object is taken as it
        is.
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
        Passed on to the mechanism; a new secure generator by default.
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
    if draws_noise(mechanism) and not (users is None and neighbour_users is None):
        raise InvalidParameterError(
            "a mechanism is audited on two footpoints, which are no records of people; "
            "leave users out"
        )
    draw = drawer(mechanism, dataset, neighbour, check)
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


def _contradicted(first: FloatArray, second: FloatArray) -> bool:
    """Whether a data set has outputs that its own density calls impossible."""
    return bool(np.isneginf(first).any() or np.isposinf(second).any())


def _default_score(mechanism: Any, dataset: Any, neighbour: Any, first: Any, second: Any) -> Any:
    if draws_noise(mechanism) and hasattr(mechanism, "log_density"):
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
