"""CEL020 to CEL029: reading what is not there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Final

from celadon.admission.lint import flow
from celadon.admission.lint.findings import FieldPosition, Role, Severity, names_of
from celadon.admission.lint.lint_context import (
    ITEM,
    Access,
    Bundle,
    Case,
    Path,
    PolicyCase,
    Reading,
    Report,
    Rule,
    RuleCase,
    at_access,
    at_node,
    shown,
)
from celadon.cel.syntax import Ident, walk
from celadon.kube import FieldPath, GroupVersionKind
from celadon.kube.crd import OLD_SELF

_MOST_KINDS: Final = 10
"""Kinds that are asked whether a field may be absent; a policy about more is about all."""
_OWNERS: Final = {"request": "a request", **dict.fromkeys(flow.RULE_VARIABLES, "an object")}
_OPTIONAL_OF_REQUEST: Final = frozenset(
    {
        ("request", "subResource"),
        ("request", "requestSubResource"),
        ("request", "namespace"),
        ("request", "userInfo", "uid"),
        ("request", "userInfo", "extra"),
    }
)


def _reads(case: PolicyCase, root: str) -> Iterator[Access]:
    """Yield the first reads of fields right below a variable that may be null, one per
    expression."""
    seen = set()
    for access in case.accesses:
        is_present = (root,) in access.facts.present
        if len(access.path) == 2 and access.path[0] == root and not is_present:
            key = (access.expression.path, access.within.path)
            if access.reading is Reading.READ and key not in seen:
                seen.add(key)
                yield access


def _object_on_delete(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        for access in _reads(case, "object"):
            if "DELETE" in access.facts.operations:
                yield Report(
                    at_access(case.document, access),
                    f"`object` is null on DELETE, so `{shown(access.path)}` fails",
                    "test `object != null` first, or take DELETE out of the operations",
                )


def _old_object_on_create(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        for access in _reads(case, "oldObject"):
            without = sorted(access.facts.operations & {"CREATE", "CONNECT"})
            if without:
                yield Report(
                    at_access(case.document, access),
                    f"`oldObject` is null on {' and '.join(without)}, so `{shown(access.path)}` "
                    "fails",
                    f"test `oldObject != null` first, or take {' and '.join(without)} out of the "
                    "operations",
                )
    for rules in bundle.rules:
        yield from _old_self_on_create(rules)


def _old_self_on_create(case: RuleCase) -> Iterator[Report]:
    """Report rules with `optionalOldSelf` that take out what may not be there."""
    for access in case.accesses:
        if access.within.role is not Role.RULE or access.path != (OLD_SELF,):
            continue
        if access.reading is Reading.VALUE and _may_lack(access):
            yield Report(
                at_access(case.document, access),
                "`oldSelf` is empty on CREATE, so `oldSelf.value()` fails",
                "test `oldSelf.hasValue()` first, or use `oldSelf.optMap`",
            )


def _namespace_object(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        clustered = [kind for kind in case.kinds if _is_clustered(bundle, kind)]
        for access in _reads(case, "namespaceObject"):
            if access.within.role is Role.CONDITION:
                message = "`namespaceObject` is always null in match conditions"
                help = "move the test into the validations, or use a namespaceSelector"
            elif clustered:
                message = f"`namespaceObject` is null for {clustered[0].kind}, which is in none"
                help = "test `namespaceObject != null` first"
            else:
                continue
            yield Report(at_access(case.document, access), message, help)


def _is_clustered(bundle: Bundle, kind: GroupVersionKind) -> bool:
    resource = bundle.catalog.by_gvk(kind)
    return resource is not None and not resource.namespaced


def _authorizer(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        for expression in case.of(Role.ANNOTATION):
            for node in walk(expression.checked.root) if expression.checked is not None else ():
                if node.__class__ is Ident and node.name.partition(".")[0] == "authorizer":
                    yield Report(
                        at_node(case.document, expression, node),
                        "`authorizer` has no value in audit annotations: the expression fails",
                        "compute it in a validation instead",
                    )


def _params(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        if case.spec.param_kind is None:
            continue
        for binding in bundle.bound.get(case.name, ()):
            if binding.spec.param_ref is None:
                for access in _reads(case, "params"):
                    yield Report(
                        at_access(case.document, access),
                        f"`params` is null for binding `{binding.name}`, which has no paramRef",
                        "test `params != null` first, or give the binding a paramRef",
                    )
                break


def _optional_fields(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.cases:
        seen: set[tuple[FieldPath, Path]] = set()
        lacking = cache(partial(absent_in, bundle, case))
        for access in case.accesses:
            field, path = access.expression.path, access.path
            if access.within.role is Role.MESSAGE or not _may_fail(access):
                continue
            if any((field, path[:length]) in seen for length in range(1, len(path) + 1)):
                continue  # said already, of this field or of one above it
            kinds = lacking(path)
            if kinds:
                seen.add((field, path))
                yield _absent(case.document, access, kinds[0])


def _may_fail(access: Access) -> bool:
    return access.reading is Reading.READ and _may_lack(access)


def _may_lack(access: Access) -> bool:
    return access.path not in access.facts.present


def absent_in(bundle: Bundle, case: Case, path: Path) -> list[str]:
    """Return the kinds that declare the field and may lack it. `request` counts as one, and what a
    rule of a definition is about."""
    if isinstance(case, RuleCase):
        return _absent_in_rule(case, path)
    if path[0] == "request":
        if path == ("request", "namespace") and not any(
            _is_clustered(bundle, kind) for kind in case.kinds
        ):
            return []
        return ["request"] if path in _OPTIONAL_OF_REQUEST else []
    if path[0] not in ("object", "oldObject") or path[-1] == ITEM or len(path) < 2:
        return []
    result = []
    for kind in case.kinds[:_MOST_KINDS]:
        schema = bundle.schema(kind)
        if schema is None or flow.field_schema(schema, path[1:]) is None:
            continue
        if not flow.is_present(schema, kind, path[1:]):
            result.append(kind.kind)
    return result


def _absent_in_rule(case: RuleCase, path: Path) -> list[str]:
    below = path[1:]
    if (
        path[0] not in flow.RULE_VARIABLES
        or not below
        or flow.node_of_rule(case.node, below) is None
    ):
        return []
    return [] if flow.is_demanded_of_rule(case.node, below, is_root=case.is_root) else [path[0]]


def _absent(document: int, access: Access, kind: str) -> Report:
    field = shown(access.path)
    owner = _OWNERS.get(kind) or f"a {kind}"
    name = access.path[-1]
    parent = shown(access.path[:-1])
    guard = f"has({field})" if name.isidentifier() else f"'{name}' in {parent}"
    fails = "the rule can fail" if kind in flow.RULE_VARIABLES else "the expression fails"
    return Report(
        at_access(document, access),
        f"{owner} need not have `{field}`; without it {fails} with `no such key: {name}`",
        f"guard it with `{guard}`, or read it with `?` and `orValue`",
    )


def _fragile_messages(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.cases:
        seen: set[FieldPath] = set()
        if isinstance(case, RuleCase):
            for report in _messages_without_old_self(case):
                seen.add(report.spot.path)
                yield report
        for access in case.accesses:
            within = access.within
            if within.role is not Role.MESSAGE or within.path in seen or not _may_fail(access):
                continue
            if absent_in(bundle, case, access.path):
                seen.add(within.path)
                spot = at_access(case.document, access)
                message = f"`{shown(access.path)}` may be absent: then this message is not shown"
                help = "guard it, and set `message` for the case that it fails"
                falls_back = case.sources[within.index].message
                yield Report(spot, message, help, severity=Severity.INFO if falls_back else None)


def _messages_without_old_self(case: RuleCase) -> Iterator[Report]:
    """Yield the message expressions that name `oldSelf` where it has no value."""
    rules = {
        expression.index: expression
        for expression in case.expressions
        if expression.role is Role.RULE
    }
    for expression in case.expressions:
        if expression.role is not Role.MESSAGE or OLD_SELF not in names_of(expression):
            continue
        source = case.sources[expression.index]
        if source.optional_old_self:
            when = "messages get no optional, so with `optionalOldSelf` this one is not shown"
        elif OLD_SELF not in names_of(rules[expression.index]):
            when = "there is none when an object is created: then this message is not shown"
        else:
            continue
        yield Report(
            FieldPosition(case.document, expression.path),
            f"`oldSelf`: {when}",
            "leave it out of the message",
            severity=Severity.INFO if source.message else None,
        )


RULES: Final = (
    Rule(
        "CEL020",
        "object-on-delete",
        Severity.ERROR,
        "On DELETE there is no new object: `object` is null and every field of it is an error, "
        "which denies the request under `failurePolicy: Fail`.",
        "matchConstraints:\n  resourceRules:\n  - {apiGroups: [apps], apiVersions: [v1], "
        "operations: [DELETE], resources: [deployments]}\n"
        "validations:\n- expression: object.metadata.name != 'web'\n",
        "matchConstraints:\n  resourceRules:\n  - {apiGroups: [apps], apiVersions: [v1], "
        "operations: [DELETE], resources: [deployments]}\n"
        "validations:\n- expression: oldObject.metadata.name != 'web'\n",
        _object_on_delete,
    ),
    Rule(
        "CEL021",
        "old-object-on-create",
        Severity.ERROR,
        "On CREATE and CONNECT nothing existed before: `oldObject` is null and every field of it "
        "is an error, which denies the request under `failurePolicy: Fail`. So it is with "
        "`oldSelf` in rules of CustomResourceDefinitions that have `optionalOldSelf`.",
        "validations:\n- expression: oldObject.spec.replicas <= object.spec.replicas\n",
        "validations:\n- expression: oldObject == null || oldObject.spec.replicas <= "
        "object.spec.replicas\n",
        _old_object_on_create,
    ),
    Rule(
        "CEL022",
        "namespace-object-null",
        Severity.ERROR,
        "`namespaceObject` is null for cluster-scoped objects, for Namespaces themselves, and, "
        "whatever the object, in match conditions. Reading a field of null is an error.",
        "matchConditions:\n- name: prod\n  expression: namespaceObject.metadata.name == 'prod'\n"
        "validations:\n- expression: 'false'\n",
        "validations:\n- expression: namespaceObject.metadata.name != 'prod'\n",
        _namespace_object,
    ),
    Rule(
        "CEL023",
        "authorizer-in-annotation",
        Severity.ERROR,
        "An audit annotation may name `authorizer` when the policy is written, but it has no value "
        "when the annotation is computed, so the expression always fails.",
        "auditAnnotations:\n- key: k\n  valueExpression: \"authorizer.path('/x').check('get')"
        '.reason()"\n',
        "auditAnnotations:\n- key: k\n  valueExpression: \"'by ' + request.userInfo.username\"\n",
        _authorizer,
    ),
    Rule(
        "CEL024",
        "params-null",
        Severity.ERROR,
        "A binding without `paramRef` evaluates the policy with `params == null`. Reading a field "
        "of it is an error: test for null, or give every binding params.",
        "kind: ValidatingAdmissionPolicy\nmetadata: {name: p}\nspec:\n"
        "  paramKind: {apiVersion: v1, kind: ConfigMap}\n"
        "  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], "
        "operations: [CREATE], resources: [deployments]}]}\n"
        "  validations:\n  - expression: params.data.max != '0'\n---\n"
        "kind: ValidatingAdmissionPolicyBinding\nmetadata: {name: b}\n"
        "spec: {policyName: p, validationActions: [Deny]}\n",
        "kind: ValidatingAdmissionPolicy\nmetadata: {name: p}\nspec:\n"
        "  paramKind: {apiVersion: v1, kind: ConfigMap}\n"
        "  matchConstraints: {resourceRules: [{apiGroups: [apps], apiVersions: [v1], "
        "operations: [CREATE], resources: [deployments]}]}\n"
        "  validations:\n  - expression: params == null || params.data.max != '0'\n---\n"
        "kind: ValidatingAdmissionPolicyBinding\nmetadata: {name: b}\n"
        "spec: {policyName: p, validationActions: [Deny]}\n",
        _params,
    ),
    Rule(
        "CEL025",
        "optional-field",
        Severity.WARNING,
        "The field is read as if it were always there, but an object may come without it, even "
        "after the API server has set its defaults. Reading an absent field is an error, which "
        "denies the request under `failurePolicy: Fail` and lets it pass under `Ignore`. A rule of "
        "a CustomResourceDefinition that fails refuses the object.",
        "validations:\n- expression: object.metadata.labels['team'] != ''\n",
        "validations:\n- expression: has(object.metadata.labels) && 'team' in object.metadata."
        "labels && object.metadata.labels['team'] != ''\n",
        _optional_fields,
    ),
    Rule(
        "CEL026",
        "fragile-message",
        Severity.WARNING,
        "The message expression reads a field that may be absent. If it fails, the policy still "
        "denies, but the user sees `message`, or the text of the expression when there is none. In "
        "rules of CustomResourceDefinitions, `oldSelf` may be what is not there.",
        "validations:\n- expression: 'false'\n"
        "  messageExpression: \"'team is ' + object.metadata.labels['team']\"\n",
        "validations:\n- expression: 'false'\n  message: no team\n"
        "  messageExpression: \"'team ' + object.metadata.?labels['team'].orValue('none')\"\n",
        _fragile_messages,
    ),
)
