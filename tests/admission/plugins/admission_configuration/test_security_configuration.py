"""Defaults and exemptions of the Pod Security Standards."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins.admission_configuration import BadConfiguration, security_settings
from celadon.admission.plugins.pod_security_standards import LevelVersion

API = {
    "apiVersion": "pod-security.admission.config.k8s.io/v1",
    "kind": "PodSecurityConfiguration",
}


def test_settings() -> None:
    found = security_settings(
        {
            **API,
            "defaults": {"enforce": "baseline", "enforce-version": "v1.30", "warn": "restricted"},
            "exemptions": {"namespaces": ["kube-system"], "usernames": ["u"]},
        }
    )
    assert found.defaults.enforce == LevelVersion("baseline", 30)
    assert found.defaults.warn == LevelVersion("restricted")
    assert found.defaults.audit == LevelVersion()
    assert found.namespaces == frozenset({"kube-system"})
    assert found.usernames == frozenset({"u"})
    assert not found.runtime_classes


@pytest.mark.parametrize(
    ("part", "why"),
    [
        (
            {"defaults": {"enforce": "strict", "audit-version": "1.30"}},
            '[defaults.enforce: Invalid value: "strict": must be one of privileged, baseline, '
            'restricted, defaults.audit-version: Invalid value: "1.30": '
            'must be "latest" or "v1.x"]',
        ),
        (
            {"exemptions": {"usernames": ["a", "", "a"]}},
            "[exemptions.usernames[1]: Required value, "
            'exemptions.usernames[2]: Duplicate value: "a"]',
        ),
        ({"exemptions": {"namespaces": ["A"]}}, 'exemptions.namespaces[0]: Invalid value: "A": '),
        ({"exemptions": []}, None),
        ({"exemptions": ["a"]}, "exemptions: an object is expected"),
    ],
)
def test_what_is_wrong(part: Any, why: str | None) -> None:
    if why is None:
        assert not security_settings({**API, **part}).usernames
        return
    with pytest.raises(BadConfiguration) as raised:
        security_settings({**API, **part})
    assert str(raised.value).startswith(why)
