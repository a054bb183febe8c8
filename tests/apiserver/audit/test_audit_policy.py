"""Which rule of a policy file decides, and what is wrong with one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from celadon.apiserver.audit import AuditPolicyError, Level, read_audit_policy
from celadon.apiserver.http_messages import HttpRequest
from celadon.apiserver.request_info import request_info
from celadon.kube import User

ALICE = User("alice", ("devs",))
SECRET = "/api/v1/namespaces/a/secrets/s"


def policy(*rules: Any, **more: Any) -> str:
    return json.dumps(
        {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": list(rules), **more}
    )


@pytest.mark.parametrize(
    ("rule", "path", "matches"),
    [
        ({}, SECRET, True),
        ({}, "/version", True),
        ({"users": ["bob"]}, SECRET, False),
        ({"userGroups": ["devs"]}, SECRET, True),
        ({"verbs": ["list"]}, SECRET, False),
        ({"namespaces": ["a"]}, SECRET, True),
        ({"namespaces": ["a"]}, "/version", False),
        ({"resources": [{"resources": ["secrets"]}]}, SECRET, True),
        ({"resources": [{"resources": ["secrets"], "resourceNames": ["t"]}]}, SECRET, False),
        ({"resources": [{"group": "apps"}]}, SECRET, False),
        ({"resources": [{"resources": ["pods"]}]}, "/api/v1/namespaces/a/pods/p/log", False),
        ({"resources": [{"resources": ["*/log"]}]}, "/api/v1/namespaces/a/pods/p/log", True),
        ({"resources": [{"resources": ["pods/*"]}]}, "/api/v1/namespaces/a/pods/p/log", True),
        ({"resources": [{"resources": ["secrets/*"]}]}, SECRET, True),
        ({"nonResourceURLs": ["/ver*"]}, "/version", True),
        ({"nonResourceURLs": ["*"]}, SECRET, False),
    ],
    ids=str,
)
def test_rules(rule: dict[str, Any], path: str, matches: bool) -> None:
    found = read_audit_policy(policy({"level": "Request", **rule}))
    level = found.recording(ALICE, request_info(HttpRequest("GET", path))).level
    assert level is (Level.REQUEST if matches else Level.NONE)


def test_stages_of_rule_and_policy_are_omitted() -> None:
    text = policy({"level": "Metadata", "omitStages": ["Panic"]}, omitStages=["RequestReceived"])
    info = request_info(HttpRequest("GET", SECRET))
    omitted = read_audit_policy(text).recording(ALICE, info).omitted_stages
    assert omitted == {"Panic", "RequestReceived"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "audit policy: "),
        (policy(), "has no rules"),
        (policy({"level": "All"}), "level `All` is none of"),
        (policy({"level": "None", "nonResourceURLs": ["x"]}), "must begin with a '/' character"),
        (policy({"level": "None", "nonResourceURLs": ["/*x"]}), "must be the final character"),
        (policy({"level": "None"}, omitStages=["x"]), "allowed stages are"),
        ("2026-99-99", "its kind must be Policy"),
        (policy([]), "rules[0]: it must be an object"),
        (policy(["a"]), "rules[0]: it must be an object"),
        (policy({"level": {}}), "rules[0].level: it must be a string"),
        (
            policy({"level": "None", "users": "admin"}),
            "rules[0].users: it must be a list of strings",
        ),
        (policy({"level": "None", "verbs": [1]}), "rules[0].verbs: it must be a list of strings"),
        (policy({"level": "None", "resources": "pods"}), "rules[0].resources: it must be a list"),
        (
            policy({"level": "None", "resources": [{"group": [], "resources": "pods"}]}),
            "rules[0].resources[0].group: it must be a string; rules[0].resources[0].resources: it",
        ),
        (
            policy({"level": "None", "omitManagedFields": "no"}, omitStages=[1]),
            "omitStages: it must be a list of strings; rules[0].omitManagedFields: it must be",
        ),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(AuditPolicyError) as error:
        read_audit_policy(text)
    assert message in str(error.value)
