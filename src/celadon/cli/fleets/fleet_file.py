"""Files of kind Fleet: the sources of an audit, by name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Final

from celadon.cli.auditing.etcd_snapshots.snapshot_blocks import DEFAULT_PREFIX
from celadon.cli.own_files.own_documents import API_VERSION, is_own, problem_at
from celadon.cli.own_files.shape_faults import faults
from celadon.cli.reading import sources
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass

KIND: Final = "Fleet"

_TEXT: Final = {"type": "string", "minLength": 1}
_SOURCE: Final = {
    "type": "object",
    "required": ["name"],
    "additionalProperties": False,
    "properties": {
        "name": {"description": "What reports call it.", **_TEXT},
        "dumps": {
            "description": "Files, folders and patterns, relative to this file, or addresses of "
            "an object store.",
            "type": "array",
            "minItems": 1,
            "items": _TEXT,
        },
        "etcdSnapshot": {
            "description": "A snapshot of the etcd of a cluster, relative to this file.",
            **_TEXT,
        },
        "etcdPrefix": {"description": "Where in it the objects are (default: /registry).", **_TEXT},
        "kubeconfig": {
            "description": "The kubeconfig of a cluster, relative to this file.",
            **_TEXT,
        },
        "context": {"description": "The context of the kubeconfig.", **_TEXT},
    },
}
_KINDS: Final = ({"dumps"}, {"etcdSnapshot"}, {"kubeconfig", "context"})
"""By which fields a source says what it is."""
SCHEMA: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "$id": "https://celadon.dev/schemas/fleet.json",
    "title": KIND,
    "description": "What `celadon audit --fleet` audits.",
    "type": "object",
    "required": ["apiVersion", "kind", "sources"],
    "additionalProperties": False,
    "properties": {
        "apiVersion": {"const": API_VERSION},
        "kind": {"const": KIND},
        "metadata": {"type": "object"},
        "sources": {
            "description": "In the order of the report.",
            "type": "array",
            "minItems": 1,
            "items": _SOURCE,
        },
    },
}
"""The one place where the format stands."""


@dataclass(frozen=True, slots=True)
class Source:
    """Dumps, a snapshot of etcd, or a cluster: by a context, or by all that its kubeconfig says."""

    name: str
    dumps: tuple[str, ...] = ()
    snapshot: str = ""
    prefix: str = DEFAULT_PREFIX
    kubeconfig: str = ""
    context: str = ""


def read_fleet(file: str) -> tuple[Source, ...] | list[Problem]:
    """The sources of a file, or what is wrong with it."""
    text = sources.read(file)
    if isinstance(text, Problem):
        return [text]
    found = list(DocumentReader().read(text))
    problems = [one for one in found if isinstance(one, Problem)]
    documents = [one for one in found if isinstance(one, Document)]
    if not problems:
        problems = list(_wrong(file, documents))
    if problems:
        return problems
    folder = os.path.dirname(file)
    return tuple(_source(folder, one) for one in documents[0].value["sources"])


def _wrong(file: str, documents: list[Document]) -> Iterator[Problem]:
    if len(documents) != 1 or not is_own(documents[0], KIND):
        yield Problem(file, 0, f"not one document of kind {KIND} ({API_VERSION})")
        return
    (fleet,) = documents
    shape = faults(fleet.value, SCHEMA)
    if shape:
        yield from (problem_at(fleet, *one) for one in shape)
        return
    seen: set[str] = set()
    for index, one in enumerate(fleet.value["sources"]):
        at = ("sources", index)
        if one["name"] in seen:
            yield problem_at(fleet, (*at, "name"), f"a source `{one['name']}` is there already")
        seen.add(one["name"])
        kinds = sum(not one.keys().isdisjoint(kind) for kind in _KINDS)
        if kinds != 1:
            text = f"source `{one['name']}` must be one of dumps, an `etcdSnapshot`, a cluster"
            yield problem_at(fleet, at, text)


def _source(folder: str, given: dict[str, Any]) -> Source:
    snapshot, kubeconfig = given.get("etcdSnapshot", ""), given.get("kubeconfig", "")
    return Source(
        given["name"],
        tuple(_beside(folder, one) for one in given.get("dumps", ())),
        snapshot and _beside(folder, snapshot),
        given.get("etcdPrefix", DEFAULT_PREFIX),
        kubeconfig and _beside(folder, kubeconfig),
        given.get("context", ""),
    )


def _beside(folder: str, path: str) -> str:
    """A path as seen from where the file stands; addresses are what they are."""
    return path if sources.is_address(path) else os.path.join(folder, os.path.expanduser(path))
