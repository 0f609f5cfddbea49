"""Parts as documents and short texts have them: the name of the class, and its fields."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _document
from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp._part import GROUP, Part, is_registered, lookup

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

#: How a document writes a number without end: JSON has none.
_INFINITE = "infinity"


def encode(part: Part) -> dict[str, Any]:
    """Return a registered part as a document: ``{"type": name, **fields}``.

    A field whose metadata say ``{"written": False}``, which needs a default, is left out.
    """
    return {"type": part.name, **encode_fields(part)}


def encode_fields(part: Part, without: Collection[str] = ()) -> dict[str, Any]:
    """Return the fields of a registered part, and of no other, as a document."""
    if not is_registered(part):
        raise InvalidParameterError(
            f"{type(part).__name__} cannot be written: it is not registered. A package offers it "
            f'under an entry point of the group "{GROUP}"'
        )
    names = [field.name for field in _fields(type(part)) if field.name not in without]
    return {name: encode_value(getattr(part, name)) for name in names}


def decode(document: object, sort: str | None = None) -> Any:
    """Return the part that :func:`encode` wrote, of a sort (see :class:`Part`) if one is given.

    A document must have all fields of the class, and no other.
    """
    kind = lookup(document.get("type") if isinstance(document, dict) else None, sort)
    names = {field.name for field in _fields(kind)}
    values = dict(_document.fields(document, names | {"type"}))
    del values["type"]
    return _made(kind, decode_fields(values))


def _made(kind: type[Any], values: Mapping[str, Any]) -> Any:
    """Make a part of fields that somebody wrote."""
    try:
        return kind(**values)
    except (TypeError, AttributeError) as error:  # a number where a part belongs, or the reverse
        raise InvalidParameterError(
            f"{shown(kind.name)} cannot be made of the fields {', '.join(values)}: {error}"
        ) from error


def from_text(text: str, sort: str) -> Any:
    """Return the part of a sort that a short text names, as on the command line.

    The text is ``"name"`` or ``"name:field=value,field=value"``; values are numbers, or texts.
    Fields with a default may be left out.
    """
    name, pairs, values = split_text(text)
    kind = lookup(name, sort)
    fields = {field.name: field for field in _fields(kind)}
    needed = [key for key, field in fields.items() if field.default is dataclasses.MISSING]
    if not set(needed) <= set(values) <= set(fields) or len(values) < pairs:
        known = ",".join(f"{key}=..." for key in fields)
        raise InvalidParameterError(
            f"{shown(text)} must have the form {name}{':' if known else ''}{known}"
            + (f", with at least {', '.join(needed)}" if needed else "")
        )
    return _made(kind, values)


def split_text(text: str) -> tuple[str, int, dict[str, Any]]:
    """Return the name in such a text, the number of its pairs, and the fields."""
    name, _, rest = text.partition(":")
    pairs = [item.partition("=") for item in rest.split(",")] if rest else []
    values = decode_fields({key.strip(): _value(value.strip()) for key, _, value in pairs})
    return name, len(pairs), values


def _value(text: str) -> object:
    """Return the number that a text is, or the text."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def decode_fields(values: Mapping[str, object]) -> dict[str, Any]:
    """Return the fields that :func:`encode_fields` wrote."""
    return {name: _read(name, value) for name, value in values.items()}


def _fields(kind: type[Part]) -> tuple[dataclasses.Field[Any], ...]:
    described: Any = kind
    found = dataclasses.fields(described) if dataclasses.is_dataclass(described) else ()
    return tuple(field for field in found if field.init and field.metadata.get("written", True))


def encode_value(value: Any) -> Any:
    """Return the value of a field as a document has it."""
    if isinstance(value, Part):
        return encode(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, tuple):
        return [encode_value(entry) for entry in value]
    return _INFINITE if value == math.inf else value


def _read(name: str, value: object) -> Any:
    if isinstance(value, dict):
        return decode(value)
    if isinstance(value, list):
        return tuple(_read(name, entry) for entry in value)
    if isinstance(value, str):
        return math.inf if value == _INFINITE else value
    if isinstance(value, bool):
        return value
    return _document.number(value, name)
