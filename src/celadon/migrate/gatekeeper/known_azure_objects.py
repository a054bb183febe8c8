"""Templates of Azure Policy for Services, Ingresses, Nodes and any object, and what they demand.

See `known_general` for how the tables are written.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from celadon.migrate.gatekeeper.known_azure import NAME, of_list, whole
from celadon.migrate.gatekeeper.known_general import KnownTemplate, none_of

_EXTERNAL: Final = KnownTemplate(
    frozenset({"1ec5f11512d3a960453e2cf31ea8ee41"}),
    (
        (
            "size(variables.forbidden) == 0",
            """'service has forbidden external IPs: {"' + """
            """variables.forbidden.join('", "') + '"}'""",
        ),
    ),
    (
        (
            "forbidden",
            "(request.kind.kind == 'Service' && request.kind.group == '' "
            "? object.?spec.?externalIPs.orValue([]) : [])"
            f".filter(ip, !(ip in {of_list('allowedExternalIPs')}))",
        ),
    ),
)
_LOAD_BALANCER: Final = whole(
    ("e4fb9aa60da763088452f6979e80e679",),
    "object.?spec.?type.orValue('LoadBalancer') != 'LoadBalancer' || has(object.spec.type) && "
    "object.metadata.?annotations[?'service.beta.kubernetes.io/azure-load-balancer-internal']"
    ".orValue('') == 'true'",
    "'Load Balancers should not have public IPs. azure-load-balancer-internal annotation is "
    f"required for ' + {NAME}",
)
_RANGE: Final = "'[0-9]+-[0-9]+'"


def _service_ports(digest: str, is_allowed: str) -> KnownTemplate:
    return KnownTemplate(
        frozenset({digest}),
        (
            none_of(
                "wrong",
                "port",
                f"'Port ' + string(port.port) + ' for service ' + {NAME} + "
                "' has not been allowed.'",
            ),
        ),
        (
            (
                "isKubernetes",
                "object.metadata.?namespace.orValue('') == 'default' && "
                "object.metadata.name == 'kubernetes'",
            ),
            (
                "wrong",
                "(variables.isKubernetes ? [] : object.?spec.?ports.orValue([]))"
                f".filter(port, !{of_list('allowedPorts')}.exists(one, {is_allowed}))",
            ),
        ),
    )


_SERVICE_PORTS: Final = (
    _service_ports("3afd5fa222c717aeb81b9ae2e9831ec6", "one == string(port.port)"),
    _service_ports(
        "a653c838aa018f322e67d9b3a107921a",
        f"one.matches({_RANGE}) ? int(one.split('-')[0]) <= port.port && "
        "port.port <= int(one.split('-')[1]) : one == string(port.port)",
    ),
)
_LABELS: Final = KnownTemplate(
    frozenset({"dcf91552576ca9f54293d08a3f7d55a2"}),
    (
        (
            "size(variables.missing) == 0",
            """'you must provide labels: {"' + variables.missing.join('", "') + '"}'""",
        ),
    ),
    (
        (
            "missing",
            f"{of_list('labels')}.filter(label, !(label in object.metadata.?labels.orValue({{}})))",
        ),
    ),
)
_SYSTEM_OBJECTS: Final = (
    "object.kind == 'ServiceAccount' && object.metadata.name == 'default' || "
    "object.kind == 'Secret' && "
    "dyn(object).?type.orValue('') == 'kubernetes.io/service-account-token' && "
    "object.metadata.?annotations[?'kubernetes.io/service-account.name'].orValue('') == 'default' "
    "|| object.kind == 'Service' && object.metadata.name == 'kubernetes'"
)
_ROOT_CA: Final = " || object.kind == 'ConfigMap' && object.metadata.name == 'kube-root-ca.crt'"


def _default_namespace(digest: str, allowed: str) -> KnownTemplate:
    return whole(
        (digest,),
        "object.metadata.?namespace.orValue('default') != 'default' || variables.isOfSystem",
        f"'Usage of the default namespace is not allowed, name: ' + {NAME} + ', kind: ' + "
        "object.kind",
        ("isOfSystem", allowed),
    )


_DEFAULT_NAMESPACE: Final = (
    _default_namespace("6835a1e4e636ee9220cb63ff26697f40", _SYSTEM_OBJECTS),
    _default_namespace("98866b2deb0d11dd4b0b154e4cf71c07", _SYSTEM_OBJECTS + _ROOT_CA),
)
_NO_RESOURCE: Final = whole(
    ("20973ac74865308230b442e57e20309c",),
    "!has(object.metadata.namespace) || variables.isOfSystem",
    "object.kind + ' resource except default in namespace ' + object.metadata.namespace + "
    f"' is not allowed, name: ' + {NAME}",
    ("isOfSystem", _SYSTEM_OBJECTS + _ROOT_CA),
)
_NAKED: Final = whole(
    ("22c9e3e0878deae5af8bb7d139859e61",),
    "has(object.metadata.ownerReferences)",
    f"'Naked pod is not allowed, pod: ' + {NAME}",
)
_AFFINITY: Final = whole(
    ("85007ef0cc1b7751c6d361d5c9e29e80",),
    "dyn(object).?spec.?replicas.orValue(0) <= 1 || "
    "!dyn(object).?spec.?template.?spec.hasValue() || "
    "dyn(object).?spec.?template.?spec.?affinity.?podAntiAffinity.hasValue()",
    "request.kind.kind + ' with ' + string(object.spec.replicas) + ' replicas should have pod "
    "anti-affinity rules set to avoid disruptions due to nodes crashing'",
)
_RESERVED_TAINTS: Final = whole(
    ("9b8ab685e670137fa16171d924d6adea",),
    "object.metadata.?labels[?'kubernetes.azure.com/mode'].orValue('') in ['system', 'System'] || "
    "size(variables.reserved) == 0",
    "'Taint with key <' + variables.reserved.map(taint, taint.key).join(', ') + '> is reserved for "
    "the system pool only'",
    (
        "reserved",
        "object.?spec.?taints.orValue([]).filter(taint, "
        f"{of_list('reservedTaints')}.exists(one, taint.key.matches(one)))",
    ),
)
_RESERVED_LABELS: Final = whole(
    ("dc75c26c85c0554306c255e30f2e8691",),
    "size(variables.reserved) == 0 || variables.isOfSystem",
    """'Label <{"' + variables.reserved.join('", "') + '"}> is reserved for AKS use only'""",
    (
        "reserved",
        f"{of_list('labels')}.filter(label, label in object.metadata.?labels.orValue({{}}))",
    ),
    (
        "isOfSystem",
        f"request.userInfo.username in {of_list('allowedUsers')} || "
        f"{of_list('allowedGroups')}.exists(group, "
        "group in request.userInfo.?groups.orValue([]))",
    ),
)
_ANNOTATION: Final = "object.metadata.?annotations[?'{0}']"
_IS_NGINX: Final = (
    "object.?spec.?ingressClassName.or("
    f"{_ANNOTATION.format('kubernetes.io/ingress.class')}).orValue('') == 'nginx'"
)
_INGRESS: Final = KnownTemplate(
    frozenset({"453bc73d64ae19c6166530d798fd3116"}),
    (
        (
            "!variables.isIngress || !variables.isGateway || variables.hasTls || "
            f"{_ANNOTATION.format('appgw.ingress.kubernetes.io/appgw-ssl-certificate')}.hasValue()",
            f"'Ingress should allow https only. tls configuration is required for ' + {NAME}",
        ),
        (
            "!variables.isIngress || !variables.isNginx || variables.redirects && "
            "(variables.hasTls || "
            f"{_ANNOTATION.format('nginx.ingress.kubernetes.io/auth-tls-secret')}.hasValue() || "
            f"{_ANNOTATION.format('nginx.ingress.kubernetes.io/ssl-passthrough')}.orValue('') "
            "== 'true')",
            "'Ingress should allow https only. tls configuration and annotation "
            "nginx.ingress.kubernetes.io/force-ssl-redirect=true are required for ' + "
            f"{NAME}",
        ),
    ),
    (
        (
            "isIngress",
            "request.kind.kind == 'Ingress' && "
            "request.kind.group in ['extensions', 'networking.k8s.io']",
        ),
        (
            "isGateway",
            f"{_ANNOTATION.format('kubernetes.io/ingress.class')}.orValue('') == "
            "'azure/application-gateway'",
        ),
        ("isNginx", _IS_NGINX),
        ("hasTls", "size(object.?spec.?tls.orValue([])) > 0"),
        (
            "redirects",
            f"{_ANNOTATION.format('nginx.ingress.kubernetes.io/force-ssl-redirect')}.orValue('') "
            f"== 'true' || {_ANNOTATION.format('nginx.ingress.kubernetes.io/ssl-redirect')}"
            ".orValue('') != 'false' && has(object.spec.rules) && "
            "object.spec.rules.all(rule, has(rule.host))",
        ),
    ),
)

KNOWN: Final[Mapping[str, tuple[KnownTemplate, ...]]] = {
    "K8sAzureAntiAffinityRules": (_AFFINITY,),
    "K8sAzureBlockDefault": _DEFAULT_NAMESPACE,
    "K8sAzureBlockNakedPods": (_NAKED,),
    "K8sAzureBlockResource": (_NO_RESOURCE,),
    "K8sAzureExternalIPs": (_EXTERNAL,),
    "K8sAzureIngressHttpsOnly": (_INGRESS,),
    "K8sAzureLoadBalancerNoPublicIPs": (_LOAD_BALANCER,),
    "K8sAzurePodEnforceLabels": (_LABELS,),
    "K8sAzureReservedTaints": (_RESERVED_TAINTS,),
    "K8sAzureRestrictedLabels": (_RESERVED_LABELS,),
    "K8sAzureServiceAllowedPorts": _SERVICE_PORTS,
}
"""The templates by their kinds, without the number of their version."""
