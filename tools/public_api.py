"""Write down what callers may rely on: names, parameters, members, parts, commands, exit codes.

    python tools/public_api.py            prints it
    python tools/public_api.py --write    stores it in tests/data/public_api.txt

A test holds the library against the stored text, so that no name or parameter comes, goes or
changes its default without a line in a change that somebody reads. Types are left to the type
checker, and what other libraries add to a class is left out.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from riemdp import _part
from riemdp.cli import _failures, app

STORED = Path(__file__).resolve().parents[1] / "tests" / "data" / "public_api.txt"
#: In the order of the layers. Names that are in several packages are described in the first.
PACKAGES = (
    "riemdp",
    "riemdp.spaces",
    "riemdp.privacy",
    "riemdp.noise",
    "riemdp.noise.exact",
    "riemdp.statistics",
    "riemdp.mechanisms",
    "riemdp.io",
    "riemdp.release",
    "riemdp.io",
    "riemdp.research",
    "riemdp.auditing",
    "riemdp.estimators",
    "riemdp.ledger",
    "riemdp.report",
    "riemdp.testing",
)
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def lines() -> Iterator[str]:
    """Yield the description, line by line."""
    packages = {name: importlib.import_module(name) for name in PACKAGES}
    home: dict[int, str] = {}
    for name, package in packages.items():
        for public in sorted(package.__all__):
            home.setdefault(id(getattr(package, public)), f"{name}.{public}")
    for name, package in packages.items():
        yield f"# {name}"
        for public in sorted(package.__all__):
            item = getattr(package, public)
            if home[id(item)] != f"{name}.{public}":
                yield f"{public} = {home[id(item)]}"
            else:
                yield from _described(public, item, home)
        yield ""
    yield from _parts()
    yield from _commands()


def _described(name: str, item: Any, home: dict[int, str]) -> Iterator[str]:
    if not isinstance(item, type):
        yield f"{name}{_parameters(item)}" if callable(item) else name
        return
    public = [base for base in item.__mro__[1:] if id(base) in home]
    covered = {each for base in public for each in base.__mro__}
    bases = ", ".join(home[id(base)].rpartition(".")[2] for base in public)
    makes = "" if _is_plain_error(item) else _parameters(item)
    yield f"class {name}{f' of {bases}' if bases else ''}{makes}"
    own = [base for base in item.__mro__ if base not in covered and _is_ours(base)]
    members: dict[str, Any] = {}
    for base in reversed(own):
        members |= {key: value for key, value in vars(base).items() if _is_member(key, value)}
    for key in sorted(members):
        yield f"    {key}{_member(members[key])}"


def _is_plain_error(item: type) -> bool:
    """Whether it is made as every exception is, of which Python versions say different things."""
    return issubclass(item, BaseException) and item.__init__ is BaseException.__init__


def _is_ours(base: type) -> bool:
    return base.__module__.partition(".")[0] == "riemdp"


def _is_member(name: str, value: object) -> bool:
    """Whether a class offers it to callers; dataclasses and libraries add names of their own."""
    if name.startswith("_") or type(value).__module__.startswith(("abc", "sklearn")):
        return False
    return name not in ("name", "proof", "sort") or inspect.isfunction(value)


def _member(value: Any) -> str:
    abstract = " (abstract)" if getattr(value, "__isabstractmethod__", False) else ""
    function = getattr(value, "__func__", value)
    if not inspect.isfunction(function):
        return abstract
    kind = f" ({type(value).__name__})" if function is not value else ""
    return f"{_parameters(function)}{kind}{abstract}"


def _parameters(item: Any) -> str:
    try:
        signature = inspect.signature(item)
    except (TypeError, ValueError):
        return ""
    kept = [each.replace(annotation=inspect.Parameter.empty) for each in _shown(signature)]
    bare = inspect.Signature(kept)
    return _ADDRESS.sub("", str(bare))


def _shown(signature: inspect.Signature) -> Iterator[inspect.Parameter]:
    """Yield the parameters; a default that is made anew each time has no text of its own."""
    for each in signature.parameters.values():
        default = each.default
        if default is inspect.Parameter.empty:
            yield each
        elif dataclasses.is_dataclass(default) and not isinstance(default, type):
            yield each.replace(default=_Named(repr(default)))
        elif inspect.isfunction(default) or isinstance(default, type):
            yield each.replace(default=_Named(default.__qualname__))
        else:
            yield each


class _Named:
    """A default that is shown by a text of its own."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _parts() -> Iterator[str]:
    yield "# names in documents and on the command line"
    own = [each for each in _part.catalogue() if "." not in each.name]
    yield from sorted(f"{each.sort} {each.name}" for each in own)
    yield ""


def _commands() -> Iterator[str]:
    yield "# commands"
    yield from _command("riemdp", typer.main.get_command(app))
    yield ""
    yield "# exit codes"
    for name in ("BAD_INPUT", "BUDGET", "UNEXPECTED", "INTERRUPTED", "CLOSED_PIPE"):
        yield f"{name} {getattr(_failures, name)}"


def _command(name: str, command: Any) -> Iterator[str]:
    shown = [
        "/".join(each.opts) if each.param_type_name == "option" else f"<{each.name}>"
        for each in command.params
    ]
    yield f"{name} {' '.join(sorted(shown))}".rstrip()
    for key, each in sorted(getattr(command, "commands", {}).items()):
        yield from _command(f"{name} {key}", each)


def main() -> None:
    """Print the description, or store it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="store it")
    text = "\n".join(lines()) + "\n"
    if parser.parse_args().write:
        STORED.write_text(text, encoding="utf-8", newline="\n")
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
