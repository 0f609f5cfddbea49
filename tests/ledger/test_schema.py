import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from riemdp import LedgerSchemaError, LedgerUnavailableError, PureDP
from riemdp.ledger import Ledger, _schema
from riemdp.ledger._schema import VERSION, VERSION_TABLE, is_newer
from riemdp.ledger._tables import METADATA

WHO = {"unit": "person", "adjacency": "replace-one"}


def set_version(ledger, version):
    with sqlite3.connect(ledger.backend.path) as connection:
        connection.execute(f"UPDATE {VERSION_TABLE} SET version_num = '{version}'")
    connection.close()


def test_the_version_is_that_of_the_last_script():
    scripts = ScriptDirectory(str(_schema._SCRIPTS))
    assert scripts.get_current_head() == VERSION
    names = sorted(path.stem for path in Path(_schema._SCRIPTS, "versions").glob("v*.py"))
    assert names == [f"v{number + 1:04d}" for number in range(len(names))]


@pytest.mark.parametrize("version", ["9999", "0002", "other"])
@pytest.mark.fast(3)
def test_newer_tables_are_refused(version, ledger, account):
    set_version(ledger, version)
    before = ledger.backend.path.read_bytes()
    for use in (
        lambda: account.spend(PureDP(0.5), "x"),
        lambda: account.spent,
        lambda: ledger.register("other", PureDP(1.0), **WHO),
        lambda: ledger.account("study"),
        ledger.verify,
        ledger.upgrade,
    ):
        with pytest.raises(LedgerSchemaError, match=f"of version {version}.*use a newer one"):
            use()
    assert ledger.backend.path.read_bytes() == before
    assert is_newer(version)


def test_older_tables_are_refused_until_they_are_brought_up_to_date(
    ledger, account, tmp_path, monkeypatch
):
    """A next version, as its script would bring it."""
    account.spend(PureDP(0.5), "with the older one")
    scripts = tmp_path / "scripts" / "versions"
    scripts.mkdir(parents=True)
    first = _schema._SCRIPTS / "versions" / "v0001.py"
    (scripts / "v0001.py").write_text(first.read_text())
    (scripts / "v0002.py").write_text(
        "import sqlalchemy as sa\nfrom alembic import op\n"
        "revision, down_revision = '0002', '0001'\n"
        "def upgrade():\n"
        "    op.create_table('riemdp_notes', sa.Column('text', sa.Text))\n"
    )
    monkeypatch.setattr(_schema, "_SCRIPTS", scripts.parent)
    monkeypatch.setattr(_schema, "VERSION", "0002")
    with pytest.raises(LedgerSchemaError, match=r"version 0001, and this riemdp needs 0002"):
        account.spend(PureDP(0.25), "x")
    with pytest.raises(LedgerSchemaError, match=r"Ledger\.upgrade"):
        ledger.register("other", PureDP(1.0), **WHO)
    ledger.upgrade()
    ledger.upgrade()
    account.spend(PureDP(0.25), "with the newer one")
    assert ledger.verify(account.entries()).ok
    monkeypatch.undo()
    with pytest.raises(LedgerSchemaError, match="use a newer one"):
        account.spend(PureDP(0.125), "x")


def test_a_script_that_fails_changes_nothing(ledger, account, tmp_path, monkeypatch):
    scripts = tmp_path / "scripts" / "versions"
    scripts.mkdir(parents=True)
    first = _schema._SCRIPTS / "versions" / "v0001.py"
    (scripts / "v0001.py").write_text(first.read_text())
    (scripts / "v0002.py").write_text(
        "from alembic import op\nrevision, down_revision = '0002', '0001'\n"
        "def upgrade():\n"
        "    op.execute('CREATE TABLE half (x TEXT)')\n"
        "    op.execute('CREATE TABLE half (x TEXT)')\n"
    )
    monkeypatch.setattr(_schema, "_SCRIPTS", scripts.parent)
    monkeypatch.setattr(_schema, "VERSION", "0002")
    with pytest.raises(LedgerUnavailableError, match="half already exists"):
        ledger.upgrade()
    monkeypatch.undo()
    account.spend(PureDP(0.5), "the older one is whole")
    with sqlite3.connect(ledger.backend.path) as connection:
        found = connection.execute("SELECT name FROM sqlite_master WHERE name = 'half'").fetchall()
    connection.close()
    assert found == []


def test_another_programs_tables_may_stand_beside(tmp_path):
    with sqlite3.connect(tmp_path / "x.db") as connection:
        connection.execute("CREATE TABLE alembic_version (version_num TEXT)")
        connection.execute("INSERT INTO alembic_version VALUES ('theirs')")
    connection.close()
    ledger = Ledger(tmp_path / "x.db")
    with pytest.raises(LedgerSchemaError, match="holds no ledger"):
        ledger.datasets()
    ledger.register("study", PureDP(1.0), **WHO).spend(PureDP(0.5), "x")
    with ledger.backend.reading() as connection:
        found = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    assert found == "theirs"


def test_a_version_that_is_missing_is_none(ledger, account):
    with sqlite3.connect(ledger.backend.path) as connection:
        connection.execute(f"DELETE FROM {VERSION_TABLE}")
    connection.close()
    with pytest.raises(LedgerSchemaError):
        account.spend(PureDP(0.5), "x")


def test_two_versions_are_none(ledger, account):
    with sqlite3.connect(ledger.backend.path) as connection:
        connection.execute(f"INSERT INTO {VERSION_TABLE} VALUES ('0002')")
    connection.close()
    for refused in (ledger.datasets, ledger.upgrade):
        with pytest.raises(LedgerSchemaError, match="2 versions"):
            refused()


def test_tables_are_those_that_queries_see(ledger, account):
    with ledger.backend.reading() as connection:
        context = MigrationContext.configure(
            connection, opts={"version_table": VERSION_TABLE, "compare_type": True}
        )
        assert compare_metadata(context, METADATA) == []
