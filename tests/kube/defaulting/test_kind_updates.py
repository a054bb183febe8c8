"""What an update loses or takes over, kind by kind."""

from __future__ import annotations

from typing import Any

from celadon.kube.defaulting.dropped_fields import (
    autoscaler,
    claim,
    claim_status,
    endpoint_slice,
    node,
    node_status,
    pod_status,
    service_account,
    signing_status,
    signing_times,
    volume_status,
)

NOW = "2026-01-01T00:00:00Z"


def test_what_a_kubelet_leaves_out_stays() -> None:
    pod: dict[str, Any] = {"status": {"phase": "Running"}}
    was = {"qosClass": "Burstable", "observedGeneration": 3, "phase": "Pending"}
    pod_status(pod, {"status": was}, NOW)
    assert pod["status"] == {"phase": "Running", "qosClass": "Burstable", "observedGeneration": 3}


def test_the_phase_of_a_volume_has_a_time() -> None:
    old = {"status": {"phase": "Pending", "lastPhaseTransitionTime": "before"}}
    changed: dict[str, Any] = {"status": {"phase": "Bound"}}
    volume_status(changed, old, NOW)
    assert changed["status"] == {"phase": "Bound", "lastPhaseTransitionTime": NOW}
    same: dict[str, Any] = {"status": {"phase": "Pending"}}
    volume_status(same, old, NOW)
    assert same == old
    said: dict[str, Any] = {"status": {"phase": "Bound", "lastPhaseTransitionTime": "later"}}
    volume_status(said, old, NOW)
    assert said["status"]["lastPhaseTransitionTime"] == "later"


def test_what_is_said_counts() -> None:
    status: dict[str, Any] = {"qosClass": "Guaranteed", "observedGeneration": 4}
    pod_status(
        {"status": status}, {"status": {"qosClass": "Burstable", "observedGeneration": 3}}, NOW
    )
    assert status == {"qosClass": "Guaranteed", "observedGeneration": 4}


def test_conditions_of_a_type_are_paired_in_their_order() -> None:
    status: dict[str, Any] = {
        "conditions": [{"type": "A"}, {"type": "B"}, {"type": "A"}, {"type": "A"}]
    }
    old = [
        {"type": "A", "observedGeneration": 1},
        {"type": "A", "observedGeneration": 2},
        {"type": "B"},
    ]
    pod_status({"status": status}, {"status": {"conditions": old}}, NOW)
    generations = [one.get("observedGeneration") for one in status["conditions"]]
    assert generations == [1, None, 2, None]


def test_nodes_are_not_configured_by_the_api_any_more() -> None:
    source: dict[str, Any] = {"configSource": {"configMap": {}}}
    changed = {"spec": dict(source), "status": {"config": {}}}
    node(changed, {}, NOW)
    node_status(changed, {}, NOW)
    assert changed == {"spec": {}, "status": {}}
    kept = {"spec": dict(source), "status": {"config": {}}}
    node(kept, {"spec": source}, NOW)
    node_status(kept, {"status": {"config": {}}}, NOW)
    assert kept == {"spec": source, "status": {"config": {}}}


def test_secrets_of_accounts_are_names() -> None:
    account = {"secrets": [{"name": "a", "kind": "Secret", "uid": "u"}, {"namespace": "n"}]}
    service_account(account, {}, NOW)
    assert account == {"secrets": [{"name": "a"}, {}]}


def test_topology_is_dropped_when_endpoints_change() -> None:
    host = {"kubernetes.io/hostname": "n1"}
    old = {"endpoints": [{"addresses": ["1.1.1.1"], "deprecatedTopology": host}]}
    same = {"endpoints": [{"addresses": ["1.1.1.1"], "deprecatedTopology": host}]}
    endpoint_slice(same, old, NOW)
    assert same == old
    changed = {
        "endpoints": [
            {"addresses": ["1.1.1.2"], "deprecatedTopology": host},
            {"addresses": ["1.1.1.3"], "deprecatedTopology": {"kubernetes.io/hostname": "new"}},
        ]
    }
    endpoint_slice(changed, old, NOW)
    expected = [{"addresses": ["1.1.1.2"], "nodeName": "n1"}, {"addresses": ["1.1.1.3"]}]
    assert changed == {"endpoints": expected}


def test_claims_name_their_source_twice() -> None:
    source = {"kind": "PersistentVolumeClaim", "name": "a"}
    changed: dict[str, Any] = {"spec": {"dataSourceRef": dict(source)}}
    claim(changed, {}, NOW)
    assert changed == {"spec": {"dataSource": source, "dataSourceRef": source}}
    other = {"kind": "Other", "name": "a"}
    dropped: dict[str, Any] = {"spec": {"dataSource": dict(other)}}
    claim(dropped, {}, NOW)
    assert dropped == {"spec": {}}
    kept: dict[str, Any] = {"spec": {"dataSource": dict(other)}}
    claim(kept, {"spec": {"dataSourceRef": other}}, NOW)
    assert kept == {"spec": {"dataSource": other, "dataSourceRef": other}}


APPROVED = {"type": "Approved", "status": "True", "lastUpdateTime": "then"}


def test_a_status_decides_nothing_about_a_certificate() -> None:
    old = {"status": {"conditions": [{**APPROVED, "lastTransitionTime": "then"}]}}
    made: dict[str, Any] = {
        "status": {"conditions": [{"type": "Failed"}, {**APPROVED, "reason": "Other"}]}
    }
    signing_status(made, old, NOW)
    assert made["status"]["conditions"] == [
        {"type": "Failed", "lastUpdateTime": NOW, "lastTransitionTime": NOW},
        *old["status"]["conditions"],
    ]
    more: dict[str, Any] = {"status": {"conditions": [{**APPROVED}, {**APPROVED}]}}
    signing_status(more, old, NOW)
    assert len(more["status"]["conditions"]) == 2


def test_conditions_of_a_request_for_a_certificate_have_times() -> None:
    old = {"status": {"conditions": [{**APPROVED, "lastTransitionTime": "before"}]}}
    made: dict[str, Any] = {"status": {"conditions": [{"type": "Approved", "status": "True"}]}}
    signing_times(made, old, NOW)
    assert made["status"]["conditions"] == [
        {**APPROVED, "lastUpdateTime": NOW, "lastTransitionTime": "before"}
    ]
    changed: dict[str, Any] = {"status": {"conditions": [{"type": "Approved", "status": "False"}]}}
    signing_times(changed, old, NOW)
    assert changed["status"]["conditions"][0]["lastTransitionTime"] == NOW


def test_the_status_that_v1_has_in_annotations_stays() -> None:
    prefix = "autoscaling.alpha.kubernetes.io/"
    seen = {f"{prefix}conditions": "[1]", f"{prefix}current-metrics": "[2]"}
    old = {"metadata": {"annotations": {**seen, f"{prefix}metrics": "[3]", "a": "b"}}}
    sent = {"c": "d", f"{prefix}conditions": "[7]"}
    made: dict[str, Any] = {"metadata": {"annotations": sent}}
    autoscaler(made, old, NOW)
    assert made == {"metadata": {"annotations": {"c": "d", **seen}}}
    autoscaler(made, {"metadata": {}}, NOW)
    assert made == {"metadata": {"annotations": {"c": "d"}}}
    bare: dict[str, Any] = {"metadata": {}}
    autoscaler(bare, {"metadata": {}}, NOW)
    assert bare == {"metadata": {}}


def test_a_claim_says_nothing_of_devices_that_it_lost() -> None:
    first, second, shared = (
        {"driver": "d", "pool": "p", "device": name, **more}
        for name, more in (("a", {}), ("b", {}), ("b", {"shareID": "s"}))
    )
    strange = {"driver": "d", "pool": "p", "device": "never"}

    def status(*results: object, told: list[object]) -> dict[str, Any]:
        return {"status": {"allocation": {"devices": {"results": [*results]}}, "devices": told}}

    old = status(first, second, shared, told=[first, second, shared])
    made = status(first, shared, told=[first, second, shared, strange])
    claim_status(made, old, NOW)
    assert made["status"]["devices"] == [first, shared, strange]
    given_back: dict[str, Any] = {"status": {"devices": [first, second]}}
    claim_status(given_back, old, NOW)
    assert given_back == {"status": {}}
