"""Pods: containers, volumes, probes, scheduling, security."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import name_rules
from celadon.kube.fieldpath import FieldPath
from celadon.kube.names import GroupVersionKind
from celadon.kube.releases import answering_as
from celadon.kube.validation import format_checks
from celadon.kube.validation.built_in_validations import validate_create
from celadon.kube.validation.field_checks import SELINUX_MOUNT, holding
from celadon.kube.validation.pods.resource_lists import pod_requirements
from celadon.kube.validation.pods.security_contexts import pod_security_context
from tests.kube.validation.objects import complaints, container, pod, update_complaints

LABEL = name_rules.dns1123_label("A_")[0]
C = "spec.containers[0]"
RESTART = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
GRACE = "terminationGracePeriodSeconds"
ADDRESS = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"

SUBDOMAIN = name_rules.dns1123_subdomain("")[0]
DEVICE = {"name": "v", "devicePath": "/d"}
RESIZE = {"resourceName": "cpu", "restartPolicy": "RestartContainer"}
SPREAD = {"maxSkew": 1, "topologyKey": "t", "whenUnsatisfiable": "DoNotSchedule"}

CONTAINERS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"name": "A_"}, [f'{C}.name: Invalid value: "A_": {LABEL}']),
    ({"image": ""}, [f"{C}.image: Required value"]),
    (
        {"image": " a "},
        [f'{C}.image: Invalid value: " a ": must not have leading or trailing whitespace'],
    ),
    (
        {"ports": [{"containerPort": 1, "protocol": "tcp"}]},
        [
            f'{C}.ports[0].protocol: Unsupported value: "tcp": supported values: "SCTP", "TCP", '
            '"UDP"'
        ],
    ),
    (
        {"ports": [{"containerPort": 1, "name": "x"}, {"containerPort": 2, "name": "x"}]},
        [f'{C}.ports[1].name: Duplicate value: "x"'],
    ),
    (
        {"ports": [{"containerPort": 1, "hostPort": 9}, {"containerPort": 2, "hostPort": 9}]},
        [f'{C}.ports[1].hostPort: Duplicate value: "TCP//9"'],
    ),
    (
        {"ports": [{"containerPort": 1, "name": "a--very-long-name-"}]},
        [
            f'{C}.ports[0].name: Invalid value: "a--very-long-name-": must be no more than 15 '
            "characters",
            f'{C}.ports[0].name: Invalid value: "a--very-long-name-": must not contain '
            "consecutive hyphens",
            f'{C}.ports[0].name: Invalid value: "a--very-long-name-": must not begin or end with '
            "a hyphen",
        ],
    ),
    ({"env": [{"name": ""}]}, [f"{C}.env[0].name: Required value"]),
    ({"env": [{"name": "a.b-c d"}]}, []),
    (
        {"env": [{"name": "a=b"}]},
        [
            f'{C}.env[0].name: Invalid value: "a=b": a valid environment variable name must '
            "consist only of printable ASCII characters other than '='"
        ],
    ),
    (
        {"env": [{"name": "a", "valueFrom": {}}]},
        [
            f'{C}.env[0].valueFrom: Invalid value: "": must specify one of: `fieldRef`, '
            "`resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`"
        ],
    ),
    (
        {"env": [{"name": "a", "valueFrom": {"fileKeyRef": {"path": "../x"}}}]},
        [
            f"{C}.env[0].valueFrom.fileKeyRef.key: Required value",
            f"{C}.env[0].valueFrom.fileKeyRef.volumeName: Required value",
            f"{C}.env[0].valueFrom.fileKeyRef.path: Invalid value: \"../x\": must not contain '..'",
            f'{C}.env[0].valueFrom.fileKeyRef.volumeName: Not found: ""',
        ],
    ),
    (
        {"restartPolicy": "Never", "restartPolicyRules": [RESTART] * 21},
        [f"{C}.restartPolicyRules: Too many: 21: must have at most 20 items"],
    ),
    (
        {"restartPolicy": "Never", "restartPolicyRules": [{"action": "Nope"}]},
        [
            f'{C}.restartPolicyRules[0].action: Unsupported value: "Nope": supported values: '
            '"Restart", "RestartAllContainers"',
            f"{C}.restartPolicyRules[0].exitCodes: Required value: must be specified",
        ],
    ),
    (
        {
            "restartPolicyRules": [
                {"action": "Restart", "exitCodes": {"operator": "x", "values": [1] * 256}}
            ]
        },
        [
            f"{C}.restartPolicy: Required value: must specify restartPolicy when restart rules are "
            "used",
            f'{C}.restartPolicyRules[0].exitCodes.operator: Unsupported value: "x": supported '
            'values: "In", "NotIn"',
            f"{C}.restartPolicyRules[0].exitCodes.values: Too many: 256: must have at most 255 "
            "items",
        ],
    ),
    (
        {"env": [{"name": "a", "valueFrom": {"fieldRef": {"apiVersion": "v2", "fieldPath": "x"}}}]},
        [
            f'{C}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "x": error converting '
            "fieldPath: unsupported pod version: v2"
        ],
    ),
    (
        {"env": [{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "x['y']"}}}]},
        [
            f"{C}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: \"x['y']\": error converting "
            "fieldPath: field label does not support subscript: x['y']"
        ],
    ),
    ({"env": [{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "spec.host"}}}]}, []),
    (
        {"env": [{"name": "a", "value": "x", "valueFrom": {"fieldRef": {"fieldPath": "spec.x"}}}]},
        [
            f'{C}.env[0].valueFrom.fieldRef.fieldPath: Invalid value: "spec.x": error converting '
            "fieldPath: field label not supported: spec.x",
            f'{C}.env[0].valueFrom: Invalid value: "": may not be specified when `value` is not '
            "empty",
        ],
    ),
    (
        {"env": [{"name": "a", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['a']"}}}]},
        [],
    ),
    (
        {"env": [{"name": "a", "valueFrom": {"resourceFieldRef": {"resource": "limits.gpu"}}}]},
        [
            f'{C}.env[0].valueFrom.resourceFieldRef.resource: Unsupported value: "limits.gpu": '
            'supported values: "limits.cpu", "limits.ephemeral-storage", "limits.memory", '
            '"requests.cpu", "requests.ephemeral-storage", "requests.memory"'
        ],
    ),
    (
        {"env": [{"name": "a", "valueFrom": {"secretKeyRef": {"name": "s", "key": ""}}}]},
        [f"{C}.env[0].valueFrom.secretKeyRef.key: Required value"],
    ),
    *(
        (
            {"envFrom": [{"prefix": prefix, "configMapRef": {"name": "m"}}]},
            [f"{C}.envFrom[0].prefix: Invalid value: {message}" for message in messages],
        )
        for prefix, messages in (
            ("", []),
            (
                "1a=",
                [
                    '"1a=": a valid environment variable name must consist only of printable ASCII '
                    "characters other than '='",
                ],
            ),
        )
    ),
    (
        {"envFrom": [{}]},
        [f'{C}.envFrom: Invalid value: "": must specify one of: `configMapRef` or `secretRef`'],
    ),
    (
        {"resources": {"requests": {"gpu": "1"}}},
        [
            f'{C}.resources.requests[gpu]: Invalid value: "gpu": must be a standard resource type '
            "or fully qualified",
            f'{C}.resources.requests[gpu]: Invalid value: "gpu": must be a standard resource for '
            "containers",
        ],
    ),
    (
        {"resources": {"requests": {"example.com/gpu": "1"}}},
        [
            f"{C}.resources.limits: Required value: Limit must be set for non overcommitable "
            "resources"
        ],
    ),
    (
        {"resources": {"limits": {"example.com/gpu": "500m"}}},
        [
            f'{C}.resources.limits[example.com/gpu]: Invalid value: "500m": must be an integer',
            f'{C}.resources.requests[example.com/gpu]: Invalid value: "500m": must be an integer',
        ],
    ),
    (
        {"resources": {"requests": {"cpu": "-1"}}},
        [f'{C}.resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0'],
    ),
    ({"livenessProbe": {}}, [f"{C}.livenessProbe: Required value: must specify a handler type"]),
    (
        {"livenessProbe": {"exec": {"command": []}, "successThreshold": 2}},
        [
            f"{C}.livenessProbe.exec.command: Required value",
            f"{C}.livenessProbe.successThreshold: Invalid value: 2: must be 1",
        ],
    ),
    (
        {"readinessProbe": {"httpGet": {"port": 0, "scheme": "x"}, "timeoutSeconds": -1}},
        [
            f"{C}.readinessProbe.httpGet.port: Invalid value: 0: must be between 1 and 65535, "
            "inclusive",
            f'{C}.readinessProbe.httpGet.scheme: Unsupported value: "x": supported values: '
            '"HTTP", "HTTPS"',
            f"{C}.readinessProbe.timeoutSeconds: Invalid value: -1: must be greater than or equal "
            "to 0",
        ],
    ),
    *(
        (
            {"livenessProbe": {"exec": {"command": ["x"]}, "successThreshold": 1, GRACE: seconds}},
            [f"{C}.livenessProbe.{GRACE}: Invalid value: {seconds}: must be greater than 0"],
        )
        for seconds in (0, -1)
    ),
    ({"livenessProbe": {"exec": {"command": ["x"]}, "successThreshold": 1, GRACE: 1}}, []),
    (
        {"readinessProbe": {"exec": {"command": ["x"]}, GRACE: 0}},
        [
            f"{C}.readinessProbe.{GRACE}: Invalid value: 0: must be greater than 0",
            f"{C}.readinessProbe.{GRACE}: Invalid value: 0: must not be set for readinessProbes",
        ],
    ),
    (
        {"startupProbe": {"exec": {"command": ["x"]}, "tcpSocket": {"port": 1}}},
        [f"{C}.startupProbe.tcpSocket: Forbidden: may not specify more than 1 handler type"],
    ),
    (
        {"volumeMounts": [{"name": "v", "mountPath": ""}]},
        [
            f'{C}.volumeMounts[0].name: Not found: "v"',
            f"{C}.volumeMounts[0].mountPath: Required value",
        ],
    ),
    (
        {"securityContext": {"runAsUser": -1}},
        [
            f"{C}.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, "
            "inclusive"
        ],
    ),
    (
        {"securityContext": {"privileged": True, "allowPrivilegeEscalation": False}},
        [
            f'{C}.securityContext: Invalid value: {{"Capabilities":null,"Privileged":true,'
            '"SELinuxOptions":null,"WindowsOptions":null,"RunAsUser":null,"RunAsGroup":null,'
            '"RunAsNonRoot":null,"ReadOnlyRootFilesystem":null,"AllowPrivilegeEscalation":false,'
            '"ProcMount":null,"SeccompProfile":null,"AppArmorProfile":null}: cannot set '
            "`allowPrivilegeEscalation` to false and `privileged` to true"
        ],
    ),
    (
        {"securityContext": {"seccompProfile": {"type": "Localhost"}}},
        [
            f"{C}.securityContext.seccompProfile.localhostProfile: Required value: must be set "
            "when seccomp type is Localhost"
        ],
    ),
    (
        {"lifecycle": {"preStop": {"sleep": {"seconds": 31}}}},
        [
            f"{C}.lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than "
            "terminationGracePeriodSeconds (30)"
        ],
    ),
]


@pytest.mark.parametrize(("fields", "messages"), CONTAINERS)
def test_containers(fields: dict[str, Any], messages: list[str]) -> None:
    assert complaints(pod(container(**fields))) == messages


def volume(**source: Any) -> dict[str, Any]:
    return {"volumes": [{"name": "v", **source}]}


V = "spec.volumes[0]"
SPECS: list[tuple[dict[str, Any], list[str]]] = [
    (volume(), []),
    (volume(emptyDir={}), []),
    (
        volume(emptyDir={}, secret={"secretName": "s"}),
        [f"{V}.secret: Forbidden: may not specify more than 1 volume type"],
    ),
    (volume(secret={}), [f"{V}.secret.secretName: Required value"]),
    (
        volume(configMap={"name": "c", "defaultMode": 512}),
        [
            f"{V}.configMap.defaultMode: Invalid value: 512: must be a number between 0 and 0777 "
            "(octal), both inclusive"
        ],
    ),
    (
        volume(configMap={"name": "c", "items": [{"key": "k", "path": "../x"}]}),
        [f"{V}.configMap.items[0].path: Invalid value: \"../x\": must not contain '..'"],
    ),
    (volume(hostPath={"path": ""}), [f"{V}.hostPath.path: Required value"]),
    (
        volume(nfs={"server": "s", "path": "x"}),
        [f'{V}.nfs.path: Invalid value: "x": must be an absolute path'],
    ),
    (
        volume(persistentVolumeClaim={"claimName": ""}),
        [f"{V}.persistentVolumeClaim.claimName: Required value"],
    ),
    (
        {"volumes": [{"name": "A_", "emptyDir": {}}]},
        [f'{V}.name: Invalid value: "A_": {LABEL}'],
    ),
    (
        {"initContainers": [container(name="i", livenessProbe={"exec": {"command": ["x"]}})]},
        [
            "spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers "
            "without restartPolicy=Always"
        ],
    ),
    (
        {"initContainers": [container()]},
        ['spec.initContainers[0].name: Duplicate value: "c"'],
    ),
    (
        {"dnsPolicy": "None"},
        ["spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"],
    ),
    (
        {"dnsConfig": {"nameservers": ["x"]}},
        [f'spec.dnsConfig.nameservers[0]: Invalid value: "x": {ADDRESS}'],
    ),
    ({"hostAliases": [{"ip": ""}]}, [f'spec.hostAliases[0].ip: Invalid value: "": {ADDRESS}']),
    (
        {"tolerations": [{"operator": "Equal"}]},
        [
            'spec.tolerations[0].operator: Invalid value: "Equal": operator must be Exists when '
            '`key` is empty, which means "match all values and all keys"'
        ],
    ),
    (
        {"tolerations": [{"key": "a", "operator": "Exists", "value": "x"}]},
        [
            'spec.tolerations[0].operator: Invalid value: "x": value must be empty when `operator` '
            "is 'Exists'"
        ],
    ),
    (
        {"tolerations": [{"key": "a", "effect": "NoSchedule", "tolerationSeconds": 3}]},
        [
            "spec.tolerations[0].effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' "
            "when `tolerationSeconds` is set"
        ],
    ),
    (
        {"nodeSelector": {"a b": "c"}},
        ['spec.nodeSelector: Invalid value: "a b": ' + name_rules.qualified_name("a b")[0]],
    ),
    (
        {"activeDeadlineSeconds": 0},
        [
            "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, "
            "inclusive"
        ],
    ),
    (
        {"hostNetwork": True, "hostUsers": False},
        ["spec.hostNetwork: Forbidden: when `hostUsers` is false"],
    ),
    (
        {"hostIPC": True, "hostUsers": False, "containers": [container(volumeDevices=[DEVICE])]},
        [
            f'{C}.volumeDevices[0].name: Not found: "v"',
            "spec.HostIPC: Forbidden: when `hostUsers` is false",
            f"{C}.volumeDevices: Forbidden: when `hostUsers` is false",
        ],
    ),
    (
        {"hostNetwork": True, "hostnameOverride": "A" * 65, "setHostnameAsFQDN": True},
        [
            "spec.hostnameOverride: Forbidden: may not be specified when setHostnameAsFQDN is true",
            "spec.hostnameOverride: Forbidden: may not be specified when hostNetwork is true",
            "spec.hostnameOverride: Too long: may not be more than 64 bytes",
            f'spec.hostnameOverride: Invalid value: "{"A" * 65}": {SUBDOMAIN}',
        ],
    ),
    (
        {"volumes": [{"name": "v", "image": {"pullPolicy": "x"}}]},
        [
            f"{V}.image.reference: Required value",
            f'{V}.image.pullPolicy: Unsupported value: "x": supported values: "Always", '
            '"IfNotPresent", "Never"',
        ],
    ),
    (
        {"overhead": {"hugepages-2Mi": "1Mi", "hugepages-x": "1", "memory": "1"}},
        [
            'spec.overhead.limits[hugepages-2Mi]: Invalid value: "1Mi": 1Mi is not positive '
            "integer multiple of hugepages-2Mi",
            'spec.overhead.limits[hugepages-x]: Invalid value: "1": 1 is not positive integer '
            "multiple of hugepages-x",
        ],
    ),
    ({"overhead": {"hugepages-2Mi": "0", "cpu": "0"}}, []),
    ({"runtimeClassName": ""}, [f'spec.runtimeClassName: Invalid value: "": {SUBDOMAIN}']),
    ({"os": {}}, ["spec.os.name: Required value"]),
    (
        {"tolerations": [{"key": "a", "operator": "Lt"}]},
        [
            'spec.tolerations[0].operator: Unsupported value: "Lt": supported values: "Equal", '
            '"Exists", "Lt", "Gt"'
        ],
    ),
    (
        {"tolerations": [{"key": "a", "operator": "Le"}]},
        [
            'spec.tolerations[0].operator: Unsupported value: "Le": supported values: "Equal", '
            '"Exists"'
        ],
    ),
    (
        {"resources": {"claims": [], "limits": {"storage": "1"}}},
        [
            "spec.resources.claims: Forbidden: claims may not be set for Resources at pod-level",
            'spec.resources.limits[storage]: Unsupported value: "storage": supported values: '
            '"cpu", "hugepages-", "memory"',
        ],
    ),
    (
        {
            "resources": {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}},
            "containers": [container(resources={"limits": {"cpu": "2"}})],
        },
        [
            'spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to '
            "aggregate container requests of 2",
            'spec.resources.containers[0][cpu].limits: Invalid value: "2": must be less than or '
            "equal to pod limits of 1",
        ],
    ),
    (
        {"initContainers": [container(name="i", resizePolicy=[RESIZE])]},
        [
            "spec.initContainers[0].resizePolicy[0].restartPolicy: Invalid value: "
            "\"RestartContainer\": must not be set to 'RestartContainer' for non-sidecar "
            "initContainers"
        ],
    ),
    (
        {"restartPolicy": "Never", "containers": [container(resizePolicy=[RESIZE])]},
        [
            f"{C}.resizePolicy: Invalid value: \"RestartContainer\": must be 'NotRequired' when "
            "pod `restartPolicy` is 'Never'"
        ],
    ),
    (
        {"hostIPC": True, "securityContext": {"sysctls": [{"name": "kernel/shm_a.b"}]}},
        [
            'spec.securityContext.sysctls[0].name: Invalid value: "kernel/shm_a.b": may not be '
            "specified when 'hostIPC' is true"
        ],
    ),
    (
        {"topologySpreadConstraints": [{**SPREAD, "matchLabelKeys": ["*"]}]},
        [
            "spec.topologySpreadConstraints[0].matchLabelKeys: Forbidden: must not be specified "
            "when labelSelector is not set"
        ],
    ),
    (
        {
            "topologySpreadConstraints": [
                {
                    **SPREAD,
                    "matchLabelKeys": ["a"],
                    "labelSelector": {
                        "matchLabels": {"a": "b"},
                        "matchExpressions": [{"key": "a", "operator": "Exists"}],
                    },
                }
            ]
        },
        [
            'spec.topologySpreadConstraints[0][0]: Invalid value: "a": exists in both '
            "matchLabelKeys and labelSelector"
        ],
    ),
    (
        {"os": {"name": "plan9"}},
        ['spec.os: Unsupported value: "plan9": supported values: "linux", "windows"'],
    ),
    (
        {
            "topologySpreadConstraints": [
                {"maxSkew": 0, "topologyKey": "", "whenUnsatisfiable": "x"}
            ]
        },
        [
            "spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than "
            "zero",
            "spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
            'spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "x": '
            'supported values: "DoNotSchedule", "ScheduleAnyway"',
        ],
    ),
    (
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": []}
                }
            }
        },
        [
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
            "nodeSelectorTerms: Required value: must have at least one node selector term"
        ],
    ),
    (
        {"ephemeralContainers": [container(name="e")]},
        ["spec.ephemeralContainers: Forbidden: cannot be set on create"],
    ),
    (
        {"securityContext": {"sysctls": [{"name": "net.a"}, {"name": "net.a"}]}},
        ['spec.securityContext.sysctls[1].name: Duplicate value: "net.a"'],
    ),
]


@pytest.mark.parametrize(("fields", "messages"), SPECS)
def test_specs(fields: dict[str, Any], messages: list[str]) -> None:
    assert complaints(pod(**fields)) == messages


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        ("a", []),
        (
            "a" * 252,
            [
                f'spec.volumes[0].name: Invalid value: "v": PVC name "{"a" * 252}-v": must be no '
                "more than 253 characters"
            ],
        ),
    ],
)
def test_claims_of_a_pod_are_named_after_it(name: str, messages: list[str]) -> None:
    claim = {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": 1}}}}
    value = pod(**volume(ephemeral={"volumeClaimTemplate": claim}))
    value["metadata"] = {**value["metadata"], "name": name}
    assert complaints(value) == messages


def test_variables_come_from_files_in_empty_directories() -> None:
    source = {"volumeName": "v", "key": "K", "path": "f"}
    held = container(env=[{"name": "a", "valueFrom": {"fileKeyRef": source}}])
    assert complaints(pod(held, **volume(emptyDir={}))) == []
    assert complaints(pod(held, **volume(hostPath={"path": "/x"}))) == [
        f'{C}.env[0].valueFrom.fileKeyRef.volumeName: Invalid value: "v": referenced volume must '
        "be of type emptyDir"
    ]


def test_what_is_empty_was_set_on_an_ephemeral_container() -> None:
    wrong = complaints(pod(ephemeralContainers=[container(name="e", ports=[])]))
    assert wrong[0].startswith("spec.ephemeralContainers[0].ports: Forbidden: cannot be set")


def test_host_ports_on_the_host_network() -> None:
    ports = [{"containerPort": 80, "hostPort": 81}]
    message = "must match `containerPort` when `hostNetwork` is true"
    assert complaints(pod(container(ports=ports), hostNetwork=True)) == [
        f"{C}.ports[0].hostPort: Invalid value: 81: {message}"
    ]


HOST_PORTS: list[tuple[dict[str, Any], bool, list[str]]] = [
    ({"containerPort": 80, "hostPort": 80}, True, []),
    ({"containerPort": 80}, True, ["0"]),
    ({"containerPort": 80, "hostPort": 0}, True, ["0"]),
    ({"containerPort": 80, "hostPort": 81}, True, ["81"]),
    ({"containerPort": 80}, False, []),
    ({"containerPort": 80, "hostPort": 0}, False, []),
    ({"containerPort": 80, "hostPort": 81}, False, ["81"]),
]


@pytest.mark.parametrize(("port", "in_pod", "values"), HOST_PORTS)
def test_ports_on_the_host_network_that_nothing_was_filled_in_for(
    port: dict[str, Any], in_pod: bool, values: list[str]
) -> None:
    """A template may leave the port of the host out. A pod may not: defaulting would have filled it
    in, so what comes without one (a static pod, an old object) is refused."""
    spec = {"hostNetwork": True, "containers": [container(ports=[port])]}
    if in_pod:
        value = {"metadata": {"name": "p", "namespace": "n"}, "spec": spec}
        kind = GroupVersionKind("", "v1", "Pod")
    else:
        template = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
        value = {"metadata": {"name": "p", "namespace": "n"}, "template": template}
        kind = GroupVersionKind("", "v1", "PodTemplate")
    errors = [one for one in validate_create(value, kind) if str(one.path).endswith(".hostPort")]
    message = "must match `containerPort` when `hostNetwork` is true"
    assert [(str(one.value), one.detail) for one in errors] == [(v, message) for v in values]


def test_mounts_of_a_volume() -> None:
    mounts = [{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": "/a", "subPath": "/b"}]
    assert complaints(pod(container(volumeMounts=mounts), **volume(emptyDir={}))) == [
        f'{C}.volumeMounts[1].mountPath: Invalid value: "/a": must be unique',
        f'{C}.volumeMounts.subPath: Invalid value: "/b": must be a relative path',
    ]


@pytest.mark.parametrize(
    ("new", "old", "messages"),
    [
        (pod(container(image="b")), pod(), []),
        (pod(), pod(activeDeadlineSeconds=5), 1),
        (
            pod(activeDeadlineSeconds=6),
            pod(activeDeadlineSeconds=5),
            [
                "spec.activeDeadlineSeconds: Invalid value: 6: must be less than or equal to "
                "previous value"
            ],
        ),
        (
            pod(container(), container(name="d")),
            pod(),
            ["spec.containers: Forbidden: pod updates may not add or remove containers"],
        ),
    ],
)
def test_updates(new: dict[str, Any], old: dict[str, Any], messages: Any) -> None:
    found = [one for one in update_complaints(new, old) if "tolerations" not in one]
    found = [one for one in found if not one.startswith("spec: Forbidden")]
    assert len(found) == messages if isinstance(messages, int) else found == messages


def test_other_fields_of_a_pod_do_not_change() -> None:
    new, old = pod(hostname="a", tolerations=[]), pod(tolerations=[])
    assert any(
        one.startswith("spec: Forbidden: pod updates may not change fields other than `spec.")
        for one in update_complaints(new, old)
    )


@pytest.mark.parametrize(
    ("domain", "is_right"), [("_a.b_c.d", True), ("a.", True), ("_", False), ("__a", False)]
)
def test_search_domains_may_begin_with_one_underscore(domain: str, is_right: bool) -> None:
    assert (format_checks.underscored_subdomain(domain.rstrip(".")) == []) is is_right


@pytest.mark.parametrize(
    ("release", "beginning"), [("1.33", "'[a-z0-9]([-a-z0-9]"), ("1.34", "'_?[a-z0-9]([-_a-z0-9]")]
)
def test_the_pattern_of_search_domains_is_shown_since_1_34(release: str, beginning: str) -> None:
    with answering_as(release):
        (message,) = format_checks.underscored_subdomain("-_-")
    assert f"regex used for validation is {beginning}" in message


def test_volumes_are_labelled_file_by_file() -> None:
    """`complaints` asks as a server with its default feature gates."""
    assert complaints(pod(securityContext={"seLinuxChangePolicy": "Recursive"})) == []
    (found,) = complaints(pod(securityContext={"seLinuxChangePolicy": "MountOption"}))
    assert found == (
        'spec.securityContext.seLinuxChangePolicy: Unsupported value: "MountOption": supported '
        'values: "Recursive"'
    )


def test_volumes_are_mounted_with_their_label_where_that_is_allowed() -> None:
    spec = {"securityContext": {"seLinuxChangePolicy": "MountOption"}}
    at = FieldPath("spec", "securityContext")
    assert holding(pod_security_context(at, spec), frozenset({SELINUX_MOUNT})) == []
    before = {"securityContext": {"seLinuxChangePolicy": "Recursive"}}
    assert [*pod_security_context(at, spec, before)] == []


def resource_complaints(release: str, resources: dict[str, Any], **spec: Any) -> list[str]:
    whole = {"containers": [container(resources={"requests": {"memory": "1"}})], **spec}
    with answering_as(release):
        found = pod_requirements(FieldPath("r"), {**whole, "resources": resources}, ())
        return [str(one) for one in found]


def test_resources_of_pods_by_release() -> None:
    claims = "r.claims: Forbidden: claims {} be set for Resources at pod-level"
    unnamed = (
        'r.requests[memory]: Invalid value: "0": must be greater than or equal to aggregate '
        "container requests of 1"
    )
    assert resource_complaints("1.33", {"claims": []}) == [claims.format("cannot"), unnamed]
    assert resource_complaints("1.34", {"claims": []}) == [claims.format("may not")]
    on_windows = {"os": {"name": "windows"}, "containers": []}
    assert not resource_complaints("1.33", {"limits": {"cpu": "1"}}, **on_windows)
    assert resource_complaints("1.34", {"limits": {"cpu": "1"}}, **on_windows) == [
        "r: Forbidden: may not be set for a windows pod"
    ]
    pages = {"limits": {"hugepages-2Mi": "2Mi", "cpu": "1"}}
    (refused,) = resource_complaints("1.32", pages, containers=[])
    assert refused == (
        "r.limits[hugepages-2Mi]: Unsupported value: hugepages-2Mi: supported values: "
        '"cpu", "memory"'
    )
    assert not resource_complaints("1.33", pages, containers=[])


@pytest.mark.parametrize(("release", "shown"), [("1.33", "a/b"), ("1.34", '"a/b"')])
def test_names_of_resized_resources_by_release(release: str, shown: str) -> None:
    policy = {"resourceName": "a/b", "restartPolicy": "NotRequired"}
    with answering_as(release):
        found = complaints(pod(containers=[container(resizePolicy=[policy, policy])]))
    unsupported = (
        f"spec.containers[0].resizePolicy: Unsupported value: {shown}: "
        'supported values: "cpu", "memory"'
    )
    duplicate = f"spec.containers[0].resizePolicy[1]: Duplicate value: {shown}"
    assert found == [unsupported, duplicate, unsupported]
