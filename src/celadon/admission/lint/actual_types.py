"""Our own type check: every expression of a policy against every kind it matches.

The API server's check stops at ten kinds and at wildcards, looks at validations only, and sees the
published schema, which differs from what the data is (`kube.View`). Here nothing is left out, and
an expression is wrong only if it is wrong for the JSON that it will meet: objects may be used like
maps, which they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final, TypeAlias

from celadon.admission.declared_types import (
    NAMESPACE,
    OBJECT_TYPES,
    REQUEST,
    VARIABLES,
    variable_type,
    variables_object,
)
from celadon.admission.lint.expressions import PolicyExpression, Role
from celadon.admission.lint.mistakes import Mistake
from celadon.admission.lint.subjects import Bundle, PolicyCase
from celadon.admission.registration.types import PolicySpec
from celadon.cel import Environment, Issue, types
from celadon.cel.syntax import IN, INDEX, OPT_INDEX, Ast, Call, Expr, Select, walk
from celadon.kube import (
    AUTHORIZER,
    RESOURCE_CHECK,
    ApiVersionError,
    GroupVersionKind,
    SchemaType,
    View,
    environment,
    parse_api_version,
    schema_type,
)

MAX_KINDS: Final = 200
"""Kinds of one policy that are looked at: more than a server has built in."""


_DISCRIMINATORS: Final = frozenset({"kind", "resource", "apiVersion", "requestKind"})
"""Fields whose reading says that an expression tells kinds apart."""

_BaseKey: TypeAlias = tuple[GroupVersionKind, bool, GroupVersionKind | None, bool]


class ActualTypes:
    """Checks the policies of a bundle; the types of a kind are made once."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle = bundle
        self._types: dict[GroupVersionKind, SchemaType | None] = {}
        self._bases: dict[_BaseKey, Environment] = {}

    def kinds(self, case: PolicyCase) -> list[GroupVersionKind]:
        """The matched kinds whose schema is known."""
        return [kind for kind in case.kinds[:MAX_KINDS] if self._type(kind) is not None]

    def mistakes(self, case: PolicyCase) -> list[Mistake]:
        """Those that show when the policy runs. A field that only some kinds have is none where the
        policy looks which kind it has before it."""
        found = self._found(case)
        known = len(self.kinds(case)) if found else 0
        return [
            one
            for one in found
            if not _is_map_use(one)
            and (len(one.kinds) == known or not _tells_kinds_apart(case, one))
        ]

    def _found(self, case: PolicyCase) -> list[Mistake]:
        found: dict[tuple[str, int | None, str], Mistake] = {}
        trees = {
            one.field: one.env.parse(one.text)[0]
            for one in case.expressions
            if one.checked is not None
        }
        for kind in self.kinds(case):
            for one, issue, node in self._check(case, kind, trees):
                key = (one.field, issue.offset, _without_names(issue.message, kind))
                before = found.get(key)
                kinds = (kind,) if before is None else (*before.kinds, kind)
                found[key] = Mistake(one, issue, node, kinds)
        return list(found.values())

    def _type(self, kind: GroupVersionKind) -> SchemaType | None:
        if kind not in self._types:
            schema = self._bundle.schema(kind)
            known = None if schema is None else schema_type(schema, kind.kind, View.ACTUAL)
            self._types[kind] = known
        return self._types[kind]

    def _check(
        self, case: PolicyCase, kind: GroupVersionKind, trees: Mapping[str, Ast | None]
    ) -> Iterator[tuple[PolicyExpression, Issue, Expr | None]]:
        known: dict[str, types.Type] = {}
        environments: dict[Role, Environment] = {}
        for one in case.expressions:
            tree = trees.get(one.field)
            if tree is None:
                if one.role is Role.VARIABLE:
                    known[one.name] = types.DYN
                continue
            env = environments.get(one.role)
            if env is None or one.role is Role.VARIABLE:
                env = environments[one.role] = self._environment(case, kind, one.role, known)
            compilation = env.check(tree)
            if one.role is Role.VARIABLE:
                checked = compilation.ast
                known[one.name] = types.DYN if checked is None else variable_type(checked.type)
            if compilation.issues:
                nodes = {node.id: node for node in walk(tree.root)}
                for issue in compilation.issues:
                    yield one, issue, nodes.get(issue.node or 0)

    def _environment(
        self, case: PolicyCase, kind: GroupVersionKind, role: Role, known: Mapping[str, types.Type]
    ) -> Environment:
        """What an expression in this role may name, typed for this kind."""
        param_kind = self._param_kind(case.spec)
        env = self._base(kind, case.spec.param_kind is not None, param_kind, role is Role.MESSAGE)
        if not case.spec.variables or role is Role.CONDITION:
            return env
        return env.extend({"variables": VARIABLES}, [variables_object(known)])

    def _base(
        self,
        kind: GroupVersionKind,
        has_params: bool,
        param_kind: GroupVersionKind | None,
        is_message: bool,
    ) -> Environment:
        key = (kind, has_params, param_kind, is_message)
        env = self._bases.get(key)
        if env is None:
            obj = self._type(kind)
            params = None if param_kind is None else self._type(param_kind)
            assert obj is not None
            names = {
                "object": obj.type,
                "oldObject": obj.type,
                "request": REQUEST,
                "namespaceObject": NAMESPACE,
            }
            if has_params:
                names["params"] = types.DYN if params is None else params.type
            if not is_message:
                names |= {"authorizer": AUTHORIZER, "authorizer.requestResource": RESOURCE_CHECK}
            objects = (*OBJECT_TYPES, *obj.objects, *(() if params is None else params.objects))
            release = environment(self._bundle.settings.version)
            env = self._bases[key] = release.extend(names, objects)
        return env

    def _param_kind(self, spec: PolicySpec) -> GroupVersionKind | None:
        if spec.param_kind is None:
            return None
        try:
            group_version = parse_api_version(spec.param_kind.api_version)
        except ApiVersionError:
            return None
        return GroupVersionKind(*group_version, spec.param_kind.kind)


def _without_names(message: str, kind: GroupVersionKind) -> str:
    """The message without the name of the kind, so that kinds can share it."""
    return re.sub(rf"\b{re.escape(kind.kind)}\b", "*", message)


def _is_map_use(mistake: Mistake) -> bool:
    """Objects are maps at run time: they can be indexed, searched, measured and iterated."""
    message = mistake.issue.message
    root = mistake.kinds[0].kind
    if "cannot be range of a comprehension" in message:
        return f"'{root}." in message or f"'{root}'" in message
    node = mistake.node
    if node.__class__ is not Call or "found no matching overload" not in message:
        return False
    applied = message.partition("applied to '")[2]
    operands = applied.strip("()'").replace(".(", ", ").split(", ")
    first, last = operands[0], operands[-1]
    if node.function in (INDEX, OPT_INDEX):
        return _is_object(first, root) and last in ("string", "dyn")
    if node.function == "size":
        return _is_object(first, root) or _is_object(applied.split(".()")[0], root)
    return node.function == IN and _is_object(last, root)


def _is_object(shown: str, root: str) -> bool:
    return shown == root or shown.startswith(f"{root}.")


def _tells_kinds_apart(case: PolicyCase, mistake: Mistake) -> bool:
    """Whether the policy looks which kind it has before it."""
    if any(access.path[-1] in _DISCRIMINATORS for access in case.accesses):
        return True
    checked = mistake.expression.checked
    nodes = [] if checked is None else walk(checked.root)
    return any(node.__class__ is Select and node.test_only for node in nodes)
