"""`celadon test init`: a first test, which passes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.files import binding, policy, run, write
from tests.paths import ROOT

SHOPS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "shops.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "shops", "singular": "shop", "kind": "Shop", "listKind": "ShopList"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["size"],
                                "properties": {"size": {"type": "integer"}},
                            }
                        },
                    }
                },
            }
        ],
    },
}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("name", "policy_name"),
    [
        ("policies/image-registry.yaml", ""),
        ("policies/no-privileged-pods.yaml", ""),
        ("policies/replica-limit.yaml", ""),
        ("policies/required-labels.yaml", "team-label"),
        ("update/policy.yaml", ""),
    ],
)
def test_the_examples(name: str, policy_name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The written test passes, and means something."""
    shutil.copy(ROOT / "examples" / name, "p.yaml")
    words = ["--policy", policy_name] if policy_name else []
    code, _, err = run(capsys, "test", "init", "p.yaml", *words)
    assert code == 0, err
    assert "written: p.policytest.yaml, 2 cases after " in err
    code, out, _ = run(capsys, "test", "p.policytest.yaml")
    assert (code, out.splitlines()[-1]) == (0, "2 cases in 1 file: 2 passed"), out


def test_without_a_binding(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("p.yaml"), policy())
    assert run(capsys, "test", "init", "p.yaml")[0] == 0
    assert run(capsys, "test", "--strict")[0] == 0


def test_what_was_not_found(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("p.yaml"), policy(expression="true"), binding())
    code, out, err = run(capsys, "test", "init", "p.yaml", "--stdout")
    assert code == 1
    assert "not found: a request that validation 0 refuses" in err
    assert out.splitlines()[-1] == "#   true"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nowhere.yaml"], 2, "cannot be read"),
        (["two.yaml"], 2, "several policies: a, b (say which: `--policy`)"),
        (["two.yaml", "--policy", "c"], 2, "no policy `c`"),
        (["two.yaml", "--policy", "b", "--stdout"], 0, ""),
        (["broken.yaml"], 3, "is invalid: "),
        (["there.yaml"], 2, "`there.policytest.yaml` is there already"),
    ],
)
def test_wrong_use(
    words: list[str], code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write(Path("two.yaml"), policy("a"), policy("b"))
    write(Path("broken.yaml"), policy(expression="object."))
    write(Path("there.policytest.yaml"), policy())
    found, _, err = run(capsys, "test", "init", *words)
    assert found == code
    assert said in err


def test_the_mutating_examples(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the second, everything is changed: nothing has a container of that name already."""
    for name, found, cases in (("image-mirror", 0, "2 cases"), ("sidecar", 1, "1 case")):
        shutil.copy(ROOT / "examples" / "mutating" / f"{name}.yaml", "p.yaml")
        code, _, err = run(capsys, "test", "init", "p.yaml", "--force")
        assert code == found, err
        code, out, _ = run(capsys, "test", "p.policytest.yaml")
        assert code == 0, out
        assert out.splitlines()[-1].startswith(f"{cases} in 1 file: "), out


def test_a_mutating_policy_without_a_binding(capsys: pytest.CaptureFixture[str]) -> None:
    spec = policy()["spec"]
    rule = {**spec["matchConstraints"]["resourceRules"][0], "operations": ["CREATE"]}
    expression = "Object{data: {'x': 'ok'}}"
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
    one = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "metadata": {"name": "limit"},
        "spec": {
            "matchConstraints": {"resourceRules": [rule]},
            "reinvocationPolicy": "Never",
            "mutations": [mutation],
        },
    }
    write(Path("p.yaml"), one)
    code, _, err = run(capsys, "test", "init", "p.yaml")
    assert code == 0, err
    code, out, _ = run(capsys, "test", "p.policytest.yaml", "--strict")
    assert code == 0, out


def test_custom_kinds_by_the_definitions_beside(capsys: pytest.CaptureFixture[str]) -> None:
    rules = [
        {
            "apiGroups": ["example.com"],
            "apiVersions": ["v1"],
            "operations": ["CREATE"],
            "resources": ["shops"],
        }
    ]
    Path("a").mkdir()
    write(Path("a/p.yaml"), policy(rules=rules, expression="object.spec.size <= 7"), binding())
    write(Path("a/crd.yaml"), SHOPS)
    assert run(capsys, "test", "init", "a/p.yaml")[0] == 0
    assert 'crds: ["crd.yaml"]' in Path("a/p.policytest.yaml").read_text()
    code, out, _ = run(capsys, "test", "a", "--strict")
    assert (code, out.splitlines()[-1]) == (0, "2 cases in 1 file: 2 passed"), out


def test_kinds_that_are_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is written that no test could be made of; with the definition something is."""

    def rules(group: str, resource: str) -> list[dict[str, object]]:
        operations = ["CREATE"]
        rule = {"apiVersions": ["v1"], "operations": operations, "resources": [resource]}
        return [{"apiGroups": [group], **rule}]

    shops = policy(rules=rules("example.com", "shops"), expression="object.spec.size <= 7")
    write(Path("p.yaml"), binding(), shops)
    code, _, err = run(capsys, "test", "init", "p.yaml")
    assert code == 2
    assert err == (
        "error: p.yaml: no kind is known for shops.example.com "
        "(give the CustomResourceDefinition with `-f`)\n"
    )
    assert not Path("p.policytest.yaml").exists()
    Path("crds").mkdir()
    write(Path("crds/crd.yaml"), SHOPS)
    assert run(capsys, "test", "init", "p.yaml", "-f", "crds")[0] == 0
    assert 'crds: ["crds/crd.yaml"]' in Path("p.policytest.yaml").read_text()
    assert run(capsys, "test", "p.policytest.yaml", "--strict")[0] == 0

    write(Path("q.yaml"), policy(rules=rules("", "serviceaccounts/token")), binding())
    code, _, err = run(capsys, "test", "init", "q.yaml")
    assert (code, err) == (
        2,
        "error: q.yaml: no requests to subresources are made (serviceaccounts/token)\n",
    )


def test_a_test_without_cases_is_not_written(capsys: pytest.CaptureFixture[str]) -> None:
    conditions = [{"name": "never", "expression": "false"}]
    write(Path("p.yaml"), policy(matchConditions=conditions), binding())
    code, _, err = run(capsys, "test", "init", "p.yaml")
    assert code == 1
    assert err.startswith("nothing is written: no request was found after ")
    assert not Path("p.policytest.yaml").exists()


def test_params_of_a_kind_that_is_not_known_are_where_bindings_look(
    capsys: pytest.CaptureFixture[str],
) -> None:
    kind = {"apiVersion": "example.com/v1", "kind": "Policy"}
    ref = {"name": "a", "namespace": "shop", "parameterNotFoundAction": "Deny"}
    expression = "object.data.x == params.x"
    write(Path("p.yaml"), policy(paramKind=kind, expression=expression), binding(paramRef=ref))
    run(capsys, "test", "init", "p.yaml")
    text = Path("p.policytest.yaml").read_text()
    assert '"scope": "Namespaced", "names": {"kind": "Policy", "plural": "policies"}' in text
    assert run(capsys, "test", "p.policytest.yaml")[0] == 0


def test_two_validations(capsys: pytest.CaptureFixture[str]) -> None:
    """Each is passed and refused."""
    rules = [
        {"expression": "object.data.x == 'a' || object.data.x == 'b'"},
        {"expression": "!(object.data.?y.orValue('') == 'b')"},
    ]
    write(Path("p.yaml"), policy(validations=rules), binding())
    assert run(capsys, "test", "init", "p.yaml")[0] == 0
    code, out, _ = run(capsys, "test", "p.policytest.yaml", "-v")
    assert code == 0, out
    # Which request shows that a validation is passed depends on what the solver was asked before.
    names = {line.split(" ", 2)[2] for line in out.splitlines() if "PASS" in line}
    refused = {f"refused by validation {index} (1.36)" for index in (0, 1)}
    assert names >= {"admitted (1.36)", *refused}
