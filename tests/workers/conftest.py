"""Programs that start workers, and are ended with all of them."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """``program(what)``: what ``cluster.py`` found."""

    def run(what):
        folder = tmp_path_factory.mktemp(what)
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        with (folder / "errors").open("w") as errors, (folder / "found").open("w") as found:
            started = subprocess.Popen(
                [sys.executable, HERE / "cluster.py", what, folder],
                stdout=found,  # no pipe: what it leaves behind would keep that open
                stderr=errors,
                env=os.environ | threads,
                start_new_session=True,
            )
        try:
            status = started.wait(timeout=120)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(started.pid, signal.SIGKILL)
            started.wait()
        assert status == 0, (folder / "errors").read_text()
        return json.loads((folder / "found").read_text().splitlines()[-1])

    return run
