"""A server of another release: it starts, and serves what that release has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.operation.runtime_config import feature_gates
from celadon.kube.resources import DEFAULT_PLUGINS
from tests.apiserver.asking import ask, make, said
from tests.apiserver.in_process import Running

ADMIN = [("authorization", "Bearer admin-token")]
RELEASES = ("1.30", "1.31", "1.32", "1.33", "1.34", "1.35", "1.36")


@pytest.mark.parametrize("release", RELEASES)
def test_groups_and_versions(release: str) -> None:
    running = Running(Settings(version=release, all_versions=True))
    try:
        answer = running.answer(HttpRequest("GET", "/apis", ADMIN, b""))
        groups = {one["name"]: one["versions"] for one in json.loads(answer.body)["groups"]}
        versions = {name: {one["version"] for one in group} for name, group in groups.items()}
        assert ("v1" in versions["resource.k8s.io"]) is (release >= "1.34")
        assert ("v1alpha2" in versions["resource.k8s.io"]) is (release == "1.30")
        kinds = running.answer(
            HttpRequest("GET", "/apis/admissionregistration.k8s.io/v1", ADMIN, b"")
        )
        names = {one["name"] for one in json.loads(kinds.body)["resources"]}
        assert ("mutatingadmissionpolicies" in names) is (release == "1.36")
    finally:
        running.close()


MAPS = "/api/v1/namespaces/default/configmaps"
NUMBER = 'resourceVersion: Invalid value: "x": strconv.ParseUint: parsing "x": invalid syntax'
BAD_VERSIONS = [
    ("1.32", "", (500, NUMBER)),
    ("1.32", "&limit=1", (400, f"invalid resource version: {NUMBER}")),
    ("1.33", "", (400, f"invalid resource version: {NUMBER}")),
]


@pytest.mark.parametrize(("release", "query", "refused"), BAD_VERSIONS)
def test_lists_at_what_is_no_version(release: str, query: str, refused: tuple[int, str]) -> None:
    running = Running(Settings(version=release))
    try:
        assert said(ask(running, "GET", f"{MAPS}?resourceVersion=x{query}")) == refused
    finally:
        running.close()


SCALES = {
    "/apis/apps/v1/namespaces/default/deployments": 'deployments/scale.apps "a" not found',
    "/apis/apps/v1/namespaces/default/statefulsets": 'statefulsets.apps "a" not found',
    "/api/v1/namespaces/default/replicationcontrollers": (
        'replicationcontrollers/scale.autoscaling "a" not found'
    ),
}


def test_scales_of_objects_that_are_not_there() -> None:
    before, since = (Running(Settings(version=release)) for release in ("1.32", "1.33"))
    try:
        for path, text in SCALES.items():
            assert said(ask(before, "GET", f"{path}/a/scale")) == (404, text)
            assert "/scale" not in said(ask(since, "GET", f"{path}/a/scale"))[1]
    finally:
        before.close()
        since.close()


@pytest.mark.parametrize(
    ("release", "code"), [("1.31", 406), ("1.32", 422), ("1.35", 422), ("1.36", 406)]
)
@pytest.mark.parametrize("watch", ["", "&watch=1"])
def test_whether_options_or_media_types_are_refused_first(
    release: str, code: int, watch: str
) -> None:
    """The router, which knows types without parameters, comes before both."""
    running = Running(Settings(version=release))
    target = f"{MAPS}?resourceVersionMatch=x{watch}"
    try:
        for accept, refused in (("application/json;as=X", code), ("text/x", 406)):
            wrong = HttpRequest("GET", target, [*ADMIN, ("accept", accept)], b"")
            assert running.answer(wrong).code == refused
    finally:
        running.close()


DEVICES = "/apis/resource.k8s.io"


@pytest.mark.parametrize(
    ("release", "other"), [("1.31", ""), ("1.32", "v1beta1"), ("1.33", "v1beta2")]
)
def test_devices_of_v1alpha3(release: str, other: str) -> None:
    """A capacity is a bare amount; other versions show it in a field, and v1beta2 flat."""
    basic = {"capacity": {"memory": "1Gi"}}
    pool = {"name": "p", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "d.example.com", "nodeName": "n", "pool": pool}
    devices = [{"name": "d", "basic": basic}]
    given = {"metadata": {"name": "s"}, "spec": {**spec, "devices": devices}}
    running = Running(Settings(version=release, all_versions=True))
    try:
        make(running, f"{DEVICES}/v1alpha3/resourceslices", given)
        if other:
            shown = ask(running, "GET", f"{DEVICES}/{other}/resourceslices/s")
            found = json.loads(shown.body)["spec"]["devices"][0]
            flat = {"capacity": {"memory": {"value": "1Gi"}}}
            inner = {"basic": flat} if other == "v1beta1" else flat
            assert found == {"name": "d", **inner}
    finally:
        running.close()


@pytest.mark.parametrize("gate", [False, True])
def test_control_planes_that_allocate_devices(gate: bool) -> None:
    """What a gate of 1.31 brought is dropped without it."""
    term = {"matchExpressions": [{"key": "a", "operator": "Exists"}]}
    nodes = {"suitableNodes": {"nodeSelectorTerms": [term]}}
    claimed = {"controller": "c.example.com", "devices": {}}
    gates = {"DRAControlPlaneController": gate}
    running = Running(Settings(version="1.31", all_versions=True, gates=gates))
    try:
        of_class = {"metadata": {"name": "c"}, "spec": nodes}
        made = json.loads(ask(running, "POST", f"{DEVICES}/v1alpha3/deviceclasses", of_class).body)
        assert made["spec"] == (nodes if gate else {})
        claims = f"{DEVICES}/v1alpha3/namespaces/default/resourceclaims"
        of_claim = {"metadata": {"name": "c"}, "spec": claimed}
        made = json.loads(ask(running, "POST", claims, of_claim).body)
        assert made["spec"].get("controller") == ("c.example.com" if gate else None)
    finally:
        running.close()


@pytest.mark.parametrize(
    ("release", "version", "of_object", "of_status"),
    [
        ("1.31", "v1beta1", "new", "x"),
        ("1.32", "v1beta1", "new", None),
        ("1.35", "v1", "new", None),
        ("1.36", "v1", "old", None),
    ],
)
def test_what_writes_of_service_ranges_change(
    release: str, version: str, of_object: str, of_status: str | None
) -> None:
    """The status through the object itself, labels through the status."""
    kinds = f"/apis/networking.k8s.io/{version}/servicecidrs"
    spec = {"cidrs": ["10.9.0.0/24"]}

    def given(reason: str, **meta: Any) -> dict[str, Any]:
        condition = {"type": "T", "status": "True", "message": "", "reason": reason}
        since = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
        status = {"conditions": [{**condition, **since}]}
        return {"metadata": {"name": "r", **meta}, "spec": spec, "status": status}

    running = Running(Settings(version=release, all_versions=True))
    try:
        make(running, kinds, {"metadata": {"name": "r"}, "spec": spec})
        labelled = given("old", labels={"a": "x"})
        made = json.loads(ask(running, "PUT", f"{kinds}/r/status", labelled).body)
        assert made["metadata"].get("labels", {}).get("a") == of_status
        made = json.loads(ask(running, "PUT", f"{kinds}/r", given("new")).body)
        assert made["status"]["conditions"][0]["reason"] == of_object
    finally:
        running.close()


BINDINGS = "/apis/admissionregistration.k8s.io/{}/validatingadmissionpolicybindings"


@pytest.mark.parametrize(
    ("release", "version"), [("1.30", "v1alpha1"), ("1.31", "v1alpha1"), ("1.33", "v1beta1")]
)
def test_who_manages_bindings_of_older_versions(release: str, version: str) -> None:
    spec = {"policyName": "p", "validationActions": ["Deny"]}
    running = Running(Settings(version=release, all_versions=True))
    try:
        made = ask(
            running,
            "POST",
            BINDINGS.format(version),
            {"metadata": {"name": "b"}, "spec": spec},
        )
        managers = json.loads(made.body)["metadata"]["managedFields"]
        assert [one["apiVersion"] for one in managers] == [
            f"admissionregistration.k8s.io/{version}"
        ]
    finally:
        running.close()


@pytest.mark.parametrize(
    ("release", "gate", "finalizers"),
    [
        ("1.32", True, None),
        ("1.33", False, None),
        ("1.33", True, ["kubernetes.io/vac-protection"]),
        ("1.34", False, None),
        ("1.34", True, ["kubernetes.io/vac-protection"]),
    ],
)
def test_whether_classes_of_attributes_are_protected(
    release: str, gate: bool, finalizers: list[str] | None
) -> None:
    kinds = "/apis/storage.k8s.io/v1beta1/volumeattributesclasses"
    given = {"metadata": {"name": "c"}, "driverName": "d", "parameters": {"a": "b"}}
    settings = Settings(version=release, all_versions=True, gates={"VolumeAttributesClass": gate})
    running = Running(settings)
    try:
        made = json.loads(ask(running, "POST", kinds, given).body)
        assert made["metadata"].get("finalizers") == finalizers
    finally:
        running.close()


@pytest.mark.parametrize(
    ("release", "gate", "quality"),
    [("1.33", False, "Guaranteed"), ("1.33", True, "Burstable"), ("1.31", False, "Guaranteed")],
)
def test_the_quality_of_pods_with_resources_of_their_own(
    release: str, gate: bool, quality: str
) -> None:
    """What the gate takes away does not count."""
    limits = {"limits": {"cpu": "1", "memory": "1Gi"}}
    wide = {"limits": {"cpu": "2", "memory": "2Gi"}, "requests": {"cpu": "1", "memory": "1Gi"}}
    spec = {
        "containers": [{"name": "c", "image": "i", "resources": limits}],
        "resources": wide,
    }
    gates = {"PodLevelResources": gate} if gate else {}
    plugins = DEFAULT_PLUGINS - {"ServiceAccount"}
    running = Running(Settings(version=release, gates=gates, plugins=plugins))
    try:
        pod = {"metadata": {"name": "p"}, "spec": spec}
        made = ask(running, "POST", "/api/v1/namespaces/default/pods", pod)
        assert json.loads(made.body)["status"]["qosClass"] == quality
    finally:
        running.close()


@pytest.mark.parametrize(
    ("release", "reason"),
    [
        ("1.31", ""),
        (
            "1.32",
            'User "alice" cannot create resource "configmaps" in API group "" in the namespace '
            '"default"',
        ),
    ],
)
def test_an_apply_that_may_not_create(release: str, reason: str) -> None:
    rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/default"
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["patch"]}
    subject = {"kind": "User", "name": "alice", "apiGroup": "rbac.authorization.k8s.io"}
    ref = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"}
    named = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "r"}}
    config = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}
    running = Running(Settings(version=release))
    try:
        make(running, f"{rbac}/roles", {**named, "kind": "Role", "rules": [rule]})
        binding = {**named, "kind": "RoleBinding", "subjects": [subject], "roleRef": ref}
        make(running, f"{rbac}/rolebindings", binding)
        path, form = f"{MAPS}/a?fieldManager=m", "application/apply-patch+yaml"
        answer = ask(running, "PATCH", path, config, token="alice-token", content_type=form)
        assert said(answer) == (403, f'configmaps "a" is forbidden: {reason}')
    finally:
        running.close()


@pytest.mark.parametrize(
    ("release", "line"), [("1.30", 54), ("1.31", 53), ("1.32", 53), ("1.33", 55), ("1.36", 55)]
)
def test_where_the_kinds_of_definitions_are_registered(release: str, line: int) -> None:
    kinds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    other = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "List", "metadata": {"name": "a"}}
    running = Running(Settings(version=release))
    try:
        message = json.loads(ask(running, "POST", kinds, other).body)["message"]
        assert message.endswith(f'pkg/apiserver/apiserver.go:{line}"')
    finally:
        running.close()


EVERY_GATE = "AllAlpha=true,AllBeta=true"


def with_gates(release: str, gates: str = "", **more: Any) -> Running:
    named = feature_gates(gates, release)
    return Running(Settings(version=release, all_versions=True, gates=named, **more))


@pytest.mark.parametrize("release", RELEASES)
def test_a_server_with_every_gate_starts(release: str) -> None:
    """Of mutating policies 1.30 knows the gate, and no kind."""
    running = with_gates(release, EVERY_GATE)
    try:
        policies = "/apis/admissionregistration.k8s.io/v1alpha1/mutatingadmissionpolicies"
        assert ask(running, "GET", policies).code == (200 if release >= "1.32" else 404)
    finally:
        running.close()


def test_contexts_of_scheduling_have_a_status_of_their_own() -> None:
    running = with_gates("1.31")
    place = f"{DEVICES}/v1alpha3/namespaces/default/podschedulingcontexts"
    status = {"resourceClaims": [{"name": "c", "unsuitableNodes": ["n"]}]}
    context = {"metadata": {"name": "c"}, "spec": {"selectedNode": "n"}, "status": status}
    try:
        assert (
            "resourceClaims" not in json.loads(ask(running, "POST", place, context).body)["status"]
        )
        kept = json.loads(ask(running, "PUT", f"{place}/c/status", context).body)
        assert kept["status"] == status
        changed = json.loads(ask(running, "PUT", f"{place}/c", {**context, "status": {}}).body)
        assert changed["status"] == status
        gone = json.loads(ask(running, "DELETE", f"{place}/c").body)
        assert (gone["kind"], gone["status"]) == ("PodSchedulingContext", status)
    finally:
        running.close()


@pytest.mark.parametrize(("release", "is_kept"), [("1.31", True), ("1.32", False)])
def test_access_of_administrators_is_older_than_its_gate(release: str, is_kept: bool) -> None:
    version = "v1alpha3" if release == "1.31" else "v1beta1"
    request = {"name": "r", "deviceClassName": "c", "adminAccess": True}
    claim = {"metadata": {"name": "c"}, "spec": {"devices": {"requests": [request]}}}
    running = with_gates(release)
    try:
        claims = f"{DEVICES}/{version}/namespaces/default/resourceclaims"
        made = json.loads(ask(running, "POST", claims, claim).body)
        assert ("adminAccess" in made["spec"]["devices"]["requests"][0]) is is_kept
    finally:
        running.close()


CLAIM_1_30 = {"resourceClassName": "c", "allocationMode": "Immediate"}
IMMUTABLE_1_30 = [
    (
        "resourceclaims",
        CLAIM_1_30,
        {**CLAIM_1_30, "resourceClassName": "d"},
        'resource.ResourceClaimSpec{ResourceClassName:"d", ParametersRef:'
        '(*resource.ResourceClaimParametersReference)(nil), AllocationMode:"Immediate"}',
    ),
    (
        "resourceclaimtemplates",
        {"spec": CLAIM_1_30},
        {"spec": {**CLAIM_1_30, "resourceClassName": "d"}},
        'Spec:resource.ResourceClaimSpec{ResourceClassName:"d", ParametersRef:'
        '(*resource.ResourceClaimParametersReference)(nil), AllocationMode:"Immediate"}}',
    ),
]


@pytest.mark.parametrize(("resource", "before", "after", "printed"), IMMUTABLE_1_30)
def test_claims_of_1_30_that_may_not_change(
    resource: str, before: dict[str, Any], after: dict[str, Any], printed: str
) -> None:
    running = with_gates("1.30")
    place = f"{DEVICES}/v1alpha2/namespaces/default/{resource}"
    try:
        assert ask(running, "POST", place, {"metadata": {"name": "c"}, "spec": before}).code == 201
        changed = {"metadata": {"name": "c"}, "spec": after}
        code, message = said(ask(running, "PUT", f"{place}/c", changed))
        assert (code, f"{printed}: field is immutable" in message) == (422, True)
    finally:
        running.close()


PODS = "/api/v1/namespaces/default/pods"
ONE_OF = "must specify one of: `resourceClaimName`, `resourceClaimTemplateName`"


@pytest.mark.parametrize(
    ("release", "claim", "error"),
    [
        (
            "1.30",
            {"name": "a", "source": {}},
            "spec.resourceClaims[0].source: Invalid value: core.ClaimSource{ResourceClaimName:"
            f"(*string)(nil), ResourceClaimTemplateName:(*string)(nil)}}: {ONE_OF}",
        ),
        (
            "1.31",
            {"name": "a"},
            'spec.resourceClaims[0]: Invalid value: core.PodResourceClaim{Name:"a", '
            "ResourceClaimName:(*string)(nil), ResourceClaimTemplateName:(*string)(nil)}: "
            f"{ONE_OF}",
        ),
    ],
)
def test_what_a_pod_says_of_its_claims(release: str, claim: dict[str, Any], error: str) -> None:
    running = with_gates(release, EVERY_GATE, plugins=DEFAULT_PLUGINS - {"ServiceAccount"})
    spec = {"containers": [{"name": "c", "image": "i"}], "resourceClaims": [claim]}
    try:
        pod = {"metadata": {"name": "p"}, "spec": spec}
        assert said(ask(running, "POST", PODS, pod)) == (422, f'Pod "p" is invalid: {error}')
    finally:
        running.close()


@pytest.mark.parametrize(
    ("release", "sent", "held"),
    [
        ("1.33", "0.5", "{value: 5, scale: -1}, Format"),
        ("1.33", "500m", '{value: 500, scale: -3}, s: "500m", Format'),
        ("1.33", "1000m", "{value: 1000, scale: -3}, Format"),
        ("1.34", "1000m", '"1"'),
    ],
)
def test_amounts_of_changed_pods_are_shown_as_they_were_sent(
    release: str, sent: str, held: str
) -> None:
    def pod(amount: str) -> dict[str, Any]:
        resources = {"requests": {"cpu": amount}}
        container = {"name": "c", "image": "i", "resources": resources}
        return {"metadata": {"name": "p"}, "spec": {"containers": [container]}}

    running = with_gates(release, plugins=DEFAULT_PLUGINS - {"ServiceAccount"})
    try:
        assert ask(running, "POST", PODS, pod("2")).code == 201
        code, message = said(ask(running, "PUT", f"{PODS}/p", pod(sent)))
        assert (code, held in message.replace("\u00a0", " ")) == (422, True)
    finally:
        running.close()


@pytest.mark.parametrize(("release", "count"), [("1.32", 2), ("1.33", 1)])
def test_addresses_that_a_service_had(release: str, count: int) -> None:
    """Before 1.33 they are judged as new ones, `None` behind another address, too."""
    services = "/api/v1/namespaces/default/services"
    service = {"metadata": {"name": "s"}, "spec": {"clusterIP": "None", "ports": [{"port": 80}]}}
    running = with_gates(release)
    try:
        made = json.loads(ask(running, "POST", services, service).body)
        made["spec"]["clusterIPs"] = ["None", "None"]
        _, message = said(ask(running, "PUT", f"{services}/s", made))
        assert message.count("Invalid value") == count
    finally:
        running.close()


@pytest.mark.parametrize(("release", "generation"), [("1.30", 2), ("1.31", 1)])
def test_what_an_update_of_a_definition_loses_is_counted(release: str, generation: int) -> None:
    """Fields to select by are dropped in 1.30, where their gate is off, after the generation."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    version = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "selectableFields": [{"jsonPath": ".a"}],
    }
    names = {"kind": "Thing", "plural": "things"}
    spec = {"group": "e.com", "names": names, "scope": "Cluster", "versions": [version]}
    definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    running = with_gates(release)
    try:
        made = make(running, definitions, {"metadata": {"name": "things.e.com"}, "spec": spec})
        made["spec"]["versions"][0]["selectableFields"] = version["selectableFields"]
        del made["metadata"]["resourceVersion"]
        again = json.loads(
            ask(
                running,
                "PATCH",
                f"{definitions}/things.e.com",
                made,
                content_type="application/merge-patch+json",
            ).body
        )
        assert again["metadata"]["generation"] == generation
    finally:
        running.close()


@pytest.mark.parametrize(
    ("release", "distinct", "is_kept"),
    [("1.34", True, True), ("1.34", False, False), ("1.35", False, False)],
)
def test_what_a_claim_asks_for_is_a_use_for_its_status(
    release: str, distinct: bool, is_kept: bool
) -> None:
    """Of a gate that is off: 1.34 keeps by mistake what asks for distinct devices, which it then
    takes for a use. When devices were allocated it keeps with another gate."""
    constraint = {"distinctAttribute": "a.e.com/b"} if distinct else {"matchAttribute": "a.e.com/b"}
    request = {"name": "r", "exactly": {"deviceClassName": "c", "allocationMode": "All"}}
    spec = {"devices": {"requests": [request], "constraints": [constraint]}}
    device = {"driver": "d.e.com", "pool": "p", "device": "d"}
    allocated = {**device, "request": "r", "consumedCapacity": {"memory": "1Gi"}}
    allocation = {
        "devices": {"results": [allocated]},
        "allocationTimestamp": "2026-01-01T00:00:00Z",
    }
    claims = f"{DEVICES}/v1/namespaces/default/resourceclaims"
    running = with_gates(release)
    try:
        claim = {"metadata": {"name": "c"}, "spec": spec}
        assert ask(running, "POST", claims, claim).code == 201
        change = {"status": {"allocation": allocation}}
        merge = "application/merge-patch+json"
        answer = ask(running, "PATCH", f"{claims}/c/status", change, content_type=merge)
        kept = json.loads(answer.body)["status"]["allocation"]
        assert ("consumedCapacity" in kept["devices"]["results"][0]) is is_kept
        assert ("allocationTimestamp" in kept) is (release == "1.35")
    finally:
        running.close()
