"""Outputs of a mechanism that is audited: independent draws on either data set."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Sized
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp._checks import plain_array, shown
from riemdp._errors import InvalidParameterError
from riemdp._progress import ticks
from riemdp.auditing._neighbours import as_array, same_records
from riemdp.research._sample import sample

if TYPE_CHECKING:
    from collections.abc import Callable


def drawer(
    mechanism: Any, dataset: Any, neighbour: Any, check: Callable[[Any, Any], None]
) -> Callable[..., Any]:
    """Return ``draw(dataset, samples, generator) -> outputs``, the pair being checked."""
    if draws_noise(mechanism):
        manifold = getattr(mechanism, "manifold", None)
        if manifold is not None:
            for footpoint in (dataset, neighbour):
                _check_footpoint(manifold, footpoint)
        return lambda footpoint, samples, generator: _counted(
            sample(mechanism, footpoint, samples, generator), samples
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
        return as_array(outputs, "outputs")

    return draw


def draws_noise(mechanism: Any) -> bool:
    """Whether it draws about footpoints, and is no function of data sets."""
    return hasattr(mechanism, "sample") or hasattr(mechanism, "exact_draw")


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
