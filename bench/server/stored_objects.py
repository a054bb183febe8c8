"""Data files with many objects: what a server has kept of one, again and again by other names.

Writing them one by one through a server would take a minute; of policies, most of it for compiling
each to see whether it can be stored.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from bench.load import TEMPLATES
from bench.server import processes, workloads
from bench.server.loads import run_load
from celadon.storage import Put, Store, Transaction, open_sqlite

REGISTRY: Final = "/registry/admissionregistration.k8s.io"
CONFIG_MAPS: Final = f"/registry/core/configmaps/{workloads.NAMESPACE}"
_AT_ONCE: Final = 100


def write_policies(folder: Path, count: int) -> Path:
    """The file, with `count` policies, all different, and as many bindings."""
    path = folder / "policies.db"
    with processes.celadon(folder, "--data", str(path)) as server:
        run_load(server, workloads.namespaces() + workloads.many_policies(1), 1)
    with open_sqlite(str(path)) as store:
        policy = _stored(store, f"{REGISTRY}/validatingadmissionpolicies/")
        binding = _stored(store, f"{REGISTRY}/validatingadmissionpolicybindings/")
        _write(store, list(_writes(policy, binding, count)))
    return path


def write_config_maps(folder: Path, path: Path, count: int) -> None:
    """The file, with `count` ConfigMaps of one namespace."""
    with processes.celadon(folder, "--data", str(path)) as server:
        run_load(server, workloads.namespaces() + workloads.config_maps("full", 1), 1)
    with open_sqlite(str(path)) as store:
        one = _stored(store, f"{CONFIG_MAPS}/full")
        named = (f"full-{number}" for number in range(1, count))
        writes = [_put(CONFIG_MAPS, name, {**one, **_content(name)}) for name in named]
        _write(store, writes)


def _content(name: str) -> dict[str, Any]:
    return {"data": workloads.config_map(name)["data"]}


def _write(store: Store, writes: Sequence[Put]) -> None:
    for start in range(0, len(writes), _AT_ONCE):
        store.submit(Transaction((), tuple(writes[start : start + _AT_ONCE]))).result()


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
        yield _put(f"{REGISTRY}/validatingadmissionpolicies", name, {**policy, "spec": spec})
        spec = {**binding["spec"], "policyName": name}
        yield _put(f"{REGISTRY}/validatingadmissionpolicybindings", name, {**binding, "spec": spec})


def _put(collection: str, name: str, obj: dict[str, Any]) -> Put:
    meta = {**obj["metadata"], "name": name, "uid": str(uuid.uuid4())}
    value = json.dumps({**obj, "metadata": meta}, separators=(",", ":")).encode()
    return Put(f"{collection}/{name}", value)
