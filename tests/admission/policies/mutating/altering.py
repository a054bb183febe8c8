"""Short forms of what the tests of mutating policies are made of."""

from __future__ import annotations

from typing import Any

from celadon.admission import Request, World
from celadon.admission.policies.mutating import MutatingEngine, PolicyRounds
from celadon.admission.registration import (
    MutatingAdmissionPolicy,
    MutatingAdmissionPolicyBinding,
    decode_object,
)
from celadon.kube.fieldmanager import MutatedKinds
from tests.admission.building import RULE, WORLD

Registered = MutatingAdmissionPolicy | MutatingAdmissionPolicyBinding


def apply(text: str) -> dict[str, Any]:
    return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}


def patch(text: str) -> dict[str, Any]:
    return {"patchType": "JSONPatch", "jsonPatch": {"expression": text}}


def label(name: str, value: str = "'set'") -> dict[str, Any]:
    return apply(f"Object{{metadata: Object.metadata{{labels: {{'{name}': {value}}}}}}}")


def policy(name: str, *mutations: Any, reinvokes: bool = False, **spec: Any) -> Any:
    spec.setdefault("matchConstraints", {"resourceRules": [RULE]})
    spec["mutations"] = list(mutations)
    spec["reinvocationPolicy"] = "IfNeeded" if reinvokes else "Never"
    found = decode_object({"metadata": {"name": name}, "spec": spec}, "MutatingAdmissionPolicy")
    return found.value


def binding(name: str, policy_name: str = "p", **spec: Any) -> Any:
    document = {"metadata": {"name": name}, "spec": {"policyName": policy_name, **spec}}
    return decode_object(document, "MutatingAdmissionPolicyBinding").value


def engine(*registered: Any) -> MutatingEngine:
    """Of these; each policy has a binding of its name if there are none at all."""
    policies = [one for one in registered if isinstance(one, MutatingAdmissionPolicy)]
    bindings = [one for one in registered if isinstance(one, MutatingAdmissionPolicyBinding)]
    return MutatingEngine(policies, bindings or [binding(f"{p.name}-b", p.name) for p in policies])


def rounds(*registered: Any, world: World = WORLD) -> PolicyRounds:
    return engine(*registered).rounds(world, MutatedKinds())


def mutated(asked: Request, *registered: Any, world: World = WORLD) -> dict[str, Any]:
    """The object after one round."""
    made = rounds(*registered, world=world).run(asked, 0)
    assert made is not None
    return dict(made)
