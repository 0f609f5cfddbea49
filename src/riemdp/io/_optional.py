"""Libraries of the extra ``io``, which are loaded when a file needs them."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING, Any

from riemdp._discreet import unheard
from riemdp._errors import InvalidParameterError, RiemdpError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def library(name: str, path: Path) -> Any:
    """Return an optional library, for a file that needs it, or raise :class:`UnsupportedError`."""
    try:
        return importlib.import_module(name)
    except ImportError:
        raise UnsupportedError(
            f'{path.name} needs {name.split(".", maxsplit=1)[0]}: pip install "riemdp[io]"'
        ) from None


@contextlib.contextmanager
def said_plainly(path: Path) -> Iterator[None]:
    """Say that a library cannot read a file by its error's class alone: its text may hold data.

    What the library warns about, logs or prints is dropped: nibabel logs values of headers. Errors
    of riemdp, and about opening the file, stay as they are.
    """
    try:
        with unheard():
            yield
    except (RiemdpError, FileNotFoundError, PermissionError, IsADirectoryError, MemoryError):
        raise
    except Exception as error:
        raise InvalidParameterError(
            f"{path.name} cannot be read ({type(error).__name__}): it is damaged, or of another "
            "format than its name says"
        ) from None
