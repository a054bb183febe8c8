"""The rules of a CustomResourceDefinition, compiled: a `RuleCase` for each node of its schemas that
has any."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from celadon.admission.lint.model.policy_expressions import PolicyExpression, Role, names_of
from celadon.admission.lint.model.subjects import RuleCase
from celadon.admission.lint.trees.flow import rule_accesses
from celadon.cel import Environment
from celadon.kube import FieldPath
from celadon.kube.custom import OLD_SELF, rule_scopes
from celadon.kube.library import environment
from celadon.kube.schemas import Schema, decode_schema


def rule_cases(number: int, definition: Mapping[str, Any], version: str) -> Iterator[RuleCase]:
    """Those of the definition with this number, as stored rules of this version."""
    base = environment(version)
    for i, one in enumerate(definition["spec"]["versions"]):
        given = one.get("schema")
        schema = given.get("openAPIV3Schema") if isinstance(given, dict) else None
        if isinstance(schema, dict):
            at = FieldPath("spec", "versions", i, "schema", "openAPIV3Schema")
            for path, node in _nodes_with_rules(at, decode_schema(schema)):
                case = _case(number, path, node, base, is_root=path == at)
                if case is not None:
                    yield case


def _nodes_with_rules(at: FieldPath, schema: Schema) -> Iterator[tuple[FieldPath, Schema]]:
    waiting = [(at, schema)]
    while waiting:
        path, node = waiting.pop()
        if node.rules:
            yield path, node
        for name, member in node.properties.items():
            waiting.append((path.child("properties").key(name), member))
        if node.items is not None:
            waiting.append((path.child("items"), node.items))
        if node.additional_properties is not None:
            waiting.append((path.child("additionalProperties"), node.additional_properties))


def _case(
    number: int, path: FieldPath, node: Schema, base: Environment, *, is_root: bool
) -> RuleCase | None:
    """None where the node has no type, of which the API server complains."""
    scopes = rule_scopes(node, is_root=is_root)
    if scopes is None:
        return None
    expressions = []
    for i, rule in enumerate(node.rules):
        env = scopes.environment(base, optional=rule.optional_old_self)
        at = path.child("x-kubernetes-validations").index(i)
        expressions.append(_compiled(Role.RULE, i, at.child("rule"), rule.rule, env))
        if rule.message_expression:
            text, where = rule.message_expression, at.child("messageExpression")
            expressions.append(_compiled(Role.MESSAGE, i, where, text, env))
    transitions = {
        one.index
        for one in expressions
        if one.role is Role.RULE
        and OLD_SELF in names_of(one)
        and not node.rules[one.index].optional_old_self
    }
    accesses = tuple(rule_accesses(expressions, transitions))
    return RuleCase(number, node, is_root, tuple(expressions), accesses)


def _compiled(
    role: Role, index: int, at: FieldPath, text: str, env: Environment
) -> PolicyExpression:
    tree, issues = env.parse(text)
    checked = None if tree is None or issues else env.check(tree).ast
    return PolicyExpression(role, index, at, text, env, tree, checked)
