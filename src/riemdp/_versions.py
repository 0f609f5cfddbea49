"""Versions of what computes and draws a release, for its document."""

from __future__ import annotations

import functools
import re

from riemdp._checks import shown
from riemdp._errors import InvalidParameterError

#: Distributions whose arithmetic or random bits are in a released value.
PACKAGES = ("riemdp", "numpy", "scipy", "python-flint", "randomgen")
#: What a version looks like: a document must not have sentences in its place.
PATTERN = "^[0-9][0-9A-Za-z.!+_-]{0,99}$"


def check_versions(stated: tuple[tuple[str, str], ...]) -> None:
    """Refuse versions of anything else than these distributions, and texts that are no versions."""
    for name, version in stated:
        if name not in PACKAGES or not re.fullmatch(PATTERN, version):
            raise InvalidParameterError(
                f"versions must be version numbers of {', '.join(PACKAGES)}, got "
                f"{shown(name)}: {shown(version)}"
            )


@functools.cache
def installed_versions() -> tuple[tuple[str, str], ...]:
    """Return name and version of each distribution that values come from.

    One that is not installed as a distribution, such as a folder on the path, is left out.
    """
    return tuple((name, version) for name in PACKAGES if (version := _version(name)) is not None)


def _version(name: str) -> str | None:
    from importlib import metadata

    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None
