"""Commands that other packages bring, by entry points of the group ``riemdp.commands``.

An entry point names a function, as :meth:`typer.Typer.command` takes it, or a :class:`typer.Typer`.
It is loaded when its command runs, not before.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points
from typing import Any

import typer

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError
from riemdp.cli._failures import GUESTS, place, plain_app

_GROUP = "riemdp.commands"
#: Commands that are not part of riemdp itself, and the extra that brings them.
_EXTRAS = {"reproduce": "papers"}


def listed() -> list[tuple[str, str]]:
    """Return names and where they come from, for the help; nothing is loaded."""
    return [(name, _owners(entries)) for name, entries in sorted(_found().items())]


def load(name: str) -> Any:
    """Return the command of this name; None if nobody brings one.

    An error says that it cannot be loaded, that several packages bring it, or which extra does.
    """
    entries = _found().get(name, ())
    if not entries:
        if name in _EXTRAS:
            raise InvalidParameterError(
                f'riemdp {name} needs an extra: pip install "riemdp[{_EXTRAS[name]}]"'
            )
        return None
    if len(entries) > 1:
        raise InvalidParameterError(
            f"riemdp {name} is in several packages, {_owners(entries)}: uninstall all but one"
        )
    (entry,) = entries
    GUESTS[entry.module.partition(".")[0]] = _owners(entries)
    try:
        loaded = entry.load()
    except Exception as error:
        raise InvalidParameterError(
            f"riemdp {name}, of {_owners(entries)}, cannot be loaded: "
            f"{type(error).__name__} at {place(error)}"
        ) from None
    if isinstance(loaded, typer.Typer):
        application = loaded
    elif callable(loaded):
        application = plain_app()
        application.command(name)(loaded)
    else:
        raise InvalidParameterError(
            f"riemdp {name}, of {_owners(entries)}, must be a function or a typer.Typer, got "
            f"{shown(loaded)}"
        )
    command = typer.main.get_command(application)
    command.name = name
    return command


def _found() -> dict[str, tuple[EntryPoint, ...]]:
    """Return the entry points by name."""
    found: dict[str, tuple[EntryPoint, ...]] = {}
    for entry in entry_points(group=_GROUP):
        found[entry.name] = (*found.get(entry.name, ()), entry)
    return found


def _owners(entries: tuple[EntryPoint, ...]) -> str:
    """Name the distributions."""
    return ", ".join(sorted(entry.dist.name if entry.dist else entry.module for entry in entries))
