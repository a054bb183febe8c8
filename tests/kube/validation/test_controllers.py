"""Controllers of pods, and the jobs that run them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube import name_rules
from celadon.kube.validation.cron_schedule import ScheduleError, parse_schedule
from celadon.kube.validation.jobs import IndexesError, count_indexes
from tests.kube.validation.objects import (
    admitted,
    complaints,
    container,
    job,
    obj,
    pod_spec,
    update_complaints,
    workload,
)

RESTART = 'spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"'
MISMATCH = (
    'spec.template.metadata.labels: Invalid value: {"a":"c"}: `selector` does not match template '
    "`labels`"
)
LABEL = name_rules.dns1123_label("A")[0]
KINDS = ["Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"]


def template(labels: Any = None, **spec: Any) -> dict[str, Any]:
    return {"metadata": {"labels": labels or {"a": "b"}}, "spec": pod_spec(**spec)}


def mounting(*names: str, **spec: Any) -> dict[str, Any]:
    """The template of pods that mount volumes."""
    mounts = [{"name": name, "mountPath": f"/{name}"} for name in names]
    container = {"name": "c", "image": "i", "volumeMounts": mounts}
    return template(containers=[container], **spec)


def claim() -> dict[str, Any]:
    """A template of claims for volumes named `data`."""
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    return {"metadata": {"name": "data"}, "spec": wanted}


@pytest.mark.parametrize("kind", KINDS)
def test_templates_of_controllers(kind: str) -> None:
    assert complaints(workload(kind)) == []
    assert complaints(workload(kind, template=template({"a": "c"}))) == [MISMATCH]
    assert complaints(workload(kind, template=template(restartPolicy="Never"))) == [RESTART]
    (message,) = complaints(workload(kind, template=template(activeDeadlineSeconds=5)))
    assert message.startswith("spec.template.spec.activeDeadlineSeconds: Forbidden: active")


@pytest.mark.parametrize("kind", KINDS)
def test_empty_selectors(kind: str) -> None:
    (message,) = complaints(workload(kind, selector={}))
    named = "deployment" if kind == "ReplicaSet" else kind.lower()
    assert message == f"spec.selector: Invalid value: {{}}: empty selector is invalid for {named}"


WORKLOADS: list[tuple[dict[str, Any], list[str]]] = [
    (
        workload("Deployment", replicas=-1, minReadySeconds=-1),
        [
            "spec.replicas: Invalid value: -1: must be greater than or equal to 0",
            "spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
        ],
    ),
    (
        workload("Deployment", strategy={"type": "Nope"}),
        [
            'spec.strategy: Unsupported value: {"Type":"Nope","RollingUpdate":null}: supported '
            'values: "Recreate", "RollingUpdate"'
        ],
    ),
    (
        workload("Deployment", strategy={"rollingUpdate": {"maxUnavailable": 0, "maxSurge": 0}}),
        [
            "spec.strategy.rollingUpdate.maxUnavailable: Invalid value: 0: may not be 0 when "
            "`maxSurge` is 0"
        ],
    ),
    (
        workload("Deployment", strategy={"rollingUpdate": {"maxUnavailable": "101%"}}),
        [
            'spec.strategy.rollingUpdate.maxUnavailable: Invalid value: "101%": must not be '
            "greater than 100%"
        ],
    ),
    (
        workload("Deployment", progressDeadlineSeconds=5, minReadySeconds=5),
        ["spec.progressDeadlineSeconds: Invalid value: 5: must be greater than minReadySeconds"],
    ),
    (
        workload(
            "DaemonSet", updateStrategy={"rollingUpdate": {"maxUnavailable": 1, "maxSurge": 1}}
        ),
        [
            "spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when "
            "maxUnavailable is non-zero"
        ],
    ),
    (
        workload("StatefulSet", podManagementPolicy="x"),
        ["spec.podManagementPolicy: Invalid value: \"x\": must be 'OrderedReady' or 'Parallel'"],
    ),
    (
        workload("StatefulSet", updateStrategy={"rollingUpdate": {"partition": -1}}),
        [
            "spec.updateStrategy.rollingUpdate.partition: Invalid value: -1: must be greater than "
            "or equal to 0"
        ],
    ),
    (
        workload("StatefulSet", updateStrategy={"type": "OnDelete", "rollingUpdate": {}}),
        [
            "spec.updateStrategy.rollingUpdate: Invalid value: "
            '{"Partition":0,"MaxUnavailable":null}: only allowed for updateStrategy '
            "'RollingUpdate'"
        ],
    ),
    (
        workload("StatefulSet", serviceName="A"),
        [f'spec.serviceName: Invalid value: "A": {LABEL}'],
    ),
    (
        workload("StatefulSet", volumeClaimTemplates=[claim(), {"metadata": {"name": "b"}}]),
        [
            "spec.volumeClaimTemplates[1].spec.accessModes: Required value: at least 1 access mode "
            "is required",
            "spec.volumeClaimTemplates[1].spec.resources[storage]: Required value",
        ],
    ),
    (
        workload("StatefulSet", template={"metadata": {"labels": {"a": "b"}}}),
        ["spec.template.spec.containers: Required value"],
    ),
    (
        workload("StatefulSet", template=mounting("data", "other")),
        [
            'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "data"',
            'spec.template.spec.containers[0].volumeMounts[1].name: Not found: "other"',
        ],
    ),
    (
        workload(
            "StatefulSet",
            template=mounting("data", "other", volumes=[{"name": "data", "emptyDir": {}}]),
            volumeClaimTemplates=[claim()],
        ),
        ['spec.template.spec.containers[0].volumeMounts[1].name: Not found: "other"'],
    ),
]


@pytest.mark.parametrize(("value", "messages"), WORKLOADS)
def test_workloads(value: dict[str, Any], messages: list[str]) -> None:
    assert complaints(value) == messages


def test_names_of_stateful_sets_are_labels() -> None:
    value = {**workload("StatefulSet"), "metadata": {"name": "a.b"}}
    assert complaints(value) == ['metadata.name: Invalid value: "a.b": must not contain dots']
    assert complaints({**value, "kind": "Deployment"}) == []


def test_what_was_bad_in_a_stateful_set_may_stay() -> None:
    old = workload("StatefulSet", serviceName="A", template=mounting("data"), replicas=1)
    new = workload("StatefulSet", serviceName="A", template=mounting("other"), replicas=2)
    assert update_complaints(new, old) == []
    assert update_complaints(new, workload("StatefulSet", serviceName="A")) == [
        'spec.template.spec.containers[0].volumeMounts[0].name: Not found: "other"'
    ]


@pytest.mark.parametrize(
    ("labels", "shown"), [(None, "null"), ({}, "{}"), ({"b": "c"}, '{"b":"c"}')]
)
@pytest.mark.parametrize("kind", KINDS)
def test_labels_that_came_empty_are_shown_as_such(kind: str, labels: Any, shown: str) -> None:
    value = workload(kind)
    value["spec"]["template"]["metadata"] = {} if labels is None else {"labels": labels}
    assert complaints(value) == [
        f"spec.template.metadata.labels: Invalid value: {shown}: `selector` does not match "
        "template `labels`"
    ]


def test_selectors_are_shown_in_the_order_of_the_struct() -> None:
    expressions = [{"operator": "x", "values": ["a"]}, {"key": "a", "operator": "Exists"}]
    chosen = {"matchExpressions": expressions, "matchLabels": {"b": "c", "a": "b"}}
    assert complaints(workload("Deployment", selector=chosen))[-1] == (
        'spec.selector: Invalid value: {"matchLabels":{"a":"b","b":"c"},"matchExpressions":'
        '[{"key":"","operator":"x","values":["a"]},{"key":"a","operator":"Exists"}]}: invalid '
        "label selector"
    )


def controller(labels: dict[str, str], **selector: str) -> dict[str, Any]:
    held = {"metadata": {"labels": labels}, "spec": pod_spec()}
    return obj("v1", "ReplicationController", spec={"selector": selector, "template": held})


def test_selectors_of_replication_controllers_need_no_possible_labels() -> None:
    assert complaints(controller({"a": "c"}, a="x/y")) == [MISMATCH]
    assert complaints(controller({"a": "c"}, a="c")) == []


def test_a_name_that_is_generated_counts_and_not_its_beginning() -> None:
    value = controller({"a": "b"}, a="b")
    value["metadata"] = {"name": "a", "generateName": "X"}
    assert complaints(value) == []


def test_templates_of_stateful_sets_are_looked_at_twice() -> None:
    value = workload("StatefulSet")
    value["spec"]["template"]["metadata"]["labels"]["-"] = "1"
    value["spec"]["template"]["spec"]["hostname"] = "not validated"
    first, second = complaints(value)
    assert first == second
    assert first.startswith('spec.template.labels: Invalid value: "-": ')


def test_both_policies_for_claims_are_looked_at() -> None:
    value = workload("StatefulSet", persistentVolumeClaimRetentionPolicy={"whenScaled": "x"})
    assert complaints(value) == [
        'spec.persistentVolumeClaimRetentionPolicy.whenScaled: Unsupported value: "x": supported '
        'values: "Retain", "Delete"'
    ]


def test_a_rollback_is_not_to_a_negative_revision() -> None:
    value = workload("Deployment")
    value["metadata"]["annotations"] = {"deprecated.deployment.rollback.to": "-1"}
    assert complaints(value) == [
        "spec.rollback.version: Invalid value: -1: must be greater than or equal to 0"
    ]


@pytest.mark.parametrize(
    ("strategy", "messages"),
    [
        ({"maxUnavailable": "5", "maxSurge": 0}, 1),
        ({"maxUnavailable": "99999999999999999999%"}, 1),
        ({"maxUnavailable": "x", "maxSurge": 1}, 1),
    ],
)
def test_percentages(strategy: dict[str, Any], messages: int) -> None:
    """A number as a text is no percentage, but counts; one too large is over 100."""
    value = workload("DaemonSet", updateStrategy={"rollingUpdate": strategy})
    assert len(complaints(value)) == messages


def test_a_daemon_set_says_both_numbers() -> None:
    strategy = {"type": "OnDelete", "rollingUpdate": {"maxUnavailable": 1}}
    made = admitted(workload("DaemonSet", updateStrategy=strategy))
    assert made["spec"]["updateStrategy"]["rollingUpdate"] == {"maxUnavailable": 1, "maxSurge": 0}


def test_selectors_do_not_change() -> None:
    """They are shown in Go's order, without what is empty."""
    selector = {"matchExpressions": [], "matchLabels": {"c": "d", "a": "b"}}
    labels = {"a": "b", "c": "d"}
    new = workload("Deployment", selector=selector, template=template(labels))
    assert update_complaints(new, workload("Deployment")) == [
        'spec.selector: Invalid value: {"matchLabels":{"a":"b","c":"d"}}: field is immutable'
    ]
    new = workload("StatefulSet", serviceName="x")
    assert update_complaints(new, workload("StatefulSet")) == [
        "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', "
        "'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', "
        "'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden"
    ]


JOBS: list[tuple[dict[str, Any], list[str]]] = [
    (job(), []),
    (
        job(maxFailedIndexes=1),
        [
            "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified",
            "spec.maxFailedIndexes: Invalid value: 1: requires indexed completion mode",
        ],
    ),
    (
        job(managedBy="x"),
        [
            'spec.managedBy: Invalid value: "x": must be a domain-prefixed path (such as '
            '"acme.io/foo")'
        ],
    ),
    (
        job(completionMode="x"),
        ['spec.completionMode: Unsupported value: "x": supported values: "NonIndexed", "Indexed"'],
    ),
    (
        job(podFailurePolicy={"rules": [{"action": "x"}]}),
        [
            'spec.podFailurePolicy.rules[0].action: Unsupported value: "x": supported values: '
            '"Count", "FailIndex", "FailJob", "Ignore"',
            "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and "
            "OnPodConditions is required",
        ],
    ),
    (
        job(
            podFailurePolicy={
                "rules": [{"action": "Count", "onExitCodes": {"operator": "In", "values": [3, 0]}}]
            }
        ),
        [
            "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Invalid value: 0: must not be "
            "0 for the In operator",
            "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,0]: must be "
            "ordered",
        ],
    ),
    (
        job(
            completionMode="Indexed",
            completions=2,
            parallelism=1,
            successPolicy={"rules": [{"succeededIndexes": "0-5", "succeededCount": 3}]},
        ),
        [
            'spec.successPolicy.rules[0].succeededIndexes: Invalid value: "0-5": error parsing '
            'succeededIndexes: too large index: "5"',
            "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or "
            "equal to 2 (the number of specified completions)",
            "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or "
            "equal to 0 (the number of indexes in the specified succeededIndexes field)",
        ],
    ),
    (
        job(template={"spec": pod_spec(container(image=""), restartPolicy="OnFailure")}),
        ["spec.template.spec.containers[0].image: Required value"],
    ),
]


@pytest.mark.parametrize(("value", "messages"), JOBS)
def test_jobs(value: dict[str, Any], messages: list[str]) -> None:
    assert complaints(value) == messages


def cron_job(**spec: Any) -> dict[str, Any]:
    inner = {"spec": {"template": {"spec": pod_spec(restartPolicy="Never")}}}
    return obj("batch/v1", "CronJob", spec={"schedule": "@daily", "jobTemplate": inner, **spec})


CRON_JOBS: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"timeZone": "Europe/Berlin"}, []),
    (
        {"timeZone": ""},
        ['spec.timeZone: Invalid value: "": timeZone must be nil or non-empty string'],
    ),
    (
        {"timeZone": "Local"},
        [
            'spec.timeZone: Invalid value: "Local": timeZone must be an explicit time zone as '
            "defined in https://www.iana.org/time-zones"
        ],
    ),
    (
        {"concurrencyPolicy": "x"},
        [
            'spec.concurrencyPolicy: Unsupported value: "x": supported values: "Allow", "Forbid", '
            '"Replace"'
        ],
    ),
    (
        {"failedJobsHistoryLimit": -1},
        ["spec.failedJobsHistoryLimit: Invalid value: -1: must be greater than or equal to 0"],
    ),
]


@pytest.mark.parametrize(("fields", "messages"), CRON_JOBS)
def test_cron_jobs(fields: dict[str, Any], messages: list[str]) -> None:
    assert complaints(cron_job(**fields)) == messages


def test_names_of_cron_jobs_leave_room() -> None:
    value = {**cron_job(), "metadata": {"name": "a" * 53}}
    assert complaints(value) == [
        f'metadata.name: Invalid value: "{"a" * 53}": must be no more than 52 characters'
    ]


@pytest.mark.parametrize(
    "schedule",
    [
        "* * * * *",
        "*/5 1-3,5 ? JAN-mar sun",
        "@hourly",
        "@every 1h30m",
        "0 0 31 12 6",
        "TZ=UTC @daily",
    ],
)
def test_schedules(schedule: str) -> None:
    parse_schedule(schedule)


@pytest.mark.parametrize(
    ("position", "least", "most"), [(0, 0, 59), (1, 0, 23), (2, 1, 31), (3, 1, 12), (4, 0, 6)]
)
def test_bounds_of_the_fields_of_a_schedule(position: int, least: int, most: int) -> None:
    def parsed(number: int) -> str:
        fields = ["*"] * 5
        fields[position] = str(number)
        try:
            parse_schedule(" ".join(fields))
        except ScheduleError as error:
            return str(error)
        return ""

    assert parsed(least) == parsed(most) == ""
    above = f"end of range ({most + 1}) above maximum ({most}): {most + 1}"
    assert parsed(most + 1) == above
    if least:
        assert parsed(least - 1) == f"beginning of range (0) below minimum ({least}): 0"


@pytest.mark.parametrize(
    ("schedule", "message"),
    [
        ("", "empty spec string"),
        ("* * * *", "expected exactly 5 fields, found 4: [* * * *]"),
        ("60 * * * *", "end of range (60) above maximum (59): 60"),
        ("* * 0 * *", "beginning of range (0) below minimum (1): 0"),
        ("5-3 * * * *", "beginning of range (5) beyond end of range (3): 5-3"),
        ("*/0 * * * *", "step of range should be a positive number: */0"),
        ("1-2-3 * * * *", "too many hyphens: 1-2-3"),
        ("1/2/3 * * * *", "too many slashes: 1/2/3"),
        (
            "x * * * *",
            'failed to parse int from x: strconv.Atoi: parsing "x": invalid syntax',
        ),
        ("@never", "unrecognized descriptor: @never"),
        ("@every 1h0", 'failed to parse duration @every 1h0: time: missing unit in duration "1h0"'),
        ("@every x", 'failed to parse duration @every x: time: invalid duration "x"'),
    ],
)
def test_bad_schedules(schedule: str, message: str) -> None:
    with pytest.raises(ScheduleError) as error:
        parse_schedule(schedule)
    assert str(error.value) == message


@pytest.mark.parametrize("part", ["30m", "0.50h", "00s", "1.µs"])
def test_a_long_duration_is_read_once(part: str) -> None:
    """Were there two ways to read each part, there would be as many as no time is enough for."""
    parse_schedule(f"@every {part * 10_000}")
    with pytest.raises(ScheduleError):
        parse_schedule(f"@every {part * 10_000}x")


@pytest.mark.parametrize(("text", "count"), [("", 0), ("1", 1), ("0,2-4", 4)])
def test_indexes(text: str, count: int) -> None:
    assert count_indexes(text, 5) == count


@pytest.mark.parametrize("text", ["x", "3,1", "1-2-3", "5", "3-2", "-1"])
def test_bad_indexes(text: str) -> None:
    with pytest.raises(IndexesError):
        count_indexes(text, 5)


def test_the_template_of_a_job_is_told_as_the_server_has_it() -> None:
    spec = {"manualSelector": True, "selector": {"matchLabels": {"a": "b"}}}
    old, new = (
        obj("batch/v1", "Job", spec={**spec, "template": template(restartPolicy="Never", **more)})
        for more in ({}, {"hostname": "h"})
    )
    (text,) = [one for one in update_complaints(new, old) if one.startswith("spec.template:")]
    assert text.startswith('spec.template: Invalid value: {"labels":{"a":"b"},"Spec":{"Volumes":')
    assert '"Hostname":"h"' in text
    assert text.endswith("}}: field is immutable")
