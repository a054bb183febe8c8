"""Which controllers run: `--controllers`, in the words of kube-controller-manager.

As k8s.io/kubernetes `cmd/kube-controller-manager/names` and k8s.io/controller-manager
`pkg/healthz`, `app.IsControllerEnabled`.
"""

from __future__ import annotations

from typing import Final

ROOT_CERTIFICATES: Final = "root-ca-certificate-publisher-controller"
CONTROLLERS: Final = (
    "clusterrole-aggregation-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "resourcequota-controller",
    ROOT_CERTIFICATES,
    "serviceaccount-controller",
    "validatingadmissionpolicy-status-controller",
)
ON_BY_DEFAULT: Final = frozenset(CONTROLLERS) - {ROOT_CERTIFICATES}
"""What `*` stands for: without a pod nobody needs the certificates, and they would be in every list
of ConfigMaps."""


def controllers_named(text: str) -> frozenset[str]:
    """`*`, names, and names with `-` before them, separated by commas. Raises ValueError."""
    chosen: set[str] = set()
    refused: set[str] = set()
    for word in filter(None, (one.strip() for one in text.split(","))):
        name = word.removeprefix("-")
        if word == "*":
            chosen |= ON_BY_DEFAULT
        elif name not in CONTROLLERS:
            raise ValueError(f'"{name}" is not in the list of known controllers')
        else:
            (refused if word.startswith("-") else chosen).add(name)
    return frozenset(chosen - refused)
