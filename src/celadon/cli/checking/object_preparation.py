"""From the object in a file to the object that admission sees.

`Prepare` takes documents down the write path of the API server (`celadon.kube.writes`), with the
files' own LimitRanges, ServiceAccounts, StorageClasses, CustomResourceDefinitions and so on as the
cluster. Whatever is only looked up comes through the same door as what is judged, and must be
valid: a definition that cannot be used is no "unknown kind", and a LimitRange no server would have
is no LimitRange. With `--no-defaulting` only what cannot be left out is filled in: the namespace
and a generated name.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from celadon.admission import Operation
from celadon.admission.writing import errors_of, request_of
from celadon.cli.checking.sending.endpoints import endpoint_of
from celadon.cli.checking.sending.field_validation import StrayFields, stray_fields_of
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import (
    FieldError,
    GroupKind,
    GroupVersionKind,
    JsonObject,
    StatusError,
    User,
    metadata,
    status,
)
from celadon.kube.catalogue import (
    DEFAULT_PLUGINS,
    ObjectIndex,
    guessed_resource,
    known_resources,
)
from celadon.kube.defaulting import (
    LOOKED_UP,
    DefaultingContext,
    Draft,
    run_plugins,
    stored_form,
)
from celadon.kube.schemas import DecodeError, EmptyValue
from celadon.kube.writes import (
    Surroundings,
    Target,
    draft_of,
    read_mutated,
    request_bodies,
    request_options,
    write_path,
)

if TYPE_CHECKING:
    from celadon.cli.checking.server_plugins.plugin_desk import PluginAnswer, PluginDesk
    from celadon.kube.custom import CustomKind

_GENERATED_SUFFIX: Final = "xxxxx"
"""Stands for the five random characters that the API server appends to `generateName`."""

PLACEHOLDER_UID: Final = "00000000-0000-4000-8000-000000000000"
"""Of objects that a check creates."""

Prepared = dict[str, Any] | Problem


class Made(NamedTuple):
    """What a document becomes, which of its fields get lost on the way, what plugins say of it on
    the way, if that was asked, and which values came empty: only validation sees those."""

    value: dict[str, Any]
    stray: StrayFields | None = None
    said: PluginAnswer | None = None
    empties: Sequence[EmptyValue] = ()


class Prepare:
    """How objects are prepared, and what there is for them to be prepared with."""

    __slots__ = (
        "_catalog",
        "_context",
        "_custom",
        "_defaulting",
        "_definitions",
        "_existing",
        "_field_validation",
        "_namespace",
        "_refused",
        "plugins",
        "surroundings",
    )

    def __init__(
        self,
        objects: Sequence[Document],
        user: User,
        now: str,
        version: str,
        *,
        namespace: str,
        defaulting: bool,
        field_validation: str = request_options.STRICT,
        plugins: frozenset[str] = DEFAULT_PLUGINS,
    ) -> None:
        """`namespace` is that of objects that do not say theirs, `plugins` are those that fill in
        what is only looked up."""
        self.plugins: PluginDesk | None = None
        self._field_validation = field_validation
        self._defaulting = defaulting
        self._namespace = namespace
        self._existing: dict[int, Prepared] = {}
        self._definitions: dict[GroupKind, dict[str, Any]] = {}
        self._custom: dict[GroupKind, Mapping[GroupVersionKind, CustomKind]] = {}
        self._catalog = known_resources(all_versions=True)
        self._context = DefaultingContext(
            now=now, uid=PLACEHOLDER_UID, suffix=_GENERATED_SUFFIX, user=user, plugins=plugins
        )
        self.surroundings = Surroundings(version, user)
        self._refused: set[GroupKind] = set()
        for document in filter(_is_definition, objects):
            definition = self.existing(document)
            if isinstance(definition, Problem):
                self._refused.add(_defined(document.value))
            else:
                self._definitions[_defined(definition)] = definition
        self._refused -= self._definitions.keys()
        if self._definitions:
            self._catalog = self._catalog.with_crds(self._definitions.values())
        cluster = ObjectIndex(self._usable(filter(self._is_for_plugins, objects)))
        self._context = replace(self._context, cluster=cluster)
        self.surroundings = Surroundings(version, user, cluster)

    def with_plugins(self, plugins: PluginDesk) -> Prepare:
        """The same, with plugins that are asked about what is judged."""
        found = copy.copy(self)
        found.plugins = plugins
        return found

    def of_controller(self, user: User) -> Prepare:
        """The same for what a controller sends, which nobody validates field by field."""
        found = copy.copy(self)
        found._field_validation = request_options.IGNORE
        found._context = replace(self._context, user=user)
        found.surroundings = replace(self.surroundings, user=user)
        return found

    def created(self, document: Document, target: Target) -> Made | Problem:
        """The object of a CREATE."""
        if not self._defaulting:
            return Made(_placed(document.value, target.namespace))
        try:
            draft, said = self._begun(document, target, None)
        except DecodeError as error:
            return _undecodable(document, error)
        stray = self._stray_fields(document, target, draft)
        try:
            made = write_path.finish_create(draft)
        except StatusError as error:
            return _unfinished(draft, stray, said, error)
        return Made(made, stray, said, draft.run.empties)

    def _stray_fields(self, document: Document, target: Target, draft: Draft) -> StrayFields | None:
        """Those that are to be told of."""
        if self._field_validation == request_options.IGNORE:
            return None
        if draft.is_exact and not document.repeated:
            return None
        return stray_fields_of(document, target, strict=self._is_strict)

    @property
    def _is_strict(self) -> bool:
        return self._field_validation == request_options.STRICT

    def draft(self, document: Document, target: Target, old: JsonObject | None = None) -> Draft:
        """The object as mutating webhooks get to see it; `old` is what it replaces."""
        return self._begun(document, target, old)[0]

    def _begun(
        self, document: Document, target: Target, old: JsonObject | None
    ) -> tuple[Draft, PluginAnswer | None]:
        value = document.value
        if old is None:
            draft = draft_of(value, target, self._context)
            if self.plugins is None:
                return write_path.begin_create(draft, target), None
            write_path.prepare_create(draft, target)
            return draft, self.plugged(draft, target, None)
        placed = _placed(value, target.namespace)
        named = replace(target, name=metadata.name(placed))
        draft = write_path.begin_update(draft_of(placed, named, self._context), named)
        return draft, None if self.plugins is None else self.plugged(draft, named, old)

    def plugged(self, draft: Draft, target: Target, old: JsonObject | None) -> PluginAnswer | None:
        """What plugins make of a draft, and say of it."""
        if self.plugins is None:
            run_plugins(draft)
            return None
        operation = Operation.CREATE if old is None else Operation.UPDATE
        request = request_of(target, operation, draft.made, old, self._context.user)
        return self.plugins.mutated(draft, request)

    @property
    def context(self) -> DefaultingContext:
        """What defaults depend on besides the object."""
        return self._context

    @property
    def drafts(self) -> bool:
        """Whether objects are taken through defaulting at all."""
        return self._defaulting

    def finished(
        self, draft: Draft, document: Document, target: Target, old: JsonObject | None
    ) -> dict[str, Any]:
        """What policies see of a draft, which is used up."""
        if old is None:
            return write_path.finish_create(draft)
        placed = _placed(document.value, target.namespace)
        named = replace(target, name=metadata.name(placed))
        return write_path.finish_update(draft, old, named, placed)

    def readmitted(self, document: object, kind: GroupVersionKind) -> tuple[JsonObject, JsonObject]:
        """An object as a webhook has left it: as it is read, and with its defaults. StatusError
        (500) for what is none."""
        if not self._defaulting and isinstance(document, dict):
            return document, document
        decoded, made = read_mutated(document, kind, self.custom_kind(kind), self._context)
        return decoded, made.form()

    def updated(self, document: Document, target: Target, stored: dict[str, Any]) -> Made | Problem:
        """The new object of an UPDATE of a stored one."""
        if not self._defaulting:
            return Made(_placed(document.value, target.namespace))
        try:
            draft, said = self._begun(document, target, stored)
        except DecodeError as error:
            return _undecodable(document, error)
        stray = self._stray_fields(document, target, draft)
        try:
            made = self.finished(draft, document, target, stored)
        except StatusError as error:
            return _unfinished(draft, stray, said, error)
        return Made(made, stray, said, draft.run.empties)

    def admitted(self, document: Document, target: Target) -> Made | Problem:
        """As `stored`, of an object that is to be there, with what plugins say of it."""
        if not self._defaulting or self.plugins is None:
            found = self.stored(document, target)
            return found if isinstance(found, Problem) else Made(found)
        try:
            draft, said = self._begun(document, target, None)
            made = write_path.finish_create(draft)
        except DecodeError as error:
            return _undecodable(document, error)
        except StatusError as error:
            return _refused(document, error)
        return Made(_with_status(made, document), said=said)

    def stored(self, document: Document, target: Target) -> Prepared:
        """An object as it is in the cluster: the old one of an UPDATE or a DELETE."""
        if not self._defaulting:
            return _placed(document.value, target.namespace)
        try:
            return self._known(document, target)
        except DecodeError as error:
            return _undecodable(document, error)
        except StatusError as error:
            return _refused(document, error)

    def existing(self, document: Document) -> Prepared:
        """An object that is only looked up, always with what the cluster adds; it must be one that
        a cluster would have."""
        found = self._existing.get(id(document))
        if found is None:
            found = self._existing[id(document)] = self._vetted(document)
        return found

    def _vetted(self, document: Document) -> Prepared:
        endpoint = endpoint_of(document, "", self._catalog)
        if isinstance(endpoint, Problem):
            return endpoint
        target = self._target(document)
        try:
            found = self._known(document, target)
        except DecodeError as error:
            return _undecodable(document, error)
        except StatusError as error:
            return _refused(document, error)
        if self._is_strict and not metadata.uid(document.value):  # else it was read from a cluster
            stray = stray_fields_of(document, target, strict=True)
            if stray is not None:
                return stray.problem()
        errors = errors_of(target, found, None, self.surroundings)
        return _invalid(document, target, errors) if errors else found

    def target(self, kind: GroupVersionKind, namespace: str) -> Target:
        """Where an object of a kind is created."""
        resource = self._catalog.by_gvk(kind) or guessed_resource(kind)
        return Target(resource, namespace, custom=self.custom_kind(kind))

    def custom_kind(self, kind: GroupVersionKind) -> CustomKind | None:
        """What a given CustomResourceDefinition says about a kind."""
        group_kind = kind.group_kind
        definition = self._definitions.get(group_kind)
        if definition is None:
            return None
        if group_kind not in self._custom:
            from celadon.kube.custom import custom_kinds  # late: few inputs have definitions

            self._custom[group_kind] = custom_kinds(definition, self.surroundings.version)
        return self._custom[group_kind].get(kind)

    def is_without_definition(self, kind: GroupKind) -> bool:
        """Whether a kind has a definition among the given ones that a server would refuse: nobody
        can say what it would do with objects of it."""
        return kind in self._refused

    def _target(self, document: Document) -> Target:
        value = document.value
        target = self.target(metadata.gvk(value), metadata.namespace(value))
        if target.namespace or not target.resource.namespaced:
            return target
        return replace(target, namespace=self._namespace)

    def _known(self, document: Document, target: Target) -> dict[str, Any]:
        """What a manifest, or something read from a cluster, is there."""
        value = document.value
        if metadata.uid(value):  # read from a cluster, so complete already
            placed = _placed(value, target.namespace)
            custom = target.custom
            shaped = placed if custom is None else dict(custom.prepare(placed).value)
            return stored_form(shaped, target.kind, self._context)
        made = write_path.created(value, target, self._context)
        return _with_status(made, document)

    def _usable(self, documents: Iterable[Document]) -> Iterable[dict[str, Any]]:
        """Those of the documents that a cluster can have."""
        for found in map(self.existing, documents):
            if not isinstance(found, Problem):
                yield found

    def _is_for_plugins(self, document: Document) -> bool:
        """Whether admission plugins look at it."""
        resource = self._catalog.by_gvk(metadata.gvk(document.value))
        return resource is not None and resource.gvr in LOOKED_UP


def _with_status(made: dict[str, Any], document: Document) -> dict[str, Any]:
    """What was made of a document, with the status that it tells of. That of a definition is the
    server's, whatever a manifest says."""
    told = document.value.get("status")
    return made if told is None or _is_definition(document) else {**made, "status": told}


def _placed(value: dict[str, Any], namespace: str) -> dict[str, Any]:
    """The object with the namespace of the request, and a name."""
    found = dict(metadata.metadata(value))
    if namespace:
        found["namespace"] = namespace
    prefix = metadata.generate_name(value)
    if prefix and not metadata.name(value):
        found["name"] = prefix[:58] + _GENERATED_SUFFIX
    return {**value, "metadata": found}


def _defined(definition: JsonObject) -> GroupKind:
    """The kind that it defines, as far as it says so."""
    spec = definition.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    kind = names.get("kind") if isinstance(names, dict) else None
    group = spec.get("group") if isinstance(spec, dict) else None
    return GroupKind(str(group or ""), str(kind or ""))


def _is_definition(document: Document) -> bool:
    return bool(document.value["kind"] == "CustomResourceDefinition")


def _invalid(document: Document, target: Target, errors: Sequence[FieldError]) -> Problem:
    """The API server's sentence about all of the errors, at the first of them."""
    refused = status.invalid(target.group_kind, metadata.name(document.value), errors)
    return Problem(document.file, document.line(errors[0].path.steps), refused.status.message)


def _unfinished(
    draft: Draft, stray: StrayFields | None, said: PluginAnswer | None, error: StatusError
) -> Made:
    """What a server refuses while it completes an object: a Service with an address that is none.
    It comes after the plugins."""
    if said is None or said.refusal is None:
        from celadon.cli.checking.server_plugins.plugin_desk import PluginAnswer  # late: it is rare

        said = PluginAnswer(refusal=error, unasked=() if said is None else said.unasked)
    return Made(draft.form(), stray, said, draft.run.empties)


def _refused(document: Document, error: StatusError) -> Problem:
    """The API server's sentence, at the field it is about."""
    line = document.line(error.errors[0].path.steps) if error.errors else document.line()
    return Problem(document.file, line, str(error))


def _undecodable(document: Document, error: DecodeError) -> Problem:
    """The API server's sentence, at the field it is about."""
    kind = metadata.gvk(document.value)
    refused = request_bodies.undecodable(kind, kind.kind, str(error))
    return Problem(document.file, document.line(error.path.steps), str(refused))
