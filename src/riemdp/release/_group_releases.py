"""Releases of disjoint groups, with the guarantee of all of them together."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from riemdp import _document
from riemdp._checks import kind_of, shown
from riemdp._combinations import SEVERAL_GROUPS
from riemdp._described import Described, digits
from riemdp._errors import InvalidParameterError, UnsupportedNeighboursError
from riemdp._part_document import decode, encode
from riemdp._progress import ticks
from riemdp.privacy import Budget, check_budget
from riemdp.release._disjoint import weakest
from riemdp.release._release import Release
from riemdp.release._verify import Verification, verify
from riemdp.release._written import malformed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from riemdp.privacy import Anchor
    from riemdp.release._disjoint import Name
    from riemdp.statistics import Neighbours

#: What the guarantee of several groups does not cover.
_CAVEAT = (
    "which group a record is in is public, and so are the names of the groups and, where "
    "neighbours are of one size, how large they are; nobody may be in two groups"
)
_FORMAT = "riemdp-private-means/2"


@dataclass(frozen=True)
class PrivateMeans(Described, Mapping["Name", Release]):
    """Releases of disjoint groups, by name, with the guarantee of all of them together.

    ``means["a"]`` is the release of one group, ``dict(means)`` all of them, and
    ``pandas.DataFrame(means.means, index=means.names)`` a table on vector spaces.

    Attributes
    ----------
    names : tuple of int or str
        Public names of the groups.
    groups : tuple of Release
        In the order of the names.
    guarantee : Budget
        Of all together, for data in which nobody is in two groups: by parallel composition the
        weakest one, which follows from that of every group.
    adjacency : str
        Name of the relation that it is about.

    Raises
    ------
    InvalidParameterError
        If names are no integers or texts, or there are twice; or the releases are about different
        balls, relations or guarantees of which ``guarantee`` does not follow.
    UnsupportedNeighboursError
        If neighbours may differ in several groups.

    References
    ----------
    docs/proofs/neighbours.md, Disjoint groups

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> groups = {"treated": np.full((200, 2), 0.3), "control": np.full((300, 2), -0.1)}
    >>> means = riemdp.private_means(groups, ball, riemdp.GDP(1.0))
    >>> means["treated"].n, means.guarantee, means.means.shape
    (200, GDP(mu=1.0), (2, 2))
    >>> all(check.passed for check in means.verify().values())
    True
    """

    names: tuple[Name, ...]
    groups: tuple[Release, ...]
    guarantee: Budget

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        rows = [(str(name), digits(release.value)) for name, release in self.items()]
        warned = dict.fromkeys(text for each in self.groups for text in each.warnings)
        rows.append(("guarantee", f"{self.guarantee}, of all together"))
        rows.append(("note", self.caveat))
        return "Private means of groups", rows + [("warning", text) for text in warned]

    def __post_init__(self) -> None:
        check_names(self.names)
        check_budget(self.guarantee, "guarantee")
        releases: Any = self.groups
        if not isinstance(releases, tuple) or len(releases) != len(self.names):
            raise InvalidParameterError("groups must be one release for each name, a tuple")
        for name, release in self.items():
            if not isinstance(release, Release):
                raise InvalidParameterError(
                    f"group {shown(name)}: what is there must be a riemdp.Release, got "
                    f"{shown(release)}"
                )
            check_one_group(release.neighbours)
            first = self.groups[0]
            if _paid(release) != _paid(first):
                raise InvalidParameterError(
                    f"group {shown(name)} was charged elsewhere than group {shown(self.names[0])}"
                )
            if release.value.shape != first.value.shape:
                raise InvalidParameterError(
                    f"group {shown(name)} is another statistic than group {shown(self.names[0])}"
                )
            if release.ball != first.ball or release.neighbours != first.neighbours:
                raise InvalidParameterError(
                    f"group {shown(name)} was released on another ball than group "
                    f"{shown(self.names[0])}, or for other neighbours"
                )
            if weakest([self.guarantee, release.guarantee]) != self.guarantee:
                raise InvalidParameterError(
                    f"{self.guarantee} does not follow from that of group {shown(name)}, which is "
                    f"{release.guarantee}"
                )

    def __getitem__(self, name: Name) -> Release:
        asked = plain_name(name)
        for known, release in zip(self.names, self.groups, strict=True):
            if known == asked and type(known) is type(asked):
                return release
        raise KeyError(name)

    def __iter__(self) -> Iterator[Name]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    @property
    def releases(self) -> dict[Name, Release]:
        """Release of each group."""
        return dict(self)

    @property
    def means(self) -> NDArray[Any]:
        r"""Released means in the order of the names, of shape ``(groups, \*point_shape)``."""
        return np.stack([np.asarray(release.value) for release in self.groups])

    @property
    def adjacency(self) -> str:
        """Name of the relation."""
        return self.groups[0].adjacency

    @property
    def anchor(self) -> Anchor | None:
        """Of the one charge that paid for all groups, in a durable ledger; None without one."""
        return _paid(self.groups[0])

    @property
    def private(self) -> bool:
        """Whether the noise of all came from the secure generator."""
        return all(release.private for release in self.groups)

    @property
    def proven(self) -> bool:
        """Whether all that the guarantees rest on is proved."""
        return all(release.proven for release in self.groups)

    @property
    def caveat(self) -> str:
        """What the guarantee rests on and does not cover, in words."""
        return _CAVEAT

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to know before the values are used, by group."""
        return tuple(
            f"group {name!r}: {warning}"
            for name, release in self.items()
            for warning in release.warnings
        )

    def verify(self) -> dict[Name, Verification]:
        """Return what :func:`riemdp.verify` says of each group.

        That the guarantee of all follows from each is checked when they are put together.

        Returns
        -------
        dict of name to Verification
        """
        releases = ticks(self.items(), len(self), "groups")
        return {name: verify(release) for name, release in releases}

    @property
    def header(self) -> dict[str, Any]:
        """What was public before a record was read: names, guarantee, digests of all headers."""
        return {
            "names": list(self.names),
            "guarantee": encode(self.guarantee),
            "headers": [release.header_digest for release in self.groups],
        }

    @property
    def header_digest(self) -> str:
        """SHA-256 of the canonical text of the header, in hex."""
        return _document.digest(self.header)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical document, in hex. See :attr:`Release.digest`."""
        return _document.digest(self._document())

    def _document(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "header": self.header,
            "releases": [release._document() for release in self.groups],
        }

    def to_json(self) -> str:
        """Return all releases as JSON. See :meth:`Release.to_json` of what cannot be written."""
        for release in self.groups:
            release.to_json()  # which says what is not finite
        return json.dumps(self._document(), indent=2, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> PrivateMeans:
        """Read what :meth:`to_json` wrote; it is not verified.

        See :meth:`Release.from_json` of texts that are refused, with ``InvalidParameterError``.
        """
        with malformed("written by PrivateMeans.to_json"):
            document = _document.fields(_document.load(text), {"format", "header", "releases"})
            found = _document.fields(document["header"], {"names", "guarantee", "headers"})
        names, every = found["names"], document["releases"]
        lists = isinstance(names, list) and isinstance(every, list)
        if document["format"] != _FORMAT or not lists:
            raise InvalidParameterError("this was not written by PrivateMeans.to_json")
        releases = tuple(Release.from_json(json.dumps(each)) for each in every)
        if found["headers"] != [release.header_digest for release in releases]:
            raise InvalidParameterError(
                "headers must be the digests of the headers of all releases, in their order"
            )
        with malformed("written by PrivateMeans.to_json"):
            guarantee: Budget = decode(found["guarantee"], Budget.sort)
            if releases:
                guarantee = guarantee.under(releases[0].neighbours.adjacency)
            return cls(tuple(names), releases, guarantee)


def check_one_group(neighbours: Neighbours) -> None:
    """Refuse a relation of which neighbours may differ in several groups."""
    if not neighbours.in_one_group:
        raise UnsupportedNeighboursError(f"{neighbours.title}: {SEVERAL_GROUPS}")


def check_names(names: object) -> None:
    """Refuse what are no names of groups: integers or texts, each once."""
    if not isinstance(names, tuple) or not names:
        raise InvalidParameterError("there must be at least one group, with a name")
    for name in names:
        if type(name) is not int and type(name) is not str:
            raise InvalidParameterError(
                f"names of groups must be integers or texts, got {kind_of(name)}"
            )
    if len(set(names)) != len(names):
        raise InvalidParameterError("two groups have the same name; give each its own")


def plain_name(name: Any) -> Any:
    """Return the integer or text of Python that a name is, where it is one of NumPy."""
    return name.item() if isinstance(name, (np.integer, np.str_)) else name


def _paid(release: Release) -> Anchor | None:
    return None if release.anchor is None else release.anchor._replace(part=0)
