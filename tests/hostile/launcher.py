"""Runs a command with limits and says what it took; a small program, for the figures' sake.

Linux counts the memory of the process that started a command as the command's own, and one that
runs tests is large. This one is small.

    python -I -S launcher.py SECONDS BYTES REPORT COMMAND ARGUMENT…

`SECONDS` of the processor and `BYTES` of address space are the limits. Into the file `REPORT` go
the exit code, the seconds of the processor that it took, and the most KiB it held at a time.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys


def main(seconds: int, address_space: int, report: str, command: list[str]) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (address_space, address_space))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    process = subprocess.Popen(command)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    with open(report, "w", encoding="ascii") as file:
        file.write(f"{process.returncode} {used.ru_utime + used.ru_stime} {used.ru_maxrss}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4:])
