"""Role-based access control: who may do what by Roles, ClusterRoles and their bindings.

The parts are: what a new server has, one rule and what it allows, stored objects by the subjects
they bind, the authorizer that answers, and whether somebody who grants rights has them. Upstream:
k8s.io/kubernetes `plugin/pkg/auth/authorizer/rbac`, `pkg/registry/rbac` and
k8s.io/component-helpers `auth/rbac/validation`.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from itertools import chain
from typing import Final

from celadon.kube import metadata
from celadon.kube.authorization import (
    MASTERS,
    Answer,
    Attributes,
    Ruling,
    User,
    service_account_of,
    service_account_user,
)
from celadon.kube.go.go_text import quote
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import current_release, parse_version
from celadon.kube.selectors import NOTHING, LabelSelector, SelectorError, label_selector
from celadon.kube.well_known_values import RBAC_GROUP, SERVICE_ACCOUNT_PREFIX
from celadon.records import dataclass

__all__ = [
    "Grant",
    "PolicyRule",
    "RbacAuthorizer",
    "RoleIndex",
    "RoleRef",
    "aggregated",
    "bootstrap_roles",
    "compacted",
    "policy_rules",
    "quoted_list",
    "role_ref",
    "role_selectors",
    "service_account_of",
    "service_account_user",
    "uncovered",
]


# --- Bootstrap roles ---------------------------------------------------------
#
# The roles and bindings that a new server has, read from `bootstrap_roles.txt`.
#
# The file says how it is written. The objects have what upstream's have: one label and one
# annotation by which a server recognises what it may bring up to date. Aggregated roles come
# without rules; the controller that collects them writes those.

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


def bootstrap_roles(gates: Collection[str] = ()) -> Iterator[JsonDict]:
    """ClusterRoles, Roles, ClusterRoleBindings and RoleBindings of the current release, as one
    would create them. `gates` are the feature gates that are on though by default they are off."""
    text = pkgutil.get_data("celadon.kube", "data/bootstrap_roles.txt")
    assert text is not None, "bootstrap_roles.txt belongs to the package"
    release = parse_version(current_release())
    entries: dict[tuple[str, str], _Entry] = {}
    for entry in _entries(text.decode().splitlines(), gates):
        first, *more = entry.words
        if entry.kind == "release":
            if parse_version(first) < release:
                break  # older than the current one
        elif entry.kind == "without":
            entries.pop((first, more[0]), None)
        else:
            entries[entry.kind, first] = entry
    for entry in entries.values():
        yield from _objects(entry)


def _entries(lines: Sequence[str], gates: Collection[str]) -> Iterator[_Entry]:
    entry: _Entry | None = None
    is_there = False
    for line in lines:
        if not line or line.startswith("#"):
            continue
        text, _, gate = line.partition(" if ")
        if text.startswith(" "):
            assert entry is not None, "a line stands below a heading"
            if not gate or gate in gates:
                entry.lines.append(text.strip())
            continue
        if entry is not None and is_there:
            yield entry
        kind, *words = text.split()
        entry, is_there = _Entry(kind, words), not gate or gate in gates
    if entry is not None and is_there:
        yield entry


def _objects(entry: _Entry) -> Iterator[JsonDict]:
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


def _metadata(name: str, labels: Sequence[str] = ()) -> dict[str, object]:
    namespace, slash, base_name = name.rpartition("/")
    aggregation = {f"{RBAC_GROUP}/{label}": "true" for label in labels}
    return {
        "name": base_name,
        **({"namespace": namespace} if slash else {}),
        "labels": {**LABELS, **aggregation},
        "annotations": dict(ANNOTATIONS),
    }


def _role(kind: str, name: str, lines: Sequence[str], labels: Sequence[str] = ()) -> JsonDict:
    collected = [line.split()[1] for line in lines if line.startswith("collects ")]
    members: JsonDict = {
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


def _rule(line: str) -> JsonDict:
    verbs, preposition, rest = line.split(" ", 2)
    expanded = [name for verb in verbs.split(",") for name in VERBS.get(verb, (verb,))]
    rule: JsonDict = {"verbs": sorted(expanded)}
    if preposition == "at":
        return {**rule, "nonResourceURLs": sorted(rest.split())}
    assert preposition == "on", line
    groups, _, subject = rest.partition(": ")
    resources, _, names = subject.partition(" named ")
    rule["apiGroups"] = sorted("" if group == "core" else group for group in groups.split(","))
    rule["resources"] = sorted(resources.split())
    if names:
        rule["resourceNames"] = sorted(names.split())
    return rule


def _binding(name: str, role: Sequence[str], lines: Sequence[str]) -> dict[str, object]:
    namespace, _, base_name = name.rpartition("/")
    members: dict[str, object] = {
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
        "name": role[0] if role else base_name,
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


# --- Policy rules ------------------------------------------------------------
#
# One rule of a role, and what it allows.
#
# A rule is about resources or about other paths. `*` stands for every verb, group, resource
# (with all subresources) or path; `*/scale` for one subresource of everything; a path may end
# in `*`. As k8s.io/kubernetes `pkg/apis/rbac/v1/evaluation_helpers.go`.

ALL: Final = "*"


@dataclass(frozen=True, slots=True)
class PolicyRule:
    """The members of a rule as they are in the API, absent ones empty."""

    verbs: tuple[str, ...] = ()
    api_groups: tuple[str, ...] = ()
    resources: tuple[str, ...] = ()
    resource_names: tuple[str, ...] = ()
    non_resource_urls: tuple[str, ...] = ()

    def allows(self, attributes: Attributes) -> bool:
        """Return whether this rule alone is enough."""
        if attributes.verb not in self.verbs and ALL not in self.verbs:
            return False
        if not attributes.resource_request:
            return any(
                covers_url(non_resource_url, attributes.path)
                for non_resource_url in self.non_resource_urls
            )
        if attributes.group not in self.api_groups and ALL not in self.api_groups:
            return False
        if not self._has_resource(attributes):
            return False
        return not self.resource_names or attributes.name in self.resource_names

    def _has_resource(self, attributes: Attributes) -> bool:
        resources = self.resources
        if ALL in resources or full_resource(attributes) in resources:
            return True
        return bool(attributes.subresource) and f"{ALL}/{attributes.subresource}" in resources

    def __str__(self) -> str:
        """`{APIGroups:[""], Resources:["pods"], Verbs:["get"]}`, as refusals name it."""
        members = (
            ("APIGroups", self.api_groups),
            ("Resources", self.resources),
            ("NonResourceURLs", self.non_resource_urls),
            ("ResourceNames", self.resource_names),
            ("Verbs", self.verbs),
        )
        parts = (f"{name}:{quoted_list(values)}" for name, values in members if values)
        return f"{{{', '.join(parts)}}}"

    def to_json(self) -> JsonDict:
        """Return the rule in the order of the API; what is empty is left out, except verbs."""
        members = {
            "apiGroups": self.api_groups,
            "resources": self.resources,
            "resourceNames": self.resource_names,
            "nonResourceURLs": self.non_resource_urls,
        }
        filled = {name: list(values) for name, values in members.items() if values}
        return {"verbs": list(self.verbs), **filled}


def policy_rules(role: JsonObject) -> tuple[PolicyRule, ...]:
    """Return the rules of a Role or ClusterRole."""
    return tuple(_policy_rules_rule(rule) for rule in role.get("rules") or ())


def _policy_rules_rule(value: JsonObject) -> PolicyRule:
    fields = ("verbs", "apiGroups", "resources", "resourceNames", "nonResourceURLs")
    return PolicyRule(*(tuple(value.get(field) or ()) for field in fields))


def full_resource(attributes: Attributes) -> str:
    """Return the resource with its subresource: `pods/exec`."""
    if not attributes.subresource:
        return attributes.resource
    return f"{attributes.resource}/{attributes.subresource}"


def covers_url(pattern: str, path: str) -> bool:
    """Return whether a path, or a pattern of paths, lies within a pattern."""
    if pattern in {ALL, path}:
        return True
    return pattern.endswith(ALL) and path.startswith(pattern.rstrip(ALL))


def quoted_list(texts: Iterable[str]) -> str:
    """Go's `%q` of strings: `["a" "b"]`."""
    return f"[{' '.join(map(quote, texts))}]"


# --- Role index --------------------------------------------------------------
#
# Roles and bindings by the subjects they bind.
#
# `RoleIndex` takes objects as they are stored, one at a time, and says which grants a user has
# in a namespace. It looks at the bindings that name the user or one of the groups, not at all
# of them, and remembers the grants of who asked until something changes.
#
# Bindings are looked at in the order of their names; upstream's order is that of its cache,
# which only shows in the reason when several bindings allow.

Key = tuple[str, str]
"""Namespace and name; the namespace is empty for ClusterRoles and ClusterRoleBindings."""

Who = tuple[str, str]
"""The kind of a subject, and the name of the user or group that it is."""

CLUSTER_WIDE: Final = ""

LONGEST_REMEMBERED: Final = 8192
"""Characters of all names of a user. Reviews can make up users with more, and then nothing is."""

REMEMBERED_USERS: Final = 4096
"""Grants that are kept; beyond it, all are forgotten. A choice of ours."""

_ROLES: Final = frozenset({"Role", "ClusterRole"})
_BINDINGS: Final = frozenset({"RoleBinding", "ClusterRoleBinding"})


@dataclass(frozen=True, slots=True)
class RoleRef:
    """Says which role a binding grants: a Role of its own namespace, or a ClusterRole."""

    kind: str
    name: str
    group: str = RBAC_GROUP

    @property
    def error(self) -> str:
        """Return what an authorizer says when there is no such role."""
        if self.kind not in _ROLES:
            return f"unsupported role reference kind: {quote(self.kind)}"
        return f"{self.kind.lower()}.{RBAC_GROUP} {quote(self.name)} not found"


@dataclass(frozen=True, slots=True)
class Grant:
    """A binding that applies to a user; the role's rules are None when there is no such role.

    `source` is how reasons name it: `RoleBinding "b/ns" of Role "r" to User "alice"`.
    """

    source: str
    role: RoleRef
    rules: tuple[PolicyRule, ...] | None


@dataclass(frozen=True, slots=True)
class _Subject:
    who: Who
    description: str


@dataclass(frozen=True, slots=True)
class _Binding:
    title: str
    role: RoleRef
    subjects: tuple[_Subject, ...]


class RoleIndex:
    """With `aggregating`, a ClusterRole with an aggregation rule has the rules of the roles it
    selects, as a controller would write them; otherwise those that are stored."""

    def __init__(self, objects: Iterable[JsonObject] = (), *, aggregating: bool = False) -> None:
        self._aggregating = aggregating
        self._roles: dict[Key, JsonObject] = {}
        self._given: dict[Key, tuple[PolicyRule, ...]] = {}
        """What roles say themselves, as far as somebody has asked."""
        self._rules: dict[Key, tuple[PolicyRule, ...]] = {}
        self._bindings: dict[Key, _Binding] = {}
        self._bound: dict[tuple[str, Who], set[str]] = {}
        self._remembered: dict[tuple[str, tuple[str, ...], str], tuple[Grant, ...]] = {}
        for obj in objects:
            self.put(obj)

    def put(self, obj: JsonObject) -> None:
        """Add an object or replace the one of its name; other kinds are ignored."""
        kind = obj.get("kind")
        key = _key(obj)
        if kind in _ROLES:
            self._roles[key] = obj
            self._given.pop(key, None)
        elif kind in _BINDINGS:
            self._unbind(key)
            self._bind(key, obj)
        self._forget()

    def remove(self, obj: JsonObject) -> None:
        """Remove a role or binding; only kind, namespace and name matter."""
        kind = obj.get("kind")
        if kind in _ROLES:
            self._roles.pop(_key(obj), None)
            self._given.pop(_key(obj), None)
        elif kind in _BINDINGS:
            self._unbind(_key(obj))
        self._forget()

    def changed(self, put: Iterable[JsonObject], removed: Iterable[JsonObject]) -> RoleIndex:
        """Return another index, with these objects and without those; this one stays. What is
        changed is looked at, and read; the rest is shared."""
        put, removed = tuple(put), tuple(removed)
        index = RoleIndex(aggregating=self._aggregating)
        index._roles, index._given = {**self._roles}, {**self._given}
        index._bindings, index._bound = {**self._bindings}, {**self._bound}
        for obj in (*removed, *put):
            index._own_subjects(obj)
        for obj in removed:
            index.remove(obj)
        for obj in put:
            index.put(obj)
        for obj in put:
            if obj.get("kind") in _ROLES:
                index._said(_key(obj))
        return index

    def _own_subjects(self, obj: JsonObject) -> None:
        """Copy the bindings of all subjects that a binding has or has had, so that changes stay in
        this index."""
        if obj.get("kind") not in _BINDINGS:
            return
        key = _key(obj)
        former = self._bindings.get(key)
        subjects = (*_role_index_binding(key, obj).subjects, *(former.subjects if former else ()))
        for subject in {subject.who for subject in subjects}:
            if (key[0], subject) in self._bound:
                self._bound[key[0], subject] = {*self._bound[key[0], subject]}

    def _said(self, key: Key) -> tuple[PolicyRule, ...]:
        """Return the rules that a role says itself."""
        rules = self._given.get(key)
        if rules is None:
            rules = self._given[key] = policy_rules(self._roles[key])
        return rules

    def _forget(self) -> None:
        self._rules.clear()
        self._remembered.clear()

    def _bind(self, key: Key, obj: JsonObject) -> None:
        binding = _role_index_binding(key, obj)
        self._bindings[key] = binding
        for subject in binding.subjects:
            self._bound.setdefault((key[0], subject.who), set()).add(key[1])

    def _unbind(self, key: Key) -> None:
        binding = self._bindings.pop(key, None)
        if binding is None:
            return
        for who in {subject.who for subject in binding.subjects}:
            names = self._bound[key[0], who]
            names.discard(key[1])
            if not names:
                del self._bound[key[0], who]

    def grants(self, user: User, namespace: str) -> tuple[Grant, ...]:
        """Return the grants of the whole cluster, then those in the namespace, if one is given."""
        key = (user.name, user.groups, namespace)
        grants = self._remembered.get(key)
        if grants is None:
            grants = tuple(self._find(user, namespace))
            if sum(map(len, (user.name, namespace, *user.groups))) <= LONGEST_REMEMBERED:
                if len(self._remembered) >= REMEMBERED_USERS:
                    self._remembered.clear()
                self._remembered[key] = grants
        return grants

    def _find(self, user: User, namespace: str) -> Iterator[Grant]:
        identities = _identities(user)
        for scope in dict.fromkeys((CLUSTER_WIDE, namespace)):
            names: set[str] = set()
            for identity in identities:
                names |= self._bound.get((scope, identity), set())
            for name in sorted(names):
                yield self._grant(self._bindings[scope, name], identities, scope)

    def _grant(self, binding: _Binding, identities: Mapping[Who, None], where: str) -> Grant:
        subject = next(subject for subject in binding.subjects if subject.who in identities)
        role = binding.role
        source = f"{binding.title} of {role.kind} {quote(role.name)} to {subject.description}"
        return Grant(source, role, self.rules_of(role, where))

    def rules_of(self, role: RoleRef, namespace: str) -> tuple[PolicyRule, ...] | None:
        """Return what a reference in a binding of this namespace grants; None when there is no
        role."""
        if role.kind not in _ROLES or (role.kind == "Role" and not namespace):
            return None
        key = (namespace if role.kind == "Role" else CLUSTER_WIDE, role.name)
        rules = self._rules.get(key)
        if rules is None and key in self._roles:
            rules = self._rules[key] = self._collect(key, frozenset())
        return rules

    def _collect(self, key: Key, seen: frozenset[Key]) -> tuple[PolicyRule, ...]:
        role = self._roles[key]
        selectors = role_selectors(role)
        if not selectors or not self._aggregating:
            return self._said(key)
        others = [
            (other, metadata.labels(self._roles[other]))
            for other in sorted(self._roles)
            if not other[0] and other != key and other not in seen
        ]
        selected = [
            other for selector in selectors for other, labels in others if selector.matches(labels)
        ]
        collected: dict[PolicyRule, None] = {}
        for other in dict.fromkeys(selected):
            collected.update(dict.fromkeys(self._collect(other, seen | {key})))
        return tuple(collected)


def _key(obj: JsonObject) -> Key:
    namespaced = obj.get("kind") in {"Role", "RoleBinding"}
    return (metadata.namespace(obj) if namespaced else CLUSTER_WIDE, metadata.name(obj))


def role_ref(binding: JsonObject) -> RoleRef:
    """Return the role that a RoleBinding or ClusterRoleBinding refers to."""
    ref = binding.get("roleRef") or {}
    kind, name = str(ref.get("kind") or ""), str(ref.get("name") or "")
    return RoleRef(kind, name, str(ref.get("apiGroup") or ""))


def _role_index_binding(key: Key, obj: JsonObject) -> _Binding:
    namespace, name = key
    title = (
        f"RoleBinding {quote(f'{name}/{namespace}')}"
        if namespace
        else f"ClusterRoleBinding {quote(name)}"
    )
    subjects = (_subject(subject, namespace) for subject in obj.get("subjects") or ())
    return _Binding(
        title, role_ref(obj), tuple(subject for subject in subjects if subject is not None)
    )


def _subject(value: JsonObject, where: str) -> _Subject | None:
    """Return the subject; None for what can be nobody."""
    kind, name = str(value.get("kind") or ""), str(value.get("name") or "")
    if kind in {"User", "Group"}:
        return _Subject((kind, name), f"{kind} {quote(name)}")
    space = value.get("namespace") or where
    if kind != "ServiceAccount" or not space:
        return None
    account = f"{SERVICE_ACCOUNT_PREFIX}{space}:{name}"
    return _Subject((kind, account), f"{kind} {quote(f'{name}/{space}')}")


def _identities(user: User) -> dict[Who, None]:
    groups = (("Group", group) for group in user.groups)
    return dict.fromkeys([("User", user.name), ("ServiceAccount", user.name), *groups])


def role_selectors(role: JsonObject) -> tuple[LabelSelector, ...]:
    """Return the selectors of a role's aggregation rule; none for a role that says its rules
    itself. A bad selector chooses nothing."""
    cluster_role_selectors = (role.get("aggregationRule") or {}).get("clusterRoleSelectors") or ()
    return tuple([_selector(selector) for selector in cluster_role_selectors])


def _selector(value: JsonObject) -> LabelSelector:
    try:
        return label_selector(value)
    except SelectorError:
        return NOTHING


# --- Role authorizer ---------------------------------------------------------
#
# The authorizer that answers from roles and bindings.
#
# Its words are those of k8s.io/kubernetes `plugin/pkg/auth/authorizer/rbac`. Members of
# `system:masters` may do everything.


class RbacAuthorizer:
    """Over an index, or over the manifests given (others than roles and bindings are ignored, and
    aggregated roles have the rules that a controller would give them)."""

    def __init__(self, objects: Iterable[JsonObject] | RoleIndex = ()) -> None:
        if not isinstance(objects, RoleIndex):
            objects = RoleIndex(objects, aggregating=True)
        self.index = objects

    def authorize(self, attributes: Attributes) -> Answer:
        """RBAC never denies: what it does not allow it has no opinion about."""
        if MASTERS in attributes.user.groups:
            return Ruling.ALLOW, "", None
        errors: list[str] = []
        namespace = attributes.namespace if attributes.resource_request else ""
        for grant in self.index.grants(attributes.user, namespace):
            if grant.rules is None:
                errors.append(grant.role.error)
                continue
            for rule in grant.rules:
                if rule.allows(attributes):
                    return Ruling.ALLOW, f"RBAC: allowed by {grant.source}", None
        reason = f"RBAC: {aggregated(errors)}" if errors else ""
        return Ruling.NO_OPINION, reason, None

    def rules_for(self, user: User, namespace: str) -> tuple[list[PolicyRule], list[RoleRef]]:
        """Return all that a user may do there, as rules, and the roles that could not be found."""
        grants = self.index.grants(user, namespace)
        rules = [rule for grant in grants for rule in grant.rules or ()]
        return rules, [grant.role for grant in grants if grant.rules is None]


def aggregated(errors: Iterable[str]) -> str:
    """Return several errors as one text: each once, in brackets if they are several. As
    k8s.io/apimachinery `pkg/util/errors`."""
    once = list(dict.fromkeys(errors))
    return once[0] if len(once) == 1 else f"[{', '.join(once)}]"


# --- Rule covering -----------------------------------------------------------
#
# Whether somebody who grants rights has them.
#
# Rules are broken down to single permissions; each must lie within one rule of the owner. As
# k8s.io/component-helpers `auth/rbac/validation/policy_comparator.go` and k8s.io/kubernetes
# `pkg/registry/rbac/validation/policy_compact.go`, which compare each with each: a rule of four
# short lists may be millions, and so may be what somebody owns.

MOST_UNCOVERED: Final = 1 << 20
"""Bytes of single permissions that are listed, with `_PERMISSION` for each. A bound of ours: who
lacks so much is told of the first ones."""
_PERMISSION: Final = 100


def uncovered(owned: Sequence[PolicyRule], rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    """Return the single permissions in `rules` that no owned rule includes, in their order: one
    verb on one resource (with one name, if names are listed) or path each."""
    owners = _Owners(owned)
    result: list[PolicyRule] = []
    size = 0
    for rule in rules:
        for single in chain(owners.lacking(rule), owners.lacking_urls(rule)):
            result.append(single)
            size += _PERMISSION + sum(map(len, chain(*_members(single))))
            if size > MOST_UNCOVERED:
                return result
    return result


def _members(rule: PolicyRule) -> tuple[tuple[str, ...], ...]:
    urls = rule.non_resource_urls
    return rule.verbs, rule.api_groups, rule.resources, rule.resource_names, urls


_Numbers = set[int]


class _Owners:
    """Rules by what they are about: each member of a rule leads to the numbers of the rules that
    have it."""

    def __init__(self, owned: Sequence[PolicyRule]) -> None:
        self._axes: tuple[dict[str, _Numbers], ...] = ({}, {}, {}, {}, {})
        self._nameless: _Numbers = set()
        """Those that are about all names."""
        for number, rule in enumerate(owned):
            for axis, values in zip(self._axes, _members(rule), strict=True):
                for value in values:
                    axis.setdefault(value, set()).add(number)
            if not rule.resource_names:
                self._nameless.add(number)
        self._unlimited = self._of(0, ALL) & self._nameless
        """Those that are about all verbs, too."""
        urls = self._axes[4]
        self._prefixes: dict[str, _Numbers] = {}
        for url in urls:
            if url.endswith(ALL):
                self._prefixes.setdefault(url.rstrip(ALL), set()).update(urls[url])
        self._lengths = sorted({len(prefix) for prefix in self._prefixes})

    def _of(self, axis: int, value: str) -> _Numbers:
        return self._axes[axis].get(value, set())

    def _either(self, axis: int, *values: str) -> _Numbers:
        return self._of(axis, ALL).union(*(self._of(axis, value) for value in values))

    def _resource(self, resource: str) -> _Numbers:
        _, slash, subresource = resource.partition("/")
        return self._either(2, resource, *([f"{ALL}/{subresource}"] if slash else ()))

    def lacking(self, rule: PolicyRule) -> Iterator[PolicyRule]:
        """Yield the permissions on resources that no rule includes. What a rule has about all names
        covers each name; what is about some names does not cover all."""
        names: list[tuple[str, ...]] = [(name,) for name in rule.resource_names]
        for group in rule.api_groups:
            in_group = self._either(1, group)
            for resource in rule.resources:
                there = in_group & self._resource(resource)
                if not self._unlimited.isdisjoint(there):
                    continue
                for verb in rule.verbs:
                    able = there & self._either(0, verb)
                    if not self._nameless.isdisjoint(able):
                        continue
                    for name in names or [()]:
                        if not any(self._of(3, text) & able for text in name):
                            yield PolicyRule((verb,), (group,), (resource,), name)

    def lacking_urls(self, rule: PolicyRule) -> Iterator[PolicyRule]:
        """Yield the permissions on paths that no rule includes."""
        for url in rule.non_resource_urls:
            prefixes = (url[:length] for length in self._lengths if length <= len(url))
            holders = self._either(4, url).union(
                *(self._prefixes.get(prefix, set()) for prefix in prefixes)
            )
            holders &= self._nameless
            for verb in rule.verbs:
                if holders.isdisjoint(self._either(0, verb)):
                    yield PolicyRule((verb,), non_resource_urls=(url,))


def compacted(rules: Iterable[PolicyRule]) -> list[PolicyRule]:
    """Return the rules with the verbs of rules for the same single resource (and name) brought
    together."""
    others: list[PolicyRule] = []
    simple: dict[PolicyRule, PolicyRule] = {}
    for rule in rules:
        if not _is_simple(rule):
            others.append(rule)
            continue
        key = replace(rule, verbs=())
        merged = simple.get(key)
        simple[key] = rule if merged is None else replace(rule, verbs=merged.verbs + rule.verbs)
    return [*others, *simple.values()]


def _is_simple(rule: PolicyRule) -> bool:
    return (
        len(rule.api_groups) == len(rule.resources) == 1
        and len(rule.resource_names) <= 1
        and not rule.non_resource_urls
    )
