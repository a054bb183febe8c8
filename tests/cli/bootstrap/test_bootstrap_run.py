"""Which changes break what a request is for."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission import Operation
from celadon.cli.bootstrap.bootstrap_report import Harm, harm
from celadon.cli.bootstrap.cluster_startup import Sending, actors

POD = {
    "spec": {
        "hostNetwork": True,
        "tolerations": [{"operator": "Exists"}, {"key": "a"}],
        "containers": [{"name": "a"}, {"name": "b", "command": ["run"]}],
    }
}


def _changed(**spec: Any) -> dict[str, Any]:
    return {"spec": {**POD["spec"], **spec}}


@pytest.mark.parametrize(
    ("after", "found"),
    [
        (POD, None),
        (_changed(nodeName="a"), None),
        (_changed(tolerations=[{"key": "a", "value": "x"}, {"operator": "Exists"}]), None),
        (_changed(hostNetwork=False), Harm("spec.hostNetwork", True, False)),
        (
            _changed(tolerations=[{"key": "a"}]),
            Harm("spec.tolerations", POD["spec"]["tolerations"], [{"key": "a"}]),
        ),
        (
            _changed(containers=[{"name": "a"}, {"name": "b", "command": []}]),
            Harm("spec.containers.1.command", ["run"], []),
        ),
        (_changed(containers=[{"name": "a"}]), Harm("spec.containers.1.command", ["run"], None)),
    ],
)
def test_harm(after: dict[str, Any], found: Harm | None) -> None:
    sending = Sending(
        "pod",
        actors()["scheduler"],
        Operation.CREATE,
        keeps=("spec/tolerations", "spec/volumes"),
        unchanged=("spec/hostNetwork", "spec/containers/*/command"),
    )
    assert harm(sending, POD, after) == found
