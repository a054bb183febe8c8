"""The long run: `python -m tests.etcd [ROUNDS [SECONDS]]`, each fault 100 times without a number,
or until the time is over."""

from __future__ import annotations

import math
import sys

from tests.etcd.fault_rounds import main

numbers = sys.argv[1:]
main(
    int(numbers[0]) if numbers else 100,
    float(numbers[1]) if len(numbers) > 1 else math.inf,
)
