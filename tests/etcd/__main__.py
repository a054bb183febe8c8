"""The long run: `python -m tests.etcd [ROUNDS]`, each fault 100 times without a number."""

from __future__ import annotations

import sys

from tests.etcd.fault_rounds import main

main(int(sys.argv[1]) if len(sys.argv) > 1 else 100)
