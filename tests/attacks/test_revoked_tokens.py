"""A token that is revoked ends what was begun with it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from celadon.apiserver.authz import authorizer_chain
from celadon.apiserver.handlers import watch
from tests.apiserver.asking import ask, make, read
from tests.apiserver.in_process import Running

ACCOUNT = "/api/v1/namespaces/default/serviceaccounts/robot"
SECRETS = "/api/v1/namespaces/default/secrets"
POD = "/api/v1/namespaces/default/pods/p"
BINDING = {
    "metadata": {"name": "robot"},
    "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io",
        "kind": "ClusterRole",
        "name": "cluster-admin",
    },
    "subjects": [{"kind": "ServiceAccount", "name": "robot", "namespace": "default"}],
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    for module in (authorizer_chain, watch):
        monkeypatch.setattr(module, "STANDING_SECONDS", 0.0)
    running = Running()
    make(running, ACCOUNT.rpartition("/")[0], {"metadata": {"name": "robot"}})
    make(running, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", BINDING)
    pod = {
        "metadata": {"name": "p"},
        "spec": {"serviceAccountName": "robot", "containers": [{"name": "c", "image": "i"}]},
    }
    make(running, POD.rpartition("/")[0], pod)
    yield running
    running.close()


def token(server: Running, spec: dict[str, Any]) -> str:
    found: str = make(server, f"{ACCOUNT}/token", {"spec": spec})["status"]["token"]
    return found


@pytest.mark.parametrize("gone", [ACCOUNT, POD])
def test_a_watch_ends_with_what_its_token_was_for(server: Running, gone: str) -> None:
    pod = read(ask(server, "GET", POD))
    bound = {"kind": "Pod", "name": "p", "uid": pod["metadata"]["uid"]}
    shown = token(server, {} if gone == ACCOUNT else {"boundObjectRef": bound})
    other = ask(server, "GET", f"{SECRETS}?watch=1")
    opened = ask(server, "GET", f"{SECRETS}?watch=1", token=shown)
    assert opened.stream is not None
    assert other.stream is not None
    robots, admins = server.lines(opened.stream), server.lines(other.stream)
    make(server, SECRETS, {"metadata": {"name": "before"}})
    assert b"before" in robots.readline()
    assert b"before" in admins.readline()
    deleted = ask(server, "DELETE", gone, {"gracePeriodSeconds": 0})
    assert deleted.code == 200
    make(server, SECRETS, {"metadata": {"name": "after"}})
    assert b"after" in admins.readline()
    assert robots.readline() == b""
    assert ask(server, "GET", SECRETS, token=shown).code == 401
    admins.close()
