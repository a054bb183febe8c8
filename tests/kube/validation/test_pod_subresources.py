"""What is said against writes to parts of a running pod."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as
from celadon.kube.validation.field_checks import holding
from celadon.kube.validation.pods.pod_updates import ephemeral_containers, pod_update, resize
from tests.kube.validation.objects import admitted, container, pod

Json = dict[str, Any]


def debugged(*containers: Json, notes: Json | None = None) -> Json:
    made = admitted(pod())
    made["metadata"]["annotations"] = notes or {}
    made["spec"]["ephemeralContainers"] = list(containers)
    return made


def ephemeral(**fields: Any) -> Json:
    defaults = {"terminationMessagePath": "/x", "terminationMessagePolicy": "File"}
    return {**container(name="e", imagePullPolicy="Always"), **defaults, **fields}


def test_containers_come_and_stay() -> None:
    old = debugged(ephemeral())
    assert list(ephemeral_containers(old, debugged())) == []
    assert list(ephemeral_containers(old, old)) == []
    (removed,) = ephemeral_containers(debugged(), old)
    assert str(removed) == (
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be '
        "removed\n"
    )
    (changed,) = ephemeral_containers(debugged(ephemeral(stdin=True)), old)
    text = str(changed)
    assert text.startswith(
        'spec.ephemeralContainers: Forbidden: existing ephemeral containers "e" may not be '
        "changed\n@@ "
    )
    assert '- "Stdin": false,\n+ "Stdin": true,\n' in text


def test_mirror_pods_get_none() -> None:
    old = debugged(notes={"kubernetes.io/config.mirror": "x"})
    assert list(map(str, ephemeral_containers(old, old))) == [
        "[]: Forbidden: static pods do not support ephemeral containers"
    ]


def sized(
    requests: Json | None = None, limits: Json | None = None, spec: Json | None = None, **more: Any
) -> Json:
    resources = {"requests": requests or {}, "limits": limits or {}}
    made = admitted(pod(container(resources=resources, **more), **(spec or {})))
    made.pop("status")
    return made


def with_devices(requests: Json) -> Json:
    """Upstream resizes no container that has been given devices."""
    made = sized(requests, spec={"resourceClaims": [{"name": "d", "resourceClaimName": "d"}]})
    made["spec"]["containers"][0]["resources"]["claims"] = [{"name": "d"}]
    return made


SMALL, LARGE = {"cpu": "1", "memory": "1Gi"}, {"cpu": "2", "memory": "2Gi"}
ONLY_AMOUNTS = "spec: Forbidden: only cpu and memory resources are mutable"
QOS = "Pod QOS Class may not change as a result of resizing"


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (sized(LARGE), sized(SMALL), []),
        (sized(SMALL, SMALL), sized(LARGE, LARGE), []),
        (sized(SMALL, LARGE), sized(SMALL), []),
        (sized(SMALL), sized(), [f'spec: Invalid value: "": {QOS}']),
        (
            sized({"cpu": "1"}, {"cpu": "1"}),
            sized(SMALL, SMALL),
            [
                f'spec: Invalid value: "": {QOS}',
                "spec.containers[0].resources.requests: Forbidden: resource requests cannot be "
                "removed",
                "spec.containers[0].resources.limits: Forbidden: resource limits cannot be removed",
            ],
        ),
        (
            sized({**SMALL, "ephemeral-storage": "1"}),
            sized(SMALL),
            [ONLY_AMOUNTS],
        ),
        (with_devices(LARGE), with_devices(SMALL), [ONLY_AMOUNTS]),
        (
            sized(LARGE),
            {
                **sized(SMALL),
                "status": {"containerStatuses": [{"name": "c", "state": {"running": {}}}]},
            },
            ["spec: Forbidden: Pod running on node without support for resize"],
        ),
        (
            sized(SMALL, spec={"resources": {"requests": SMALL}}),
            sized(SMALL, spec={"resources": {"requests": SMALL, "limits": LARGE}}),
            [
                "spec.resources.limits: Forbidden: pod-level resource limits cannot be removed",
            ],
        ),
        (
            sized(SMALL),
            sized(SMALL, spec={"resources": {"requests": SMALL}}),
            ["spec.resources: Forbidden: pod-level resources cannot be removed"],
        ),
        (
            sized(LARGE),
            {**sized(SMALL), "status": {"nodeAllocatableResourceClaimStatuses": [{}]}},
            [
                "spec: Forbidden: pods with node allocatable resource claims cannot be resized",
            ],
        ),
    ],
)
def test_amounts(new: Json, old: Json, expected: list[str]) -> None:
    assert list(map(str, resize(new, old))) == expected


def initial(cpu: str, **fields: Any) -> Json:
    first = container(name="i", resources={"requests": {"cpu": cpu}}, **fields)
    return sized(SMALL, spec={"initContainers": [first]})


def test_containers_that_come_first() -> None:
    assert (
        list(resize(initial("2", restartPolicy="Always"), initial("1", restartPolicy="Always")))
        == []
    )
    policy = [{"resourceName": "cpu", "restartPolicy": "RestartContainer"}]
    (found,) = resize(initial("2", resizePolicy=policy), initial("1", resizePolicy=policy))
    assert str(found) == (
        "spec.initContainers[0]: Forbidden: non-sidecar init containers with a resize policy of "
        "RestartContainer cannot be resized"
    )
    (found,) = resize(initial("1", tty=True), initial("1"))
    assert str(found) == (
        "spec.initContainers[0]: Forbidden: only cpu and memory resources for init or sidecar "
        "containers are mutable"
    )


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        (
            {"metadata": {"annotations": {"kubernetes.io/config.mirror": "x"}}},
            "[]: Forbidden: static pods cannot be resized",
        ),
        ({"spec": {"os": {"name": "windows"}}}, "[]: Forbidden: windows pods cannot be resized"),
    ],
)
def test_pods_that_stay_as_they_are(old: Json, expected: str) -> None:
    assert list(map(str, resize(sized(LARGE), old))) == [expected]


def test_whatever_else_changes_is_told_by_its_difference() -> None:
    new = sized(SMALL)
    new["spec"]["hostNetwork"] = True
    (found,) = resize(new, sized(SMALL))
    assert str(found).startswith("spec: Forbidden: only cpu and memory resources are mutable\n@@ ")


def named(*names: str, field: str = "containers") -> Json:
    made = sized(SMALL)
    made["spec"][field] = [{**made["spec"]["containers"][0], "name": name} for name in names]
    return made


MOVED, COUNTED = "may not be renamed or reordered", "may not be added or removed"


@pytest.mark.parametrize(
    ("new", "old", "expected"),
    [
        (("a", "b"), ("b", "a"), [f"[{i}].name: Forbidden: {{}} {MOVED}" for i in (0, 1)]),
        (("a",), ("a", "b"), [f": Forbidden: {{}} {COUNTED}"]),
    ],
)
@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_containers_stay_in_their_places(
    new: tuple[str, ...], old: tuple[str, ...], expected: list[str], field: str
) -> None:
    found = [str(error) for error in resize(named(*new, field=field), named(*old, field=field))]
    wanted = [f"spec.{field}{text.format(field)} on resize" for text in expected]
    assert [text for text in found if "on resize" in text] == wanted


ON_POD = "pods with pod-level resources cannot be resized"
GATE = "InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled"
MEMORY = "spec.containers[0].resources.limits[memory]: Forbidden: memory limits cannot be"
UNLESS = "unless resizePolicy is RestartContainer"


def of_pod(cpu: str) -> Json:
    return sized(spec={"resources": {"requests": {"cpu": cpu}}})


@pytest.mark.parametrize(
    ("release", "new", "old", "expected"),
    [
        ("1.34", of_pod("2"), of_pod("1"), [f"[]: Forbidden: {ON_POD}"]),
        (
            "1.35",
            of_pod("2"),
            of_pod("1"),
            [f"[]: Forbidden: resize of pods with pod-level resources is forbidden when {GATE}"],
        ),
        ("1.36", of_pod("2"), of_pod("1"), []),
        (
            "1.33",
            sized(limits={"memory": "1Gi"}),
            sized(limits={"memory": "2Gi"}),
            [f"{MEMORY} decreased {UNLESS}"],
        ),
        ("1.34", sized(limits={"memory": "1Gi"}), sized(limits={"memory": "2Gi"}), []),
        (
            "1.35",
            initial("2"),
            initial("1"),
            ["spec: Forbidden: resources for non-sidecar init containers are immutable"],
        ),
        (
            "1.35",
            initial("1", restartPolicy="Always", tty=True),
            initial("1", restartPolicy="Always"),
            ["spec: Forbidden: only cpu and memory resources for sidecar containers are mutable"],
        ),
        ("1.36", initial("2"), initial("1"), []),
        ("1.34", sized({"ephemeral-storage": "1"}), sized(), []),
        ("1.35", sized({"ephemeral-storage": "1"}), sized(), [ONLY_AMOUNTS]),
    ],
)
def test_the_release_decides_what_is_resized(
    release: str, new: Json, old: Json, expected: list[str]
) -> None:
    with answering_as(release):
        found = holding(resize(new, old), None)
    assert [str(one) for one in found] == expected


def test_the_class_of_a_pod_was_for_good() -> None:
    new, old = sized({"cpu": "1"}), sized()
    why = 'metadata: Invalid value: "": Pod QoS is immutable'
    for release, refused in (("1.31", True), ("1.32", False)):
        with answering_as(release):
            found = list(map(str, holding(pod_update(new, old), None)))
        assert (why in found) is refused
