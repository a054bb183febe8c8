"""Cases that are proposed: written down as a whole, they are read as what they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from celadon.cli.policytest.case_results import Case
from celadon.cli.policytest.importers.foreign_formats import given_tests
from celadon.cli.policytest.mutants.mutant_runs import _whole
from tests.cli.files import Json, config_map
from tests.cli.policytest.given_cases import written

NAMESPACE = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}


def case_of(folder: Path, case: Json) -> Case:
    given = given_tests([written(folder, {**case, "expect": "admit"}, defaults={})])
    assert not given.problems
    ((only,),) = (test.cases for test in given.tests)
    return only


def plain(case: Case) -> list[object]:
    """All that a request is made of, without where it was written."""
    documents = [case.object, *case.cluster, *([] if case.old is None else [case.old])]
    return [
        *(case.operation, case.subresource, case.namespace, case.user, case.dry_run),
        *(case.answers, case.policies, case.old is None, [one.value for one in documents]),
    ]


@pytest.mark.parametrize(
    "more",
    [
        {},
        {"operation": "DELETE"},
        {"operation": "UPDATE", "oldObject": config_map(x="before")},
        {"subresource": "status", "operation": "UPDATE", "oldObject": config_map()},
        {"user": "alice", "groups": ["a", "b"]},
        {"user": "alice", "groups": [], "uid": "u", "extra": {"k": ["v", "w"]}},
        {"dryRun": True},
        {"resources": [NAMESPACE]},
        {"authorizer": [{"decision": "allow", "verb": "get", "resource": "pods"}]},
        {"authorizer": [{"decision": "deny", "path": "/healthz", "verb": "get"}]},
        {"policy": ["limit"]},
    ],
    ids=lambda more: ",".join(more) or "nothing more",
)
def test_a_whole_case_is_read_again(tmp_path: Path, more: Json) -> None:
    case = case_of(tmp_path, {"object": config_map(x="ok"), **more})
    again = case_of(tmp_path, dict(_whole(case, list(case.cluster))))
    assert plain(again) == plain(case)


@pytest.mark.parametrize("namespace", ["default", "shop"])
def test_a_namespace_is_said_where_the_object_does_not(tmp_path: Path, namespace: str) -> None:
    named, unnamed = config_map(), config_map()
    named["metadata"]["namespace"] = namespace
    unnamed["metadata"].pop("namespace", None)
    case = case_of(tmp_path, {"object": unnamed, "namespace": namespace})
    assert _whole(case, [])["namespace"] == namespace
    assert plain(case_of(tmp_path, dict(_whole(case, [])))) == plain(case)
    assert "namespace" not in _whole(case_of(tmp_path, {"object": named}), [])


def test_what_goes_without_saying_is_not_said(tmp_path: Path) -> None:
    case = case_of(tmp_path, {"object": config_map(namespace="x")})
    assert _whole(case, []).keys() <= {"operation", "object", "namespace"}
