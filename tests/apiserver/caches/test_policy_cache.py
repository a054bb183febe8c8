"""Policies from the store."""

from __future__ import annotations

import asyncio
from typing import Any

from celadon.admission import decode_policy
from celadon.admission.static_manifests import NOTHING, StaticObjects
from celadon.apiserver.caches.policy_cache import VALIDATING, validating_view
from celadon.kube import GroupVersionResource
from tests.apiserver.serving import Shelf, resource


def stored(kind: str, name: str, spec: Any) -> dict[str, Any]:
    api_version = "admissionregistration.k8s.io/v1"
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name}, "spec": spec}


def policy(name: str, expression: str = "true") -> dict[str, Any]:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["*"],
        "resources": ["configmaps"],
    }
    spec = {
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": expression}],
    }
    return stored("ValidatingAdmissionPolicy", name, spec)


async def put(shelf: Shelf, gvr: GroupVersionResource, obj: Any) -> None:
    assert await shelf.objects.create(resource(gvr), "", obj["metadata"]["name"], obj)


def test_the_engine_changes_with_the_store_and_keeps_what_did_not_change() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        view = validating_view(shelf.objects, "1.36")
        await put(shelf, VALIDATING.policies, policy("a"))
        await put(
            shelf,
            VALIDATING.policies,
            stored("ValidatingAdmissionPolicy", "broken", {"paramKind": 3}),
        )
        first = view.engine(view.rules())
        assert [one.name for one in first.policies] == ["a"]
        assert view.engine(view.rules()) is first
        await put(shelf, VALIDATING.policies, policy("b"))
        binding = stored("ValidatingAdmissionPolicyBinding", "b", {"policyName": "b"})
        await put(shelf, VALIDATING.bindings, binding)
        second = view.engine(view.rules())
        assert [one.name for one in second.policies] == ["a", "b"]
        assert second.policies[0] is first.policies[0]

    asyncio.run(scenario())


def test_who_asks_whether_policies_have_changed_does_not_read_all_of_them() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        view = validating_view(shelf.objects, "1.36")
        view.engine(view.rules())
        before = view.rules()
        await put(shelf, VALIDATING.policies, policy("a"))
        changed = view.rules()
        assert changed is not before
        assert changed is view.rules()
        assert changed.contents.objects is None
        assert [one.name for one in view.engine(view.rules()).policies] == ["a"]
        assert changed is view.rules()

    asyncio.run(scenario())


def test_who_writes_policies_waits_for_no_engine() -> None:
    """Only static policies could see them, and none sees a review."""
    configmaps = GroupVersionResource("", "v1", "configmaps")
    reviews = GroupVersionResource("authorization.k8s.io", "v1", "subjectaccessreviews")

    async def scenario(static: StaticObjects) -> tuple[bool, ...]:
        shelf = Shelf()
        made: list[float] = []
        view = validating_view(shelf.objects, "1.36", lambda: static, made.append)
        made.clear()
        await put(shelf, VALIDATING.policies, policy("a"))
        asked = (configmaps, VALIDATING.policies, VALIDATING.bindings, reviews)
        found = tuple(view.rules_for(one) is not None for one in asked)
        assert made == []
        return found

    assert asyncio.run(scenario(NOTHING)) == (True, False, False, False)
    written = StaticObjects(objects=(decode_policy(policy("s.static.k8s.io")).value,))
    assert asyncio.run(scenario(written)) == (True, True, True, False)
