"""Requests that come through another front proxy, over real TLS."""

from __future__ import annotations

import json
import ssl
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.apiserver.aggregation.extension_server import Certificates
from tests.apiserver.served_process import WHOAMI, Served

pytestmark = pytest.mark.thorough

ALICE = {
    "X-Remote-User": "alice",
    "X-Remote-Group": "devs",
    "X-Remote-Extra-Scopes": "a",
}
NOBODY = "system:anonymous"


def asked(served: Served, pair: tuple[Path, Path] | None, headers: dict[str, str]) -> Any:
    """What the server says who asks; its code where it refuses."""
    served.tls = ssl.create_default_context(cadata=served.trusted().decode())
    if pair is not None:
        served.tls.load_cert_chain(*pair)
    connection = served.connection()
    review = {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
    connection.request("POST", WHOAMI, json.dumps(review), headers)
    answer = connection.getresponse()
    found = json.loads(answer.read())
    connection.close()
    return found["status"]["userInfo"] if answer.status == 201 else answer.status


def test_who_is_believed(
    served: Callable[..., Served], certificates: Certificates, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    others = Certificates(tmp_path / "other", "clients-ca")
    running = served("--client-ca-file", str(others.authority), "--authorization-mode=AlwaysAllow")
    proxy = certificates.pair("front-proxy-client")
    assert asked(running, proxy, ALICE) == {
        "username": "alice",
        "groups": ["devs", "system:authenticated"],
        "extra": {"scopes": ["a"]},
    }
    assert asked(running, None, ALICE)["username"] == NOBODY
    assert asked(running, others.pair("front-proxy-client"), ALICE)["username"] == (
        "front-proxy-client"
    )
    assert asked(running, certificates.pair("another"), ALICE) == 401
    assert asked(running, proxy, {}) == 401
    token = {"Authorization": f"Bearer {running.token}"}
    assert "system:masters" in asked(running, proxy, token)["groups"]
    assert asked(running, proxy, {**token, **ALICE})["username"] == "alice"
