"""Whether the guarantee of a release follows from its document."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riemdp import _document
from riemdp._checks import shown
from riemdp._described import Described
from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp._keywords import with_advice
from riemdp._progress import work
from riemdp.kernel import (
    Check,
    SearchReceipt,
    check_document,
    check_release,
    names_in,
    stated_in,
)

if TYPE_CHECKING:
    from riemdp.release._group_releases import PrivateMeans
    from riemdp.release._release import Release

__all__ = ["Check", "SearchReceipt", "Verification", "read_checked", "verify"]

#: Keys of a document that name parts.
_PARTS = ("guarantee", "statistic", "neighbours", "manifold", "mechanism")


@dataclass(frozen=True)
class Verification(Described):
    """Result of :func:`verify`.

    Attributes
    ----------
    checks : tuple of Check
        One by one.
    stated : tuple of str
        Keys of the document that are stated and not checked: no document can show them, or no
        number depends on them.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Euclidean(2), [0.0, 0.0], 1.0)
    >>> release = riemdp.private_mean(np.full((500, 2), 0.3), ball, riemdp.GDP(1.0))
    >>> result = riemdp.verify(release)
    >>> result.passed, [check.name for check in result.checks if not check.passed]
    (True, [])
    >>> result.stated
    ('nonce', 'private', 'reason', 'versions')
    """

    checks: tuple[Check, ...]
    stated: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every check holds."""
        return all(check.passed for check in self.checks)

    def __bool__(self) -> bool:
        return self.passed

    def _describe(self) -> tuple[str, list[tuple[str, str]]]:
        title = "Verified" if self.passed else "NOT verified"
        rows = [
            (check.name, f"{'holds' if check.passed else 'FAILS'}: {check.detail}")
            for check in self.checks
        ]
        stated = [("stated", f"not checked: {', '.join(self.stated)}")] if self.stated else []
        return title, rows + stated


@with_advice
@work("verify")
def verify(release: Release | PrivateMeans | dict[str, Any] | str | Path) -> Verification:
    """Recompute the guarantee of a release from the names and public numbers of its document.

    It cannot tell that the value was really drawn this way, nor that the ball and the budget were
    chosen without looking at the data, nor that what counts as a person is all of a person's
    records: for that one has to trust who ran it. Some keys of a document are stated and not
    checked, such as ``reason``: :attr:`Verification.stated` lists them.

    Parameters
    ----------
    release : Release, PrivateMeans, dict, str or Path
        A release, its document as a dict or as text, or the path of the file that
        :meth:`Release.save` wrote; the arrays beside a certificate are then held against it, in the
        check ``container``.

    Returns
    -------
    Verification
        Of releases of groups the checks of each are named by the group.

    Raises
    ------
    InvalidParameterError
        If ``release`` is none of these, or the file holds no release; also a text that names no
        file.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import numpy as np
    >>> import riemdp
    >>> ball = riemdp.Ball(riemdp.Sphere(2), [0.0, 0.0, 1.0], 1.0)
    >>> points = ball.point(np.random.default_rng(0).normal(0.0, 0.3, (500, 2)))
    >>> release = riemdp.private_mean(points, ball, riemdp.GDP(1.0))
    >>> riemdp.verify(release).passed
    True
    """
    beside: tuple[Check, ...] = ()
    document: Any = release
    if isinstance(release, str) and release.lstrip().startswith("{"):
        document = _loaded(release)
    elif isinstance(release, Path) or (isinstance(release, str) and _is_file(release)):
        document, beside = _opened(Path(release))
        if document is None:
            return Verification(beside)
    elif hasattr(release, "to_json") and not isinstance(release, type):
        try:
            document = _written(release)
        except RiemdpError:  # of a part of another package, or of another ball, there is none
            return Verification(_foreign(release))
        if _is_foreign(_document.not_of_research(document)):
            return Verification(_foreign(release), stated_in(document))
    if not (isinstance(document, dict) and "format" in document):
        raise InvalidParameterError(
            "release must be a riemdp.Release, its document or the path of a file that is there, "
            f"got {shown(release)}"
        )
    _document.not_of_research(document)
    checks = (*beside, *check_document(document, _checks_of_one))
    return Verification(checks, stated_in(document))


def _written(release: Any) -> Any:
    """Return the document of a release, or of releases of groups."""
    if hasattr(release, "_document"):
        return release._document()
    return _document.load(release.to_json())


def _loaded(text: str) -> Any:
    try:
        return _document.load(text)
    except RiemdpError:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidParameterError(f"this is not a release ({type(error).__name__})") from None


def _opened(path: Path) -> tuple[Any, tuple[Check, ...]]:
    """Return the document in a file, and the check of the arrays beside it, if there are any."""
    from riemdp.release._container import ContainerError, read_document

    try:
        document, container = read_document(path)
    except ContainerError as error:
        return None, (Check("container", False, str(error)),)
    except RiemdpError:
        raise
    except (ValueError, RecursionError) as error:
        raise InvalidParameterError(f"this is not a release ({type(error).__name__})") from None
    return document, () if container is None else (Check("container", True, container),)


def _is_file(text: str) -> bool:
    try:
        return Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or with a null character
        return False


def _checks_of_one(document: Any) -> tuple[Check, ...]:
    """Return the checks of one release.

    A document with a part of another package, whose claims are that package's, is read by the
    classes of its parts.
    """
    if not _is_foreign(document):
        return check_release(document)
    from riemdp.release._release import Release

    try:
        return _foreign(Release._of_document(document))
    except RiemdpError as error:
        return (Check("document", False, str(error)),)


def _is_foreign(document: Any) -> bool:
    header = document.get("header") if isinstance(document, dict) else None
    if not isinstance(header, dict):
        return False
    parts = (header.get(key) for key in _PARTS)
    names = {name for part in parts for name in names_in(part)}
    return any("." in name for name in names) or "point-statistic" in names


def _foreign(release: Any) -> tuple[Check, ...]:
    from riemdp.release._verify_foreign import checks_of

    return tuple(checks_of(release))


def read_checked(path: Path) -> tuple[Release | None, tuple[Check, ...]]:
    """Return a release from its file, and the check of the arrays beside it.

    Parameters
    ----------
    path : Path

    Returns
    -------
    release : Release or None
        None where the check failed.
    checks : tuple of Check
        None of them where the release is in one file.

    Raises
    ------
    InvalidParameterError
        If the file holds no release.
    OSError
        If the file cannot be opened.
    """
    from riemdp.release._container import ContainerError
    from riemdp.release._release import Release

    try:
        release, container = Release.load_with_container(path)
    except ContainerError as error:
        return None, (Check("container", False, str(error)),)
    return release, () if container is None else (Check("container", True, container),)
