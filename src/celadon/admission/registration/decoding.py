"""JSON to registration objects: unknown fields, wrong types, what is dropped when empty.

`decode_object` passes the document through the kind's Go struct, as the API server does, defaults
it for its version and gives the typed object, the same object as JSON, and the paths of unknown
fields. The API server only warns about unknown fields unless told otherwise; callers decide. The
versions of a kind have the same fields: `converted` only changes the name of the version.

A value of the wrong type ends the decoding with `RegistrationError`, which knows the place.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar, cast

from celadon.admission.registration import registration_types as registration
from celadon.admission.registration.registration_types import DENY, EQUIVALENT, EXACT, FAIL, IGNORE
from celadon.kube import GroupVersionKind, JsonObject, metadata, releases, schemas
from celadon.kube.go import Document
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, HTTPS_PORT
from celadon.records import dataclass

# --- Registration defaults ---------------------------------------------------
#
# Defaulting of policies, bindings and webhook configurations.
#
# Only what is absent is filled in; an explicitly empty text stays and is refused by validation.
# `matchConstraints` and `matchResources` themselves are never created. The functions work on
# the decoder's own document and change it in place; `version` is that of the document, since
# the versions differ in what they fill in.

ALL_SCOPES: Final = "*"

_WEBHOOK: Final = {"failurePolicy": FAIL, "matchPolicy": EQUIVALENT, "timeoutSeconds": 10}
_WEBHOOK_V1BETA1: Final = {
    "failurePolicy": IGNORE,
    "matchPolicy": EXACT,
    "timeoutSeconds": 30,
    "sideEffects": "Unknown",
}


def default_policy(document: JsonDict, version: str = "v1") -> None:
    """Default a validating or mutating policy, the same way in all versions."""
    spec = document["spec"]
    spec.setdefault("failurePolicy", FAIL)
    if "matchConstraints" in spec:
        _default_match_resources(spec["matchConstraints"])


def default_binding(document: JsonDict, version: str) -> None:
    """v1alpha1 has a default that the others have not."""
    spec = document["spec"]
    if "matchResources" in spec:
        _default_match_resources(spec["matchResources"])
    if version == "v1alpha1" and "paramRef" in spec:
        spec["paramRef"].setdefault("parameterNotFoundAction", DENY)


def _default_match_resources(match: JsonDict) -> None:
    match.setdefault("matchPolicy", EQUIVALENT)
    _default_selectors(match)
    for rules in ("resourceRules", "excludeResourceRules"):
        _default_scopes(match, rules)


def _default_selectors(holder: dict[str, object]) -> None:
    holder.setdefault("namespaceSelector", {})
    holder.setdefault("objectSelector", {})


def _default_scopes(holder: JsonDict, rules: str) -> None:
    for rule in holder.get(rules, ()):
        rule.setdefault("scope", ALL_SCOPES)


def default_validating_webhooks(document: JsonDict, version: str) -> None:
    for webhook in document.get("webhooks", ()):
        _default_webhook(webhook, version)


def default_mutating_webhooks(document: JsonDict, version: str) -> None:
    for webhook in document.get("webhooks", ()):
        _default_webhook(webhook, version)
        webhook.setdefault("reinvocationPolicy", "Never")


def _default_webhook(webhook: JsonDict, version: str) -> None:
    old = version == "v1beta1"
    for field, value in (_WEBHOOK_V1BETA1 if old else _WEBHOOK).items():
        if webhook.get(field) is None:
            webhook[field] = value
    if old and not webhook.get("admissionReviewVersions"):
        webhook["admissionReviewVersions"] = ["v1beta1"]
    _default_selectors(webhook)
    _default_scopes(webhook, "rules")
    service = webhook["clientConfig"].get("service")
    if service is not None:
        service.setdefault("port", HTTPS_PORT)


# --- Typed documents ---------------------------------------------------------
#
# Documents to typed objects: what `decode` has cleaned and defaulted, as frozen data.
#
# One function per kind, small ones for the parts that kinds share. The documents have been
# through their Go struct, so values are of the right types and required members are there.


def _param_kind(kind: JsonObject | None) -> registration.ParamKind | None:
    if kind is None:
        return None
    return registration.ParamKind(kind.get("apiVersion", ""), kind.get("kind", ""))


def _match_conditions(items: Iterable[JsonObject]) -> tuple[registration.MatchCondition, ...]:
    return tuple(registration.MatchCondition(c["name"], c["expression"]) for c in items)


def _variables(items: Iterable[JsonObject]) -> tuple[registration.Variable, ...]:
    return tuple(registration.Variable(v["name"], v["expression"]) for v in items)


def _validation(data: JsonObject) -> registration.Validation:
    return registration.Validation(
        data["expression"],
        data.get("message", ""),
        data.get("reason"),
        data.get("messageExpression", ""),
    )


def policy_from(document: JsonObject) -> registration.ValidatingAdmissionPolicy:
    spec = document["spec"]
    return registration.ValidatingAdmissionPolicy(
        metadata=document["metadata"],
        status=document.get("status", {}),
        spec=registration.PolicySpec(
            param_kind=_param_kind(spec.get("paramKind")),
            match_constraints=_match_resources(spec.get("matchConstraints")),
            validations=tuple(map(_validation, spec.get("validations", ()))),
            failure_policy=spec.get("failurePolicy"),
            audit_annotations=tuple(
                registration.AuditAnnotation(a["key"], a["valueExpression"])
                for a in spec.get("auditAnnotations", ())
            ),
            match_conditions=_match_conditions(spec.get("matchConditions", ())),
            variables=_variables(spec.get("variables", ())),
        ),
    )


def mutating_policy_from(document: JsonObject) -> registration.MutatingAdmissionPolicy:
    spec = document["spec"]
    return registration.MutatingAdmissionPolicy(
        metadata=document["metadata"],
        spec=registration.MutatingPolicySpec(
            param_kind=_param_kind(spec.get("paramKind")),
            match_constraints=_match_resources(spec.get("matchConstraints")),
            variables=_variables(spec.get("variables", ())),
            mutations=tuple(map(_mutation, spec.get("mutations", ()))),
            failure_policy=spec.get("failurePolicy"),
            match_conditions=_match_conditions(spec.get("matchConditions", ())),
            reinvocation_policy=spec.get("reinvocationPolicy", ""),
        ),
    )


def _mutation(data: JsonObject) -> registration.Mutation:
    return registration.Mutation(
        data.get("patchType", ""),
        _expression(data.get("applyConfiguration")),
        _expression(data.get("jsonPatch")),
    )


def _expression(member: JsonObject | None) -> str | None:
    return None if member is None else str(member.get("expression", ""))


def binding_from(document: JsonObject) -> registration.ValidatingAdmissionPolicyBinding:
    return registration.ValidatingAdmissionPolicyBinding(
        document["metadata"], _binding_spec(document["spec"])
    )


def mutating_binding_from(document: JsonObject) -> registration.MutatingAdmissionPolicyBinding:
    return registration.MutatingAdmissionPolicyBinding(
        document["metadata"], _binding_spec(document["spec"])
    )


def _binding_spec(spec: JsonObject) -> registration.BindingSpec:
    ref = spec.get("paramRef")
    return registration.BindingSpec(
        policy_name=spec.get("policyName", ""),
        param_ref=None
        if ref is None
        else registration.ParamRef(
            ref.get("name", ""),
            ref.get("namespace", ""),
            ref.get("selector"),
            ref.get("parameterNotFoundAction"),
        ),
        match_resources=_match_resources(spec.get("matchResources")),
        validation_actions=tuple(spec.get("validationActions", ())),
    )


def validating_webhooks_from(document: JsonObject) -> registration.WebhookConfiguration:
    return registration.WebhookConfiguration(document["metadata"], _webhooks(document))


def mutating_webhooks_from(document: JsonObject) -> registration.WebhookConfiguration:
    return registration.WebhookConfiguration(
        document["metadata"], _webhooks(document), mutating=True
    )


def _webhooks(document: JsonObject) -> tuple[registration.Webhook, ...]:
    return tuple(map(_webhook, document.get("webhooks", ())))


def _webhook(data: JsonObject) -> registration.Webhook:
    return registration.Webhook(
        name=data["name"],
        client_config=decode_client_config(data["clientConfig"]),
        rules=tuple(map(_rule, data.get("rules", ()))),
        failure_policy=data.get("failurePolicy"),
        match_policy=data.get("matchPolicy"),
        namespace_selector=data.get("namespaceSelector"),
        object_selector=data.get("objectSelector"),
        side_effects=data.get("sideEffects"),
        timeout_seconds=data.get("timeoutSeconds"),
        admission_review_versions=tuple(data.get("admissionReviewVersions") or ()),
        match_conditions=_match_conditions(data.get("matchConditions", ())),
        reinvocation_policy=data.get("reinvocationPolicy"),
    )


def decode_client_config(config: JsonObject) -> registration.WebhookClientConfig:
    """Return where a webhook is, of admission or of conversion, as a valid configuration says
    it."""
    service = config.get("service")
    return registration.WebhookClientConfig(
        url=config.get("url"),
        service=None
        if service is None
        else registration.ServiceReference(
            service["namespace"], service["name"], service.get("path"), service.get("port")
        ),
        ca_bundle=config.get("caBundle", ""),
    )


def _match_resources(match: JsonObject | None) -> registration.MatchResources | None:
    if match is None:
        return None
    return registration.MatchResources(
        namespace_selector=match.get("namespaceSelector"),
        object_selector=match.get("objectSelector"),
        resource_rules=tuple(map(_rule, match.get("resourceRules", ()))),
        exclude_resource_rules=tuple(map(_rule, match.get("excludeResourceRules", ()))),
        match_policy=match.get("matchPolicy"),
    )


def _rule(rule: JsonObject) -> registration.Rule:
    return registration.Rule(
        operations=tuple(rule.get("operations", ())),
        api_groups=tuple(rule.get("apiGroups", ())),
        api_versions=tuple(rule.get("apiVersions", ())),
        resources=tuple(rule.get("resources", ())),
        scope=rule.get("scope"),
        resource_names=tuple(rule.get("resourceNames", ())),
    )


# --- Registration kinds ------------------------------------------------------
#
# The six kinds: how each is defaulted and read, in which versions it exists.
#
# `versions` are those that have the kind at all, newest first: older ones are input only. Which
# of them a server of 1.36 serves, and from which one it stores, is in `celadon.kube`'s
# resources.


@dataclass(frozen=True, slots=True)
class RegistrationKind:
    """Describes a kind of the registration group. `generation_fields` are the top-level members
    whose change makes a new generation."""

    kind: str
    resource: str
    versions: tuple[str, ...]
    default: Callable[[JsonDict, str], None]
    typed: Callable[[JsonObject], registration.RegistrationObject]
    """Whether an empty list is another value than none."""


_WEBHOOK_VERSIONS: Final = ("v1", "v1beta1")

KINDS: Final = (
    RegistrationKind(
        registration.POLICY_KIND,
        registration.POLICY_RESOURCE,
        registration.VERSIONS,
        default_policy,
        policy_from,
    ),
    RegistrationKind(
        registration.BINDING_KIND,
        registration.BINDING_RESOURCE,
        registration.VERSIONS,
        default_binding,
        binding_from,
    ),
    RegistrationKind(
        registration.MUTATING_POLICY_KIND,
        "mutatingadmissionpolicies",
        registration.VERSIONS,
        default_policy,
        mutating_policy_from,
    ),
    RegistrationKind(
        registration.MUTATING_BINDING_KIND,
        "mutatingadmissionpolicybindings",
        registration.VERSIONS,
        default_binding,
        mutating_binding_from,
    ),
    RegistrationKind(
        registration.VALIDATING_WEBHOOKS_KIND,
        "validatingwebhookconfigurations",
        _WEBHOOK_VERSIONS,
        default_validating_webhooks,
        validating_webhooks_from,
    ),
    RegistrationKind(
        registration.MUTATING_WEBHOOKS_KIND,
        "mutatingwebhookconfigurations",
        _WEBHOOK_VERSIONS,
        default_mutating_webhooks,
        mutating_webhooks_from,
    ),
)
"""The kinds of the group that are policies, bindings or webhook configurations."""

BY_KIND: Final[Mapping[str, RegistrationKind]] = {kind.kind: kind for kind in KINDS}

T = TypeVar("T", covariant=True)


class RegistrationError(ValueError):
    """Says that a document is not an object of its kind; the text is the API server's. `path` leads
    to the value that does not fit, `why` is the decoder's part of the text."""

    def __init__(self, kind: str, version: str, error: schemas.DecodeError) -> None:
        super().__init__(f'{kind} in version "{version}" cannot be handled as a {kind}: {error}')
        self.path = error.path
        self.why = str(error)


@dataclass(frozen=True, slots=True)
class Decoded(Generic[T]):
    """Holds a registration object and its document. `document` has apiVersion and kind, defaults,
    and nothing unknown or empty."""

    value: T
    document: JsonDict
    unknown_fields: tuple[schemas.StrayField, ...] = ()


def decode_object(
    document: object, kind: str, version: str = "v1"
) -> Decoded[registration.RegistrationObject]:
    """Return a document of a registration kind, decoded and defaulted. `version` is the API version
    of the document, without the group."""
    entry = BY_KIND[kind]
    gvk = struct_of(kind, version)
    try:
        decoded = schemas.decode_kind(document, gvk)
        if decoded is not None:
            decoded[1].complete(decoded[0])
    except schemas.DecodeError as error:
        raise RegistrationError(kind, version, error) from error
    if decoded is None:
        unknown = schemas.DecodeError(f"Kubernetes {releases.current_release()} does not have it")
        raise RegistrationError(kind, version, unknown)
    clean, _, is_exact = decoded
    clean["apiVersion"] = f"{ADMISSION_REGISTRATION}/{version}"
    clean["kind"] = kind
    entry.default(clean, version)
    strays = () if is_exact else tuple(schemas.strict_field_errors(Document(document), gvk))
    return Decoded(entry.typed(clean), clean, strays)


def struct_of(kind: str, version: str) -> GroupVersionKind:
    """Return the kind whose Go struct reads it: for a version that the release does not serve, its
    best one; all have the same fields."""
    every = (
        GroupVersionKind(ADMISSION_REGISTRATION, api_version, kind)
        for api_version in (version, *registration.VERSIONS)
    )
    return next(
        (gvk for gvk in every if schemas.codec_for(gvk) is not None),
        GroupVersionKind(ADMISSION_REGISTRATION, version, kind),
    )


def decode_policy(
    document: object, version: str = "v1"
) -> Decoded[registration.ValidatingAdmissionPolicy]:
    """Return a ValidatingAdmissionPolicy, defaulted; RegistrationError if the document is none."""
    decoded = decode_object(document, registration.POLICY_KIND, version)
    return cast("Decoded[registration.ValidatingAdmissionPolicy]", decoded)


def decode_binding(
    document: object, version: str = "v1"
) -> Decoded[registration.ValidatingAdmissionPolicyBinding]:
    """Return a ValidatingAdmissionPolicyBinding, defaulted; RegistrationError if the document is
    none."""
    decoded = decode_object(document, registration.BINDING_KIND, version)
    return cast("Decoded[registration.ValidatingAdmissionPolicyBinding]", decoded)


def decode_webhooks(
    document: object, *, mutating: bool, version: str = "v1"
) -> Decoded[registration.WebhookConfiguration]:
    """Return a Validating- or MutatingWebhookConfiguration, defaulted; RegistrationError if the
    document is none."""
    kind = (
        registration.MUTATING_WEBHOOKS_KIND if mutating else registration.VALIDATING_WEBHOOKS_KIND
    )
    decoded = decode_object(document, kind, version)
    return cast("Decoded[registration.WebhookConfiguration]", decoded)


def converted(document: JsonObject, version: str) -> dict[str, object]:
    """Return a decoded document in another version: no field has another name or is missing
    there."""
    return {**document, "apiVersion": f"{ADMISSION_REGISTRATION}/{version}"}


# --- Remembered decoding -----------------------------------------------------
#
# Stored objects, decoded once for as long as their specs stay.
#
# Who keeps policies current sees them again and again: with each change of any of them, and of
# their statuses. One whose spec is what it was comes out as the very same value, so that an
# engine does not compile it again.

AnyKind = TypeVar("AnyKind")


class RememberedDecoding(Generic[AnyKind]):
    """Decodes the objects of one kind, and remembers them. `problems` are the texts about those
    that could not be decoded the last time, by name: they were stored by another release, and take
    no part."""

    def __init__(self, decode: Callable[[JsonObject], AnyKind]) -> None:
        self._decode = decode
        self._known: dict[str, tuple[Any, AnyKind | None, str]] = {}

    def values(self, objects: Iterable[JsonObject]) -> list[AnyKind]:
        """Return the decoded values of objects with different names, in their order."""
        result: dict[str, tuple[object, AnyKind | None, str]] = {}
        for obj in objects:
            name, spec = metadata.name(obj), obj.get("spec")
            cached = self._known.get(name)
            if cached is None or (cached[0] is not spec and cached[0] != spec):
                result[name] = (spec, *self._decoded(obj))
            else:
                result[name] = (spec, *cached[1:])
        self._known = result
        return [value for _, value, _ in result.values() if value is not None]

    @property
    def problems(self) -> dict[str, str]:
        """Return the texts about undecodable objects by the names of the objects."""
        return {name: problem for name, (_, _, problem) in self._known.items() if problem}

    def _decoded(self, obj: JsonObject) -> tuple[AnyKind | None, str]:
        try:
            return self._decode(obj), ""
        except RegistrationError as error:
            return None, str(error)


# --- Kinds of other releases -------------------------------------------------


def missing_kind(gvk: GroupVersionKind, version: str, *, also_gone: bool = False) -> str:
    """Return what a client says of a version of a kind that a release does not know yet, or
    (`also_gone`) not any more; empty if it does."""
    if gvk in _known_kinds(version):
        return ""
    known_releases = (
        f"{releases.OLDEST_RELEASE[0]}.{minor}"
        for minor in range(releases.OLDEST_RELEASE[1], _MINORS_END)
    )
    if not any(
        gvk in _known_kinds(release)
        for release in (known_releases if also_gone else (releases.DEFAULT,))
    ):
        return ""
    return f'no matches for kind "{gvk.kind}" in version "{gvk.api_version}"'


_MINORS_END: Final = releases.LATEST_RELEASE[1] + 1


@functools.cache
def _known_kinds(version: str) -> frozenset[GroupVersionKind]:
    with releases.answering_as(version):
        return frozenset(resource.gvk for resource in known_resources(all_versions=True))
