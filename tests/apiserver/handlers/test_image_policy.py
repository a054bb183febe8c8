"""A server whose images somebody else decides about."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from celadon.admission.plugins import ImagePolicySettings, PluginSettings
from celadon.apiserver.api_settings import Settings
from celadon.kube.resources import DEFAULT_PLUGINS
from tests.apiserver.asking import ask, said
from tests.apiserver.clientconfig.kubeconfigs import write_kubeconfig
from tests.apiserver.in_process import Running

PODS = "/api/v1/namespaces/default/pods"
POD = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


@pytest.fixture(params=[True, False])
def running(request: Any, tmp_path: Path) -> Iterator[tuple[bool, Running]]:
    """Whether images may run that nobody has decided about, and such a server; nobody decides."""
    path = str(write_kubeconfig(tmp_path / "kubeconfig", {}))
    told = ImagePolicySettings(path, 1.0, 1.0, 0.0, default_allow=request.param)
    plugins = DEFAULT_PLUGINS | {"ImagePolicyWebhook"}
    found = Running(Settings(plugins=plugins, plugin_settings=PluginSettings(image_policy=told)))
    yield request.param, found
    found.close()


def test_nobody_decides(running: tuple[bool, Running]) -> None:
    allowed, server = running
    server.settle()
    answer = ask(server, "POST", PODS, POD)
    if allowed:
        assert answer.code == 201
        key = "imagepolicywebhook.image-policy.k8s.io/failed-open"
        assert answer.audit[key] == "true"
    else:
        assert said(answer) == (
            403,
            'pods "p" is forbidden: Post "https://127.0.0.1:1?timeout=30s": dial tcp 127.0.0.1:1: '
            "connect: connection refused",
        )
    assert (
        ask(
            server, "POST", "/api/v1/namespaces/default/configmaps", {"metadata": {"name": "m"}}
        ).code
        == 201
    )
