"""`celadon check` as a user meets it: exit codes, sentences, positions, notices."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.files import Json, binding, config_map, policy, run, write

GOOD, BAD = config_map("good", x="ok"), config_map("bad", x="no")
SENTENCE = (
    "configmaps \"bad\" is forbidden: ValidatingAdmissionPolicy 'limit' with binding 'limit' "
    "denied request: failed expression: object.data.x == 'ok'"
)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("policies.json"), policy(), binding())


def check(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    return run(capsys, "check", "-f", "policies.json", *words)


def report(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    _, out, _ = check(capsys, *words, "-o", "json")
    return json.loads(out)


def reasons(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    return [notice["reason"] for notice in report(capsys, *words)["notices"]]


def test_admitted(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = check(capsys, write(Path("a.json"), GOOD))
    assert (code, err) == (0, "")
    assert out.endswith("1 object: 1 admitted, 0 denied (1 policy, 1 binding)\n")


def test_denied_with_the_servers_sentence_and_both_positions(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code, out, _ = check(capsys, write(Path("a.json"), GOOD, BAD))
    assert code == 1
    assert out.startswith(
        f"denied: {SENTENCE}\n"
        "  rule    policies.json:30  spec.validations[0].expression\n"
        "  object  a.json:12  ConfigMap default/bad\n"
    )
    assert "\033" not in out


def test_quiet_says_only_what_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(capsys, "-q", write(Path("a.json"), GOOD)) == (0, "", "")
    _, out, _ = check(capsys, "-q", write(Path("a.json"), GOOD, BAD))
    assert "denied:" in out
    assert "VERDICT" not in out


def test_unreadable_files_do_not_stop_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    Path("broken.yaml").write_text("a: 1\n\tb: 2\n")
    code, out, err = check(capsys, write(Path("a.json"), BAD), "broken.yaml", "missing.yaml")
    assert code == 2
    assert SENTENCE in out
    assert "error: broken.yaml:2: " in err
    assert "error: missing.yaml: cannot be read: no such file or directory\n" in err


def test_a_policy_that_does_not_compile(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("policies.json"), policy(expression="object.x +"), binding())
    code, out, _ = check(capsys, write(Path("a.json"), GOOD))
    assert code == 3
    assert out.startswith(
        'error: ValidatingAdmissionPolicy.admissionregistration.k8s.io "limit" is invalid: '
        'spec.validations[0].expression: Invalid value: "object.x +": compilation failed: '
    )
    assert "  policy  policies.json:30\n" in out
    assert reasons(capsys, "a.json") == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"failurePolicy": 5}, "json: cannot unmarshal number into Go struct field"),
        ({"failurePolice": "Fail"}, 'strict decoding error: unknown field "spec.failurePolice"'),
        ({"failurePolicy": "Maybe"}, "Unsupported value"),
    ],
)
def test_a_policy_the_server_would_not_accept(
    capsys: pytest.CaptureFixture[str], change: dict[str, Any], message: str
) -> None:
    write(Path("policies.json"), policy(**change), binding())
    errors = report(capsys, write(Path("a.json"), GOOD))["policyErrors"]
    assert [error["line"] for error in errors] == [33]
    assert message in errors[0]["message"]


def test_a_binding_the_server_would_not_accept(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(Path("a.json"), GOOD)
    for change, message in (
        ({"validationActions": []}, "spec.validationActions: Required value"),
        ({"validationActions": 5}, "json: cannot unmarshal number"),
        ({"nope": 5}, 'strict decoding error: unknown field "spec.nope"'),
    ):
        changed = binding()
        changed["spec"] |= change
        write(Path("policies.json"), policy(), changed)
        found = report(capsys, path)
        assert message in found["policyErrors"][0]["message"]
        assert found["notices"] == []
    write(Path("policies.json"), policy("Not A Name"), binding("limit", "Not A Name"))
    code, out, _ = check(capsys, path)
    assert code == 3
    assert "metadata.name: Invalid value" in out


def test_two_policies_of_one_name(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("policies.json"), policy(), policy(expression="true"), binding())
    assert check(capsys, write(Path("a.json"), BAD))[0] == 0
    write(Path("policies.json"), policy(), policy(expression="+"), binding())
    assert report(capsys, "a.json")["summary"]["policies"] == 0


def test_an_evaluation_error_is_a_denial_that_exits_3(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = check(capsys, write(Path("a.json"), config_map("empty")))
    assert code == 3
    assert "expression 'object.data.x == 'ok'' resulted in error: no such key: data" in out


def test_an_ignored_error_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("policies.json"), policy(failurePolicy="Ignore"), binding())
    path = write(Path("a.json"), config_map("empty"))
    assert check(capsys, path)[0] == 0
    assert reasons(capsys, path) == ["error-ignored"]
    assert check(capsys, path, "--strict")[0] == 3


def test_warnings(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("policies.json"), policy(), binding(actions="Warn Audit"))
    path = write(Path("a.json"), BAD)
    code, out, _ = check(capsys, path)
    assert code == 0
    assert out.startswith("warning: Validation failed for ValidatingAdmissionPolicy 'limit'")
    assert "1 object: 1 admitted (1 with warnings), 0 denied" in out
    assert check(capsys, path, "--fail-on", "warn")[0] == 1
    _, out, _ = check(capsys, path, "-v")
    assert "  audit   validation.policy.admission.k8s.io/validation_failure: [{" in out


def rules_of(out: str) -> list[list[str]]:
    """Per warning of a human report, the fields of the rules below it."""
    blocks = [block for block in out.split("\n\n") if block.startswith("warning: ")]
    return [
        [line.split("  ")[-1] for line in block.split("\n") if line.startswith("  rule ")]
        for block in blocks
    ]


def test_each_warning_has_the_rules_it_came_from(capsys: pytest.CaptureFixture[str]) -> None:
    texts = ("same", "same", "third")
    validations = [{"expression": "false", "message": text} for text in texts]
    write(Path("policies.json"), policy(validations=validations), binding(actions="Warn"))
    path = write(Path("a.json"), BAD)
    fields = [f"spec.validations[{i}].expression" for i in range(3)]
    _, out, _ = check(capsys, path)
    assert rules_of(out) == [fields[:2], fields[2:]]
    (found,) = report(capsys, path)["objects"]
    assert [one["field"] for one in found["violations"]] == fields
    shown = [one["warning"].rpartition(": ")[2] for one in found["violations"]]
    assert shown == list(texts)
    lines = [one["rule"]["line"] for one in found["violations"]]
    _, out, _ = check(capsys, path, "-o", "github")
    assert [line.split("%0A")[1:] for line in out.split("\n") if line] == [
        [f"rule: policies.json:{line}" for line in lines[:2]],
        [f"rule: policies.json:{lines[2]}"],
    ]
    _, out, _ = check(capsys, path, "-o", "junit")
    assert f"third\nrule: policies.json:{lines[2]} {fields[2]}<" in out


DEAR = "authorizer.path('/').check('get').allowed()"
PLACES: list[tuple[str, Json, str]] = [
    (
        "the budget of match conditions",
        {"matchConditions": [{"name": f"c{i}", "expression": DEAR} for i in range(9)]},
        "spec.matchConditions[7].expression",
    ),
    (
        "a match condition",
        {"matchConditions": [{"name": "c", "expression": "object.nope == 1"}]},
        "spec.matchConditions[0].expression",
    ),
    (
        "a variable",
        {
            "variables": [{"name": "v", "expression": "object.nope"}],
            "validations": [{"expression": "variables.v == 1"}],
        },
        "spec.variables[0].expression",
    ),
    (
        "an annotation",
        {"auditAnnotations": [{"key": "k", "valueExpression": "string(object.nope)"}]},
        "spec.auditAnnotations[0].valueExpression",
    ),
    ("a param kind", {"paramKind": {"apiVersion": "x.io/v1", "kind": "No"}}, "spec.paramKind"),
]


@pytest.mark.parametrize(
    ("spec", "field"), [pytest.param(spec, field, id=name) for name, spec, field in PLACES]
)
def test_errors_stand_where_they_come_from(
    capsys: pytest.CaptureFixture[str], spec: Json, field: str
) -> None:
    given = policy(expression="true", **spec)
    write(Path("policies.json"), given, binding())
    path = write(Path("a.json"), GOOD)
    (violation,) = report(capsys, path)["objects"][0]["violations"]
    line = Path("policies.json").read_text().split("\n")[violation["rule"]["line"] - 1]
    assert violation["field"] == field
    assert line.strip().startswith(f'"{field.rpartition(".")[2]}": ')


@pytest.mark.parametrize(
    ("spec", "field"), [pytest.param(spec, field, id=name) for name, spec, field in PLACES]
)
def test_ignored_errors_stand_where_they_come_from(
    capsys: pytest.CaptureFixture[str], spec: Json, field: str
) -> None:
    write(Path("policies.json"), policy(expression="true", failurePolicy="Ignore", **spec))
    write(Path("bindings.json"), binding())
    found = report(capsys, "-f", "bindings.json", write(Path("a.json"), GOOD))["notices"]
    lines = Path("policies.json").read_text().split("\n")
    shown = [lines[one["line"] - 1] for one in found if one["reason"] == "error-ignored"]
    if "auditAnnotations" in field:
        assert shown == [], "the API server says nothing of it either"
    else:
        (line,) = shown
        assert line.strip().startswith(f'"{field.rpartition(".")[2]}": ')


def test_errors_of_bindings_stand_in_the_binding(capsys: pytest.CaptureFixture[str]) -> None:
    write(
        Path("policies.json"),
        policy(paramKind={"apiVersion": "v1", "kind": "ConfigMap"}),
        binding(paramRef={"name": "lost", "parameterNotFoundAction": "Deny"}),
    )
    (violation,) = report(capsys, write(Path("a.json"), GOOD))["objects"][0]["violations"]
    line = Path("policies.json").read_text().split("\n")[violation["rule"]["line"] - 1]
    assert (violation["field"], line.strip()) == ("spec.paramRef", '"paramRef": {')


def test_silences(capsys: pytest.CaptureFixture[str]) -> None:
    good = write(Path("a.json"), GOOD)
    assert reasons(capsys, good) == []
    assert reasons(capsys) == ["nothing-to-check"]

    write(Path("policies.json"), policy())
    assert reasons(capsys, good) == ["policy-without-binding"]

    write(Path("policies.json"), policy(), binding("x", "limt"), binding())
    assert reasons(capsys, good) == ["binding-without-policy"]
    assert "did you mean `limit`?" in report(capsys, good)["notices"][0]["message"]

    others = policy(expression="true"), binding(actions="Warn")
    write(Path("policies.json"), *others, policy(), policy(), binding(), binding())
    assert reasons(capsys, good) == ["replaced", "replaced"]
    assert "has the same name and comes later" in report(capsys, good)["notices"][0]["message"]

    write(Path("policies.json"), GOOD)
    assert reasons(capsys, good) == ["no-policy"]


def test_a_policy_that_matches_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(Path("a.json"), GOOD)
    rules = [
        {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["UPDATE"], "resources": ["*"]}
    ]
    write(Path("policies.json"), policy(rules=rules), binding())
    (notice,) = report(capsys, path)["notices"]
    assert notice["reason"] == "policy-unmatched"
    assert notice["message"].endswith("its rules are about *.apps on UPDATE")
    assert notice["help"] == "the objects were checked as CREATE: see `--operation`"

    conditions = [{"name": "never", "expression": "object.data.x == 'never'"}]
    write(Path("policies.json"), policy(matchConditions=conditions), binding())
    (notice,) = report(capsys, path)["notices"]
    assert "its match condition `never` is false" in notice["message"]

    selector: dict[str, Any] = {"matchResources": {"objectSelector": {"matchLabels": {"a": "b"}}}}
    write(Path("policies.json"), policy(), binding(**selector))
    (notice,) = report(capsys, path)["notices"]
    assert "none of its bindings does (it has an objectSelector)" in notice["message"]
    assert check(capsys, path)[0] == 0
    assert check(capsys, path, "--strict")[0] == 3


def test_a_version_that_is_not_served_has_a_hint(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(Path("a.json"), GOOD)
    old = {**policy(), "apiVersion": "admissionregistration.k8s.io/v1alpha1"}
    write(Path("policies.json"), old)
    (error,) = report(capsys, path)["policyErrors"]
    assert error["help"] == "did you mean `apiVersion: admissionregistration.k8s.io/v1`?"


def test_a_match_condition_true_for_one_of_many_alike(capsys: pytest.CaptureFixture[str]) -> None:
    conditions = [{"name": "late", "expression": "object.metadata.name == 'cm-9'"}]
    write(Path("policies.json"), policy(matchConditions=conditions), binding())
    path = write(Path("a.json"), *(config_map(f"cm-{n}", x="ok") for n in range(10)))
    assert reasons(capsys, path) == []


PARAM_KIND: dict[str, Any] = {"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}}


def test_params(capsys: pytest.CaptureFixture[str]) -> None:
    spec: dict[str, Any] = {"paramRef": {"name": "wanted", "parameterNotFoundAction": "Deny"}}
    write(
        Path("policies.json"),
        policy(expression="object.data.x == params.data.x", **PARAM_KIND),
        binding(**spec),
    )
    path = write(Path("a.json"), GOOD)
    code, out, _ = check(capsys, path)
    assert code == 3
    assert "no params found for policy binding with `Deny` parameterNotFoundAction" in out
    assert reasons(capsys, path) == ["param-missing"]
    given = write(Path("p.json"), config_map("wanted", x="ok"))
    code, out, _ = check(capsys, "-f", given, path)
    assert code == 0
    assert reasons(capsys, "-f", given, path) == []


def test_params_that_may_be_absent(capsys: pytest.CaptureFixture[str]) -> None:
    spec: dict[str, Any] = {"paramRef": {"selector": {}, "parameterNotFoundAction": "Allow"}}
    write(Path("policies.json"), policy(**PARAM_KIND), binding(**spec))
    rules = report(capsys, "-f", write(Path("p.json"), config_map("p", "elsewhere")), "a.json")
    assert rules["problems"]
    path = write(Path("a.json"), config_map("bad", "here", x="no"))
    assert reasons(capsys, "--lookup", "configmap", path) == ["nothing-to-check"]


def test_parts(capsys: pytest.CaptureFixture[str]) -> None:
    """Without RESOURCES, `-f` alone is sorted by kind."""
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}
    extra = write(Path("all.json"), namespace, BAD)

    def admitted(*words: str) -> list[str]:
        return [one["kind"] for one in report(capsys, *words)["objects"]]

    assert admitted("-f", extra) == ["ConfigMap"]
    assert admitted("-f", extra, "--admit", "Namespace") == ["Namespace", "ConfigMap"]
    assert admitted(extra) == ["Namespace", "ConfigMap"]
    assert admitted(extra, "--lookup", "namespace, secret") == ["ConfigMap"]
    assert admitted("-f", extra, write(Path("good.json"), GOOD)) == ["ConfigMap"]
    assert admitted("-f", extra, "--policy", "limit") == ["ConfigMap"]


def test_update_and_delete(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("policies.json"), policy(expression="object.data.x == oldObject.data.x"), binding())
    old = write(Path("old.json"), config_map("a", x="1"), config_map("b", x="1"))
    new = write(Path("new.json"), config_map("a", x="1"), config_map("b", x="2"))
    results = report(capsys, "--operation", "UPDATE", "--old", old, new)["objects"]
    assert [one["verdict"] for one in results] == ["admitted", "denied"]
    other = write(Path("other.json"), config_map("c"))
    (problem,) = report(capsys, "--operation", "update", "--old", old, other)["problems"]
    assert problem["message"] == "no old object for ConfigMap `default/c`"
    write(
        Path("policies.json"), policy(expression="object == null && oldObject != null"), binding()
    )
    assert check(capsys, "--operation", "DELETE", new)[0] == 0


def test_the_user(capsys: pytest.CaptureFixture[str]) -> None:
    expression = (
        "request.userInfo.username == 'ann' && request.userInfo.groups == "
        "['devs', 'system:authenticated'] && request.dryRun"
    )
    write(Path("policies.json"), policy(expression=expression), binding())
    path = write(Path("a.json"), GOOD)
    assert check(capsys, "--as", "ann", "--as-group", "devs", "--dry-run", path)[0] == 0
    assert check(capsys, "--as", "ann", "--as-group", "devs", path)[0] == 1


def test_namespaces(capsys: pytest.CaptureFixture[str]) -> None:
    match: dict[str, Any] = {"namespaceSelector": {"matchLabels": {"env": "prod"}}}
    write(Path("policies.json"), policy(), binding(matchResources=match))
    document = {**BAD, "metadata": {"name": "bad"}}
    path = write(Path("a.json"), document)
    assert reasons(capsys, "-n", "shop", path) == ["policy-unmatched", "namespace-assumed"]
    namespace = {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {"name": "shop", "labels": {"env": "prod"}},
    }
    given = write(Path("n.json"), namespace)
    code, out, _ = check(capsys, "-n", "shop", "-f", given, path)
    assert code == 1
    assert "ConfigMap shop/bad" in out


def test_namespaces_have_the_label_that_the_server_gives_them(
    capsys: pytest.CaptureFixture[str],
) -> None:
    match = {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "shop"}}}
    expression = "namespaceObject.status.phase == 'Inactive'"
    write(Path("policies.json"), policy(expression=expression), binding(matchResources=match))
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    path = write(Path("a.json"), config_map("a", "shop"), config_map("a", "other"), namespace)
    verdicts = [one["verdict"] for one in report(capsys, path)["objects"]]
    assert verdicts == ["denied", "untouched", "untouched"]


def test_a_broken_object_is_reported_once(capsys: pytest.CaptureFixture[str]) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}, "spec": 5}
    assert len(report(capsys, write(Path("a.json"), namespace))["problems"]) == 1


def test_defaulting_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("policies.json"), policy(expression="has(object.metadata.uid)"), binding())
    path = write(Path("a.json"), GOOD)
    assert check(capsys, path)[0] == 0
    assert check(capsys, "--no-defaulting", path)[0] == 1


def test_unknown_kinds_and_custom_resources(capsys: pytest.CaptureFixture[str]) -> None:
    widget = {"apiVersion": "ex.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "size": 5}
    rules = [
        {
            "apiGroups": ["ex.io"],
            "apiVersions": ["*"],
            "operations": ["*"],
            "resources": ["widgets"],
        }
    ]
    write(Path("policies.json"), policy(expression="object.size < 5", rules=rules), binding())
    path = write(Path("w.json"), widget)
    found = report(capsys, path)
    assert [notice["reason"] for notice in found["notices"]] == ["unknown-kind"]
    assert found["objects"][0]["verdict"] == "denied"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.ex.io"},
        "spec": {
            "group": "ex.io",
            "scope": "Cluster",
            "names": {"plural": "widgets", "kind": "Widget"},
            "versions": [version],
        },
    }
    found = report(capsys, "-f", write(Path("crd.json"), definition), path)
    assert found["notices"] == []
    assert "namespace" not in found["objects"][0]


@pytest.mark.parametrize(
    ("version", "kind", "help"),
    [
        ("apps/v1", "Deploymnet", "did you mean `Deployment`?"),
        ("extensions/v1beta1", "Ingress", None),
        ("policy/v1beta1", "PodDisruptionBudget", "did you mean `apiVersion: policy/v1`?"),
        ("v1", "Xyz", ""),
        ("a/b/c", "Xyz", ""),
    ],
)
def test_kinds_that_do_not_exist(
    capsys: pytest.CaptureFixture[str], version: str, kind: str, help: str | None
) -> None:
    document = {"apiVersion": version, "kind": kind, "metadata": {"name": "a"}}
    found = report(capsys, write(Path("a.json"), document))
    if help is None:  # not a built-in group today: somebody may have defined it
        assert [notice["reason"] for notice in found["notices"]][-1] == "unknown-kind"
    else:
        (problem,) = found["problems"]
        assert problem.get("help", "") == help
        assert "in version" in problem["message"] or "unexpected GroupVersion" in problem["message"]


def test_names_are_required(capsys: pytest.CaptureFixture[str]) -> None:
    document = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}
    (problem,) = report(capsys, write(Path("a.json"), document))["problems"]
    assert problem["message"] == "resource name may not be empty"
    generated = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"generateName": "a-"}}
    (result,) = report(capsys, write(Path("a.json"), generated))["objects"]
    assert result["name"] == "a-xxxxx"
    review = {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": {}}
    assert report(capsys, write(Path("a.json"), review))["objects"]


def test_an_update_of_a_cluster_scoped_object(capsys: pytest.CaptureFixture[str]) -> None:
    rules = [
        {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["namespaces"]}
    ]
    expression = "oldObject.metadata.name == request.namespace"
    write(Path("policies.json"), policy(expression=expression, rules=rules), binding())
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a"}}
    path = write(Path("a.json"), namespace)
    assert check(capsys, "--operation", "UPDATE", "--old", path, path)[0] == 0


def test_subresources(capsys: pytest.CaptureFixture[str]) -> None:
    rules = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]
    expression = "request.subResource == 'exec' && object.kind == 'PodExecOptions'"
    write(Path("policies.json"), policy(expression=expression, rules=rules), binding())
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": {"containers": []}}
    path = write(Path("p.json"), pod)
    assert check(capsys, "--operation", "CONNECT", "--subresource", "exec", path)[0] == 0
    scale = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "s"}}
    (problem,) = report(capsys, write(Path("s.json"), scale))["problems"]
    assert "deployments/scale" in problem["message"]
    assert report(capsys, "--subresource", "deployments/scale", "s.json")["objects"]
    (problem,) = report(capsys, "--subresource", "nope", "p.json")["problems"]
    assert problem["message"] == "kind `Pod` has no subresource `nope`"


def test_a_kind_of_its_own_below_another(capsys: pytest.CaptureFixture[str]) -> None:
    """`Binding` is the kind of a resource, and of what is sent to `pods/binding`."""
    rules = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"]}]
    below = [{**rules[0], "resources": ["pods/binding"]}]
    write(
        Path("policies.json"),
        policy(expression="object.target.name == 'a'", rules=below),
        binding(),
    )
    node = {"apiVersion": "v1", "kind": "Node", "name": "b"}
    one = {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "p"}, "target": node}
    path = write(Path("b.json"), one)
    assert check(capsys, path)[0] == 0
    assert check(capsys, "--subresource", "pods/binding", path)[0] == 1


def test_shapes(capsys: pytest.CaptureFixture[str]) -> None:
    Path("a.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n    enabled: yes\n"
    )
    (problem,) = report(capsys, "a.yaml")["problems"]
    assert (problem["line"], problem["message"]) == (
        6,
        "`metadata.labels.enabled` must be text, not true",
    )
    Path("a.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: 1\n"
    )
    (problem,) = report(capsys, "a.yaml")["problems"]
    assert problem["message"].startswith(
        'ConfigMap in version "v1" cannot be handled as a ConfigMap'
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check"], "nothing to check"),
        (["check", "a", "--operation", "UPDATE"], "needs the objects as they are now"),
        (["check", "a", "--old", "b"], "goes with `--operation UPDATE`"),
        (["check", "a", "--operation", "CONNECT"], "needs a `--subresource`"),
        (["check", "-f", "-", "-"], "can only be read once"),
        (["check", "a", "--as-group", "g"], "goes with `--as`"),
        (["check", "-f", "policies.json", "--policy", "limt"], "did you mean `limit`?"),
        (["check", "a", "--kubernetes-version", "1.99"], "unknown version `1.99`"),
        (["check", "--polcy", "a"], "no option `--polcy`, did you mean `--policy`?"),
        (["chek"], "no command `chek`, did you mean `check`?"),
        (["--nope"], "no option `--nope`"),
    ],
)
def test_wrong_usage(capsys: pytest.CaptureFixture[str], words: list[str], message: str) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert message in err
    assert "--help`" in err


def _gizmos(**spec: Any) -> Json:
    """A CRD whose objects have that schema."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", **spec}}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "gizmos", "kind": "Gizmo", "singular": "gizmo", "listKind": "GizmoList"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "gizmos.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": names,
            "versions": [version],
        },
    }


def _gizmo(**spec: Any) -> Json:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Gizmo",
        "metadata": {"name": "g"},
        "spec": spec,
    }


SIZED: Json = {
    "properties": {"size": {"type": "integer", "minimum": 1, "default": 3}},
    "x-kubernetes-validations": [
        {"rule": "self.size >= oldSelf.size", "message": "may not shrink"}
    ],
}


def test_custom_resources_have_defaults_and_no_unknown_fields(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    crd = write(tmp_path / "crd.yaml", _gizmos(**SIZED))
    rules = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]
    judge = policy("p", "object.spec.size == 3 && !has(object.spec.zap)", rules=rules)
    policies = write(tmp_path / "p.yaml", judge, binding("p"))
    obj = write(tmp_path / "o.yaml", _gizmo(zap=1))
    words = ("check", "-q", "--field-validation", "Ignore", "-f", crd, "-f", policies, obj)
    assert run(capsys, *words)[0] == 0
    out = run(capsys, "check", "-q", "-f", crd, "-f", policies, obj, "--no-defaulting")[1]
    assert "denied request: failed expression" in out


def test_invalid_custom_resources(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    crd = write(tmp_path / "crd.yaml", _gizmos(**SIZED))
    obj = write(tmp_path / "o.yaml", _gizmo(size=0))
    code, out, _ = run(capsys, "check", "-f", crd, obj)
    assert code == 1
    assert out.splitlines()[0] == (
        'invalid: Gizmo.example.com "g" is invalid: spec.size: Invalid value: 0: spec.size in body '
        "should be greater than or equal to 1"
    )
    old = write(tmp_path / "old.yaml", _gizmo(size=4))
    new = write(tmp_path / "new.yaml", _gizmo(size=2))
    words = ("check", "-f", crd, "--operation", "UPDATE", "--old", old, new)
    assert "spec: Invalid value: may not shrink" in run(capsys, *words)[1]


def test_rules_of_a_definition(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rules = {"x-kubernetes-validations": [{"rule": "self.size > 0"}]}
    crd = write(tmp_path / "crd.yaml", _gizmos(**rules))
    code, out, _ = run(capsys, "check", "--admit", "CustomResourceDefinition", crd)
    assert (code, "undefined field 'size'" in out) == (1, True)


def test_kinds_of_options_exist(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write(tmp_path / "cm.json", config_map())
    code, _, err = run(capsys, "check", path, "--lookup", "ConfigMap,Configmaps")
    assert (code, err.splitlines()[0]) == (
        2,
        "error: no kind `configmaps`, did you mean `configmap`?",
    )


def test_quiet_says_what_is_strict(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = write(tmp_path / "cm.json", config_map())
    code, out, _ = run(capsys, "check", path, "-q", "--strict")
    assert code == 3
    assert "strict: there is no ValidatingAdmissionPolicy" in out
    assert run(capsys, "check", path, "-q")[:2] == (0, "")


def test_files_that_are_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    Path("all/drafts").mkdir(parents=True)
    write(Path("all/a.json"), GOOD)
    write(Path("all/drafts/b.json"), BAD)
    assert check(capsys, "all")[0] == 1
    assert check(capsys, "all", "--exclude", "drafts")[0] == 0
    assert check(capsys, "all/drafts/b.json", "--exclude", "drafts")[0] == 1


@pytest.mark.parametrize(("release", "code"), [("1.33", 1), ("1.34", 0)])
def test_the_release_of_a_project(
    capsys: pytest.CaptureFixture[str], release: str, code: int
) -> None:
    """`hostnameOverride` of pods came with 1.34."""
    Path("celadon.toml").write_text(f'kubernetes-version = "{release}"\n')
    write(
        Path("pod.json"),
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "a"},
            "spec": {"hostnameOverride": "b", "containers": [{"name": "c", "image": "x"}]},
        },
    )
    found, out, _ = run(capsys, "check", "pod.json")
    assert found == code
    assert ('unknown field "spec.hostnameOverride"' in out) is bool(code)


CONVERTED = [
    {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "boxes.x.io"},
        "spec": {
            "group": "x.io",
            "names": {"kind": "Box", "plural": "boxes", "singular": "box", "listKind": "BoxList"},
            "scope": "Namespaced",
            "conversion": {
                "strategy": "Webhook",
                "webhook": {
                    "conversionReviewVersions": ["v1"],
                    "clientConfig": {"url": "https://127.0.0.1/convert"},
                },
            },
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == "v1",
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": True,
                        }
                    },
                }
                for name in ("v1", "v2")
            ],
        },
    },
    policy(
        "boxes",
        "!has(object.spec.old)",
        rules=[
            {
                "apiGroups": ["x.io"],
                "apiVersions": ["v1"],
                "operations": ["*"],
                "resources": ["boxes"],
            }
        ],
    ),
    binding("boxes"),
]
BOX = {"apiVersion": "x.io/v2", "kind": "Box", "metadata": {"name": "b"}, "spec": {"new": 1}}


@pytest.mark.parametrize("command", ["check", "audit"])
def test_what_a_conversion_webhook_would_have_to_tell_is_said(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    policies, boxes = write(Path("c.json"), *CONVERTED), write(Path("b.json"), BOX)
    code, out, err = run(capsys, command, "-f", policies, boxes)
    assert code == 0, out + err
    text = out + err
    assert "policy `boxes` was not judged on Box default/b" in text or "on Box b" in text, text
    assert "conversion webhook for x.io/v2, Kind=Box is not called" in text
    if command == "check":
        assert "1 up to webhooks that were not asked" in out
    assert run(capsys, command, "--strict", "-f", policies, boxes)[0] != 0
    if command == "check":
        _, out, _ = run(capsys, command, "-o", "junit", "-f", policies, boxes)
        assert "webhooks not asked: for conversion" in out
