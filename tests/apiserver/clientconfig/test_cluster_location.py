from __future__ import annotations

import asyncio
import ssl
import time
from pathlib import Path

import pytest

from celadon.apiserver.clientconfig import (
    KubeconfigError,
    given_cluster,
    own_cluster,
    tls_to_cluster,
)
from tests.apiserver.clientconfig.kubeconfigs import write_kubeconfig
from tests.apiserver.http.certificates import new_authority

CONFIG = """
clusters: [{name: near, cluster: {server: 'https://near'}}, {name: far, cluster: {}}]
users: [{name: me, user: {token: t}}]
contexts:
- {name: a, context: {cluster: near, user: me, namespace: mine}}
- {name: b, context: {cluster: near}}
- {name: no-cluster, context: {cluster: nowhere, user: me}}
- {name: no-server, context: {cluster: far, user: me}}
- {name: no-user, context: {cluster: near, user: nobody}}
current-context: a
"""


def test_a_context_pairs_a_cluster_with_a_user(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(CONFIG)
    found = given_cluster(path, "", {}, time.time)
    assert found.cluster.server == "https://near"
    assert found.namespace == "mine"
    assert asyncio.run(found.credentials.headers()) == ((b"Authorization", b"Bearer t"),)
    other = given_cluster(None, "b", {"KUBECONFIG": f"{tmp_path}/none:{path}"}, time.time)
    assert other.namespace == "default"
    assert asyncio.run(other.credentials.headers()) == ()


@pytest.mark.parametrize(
    ("context", "message"),
    [
        ("other", "the kubeconfig has no context `other`"),
        ("no-cluster", "the kubeconfig has no cluster `nowhere`"),
        ("no-server", "the kubeconfig has no cluster `far`"),
        ("no-user", "the kubeconfig has no user `nobody`"),
    ],
)
def test_contexts_that_lead_nowhere(context: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(CONFIG)
    with pytest.raises(KubeconfigError, match=message):
        given_cluster(path, context, {}, time.time)


@pytest.mark.parametrize(
    ("server", "is_one"),
    [
        ("https://[::1]:6443/a", True),
        ("http://h", True),
        ("h:6443", False),
        ("ftp://h", False),
        ("file:///etc/passwd", False),
        ("http://h:99999999", False),
        ("http://h:x", False),
        ("http://[::1", False),
        ("http://\u202e", False),
    ],
)
def test_servers(server: str, *, is_one: bool, tmp_path: Path) -> None:
    path = write_kubeconfig(tmp_path / "config", {}, server=server)
    if is_one:
        assert given_cluster(path, "", {}, time.time).cluster.server == server
    else:
        with pytest.raises(KubeconfigError, match="is no URL of http or https"):
            given_cluster(path, "", {}, time.time)


def test_no_context_at_all(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("users: []")
    with pytest.raises(KubeconfigError, match=r"`.*`: no context is chosen"):
        given_cluster(path, "", {}, time.time)


def test_the_usual_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".kube").mkdir()
    write_kubeconfig(tmp_path / ".kube" / "config", {})
    assert given_cluster(None, "", {}, time.time).cluster.server == "https://127.0.0.1:1"


def test_a_pod_finds_its_own_cluster(tmp_path: Path) -> None:
    variables = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    assert own_cluster(variables, time.time, tmp_path) is None
    (tmp_path / "token").write_text("t")
    with pytest.raises(KubeconfigError, match=r"ca.crt`: no such file"):
        own_cluster(variables, time.time, tmp_path)
    (tmp_path / "ca.crt").write_text("authority")
    (tmp_path / "namespace").write_text("mine\n")
    assert own_cluster({}, time.time, tmp_path) is None
    found = own_cluster(variables, time.time, tmp_path)
    assert found is not None
    assert (found.cluster.server, found.namespace) == ("https://[fd00::1]:443", "mine")
    assert found.cluster.authority == b"authority"
    with pytest.raises(KubeconfigError, match="is not a certificate"):
        asyncio.run(tls_to_cluster(found))


def test_whom_to_trust(tmp_path: Path) -> None:
    # What stands beside a certificate may be in any encoding.
    (tmp_path / "ca").write_bytes(b"# Certificaci\xf3n\n" + new_authority().certificate)
    for insecure, mode in ((False, ssl.CERT_REQUIRED), (True, ssl.CERT_NONE)):
        cluster = {"certificate-authority": "ca", "insecure-skip-tls-verify": insecure}
        path = write_kubeconfig(tmp_path / "config", {}, **cluster)
        context = asyncio.run(tls_to_cluster(given_cluster(path, "", {}, time.time)))
        assert context.verify_mode is mode
        assert len(context.get_ca_certs()) == 1
