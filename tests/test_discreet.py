"""What is computed of private values gets out by its value alone."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
import warnings

import numpy as np
import pytest

from riemdp import ConvergenceError, PublicWarning, RiemdpError
from riemdp._discreet import discreetly, silence, unheard, unlogged

SECRET = "0.737312"


def told(compute):
    """Run with every warning shown, and return what was."""
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        discreetly("Tester", compute)
    return shown


def test_the_value_gets_out():
    assert discreetly("Tester", lambda: 3.0) == 3.0


@pytest.mark.parametrize(
    "compute",
    [
        lambda: warnings.warn(SECRET, stacklevel=1),
        lambda: np.longdouble("1e400").astype(np.float64),
        lambda: np.nanmean(np.full((1, 2), np.nan), axis=0),
        lambda: np.float64(1e308) * 10.0,
    ],
)
def test_warnings_do_not(compute):
    with warnings.catch_warnings(record=True) as shown:  # negative control
        warnings.simplefilter("always")
        compute()
    assert shown
    assert told(compute) == []


class Panic(BaseException):
    """As compiled code of other languages raises it."""


ERRORS = [ValueError, KeyError, MemoryError, np.linalg.LinAlgError, SystemExit, Panic]


@pytest.mark.parametrize("error", ERRORS)
def test_an_error_is_replaced_without_a_trace(error):
    def compute():
        raise error(f"patient 7 has {SECRET}")

    with pytest.raises(RiemdpError, match=f"^Tester failed with {error.__name__};") as caught:
        discreetly("Tester", compute)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert SECRET not in "".join(traceback.format_exception(caught.value))


def test_errors_of_this_library_and_interrupts_pass():
    for error in (ConvergenceError("steps"), KeyboardInterrupt()):

        def compute(error=error):
            raise error

        with pytest.raises(type(error)) as caught:
            discreetly("Tester", compute)
        assert caught.value is error


def test_filters_are_put_back():
    before = list(warnings.filters)
    with pytest.raises(RiemdpError):
        discreetly("Tester", lambda: discreetly("Inner", lambda: 1 / 0))
    assert warnings.filters == before
    with pytest.warns(UserWarning, match="afterwards"):
        warnings.warn("afterwards", stacklevel=1)


@pytest.mark.skipif(
    getattr(sys.flags, "context_aware_warnings", False), reason="each thread has its own"
)
def test_threads_that_overlap_put_back_what_there_was():
    """The first one goes while the second one still computes, and warns afterwards."""
    entered, left = threading.Event(), threading.Event()
    before = list(warnings.filters)

    def first():
        discreetly("first", lambda: entered.wait(10.0))
        left.set()

    def second():
        def compute():
            entered.set()
            assert left.wait(10.0)
            warnings.warn(SECRET, stacklevel=1)

        discreetly("second", compute)

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        threads = [threading.Thread(target=task) for task in (first, second)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert shown == []
    assert warnings.filters == before


def test_public_warnings_of_other_threads_go_on():
    def work():
        warnings.warn("of a release", PublicWarning, stacklevel=1)
        warnings.warn("of a record", UserWarning, stacklevel=1)

    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        with silence():
            worker = threading.Thread(target=work)
            worker.start()
            worker.join()
    assert [str(each.message) for each in shown] == ["of a release"]


def test_the_filters_for_public_warnings_stay():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PublicWarning)
        with silence(), pytest.raises(PublicWarning):
            warnings.warn("of a release", PublicWarning, stacklevel=1)
        warnings.simplefilter("ignore")
        with silence():
            warnings.warn("of a release", PublicWarning, stacklevel=1)


def test_what_is_logged_while_data_are_read_is_dropped(caplog):
    """From any thread, and by a logger without a handler, which else writes to the error stream."""
    logger = logging.getLogger("a.library")

    def log():
        logger.critical(SECRET)

    with unlogged():
        for thread in [threading.Thread(target=log) for _ in range(3)]:
            thread.start()
            thread.join()
        with unlogged():
            log()
        log()
    assert SECRET not in caplog.text
    log()  # control
    assert SECRET in caplog.text


def test_logs_are_let_through_when_the_last_thread_has_read(caplog):
    entered, leave = threading.Event(), threading.Event()

    def read():
        with unlogged():
            entered.set()
            leave.wait(10)

    before = logging.root.manager.disable
    thread = threading.Thread(target=read)
    with unlogged():
        thread.start()
        entered.wait(10)
    logging.critical("one still reads")
    leave.set()
    thread.join()
    logging.critical("none reads")
    assert logging.root.manager.disable == before
    assert [record.message for record in caplog.records] == ["none reads"]


def test_what_is_printed_while_foreign_code_reads_is_dropped(capsys):
    def speak():
        print(SECRET)
        print(SECRET, file=sys.stderr)
        raise KeyError

    streams = sys.stdout, sys.stderr
    with pytest.raises(KeyError), unheard():
        speak()
    assert capsys.readouterr() == ("", "")
    assert streams == (sys.stdout, sys.stderr)
    with pytest.raises(KeyError):
        speak()  # control
    assert capsys.readouterr() == (f"{SECRET}\n", f"{SECRET}\n")
