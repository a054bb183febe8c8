"""Policies and webhooks from files of the API server itself (KEP-5793, alpha in 1.36).

The first part says what holds for them beyond validation, the second makes the objects of a plugin
out of documents. Engines take them with `with_static`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from celadon.admission.registration import registration_types as registration
from celadon.admission.registration.decoding import BY_KIND, RegistrationError, decode_object
from celadon.admission.registration.policy_validation import validate_object_meta
from celadon.admission.registration.registration_strategies import (
    GATE,
    STATIC_SUFFIX,
    validate_create,
)
from celadon.kube import FieldPath, GroupVersionKind, fieldpath
from celadon.kube.go import Document, json_text, quote
from celadon.kube.registry import request_bodies
from celadon.kube.releases import current_release
from celadon.kube.schemas import json_kind, strict_field_errors
from celadon.kube.well_known_values import ADMISSION_REGISTRATION
from celadon.records import dataclass, field

__all__ = [
    "GATE",
    "NOTHING",
    "STATIC_PLUGINS",
    "STATIC_SUFFIX",
    "ManifestError",
    "StaticDocument",
    "StaticObjects",
    "StaticPlugin",
    "is_static",
    "load",
    "static_errors",
]


# --- Static manifests --------------------------------------------------------
#
# Policies and webhooks from files of the API server itself (KEP-5793): what holds for them
# beyond validation.
#
# Their names end with a suffix that the API does not give away; they refer to nothing in the
# cluster: policies have no params, bindings name policies of the same files, webhooks have
# URLs. As k8s.io/apiserver `pkg/admission/plugin/{policy,webhook}/manifest/loader`; the texts
# are those of their errors.

_POLICY_NAME: Final = FieldPath("spec", "policyName")


class StaticError(NamedTuple):
    """Tells what is wrong with a static manifest. `number` is that of the object among those given,
    `path` the field that is wrong."""

    number: int
    path: FieldPath
    text: str


def is_static(obj: registration.RegistrationObject) -> bool:
    """Return whether its name says that it is for files."""
    return obj.name.endswith(STATIC_SUFFIX)


def static_errors(
    objects: Sequence[registration.RegistrationObject], file: str = ""
) -> Iterator[StaticError]:
    """Yield why a set of objects of one plugin cannot be loaded from files: what is wrong with
    each, then which references lead nowhere. `file` is shown where upstream names it."""
    for number, obj in enumerate(objects):
        yield from constraint_errors(obj, number, file)
    yield from reference_errors(objects)


def constraint_errors(
    obj: registration.RegistrationObject, number: int = 0, file: str = ""
) -> Iterator[StaticError]:
    """Yield what is wrong with one object that is in a file, in the order in which a server finds
    it."""
    if isinstance(obj, registration.WebhookConfiguration):
        yield from _of_webhooks(number, obj, file)
    elif isinstance(obj, registration.Policy):
        yield from _of_policy(number, obj)
    else:
        yield from _of_binding(number, obj)


def reference_errors(objects: Sequence[registration.RegistrationObject]) -> Iterator[StaticError]:
    """Yield an error for each binding whose policy is not among the objects."""
    names = {obj.name for obj in objects if isinstance(obj, registration.Policy)}
    for number, obj in enumerate(objects):
        if isinstance(obj, registration.Binding) and obj.spec.policy_name.endswith(STATIC_SUFFIX):
            policy_name = obj.spec.policy_name
            if policy_name not in names:
                text = (
                    f"binding {quote(obj.name)} references policy {quote(policy_name)} which does "
                    "not exist in the manifest directory"
                )
                yield StaticError(number, _POLICY_NAME, text)


def name_error(name: str, file: str, seen: dict[str, str]) -> str:
    """Return what is wrong with the name of an object in a file; empty if it is good. `seen` has
    the files of the names before, and gets this one."""
    if not name:
        return f"resource in file {quote(file)} must have a name"
    if not name.endswith(STATIC_SUFFIX):
        expected = f"must have a name ending with {quote(STATIC_SUFFIX)}"
        return f"{quote(name)} in file {quote(file)} {expected}"
    if name in seen:
        before = f"previously seen in {quote(seen[name])}"
        return f"duplicate name {quote(name)} found in file {quote(file)} ({before})"
    seen[name] = file
    return ""


def _of_policy(number: int, policy: registration.Policy) -> Iterator[StaticError]:
    if policy.spec.param_kind is not None:
        text = (
            f"{type(policy).__name__} {quote(policy.name)}: spec.paramKind is not supported for "
            "static manifests"
        )
        yield StaticError(number, FieldPath("spec", "paramKind"), text)


def _of_binding(number: int, binding: registration.Binding) -> Iterator[StaticError]:
    name, policy_name = quote(binding.name), binding.spec.policy_name
    if not policy_name:
        text = f"binding {name} must reference a policy (spec.policyName)"
        yield StaticError(number, _POLICY_NAME, text)
    elif not policy_name.endswith(STATIC_SUFFIX):
        text = (
            f"binding {name}: spec.policyName {quote(policy_name)} must end with "
            f"{quote(STATIC_SUFFIX)}"
        )
        yield StaticError(number, _POLICY_NAME, text)
    if binding.spec.param_ref is not None:
        text = f"binding {name}: spec.paramRef is not supported for static manifests"
        yield StaticError(number, FieldPath("spec", "paramRef"), text)


def _of_webhooks(
    number: int, configuration: registration.WebhookConfiguration, file: str
) -> Iterator[StaticError]:
    for place, webhook in enumerate(configuration.webhooks):
        path = FieldPath("webhooks").index(place).child("clientConfig")
        subject = f"webhook {quote(webhook.name)} in {quote(configuration.name)}"
        if file:
            subject += f" (file {quote(file)})"
        if webhook.client_config.service is not None:
            text = (
                f"{subject}: clientConfig.service is not supported for static manifests; use "
                "clientConfig.url instead"
            )
            yield StaticError(number, path.child("service"), text)
        elif not webhook.client_config.url:
            text = f"{subject}: clientConfig.url is required for static manifests"
            yield StaticError(number, path.child("url"), text)


# --- Static loading ----------------------------------------------------------
#
# Files of the API server itself (KEP-5793) to the policies or webhooks of one plugin.
#
# `load` takes the documents of a folder in their order and either gives all objects or raises
# the first thing that is wrong with them, in upstream's words: a folder is taken as a whole or
# not at all. Reading the folder is for others. As k8s.io/kubernetes
# `pkg/admission/plugin/{policy,webhook}/ manifest/loader`, with the scheme of those packages:
# the `admissionregistration.k8s.io` kinds and `List`.

R = TypeVar("R", bound=registration.RegistrationObject)

VERSION: Final = "v1"
"""The only one that files may be written in."""

_LIST: Final = "List"
_LIST_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata", "items"})
_SCHEMES: Final = "k8s.io/kubernetes/pkg/admission/plugin"
_POLICY_SCHEME: Final = f"{_SCHEMES}/policy/manifest/loader/validating_loader.go:35"
_WEBHOOK_SCHEME: Final = f"{_SCHEMES}/webhook/manifest/loader/loader.go:41"


@dataclass(frozen=True, slots=True)
class StaticPlugin:
    """An admission plugin that can have a folder of files, and what may be in it; `content` that is
    in a word."""

    name: str
    content: str
    kinds: tuple[str, ...]
    scheme: str


VALIDATING_POLICIES: Final = StaticPlugin(
    "ValidatingAdmissionPolicy",
    "policy",
    (registration.POLICY_KIND, registration.BINDING_KIND),
    _POLICY_SCHEME,
)
MUTATING_POLICIES: Final = StaticPlugin(
    "MutatingAdmissionPolicy",
    "policy",
    (registration.MUTATING_POLICY_KIND, registration.MUTATING_BINDING_KIND),
    _POLICY_SCHEME,
)
VALIDATING_WEBHOOKS: Final = StaticPlugin(
    "ValidatingAdmissionWebhook",
    "webhook",
    (registration.VALIDATING_WEBHOOKS_KIND,),
    _WEBHOOK_SCHEME,
)
MUTATING_WEBHOOKS: Final = StaticPlugin(
    "MutatingAdmissionWebhook", "webhook", (registration.MUTATING_WEBHOOKS_KIND,), _WEBHOOK_SCHEME
)
STATIC_PLUGINS: Final[Mapping[str, StaticPlugin]] = {
    plugin.name: plugin
    for plugin in (MUTATING_POLICIES, MUTATING_WEBHOOKS, VALIDATING_POLICIES, VALIDATING_WEBHOOKS)
}
"""By name."""


class ManifestError(ValueError):
    """Says why files cannot be loaded, in one line."""


@dataclass(frozen=True, slots=True)
class StaticDocument:
    """One document of a file. `text` is how it stands there, `complaints` what strict reading has
    to say about its YAML."""

    file: str
    document: Document
    text: str = ""
    complaints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StaticObjects:
    """Holds what a plugin has from its files, in their order."""

    objects: tuple[registration.RegistrationObject, ...] = ()

    def of(self, kind: type[R]) -> list[R]:
        """Return the objects of one type."""
        return [obj for obj in self.objects if isinstance(obj, kind)]


NOTHING: Final = StaticObjects()
"""Of a server without files."""


def load(
    documents: Iterable[StaticDocument], plugin: StaticPlugin, version: str | None = None
) -> StaticObjects:
    """Load all objects of a plugin; `version` is the server's. Raises ManifestError, and what
    `documents` raises."""
    loading = _Loading(plugin, version or current_release())
    for document in documents:
        try:
            loading.take(document)
        except ManifestError as error:
            raise ManifestError(f"error loading {document.file}: {error}") from None
    wrong = next(reference_errors(loading.objects), None)
    if wrong is not None:
        raise ManifestError(wrong.text)
    return StaticObjects(tuple(loading.objects))


class _DecodedDocument(NamedTuple):
    """A document: `objects` are those that it is or lists, `items` those of a list of anything,
    whose `single` is empty."""

    gvk: GroupVersionKind
    single: str
    objects: list[registration.RegistrationObject]
    items: list[Any]


@dataclass(slots=True)
class _Loading:
    """The state of a load. `files_of_names` has the files of the names, by kind."""

    plugin: StaticPlugin
    version: str
    objects: list[registration.RegistrationObject] = field(default_factory=list)
    files_of_names: dict[str, dict[str, str]] = field(default_factory=dict)

    def take(self, document: StaticDocument) -> None:
        """Accept the objects of one document. Raises ManifestError."""
        self._accept_read(self._read(document), document)

    def _read(self, document: StaticDocument) -> _DecodedDocument:
        """Return the objects of a document, or of the list that it is."""
        value = document.document.value
        gvk = _kind_of(value, document.text)
        single = gvk.kind.removesuffix(_LIST)
        items = [value] if gvk.kind == single else _items(value, gvk)
        objects = []
        if single:
            self._require_registered(gvk, single)
            objects = [self._decoded(item, single, gvk.version) for item in items]
            stray = [error.text for error in strict_field_errors(document.document, gvk)]
        else:
            stray = [f"unknown field {quote(item)}" for item in value if item not in _LIST_FIELDS]
        if document.complaints or stray:
            raise ManifestError(
                request_bodies.strict_decoding_error([*document.complaints, *stray])
            )
        return _DecodedDocument(gvk, single, objects, items)

    def _accept_read(self, read: _DecodedDocument, document: StaticDocument) -> None:
        """Take what was read, with the items of a list of anything."""
        if not read.single:
            for item in read.items:
                self._take_item(document, item)
            return
        if read.gvk.version != VERSION or read.single not in self.plugin.kinds:
            raise ManifestError(f"unsupported resource type *{read.gvk.version}.{read.gvk.kind}")
        for obj in read.objects:
            self._require_valid(obj, read.single)
        for obj in read.objects:
            self._accept(obj, read.single, document.file)

    def _take_item(self, document: StaticDocument, item: object) -> None:
        inner = Document(item, document.document.repeated)
        alone = StaticDocument(document.file, inner, json_text(item))
        try:
            read = self._read(alone)
        except ManifestError as error:
            raise ManifestError(f"failed to decode list item: {error}") from None
        self._accept_read(read, alone)

    def _require_registered(self, gvk: GroupVersionKind, single: str) -> None:
        entry = BY_KIND.get(single)
        if (
            gvk.group != ADMISSION_REGISTRATION
            or entry is None
            or gvk.version not in entry.versions
        ):
            raise ManifestError(request_bodies.unregistered(gvk, scheme=self.plugin.scheme))

    def _decoded(self, value: object, kind: str, version: str) -> registration.RegistrationObject:
        try:
            return decode_object(value, kind, version).value
        except RegistrationError as error:
            raise ManifestError(error.why) from None

    def _require_valid(self, obj: registration.RegistrationObject, kind: str) -> None:
        errors = [*validate_object_meta(obj.metadata), *validate_create(obj, self.version)]
        if errors:
            raise ManifestError(f"{kind} {quote(obj.name)}: {fieldpath.aggregate(errors)}")

    def _accept(self, obj: registration.RegistrationObject, kind: str, file: str) -> None:
        wrong = name_error(obj.name, file, self.files_of_names.setdefault(kind, {}))
        if wrong:
            raise ManifestError(wrong)
        error = next(constraint_errors(obj, file=file), None)
        if error is not None:
            raise ManifestError(error.text)
        self.objects.append(obj)


def _kind_of(value: object, text: str) -> GroupVersionKind:
    """Return the kind; a version that cannot be read counts as none, as upstream. Raises
    ManifestError."""
    data = {} if value is None else value
    if not isinstance(data, dict):
        raise ManifestError(request_bodies.not_an_object(value))
    kind, api_version = data.get("kind"), data.get("apiVersion")
    if not isinstance(kind, str) or not kind:
        raise ManifestError(f"Object 'Kind' is missing in '{text}'")
    if not isinstance(api_version, str) or not api_version:
        raise ManifestError(f"Object 'apiVersion' is missing in '{text}'")
    group, _, version = api_version.rpartition("/")
    return GroupVersionKind(group, version, kind)


def _items(value: dict[str, object], gvk: GroupVersionKind) -> list[object]:
    """Return the items of a list. Raises ManifestError."""
    items = value.get("items")
    if items is not None and not isinstance(items, list):
        single = gvk.kind.removesuffix(_LIST)
        type_ = f"{gvk.version}.{single}" if single else "runtime.RawExtension"
        raise ManifestError(
            f"json: cannot unmarshal {json_kind(items)} into Go struct field {gvk.kind}.items of "
            f"type []{type_}"
        )
    return items or []
