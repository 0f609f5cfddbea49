"""Working precision of ball arithmetic, which is global."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def working_precision(bits: int) -> Iterator[None]:
    """Set python-flint's working precision, which is global, and keep it to one thread at a time.

    Other threads that change it meanwhile cost time and nothing else: whatever the precision, an
    enclosure is one. A draw reads its bits in another order then, so from a seeded generator it
    is another one, of the same law.
    """
    from flint import ctx

    with _LOCK[0]:
        before = ctx.prec
        ctx.prec = bits
        try:
            yield
        finally:
            ctx.prec = before


_LOCK = [threading.RLock()]


def _after_fork_in_child() -> None:
    _LOCK[0] = threading.RLock()  # a thread that was not forked may hold the old one


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
