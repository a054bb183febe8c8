"""`celadon check --apply`: what is created, what is patched, what is left alone.

Whether the patches are those of kubectl is asked in `tests/clients`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.files import Json, binding, config_map, policy, run, write

MAPS = [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["*"], "resources": ["configmaps"]}]
SHOWN = "'%s %s %s'.format([request.operation, request.options.fieldManager, object.data])"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the policy is that shows what it is asked."""
    monkeypatch.chdir(tmp_path)
    shows = policy(expression="false", rules=MAPS)
    shows["spec"]["validations"][0]["messageExpression"] = SHOWN
    write(Path("policies.json"), shows, binding())
    return tmp_path


def read_from_cluster(obj: Json, last: Json | None) -> Json:
    annotations = {} if last is None else {LAST_APPLIED: json.dumps(last)}
    known = {"uid": "u", "resourceVersion": "7", "annotations": annotations}
    return {**obj, "metadata": {**obj["metadata"], **known}}


def said(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """The one object of the report."""
    _, out, _ = run(
        capsys, "check", "-f", "policies.json", "--apply", *words, "new.json", "-o", "json"
    )
    report = json.loads(out)
    (found,) = report["objects"]
    return found


@pytest.mark.parametrize("option", ["--old", "-f"])
@pytest.mark.parametrize(
    ("old", "new", "shown"),
    [
        (None, config_map(a="1"), 'CREATE kubectl-client-side-apply {"a":"1"}'),
        (
            config_map(a="1", b="2"),
            config_map(a="3"),
            'UPDATE kubectl-client-side-apply {"a":"3"}',
        ),
        (
            read_from_cluster(config_map(a="1", b="2", c="3"), config_map(a="1", b="2")),
            config_map(a="4"),
            'UPDATE kubectl-client-side-apply {"a":"4", "c":"3"}',
        ),
        (
            read_from_cluster(config_map(a="1", b="2"), None),
            config_map(a="4"),
            'UPDATE kubectl-client-side-apply {"a":"4", "b":"2"}',
        ),
        (
            config_map("other", a="1"),
            config_map(a="1"),
            'CREATE kubectl-client-side-apply {"a":"1"}',
        ),
    ],
    ids=["new", "a manifest", "applied", "made otherwise", "another object"],
)
def test_what_is_sent(
    old: Json | None, new: Json, shown: str, option: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("new.json"), new)
    words = () if old is None else (option, "old.json")
    if old is not None:
        write(Path("old.json"), old)
    found = said(capsys, *words)
    assert found["message"].endswith(f"denied request: {shown}")
    assert found["operation"] == shown.partition(" ")[0]


def test_what_is_there_already_is_not_sent(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("old.json"), config_map(a="1"))
    write(Path("new.json"), config_map(a="1"))
    found = said(capsys, "--old", "old.json")
    assert (found["verdict"], found["allowed"], found.get("operation")) == ("unchanged", True, None)
    code, out, _ = run(
        capsys, "check", "-f", "policies.json", "--apply", "--old", "old.json", "new.json"
    )
    assert code == 0
    assert out.endswith("1 object: 1 admitted, 0 denied, 1 unchanged (1 policy, 1 binding)\n")


def test_the_configuration_goes_with_it(capsys: pytest.CaptureFixture[str]) -> None:
    shows = policy(expression="false", rules=MAPS)
    shown = f"object.metadata.annotations['{LAST_APPLIED}'].trim()"
    shows["spec"]["validations"][0]["messageExpression"] = shown
    write(Path("policies.json"), shows, binding())
    new = config_map(b="<&>", a="1")
    del new["metadata"]["namespace"]
    new["metadata"]["annotations"] = {LAST_APPLIED: "anything", "x": "y"}
    write(Path("new.json"), new)
    assert said(capsys, "-n", "shop")["message"].endswith(
        'denied request: {"apiVersion":"v1","data":{"a":"1","b":"\\u003c\\u0026\\u003e"},'
        '"kind":"ConfigMap","metadata":{"annotations":{"x":"y"},"name":"cm","namespace":"shop"}}'
    )


def test_unknown_fields_are_refused_as_of_patches(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("old.json"), config_map(a="1"))
    write(Path("new.json"), {**config_map(a="1"), "dato": {}})
    found = said(capsys, "--old", "old.json")
    assert found["verdict"] == "invalid"
    assert found["message"].startswith(' "" is invalid: patch: Invalid value: "map[dato:map[] meta')
    assert found["message"].endswith('strict decoding error: unknown field "dato"')
    assert found["faults"][0]["field"] == "dato"


def test_values_that_do_not_fit(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("old.json"), config_map(a="1"))
    Path("new.json").write_text(json.dumps({**config_map(), "immutable": "no"}, indent=1))
    code, _, err = run(
        capsys, "check", "-f", "policies.json", "--apply", "--old", "old.json", "new.json"
    )
    assert code == 2
    assert err.startswith('error: new.json:9:  "" is invalid: patch: Invalid value: "map[')


def test_a_name_must_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    new = config_map()
    new["metadata"] = {"generateName": "cm-"}
    write(Path("new.json"), new)
    code, _, err = run(capsys, "check", "-f", "policies.json", "--apply", "new.json")
    assert code == 2
    assert "cannot use generate name with apply" in err


@pytest.mark.parametrize("words", [("--operation", "DELETE"), ("--subresource", "status")])
def test_it_is_about_whole_objects(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, "check", "--apply", *words, "new.json")
    assert code == 2
    assert "`--apply` creates and updates whole objects" in err
