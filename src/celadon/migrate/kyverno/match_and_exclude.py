"""The `match` and `exclude` of a rule as match constraints and match conditions.

Kinds become resource rules. What admission policies have a field for stands in that field where
there is one block (selectors, operations); all else is a match condition.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from celadon.admission import Operation
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.resources import Catalog, Resource, guess_resource
from celadon.kube.selectors import SelectorError, label_selector
from celadon.migrate.cel_text import (
    ALWAYS,
    NEVER,
    Condition,
    comparison,
    conjunction,
    disjunction,
    literal,
    member,
    negation,
    quoted,
    some,
    truth,
)
from celadon.migrate.kyverno.conditions import OPERATIONS, asked_operations
from celadon.migrate.kyverno.pattern_translation import globbed
from celadon.migrate.kyverno.patterns import has_wildcards, wildcard_match
from celadon.migrate.kyverno.policies import Filter, Filters, Policy, Rule
from celadon.migrate.translations import NotTranslated


@dataclass(frozen=True, slots=True)
class ResourceRule:
    """One resource rule of match constraints."""

    group: str
    version: str
    resource: str
    kinds: tuple[GroupVersionKind, ...] = ()
    """The kinds that are known to be meant."""
    guessed: str = ""
    """The kind whose resource was guessed by its name, since it is not known."""
    has_namespace: bool = False
    """Whether all requests for it are known to have a namespace."""

    def resources(self, operations: Iterable[str]) -> list[str]:
        """Return what requests with some operations are for. A rule for Pods is for those, too,
        that put ephemeral containers into one (`pkg/controllers/webhook/utils_webhook.go`)."""
        is_of_pods = self.resource == "*" or (self.resource == "pods" and self.group in ("", "*"))
        also = [_EPHEMERAL] if is_of_pods and Operation.UPDATE.name in operations else []
        return [self.resource, *also]


_EPHEMERAL: Final = "pods/ephemeralcontainers"


@dataclass(frozen=True, slots=True)
class Matching:
    """A policy matches this."""

    rules: tuple[ResourceRule, ...]
    operations: tuple[str, ...]
    """Those that the rule names; empty if it names none."""
    object_selector: JsonObject | None = None
    namespace_selector: JsonObject | None = None
    conditions: Mapping[str, Condition] = field(default_factory=dict)
    """Match conditions by name."""


def matching(policy: Policy, rule: Rule, catalog: Catalog) -> Matching:
    """Return what a rule matches. Raises NotTranslated."""
    blocks = rule.match.blocks
    # A block that says nothing takes nothing (`pkg/engine/utils/match.go`), in `match` and in
    # `exclude`.
    filters = tuple(block for block in blocks if block.says_something)
    if not filters or (rule.match.all_of and filters != blocks):
        raise NotTranslated("a rule that matches nothing")
    blocks = filters
    kinds = dict.fromkeys(kind for block in blocks for kind in block.kinds)
    rules = dict.fromkeys(
        resource_rule for kind in kinds for resource_rule in resource_rules(kind, catalog)
    )
    if not rules:
        raise NotTranslated("a rule without kinds")
    operations = dict.fromkeys(operation for block in blocks for operation in block.operations)
    if not rule.match.all_of and not all(block.operations for block in blocks):
        operations = {}  # one block takes any operation
    matching = Matching(tuple(rules), tuple(operations))
    below = any(subresource for _, _, _, subresource in map(_parts, kinds))
    conditions: dict[str, Condition] = {}
    has_namespace = all(rule.has_namespace for rule in rules)
    requested = [
        operation
        for operation in asked_operations(rule)
        if not operations or operation in operations
    ]
    is_named = rule.kind != "mutate"
    source = _Source(has_namespace, subject_of(requested), is_named, frozenset(requested))
    # A policy has one selector of objects and one of namespaces, so selectors of several blocks, of
    # which any may match, can only be conditions.
    if len(blocks) == 1:
        matching = _with_selectors(matching, blocks[0], mutates="mutate" in rule.value)
        conditions |= _conditions_of(blocks[0], matching, source)
        if matching.namespace_selector:
            with_namespaces = bool({rule.resource for rule in rules} & {"*", "namespaces"})
            conditions |= _of_what_has_a_namespace(
                matching.namespace_selector, source, with_namespaces=with_namespaces
            )
    else:
        conditions["matches"] = _any_or_all(rule.match, source, with_subresources=below)
    if rule.exclude.blocks:
        excluded = _any_or_all(rule.exclude, source, with_subresources=below)
        conditions["is-not-excluded"] = negation(excluded)
    if policy.namespace:
        is_in = comparison(source.namespace, "==", quoted(policy.namespace))
        conditions["is-in-namespace"] = conjunction(
            [conditions.get("is-in-namespace", ALWAYS), is_in]
        )
    for item in rules:
        if item.guessed:
            conditions["is-of-kind"] = _of_kinds([*kinds])
    result = {name: condition for name, condition in conditions.items() if condition != ALWAYS}
    return Matching(
        matching.rules,
        matching.operations,
        matching.object_selector,
        matching.namespace_selector,
        result,
    )


def _of_what_has_a_namespace(
    selector: JsonObject, source: _Source, *, with_namespaces: bool
) -> dict[str, Condition]:
    """Return that what a policy's selector of namespaces takes has a namespace. An API server takes
    whatever has none, and a namespace for one that is in itself; for Kyverno a namespace fits no
    selector, and what has none is in one without labels."""
    result: dict[str, Condition] = {}
    if not source.has_namespace and not _takes_no_labels(selector):
        result["has-namespace"] = comparison(source.namespace, "!=", "''")
    if with_namespaces:
        result["is-no-namespace"] = _IS_NO_NAMESPACE
    return result


def _takes_no_labels(selector: JsonObject) -> bool:
    try:
        return label_selector(selector).matches({})
    except SelectorError:
        return False


_IS_NO_NAMESPACE: Final = comparison("request.kind.kind", "!=", "'Namespace'")


def _with_selectors(match: Matching, block: Filter, *, mutates: bool) -> Matching:
    """Return what a block matches with its selectors. Whether a policy's selector fits is asked
    before any policy changes the object, Kyverno asks each rule after the one before: so what the
    labels of a rule that mutates must be is a condition."""
    return Matching(
        match.rules,
        match.operations,
        None if mutates or _is_wild(block.selector) else block.selector,
        None if _is_wild(block.namespace_selector) else block.namespace_selector,
    )


def _is_wild(selector: JsonObject | None) -> bool:
    labels = (selector or {}).get("matchLabels") or {}
    # Kyverno replaces wildcards in `matchLabels` by what the object has (`pkg/engine/wildcards`,
    # `ReplaceInSelector`); a LabelSelector of Kubernetes takes them as they are.
    return any(has_wildcards(key) or has_wildcards(str(label)) for key, label in labels.items())


# --- Kinds -------------------------------------------------------------------

_VERSION: Final = re.compile(r"v\d+((alpha|beta)\d+)?|\*")


def resource_rules(kind: str, catalog: Catalog) -> list[ResourceRule]:
    """Return the resources that a kind of Kyverno means: `Kind`, `version/Kind`,
    `group/version/Kind`, each with a subresource behind `/` or `.`."""
    group, version, name, subresource = _parts(kind)
    if name == "*":
        return [ResourceRule(group, version, f"*/{subresource}" if subresource else "*")]
    resources = _resources(catalog, group, version, name)
    if not resources:
        plural = guess_resource(GroupVersionKind("", "", name)).resource
        resource = f"{plural}/{subresource}" if subresource else plural
        return [ResourceRule(group, version, resource, (), name)]
    # Where nothing is said of the version, any that is equivalent will do: the API server converts.
    is_open = "/" not in kind
    rules: dict[tuple[str, str], list[Resource]] = {}
    for item in resources:
        rules.setdefault((item.gvr.group, item.gvr.resource), []).append(item)
    return [
        ResourceRule(
            group_name,
            _version(same) if is_open else version,
            f"{plural}/{subresource}" if subresource else plural,
            () if subresource else (same[0].gvk,),
            # A request for a Namespace has its name for a namespace.
            has_namespace=all(
                resource.namespaced or resource.gvk.kind == "Namespace" for resource in same
            ),
        )
        for (group_name, plural), same in rules.items()
    ]


def _version(resources: Sequence[Resource]) -> str:
    """Return the version to match where a policy does not say one: any, if there is but one."""
    return "*" if len(resources) == 1 else resources[0].gvr.version


def _parts(kind: str) -> tuple[str, str, str, str]:
    """Return the group, version, kind and subresource that are meant; `*` is any. As Kyverno's
    `ParseKindSelector`. Raises NotTranslated."""
    *before, last = kind.split("/")
    match [*before, *last.split(".")]:
        case [name]:
            return "*", "*", name, ""
        case ["*", "*"]:
            return "*", "*", "*", "*"
        case ["*", subresource] if subresource == subresource.lower():
            return "*", "*", "*", subresource
        case [version, name] if _VERSION.fullmatch(version):
            return "*", version, name, ""
        case [name, subresource]:
            return "*", "*", name, subresource
        case [version, name, subresource] if _VERSION.fullmatch(version):
            return "*", version, name, subresource
        case [group, version, name]:
            return group, version, name, ""
        case [group, version, name, subresource]:
            return group, version, name, subresource
    raise NotTranslated(f"`{kind}` is no kind")


def _resources(catalog: Catalog, group: str, version: str, kind: str) -> list[Resource]:
    return [
        resource
        for resource in catalog
        if wildcard_match(kind, resource.gvk.kind)
        and (group == "*" or wildcard_match(group, resource.gvk.group))
        and wildcard_match(version, resource.gvk.version)
    ]


# --- Conditions --------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Source:
    """Conditions read here what requests are about."""

    has_namespace: bool
    """Whether all requests are known to have a namespace."""
    subject: str
    """The object, also where it is deleted."""
    is_named: bool = True
    """Whether objects have their names: generated ones come after what mutates."""
    operations: frozenset[str] = frozenset(OPERATIONS)
    """Those that requests may have."""

    @property
    def name(self) -> str:
        """The name of the object, or what is generated from."""
        about = f"{self.subject}.metadata"
        if self.is_named:
            return f"{about}.?name.orValue('')"
        return f"{about}.?name.or({about}.?generateName).orValue('')"

    @property
    def namespace(self) -> str:
        """The name of the namespace; empty where there is none."""
        return "request.namespace" if self.has_namespace else "request.?namespace.orValue('')"

    @property
    def namespace_labels(self) -> str:
        """Return the labels of the namespace; none where there is none."""
        step = "" if self.has_namespace else "?"
        return f"namespaceObject.{step}metadata.?labels.orValue({{}})"

    @property
    def labels(self) -> str:
        """Return the labels of the object."""
        return f"{self.subject}.metadata.?labels.orValue({{}})"


def subject_of(operations: Iterable[str]) -> str:
    """Return the object that requests with some operations are about: one that is deleted is in
    the old one only."""
    deletes = {operation == Operation.DELETE.name for operation in operations}
    if deletes == {True}:
        return "oldObject"
    return "(request.operation == 'DELETE' ? oldObject : object)" if True in deletes else "object"


def _any_or_all(filters: Filters, source: _Source, *, with_subresources: bool = False) -> Condition:
    """Return whether a request is among those that filters are for; `with_subresources`: the rule
    is for some, so those that no filter names are none that it is for."""
    together = conjunction if filters.all_of else disjunction
    return together(
        _block(block, source, with_subresources=with_subresources)
        if block.says_something
        else NEVER
        for block in filters.blocks
    )


def filtered(
    filters: Filters, kinds: Sequence[GroupVersionKind], operations: Iterable[str]
) -> Condition:
    """Return whether an object of some kinds is among those that filters are for. Raises
    NotTranslated."""
    subject = subject_of(operations)
    if not kinds:
        return _any_or_all(filters, _Source(has_namespace=False, subject=subject))
    together = conjunction if filters.all_of else disjunction
    return together(_of_known_kinds(block, kinds, subject) for block in filters.blocks)


def matched_before(rule: Rule, kinds: Sequence[GroupVersionKind]) -> Condition:
    """Return whether a rule that matches a request to change an object would have matched one to
    create it as it was before. Raises NotTranslated."""
    blocks = (*rule.match.blocks, *rule.exclude.blocks)
    if not any(
        block.annotations
        or block.selector
        or block.operations
        or _has_user(block)
        or _is_below(block)
        for block in blocks
    ):
        return ALWAYS  # kinds, names and namespaces are the same
    together = conjunction if rule.match.all_of else disjunction
    excluding = conjunction if rule.exclude.all_of else disjunction
    matched = together(_created_before(block, kinds) for block in rule.match.blocks)
    excluded = excluding(_created_before(block, kinds) for block in rule.exclude.blocks)
    return conjunction([matched, negation(excluded) if rule.exclude.blocks else ALWAYS])


def _created_before(block: Filter, kinds: Sequence[GroupVersionKind]) -> Condition:
    # Kyverno asks for the object itself, and for a user who does not exist
    # (`pkg/engine/handlers/validation/utils.go`, `matchResource`).
    is_asked = not block.operations or Operation.CREATE.name in block.operations
    if not block.says_something or not is_asked or _has_user(block) or _is_below(block):
        return NEVER
    block = replace(block, operations=())
    return _of_known_kinds(block, kinds, "oldObject") if block.says_something else ALWAYS


def _has_user(block: Filter) -> bool:
    return bool(block.subjects or block.roles or block.cluster_roles)


def _is_below(block: Filter) -> bool:
    """Return whether all kinds of a block are subresources."""
    return bool(block.kinds) and all(
        below not in ("", "*") for *_, below in map(_parts, block.kinds)
    )


def _of_known_kinds(block: Filter, kinds: Sequence[GroupVersionKind], subject: str) -> Condition:
    """Return a block of filters; kinds that are known to be meant, or not to be, are not asked
    for."""
    filter_kinds = [_parts(kind) for kind in block.kinds]
    if any(subresource for _, _, _, subresource in filter_kinds):
        raise NotTranslated("subresources of an exception")
    kind_matches = [
        any(
            wildcard_match(group, kind.group)
            and wildcard_match(version, kind.version)
            and wildcard_match(name, kind.kind)
            for group, version, name, _ in filter_kinds
        )
        for kind in kinds
    ]
    if not block.says_something or (block.kinds and not any(kind_matches)):
        return NEVER
    source = _Source(has_namespace=True, subject=subject)
    return _block(replace(block, kinds=()) if all(kind_matches) else block, source)


def _block(block: Filter, source: _Source, *, with_subresources: bool = False) -> Condition:
    return conjunction(
        [
            _of_kinds(block.kinds, with_subresources=with_subresources),
            _of_operations(block.operations, source.operations),
            *_conditions_of(block, Matching((), ()), source).values(),
        ]
    )


def _of_operations(named: Sequence[str], possible: frozenset[str]) -> Condition:
    """Return whether a request has one of these operations; any will do if there are none."""
    if not named or possible <= set(named):
        return ALWAYS
    if possible.isdisjoint(named):
        return NEVER
    return member("request.operation", literal(list(named)))


def _of_kinds(kinds: Sequence[str], *, with_subresources: bool = False) -> Condition:
    """Return whether a request is for one of these kinds; for any, if there are none. What is below
    an object may be of another kind (`PodExecOptions`), so there the resource is asked for."""
    if not kinds:
        return ALWAYS
    names: dict[tuple[str, str, str], list[str]] = {}
    for group, version, name, below in map(_parts, kinds):
        names.setdefault((group, version, below), []).append(name)
    return disjunction(
        _of_kind(group, version, of_these, below, with_subresources=with_subresources)
        for (group, version, below), of_these in names.items()
    )


def _of_kind(
    group: str, version: str, names: Sequence[str], below: str, *, with_subresources: bool
) -> Condition:
    subject = "request.resource" if below else "request.kind"
    name = f"{subject}.resource" if below else f"{subject}.kind"
    if below:
        names = [
            name if name == "*" else guess_resource(GroupVersionKind("", "", name)).resource
            for name in names
        ]
    tests = {f"{subject}.group": [group], f"{subject}.version": [version], name: names}
    if below or with_subresources:
        is_of_pods = not below and any(wildcard_match(name, "Pod") for name in names)
        tests["request.?subResource.orValue('')"] = [below, *["ephemeralcontainers"] * is_of_pods]
    return conjunction(
        _one_of(text, list(dict.fromkeys(patterns)))
        for text, patterns in tests.items()
        if "*" not in patterns
    )


def _one_of(text: str, patterns: Sequence[str]) -> Condition:
    plain = [pattern for pattern in patterns if not has_wildcards(pattern)]
    wild = [globbed(text, pattern) for pattern in patterns if has_wildcards(pattern)]
    if len(plain) == 1:
        wild = [comparison(text, "==", quoted(plain[0])), *wild]
    elif plain:
        wild = [member(text, literal(plain)), *wild]
    return disjunction(wild)


_MAY_ALL: Final = "authorizer.group('*').resource('*').check('*').allowed()"
"""What whoever is bound to `cluster-admin` may do. Policies do not see roles."""


def _conditions_of(block: Filter, beside: Matching, source: _Source) -> dict[str, Condition]:
    """Return what a block says besides kinds, and what of its selectors is not said already."""
    if block.unknown:
        raise NotTranslated(f"`{block.unknown[0]}` of resources")
    if block.roles or set(block.cluster_roles) - {"cluster-admin"}:
        raise NotTranslated(
            "roles of the user, which admission policies do not see",
            "Ask the authorizer what the user may do, or bind by groups.",
        )
    result: dict[str, Condition] = {}
    if block.names:
        result["has-name"] = _one_of(source.name, block.names)
    if block.namespaces:
        result["is-in-namespace"] = _one_of(source.namespace, block.namespaces)
    if block.annotations:
        result["has-annotations"] = conjunction(
            _has_entry(f"{source.subject}.metadata.?annotations.orValue({{}})", key, value)
            for key, value in block.annotations.items()
        )
    if block.selector and beside.object_selector is None:
        result["has-labels"] = _selected(source.labels, block.selector)
    if block.namespace_selector and beside.namespace_selector is None:
        fits = _selected(source.namespace_labels, block.namespace_selector)
        is_none = [] if source.has_namespace else [_IS_NO_NAMESPACE]
        result["namespace-has-labels"] = conjunction([*is_none, fits])
    if block.cluster_roles:
        result["is-by-cluster-admin"] = truth(_MAY_ALL)
    if block.subjects:
        result["is-by-subject"] = disjunction(map(_subject, block.subjects))
    return result


def _has_entry(entries: str, key: str, value: str) -> Condition:
    # Any pair that fits both patterns will do (`pkg/utils/match/annotations.go`,
    # `CheckAnnotations`).
    if has_wildcards(key):
        matched = conjunction([globbed("key", key), globbed(f"{entries}[key]", value)])
        return some(entries, "key", matched)
    if value == "*":
        return member(quoted(key), entries)
    labels = entries.removesuffix(".orValue({})")
    return conjunction(
        [
            truth(f"{labels}[?{quoted(key)}].hasValue()"),
            globbed(f"{labels}[?{quoted(key)}].orValue('')", value),
        ]
    )


def _selected(labels: str, selector: JsonObject) -> Condition:
    conditions = [
        _has_entry(labels, key, str(value))
        for key, value in (selector.get("matchLabels") or {}).items()
    ]
    for match_expression in selector.get("matchExpressions") or ():
        condition = member(quoted(match_expression["key"]), labels)
        value = f"{labels}[{quoted(match_expression['key'])}]"
        match match_expression["operator"]:
            case "Exists":
                conditions.append(condition)
            case "DoesNotExist":
                conditions.append(negation(condition))
            case "In":
                conditions += [condition, member(value, literal(list(match_expression["values"])))]
            # An absent label is in no list: so says LabelSelector, too.
            case "NotIn":
                is_other = negation(member(value, literal(list(match_expression["values"]))))
                conditions.append(disjunction([negation(condition), is_other]))
    return conjunction(conditions)


def _subject(subject: JsonObject) -> Condition:
    name = str(subject.get("name", ""))
    match subject.get("kind"):
        case "User":
            return globbed("request.userInfo.username", name)
        case "Group":
            return some("request.userInfo.groups", "group", globbed("group", name))
        case "ServiceAccount":
            # The name of a user whose token is that of a service account
            # (`pkg/utils/match/subjects.go`, `CheckSubjects`).
            user = f"system:serviceaccount:{subject.get('namespace', '')}:{name}"
            return globbed("request.userInfo.username", user)
    raise NotTranslated(f"a subject of kind `{subject.get('kind')}`")


def kinds_of(rules: Iterable[ResourceRule]) -> list[GroupVersionKind]:
    """Return the kinds that are known to be matched."""
    return list(dict.fromkeys(kind for rule in rules for kind in rule.kinds))
