"""From the object in a file to the object that admission sees.

The API server decodes, defaults and completes an object before any validating policy looks at it;
`Prepare` does the same through the kube room, with the files' own LimitRanges, ServiceAccounts,
StorageClasses, CustomResourceDefinitions and so on as the cluster. With `--no-defaulting` only what
cannot be left out is filled in: the namespace and a generated name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from celadon.cli.reading.documents import Document
from celadon.cli.reading.locations import parse_path
from celadon.cli.reading.problems import Problem
from celadon.kube import GroupKind, GroupVersionKind, ObjectIndex, User, metadata
from celadon.kube.catalogue import known_resources
from celadon.kube.custom import CustomKind, custom_kinds
from celadon.kube.defaulting import (
    LIMIT_RANGES,
    LOOKED_UP,
    DefaultingContext,
    admit_form,
    stored_form,
    updated_form,
)
from celadon.kube.schemas import DecodeError

_GENERATED_SUFFIX: Final = "xxxxx"
"""Stands for the five random characters that the API server appends to `generateName`."""

_UID: Final = "00000000-0000-4000-8000-000000000000"

Prepared = dict[str, Any] | Problem


@dataclass(frozen=True, slots=True)
class Target:
    """Where an object goes: its kind there, and its namespace (empty for cluster-scoped kinds)."""

    kind: GroupVersionKind
    namespace: str
    subresource: str = ""


class Prepare:
    """How objects are prepared. Remembers what each namespace has for the plugins to find."""

    __slots__ = (
        "_context",
        "_custom",
        "_defaulting",
        "_definitions",
        "version",
    )

    def __init__(
        self,
        objects: Sequence[Document],
        user: User,
        now: str,
        version: str,
        *,
        defaulting: bool,
    ) -> None:
        self._defaulting = defaulting
        self.version = version
        self._definitions = {
            GroupKind(one.value["spec"]["group"], one.value["spec"]["names"]["kind"]): one.value
            for one in objects
            if one.value["kind"] == "CustomResourceDefinition"
        }
        self._custom: dict[GroupKind, Mapping[GroupVersionKind, CustomKind]] = {}
        self._context = DefaultingContext(
            now=now, uid=_UID, suffix=_GENERATED_SUFFIX, user=user, cluster=_looked_up(objects)
        )

    def created(self, document: Document, target: Target) -> Prepared:
        """The object of a CREATE."""
        if not self._defaulting:
            return _placed(document.value, target.namespace)
        value = self._shaped(document.value, target)
        custom = self.custom_kind(target.kind)
        if custom is not None and custom.has_status:
            value = {key: member for key, member in value.items() if key != "status"}
        try:
            return admit_form(value, target.kind, self._context, namespace=target.namespace)
        except DecodeError as error:
            return _undecodable(document, error)

    def updated(self, document: Document, target: Target, stored: dict[str, Any]) -> Prepared:
        """The new object of an UPDATE of a stored one."""
        placed = _placed(document.value, target.namespace)
        if not self._defaulting:
            return placed
        try:
            return updated_form(
                self._shaped(placed, target),
                stored,
                target.kind,
                self._context,
                subresource=target.subresource,
            )
        except DecodeError as error:
            return _undecodable(document, error)

    def stored(self, document: Document, target: Target) -> Prepared:
        """An object as it is in the cluster: the old one of an UPDATE or a DELETE."""
        if not self._defaulting:
            return _placed(document.value, target.namespace)
        try:
            if metadata.uid(document.value):  # read from a cluster, so complete already
                placed = _placed(document.value, target.namespace)
            else:
                placed = self._written(document, target)
            return stored_form(placed, target.kind, self._context)
        except DecodeError as error:
            return _undecodable(document, error)

    def existing(self, document: Document) -> Prepared:
        """An object that is only looked up, always with what the cluster adds."""
        target = Target(metadata.gvk(document.value), metadata.namespace(document.value))
        try:
            return self._written(document, target)
        except DecodeError as error:
            return _undecodable(document, error)

    def limit_ranges(self, namespace: str) -> Sequence[Mapping[str, Any]]:
        """What is given for the plugin LimitRanger to find in a namespace."""
        return self._context.cluster.list(LIMIT_RANGES, namespace)

    def _written(self, document: Document, target: Target) -> dict[str, Any]:
        """A manifest as if it had just been created, with the status it has."""
        value = self._shaped(document.value, target)
        made = admit_form(value, target.kind, self._context, namespace=target.namespace)
        status = value.get("status")
        return made if status is None else {**made, "status": status}

    def custom_kind(self, kind: GroupVersionKind) -> CustomKind | None:
        """What a given CustomResourceDefinition says about a kind."""
        group_kind = kind.group_kind
        definition = self._definitions.get(group_kind)
        if definition is None:
            return None
        if group_kind not in self._custom:
            self._custom[group_kind] = custom_kinds(definition, self.version)
        return self._custom[group_kind].get(kind)

    def _shaped(self, value: dict[str, Any], target: Target) -> dict[str, Any]:
        """A custom resource with the defaults of its schema, without fields it does not know."""
        custom = None if target.subresource == "scale" else self.custom_kind(target.kind)
        return value if custom is None else dict(custom.prepare(value).value)


def _looked_up(documents: Iterable[Document]) -> ObjectIndex:
    """What admission plugins find, as the cluster has it, without what it could not have."""
    found = []
    for document in documents:
        value = document.value
        resource = known_resources().by_gvk(metadata.gvk(value))
        if resource is None or resource.gvr not in LOOKED_UP:
            continue
        try:
            found.append(stored_form(value, metadata.gvk(value)))
        except DecodeError:
            continue
    return ObjectIndex(found)


def _placed(value: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The object with the namespace of the request, and a name."""
    found = dict(metadata.metadata(value))
    if namespace:
        found["namespace"] = namespace
    prefix = metadata.generate_name(value)
    if prefix and not metadata.name(value):
        found["name"] = prefix[:58] + _GENERATED_SUFFIX
    return {**value, "metadata": found}


def _undecodable(document: Document, error: DecodeError) -> Problem:
    """The API server's sentence, at the field it names."""
    kind = document.value["kind"]
    version = str(document.value["apiVersion"]).rpartition("/")[2]
    named = str(error).partition("Go struct field ")[2].partition(" ")[0].partition(".")[2]
    return Problem(
        document.file,
        document.line(parse_path(named)),
        f'{kind} in version "{version}" cannot be handled as a {kind}: {error}',
    )
