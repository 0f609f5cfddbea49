"""The file that says what ``riemdp audit`` does: TOML or JSON, every key checked."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import auditing
from riemdp._checks import real, shown
from riemdp._errors import InvalidParameterError
from riemdp._files import read_text
from riemdp._part import lookup
from riemdp._part_document import from_text
from riemdp.auditing._floating_point import LowBitScore
from riemdp.cli._failures import place
from riemdp.cli._io import read_array
from riemdp.cli._options import MANIFOLDS, DistanceName, budget_of, manifold_of
from riemdp.mechanisms import MECHANISMS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from riemdp.privacy import Budget
    from riemdp.spaces import Manifold

#: Scores that a file can name.
SCORES: Mapping[str, Callable[[], Any]] = {
    "classifier": auditing.ClassifierScore,
    "frequency": auditing.FrequencyScore,
    "identity": auditing.IdentityScore,
    "linear": auditing.LinearScore,
    "low-bits": LowBitScore,
    "nearest-neighbour": auditing.NearestNeighbourScore,
}
_COMMON = {"mechanism", "claim", "adjacency", "samples", "confidence", "score", "seed"}
#: Data, as lists or names of files.
_DATA = ("dataset", "neighbour")
_USERS = ("users", "neighbour_users")
_OF_FUNCTION = {*_DATA, *_USERS}
_OF_MECHANISM = {"manifold", "sensitivity", "sigma"}
_CLAIM = {"epsilon", "delta", "mu", "rho", "theta", "distance"}
_MANIFOLD = {"name", "dim", "size", "curvature"}


@dataclass(frozen=True, eq=False)
class AuditSpec:
    """An audit as its file describes it.

    ``title`` says what is audited; ``claim`` has its relation between data sets; ``inputs`` are the
    files that were read for it, besides its own; ``users`` and ``neighbour_users`` say whose record
    each is, or are None.
    """

    title: str
    mechanism: Any
    dataset: Any
    neighbour: Any
    claim: Budget
    samples: int | None
    confidence: float
    score: Any
    seed: int | None
    inputs: tuple[Path, ...] = ()
    users: Any = None
    neighbour_users: Any = None


def read_spec(path: Path, most: int | None = None) -> AuditSpec:
    """Read and check a specification; scripts that it names are imported from its folder.

    ``most`` is the limit of numbers in a file of data. An error names the key.
    """
    table = _table(path)
    name = table.get("mechanism")
    if not isinstance(name, str):
        raise InvalidParameterError(
            'mechanism must be the name of a mechanism or "module:function", got ' + shown(name)
        )
    is_function = ":" in name
    if not is_function and "." not in name and name not in MECHANISMS:
        raise InvalidParameterError(
            f"no mechanism is called {shown(name)}; there are {', '.join(MECHANISMS)}, and "
            '"module:function" for a function of (dataset, generator)'
        )
    _check_keys(table, _COMMON | (_OF_FUNCTION if is_function else _OF_MECHANISM), path.name)
    claim = _claim(table.get("claim"))
    if "adjacency" in table:
        claim = claim.under(table["adjacency"])
    users: list[Any] = [None, None]
    if is_function:
        mechanism = load_function(name, path)
        dataset, neighbour = (_data(table, key, path, most) for key in _DATA)
        users = [_data(table, key, path, most) if key in table else None for key in _USERS]
        title = f"{name} on neighbouring data sets"
    else:
        mechanism, dataset, neighbour = _mechanism(name, table, claim)
        distance = real(table["sensitivity"], "sensitivity")
        title = (
            f"{name} on {mechanism.manifold}, sigma = {mechanism.sigma:.6g}, footpoints "
            f"{distance:.6g} apart"
        )
    seed = table.get("seed")
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
        raise InvalidParameterError(f"seed must be an integer of at least 0, got {shown(seed)}")
    return AuditSpec(
        title,
        mechanism,
        dataset,
        neighbour,
        claim,
        table.get("samples"),
        table.get("confidence", 0.95),
        _score(table.get("score"), path),
        seed,
        _inputs(table, path),
        *users,
    )


def load_function(name: str, path: Path) -> Any:
    """Import ``module:function``, with the folder of the file first on the search path."""
    module, _, function = name.partition(":")
    folder = str(path.resolve().parent)
    sys.path.insert(0, folder)
    try:
        found = getattr(importlib.import_module(module), function, None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a script may end itself where it is imported
        # Its text may hold data: a script reads them where it is imported.
        missing = isinstance(error, ModuleNotFoundError) and error.name == module
        why = "there is none" if missing else f"{type(error).__name__} at {place(error)}"
        raise InvalidParameterError(f"{module} cannot be imported from {folder}: {why}") from None
    finally:
        with contextlib.suppress(ValueError):  # the script may have seen to it
            sys.path.remove(folder)
    if not callable(found):
        raise InvalidParameterError(f"{module} has no function {function}")
    return found


def _table(path: Path) -> dict[str, Any]:
    suffix = path.suffix.lower()
    if suffix not in (".toml", ".json"):
        raise InvalidParameterError(f"a specification must be .toml or .json, got {path.name}")
    try:
        text = read_text(path)
        table = tomllib.loads(text) if suffix == ".toml" else json.loads(text)
    except InvalidParameterError:
        raise
    except (ValueError, RecursionError) as error:  # both decoders raise ValueErrors
        raise InvalidParameterError(f"{path.name} is not {suffix[1:].upper()}: {error}") from None
    if not isinstance(table, dict):
        raise InvalidParameterError(f"{path.name} must hold a table of names and values")
    return table


def _check_keys(table: Mapping[str, Any], known: set[str], where: str) -> None:
    unknown = sorted(set(table) - known)
    if unknown:
        raise InvalidParameterError(
            f"{where} has {', '.join(unknown)}, which do not belong there; known are "
            f"{', '.join(sorted(known))}"
        )


def _claim(table: object) -> Budget:
    if isinstance(table, str):
        budget: Budget = from_text(table, "definition")
        return budget
    if not isinstance(table, dict):
        raise InvalidParameterError(
            f"claim must be a table such as {{ epsilon = 1.0, delta = 1e-6 }}, got {shown(table)}"
        )
    _check_keys(table, _CLAIM, "claim")
    numbers = {key: real(table[key], f"claim.{key}") for key in table if key != "distance"}
    distance = table.get("distance")
    if distance is not None:
        if distance not in list(DistanceName):
            raise InvalidParameterError(
                f"claim.distance must be angle or parametric, got {shown(distance)}"
            )
        distance = DistanceName(distance)
    return budget_of(
        numbers.get("epsilon"),
        numbers.get("delta"),
        numbers.get("mu"),
        numbers.get("rho"),
        theta=numbers.get("theta"),
        distance=distance,
    )


def _mechanism(name: str, table: Mapping[str, Any], claim: Budget) -> tuple[Any, Any, Any]:
    """One of riemdp's mechanisms, calibrated to the claim unless it has its sigma."""
    manifold = _manifold(table.get("manifold"))
    if "sensitivity" not in table:
        raise InvalidParameterError("sensitivity, the distance of the footpoints, is missing")
    sensitivity = real(table["sensitivity"], "sensitivity")
    kind: Any = lookup(name, "mechanism")
    options = {"base": manifold.origin} if "base" in kind.options else {}
    if "sigma" in table:
        mechanism = kind(manifold, real(table["sigma"], "sigma"), **options)
    else:
        mechanism = kind.calibrate(manifold, sensitivity, claim, **options)
    first, second = auditing.footpoint_pair(manifold, sensitivity)
    return mechanism, first, second


def _manifold(place: object) -> Manifold:
    """Space of a table, or of a text that names a registered one."""
    if isinstance(place, str):
        return manifold_of(place, None, None, None)
    if not isinstance(place, dict) or place.get("name") not in list(MANIFOLDS):
        raise InvalidParameterError(
            'manifold must be a table such as { name = "sphere", dim = 2 }; names are '
            + ", ".join(MANIFOLDS)
        )
    _check_keys(place, _MANIFOLD, "manifold")
    return manifold_of(place["name"], place.get("dim"), place.get("size"), place.get("curvature"))


def _inputs(table: Mapping[str, Any], path: Path) -> tuple[Path, ...]:
    """Files of data and scripts that a specification names."""
    names = (table.get(key) for key in (*_DATA, *_USERS))
    data = (path.parent / name for name in names if isinstance(name, str))
    functions = (table.get(key) for key in ("mechanism", "score"))
    modules = (name.partition(":")[0] for name in functions if isinstance(name, str))
    loaded = (getattr(sys.modules.get(module), "__file__", None) for module in modules)
    return (*data, *(Path(file) for file in loaded if file is not None))


def _data(table: Mapping[str, Any], key: str, path: Path, most: int | None) -> Any:
    """Return the array of a file next to the specification, or what the key itself holds."""
    if key not in table:
        raise InvalidParameterError(f"{key} is missing: a list of records, or the name of a file")
    value = table[key]
    if isinstance(value, str):
        return read_array(path.parent / value, most=most)
    if not isinstance(value, list):
        return value
    try:
        array = np.asarray(value)
    except ValueError:  # records of different shapes
        return value
    return array if array.dtype.kind in "fiu" else value


def _score(name: object, path: Path) -> Any:
    if name is None:
        return None
    if isinstance(name, str) and ":" in name:
        return load_function(name, path)
    if name not in SCORES:
        raise InvalidParameterError(
            f'score must be "module:function" or one of {", ".join(SCORES)}, got {shown(name)}'
        )
    return SCORES[str(name)]()
