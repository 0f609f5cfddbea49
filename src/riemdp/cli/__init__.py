"""Command line, and what commands of other packages need to read, write and show like its own."""

from riemdp._files import (
    MOST_NUMBERS,
    check_output,
    npz_headers,
    opened,
    read_npz,
    write_files,
)
from riemdp.cli._app import app, main
from riemdp.cli._output import console, say

__all__ = [
    "MOST_NUMBERS",
    "app",
    "check_output",
    "console",
    "main",
    "npz_headers",
    "opened",
    "read_npz",
    "say",
    "write_files",
]
