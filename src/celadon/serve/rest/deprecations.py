"""What a request for a deprecated version is told, whatever becomes of it."""

from __future__ import annotations

from typing import Final

from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.catalogue import DEPRECATED
from celadon.serve.publication.published_apis import version_rank
from celadon.serve.rest.calls import Call

DEPRECATED_NOTE: Final = "k8s.io/deprecated"
REMOVED_NOTE: Final = "k8s.io/removed-release"


def note_deprecation(call: Call, definition: JsonObject | None) -> None:
    """`definition` is that of a custom resource. Subresources count as their resource."""
    gvk = call.endpoint.resource.gvk
    if definition is not None:
        warning = _of_version(definition, gvk)
        if warning:
            call.notes.warnings.append(warning)
            call.notes.annotate({DEPRECATED_NOTE: "true"})
        return
    found = DEPRECATED.get(gvk)
    if found is None:
        return
    if warning := found.warning(gvk):
        call.notes.warnings.append(warning)
    call.notes.annotate({DEPRECATED_NOTE: "true"})
    if found.until:
        call.notes.annotate({REMOVED_NOTE: found.until})


def _of_version(definition: JsonObject, gvk: GroupVersionKind) -> str:
    """The definition's own words, or the general ones; empty where it is not deprecated."""
    versions = definition["spec"]["versions"]
    served = [one for one in versions if one.get("name") == gvk.version]
    if not served or not served[0].get("deprecated"):
        return ""
    text = served[0].get("deprecationWarning")
    if text is not None:
        return str(text)
    newer = _newer(versions, gvk.version)
    use = f"; use {gvk.group}/{newer} {gvk.kind}" if newer else ""
    return f"{gvk.api_version} {gvk.kind} is deprecated{use}"


def _newer(versions: list[JsonObject], version: str) -> str:
    """The newest other version that is served and not deprecated itself; empty without one."""
    usable = [
        str(one["name"])
        for one in versions
        if one.get("served") and not one.get("deprecated") and one["name"] != version
    ]
    newest = min(usable, key=version_rank, default="")
    return newest if newest and version_rank(newest) < version_rank(version) else ""
