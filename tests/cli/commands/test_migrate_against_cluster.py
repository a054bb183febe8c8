"""`celadon migrate --against cluster`: dry runs, with what the old engine says of them there."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from celadon.cli.exit_codes import Exit
from celadon.testing import KubeApi
from celadon.webhook.cluster import ClusterClient, ClusterRefusal, ClusterUnreachable
from tests.apiserver.webhook_routes.loopback import CA_BUNDLE, certificate, server_context
from tests.cli.audit.dumps import Json
from tests.cli.commands.test_migrate import write
from tests.cli.commands.test_migrate_against import KYVERNO
from tests.cli.commands.test_migrate_plan import TEAM, enforced
from tests.cli.files import run
from tests.migrate.kyverno.policy_documents import pod, rule
from tests.servers import serving

# What the loop of a command was about to close when it ended is left to Python.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

Capture = pytest.CaptureFixture[str]
NO_TEAM = KYVERNO.replace("other:\n  x: no\n", "")


class OldEngine(BaseHTTPRequestHandler):
    """Refuses as a policy of Kyverno does that wants a team of Pods, but not of free ones."""

    seen: list[tuple[bool, str]]
    managers: list[str]

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["request"]
        about = asked["object"]["metadata"]
        self.seen.append((asked["dryRun"], about["name"]))
        self.managers.append(asked["options"]["fieldManager"])
        allowed = "team" in about.get("labels", {}) or about["name"].startswith("free")
        response: Json = {"uid": asked["uid"], "allowed": allowed}
        if not allowed:
            response["status"] = {"message": NO_TEAM}
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}
        body = json.dumps({**review, "response": response}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


class Cluster:
    """A cluster with the old engine, and what that has seen."""

    def __init__(self, api: KubeApi, seen: list[tuple[bool, str]], managers: list[str]) -> None:
        self.api = api
        self.seen = seen
        self.managers = managers

    def pods(self) -> list[str]:
        found = self.api.request("GET", "/api/v1/pods")
        return [one["metadata"]["name"] for one in found["items"]]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    folder = tmp_path_factory.mktemp("hook")
    seen: list[tuple[bool, str]] = []
    managers: list[str] = []
    handler = type("Handler", (OldEngine,), {"seen": seen, "managers": managers})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    context = server_context(certificate("127.0.0.1"), folder)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    url = f"https://127.0.0.1:{server.server_address[1]}/"
    with serving(server), KubeApi([*existing_objects(), configuration(url)]) as api:
        yield Cluster(api, seen, managers)


def existing_objects() -> list[Json]:
    labels = {"env": "prod"}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": labels}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "teams", "namespace": "default"},
            "data": {"team": "a"},
        },
        {**pod(labels={"team": "a"}), "metadata": {"name": "there", "namespace": "default"}},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "front", "namespace": "default"},
            "spec": {"type": "NodePort", "ports": [{"port": 80}]},
        },
    ]


def configuration(url: str) -> Json:
    rules = [{"apiGroups": [""], "apiVersions": ["*"], "operations": ["*"], "resources": ["pods"]}]
    hook = {
        "name": "validate.kyverno.svc-fail",
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "rules": rules,
        "clientConfig": {"url": url, "caBundle": CA_BUNDLE},
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "kyverno"},
        "webhooks": [hook],
    }


def compared(
    tmp_path: Path, capsys: Capture, cluster: Cluster, objects: Sequence[Json], *rules: Json
) -> tuple[list[Any], str]:
    """The rules of the report, and the report for people."""
    folder = tmp_path / "policies"
    write(folder / "team.yaml", enforced(*(rules or (rule(TEAM),)), name="team"))
    write(tmp_path / "objects.yaml", *objects)
    words = ["migrate", str(folder), "--against", "cluster", str(tmp_path / "objects.yaml")]
    words += ["--kubeconfig", str(cluster.api.kubeconfig), "-o", str(tmp_path / "out"), "--force"]
    cluster.seen.clear()
    _, out, err = run(capsys, *words, "--report", "json")
    assert err.endswith(": nothing is written\n")
    _, text, _ = run(capsys, *words)
    return json.loads(out), text


def test_dry_runs_that_come_out_alike(tmp_path: Path, capsys: Capture, cluster: Cluster) -> None:
    objects = [pod(name="good", labels={"team": "a"}), pod(name="bad")]
    (found,), text = compared(tmp_path, capsys, cluster, objects)
    assert (found["state"], found["cases"]) == ("translated", 2)
    assert "2 objects sent to the cluster, as dry runs\n2 requests compared" in text
    assert cluster.seen[:2] == [(True, "good"), (True, "bad")]
    assert set(cluster.managers) == {"celadon"}
    assert cluster.pods() == ["there"]


def test_dry_runs_that_come_out_otherwise(
    tmp_path: Path, capsys: Capture, cluster: Cluster
) -> None:
    (found,), _ = compared(tmp_path, capsys, cluster, [pod(name="free")])
    assert found["state"] == "differs"
    (difference,) = found["differences"]
    assert difference["object"] == "Pod free"
    assert (difference["expected"], difference["found"]) == ("pass", "fail")
    assert difference["message"].endswith("objects.yaml:1 (CREATE): a team is needed")


def test_what_exists_can_be_asked_about(tmp_path: Path, capsys: Capture, cluster: Cluster) -> None:
    """As a dump has it: with fields of the server, which a creation must not have."""
    (dumped,) = (one for one in cluster.api.request("GET", "/api/v1/pods")["items"])
    dumped = {"apiVersion": "v1", "kind": "Pod", **dumped}
    dumped["metadata"] = {**dumped["metadata"], "labels": {"team": "a"}}
    (found,), _ = compared(tmp_path, capsys, cluster, [dumped])
    assert (found["state"], found["cases"]) == ("translated", 1)
    assert cluster.seen[0] == (True, "there")


@pytest.mark.parametrize("name", ["kubernetes", "front"])
def test_addresses_and_ports_of_services_that_exist(
    name: str, tmp_path: Path, capsys: Capture, cluster: Cluster
) -> None:
    service = cluster.api.request("GET", f"/api/v1/namespaces/default/services/{name}")
    named = rule(TEAM, kinds=["Service"])
    (found,), text = compared(tmp_path, capsys, cluster, [service], named)
    assert (found["differences"][0]["object"], found["cases"]) == (f"Service {name}", 1)
    assert "refused by others" not in text


def test_objects_that_say_nothing_are_counted(
    tmp_path: Path, capsys: Capture, cluster: Cluster
) -> None:
    broken = pod(name="broken", labels={"team": "a"})
    broken["spec"]["restartPolicy"] = "Perhaps"
    elsewhere = pod(name="elsewhere", namespace="nowhere")
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}}
    asking = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "metadata": {"name": "x"},
        "spec": {"user": "x"},
    }
    unknown = {"apiVersion": "x.io/v1", "kind": "Thing", "metadata": {"name": "x"}}
    objects = [broken, elsewhere, secret, asking, unknown]
    (found,), text = compared(tmp_path, capsys, cluster, objects)
    assert found["cases"] == 0
    assert "3 objects sent to the cluster" in text
    for line in (
        "1 not: refused by others (Invalid)\n    ",
        "1 not: refused by others (NotFound)\n    ",
        "1 not: no translated rule can be compared with it\n",
        "1 not: objects of their kind are not stored\n",
        "1 not: the cluster does not serve their kind",
    ):
        assert f" {line}" in text


def test_labels_of_namespaces_are_those_of_the_cluster(
    tmp_path: Path, capsys: Capture, cluster: Cluster
) -> None:
    selected = rule(TEAM)
    resources = selected["match"]["any"][0]["resources"]
    resources["namespaceSelector"] = {"matchLabels": {"env": "prod"}}
    (found,), _ = compared(tmp_path, capsys, cluster, [pod(namespace="shop")], selected)
    assert (found["state"], found["cases"]) == ("translated", 1)


def test_params_are_those_of_the_cluster(tmp_path: Path, capsys: Capture, cluster: Cluster) -> None:
    def of(config_map: str) -> Json:
        pattern = {"metadata": {"labels": {"team": "{{ map.data.team }}"}}}
        context = [{"name": "map", "configMap": {"name": config_map, "namespace": "default"}}]
        return {**rule({"message": "no", "pattern": pattern}), "context": context}

    good = pod(labels={"team": "a"})
    (found,), _ = compared(tmp_path, capsys, cluster, [good], of("teams"))
    assert (found["state"], found["cases"]) == ("translated", 1)
    (missing,), text = compared(tmp_path, capsys, cluster, [good], of("others"))
    assert (missing["state"], missing["cases"]) == ("translated", 0)
    assert text.rstrip().endswith("team.yaml:9: ConfigMap default/others")


def test_users_are_who_the_cluster_says(tmp_path: Path, capsys: Capture, cluster: Cluster) -> None:
    free = {
        **rule(TEAM),
        "exclude": {"any": [{"subjects": [{"kind": "Group", "name": "system:masters"}]}]},
    }
    (found,), _ = compared(tmp_path, capsys, cluster, [pod(name="free")], free)
    assert found["state"] == "translated"


@pytest.mark.parametrize(
    "document", [{}, {"paths": {"/api/v1/namespaces/{namespace}/pods": {"post": {}}}}, None]
)
def test_servers_that_may_not_know_dry_runs_are_sent_nothing(
    document: Json | None,
    tmp_path: Path,
    capsys: Capture,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    get = ClusterClient.get

    async def without(self: ClusterClient, path: str, query: Any = None) -> Any:
        if not path.startswith("/openapi"):
            return await get(self, path, query)
        if document is None:
            raise ClusterRefusal(404, {})
        return document

    monkeypatch.setattr(ClusterClient, "get", without)
    (found,), text = compared(tmp_path, capsys, cluster, [pod()])
    assert (found["cases"], cluster.seen) == (0, [])
    assert "1 not: their server does not say that it knows dry runs" in text


def test_a_cluster_that_does_not_answer(
    tmp_path: Path, capsys: Capture, cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(*_: Any, **__: Any) -> Any:
        raise ClusterUnreachable("nobody there")

    monkeypatch.setattr(ClusterClient, "request", silent)
    write(tmp_path / "team.yaml", enforced(rule(TEAM), name="team"))
    words = ["--against", "cluster", str(tmp_path / "team.yaml"), "-o", str(tmp_path / "out")]
    words += ["--kubeconfig", str(cluster.api.kubeconfig)]
    code, _, err = run(capsys, "migrate", str(tmp_path / "team.yaml"), *words)
    assert code == Exit.USAGE
    server = err.partition(" are sent to ")[2].partition(": nothing is written")[0]
    assert err.endswith(f"error: {server}: nobody there\n")


@pytest.mark.parametrize(
    ("user", "wrong"),
    [
        ({"username": 5}, "`status.userInfo.username` must be text, not the number 5"),
        ({"uid": 5}, "`status.userInfo.uid` must be text, not the number 5"),
        ({"groups": "a"}, "`status.userInfo.groups` must be a list, not text"),
        ({"extra": [1]}, "`status.userInfo.extra` must be a map, not a list"),
    ],
)
def test_a_user_of_another_shape(
    user: Json,
    wrong: str,
    tmp_path: Path,
    capsys: Capture,
    cluster: Cluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def reviewed(*_: Any) -> Json:
        return {"status": {"userInfo": user}}

    monkeypatch.setattr(ClusterClient, "create", reviewed)
    write(tmp_path / "team.yaml", enforced(rule(TEAM), name="team"))
    words = ["--against", "cluster", str(tmp_path / "team.yaml"), "-o", str(tmp_path / "out")]
    words += ["--kubeconfig", str(cluster.api.kubeconfig)]
    code, _, err = run(capsys, "migrate", str(tmp_path / "team.yaml"), *words)
    assert code == Exit.USAGE
    assert err.endswith(f": POST /apis/authentication.k8s.io/v1/selfsubjectreviews: {wrong}\n")


def test_what_cannot_be_read_is_said_and_the_rest_is_sent(
    tmp_path: Path, capsys: Capture, cluster: Cluster
) -> None:
    write(tmp_path / "team.yaml", enforced(rule(TEAM), name="team"))
    write(tmp_path / "objects.yaml", pod(name="good", labels={"team": "a"}))
    with (tmp_path / "objects.yaml").open("a") as file:
        file.write("---\nkind: [\n")
    words = ["--against", "cluster", str(tmp_path / "objects.yaml"), "-o", str(tmp_path / "out")]
    words += ["--kubeconfig", str(cluster.api.kubeconfig)]
    cluster.seen.clear()
    code, _, err = run(capsys, "migrate", str(tmp_path / "team.yaml"), *words)
    assert (code, cluster.seen) == (Exit.USAGE, [(True, "good")])
    assert f"error: {tmp_path / 'objects.yaml'}:" in err


def test_a_kubeconfig_that_is_not_there(tmp_path: Path, capsys: Capture) -> None:
    write(tmp_path / "team.yaml", enforced(rule(TEAM), name="team"))
    words = ["--against", "cluster", "x", "--kubeconfig", str(tmp_path / "none")]
    code, _, err = run(capsys, "migrate", str(tmp_path / "team.yaml"), *words)
    assert code == Exit.USAGE
    assert "none" in err
