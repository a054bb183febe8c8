"""Values that are no texts and numbers, in errors: before 1.34 as Go writes them, then as JSON."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as
from celadon.kube.validation.nodes_and_runtime_classes import node_changes
from celadon.kube.validation.persistent_volumes import claim_status
from celadon.kube.validation.pods.internal_types import shown_template
from celadon.kube.validation.services import service_cidr_update
from tests.kube.validation.objects import admitted, complaints, obj, update_complaints

AMOUNT = (
    "resource.Quantity{{i:resource.int64Amount{{value:{}, scale:-3}}, "
    'd:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:"{}", Format:"DecimalSI"}}'
)
SERVICE = {
    "clusterIP": "10.0.0.7",
    "ports": [{"name": "a", "port": 80}, {"name": "b", "port": 80}],
}


ESCALATING = {
    "name": "c",
    "image": "i",
    "securityContext": {"privileged": True, "allowPrivilegeEscalation": False},
}
VOLUME = {"csi": {"driver": "d.example.com", "volumeHandle": "h"}}


CONFINED = {
    "name": "c",
    "image": "i",
    "securityContext": {"seccompProfile": {"type": "RuntimeDefault", "localhostProfile": "p"}},
}


def schema_of(name: str, **given: Any) -> dict[str, Any]:
    rule = {
        "subjects": [{"kind": "Group", "group": {"name": "g"}}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
    }
    spec = {
        "priorityLevelConfiguration": {"name": name},
        "matchingPrecedence": 5,
        "rules": [rule],
        **given,
    }
    made = obj("flowcontrol.apiserver.k8s.io/v1", "FlowSchema", spec=spec)
    made["metadata"]["name"] = name
    return made


def deployment() -> dict[str, Any]:
    template = {
        "metadata": {"labels": {"a": "b"}},
        "spec": {"containers": [{"name": "c", "image": "i"}]},
    }
    none = {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}
    spec = {"selector": {"matchLabels": {"a": "b"}}, "template": template, "strategy": none}
    return obj("apps/v1", "Deployment", spec=spec)


def autoscaler() -> dict[str, Any]:
    target = {"type": "Value", "value": "-300m"}
    metric = {"type": "External", "external": {"metric": {"name": "m"}, "target": target}}
    scaled = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}
    spec = {"scaleTargetRef": scaled, "maxReplicas": 2, "metrics": [metric]}
    return obj("autoscaling/v2", "HorizontalPodAutoscaler", spec=spec)


@pytest.mark.parametrize(
    ("given", "of_go", "of_json"),
    [
        (
            obj("v1", "ResourceQuota", spec={"hard": {"pods": "500m"}}),
            AMOUNT.format(500, "500m") + ": must be an integer",
            '"500m": must be an integer',
        ),
        (
            autoscaler(),
            AMOUNT.format(-300, "-300m") + ": must be positive",
            '"-300m": must be positive',
        ),
        (
            deployment(),
            'intstr.IntOrString{Type:0, IntVal:0, StrVal:""}: may not be 0 when `maxSurge` is 0',
            "0: may not be 0 when `maxSurge` is 0",
        ),
        (
            obj("v1", "Service", spec=SERVICE),
            'core.ServicePort{Name:"", Protocol:"TCP", AppProtocol:(*string)(nil), Port:80, '
            'TargetPort:intstr.IntOrString{Type:0, IntVal:0, StrVal:""}, NodePort:0}',
            '{"Name":"","Protocol":"TCP","AppProtocol":null,"Port":80,"TargetPort":0,"NodePort":0}',
        ),
        (
            obj("networking.k8s.io/v1", "NetworkPolicy", spec={"policyTypes": ["a", "b", "c"]}),
            '[]networking.PolicyType{"a", "b", "c"}: may not specify more than two',
            '["a","b","c"]: may not specify more than two',
        ),
        (
            obj("v1", "Pod", spec={"containers": [ESCALATING]}),
            "core.SecurityContext{Capabilities:(*core.Capabilities)(nil), "
            "Privileged:(*bool)(0xc000000000), SELinuxOptions:(*core.SELinuxOptions)(nil), ",
            '{"Capabilities":null,"Privileged":true,"SELinuxOptions":null,',
        ),
        (
            schema_of("catch-all"),
            "flowcontrol.FlowSchemaSpec{PriorityLevelConfiguration:"
            'flowcontrol.PriorityLevelConfigurationReference{Name:"catch-all"}, '
            "MatchingPrecedence:5, DistinguisherMethod:(*flowcontrol.FlowDistinguisherMethod)(nil),"
            " Rules:[]flowcontrol.PolicyRulesWithSubjects{flowcontrol.PolicyRulesWithSubjects{"
            'Subjects:[]flowcontrol.Subject{flowcontrol.Subject{Kind:"Group", ',
            '{"PriorityLevelConfiguration":{"Name":"catch-all"},"MatchingPrecedence":5,',
        ),
        (
            schema_of("f", distinguisherMethod={"type": "Foo"}),
            'flowcontrol.FlowDistinguisherMethod{Type:"Foo"}: supported values',
            '{"Type":"Foo"}: supported values',
        ),
        (
            obj("policy/v1", "PodDisruptionBudget", spec={"minAvailable": 1, "maxUnavailable": 1}),
            "policy.PodDisruptionBudgetSpec{MinAvailable:(*intstr.IntOrString)(0xc000000000), "
            "Selector:(*v1.LabelSelector)(nil), MaxUnavailable:(*intstr.IntOrString)(0xc000000000)"
            ", UnhealthyPodEvictionPolicy:(*policy.UnhealthyPodEvictionPolicyType)(nil)}: ",
            '{"MinAvailable":1,"Selector":null,"MaxUnavailable":1,',
        ),
        (
            obj("v1", "Pod", spec={"containers": [CONFINED]}),
            'core.SeccompProfile{Type:"RuntimeDefault", LocalhostProfile:(*string)(0xc000000000)}',
            '{"Type":"RuntimeDefault","LocalhostProfile":"p"}',
        ),
    ],
)
def test_in_new_objects(given: dict[str, Any], of_go: str, of_json: str) -> None:
    for release, shown in (("1.31", of_go), ("1.33", of_go), ("1.34", of_json)):
        with answering_as(release):
            assert any(shown in one for one in complaints(admitted(given))), (release, shown)


@pytest.mark.parametrize(
    ("api_version", "kind", "before", "after", "of_go", "of_json"),
    [
        (
            *("apps/v1", "ControllerRevision", {"data": {"a": 2}}, {"data": {"a": 1}}),
            "runtime.RawExtension{Raw:[]uint8{0x7b, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x7d}, "
            "Object:runtime.Object(nil)}: field is immutable",
            '{"a":1}: field is immutable',
        ),
        (
            *("apps/v1", "ControllerRevision", {"data": {"a": 2}}, {"data": None}),
            "runtime.RawExtension{Raw:[]uint8(nil), Object:runtime.Object(nil)}: field is",
            "null: field is immutable",
        ),
        (
            *("v1", "PersistentVolume"),
            {"spec": {**VOLUME, "nodeAffinity": {"required": {"nodeSelectorTerms": []}}}},
            {"spec": {**VOLUME, "nodeAffinity": {}}},
            "core.VolumeNodeAffinity{Required:(*core.NodeSelector)(nil)}: field is immutable",
            '{"Required":null}: field is immutable',
        ),
        (
            *("networking.k8s.io/v1", "IPAddress"),
            {"spec": {"parentRef": {"resource": "services", "name": "s"}}},
            {"spec": {"parentRef": {"resource": "services", "name": "t", "namespace": "n"}}},
            'networking.ParentReference{Group:"", Resource:"services", Namespace:"n", Name:"t"}',
            '{"Group":"","Resource":"services","Namespace":"n","Name":"t"}',
        ),
        (
            *("networking.k8s.io/v1", "ServiceCIDR", {"spec": {"cidrs": ["10.1.0.0/24"]}}, {}),
            "[]string(nil): field is immutable",
            "null: field is immutable",
        ),
        (
            *("storage.k8s.io/v1", "VolumeAttachment"),
            {"spec": {"attacher": "a", "source": {"persistentVolumeName": "p"}, "nodeName": "n"}},
            {"spec": {"attacher": "b", "source": {"persistentVolumeName": "p"}, "nodeName": "n"}},
            'storage.VolumeAttachmentSpec{Attacher:"b", Source:storage.VolumeAttachmentSource{'
            "PersistentVolumeName:(*string)(0xc000000000), "
            'InlineVolumeSpec:(*core.PersistentVolumeSpec)(nil)}, NodeName:"n"}',
            '{"Attacher":"b","Source":{"PersistentVolumeName":"p","InlineVolumeSpec":null},',
        ),
        (
            *("storage.k8s.io/v1", "CSIDriver", {"spec": {"volumeLifecycleModes": ["Ephemeral"]}}),
            {"spec": {"volumeLifecycleModes": ["Persistent"]}},
            '[]storage.VolumeLifecycleMode{"Persistent"}: field is immutable',
            '["Persistent"]: field is immutable',
        ),
    ],
)
def test_in_changed_objects(
    api_version: str,
    kind: str,
    before: dict[str, Any],
    after: dict[str, Any],
    of_go: str,
    of_json: str,
) -> None:
    old, new = (obj(api_version, kind, **fields) for fields in (before, after))
    for release, shown in (("1.33", of_go), ("1.34", of_json)):
        with answering_as(release):
            found = update_complaints(new, old)
            assert any(shown in one for one in found), (release, found)


@pytest.mark.parametrize(("cidrs", "shown"), [([], "[]string{}"), (None, "[]string(nil)")])
def test_ranges_of_1_31(cidrs: list[str] | None, shown: str) -> None:
    with answering_as("1.31"):
        found = service_cidr_update(
            {"spec": {"cidrs": cidrs}}, {"spec": {"cidrs": ["10.1.0.0/24"]}}
        )
        assert f"spec.cidrs: Invalid value: {shown}: field is immutable" in [*map(str, found)]


def test_templates_of_pods() -> None:
    """What only a pointer leads to is an address."""
    options = {"restartPolicy": "Always", "resources": {"limits": {"cpu": "1"}}}
    spread = {"labelSelector": {"matchLabels": {"a": "b"}}, "minDomains": 2}
    spec = {"containers": [{"name": "c", **options}], "topologySpreadConstraints": [spread]}
    shown = shown_template({"metadata": {"labels": {"a": "b"}}, "spec": spec})
    assert shown.data is None
    with answering_as("1.33"):
        found = shown_template({"metadata": {"labels": {"a": "b"}}, "spec": spec}).go_syntax
    for part in (
        'core.PodTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:"", ',
        "CreationTimestamp:time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC), "
        "DeletionTimestamp:<nil>, DeletionGracePeriodSeconds:(*int64)(nil), "
        'Labels:map[string]string{"a":"b"}, Annotations:map[string]string(nil), ',
        'Containers:[]core.Container{core.Container{Name:"c", Image:"", Command:[]string(nil), ',
        'Limits:core.ResourceList{"cpu":resource.Quantity{i:resource.int64Amount{value:1, '
        'scale:0}, d:resource.infDecAmount{Dec:(*inf.Dec)(nil)}, s:"1", Format:"DecimalSI"}}, ',
        "RestartPolicy:(*core.ContainerRestartPolicy)(0xc000000000), ",
        "LabelSelector:(*v1.LabelSelector)(0xc000000000), MinDomains:(*int32)(0xc000000000), ",
        "OS:(*core.PodOS)(nil), ",
    ):
        assert part in found


def test_metadata_of_templates() -> None:
    """Nobody refuses it."""
    given = {
        "name": "n",
        "generateName": "g-",
        "namespace": "ns",
        "creationTimestamp": "2020-03-01T01:02:03Z",
        "deletionTimestamp": "2021-12-31T00:00:00Z",
        "deletionGracePeriodSeconds": 5,
        "ownerReferences": [
            {"apiVersion": "v1", "kind": "A", "name": "a", "uid": "u", "controller": True}
        ],
        "finalizers": ["a.b/c"],
        "managedFields": [{"manager": "m", "time": "2020-03-01T01:02:03Z", "fieldsV1": {}}],
    }
    with answering_as("1.33"):
        found = shown_template({"metadata": given}).go_syntax
    assert found.partition(", Spec:")[0] == (
        'core.PodTemplateSpec{ObjectMeta:v1.ObjectMeta{Name:"n", GenerateName:"g-", '
        'Namespace:"ns", SelfLink:"", UID:"", ResourceVersion:"", Generation:0, '
        "CreationTimestamp:time.Date(2020, time.March, 1, 1, 2, 3, 0, time.Local), "
        "DeletionTimestamp:time.Date(2021, time.December, 31, 0, 0, 0, 0, time.Local), "
        "DeletionGracePeriodSeconds:(*int64)(0xc000000000), Labels:map[string]string(nil), "
        "Annotations:map[string]string(nil), OwnerReferences:[]v1.OwnerReference{"
        'v1.OwnerReference{APIVersion:"v1", Kind:"A", Name:"a", UID:"u", '
        "Controller:(*bool)(0xc000000000), BlockOwnerDeletion:(*bool)(nil)}}, "
        'Finalizers:[]string{"a.b/c"}, ManagedFields:[]v1.ManagedFieldsEntry{'
        'v1.ManagedFieldsEntry{Manager:"m", Operation:"", APIVersion:"", '
        "Time:time.Date(2020, time.March, 1, 1, 2, 3, 0, time.Local), "
        'FieldsType:"", FieldsV1:(*v1.FieldsV1)(0xc000000000), Subresource:""}}}'
    )


def test_addresses_of_nodes() -> None:
    twice = {"status": {"addresses": [{"type": "Hostname", "address": "h"}] * 2}}
    for release, shown in (
        ("1.33", 'core.NodeAddress{Type:"Hostname", Address:"h"}'),
        ("1.34", '{"Type":"Hostname","Address":"h"}'),
    ):
        with answering_as(release):
            found = [str(one) for one in node_changes(twice, {})]
            assert found == [f"status.addresses[1]: Duplicate value: {shown}"]


def test_resources_in_the_status_of_a_claim() -> None:
    """Their names print themselves."""
    status = {"allocatedResourceStatuses": {"storage": "foo"}}
    claim = {"spec": {"accessModes": ["ReadWriteOnce"]}, "status": status}
    for release, shown in (("1.33", "storage"), ("1.34", '"storage"')):
        with answering_as(release):
            found = [str(one) for one in claim_status(claim, {})]
            assert any(f"Unsupported value: {shown}: supported" in one for one in found), found


OF_OLDER_REQUESTS = (
    'resource.DeviceRequest{Name:"r", DeviceClassName:"d", '
    "Selectors:[]resource.DeviceSelector(nil), "
    'AllocationMode:"All", Count:0, AdminAccess:'
)


@pytest.mark.parametrize(
    ("release", "version", "request_", "more"),
    [
        ("1.31", "v1alpha3", f"{OF_OLDER_REQUESTS}false}}", ', Controller:""'),
        ("1.32", "v1beta1", f"{OF_OLDER_REQUESTS}(*bool)(nil)}}", ""),
        (
            *("1.33", "v1beta1"),
            'resource.DeviceRequest{Name:"r", Exactly:(*resource.ExactDeviceRequest)(0xc000000000),'
            " FirstAvailable:[]resource.DeviceSubRequest(nil)}",
            "",
        ),
    ],
)
def test_changed_claims_and_their_templates(
    release: str, version: str, request_: str, more: str
) -> None:
    asked = [{"name": "r", "deviceClassName": "d", "allocationMode": "All"}]
    spec = {"devices": {"requests": asked, "config": [{"opaque": {"driver": "d"}}]}}
    shown = (
        f"resource.ResourceClaimSpec{{Devices:resource.DeviceClaim{{Requests:"
        f"[]resource.DeviceRequest{{{request_}}}, Constraints:[]resource.DeviceConstraint(nil), "
        "Config:[]resource.DeviceClaimConfiguration{resource.DeviceClaimConfiguration{"
        "Requests:[]string(nil), DeviceConfiguration:resource.DeviceConfiguration{"
        f"Opaque:(*resource.OpaqueDeviceConfiguration)(0xc000000000)}}}}}}}}{more}}}"
    )
    group = f"resource.k8s.io/{version}"
    labelled: dict[str, Any] = {"metadata": {"labels": {"a": "b"}}, "spec": spec}
    with answering_as(release):
        found = update_complaints(
            obj(group, "ResourceClaim", spec=spec), obj(group, "ResourceClaim", spec={})
        )
        assert f"spec: Invalid value: {shown}: field is immutable" in found
        found = update_complaints(
            obj(group, "ResourceClaimTemplate", spec=labelled),
            obj(group, "ResourceClaimTemplate", spec={"spec": {}}),
        )
    (changed,) = (one for one in found if "immutable" in one)
    assert changed.startswith(
        "spec: Invalid value: resource.ResourceClaimTemplateSpec{ObjectMeta:v1.ObjectMeta{"
        'Name:"", GenerateName:"", Namespace:"", SelfLink:"", UID:"", ResourceVersion:"", '
        "Generation:0, CreationTimestamp:time.Date(1, time.January, 1, 0, 0, 0, 0, time.UTC), "
        "DeletionTimestamp:<nil>, DeletionGracePeriodSeconds:(*int64)(nil), "
        'Labels:map[string]string{"a":"b"}, '
    )
    assert f"Spec:{shown}}}: field is immutable" in changed


@pytest.mark.parametrize(("release", "name"), [("1.32", '""'), ("1.33", '"null"')])
def test_the_node_that_a_slice_has_no_more(release: str, name: str) -> None:
    pool = {"name": "p", "resourceSliceCount": 1, "generation": 1}
    spec = {"driver": "d.example.com", "pool": pool, "allNodes": True}
    group = "resource.k8s.io/v1beta1"
    with answering_as(release):
        found = update_complaints(
            obj(group, "ResourceSlice", spec=spec),
            obj(group, "ResourceSlice", spec={**spec, "nodeName": "n"}),
        )
    assert f"spec.nodeName: Invalid value: {name}: field is immutable" in found


@pytest.mark.parametrize(
    ("release", "shown"),
    [
        ("1.33", 'field.Path{name:"dataSource", index:"", parent:(*field.Path)(0xc000000000)}'),
        ("1.34", "{}"),
    ],
)
def test_paths_that_are_shown_for_sources_of_data(release: str, shown: str) -> None:
    claim = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": "1Gi"}},
        "dataSource": {"kind": "PersistentVolumeClaim", "name": "a"},
        "dataSourceRef": {"kind": "PersistentVolumeClaim", "name": "b"},
    }
    with answering_as(release):
        found = complaints(obj("v1", "PersistentVolumeClaim", spec=claim))
    assert f"spec: Invalid value: {shown}: must match dataSourceRef" in found


def test_attributes_of_devices() -> None:
    device = {"name": "d", "basic": {"attributes": {"a": {"bool": True, "string": "s"}}}}
    pool = {"name": "p", "resourceSliceCount": 1, "generation": 1}
    spec = {"driver": "d.example.com", "pool": pool, "allNodes": True, "devices": [device]}
    with answering_as("1.32"):
        found = complaints(obj("resource.k8s.io/v1beta1", "ResourceSlice", spec=spec))
    shown = (
        "resource.DeviceAttribute{IntValue:(*int64)(nil), BoolValue:(*bool)(0xc000000000), "
        "StringValue:(*string)(0xc000000000), VersionValue:(*string)(nil)}"
    )
    assert any(shown in one for one in found), found


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (
            {"a": 1},
            'runtime.Unknown{TypeMeta:runtime.TypeMeta{APIVersion:"", Kind:""}, '
            "Raw:[]uint8{0x7b, 0x22, 0x61, 0x22, 0x3a, 0x31, 0x7d}, "
            'ContentEncoding:"", ContentType:"application/json"}',
        ),
        (None, '"null"'),
    ],
)
def test_revisions_of_1_30(data: dict[str, int] | None, shown: str) -> None:
    old, new = (obj("apps/v1", "ControllerRevision", data=data) for data in ({"a": 2}, data))
    with answering_as("1.30"):
        assert f"data: Invalid value: {shown}: field is immutable" in update_complaints(new, old)


@pytest.mark.parametrize("release", ["1.33", "1.36"])
def test_the_group_of_a_source_that_had_one_is_not_judged(release: str) -> None:
    def claim(group: str) -> dict[str, object]:
        source = {"apiGroup": group, "kind": "K", "name": "n"}
        amount = {"requests": {"storage": "1Gi"}}
        spec = {"accessModes": ["ReadWriteOnce"], "resources": amount, "dataSourceRef": source}
        return obj("v1", "PersistentVolumeClaim", spec=spec)

    with answering_as(release):
        errors = update_complaints(claim("a:b"), claim("e.com"))
    assert errors
    assert not any("apiGroup:" in error for error in errors)


@pytest.mark.parametrize(
    ("version", "release", "shown"),
    [
        (
            "v1alpha3",
            "1.31",
            'resource.ResourceSliceSpec{Driver:"d.e.com", Pool:resource.ResourcePool{Name:"p", '
            'Generation:1, ResourceSliceCount:1}, NodeName:"n", NodeSelector:'
            "(*core.NodeSelector)(nil), AllNodes:true, Devices:[]resource.Device{resource.Device{"
            'Name:"d", Basic:(*resource.BasicDevice)(0xc000000000)}}}',
        ),
        ("v1beta1", "1.32", '"null"'),
    ],
)
def test_slices_in_two_places(version: str, release: str, shown: str) -> None:
    pool = {"name": "p", "resourceSliceCount": 1, "generation": 1}
    places = {"nodeName": "n", "allNodes": True}
    devices = [{"name": "d", "basic": {}}]
    spec = {"driver": "d.e.com", "pool": pool, **places, "devices": devices}
    with answering_as(release):
        found = complaints(admitted(obj(f"resource.k8s.io/{version}", "ResourceSlice", spec=spec)))
    detail = "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required"
    assert f"spec: Invalid value: {shown}: {detail}" in found


def test_devices_without_properties() -> None:
    pool = {"name": "p", "resourceSliceCount": 1, "generation": 1}
    spec = {"driver": "d.example.com", "pool": pool, "allNodes": True, "devices": [{"name": "d"}]}
    with answering_as("1.32"):
        found = complaints(admitted(obj("resource.k8s.io/v1beta1", "ResourceSlice", spec=spec)))
    assert "spec.devices[0].basic: Required value" in found
