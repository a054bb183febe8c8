"""The roles and bindings that a new server has, read from `bootstrap_roles.txt`.

The file says how it is written. The objects have what upstream's have: one label and one annotation
by which a server recognises what it may bring up to date. Aggregated roles come without rules; the
controller that collects them writes those.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import Any, Final

from celadon.kube.well_known_values import RBAC_GROUP
from celadon.records import dataclass

API_VERSION: Final = f"{RBAC_GROUP}/v1"
CONTROLLER_PREFIX: Final = "system:controller:"
CONTROLLER_NAMESPACE: Final = "kube-system"
LABELS: Final = {"kubernetes.io/bootstrapping": "rbac-defaults"}
ANNOTATIONS: Final = {"rbac.authorization.kubernetes.io/autoupdate": "true"}

VERBS: Final = {
    "READ": ("get", "list", "watch"),
    "WRITE": ("create", "delete", "deletecollection", "patch", "update"),
}
_SUBJECT_KINDS: Final = {"user": "User", "group": "Group", "account": "ServiceAccount"}


@dataclass(slots=True)
class _Entry:
    """A heading of the file, and the lines below it."""

    kind: str
    words: Sequence[str]
    lines: list[str] = field(default_factory=list)


def bootstrap_roles() -> Iterator[dict[str, Any]]:
    """ClusterRoles, Roles, ClusterRoleBindings and RoleBindings, as one would create them."""
    text = pkgutil.get_data("celadon.kube", "roles/bootstrap_roles.txt")
    assert text is not None, "bootstrap_roles.txt belongs to the package"
    for entry in _entries(text.decode().splitlines()):
        yield from _objects(entry)


def _entries(lines: Sequence[str]) -> Iterator[_Entry]:
    entry: _Entry | None = None
    for line in lines:
        if not line or line.startswith("#"):
            continue
        if line.startswith(" "):
            assert entry is not None, "a line stands below a heading"
            entry.lines.append(line.strip())
            continue
        if entry is not None:
            yield entry
        kind, *words = line.split()
        entry = _Entry(kind, words)
    if entry is not None:
        yield entry


def _objects(entry: _Entry) -> Iterator[dict[str, Any]]:
    name, *more = entry.words
    match entry.kind:
        case "cluster-role":
            yield _role("ClusterRole", name, entry.lines, more)
        case "role":
            yield _role("Role", name, entry.lines)
        case "controller":
            full = CONTROLLER_PREFIX + name
            yield _role("ClusterRole", full, entry.lines)
            yield _binding(full, [], [f"account {CONTROLLER_NAMESPACE}/{name}"])
        case "binding":
            yield _binding(name, more, entry.lines)
        case other:
            raise ValueError(f"a heading that begins with `{other}`")


def _metadata(name: str, labels: Sequence[str] = ()) -> dict[str, Any]:
    namespace, slash, own = name.rpartition("/")
    aggregation = {f"{RBAC_GROUP}/{label}": "true" for label in labels}
    return {
        "name": own,
        **({"namespace": namespace} if slash else {}),
        "labels": {**LABELS, **aggregation},
        "annotations": dict(ANNOTATIONS),
    }


def _role(kind: str, name: str, lines: Sequence[str], labels: Sequence[str] = ()) -> dict[str, Any]:
    collected = [line.split()[1] for line in lines if line.startswith("collects ")]
    members: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": kind,
        "metadata": _metadata(name, labels),
    }
    if collected:
        selectors = [{"matchLabels": {f"{RBAC_GROUP}/{label}": "true"}} for label in collected]
        return {
            **members,
            "rules": None,
            "aggregationRule": {"clusterRoleSelectors": selectors},
        }
    return {**members, "rules": [_rule(line) for line in lines]}


def _rule(line: str) -> dict[str, Any]:
    verbs, preposition, rest = line.split(" ", 2)
    expanded = [one for verb in verbs.split(",") for one in VERBS.get(verb, (verb,))]
    rule: dict[str, Any] = {"verbs": sorted(expanded)}
    if preposition == "at":
        return {**rule, "nonResourceURLs": sorted(rest.split())}
    assert preposition == "on", line
    groups, _, what = rest.partition(": ")
    resources, _, names = what.partition(" named ")
    rule["apiGroups"] = sorted("" if one == "core" else one for one in groups.split(","))
    rule["resources"] = sorted(resources.split())
    if names:
        rule["resourceNames"] = sorted(names.split())
    return rule


def _binding(name: str, role: Sequence[str], lines: Sequence[str]) -> dict[str, Any]:
    namespace, _, own = name.rpartition("/")
    members: dict[str, Any] = {
        "apiVersion": API_VERSION,
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": _metadata(name),
    }
    subjects = [subject for line in lines for subject in _subjects(line)]
    if subjects:
        members["subjects"] = subjects
    members["roleRef"] = {
        "apiGroup": RBAC_GROUP,
        "kind": "Role" if namespace else "ClusterRole",
        "name": role[0] if role else own,
    }
    return members


def _subjects(line: str) -> Iterator[dict[str, str]]:
    word, *names = line.split()
    kind = _SUBJECT_KINDS[word]
    for name in names:
        if kind == "ServiceAccount":
            namespace, _, account = name.partition("/")
            yield {"kind": kind, "name": account, "namespace": namespace}
        else:
            yield {"kind": kind, "apiGroup": RBAC_GROUP, "name": name}
