"""Our own type check: every expression of a policy against every kind it matches, and mutating
policies tried out on objects of each.

The API server's check stops at ten kinds and at wildcards, looks at validations only, and sees the
published schema, which differs from what the data is (`kube.View`). Here nothing is left out, and
an expression is wrong only if it is wrong for the JSON that it will meet: objects may be used like
maps, which they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from celadon import kube
from celadon.admission.cluster_lookups import ObjectWorld
from celadon.admission.compiled_expressions import (
    OBJECT_TYPES,
    VARIABLES,
    variable_type,
    variable_types,
    variables_object,
)
from celadon.admission.lint import lint_context
from celadon.admission.lint.findings import Mistake, PolicyExpression, Role
from celadon.admission.policies.mutating import MutatingEngine
from celadon.admission.registration.registration_types import (
    BindingSpec,
    MutatingAdmissionPolicyBinding,
    PolicySpec,
)
from celadon.admission.request import Operation, Request, default_options
from celadon.cel import Environment, Issue, IssueKind, syntax, types
from celadon.kube.fieldmanager import MutatedKinds
from celadon.kube.json_types import JsonDict
from celadon.kube.library import environment
from celadon.kube.registry import drafted, patch_between
from celadon.kube.schemas import DecodeError
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, replace

# --- Shared checks -----------------------------------------------------------
#
# One expression checked for many kinds: once for all in which what it reads has the same types.
#
# Most of what policies read (`variables.name`, `request.operation`, `object.metadata.labels`)
# has the same type in every kind, and without this a policy of thousands of expressions would
# be checked as many times as there are kinds.
#
# INVARIANT (same types): what a check finds follows from the types at the ends of the chains of
# fields that the tree reads. Where that cannot be said, nothing is shared: a field that is not
# there and an object are called by the name of the kind, and a qualified name may be one of its
# types.

_Chain: TypeAlias = tuple[str, ...]
"""A name and the fields selected from it: `object.metadata.name`."""


class Verdict(NamedTuple):
    """Holds what a check found: the type under which a variable of it is known later, dyn if it
    has issues; each issue with its node."""

    variable_type: types.Type
    issues: tuple[tuple[Issue, syntax.Expr | None], ...]


UNCHECKED: Final = Verdict(types.DYN, ())
"""Of what is not checked."""


class SharedTypes:
    """Equal types made the same one, so that many are compared by identity: deep ones take long."""

    def __init__(self) -> None:
        self._shared: dict[types.Type, types.Type] = {}
        self._types_by_id: dict[int, tuple[types.Type, types.Type | None]] = {}

    def shared(self, type_: types.Type) -> types.Type | None:
        """Return the type that stands for all equal types; None for one with objects in it, which
        belong to a kind."""
        cached = self._types_by_id.get(id(type_))
        if cached is None:
            same = None if _has_objects(type_) else self._shared.setdefault(type_, type_)
            cached = self._types_by_id[id(type_)] = (type_, same)
        return cached[1]


class SharedChecks:
    """The checks of one tree, in environments with the same functions."""

    def __init__(self, tree: syntax.Ast, shared_types: SharedTypes) -> None:
        self.tree: Final = tree
        self._types = shared_types
        self._chains = _chains(tree.root)
        self._verdicts: dict[tuple[int, ...], Verdict] = {}

    def check(self, env: Environment) -> Verdict:
        """Return what `env.check` of the tree finds."""
        read = self._types_read(env)
        if read is None:
            return _verdict(self.tree, env)
        verdict = self._verdicts.get(read)
        if verdict is None:
            verdict = self._verdicts[read] = _verdict(self.tree, env)
        return verdict

    def _types_read(self, env: Environment) -> tuple[int, ...] | None:
        """Return the identities of the types at the ends of the chains, None if they do not say
        all."""
        if self._chains is None:
            return None
        read = []
        for chain in self._chains:
            type_at = _type_at(env, chain)
            shared = None if type_at is None else self._types.shared(type_at)
            if shared is None:
                return None
            read.append(id(shared))
        return tuple(read)


def _verdict(tree: syntax.Ast, env: Environment) -> Verdict:
    checked, issues = env.check(tree)
    nodes = {node.id: node for node in syntax.walk(tree.root)} if issues else {}
    result = tuple((issue, nodes.get(issue.node or 0)) for issue in issues)
    return Verdict(types.DYN if checked is None else variable_type(checked.type), result)


def _chains(root: syntax.Expr) -> tuple[_Chain, ...] | None:
    """Return the longest chains, each once; None for a tree that names types with fields."""
    result: dict[_Chain, None] = {}
    inside: set[int] = set()
    for node in reversed(syntax.walk(root)):
        if node.__class__ is syntax.Struct:
            return None
        if node.__class__ is syntax.Select:
            inside.add(node.operand.id)
        if node.id not in inside and (chain := _chain(node)):
            result[chain] = None
    return tuple(result)


def _chain(node: syntax.Expr) -> _Chain:
    """Return the names of a selection from the left; empty for what does not begin with a name."""
    fields = []
    while node.__class__ is syntax.Select:
        fields.append(node.field)
        node = node.operand
    return (node.name, *reversed(fields)) if node.__class__ is syntax.Ident else ()


def _type_at(env: Environment, chain: _Chain) -> types.Type | None:
    """Return the type at the end of a chain; `ERROR` for what is no name out here (a loop's
    variable); None where only a check can say it."""
    name, *fields = chain
    scope = env.declarations
    if scope.may_qualify(name):
        return None
    identifier = scope.find_identifier(name)
    error = types.ERROR if identifier is None else identifier.type
    for field in fields:
        if error.kind is types.Kind.OBJECT:
            member = scope.find_field(error.name, field)
            if member is None:
                return None
            error = member
        elif error.kind is types.Kind.MAP:
            error = error.params[1]
        elif not types.is_dyn(error):
            return None
    return error


def _has_objects(type_: types.Type) -> bool:
    return type_.kind is types.Kind.OBJECT or any(map(_has_objects, type_.params))


MAX_KINDS: Final = 200
"""Kinds of one policy that are looked at: more than a server has built in."""

_DISCRIMINATORS: Final = frozenset({"kind", "resource", "apiVersion", "requestKind"})
"""Fields whose reading says that an expression tells kinds apart."""

_BaseKey: TypeAlias = tuple[kube.GroupVersionKind, bool, kube.GroupVersionKind | None, bool]


class ActualTypes:
    """Checks the policies of a bundle; the types of a kind are made once."""

    def __init__(self, bundle: lint_context.Bundle) -> None:
        self._bundle = bundle
        self._types = lint_context.KindTypes(bundle.custom)
        self._bases: dict[_BaseKey, Environment] = {}

    def kinds(self, case: lint_context.PolicyCase) -> list[kube.GroupVersionKind]:
        """Return the matched kinds whose schema is known."""
        return [kind for kind in case.kinds[:MAX_KINDS] if self._types.of(kind) is not None]

    def mistakes(self, case: lint_context.PolicyCase) -> list[Mistake]:
        """Return the mistakes that show when the policy runs. A field that only some kinds have is
        none where the policy looks which kind it has before it."""
        checks = _checks(case)
        mistakes = self._found(case, checks)
        kind_count = len(self.kinds(case)) if mistakes else 0
        return [
            mistake
            for mistake in mistakes
            if not _works_on_data(mistake, checks[mistake.expression.path].tree)
            and (len(mistake.kinds) == kind_count or not _tells_kinds_apart(case, mistake))
        ]

    def _found(
        self, case: lint_context.PolicyCase, checks: Mapping[kube.FieldPath, SharedChecks]
    ) -> list[Mistake]:
        result: dict[tuple[kube.FieldPath, int | None, str], Mistake] = {}
        for kind in self.kinds(case):
            for expression, issue, node in self._check(case, kind, checks):
                key = (expression.path, issue.offset, _without_names(issue.message, kind))
                before = result.setdefault(key, Mistake(expression, issue, node, ()))
                result[key] = replace(before, kinds=(*before.kinds, kind))
        return list(result.values())

    def _check(
        self,
        case: lint_context.PolicyCase,
        kind: kube.GroupVersionKind,
        checks: Mapping[kube.FieldPath, SharedChecks],
    ) -> Iterator[tuple[PolicyExpression, Issue, syntax.Expr | None]]:
        variable_types: dict[str, types.Type] = {}
        environments: dict[Role, Environment] = {}
        verdicts: dict[tuple[Role, int], Verdict] = {}
        for expression in case.expressions:
            unchecked = UNCHECKED
            if (shared := checks.get(expression.path)) is not None:
                key = (expression.role, id(shared))
                if (verdict := verdicts.get(key)) is None:
                    env = environments.get(expression.role)
                    if env is None:
                        env = self._environment(case, kind, expression.role, variable_types)
                        environments[expression.role] = env
                    verdict = verdicts[key] = shared.check(env)
                unchecked = verdict
            if expression.role is Role.VARIABLE:
                variable_types[expression.name] = unchecked.variable_type
            for issue, node in unchecked.issues:
                yield expression, issue, node

    def _environment(
        self,
        case: lint_context.PolicyCase,
        kind: kube.GroupVersionKind,
        role: Role,
        variable_types: Mapping[str, types.Type],
    ) -> Environment:
        """Return what an expression in this role may name, typed for this kind; `variables` has
        what is known by the time of the check."""
        param_kind = self._param_kind(case.spec)
        env = self._base(
            kind,
            param_kind,
            has_params=case.spec.param_kind is not None,
            is_message=role is Role.MESSAGE,
        )
        if not case.spec.variables or role is Role.CONDITION:
            return env
        return env.extend({"variables": VARIABLES}, [variables_object(variable_types)])

    def _base(
        self,
        kind: kube.GroupVersionKind,
        param_kind: kube.GroupVersionKind | None,
        *,
        has_params: bool,
        is_message: bool,
    ) -> Environment:
        key = (kind, has_params, param_kind, is_message)
        env = self._bases.get(key)
        if env is None:
            obj = self._types.of(kind)
            params = None if param_kind is None else self._types.of(param_kind)
            assert obj is not None
            declared = types.DYN if params is None else params.type
            names = variable_types(
                obj.type, params=declared if has_params else None, authorizer=not is_message
            )
            objects = (*OBJECT_TYPES, *obj.objects, *(() if params is None else params.objects))
            release = environment(self._bundle.settings.version)
            env = self._bases[key] = release.extend(names, objects)
        return env

    def _param_kind(self, spec: PolicySpec) -> kube.GroupVersionKind | None:
        if spec.param_kind is None:
            return None
        try:
            group_version = kube.parse_api_version(spec.param_kind.api_version)
        except kube.ApiVersionError:
            return None
        return kube.GroupVersionKind(*group_version, spec.param_kind.kind)


def _checks(case: lint_context.PolicyCase) -> Mapping[kube.FieldPath, SharedChecks]:
    """Return the checks by expression; they are the same for those with the same text. Variables
    have their own: which others they may name depends on where they stand."""
    shared = SharedTypes()
    by_text: dict[str | kube.FieldPath, SharedChecks] = {}
    result = {}
    for expression in case.expressions:
        if expression.checked is not None and expression.tree is not None:
            key = expression.path if expression.role is Role.VARIABLE else expression.text
            if (checks := by_text.get(key)) is None:
                checks = by_text[key] = SharedChecks(expression.tree, shared)
            result[expression.path] = checks
    return result


def _without_names(message: str, kind: kube.GroupVersionKind) -> str:
    """Return the message without the name of the kind, so that kinds can share it."""
    return re.sub(rf"\b{re.escape(kind.kind)}\b", "*", message)


def _works_on_data(mistake: Mistake, tree: syntax.Ast) -> bool:
    """Return whether only the names of types are in the way. At run time objects are maps, which
    can be indexed, searched, measured, iterated and joined, and literals may be mixed."""
    issue, node = mistake.issue, mistake.node
    root = mistake.kinds[0].kind
    if issue.kind is IssueKind.NOT_A_RANGE:
        return _is_object(issue.types[0], root)
    if issue.kind is IssueKind.TYPE_MISMATCH:
        return node is not None and node.id in _literal_parts(tree)
    if node.__class__ is not syntax.Call or issue.kind is not IssueKind.NO_OVERLOAD:
        return False
    operands = issue.types
    first, last = operands[0], operands[-1]
    if node.function in (syntax.INDEX, syntax.OPT_INDEX):
        return _is_object(first, root) and last in (types.STRING, types.DYN)
    if node.function == "size":
        return _is_object(first, root)
    if node.function == syntax.IN:
        return _is_object(last, root)
    if node.function in (syntax.ADD, syntax.EQUALS, syntax.NOT_EQUALS):
        return len(_shapes(operands, root)) == 1
    return node.function == syntax.CONDITIONAL and len(_shapes(operands[1:], root)) == 1


def _shapes(operands: Sequence[types.Type], root: str) -> set[types.Type]:
    """Return the operands' types with all objects and maps alike."""
    return {_shape(operand, root) for operand in operands}


def _shape(type_: types.Type, root: str) -> types.Type:
    if type_.kind is types.Kind.MAP or _is_object(type_, root):
        return types.map_of(types.DYN, types.DYN)
    return replace(type_, params=tuple(_shape(param, root) for param in type_.params))


def _literal_parts(tree: syntax.Ast) -> set[int]:
    """Return the nodes that are elements, keys or values of literals."""
    result: set[int] = set()
    for node in syntax.walk(tree.root):
        if node.__class__ is syntax.ListLiteral:
            result.update(element.id for element in node.elements)
        elif node.__class__ is syntax.MapLiteral:
            result.update(part.id for entry in node.entries for part in (entry.key, entry.value))
            result.update(entry.id for entry in node.entries)
    return result


def _is_object(type_: types.Type, root: str) -> bool:
    """Return whether it is the kind's own type or that of an object in it."""
    return type_.name == root or type_.name.startswith(f"{root}.")


def _tells_kinds_apart(case: lint_context.PolicyCase, mistake: Mistake) -> bool:
    """Return whether the policy looks which kind it has before it."""
    if any(access.path[-1] in _DISCRIMINATORS for access in case.accesses):
        return True
    checked = mistake.expression.checked
    nodes = [] if checked is None else syntax.walk(checked.root)
    return any(node.__class__ is syntax.Select and node.test_only for node in nodes)


# --- Mutating policies tried out ---------------------------------------------
#
# Mutating policies tried out: on the smallest object of each kind, and on one with everything
# that pods usually have; twice, to see whether the second run changes something again.
#
# Each mutation gets what those before it have made of the object, and is tried alone, without match
# conditions: what a policy cares for is its author's business, but a failure or a change that comes
# back is there for every object that it does care for.

_MOST_KINDS: Final = 5
"""Kinds of one policy that are tried: rules with wildcards match hundreds."""
_MISSING: Final = late_pattern(r'doc is missing path: "?([^":]*)')
_POD: Final = {"containers": [{"name": "app", "image": "example.com/app:1"}]}
_TEMPLATED: Final = frozenset({"Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job"})


@dataclass(frozen=True, slots=True)
class Trial:
    """Holds what one mutation did to an object of one kind: the second run changed something
    again, or the first failed for want of what is above its path."""

    case: lint_context.MutatingCase
    expression: PolicyExpression
    kind: kube.GroupVersionKind
    unstable_path: str = ""
    missing_parent: str = ""

    @property
    def is_unstable(self) -> bool:
        """Return whether the second run changed something again."""
        return bool(self.unstable_path)

    @property
    def node(self) -> syntax.Expr:
        """Return the whole expression."""
        assert self.expression.checked is not None, "what does not compile is not tried"
        return self.expression.checked.ast.root


def trials(bundle: lint_context.Bundle) -> Iterator[Trial]:
    """Yield a trial for each mutation that compiles, for the first kind where something was
    found."""
    for case in bundle.mutating:
        if case.policy.spec.param_kind is None:
            result: dict[int, Trial] = {}
            for request in _requests(bundle, case):
                for trial in _tried(case, request):
                    result.setdefault(trial.expression.index, trial)
            yield from (trial for _, trial in sorted(result.items()))


def _requests(bundle: lint_context.Bundle, case: lint_context.MutatingCase) -> Iterator[Request]:
    for kind in case.kinds[:_MOST_KINDS]:
        resource = bundle.catalog.by_gvk(kind)
        if resource is None or kind in bundle.custom:
            continue
        for sample in _samples(kind):
            yield Request(
                Operation.CREATE,
                kind,
                resource.gvr,
                name="sample",
                namespace="default" if resource.namespaced else "",
                object=sample,
                options=default_options(Operation.CREATE),
            )


def _samples(kind: kube.GroupVersionKind) -> Iterator[kube.JsonObject]:
    obj: JsonDict = {"metadata": {"name": "sample", "namespace": "default"}}
    if kind.kind == "Pod":
        obj["spec"] = _POD
    elif kind.kind in _TEMPLATED:
        obj["spec"] = {
            "selector": {"matchLabels": {"app": "a"}},
            "template": {"metadata": {"labels": {"app": "a"}}, "spec": _POD},
        }
    rich = {**obj["metadata"], "labels": {"app": "a"}, "annotations": {"note": "n"}}
    for meta in (obj["metadata"], rich):
        try:
            yield drafted({**obj, "metadata": meta}, kind).form()
        except DecodeError:
            return


def _tried(case: lint_context.MutatingCase, request: Request) -> Iterator[Trial]:
    """Yield what is found of the mutations, one after the other; one that fails changes nothing."""
    binding = MutatingAdmissionPolicyBinding({"name": "b"}, BindingSpec(case.name))
    world = ObjectWorld(implicit_namespaces=True)
    for expression in case.expressions:
        if expression.checked is None:
            continue
        mutations = (case.policy.spec.mutations[expression.index],)
        spec = replace(
            case.policy.spec, mutations=mutations, match_conditions=(), failure_policy="Fail"
        )
        engine = MutatingEngine([replace(case.policy, spec=spec)], [binding])
        try:
            rounds = engine.rounds(world, MutatedKinds())
            first = rounds.run(request, 0)
            if not rounds.notes.changes:
                continue
            second = engine.rounds(world, MutatedKinds()).run(replace(request, object=first), 0)
        except kube.StatusError as error:
            missing = _MISSING.search(str(error))
            if missing is not None:
                parent = missing[1].rpartition("/")[0]
                yield Trial(case, expression, request.kind, missing_parent=parent)
            continue
        again = patch_between(first, second)
        if again:
            yield Trial(case, expression, request.kind, unstable_path=str(again[0]["path"]))
        request = replace(request, object=first)


# --- Written fields ----------------------------------------------------------
#
# What the expression of a mutation writes, as far as its text says.
#
# Objects are followed through literals, the branches of conditions, lists and what `map` makes
# of the items of a list. Of JSON patches only paths that are constants are known.

ROOT: Final = "Object"
PATCH: Final = "JSONPatch"


def written_fields(expression: PolicyExpression) -> Iterator[lint_context.FieldWrite]:
    """Yield everything that is known to be written, in the order of the text."""
    if expression.checked is None:
        return
    conditions = _conditions(expression.checked.ast.root)
    for node in syntax.walk(expression.checked.ast.root):
        if isinstance(node, syntax.Struct) and node.type_name == ROOT:
            yield from _fields(expression, node, (), conditions)
        elif isinstance(node, syntax.Struct) and node.type_name == PATCH:
            operation = _operation(expression, node, conditions[id(node)])
            if operation is not None:
                yield operation


_Conditions = tuple[tuple[syntax.Expr, bool], ...]


def _conditions(root: syntax.Expr) -> dict[int, _Conditions]:
    """Return the conditions under which the objects in an expression are made, with what they are
    then."""
    result: dict[int, _Conditions] = {}
    stack: list[tuple[syntax.Expr, _Conditions]] = [(root, ())]
    while stack:
        node, conditions = stack.pop()
        if isinstance(node, syntax.Call) and node.function == syntax.CONDITIONAL:
            condition, then, otherwise = node.args
            stack.append((then, (*conditions, (condition, True))))
            stack.append((otherwise, (*conditions, (condition, False))))
            continue
        if isinstance(node, syntax.Struct):
            result[id(node)] = conditions
        stack += [(child, conditions) for child in syntax.children(node)]
    return result


def _absent_if(condition: syntax.Expr, *, is_true: bool) -> Iterator[lint_context.MutationPath]:
    """Return what of the object is absent where a condition is true, or is not."""
    match condition:
        case syntax.Select(test_only=True) if not is_true:
            yield from path_in_object(condition)
        case syntax.Call(function="hasValue", target=syntax.Call() as target) if not is_true:
            yield from path_in_object(target)
        case syntax.Call(function="@in", args=(syntax.Literal(value=str(key)), container)) if (
            not is_true
        ):
            yield from ((*path, key) for path in path_in_object(container))
        case syntax.Call(function="!_", args=(inner,)):
            yield from _absent_if(inner, is_true=not is_true)
        case syntax.Call(function="_&&_" | "_||_" as function, args=args):
            if is_true == (function == "_&&_"):
                for arg in args:
                    yield from _absent_if(arg, is_true=is_true)


def path_in_object(node: syntax.Expr) -> Iterator[lint_context.MutationPath]:
    """Yield the path of a field of the object, if it is one; an item of a list stands in it as in a
    JSON pointer."""
    steps: list[str] = []
    while True:
        match node:
            case syntax.Select(operand=operand, field=field):
                node, step = operand, field
            case syntax.Call(
                function=syntax.OPT_SELECT | syntax.INDEX | syntax.OPT_INDEX,
                args=(operand, syntax.Literal(value=str() | int() as key)),
            ):
                node, step = operand, str(key)
            case syntax.Ident(name="object"):
                yield tuple(reversed(steps))
                return
            case _:
                return
        steps.append(step)


def _fields(
    expression: PolicyExpression,
    node: syntax.Struct,
    path: lint_context.MutationPath,
    conditions: Mapping[int, _Conditions],
) -> Iterator[lint_context.FieldWrite]:
    around = conditions.get(id(node), ())
    for field in node.fields:
        field_path = (*path, field.name)
        inner = list(_structs(field.value))
        name = inner[0].type_name if inner else ""
        yield lint_context.FieldWrite(
            expression, field_path, field.value, field.value, type_name=name, conditions=around
        )
        for struct in inner:
            yield from _fields(expression, struct, field_path, conditions)
        if isinstance(field.value, syntax.MapLiteral):
            for entry in field.value.entries:
                if isinstance(entry.key, syntax.Literal):
                    path_of_entry = (*field_path, str(entry.key.value))
                    yield lint_context.FieldWrite(
                        expression, path_of_entry, entry.value, entry.value, conditions=around
                    )


def _structs(value: syntax.Expr) -> Iterator[syntax.Struct]:
    """Yield the objects that a value is, or that are its items."""
    match value:
        case syntax.Struct():
            yield value
        case syntax.ListLiteral():
            for element in value.elements:
                yield from _structs(element)
        case syntax.Comprehension():
            yield from _structs(value.step)
        case _:
            for part in getattr(value, "args", ()):
                yield from _structs(part)


def _operation(
    expression: PolicyExpression, node: syntax.Struct, conditions: _Conditions
) -> lint_context.FieldWrite | None:
    data = {field.name: field.value for field in node.fields}
    op, path = data.get("op"), data.get("path")
    if not isinstance(op, syntax.Literal) or not isinstance(path, syntax.Literal):
        return None
    steps = tuple(
        part.replace("~1", "/").replace("~0", "~") for part in str(path.value).split("/")[1:]
    )
    value = data.get("value")
    is_absent = any(
        steps == absent
        for condition, is_true in conditions
        for absent in _absent_if(condition, is_true=is_true)
    )
    return lint_context.FieldWrite(
        expression, steps, path, value, str(op.value), is_absent=is_absent, conditions=conditions
    )
