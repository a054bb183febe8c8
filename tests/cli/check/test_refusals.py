"""What `celadon check` refuses before any policy is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.files import Json, binding, config_map, policy, run, write

EVERYTHING = [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*/*"]}]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(Path("policies.json"), policy(expression="false", rules=EVERYTHING), binding())


def objects(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    _, out, _ = run(capsys, "check", "-f", "policies.json", *words, "-o", "json")
    return json.loads(out)["objects"]


def verdicts(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    return [one["verdict"] for one in objects(capsys, *words)]


def pod(name: str = "web", **container: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop"},
        "spec": {"containers": [{"name": "c", "image": "nginx", **container}]},
    }


def service(**spec: Any) -> Json:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web"},
        "spec": {"ports": [{"port": 80}], **spec},
    }


def test_an_invalid_object_never_reaches_a_policy(capsys: pytest.CaptureFixture[str]) -> None:
    bad = pod(ports=[{"containerPort": 70000}])
    path = write(Path("a.json"), bad, pod("other"))
    invalid, denied = objects(capsys, path)
    assert (invalid["verdict"], invalid["code"], denied["verdict"]) == ("invalid", 422, "denied")
    field = "spec.containers[0].ports[0].containerPort"
    sentence = "Invalid value: 70000: must be between 1 and 65535, inclusive"
    assert invalid["message"] == f'Pod "web" is invalid: {field}: {sentence}'
    assert invalid["status"]["reason"] == "Invalid"
    assert invalid["faults"] == [
        {"file": "a.json", "line": 15, "field": field, "message": sentence}
    ]
    assert "violations" not in invalid
    assert run(capsys, "check", path)[0] == 1


def test_validation_can_be_switched_off(capsys: pytest.CaptureFixture[str]) -> None:
    path = write(Path("a.json"), pod(image=""))
    assert verdicts(capsys, path) == ["invalid"]
    assert verdicts(capsys, path, "--no-validation") == ["denied"]
    assert verdicts(capsys, path, "--no-defaulting") == ["denied"]
    assert verdicts(capsys, path, "--operation", "DELETE") == ["denied"]
    assert verdicts(capsys, path, "--subresource", "status") == ["denied"]


def test_a_changed_status_is_validated(capsys: pytest.CaptureFixture[str]) -> None:
    meta = {"name": "d", "namespace": "shop"}
    labels = {"app": "d"}
    template = {"metadata": {"labels": labels}, "spec": pod()["spec"]}
    old = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": meta,
        "spec": {"selector": {"matchLabels": labels}, "template": template},
    }
    Path("old.json").write_text(json.dumps(old))
    Path("new.json").write_text(json.dumps({**old, "status": {"updatedReplicas": 3}}))
    words = ("--operation", "UPDATE", "--old", "old.json", "--subresource", "status")
    (found,) = objects(capsys, "new.json", *words)
    assert found["message"] == (
        'Deployment.apps "d" is invalid: status.updatedReplicas: Invalid value: 3: '
        "cannot be greater than status.replicas"
    )


def test_limit_ranges_refuse_after_validation(capsys: pytest.CaptureFixture[str]) -> None:
    limits = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "shop"},
        "spec": {"limits": [{"type": "Container", "max": {"cpu": "1"}}]},
    }
    given = write(Path("limits.json"), limits)
    greedy = pod(resources={"limits": {"cpu": "2"}})
    (found,) = objects(capsys, "-f", given, write(Path("a.json"), greedy))
    assert (found["verdict"], found["code"]) == ("denied", 403)
    assert found["message"] == (
        'pods "web" is forbidden: maximum cpu usage per Container is 1, but limit is 2'
    )


def test_plugins_find_objects_as_the_cluster_has_them(capsys: pytest.CaptureFixture[str]) -> None:
    limits: Json = {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "metadata": {"name": "l", "namespace": "shop"},
        "spec": {"limits": [{"type": "Container", "default": {"cpu": 0.5}}]},
    }
    broken = {**limits, "spec": {"limits": 5}}
    requests = "string(object.spec.containers[0].resources.?requests.?cpu.orValue('none'))"
    asking = [{"expression": "object.kind != 'Pod'", "messageExpression": requests}]
    write(Path("policies.json"), policy(rules=EVERYTHING, validations=asking), binding())
    path = write(Path("a.json"), pod())
    for given, want in ((limits, "500m"), (broken, "none")):
        found = objects(capsys, "-f", write(Path("limits.json"), given), path)[-1]
        assert found["message"].endswith(f"denied request: {want}")


def test_updates(capsys: pytest.CaptureFixture[str]) -> None:
    frozen: Json = {**config_map("a", x="1"), "immutable": True}
    old = write(Path("old.json"), frozen, service(), pod())
    same = write(Path("same.json"), frozen, service(), pod())
    update = ("--operation", "UPDATE", "--old", old)
    assert verdicts(capsys, *update, same) == ["denied"] * 3
    thawed = config_map("a", x="2")
    bad = write(Path("bad.json"), thawed, service(type="Nope"), pod(imagePullPolicy="x"))
    found = objects(capsys, *update, bad)
    assert [one["verdict"] for one in found] == ["invalid"] * 3
    assert [fault["field"] for fault in found[0]["faults"]] == ["immutable", "data"]


def test_custom_resources_are_not_validated_here(capsys: pytest.CaptureFixture[str]) -> None:
    widget = {"apiVersion": "ex.io/v1", "kind": "Widget", "metadata": {"name": "w"}, "spec": 5}
    assert verdicts(capsys, write(Path("w.json"), widget)) == ["denied"]


def test_what_came_empty_is_told_from_what_is_absent(capsys: pytest.CaptureFixture[str]) -> None:
    scaling: Json = {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"},
            "maxReplicas": 3,
        },
    }
    empty = {**scaling, "spec": {**scaling["spec"], "behavior": {"scaleUp": {"policies": []}}}}
    new, old = write(Path("new.json"), empty), write(Path("old.json"), scaling)
    for words in ((new,), (new, "--operation", "UPDATE", "--old", old)):
        (found,) = objects(capsys, *words)
        assert found["verdict"] == "invalid", words
        (fault,) = found["faults"]
        assert fault["field"] == "spec.behavior.scaleUp.policies"


def test_what_a_server_refuses_while_it_completes_an_object_is_invalid(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Addresses of Services are looked at when they are allocated, before validation."""
    write(Path("new.json"), service(clusterIP="nope"))
    (found,) = objects(capsys, "new.json")
    message = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    assert (found["verdict"], found["code"]) == ("invalid", 422)
    assert found["message"].endswith(f'spec.clusterIPs[0]: Invalid value: "nope": {message}')
    assert [fault["field"] for fault in found["faults"]] == ["spec.clusterIPs[0]"]


def test_so_is_it_in_an_update(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("old.json"), service())
    write(Path("new.json"), service(clusterIPs=["nope"], clusterIP="nope"))
    (found,) = objects(capsys, "--operation", "UPDATE", "--old", "old.json", "new.json")
    assert found["verdict"] == "invalid"
    assert "must be a valid IP address" in found["message"]


def test_what_is_looked_up_must_be_complete_too(capsys: pytest.CaptureFixture[str]) -> None:
    write(Path("there.json"), service(clusterIP="nope"))
    write(Path("new.json"), config_map("c"))
    code, _, err = run(capsys, "check", "-f", "policies.json", "-f", "there.json", "new.json")
    assert code == 2
    assert "must be a valid IP address" in err
    assert "internal error" not in err


def test_no_more_is_told_than_a_refusal_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """Each of 500 values is none of 5,000 that are listed each time."""
    choices = {"type": "string", "enum": [f"choice-{number}" for number in range(5_000)]}
    schema = {"type": "object", "properties": {"spec": {"type": "array", "items": choices}}}
    names = {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "things.example.com"},
        "spec": {"group": "example.com", "scope": "Cluster", "names": names, "versions": [version]},
    }
    thing = {
        "apiVersion": "example.com/v1",
        "kind": "Thing",
        "metadata": {"name": "t"},
        "spec": [f"none-{number}" for number in range(500)],
    }
    write(Path("definition.json"), definition)
    write(Path("thing.json"), thing)
    (invalid,) = objects(capsys, "-f", "definition.json", "thing.json")
    assert invalid["verdict"] == "invalid"
    assert 30 < len(invalid["faults"]) < 60
