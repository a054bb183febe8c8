"""kubectl beside an extension server, through `celadon serve`."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.apiserver.aggregation.before import API_SERVICES, OWN, SERVICES
from tests.apiserver.aggregation.extension_server import (
    ROOT,
    Certificates,
    ExtensionServer,
    api_service,
    service,
)
from tests.apiserver.served_process import Served

_BESIDE = Path(sys.executable).with_name("kubectl")
KUBECTL = str(_BESIDE) if _BESIDE.exists() else shutil.which("kubectl")

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(KUBECTL is None, reason="there is no kubectl"),
]


def kubectl(served: Served, *arguments: str, code: int = 0) -> str:
    assert KUBECTL is not None
    environment = {"HOME": str(served.folder), "KUBECONFIG": str(served.kubeconfig)}
    ran = subprocess.run(
        [KUBECTL, *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=120,
    )
    assert ran.returncode == code, ran.stderr
    return ran.stdout + ran.stderr


def test_metrics(
    served: Callable[..., Served], certificates: Certificates, extension: ExtensionServer
) -> None:
    running = served()
    assert running.call("POST", SERVICES, service(extension.port))[0] == 201
    made = api_service(extension.port, caBundle=certificates.bundle)
    assert running.call("POST", API_SERVICES, made)[0] == 201
    name = made["metadata"]["name"]
    kubectl(running, "wait", "--for=condition=Available", "--timeout=60s", f"apiservice/{name}")
    lines = [line.split()[:3] for line in kubectl(running, "get", "apiservices").splitlines()]
    assert ["v1.apps", "Local", "True"] in lines
    assert [name, "kube-system/metrics-server", "True"] in lines
    assert "NodeMetrics" in kubectl(running, "api-resources", "--api-group=metrics.k8s.io")
    assert json.loads(kubectl(running, "get", "--raw", f"{ROOT}/nodes"))["items"]
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "one"},
        "status": {"allocatable": {"cpu": "1", "memory": "1Gi"}},
    }
    assert running.call("POST", "/api/v1/nodes", node)[0] == 201
    assert "250m" in kubectl(running, "top", "nodes")
    maps = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
    assert running.call("GET", maps)[1]["data"] == {
        "requestheader-allowed-names": '["front-proxy-client"]',
        "requestheader-client-ca-file": certificates.authority.read_text(),
        "requestheader-extra-headers-prefix": '["X-Remote-Extra-"]',
        "requestheader-group-headers": '["X-Remote-Group"]',
        "requestheader-username-headers": '["X-Remote-User"]',
    }


def test_a_server_that_is_gone(served: Callable[..., Served], extension: ExtensionServer) -> None:
    running = served()
    assert running.call("POST", API_SERVICES, api_service(extension.port))[0] == 201
    name = OWN.rpartition("/")[2]
    reason = "jsonpath={.status.conditions[0].reason}=ServiceNotFound"
    kubectl(running, "wait", f"--for={reason}", "--timeout=60s", f"apiservice/{name}")
    assert "False (ServiceNotFound)" in kubectl(running, "get", "apiservice", name)
    assert "metrics" not in kubectl(running, "api-resources")
    raw = kubectl(running, "get", "--raw", f"{ROOT}/nodes", code=1)
    assert "Error from server (ServiceUnavailable)" in raw
