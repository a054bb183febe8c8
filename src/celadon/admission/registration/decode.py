"""JSON to policies and bindings: unknown fields, wrong types, what is dropped when empty.

`decode_policy` and `decode_binding` pass the document through the kind's Go struct, as the API
server does, default it for its version and give the typed object, the same object as JSON, and the
paths of unknown fields. The API server only warns about unknown fields unless told otherwise;
callers decide. All versions of the API have the same fields; v1 stands for each of them.

A value of the wrong type ends the decoding with `RegistrationError`, whose text says where it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from celadon.admission.registration import types as registration
from celadon.admission.registration.defaults import default_binding, default_policy
from celadon.kube import DecodeError, GroupVersionKind, round_trip, unknown_fields

T = TypeVar("T")


class RegistrationError(ValueError):
    """The document is not an object of its kind; the text is the API server's."""

    def __init__(self, kind: str, version: str, why: str) -> None:
        super().__init__(f'{kind} in version "{version}" cannot be handled as a {kind}: {why}')


@dataclass(frozen=True, slots=True)
class Decoded(Generic[T]):
    """`document` has apiVersion and kind, defaults, and nothing unknown or empty."""

    value: T
    document: dict[str, Any]
    unknown_fields: tuple[str, ...] = ()


def decode_policy(
    document: Any, version: str = "v1"
) -> Decoded[registration.ValidatingAdmissionPolicy]:
    """`version` is the API version of the document, without the group."""
    clean, unknown = _through_struct(document, registration.POLICY_KIND, version)
    default_policy(clean)
    return Decoded(policy_from(clean), clean, unknown)


def decode_binding(
    document: Any, version: str = "v1"
) -> Decoded[registration.ValidatingAdmissionPolicyBinding]:
    """`version` is the API version of the document, without the group."""
    clean, unknown = _through_struct(document, registration.BINDING_KIND, version)
    default_binding(clean, version)
    return Decoded(binding_from(clean), clean, unknown)


def _through_struct(
    document: Any, kind: str, version: str
) -> tuple[dict[str, Any], tuple[str, ...]]:
    gvk = GroupVersionKind(registration.GROUP, "v1", kind)
    try:
        clean = round_trip(document, gvk)
    except DecodeError as error:
        raise RegistrationError(kind, version, str(error)) from error
    assert clean is not None, f"{gvk} is built in"
    clean["apiVersion"] = f"{registration.GROUP}/{version}"
    clean["kind"] = kind
    return clean, tuple(unknown_fields(document, gvk))


def policy_from(document: Mapping[str, Any]) -> registration.ValidatingAdmissionPolicy:
    """The typed form of a decoded and defaulted document."""
    spec = document["spec"]
    kind = spec.get("paramKind")
    return registration.ValidatingAdmissionPolicy(
        metadata=document["metadata"],
        status=document.get("status", {}),
        spec=registration.PolicySpec(
            param_kind=None
            if kind is None
            else registration.ParamKind(kind.get("apiVersion", ""), kind.get("kind", "")),
            match_constraints=_match_resources(spec.get("matchConstraints")),
            validations=tuple(
                registration.Validation(
                    v["expression"],
                    v.get("message", ""),
                    v.get("reason"),
                    v.get("messageExpression", ""),
                )
                for v in spec.get("validations", ())
            ),
            failure_policy=spec.get("failurePolicy"),
            audit_annotations=tuple(
                registration.AuditAnnotation(a["key"], a["valueExpression"])
                for a in spec.get("auditAnnotations", ())
            ),
            match_conditions=tuple(
                registration.MatchCondition(c["name"], c["expression"])
                for c in spec.get("matchConditions", ())
            ),
            variables=tuple(
                registration.Variable(v["name"], v["expression"]) for v in spec.get("variables", ())
            ),
        ),
    )


def binding_from(document: Mapping[str, Any]) -> registration.ValidatingAdmissionPolicyBinding:
    """The typed form of a decoded and defaulted document."""
    spec = document["spec"]
    ref = spec.get("paramRef")
    return registration.ValidatingAdmissionPolicyBinding(
        metadata=document["metadata"],
        spec=registration.BindingSpec(
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
        ),
    )


def _match_resources(match: Mapping[str, Any] | None) -> registration.MatchResources | None:
    if match is None:
        return None
    return registration.MatchResources(
        namespace_selector=match.get("namespaceSelector"),
        object_selector=match.get("objectSelector"),
        resource_rules=tuple(_rule(r) for r in match.get("resourceRules", ())),
        exclude_resource_rules=tuple(_rule(r) for r in match.get("excludeResourceRules", ())),
        match_policy=match.get("matchPolicy"),
    )


def _rule(rule: Mapping[str, Any]) -> registration.Rule:
    return registration.Rule(
        operations=tuple(rule.get("operations", ())),
        api_groups=tuple(rule.get("apiGroups", ())),
        api_versions=tuple(rule.get("apiVersions", ())),
        resources=tuple(rule.get("resources", ())),
        scope=rule.get("scope"),
        resource_names=tuple(rule.get("resourceNames", ())),
    )
