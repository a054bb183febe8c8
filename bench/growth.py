"""What one unit costs when there are many: `python -m bench.growth [--most N] [--write] [--check]`.

Each row is measured at growing sizes, each size in a process of its own that has a server without a
network. A cost is the processor time of one request, the least of some; memory is what the process
has more than before, for each unit. The exponent is the slope between the two largest sizes: 0 is
what does not grow, 1 what grows as the number of units does.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import math
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, Final

from bench.load import binding, policy
from bench.page import MISSED, add_check, record, under_floor
from bench.server import workloads
from bench.server.processes import TOKEN
from celadon.apiserver.api_settings import AccessSettings
from celadon.apiserver.assembly import ApiServer
from celadon.apiserver.authn.authentication import read_token_file
from celadon.apiserver.authn.service_account_tokens import SignerOnDemand
from celadon.apiserver.authn.signing_keys import new_elliptic_key
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.workers import soon_on
from celadon.storage import Put, Store, Transaction, open_memory

TOKENS: Final = f'{TOKEN},admin,1,"system:masters"\n'
TIMES: Final = 7
REQUESTS: Final = 20
_AT_ONCE: Final = 100
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")

Costs = dict[str, float]
"""Seconds by what was asked, and `memory`, bytes of all units."""


# --- A server in this process ------------------------------------------------


class Served:
    """A server and its store."""

    def __init__(self, server: ApiServer, store: Store) -> None:
        self._server = server
        self.store = store

    async def ask(self, sent: bytes) -> HttpAnswer:
        """The answer to the bytes of a request, which is a success."""
        answer = await self._answer(sent)
        assert answer.code < 300, answer.body
        return answer

    async def _answer(self, sent: bytes) -> HttpAnswer:
        head, _, body = sent.partition(b"\r\n\r\n")
        first, *lines = head.decode().split("\r\n")
        method, target, _ = first.split()
        pairs = (line.partition(": ") for line in lines)
        headers = [(name.lower(), value) for name, _, value in pairs]
        return await self._server.handle(HttpRequest(method, target, headers, body))

    async def cost(self, sent: Callable[[int], Sequence[bytes]]) -> float:
        """Seconds of the processor for one of the requests of a round by its number."""
        found = []
        for number in range(TIMES):
            asked = sent(number)
            began = process_time()
            for one in asked:
                await self.ask(one)
            found.append((process_time() - began) / len(asked))
        return min(found)

    async def serves(self, number: int) -> None:
        """Returns when the objects of a definition, and of those before it, can be asked for."""
        listed = f"/apis/g{number}.example.com/v1/things"
        while (await self._answer(workloads.get(listed))).code >= 300:
            await asyncio.sleep(0.05)

    def stored(self, prefix: str) -> Any:
        """The one object below a prefix."""
        (entry,) = self.store.range(prefix).entries
        return json.loads(entry.value)

    async def write(self, puts: Sequence[Put]) -> None:
        """Straight to the store, as somebody else would."""
        for start in range(0, len(puts), _AT_ONCE):
            some = Transaction((), tuple(puts[start : start + _AT_ONCE]))
            await asyncio.wrap_future(self.store.submit(some))


async def _served() -> Served:
    store = open_memory(carry=soon_on(asyncio.get_running_loop()))
    access = AccessSettings(SignerOnDemand(new_elliptic_key), read_token_file(TOKENS, "tokens.csv"))
    server = ApiServer(store, access)
    await server.start()
    served = Served(server, store)
    for one in workloads.namespaces():
        await served.ask(one)
    return served


def _put(key: str, obj: Mapping[str, Any]) -> Put:
    return Put(key, json.dumps(obj, separators=(",", ":")).encode())


def _named(obj: Mapping[str, Any], name: str, **spec: object) -> dict[str, Any]:
    renamed = {**obj, "metadata": {**obj["metadata"], "name": name}}
    return {**renamed, "spec": {**obj["spec"], **spec}} if spec else renamed


def _resident() -> int:
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE_BYTES


# --- What grows --------------------------------------------------------------


async def policies(count: int) -> Costs:
    """All are bound, and concern Deployments."""
    served = await _served()
    before = _resident()
    first = policy("p-0", ["object.spec.replicas < 1000"])
    await served.ask(workloads.post(f"{workloads.REGISTRATION}/{_POLICIES}", first))
    await served.ask(workloads.post(f"{workloads.REGISTRATION}/{_BINDINGS}", binding("p-0")))
    registry = "/registry/admissionregistration.k8s.io"
    one, bound = (served.stored(f"{registry}/{kind}/") for kind in (_POLICIES, _BINDINGS))
    puts = []
    for number in range(1, count):
        name = f"p-{number}"
        rule = {**one["spec"]["validations"][0]}
        rule["expression"] = f"object.spec.replicas < {1000 + number}"
        puts.append(_put(f"{registry}/{_POLICIES}/{name}", _named(one, name, validations=[rule])))
        puts.append(_put(f"{registry}/{_BINDINGS}/{name}", _named(bound, name, policyName=name)))
    await served.write(puts)
    began = process_time()
    await served.ask(workloads.small_deployments(1)[0])
    first_request = process_time() - began
    return {
        "the first request after they were read": first_request,
        "dry run of a Deployment that all look at": await served.cost(
            lambda _: workloads.small_deployments(3)
        ),
        "create of a ConfigMap, at which none looks": await served.cost(
            lambda number: workloads.config_maps(f"other-{number}", REQUESTS)
        ),
        "create of one more policy": await served.cost(
            lambda number: workloads.named_policies(number, 3)
        ),
        "memory": _resident() - before,
    }


_POLICIES: Final = "validatingadmissionpolicies"
_BINDINGS: Final = "validatingadmissionpolicybindings"


async def objects(count: int) -> Costs:
    """ConfigMaps of half a kilobyte in one namespace."""
    served = await _served()
    await served.ask(workloads.config_maps("one", 1)[0])
    prefix = f"/registry/core/configmaps/{workloads.NAMESPACE}/"
    one = served.stored(prefix)
    before = _resident()
    for start in range(1, count, _AT_ONCE * _AT_ONCE):
        some = range(start, min(count, start + _AT_ONCE * _AT_ONCE))
        await served.write([_put(f"{prefix}one-{n:07}", _named(one, f"one-{n:07}")) for n in some])
    memory = _resident() - before
    target = workloads.CONFIG_MAPS
    return {
        "get": await served.cost(lambda _: workloads.gets("one-0", REQUESTS)),
        "create": await served.cost(lambda n: workloads.config_maps(f"new-{n}", REQUESTS)),
        "the first page of 100": await served.cost(
            lambda _: [workloads.get(f"{target}?limit=100")] * 3
        ),
        "memory": memory,
    }


async def pages(count: int) -> Costs:
    """A list of 10,000 ConfigMaps in pages of `count`: the cost of a page."""
    served = await _served()
    await served.ask(workloads.config_maps("one", 1)[0])
    prefix = f"/registry/core/configmaps/{workloads.NAMESPACE}/"
    one = served.stored(prefix)
    await served.write(
        [_put(f"{prefix}one-{n:05}", _named(one, f"one-{n:05}")) for n in range(10_000)]
    )
    target = f"{workloads.CONFIG_MAPS}?limit={count}"
    await served.ask(workloads.get(target))
    before = _resident()
    cost = await served.cost(lambda _: [workloads.get(target)] * 3)
    return {"a page": cost, "memory": _resident() - before}


async def watchers(count: int) -> Costs:
    """Of a namespace, each of which has one event."""
    served = await _served()
    before = _resident()
    streams = [(await served.ask(workloads.watch())).stream for _ in range(count)]
    waiting = [asyncio.ensure_future(anext(one)) for one in streams if one is not None]
    await asyncio.sleep(0)
    memory = _resident() - before
    found = []
    for change in workloads.watched_changes(TIMES):
        await asyncio.sleep(0.2)
        began = process_time()
        await served.ask(change)
        await asyncio.gather(*waiting)
        found.append(process_time() - began)
        waiting = [asyncio.ensure_future(anext(one)) for one in streams if one is not None]
    for one in waiting:
        one.cancel()
    return {"an event to all": min(found), "memory": memory}


async def definitions(count: int) -> Costs:
    """CustomResourceDefinitions with a small schema."""
    served = await _served()
    before = _resident()
    await served.ask(_definition(0))
    await served.serves(0)
    prefix = "/registry/apiextensions.k8s.io/customresourcedefinitions/"
    one, puts = served.stored(prefix), []
    for number in range(1, count):
        group = f"g{number}.example.com"
        puts.append(_put(f"{prefix}things.{group}", _named(one, f"things.{group}", group=group)))
    await served.write(puts)
    await served.serves(count - 1)
    last = f"/apis/g{count - 1}.example.com/v1/namespaces/{workloads.NAMESPACE}/things"
    made = {"apiVersion": f"g{count - 1}.example.com/v1", "kind": "Thing", "spec": {"size": 1}}
    return {
        "create of a custom object": await served.cost(
            lambda turn: [
                workloads.post(last, {**made, "metadata": {"name": f"one-{turn}-{n}"}})
                for n in range(REQUESTS)
            ]
        ),
        "get of a ConfigMap's list": await served.cost(lambda _: workloads.lists(REQUESTS)),
        "create of one more definition": await served.cost(
            lambda turn: [_definition(count + turn)]
        ),
        "memory": _resident() - before,
    }


def _definition(number: int) -> bytes:
    group = f"g{number}.example.com"
    sized = {"type": "object", "properties": {"size": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"spec": sized}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    spec = {
        "group": group,
        "scope": "Namespaced",
        "names": {"plural": "things", "singular": "thing", "kind": "Thing"},
        "versions": [version],
    }
    made = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"things.{group}"},
        "spec": spec,
    }
    return workloads.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", made)


GROWING: Final[Mapping[str, tuple[Callable[[int], Awaitable[Costs]], Sequence[int]]]] = {
    "policies": (policies, (10, 100, 1_000, 10_000)),
    "objects": (objects, (10, 1_000, 100_000, 1_000_000)),
    "pages": (pages, (10, 100, 1_000, 10_000)),
    "watchers": (watchers, (1, 10, 100, 1_000, 10_000)),
    "definitions": (definitions, (1, 10, 100, 500, 2_000)),
}


# --- The table ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Growth:
    """One row: the cost at each size."""

    of: str
    what: str
    sizes: Sequence[int]
    costs: Sequence[float]

    @property
    def exponent(self) -> float:
        """Between the two largest sizes; what costs nothing, or has one size, does not grow."""
        if len(self.sizes) < 2 or min(self.costs[-2:]) <= 0:
            return 0.0
        first, last = self.costs[-2:]
        return math.log(last / first) / math.log(self.sizes[-1] / self.sizes[-2])


def measured(of: str, most: int) -> Iterator[Growth]:
    """The rows of what grows, up to a size."""
    sizes = [size for size in GROWING[of][1] if size <= most]
    runs = [_in_process(of, size) for size in sizes]
    for what in runs[0] if runs else ():
        yield Growth(of, what, sizes, [run[what] for run in runs])


def _in_process(of: str, size: int) -> Costs:
    command = [sys.executable, "-m", "bench.growth", "--one", of, str(size)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: Costs = json.loads(done.stdout)
    return found


HEAD: Final = (
    "| number of | what | at each size | exponent | |",
    "| --- | --- | :--- | ---: | --- |",
)
STEEPEST: Final = 1.2
"""An exponent that is still taken for 1: single costs wander by a third."""
STEEPER: Final = {("pages", "a page"): 1.6}
"""What is known to be steeper: of 10,000 objects not all texts are remembered (64 MiB)."""


def row(growth: Growth) -> str:
    """As the page shows it."""
    shown = "; ".join(
        f"{size:,}: {_shown(growth.what, cost, size)}"
        for size, cost in zip(growth.sizes, growth.costs, strict=True)
    )
    steepest = STEEPER.get((growth.of, growth.what), STEEPEST)
    judged = MISSED if growth.exponent > steepest else ""
    return f"| {growth.of} | {growth.what} | {shown} | {growth.exponent:.2f} | {judged} |"


def _shown(what: str, cost: float, size: int) -> str:
    if what == "memory":
        return f"{max(cost, 0) / size / 1024:,.1f} KiB each"
    return f"{cost * 1e3:,.2f} ms" if cost >= 1e-3 else f"{cost * 1e6:,.0f} µs"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description=__doc__)
    parser.add_argument("--most", type=int, default=sys.maxsize, help="no larger sizes")
    parser.add_argument("--only", choices=GROWING, help="of these alone")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "SIZE"), help=argparse.SUPPRESS)
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    add_check(parser)
    options = parser.parse_args()
    if options.one is not None:
        name, size = options.one
        sys.stdout.write(json.dumps(asyncio.run(_run(GROWING[name][0](int(size))))))
        return 0
    lines = list(HEAD)
    for of in GROWING if options.only is None else [options.only]:
        for growth in measured(of, options.most):
            lines.append(row(growth))
            sys.stdout.write(lines[-1] + "\n")
            sys.stdout.flush()
    if options.write:
        record({"growth": lines}, whole=options.only is None)
    return int(options.check and bool(under_floor(lines)))


async def _run(costs: Awaitable[Costs]) -> Costs:
    return await costs


if __name__ == "__main__":
    sys.exit(main())
