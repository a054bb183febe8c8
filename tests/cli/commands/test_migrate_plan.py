"""`celadon migrate --plan`: what of a whole cluster can move, and in which order."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from celadon.cli.exit_codes import Exit
from celadon.testing import KubeApi
from tests.cli.audit.dumps import FORMS, Json, written
from tests.cli.audit.etcd_snapshots.snapshot_files import snapshot
from tests.cli.files import run
from tests.migrate.gatekeeper.gatekeeper_documents import constraint, says, template
from tests.migrate.kyverno.policy_documents import kyverno_policy, pod, rule
from tests.migrate.kyverno.test_exceptions import exception

TEAM = {"message": "a team is needed", "pattern": {"metadata": {"labels": {"team": "?*"}}}}
PLAIN = {"message": "no", "pattern": {"spec": {"containers": [{"image": "!*:latest"}]}}}
Capture = pytest.CaptureFixture[str]


def named(policy: Json, name: str, namespace: str = "") -> Json:
    about = {**policy["metadata"], "name": name, **({"namespace": namespace} if namespace else {})}
    return {**policy, "metadata": about}


def enforced(*rules: Json, name: str) -> Json:
    return named(kyverno_policy(*rules, validationFailureAction="Enforce"), name)


def existing(name: str, **labels: str) -> Json:
    return {**pod(), "metadata": {"name": name, "namespace": "shop", "uid": name, "labels": labels}}


def report(result: str, name: str, rule: str = "r", policy: str = "team") -> Json:
    return written(
        "wgpolicyk8s.io/v1alpha2/PolicyReport",
        f"report-{name}",
        scope={"apiVersion": "v1", "kind": "Pod", "name": name, "namespace": "shop"},
        results=[{"policy": policy, "rule": rule, "result": result, "source": "kyverno"}],
    )


def plan(capsys: Capture, *words: str, code: int = Exit.OK) -> Any:
    found, out, err = run(capsys, "migrate", "--plan", *words, "--report", "json")
    assert (found, err) == (code, "")
    return json.loads(out)


def dumped(tmp_path: Path, *objects: Json, form: str = "json lines") -> str:
    file = tmp_path / "dump"
    file.write_bytes(FORMS[form](objects))
    return str(file)


def courses(found: Any) -> list[tuple[str, str]]:
    return [(one["name"], one["course"]) for one in found["policies"]]


MUTATE = {"patchStrategicMerge": {"metadata": {"labels": {"+(team)": "none"}}}}
MUTATING = {**rule({}), "mutate": MUTATE}
del MUTATING["validate"]
GENERATE = {"name": "g", "match": {}, "generate": {"kind": "ConfigMap"}}


@pytest.mark.parametrize("form", ["json lines", "kubectl yaml"])
def test_what_moves_in_which_order(form: str, tmp_path: Path, capsys: Capture) -> None:
    source = dumped(
        tmp_path,
        enforced(rule(TEAM), name="team"),
        enforced(GENERATE, rule(PLAIN), name="half"),
        enforced(GENERATE, name="generate"),
        enforced(MUTATING, name="mutate"),
        enforced(rule(PLAIN), name="plain"),
        existing("a", team="x"),
        existing("b"),
        existing("c"),
        form=form,
    )
    found = plan(capsys, source, code=Exit.DENIED)
    assert courses(found) == [
        ("plain", "move"),
        ("team", "repair"),
        ("mutate", "together"),
        ("half", "divide"),
        ("generate", "stay"),
    ]
    (team,) = found["policies"][1]["rules"]
    assert (team["objects"], team["refused"]) == (3, 2)
    assert team["examples"][0] == {"object": "Pod shop/b", "message": "a team is needed"}
    assert found["summary"]["documents"] == [
        {"engine": "Kyverno", "kind": "ClusterPolicy", "count": 5}
    ]


def about(**members: Any) -> Json:
    """A rule that all Pods violate, for some requests only."""
    return {**rule(TEAM), **members}


PODS = {"kinds": ["Pod"]}
UNSEEN = {
    "updates": about(match={"any": [{"resources": {**PODS, "operations": ["UPDATE"]}}]}),
    "admins": about(exclude={"any": [{"clusterRoles": ["cluster-admin"]}]}),
    "masters": about(
        exclude={"any": [{"subjects": [{"kind": "Group", "name": "system:masters"}]}]}
    ),
    "user": about(
        preconditions={
            "all": [
                {"key": "{{ request.userInfo.username }}", "operator": "Equals", "value": "alice"}
            ]
        }
    ),
    "namespace": about(
        match={
            "any": [{"resources": {**PODS, "namespaceSelector": {"matchLabels": {"team": "shop"}}}}]
        }
    ),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_exists_does_not_show_whom_all_refuse(
    name: str, tmp_path: Path, capsys: Capture
) -> None:
    """They are asked as if an administrator created what exists, of namespaces that are there."""
    source = dumped(tmp_path, enforced(UNSEEN[name], name=name), existing("b"))
    assert courses(plan(capsys, source)) == [(name, "try")]


def test_what_is_known_beforehand_is_said(tmp_path: Path, capsys: Capture) -> None:
    deletions = about(match={"any": [{"resources": {**PODS, "operations": ["DELETE"]}}]})
    source = dumped(
        tmp_path,
        enforced({**deletions, "validate": {"deny": {}}}, name="frozen"),
        enforced(rule({"deny": {}}), name="closed"),
        existing("b"),
    )
    _, out, _ = run(capsys, "migrate", "--plan", source)
    assert "it is for DELETE only, as nothing that exists is" in out
    assert "lets deletions pass, which Kyverno judges, too" in out


def test_objects_of_one_name_in_two_groups_are_two(tmp_path: Path, capsys: Capture) -> None:
    labels = {"pattern": {"metadata": {"labels": {"team": "?*"}}}}
    kinds = ["networking.k8s.io/v1/NetworkPolicy", "example.com/v1/NetworkPolicy"]
    of_two = named(kyverno_policy(rule(labels, kinds)), "two")
    objects = [written(kind, "a", namespace="shop") for kind in kinds]
    found = plan(capsys, dumped(tmp_path, of_two, *objects))
    assert found["policies"][0]["rules"][0]["refused"] == 2


def test_rules_that_are_written_as_one_policy_are_judged_alone(
    tmp_path: Path, capsys: Capture
) -> None:
    owner = {"message": "an owner", "pattern": {"metadata": {"labels": {"owner": "?*"}}}}
    both = enforced(rule(TEAM), {**rule(owner), "name": "owner"}, name="both")
    source = dumped(tmp_path, both, existing("a", team="x"), existing("b", owner="y", team="x"))
    (found,) = plan(capsys, source)["policies"]
    assert found["course"] == "repair"
    assert [(one["rule"], one["objects"], one["refused"]) for one in found["rules"]] == [
        ("r", 2, 0),
        ("owner", 2, 1),
    ]


def test_files_are_staged(tmp_path: Path, capsys: Capture) -> None:
    source = dumped(
        tmp_path,
        enforced(rule(TEAM), name="team"),
        named(kyverno_policy(rule(TEAM)), "soft"),
        enforced(MUTATING, name="mutate"),
        template(
            says("size(variables.anyObject.spec.containers) <= variables.params.most"),
            {"type": "object", "properties": {"most": {"type": "integer"}}},
        ),
        constraint(parameters={"most": 1}),
    )
    made = tmp_path / "out"
    code, out, err = run(capsys, "migrate", "--plan", source, "-o", str(made))
    assert (code, err) == (Exit.OK, "")
    assert "soft (ClusterPolicy, only reports)" in out
    assert "\nPolicies that only report today have bindings that warn and audit" in out
    assert "1-definitions" in out
    found = {
        str(file.relative_to(made)): [
            (one["kind"], one["spec"].get("validationActions"))
            for one in yaml.safe_load_all(file.read_text())
        ]
        for file in sorted(made.glob("*/*"))
    }
    policy, bound = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
    assert found == {
        "1-definitions/demand.yaml": [("CustomResourceDefinition", None)],
        "2-policies/demand.yaml": [(policy, None), ("Demand", None)],
        "2-policies/mutate.yaml": [("MutatingAdmissionPolicy", None)],
        "2-policies/soft.yaml": [(policy, None)],
        "2-policies/team.yaml": [(policy, None)],
        "3-warn/demand.yaml": [(bound, ["Warn", "Audit"])],
        "3-warn/soft.yaml": [(bound, ["Warn", "Audit"])],
        "3-warn/team.yaml": [(bound, ["Warn", "Audit"])],
        "4-enforce/demand.yaml": [(bound, ["Deny"])],
        "4-enforce/mutate.yaml": [("MutatingAdmissionPolicyBinding", None)],
        "4-enforce/team.yaml": [(bound, ["Deny"])],
    }


def test_what_kyverno_has_reported_is_compared(tmp_path: Path, capsys: Capture) -> None:
    objects = [
        enforced(rule(TEAM), name="team"),
        existing("a", team="x"),
        existing("b"),
        report("pass", "a"),
        report("fail", "b", "autogen-r"),
        report("fail", "b", "other"),
    ]
    (same,) = plan(capsys, dumped(tmp_path, *objects))["policies"]
    assert same["course"] == "repair"
    assert same["rules"][0]["compared"] == 2
    objects[-3:] = [report("fail", "a"), report("pass", "b")]
    (other,) = plan(capsys, dumped(tmp_path, *objects), code=Exit.DENIED)["policies"]
    assert other["course"] == "look"
    assert other["rules"][0]["disagreements"] == [
        {"object": "Pod shop/a", "theirs": "refused", "message": ""},
        {"object": "Pod shop/b", "theirs": "admitted", "message": "a team is needed"},
    ]


@pytest.mark.parametrize(
    ("total", "listed", "differing"),
    [
        (2, ["b", "c"], []),
        (2, ["a", "b"], [("Pod shop/a", "refused"), ("Pod shop/c", "admitted")]),
        (3, ["b"], []),  # it names the first ones only
        (1, ["b"], [("Pod shop/c", "admitted")]),
    ],
)
def test_what_gatekeeper_has_found_is_compared(
    total: int,
    listed: list[str],
    differing: list[tuple[str, str]],
    tmp_path: Path,
    capsys: Capture,
) -> None:
    demand = constraint()
    demand["status"] = {
        "totalViolations": total,
        "violations": [{"kind": "Pod", "name": one, "namespace": "shop"} for one in listed],
    }
    source = dumped(
        tmp_path,
        template(says("'team' in variables.anyObject.metadata.labels")),
        demand,
        existing("a", team="x"),
        existing("b"),
        existing("c"),
    )
    found = plan(capsys, source, code=Exit.DENIED if differing else Exit.OK)
    (one,) = found["policies"][0]["rules"]
    assert [(each["object"], each["theirs"]) for each in one["disagreements"]] == differing


def test_policies_of_one_name_stay_apart(tmp_path: Path, capsys: Capture) -> None:
    """Kyverno's are called by their namespaces, too; the second would overwrite the first."""
    policies = [kyverno_policy(rule(TEAM), kind="Policy") for _ in range(2)]
    both = [named(one, "p", ns) for one, ns in zip(policies, ("dev", "shop"), strict=True)]
    found = plan(capsys, dumped(tmp_path, *both))
    names = [(one["name"], one["rules"][0]["policies"]) for one in found["policies"]]
    assert names == [("dev/p", ["p"]), ("shop/p", ["p-2"])]
    made = tmp_path / "out"
    plan(capsys, str(tmp_path / "dump"), "-o", str(made))
    bound = yaml.safe_load((made / "3-warn" / "p-2.yaml").read_text())
    assert bound["metadata"]["name"] == bound["spec"]["policyName"] == "p-2"


def test_policies_that_demand_the_same(tmp_path: Path, capsys: Capture) -> None:
    other = {**TEAM, "message": "whose is it?"}
    policies = [enforced(rule(TEAM), name="a"), enforced(rule(other), name="b")]
    found = plan(capsys, dumped(tmp_path, *policies, enforced(rule(PLAIN), name="c")))
    assert [one["sameAs"] for one in found["policies"]] == ["", "a", ""]


def test_exceptions_stand_with_what_they_are_for(tmp_path: Path, capsys: Capture) -> None:
    unseen = {"all": [{"key": "{{ images.x }}", "operator": "Equals", "value": "x"}]}
    source = dumped(
        tmp_path,
        enforced(rule(TEAM), name="team"),
        exception(policy="team"),
        exception(policy="team", name="ends", conditions=unseen),
        existing("tmp-a"),
        existing("b"),
    )
    found = plan(capsys, source, code=Exit.DENIED)
    assert courses(found) == [("team", "repair"), ("delta/ends", "stay")]
    (team,) = found["policies"][0]["rules"]
    assert (team["refused"], team["exceptions"]) == (1, ["delta/e"])


def test_a_backup_of_etcd(tmp_path: Path, capsys: Capture) -> None:
    policy, obj = enforced(rule(TEAM), name="team"), existing("b")
    values: list[tuple[str, bytes | None]] = [
        ("/registry/kyverno.io/clusterpolicies/team", json.dumps(policy).encode()),
        ("/registry/pods/shop/b", json.dumps(obj).encode()),
    ]
    (tmp_path / "s.db").write_bytes(snapshot(values))
    found = plan(capsys, "--etcd-snapshot", str(tmp_path / "s.db"))
    assert courses(found) == [("team", "repair")]
    assert found["policies"][0]["rules"][0]["position"].endswith("clusterpolicies/team:1")


def definition(kind: str, plural: str) -> Json:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.kyverno.io"},
        "spec": {
            "group": "kyverno.io",
            "scope": "Cluster",
            "names": {"kind": kind, "plural": plural},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": schema},
                }
            ],
        },
    }


def test_a_running_cluster(capsys: Capture) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
    given = [
        definition("ClusterPolicy", "clusterpolicies"),
        namespace,
        enforced(rule(TEAM), name="team"),
        {**pod(), "metadata": {"name": "b", "namespace": "shop"}},
    ]
    with KubeApi(given) as api:
        found = plan(capsys, "--kubeconfig", str(api.kubeconfig))
    assert courses(found) == [("team", "repair")]
    assert found["policies"][0]["rules"][0]["refused"] == 1


def test_a_page(tmp_path: Path, capsys: Capture) -> None:
    source = dumped(tmp_path, enforced(rule(TEAM), name="team"), existing("<b>"))
    code, out, _ = run(capsys, "migrate", "--plan", source, "--report", "html")
    assert code == Exit.OK
    for text in ("Repair first", "Pod shop/&lt;b&gt;: a team is needed", "1 of 1 object would be"):
        assert text in out


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--plan"], "nothing to plan for"),
        (["--plan", "x", "--warn"], "`--warn` does not go with `--plan`"),
        (["--plan", "x", "--from-cluster"], "either dumps or a cluster"),
        (["x", "--context", "c"], "go with `--plan`"),
        ([], "no policies: give files"),
    ],
)
def test_wrong_use(words: list[str], text: str, capsys: Capture) -> None:
    code, _, err = run(capsys, "migrate", *words)
    assert code == Exit.USAGE
    assert text in err


def test_nothing_to_move(tmp_path: Path, capsys: Capture) -> None:
    code, _, err = run(capsys, "migrate", "--plan", dumped(tmp_path, existing("a")))
    assert code == Exit.USAGE
    assert "there is no policy of Kyverno or Gatekeeper there" in err


def test_expressions_that_fail_are_told_on_one_line(tmp_path: Path, capsys: Capture) -> None:
    demand = template(says("object.metadata.labels.team\n  == 'a'"))
    source = dumped(tmp_path, demand, constraint(), existing("b"))
    _, out, _ = run(capsys, "migrate", "--plan", source)
    assert "\n       Pod shop/b: it could not be judged: no such key: team\n" in out
