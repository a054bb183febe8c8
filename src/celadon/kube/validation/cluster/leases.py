"""Leases, and those who want one.

As k8s.io/kubernetes `pkg/apis/coordination/validation`. What is wrong with a strategy is said of
`spec.strategy.strategy`.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.kube import fieldpath, semver
from celadon.kube.fieldpath import NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.name_rules import qualified_name
from celadon.kube.validation.field_checks import SPEC, Errors, each, supported
from celadon.kube.validation.field_rules import changed_fields

OLDEST: Final = "OldestEmulationVersion"
NO_VERSION: Final = "must be a valid semantic version"
_UNSET: Final = semver.Version(0, 0, 0).precedence()
"""What a version is to upstream that is not given, or none."""


def _strategy(strategy: str) -> Errors:
    at = SPEC.child("strategy", "strategy")
    if "/" in strategy:
        yield from each(at, NamedText(strategy), qualified_name(strategy))
    else:
        yield from supported(at, strategy, [OLDEST])


def lease_candidate(obj: JsonObject) -> Errors:
    """What is wrong with a LeaseCandidate, besides its metadata."""
    spec = obj.get("spec") or {}
    if not spec.get("leaseName"):
        yield fieldpath.required(SPEC.child("leaseName"))
    emulated, binary = spec.get("emulationVersion") or "", spec.get("binaryVersion") or ""
    at = SPEC.child("binaryVersion")
    if emulated and _version(emulated) is None:
        yield fieldpath.invalid(SPEC.child("emulationVersion"), emulated, NO_VERSION)
    if not binary:
        yield fieldpath.required(at)
    elif _version(binary) is None:
        yield fieldpath.invalid(at, binary, NO_VERSION)
    lowest = _precedence(emulated)
    if binary and emulated and _precedence(binary) < lowest:
        why = "must be greater than or equal to `emulationVersion`"
        yield fieldpath.invalid(at, binary, why)
    strategy = spec.get("strategy") or ""
    if not strategy:
        yield fieldpath.required(SPEC.child("strategy"))
        return
    if strategy == OLDEST and lowest == _UNSET:
        why = f"must be specified when `strategy` is '{OLDEST}'"
        yield fieldpath.required(SPEC.child("emulationVersion"), why)
    yield from _strategy(strategy)


def _version(text: str) -> semver.Version | None:
    """None for what is no version."""
    try:
        return semver.parse(text)
    except semver.SemverError:
        return None


def _precedence(text: str) -> tuple[Any, ...]:
    """That of the lowest version for what is no version."""
    found = _version(text)
    return _UNSET if found is None else found.precedence()


def lease_candidate_update(obj: JsonObject, old: JsonObject) -> Errors:
    """The lease that is wanted stays."""
    yield from lease_candidate(obj)
    new, before = (one.get("spec") or {} for one in (obj, old))
    yield from changed_fields("coordination.v1alpha2.LeaseCandidateSpec", new, before, SPEC)
