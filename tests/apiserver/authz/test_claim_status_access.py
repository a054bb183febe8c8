"""Who may write which part of a ResourceClaim's status."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.authn.identities import NODE_NAME
from celadon.apiserver.authz.escalation_checks import claim_status_errors
from celadon.kube import Attributes, Ruling, User

DRIVER = User("system:serviceaccount:kube-system:driver", (), "", {NODE_NAME: ("n",)})
ON_NODE = {
    "nodeSelector": {
        "nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}
        ]
    }
}
ANYWHERE: dict[str, Any] = {"devices": {}}


class Allowed:
    """Allows some verbs on parts of claims: `binding`, `driver/gpu`."""

    def __init__(self, *allowed: tuple[str, str]) -> None:
        self.allowed = allowed

    def authorize(self, asked: Attributes) -> tuple[Ruling, str, str | None]:
        part = f"{asked.subresource}/{asked.name}" if asked.name else asked.subresource
        is_allowed = (asked.verb, part) in self.allowed
        return (Ruling.ALLOW if is_allowed else Ruling.NO_OPINION), "", None


def device(driver: str, **more: Any) -> dict[str, Any]:
    return {"driver": driver, "pool": "p", "device": "d", **more}


def claim(allocation: Any = None, *devices: dict[str, Any], **status: Any) -> dict[str, Any]:
    return {"status": {"allocation": allocation, "devices": list(devices), **status}}


BINDING = ("update", "binding")
GPU_HERE = ("associated-node:update", "driver/gpu")
GPU_ANYWHERE = ("arbitrary-node:update", "driver/gpu")


@pytest.mark.parametrize(
    ("old", "new", "allowed", "fields"),
    [
        (claim(), claim(), (), []),
        (claim(), claim(ANYWHERE), (), ["status.allocation"]),
        (claim(), claim(ANYWHERE), (BINDING,), []),
        (claim(ANYWHERE), claim(ANYWHERE, reservedFor=[{"name": "x"}]), (), ["status.allocation"]),
        (claim(ANYWHERE), claim(ANYWHERE, reservedFor=[]), (), []),
        (claim(ANYWHERE), claim(ANYWHERE, device("gpu")), (GPU_HERE,), ["status.devices"]),
        (claim(ANYWHERE), claim(ANYWHERE, device("gpu")), (GPU_ANYWHERE,), []),
        (claim(ON_NODE), claim(ON_NODE, device("gpu")), (GPU_HERE,), []),
        (claim(ON_NODE), claim(ON_NODE, device("gpu")), (GPU_ANYWHERE,), []),
        (claim(ON_NODE, device("gpu")), claim(ON_NODE), (), ["status.devices"]),
        (claim(ON_NODE, device("gpu", data=1)), claim(ON_NODE, device("gpu", data=1)), (), []),
        (claim(ON_NODE, device("gpu", data=1)), claim(ON_NODE, device("gpu", data=2)), (),
         ["status.devices"]),
        (claim(ON_NODE, device("gpu")), claim(ON_NODE, device("nic")), (GPU_HERE,),
         ["status.devices"]),
        (claim(ON_NODE, device("gpu")), claim(), (BINDING,), []),
    ],
)  # fmt: skip
def test_what_is_asked(
    old: dict[str, Any],
    new: dict[str, Any],
    allowed: tuple[tuple[str, str], ...],
    fields: list[str],
) -> None:
    errors = claim_status_errors(request(), Allowed(*allowed), new, old)
    assert [str(one.path) for one in errors] == fields


@pytest.mark.parametrize(
    "terms", [None, [], [{}], [{"matchFields": None}], [{"matchFields": [{"values": None}]}]]
)
def test_selectors_that_say_nothing(terms: Any) -> None:
    nowhere = claim({"nodeSelector": {"nodeSelectorTerms": terms}})
    errors = claim_status_errors(request(), Allowed(BINDING), nowhere, claim())
    assert [*errors] == []
    used = claim(nowhere["status"]["allocation"], device("gpu"))
    errors = claim_status_errors(request(), Allowed(GPU_HERE), used, nowhere)
    assert [str(one.path) for one in errors] == ["status.devices"]


def request(user: User = DRIVER) -> Attributes:
    return Attributes(
        user,
        "update",
        resource_request=True,
        group="resource.k8s.io",
        version="v1",
        resource="resourceclaims",
        subresource="status",
        namespace="a",
        name="c",
    )


def test_what_is_said() -> None:
    found = list(claim_status_errors(request(), Allowed(), claim(ON_NODE, device("gpu")), claim()))
    who = 'User "system:serviceaccount:kube-system:driver" cannot'
    assert [one.body for one in found] == [
        "Forbidden: changing status.allocation or status.reservedFor requires "
        'resource="resourceclaims/binding", verb="update" permission: '
        f"resourceclaims.resource.k8s.io is forbidden: {who} update resource "
        '"resourceclaims/binding" in API group "resource.k8s.io" at the cluster scope',
        "Forbidden: changing status.devices requires "
        'resource="resourceclaims/driver", '
        'verb="[associated-node:update arbitrary-node:update]" permission: '
        f'resourceclaims.resource.k8s.io "gpu" is forbidden: {who} associated-node:update '
        'resource "resourceclaims/driver" in API group "resource.k8s.io" in the namespace "a"',
    ]
