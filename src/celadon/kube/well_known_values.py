"""Names and values that mean the same wherever they stand: to defaulting as to validation.

As k8s.io/api `core/v1/annotation_key_constants.go`, `core/v1/types.go` and k8s.io/kubernetes
`pkg/apis/scheduling/types.go`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

MIRROR_POD: Final = "kubernetes.io/config.mirror"
"""Annotation of a pod that stands for one which a kubelet runs from a file."""
INGRESS_CLASS: Final = "kubernetes.io/ingress.class"
"""Annotation that named the class of an Ingress before there was a field."""
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
