"""A data file with many policies: what a server has kept of one, again and again by other names.

Writing them one by one through a server would take a minute, most of it for compiling each to see
whether it can be stored.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from bench.load import TEMPLATES
from bench.server import processes, workloads
from bench.server.loads import run_load
from celadon.store import Put, Store, Transaction, open_sqlite

REGISTRY: Final = "/registry/admissionregistration.k8s.io"
_AT_ONCE: Final = 100


def write_policies(folder: Path, count: int) -> Path:
    """The file, with `count` policies, all different, and as many bindings."""
    path = folder / "policies.db"
    with processes.celadon(folder, "--data", str(path)) as server:
        run_load(server, workloads.namespaces() + workloads.many_policies(1), 1)
    with open_sqlite(str(path)) as store:
        policy = _stored(store, f"{REGISTRY}/validatingadmissionpolicies/")
        binding = _stored(store, f"{REGISTRY}/validatingadmissionpolicybindings/")
        writes = list(_writes(policy, binding, count))
        for start in range(0, len(writes), _AT_ONCE):
            store.submit(Transaction((), tuple(writes[start : start + _AT_ONCE]))).result()
    return path


def _stored(store: Store, prefix: str) -> dict[str, Any]:
    (entry,) = store.range(prefix).entries
    found: dict[str, Any] = json.loads(entry.value)
    return found


def _writes(policy: dict[str, Any], binding: dict[str, Any], count: int) -> Iterator[Put]:
    for number in range(1, count):
        name = f"policy-{number:05}"
        expression = TEMPLATES[number % len(TEMPLATES)].format(n=number + 1)
        rule = {**policy["spec"]["validations"][0], "expression": expression}
        spec = {**policy["spec"], "validations": [rule]}
        yield _put("validatingadmissionpolicies", name, {**policy, "spec": spec})
        spec = {**binding["spec"], "policyName": name}
        yield _put("validatingadmissionpolicybindings", name, {**binding, "spec": spec})


def _put(resource: str, name: str, obj: dict[str, Any]) -> Put:
    meta = {**obj["metadata"], "name": name, "uid": str(uuid.uuid4())}
    value = json.dumps({**obj, "metadata": meta}, separators=(",", ":")).encode()
    return Put(f"{REGISTRY}/{resource}/{name}", value)
