"""A release, or the releases of groups, as one page of HTML."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riemdp._checks import kind_of
from riemdp._errors import InvalidParameterError
from riemdp._files import read_text
from riemdp._versions import installed_versions
from riemdp.release import Check, PrivateMeans, Release, read_checked, verify
from riemdp.report import _sections as parts
from riemdp.report._audit import audit_section
from riemdp.report._markup import Markup, facts, joined, section, tag
from riemdp.report._page import page
from riemdp.report._words import number, sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from riemdp.auditing import AuditResult


def html(
    release: Release | PrivateMeans | str | Path,
    *,
    audit: AuditResult | Mapping[str, Any] | None = None,
    unit: str | None = None,
) -> str:
    """Return a release as one page for people: a data protection officer, a board, a reviewer.

    It says what was released, under which guarantee in words and in numbers that need no
    definition, on which assumptions, with which proofs and versions, and what :func:`verify`
    recomputes. It holds nothing that the release does not; values of many numbers stay in their
    file. One file without scripts, pictures or requests; all texts of the document are escaped.

    Parameters
    ----------
    release : Release, PrivateMeans, str or Path
        Or the path of a file that :meth:`Release.save` or :meth:`PrivateMeans.to_json` wrote; the
        page then names it, with its SHA-256.
    audit : AuditResult or mapping, optional
        Of the mechanism: a result, or what ``riemdp audit --json`` prints.
    unit : str, optional
        What a record, or a person, is, in words of whoever asks for the report. No release says it.

    Returns
    -------
    str
        HTML.

    Raises
    ------
    InvalidParameterError
        If an argument is nothing of the kind, or the file holds no release.
    OSError
        If the file cannot be opened.

    Examples
    --------
    >>> import numpy as np
    >>> from riemdp import GDP, Ball, Euclidean, private_mean, report
    >>> ball = Ball(Euclidean(2), [0.0, 0.0], 1.0)
    >>> page = report.html(private_mean(np.zeros((100, 2)), ball, GDP(0.5)), unit="one visit")
    >>> "one visit" in page, "<script" in page
    (True, False)
    """
    if unit is not None and not isinstance(unit, str):
        raise InvalidParameterError(f"unit must be a text, got {kind_of(unit)}")
    source, checks, given = _opened(release)
    title = "Privacy report"
    if isinstance(given, PrivateMeans):
        body = _of_means(given, unit)
        guarantee = given.guarantee
    else:
        body = _of_release(given, checks, unit)
        guarantee = given.guarantee
    about = () if audit is None else (audit_section(audit, guarantee),)
    made = dict(installed_versions()).get("riemdp")
    last = tag(
        "footer",
        f"Made by riemdp {made} from the public numbers of the release alone. Numbers about "
        "privacy are rounded up. ",
        "The document of the release is what counts: it has all digits.",
    )
    return page(title, tag("h1", title), source, *body, *about, last)


def _opened(release: object) -> tuple[Markup, tuple[Check, ...], Release | PrivateMeans]:
    """Return what the page says of the file, the checks of it, and what is in it."""
    if isinstance(release, (Release, PrivateMeans)):
        return Markup(), (), release
    if not isinstance(release, (str, Path)):
        raise InvalidParameterError(
            "release must be a riemdp.Release, a riemdp.PrivateMeans or the path of their file, "
            f"got {kind_of(release)}"
        )
    path = Path(release)
    text = read_text(path)
    digest = hashlib.sha256(text.encode()).hexdigest()
    source = tag("p", "Document ", tag("code", path.name), ", SHA-256 ", tag("code", digest),
                 class_="lead")  # fmt: skip
    try:
        return source, (), PrivateMeans.from_json(text)
    except (InvalidParameterError, RecursionError, ValueError, OverflowError):
        found, checks = read_checked(path)
    if found is None:
        raise InvalidParameterError(f"{path.name}: {checks[0].detail}")
    return source, checks, found


def _of_release(
    release: Release, of_file: tuple[Check, ...], unit: str | None
) -> tuple[Markup, ...]:
    checks = (*of_file, *verify(release).checks)
    lead = f"{_title(release)} of {number(release)}, {release.ball.manifold}"
    return (
        tag("p", lead, class_="lead"),
        parts.verdict(release, checks),
        parts.released(release),
        parts.guaranteed(release.guarantee, release.neighbours, release),
        parts.assumed(release, unit),
        parts.charged(release),
        parts.checked(checks),
        parts.proved(release),
    )


def _title(release: Release) -> str:
    return release.statistic.title.replace("-", " ")


def _of_means(means: PrivateMeans, unit: str | None) -> tuple[Markup, ...]:
    """Return the guarantee of all groups together, and then each of them."""
    first = means.groups[0]
    rows = [(str(name), number(release)) for name, release in means.items()]
    every = []
    for name, release in means.items():
        checks = verify(release).checks
        every += [
            tag("h1", f"Group {name}"),
            parts.verdict(release, checks),
            parts.released(release),
            parts.checked(checks),
            parts.proved(release),
        ]
    return (
        tag("p", f"Means of {len(rows)} disjoint groups in {first.ball.manifold}", class_="lead"),
        tag("div", tag("p", means.caveat), class_="box note"),
        section("Groups", tag("p", sentence(first.statistic)), facts(rows)),
        parts.guaranteed(means.guarantee, first.neighbours, None),
        parts.assumed(first, unit),
        parts.charged(first),
        joined(every),
    )
