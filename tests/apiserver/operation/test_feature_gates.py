"""Gates, as kube-apiserver reads them."""

from __future__ import annotations

import pytest

from celadon.admission.static_manifests import GATE
from celadon.apiserver.api_settings import Settings
from celadon.apiserver.operation.runtime_config import feature_gates
from celadon.kube.resources.feature_gates import ALPHA, BETA, FeatureGate, gates_of
from celadon.kube.schemas import schema_packs
from celadon.kube.validation.field_checks import (
    CONSUMABLE_CAPACITY,
    RELAXED_SERVICE_NAMES,
    STRICT_ADDRESSES,
)
from tests.apiserver.asking import ask, read
from tests.apiserver.in_process import Running

DRA = "DynamicResourceAllocation"
KNOWN = gates_of("1.36")


def _off(stage: str) -> set[str]:
    groups = {"AllAlpha", "AllBeta"}
    return {name for name, gate in KNOWN.items() if gate.stage == stage and not gate.on} - groups


@pytest.mark.parametrize(
    ("text", "gates"),
    [
        ("", {}),
        ("WatchList=true", {}),
        ("WatchList=false, StorageVersionAPI=T", {"StorageVersionAPI": True, "WatchList": False}),
        ("DeclarativeValidation=true", {}),
        ("WatchList=false,WatchList=true", {}),
        ("AllAlpha=false,AllBeta=true,StorageVersionMigrator=false",
         dict.fromkeys(_off(BETA) - {"StorageVersionMigrator"}, True)),
        ("QOSReserved=false,AllAlpha=true", dict.fromkeys(_off(ALPHA) - {"QOSReserved"}, True)),
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


@pytest.mark.parametrize(
    ("name", "release", "gate"),
    [
        ("DRAConsumableCapacity", "1.33", None),
        ("DRAConsumableCapacity", "1.34", FeatureGate("alpha", on=False, locked=False)),
        ("DRAConsumableCapacity", "1.36", FeatureGate("beta", on=True, needs=(DRA,))),
        ("ImageVolume", "1.36", FeatureGate("ga", on=True, locked=True)),
        ("DRADeviceTaintRules", "1.36", FeatureGate("beta", on=False, needs=("DRADeviceTaints",))),
        ("GitRepoVolumeDriver", "1.36", FeatureGate("deprecated", on=False, locked=True)),
        ("HonorPVReclaimPolicy", "1.35", FeatureGate("ga", on=True, locked=True)),
        ("HonorPVReclaimPolicy", "1.36", None),
        ("LoggingBetaOptions", "1.36", FeatureGate("beta", on=True, locked=False)),
        ("InOrderInformers", "1.36", FeatureGate("ga", on=True, locked=True)),
        ("CRDObservedGenerationTracking", "1.36", FeatureGate("beta", on=True, locked=False)),
    ],
)
def test_what_a_release_says_of_a_gate(name: str, release: str, gate: FeatureGate | None) -> None:
    assert gates_of(release).get(name) == gate


def test_a_gate_is_locked_to_what_it_is() -> None:
    message = "^cannot set feature gate GitRepoVolumeDriver to true, feature is locked to false$"
    with pytest.raises(ValueError, match=message):
        feature_gates("GitRepoVolumeDriver=true", "1.36")
    assert feature_gates("GitRepoVolumeDriver=true", "1.35") == {"GitRepoVolumeDriver": True}


def test_gates_of_what_is_emulated() -> None:
    early = (
        "cannot set feature gate HostnameOverride to true, "
        "feature is PreAlpha at emulated version 1.33"
    )
    with pytest.raises(ValueError, match=f"^{early}, min compatibility version 1.32$"):
        feature_gates("HostnameOverride=true", "1.36", "1.33")
    with pytest.raises(ValueError, match=f"^{early}$"):
        feature_gates("HostnameOverride=true", "1.34", "1.33")
    assert feature_gates("HostnameOverride=true", "1.36", "1.34") == {"HostnameOverride": True}
    assert feature_gates("HostnameOverride=true", "1.36") == {}
    with pytest.raises(ValueError, match="unrecognized feature gate: HonorPV"):
        feature_gates("HonorPVReclaimPolicy=true", "1.36", "1.35")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("kube:WatchList=false,kube:StorageVersionAPI=true", ""),
        ("kube:WatchList=false,StorageVersionAPI=true",
         "set kube feature gates with default empty prefix or kube: prefix consistently, "
         "do not mix use"),
        ("other:WatchList=false", "component not registered: other"),
    ],
)  # fmt: skip
def test_gates_may_have_the_component_before_them(text: str, message: str) -> None:
    if not message:
        assert feature_gates(text) == {"StorageVersionAPI": True, "WatchList": False}
        return
    with pytest.raises(ValueError, match=f"^{message}$"):
        feature_gates(text)


def test_the_first_release_knows_no_components() -> None:
    with pytest.raises(ValueError, match="unrecognized feature gate: kube:WatchList"):
        feature_gates("kube:WatchList=true", "1.30")


def test_defaulting_and_validation_take_the_same_gates_to_be_on() -> None:
    pack = schema_packs.load("defaults")
    assert pack["gates"] == {name: KNOWN[name].on for name in pack["gates"]}
    assert set(pack["allBeta"]) <= _off(BETA)
    for name in (CONSUMABLE_CAPACITY, RELAXED_SERVICE_NAMES, STRICT_ADDRESSES):
        assert gates_of("1.36")[name].on
        assert not gates_of("1.35")[name].on


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
