"""Short forms of what the tests of the engine are made of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.policies.validating import Engine
from celadon.admission.registration.decoding import decode_binding, decode_policy
from celadon.admission.registration.registration_types import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
)
from celadon.admission.request import ADMIN, Operation, Request, default_options
from celadon.admission.verdict import Verdict
from celadon.kube import GroupVersionKind, GroupVersionResource
from celadon.kube.authorization import User

CONFIG_MAPS = GroupVersionResource("", "v1", "configmaps")
CONFIG_MAP = GroupVersionKind("", "v1", "ConfigMap")
RULE = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["*"],
    "resources": ["configmaps"],
}
WORLD = ObjectWorld(implicit_namespaces=True)


def policy_document(name: str = "p", **spec: Any) -> dict[str, Any]:
    spec.setdefault("matchConstraints", {"resourceRules": [RULE]})
    if "auditAnnotations" not in spec:
        spec.setdefault("validations", [{"expression": "false", "message": "no"}])
    return {"metadata": {"name": name}, "spec": spec}


def policy(name: str = "p", **spec: Any) -> ValidatingAdmissionPolicy:
    return decode_policy(policy_document(name, **spec)).value


def binding(
    name: str = "b", policy_name: str = "p", *actions: str, **spec: Any
) -> ValidatingAdmissionPolicyBinding:
    spec = {"policyName": policy_name, "validationActions": list(actions or ("Deny",)), **spec}
    return decode_binding({"metadata": {"name": name}, "spec": spec}).value


def config_map(name: str = "c", **members: Any) -> dict[str, Any]:
    labels = members.pop("labels", None)
    metadata: dict[str, Any] = {"name": name, "namespace": "ns"}
    if labels:
        metadata["labels"] = labels
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, **members}


def request(
    obj: Mapping[str, Any] | None = None,
    operation: Operation = Operation.CREATE,
    user: User = ADMIN,
    **attributes: Any,
) -> Request:
    """A request about a ConfigMap, unless `attributes` say otherwise."""
    if obj is None and operation is not Operation.DELETE:
        obj = config_map()
    given: dict[str, Any] = {
        "kind": CONFIG_MAP,
        "resource": CONFIG_MAPS,
        "name": "c",
        "namespace": "ns",
        "options": default_options(operation),
    }
    given.update(attributes)
    return Request(operation=operation, object=obj, user=user, **given)


def judge(
    *registered: ValidatingAdmissionPolicy | ValidatingAdmissionPolicyBinding,
    asked: Request | None = None,
    world: ObjectWorld = WORLD,
) -> Verdict:
    """The verdict of an engine with these; a policy `p` without binding gets one that denies."""
    policies = [one for one in registered if isinstance(one, ValidatingAdmissionPolicy)]
    bindings = [one for one in registered if isinstance(one, ValidatingAdmissionPolicyBinding)]
    engine = Engine(policies, bindings or [binding()])
    return engine.review(asked or request(), world)


def refusal(verdict: Verdict) -> str:
    """The part of a denial after `denied request: `."""
    return verdict.message.partition(" denied request: ")[2]
