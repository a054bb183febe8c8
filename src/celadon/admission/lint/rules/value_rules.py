"""CEL030 to CEL039: values that are not what they look like."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from celadon.admission.lint.findings import PolicyExpression, Replacement, Severity, Spot
from celadon.admission.lint.lint_rule import Report, Rule, at_access, at_node, at_offset, shown
from celadon.admission.lint.rules.type_rules import is_comparison
from celadon.admission.lint.subjects import (
    OPERATIONS,
    Bundle,
    Case,
    Path,
    PolicyCase,
    Reading,
    RuleCase,
)
from celadon.admission.lint.trees.flow import OPERATION
from celadon.admission.lint.trees.presence import field_schema, node_of_rule
from celadon.cel import syntax, types
from celadon.kube.crd import SELF
from celadon.kube.schemas import escape

_ANCHORS: Final = ("^", "$", "\\A", "\\z", "\\b", "(?i)^")
_UNUSABLE: Final = frozenset({"UID", "creationTimestamp", "deletionTimestamp"})
_KIND: Final = ("request", "kind", "kind")
_MAY_BE_EMPTY: Final = frozenset({types.Kind.LIST, types.Kind.MAP})
"""Two of these are equal when nothing is in them, whatever their types say of what could be."""


def _constant_comparisons(bundle: Bundle) -> Iterator[Report]:
    for policy, mistake in bundle.mistakes:
        if is_comparison(mistake.node):
            left, right = mistake.issue.types
            how = f"{left.display()} is never equal to {right.display()}"
            if mistake.node.__class__ is syntax.Call and mistake.node.function == syntax.IN:
                how = f"{right.display()} never contains {left.display()}"
                right = right.params[0] if right.params else right
            verdict = _verdict(mistake.node)
            if left.kind is right.kind in _MAY_BE_EMPTY:
                verdict = f"{_verdict(mistake.node, but='almost ')}, unless both are empty"
            yield Report(
                at_offset(policy.document, mistake.expression, mistake.issue.offset),
                f"this is {verdict}: {how}",
                _null_help(right),
            )
    for case in bundle.cases:
        for one in case.expressions:
            for node in nodes_of(one):
                reason = _constant(bundle, case, node) if is_comparison(node) else ""
                if reason:
                    message = f"this is {_verdict(node)}: {reason}"
                    yield Report(at_node(case.document, one, node), message)


def nodes_of(one: PolicyExpression) -> list[syntax.Expr]:
    """All nodes; none of an expression that does not compile."""
    return [] if one.checked is None else syntax.walk(one.checked.root)


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
    """The values of a list of string literals."""
    if node.__class__ is not syntax.ListLiteral or not node.elements:
        return None
    values = [one.value if one.__class__ is syntax.Literal else None for one in node.elements]
    texts = {one for one in values if isinstance(one, str)}
    return texts if len(texts) == len(set(values)) else None


def plain_path(node: syntax.Expr) -> Path | None:
    """A chain of selections from a variable of the policy's own language."""
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
        allowed = [] if field is None else [one for one in field.enum if isinstance(one, str)]
        if not allowed or texts.intersection(allowed):
            return ""
    return _listed(path, allowed)


def _outside_of_rule(case: RuleCase, path: Path, texts: set[str]) -> str:
    """`oldSelf` is not asked: what is stored may be from before the enumeration."""
    field = node_of_rule(case.node, path[1:]) if path[0] == SELF else None
    allowed = [] if field is None else [one for one in field.enum if isinstance(one, str)]
    return "" if not allowed or texts.intersection(allowed) else _listed(path, allowed)


def _listed(path: Path, allowed: list[str]) -> str:
    listed = ", ".join(f"'{one}'" for one in allowed)
    return f"`{shown(path)}` is one of {listed}"


def _one_of(texts: set[str]) -> str:
    return " or ".join(sorted(texts))


def _unanchored(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.cases:
        for one in case.expressions:
            for node in nodes_of(one):
                if node.__class__ is not syntax.Call or node.function != "matches":
                    continue
                pattern = node.args[-1]
                text = pattern.value if pattern.__class__ is syntax.Literal else None
                if isinstance(text, str) and not any(anchor in text for anchor in _ANCHORS):
                    yield Report(
                        at_node(case.document, one, pattern),
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
    """The declared field that an escaped name means, where no field has that name itself."""
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
    """Only where the selection is spelled out as `.name`."""
    if offset is None:
        return None
    old = f".{name}"
    start = offset - expression.shift
    if expression.text[start : start + len(old)] != old or "'" in raw or "\\" in raw:
        return None
    return Replacement(Spot(document, expression.path, offset), old, _selection(raw))


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
        for one in case.expressions:
            for node in nodes_of(one):
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
                        yield Report(at_node(case.document, one, node), message)


def _constant_loops(bundle: Bundle) -> Iterator[Report]:
    """`all` and `exists` whose predicate does not look at the element."""
    for case in bundle.cases:
        for one in case.expressions:
            for node in nodes_of(one):
                if node.__class__ is not syntax.Comprehension or node.accu_var != "@result":
                    continue
                used = {
                    inner.name
                    for inner in syntax.walk(node.step)
                    if inner.__class__ is syntax.Ident
                }
                if node.iter_var not in used and node.iter_var2 not in used:
                    yield Report(
                        at_node(case.document, one, node.iter_range),
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
        "a list of allowed registries or names is got around.",
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
