"""What may change in a pod."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.releases import answering_as
from celadon.kube.validation.pods.pod_updates import pod_update

BASE: dict[str, Any] = {
    "containers": [
        {
            "name": "c",
            "image": "i",
            "terminationMessagePolicy": "File",
            "imagePullPolicy": "Always",
        }
    ],
    "restartPolicy": "Always",
    "dnsPolicy": "ClusterFirst",
    "schedulerName": "x",
    "terminationGracePeriodSeconds": 30,
}
GATED = {**BASE, "schedulingGates": [{"name": "g"}], "nodeSelector": {"a": "b"}}
TERM = {"matchExpressions": [{"key": "k", "operator": "Exists"}]}
MORE = {"matchExpressions": [*TERM["matchExpressions"], {"key": "l", "operator": "Exists"}]}


def nodes(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [*terms]}}
    return {"affinity": {"nodeAffinity": required}}


def faults(new: dict[str, Any], old: dict[str, Any]) -> list[str]:
    return [str(one) for one in pod_update({"spec": new}, {"spec": old})]


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"containers": [{**BASE["containers"][0], "image": "j"}]},
        {"activeDeadlineSeconds": 5},
        {"tolerations": [{"key": "k", "operator": "Exists"}]},
    ],
)
def test_changes_that_are_allowed(change: dict[str, Any]) -> None:
    assert faults({**BASE, **change}, BASE) == []


def test_tolerations_are_looked_at_twice() -> None:
    """With all of the pod, and as what may change."""
    first, second = faults({**BASE, "tolerations": [{"key": "k", "operator": "Le"}]}, BASE)
    assert first == second
    assert first.startswith('spec.tolerations[0].operator: Unsupported value: "Le"')


def test_other_changes_are_told_by_their_difference() -> None:
    (text,) = faults({**BASE, "nodeName": "n"}, BASE)
    head, _, tail = text.partition("\n")
    assert head == (
        "spec: Forbidden: pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
        "`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
        "negative)"
    )
    assert '\n- "NodeName": "",\n+ "NodeName": "n",\n' in tail


def test_a_negative_time_to_end_may_become_one() -> None:
    old = {**BASE, "terminationGracePeriodSeconds": -1}
    assert faults({**old, "terminationGracePeriodSeconds": 1}, old) == []
    (text,) = faults({**old, "terminationGracePeriodSeconds": 2}, old)
    assert '- "TerminationGracePeriodSeconds": -1,' in text


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"nodeSelector": {"a": "b", "c": "d"}}, ""),
        ({"nodeSelector": {"a": "c"}}, "only additions to spec.nodeSelector are allowed"),
        ({"schedulingGates": None}, ""),
        (nodes(TERM), ""),
        ({"affinity": {}}, "pod updates may not change fields other than"),
        ({"affinity": {"nodeAffinity": {}}}, ""),
        ({"affinity": {"podAffinity": {}}}, "pod updates may not change fields other than"),
        ({"hostname": "h"}, "pod updates may not change fields other than"),
    ],
)
def test_what_waits_for_a_gate(change: dict[str, Any], part: str) -> None:
    found = faults({**GATED, **change}, GATED)
    assert len(found) == (1 if part else 0)
    assert part in "".join(found)


def test_new_gates_of_the_same_name_are_told_once() -> None:
    gates = [{"name": "g"}, {"name": "new"}, {"name": "new"}]
    found = faults({**GATED, "schedulingGates": gates}, GATED)
    assert [text for text in found if "only deletion" in text] == [
        "spec.schedulingGates[2].name: Forbidden: only deletion is allowed, but found new "
        "scheduling gate 'new'"
    ]


@pytest.mark.parametrize(("affinity", "shown"), [({}, "null"), (nodes()["affinity"], "[]")])
def test_no_terms_are_told_from_an_empty_list(affinity: Any, shown: str) -> None:
    found = faults({**GATED, "affinity": affinity}, {**GATED, **nodes(TERM)})
    assert f"nodeSelectorTerms: Invalid value: {shown}: no additions" in "".join(found)


@pytest.mark.parametrize(
    ("chosen", "shown"), [({}, "{}"), (None, "null"), ({"c": "d"}, '{"c":"d"}')]
)
def test_no_selector_is_told_from_an_empty_one(chosen: Any, shown: str) -> None:
    found = faults({**GATED, "nodeSelector": chosen}, {**GATED, "nodeSelector": {"a": "b"}})
    assert found[0].startswith(f"spec.nodeSelector: Invalid value: {shown}: only additions")


@pytest.mark.parametrize(
    ("terms", "part"),
    [
        ([MORE], ""),
        ([TERM, TERM], "no additions/deletions to non-empty NodeSelectorTerms list"),
        (
            [{"matchExpressions": [{"key": "z", "operator": "Exists"}]}],
            "only additions are allowed",
        ),
        ([{}], "only additions are allowed"),
    ],
)
def test_terms_of_what_waits_for_a_gate(terms: list[dict[str, Any]], part: str) -> None:
    old = {**GATED, **nodes(TERM)}
    found = faults({**GATED, **nodes(*terms)}, old)
    assert len(found) == (1 if part else 0)
    assert part in "".join(found)


def test_an_empty_term_stays_empty() -> None:
    old = {**GATED, **nodes({})}
    found = faults({**GATED, **nodes(TERM)}, old)
    assert any("only additions are allowed" in one for one in found)


def test_terms_before_1_34() -> None:
    """They are shown as Go's structures."""
    old, changed = (
        {**GATED, **nodes(TERM)},
        {"matchExpressions": [{"key": "z", "operator": "Exists"}]},
    )
    term = (
        "core.NodeSelectorTerm{MatchExpressions:[]core.NodeSelectorRequirement{"
        'core.NodeSelectorRequirement{Key:"z", Operator:"Exists", Values:[]string(nil)}}, '
        "MatchFields:[]core.NodeSelectorRequirement(nil)}"
    )
    with answering_as("1.33"):
        (one,) = faults({**GATED, **nodes(changed)}, old)
        (two,) = faults({**GATED, **nodes(changed, changed)}, old)
    assert f"[0]: Invalid value: {term}: only additions" in one
    assert f"[]core.NodeSelectorTerm{{{term}, {term}}}: no additions/deletions" in two
