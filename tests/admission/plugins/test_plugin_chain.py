"""Plugins one after the other: their order, and what a refusal stops."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import Operation
from celadon.admission.plugins import PluginChain
from celadon.kube.defaulting import DefaultingContext
from celadon.kube.registry import drafted
from tests.admission.plugins.asking import asked, obj, pod, text, world


def made_by(names: set[str] | None, value: dict[str, Any], *objects: dict[str, Any]) -> Any:
    around = world(*objects)
    chain = PluginChain() if names is None else PluginChain(names)
    request = asked(value)
    draft = drafted(value, request.kind, DefaultingContext(cluster=around))
    return draft.decoded, text(chain.mutate(draft, request, around))


def test_rules_and_functions_take_turns() -> None:
    low = obj("PriorityClass", "low", "scheduling.k8s.io/v1", value=5)
    made, refused = made_by(None, pod(priorityClassName="low"), low)
    assert refused == ""
    assert made["spec"]["priority"] == 5
    assert made["spec"]["serviceAccountName"] == "default"
    assert len(made["spec"]["tolerations"]) == 2


def test_a_refusal_ends_it() -> None:
    made, refused = made_by(None, pod(priorityClassName="none"))
    assert refused == '403 pods "p" is forbidden: no PriorityClass with name none was found'
    assert made["spec"]["serviceAccountName"] == "default"
    assert "tolerations" not in made["spec"]


def test_without_a_plugin_nothing_of_it_happens() -> None:
    made, refused = made_by({"ServiceAccount"}, pod(priorityClassName="none"))
    assert refused == ""
    assert "priority" not in made["spec"]


def test_rules_that_hold_for_updates() -> None:
    around, request = world(), asked(pod(), pod())
    draft = drafted(pod(), request.kind, DefaultingContext(cluster=around))
    assert PluginChain().mutate(draft, request, around) is None
    assert [one["key"] for one in draft.decoded["spec"]["tolerations"]] == [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ]
    assert "serviceAccountName" not in draft.decoded["spec"]


def test_deletions_have_no_draft() -> None:
    gone = asked(None, obj("Namespace", "default"), Operation.DELETE)
    found = PluginChain().mutate(None, gone, world())
    assert text(found) == '403 namespaces "default" is forbidden: this namespace may not be deleted'


def test_what_was_said_before_a_refusal_stays() -> None:
    labels = {"pod-security.kubernetes.io/audit": "baseline"}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": labels}}
    value = pod(hostPID=True, serviceAccountName="default", overhead={"cpu": "1"})
    opinion = PluginChain().validate(asked(value), world(space))
    assert text(opinion.refusal).endswith("without corresponding RuntimeClass defined Overhead")
    assert list(opinion.audit_annotations) == [
        "pod-security.kubernetes.io/enforce-policy",
        "pod-security.kubernetes.io/audit-violations",
    ]


def test_others_are_not_asked() -> None:
    opinion = PluginChain().validate(asked(obj("ConfigMap", "c")), world())
    assert (opinion.refusal, opinion.warnings, opinion.audit_annotations) == (None, (), {})


def test_an_older_server_knows_older_standards() -> None:
    labels = {"pod-security.kubernetes.io/enforce": "baseline"}
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "ns", "labels": labels}}
    probe = {"name": "c", "livenessProbe": {"httpGet": {"host": "h", "port": 1}}}
    asking = asked(pod(containers=[probe]))
    for release, refused in (("1.33", False), ("1.34", True), ("1.37", True)):
        opinion = PluginChain({"PodSecurity"}, release).validate(asking, world(space))
        assert (opinion.refusal is not None) == refused, release


def test_somebody_decides_whether_a_refusal_stands() -> None:
    around = world()
    value = pod(priorityClassName="none", runtimeClassName="none")
    request = asked(value)
    draft = drafted(value, request.kind, DefaultingContext(cluster=around))
    told: list[str] = []

    def goes_on(plugin: str, refusal: object) -> bool:
        told.append(plugin)
        return False

    assert PluginChain().mutate(draft, request, around, goes_on) is None
    assert told == ["Priority", "RuntimeClass"]
    assert len(draft.decoded["spec"]["tolerations"]) == 2, "those behind are asked"


@pytest.mark.parametrize("ends", [True, False])
def test_the_second_half_too(ends: bool) -> None:
    request = asked({**pod(), "spec": {"containers": [], "serviceAccountName": "robot"}})
    told: list[str] = []

    def stands(plugin: str, refusal: object) -> bool:
        told.append(plugin)
        return ends

    refusal = PluginChain({"ServiceAccount"}).validate(request, world(), stands).refusal
    assert (refusal is not None) is ends
    assert told == ["ServiceAccount"]
