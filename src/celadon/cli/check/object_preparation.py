"""Prepares the object of a file as an API server does before admission sees it.

`Prepare` takes documents down the write path of the API server (`celadon.kube.registry`), with the
files' own LimitRanges, ServiceAccounts, StorageClasses, CustomResourceDefinitions and so on as the
cluster. Whatever is only looked up comes through the same door as what is judged, and must be
valid: a definition that cannot be used is no "unknown kind", and a LimitRange no server would have
is no LimitRange. With `--no-defaulting` only what cannot be left out is filled in: the namespace
and a generated name.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from celadon.admission import Operation, Request
from celadon.admission.write_requests import errors_of, request_of
from celadon.cli.check.check_report import Fault, Place
from celadon.cli.options import VERSIONS, did_you_mean
from celadon.cli.reading.documents import Document, Problem
from celadon.goyaml import RepeatedKey, strict_error
from celadon.kube import (
    ApiVersionError,
    FieldError,
    GroupKind,
    GroupVersionKind,
    GroupVersionResource,
    Json,
    JsonObject,
    StatusError,
    User,
    metadata,
    parse_api_version,
    registry,
    resources,
    status,
)
from celadon.kube.defaulting import LOOKED_UP, DefaultingContext
from celadon.kube.go import Document as JsonDocument
from celadon.kube.go import read_json
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import answering_as
from celadon.kube.schemas import DecodeError, EmptyValue, StrayField
from celadon.kube.well_known_values import NAMESPACES
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.cli.check.plugins import PluginAnswer, PluginDesk
    from celadon.kube.crd import CustomKind


# --- Endpoints ---------------------------------------------------------------
#
# Where an object is sent: the resource and subresource of its kind.
#
# Kinds come from the catalogue, which knows the built-in ones and those of the given
# CustomResourceDefinitions. A kind of a built-in group that is not there does not exist, and is
# refused as kubectl refuses it; one of any other group may be a custom resource whose
# definition was not given, so its resource is guessed.


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Says where an object is sent: a resource, or what is below it. `stored` says that it will
    have a name there, `is_guessed` that nobody has defined its kind."""

    entry: resources.Resource
    kind: GroupVersionKind
    subresource: str = ""
    is_stored: bool = False
    is_guessed: bool = False

    @property
    def resource(self) -> GroupVersionResource:
        """Return the name of the resource."""
        return self.entry.gvr

    @property
    def namespaced(self) -> bool:
        """Return whether its objects live in namespaces."""
        return self.entry.namespaced


def _servable() -> resources.Catalog:
    """Return the built-in resources of every version that a server may be told to serve."""
    return resources.known_resources(all_versions=True, behind_gates=False)


def endpoint_of(
    document: Document, subresource: str, catalog: resources.Catalog
) -> Endpoint | Problem:
    """Return the endpoint for a document; `subresource` is what `--subresource` says."""
    try:
        group, version = parse_api_version(str(document.value["apiVersion"]))
    except ApiVersionError as error:
        return Problem(document.file, document.line(("apiVersion",)), str(error))
    kind = GroupVersionKind(group, version, str(document.value["kind"]))
    resource = catalog.by_gvk(kind) or _servable().by_gvk(kind)
    if resource is not None and not subresource:
        stored = "get" in resource.verbs
        return Endpoint(resource, kind, is_stored=stored)
    subresources = list(_subresources(kind, resource, subresource, catalog))
    if len(subresources) == 1:
        return _below(*subresources[0])
    if subresources or subresource:
        return _which(document, subresource, kind, subresources)
    if group in _groups_of_kubernetes():
        return _no_match(document, kind, catalog)
    return Endpoint(resources.guessed_resource(kind), kind, is_stored=True, is_guessed=True)


@functools.cache
def _groups_of_kubernetes() -> frozenset[str]:
    """Return the groups that some release has: where one has none of a group, nobody else defines
    it."""
    result: set[str] = set()
    for release in VERSIONS:
        with answering_as(release):
            result |= {
                known_resource.gvr.group
                for known_resource in resources.known_resources(all_versions=True)
            }
    return frozenset(result)


def _subresources(
    kind: GroupVersionKind,
    resource: resources.Resource | None,
    expected: str,
    catalog: resources.Catalog,
) -> Iterator[tuple[resources.Resource, resources.Subresource]]:
    """Yield the subresources of a resource, or those whose objects are of this kind: `Binding` is a
    kind of its own, and that of `pods/binding`."""
    parent, _, name = expected.rpartition("/")
    is_named = resource is not None and parent in ("", resource.gvr.resource)
    for candidate in (resource,) if is_named and resource is not None else catalog:
        if parent in ("", candidate.gvr.resource):
            for subresource in candidate.subresources:
                if (not name or subresource.name == name) and (is_named or subresource.gvk == kind):
                    yield candidate, subresource


def _below(resource: resources.Resource, subresource: resources.Subresource) -> Endpoint:
    return Endpoint(resource, subresource.gvk, subresource.name)


def _which(
    document: Document,
    subresource: str,
    kind: GroupVersionKind,
    candidates: Sequence[tuple[resources.Resource, resources.Subresource]],
) -> Problem:
    line = document.line(("kind",))
    if not candidates:
        text = f"kind `{kind.kind}` has no subresource `{subresource}`"
        return Problem(document.file, line, text)
    names = sorted({f"{resource.gvr.resource}/{sub.name}" for resource, sub in candidates})
    return Problem(
        document.file,
        line,
        f"kind `{kind.kind}` belongs to several subresources: {', '.join(names)}",
        f"say which: `--subresource {names[0]}`",
    )


def _no_match(document: Document, kind: GroupVersionKind, catalog: resources.Catalog) -> Problem:
    """Return the problem that a kind does not exist, in kubectl's words."""
    elsewhere = [resource.gvk.api_version for resource in catalog if resource.gvk.kind == kind.kind]
    if elsewhere:
        hint = f"did you mean `apiVersion: {elsewhere[0]}`?"
    else:
        kinds = [
            resource.gvk.kind
            for resource in catalog
            if resource.gvk.group_version == kind.group_version
        ]
        hint = did_you_mean(kind.kind, kinds).removeprefix(", ")
    return Problem(
        document.file,
        document.line(("kind",)),
        f'no matches for kind "{kind.kind}" in version "{kind.api_version}"',
        hint,
    )


# --- Field validation --------------------------------------------------------
#
# Fields that an object's kind does not have, or that its document has twice.
#
# An API server drops the ones and takes the last of the others, and says so if it is asked to:
# with `Strict`, which is what kubectl asks for, it refuses the document, with `Warn` it warns.
# The texts are those of `celadon.kube.registry`; here they get the lines of the file.


@dataclass(frozen=True, slots=True)
class StrayFields:
    """Holds the stray fields of a document that is sent as `target`, and is refused for them
    (`is_refused`), or warned about. `keys` are those that its YAML repeats: a server that is sent
    YAML complains about them in words of their own, first. `patched` is what a patch has made of
    the object, if it was sent as one."""

    document: Document
    target: registry.Target
    fields: Sequence[StrayField]
    keys: Sequence[RepeatedKey]
    is_refused: bool
    patched: registry.patch.Patched | None = None

    def warnings(self) -> list[str]:
        """Return what is said under `Warn`."""
        return [*(field.text for field in self.keys), *(field.text for field in self.fields)]

    def refusal(self) -> StatusError:
        """Return what is answered under `Strict`."""
        texts = [strict_error(key.text for key in self.keys)] if self.keys else []
        texts += [field.text for field in self.fields]
        kind = self.target.kind
        reason = registry.request_bodies.strict_decoding_error(texts)
        if self.patched is not None:
            return self.patched.refusal(reason)
        return registry.request_bodies.undecodable(kind, kind.kind, reason)

    def faults(self) -> list[Fault]:
        """Return each stray field, and where it stands."""
        return [
            *(Fault(self._place(key), key.key_text.strip('"'), key.complaint) for key in self.keys),
            *(
                Fault(self._line(field), field.path, field.text, field.likely)
                for field in self.fields
            ),
        ]

    def problem(self) -> Problem:
        """Return the refusal, at the first of them."""
        place = self.faults()[0].place
        return Problem(place.file, place.line, str(self.refusal()))

    def _place(self, key: RepeatedKey) -> Place:
        return Place(self.document.file, self.document.chunk.first_line + key.line - 1)

    def _line(self, field: StrayField) -> Place:
        return Place(self.document.file, self.document.line(field.steps))


def stray_fields_of(
    document: Document, target: registry.Target, *, strict: bool
) -> StrayFields | None:
    """Return the fields that the kind does not have; None if there are none. The values of the
    document must fit the kind. For documents whose values fit the kind."""
    repeated = document.repeated
    is_json = document.chunk.is_json
    sent = _sent(document) if repeated and is_json else JsonDocument(document.value)
    fields = StrayFields(
        document,
        target,
        registry.request_bodies.stray_fields(sent, target.kind, target),
        () if is_json else repeated,
        is_refused=strict,
    )
    return fields if fields.fields or fields.keys else None


def _sent(document: Document) -> JsonDocument:
    """Return the document with what a dict cannot hold."""
    start, end = document.chunk.span(document.path)
    return read_json(document.chunk.text[start:end], merge=True)


_GENERATED_SUFFIX: Final = "xxxxx"
"""Stands for the five random characters that the API server appends to `generateName`."""

PLACEHOLDER_UID: Final = "00000000-0000-4000-8000-000000000000"
"""Of objects that a check creates."""

Prepared = JsonDict | Problem


class Begun(NamedTuple):
    """A document on its way: the object as the first who may change it get it. `draft` is None for
    one that stays as it is in its file, `old` for one that is created; `stray` are fields that get
    lost. `target` has the name of what is updated."""

    document: Document
    target: registry.Target
    value: JsonDict
    draft: registry.Draft | None = None
    old: JsonObject | None = None
    stray: StrayFields | None = None


class PreparedObject(NamedTuple):
    """Holds what a document becomes, what plugins say of it on the way, if they were asked, and
    which values came empty: only validation sees those."""

    value: JsonDict
    plugin_answer: PluginAnswer | None = None
    empties: Sequence[EmptyValue] = ()


class Prepare:
    """Prepares objects, and holds what there is for them to be prepared with."""

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
        *,
        namespace: str,
        defaulting: bool,
        field_validation: str = registry.request_bodies.STRICT,
        plugins: frozenset[str] = resources.DEFAULT_PLUGINS,
    ) -> None:
        """`namespace` is that of objects that do not say theirs, `plugins` are those that fill in
        what is only looked up."""
        self.plugins: PluginDesk | None = None
        self._field_validation = field_validation
        self._defaulting = defaulting
        self._namespace = namespace
        self._existing: dict[int, Prepared] = {}
        self._definitions: dict[GroupKind, dict[str, Json]] = {}
        self._custom: dict[GroupKind, Mapping[GroupVersionKind, CustomKind]] = {}
        self._catalog = _servable()
        self._context = DefaultingContext(
            now=now, uid=PLACEHOLDER_UID, suffix=_GENERATED_SUFFIX, user=user, plugins=plugins
        )
        self.surroundings = registry.Surroundings(user)
        self._refused: set[GroupKind] = set()
        for document in (document for document in objects if document.is_definition):
            definition = self.existing(document)
            if isinstance(definition, Problem):
                self._refused.add(_defined(document.value))
            else:
                self._definitions[_defined(definition)] = definition
        self._refused -= self._definitions.keys()
        if self._definitions:
            self._catalog = self._catalog.with_crds(self._definitions.values())
        cluster = resources.ObjectIndex(self._usable(filter(self._is_looked_up, objects)))
        self._context = replace(self._context, cluster=cluster)
        self.surroundings = registry.Surroundings(user, cluster)

    def with_plugins(self, plugins: PluginDesk) -> Prepare:
        """Return a copy with plugins that are asked about what is judged."""
        prepare = copy.copy(self)
        prepare.plugins = plugins
        return prepare

    def of_controller(self, user: User) -> Prepare:
        """Return a copy for what a controller sends, which nobody validates field by field."""
        prepare = copy.copy(self)
        prepare._field_validation = registry.request_bodies.IGNORE
        prepare._context = replace(self._context, user=user)
        prepare.surroundings = replace(self.surroundings, user=user)
        return prepare

    def begun(
        self, document: Document, target: registry.Target, old: JsonDict | None = None
    ) -> Begun | Problem:
        """Return the object of a CREATE, or of an UPDATE of an `old` one, before any plugin sees
        it."""
        placed = _placed(document.value, target.namespace)
        if not self._defaulting:
            return Begun(document, target, placed, old=old)
        try:
            if old is None:
                draft = registry.draft_of(document.value, target, self._context)
                registry.create.prepare_create(draft, target)
            else:
                target = replace(target, name=metadata.name(placed))
                draft = registry.draft_of(placed, target, self._context)
                registry.update.begin_update(draft, target)
        except DecodeError as error:
            return _undecodable(document, error)
        except StatusError as error:
            return _refused(document, error)
        stray = self._stray_fields(document, target, draft)
        return Begun(document, target, draft.decoded, draft, old, stray)

    def mutate(self, draft: registry.Draft | None, request: Request) -> PluginAnswer | None:
        """Return what the first half of the plugins makes of a draft, and says of it; None where
        they only follow their rules."""
        if self.plugins is not None:
            return self.plugins.mutated(draft, request)
        if draft is not None and request.operation is Operation.CREATE:
            registry.create.run_plugins(draft)
        return None

    def finished(self, begun: Begun, draft: registry.Draft) -> dict[str, object]:
        """Return what policies see of a draft, which is used up. It is that of `begun`, or what
        became of it."""
        if begun.old is None:
            return registry.create.finish_create(draft)
        return registry.update.finish_update(draft, begun.old, begun.target)

    def created(self, document: Document, target: registry.Target) -> PreparedObject | Problem:
        """Return the object of a CREATE that nobody but the plugins changes."""
        begun = self.begun(document, target)
        if isinstance(begun, Problem):
            return begun
        draft, user = begun.draft, self._context.user
        if draft is None:
            return PreparedObject(begun.value)
        request = request_of(begun.target, Operation.CREATE, draft.decoded, None, user)
        answer = self.mutate(draft, request)
        try:
            finished = self.finished(begun, draft)
        except StatusError as error:
            return _refused(document, error)
        return PreparedObject(finished, answer, draft.run.empties)

    def _stray_fields(
        self, document: Document, target: registry.Target, draft: registry.Draft
    ) -> StrayFields | None:
        """Return the stray fields that are to be told of."""
        if self._field_validation == registry.request_bodies.IGNORE:
            return None
        if draft.is_exact and not document.repeated:
            return None
        return stray_fields_of(document, target, strict=self._is_strict)

    @property
    def _is_strict(self) -> bool:
        return self._field_validation == registry.request_bodies.STRICT

    @property
    def context(self) -> DefaultingContext:
        """Return what defaults depend on besides the object."""
        return self._context

    def readmitted(self, document: object, kind: GroupVersionKind) -> tuple[JsonObject, JsonObject]:
        """Return an object as a webhook has left it: as it is read, and with its defaults.
        StatusError (500) for what is none."""
        if not self._defaulting and isinstance(document, dict):
            return document, document
        decoded, draft = registry.read_mutated(
            document, kind, self.custom_kind(kind), self._context
        )
        return decoded, draft.form()

    def admitted(self, document: Document, target: registry.Target) -> PreparedObject | Problem:
        """Return what `stored` does, of an object that is to be there, as plugins leave it."""
        if not self._defaulting or self.plugins is None:
            stored = self.stored(document, target)
            return stored if isinstance(stored, Problem) else PreparedObject(stored)
        created = self.created(document, target)
        if isinstance(created, Problem):
            return created
        return PreparedObject(_with_status(created.value, document), created.plugin_answer)

    def stored(self, document: Document, target: registry.Target) -> Prepared:
        """Return an object as it is in the cluster: the old one of an UPDATE or a DELETE."""
        if not self._defaulting:
            return _placed(document.value, target.namespace)
        try:
            return self._known(document, target)
        except DecodeError as error:
            return _undecodable(document, error)
        except StatusError as error:
            return _refused(document, error)

    def existing(self, document: Document) -> Prepared:
        """Return an object that is only looked up, always with what the cluster adds; it must be
        one that a cluster would have."""
        existing = self._existing.get(id(document))
        if existing is None:
            existing = self._existing[id(document)] = self._vetted(document)
        return existing

    def _vetted(self, document: Document) -> Prepared:
        endpoint = endpoint_of(document, "", self._catalog)
        if isinstance(endpoint, Problem):
            return endpoint
        target = self._target(document)
        try:
            result = self._known(document, target)
        except DecodeError as error:
            return _undecodable(document, error)
        except StatusError as error:
            return _refused(document, error)
        if self._is_strict and not metadata.uid(document.value):  # else it was read from a cluster
            stray = stray_fields_of(document, target, strict=True)
            if stray is not None:
                return stray.problem()
        errors = errors_of(target, result, None, self.surroundings)
        return _invalid(document, target, errors) if errors else result

    def target(self, kind: GroupVersionKind, namespace: str) -> registry.Target:
        """Return where an object of a kind is created."""
        resource = self._catalog.by_gvk(kind) or resources.guessed_resource(kind)
        return registry.Target(resource, namespace, custom=self.custom_kind(kind))

    def custom_kind(self, kind: GroupVersionKind) -> CustomKind | None:
        """Return what a given CustomResourceDefinition says about a kind."""
        group_kind = kind.group_kind
        definition = self._definitions.get(group_kind)
        if definition is None:
            return None
        if group_kind not in self._custom:
            # late: few inputs have definitions
            from celadon.kube.crd import custom_kinds

            self._custom[group_kind] = custom_kinds(definition)
        return self._custom[group_kind].get(kind)

    def is_without_definition(self, kind: GroupKind) -> bool:
        """Return whether a kind has a definition among the given ones that a server would refuse:
        nobody can say what it would do with objects of it."""
        return kind in self._refused

    def _target(self, document: Document) -> registry.Target:
        value = document.value
        target = self.target(metadata.gvk(value), metadata.namespace(value))
        if target.namespace or not target.resource.namespaced:
            return target
        return replace(target, namespace=self._namespace)

    def _known(self, document: Document, target: registry.Target) -> JsonDict:
        """Return what a manifest, or something read from a cluster, is there."""
        value = document.value
        if metadata.uid(value):  # read from a cluster, so complete already
            placed = _placed(value, target.namespace)
            custom = target.custom
            shaped = placed if custom is None else dict(custom.prepare(placed).value)
            return registry.stored_form(shaped, target.kind, self._context)
        created = registry.create.created(value, target, self._context)
        return _with_status(created, document)

    def _usable(self, documents: Iterable[Document]) -> Iterable[dict[str, Json]]:
        """Yield those of the documents that a cluster can have."""
        for document in map(self.existing, documents):
            if not isinstance(document, Problem):
                yield document

    def _is_looked_up(self, document: Document) -> bool:
        """Return whether admission plugins or validation look at it."""
        resource = self._catalog.by_gvk(metadata.gvk(document.value))
        return resource is not None and (resource.gvr in LOOKED_UP or resource.gvr == NAMESPACES)


def _with_status(obj: dict[str, object], document: Document) -> dict[str, object]:
    """Return what was made of a document, with the status that it tells of. That of a definition is
    the server's, whatever a manifest says."""
    status = document.value.get("status")
    return obj if status is None or document.is_definition else {**obj, "status": status}


def _placed(value: JsonObject, namespace: str) -> dict[str, object]:
    """Return the object with the namespace of the request, and a name."""
    result = dict(metadata.metadata(value))
    if namespace:
        result["namespace"] = namespace
    prefix = metadata.generate_name(value)
    if prefix and not metadata.name(value):
        result["name"] = prefix[:58] + _GENERATED_SUFFIX
    return {**value, "metadata": result}


def _defined(definition: JsonObject) -> GroupKind:
    """Return the kind that it defines, as far as it says so."""
    spec = definition.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    kind = names.get("kind") if isinstance(names, dict) else None
    group = spec.get("group") if isinstance(spec, dict) else None
    return GroupKind(str(group or ""), str(kind or ""))


def _invalid(document: Document, target: registry.Target, errors: Sequence[FieldError]) -> Problem:
    """Return the API server's sentence about all of the errors, at the first of them."""
    refused = status.invalid(target.group_kind, metadata.name(document.value), errors)
    return Problem(document.file, document.line(errors[0].path.steps), refused.status.message)


def _refused(document: Document, error: StatusError) -> Problem:
    """Return the API server's sentence, at the field it is about."""
    line = document.line(error.errors[0].path.steps) if error.errors else document.line()
    return Problem(document.file, line, str(error))


def _undecodable(document: Document, error: DecodeError) -> Problem:
    """Return the API server's sentence, at the field it is about."""
    kind = metadata.gvk(document.value)
    refused = registry.request_bodies.undecodable(kind, kind.kind, str(error))
    return Problem(document.file, document.line(error.path.steps), str(refused))
