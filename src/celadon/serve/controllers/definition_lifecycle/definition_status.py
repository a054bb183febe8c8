"""What the status of a CustomResourceDefinition should be: its names, and whether it is served.

Names of one group are given to who came first. As k8s.io/apiextensions-apiserver
`pkg/controller/{status,establish,apiapproval}`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from celadon.kube import JsonObject, metadata
from celadon.kube.catalogue import ESTABLISHED
from celadon.kube.custom import APPROVAL, APPROVAL_PLACE
from celadon.serve.controllers.conditions import (
    condition,
    is_true,
    with_condition,
)

NAMES_ACCEPTED: Final = "NamesAccepted"
APPROVED: Final = "KubernetesAPIApprovalPolicyConformant"
_PROTECTED: Final = ("k8s.io", "kubernetes.io")
_NAMES: Final = ("plural", "singular", "shortNames", "kind", "listKind", "categories")


def named_status(definition: JsonObject, others: Iterable[JsonObject], now: str) -> JsonObject:
    """The status with accepted names and what follows from them. `others` are all definitions of
    the same group; `now` is a time as objects have it."""
    status = definition.get("status") or {}
    conditions: Sequence[JsonObject] = status.get("conditions") or ()
    accepted, conflict = _accepted_names(definition, others)
    good = condition(NAMES_ACCEPTED, "True", "NoConflicts", "no conflicts found")
    conditions = with_condition(conditions, conflict or good, now)
    if not is_true(conditions, ESTABLISHED):
        conditions = with_condition(conditions, _unestablished(accepted=conflict is None), now)
    return {
        **status,
        "conditions": list(_with_approval(definition, conditions, now)),
        "acceptedNames": accepted,
        "storedVersions": _stored_versions(definition),
    }


def established_status(definition: JsonObject, now: str) -> JsonObject:
    """The status of a definition that is served from now on, once its names are accepted."""
    status = definition.get("status") or {}
    conditions = status.get("conditions") or ()
    if not is_true(conditions, NAMES_ACCEPTED) or is_true(conditions, ESTABLISHED):
        return status
    message = "the initial names have been accepted"
    served = condition(ESTABLISHED, "True", "InitialNamesAccepted", message)
    return {**status, "conditions": with_condition(conditions, served, now)}


def _unestablished(*, accepted: bool) -> JsonObject:
    if accepted:
        message = "the initial names have been accepted"
        return condition(ESTABLISHED, "False", "Installing", message)
    return condition(ESTABLISHED, "False", "NotAccepted", "not all names are accepted")


def _stored_versions(definition: JsonObject) -> list[str]:
    """Grows by the version that objects are written as now."""
    stored = list((definition.get("status") or {}).get("storedVersions") or ())
    wanted = [one["name"] for one in definition["spec"]["versions"] if one.get("storage")]
    return stored + [one for one in wanted if one not in stored]


# --- names ---


def _accepted_names(
    definition: JsonObject, others: Iterable[JsonObject]
) -> tuple[JsonObject, JsonObject | None]:
    """The names that the definition has, and the last conflict about those it wants."""
    wanted: JsonObject = definition["spec"]["names"]
    own: JsonObject = (definition.get("status") or {}).get("acceptedNames") or {}
    resources, kinds = _taken(definition, others)
    made: dict[str, Any] = {"plural": "", "kind": "", **own}
    conflict: JsonObject | None = None
    for field in _NAMES:
        if field == "categories":
            problems: list[str] = []
        elif field == "shortNames":
            mine = own.get(field) or ()
            new = [one for one in wanted.get(field) or () if one not in mine]
            problems = [one for one in new if one in resources]
        else:
            name, taken = wanted.get(field), kinds if field.lower().endswith("kind") else resources
            problems = [name] if name and name != own.get(field) and name in taken else []
        if problems:
            reason = f"{field[0].upper()}{field[1:]}Conflict"
            conflict = condition(NAMES_ACCEPTED, "False", reason, _in_use(problems))
        elif wanted.get(field):
            made[field] = wanted[field]
        elif field not in ("plural", "kind"):
            made.pop(field, None)
    return {field: made[field] for field in _NAMES if field in made}, conflict


def _taken(definition: JsonObject, others: Iterable[JsonObject]) -> tuple[set[str], set[str]]:
    """Names of resources and kinds that were accepted, of other definitions of the group."""
    resources: set[str] = set()
    kinds: set[str] = set()
    for other in others:
        if metadata.name(other) == metadata.name(definition):
            continue
        names = (other.get("status") or {}).get("acceptedNames") or {}
        resources.update((names.get("plural", ""), names.get("singular", "")))
        resources.update(names.get("shortNames") or ())
        kinds.update((names.get("kind", ""), names.get("listKind", "")))
    return resources - {""}, kinds - {""}


def _in_use(names: Sequence[str]) -> str:
    texts = list(dict.fromkeys(f'"{name}" is already in use' for name in names))
    return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"


# --- groups of the community ---


def _with_approval(
    definition: JsonObject, conditions: Sequence[JsonObject], now: str
) -> Sequence[JsonObject]:
    group: str = definition["spec"]["group"]
    if not any(group == one or group.endswith(f".{one}") for one in _PROTECTED):
        return [one for one in conditions if one.get("type") != APPROVED]
    wanted = _approval(metadata.annotations(definition).get(APPROVAL, ""))
    return with_condition(conditions, wanted, now)


def _approval(given: str) -> JsonObject:
    needed = f'protected groups must have approval annotation "{APPROVAL}"'
    if not given:
        text = f"{needed}, see {APPROVAL_PLACE}"
        return condition(APPROVED, "False", "MissingAnnotation", text)
    if given.startswith("unapproved"):
        return condition(APPROVED, "False", "UnapprovedAnnotation", f'not approved: "{given}"')
    address = urlsplit(given)
    if address.scheme and address.netloc:
        return condition(APPROVED, "True", "ApprovedAnnotation", f"approved in {given}")
    text = (
        f'{needed} with either a URL or a reason starting with "unapproved", see {APPROVAL_PLACE}'
    )
    return condition(APPROVED, "False", "InvalidAnnotation", text)
