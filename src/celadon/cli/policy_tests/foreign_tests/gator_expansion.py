"""What ExpansionTemplates of Gatekeeper make of an object: the Pod of a Deployment.

Each template that applies to the object's kind takes a part of it for a whole object, with a kind,
a name and an owner; what it makes may be expanded again. Mutators are not asked. As
github.com/open-policy-agent/gatekeeper `pkg/expansion/system.go`, `expandResource`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from celadon.cli.reading.documents import Document
from celadon.kube import metadata

_KIND: Final = "ExpansionTemplate"
_DEEPEST: Final = 30
"""How often something may be expanded again, as upstream's `maxRecursionDepth`."""


def expanded(
    value: Mapping[str, Any], templates: Sequence[Document], depth: int = 0
) -> Iterator[dict[str, Any]]:
    """All objects that come of one; those that come of others first."""
    if depth == _DEEPEST:
        return
    made = [
        one
        for document in templates
        if document.value["kind"] == _KIND
        for one in _made(value, document.value.get("spec") or {})
    ]
    for one in made:
        yield from expanded(one, templates, depth + 1)
    yield from made


def _made(value: Mapping[str, Any], spec: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """The object that one template makes, if it applies."""
    group, _, version = str(value["apiVersion"]).rpartition("/")
    if not any(
        group in (one.get("groups") or ())
        and version in (one.get("versions") or ())
        and value["kind"] in (one.get("kinds") or ())
        for one in spec.get("applyTo") or ()
    ):
        return
    source: Any = value
    for step in str(spec.get("templateSource", "")).split("."):
        source = source.get(step) if isinstance(source, Mapping) else None
    if not isinstance(source, Mapping):
        return
    kind = spec.get("generatedGVK") or {}
    made = copy.deepcopy(dict(source))
    about = dict(made.get("metadata") or {})
    if namespace := metadata.namespace(value):
        about["namespace"] = namespace
    about["name"] = f"{metadata.name(value)}-{kind.get('kind', '')}".lower()
    version, group = kind.get("version", ""), kind.get("group", "")
    yield {
        **made,
        "apiVersion": f"{group}/{version}" if group else version,
        "kind": kind.get("kind", ""),
        "metadata": about,
    }
