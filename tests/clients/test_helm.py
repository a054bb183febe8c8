"""helm: a chart is installed, upgraded, rolled back and taken away."""

from __future__ import annotations

import pytest

from tests.clients.programs import Client

pytestmark = pytest.mark.thorough


def test_the_life_of_a_release(helm: Client, kubectl: Client) -> None:
    helm("create", "shop")
    assert "STATUS: deployed\n" in helm("install", "shop", "shop")
    assert helm("list", "-q") == "shop\n"
    assert kubectl("get", "deployment", "shop", "-o", "jsonpath={.spec.replicas}") == "1"
    assert "REVISION: 2\n" in helm("upgrade", "shop", "shop", "--set", "replicaCount=3")
    assert kubectl("get", "deployment", "shop", "-o", "jsonpath={.spec.replicas}") == "3"
    states = [(one["revision"], one["status"]) for one in helm.json("history", "shop")]
    assert states == [(1, "superseded"), (2, "deployed")]
    helm("rollback", "shop", "1")
    assert kubectl("get", "deployment", "shop", "-o", "jsonpath={.spec.replicas}") == "1"
    assert "kind: Deployment" in helm("get", "manifest", "shop")
    assert helm("uninstall", "shop") == 'release "shop" uninstalled\n'
    assert kubectl("get", "deployments,services,secrets", "-o", "name") == ""
