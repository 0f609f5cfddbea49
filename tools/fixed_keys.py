"""Keys of the secure generators that are the same in every run: no test hangs on luck.

Each test, and each example of a docstring, has its own keys: what it draws does not depend on what
ran before it. Processes that it starts have keys from the operating system.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
from typing import TYPE_CHECKING

from riemdp.noise import _generator

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def fixed_keys(name: str) -> Iterator[None]:
    """Have the secure generators that this process makes keyed by a name, for a while."""
    pid, numbers, system = os.getpid(), itertools.count(), _generator._fresh_key

    def key() -> int:
        if os.getpid() != pid:  # a fork, whose count is its parent's
            return system()
        text = f"{name} {next(numbers)}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest(), "little")

    _generator._fresh_key = key
    try:
        yield
    finally:
        _generator._fresh_key = system
