"""What is counted as what."""

from __future__ import annotations

import re

import pytest

from celadon.apiserver.api_settings import Settings
from celadon.apiserver.http_messages import HttpAnswer, HttpRequest
from celadon.apiserver.operation.metric_table import CONTENT_TYPE
from celadon.apiserver.operation.server_metrics import request_labels
from celadon.apiserver.request_info import request_info
from celadon.kube import GroupVersionResource
from celadon.kube.resources import known_resources
from tests.apiserver.asking import ask
from tests.apiserver.in_process import Running
from tests.apiserver.test_apiserver import MAPS, POLICIES

DEPLOYMENTS = known_resources().by_gvr(GroupVersionResource("apps", "v1", "deployments"))
DEPLOYED = "/apis/apps/v1/namespaces/a/deployments"
_LINE = re.compile(
    r"# (HELP|TYPE) [a-z_:0-9]+ .+"
    r'|[a-z_:0-9]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [0-9.e+-]+'
)


@pytest.mark.parametrize(
    ("method", "target", "content_type", "labels"),
    [
        ("GET", DEPLOYED, "", "LIST apps/v1/deployments//namespace"),
        ("GET", "/apis/apps/v1/deployments", "", "LIST apps/v1/deployments//cluster"),
        ("GET", f"{DEPLOYED}/d", "", "GET apps/v1/deployments//resource"),
        ("GET", f"{DEPLOYED}?watch=1", "", "WATCH apps/v1/deployments//namespace"),
        ("POST", DEPLOYED, "", "POST apps/v1/deployments//resource"),
        ("PUT", f"{DEPLOYED}/d/status", "", "PUT apps/v1/deployments/status/resource"),
        (
            "PATCH",
            f"{DEPLOYED}/d",
            "application/json-patch+json",
            "PATCH apps/v1/deployments//resource",
        ),
        (
            "PATCH",
            f"{DEPLOYED}/d",
            "application/apply-patch+yaml",
            "APPLY apps/v1/deployments//resource",
        ),
        ("DELETE", DEPLOYED, "", "DELETECOLLECTION apps/v1/deployments//namespace"),
        ("BREW", f"{DEPLOYED}/d", "", "other apps/v1/deployments//resource"),
        ("GET", "/readyz", "", "GET ////readyz/"),
        ("GET", "/openapi/v3/apis/apps/v1", "", "GET ////openapi/v3/"),
        ("GET", "/some/where/else", "", "GET ////"),
    ],
)
def test_labels(method: str, target: str, content_type: str, labels: str) -> None:
    request = HttpRequest(method, target, [("content-type", content_type)])
    info = request_info(request)
    resource = DEPLOYMENTS if info.is_resource else None
    verb, found = request_labels(request, info, resource)
    assert f"{verb} {'/'.join(found)}" == labels


def shown(running: Running) -> list[str]:
    answer = ask(running, "GET", "/metrics")
    assert (answer.code, answer.content_type) == (200, f"{CONTENT_TYPE}; escaping=underscores")
    assert dict(answer.headers)["Process-Start-Time-Unix"].isdecimal()
    return answer.body.decode().splitlines()


def value(lines: list[str], name: str, *labels: str) -> float:
    """The sum of the samples that have all these labels."""
    return sum(
        float(line.rsplit(" ", 1)[1])
        for line in lines
        if re.match(rf"{name}[ {{]", line) and all(label in line for label in labels)
    )


def policy(name: str, expression: str, *, fails: str = "Fail") -> dict[str, object]:
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["CREATE"],
        "resources": ["configmaps"],
    }
    return {
        "metadata": {"name": name},
        "spec": {
            "failurePolicy": fails,
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": expression}],
        },
    }


@pytest.mark.parametrize(
    ("release", "begins", "has_groups"),
    [
        ("1.33", "Number of", False),
        ("1.34", "[DEPRECATED, ", True),
        ("1.35", "(Deprecated since 1.34.0) [DEPRECATED, ", True),
    ],
)
def test_since_when_another_metric_counts_objects(
    release: str, begins: str, *, has_groups: bool
) -> None:
    running = Running(Settings(version=release))
    try:
        text = ask(running, "GET", "/metrics").body.decode()
    finally:
        running.close()
    assert f"# HELP apiserver_storage_objects [STABLE] {begins}" in text
    assert ("# HELP apiserver_resource_objects " in text) is has_groups


def test_what_a_server_tells_about_its_work() -> None:
    running = Running(Settings())
    try:
        for name, expression, fails in (
            ("calm", "object.metadata.name != 'bad'", "Fail"),
            ("broken", "object.data.missing == 'x'", "Ignore"),
        ):
            assert ask(running, "POST", f"{POLICIES}/validatingadmissionpolicies",
                       policy(name, expression, fails=fails)).code == 201  # fmt: skip
            binding = {
                "metadata": {"name": f"{name}-binding"},
                "spec": {"policyName": name, "validationActions": ["Deny", "Audit"]},
            }
            path = f"{POLICIES}/validatingadmissionpolicybindings"
            assert ask(running, "POST", path, binding).code == 201
        assert ask(running, "POST", MAPS, {"metadata": {"name": "good"}}).code == 201
        assert ask(running, "POST", MAPS, {"metadata": {"name": "bad"}}).code == 422
        assert ask(running, "GET", MAPS, token="alice-token").code == 403
        assert ask(running, "GET", MAPS, token="nobody").code == 401
        assert ask(running, "GET", "/apis/invented/v1/things").code == 404
        assert ask(running, "GET", "/metrics", token="alice-token").code == 403
        watch = ask(running, "GET", f"{MAPS}?watch=1")
        assert watch.stream is not None
        events = running.lines(watch.stream)
        assert events.readline()
        lines = shown(running)
        events.close()
    finally:
        running.close()
    assert [line for line in lines if not _LINE.fullmatch(line)] == []
    of_maps = ('resource="configmaps"', 'version="v1"', 'group=""')
    requests = "apiserver_request_total"
    assert value(lines, requests, 'verb="POST"', 'code="201"', *of_maps) == 1
    assert value(lines, requests, 'verb="POST"', 'code="422"', *of_maps) == 1
    assert value(lines, requests, 'code="404"', 'resource=""') == 1
    assert value(lines, requests, 'code="401"') == 1
    assert not any("invented" in line for line in lines)
    assert value(lines, "apiserver_request_duration_seconds_count", 'verb="POST"', *of_maps) == 2
    assert value(lines, "authentication_attempts", 'result="failure"') == 1
    decisions = "apiserver_authorization_decisions_total"
    assert value(lines, decisions, 'decision="denied"') == 2
    assert value(lines, "apiserver_longrunning_requests", 'verb="WATCH"', *of_maps) == 1
    assert value(lines, "apiserver_watch_events_total", 'resource="configmaps"') == 1
    own = 1  # extension-apiserver-authentication
    assert value(lines, "apiserver_storage_objects", '{resource="configmaps"}') == 1 + own
    assert any(
        line.startswith("# HELP apiserver_storage_objects [STABLE] (Deprecated since 1.34.0) [DEP")
        for line in lines
    )
    assert value(lines, "apiserver_resource_objects", 'resource="namespaces"') >= 4
    assert value(lines, "process_resident_memory_bytes") > 1e6
    plugin = "apiserver_admission_controller_admission_duration_seconds_count"
    assert value(lines, plugin, 'operation="CREATE"', 'rejected="true"') == 1
    checks = "apiserver_validating_admission_policy_check_total"
    denied = ('policy="calm"', 'policy_binding="calm-binding"', 'error_type="invalid_error"')
    for action in ("deny", "audit"):
        assert value(lines, checks, *denied, f'enforcement_action="{action}"') == 1
    assert value(lines, checks, 'policy="broken"', 'enforcement_action="allow"') == 2
    ours = "celadon_validating_admission_policy_duration_seconds_count"
    assert value(lines, ours, 'policy="calm"', 'result="allowed"') == 1
    assert value(lines, ours, 'policy="calm"', 'result="denied"') == 1
    assert value(lines, ours, 'policy="broken"', 'result="error"') == 2


@pytest.mark.parametrize(("code", "count"), [(429, 1), (504, 1), (503, 0), (200, 0)])
def test_what_a_server_ends_to_defend_itself(code: int, count: int) -> None:
    running = Running(Settings())
    try:
        request = HttpRequest("GET", f"{MAPS}/a")
        resource = known_resources().by_gvr(GroupVersionResource("", "v1", "configmaps"))
        info = request_info(request)
        running.server.core.metrics.answered(request, info, resource, HttpAnswer(code), 0.1)
        lines = shown(running)
    finally:
        running.close()
    labels = (
        f'code="{code}",component="apiserver",group="",resource="configmaps",scope="resource",'
        'subresource="",verb="GET",version="v1"'
    )
    line = f"apiserver_request_terminations_total{{{labels}}} 1"
    assert lines.count(line) == count
