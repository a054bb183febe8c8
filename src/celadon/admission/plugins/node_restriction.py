"""NodeRestriction: what a kubelet may touch.

As k8s.io/kubernetes `plugin/pkg/admission/noderestriction`. What the difference is when a claim's
status changes too much is not told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from celadon.admission.cluster_lookups import World
from celadon.admission.plugins.certificate_plugins import UnreadableRequest, common_name
from celadon.admission.plugins.plugin_interface import CHANGES, Behaviour, forbidden
from celadon.admission.plugins.pod_plugins import config_map_names, projections, secret_names
from celadon.admission.request import Operation, Request
from celadon.kube import (
    Attributes,
    GroupResource,
    GroupVersionResource,
    JsonObject,
    Ruling,
    StatusError,
    User,
    metadata,
    status,
    well_known_values,
)
from celadon.kube.defaulting import MIRROR_POD
from celadon.kube.go import quote
from celadon.kube.releases import emulated_release, is_since
from celadon.kube.resources import is_gate_on

RESERVED_DOMAIN: Final = "node-restriction.kubernetes.io"
"""Labels of this domain are not for kubelets."""
KUBERNETES_DOMAINS: Final = ("kubernetes.io", "k8s.io")
KUBELET_DOMAINS: Final = ("kubelet.kubernetes.io", "node.kubernetes.io")
KUBELET_LABELS: Final = frozenset(
    {
        "beta.kubernetes.io/arch",
        "beta.kubernetes.io/instance-type",
        "beta.kubernetes.io/os",
        "failure-domain.beta.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "kubernetes.io/arch",
        "kubernetes.io/hostname",
        "kubernetes.io/os",
        "node.kubernetes.io/instance-type",
        "topology.kubernetes.io/region",
        "topology.kubernetes.io/zone",
    }
)
"""Labels of Kubernetes' own domains that a kubelet may set, beside those of KUBELET_DOMAINS."""
_CLAIM_STATUS: Final = (
    "allocatedResourceStatuses",
    "allocatedResources",
    "capacity",
    "conditions",
)
"""Members of a claim's status that a kubelet may change."""

Judge = Callable[[str, Request, World], str]
"""Why a request of a node is refused; empty if it is not. Raises StatusError."""


def node_name(user: User) -> str | None:
    """Return the name of a kubelet's node; None for everybody else."""
    if (
        not user.name.startswith(well_known_values.NODE_PREFIX)
        or well_known_values.NODE_GROUP not in user.groups
    ):
        return None
    return user.name.removeprefix(well_known_values.NODE_PREFIX)


def node_restriction(gates: Mapping[str, bool]) -> Behaviour:
    """Return the plugin of a server with these feature gates on, or off."""

    def is_on(gate: str) -> bool:
        return gates.get(gate, is_gate_on(gate, emulated_release()))

    judges: Mapping[GroupResource, Judge] = {
        **_JUDGES,
        GroupResource("", "serviceaccounts"): lambda node, request, world: _tokens(
            node, request, world, checks_audiences=is_on(_AUDIENCES)
        ),
        GroupResource("certificates.k8s.io", "certificatesigningrequests"): (
            lambda node, request, _: (
                "" if is_on(_INSECURE_REQUESTS) else _certificate_requests(node, request)
            )
        ),
    }

    def restrict(_: JsonObject, request: Request, world: World) -> StatusError | None:
        node = node_name(request.user)
        judge = judges.get(request.resource.group_resource)
        if node is None:
            return None
        if not node:
            reason = f"could not determine node from user {quote(request.user.name)}"
            return forbidden(request, reason)
        if judge is None:
            return None
        try:
            reason = judge(node, request, world)
        except StatusError as error:
            return error
        return forbidden(request, reason) if reason else None

    return Behaviour(mutate=restrict, subresources=None, operations=CHANGES)


# --- pods ---


def _pods(node: str, request: Request, world: World) -> str:
    match request.subresource:
        case "":
            return _pod(node, request, world)
        case "status":
            return _pod_status(node, request)
        case "eviction":
            running = _existing(world, well_known_values.PODS, request.namespace, request.name)
            if (running.get("spec") or {}).get("nodeName") == node:
                return ""
            return f"node {node} can only evict pods with spec.nodeName set to itself"
    return (
        f"unexpected pod subresource {quote(request.subresource)}, "
        "only 'status' and 'eviction' are allowed"
    )


def _pod(node: str, request: Request, world: World) -> str:
    if request.operation is Operation.DELETE:
        if ((request.old_object or {}).get("spec") or {}).get("nodeName") == node:
            return ""
        return f"node {quote(node)} can only delete pods with spec.nodeName set to itself"
    if request.operation is Operation.UPDATE:
        return (
            f"unexpected operation {quote(request.operation.value)}, "
            f"node {quote(node)} can only create and delete mirror pods"
        )
    pod = request.object or {}
    subject = f"node {quote(node)}"
    if MIRROR_POD not in metadata.annotations(pod):
        return (
            f"pod does not have {quote(MIRROR_POD)} annotation, {subject} can only create mirror "
            "pods"
        )
    if pod["spec"].get("nodeName") != node:
        return f"{subject} can only create pods with spec.nodeName set to itself"
    return _wrong_owner(node, pod, world) or _references(subject, pod["spec"])


def _wrong_owner(node: str, pod: JsonObject, world: World) -> str:
    subject = f"node {quote(node)}"
    owners = metadata.metadata(pod).get("ownerReferences") or ()
    if len(owners) > 1:
        return f"{subject} can only create pods with a single owner reference set to itself"
    owner = owners[0] if owners else {}
    if (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) != ("v1", "Node", node):
        return f"{subject} can only create pods with an owner reference set to itself"
    if not owner.get("controller"):
        return f"{subject} can only create pods with a controller owner reference set to itself"
    if owner.get("blockOwnerDeletion"):
        return f"{subject} must not set blockOwnerDeletion on an owner reference"
    existing = _existing(world, well_known_values.NODES, "", node)
    uid = owner.get("uid", "")
    if uid == metadata.uid(existing):
        return ""
    return f"node {node} UID mismatch: expected {uid} got {metadata.uid(existing)}"


_UNKNOWN: Final = "unknown source"
_OF_VOLUMES: Final = {
    "csi": "csidrivers (via CSI volumes)",
    "glusterfs": "endpoints (via glusterFS volumes)",
    "persistentVolumeClaim": "persistentvolumeclaims",
    "ephemeral": "persistentvolumeclaims (via ephemeral volumes)",
    "azureFile": "secrets (via azureFile volumes)",
}
_OF_PROJECTIONS: Final = {
    "serviceAccountToken": "serviceaccounts (via projected volumes)",
    "clusterTrustBundle": "clustertrustbundles",
    "podCertificate": "podcertificates",
}


def _references(subject: str, spec: JsonObject) -> str:
    """Say which object of the API a pod of a kubelet's files refers to; empty if it refers to
    none."""
    used = next(_api_objects(spec), "")
    if used.startswith(_UNKNOWN):
        return f"error checking mirror pod for API references: {used}"
    return f"{subject} can not create pods that reference {used}" if used else ""


def _api_objects(spec: JsonObject) -> Iterator[str]:
    """Yield the objects of the API that a pod refers to: since 1.34 all of them, before that those
    that were forbidden."""
    # 1.34 has put `HasAPIObjectReference` of k8s.io/kubernetes `pkg/api/pod/util.go` in the place
    # of tests in `plugin/pkg/admission/noderestriction/admission.go`, with other words and another
    # order.
    has_all = is_since("1.34")
    if spec.get("serviceAccountName"):
        yield "serviceaccounts" if has_all else "a service account"
    if next(secret_names(spec), None) is not None:
        yield "secrets"
    if next(config_map_names(spec), None) is not None:
        yield "configmaps"
    if not has_all:
        if any(
            projection.get("clusterTrustBundle") is not None for projection in projections(spec)
        ):
            yield "clustertrustbundles"
        if any(
            volume.get("persistentVolumeClaim") is not None for volume in spec.get("volumes") or ()
        ):
            yield "persistentvolumeclaims"
    if spec.get("resourceClaims") and is_since("1.32"):
        yield "resourceclaims"
    if has_all:
        yield from _of_volumes(spec)


def _of_volumes(spec: JsonObject) -> Iterator[str]:
    for volume in spec.get("volumes") or ():
        yield from (used for kind, used in _OF_VOLUMES.items() if volume.get(kind) is not None)
        for source in (volume.get("projected") or {}).get("sources") or ():
            kinds = (used for kind, used in _OF_PROJECTIONS.items() if source.get(kind) is not None)
            used = next(kinds, "")
            if used:
                yield used
            elif source.get("downwardAPI") is None:
                yield f"{_UNKNOWN} for projected volume {quote(volume.get('name', ''))}"


def _pod_status(node: str, request: Request) -> str:
    subject = f"node {quote(node)}"
    old, new = request.old_object or {}, request.object or {}
    if (old.get("spec") or {}).get("nodeName") != node:
        return f"{subject} can only update pod status for pods with spec.nodeName set to itself"
    if metadata.labels(old) != metadata.labels(new):
        return f"{subject} cannot update labels through pod status"
    if _claims(old) != _claims(new):
        return f"{subject} cannot update resource claim statues"
    if _extended_claim(old) != _extended_claim(new) and is_since("1.34"):
        return f"{subject} cannot update extended resource claim status"
    return ""


def _claims(pod: JsonObject) -> object:
    return (pod.get("status") or {}).get("resourceClaimStatuses") or []


def _extended_claim(pod: JsonObject) -> object:
    return (pod.get("status") or {}).get("extendedResourceClaimStatus")


def _existing(
    world: World, resource: GroupVersionResource, namespace: str, name: str
) -> JsonObject:
    """Return an object as the cache of a server has it, whose errors name resources in the
    singular."""
    result = world.get(resource, namespace, name)
    if result is None:
        group = resource.group_resource.group
        raise status.not_found(GroupResource(group, resource.resource.removesuffix("s")), name)
    return result


# --- nodes ---


def _nodes(node: str, request: Request, _: World) -> str:
    subject = f"node {quote(node)}"
    if request.name != node:
        return f"{subject} is not allowed to modify node {quote(request.name)}"
    new, old = request.object, request.old_object
    if new is None:
        return ""
    source = _spec(new).get("configSource")
    changed = ", ".join(forbidden_labels(metadata.labels(new), metadata.labels(old)))
    if old is None:
        if source is not None:
            return f"{subject} is not allowed to create pods with a non-nil configSource"
        return f"{subject} is not allowed to set the following labels: {changed}" if changed else ""
    if source is not None and source != _spec(old).get("configSource"):
        return f"{subject} is not allowed to update configSource to a new non-nil configSource"
    if _taints(new) != _taints(old):
        return f"{subject} is not allowed to modify taints"
    if _owners(new) != _owners(old) and is_since("1.31"):
        return f"{subject} is not allowed to modify ownerReferences"
    return f"is not allowed to modify labels: {changed}" if changed else ""


def _spec(obj: JsonObject | None) -> JsonObject:
    spec: JsonObject = (obj or {}).get("spec") or {}
    return spec


def _owners(obj: JsonObject) -> object:
    return metadata.metadata(obj).get("ownerReferences") or []


def _taints(node: JsonObject) -> object:
    return _spec(node).get("taints") or []


def forbidden_labels(new: Mapping[str, str], old: Mapping[str, str]) -> list[str]:
    """Return the changed labels that are not a kubelet's to change."""
    changed = {key for key in {*new, *old} if new.get(key) != old.get(key)}
    return sorted(key for key in changed if not _is_kubelets(key))


def _is_kubelets(label: str) -> bool:
    domain = label.split("/", 1)[0] if "/" in label else ""
    if _is_in(domain, (RESERVED_DOMAIN,)):
        return False
    is_known = label in KUBELET_LABELS or _is_in(domain, KUBELET_DOMAINS)
    return is_known or not _is_in(domain, KUBERNETES_DOMAINS)


def _is_in(domain: str, parents: tuple[str, ...]) -> bool:
    return any(domain == parent or domain.endswith(f".{parent}") for parent in parents)


# --- what belongs to a node ---


def _volume_claims(node: str, request: Request, _: World) -> str:
    if request.subresource != "status":
        return "may only update PVC status"
    if _without_progress(request.object) == _without_progress(request.old_object):
        return ""
    return (
        f"node {quote(node)} is not allowed to update fields other than status.quantity and "
        "status.conditions: "
    )


def _without_progress(claim: JsonObject | None) -> JsonObject:
    obj = claim or {}
    meta, state = metadata.metadata(obj), obj.get("status") or {}
    ignored = ("resourceVersion", "managedFields")
    return {
        **obj,
        "metadata": {key: meta[key] for key in meta if key not in ignored},
        "status": {key: state[key] for key in state if key not in _CLAIM_STATUS},
    }


def _tokens(node: str, request: Request, world: World, *, checks_audiences: bool) -> str:
    if request.operation is not Operation.CREATE or request.subresource != "token":
        return ""
    bound = _spec(request.object).get("boundObjectRef") or {}
    if (bound.get("apiVersion"), bound.get("kind")) != ("v1", "Pod") or not bound.get("name"):
        return "node requested token not bound to a pod"
    uid = bound.get("uid")
    if not uid:
        return "node requested token with a pod binding without a uid"
    pod = _existing(world, well_known_values.PODS, request.namespace, bound["name"])
    if uid != metadata.uid(pod):
        return (
            f"the UID in the bound object reference ({uid}) does not match the UID in record. "
            "The object might have been deleted and then recreated"
        )
    if pod["spec"].get("nodeName") != node:
        return "node requested token bound to a pod scheduled on a different node"
    return _audience(request, pod, world) if checks_audiences else ""


_AUDIENCES: Final = "ServiceAccountNodeAudienceRestriction"
_DRIVERS: Final = GroupVersionResource("storage.k8s.io", "v1", "csidrivers")
_MIGRATED: Final = {
    "awsElasticBlockStore": "ebs.csi.aws.com",
    "azureDisk": "disk.csi.azure.com",
    "azureFile": "file.csi.azure.com",
    "cinder": "cinder.csi.openstack.org",
    "gcePersistentDisk": "pd.csi.storage.gke.io",
    "portworxVolume": "pxd.portworx.com",
    "vsphereVolume": "csi.vsphere.vmware.com",
}
"""Volumes of old, and the drivers that they are for, as k8s.io/csi-translation-lib has them."""


def _audience(request: Request, pod: JsonObject, world: World) -> str:
    """Return why a kubelet does not get a token for an audience: no volume of the pod needs one,
    and the kubelet may not ask for any."""
    audiences = _spec(request.object).get("audiences") or [""]
    if len(audiences) > 1:
        return "node may only request 0 or 1 audiences"
    audience = audiences[0]
    faults: list[str] = []
    for volume in _spec(pod).get("volumes") or ():
        try:
            if _serves(volume, pod, audience, world):
                return ""
        except StatusError as error:
            faults.append(str(error))
    if faults:
        text = faults[0] if len(faults) == 1 else f"[{', '.join(dict.fromkeys(faults))}]"
        return f"error validating audience {quote(audience)}: {text}"
    reason = f"audience {quote(audience)} not found in pod spec volume"
    if not is_since("1.33"):
        return reason
    attributes = Attributes(
        request.user,
        "request-serviceaccounts-token-audience",
        resource_request=True,
        version="v1",
        resource=audience,
        namespace=request.namespace,
        name=request.name,
    )
    if world.authorize(attributes)[0] is Ruling.ALLOW:
        return ""
    return f"{reason}, {request.user.name} is not authorized to request tokens for this audience"


def _serves(volume: JsonObject, pod: JsonObject, audience: str, world: World) -> bool:
    """Return whether a volume needs a token for this audience, itself or for its driver. Raises
    StatusError for what leads to the driver and is not there."""
    for source in (volume.get("projected") or {}).get("sources") or ():
        token = source.get("serviceAccountToken")
        if token is not None and (token.get("audience") or "") == audience:
            return True
    driver = _driver(volume, pod, world)
    if not driver:
        return False
    token_requests = _spec(_existing(world, _DRIVERS, "", driver)).get("tokenRequests") or ()
    return any(
        (token_request.get("audience") or "") == audience for token_request in token_requests
    )


def _driver(volume: JsonObject, pod: JsonObject, world: World) -> str:
    claim = ""
    if (volume.get("ephemeral") or {}).get("volumeClaimTemplate") is not None:
        claim = f"{metadata.name(pod)}-{volume.get('name', '')}"
    elif volume.get("persistentVolumeClaim") is not None:
        claim = volume["persistentVolumeClaim"].get("claimName", "")
    if not claim:
        return _driver_of(volume)
    existing = _existing(world, well_known_values.VOLUME_CLAIMS, metadata.namespace(pod), claim)
    bound = _existing(world, well_known_values.VOLUMES, "", _spec(existing).get("volumeName") or "")
    return _driver_of(_spec(bound))


def _driver_of(source: JsonObject) -> str:
    driver: str = (source.get("csi") or {}).get("driver") or ""
    if driver or not is_since("1.33"):
        return driver
    return next((name for kind, name in _MIGRATED.items() if source.get(kind) is not None), "")


def _leases(node: str, request: Request, _: World) -> str:
    if request.namespace != well_known_values.NODE_LEASES:
        return (
            f"can only access leases in the {quote(well_known_values.NODE_LEASES)} system namespace"
        )
    if request.name == node:
        return ""
    return "can only access node lease with the same name as the requesting node"


def _drivers(node: str, request: Request, _: World) -> str:
    if request.name == node:
        return ""
    return "can only access CSINode with the same name as the requesting node"


def _slices(node: str, request: Request, _: World) -> str:
    if request.operation is Operation.UPDATE:
        return ""  # the node cannot be changed
    if request.operation is Operation.DELETE and not is_since("1.31"):
        return ""
    obj = request.object if request.old_object is None else request.old_object
    if _spec(obj).get("nodeName") == node:
        return ""
    verb = request.operation.value.lower()
    return f"can only {verb} ResourceSlice with the same NodeName as the requesting node"


_KUBELETS_SIGNERS: Final = (
    "kubernetes.io/kube-apiserver-client-kubelet",
    "kubernetes.io/kubelet-serving",
)
_INSECURE_REQUESTS: Final = "AllowInsecureKubeletCertificateSigningRequests"


def _certificate_requests(node: str, request: Request) -> str:
    """Refuse a certificate in another name: since 1.31 a kubelet asks for its own only."""
    spec = _spec(request.object)
    if request.operation is not Operation.CREATE or not is_since("1.31"):
        return ""
    if spec.get("signerName") not in _KUBELETS_SIGNERS:
        return ""
    try:
        name = common_name(spec.get("request") or "")
    except UnreadableRequest as error:
        return f"unable to parse csr: {error}"
    expected = f"{well_known_values.NODE_PREFIX}{node}"
    return "" if name == expected else f"can only create a node CSR with CN={expected}"


def _pod_certificates(node: str, request: Request, world: World) -> str:
    """Certificates are for pods that run on the node, of the account that these say. Raises
    StatusError for what may be there a little later."""
    if request.operation is not Operation.CREATE:
        return f"unexpected operation {request.operation.value}"
    if request.subresource:
        return f"unexpected subresource {request.subresource}"
    spec = _spec(request.object)
    node_name = spec.get("nodeName") or ""
    if node_name != node:
        text = f"PodCertificateRequest.Spec.NodeName={quote(node_name)}"
        return f"{text}, which is not the requesting node {quote(node)}"
    named = _named(world, well_known_values.NODES, "", node_name, f"node {quote(node_name)}")
    pod_name = quote(f"{request.namespace}/{spec.get('podName') or ''}")
    message = f"PodCertificateRequest for pod {pod_name}"
    _same_uid(
        spec.get("nodeUID") or "",
        named,
        f"{message} names node UID {{}}, inconsistent with the running node ({{}})",
    )
    pod = _named(
        world,
        well_known_values.PODS,
        request.namespace,
        spec.get("podName") or "",
        f"pod {pod_name}",
    )
    _same_uid(
        spec.get("podUID") or "",
        pod,
        f"{message} contains pod UID ({{}}) which differs from running pod {{}}",
    )
    if _spec(pod).get("nodeName") != node_name:
        return f"pod {pod_name} is not running on node {quote(node_name)} {_NAMED_THERE}"
    if MIRROR_POD in metadata.annotations(pod):
        return f"pod {pod_name} is a mirror pod"
    account, runs_as = (pod_spec.get("serviceAccountName") or "" for pod_spec in (spec, _spec(pod)))
    if account != runs_as:
        text = f"{message} contains serviceAccountName ({quote(account)})"
        return f"{text} that differs from running pod ({quote(runs_as)})"
    text = quote(f"{request.namespace}/{account}")
    result = _named(
        world,
        well_known_values.SERVICE_ACCOUNTS,
        request.namespace,
        account,
        f"service account {text}",
    )
    _same_uid(
        spec.get("serviceAccountUID") or "",
        result,
        f"{message} names service account UID {{}}, which differs from the running service account "
        "({})",
    )
    return ""


_NAMED_THERE: Final = "named in the PodCertificateRequest"


def _named(
    world: World, resource: GroupVersionResource, namespace: str, name: str, subject: str
) -> JsonObject:
    """Return an object that a request names. Raises StatusError 500 when it is not there, or not
    yet."""
    try:
        return _existing(world, resource, namespace, name)
    except StatusError as error:
        reason = f"while retrieving {subject} {_NAMED_THERE}: {error}"
        raise status.plain_error(reason) from None


def _same_uid(uid: str, obj: JsonObject, reason: str) -> None:
    """Require that the object has this uid. Raises StatusError 500 for another one."""
    if uid != metadata.uid(obj):
        raise status.plain_error(reason.format(quote(uid), quote(metadata.uid(obj))))


_JUDGES: Final[Mapping[GroupResource, Judge]] = {
    GroupResource("", "nodes"): _nodes,
    GroupResource("", "persistentvolumeclaims"): _volume_claims,
    GroupResource("", "pods"): _pods,
    GroupResource("certificates.k8s.io", "podcertificaterequests"): _pod_certificates,
    GroupResource("coordination.k8s.io", "leases"): _leases,
    GroupResource("resource.k8s.io", "resourceslices"): _slices,
    GroupResource("storage.k8s.io", "csinodes"): _drivers,
}
