"""Defaults for namespaces without labels, and who is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.admission.plugins import Opinion, PluginChain, PluginSettings
from celadon.admission.plugins.pod_security import SecuritySettings
from celadon.admission.plugins.pod_security_standards import LevelVersion, SecurityPolicy
from tests.admission.plugins.asking import asked, obj, pod, world

BASELINE = SecurityPolicy(LevelVersion("baseline"))
BAD = pod(hostPID=True)


def said(value: Any, settings: SecuritySettings, *, old: Any = None, **labels: str) -> Opinion:
    prefix = "pod-security.kubernetes.io/"
    space = obj("Namespace", "ns")
    space["metadata"]["labels"] = {prefix + key: one for key, one in labels.items()}
    if value is None:
        value = space
    chain = PluginChain({"PodSecurity"}, settings=PluginSettings(settings))
    return chain.validate(asked(value, old), world(space))


def notes(opinion: Opinion) -> Any:
    return {key.rpartition("/")[2]: note for key, note in opinion.audit_annotations.items()}


def test_a_namespace_without_labels_has_the_defaults() -> None:
    refused = said(BAD, SecuritySettings(BASELINE))
    assert refused.refusal is not None
    assert said(BAD, SecuritySettings(BASELINE), enforce="privileged").refusal is None
    assert said(BAD, SecuritySettings(BASELINE), audit="restricted").refusal is not None


@pytest.mark.parametrize(
    ("settings", "by"),
    [
        (SecuritySettings(BASELINE, namespaces=frozenset({"ns"})), "namespace"),
        (SecuritySettings(BASELINE, usernames=frozenset({"alice"})), "user"),
        (SecuritySettings(BASELINE, runtime_classes=frozenset({"vm"})), "runtimeClass"),
    ],
)
def test_the_exempt(settings: SecuritySettings, by: str) -> None:
    opinion = said(pod(hostPID=True, runtimeClassName="vm"), settings)
    assert opinion.refusal is None
    assert notes(opinion) == {"exempt": by}


def test_labels_of_an_exempt_namespace_mean_nothing_and_it_is_told_so() -> None:
    settings = SecuritySettings(namespaces=frozenset({"ns"}))
    assert said(None, settings, enforce="baseline", warn="restricted").warnings == (
        'namespace "ns" is exempt from Pod Security, and the policy '
        "(enforce=baseline:latest, warn=restricted:latest) will be ignored",
    )
    assert said(None, settings).warnings == ()
    changed = said(None, settings, old=obj("Namespace", "ns"), enforce="baseline")
    assert len(changed.warnings) == 1
    assert notes(changed) == {"exempt": "namespace"}
