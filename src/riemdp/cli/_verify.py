"""``riemdp verify``: recompute the guarantee of written releases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riemdp._errors import InvalidParameterError, RiemdpError
from riemdp._files import read_text
from riemdp._progress import ticks
from riemdp.cli._accounts import LedgerKeyOption, ledger_of
from riemdp.cli._failures import BUDGET, FAILED
from riemdp.cli._output import describe, describe_anchor, say, warn, warn_of, working
from riemdp.release import Check, PrivateMeans, Release, read_checked
from riemdp.release import verify as check

if TYPE_CHECKING:
    from collections.abc import Sequence


def verify(
    files: Annotated[
        list[Path], typer.Argument(help="Releases that riemdp mean --release wrote: the .json.")
    ],
    *,
    ledger: Annotated[
        str | None, typer.Option("--ledger", help="Hold the releases against this ledger too.")
    ] = None,
    key: LedgerKeyOption = None,
) -> None:
    """Recompute the guarantee of releases from their public fields.

    It shows that the stated guarantee follows from ball, n, mechanism and sigma. It cannot show
    that the value was drawn that way, nor that the ball was chosen without looking at the data.
    With a ledger it also shows that each was charged, once, and that nothing of that was changed.

    Exit code 1 if something fails, 3 if a release is seeded or states that it is not proved.
    """
    with working("Verifying"):
        found = [read_parts(file) for file in ticks(files, len(files), "files")]
        verified = [
            None if release is None else check(release)
            for release, _ in ticks(found, len(found), "releases")
        ]
    codes = []
    for file, (release, container), result in zip(files, found, verified, strict=True):
        checks = container if result is None else (*container, *result.checks)
        if len(files) > 1:
            say(file.name)
        for item in checks:
            say(f"{'ok  ' if item.passed else 'FAIL'}  {item.name:<12} {item.detail}")
        if result is not None:
            say(f"      {'stated':<12} not checked: {', '.join(result.stated)}")
        codes.append(_code(release, checks))
        if release is None or codes[-1] == FAILED:
            warn("the release does not verify" if len(files) == 1 else f"{file.name} does not")
            continue
        if release.proven:
            guarantee = describe(release.guarantee)
            say(f"{guarantee} holds for a {release.statistic.name} drawn that way")
        warn_of(release, file.name if len(files) > 1 else "")
    releases = [release for release, _ in found if release is not None]
    charged = ledger is None or (
        len(releases) == len(files) and _charged(files, releases, ledger, key)
    )
    if not charged:
        codes.append(FAILED)
    if any(codes):
        raise typer.Exit(FAILED if FAILED in codes else BUDGET)


def _code(release: Release | None, checks: Sequence[Check]) -> int:
    """Return the exit code of one release: 3 if it is seeded or states that it is not proved."""
    failed = [check.name for check in checks if not check.passed]
    if release is None or failed not in ([], ["proof"]):
        return FAILED
    if failed:
        return BUDGET if release.proofs == release.known_proofs() else FAILED
    return 0 if release.private else BUDGET


def _charged(files: list[Path], releases: list[Release], url: str, key: Path | None) -> bool:
    """Say whether a ledger knows all releases, and nothing in it was changed."""
    without = [file for file, each in zip(files, releases, strict=True) if each.anchor is None]
    for file in without:
        say(f"FAIL  ledger       {file.name}: no charge: the release names none")
    with working("Verifying"):
        found = ledger_of(url, key).verify([each for each in releases if each.anchor is not None])
    for one in found.findings:
        say(f"FAIL  ledger       {one.dataset}, entry {one.seq}: {one.kind}: {one.text}")
    if without or not found.ok:
        warn("the ledger does not know the release as it is")
        return False
    for each in releases:
        say(f"ok    ledger       {describe_anchor(each.anchor)}")
    return True


def read_charged(files: list[Path]) -> tuple[list[Any], list[Path]]:
    """Return the releases in files that name a charge, and the files of those that do not."""
    found: list[Any] = []
    without = []
    for file in files:
        release: Any = read_any(file)
        if release.anchor is None:
            without.append(file)
        else:
            found.append(release)
    return found, without


def read_any(file: Path) -> Release | PrivateMeans:
    """Return the release, or the releases of groups, that a file holds."""
    text = read_text(file)
    try:
        return PrivateMeans.from_json(text)
    except (RiemdpError, ValueError, OverflowError, RecursionError):
        return read_release(file)


def read_release(file: Path) -> Release:
    """Return the release that a file holds, with the arrays beside it."""
    release, container = read_parts(file)
    if release is None:
        raise InvalidParameterError(
            f"{file.name}: {next(item.detail for item in container if not item.passed)}"
        )
    return release


def read_parts(file: Path) -> tuple[Release | None, tuple[Check, ...]]:
    """Return the release that a file holds, and the check of the arrays beside it."""
    try:
        return read_checked(file)
    except RiemdpError as error:  # whatever is wrong, the file is
        raise InvalidParameterError(str(error)) from None
    except (ValueError, OverflowError, RecursionError):  # not text, or numbers that are none
        raise InvalidParameterError(f"{file.name} is not a release") from None
