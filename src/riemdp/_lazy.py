"""What is loaded when somebody first asks for it: names of packages, and entries of tables."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def lazy_names(
    package: dict[str, Any], homes: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return the ``__getattr__`` and ``__dir__`` of a package whose modules are loaded when needed.

    ``package`` is its ``globals()``, where a name that was found is kept. ``homes`` maps modules of
    the package to the names in them, with spaces between; one without an underscore is a name
    itself. Several threads may ask at once: importing waits for who is at it. See PEP 562.
    """
    title: str = package["__name__"]
    public = [home for home in homes if "_" not in home]
    modules = {name: f"{title}.{home}" for home, names in homes.items() for name in names.split()}

    def find(name: str) -> Any:
        if name in modules:
            package[name] = getattr(import_module(modules[name]), name)
        elif name in public:
            package[name] = import_module(f"{title}.{name}")
        else:
            raise AttributeError(f"module {title!r} has no attribute {name!r}")
        return package[name]

    def names() -> list[str]:
        return sorted({*package, *public, *modules})

    return find, names


def lazy_entries(
    package: str, homes: Mapping[str, str]
) -> tuple[Callable[[type], None], Callable[[type], None]]:
    """Return functions that have a table filled, as far as it is about a class.

    So what the table says of a class does not depend on what else the user has imported, and who
    adds to it comes after this library. The modules of the class and of those that it inherits from
    are loaded; a foreign class of the same name loads one that it does not need. ``homes`` maps
    modules of the package that fill the table to the names of the classes that they know more of.

    The first function is called before the table is added to, by the modules too, in the midst of
    being loaded. The second is called before the table is asked; it remembers the classes that it
    has seen last: what is loaded stays so.
    """
    modules = {name: f"{package}.{home}" for home, names in homes.items() for name in names.split()}

    def load(kind: type) -> None:
        for each in kind.__mro__:
            if each.__name__ in modules:
                import_module(modules[each.__name__])

    return load, lru_cache(maxsize=128)(load)
