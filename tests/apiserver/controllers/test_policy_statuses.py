"""What is written of a policy whose types were checked, and how many are checked at once."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from celadon.apiserver.controllers.controller_loops import Change
from celadon.apiserver.controllers.policy_and_quota_status import PolicyTypeChecks, merged_status
from celadon.apiserver.loop_offloading import BRIEF_BYTES
from celadon.apiserver.object_store import StoredObject
from celadon.kube.releases import answering_as

WARNED = {"observedGeneration": 1, "typeChecking": {"expressionWarnings": [{"warning": "w"}]}}
FINE: dict[str, Any] = {"observedGeneration": 2, "typeChecking": {}}


@pytest.mark.parametrize(
    ("release", "former", "expected"),
    [
        ("1.35", {}, FINE),
        ("1.35", WARNED, {"observedGeneration": 2}),
        ("1.35", FINE, FINE),
        ("1.36", WARNED, FINE),
    ],
)
def test_warnings_that_are_gone_by_release(
    release: str, former: dict[str, Any], expected: dict[str, Any]
) -> None:
    with answering_as(release):
        assert merged_status(former, FINE) == expected


def policy(name: str) -> dict[str, Any]:
    return {"kind": "ValidatingAdmissionPolicy", "metadata": {"name": name, "generation": 1}}


class Policies:
    """Stored policies, and what their statuses become."""

    prefix = "/policies/"

    def __init__(self, sizes: dict[str, int]) -> None:
        self.stored = {name: StoredObject(policy(name), 1, size) for name, size in sizes.items()}
        self.statuses: dict[str, Any] = {}

    def get(self, name: str) -> StoredObject | None:
        return self.stored.get(name)

    async def write(self, stored: StoredObject, status: Any) -> None:
        self.statuses[stored.object["metadata"]["name"]] = status


@pytest.mark.parametrize(
    ("sizes", "works"),
    [
        ({"a": 100, "b": 100, "c": 100}, [["a", "b", "c"]]),
        ({"a": 100, "b": BRIEF_BYTES + 1, "c": 100}, [["a", "c"], ["b"]]),
        ({"a": BRIEF_BYTES + 1, "b": BRIEF_BYTES + 1}, [["a"], ["b"]]),
    ],
)
def test_brief_policies_that_wait_are_checked_with_the_first(
    sizes: dict[str, int], works: list[list[str]]
) -> None:
    """Each has the status that was found for it, whichever work found it."""
    policies, checked = Policies(sizes), list[list[str]]()

    async def aside(_: Any, objects: Any, __: Any) -> Any:
        names = [obj["metadata"]["name"] for obj in objects]
        checked.append(names)
        return [{"observedGeneration": 1, "of": name} for name in names]

    checks = PolicyTypeChecks(
        cast(Any, policies), cast(Any, list), "1.36", lambda: 1, cast(Any, aside)
    )
    for name, stored in policies.stored.items():
        assert list(checks.concerned(Change(name, None, stored.object))) == [name]

    async def reconciled() -> None:
        for name in sizes:
            await checks.reconcile(name)

    asyncio.run(reconciled())
    assert checked == works
    assert {name: status["of"] for name, status in policies.statuses.items()} == {
        name: name for name in sizes
    }


def test_a_policy_that_has_changed_since_it_was_checked_is_checked_again() -> None:
    policies, checked = Policies({"a": 100, "b": 100}), list[int]()

    async def aside(_: Any, objects: Any, __: Any) -> Any:
        checked.append(len(objects))
        return [{"observedGeneration": obj["metadata"]["generation"]} for obj in objects]

    checks = PolicyTypeChecks(
        cast(Any, policies), cast(Any, list), "1.36", lambda: 1, cast(Any, aside)
    )
    for name, stored in policies.stored.items():
        assert list(checks.concerned(Change(name, None, stored.object))) == [name]

    async def reconciled() -> None:
        await checks.reconcile("a")
        changed = policy("b")
        changed["metadata"]["generation"] = 2
        policies.stored["b"] = StoredObject(changed, 2, 100)
        await checks.reconcile("b")

    asyncio.run(reconciled())
    assert checked == [2, 1]
    assert policies.statuses["b"] == {"observedGeneration": 2}
