"""Limits of events."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins import EventLimit
from celadon.admission.plugins.admission_configuration import BadConfiguration, event_limits

API = {"apiVersion": "eventratelimit.admission.k8s.io/v1alpha1", "kind": "Configuration"}


def test_limits() -> None:
    given = [
        {"type": "Namespace", "qps": 50, "burst": 100, "cacheSize": 2000},
        {"type": "User", "qps": 10, "burst": 50},
    ]
    assert event_limits({**API, "limits": given}) == (
        EventLimit("Namespace", 50, 100, 2000),
        EventLimit("User", 10, 50, 4096),
    )


@pytest.mark.parametrize(
    ("limit", "why"),
    [
        (
            {"type": "Pod", "qps": 1, "burst": 1},
            'limits[0].type: Unsupported value: "Pod": supported values: "Namespace", "Server", '
            '"SourceAndObject", "User"',
        ),
        (
            {"type": "Server", "qps": True},
            "[limits[0].burst: Invalid value: 0: must be positive, "
            "limits[0].qps: Invalid value: 0: must be positive]",
        ),
        (
            {"type": "User", "qps": 1, "burst": 1, "cacheSize": -1},
            "limits[0].cacheSize: Invalid value: -1: must not be negative",
        ),
    ],
)
def test_what_is_wrong(limit: Any, why: str) -> None:
    with pytest.raises(BadConfiguration) as raised:
        event_limits({**API, "limits": [limit]})
    assert str(raised.value) == why
