"""A server in the process of the test: there at once, on its own, gone without a trace."""

from __future__ import annotations

import asyncio
import json
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from celadon.testing import (
    ClientAccess,
    HttpRequest,
    KubeApi,
    ManifestError,
    RequestRefused,
    ServerOptions,
)

FIRST_SECONDS, LATER_SECONDS = 0.4, 0.1
"""How much processor time a server may take until it is ready, on a slow machine that has much else
to do: five times what it takes on an idle one, and more."""

CONFIG_MAPS = "/api/v1/namespaces/default/configmaps"
NO_PRIVILEGED_NAMES = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "names"},
    "spec": {
        "matchConstraints": {
            "resourceRules": [
                {
                    "apiGroups": [""],
                    "apiVersions": ["v1"],
                    "operations": ["CREATE"],
                    "resources": ["configmaps"],
                }
            ]
        },
        "validations": [{"expression": "!object.metadata.name.startsWith('root')"}],
    },
}
BINDING = {
    "apiVersion": "admissionregistration.k8s.io/v1",
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "names"},
    "spec": {"policyName": "names", "validationActions": ["Deny"]},
}


def config_map(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name}}


@pytest.fixture(scope="module")
def api() -> Iterator[KubeApi]:
    with KubeApi() as running:
        yield running


def get(access: ClientAccess, path: str) -> Any:
    """Over the network, with nothing but the standard library."""
    tls = None
    if access.url.startswith("https"):
        tls = ssl.create_default_context(cafile=str(access.certificate_authority))
    request = urllib.request.Request(  # loopback only
        access.url + path, headers={"Authorization": f"Bearer {access.token}"}
    )
    with urllib.request.urlopen(request, context=tls) as answer:
        return json.load(answer)


FIRST = """
import time
from celadon.testing import KubeApi
begin = time.process_time()
with KubeApi():
    print(time.process_time() - begin)
"""


@pytest.mark.thorough
def test_the_first_server_of_a_process_is_soon_there() -> None:
    def seconds() -> float:
        command = [sys.executable, "-c", FIRST]  # our own interpreter, our own code
        return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert min(seconds() for _ in range(3)) < FIRST_SECONDS


def test_later_servers_are_there_at_once(api: KubeApi) -> None:
    def seconds() -> float:
        begin = time.process_time()
        with KubeApi():
            return time.process_time() - begin

    assert min(seconds() for _ in range(5)) < LATER_SECONDS


@pytest.mark.parametrize("tls", [True, False])
def test_it_is_on_the_network(tls: bool) -> None:
    with KubeApi(options=ServerOptions(tls=tls)) as api:
        assert api.url.startswith("https:" if tls else "http:")
        names = {one["metadata"]["name"] for one in get(api.admin, "/api/v1/namespaces")["items"]}
        assert names == {"default", "kube-node-lease", "kube-public", "kube-system"}


def test_servers_know_nothing_of_each_other(api: KubeApi) -> None:
    with KubeApi() as other:
        other.create(config_map("only-there"))
        assert other.url != api.url
        with pytest.raises(RequestRefused) as refused:
            api.request("GET", f"{CONFIG_MAPS}/only-there")
    assert (refused.value.code, refused.value.reason) == (404, "NotFound")
    assert str(refused.value) == 'configmaps "only-there" not found'


def test_a_token_is_good_for_one_server(api: KubeApi) -> None:
    with KubeApi() as other, pytest.raises(RequestRefused, match="Unauthorized"):
        other.request("GET", CONFIG_MAPS, user=api.admin)


def test_an_ended_server_leaves_nothing_behind() -> None:
    with KubeApi() as api:
        access = api.admin
        assert any(one.name == "celadon-kube-api" for one in threading.enumerate())
    assert not access.kubeconfig.exists()
    with pytest.raises(urllib.error.URLError, match="refused"):
        urllib.request.urlopen(access.url.replace("https", "http"))  # loopback only
    with pytest.raises(RuntimeError, match="does not run"):
        api.admin  # noqa: B018  a property that raises
    api.stop()


def test_the_end_cuts_watches() -> None:
    with KubeApi() as other:
        tls = ssl.create_default_context(cafile=str(other.admin.certificate_authority))
        request = urllib.request.Request(  # loopback only
            f"{other.url}/api/v1/namespaces?watch=true",
            headers={"Authorization": f"Bearer {other.admin.token}"},
        )
        answer = urllib.request.urlopen(request, context=tls)
        assert json.loads(answer.readline())["type"] == "ADDED"
    with answer:
        assert answer.read().count(b"\n") == 3


def test_from_a_coroutine() -> None:
    async def names() -> list[str]:
        async with KubeApi([config_map("a")]) as api:
            found = await asyncio.to_thread(get, api.admin, CONFIG_MAPS)
            return [one["metadata"]["name"] for one in found["items"]]

    assert "a" in asyncio.run(names())


def test_manifests_are_enforced_from_the_start() -> None:
    with KubeApi([BINDING, NO_PRIVILEGED_NAMES]) as api:
        api.create(config_map("harmless"))
        with pytest.raises(RequestRefused) as refused:
            api.create(config_map("root-of-all"))
    assert refused.value.reason == "Invalid"
    assert str(refused.value).startswith(
        'ConfigMap `root-of-all`: configmaps "root-of-all" is forbidden: '
        "ValidatingAdmissionPolicy 'names' with binding 'names' denied request: "
    )
    assert refused.value.message == refused.value.status["message"]


def test_manifests_from_files(tmp_path: Path) -> None:
    (tmp_path / "b.yaml").write_text(
        "apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: w, namespace: made}\n---\n"
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: made}\n"
    )
    (tmp_path / "c.json").write_text(json.dumps(widgets()))
    with KubeApi([tmp_path]) as api:
        path = "/apis/example.com/v1/namespaces/made/widgets/w"
        assert api.request("GET", path)["metadata"]["uid"]


def widgets() -> dict[str, Any]:
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget"},
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


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("kind: [\n", "m.yaml:2: "),
        ("apiVersion: v1\nkind: Namespice\n", "m.yaml:1: no kind Namespice in v1"),
    ],
)
def test_manifests_that_cannot_be_read(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(text)
    with pytest.raises(ManifestError) as error:
        KubeApi([path]).start()
    assert complaint in str(error.value)


@pytest.mark.parametrize("given", ["a.yaml", Path("a.yaml"), config_map("a")], ids=repr)
def test_one_manifest_needs_no_list(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Any
) -> None:
    (tmp_path / "a.yaml").write_text(json.dumps(config_map("a")))
    monkeypatch.chdir(tmp_path)
    with KubeApi(given) as api:
        assert api.request("GET", f"{CONFIG_MAPS}/a")["metadata"]["uid"]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"apiVersion": "v1"}, "an object without `kind`: {'apiVersion': 'v1'}"),
        ({"kind": "Pod"}, "an object without `apiVersion`: {'kind': 'Pod'}"),
        ([config_map("x")], "a manifest is an object or a path, not a list"),
        (7, "a manifest is an object or a path, not an int"),
    ],
    ids=repr,
)
def test_what_is_no_manifest(api: KubeApi, given: Any, complaint: str) -> None:
    with pytest.raises(ManifestError) as error:
        api.create(given)
    assert str(error.value) == complaint


def test_a_server_that_does_not_run() -> None:
    api = KubeApi()
    for use in (api.settle, lambda: api.create(config_map("a")), lambda: api.as_user("alice")):
        with pytest.raises(RuntimeError, match="the server does not run: use `with` or `start`"):
            use()


@pytest.mark.parametrize("version", ["1.20", "1.99", "v1", ""])
def test_releases_that_are_not_known(version: str) -> None:
    with pytest.raises(ValueError, match=f"unknown version `{version}`, expected 1.30 to "):
        ServerOptions(version=version)


def test_users_may_do_what_roles_allow(api: KubeApi) -> None:
    alice = api.as_user("alice", ["devs"])
    with pytest.raises(RequestRefused) as refused:
        api.request("GET", CONFIG_MAPS, user=alice)
    assert str(refused.value) == (
        'configmaps is forbidden: User "alice" cannot list resource "configmaps" in API group "" '
        'in the namespace "default"'
    )
    api.create(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "RoleBinding",
            "metadata": {"name": "devs-view", "namespace": "default"},
            "subjects": [{"kind": "Group", "name": "devs"}],
            "roleRef": {
                "apiGroup": "rbac.authorization.k8s.io",
                "kind": "ClusterRole",
                "name": "view",
            },
        }
    )
    assert get(alice, CONFIG_MAPS)["kind"] == "ConfigMapList"


def test_requests_without_the_network(api: KubeApi) -> None:
    api.create(config_map("patched"))
    changed = api.request("PATCH", f"{CONFIG_MAPS}/patched", {"data": {"a": "1"}})
    assert changed["data"] == {"a": "1"}
    assert api.request("GET", "/readyz") == "ok"
    answer = api.handle(HttpRequest("GET", "/version"))
    assert json.loads(answer.body)["minor"] == "36"


def test_another_release() -> None:
    """It is meant as a whole: fields and kinds that it does not know, gates that are off."""
    services = "/api/v1/namespaces/default/services"
    mutations = "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
    service = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "a", "namespace": "default"},
        "spec": {"ports": [{"port": 80}], "trafficDistribution": "PreferClose"},
    }
    unknown = {**service, "spec": {**service["spec"], "nothing": 1}}  # type: ignore[dict-item]
    with KubeApi(options=ServerOptions(version="1.30")) as api:
        assert api.request("GET", "/version")["minor"] == "30"
        (created,) = api.create(service)
        assert "trafficDistribution" not in created["spec"]
        with pytest.raises(RequestRefused, match=r'unknown field "spec\.nothing"'):
            api.request("POST", f"{services}?fieldValidation=Strict", unknown)
        with pytest.raises(RequestRefused, match="could not find the requested resource"):
            api.request("GET", mutations)


def test_controllers_can_be_waited_for_and_switched_off(api: KubeApi) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "short-lived"}}
    accounts = "/api/v1/namespaces/short-lived/serviceaccounts"
    api.create(namespace)
    api.settle()
    assert [one["metadata"]["name"] for one in api.request("GET", accounts)["items"]] == ["default"]
    with KubeApi([namespace], ServerOptions(controllers=False)) as quiet:
        quiet.settle()
        assert quiet.request("GET", accounts)["items"] == []
