"""What the old engine has said of what exists, and where the translation says something else."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.cli.migration.migration_plan import (
    Disagreement,
    KyvernoReports,
    OldVerdicts,
    disagreements,
    gatekeeper_verdicts,
)
from tests.cli.files import Json
from tests.migrate.gatekeeper.gatekeeper_documents import constraint

A, B, C = (("Pod", "shop", name) for name in "abc")
POD_A, POD_B = ({"kind": "Pod", "namespace": "shop", "name": name} for name in "ab")
NODE = {"kind": "Node", "name": "n"}


def result(outcome: str, *resources: object, **more: object) -> Json:
    return {"policy": "p", "rule": "r", "result": outcome, "resources": list(resources), **more}


@pytest.mark.parametrize(
    ("results", "refused", "admitted"),
    [
        ([result("fail", POD_A), result("pass", POD_B)], {A}, {B}),
        ([result("warn", POD_A), result("skip", POD_B)], {A}, {B}),
        ([result("error", POD_A), result("odd", POD_B)], set(), set()),
        ([result("fail", POD_A, POD_B)], {A, B}, set()),
        ([result("fail", NODE)], {("Node", "", "n")}, set()),
        ([result("fail", source="kyverno"), result("pass", POD_B)], {C}, {B}),
        ([result("fail", source="Kyverno")], {C}, set()),
        ([result("fail", subjects=[POD_A, 5])], {A}, set()),
        ([result("fail", POD_A, rule="autogen-r"), result("fail", POD_B, rule="autogen-cronjob-r")],
         {A, B}, set()),
        (5, None, None),
        ([5], None, None),
        ([result("fail", POD_A, source="falco")], None, None),
        ([result("fail", POD_A, source="KyvernoValidatingPolicy")], None, None),
        ([result("fail", POD_A, rule="s")], None, None),
    ],
)  # fmt: skip
def test_what_reports_say_of_a_rule(results: Any, refused: Any, admitted: Any) -> None:
    reports = KyvernoReports()
    reports.note({"results": results, "scope": {"kind": "Pod", "namespace": "shop", "name": "c"}})
    verdicts = reports.of({"metadata": {"name": "p"}}, "r")
    assert verdicts == (None if refused is None else OldVerdicts(refused, admitted))


@pytest.mark.parametrize(
    ("said", "metadata", "rule"),
    [
        ({"policy": "shop/p"}, {"name": "p", "namespace": "shop"}, "r"),
        ({"policy": "p", "source": "KyvernoValidatingPolicy"}, {"name": "p"}, ""),
    ],
)
def test_which_policy_a_report_is_about(said: Json, metadata: Json, rule: str) -> None:
    reports = KyvernoReports()
    reports.note({"results": [result("fail", POD_A, **said)]})
    assert reports.of({"metadata": metadata}, rule) == OldVerdicts({A})
    for other in ({"name": "q"}, {"name": "p", "namespace": "x"}):
        assert reports.of({"metadata": other}, rule) is None


@pytest.mark.parametrize(
    ("status", "verdicts"),
    [
        ({"totalViolations": 1, "violations": [POD_A]}, OldVerdicts({A}, is_whole=True)),
        ({"totalViolations": 3, "violations": [POD_A, POD_B, 5]}, OldVerdicts({A, B})),
        ({"totalViolations": 0}, OldVerdicts(is_whole=True)),
        ({"violations": [POD_A]}, None),
        ({"totalViolations": "1", "violations": [POD_A]}, None),
        (5, None),
        (None, None),
    ],
)
def test_what_an_audit_has_left_in_a_status(status: Any, verdicts: OldVerdicts | None) -> None:
    assert gatekeeper_verdicts({**constraint(), "status": status}) == verdicts
    assert gatekeeper_verdicts({"apiVersion": "v1", "kind": "Pod", "status": status}) is None


@pytest.mark.parametrize(
    ("old", "refused", "found"),
    [
        (OldVerdicts({A}), {A: "no"}, []),
        (OldVerdicts({B, A}), {}, [Disagreement(A, "refused", ""), Disagreement(B, "refused", "")]),
        (OldVerdicts(set(), {A}), {A: "no"}, [Disagreement(A, "admitted", "no")]),
        (OldVerdicts(set(), {A}), {}, []),
        # Of what it has not named it has said nothing, unless it has named all.
        (OldVerdicts({A}), {A: "no", B: "no"}, []),
        (
            OldVerdicts({A}, is_whole=True),
            {A: "no", B: "not"},
            [Disagreement(B, "admitted", "not")],
        ),
    ],
)
def test_where_the_translation_says_something_else(
    old: OldVerdicts, refused: dict[tuple[str, str, str], str], found: list[Disagreement]
) -> None:
    assert disagreements(old, refused) == found


def test_how_many_objects_something_was_said_of() -> None:
    assert OldVerdicts({A}, {A, B}).count == 2
    titles = [Disagreement(one, "refused", "").title for one in (A, ("Node", "", "n"))]
    assert titles == ["Pod shop/a", "Node n"]
