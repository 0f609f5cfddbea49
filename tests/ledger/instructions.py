"""Run as a program: spend, and be killed at one instruction after the other.

``python instructions.py URL FOLDER STRIDE FIRST``: child k is killed at the instruction number
``FIRST + k * STRIDE`` that the interpreter runs in ``riemdp.ledger``; the last ones come through.
"""

import json
import os
import signal
import sys
from pathlib import Path

import riemdp.ledger
from riemdp import PureDP
from riemdp.ledger import Ledger

PLACE = str(Path(riemdp.ledger.__file__).parent)


def killed_at(number):
    left = number

    def local(frame, event, argument):
        nonlocal left
        if event == "opcode":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return local

    def trace(frame, event, argument):
        if not frame.f_code.co_filename.startswith(PLACE):
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        return local

    # Python 3.12 looks for instructions only where a frame asked for them before this call
    sys._getframe().f_trace_opcodes = True
    sys.settrace(trace)


def main(url, folder, stride, first):
    account = Ledger(url).account("study")
    number, through, killed = int(first), 0, 0
    while through < 2:
        child = os.fork()
        if child == 0:
            draws = os.open(Path(folder) / "draws-0", os.O_CREAT | os.O_APPEND | os.O_WRONLY)
            killed_at(number)
            paid = account.spend(PureDP(2.0**-12), f"instruction {number}")
            sys.settrace(None)
            os.write(draws, f"{paid.charge_id}\n".encode())
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            killed += 1
        else:
            assert status == 0, status
            through += 1
        number += int(stride)
    print(json.dumps({"killed": killed, "through": through}))


if __name__ == "__main__":
    main(*sys.argv[1:])
