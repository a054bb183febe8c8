"""Objects in all the forms that dumps of them have."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Mapping, Sequence
from typing import Any

import yaml

Json = dict[str, Any]


def written(kind: str, name: str, namespace: str = "default", **members: Any) -> Json:
    """An object as a server has written it; `kind` may say `group/version/Kind`."""
    version, _, short = kind.rpartition("/")
    about: Json = {"name": name, "uid": f"uid-{namespace}-{name}", "resourceVersion": "7"}
    if namespace:
        about["namespace"] = namespace
    about |= members.pop("metadata", {})
    return {"apiVersion": version or "v1", "kind": short, "metadata": about, **members}


def json_lines(objects: Sequence[Json]) -> bytes:
    """`jq -c '.items[]'`."""
    return b"".join(json.dumps(one).encode() + b"\n" for one in objects)


def kubectl_json(objects: Sequence[Json]) -> bytes:
    """`kubectl get -o json`."""
    made = {"apiVersion": "v1", "items": list(objects), "kind": "List", "metadata": {}}
    return json.dumps(made, indent=4).encode() + b"\n"


def kubectl_yaml(objects: Sequence[Json]) -> bytes:
    """`kubectl get -o yaml`."""
    made = {"apiVersion": "v1", "items": list(objects), "kind": "List", "metadata": {}}
    return yaml.safe_dump(made, allow_unicode=True).encode()


def raw_list(objects: Sequence[Json]) -> bytes:
    """`kubectl get --raw`, of one kind: the items do not say theirs."""
    kinds = {(one["apiVersion"], one["kind"]) for one in objects}
    ((version, kind),) = kinds
    bare = [
        {key: value for key, value in one.items() if key not in ("apiVersion", "kind")}
        for one in objects
    ]
    return json.dumps({"kind": f"{kind}List", "apiVersion": version, "items": bare}).encode()


def yaml_documents(objects: Sequence[Json]) -> bytes:
    """Manifests."""
    return yaml.safe_dump_all(objects, allow_unicode=True).encode()


def tarball(files: Mapping[str, bytes], mode: str = "w") -> bytes:
    """An archive of these."""
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode=mode) as archive:  # type: ignore[call-overload]
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


def backup(objects: Sequence[Json], resource: str = "things") -> bytes:
    """As Velero writes it, before it is packed."""
    files = {"metadata/version": b"1.1.0\n"}
    for one in objects:
        namespace, name = one["metadata"].get("namespace"), one["metadata"]["name"]
        where = f"namespaces/{namespace}" if namespace else "cluster"
        files[f"resources/{resource}/{where}/{name}.json"] = json.dumps(one).encode()
        again = f"resources/{resource}/v1-preferredversion/{where}/{name}.json"
        files[again] = json.dumps(one).encode()
    return tarball(files)


def packed(data: bytes) -> bytes:
    """With gzip."""
    return gzip.compress(data)


FORMS = {
    "json lines": json_lines,
    "kubectl json": kubectl_json,
    "kubectl yaml": kubectl_yaml,
    "raw list": raw_list,
    "yaml documents": yaml_documents,
    "backup": backup,
}
