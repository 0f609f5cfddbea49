"""Statistics that are computed from the answers of another one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riemdp._part import both_proved
from riemdp.statistics._statistic import Statistic

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    from numpy.typing import ArrayLike

    from riemdp.spaces import Ball
    from riemdp.statistics._data import Records


class Around(Statistic):
    """What belongs to records is the business of the inner statistic, and so are its proofs."""

    statistic: Statistic

    @property
    def takes(self) -> tuple[str, ...]:  # type: ignore[override]
        """What the inner statistic takes; see :attr:`Statistic.takes`."""
        return self.statistic.takes

    @property
    def by_place(self) -> tuple[str, ...]:  # type: ignore[override]
        """What of that is public; see :attr:`Statistic.by_place`."""
        return self.statistic.by_place

    @property
    def inside(self) -> tuple[Statistic, ...]:
        """The inner statistic."""
        return (self.statistic,)

    def proofs(self) -> Mapping[str, str | None]:
        """Its own, and those of the inner statistic."""
        return both_proved({self.name: self.proof}, self.statistic.proofs())

    def proofs_on(self, ball: Ball) -> Mapping[str, str | None]:
        """Its own, and those of the inner statistic; see :meth:`Statistic.proofs_on`."""
        return both_proved({self.name: self.proof}, self.statistic.proofs_on(ball))

    def check_size(self, n: int) -> None:
        """See :meth:`Statistic.check_size`."""
        self.statistic.check_size(n)

    def check_chunk(self, records: Records) -> Any:
        """See :meth:`Statistic.check_chunk`."""
        return self.statistic.check_chunk(records)

    def check_chunks(self, noted: Sequence[Any]) -> None:
        """See :meth:`Statistic.check_chunks`."""
        self.statistic.check_chunks(noted)

    def absent(self) -> Mapping[str, object]:
        """Return that of the inner statistic; see :meth:`Statistic.absent`."""
        return self.statistic.absent()

    def typical_extras(self, size: int, generator: np.random.Generator) -> Mapping[str, ArrayLike]:
        """Return those of the inner statistic; see :meth:`Statistic.typical_extras`."""
        return self.statistic.typical_extras(size, generator)
