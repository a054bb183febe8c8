"""What a server loads when it is ready is what its first clients would have to wait for."""

from __future__ import annotations

import subprocess
import sys

from celadon.apiserver.http.server_process import LATER

PROGRAM = """
import sys
from celadon.apiserver.http import server_process
before = [name for name in server_process.LATER if name in sys.modules]
server_process.load_more(server_process.LATER)
after = [name for name in server_process.LATER if name in sys.modules]
print(len(before), len(after))
"""


def test_it_is_not_loaded_before() -> None:
    said = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert said.stdout.split() == [b"0", str(len(LATER)).encode()]
