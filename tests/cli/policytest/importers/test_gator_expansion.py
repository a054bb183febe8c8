"""What ExpansionTemplates make."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.policytest.case_results import plain_document
from celadon.cli.policytest.importers.gator_suites import expanded
from tests.cli.files import Json

OWNER: Json = {
    "apiVersion": "batch/v1",
    "kind": "CronJob",
    "metadata": {"name": "Nightly", "namespace": "shop"},
    "spec": {"jobTemplate": {"spec": {"template": {"metadata": {"labels": {"a": "b"}}}}}},
}


def template(applies: Json, source: str, kind: Json) -> Any:
    value = {
        "apiVersion": "expansion.gatekeeper.sh/v1alpha1",
        "kind": "ExpansionTemplate",
        "metadata": {"name": "t"},
        "spec": {"applyTo": [applies], "templateSource": source, "generatedGVK": kind},
    }
    return plain_document(value, "expansion.yaml")


TO_JOB = template(
    {"groups": ["batch"], "versions": ["v1"], "kinds": ["CronJob"]},
    "spec.jobTemplate",
    {"group": "batch", "version": "v1", "kind": "Job"},
)
TO_POD = template(
    {"groups": ["batch"], "versions": ["v1"], "kinds": ["Job"]},
    "spec.template",
    {"group": "", "version": "v1", "kind": "Pod"},
)


def test_what_is_made_is_expanded_again() -> None:
    pod, job = expanded(OWNER, [TO_JOB, TO_POD])
    assert (job["apiVersion"], job["kind"]) == ("batch/v1", "Job")
    assert job["metadata"] == {"name": "nightly-job", "namespace": "shop"}
    assert (pod["apiVersion"], pod["kind"]) == ("v1", "Pod")
    assert pod["metadata"] == {
        "name": "nightly-job-pod",
        "namespace": "shop",
        "labels": {"a": "b"},
    }


@pytest.mark.parametrize(
    "other",
    [
        TO_POD,
        template({"groups": ["batch"], "versions": ["v1"], "kinds": ["CronJob"]}, "spec.none", {}),
        plain_document({"apiVersion": "v1", "kind": "ConfigMap"}, "x.yaml"),
    ],
)
def test_what_does_not_apply_makes_nothing(other: Any) -> None:
    assert list(expanded(OWNER, [other])) == []


def test_an_end_is_put_to_what_makes_itself() -> None:
    circle = template(
        {"groups": ["batch"], "versions": ["v1"], "kinds": ["CronJob"]},
        "spec",
        {"group": "batch", "version": "v1", "kind": "CronJob"},
    )
    deep: Json = {}
    for _ in range(50):
        deep = {"spec": deep}
    assert len(list(expanded({**OWNER, **deep}, [circle]))) == 30
