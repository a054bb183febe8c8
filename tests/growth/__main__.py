"""What takes more than in proportion: `python -m tests.growth [--only TEXT] [--count N]`.

Every list of every kind is sent with N and with four times N items, as a create and as an apply, to
a server in this process. Where the processor time grows by more than the power 1.3, it is measured
again with four times as many items: a body that becomes large takes more for each of its items
once, because a worker reads it. Where it grows as much again, a line is written. It depends on the
machine: run it alone.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time

from celadon.apiserver.http_messages import HttpRequest
from tests.apiserver.in_process import Running
from tests.growth.grown_objects import Place, grown, places

MOST_POWER = 1.3
LEAST_SECONDS = 0.05


def seconds_of(running: Running, place: Place, count: int, verb: str) -> float:
    """Processor time of a dry run with so many items."""
    gvr, body = place.resource.gvr, json.dumps(grown(place, count, distinct=True, depth=2))
    prefix = f"/apis/{gvr.group}/{gvr.version}" if gvr.group else f"/api/{gvr.version}"
    namespace = "/namespaces/default" if place.resource.namespaced else ""
    path = f"{prefix}{namespace}/{gvr.resource}"
    if verb == "PATCH":
        path = f"{path}/a"
    content = "application/apply-patch+yaml" if verb == "PATCH" else "application/json"
    headers = [("authorization", "Bearer admin-token"), ("content-type", content)]
    target = f"{path}?dryRun=All&fieldManager=m"
    began = time.process_time()
    running.answer(HttpRequest(verb, target, headers, body.encode()))
    return time.process_time() - began


def power_of(running: Running, place: Place, count: int, verb: str) -> tuple[float, float, float]:
    """By which power the time grows from so many items to four times as many, and both times: the
    shorter ones of two."""
    few = min(seconds_of(running, place, count, verb) for _ in range(2))
    many = min(seconds_of(running, place, count * 4, verb) for _ in range(2))
    return math.log(many / few, 4), few, many


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="the lists whose place has this in it")
    parser.add_argument("--count", type=int, default=600, help="items")
    options = parser.parse_args()
    running, found = Running(), 0
    for place in places():
        if options.only not in str(place):
            continue
        for verb in ("POST", "PATCH"):
            power, few, many = power_of(running, place, options.count, verb)
            if power > MOST_POWER and many > LEAST_SECONDS:
                power, few, many = power_of(running, place, options.count * 4, verb)
            if power > MOST_POWER and many > LEAST_SECONDS:
                found += 1
                sys.stdout.write(f"{power:.2f} {few:.3f} s {many:.3f} s {verb} {place}\n")
                sys.stdout.flush()
    running.close()
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
