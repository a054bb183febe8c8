"""Where an object is sent: the resource and subresource of its kind.

Kinds come from the catalogue, which knows the built-in ones and those of the given
CustomResourceDefinitions. A kind of a built-in group that is not there does not exist, and is
refused as kubectl refuses it; one of any other group may be a custom resource whose definition was
not given, so its resource is guessed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.cli.suggestions import did_you_mean
from celadon.kube import ApiVersionError, GroupVersionKind, GroupVersionResource, parse_api_version
from celadon.kube.catalogue import Catalog, Resource, Subresource, guessed_resource, known_resources
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where an object is sent: a resource, or what is below it. `stored` says that it will have a
    name there, `is_guessed` that nobody has defined its kind."""

    entry: Resource
    kind: GroupVersionKind
    subresource: str = ""
    stored: bool = False
    is_guessed: bool = False

    @property
    def resource(self) -> GroupVersionResource:
        """Its name among the resources."""
        return self.entry.gvr

    @property
    def namespaced(self) -> bool:
        """Whether its objects live in namespaces."""
        return self.entry.namespaced


def endpoint_of(document: Document, subresource: str, catalog: Catalog) -> Endpoint | Problem:
    """The endpoint for a document; `subresource` is what `--subresource` says."""
    try:
        group, version = parse_api_version(str(document.value["apiVersion"]))
    except ApiVersionError as error:
        return Problem(document.file, document.line(("apiVersion",)), str(error))
    kind = GroupVersionKind(group, version, str(document.value["kind"]))
    resource = catalog.by_gvk(kind) or known_resources(all_versions=True).by_gvk(kind)
    if resource is not None and not subresource:
        stored = "get" in resource.verbs
        return Endpoint(resource, kind, stored=stored)
    found = list(_subresources(kind, resource, subresource, catalog))
    if len(found) == 1:
        return _below(*found[0])
    if found or subresource:
        return _which(document, subresource, kind, found)
    if any(one.gvr.group == group and not one.custom for one in catalog):
        return _no_match(document, kind, catalog)
    return Endpoint(guessed_resource(kind), kind, stored=True, is_guessed=True)


def _subresources(
    kind: GroupVersionKind, resource: Resource | None, wanted: str, catalog: Catalog
) -> Iterator[tuple[Resource, Subresource]]:
    """The subresources of a resource, or those whose objects are of this kind: `Binding` is a kind
    of its own, and that of `pods/binding`."""
    parent, _, name = wanted.rpartition("/")
    own = resource is not None and parent in ("", resource.gvr.resource)
    for candidate in (resource,) if own and resource is not None else catalog:
        if parent in ("", candidate.gvr.resource):
            for subresource in candidate.subresources:
                if (not name or subresource.name == name) and (own or subresource.gvk == kind):
                    yield candidate, subresource


def _below(resource: Resource, subresource: Subresource) -> Endpoint:
    return Endpoint(resource, subresource.gvk, subresource.name)


def _which(
    document: Document,
    subresource: str,
    kind: GroupVersionKind,
    found: Sequence[tuple[Resource, Subresource]],
) -> Problem:
    line = document.line(("kind",))
    if not found:
        text = f"kind `{kind.kind}` has no subresource `{subresource}`"
        return Problem(document.file, line, text)
    names = sorted({f"{one.gvr.resource}/{sub.name}" for one, sub in found})
    return Problem(
        document.file,
        line,
        f"kind `{kind.kind}` belongs to several subresources: {', '.join(names)}",
        f"say which: `--subresource {names[0]}`",
    )


def _no_match(document: Document, kind: GroupVersionKind, catalog: Catalog) -> Problem:
    """A kind that does not exist, in kubectl's words."""
    elsewhere = [one.gvk.api_version for one in catalog if one.gvk.kind == kind.kind]
    if elsewhere:
        hint = f"did you mean `apiVersion: {elsewhere[0]}`?"
    else:
        kinds = [one.gvk.kind for one in catalog if one.gvk.group_version == kind.group_version]
        hint = did_you_mean(kind.kind, kinds).removeprefix(", ")
    return Problem(
        document.file,
        document.line(("kind",)),
        f'no matches for kind "{kind.kind}" in version "{kind.api_version}"',
        hint,
    )
