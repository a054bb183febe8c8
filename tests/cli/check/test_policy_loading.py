"""Files to rulebooks, and from one to the next."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.check.policy_loading import PolicyLoader
from celadon.webhook.review_decisions import Decider, LoadError
from tests.admission.building import config_map, refusal, request
from tests.cli.files import binding, policy

GROUP = "admissionregistration.k8s.io/v1"


def write(folder: Path, name: str, *documents: dict[str, Any]) -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": list(documents)}
    (folder / name).write_text(json.dumps(listed))


def loader(folder: Path) -> PolicyLoader:
    return PolicyLoader([str(folder)], lambda: "1.36")


def test_policies_judge(tmp_path: Path) -> None:
    write(tmp_path, "a.json", policy(), binding())
    rules = loader(tmp_path)()
    assert (len(rules.engine.policies), rules.bindings) == (1, 1)
    denied = Decider(request(config_map(data={"x": "no"})), rules).verdict()
    assert "limit" in denied.message
    assert Decider(request(config_map(data={"x": "ok"})), rules).verdict().allowed


def test_what_they_look_up_is_there(tmp_path: Path) -> None:
    """Params, namespaces with the labels that a cluster adds, roles."""
    asking = (
        "params.data.allowed == object.data.x"
        " && namespaceObject.metadata.labels['kubernetes.io/metadata.name'] == 'ns'"
        " && namespaceObject.metadata.labels['tier'] == 'a'"
    )
    reference = {"name": "p", "namespace": "ns", "parameterNotFoundAction": "Deny"}
    write(
        tmp_path,
        "a.json",
        policy(expression=asking, paramKind={"apiVersion": "v1", "kind": "ConfigMap"}),
        binding(paramRef=reference),
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": "ns", "labels": {"tier": "a"}},
        },
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "p", "namespace": "ns"},
            "data": {"allowed": "blue"},
        },
    )
    rules = loader(tmp_path)()
    assert Decider(request(config_map(data={"x": "blue"})), rules).verdict().allowed
    assert refusal(Decider(request(config_map(data={"x": "red"})), rules).verdict())


def test_policies_that_have_not_changed_are_not_compiled_again(tmp_path: Path) -> None:
    write(tmp_path, "a.json", policy("one"), policy("two"), binding())
    load = loader(tmp_path)
    first = {one.name: one for one in load().engine.policies}
    write(tmp_path, "a.json", policy("one"), policy("two", "object.data.x == 'new'"), binding())
    second = {one.name: one for one in load().engine.policies}
    assert second["one"] is first["one"]
    assert second["two"] is not first["two"]


BROKEN: list[tuple[str, str]] = [
    ("{", "a.json:1: "),
    ("[]", "a.json:1: "),
    (json.dumps(policy(expression="object.(")), "a.json:1: ValidatingAdmissionPolicy"),
    (json.dumps({**policy(), "spec": {"validation": []}}), 'unknown field "spec.validation"'),
    (json.dumps(config_map()), "no policy in the given files"),
]


@pytest.mark.parametrize(("text", "problem"), BROKEN, ids=range(len(BROKEN)))
def test_all_or_nothing(tmp_path: Path, text: str, problem: str) -> None:
    load = loader(tmp_path)
    (tmp_path / "a.json").write_text(text)
    if "no policy" not in problem:
        write(tmp_path, "good.json", policy("good"), binding())
    with pytest.raises(LoadError) as caught:
        load()
    assert any(problem in one for one in caught.value.problems), caught.value.problems
    write(tmp_path, "a.json", policy(), binding())
    assert load().engine.policies


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
@pytest.mark.parametrize(
    ("document", "change", "complaint"),
    [
        (policy(), {"odd": 1}, 'strict decoding error: unknown field "spec.odd"'),
        (binding(), {"odd": 1}, 'strict decoding error: unknown field "spec.odd"'),
        (
            policy(),
            {"matchConstraints": 5},
            "json: cannot unmarshal number into Go struct field "
            "ValidatingAdmissionPolicySpec.spec.matchConstraints of type v1.MatchResources",
        ),
    ],
)
def test_what_a_version_cannot_be_read_as(
    tmp_path: Path, document: dict[str, Any], change: dict[str, Any], complaint: str, version: str
) -> None:
    document = {
        **document,
        "apiVersion": f"admissionregistration.k8s.io/{version}",
        "spec": {**document["spec"], **change},
    }
    (tmp_path / "a.json").write_text(json.dumps(document))
    with pytest.raises(LoadError) as caught:
        loader(tmp_path)()
    kind = document["kind"]
    assert caught.value.problems == (
        f'{tmp_path}/a.json:1: {kind} in version "{version}" cannot be handled as a {kind}: '
        f"{complaint}",
    )


def test_another_release_is_another_rulebook(tmp_path: Path) -> None:
    """`distinct` of lists came with 1.34; a release accepts what the one before it knew."""
    releases = ["1.35", "1.34"]
    write(tmp_path, "a.json", policy(expression="['a', 'a'].distinct().size() == 1"), binding())
    load = PolicyLoader([str(tmp_path)], lambda: releases[-1])
    with pytest.raises(LoadError, match="undeclared reference to 'distinct'"):
        load()
    releases.pop()
    rules = load()
    assert rules.release == "1.35"
    assert Decider(request(config_map()), rules).verdict().allowed


def test_versions_that_a_release_does_not_serve_are_named(tmp_path: Path) -> None:
    """They are enforced all the same: that is what the webhook is for on an older cluster."""
    older = {**policy(), "apiVersion": "admissionregistration.k8s.io/v1beta1"}
    write(tmp_path, "a.json", older, binding())
    assert PolicyLoader([str(tmp_path)], lambda: "1.32")().remarks == ()
    rules = PolicyLoader([str(tmp_path)], lambda: "1.36")()
    assert not Decider(request(config_map()), rules).verdict().allowed
    (remark,) = rules.remarks
    assert remark.endswith(
        'no matches for kind "ValidatingAdmissionPolicy" in version '
        '"admissionregistration.k8s.io/v1beta1"'
    )
