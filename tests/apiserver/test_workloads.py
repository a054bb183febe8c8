"""Workloads and PodGroups, which are there while GenericWorkload is on.

As kube-apiserver 1.36 answers with its gates, and as the rules of 1.35 say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.kube.json_types import JsonObject
from tests.apiserver.asking import ask, read, said
from tests.apiserver.in_process import Running

ALL: Final = (
    *("GenericWorkload", "GangScheduling", "TopologyAwareWorkloadScheduling"),
    *("DRAWorkloadResourceClaims", "WorkloadAwarePreemption"),
)
GROUP: Final = "/apis/scheduling.k8s.io"
SPACE: Final = f"{GROUP}/v1alpha2/namespaces/default"
GROUPS: Final = f"{SPACE}/podgroups"
WORKLOADS: Final = f"{SPACE}/workloads"
OLDER: Final = f"{GROUP}/v1alpha1/namespaces/default/workloads"
PODS: Final = "/api/v1/namespaces/default/pods?dryRun=All"
MERGE: Final = {"content_type": "application/merge-patch+json"}

BASIC: Final[JsonObject] = {"schedulingPolicy": {"basic": {}}}
GANG: Final[JsonObject] = {"schedulingPolicy": {"gang": {"minCount": 2}}}
TEMPLATE: Final = {"name": "a", **GANG}
CLAIM: Final = {"name": "c", "resourceClaimName": "x"}
CONDITION: Final = {
    "type": "PodGroupScheduled",
    "status": "True",
    "reason": "R",
    "message": "m",
    "lastTransitionTime": "2024-01-01T00:00:00Z",
}
LABEL: Final = "a lowercase RFC 1123 label must consist of"
SUBDOMAIN: Final = "a lowercase RFC 1123 subdomain must consist of"


def running(release: str = "1.36", gates: tuple[str, ...] = ALL) -> Iterator[Running]:
    made = Running(Settings(version=release, all_versions=True, gates=dict.fromkeys(gates, True)))
    yield made
    made.close()


@pytest.fixture(scope="module", name="server")
def server_with_all_gates() -> Iterator[Running]:
    yield from running()


@pytest.fixture(scope="module", name="plain")
def server_with_one_gate() -> Iterator[Running]:
    yield from running(gates=("GenericWorkload",))


@pytest.fixture(scope="module", name="older")
def server_of_1_35() -> Iterator[Running]:
    yield from running("1.35", ("GenericWorkload",))


def named(name: str, spec: Mapping[str, Any] | None = None, **meta: Any) -> JsonObject:
    return {"metadata": {"name": name, **meta}, **({} if spec is None else {"spec": dict(spec)})}


def templates(*changes: Mapping[str, Any]) -> JsonObject:
    return {"podGroupTemplates": [{**TEMPLATE, **one} for one in changes]}


def test_they_are_there_while_the_gate_is_on(server: Running, older: Running) -> None:
    names = [one["name"] for one in read(ask(server, "GET", f"{GROUP}/v1alpha2"))["resources"]]
    assert names == ["podgroups", "podgroups/status", "workloads"]
    names = [one["name"] for one in read(ask(older, "GET", f"{GROUP}/v1alpha1"))["resources"]]
    assert names == ["workloads"]
    for release in ("1.34", "1.35", "1.36"):
        for without in running(release, ()):
            group = read(ask(without, "GET", GROUP))
            assert [one["version"] for one in group["versions"]] == ["v1"]


REFUSED_WORKLOADS: Final = {
    "spec.podGroupTemplates: Required value": {},
    "spec.podGroupTemplates: Too many: 9: must have at most 8 items": templates(
        *({"name": f"a{number}"} for number in range(9))
    ),
    'spec.podGroupTemplates[1]: Duplicate value: {"name":"a","schedulingPolicy":{"gang":'
    '{"minCount":2}},"schedulingConstraints":null,"priority":5}': templates({}, {"priority": 5}),
    "spec.podGroupTemplates[0].name: Required value": templates({"name": ""}),
    f'spec.podGroupTemplates[0].name: Invalid value: "A_": {LABEL}': templates({"name": "A_"}),
    'spec.podGroupTemplates[0].schedulingPolicy: Invalid value: "": must specify one of: `basic`, '
    "`gang`": templates({"schedulingPolicy": {}}),
    'spec.podGroupTemplates[0].schedulingPolicy: Invalid value: "{basic, gang}": must specify '
    "exactly one of: `basic`, `gang`": templates(
        {"schedulingPolicy": {"basic": {}, "gang": {"minCount": 1}}}
    ),
    "spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Required value": templates(
        {"schedulingPolicy": {"gang": {}}}
    ),
    "spec.podGroupTemplates[0].schedulingPolicy.gang.minCount: Invalid value: -1: must be greater "
    "than or equal to 1": templates({"schedulingPolicy": {"gang": {"minCount": -1}}}),
    "spec.podGroupTemplates[0].schedulingConstraints.topology: Too many: 2": templates(
        {"schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}}
    ),
    "spec.podGroupTemplates[0].schedulingConstraints.topology[0].key: Required value": templates(
        {"schedulingConstraints": {"topology": [{}]}}
    ),
    "spec.podGroupTemplates[0].resourceClaims: Too many: 5": templates(
        {"resourceClaims": [{**CLAIM, "name": f"c{number}"} for number in range(5)]}
    ),
    'spec.podGroupTemplates[0].resourceClaims[0]: Invalid value: "{resourceClaimName, '
    'resourceClaimTemplateName}": must specify exactly one of': templates(
        {"resourceClaims": [{**CLAIM, "resourceClaimTemplateName": "y"}]}
    ),
    'spec.podGroupTemplates[0].disruptionMode: Unsupported value: "x": supported values: "Pod", '
    '"PodGroup"': templates({"disruptionMode": "x"}),
    f'spec.podGroupTemplates[0].priorityClassName: Invalid value: "A_": {SUBDOMAIN}': templates(
        {"priorityClassName": "A_"}
    ),
    "spec.podGroupTemplates[0].priority: Invalid value: 2000000000: must be less than or equal to "
    "1000000000": templates({"priority": 2_000_000_000}),
    "spec.controllerRef.kind: Required value": {**templates({}), "controllerRef": {"name": "a"}},
    "spec.controllerRef.name: Invalid value: \"a/b\": may not contain '/'": {
        **templates({}),
        "controllerRef": {"kind": "Job", "name": "a/b"},
    },
}


@pytest.mark.parametrize("text", REFUSED_WORKLOADS)
def test_refused_workloads(server: Running, text: str) -> None:
    answer = ask(server, "POST", WORKLOADS, named("w", REFUSED_WORKLOADS[text]))
    assert said(answer)[0] == 422
    assert text in said(answer)[1]


REFUSED_GROUPS: Final[Mapping[str, JsonObject]] = {
    'podGroupTemplateRef: Invalid value: "": must specify one of: `workload`': {
        **BASIC,
        "podGroupTemplateRef": {},
    },
    "podGroupTemplateRef.workload.workloadName: Required value": {
        **BASIC,
        "podGroupTemplateRef": {"workload": {}},
    },
    f'podGroupTemplateName: Invalid value: "B_": {LABEL}': {
        **BASIC,
        "podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "B_"}},
    },
    'Workload "nope" not found': {
        **BASIC,
        "podGroupTemplateRef": {"workload": {"workloadName": "nope", "podGroupTemplateName": "a"}},
    },
    'PodGroup rejected: PodGroupTemplate "z" not found in Workload "kept"': {
        **BASIC,
        "podGroupTemplateRef": {"workload": {"workloadName": "kept", "podGroupTemplateName": "z"}},
    },
    "no PriorityClass with name nope was found": {**BASIC, "priorityClassName": "nope"},
    "priority set in the pod group (7) must match the priority computed (0) based on the priority "
    "class set in the spec": {**BASIC, "priority": 7},
    'spec.schedulingPolicy: Invalid value: "": must specify one of': {},
}


@pytest.mark.parametrize("text", REFUSED_GROUPS)
def test_refused_groups(server: Running, text: str) -> None:
    ask(server, "POST", WORKLOADS, named("kept", templates({})))
    assert text in said(ask(server, "POST", GROUPS, named("g", REFUSED_GROUPS[text])))[1]


def test_a_group_is_filled_in_and_protected(server: Running, plain: Running) -> None:
    made = read(ask(server, "POST", GROUPS, named("filled", BASIC)))
    assert made["metadata"]["finalizers"] == ["scheduling.k8s.io/podgroup-protection"]
    assert made["spec"] == {
        "podGroupTemplateRef": None,
        "schedulingPolicy": {"basic": {}},
        "disruptionMode": "Pod",
        "priority": 0,
    }
    gated = {"priorityClassName": "nope", "priority": 7, "resourceClaims": [CLAIM]}
    constraints = {"schedulingConstraints": {"topology": [{"key": "a"}]}}
    made = read(ask(plain, "POST", GROUPS, named("filled", {**BASIC, **gated, **constraints})))
    assert made["spec"] == {
        "podGroupTemplateRef": None,
        "schedulingPolicy": {"basic": {}},
        "disruptionMode": "Pod",
    }


@pytest.mark.parametrize(
    ("change", "texts"),
    [
        (GANG, ["spec.schedulingPolicy: Invalid value: null: field is immutable"]),
        (
            {"disruptionMode": "PodGroup", "priority": None},
            [
                "spec.disruptionMode: Invalid value: null: field is immutable",
                "spec.priority: Invalid value: null: field is immutable",
            ],
        ),
        ({"resourceClaims": []}, ["spec.resourceClaims: Invalid value: null: field is immutable"]),
    ],
)
def test_the_spec_of_a_group_stays(
    server: Running, change: Mapping[str, Any], texts: list[str]
) -> None:
    ask(server, "POST", GROUPS, named("stays", {**BASIC, "resourceClaims": [CLAIM]}))
    patch = {"spec": {**change}}
    if "schedulingPolicy" in change:
        patch["spec"] = {"schedulingPolicy": {"basic": None, "gang": {"minCount": 2}}}
    refusal = said(ask(server, "PATCH", f"{GROUPS}/stays", patch, **MERGE))[1]
    assert all(text in refusal for text in texts)


def test_without_a_gate_a_default_counts_as_used(plain: Running) -> None:
    ask(plain, "POST", GROUPS, named("used", BASIC))
    at = f"{GROUPS}/used"
    refusal = said(ask(plain, "PATCH", at, {"spec": {"disruptionMode": "PodGroup"}}, **MERGE))
    assert refusal[1].endswith("spec.disruptionMode: Forbidden")
    made = read(ask(plain, "PATCH", at, {"spec": {"priorityClassName": "x"}}, **MERGE))
    assert "priorityClassName" not in made["spec"]


def test_statuses_of_groups(server: Running) -> None:
    ask(server, "POST", GROUPS, named("told", {**BASIC, "resourceClaims": [CLAIM]}))
    at = f"{GROUPS}/told/status"

    def patched(**status: Any) -> Any:
        return ask(server, "PATCH", at, {"status": status}, **MERGE)

    other = said(patched(resourceClaimStatuses=[{"name": "z", "resourceClaimName": "G_"}]))[1]
    assert '"z": must match the name of an entry in `spec.resourceClaims`' in other
    assert f'resourceClaimName: Invalid value: "G_": {SUBDOMAIN}' in other
    twice = said(patched(resourceClaimStatuses=[{"name": "c"}, {"name": "c"}]))[1]
    assert 'resourceClaimStatuses[1]: Duplicate value: {"name":"c"}' in twice
    table = {"accept": "application/json;as=Table;v=v1;g=meta.k8s.io"}
    for conditions, shown in (
        ([], "Pending"),
        ([CONDITION], "Scheduled"),
        ([{**CONDITION, "status": "False"}], "Unschedulable"),
        ([CONDITION, {**CONDITION, "type": "DisruptionTarget", "reason": "Because"}], "Because"),
    ):
        assert said(patched(conditions=conditions))[0] == 200
        (row,) = read(ask(server, "GET", f"{GROUPS}/told", **table))["rows"]
        assert row["cells"][:4] == ["told", "Basic", "<none>", shown]


def test_the_spec_of_a_workload_stays(server: Running) -> None:
    ask(server, "POST", WORKLOADS, named("stays", templates({})))
    change: JsonObject = {"spec": {"podGroupTemplates": []}}
    assert said(ask(server, "PATCH", f"{WORKLOADS}/stays", change, **MERGE))[1].endswith(
        "[spec.podGroupTemplates: Invalid value: null: field is immutable, "
        "spec.podGroupTemplates: Required value]"
    )


def test_who_applies_a_group_owns_its_status(server: Running) -> None:
    """Its strategy resets nothing: only the endpoint of the status has such a rule."""
    body = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        **named("applied", BASIC),
        "status": {"conditions": [CONDITION]},
    }
    apply = {"content_type": "application/apply-patch+yaml"}
    made = read(ask(server, "PATCH", f"{GROUPS}/applied?fieldManager=m", body, **apply))
    (entry,) = made["metadata"]["managedFields"]
    assert "f:status" in entry["fieldsV1"]


def test_a_gang_keeps_the_parallelism_of_its_job(server: Running) -> None:
    ask(server, "POST", GROUPS, named("gang", GANG))
    pods = {
        "restartPolicy": "Never",
        "containers": [{"name": "c", "image": "i"}],
        "schedulingGroup": {"podGroupName": "gang"},
    }
    jobs = "/apis/batch/v1/namespaces/default/jobs"
    ask(server, "POST", jobs, named("j", {"parallelism": 2, "template": {"spec": pods}}))
    refusal = said(ask(server, "PATCH", f"{jobs}/j", {"spec": {"parallelism": 3}}, **MERGE))
    assert refusal == (
        403,
        'jobs.batch "j" is forbidden: cannot change parallelism for a Job referencing '
        'gang-scheduled PodGroup "gang"',
    )
    suspended = ask(server, "PATCH", f"{jobs}/j", {"spec": {"suspend": True}}, **MERGE)
    assert said(suspended)[0] == 200


def pod(**spec: Any) -> JsonObject:
    return named("p", {"containers": [{"name": "c", "image": "i"}], **spec})


def test_groups_of_pods(server: Running, older: Running) -> None:
    nobody = said(ask(server, "POST", PODS, pod(schedulingGroup={})))[1]
    assert nobody.endswith(
        "spec.schedulingGroup.podGroupName: Invalid value: null: must specify one of: "
        "`podGroupName`"
    )
    bad = said(ask(server, "POST", PODS, pod(schedulingGroup={"podGroupName": "A_"})))[1]
    assert f'podGroupName: Invalid value: "A_": {SUBDOMAIN}' in bad
    reference = {"name": "A_", "podGroup": "", "podGroupReplicaKey": "B_"}
    bad = said(ask(older, "POST", PODS, pod(workloadRef=reference)))[1]
    assert f'workloadRef.name: Invalid value: "A_": {SUBDOMAIN}' in bad
    assert f'workloadRef.podGroup: Invalid value: "": {LABEL}' in bad
    assert f'workloadRef.podGroupReplicaKey: Invalid value: "B_": {LABEL}' in bad


def test_a_reference_is_dropped_without_the_gate() -> None:
    reference = {"name": "w", "podGroup": "g"}
    for without in running("1.35", ()):
        made = read(ask(without, "POST", PODS, pod(workloadRef=reference)))
        assert "workloadRef" not in made["spec"]


REFUSED_OLDER: Final[Mapping[str, JsonObject]] = {
    "spec.podGroups: Required value: must have at least one item": {},
    "spec.podGroups: Too many: 9: must have at most 8 items": {
        "podGroups": [{"name": f"a{number}", "policy": {"basic": {}}} for number in range(9)]
    },
    'spec.podGroups[1].name: Duplicate value: "a"': {
        "podGroups": [{"name": "a", "policy": {"basic": {}}}] * 2
    },
    "spec.podGroups[0].policy: Required value: exactly one of `basic`, `gang` is required": {
        "podGroups": [{"name": "a", "policy": {}}]
    },
    'spec.podGroups[0].policy: Invalid value: "{`basic`, `gang`}": exactly one of `basic`, `gang` '
    "is required, but multiple fields are set": {
        "podGroups": [{"name": "a", "policy": {"basic": {}, "gang": {"minCount": 1}}}]
    },
    "policy.gang.minCount: Invalid value: 0: must be greater than zero": {
        "podGroups": [{"name": "a", "policy": {"gang": {"minCount": 0}}}]
    },
}


@pytest.mark.parametrize("text", REFUSED_OLDER)
def test_refused_workloads_of_1_35(older: Running, text: str) -> None:
    assert text in said(ask(older, "POST", OLDER, named("w", REFUSED_OLDER[text])))[1]


def test_workloads_of_1_35_show_what_is_inside(older: Running) -> None:
    """And leave `spec` out of the path, as upstream did."""
    group = {"name": "a", "policy": {"gang": {"minCount": 2}}}
    reference = {"kind": "Job", "name": "j"}
    ask(older, "POST", OLDER, named("w", {"controllerRef": reference, "podGroups": [group]}))
    change = {"spec": {"controllerRef": None, "podGroups": [{**group, "name": "b"}]}}
    assert said(ask(older, "PATCH", f"{OLDER}/w", change, **MERGE))[1].endswith(
        "[controllerRef: Invalid value: null: field is immutable, podGroups: Invalid value: "
        '[{"Name":"b","Policy":{"Basic":null,"Gang":{"MinCount":2}}}]: field is immutable]'
    )


def test_roles_of_a_server_with_the_gate(server: Running, plain: Running, older: Running) -> None:
    roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles"

    def rules(of: Running, name: str) -> list[list[str]]:
        return [
            one["resources"]
            for one in read(ask(of, "GET", f"{roles}/{name}"))["rules"]
            if one.get("apiGroups") == ["scheduling.k8s.io"]
        ]

    view = "system:aggregate-to-view"
    assert rules(plain, view) == [["podgroups", "podgroups/status", "workloads"]]
    assert rules(older, view) == []
    assert rules(older, "system:kube-scheduler") == [["workloads"]]
    assert rules(plain, "system:kube-scheduler") == [["podgroups"], ["podgroups/status"]]
    assert rules(plain, "system:controller:podgroup-protection-controller") == [["podgroups"]]
    claims = "system:controller:resource-claim-controller"
    assert (rules(plain, claims), rules(server, claims)) == (
        [],
        [["podgroups"], ["podgroups/status"]],
    )
    for without in running(gates=()):
        assert rules(without, view) == []
        gone = ask(without, "GET", f"{roles}/system:controller:podgroup-protection-controller")
        assert said(gone)[0] == 404
