"""Ledgers in a file, and a server of PostgreSQL where Debian's programs are there."""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import pytest

from riemdp import PureDP
from riemdp.ledger import Ledger

HERE = Path(__file__).parent


@pytest.fixture
def ledger(tmp_path):
    return Ledger(tmp_path / "ledger.db")


@pytest.fixture
def account(ledger):
    return ledger.register("study", PureDP(1.0), unit="person", adjacency="replace-one")


def _program(name):
    found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)
    return str(found[0]) if found else shutil.which(name)


class Server:
    """A server of its own, with its data in a temporary folder."""

    def __init__(self, folder, user):
        self.folder, self.user = Path(folder), user
        self._run("initdb", "-D", self.data, "-U", "riemdp", "--auth=trust", "-E", "UTF8")
        self.start()

    @property
    def data(self):
        return str(self.folder / "data")

    @property
    def url(self):
        # a socket in its folder: a port that was free may be another's by the next start
        return f"postgresql+psycopg://riemdp@/postgres?host={self.folder}"

    def fresh(self, name):
        """URL of a new and empty database."""
        self.execute(f"DROP DATABASE IF EXISTS {name}")
        self.execute(f"CREATE DATABASE {name}")
        return self.url.replace("/postgres", f"/{name}")

    def execute(self, text, url=None):
        import psycopg

        with psycopg.connect((url or self.url).replace("+psycopg", ""), autocommit=True) as found:
            found.execute(text)

    def start(self):
        options = f"-k {self.folder} -c listen_addresses="
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", self.data, "-o", options, "-l", log, "-w", "-t", "300", "start")

    def stop(self):
        """Stop at once: nothing is written that is not on the disk by now."""
        self._run("pg_ctl", "-D", self.data, "-m", "immediate", "-w", "-t", "300", "stop")

    def _run(self, name, *arguments):
        as_user = {} if self.user is None else {"user": self.user, "extra_groups": []}
        subprocess.run(
            [_program(name), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=self.folder,
            **as_user,
        )


@pytest.fixture(scope="module")
def server():
    if not (_program("initdb") and _program("pg_ctl")):
        pytest.skip("PostgreSQL's initdb and pg_ctl are not installed")
    user = None
    if hasattr(os, "geteuid") and os.geteuid() == 0:  # it refuses to run as root
        pwd = pytest.importorskip("pwd")
        try:
            user = pwd.getpwnam("postgres").pw_uid
        except KeyError:
            pytest.skip("PostgreSQL does not run as root, and there is no user postgres")
    folder = Path(tempfile.mkdtemp(prefix="riemdp-pg-"))
    if user is not None:
        os.chown(folder, user, -1)
    server = None
    try:
        server = Server(folder, user)
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def program():
    """``program(name, *arguments)``: start a program of this folder."""
    running = []

    def start(name, *arguments):
        command = [sys.executable, str(HERE / f"{name}.py"), *map(str, arguments)]
        running.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return running[-1]

    yield start
    for one in running:
        one.kill()
        one.wait()
        one.stdout.close()


def answer(process, timeout=1700):
    """What such a program says at its end."""
    text, _ = process.communicate(timeout=timeout)
    assert process.returncode == 0
    return json.loads(text)


class Draws(list):
    """Ids of the charges that somebody drew for, and how often nobody could."""

    def __init__(self, folder):
        errors = [path.read_text() for path in Path(folder).glob("error-*")]
        assert errors == []
        lines = [
            line for path in Path(folder).glob("draws-*") for line in path.read_text().splitlines()
        ]
        super().__init__(line for line in lines if line != "failed")
        self.failed = len(lines) - len(self)


def audited(ledger, draws):
    """Check that all that was drawn was charged, one for one, and no more than the total."""
    account = ledger.account("study")
    entries = [entry for entry in account.entries() if entry.kind == "charge"]
    charges = Counter(entry.charge_id for entry in entries)
    assert max(Counter(draws).values(), default=1) == 1
    assert set(draws) <= set(charges)
    assert max(charges.values(), default=1) == 1
    charged = math.fsum(entry.price[0] for entry in entries)
    drawn = math.fsum(entry.price[0] for entry in entries if entry.charge_id in set(draws))
    assert drawn <= charged <= account.total.epsilon * (1.0 + 1e-12)
    assert ledger.verify([entry.anchor for entry in entries]).ok
    return len(entries)


@pytest.fixture
def crowd(program, tmp_path):
    """``crowd(url, how, processes, kills, epsilon)``: what was drawn, and how many were killed."""

    def run(url, *, how="ledger", processes=8, kills=30, epsilon=2.0**-22, seed=1):
        folder = tmp_path / f"draws-{how}-{seed}"
        folder.mkdir()
        process = program("crowd", url, folder, how, processes, kills, seed, epsilon)
        return answer(process), Draws(folder)

    return run


@pytest.fixture
def audit():
    """``audit(ledger, draws)``: how many charges there are, after all was checked."""
    return audited


@pytest.fixture
def killed(program, tmp_path):
    """``killed(url, stride)``: be killed at instructions; what was drawn, and how many times."""

    def run(url, stride):
        return answer(program("instructions", url, tmp_path, stride, 5), 3600), Draws(tmp_path)

    return run
