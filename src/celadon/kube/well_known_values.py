"""Names and values that mean the same wherever they stand: to defaulting as to validation.

As k8s.io/api `core/v1/annotation_key_constants.go`, `core/v1/types.go` and k8s.io/kubernetes
`pkg/apis/scheduling/types.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.kube.names import GroupKind, GroupVersionResource

ADMISSION_REGISTRATION: Final = "admissionregistration.k8s.io"
AUTHENTICATION_GROUP: Final = "authentication.k8s.io"
AUTHORIZATION_GROUP: Final = "authorization.k8s.io"
FLOW_CONTROL_GROUP: Final = "flowcontrol.apiserver.k8s.io"
RBAC_GROUP: Final = "rbac.authorization.k8s.io"

HOST_NAME: Final = "kubernetes.io/hostname"
OPERATING_SYSTEM: Final = "kubernetes.io/os"

NAMESPACES: Final = GroupVersionResource("", "v1", "namespaces")
NODES: Final = GroupVersionResource("", "v1", "nodes")
PODS: Final = GroupVersionResource("", "v1", "pods")
SECRETS: Final = GroupVersionResource("", "v1", "secrets")
SERVICES: Final = GroupVersionResource("", "v1", "services")
ENDPOINT_SLICES: Final = GroupVersionResource("discovery.k8s.io", "v1", "endpointslices")
SERVICE_LABEL: Final = "kubernetes.io/service-name"
"""By it slices say whose they are."""
SERVICE_ACCOUNTS: Final = GroupVersionResource("", "v1", "serviceaccounts")
VOLUMES: Final = GroupVersionResource("", "v1", "persistentvolumes")
VOLUME_CLAIMS: Final = GroupVersionResource("", "v1", "persistentvolumeclaims")

SIGNING_DECISIONS: Final = ("Approved", "Denied")
"""Conditions of a request for a certificate that only its approval changes."""

DEFINITION_KIND: Final = GroupKind("apiextensions.k8s.io", "CustomResourceDefinition")
DYNAMIC_RESOURCES: Final = "resource.k8s.io"
"""The group of devices, and of claims to them."""

AUTHENTICATED: Final = "system:authenticated"
"""The group of everybody who has said who they are."""
SERVICE_ACCOUNT_PREFIX: Final = "system:serviceaccount:"
"""What the name of a service account's user begins with."""
ANONYMOUS: Final = "system:anonymous"
"""The user who has not said who they are."""
UNAUTHENTICATED: Final = "system:unauthenticated"
"""The group of that user."""
NODE_GROUP: Final = "system:nodes"
"""The group of all nodes' users."""
NODE_PREFIX: Final = "system:node:"
"""What the name of a node's user begins with."""

POD_TEMPLATES: Final[Mapping[GroupKind, tuple[str, ...]]] = {
    GroupKind("", "PodTemplate"): ("template",),
    GroupKind("", "ReplicationController"): ("spec", "template"),
    GroupKind("apps", "DaemonSet"): ("spec", "template"),
    GroupKind("apps", "Deployment"): ("spec", "template"),
    GroupKind("apps", "ReplicaSet"): ("spec", "template"),
    GroupKind("apps", "StatefulSet"): ("spec", "template"),
    GroupKind("batch", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
    GroupKind("batch", "Job"): ("spec", "template"),
}
"""Where each kind that makes pods has their template (k8s.io/pod-security-admission
`admission/admission.go`, `DefaultPodSpecExtractor`)."""

HTTPS_PORT: Final = 443
JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
FOREGROUND: Final = "foregroundDeletion"
"""Finalizer of what waits for its dependents' end."""
ORPHAN: Final = "orphan"
"""Finalizer of what lets its dependents go before its own end."""

ROLLBACK_TO: Final = "deprecated.deployment.rollback.to"
MIRROR_POD: Final = "kubernetes.io/config.mirror"
"""Annotation of a pod that stands for one which a kubelet runs from a file."""
INGRESS_CLASS: Final = "kubernetes.io/ingress.class"
"""Annotation that named the class of an Ingress before there was a field."""
META_FIELDS: Final = (
    "name",
    "generateName",
    "namespace",
    "selfLink",
    "uid",
    "resourceVersion",
    "generation",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "labels",
    "annotations",
    "ownerReferences",
    "finalizers",
    "managedFields",
)
"""The members of ObjectMeta, in the order of Go's struct."""
OBJECT_FIELDS: Final = frozenset({"apiVersion", "kind", "metadata"})
"""What every object has."""
TYPE_FIELDS: Final = frozenset({"apiVersion", "kind"})
"""What says of which type an object is."""
CONDITION_STATUSES: Final = ("False", "True", "Unknown")
"""What the status of a condition can be."""
NATIVE_DOMAIN: Final = "kubernetes.io/"
"""In the names of resources that are Kubernetes' own, if they have a domain at all."""
PROBES: Final = ("livenessProbe", "readinessProbe", "startupProbe")
"""The probes of a container."""
PROBE_HANDLERS: Final = ("exec", "httpGet", "tcpSocket", "grpc")
"""What a probe can do."""
REQUIRED_TERMS: Final = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED_TERMS: Final = "preferredDuringSchedulingIgnoredDuringExecution"
"""The two sorts of terms of an affinity."""
MOUNT_OPTIONS: Final = "volume.beta.kubernetes.io/mount-options"
"""The annotation of a volume with options for mounting it."""
STORAGE_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
"""Annotation that named the class of a volume or claim before there was a field."""
DEFAULT_INGRESS_CLASS: Final = "ingressclass.kubernetes.io/is-default-class"
"""The annotation of the class that an Ingress without one gets."""
DEFAULT_STORAGE_CLASS: Final = (
    "storageclass.kubernetes.io/is-default-class",
    "storageclass.beta.kubernetes.io/is-default-class",
)
"""Annotations that say `true` of the class for claims that name none."""
MOUNTABLE_SECRETS: Final = "kubernetes.io/enforce-mountable-secrets"
"""Annotation of a service account whose pods may use its own secrets only."""
APPARMOR_OF_CONTAINER: Final = "container.apparmor.security.beta.kubernetes.io/"
"""What annotations about a container's profile began with before there was a field."""
SECCOMP_OF_CONTAINER: Final = "container.seccomp.security.alpha.kubernetes.io/"
"""As above."""
SECCOMP_OF_POD: Final = "seccomp.security.alpha.kubernetes.io/pod"
"""As above, of all containers of a pod."""
CONTAINER_LISTS: Final = ("initContainers", "containers", "ephemeralContainers")
"""Where containers are in the spec of a pod, in the order in which Kubernetes visits them."""
EPHEMERAL_CONTAINERS: Final = "ephemeralcontainers"
"""The subresource of pods by which containers come to one that runs."""
HUGE_PAGES: Final = "hugepages-"
"""What the names of huge pages begin with, as resources of a container."""
HEADLESS: Final = "None"
"""The cluster IP of a Service that has none."""
IP_FAMILIES: Final = ("IPv4", "IPv6")
"""What `ipFamilies` of a Service may hold."""
WITH_NODE_PORTS: Final = frozenset({"LoadBalancer", "NodePort"})
"""The types of Services that nodes have ports for."""
SYSTEM_PRIORITIES: Final[Mapping[str, int]] = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}
"""The values of the priority classes that every cluster has."""
PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
"""Of priority classes and pods."""

TLS_SECRET: Final = "kubernetes.io/tls"
"""The type of Secrets with a certificate and its key."""
API_SERVER: Final = "kube-apiserver"
"""What upstream's server calls itself: in its certificate, and as the manager of what it writes."""
GATEKEEPER_CONSTRAINTS: Final = "constraints.gatekeeper.sh"
"""The group of Gatekeeper's constraints."""
NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
"""The label that every namespace has, with its name."""
TOPOLOGY_HINTS: Final = "service.kubernetes.io/topology-aware-hints"
TOPOLOGY_MODE: Final = "service.kubernetes.io/topology-mode"
"""The old and the new annotation by which a Service keeps traffic near."""

SYSTEM_NAMESPACES: Final = ("default", "kube-node-lease", "kube-public", "kube-system")
"""Those that every cluster has."""
FAILURE_TARGET: Final = "FailureTarget"
CRITERIA_MET: Final = "SuccessCriteriaMet"
"""The conditions of a Job that will fail, and of one that will be complete."""
WORKLOAD_PREEMPTION: Final = "WorkloadAwarePreemption"
"""The feature gate with which groups of pods have a priority."""
NODE_LEASES: Final = "kube-node-lease"
"""The one of the leases by which nodes say that they are there."""
NOT_READY: Final = "node.kubernetes.io/not-ready"
UNREACHABLE: Final = "node.kubernetes.io/unreachable"
"""Keys of taints of nodes that are not well."""
DELETION_COST: Final = "controller.kubernetes.io/pod-deletion-cost"
"""The annotation of a pod that says which one goes rather."""
ENDED_PHASES: Final = frozenset({"Succeeded", "Failed"})
"""Of pods whose containers run no more."""
TEMPLATE_GENERATION: Final = "deprecated.daemonset.template.generation"
"""The annotation of a DaemonSet that counts its templates."""
SUFFIX_LETTERS: Final = "bcdfghjklmnpqrstvwxz2456789"
"""What the random end of generated names consists of, and hashes in names: no vowels, so no words
(k8s.io/apimachinery `pkg/util/rand`)."""
FUTURE_REVISION: Final = "etcdserver: mvcc: required revision is a future revision"
"""What etcd says, and an API server passes on to its clients, of a revision that is not yet."""
DISRUPTION_ALLOWED: Final = "DisruptionAllowed"
"""The condition of a budget that says whether anything of it is left."""
AUTOSCALING_PREFIX: Final = "autoscaling.alpha.kubernetes.io/"
"""What the annotations begin with in which autoscaling/v1 keeps what only newer versions know."""
DEFAULT_CPU_UTILIZATION: Final = 80
"""The percentage that an autoscaler aims at which says nothing."""

ZERO_TIME: Final = "0001-01-01T00:00:00Z"
"""What a time is in Go before it is set."""
