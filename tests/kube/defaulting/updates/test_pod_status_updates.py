"""What a new status of a pod takes from the old one."""

from __future__ import annotations

from typing import Any

from celadon.kube.defaulting.updates.pod_status_updates import pod_status_update


def test_what_a_kubelet_leaves_out_stays() -> None:
    status: dict[str, Any] = {"phase": "Running"}
    pod_status_update(
        status, {"qosClass": "Burstable", "observedGeneration": 3, "phase": "Pending"}
    )
    assert status == {"phase": "Running", "qosClass": "Burstable", "observedGeneration": 3}


def test_what_is_said_counts() -> None:
    status: dict[str, Any] = {"qosClass": "Guaranteed", "observedGeneration": 4}
    pod_status_update(status, {"qosClass": "Burstable", "observedGeneration": 3})
    assert status == {"qosClass": "Guaranteed", "observedGeneration": 4}


def test_conditions_of_a_type_are_paired_in_their_order() -> None:
    status = {"conditions": [{"type": "A"}, {"type": "B"}, {"type": "A"}, {"type": "A"}]}
    old = [
        {"type": "A", "observedGeneration": 1},
        {"type": "A", "observedGeneration": 2},
        {"type": "B"},
    ]
    pod_status_update(status, {"conditions": old})
    generations = [one.get("observedGeneration") for one in status["conditions"]]
    assert generations == [1, None, 2, None]
