"""What LimitRanger refuses."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.limit_ranger import exceeded_limits
from tests.admission.plugins import asking
from tests.kube.validation.objects import admitted, container, obj, pod

CPU = "cpu usage per Container is"


def limit_range(kind: str = "Container", **limit: Any) -> dict[str, Any]:
    return {"spec": {"limits": [{"type": kind, **limit}]}}


def needs(request: str = "", limit: str = "") -> dict[str, Any]:
    return {
        "resources": {
            key: {"cpu": value}
            for key, value in (("requests", request), ("limits", limit))
            if value
        }
    }


ROWS: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (limit_range(max={"cpu": "1"}), needs("1", "1"), ""),
    (limit_range(max={"cpu": "1"}), needs("1"), f"maximum {CPU} 1.  No limit is specified"),
    (limit_range(max={"cpu": "1"}), needs("1", "2"), f"maximum {CPU} 1, but limit is 2"),
    (limit_range(min={"cpu": "1"}), needs(), f"minimum {CPU} 1.  No request is specified"),
    (limit_range(min={"cpu": "1"}), needs("500m"), f"minimum {CPU} 1, but request is 500m"),
    (
        limit_range(maxLimitRequestRatio={"cpu": "2"}),
        needs("1", "3"),
        "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000",
    ),
    (
        limit_range(maxLimitRequestRatio={"cpu": "2"}),
        needs("1"),
        "cpu max limit to request ratio per Container is 2, but no limit is specified or limit is "
        "0",
    ),
    (
        limit_range(max={"cpu": "1"}, min={"cpu": "1"}),
        needs(),
        f"[minimum {CPU} 1.  No request is specified, maximum {CPU} 1.  No limit is specified]",
    ),
    (
        limit_range("Pod", max={"cpu": "1"}),
        needs("1", "2"),
        "maximum cpu usage per Pod is 1, but limit is 2",
    ),
    (limit_range("PersistentVolumeClaim", max={"storage": "1"}), needs(), ""),
]


@pytest.mark.parametrize(("given", "resources", "message"), ROWS)
def test_pods(given: dict[str, Any], resources: dict[str, Any], message: str) -> None:
    assert exceeded_limits(admitted(pod(container(**resources))), [given]) == message


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"max": {"storage": "2Gi"}}, ""),
        (
            {"max": {"storage": "1Gi"}},
            "maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi",
        ),
        (
            {"min": {"storage": "3Gi"}},
            "minimum storage usage per PersistentVolumeClaim is 3Gi, but request is 2Gi",
        ),
    ],
)
def test_claims(limit: dict[str, Any], message: str) -> None:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "2Gi"}}}
    value = admitted(obj("v1", "PersistentVolumeClaim", spec=spec))
    assert exceeded_limits(value, [limit_range("PersistentVolumeClaim", **limit)]) == message


def test_the_first_limit_range_that_refuses_speaks() -> None:
    given = [
        limit_range(max={"cpu": "5"}),
        limit_range(max={"cpu": "1"}),
        limit_range(min={"cpu": "9"}),
    ]
    value = admitted(pod(container(**needs("2", "2"))))
    assert exceeded_limits(value, given) == f"maximum {CPU} 1, but limit is 2"
    assert exceeded_limits({"kind": "ConfigMap"}, given) == ""


@pytest.mark.parametrize(
    ("subresource", "updates", "refused"),
    [("", False, True), ("", True, False), ("resize", True, True), ("status", True, False)],
)
def test_requests_that_are_looked_at(subresource: str, updates: bool, refused: bool) -> None:
    limits = asking.obj("LimitRange", "l", **limit_range(max={"cpu": "1"}))
    limits["metadata"]["namespace"] = "ns"
    value = asking.pod(containers=[{"name": "c", **needs("2", "2")}])
    request = asking.asked(value, value if updates else None, subresource=subresource)
    text = '403 pods "p" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
    found = asking.refusal("LimitRanger", request, asking.world(limits))
    assert found == (text if refused else "")


def test_pods_that_are_being_deleted_are_let_go() -> None:
    limits = asking.obj(
        "LimitRange", "l", **limit_range("PersistentVolumeClaim", max={"storage": "1"})
    )
    limits["metadata"]["namespace"] = "ns"
    claim = asking.obj(
        "PersistentVolumeClaim", "c", spec={"resources": {"requests": {"storage": "2"}}}
    )
    around = asking.world(limits)
    assert asking.refusal("LimitRanger", asking.asked(claim, claim), around) != ""
    claim["metadata"]["deletionTimestamp"] = "2025-01-01T00:00:00Z"
    assert asking.refusal("LimitRanger", asking.asked(claim, claim), around) == ""


def test_a_pod_may_say_for_itself() -> None:
    spec = {"containers": [container()], "resources": {"limits": {"cpu": "2"}}}
    text = "maximum cpu usage per Pod is 1, but limit is 2"
    limits = limit_range("Pod", max={"cpu": "1"})
    assert exceeded_limits({"kind": "Pod", "spec": spec}, [limits]) == text


def test_what_a_pod_needs_leaves_its_overhead_out() -> None:
    spec = {"containers": [container(**needs("1", "1"))], "overhead": {"cpu": "1"}}
    least = limit_range("Pod", min={"cpu": "2"})
    text = "minimum cpu usage per Pod is 2, but request is 1"
    assert exceeded_limits({"kind": "Pod", "spec": spec}, [least]) == text
    assert (
        exceeded_limits({"kind": "Pod", "spec": spec}, [limit_range("Pod", max={"cpu": "1"})]) == ""
    )


@pytest.mark.parametrize(
    ("limit", "resources", "message"),
    [
        ({"min": {"cpu": "2"}}, needs("2", "1"), f"minimum {CPU} 2, but limit is 1"),
        ({"min": {"cpu": "2"}}, needs("2", "2"), ""),
        ({"max": {"cpu": "1"}}, needs("2", "1"), f"maximum {CPU} 1, but request is 2"),
        (
            {"maxLimitRequestRatio": {"cpu": "2"}},
            needs("0", "1"),
            "cpu max limit to request ratio per Container is 2, but no request is specified or "
            "request is 0",
        ),
        ({"maxLimitRequestRatio": {"cpu": "2"}}, needs("1", "2"), ""),
    ],
)
def test_bounds(limit: dict[str, Any], resources: dict[str, Any], message: str) -> None:
    given = {"kind": "Pod", "spec": {"initContainers": [container(**resources)]}}
    assert exceeded_limits(given, [limit_range(**limit)]) == message


def test_claims_say_what_they_want() -> None:
    limits = limit_range("PersistentVolumeClaim", min={"storage": "1"}, max={"storage": "2"})
    unsaid = "storage usage per PersistentVolumeClaim is"
    assert exceeded_limits({"kind": "PersistentVolumeClaim"}, [limit_range(), limits]) == (
        f"[minimum {unsaid} 1.  No request is specified, "
        f"maximum {unsaid} 2.  No request is specified]"
    )
