"""Versions of what computes and draws a release, for its document."""

from __future__ import annotations

import functools

#: Distributions whose arithmetic or random bits are in a released value.
PACKAGES = ("riemdp", "numpy", "scipy", "python-flint", "randomgen")
#: What a version looks like: a document must not have sentences in its place.
PATTERN = "^[0-9][0-9A-Za-z.!+_-]{0,99}$"


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
