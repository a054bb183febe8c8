"""CEL010 to CEL019: expressions and rules that do not fit the kinds they are about; CEL030 to
CEL039: values that are not what they look like.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator
from typing import Final

from celadon.admission.lint.findings import FieldPosition, PolicyExpression, Replacement, Severity
from celadon.admission.lint.flow import OPERATION, field_schema, node_of_rule
from celadon.admission.lint.lint_context import (
    OPERATIONS,
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
    at_offset,
    shown,
)
from celadon.admission.registration.registration_types import Rule as ResourceRule
from celadon.cel import Issue, syntax, types
from celadon.kube import FieldPath, GroupVersionKind
from celadon.kube.crd import SELF
from celadon.kube.schemas import escape

# --- Types -------------------------------------------------------------------
#
# CEL010 to CEL019: expressions and rules that do not fit the kinds they are about.

_MOST_SHOWN: Final = 3
_BUILT_IN_SUFFIX: Final = ".k8s.io"


def _type_errors(bundle: Bundle) -> Iterator[Report]:
    for case, mistake in bundle.mistakes:
        if not is_comparison(mistake.node):
            yield Report(
                at_offset(case.document, mistake.expression, mistake.issue.offset),
                f"{mistake.issue.message}{_for_kinds(case, mistake.kinds)}",
            )


def is_comparison(node: syntax.Expr | None) -> bool:
    """Tell whether the node compares values. At run time, values of different types are unequal,
    which is no error."""
    return node.__class__ is syntax.Call and node.function in (
        syntax.EQUALS,
        syntax.NOT_EQUALS,
        syntax.IN,
    )


def _for_kinds(case: PolicyCase, kinds: tuple[GroupVersionKind, ...]) -> str:
    if len(kinds) == len(case.kinds) > 1:
        return ", for every kind that the policy matches"
    names = list(dict.fromkeys(kind.kind for kind in kinds))
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return f", for {', '.join(names[:_MOST_SHOWN])}{more}"


def _status_warnings(bundle: Bundle) -> Iterator[Report]:
    """Yield what the status controller will say, unless it is true, too."""
    true = {
        (case.document, mistake.expression.path, mistake.issue.offset)
        for case, mistake in bundle.mistakes
    }
    expressions = {
        (case.document, expression.path): expression
        for case in bundle.policies
        for expression in case.expressions
    }
    seen = set()
    for case, problem in bundle.problems:
        expression = expressions[case.document, problem.path]
        if expression.checked is None:
            continue
        for issue in problem.issues:
            key = (case.document, problem.path, issue.offset)
            if key not in true and key not in seen:
                seen.add(key)
                yield _status_warning(case, expression, problem.kind, issue)


def _status_warning(
    case: PolicyCase, expression: PolicyExpression, kind: GroupVersionKind, issue: Issue
) -> Report:
    text = issue.message.replace(f"{kind.kind}0", kind.kind)
    return Report(
        at_offset(case.document, expression, issue.offset),
        f"`status.typeChecking` will warn about {kind.kind}: {text}",
        "the expression works all the same: the published schema is not what the data is",
    )


def _unknown_resources(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        match = case.spec.match_constraints
        for i, rule in enumerate(() if match is None else match.resource_rules):
            for j, resource in enumerate(rule.resources):
                problem = _unknown_resource(bundle, rule, resource)
                if problem is not None:
                    path = FieldPath("spec", "matchConstraints", "resourceRules", i, "resources", j)
                    message, help = problem
                    yield Report(FieldPosition(case.document, path), message, help)


def _unknown_resource(bundle: Bundle, rule: ResourceRule, pattern: str) -> tuple[str, str] | None:
    resource, _, below = pattern.partition("/")
    if "*" in (resource, *rule.api_groups, *rule.api_versions) or not resource:
        return None
    if any(_is_foreign(bundle, group) for group in rule.api_groups):
        return None
    named = [
        resource
        for resource in bundle.catalog
        if resource.gvr.group in rule.api_groups and resource.gvr.version in rule.api_versions
    ]
    resources = [candidate for candidate in named if candidate.gvr.resource == resource]
    if not resources:
        versions = ", ".join(
            f"{g or 'core'}/{v}" for g in rule.api_groups for v in rule.api_versions
        )
        help = _nearest(resource, [resource.gvr.resource for resource in named])
        return f"there is no resource `{resource}` in {versions}, so this matches nothing", help
    names = [subresource.name for owner in resources for subresource in owner.subresources]
    if below and below != "*" and below not in names:
        return f"`{resource}` has no subresource `{below}`", _nearest(below, names)
    return None


def _is_foreign(bundle: Bundle, group: str) -> bool:
    """Return whether a group may be a CRD's or an aggregated server's."""
    if any(resource.gvr.group == group for resource in bundle.catalog):
        return False
    return "." in group and not group.endswith(_BUILT_IN_SUFFIX)


def _nearest(word: str, names: Iterable[str]) -> str:
    close = difflib.get_close_matches(word.lower(), sorted(set(names)), n=1)
    return f"did you mean `{close[0]}`?" if close else ""


TYPE_RULES: Final = (
    Rule(
        "CEL010",
        "status-warning",
        Severity.INFO,
        "The API server's own type check will report this in `status.typeChecking`, although the "
        "expression works: it sees published schemas, in which quantities, preserved fields and "
        "integral numbers look different from the data. Nothing has to be done; `dyn(...)` around "
        "the operand keeps the status clean.",
        'validations:\n- expression: "object.spec.template.spec.containers.all(c, '
        "!has(c.resources.limits) || 'cpu' in c.resources.limits)\"\n",
        "validations:\n- expression: object.spec.replicas <= 5\n",
        _status_warnings,
    ),
    Rule(
        "CEL011",
        "type-error",
        Severity.ERROR,
        "The expression does not fit the objects it will meet: the field does not exist, or the "
        "function does not take what it gets. It fails whenever it gets so far. Every kind that "
        "the rules match is looked at, behind wildcards, too, and every expression of the policy.",
        "validations:\n- expression: object.spec.replica <= 5\n",
        "validations:\n- expression: object.spec.replicas <= 5\n",
        _type_errors,
    ),
    Rule(
        "CEL012",
        "unknown-resource",
        Severity.WARNING,
        "A rule names a resource or subresource that its groups and versions do not have, so it "
        "matches nothing. Resources are written in lower case and in the plural.",
        "matchConstraints:\n  resourceRules:\n  - {apiGroups: [apps], apiVersions: [v1], "
        "operations: [CREATE], resources: [deployment]}\nvalidations:\n- expression: 'false'\n",
        "validations:\n- expression: 'false'\n",
        _unknown_resources,
    ),
)

_ANCHORS: Final = ("^", "$", "\\A", "\\z", "\\b", "(?i)^")
_UNUSABLE: Final = frozenset({"UID", "creationTimestamp", "deletionTimestamp"})
_KIND: Final = ("request", "kind", "kind")
_MAY_BE_EMPTY: Final = frozenset({types.Kind.LIST, types.Kind.MAP})
"""Two of these are equal when nothing is in them, whatever their types say of what could be."""


def _constant_comparisons(bundle: Bundle) -> Iterator[Report]:
    for policy, mistake in bundle.mistakes:
        if is_comparison(mistake.node):
            left, right = mistake.issue.types
            explanation = f"{left.display()} is never equal to {right.display()}"
            if mistake.node.__class__ is syntax.Call and mistake.node.function == syntax.IN:
                explanation = f"{right.display()} never contains {left.display()}"
                right = right.params[0] if right.params else right
            verdict = _verdict(mistake.node)
            if left.kind is right.kind in _MAY_BE_EMPTY:
                verdict = f"{_verdict(mistake.node, but='almost ')}, unless both are empty"
            yield Report(
                at_offset(policy.document, mistake.expression, mistake.issue.offset),
                f"this is {verdict}: {explanation}",
                _null_help(right),
            )
    for case in bundle.cases:
        for expression in case.expressions:
            for node in nodes_of(expression):
                reason = _constant(bundle, case, node) if is_comparison(node) else ""
                if reason:
                    message = f"this is {_verdict(node)}: {reason}"
                    yield Report(at_node(case.document, expression, node), message)


def nodes_of(expression: PolicyExpression) -> list[syntax.Expr]:
    """Return all nodes of an expression; none of one that does not compile."""
    return [] if expression.checked is None else syntax.walk(expression.checked.root)


def _verdict(node: syntax.Expr | None, *, but: str = "") -> str:
    negative = node.__class__ is syntax.Call and node.function == syntax.NOT_EQUALS
    return f"{but}always {'true' if negative else 'false'}"


def _null_help(right: types.Type) -> str:
    return "test with `has(...)` whether the field is there" if right == types.NULL else ""


def _constant(bundle: Bundle, case: Case, node: syntax.Expr) -> str:
    """Return why a comparison has only one outcome; empty if it may have both."""
    assert node.__class__ is syntax.Call
    left, right = node.args
    if node.function == syntax.IN:
        texts = _texts(right)
    else:
        if left.__class__ is syntax.Literal:
            left, right = right, left
        texts = _texts(syntax.ListLiteral(0, (right,)))
    path = plain_path(left)
    if path is None or texts is None:
        return ""
    if isinstance(case, RuleCase):
        return _outside_of_rule(case, path, texts)
    if path == OPERATION and not OPERATIONS & case.operations & texts:
        return f"the policy matches {' and '.join(sorted(case.operations))}"
    if path == _KIND and case.kinds and not texts & {kind.kind for kind in case.kinds}:
        return f"the policy does not match {_one_of(texts)}"
    return _enumeration(bundle, case, path, texts)


def _texts(node: syntax.Expr) -> set[str] | None:
    """Return the values of a list of string literals."""
    if node.__class__ is not syntax.ListLiteral or not node.elements:
        return None
    values = [
        element.value if element.__class__ is syntax.Literal else None for element in node.elements
    ]
    texts = {value for value in values if isinstance(value, str)}
    return texts if len(texts) == len(set(values)) else None


def plain_path(node: syntax.Expr) -> Path | None:
    """Return a chain of selections from a variable of the policy's own language."""
    steps: list[str] = []
    while node.__class__ is syntax.Select and not node.test_only:
        steps.append(node.field)
        node = node.operand
    if node.__class__ is not syntax.Ident:
        return None
    return (node.name, *reversed(steps))


def _enumeration(bundle: Bundle, case: PolicyCase, path: Path, texts: set[str]) -> str:
    if path[0] not in ("object", "oldObject") or not case.kinds:
        return ""
    allowed: list[str] = []
    for kind in case.kinds:
        schema = bundle.schema(kind)
        field = None if schema is None else field_schema(schema, path[1:])
        allowed = (
            [] if field is None else [choice for choice in field.enum if isinstance(choice, str)]
        )
        if not allowed or texts.intersection(allowed):
            return ""
    return _listed(path, allowed)


def _outside_of_rule(case: RuleCase, path: Path, texts: set[str]) -> str:
    """`oldSelf` is not asked: what is stored may be from before the enumeration."""
    field = node_of_rule(case.node, path[1:]) if path[0] == SELF else None
    allowed = [] if field is None else [choice for choice in field.enum if isinstance(choice, str)]
    return "" if not allowed or texts.intersection(allowed) else _listed(path, allowed)


def _listed(path: Path, allowed: list[str]) -> str:
    listed = ", ".join(f"'{text}'" for text in allowed)
    return f"`{shown(path)}` is one of {listed}"


def _one_of(texts: set[str]) -> str:
    return " or ".join(sorted(texts))


def _unanchored(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.cases:
        for expression in case.expressions:
            nodes = nodes_of(expression)
            denied = {
                id(node.args[0])
                for node in nodes
                if node.__class__ is syntax.Call and node.function == "!_"
            }
            for node in nodes:
                if node.__class__ is not syntax.Call or node.function != "matches":
                    continue
                if id(node) in denied:
                    continue  # what contains a match is refused
                pattern = node.args[-1]
                text = pattern.value if pattern.__class__ is syntax.Literal else None
                if isinstance(text, str) and not any(anchor in text for anchor in _ANCHORS):
                    yield Report(
                        at_node(case.document, expression, pattern),
                        f"`{text}` may match anywhere in the text, not only all of it",
                        "write `^` and `$` around it, or use `contains`, `startsWith`, `endsWith`",
                    )


def _escapes(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        for access in case.accesses:
            name = access.path[-1]
            if access.reading is Reading.TEST or "__" not in name or access.path[0] == "request":
                continue
            raw = _raw_name(bundle, case, access.path)
            if raw is not None and access.node.__class__ is syntax.Select:
                yield Report(
                    at_access(case.document, access),
                    f"`{name}` is not unescaped in policies: the field is called `{raw}`",
                    f"write `{_selection(raw)}`",
                    _unescaped(case.document, access.expression, access.offset, name, raw),
                )


def _raw_name(bundle: Bundle, case: PolicyCase, path: Path) -> str | None:
    """Return the declared field that an escaped name means, where no field has that name itself."""
    for kind in case.kinds:
        schema = bundle.schema(kind)
        parent = None if schema is None else field_schema(schema, path[1:-1])
        members = {} if parent is None else parent.properties
        if path[-1] in members:
            return None
        for raw in members:
            if raw != path[-1] and escape(raw) == path[-1]:
                return raw
    return None


def _selection(raw: str) -> str:
    return f".{raw}" if raw.isidentifier() else f"['{raw}']"


def _unescaped(
    document: int, expression: PolicyExpression, offset: int | None, name: str, raw: str
) -> Replacement | None:
    """Return the correction of a selection that is spelled out as `.name`; None for any other."""
    if offset is None:
        return None
    old = f".{name}"
    start = offset - expression.shift
    if expression.text[start : start + len(old)] != old or "'" in raw or "\\" in raw:
        return None
    return Replacement(FieldPosition(document, expression.path, offset), old, _selection(raw))


def _namespace_metadata(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.policies:
        for access in case.accesses:
            path = access.path
            if path[:2] != ("namespaceObject", "metadata") or path[2:3] == ():
                continue
            if path[2] not in _UNUSABLE or access.reading is not Reading.READ:
                continue
            if path[2] == "UID":
                message = "the data has `uid`, not `UID`: this always fails"
                help = "write `dyn(namespaceObject).metadata.uid`"
            else:
                message = f"`{path[2]}` is a text at run time, though it is declared a timestamp"
                help = f"write `timestamp(dyn(namespaceObject).metadata.{path[2]})`"
            yield Report(at_access(case.document, access), message, help)


def _self_comparisons(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.cases:
        for expression in case.expressions:
            for node in nodes_of(expression):
                if node.__class__ is syntax.Call and node.function in (
                    syntax.EQUALS,
                    syntax.NOT_EQUALS,
                ):
                    left, right = map(plain_path, node.args)
                    if left is not None and left == right:
                        verdict = (
                            "always true" if node.function == syntax.EQUALS else "always false"
                        )
                        message = f"this is {verdict}: both sides are `{shown(left)}`"
                        yield Report(at_node(case.document, expression, node), message)


def _constant_loops(bundle: Bundle) -> Iterator[Report]:
    """Yield each `all` and `exists` whose predicate does not look at the element."""
    for case in bundle.cases:
        for expression in case.expressions:
            for node in nodes_of(expression):
                if node.__class__ is not syntax.Comprehension or node.accu_var != "@result":
                    continue
                used = {
                    inner.name
                    for inner in syntax.walk(node.step)
                    if inner.__class__ is syntax.Ident
                }
                if node.iter_var not in used and node.iter_var2 not in used:
                    yield Report(
                        at_node(case.document, expression, node.iter_range),
                        f"the loop does not look at `{node.iter_var}`",
                        "test the element, or leave the loop out",
                    )


_GIZMO: Final = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gizmos.example.com}
spec:
  group: example.com
  names: {plural: gizmos, kind: Gizmo}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            type: object
            required: [max-size]
            properties: {max-size: {type: integer}}
---
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [gizmos]}
  validations:
"""

RULES: Final = (
    Rule(
        "CEL030",
        "constant-comparison",
        Severity.WARNING,
        "The comparison has only one outcome: values of different types are never equal, the field "
        "cannot have that value, or the policy never sees such a request. Usually a value is "
        "misspelt or has the wrong type.",
        "validations:\n- expression: request.operation != 'DELETE'\n",
        "validations:\n- expression: request.operation != 'UPDATE'\n",
        _constant_comparisons,
    ),
    Rule(
        "CEL031",
        "same-operands",
        Severity.WARNING,
        "Both sides of the comparison are the same field, so its outcome is fixed. Often one of "
        "them was meant to be `oldObject`.",
        "validations:\n- expression: object.spec.replicas == object.spec.replicas\n",
        "validations:\n- expression: oldObject == null || object.spec.replicas == "
        "oldObject.spec.replicas\n",
        _self_comparisons,
    ),
    Rule(
        "CEL032",
        "unanchored-regex",
        Severity.WARNING,
        "`matches` looks for the pattern anywhere in the text. Without `^` or `$` a pattern that "
        "was meant to describe the whole text accepts any text that contains a match, which is how "
        "a list of allowed registries or names is got around. A pattern of what is denied "
        "(`!x.matches('…')`) is not meant.",
        "validations:\n- expression: \"object.metadata.name.matches('web-[0-9]+')\"\n",
        "validations:\n- expression: \"object.metadata.name.matches('^web-[0-9]+$')\"\n",
        _unanchored,
    ),
    Rule(
        "CEL033",
        "escaped-name",
        Severity.ERROR,
        "Escaped names (`__dash__`, `__namespace__`, ...) mean something in CRD validation rules. "
        "Policies see plain JSON, where only the raw name exists: the type check accepts the "
        "escaped one, and the expression fails.",
        _GIZMO + "  - expression: object.spec.max__dash__size <= 5\n",
        _GIZMO + "  - expression: object.spec['max-size'] <= 5\n",
        _escapes,
    ),
    Rule(
        "CEL034",
        "namespace-metadata",
        Severity.ERROR,
        "Some fields of `namespaceObject.metadata` are declared other than they are: `UID` does "
        "not exist, and the times are texts. The expression compiles, and fails.",
        "validations:\n- expression: namespaceObject.metadata.UID != ''\n",
        "validations:\n- expression: namespaceObject.metadata.name != ''\n",
        _namespace_metadata,
    ),
    Rule(
        "CEL035",
        "unused-element",
        Severity.WARNING,
        "The predicate of a loop does not look at the element, so it says the same about all of "
        "them, and nothing about an empty list.",
        "validations:\n- expression: object.spec.template.spec.containers.all(c, "
        "object.metadata.name != '')\n",
        "validations:\n- expression: object.spec.template.spec.containers.all(c, c.name != '')\n",
        _constant_loops,
    ),
)
