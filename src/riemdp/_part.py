"""Parts: what can be exchanged, under which name, and on what proof its claims rest."""

from __future__ import annotations

import dataclasses
import functools
import sys
from abc import ABC
from importlib import import_module
from types import FunctionType, MethodType
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np

from riemdp._checks import did_you_mean, shown
from riemdp._errors import InvalidParameterError
from riemdp._own_parts import OWN_PARTS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from importlib.metadata import EntryPoint

P = TypeVar("P", bound="Part")

#: Entry points under which other packages offer parts: ``"package.Name" = "module:Class"``.
GROUP = "riemdp.parts"
#: Prefix of modules of this library, which names of other packages must not have.
_OWN = "riemdp"
_registry: dict[str, type[Part]] = {}
#: How often something was made known: see :func:`changes`.
_changes = [0]


class Part(ABC):  # noqa: B024 -- abstract members are those of the sorts
    """Anything that a release is put together from, and that another class may take the place of.

    Attributes
    ----------
    name : str
        In documents, on the command line and in entry points; by default that of the class.
    proof : str or None
        Where the claims of this very class are proved: a note of this repository
        (``"docs/proofs/..."``), a paper or a URL. None where they are not. It is not inherited: a
        subclass claims something else, and has to say where that is proved, under a name of its
        package. A class with an empty text, or anything else, is refused.
    sort : str
        What it is a part of a release as: ``"manifold"``, ``"mechanism"``, ``"definition"``, ...

    Examples
    --------
    >>> import riemdp
    >>> riemdp.Sphere(2).name, riemdp.Sphere(2).sort
    ('Sphere', 'manifold')
    >>> riemdp.GDP(1.0).proofs()
    {'GDP': 'docs/proofs/privacy-conversions.md'}
    """

    name: ClassVar[str] = "Part"
    proof: ClassVar[str | None] = None
    sort: ClassVar[str] = "part"

    def __init_subclass__(cls, *, sort: str | None = None, **options: Any) -> None:
        super().__init_subclass__(**options)
        if sort is not None:
            cls.sort = sort
        for key, value in (("name", cls.__name__), ("proof", None)):
            if key not in vars(cls):
                setattr(cls, key, value)
        stated = vars(cls)["proof"]
        if not (stated is None or is_proof(stated) or hasattr(type(stated), "__get__")):
            raise InvalidParameterError(
                f"the proof of {cls.__name__} must say where its claims are proved, or be None "
                f"where they are not, got {shown(stated)}"
            )

    def proofs(self) -> Mapping[str, str | None]:
        """Return where the claims of this part, and of the parts inside, are proved.

        Returns
        -------
        mapping of str to (str or None)
            Name of the part to its proof, None where it has none.
        """
        return {self.name: self.proof}


def is_proof(stated: object) -> bool:
    """Whether somebody says where a claim is proved: an empty text, or a flag, does not."""
    return isinstance(stated, str) and stated != "" and not stated.isspace()


def both_proved(*claims: Mapping[str, str | None]) -> dict[str, str | None]:
    """Put claims together, by name: two of one name are proved if both are.

    Each mapping is what :meth:`Part.proofs` returns; what is no text, or an empty one, proves
    nothing.
    """
    found: dict[str, str | None] = {}
    for mapping in claims:
        for name, proof in mapping.items():
            found[name] = found.get(name, proof) if is_proof(proof) else None
    return found


def borrowed(*parts: Part) -> dict[str, None]:
    """Name the parts, and those inside, whose name does not tell whose claims they make.

    A name of this library (without a dot), or one that is registered, is that of one class: another
    class of the name claims nothing, whatever it says of its proof.
    """
    found: dict[str, None] = {}
    for part in parts:
        if not _has_own_name(part):
            found[part.name] = None
        found |= borrowed(*getattr(part, "inside", ()))
    return found


def _has_own_name(part: Part) -> bool:
    try:
        known = _known(part.name)
    except InvalidParameterError:  # of a package that cannot be loaded
        return False
    return known is type(part) or (known is None and "." in part.name)


def register(part: type[P]) -> type[P]:
    """Make a class known by its name, to documents and to the command line.

    Packages do it by an entry point of the group ``riemdp.parts`` instead, so that a document can
    be read without importing them first.

    Parameters
    ----------
    part : type
        Concrete subclass of :class:`Part`. Its name is that of its package (the top-level module
        it is imported from), a dot, and its own.

    Returns
    -------
    type
        The class itself, for use as a decorator.

    Raises
    ------
    InvalidParameterError
        If it is no part, or the name is taken or has no prefix.

    Examples
    --------
    >>> import riemdp
    >>> try:
    ...     riemdp.register(int)
    ... except riemdp.InvalidParameterError as error:
    ...     print(type(error).__name__)
    InvalidParameterError
    """
    _check(part, getattr(part, "name", ""))
    if (
        _built_in(part.name) not in (None, part)
        or _registry.setdefault(part.name, part) is not part
    ):
        raise InvalidParameterError(f"there is another part of the name {shown(part.name)}")
    made_known()
    return part


def made_known() -> None:
    """Say that an open table has changed; whoever enters something says so."""
    _changes[0] += 1


def changes() -> int:
    """Return how often open tables have changed: what was found before may be otherwise now."""
    return _changes[0]


def lookup(name: object, sort: str | None = None) -> type[Any]:
    """Return the class of a registered name, of a sort (see :class:`Part`) if one is given.

    Raises :class:`InvalidParameterError` if no such part is known, or several packages offer one.
    """
    part = _known(name) if isinstance(name, str) else None
    if part is None or sort not in (None, part.sort):
        sorts = {each: kind.sort for each, kind in (OWN_PARTS | _registry).items()}
        known = [each for each, found in sorts.items() if sort in (None, found)]
        raise InvalidParameterError(
            f"unknown {sort or 'part'} {shown(name)}; {did_you_mean(name, known)}known: "
            f"{', '.join(known)}, and those of installed packages"
        )
    return part


def is_registered(part: Part) -> bool:
    """Whether documents can name the class of a part."""
    return _known(part.name) is type(part)


def is_own(part: Any) -> bool:
    """Whether a class, or a function, says that it is of this library, not of another package."""
    module = str(part.__module__)
    return module == _OWN or module.startswith(_OWN + ".")


def is_named(found: Any) -> bool:
    """Whether a class or a function is what a module of this library has under its name."""
    named: Any = sys.modules.get(found.__module__) if is_own(found) else None
    for name in found.__qualname__.split("."):
        named = getattr(named, name, None)
    return bool(named is found)


def is_own_throughout(*parts: object) -> bool:
    """Whether the classes of parts, and of all that they are made of, are of this library.

    What is derived from no class of it, such as a number, counts for nothing.
    """
    left, seen = list(parts), set()
    while left:
        part = left.pop()
        if isinstance(part, (tuple, list)):
            left.extend(each for each in part if not isinstance(each, (int, float, str)))
        elif id(part) not in seen and any(map(is_own, type(part).__mro__)):
            if not is_named(type(part)):
                return False
            seen.add(id(part))
            left.extend((getattr(part, "inside", ()), *getattr(part, "__dict__", {}).values()))
    return True


def is_own_code(*functions: object) -> bool:
    """Whether functions, and what they are bound to, are nothing but this library's code and data.

    Functions are looked up under their names: ``functools.wraps`` gives any function another one's.
    """
    left, seen = list(functions), set()
    while left:
        each = left.pop()
        if type(each) is functools.partial:
            left.extend((each.func, *each.args, *each.keywords.values()))
        elif type(each) is MethodType:
            left.extend((each.__func__, each.__self__))
        elif type(each) is tuple:
            left.extend(each)
        elif not (_is_plain(each) or id(each) in seen):
            if not is_named(each if type(each) is FunctionType else type(each)):
                return False
            seen.add(id(each))
            left.extend(getattr(each, "__dict__", {}).values())
    return True


def _is_plain(value: object) -> bool:
    """Whether a value is a number, a text or an array of numbers."""
    if type(value) is np.ndarray:
        return bool(value.dtype != object)
    return value is None or type(value) in (bool, int, float, str) or isinstance(value, np.generic)


def registered(sort: str) -> dict[str, type[Any]]:
    """Return the parts of a sort that are of this library, by name, in the order of their list."""
    return {name: lookup(name) for name, place in OWN_PARTS.items() if place.sort == sort}


def offered(sort: str) -> dict[str, type[Any]]:
    """Return the parts of a sort that are of other packages, by name, in alphabetical order.

    All installed ones are loaded for it; those that cannot be are left out.
    """
    found = {}
    for name in sorted({*_installed(), *(name for name in _registry if "." in name)}):
        try:
            part = lookup(name)
        except InvalidParameterError:
            continue
        if part.sort == sort:
            found[name] = part
    return found


@dataclasses.dataclass(frozen=True)
class Listing:
    """A part as ``riemdp parts`` shows it."""

    name: str
    sort: str | None
    package: str
    proof: str | None
    problem: str | None = None


def catalogue() -> list[Listing]:
    """Return all parts of this library and of installed packages, which are loaded for it.

    One that cannot be loaded has no sort, and its error's class as ``problem``, or what is wrong
    with its name.
    """
    own = {name: lookup(name) for name in OWN_PARTS}
    found = [Listing(name, part.sort, "riemdp", part.proof) for name, part in own.items()]
    for name, points in sorted(_installed().items()):
        for point in points:
            found.append(_listed(name, point))
    return found


def _listed(name: str, point: EntryPoint) -> Listing:
    """Return what is known of a part of an installed package."""
    package = _package(point)
    if problem := _misnamed(point):
        return Listing(name, None, package, None, problem)
    try:
        part = lookup(name)
    except Exception as error:  # whatever another package does, the others are listed
        cause = error.__cause__
        problem = type(cause).__name__ if cause else str(error)
        return Listing(name, None, package, None, problem)
    return Listing(name, part.sort, package, part.proof if is_proof(part.proof) else None)


def _known(name: str) -> type[Part] | None:
    """Return the class of a name, of this process or of an installed package."""
    if "." not in name:  # of this library: no package offers one
        return _registry.get(name) or _built_in(name)
    points = _installed().get(name, ())
    rightful = [point for point in points if _misnamed(point) is None]
    if len(rightful) > 1:
        raise InvalidParameterError(
            f"the part {shown(name)} is offered by several packages ("
            f"{', '.join(map(_package, rightful))}); uninstall all but one of them"
        )
    if name not in _registry and points:
        if not rightful:
            raise InvalidParameterError(
                f"the part {shown(name)} of {_package(points[0])} is refused: "
                f"{_misnamed(points[0])}"
            )
        (point,) = rightful
        try:
            part = point.load()
        except (Exception, SystemExit) as error:  # a package that exits must not end this process
            raise InvalidParameterError(
                f"the part {shown(name)} cannot be loaded: {type(error).__name__} in its package"
            ) from error
        _check(part, name)
        _registry[name] = part
        made_known()
    return _registry.get(name)


def _built_in(name: str) -> type[Part] | None:
    """Return the part of this library of a name, None for its module while that makes it."""
    if (place := OWN_PARTS.get(name)) is None:
        return None
    found: type[Part] | None = getattr(import_module(place.module), place.kind, None)
    return found


@functools.cache
def _installed() -> dict[str, tuple[EntryPoint, ...]]:
    """Return what installed packages offer; names without a prefix are of this library alone."""
    from importlib.metadata import entry_points

    found: dict[str, tuple[EntryPoint, ...]] = {}
    for point in entry_points(group=GROUP):
        others = found.get(point.name, ())
        known = [(_package(other), other.value) for other in others]
        if "." in point.name and (_package(point), point.value) not in known:
            found[point.name] = (*others, point)
    return found


def _misnamed(point: EntryPoint) -> str | None:
    """Say why a package may not offer a part under this name, None if it may.

    The prefix is the module that its value is imported from, so that no package takes the names of
    another one.
    """
    prefix = point.name.partition(".")[0]
    module = point.value.partition(":")[0].partition(".")[0].strip()
    if prefix == _OWN:
        return f"names that begin with {_OWN}. are kept for this library"
    if prefix != module:
        return f"a part of the module {shown(module)} has a name that begins with that module's"
    return None


def _package(point: EntryPoint) -> str:
    """Name of the distribution that offers a part."""
    return point.dist.name if point.dist else point.name.partition(".")[0]


def _check(part: object, name: str) -> None:
    if not (isinstance(part, type) and issubclass(part, Part)):
        raise InvalidParameterError(f"{shown(part)} is no riemdp.Part")
    if part.name != name:
        raise InvalidParameterError(
            f"{part.__name__}.name is {shown(part.name)}, its entry point {shown(name)}; they have "
            "to agree"
        )
    if is_own(part) == ("." in name) or name.startswith(f"{_OWN}."):
        raise InvalidParameterError(
            f"the name {shown(name)} of {part.__name__} must be that of its package, a dot, and "
            'its own: name = "package.Name"'
        )
