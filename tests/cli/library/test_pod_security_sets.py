"""The library's sets of the Pod Security Standards judge as the plugin PodSecurity does."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Any, Final

import pytest

pytest.importorskip("z3")  # what the boundary pods need

from celadon.admission import Engine, Operation, Request, default_options
from celadon.admission.plugins.pod_security_standards import checks_of
from celadon.admission.registration import decode_binding, decode_policy
from celadon.cli.library import chosen, library
from celadon.goyaml import read_yaml
from celadon.kube import GroupVersionKind, GroupVersionResource, JsonObject, User
from celadon.kube.well_known_values import PODS
from tests.prove.test_pod_standards import POD, WORLD, boundary_pods, random_pod

MINOR: Final = 36
"""The sets are the standards of this minor release."""
DEPLOYMENT: Final = GroupVersionKind("apps", "v1", "Deployment")
DEPLOYMENTS: Final = GroupVersionResource("apps", "v1", "deployments")


def engine(level: str) -> Engine:
    """Every policy of a set, in force."""
    texts = [one.policy_text for one in chosen(library(), [f"pod-security-{level}"])]
    documents = [value for text in texts for _, value in read_yaml(text)]
    return Engine(
        [decode_policy(value).value for value in documents[::2]],
        [decode_binding(value).value for value in documents[1::2]],
        f"1.{MINOR}",
    )


ENGINES: Final = {level: engine(level) for level in ("baseline", "restricted")}


def admits(level: str, value: JsonObject, kind: GroupVersionKind, **of: Any) -> bool:
    """Whether the set admits an object that is created."""
    request = Request(
        Operation.CREATE,
        kind,
        of["resource"],
        namespace="n",
        name="p",
        object=value,
        user=User("u"),
        options=default_options(Operation.CREATE),
    )
    return ENGINES[level].review(request, WORLD).allowed


def deployment(pod: JsonObject) -> JsonObject:
    """A workload that would make the pod."""
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "p", "namespace": "n"},
        "spec": {"template": {"metadata": pod["metadata"], "spec": pod["spec"]}},
    }


def is_possible(pod: JsonObject) -> bool:
    """Whether an API server would take the pod: it asks for `hostUsers: false` with an unmasked
    /proc, for profiles of a type, for annotations of AppArmor that are known, and for ephemeral
    containers that have neither ports nor probes nor hooks."""
    annotations = (pod["metadata"].get("annotations") or {}).values()
    known = all(one in ("", "unconfined") or "/" in one for one in annotations)
    own = pod["spec"].get("securityContext") or {}
    known = known and (own.get("seccompProfile") or {}).get("type") != ""
    containers = [
        one
        for place in ("containers", "initContainers", "ephemeralContainers")
        for one in pod["spec"].get(place) or ()
    ]
    masked = all(
        (one.get("securityContext") or {}).get("procMount", "Default") == "Default"
        for one in containers
    )
    plain = not any(
        {"ports", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe"} & one.keys()
        for one in pod["spec"].get("ephemeralContainers") or ()
    )
    return known and plain and (masked or pod["spec"].get("hostUsers") is False)


def disagreements(pods: Iterable[JsonObject]) -> Iterator[str]:
    """Where a set and the plugin differ, about the pod or about a workload with its template."""
    for pod in filter(is_possible, pods):
        for level in ENGINES:
            violated = [
                one.name
                for one in checks_of(level, MINOR)
                if one.check(pod["metadata"], pod["spec"]) is not None
            ]
            as_pod = admits(level, pod, POD, resource=PODS)
            as_template = admits(level, deployment(pod), DEPLOYMENT, resource=DEPLOYMENTS)
            if {as_pod, as_template} != {not violated}:
                yield f"{level}: {violated}, {as_pod}, {as_template}: {pod}"


@pytest.mark.thorough
def test_a_sample_of_the_boundaries() -> None:
    assert not list(disagreements(list(boundary_pods())[::401]))


def test_a_sample_of_random_pods() -> None:
    random = Random(32)
    assert not list(disagreements(random_pod(random) for _ in range(20)))


@pytest.mark.thorough
def test_all_boundaries() -> None:
    assert not list(disagreements(boundary_pods()))


@pytest.mark.thorough
def test_random_pods() -> None:
    random = Random(33)
    assert not list(disagreements(random_pod(random) for _ in range(1_000)))


def test_the_sets_are_what_the_page_says() -> None:
    """What restricted replaces is in baseline only."""
    names = {
        level: {one.name for one in chosen(library(), [f"pod-security-{level}"])}
        for level in ENGINES
    }
    assert names["baseline"] - names["restricted"] == {
        "baseline-capabilities",
        "no-unconfined-seccomp",
    }
