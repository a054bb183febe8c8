"""What a new server has that depends on where it is, and whom it trusts."""

from __future__ import annotations

import pytest

from celadon.apiserver.assembly import objects_of_server
from tests.apiserver.asking import ask, read
from tests.apiserver.in_process import Running

NOW = "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("address", "endpoints"),
    [
        ("127.0.0.1:6443", []),
        ("0.0.0.0:6443", []),
        ("localhost:6443", []),
        ("192.0.2.1:7443", [("Endpoints", 7443), ("EndpointSlice", 7443)]),
        ("[2001:db8::1]:443", [("Endpoints", 443), ("EndpointSlice", 443)]),
    ],
)
def test_the_way_to_a_server_that_others_can_reach(
    address: str, endpoints: list[tuple[str, int]]
) -> None:
    network, trusted, *found = objects_of_server(address, "PEM", NOW)
    assert network["spec"] == {"cidrs": ["10.0.0.0/24"]}
    assert trusted["data"] == {"client-ca-file": "PEM"}
    ports = [(one.get("subsets") or [one])[0]["ports"][0]["port"] for one in found]
    assert list(zip((one["kind"] for one in found), ports, strict=True)) == endpoints


def test_a_server_has_its_network(running: Running) -> None:
    found = read(ask(running, "GET", "/apis/networking.k8s.io/v1/servicecidrs/kubernetes"))
    (ready,) = found["status"]["conditions"]
    assert (ready["type"], ready["status"]) == ("Ready", "True")
    ours = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
    assert ask(running, "GET", ours).code == 200
