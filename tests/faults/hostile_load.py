"""Well-behaved clients beside hostile ones: what the first have to wait.

`python -m tests.faults.hostile_load` prints the figures of docs/performance.md: the latencies of 16
clients on a quiet server, then beside 200 that send, again and again, the worst that is known; the
same for the webhook with `webhook` as the first argument. Quiet and attacked phases take turns, and
the medians of their figures count. The hostile ones run in a process of their own, behind all
others on this machine. Nothing here fails because of time: what is asserted is that the clients are
answered, rightly, and the memory.

Other programs on the machine spoil such figures. `--real-time` lets the clients and the server go
before them (but not the works of the server in forks); it needs the right to do so.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from tests.faults.server_under_test import Process
from tests.webhook.documents import review_document
from tests.webhook.webhook_process import WebhookProcess

GOOD_CLIENTS: Final = 16
HOSTILE_CLIENTS: Final = 200
SECONDS: Final = 8.0
ROUNDS: Final = 3
GOOD_PAUSE: Final = 0.05
"""Seconds between two requests of one good client."""

HOSTILE_PATIENCE: Final = 15.0
"""Seconds after which a hostile client gives up waiting, and comes again."""

MOST_BYTES: Final = 1 << 30
"""More memory than a server and its forks may take together."""

MAPS: Final = "/api/v1/namespaces/default/configmaps"
TOKENS: Final = 'good,alice,1,"system:masters"\nbad,mallory,2\n'
REVIEWS: Final = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
MEGABYTES: Final = 2_900_000

BINDING = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": "mallory"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "edit"},
    "subjects": [
        {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "mallory"},
    ],
}
POLICY = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "dear"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["configmaps"],
                }
            ]
        },
        "validations": [
            {
                "expression": "object.data.all(k, object.data[k]"
                ".matches('^(a|aa|b)*(x+x+)+y?[^z]*$'))"
            }
        ],
    },
}
POLICY_BINDING = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "dear"},
    "spec": {"policyName": "dear", "validationActions": ["Audit"]},
}


def request(
    method: str,
    path: str,
    body: bytes = b"",
    token: str = "bad",
    kind: str = "json",
    more: str = "",
) -> bytes:
    authorization = f"Authorization: Bearer {token}\r\n" if token else ""
    return (
        f"{method} {path} HTTP/1.1\r\nHost: x\r\n{authorization}{more}"
        f"Content-Type: application/{kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode() + body


def _review(extra: str) -> bytes:
    head = '{"apiVersion":"authorization.k8s.io/v1","kind":"SelfSubjectAccessReview",'
    return (head + extra + "}").encode()


def _large_map(value: str) -> bytes:
    data = {f"k{number}": value for number in range(900)}
    return json.dumps({"metadata": {"generateName": "m-"}, "data": data}).encode()


def server_attacks() -> dict[str, bytes]:
    """Requests by what they attack."""
    strings = ",".join(f'"s{number}"' for number in range(200_000))
    long_list = ",".join("a" * 9 for _ in range(90_000))
    fields = ",".join(f'"f{number}":{number}' for number in range(150_000))
    yaml = "".join(f"k{number}: [a, b, {{c: d}}]\n" for number in range(100_000))
    return {
        "YAML that nests": request("POST", REVIEWS, b"[" * 80_000, kind="yaml"),
        "YAML that is long": request("POST", REVIEWS, yaml.encode()[:MEGABYTES], kind="yaml"),
        "JSON that nests": request("POST", REVIEWS, _review('"spec":' + "[" * 9_000)),
        "JSON that is long": request("POST", REVIEWS, _review(f'"spec":{{{fields}}}')),
        "a set of strings": request(
            "POST", MAPS, f'{{"metadata":{{"finalizers":[{strings}]}}}}'.encode()
        ),
        "a label selector": request("GET", f"{MAPS}?labelSelector={long_list}"),
        "an Accept header": request("GET", MAPS, more=f"Accept: {long_list}\r\n"),
        "a selector of nobody": request("GET", f"{MAPS}?labelSelector={long_list}", token=""),
        "an Accept header of nobody": request(
            "GET", "/version", token="", more=f"Accept: {long_list}\r\n"
        ),
        "parameters": request("GET", f"{MAPS}?" + "&".join(f"a{n}=1" for n in range(50_000))),
        "a policy's patterns": request("POST", f"{MAPS}?dryRun=All", _large_map("xa" * 1500)),
        "a list of all": request("GET", MAPS),
        "a body that is no JSON": request("POST", MAPS, b"\xff" * MEGABYTES),
        "a token that is none": request("GET", MAPS, token="x" * 500_000),
    }


PATTERNS: Final = "object.data.all(k, object.data[k].matches('^(a|aa|b)*(x+x+)+y?[^z]*$'))"
RULE: Final = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["CREATE"],
    "resources": ["configmaps"],
}


def webhook_policies() -> str:
    """One that is dear, and twenty ordinary ones, which all allow."""
    expressions = {"dear": PATTERNS} | {
        f"cheap-{number}": f"size(object.metadata.name) < {number}" for number in range(100, 120)
    }
    documents = list[object]()
    for name, expression in expressions.items():
        about = {"apiVersion": POLICY["apiVersion"], "metadata": {"name": name}}
        spec = {
            "matchConstraints": {"resourceRules": [RULE]},
            "validations": [{"expression": expression}],
        }
        documents.append({**about, "kind": POLICY["kind"], "spec": spec})
        bound = {"policyName": name, "validationActions": ["Audit"]}
        documents.append({**about, "kind": POLICY_BINDING["kind"], "spec": bound})
    return "\n---\n".join(map(json.dumps, documents))


def _posted_review(obj: object, path: str = "/validate") -> bytes:
    document = review_document(namespace="default", name="c", object=obj)
    return request("POST", path, json.dumps(document).encode(), token="")


def webhook_attacks() -> dict[str, bytes]:
    """Requests to a webhook by what they attack."""
    fields = {f"f{number}": number for number in range(150_000)}
    nested: object = []
    for _ in range(900):
        nested = [nested]
    lists = json.dumps(review_document(namespace="default")).encode()
    lists = lists.replace(b'"c"', b"[" + b"[]," * 900_000 + b"0]", 1)
    medium = {"metadata": {"name": "c"}, "data": {f"k{n}": "xa" * 1500 for n in range(20)}}
    large = {"metadata": {"name": "c"}, "data": {f"k{n}": "xa" * 1500 for n in range(900)}}
    return {
        "a policy's patterns": _posted_review(large),
        "a policy's patterns, 60 KB": _posted_review(medium),
        "many fields": _posted_review({"metadata": {"name": "c"}, "data": fields}),
        "many fields, to change": _posted_review({"metadata": {}, "data": fields}, "/mutate"),
        "many lists": request("POST", "/validate", lists, token=""),
        "JSON that nests": request("POST", "/validate", b"[" * MEGABYTES, token=""),
        "JSON that nests a little": _posted_review({"metadata": {"name": "c"}, "data": nested}),
        "a body that is no JSON": request("POST", "/validate", b"\xff" * MEGABYTES, token=""),
        "digits": request("POST", "/validate", b"1" * MEGABYTES, token=""),
        "a body that is too large": request("POST", "/validate", b" " * (8 << 20), token=""),
        "parameters": request(
            "POST", "/validate?" + "&".join(f"a{n}=1" for n in range(50_000)), b"{}", token=""
        ),
        "a timeout": request("POST", f"/validate?timeout={'1s' * 400_000}", b"{}", token=""),
    }


async def _attack(address: str, attacks: Sequence[bytes], seed: int, until: float) -> None:
    """One hostile client: it comes again and again, and does not always wait for an answer."""
    dice = random.Random(seed)
    host, _, port = address.rpartition(":")
    while time.monotonic() < until:
        with contextlib.suppress(OSError, TimeoutError):
            reader, writer = await asyncio.open_connection(host, int(port), limit=1 << 22)
            try:
                writer.write(dice.choice(attacks))
                if dice.random() < 0.2:
                    writer.write(dice.choice(attacks))
                async with asyncio.timeout(HOSTILE_PATIENCE * dice.random()):
                    await writer.drain()
                    while await reader.read(1 << 16):
                        pass
            finally:
                writer.close()


async def attack(address: str, attacks: Sequence[bytes], clients: int, seconds: float) -> None:
    until = time.monotonic() + seconds
    await asyncio.gather(*(_attack(address, attacks, seed, until) for seed in range(clients)))


@dataclass(frozen=True, slots=True)
class Latencies:
    """In milliseconds; `codes` are the answers, by their code."""

    median: float
    p99: float
    worst: float
    codes: Counter[int]

    @classmethod
    def of(cls, taken: Sequence[float], codes: Counter[int]) -> Latencies:
        ordered = sorted(one * 1000 for one in taken)
        return cls(
            statistics.median(ordered), ordered[int(len(ordered) * 0.99)], ordered[-1], codes
        )

    def text(self) -> str:
        return f"median {self.median:.1f} ms, p99 {self.p99:.1f} ms, worst {self.worst:.0f} ms"


async def _good_client(
    address: str, requests: Callable[[int], bytes], until: float, taken: list[float]
) -> Counter[int]:
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    codes: Counter[int] = Counter()
    number = 0
    while time.monotonic() < until:
        writer.write(requests(number))
        began = time.perf_counter()
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0])
        await reader.readexactly(length)
        taken.append(time.perf_counter() - began)
        codes[int(head.split()[1])] += 1
        number += 1
        await asyncio.sleep(GOOD_PAUSE)
    writer.close()
    return codes


async def good_clients(
    address: str, requests: Callable[[int, int], bytes], count: int, seconds: float
) -> Latencies:
    """`requests` gives the request of a client by their numbers."""
    until, taken = time.monotonic() + seconds, list[float]()
    clients = (
        _good_client(address, lambda n, own=own: requests(own, n), until, taken)  # type: ignore[misc]
        for own in range(count)
    )
    codes = sum(await asyncio.gather(*clients), Counter[int]())
    return Latencies.of(taken, codes)


def ordinary_request(client: int, number: int) -> bytes:
    """A get, a list of a few, a write, in turn."""
    match number % 3:
        case 0:
            return request("GET", f"{MAPS}/good-{client}", token="good")
        case 1:
            return request("GET", f"{MAPS}?limit=20", token="good")
        case _:
            body = {"metadata": {"name": f"good-{client}"}, "data": {"n": str(number)}}
            path = f"{MAPS}/good-{client}"
            return request("PUT", path, json.dumps(body).encode(), token="good")


class UnderLoad(Protocol):
    """A process that is asked; `memory` is its own, without that of its forks."""

    @property
    def address(self) -> str: ...

    @property
    def pid(self) -> int: ...


def memory_of(pid: int) -> int:
    """Bytes of a process and its forks: what they share counts once."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    total = 0
    for number in (str(pid), *children):
        with contextlib.suppress(OSError):  # it has just ended
            text = Path(f"/proc/{number}/smaps_rollup").read_text()
            total += sum(map(int, re.findall(r"^Pss:\s+(\d+) kB", text, re.M))) << 10
    return total


class Load:
    """A process, who asks it, and the worst of its memory."""

    def __init__(
        self,
        process: UnderLoad,
        requests: Callable[[int, int], bytes],
        attacks: str,
        *,
        real_time: bool = False,
    ) -> None:
        self._process = process
        self._requests = requests
        self._attacks = attacks
        self._real_time = real_time
        self.most_memory = 0
        if real_time:
            _go_first(process.pid, *map(int, os.listdir(f"/proc/{process.pid}/task")))

    def latencies(self, seconds: float, hostile: int = 0, only: str = "") -> Latencies:
        """Of the good clients, beside so many hostile ones; `only` names one attack."""
        attackers = None
        if hostile:
            attackers = subprocess.Popen(
                [
                    *("nice", "-n", "10", sys.executable, "-m", "tests.faults.hostile_load"),
                    *(self._attacks, self._process.address, str(hostile), str(seconds + 3), only),
                ]
            )
            time.sleep(2)
        try:
            return asyncio.run(self._latencies(seconds))
        finally:
            if attackers is not None:
                attackers.wait()

    async def _latencies(self, seconds: float) -> Latencies:
        watching = asyncio.create_task(self._watch_memory())
        if self._real_time:
            _go_first(0)
        try:
            address = self._process.address
            return await good_clients(address, self._requests, GOOD_CLIENTS, seconds)
        finally:
            if self._real_time:
                os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
            watching.cancel()

    async def _watch_memory(self) -> None:
        while True:
            self.most_memory = max(self.most_memory, memory_of(self._process.pid))
            await asyncio.sleep(0.5)

    def check(self, found: Latencies) -> None:
        """All were answered, rightly, and the server is not too large."""
        assert set(found.codes) == {200}, found.codes
        assert self.most_memory < MOST_BYTES, f"{self.most_memory >> 20} MiB"


def _go_first(*threads: int) -> None:
    for one in threads:
        os.sched_setscheduler(one, os.SCHED_RR, os.sched_param(5))


class HostileLoad(Load):
    """On an API server."""

    def __init__(self, folder: Path, *, real_time: bool = False) -> None:
        tokens = folder / "tokens.csv"
        tokens.write_text(TOKENS)
        tokens.chmod(0o600)
        self.server = Process(folder / "data.db", "--token-auth-file", str(tokens))
        for path, body in (
            ("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", BINDING),
            ("/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies", POLICY),
            (
                "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
                POLICY_BINDING,
            ),
            *((MAPS, {"metadata": {"name": f"good-{n}"}}) for n in range(GOOD_CLIENTS)),
        ):
            self._create(path, body)
        super().__init__(self.server, ordinary_request, "serve", real_time=real_time)

    def _create(self, path: str, body: object) -> None:
        connection = self.server.connection()
        headers = {"Authorization": "Bearer good", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        answer = connection.getresponse()
        assert answer.status in (201, 409), answer.read()
        connection.close()

    def close(self) -> None:
        self.server.end(signal.SIGTERM)


class HostileReviews(Load):
    """On a webhook."""

    def __init__(self, folder: Path, *, real_time: bool = False) -> None:
        policies = folder / "policies.yaml"
        policies.write_text(webhook_policies())
        self.webhook = WebhookProcess(
            folder, "--plain-http", "--shutdown-delay-duration", "0s", "-f", str(policies)
        )
        review = _posted_review({"metadata": {"name": "c", "labels": {"a": "b"}}, "data": {}})
        super().__init__(self.webhook, lambda *_: review, "webhook", real_time=real_time)

    def close(self) -> None:
        self.webhook.close()


ATTACKS: Final[dict[str, Callable[[], dict[str, bytes]]]] = {
    "serve": server_attacks,
    "webhook": webhook_attacks,
}
LOADS: Final[dict[str, type[HostileLoad | HostileReviews]]] = {
    "serve": HostileLoad,
    "webhook": HostileReviews,
}


def figures(load: Load, seconds: float, rounds: int, only: str = "") -> str:
    """Of phases in turn, quiet and attacked: the medians of what the good clients wait."""
    quiet, attacked = list[Latencies](), list[Latencies]()
    for _ in range(rounds):
        quiet.append(load.latencies(seconds))
        attacked.append(load.latencies(seconds, HOSTILE_CLIENTS, only))
        load.check(attacked[-1])
    ratios = [one.p99 / other.p99 for one, other in zip(attacked, quiet, strict=True)]
    return (
        f"{only or 'all attacks'}: quiet {_middle(quiet)}; attacked {_middle(attacked)}; "
        f"p99 {statistics.median(ratios):.1f} times as long ({min(ratios):.1f} to "
        f"{max(ratios):.1f}), {load.most_memory >> 20} MiB"
    )


def _middle(phases: Sequence[Latencies]) -> str:
    median = statistics.median(one.median for one in phases)
    p99 = statistics.median(one.p99 for one in phases)
    return f"median {median:.1f} ms, p99 {p99:.1f} ms"


def main(arguments: list[str]) -> None:
    """Prints what the good clients wait, quiet and beside each attack named, or all of them."""
    real_time = "--real-time" in arguments
    arguments = [one for one in arguments if one != "--real-time"]
    which = arguments.pop(0) if arguments and arguments[0] in LOADS else "serve"
    with tempfile.TemporaryDirectory(prefix="celadon-load-") as folder:
        load = LOADS[which](Path(folder), real_time=real_time)
        try:
            for only in arguments or [""]:
                sys.stdout.write(f"{which}, {figures(load, SECONDS, ROUNDS, only)}\n")
                sys.stdout.flush()
        finally:
            load.close()


def _attackers(which: str, address: str, clients: str, seconds: str, only: str) -> None:
    attacks = [one for name, one in ATTACKS[which]().items() if only in name]
    asyncio.run(attack(address, attacks, int(clients), float(seconds)))


if __name__ == "__main__":
    if len(sys.argv) == 6:
        _attackers(*sys.argv[1:])
    else:
        main(sys.argv[1:])
