"""How long large requests keep the event loop of `celadon serve` without a break.

`python -m tests.faults.loop_stalls [PART ...]` prints the figures of docs/performance.md:
milliseconds of processor time of the longest callback that ran during an attack and what followed
from it; with `--where`, what it was doing. Nothing here fails because of time.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.faults.server_under_test import Process

QUIET_SECONDS: Final = 0.5
"""For so long a server does nothing, and is done."""

DEFINITIONS: Final = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
ROLES: Final = "/apis/rbac.authorization.k8s.io/v1/clusterroles"
BINDINGS: Final = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings"
SCHEMAS: Final = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas"
HOOKS: Final = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
MAPS: Final = "/api/v1/namespaces/default/configmaps"
MANY: Final = "/api/v1/namespaces/kube-public"
RULES: Final = "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews"
RBAC: Final = "rbac.authorization.k8s.io"

Request = tuple[str, str, Any]
Attack = tuple[str, list[Request]]


# --- The server that is watched ----------------------------------------------

MODULE: Final = "tests.faults.loop_stalls"
WATCHED: Final = "CELADON_STALLS"
"""The environment variable that names the file of stalls, one a line."""


def serve_watched() -> None:
    """Celadon's command, on an event loop of Python's that notes its long callbacks."""
    import asyncio

    import uvloop

    from celadon.cli.main import main

    uvloop.new_event_loop = asyncio.new_event_loop  # type: ignore[assignment]
    handle = asyncio.events.Handle
    run, pid = handle._run, os.getpid()
    began: list[tuple[float, int] | None] = [None]
    places: list[str] = []

    def run_watched(self: Any) -> None:
        if os.getpid() != pid:  # a fork has a loop of its own
            run(self)
            return
        places.clear()
        before = time.thread_time()
        began[0] = time.perf_counter(), threading.get_ident()
        try:
            run(self)
        finally:
            began[0] = None
            seconds = time.thread_time() - before
            if seconds > 0.001:
                with Path(os.environ[WATCHED]).open("a") as file:
                    print(
                        json.dumps([seconds, max(places, key=places.count, default="")]), file=file
                    )

    def look() -> None:
        while True:
            time.sleep(0.002)
            now = began[0]
            if now is not None and time.perf_counter() - now[0] > 0.004:
                places.append(_place(now[1]))

    handle._run = run_watched  # type: ignore[method-assign]
    threading.Thread(target=look, daemon=True).start()
    sys.exit(main())


def _place(thread: int) -> str:
    """Where it is in Celadon, the innermost four."""
    frame, found = sys._current_frames().get(thread), list[str]()
    while frame is not None and len(found) < 4:
        code = frame.f_code
        if "celadon" in code.co_filename:
            found.append(f"{Path(code.co_filename).stem}.{code.co_name}")
        frame = frame.f_back
    return " < ".join(found)


@dataclass
class Stalls:
    """What the loop of a server was kept by."""

    server: Process
    file: Path
    read: int = 0

    def settle(self) -> None:
        """Wait until it has nothing to do."""
        quiet = time.monotonic()
        before = self._used()
        while time.monotonic() - quiet < QUIET_SECONDS:
            time.sleep(0.1)
            now = self._used()
            if now > before + 1:
                quiet = time.monotonic()
            before = now

    def _used(self) -> int:
        stat = Path(f"/proc/{self.server.pid}/stat").read_text().rpartition(")")[2].split()
        return int(stat[11]) + int(stat[12])

    def longest(self) -> tuple[float, str]:
        """Since somebody asked last: seconds, and where."""
        lines = self.file.read_text().splitlines()
        found = [json.loads(line) for line in lines[self.read :]]
        self.read = len(lines)
        seconds, place = max(found, default=(0.0, ""))
        return seconds, place


# --- Attacks -----------------------------------------------------------------


def definition(name: str, properties: int, versions: int) -> Any:
    fields = {f"p{number}": {"type": "string"} for number in range(properties)}
    schema = {"openAPIV3Schema": {"type": "object", "properties": fields}}
    made = [
        {"name": f"v{number + 1}", "served": True, "storage": not number, "schema": schema}
        for number in range(versions)
    ]
    names = {"plural": name, "kind": name.title()}
    spec = {"group": "example.com", "scope": "Namespaced", "names": names, "versions": made}
    return {"metadata": {"name": f"{name}.example.com"}, "spec": spec}


def defined(name: str, properties: int, versions: int, wide: int) -> list[Request]:
    at, objects = (
        f"{DEFINITIONS}/{name}.example.com",
        f"/apis/example.com/v1/namespaces/default/{name}",
    )
    obj = {f"p{number}": "x" for number in range(wide)}
    about = {"apiVersion": "example.com/v1", "kind": name.title(), "metadata": {"name": "a"}}
    return [
        ("POST", DEFINITIONS, definition(name, properties, versions)),
        ("GET", "/apis/example.com/v1", None),
        ("POST", objects, {**obj, **about}),
        ("PATCH", at, {"metadata": {"labels": {"a": "b"}}}),
        ("GET", f"{objects}/a", None),
        ("GET", "/apis", None),
        ("DELETE", at, None),
    ]


def named(name: str, **members: Any) -> Any:
    return {"metadata": {"name": name}, **members}


def attacks() -> Iterator[Attack]:
    yield "a definition with 50,000 properties", defined("props", 50_000, 1, 20_000)
    yield "a definition with 3,000 versions", defined("versions", 1, 3_000, 1)
    rules = [{"apiGroups": [f"g{n}"], "resources": ["r"], "verbs": ["get"]} for n in range(25_000)]
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": "default"},
    }
    users = [{"kind": "User", "apiGroup": RBAC, "name": f"u{n}"} for n in range(25_000)]
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "big"}
    yield (
        "25,000 rules of a role, and 25,000 users of it",
        [
            ("POST", ROLES, named("big", rules=rules)),
            ("POST", BINDINGS, named("big", roleRef=ref, subjects=users)),
            ("POST", RULES, review),
            ("DELETE", f"{BINDINGS}/big", None),
            ("DELETE", f"{ROLES}/big", None),
        ],
    )
    every = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"], "namespaces": ["*"]}
    flows = [{"kind": "User", "user": {"name": f"u{n}"}} for n in range(20_000)]
    spec = {
        "priorityLevelConfiguration": {"name": "workload-low"},
        "matchingPrecedence": 500,
        "rules": [{"subjects": flows, "resourceRules": [every]}],
    }
    yield (
        "20,000 subjects of a FlowSchema",
        [
            ("POST", SCHEMAS, named("many", spec=spec)),
            ("GET", MAPS, None),
            ("DELETE", f"{SCHEMAS}/many", None),
        ],
    )
    told = {"apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["r"]}
    hook = {
        "name": "a.example.com",
        "clientConfig": {"url": "https://127.0.0.1:1/"},
        "failurePolicy": "Ignore",
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
        "rules": [{"apiGroups": [f"g{n}"], **told} for n in range(20_000)],
    }
    yield (
        "20,000 rules of a webhook",
        [
            ("POST", HOOKS, named("many", webhooks=[hook])),
            ("POST", MAPS, named("beside")),
            ("DELETE", f"{HOOKS}/many", None),
        ],
    )
    labels = {f"k{number}": "" for number in range(100_000)}
    yield (
        "100,000 labels",
        [
            ("POST", MAPS, {"metadata": {"name": "labels", "labels": labels}}),
            ("PATCH", f"{MAPS}/labels", {"data": {"a": "b"}}),
            ("GET", f"{MAPS}?labelSelector=k1", None),
            ("DELETE", f"{MAPS}/labels", None),
        ],
    )
    finalizers = [f"example.com/f{number}" for number in range(50_000)]
    yield (
        "50,000 finalizers",
        [
            ("POST", MAPS, {"metadata": {"name": "held", "finalizers": finalizers}}),
            ("DELETE", f"{MAPS}/held", None),
            ("PATCH", f"{MAPS}/held", {"metadata": {"finalizers": None}}),
        ],
    )
    quota = named("all", spec={"hard": {"count/configmaps": "100000"}})
    yield (
        "3,000 objects, counted, listed and watched",
        [
            *(("POST", f"{MANY}/configmaps", named(f"m{number}")) for number in range(3_000)),
            ("POST", f"{MANY}/resourcequotas", quota),
            ("GET", f"{MANY}/configmaps", None),
            ("GET", f"{MANY}/configmaps?watch=1&timeoutSeconds=1", None),
            ("DELETE", f"{MANY}/configmaps?limit=500", None),
        ],
    )
    yield from attacks_by_number()


def attacks_by_number() -> Iterator[Attack]:
    """Those of what is small, many times."""
    ref = {"apiGroup": RBAC, "kind": "ClusterRole", "name": "view"}
    user = [{"kind": "User", "apiGroup": RBAC, "name": "alice"}]
    bound = {"roleRef": ref, "subjects": user, "metadata": {"generateName": "many-"}}
    labelled = {**bound, "metadata": {"generateName": "many-", "labels": {"many": ""}}}
    yield (
        "3,000 bindings, deleted together",
        [
            *(("POST", BINDINGS, labelled) for _ in range(3_000)),
            ("DELETE", f"{BINDINGS}?labelSelector=many", None),
        ],
    )
    yield (
        "OpenAPI of a definition with 3,000 versions",
        [
            ("POST", DEFINITIONS, definition("versions", 1, 3_000)),
            ("GET", "/openapi/v2", None),
            ("GET", "/openapi/v3", None),
            ("GET", "/openapi/v3/apis/example.com/v1", None),
            ("DELETE", f"{DEFINITIONS}/versions.example.com", None),
        ],
    )
    names = [f"n{number}" for number in range(1_000)]
    yield (
        "1,000 definitions, and the metrics of all",
        [
            *(("POST", DEFINITIONS, definition(name, 1, 1)) for name in names),
            *(("GET", f"/apis/example.com/v1/namespaces/default/{name}", None) for name in names),
            ("GET", "/metrics", None),
            ("GET", "/metrics", None),
            ("GET", "/openapi/v2", None),
            *(("DELETE", f"{DEFINITIONS}/{name}.example.com", None) for name in names),
        ],
    )
    wide = {"data": {"a": "x" * 900_000}, "metadata": {"generateName": "wide-"}}
    review = {"spec": {f"k{number}": "v" for number in range(40_000)}}
    yield (
        "forks of a server that holds much",
        [
            *(("POST", f"{MANY}/configmaps", wide) for _ in range(300)),
            *(("POST", f"{MANY}/configmaps?dryRun=All", review) for _ in range(10)),
            ("DELETE", f"{MANY}/configmaps", None),
        ],
    )


def send(server: Process, requests: list[Request]) -> None:
    connection = server.connection()
    for method, path, body in requests:
        kind = "application/merge-patch+json" if method == "PATCH" else "application/json"
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": kind}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        connection.getresponse().read()
    connection.close()


def main(tell: Callable[[str], object] = print) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("parts", nargs="*", help="attacks whose names have one of these in them")
    parser.add_argument("--where", action="store_true", help="what the loop was doing")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "stalls"
        file.touch()
        os.environ[WATCHED] = str(file)
        program = [sys.executable, "-c", f"import {MODULE} as watched; watched.serve_watched()"]
        server = Process(Path(folder) / "data.db", program=program)
        stalls = Stalls(server, file)
        try:
            for name, requests in attacks():
                if not asked.parts or any(part in name for part in asked.parts):
                    stalls.settle()
                    stalls.longest()
                    send(server, requests)
                    stalls.settle()
                    seconds, place = stalls.longest()
                    tell(f"{seconds * 1000:7.1f} ms  {name}{asked.where * f': {place}'}")
        finally:
            server.end(signal.SIGTERM)


if __name__ == "__main__":
    main()
