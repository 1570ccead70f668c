"""Runs one command and ends it, with everything it started, when the process that asked for it is gone; run alone.

Usage: process_guard.py most_bytes names command… : `names` are the variables that the command sees, separated by commas. Standard input
goes to the command, what it writes comes back; a line of more than `most_bytes` ends it. Exit code: the command's own, 125 when it
could not be started, 126 when it wrote too long a line.
"""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import threading
from types import FrameType

_DEATH_SIGNAL, _SUBREAPER = 1, 36
_PIECE = 1 << 16


def main(most: int, names: list[str], command: list[str]) -> int:
    """Start the command, carry what it writes, and leave nothing of it behind."""
    library = ctypes.CDLL(None)
    asked_by = os.getppid()
    # What the command starts and leaves is ours to end; and when our parent dies, however, we are told.
    library.prctl(_SUBREAPER, 1, 0, 0, 0)
    library.prctl(_DEATH_SIGNAL, signal.SIGTERM, 0, 0, 0)
    environment = {name: os.environ[name] for name in names if name in os.environ}
    try:
        started = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)  # noqa: S603 - the command is the operator's, out of the settings
    except OSError as error:
        sys.stderr.write(f"{command[0]}: {error.strerror}\n")
        return 125

    def end(number: int, frame: FrameType | None) -> None:
        end_all()
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, end)
    if os.getppid() != asked_by:
        end(signal.SIGTERM, None)
    # The command holds standard input now; the parent's end of it closes when the parent is done.
    os.close(0)
    carried = threading.Thread(target=lambda: codes.append(carry(started, most)), daemon=True)
    codes = list[int]()
    carried.start()
    code = started.wait()
    # What it started and left may still hold the pipe.
    carried.join(0.2)
    end_all()
    return codes[0] if codes and codes[0] else code


def carry(started: "subprocess.Popen[bytes]", most: int) -> int:
    """What the command writes, to standard output; another code than 0 when a line was too long."""
    length = 0
    source = started.stdout.fileno() if started.stdout else -1
    with contextlib.suppress(OSError):
        while piece := os.read(source, _PIECE):
            newline = piece.rfind(b"\n")
            longest = length + (len(piece) if newline < 0 else piece.find(b"\n"))
            length = length + len(piece) if newline < 0 else len(piece) - newline - 1
            if max(length, longest) > most:
                started.kill()
                return 126
            while piece:
                piece = piece[os.write(1, piece) :]
    return 0


def end_all() -> None:
    """End everything that descends from this process; what it starts meanwhile too."""
    for _ in range(100):
        found = descendants(os.getpid())
        if not found:
            return
        for pid in found:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def descendants(pid: int) -> list[int]:
    """Processes that this one started, and those that they started."""
    found = list[int]()
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError), open(f"/proc/{pid}/task/{thread}/children") as listed:
                found += [int(child) for child in listed.read().split()]
    return [*found, *(one for child in found for one in descendants(child))]


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), sys.argv[2].split(","), sys.argv[3:]))
