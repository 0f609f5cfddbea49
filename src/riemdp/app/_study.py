"""Whether a study can tell what it looks for, from public numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

import riemdp
from riemdp._checks import count, positive, shown
from riemdp._errors import InvalidParameterError, UnsupportedError
from riemdp._part_document import from_text
from riemdp.privacy import ApproxDP, Budget
from riemdp.release import Plan, plan
from riemdp.spaces import Ball, Manifold, Power, ProductBall

if TYPE_CHECKING:
    from riemdp.release import PlanRow

#: Numbers that all means together may have: a page is to answer within seconds.
_MOST_NUMBERS = 1_000_000
#: Share of the effect up to which noise leaves it plain to see.
USEFUL = 1.0 / 3.0

Level = Literal["useful", "borderline", "hopeless"]


@dataclass(frozen=True)
class SpaceChoice:
    """A space to choose: what its records are, in words, and its class.

    ``field`` is its parameter, None where it has none; ``sizes`` are the least, first and largest
    value of it.
    """

    records: str
    name: str
    field: str | None
    sizes: tuple[int, int, int] = (1, 1, 1)

    def text(self, size: int) -> str:
        """Return it as the command line takes it."""
        return self.name if self.field is None else f"{self.name}:{self.field}={size}"

    def code(self, size: int) -> str:
        """Return it as Python has it."""
        return f"riemdp.{self.name}({'' if self.field is None else size})"


@dataclass(frozen=True)
class BudgetChoice:
    """A definition to choose; ``parameter`` is the symbol of its size."""

    title: str
    parameter: str
    has_delta: bool = False


#: Spaces that the page offers, by name.
SPACES: Mapping[str, SpaceChoice] = MappingProxyType(
    {
        each.name: each
        for each in (
            SpaceChoice("matrices, log-Euclidean", "SPDLogEuclidean", "k", (1, 3, 64)),
            SpaceChoice("matrices, affine-invariant", "SPDAffineInvariant", "k", (1, 3, 22)),
            SpaceChoice("directions", "Sphere", "dim", (1, 2, 100)),
            SpaceChoice("axes", "ProjectiveSpace", "dim", (1, 2, 100)),
            SpaceChoice("rotations in space", "Rotations", None),
            SpaceChoice("shapes in the plane", "PlanarShapes", "k", (3, 8, 100)),
            SpaceChoice("points of hyperbolic space", "Hyperbolic", "dim", (1, 2, 50)),
            SpaceChoice("vectors", "Euclidean", "dim", (1, 3, 1000)),
        )
    }
)
#: Definitions that it offers, by name.
BUDGETS: Mapping[str, BudgetChoice] = MappingProxyType(
    {
        "GDP": BudgetChoice("Gaussian differential privacy", "mu"),
        "PureDP": BudgetChoice("pure differential privacy", "epsilon"),
        "ApproxDP": BudgetChoice("(epsilon, delta)", "epsilon", has_delta=True),
        "ZCDP": BudgetChoice("zero-concentrated", "rho"),
    }
)


@dataclass(frozen=True)
class Verdict:
    """What a study may expect.

    Attributes
    ----------
    level : {"useful", "borderline", "hopeless"}
        Noise up to a third of the effect, up to the effect, and beyond it.
    noise : float
        Expected distance that noise adds; of several means the root mean square of one.
    share : float
        Noise over effect.
    needed_n : int or None
        Number of records with which noise is a third of the effect; None where none is known.
    mechanism : str
        What ``"auto"`` takes.
    sentences : tuple of str
        The same in words.
    """

    level: Level
    noise: float
    share: float
    needed_n: int | None
    mechanism: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class Study:
    """Public numbers of a study.

    Parameters
    ----------
    space : str
        A key of :data:`SPACES`.
    size : int
        Of its parameter; not looked at where it has none.
    radius : float
        Of the public ball, in units of geodesic distance; of several means the root mean square
        radius of one.
    n : int
        Number of records, or people.
    means : int
        How many means are released together.
    budget : {"GDP", "PureDP", "ApproxDP", "ZCDP"}
    parameter : float
        Its size.
    effect : float
        Distance that is looked for, such as that between two groups; in units of geodesic distance.
    delta : float, default 1e-6
        Of ``"ApproxDP"`` alone.

    Raises
    ------
    InvalidParameterError
        If a number is missing or outside its domain, a name unknown, or the means are too many and
        too large to plan for while somebody waits.
    """

    space: str
    size: int
    radius: float
    n: int
    means: int
    budget: str
    parameter: float
    effect: float
    delta: float = 1e-6

    def __post_init__(self) -> None:
        for name, given, table in (("space", self.space, SPACES), ("budget", self.budget, BUDGETS)):
            if given not in table:
                raise InvalidParameterError(
                    f"{name} must be one of {', '.join(table)}, got {shown(given)}"
                )
        choice = SPACES[self.space]
        names = {"size": choice.field or "size", "parameter": BUDGETS[self.budget].parameter}
        for name in ("size", "n", "means", "radius", "parameter", "effect", "delta"):
            if getattr(self, name) is None:
                raise InvalidParameterError(f"{names.get(name, name)} is empty: give a number")
        for name in ("size", "n", "means"):
            object.__setattr__(self, name, count(getattr(self, name), names.get(name, name)))
        for name in ("radius", "parameter", "effect"):
            object.__setattr__(self, name, positive(getattr(self, name), names.get(name, name)))
        least, _, most = choice.sizes
        if choice.field is not None and not least <= self.size <= most:
            raise InvalidParameterError(
                f"{choice.field} must lie from {least} to {most} here, got {self.size}; "
                "riemdp.plan takes others"
            )
        if self.means * self._one.dim > _MOST_NUMBERS:
            raise InvalidParameterError(
                f"{self.means:,} means of dimension {self._one.dim} are more than "
                f"{_MOST_NUMBERS:,} numbers together; riemdp.plan has no such limit"
            )

    @property
    def definition(self) -> Budget:
        """The privacy definition that is asked for."""
        if self.budget == ApproxDP.__name__:
            return ApproxDP(self.parameter, self.delta)
        made: Budget = getattr(riemdp, self.budget)(self.parameter)
        return made

    @property
    def _one(self) -> Manifold:
        made: Manifold = from_text(SPACES[self.space].text(self.size), Manifold.sort)
        return made

    @property
    def ball(self) -> Ball:
        """A ball of that radius about the origin, of all means together."""
        one = self._one
        if self.means == 1:
            return Ball(one, one.origin, self.radius)
        many = Power(one, self.means)
        return ProductBall(many, many.origin, rms_radius=self.radius)

    def plan(self) -> Plan:
        """Return the plan of the release; see :func:`riemdp.plan`."""
        ball = self.ball
        return plan(ball.manifold, ball, self.n, self.definition)

    def verdict(self) -> Verdict:
        """Say whether noise leaves the effect to be seen.

        :class:`UnsupportedError` where no mechanism satisfies the budget, or the ball is too large.
        """
        found = self.plan()
        best = found.best
        if best is None:
            problems = "; ".join(sorted({row.problem for row in found if row.problem}))
            raise UnsupportedError(f"no mechanism satisfies {self.definition} here: {problems}")
        noise = _noise(best)
        share = noise / self.effect
        level: Level = "useful" if share <= USEFUL else "borderline" if share <= 1 else "hopeless"
        needed = self._needed(best)
        return Verdict(
            level, noise, share, needed, best.mechanism, self._words(best, share, needed)
        )

    def _needed(self, best: PlanRow) -> int | None:
        """Least n with which the noise of one mean is the share of the effect that is useful."""
        if best.expected_distance is None:
            return None
        together = best.expected_distance / _noise(best)  # of a law of this shape, at any scale
        target = USEFUL * self.effect * together
        ball, name = self.ball, best.mechanism
        found = plan(
            ball.manifold, ball, self.n, self.definition, target_error=target, mechanisms=[name]
        )
        return found[name].required_n

    def _words(self, best: PlanRow, share: float, needed: int | None) -> tuple[str, ...]:
        said = f"The noise is {share:.0%} of the effect"
        if share > USEFUL and needed is not None:
            said += f"; with n = {needed:,} it would be a third"
        sentences = [f"{said}."]
        if _noise(best) > self.radius:
            sentences.append(
                "The noise is larger than the ball: such a release tells nothing that the public "
                "centre does not."
            )
        if best.warning:
            sentences.append(f"{best.warning[0].upper()}{best.warning[1:]}.")
        sentences.append(
            "Sampling adds the spread of the records over the root of n, with privacy or without."
        )
        return tuple(sentences)

    def curve(self, ns: tuple[int, ...]) -> tuple[float, ...]:
        """Noise of one mean for several numbers of records; NaN where nothing is available."""
        found = []
        for n in ns:
            best = replace(self, n=n).plan().best
            found.append(math.nan if best is None else _noise(best))
        return tuple(found)

    @property
    def code(self) -> str:
        """Python that makes the release."""
        one = SPACES[self.space].code(self.size)
        if self.means == 1:
            space, ball = one, f"riemdp.Ball(space, space.origin, {_text(self.radius)})"
        else:
            space = f"riemdp.Power({one}, {self.means})"
            ball = f"riemdp.ProductBall(space, space.origin, rms_radius={_text(self.radius)})"
        return "\n".join(
            [
                "import riemdp",
                "",
                f"space = {space}",
                f"ball = {ball}  # your public centre, chosen without the data",
                f"release = riemdp.private_mean(points, ball, {self._budget_code})",
                'release.save("release.json")',
            ]
        )

    @property
    def command(self) -> str | None:
        """The same on the command line; None of several means, which it has no balls of."""
        if self.means > 1:
            return None
        choice = BUDGETS[self.budget]
        budget = f"--{choice.parameter} {_text(self.parameter)}"
        if choice.has_delta:
            budget += f" --delta {_text(self.delta)}"
        manifold = SPACES[self.space].text(self.size)
        center = self.ball.manifold.origin_name
        return (
            f"riemdp mean records.npy --manifold {manifold} --center {center} "
            f"--radius {_text(self.radius)} {budget} --release release.json"
        )

    @property
    def _budget_code(self) -> str:
        numbers = f"{_text(self.parameter)}"
        if BUDGETS[self.budget].has_delta:
            numbers += f", {_text(self.delta)}"
        return f"riemdp.{self.budget}({numbers})"


def _text(number: float) -> str:
    """Return a number with all its digits: fewer might be another budget, and a larger one."""
    short = f"{number:g}"
    return short if float(short) == number else repr(float(number))


def _noise(row: PlanRow) -> float:
    """Noise of one mean."""
    if row.noise_per_mean is not None:
        return row.noise_per_mean
    return math.nan if row.expected_distance is None else row.expected_distance
