"""``riemdp ledger``: accounts of data sets that outlive the process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from riemdp._errors import InvalidParameterError, LedgerSchemaError
from riemdp._files import write_files
from riemdp._part_document import encode
from riemdp.cli import _options as options
from riemdp.cli._accounts import VARIABLE, LedgerKeyOption, LedgerOption, files_of, ledger_of
from riemdp.cli._failures import plain_app
from riemdp.cli._io import check_output
from riemdp.cli._options import budget_of
from riemdp.cli._output import (
    describe,
    print_fields,
    print_rows,
    say,
    say_lines,
    warn,
    warn_of,
    working,
)
from riemdp.cli._verify import read_charged

if TYPE_CHECKING:
    from riemdp.ledger import LedgerAccount
    from riemdp.privacy import Budget

ledger = plain_app(
    help="Keep budgets in a database, so that a total outlives the process.", no_args_is_help=True
)
NameArgument = Annotated[str, typer.Argument(help="Name of the data set.")]
JsonOption = Annotated[bool, typer.Option("--json", help="As JSON.")]


@ledger.command()
def init(
    url: Annotated[
        str | None,
        typer.Argument(envvar=VARIABLE, help="File on a local disk, or URL of PostgreSQL."),
    ] = None,
    *,
    key: LedgerKeyOption = None,
) -> None:
    """Make the tables of a ledger at URL; a ledger that is there stays as it is."""
    made = ledger_of(url, key)
    try:
        number = len(made.datasets())
    except LedgerSchemaError:
        made.upgrade()  # which refuses tables of a newer version
        say(f"{made.backend.shown}: a ledger without data sets")
        return
    say(f"{made.backend.shown}: a ledger with {number} data sets, left as it is")


@ledger.command()
def register(
    name: NameArgument,
    *,
    unit: Annotated[str, typer.Option(help="Whose data a guarantee protects: person, record, ...")],
    adjacency: Annotated[
        str,
        typer.Option(
            help="Relation that everything charged is about: replace-one, add-remove, "
            "replace-user, add-remove-user, ..."
        ),
    ],
    epsilon: options.EpsilonOption = None,
    delta: options.DeltaOption = None,
    mu: options.MuOption = None,
    rho: options.RhoOption = None,
    theta: options.ThetaOption = None,
    distance: options.DistanceOption = None,
    budget: options.BudgetOption = None,
    url: LedgerOption = None,
    key: LedgerKeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Enter a data set with its total, once and for all.

    Keep the anchor that is printed somewhere else: it tells this ledger from any other.
    """
    total = budget_of(epsilon, delta, mu, rho, theta=theta, distance=distance, budget=budget)
    account = ledger_of(url, key).register(name, total, unit=unit, adjacency=adjacency)
    _print_account(account, as_json)


@ledger.command()
def show(
    name: Annotated[str | None, typer.Argument(help="Name of one data set; all without.")] = None,
    *,
    url: LedgerOption = None,
    key: LedgerKeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what was charged: all data sets, or the entries of one."""
    there = ledger_of(url, key)
    if name is not None:
        _print_account(there.account(name), as_json)
        return
    accounts = [there.account(each) for each in there.datasets()]
    if as_json:
        say(json.dumps([_as_table(account) for account in accounts]))
        return
    rows = [
        (
            account.name,
            account.unit,
            account.adjacency,
            describe(account.total),
            _described(account.spent),
            _described(account.remaining),
            "closed" if account.closed else "open",
        )
        for account in accounts
    ]
    print_rows([("data set", "unit", "adjacency", "total", "spent", "left", "state"), *rows])


@ledger.command()
def verify(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Releases that were charged to this ledger.")
    ] = None,
    *,
    url: LedgerOption = None,
    key: LedgerKeyOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check every hash and sum of a ledger, and releases against what was charged for them.

    Exit code 1 if something is wrong. Only releases can tell that the whole ledger was replaced by
    an older copy of itself.
    """
    releases, without = read_charged(files or [])
    for release in releases:
        warn_of(release)
    with working("Verifying"):
        found = ledger_of(url, key).verify(releases)
    if as_json:
        table = {
            "ok": found.ok and not without,
            "datasets": found.datasets,
            "entries": found.entries,
            "releases": found.releases + len(without),
            "findings": [one._asdict() for one in found.findings],
            "without_charge": [path.name for path in without],
        }
        say(json.dumps(table))
    else:
        say(
            f"{found.datasets} data sets, {found.entries} entries, "
            f"{found.releases + len(without)} releases"
        )
        for one in found.findings:
            say(f"FAIL  {one.dataset}, entry {one.seq}: {one.kind}: {one.text}")
        for path in without:
            say(f"FAIL  {path.name}: no charge: the release names none")
    if not found.ok or without:
        warn("the ledger, or a release, does not verify")
        raise typer.Exit(1)
    if not as_json:
        say("ok    every hash, sum and release")


@ledger.command()
def close(
    name: NameArgument,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="There is no way back.")] = False,
    url: LedgerOption = None,
    key: LedgerKeyOption = None,
) -> None:
    """End the account of a data set for good: nothing can be charged any more, by anybody."""
    account = ledger_of(url, key).account(name)
    if not yes:
        raise InvalidParameterError(
            f"there is no way back, and {_described(account.remaining)} is left of {name!r}: "
            "say --yes"
        )
    account.close()
    say(f"{name}: closed, {_described(account.spent)} of {describe(account.total)} spent")


@ledger.command()
def export(
    *,
    output: Annotated[
        Path | None, typer.Option(help="Write it there (.json), and not to standard output.")
    ] = None,
    url: LedgerOption = None,
    key: LedgerKeyOption = None,
) -> None:
    """Write everything as it is stored, as JSON; nothing is checked."""
    target = check_output(output, (".json",), files_of(url, key))
    text = json.dumps(ledger_of(url, key).export(), indent=2)
    if target is None:
        say_lines(text)
    else:
        write_files({target: lambda opened: opened.write(f"{text}\n".encode())})


@ledger.command()
def upgrade(*, url: LedgerOption = None, key: LedgerKeyOption = None) -> None:
    """Bring the tables of an older version up to date; make a back-up first."""
    there = ledger_of(url, key)
    there.upgrade()
    say(f"{there.backend.shown}: up to date, {len(there.datasets())} data sets")


def _described(budget: Budget | None) -> str:
    return "nothing" if budget is None else describe(budget)


def _encoded(budget: Budget | None) -> dict[str, Any] | None:
    return None if budget is None else encode(budget)


def _as_table(account: LedgerAccount) -> dict[str, Any]:
    return {
        "dataset": account.name,
        "unit": account.unit,
        "adjacency": account.adjacency,
        "total": encode(account.total),
        "spent": _encoded(account.spent),
        "left": _encoded(account.remaining),
        "closed": account.closed,
        "registered": account.registered.document(),
    }


def _print_account(account: LedgerAccount, as_json: bool) -> None:
    entries = account.entries()
    if as_json:
        rows = [{**one._asdict(), "guarantee": _encoded(one.guarantee)} for one in entries]
        say(json.dumps({**_as_table(account), "entries": rows}))
        return
    print_fields(
        [
            ("data set", account.name),
            ("unit", account.unit),
            ("adjacency", account.adjacency),
            ("total", describe(account.total)),
            ("spent", _described(account.spent)),
            ("left", _described(account.remaining)),
            ("state", "closed" if account.closed else "open"),
            ("registered", account.registered.hash),
        ]
    )
    if not entries:
        return
    say()
    lines = [
        (str(one.seq), one.created, one.kind, _described(one.guarantee), one.label, one.hash[:12])
        for one in entries
    ]
    print_rows([("entry", "when", "kind", "guarantee", "label", "hash"), *lines])
