"""Parts of policies that change nothing, and validations that contradict each other."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

pytest.importorskip("z3")

from celadon.kube import FieldPath, JsonObject
from celadon.prove import Finding, Superfluous
from tests.prove.test_policy_differences import SECONDS, changed
from tests.prove.test_policy_questions import policy

IMAGES = "object.spec.containers.all(c, c.image.startsWith('r.io/'))"
STRICTER = "object.spec.containers.all(c, c.image.startsWith('r.io/a'))"
HOST = "!object.spec.?hostPID.orValue(false)"
EXCLUDED = [{"apiGroups": ["apps"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]
THREE = f"!({' && '.join(f'object.spec.containers.exists(c, c.name == {one!r})' for one in 'abc')})"
FAILING = "object.spec.hostname == 'x'"
NAMED = [{**EXCLUDED[0], "apiGroups": [""], "resourceNames": ["a"]}]


def document(
    validations: Sequence[str], conditions: tuple[str, ...] = (), excluded: Sequence[object] = ()
) -> JsonObject:
    """A policy about Pods."""
    made = policy("true", conditions=conditions)
    rules = made["spec"]["matchConstraints"]["resourceRules"]
    return changed(
        made,
        validations=[{"expression": one} for one in validations],
        matchConstraints={"resourceRules": rules, "excludeResourceRules": list(excluded)},
    )


CONTRADICTION = "spec.validations"


@pytest.mark.parametrize(
    ("value", "faults"),
    [
        (document([HOST]), []),
        (document([HOST, IMAGES]), []),
        # As many items as any of the questions needs.
        (document([HOST, THREE]), []),
        (document([STRICTER, IMAGES]), ["spec.validations[1]"]),
        (document([IMAGES, HOST, STRICTER]), ["spec.validations[0]"]),
        (document([HOST, "has(object.spec.hostPID)", "!has(object.spec.hostPID)"]),
         ["spec.validations[0]", "spec.validations[2]", CONTRADICTION]),
        (document([HOST], ("request.operation == 'CREATE'",)), ["spec.matchConditions[0]"]),
        (document([HOST], ("object.metadata.name != 'x'",)), []),
        (document([HOST], ("object.spec.?hostPID.orValue(false) == true",)),
         ["spec.matchConditions[0]"]),
        (document([HOST], ("!has(object.spec.hostPID)",)), []),
        # Where a condition fails, all is refused.
        (document([HOST], (FAILING,)), []),
        (document([HOST], ("1 / 0 == 1",)), []),
        (document([HOST], ("nobody",)), []),
        (document([HOST], ("object.spec.?hostPID.orValue(false)",)), []),  # no bool
        (changed(document([HOST], ("nobody",)), failurePolicy="Ignore"), []),
        # Validations that nobody asks contradict nobody.
        (document([HOST, IMAGES], ("false",)), ["spec.validations[0]", "spec.validations[1]"]),
        (document([HOST], (), EXCLUDED), ["spec.matchConstraints.excludeResourceRules[0]"]),
        (document([HOST], (), NAMED), []),
        (document([HOST], (), [*NAMED, *NAMED]),
         [f"spec.matchConstraints.excludeResourceRules[{number}]" for number in (0, 1)]),
    ],
)  # fmt: skip
def test_faults(value: JsonObject, faults: list[str]) -> None:
    found = Superfluous(value, seconds=SECONDS).answers()
    same = [
        str(FieldPath(*part.path))
        for part, every in found
        if every and all(one.finding is Finding.SAME for one in every)
    ]
    assert same == faults


def test_with_params() -> None:
    value = policy(
        "object.spec.replicas <= int(params.data.most)",
        "deployments",
        "apps",
        params={"apiVersion": "v1", "kind": "ConfigMap"},
        conditions=("has(params.data)", "true"),
    )
    found = {
        str(FieldPath(*part.path)): [one.finding for one in every]
        for part, every in Superfluous(value, seconds=SECONDS).answers()
    }
    assert found == {
        "spec.matchConditions[0]": [Finding.DIFFERS, Finding.SAME],
        "spec.matchConditions[1]": [Finding.SAME, Finding.SAME],
    }
