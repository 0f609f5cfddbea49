"""Values with several parts, each under its name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from riemdp._described import Described, value_rows


class NamedValues(Described, Mapping[str, Any]):
    """What was released, part by part: ``value.mean`` is ``value["mean"]``.

    Parameters
    ----------
    raw : ndarray, shape (d,)
        The released coordinates that all parts are computed from.
    parts : mapping of str to object
        Arrays are made read-only.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> points = np.random.default_rng(0).normal(0.0, 0.3, (500, 2))
    >>> value = riemdp.private_moments(points, ball, riemdp.GDP(1.0)).value
    >>> value.mean is value["mean"], "variance" in value
    (True, True)
    """

    def __init__(self, raw: NDArray[np.float64], parts: Mapping[str, Any]) -> None:
        sealed = np.array(raw)
        for part in (sealed, *parts.values()):
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
        self._raw, self._parts = sealed, dict(parts)

    @property
    def raw(self) -> NDArray[np.float64]:
        """The released coordinates, shape (d,)."""
        return self._raw

    def __getitem__(self, name: str) -> Any:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in self._parts:
            raise AttributeError(f"{name!r} is not among the released parts")
        return self._parts[name]

    def __setattr__(self, name: str, value: object) -> None:
        if name in ("_raw", "_parts") and name not in self.__dict__:
            object.__setattr__(self, name, value)
            return
        raise AttributeError(f"{name!r} cannot be set: what was released stays as it is")

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._parts]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NamedValues):
            return NotImplemented
        return list(self) == list(other) and np.array_equal(self._raw, other.raw)

    def __hash__(self) -> int:
        return hash((*self._parts, (self._raw + 0.0).tobytes()))  # -0.0 equals 0.0

    def __reduce__(self) -> tuple[Any, ...]:
        return NamedValues, (self._raw, self._parts)

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        """Title and lines of the text; see :class:`riemdp._described.Described`."""
        return "Released values", value_rows(self)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={value!r}" for name, value in self._parts.items())
        return f"NamedValues({parts})"
