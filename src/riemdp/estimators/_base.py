"""What private estimators share: one release a fit, its noise, and one account."""

from __future__ import annotations

import contextlib
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import is_one_of, shown
from riemdp._errors import BudgetExceededError, InvalidParameterError
from riemdp.estimators._points import PointsEstimator
from riemdp.estimators._warning import NotPrivateWarning
from riemdp.noise import is_secure
from riemdp.release import Plan, PrivateBall, is_durable, plan
from riemdp.statistics import Recentred

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeAlias

    from numpy.typing import ArrayLike

    from riemdp.mechanisms import Choice, Mechanism
    from riemdp.privacy import Budget
    from riemdp.release import Release
    from riemdp.statistics import Statistic, SumStatistic

    MechanismChoice: TypeAlias = str | type[Mechanism] | Choice | Mechanism
    RandomState: TypeAlias = int | np.random.Generator | np.random.RandomState | None


class PrivateEstimator(PointsEstimator):
    """An estimator whose ``fit`` makes one release, and whose attributes are computed of that."""

    budget: Any
    mechanism: Any
    adjacency: Any
    accountant: Any
    allow_unproven: Any
    random_state: Any

    _shared = ("ball", "accountant", "mechanism", "random_state")

    def _statistic(self) -> Statistic | None:
        """Return what is released; None for a mean, which the mechanism decides on."""
        return None

    def plan(
        self,
        n: int | None = None,
        *,
        target_error: float | None = None,
        users: bool = False,
        people: int | None = None,
    ) -> Plan:
        """Say what a fit will cost in accuracy, from public numbers only.

        Parameters
        ----------
        n : int, optional
            Number of records. Where it is private, one that is supposed, with ``users`` of people.
            To be left out with ``people``.
        target_error : float, optional
            Expected distance to reach; see :func:`riemdp.plan`.
        users : bool, default False
            Whether people are protected with all their records.
        people : int, optional
            Public number of people.

        Returns
        -------
        Plan
            Distances are between the exact answer of the statistic, with all that it holds, and
            its draw.

        Raises
        ------
        InvalidParameterError
            If a parameter is outside its domain.
        """
        ball, budget = self._public_ball(), self.budget
        if isinstance(self.ball, PrivateBall):
            budget = self.ball.part(budget)
        return plan(
            ball.manifold,
            ball.radius,
            n,
            budget,
            target_error=target_error,
            statistic=self._statistic(),
            adjacency=self.adjacency,
            users=users,
            people=people,
            mechanisms=None if is_one_of(self.mechanism, ("auto",)) else [self.mechanism],
        )

    @contextlib.contextmanager
    def _fitting(self) -> Iterator[None]:
        """Leave the estimator as it was where a fit fails."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__ = before
            raise

    @property
    def _pays(self) -> bool:
        """Whether an account pays for a fit, so that before it no error may tell of the records."""
        payer = self.ball.accountant if isinstance(self.ball, PrivateBall) else self.accountant
        return payer is not None

    def _options(self, users: ArrayLike | None, people: int | None) -> dict[str, Any]:
        """Return what every release is called with."""
        return {
            "ball": self.ball,
            "budget": self.budget,
            "users": users,
            "people": people,
            "mechanism": self.mechanism,
            "adjacency": self.adjacency,
            "accountant": self.accountant,
            "allow_unproven": self.allow_unproven,
            "generator": generator_of(self.random_state),
        }

    def _kept(self, release: Release, *, stacklevel: int = 3) -> Any:
        """Keep a release, warn if it guarantees nothing, and return its value."""
        if not release.private:
            warnings.warn(
                "random_state was set, and this fit is not private: whoever knows the seed knows "
                "its noise. Ensembles of scikit-learn, such as BaggingClassifier, set it in every "
                "estimator that they fit. Leave random_state=None for a private release",
                NotPrivateWarning,
                stacklevel=stacklevel,  # where fit was called
            )
        self.release_ = release
        self.guarantee_: Budget = release.guarantee
        self.private_ = release.private
        return release.value

    def _is_random(self) -> bool:
        return self.random_state is None

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but an account that a copy would double.

        An account of a ledger is one and the same wherever it gets to, and stays: the place of its
        database, without a password or a key.
        """
        state = super().__getstate__()
        durable = is_durable(self.accountant)
        if isinstance(self.ball, PrivateBall) or not (self.accountant is None or durable):
            state["accountant"] = AccountLeftBehind()
        if self.random_state is not None and draws_secretly(self.random_state):
            state["random_state"] = None  # secure, in whichever process it gets to
        return state


class AccountLeftBehind:
    """Stands for the account of an estimator that was pickled or copied: it pays for nothing.

    A copy of an account would double its budget, and no account at all would be a budget without
    end.
    """

    def spend(self, guarantee: Budget, label: str) -> None:
        """Refuse, with a :class:`BudgetExceededError`."""
        raise BudgetExceededError(
            f"asked for {guarantee} ({label}) of an account that stayed where this estimator was "
            "pickled or copied; name one with estimator.set_params(accountant=...)"
        )

    def __repr__(self) -> str:
        return "AccountLeftBehind()"


def generator_of(random_state: object) -> np.random.Generator | None:
    """Return the source of noise that a ``random_state`` stands for; None for the secure one.

    A seed or a generator is for tests: the release is marked as not private. Anything else but
    None is an :class:`InvalidParameterError`.
    """
    if random_state is None or isinstance(random_state, np.random.Generator):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**32, size=8, dtype=np.uint32))
    whole = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if not whole or random_state < 0:  # type: ignore[operator]
        raise InvalidParameterError(
            "random_state must be None for a private release, or in a test an integer of at least "
            f"0 or a numpy.random.Generator, got {shown(random_state)}"
        )
    return np.random.default_rng(random_state)  # type: ignore[arg-type]


def draws_secretly(random_state: object) -> bool:
    """Whether a ``random_state`` leaves the noise secret: None and a secure generator do."""
    if random_state is None:
        return True
    return isinstance(random_state, np.random.Generator) and is_secure(random_state)


def is_recentred(base: object) -> bool:
    """Whether records are seen from a mean that is released first, not from the public centre."""
    if not is_one_of(base, ("recentred", "public")):
        raise InvalidParameterError(f'base must be "recentred" or "public", got {shown(base)}')
    return base == "recentred"


def seen_from_base(statistic: SumStatistic, base: object, share: Any, alpha: Any) -> Statistic:
    """Return a statistic about the public centre, or about a mean that is released first.

    ``share`` and ``alpha`` are those of :class:`riemdp.statistics.Recentred`.
    """
    return Recentred(statistic, share, alpha) if is_recentred(base) else statistic
