"""Validation of Leases and LeaseCandidates.

As k8s.io/kubernetes `pkg/apis/coordination/validation`. What is wrong with a strategy is said of
`spec.strategy.strategy`.
"""

from __future__ import annotations

from typing import Any, Final

from celadon.kube import fieldpath
from celadon.kube.fieldpath import FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.library import semver
from celadon.kube.name_rules import qualified_name
from celadon.kube.releases import is_since
from celadon.kube.validation.field_checks import (
    SPEC,
    Errors,
    broken_rules,
    changed_fields,
    each,
    items,
    supported,
)

OLDEST: Final = "OldestEmulationVersion"
NO_VERSION: Final = "must be a valid semantic version"
_NEEDED: Final = f"must be specified when `strategy` is '{OLDEST}'"
_UNSET: Final = semver.Version(0, 0, 0).precedence()
"""What a version is to upstream that is not given, or none."""


def _strategy(path: FieldPath, strategy: str) -> Errors:
    # As `ValidateCoordinatedLeaseStrategy` of `pkg/apis/coordination/validation`.
    strategy_path = path.child("strategy")
    if "/" in strategy:
        yield from each(strategy_path, NamedText(strategy), qualified_name(strategy))
    else:
        yield from supported(strategy_path, strategy, [OLDEST])


def lease(obj: JsonObject) -> Errors:
    """Yield what is wrong with a Lease, besides its metadata."""
    # As `ValidateLeaseSpec` of `pkg/apis/coordination/validation`.
    spec = obj.get("spec") or {}
    yield from broken_rules("coordination.v1.Lease", obj, FieldPath())
    if spec.get("strategy") is not None:
        yield from _strategy(SPEC.child("strategy"), spec["strategy"])
    if spec.get("preferredHolder") and not spec.get("strategy"):
        detail = "may only be specified if `strategy` is defined"
        yield fieldpath.forbidden(SPEC.child("preferredHolder"), detail)


def lease_candidate(obj: JsonObject) -> Errors:
    """Yield what is wrong with a LeaseCandidate, besides its metadata."""
    # As `ValidateLeaseCandidate` of `pkg/apis/coordination/validation`.
    spec = obj.get("spec") or {}
    if not spec.get("leaseName"):
        yield fieldpath.required(SPEC.child("leaseName"))
    emulated, binary = spec.get("emulationVersion") or "", spec.get("binaryVersion") or ""
    path = SPEC.child("binaryVersion")
    if emulated and _version(emulated) is None:
        yield fieldpath.invalid(SPEC.child("emulationVersion"), emulated, NO_VERSION)
    if not binary and is_since("1.32"):
        yield fieldpath.required(path)
    elif binary and _version(binary) is None:
        yield fieldpath.invalid(path, binary, NO_VERSION)
    lowest = _precedence(emulated)
    if binary and emulated and _precedence(binary) < lowest:
        detail = "must be greater than or equal to `emulationVersion`"
        yield fieldpath.invalid(path, binary, detail)
    if not is_since("1.32"):
        yield from _preferred(spec, binary, emulated)
        return
    strategy = spec.get("strategy") or ""
    if not strategy:
        yield fieldpath.required(SPEC.child("strategy"))
        return
    if strategy == OLDEST and lowest == _UNSET:
        yield fieldpath.required(SPEC.child("emulationVersion"), _NEEDED)
    yield from _strategy(SPEC.child("strategy"), strategy)


def _preferred(spec: JsonObject, binary: str, emulated: str) -> Errors:
    """Check the strategies of 1.31, of which a candidate had several."""
    versions = {"binaryVersion": binary, "emulationVersion": emulated}
    for path, strategy in items(spec, "preferredStrategies", SPEC):
        for field, version in versions.items():
            if strategy == OLDEST and _precedence(version) == _UNSET:
                yield fieldpath.required(SPEC.child(field), _NEEDED)
        yield from _strategy(path, strategy)


def _version(text: str) -> semver.Version | None:
    """Return a version; None for what is no version."""
    try:
        return semver.parse(text)
    except semver.SemverError:
        return None


def _precedence(text: str) -> tuple[Any, ...]:
    """Return the precedence of a version: that of the lowest for what is no version."""
    version = _version(text)
    return _UNSET if version is None else version.precedence()


def lease_candidate_update(obj: JsonObject, old: JsonObject) -> Errors:
    """Yield what is wrong with a changed LeaseCandidate: the name of its lease stays."""
    # As `ValidateLeaseCandidateUpdate` of `pkg/apis/coordination/validation`.
    yield from lease_candidate(obj)
    new, before = (item.get("spec") or {} for item in (obj, old))
    yield from changed_fields("coordination.v1alpha2.LeaseCandidateSpec", new, before, SPEC)
