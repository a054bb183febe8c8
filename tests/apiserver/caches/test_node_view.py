"""Which objects belong to which nodes, as kube-apiserver's authorizer of nodes has it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from celadon.apiserver.caches.store_informers import NodeIndex, NodeView, Related
from celadon.apiserver.object_store import collection_prefix
from celadon.kube import GroupVersionResource
from celadon.storage import delete
from tests.apiserver.serving import Shelf, resource


def pod(name: str = "p", node: str = "n", *, uid: str = "u", **spec: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": "ns", "uid": uid}
    return {"kind": "Pod", "metadata": meta, "spec": {"nodeName": node, **spec}}


def volume(name: str, claim: str, **source: Any) -> dict[str, Any]:
    spec = {"claimRef": {"namespace": "ns", "name": claim}, **source}
    return {"kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec}


def claiming(claim: str) -> list[dict[str, Any]]:
    return [{"name": "v", "persistentVolumeClaim": {"claimName": claim}}]


def secret(name: str, namespace: str = "ns") -> Related:
    return "secrets", namespace, name


CONTAINER = {
    "envFrom": [{"configMapRef": {"name": "m"}}],
    "env": [{"valueFrom": {"secretKeyRef": {"name": "s"}}}],
}
TEMPLATE = {"name": "w", "ephemeral": {"volumeClaimTemplate": {}}}
CLAIMED = {
    **pod(resourceClaims=[{"name": "a", "resourceClaimName": "r"}, {"name": "b"}]),
    "status": {"resourceClaimStatuses": [{"name": "b", "resourceClaimName": "made"}]},
}
MIRROR = pod(containers=[CONTAINER])
MIRROR["metadata"]["annotations"] = {"kubernetes.io/config.mirror": "x"}
CSI = {
    "nodeStageSecretRef": {"name": "stage", "namespace": "x"},
    "controllerExpandSecretRef": {"name": "expand", "namespace": "x"},
}
ON_N = pod(volumes=claiming("c"))


@pytest.mark.parametrize(
    ("objects", "related", "is_needed"),
    [
        ([pod()], ("pods", "ns", "p"), True),
        ([pod(node="m")], ("pods", "ns", "p"), False),
        ([pod(node="")], ("pods", "ns", "p"), False),
        ([pod(serviceAccountName="a")], ("serviceaccounts", "ns", "a"), True),
        ([pod(containers=[CONTAINER])], secret("s"), True),
        ([pod(containers=[CONTAINER])], secret("s", "other"), False),
        ([pod(containers=[CONTAINER])], ("configmaps", "ns", "m"), True),
        ([ON_N], ("persistentvolumeclaims", "ns", "c"), True),
        ([pod(volumes=[TEMPLATE])], ("persistentvolumeclaims", "ns", "p-w"), True),
        ([CLAIMED], ("resourceclaims", "ns", "r"), True),
        ([CLAIMED], ("resourceclaims", "ns", "made"), True),
        ([MIRROR], ("pods", "ns", "p"), True),
        ([MIRROR], secret("s"), False),
        ([volume("v", "c"), ON_N], ("persistentvolumes", "", "v"), True),
        ([volume("v", "d"), ON_N], ("persistentvolumes", "", "v"), False),
        ([ON_N, volume("v", "c", iscsi={"secretRef": {"name": "i"}})], secret("i"), True),
        ([ON_N, volume("v", "c", cinder={"secretRef": {"name": "i"}})], secret("i"), False),
        ([ON_N, volume("v", "c", csi=CSI)], secret("stage", "x"), True),
        ([ON_N, volume("v", "c", csi=CSI)], secret("expand", "x"), False),
        ([ON_N, volume("v", "c", azureFile={"secretName": "z"})], secret("z"), True),
        ([{"kind": "ResourceSlice", "metadata": {"name": "r"}, "nodeName": "n"}],
         ("resourceslices", "", "r"), True),
        ([{"kind": "VolumeAttachment", "metadata": {"name": "a"}, "spec": {"nodeName": "n"}}],
         ("volumeattachments", "", "a"), True),
    ],
)  # fmt: skip
def test_what_is_needed(
    objects: list[dict[str, Any]], related: Related, *, is_needed: bool
) -> None:
    index = NodeIndex(objects)
    assert index.has("n", related) is is_needed
    for obj in objects:
        index.remove(obj)
    assert not index.has("n", related)
    assert not any((index._nodes, index._needs, index._claims, index._volumes))


def test_changes() -> None:
    index = NodeIndex([pod(), pod("q", volumes=claiming("c")), volume("v", "c")])
    index.put(pod(containers=[CONTAINER]))
    assert not index.has("n", secret("s")), "of a pod that stays where it is nothing else changes"
    index.put(pod(uid="later", containers=[CONTAINER]))
    assert index.has("n", secret("s"))
    index.put(pod("r", containers=[CONTAINER]))
    index.remove(pod())
    assert index.has("n", secret("s")), "another pod needs it, too"
    index.put(volume("v", "d", iscsi={"secretRef": {"name": "i"}}))
    assert not index.has("n", ("persistentvolumes", "", "v"))
    index.put(volume("v", "c"))
    assert index.has("n", ("persistentvolumes", "", "v"))
    assert not index.has("n", secret("i"))


def test_what_is_stored_counts_at_once() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        view = NodeView(shelf.objects)
        pods = resource(GroupVersionResource("", "v1", "pods"))
        assert not view.has("n", "pods", "ns", "p")
        stored = await shelf.objects.create(pods, "ns", "p", {"apiVersion": "v1", **pod()})
        assert stored is not None
        assert view.has("n", "pods", "ns", "p")
        shelf.store.submit(delete(f"{collection_prefix(pods)}ns/p")).result()
        assert not view.has("n", "pods", "ns", "p")

    asyncio.run(scenario())
