"""The server's own Service, when somebody deletes it."""

from __future__ import annotations

from typing import Any

from tests.apiserver.asking import ask, read
from tests.apiserver.in_process import Running

SERVICE = "/api/v1/namespaces/default/services/kubernetes"


def lasting(obj: dict[str, Any]) -> dict[str, Any]:
    """Without what each object has of its own."""
    own = ("uid", "resourceVersion", "creationTimestamp")
    kept = {key: value for key, value in obj["metadata"].items() if key not in own}
    for entry in kept["managedFields"]:
        del entry["time"]
    return {**obj, "metadata": kept}


def test_it_comes_back(running: Running) -> None:
    before = read(ask(running, "GET", SERVICE))
    assert ask(running, "DELETE", SERVICE).code == 200
    running.settle()
    after = read(ask(running, "GET", SERVICE))
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    assert lasting(after) == lasting(before)
    assert ask(running, "GET", "/apis/networking.k8s.io/v1/ipaddresses/10.0.0.1").code == 200
