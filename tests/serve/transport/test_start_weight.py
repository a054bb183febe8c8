"""What a server does not need in order to start is not loaded before somebody needs it."""

from __future__ import annotations

import subprocess
import sys

SERVER = "celadon.serve.transport.server_process"
LATE = ("celadon.goyaml", "httpcore", "celadon.serve.outgoing", "celadon.cli.reading")


def test_a_start_does_not_load_what_speaks_to_others_or_yaml() -> None:
    code = f"import sys, {SERVER}; print(*(one for one in {LATE} if one in sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.split() == []
