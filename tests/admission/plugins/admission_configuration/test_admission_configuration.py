"""Which part of a configuration is for which plugin."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins import PluginSettings
from celadon.admission.plugins.admission_configuration import BadConfiguration, plugin_settings

LIMITS = {
    "apiVersion": "eventratelimit.admission.k8s.io/v1alpha1",
    "kind": "Configuration",
    "limits": [{"type": "Server", "qps": 5, "burst": 7}],
}


def configuration(*plugins: Any) -> Any:
    version = "apiserver.config.k8s.io/v1"
    return {"apiVersion": version, "kind": "AdmissionConfiguration", "plugins": list(plugins)}


def read(document: Any, **files: Any) -> PluginSettings:
    return plugin_settings(document, files.__getitem__)


def test_a_part_stands_in_the_entry_or_in_a_file() -> None:
    inside = read(configuration({"name": "EventRateLimit", "configuration": LIMITS}))
    beside = read(configuration({"name": "EventRateLimit", "path": "limits"}), limits=LIMITS)
    assert inside == beside
    assert [one.burst for one in inside.event_limits] == [7]
    assert inside.configured == {"EventRateLimit"}


def test_nothing_said_is_nothing_told() -> None:
    assert read(configuration()) == PluginSettings()
    assert not read(configuration({"name": "AlwaysAdmit", "configuration": {}})).configured


def test_the_first_entry_counts() -> None:
    other = {**LIMITS, "limits": [{"type": "User", "qps": 1, "burst": 1}]}
    entries = ({"name": "EventRateLimit", "configuration": one} for one in (LIMITS, other))
    assert [one.type for one in read(configuration(*entries)).event_limits] == ["Server"]


@pytest.mark.parametrize(
    ("document", "why"),
    [
        (None, "no object of kind AdmissionConfiguration"),
        (
            {"kind": "Pod", "apiVersion": "v1"},
            "AdmissionConfiguration of apiserver.config.k8s.io/v1 or apiserver.k8s.io/v1alpha1 is "
            "expected, not Pod of v1",
        ),
        (configuration("EventRateLimit"), "plugins: a list of objects is expected"),
        (
            configuration({"name": "EventRateLimit"}),
            "configuration of EventRateLimit: no object of kind Configuration",
        ),
        (
            configuration({"name": "EventRateLimit", "configuration": {**LIMITS, "limits": []}}),
            "configuration of EventRateLimit: limits: Invalid value: []: must not be empty",
        ),
    ],
)
def test_what_is_wrong(document: Any, why: str) -> None:
    with pytest.raises(BadConfiguration) as raised:
        read(document)
    assert str(raised.value) == why
