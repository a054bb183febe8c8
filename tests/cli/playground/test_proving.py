"""What the tab of proofs says: the same as the commands say of files, with requests that the page
then decides as claimed."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.playground.browser_api import answer, proof
from tests.cli.files import run
from tests.cli.playground.states import POLICY, PROPERTIES, given

PARAMS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: limits, namespace: shop}
data: {most: "3"}
"""
WITH_PARAMS = POLICY.replace("<= 5", "<= int(params.data.most)").replace(
    "spec:\n  match", "spec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n  match"
)
BOUND = WITH_PARAMS.replace(
    "policyName: limit,",
    "policyName: limit, paramRef: {name: limits, parameterNotFoundAction: Deny},",
)
UNBOUND = POLICY.partition("---")[0]
OLD = POLICY.replace("<= 5", "< 5")
DEFINITION = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Lamp, plural: lamps, singular: lamp}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              watts: {type: integer}
              colour: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}
            x-kubernetes-validations: [{rule: self.watts < 100}]
"""
SMALLER = DEFINITION.replace("type: integer", "type: integer, maximum: 9")


def proved(question: str, mode: str = "validating", **panes: str) -> tuple[list[Any], Any]:
    """What is told before the answer, and the answer."""
    value = {"state": given(mode=mode, panes=panes), "items": 2, "seconds": 10}
    news: list[Any] = []
    result = json.loads(
        proof(question, json.dumps(value), lambda text: news.append(json.loads(text)))
    )
    return news, result


def command(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    return json.loads(run(capsys, *words, "-o", "json")[1])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Write files that are named as panes are."""
    monkeypatch.chdir(tmp_path)

    def write(**texts: str) -> None:
        for name, text in texts.items():
            (tmp_path / name).write_text(text)

    return write


@pytest.mark.parametrize(
    ("mode", "panes"),
    [
        ("validating", {"policy": POLICY}),
        ("validating", {"policy": BOUND, "params": PARAMS}),
        ("rules", {"policy": DEFINITION}),
    ],
)
def test_policies_are_proved_as_the_command_proves_them(
    mode: str, panes: dict[str, str], files: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    files(**panes)
    added = ("place", "remarks", "isTold", "examples")
    news, result = proved("prove", mode, **panes)
    rows = [one["item"] for one in news if "item" in one]
    assert [
        {key: value for key, value in row.items() if key not in added} for row in rows
    ] == command(capsys, "prove", *panes)
    text = run(capsys, "prove", *panes)[1]
    assert text.endswith("".join(f"{line}\n" for line in result["summary"]))
    for row in rows:
        for remark in row["remarks"]:
            assert remark["title"] in text


@pytest.mark.parametrize(
    ("mode", "panes", "answer"),
    [
        ("validating", {"policy": POLICY, "before": OLD}, "differs: 2 looser"),
        ("validating", {"policy": POLICY, "before": POLICY.replace("<= 5", "< 6")}, "the same"),
        ("validating", {"policy": BOUND, "params": PARAMS, "before": WITH_PARAMS}, "differs"),
        ("rules", {"policy": SMALLER, "before": DEFINITION}, "differs: 1 stricter"),
    ],
)
def test_policies_are_compared_as_the_command_compares_them(
    mode: str,
    panes: dict[str, str],
    answer: str,
    files: Callable[..., None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Params stand in a file of both sides, and in one pane."""
    around = panes.get("params", "")
    old, new = f"{panes['before']}---\n{around}", f"{panes['policy']}---\n{around}"
    files(before=old, policy=new)
    expected = command(capsys, "diff", "before", "policy")
    _, result = proved("diff", mode, **panes)
    assert result["report"]["summary"]["answer"].startswith(answer)
    assert without_panes(result["report"]) == {**expected, "new": "now"}


def test_properties_are_proved_as_the_command_proves_them(
    files: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    files(policy=POLICY, properties=PROPERTIES)
    expected = command(capsys, "prove", "--property", "properties", "policy")
    _, result = proved("claim", policy=POLICY, properties=PROPERTIES)
    assert without_panes(result["report"]) == expected
    assert expected["summary"]["answer"] == "1 proved, 1 counterexample"


def without_panes(report: Any) -> Any:
    for one in report["answers"]:
        for name in ("title", "operation", "panes"):
            one.get("example", {}).pop(name, None)
    return report


def decided(example: Any, mode: str, panes: dict[str, str]) -> Any:
    """What the page says of an example, once it is in the panes."""
    state = given(mode=mode, operation=example["operation"], panes={**panes, **example["panes"]})
    return json.loads(answer("verdict", json.dumps(state)))["report"]


@pytest.mark.parametrize(
    ("mode", "panes"),
    [
        ("validating", {"policy": POLICY, "before": OLD}),
        ("validating", {"policy": UNBOUND, "before": OLD.partition("---")[0]}),
        ("validating", {"policy": UNBOUND, "before": POLICY}),
        ("validating", {"policy": WITH_PARAMS, "before": POLICY}),
        ("validating", {"policy": BOUND, "params": PARAMS, "before": POLICY}),
        ("rules", {"policy": SMALLER, "before": DEFINITION}),
    ],
)
def test_an_example_is_decided_as_claimed(mode: str, panes: dict[str, str]) -> None:
    _, result = proved("diff", mode, **panes)
    examples = [one["example"] for one in result["report"]["answers"] if "example" in one]
    assert examples
    for example in examples:
        (verdict,) = decided(example, mode, panes)["objects"]
        assert verdict["allowed"] == (example["new"]["verdict"] != "denied")


def test_a_fault_is_seen_once_its_example_is_in_the_panes() -> None:
    news, _ = proved("prove", "rules", policy=DEFINITION)
    steps = {
        (row["item"]["field"], one["title"]): one
        for row in news
        if "item" in row
        for one in row["item"]["examples"]
    }
    assert [one["operation"] for one in steps.values()] == ["CREATE", "CREATE", "UPDATE", "UPDATE"]
    said = [
        [one["allowed"] for one in decided(each, "rules", {"policy": DEFINITION})["objects"]]
        for each in steps.values()
    ]
    assert said == [[False], [True], [True], [True]]


def test_params_that_no_pane_has_are_put_behind_the_others() -> None:
    other = PARAMS.replace("limits", "others")
    panes = {"policy": BOUND, "params": other, "before": POLICY}
    _, result = proved("diff", **panes)
    (texts, *_) = (
        one["example"]["panes"]["params"]
        for one in result["report"]["answers"]
        if "limits" in one.get("example", {}).get("panes", {}).get("params", "")
    )
    assert texts.startswith(f"{other}---\n")


@pytest.mark.parametrize(
    ("question", "value", "said"),
    [
        ("prove", {"panes": {}}, "there is no ValidatingAdmissionPolicy"),
        ("diff", {"panes": {"policy": POLICY}}, "the pane `before` is empty"),
        ("claim", {"panes": {"policy": POLICY}}, "the pane `properties` is empty"),
        ("prove", {"panes": {"policy": 1}}, "pane `policy` is no text"),
        ("prove", {"panes": {}, "items": 99}, "`items` is no number from 1 to 12"),
        ("prove", {"panes": {}, "seconds": "1"}, "`seconds` is no number from 1 to 120"),
    ],
)
def test_what_cannot_be_asked_is_said(question: str, value: dict[str, Any], said: str) -> None:
    limits = {"items": 2, "seconds": 10}
    limits |= {name: value.pop(name) for name in limits if name in value}
    text = json.dumps({"state": given(**value), **limits})
    assert json.loads(proof(question, text, lambda _: None))["error"].startswith(said)


def test_what_cannot_be_read_is_said_with_its_place() -> None:
    _, result = proved("prove", policy="a: [1")
    assert [(one["file"], one["line"]) for one in result["problems"]] == [("policy", 2)]
    _, result = proved("claim", policy=POLICY, properties="kind: Pod\napiVersion: v1\n")
    assert result["report"]["problems"][0]["message"] == "no PolicyProperties: Pod"
