"""What releases say of the same files: who is shown, and what stands in the way."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.check import object_judging
from celadon.cli.check.check_report import Place
from celadon.cli.check.upgrade_report import (
    Answer,
    Difference,
    FieldChange,
    Stretch,
    UpgradeReport,
    field_changes,
)
from celadon.cli.exit_codes import Exit
from celadon.cli.main import main
from celadon.cli.reading.documents import Problem
from celadon.kube.releases import current_release

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers: [{name: c, image: x}]
"""
NEWER_FIELD = POD + "  hostnameOverride: here\n"
CLAIM = """\
apiVersion: resource.k8s.io/v1beta1
kind: ResourceClaim
metadata: {name: r}
spec: {devices: {requests: [{name: a, deviceClassName: b}]}}
"""
MAP = """\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: m}
"""


def asked(folder: Path, text: str, releases: str, *more: str) -> list[str]:
    (folder / "a.yaml").write_text(text)
    return ["check", "--no-config", "--kubernetes-version", releases, *more, str(folder / "a.yaml")]


@pytest.mark.parametrize(
    ("text", "releases", "unsafe", "words"),
    [
        pytest.param(POD, "1.30..1.36", False, [], id="nothing differs"),
        pytest.param(NEWER_FIELD, "1.33,1.34", False, ["invalid", "untouched"], id="a new field"),
        pytest.param(CLAIM, "1.31,1.32", False, ["not served", "untouched"], id="a new version"),
        pytest.param(CLAIM, "1.32..1.36", False, ["untouched", "warned"], id="deprecated"),
    ],
)
def test_differences(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    text: str,
    releases: str,
    *,
    unsafe: bool,
    words: list[str],
) -> None:
    code = main(asked(tmp_path, text, releases, "-o", "json"))
    found = json.loads(capsys.readouterr().out)
    assert code == (1 if unsafe else 0)
    assert [[stretch["state"] for stretch in one["stretches"]] for one in found["differences"]] == (
        [words] if words else []
    )


def test_a_removed_version_stands_in_the_way(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """\
apiVersion: resource.k8s.io/v1alpha2
kind: ResourceClass
metadata: {name: r}
driverName: d.example.com
"""
    assert main(asked(tmp_path, text, "1.30,1.31", "--no-color")) == 1
    shown = capsys.readouterr().out
    assert "a.yaml:1: unsafe: ResourceClass r\n" in shown
    assert '  1.31  not served: no matches for kind "ResourceClass" in version' in shown
    assert shown.endswith("1.30, 1.31: 1 object, 1 difference, 1 in the way of the upgrade\n")


def test_a_range_that_goes_back(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(asked(tmp_path, POD, "1.36..1.30")) == 2
    assert "1.30 is older than 1.36" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": [{"b": 1}]}, {"a": [{}]}, [FieldChange("a[0].b", 1, None)]),
        ({"a": [1, 2]}, {"a": [2]}, [FieldChange("a", [1, 2], [2])]),
        ({"a": None}, {}, []),
        ({}, {"x.y/z": 1}, [FieldChange("[x.y/z]", None, 1)]),
        ({"metadata": {"creationTimestamp": None}}, {"metadata": {}}, []),
        (
            {"t": {"metadata": {"creationTimestamp": "2026"}}},
            {"t": {"metadata": {}}},
            [],
        ),
    ],
)
def test_changes_of_fields(
    before: dict[str, object], after: dict[str, object], changes: list[FieldChange]
) -> None:
    assert list(field_changes(before, after)) == changes


def test_what_is_lost() -> None:
    assert FieldChange("a", 1, None).is_lost
    assert not FieldChange("a", None, 1).is_lost


def differs(before: Answer, after: Answer) -> Difference:
    stretches = Stretch(("1.30",), before), Stretch(("1.31",), after)
    return Difference(Place("a.yaml", 1), "Pod a", stretches)


FINE, REFUSED = Answer("untouched"), Answer("invalid", is_refused=True)
LOSES = Answer("untouched", changes=(FieldChange("a", 1, None),))
GAINS = Answer("untouched", changes=(FieldChange("a", None, 1),))
WARNS = Answer("warned", warnings=("old",))
UNREADABLE, DEFECT = Problem("b", 1, "bad"), Problem("c", 1, "broken", is_internal=True)


@pytest.mark.parametrize(
    ("report", "code"),
    [
        ({}, Exit.OK),
        ({"differences": [(FINE, REFUSED)]}, Exit.DENIED),
        ({"differences": [(FINE, FINE), (FINE, LOSES)]}, Exit.DENIED),
        # What the oldest refuses already, or what is only added, is in nobody's way.
        ({"differences": [(REFUSED, LOSES), (REFUSED, FINE), (FINE, GAINS)]}, Exit.OK),
        ({"differences": [(FINE, GAINS)], "strict": True}, Exit.DENIED),
        ({"strict": True}, Exit.OK),
        ({"differences": [(FINE, WARNS)]}, Exit.OK),
        ({"differences": [(FINE, WARNS)], "fail_on_warning": True}, Exit.DENIED),
        ({"differences": [(WARNS, WARNS), (WARNS, FINE)], "fail_on_warning": True}, Exit.OK),
        ({"differences": [(FINE, REFUSED)], "never_fails": True}, Exit.OK),
        ({"differences": [(FINE, REFUSED)], "problems": (UNREADABLE,)}, Exit.USAGE),
        ({"problems": (UNREADABLE,), "never_fails": True}, Exit.USAGE),
        ({"problems": (UNREADABLE, DEFECT)}, Exit.INTERNAL),
    ],
)
def test_how_it_ends(report: dict[str, Any], code: Exit) -> None:
    differences = tuple(differs(*answers) for answers in report.get("differences", ()))
    given = {**report, "differences": differences}
    assert UpgradeReport(("1.30", "1.31"), **given).exit is code


def test_a_defect_of_ours_is_no_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real: Callable[..., object] = vars(object_judging)["ask"]

    def ask(*given: object) -> object:
        if current_release() == "1.35":
            raise RuntimeError("broken")
        return real(*given)

    monkeypatch.setattr(object_judging, "ask", ask)
    assert main(asked(tmp_path, POD, "1.34..1.36")) == 70
    assert "broken" in capsys.readouterr().err


SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: s}
spec: {selector: {a: b}, trafficDistribution: PreferClose, ports: [{port: 80}]}
"""
POLICY = """\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [services]}
  validations: [{expression: "'a,b'.split(',').size() == [1, 1].sum()"}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: p}
spec: {policyName: p, validationActions: [Deny]}
---
"""


def test_gates_that_decide_about_fields_of_the_input(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Others that flip are counted, and named by `-v`."""
    words = asked(tmp_path, SERVICE, "1.30,1.31", "--no-color")
    assert main(words) == 0
    shown = capsys.readouterr().out
    by = "by feature gate ServiceTrafficDistribution"
    assert f'        spec.trafficDistribution is "PreferClose", {by}\n' in shown
    field = "(spec.trafficDistribution)"
    assert f"gate ServiceTrafficDistribution: 1.30 off (alpha), 1.31 on (beta) {field}\n" in shown
    assert "and no field here depends on: " in shown
    assert "feature gate JobSuccessPolicy" not in shown
    main([*words, "-v"])
    assert "feature gate JobSuccessPolicy: 1.30 off (alpha), 1.31 on (beta)\n" in (
        capsys.readouterr().out
    )


def test_policies_that_cost_more(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Calls of most functions in policies have cost one each before 1.32."""
    assert main(asked(tmp_path, POLICY + SERVICE, "1.31,1.32", "-o", "json")) == 0
    (difference,) = json.loads(capsys.readouterr().out)["differences"]
    assert difference["title"] == "ValidatingAdmissionPolicy p"
    before, after = (stretch["cost"] for stretch in difference["stretches"])
    assert before < after


def test_a_removed_version_has_a_replacement(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    level = """\
apiVersion: flowcontrol.apiserver.k8s.io/v1beta3
kind: PriorityLevelConfiguration
metadata: {name: x}
spec: {type: Limited, limited: {nominalConcurrencyShares: 3, limitResponse: {type: Reject}}}
"""
    assert main(asked(tmp_path, level, "1.31,1.32", "-o", "json")) == 1
    (difference,) = json.loads(capsys.readouterr().out)["differences"]
    before, after = difference["stretches"]
    assert "deprecated in v1.29+, unavailable in v1.32+; use flowcontrol" in before["warnings"][0]
    assert after["replacement"] == "flowcontrol.apiserver.k8s.io/v1"


def test_a_policy_of_a_later_release_is_not_served(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mutation = (
        MAP
        + """\
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {expression: "Object{}"}
---
"""
    )
    assert main(asked(tmp_path, mutation + POD, "1.35,1.36", "-o", "json")) == 0
    (difference,) = json.loads(capsys.readouterr().out)["differences"]
    assert [stretch["state"] for stretch in difference["stretches"]] == ["not accepted", "accepted"]
    assert difference["stretches"][0]["message"] == (
        'no matches for kind "MutatingAdmissionPolicy" in version "admissionregistration.k8s.io/v1"'
    )


def test_policies_of_versions_that_are_gone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """\
apiVersion: admissionregistration.k8s.io/v1beta1
kind: ValidatingAdmissionPolicy
metadata: {name: old.example.com}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [""], apiVersions: [v1], operations: [CREATE], resources: [pods]}
  validations:
  - expression: "true"
---
"""
    assert main(asked(tmp_path, text + POD, "1.33,1.34", "-o", "json")) == 1
    (difference,) = json.loads(capsys.readouterr().out)["differences"]
    assert [stretch["state"] for stretch in difference["stretches"]] == ["accepted", "not accepted"]
