"""Gates, as kube-apiserver reads them."""

from __future__ import annotations

import pytest

from celadon.admission.static import GATE
from celadon.kube.schemas import packs
from celadon.serve.api_settings import Settings
from celadon.serve.operation.feature_gates import (
    ALPHA,
    BETA,
    KNOWN,
    LOCKED,
    ON,
    feature_gates,
)
from tests.serve.asking import ask, read
from tests.serve.in_process import Running


@pytest.mark.parametrize(
    ("text", "gates"),
    [
        ("", {}),
        ("WatchList=true", {}),
        ("WatchList=false, StorageVersionAPI=T", {"StorageVersionAPI": True, "WatchList": False}),
        ("DeclarativeValidation=true", {}),
        ("WatchList=false,WatchList=true", {}),
        ("AllAlpha=false,AllBeta=true,StorageVersionMigrator=false",
         dict.fromkeys(BETA - ON - {"StorageVersionMigrator"}, True)),
        ("QOSReserved=false,AllAlpha=true", dict.fromkeys(ALPHA - {"QOSReserved"}, True)),
    ],
)  # fmt: skip
def test_what_is_not_as_by_default(text: str, gates: dict[str, bool]) -> None:
    assert feature_gates(text) == gates


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("Nobody=true", "unrecognized feature gate: Nobody"),
        ("WatchList", "missing bool value for WatchList"),
        ("WatchList=maybe", 'invalid value of WatchList=maybe, err: strconv.ParseBool: parsing "m'),
        (
            "SidecarContainers=false",
            "cannot set feature gate SidecarContainers to false, feature is locked to true",
        ),
    ],
)
def test_what_nobody_can_mean(text: str, message: str) -> None:
    with pytest.raises(ValueError, match="^" + message.replace("(", r"\(")):
        feature_gates(text)


def test_a_release_does_not_know_the_gates_of_the_next() -> None:
    assert feature_gates("ManifestBasedAdmissionControlConfig=true", "1.36") == {GATE: True}
    with pytest.raises(ValueError, match=f"^unrecognized feature gate: {GATE}$"):
        feature_gates("ManifestBasedAdmissionControlConfig=true", "1.35")
    assert GATE in feature_gates("AllAlpha=true", "1.36")
    assert GATE not in feature_gates("AllAlpha=true", "1.35")


def test_a_gate_that_is_on_now_was_off_before() -> None:
    strict = "StrictIPCIDRValidation"
    assert feature_gates(f"{strict}=false") == {strict: False}
    assert feature_gates(f"{strict}=true") == {}
    assert feature_gates(f"{strict}=true", "1.35") == {strict: True}
    assert feature_gates("AllAlpha=true", "1.35")[strict]
    assert strict not in feature_gates("AllAlpha=true", "1.36")
    assert not feature_gates("AllBeta=false")[strict]


def test_each_gate_is_of_one_sort_and_defaulting_knows_no_other() -> None:
    assert not ALPHA & (BETA | ON)
    assert not BETA & LOCKED
    pack = packs.load("defaults")
    assert pack["gates"].keys() <= KNOWN
    assert {name for name, on in pack["gates"].items() if on} == pack["gates"].keys() & ON
    assert set(pack["allBeta"]) <= BETA - ON


def test_a_gate_changes_what_is_filled_in() -> None:
    claim = {
        "metadata": {"name": "s"},
        "spec": {
            "serviceName": "s",
            "selector": {"matchLabels": {"a": "b"}},
            "template": {
                "metadata": {"labels": {"a": "b"}},
                "spec": {"containers": [{"name": "c", "image": "i"}]},
            },
        },
    }
    path = "/apis/apps/v1/namespaces/default/statefulsets"
    found = []
    for text in ("", "MaxUnavailableStatefulSet=true"):
        running = Running(Settings(gates=feature_gates(text)))
        try:
            made = read(ask(running, "POST", path, claim))
            found.append(made["spec"]["updateStrategy"]["rollingUpdate"].get("maxUnavailable"))
        finally:
            running.close()
    assert found == [None, 1]
