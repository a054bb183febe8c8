"""CEL020 to CEL029: reading what is not there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from typing import Final

from celadon.admission.lint.model.access_facts import ITEM, Access, Path, Reading
from celadon.admission.lint.model.findings import Severity
from celadon.admission.lint.model.lint_rule import Rule
from celadon.admission.lint.model.policy_expressions import Role
from celadon.admission.lint.model.rule_reports import Report, at_access, at_node, shown
from celadon.admission.lint.model.subjects import Bundle, PolicyCase
from celadon.admission.lint.trees.presence import field_schema, is_present
from celadon.cel.syntax import Ident, walk
from celadon.kube import FieldPath, GroupVersionKind

_MOST_KINDS: Final = 10
"""Kinds that are asked whether a field may be absent; a policy about more is about all."""
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
    """The first reads of fields right below a variable that may be null, one per expression."""
    seen = set()
    for access in case.accesses:
        known = (root,) in access.facts.present
        if len(access.path) == 2 and access.path[0] == root and not known:
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
        for one in case.of(Role.ANNOTATION):
            for node in walk(one.checked.root) if one.checked is not None else ():
                if node.__class__ is Ident and node.name.partition(".")[0] == "authorizer":
                    yield Report(
                        at_node(case.document, one, node),
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
    for case in bundle.policies:
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
                yield _absent(case, access, kinds[0])


def _may_fail(access: Access) -> bool:
    return access.reading is Reading.READ and access.path not in access.facts.present


def absent_in(bundle: Bundle, case: PolicyCase, path: Path) -> list[str]:
    """The kinds that declare the field and may lack it. `request` counts as one."""
    if path[0] == "request":
        if path == ("request", "namespace") and not any(
            _is_clustered(bundle, kind) for kind in case.kinds
        ):
            return []
        return ["request"] if path in _OPTIONAL_OF_REQUEST else []
    if path[0] not in ("object", "oldObject") or path[-1] == ITEM or len(path) < 2:
        return []
    found = []
    for kind in case.kinds[:_MOST_KINDS]:
        schema = bundle.schema(kind)
        if schema is None or field_schema(schema, path[1:]) is None:
            continue
        if not is_present(schema, kind, path[1:]):
            found.append(kind.kind)
    return found


def _absent(case: PolicyCase, access: Access, kind: str) -> Report:
    field = shown(access.path)
    of = "a request" if kind == "request" else f"a {kind}"
    name = access.path[-1]
    parent = shown(access.path[:-1])
    guard = f"has({field})" if name.isidentifier() else f"'{name}' in {parent}"
    return Report(
        at_access(case.document, access),
        f"{of} need not have `{field}`; without it the expression fails with `no such key: {name}`",
        f"guard it with `{guard}`, or read it with `?` and `orValue`",
    )


def _fragile_messages(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        seen: set[FieldPath] = set()
        for access in case.accesses:
            within = access.within
            if within.role is not Role.MESSAGE or within.path in seen or not _may_fail(access):
                continue
            if absent_in(bundle, case, access.path):
                seen.add(within.path)
                spot = at_access(case.document, access)
                message = f"`{shown(access.path)}` may be absent: then this message is not shown"
                help = "guard it, and set `message` for the case that it fails"
                falls_back = case.spec.validations[within.index].message
                yield Report(spot, message, help, severity=Severity.INFO if falls_back else None)


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
        "is an error, which denies the request under `failurePolicy: Fail`.",
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
        "denies the request under `failurePolicy: Fail` and lets it pass under `Ignore`.",
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
        "denies, but the user sees `message`, or the text of the expression when there is none.",
        "validations:\n- expression: 'false'\n"
        "  messageExpression: \"'team is ' + object.metadata.labels['team']\"\n",
        "validations:\n- expression: 'false'\n  message: no team\n"
        "  messageExpression: \"'team ' + object.metadata.?labels['team'].orValue('none')\"\n",
        _fragile_messages,
    ),
)
