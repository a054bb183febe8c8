"""Documents to typed objects: what `decode` has cleaned and defaulted, as frozen data.

One function per kind, small ones for the parts that kinds share. The documents have been through
their Go struct, so values are of the right types and required members are there.
"""

from __future__ import annotations

from collections.abc import Iterable

from celadon.admission.registration import registration_types as registration
from celadon.kube import JsonObject


def _param_kind(kind: JsonObject | None) -> registration.ParamKind | None:
    if kind is None:
        return None
    return registration.ParamKind(kind.get("apiVersion", ""), kind.get("kind", ""))


def _match_conditions(items: Iterable[JsonObject]) -> tuple[registration.MatchCondition, ...]:
    return tuple(registration.MatchCondition(c["name"], c["expression"]) for c in items)


def _variables(items: Iterable[JsonObject]) -> tuple[registration.Variable, ...]:
    return tuple(registration.Variable(v["name"], v["expression"]) for v in items)


def _validation(item: JsonObject) -> registration.Validation:
    return registration.Validation(
        item["expression"],
        item.get("message", ""),
        item.get("reason"),
        item.get("messageExpression", ""),
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


def _mutation(item: JsonObject) -> registration.Mutation:
    return registration.Mutation(
        item.get("patchType", ""),
        _expression(item.get("applyConfiguration")),
        _expression(item.get("jsonPatch")),
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


def _webhook(item: JsonObject) -> registration.Webhook:
    return registration.Webhook(
        name=item["name"],
        client_config=_client_config(item["clientConfig"]),
        rules=tuple(map(_rule, item.get("rules", ()))),
        failure_policy=item.get("failurePolicy"),
        match_policy=item.get("matchPolicy"),
        namespace_selector=item.get("namespaceSelector"),
        object_selector=item.get("objectSelector"),
        side_effects=item.get("sideEffects"),
        timeout_seconds=item.get("timeoutSeconds"),
        admission_review_versions=tuple(item.get("admissionReviewVersions") or ()),
        match_conditions=_match_conditions(item.get("matchConditions", ())),
        reinvocation_policy=item.get("reinvocationPolicy"),
    )


def _client_config(config: JsonObject) -> registration.WebhookClientConfig:
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
