"""Cross-validation that knows its splitter: refused where one record could move others."""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import kind_of
from riemdp._errors import BudgetExceededError, InvalidParameterError
from riemdp._keywords import with_advice
from riemdp.estimators._base import PrivateEstimator
from riemdp.estimators._hashed_fold import HashedFold
from riemdp.estimators._pipeline import check_pipeline, steps_of
from riemdp.estimators._scikit_learn import (
    KFold,
    LeaveOneOut,
    LeavePOut,
    RepeatedKFold,
    ShuffleSplit,
    TimeSeriesSplit,
    _safe_indexing,
    check_scoring,
    clone,
)
from riemdp.estimators._warning import RecordLevelWarning
from riemdp.privacy import Account, Accountant, check_budget
from riemdp.release import relation

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import ArrayLike, NDArray

    from riemdp.statistics import Neighbours

#: Splitters that look at the number of records alone, and by default at nothing else.
_BY_NUMBER = (KFold, LeaveOneOut, LeavePOut, RepeatedKFold, ShuffleSplit, TimeSeriesSplit)


@with_advice
def private_cross_validate(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    cv: Any,
    users: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    groups: ArrayLike | None = None,
    scoring: str | Callable[..., float] | None = None,
    per_record: Iterable[str | type] = (),
) -> dict[str, Any]:
    r"""Fit a private estimator on each training set, and score each fit on its test set.

    As :func:`sklearn.model_selection.cross_validate`, which cannot tell a fit how its records were
    chosen. This function can, and raises if one record could change the place of others.

    **The scores are not private.** Each is a function of private test records, without noise. Do
    not publish them, or what you choose by them, unless the scored records are public. The fitted
    estimators are private: each is one release, charged to the account, and together they have
    the composition of all their guarantees.

    Parameters
    ----------
    estimator : private estimator or Pipeline
        A pipeline is checked by :func:`check_pipeline`. Clones share the account.
    X, y : array_like
        Records, and labels or what else is predicted.
    cv : splitter
        :class:`HashedFold` for people, and for a private number of records. Under replace-one the
        number and the places of records are public: ``KFold``, ``RepeatedKFold``,
        ``ShuffleSplit``, ``LeaveOneOut``, ``LeavePOut`` or ``TimeSeriesSplit``.
    users : array_like of int or str, shape (n,), optional
        Whose record each is. Guarantees are about people with all their records, and each person
        is in one fold. If ``cv`` has a public list of people, each fit is told as ``people`` how
        many of the list its training set has; who has no record counts as the centre of the ball.
        Otherwise, the number of people is private.
    ids : array_like of int or str, shape (n,), optional
        Each record's own id, for ``HashedFold``. Guarantees are about single records.
    groups : array_like of int or str, shape (n,), optional
        The same under the name that scikit-learn has for ids of people, with a warning: ``groups``
        says how records are divided and protects no person. Use ``users`` or ``ids``.
    scoring : str or callable, optional
        One score, as in scikit-learn; by default the estimator's own.
    per_record : iterable of str or type
        See :func:`check_pipeline`.

    Returns
    -------
    dict
        ``"estimator"``, the list of fits, and ``"test_score"``, an array of their scores: NaN for
        a test set without records.

    Warns
    -----
    RecordLevelWarning
        If ``groups`` is given.

    Raises
    ------
    InvalidParameterError
        If the splitter may let one record move others, or a parameter is outside its domain.
    BudgetExceededError
        If an account cannot pay for all fits; none is charged then.

    See Also
    --------
    HashedFold

    References
    ----------
    docs/proofs/neighbours.md, claim 10.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import Accountant, Ball, GDP, SPDAffineInvariant
    >>> from riemdp.estimators import HashedFold, PrivateMDM, private_cross_validate
    >>> low, high = np.diag([1.0, 4.0]), np.diag([4.0, 1.0])
    >>> X, y = np.repeat([low, high], 300, axis=0), np.repeat(["low", "high"], 300)
    >>> own = [f"scan {i}" for i in range(600)]
    >>> ball = Ball(SPDAffineInvariant(2), np.eye(2), 2.0)
    >>> account = Accountant(GDP(2.0), adjacency="add-remove")
    >>> model = PrivateMDM(
    ...     ball, GDP(1.0), ["low", "high"], adjacency="add-remove", accountant=account
    ... )
    >>> found = private_cross_validate(model, X, y, cv=HashedFold(4), ids=own)
    >>> found["test_score"].tolist(), account.remaining
    ([1.0, 1.0, 1.0, 1.0], None)
    """
    given = [each for each in (users, ids, groups) if each is not None]
    if len(given) > 1:
        raise InvalidParameterError(
            "give one of users, ids and groups: users protects people, ids single records"
        )
    if groups is not None:
        warnings.warn(
            "groups= says how records are divided, not whom to protect: these fits protect single "
            "records. Give users=... to protect people with all their records, or ids=... if each "
            "id is one record's own",
            RecordLevelWarning,
            stacklevel=3,
        )
    has_users = users is not None
    listed = cv.sizes if has_users and type(cv) is HashedFold else None
    steps = _private_steps(estimator, per_record)
    related = {
        name: relation(
            step.adjacency,
            step.budget,
            has_users=has_users,
            people=None if listed is None or _keeps_private(step) else sum(listed),
        )
        for name, step in steps.items()
    }
    for each in related.values():
        _check_splitter(cv, each, has_users=has_users)
    scorer = check_scoring(estimator, scoring)
    hashed = given[0] if given and type(cv) is HashedFold else None
    folds = list(cv.split(X, y, hashed))
    _check_affordable([(step, related[name]) for name, step in steps.items()], len(folds))
    fits, scores = [], []
    for fold, (train, test) in enumerate(folds):
        told = {"users": _safe_indexing(users, train)} if has_users else {}
        parameters = {name + key: value for name in steps for key, value in told.items()}
        if listed is not None:
            public = [name for name, each in related.items() if each.size_is_public]
            parameters |= dict.fromkeys(
                [f"{name}people" for name in public], sum(listed) - listed[fold]
            )
        labels = None if y is None else _safe_indexing(y, train)
        fits.append(clone(estimator).fit(_safe_indexing(X, train), labels, **parameters))
        scores.append(_score(scorer, fits[-1], X, y, test))
    return {"estimator": fits, "test_score": np.array(scores)}


def _private_steps(estimator: Any, per_record: Iterable[str | type]) -> dict[str, PrivateEstimator]:
    """Return the private steps, by what goes before the names of their parameters."""
    if isinstance(estimator, PrivateEstimator):
        return {"": estimator}
    check_pipeline(estimator, per_record=per_record)
    return {
        "__".join((*path, "")): step
        for path, step in steps_of(estimator, ())
        if isinstance(step, PrivateEstimator)
    }


def _keeps_private(step: PrivateEstimator) -> bool:
    """Whether a step asks for add-remove: then it is not told the number of people on a list."""
    said = getattr(step.adjacency, "name", step.adjacency), getattr(step.budget, "adjacency", "")
    return any(str(each).startswith("add-remove") for each in said)


def _check_splitter(cv: Any, related: Neighbours, *, has_users: bool) -> None:
    """Raise if one unit of a relation may move others, or change a number that is public."""
    if has_users or not related.size_is_public:
        if type(cv) is not HashedFold:
            one, name = ("person", "users") if has_users else ("record", "ids")
            raise InvalidParameterError(
                f"cv must be a HashedFold, got {kind_of(cv)}: under {related.name} one {one} more "
                f"may move others to another fold. Use cv=HashedFold(5) with {name}=..."
            )
    elif type(cv) not in _BY_NUMBER:
        names = ", ".join(kind.__name__ for kind in _BY_NUMBER)
        raise InvalidParameterError(
            f"cv must divide records by their public number alone under {related.name}, got "
            f"{kind_of(cv)}: use KFold(5, shuffle=True, random_state=0), or one of {names}"
        )


def _check_affordable(steps: list[tuple[PrivateEstimator, Neighbours]], fits: int) -> None:
    """Raise if what is left of an account does not suffice for all fits, before any is charged."""
    for account in {id(step.accountant): step.accountant for step, _ in steps}.values():
        left = getattr(account, "remaining", None) if isinstance(account, Account) else None
        if left is None:  # it is another package's, or the first fit says that nothing is left
            continue
        own = [(step.budget, each.adjacency) for step, each in steps if step.accountant is account]
        trial = Accountant(left)
        try:
            for budget, adjacency in own * fits:
                check_budget(budget, "budget")
                trial.spend(budget.under(adjacency), "a fit")
        except BudgetExceededError:
            raise BudgetExceededError(
                f"{fits} folds need {fits} times {' and '.join(str(each) for each, _ in own)}, "
                f"left is {left}: take fewer folds, or a smaller budget for each fit"
            ) from None


def _score(scorer: Any, fit: Any, X: Any, y: Any, test: NDArray[np.intp]) -> float:
    if len(test) == 0:
        return math.nan
    given = [_safe_indexing(each, test) for each in (X, y) if each is not None]
    return float(scorer(fit, *given))
