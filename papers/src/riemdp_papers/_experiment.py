"""What an experiment of a paper is, and what it gives back."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from riemdp import InvalidParameterError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    FloatArray = NDArray[np.float64]
    IntArray = NDArray[np.int64]

T = TypeVar("T")

#: Called with the share of an experiment that is done, in [0, 1].
Progress = Callable[[float], None]


@dataclass(frozen=True)
class Row:
    """One line of a report's table.

    ``quantity`` says what is compared, with its settings and unit. ``paper`` is what the paper says
    and where, or "—"; "figure only" where only a picture has it. ``reproduced`` is the paper's
    method, run here; ``exact`` the right answer, or "—" where there is none; ``remark`` says where
    they differ and why, in one sentence.
    """

    quantity: str
    paper: str
    reproduced: str
    exact: str
    remark: str = ""


@dataclass(frozen=True)
class Line:
    """One curve of a panel; ``spread`` is half its band's height, and the label says of what."""

    label: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    spread: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for name in ("x", "y", "spread"):
            object.__setattr__(self, name, tuple(float(value) for value in getattr(self, name)))
        if len(self.x) != len(self.y) or len(self.spread) not in (0, len(self.y)):
            raise InvalidParameterError(
                f"line {self.label!r} needs as many x as y, and as many spreads or none, got "
                f"{len(self.x)}, {len(self.y)} and {len(self.spread)}"
            )


@dataclass(frozen=True)
class Panel:
    """One pair of axes."""

    title: str
    xlabel: str
    ylabel: str
    lines: tuple[Line, ...]
    xlog: bool = False
    ylog: bool = False


@dataclass(frozen=True)
class Outcome:
    """What an experiment found: table rows, panels, and notes in Markdown."""

    rows: tuple[Row, ...] = ()
    panels: tuple[Panel, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Outcome:
        """Rebuild from what ``dataclasses.asdict`` and JSON made of an outcome."""
        panels = [
            Panel(**{**panel, "lines": tuple(Line(**line) for line in panel["lines"])})
            for panel in data["panels"]
        ]
        rows = tuple(Row(**row) for row in data["rows"])
        notes = tuple(data["notes"])
        texts = [*notes, *(text for row in data["rows"] for text in row.values())]
        if not all(isinstance(text, str) for text in texts):
            raise TypeError("rows and notes are made of text")
        return cls(rows=rows, panels=tuple(panels), notes=notes)


@dataclass(frozen=True)
class Settings:
    """What all experiments of a run share.

    ``quick`` stands for fewer repeats and sizes, for a run of minutes; ``data`` is a folder with
    image data sets. With ``seed`` experiments are reproducible, and so **nothing drawn in them is
    private**.
    """

    quick: bool
    data: Path | None = None
    seed: int = 0

    def generator(self, *names: str) -> np.random.Generator:
        """Seeded generator, its stream set by ``names``; **not private**."""
        digest = hashlib.sha256("/".join(names).encode()).digest()
        return np.random.default_rng([self.seed, *digest])


@dataclass(frozen=True)
class Experiment:
    """One experiment of a paper; ``name`` is short, lower case, with hyphens: part of file names.

    ``run`` is called with the settings and a function that takes the share done.
    """

    name: str
    title: str
    run: Callable[[Settings, Progress], Outcome]


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments."""

    key: str
    title: str
    citation: str
    experiments: tuple[Experiment, ...]


def counted(cases: Sequence[T], progress: Progress) -> Iterator[T]:
    """Yield the cases, and say after each one what share of them is done."""
    for done, case in enumerate(cases, 1):
        yield case
        progress(done / len(cases))


def mean_and_error(values: FloatArray) -> tuple[float, float]:
    """Mean of ``values``, shape (n,), and its standard error."""
    return float(np.mean(values)), float(np.std(values, ddof=1) / math.sqrt(len(values)))
