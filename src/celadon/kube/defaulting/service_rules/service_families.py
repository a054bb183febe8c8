"""Which IP families a Service has, new or changed: before it gets its addresses.

As `initIPFamilyFields` in k8s.io/kubernetes `pkg/registry/core/service/storage/alloc.go`. What is
wrong with addresses and families is said here alone, before anything else about the Service is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from celadon.kube import fieldpath, metadata, status
from celadon.kube.defaulting.defaulting_context import Run
from celadon.kube.fieldpath import FieldError, FieldPath, NamedText
from celadon.kube.json_types import JsonObject
from celadon.kube.names import GroupKind
from celadon.kube.status import StatusError
from celadon.kube.well_known_values import HEADLESS, IP_FAMILIES

_SERVICE: Final = GroupKind("", "Service")
_SPEC: Final = FieldPath("spec")
_POLICY: Final = _SPEC.child("ipFamilyPolicy")
SINGLE: Final = "SingleStack"
PREFERRED: Final = "PreferDualStack"
REQUIRED: Final = "RequireDualStack"
WITH_ADDRESS: Final = frozenset({"ClusterIP", "NodePort", "LoadBalancer"})
_PARTS: Final = {"clusterIPs": "secondary cluster IP", "ipFamilies": "secondary IP family"}
_SEVERAL: Final = {"clusterIPs": "multiple cluster IPs", "ipFamilies": "multiple IP families"}


def settle_families(spec: dict[str, Any], run: Run, old: Mapping[str, Any]) -> None:
    """Sets policy and families; `old` is the spec of the Service as it was, empty for a new one.
    Raises StatusError (422) where they cannot be had."""
    if spec.get("type") == "ExternalName" or _prefers_the_same(spec, old):
        return
    bare = spec.get("clusterIP") == HEADLESS and not spec.get("selector")
    if not spec.get("ipFamilyPolicy"):
        spec["ipFamilyPolicy"] = old.get("ipFamilyPolicy") or (REQUIRED if bare else SINGLE)
    _refuse(run, _wrong_addresses(spec, old, run))
    errors = [*_released(spec, old), *_too_many(spec), *_inferred(spec, run)]
    _refuse(run, errors)
    if not bare:
        _refuse(run, _not_configured(spec, run))
    network = run.context.network
    families = list(spec.get("ipFamilies") or network.families[:1])
    if spec["ipFamilyPolicy"] != SINGLE and len(families) == 1:
        offered = IP_FAMILIES if bare else network.families
        families += [one for one in offered if one != families[0]]
    spec["ipFamilies"] = families


def _prefers_the_same(spec: JsonObject, old: Mapping[str, Any]) -> bool:
    """What prefers two families is not given another one because the cluster has changed."""
    if not old or spec.get("type") != old.get("type") or spec.get("type") not in WITH_ADDRESS:
        return False
    policies = spec.get("ipFamilyPolicy"), old.get("ipFamilyPolicy") or PREFERRED
    same = all((spec.get(one) or []) == (old.get(one) or []) for one in _PARTS)
    return policies == (PREFERRED, PREFERRED) and same


def _wrong_addresses(spec: JsonObject, old: Mapping[str, Any], run: Run) -> list[FieldError]:
    # late: only Services need rules of validation this early.
    from celadon.kube.library.releases import DEFAULT
    from celadon.kube.validation.networking.service_addresses import service_addresses
    from celadon.kube.validation.validation_gates import gates_on, holding

    errors = service_addresses(spec, old.get("clusterIPs") or ())
    return holding(errors, gates_on(DEFAULT, run.context.gates))


def _released(spec: dict[str, Any], old: Mapping[str, Any]) -> list[FieldError]:
    """A policy of one family lets the second go; without it nobody may leave it out."""
    errors: list[FieldError] = []
    policy = spec["ipFamilyPolicy"]
    for part, called in _PARTS.items():
        given, before = spec.get(part) or [], old.get(part) or []
        if policy == SINGLE and given == before and len(given) > 1:
            spec[part] = given[:1]
        elif policy != SINGLE and given and len(given) < len(before):
            why = f"must be 'SingleStack' to release the {called}"
            errors.append(fieldpath.invalid(_POLICY, NamedText(policy), why))
    return errors


def _too_many(spec: JsonObject) -> list[FieldError]:
    return [
        fieldpath.invalid(
            _POLICY,
            NamedText(SINGLE),
            f"must be 'RequireDualStack' or 'PreferDualStack' when {called} are specified",
        )
        for part, called in _SEVERAL.items()
        if spec["ipFamilyPolicy"] == SINGLE and len(spec.get(part) or ()) == 2
    ]


def _inferred(spec: dict[str, Any], run: Run) -> list[FieldError]:
    """Families that are not said are those of the addresses."""
    errors: list[FieldError] = []
    network, addresses = run.context.network, spec.get("clusterIPs") or []
    for index, address in enumerate(addresses):
        if address == HEADLESS:
            break
        families = list(spec.get("ipFamilies") or ())
        if index < len(families):
            continue
        family = "IPv6" if ":" in address else "IPv4"
        if network.families_are_known and family not in network.families:
            at = _SPEC.child("clusterIPs").index(index)
            why = f"{family} is not configured on this cluster"
            errors.append(fieldpath.invalid(at, addresses, why))
        else:
            spec["ipFamilies"] = [*families, family]
    return errors


def _not_configured(spec: JsonObject, run: Run) -> list[FieldError]:
    network = run.context.network
    if not network.families_are_known:
        return []
    errors: list[FieldError] = []
    if spec["ipFamilyPolicy"] == REQUIRED and len(network.families) < 2:
        why = "this cluster is not configured for dual-stack services"
        errors.append(fieldpath.invalid(_POLICY, NamedText(REQUIRED), why))
    for index, family in enumerate(spec.get("ipFamilies") or ()):
        if family not in network.families:
            at = _SPEC.child("ipFamilies").index(index)
            why = "not configured on this cluster"
            errors.append(fieldpath.invalid(at, NamedText(family), why))
    return errors


def _refuse(run: Run, errors: Iterable[FieldError]) -> None:
    found = list(errors)
    if found:
        raise refused(run, found)


def refused(run: Run, errors: list[FieldError]) -> StatusError:
    """The answer to a Service that cannot have what it asks for."""
    return status.invalid(_SERVICE, metadata.name(run.root), errors)
