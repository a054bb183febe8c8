"""Mutating policies tried out: on the smallest object of each kind, and on one with everything
that pods usually have; twice, to see whether the second run changes something again.

Only one mutation at a time, without its match conditions: what a policy cares for is its author's
business, but a failure or a change that comes back is there for every object that it does care for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from celadon.admission.lint.policy_expressions import PolicyExpression
from celadon.admission.lint.subjects import Bundle, MutatingCase, MutationPath, Written
from celadon.admission.policies.mutating import MutatingEngine, PolicyRounds
from celadon.admission.registration.registration_types import (
    BindingSpec,
    MutatingAdmissionPolicyBinding,
)
from celadon.admission.request import Operation, Request, default_options
from celadon.admission.world import ObjectWorld
from celadon.cel.syntax import Comprehension, Expr, ListLiteral, Literal, MapLiteral, Struct, walk
from celadon.kube import GroupVersionKind, JsonObject, StatusError
from celadon.kube.fieldmanager import MutatedKinds
from celadon.kube.registry import drafted, patch_between
from celadon.kube.schemas import DecodeError
from celadon.patterns import late_pattern
from celadon.records import dataclass

_MOST_KINDS: Final = 5
"""Kinds of one policy that are tried: rules with wildcards match hundreds."""
_MISSING: Final = late_pattern(r'doc is missing path: "?([^":]*)')
_POD: Final = {"containers": [{"name": "app", "image": "example.com/app:1"}]}
_TEMPLATED: Final = frozenset({"Deployment", "DaemonSet", "StatefulSet", "ReplicaSet", "Job"})


@dataclass(frozen=True, slots=True)
class Trial:
    """This is what one mutation did to an object of one kind: the second run changed something
    again, or the first failed for want of what is above its path."""

    case: MutatingCase
    expression: PolicyExpression
    kind: GroupVersionKind
    unstable_path: str = ""
    missing_parent: str = ""

    @property
    def is_unstable(self) -> bool:
        """Return whether the second run changed something again."""
        return bool(self.unstable_path)

    @property
    def node(self) -> Expr:
        """The whole expression."""
        assert self.expression.checked is not None, "what does not compile is not tried"
        return self.expression.checked.ast.root


def trials(bundle: Bundle) -> Iterator[Trial]:
    """One for each mutation that compiles, for the first kind where something was found."""
    for case in bundle.mutating:
        if case.policy.spec.param_kind is not None:
            continue
        for expression in case.expressions:
            if expression.checked is not None:
                yield from _tried(bundle, case, expression)


def _tried(bundle: Bundle, case: MutatingCase, expression: PolicyExpression) -> Iterator[Trial]:
    for kind in case.kinds[:_MOST_KINDS]:
        resource = bundle.catalog.by_gvk(kind)
        if resource is None or kind in bundle.custom:
            continue
        for sample in _samples(kind):
            request = Request(
                Operation.CREATE,
                kind,
                resource.gvr,
                name="sample",
                namespace="default" if resource.namespaced else "",
                object=sample,
                options=default_options(Operation.CREATE),
            )
            found = _trial(case, expression, request)
            if found is not None:
                yield found
                return


def _samples(kind: GroupVersionKind) -> Iterator[JsonObject]:
    obj: dict[str, Any] = {"metadata": {"name": "sample", "namespace": "default"}}
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


def _trial(case: MutatingCase, expression: PolicyExpression, request: Request) -> Trial | None:
    mutation = case.policy.spec.mutations[expression.index]
    spec = replace(
        case.policy.spec, mutations=(mutation,), match_conditions=(), failure_policy="Fail"
    )
    binding = MutatingAdmissionPolicyBinding({"name": "b"}, BindingSpec(case.name))
    engine = MutatingEngine([replace(case.policy, spec=spec)], [binding])
    world = ObjectWorld(implicit_namespaces=True)

    def run(asked: Request) -> tuple[JsonObject | None, PolicyRounds]:
        rounds = engine.rounds(world, MutatedKinds())
        return rounds.run(asked, 0), rounds

    try:
        first, rounds = run(request)
        if not rounds.notes.changes:
            return None
        second, _ = run(replace(request, object=first))
    except StatusError as error:
        missing = _MISSING.search(str(error))
        if missing is None:
            return None
        parent = missing[1].rpartition("/")[0]
        return Trial(case, expression, request.kind, missing_parent=parent)
    again = patch_between(first, second)
    if not again:
        return None
    return Trial(case, expression, request.kind, unstable_path=str(again[0]["path"]))


# --- Written fields ----------------------------------------------------------
#
# What the expression of a mutation writes, as far as its text says.
#
# Objects are followed through literals, the branches of conditions, lists and what `map` makes
# of the items of a list. Of JSON patches only paths that are constants are known.


ROOT: Final = "Object"
PATCH: Final = "JSONPatch"


def written_fields(expression: PolicyExpression) -> Iterator[Written]:
    """Everything that is known to be written, in the order of the text."""
    if expression.checked is None:
        return
    for node in walk(expression.checked.ast.root):
        if isinstance(node, Struct) and node.type_name == ROOT:
            yield from _fields(expression, node, ())
        elif isinstance(node, Struct) and node.type_name == PATCH:
            found = _operation(expression, node)
            if found is not None:
                yield found


def _fields(expression: PolicyExpression, node: Struct, path: MutationPath) -> Iterator[Written]:
    for field in node.fields:
        here = (*path, field.name)
        inner = list(_structs(field.value))
        name = inner[0].type_name if inner else ""
        yield Written(expression, here, field.value, field.value, type_name=name)
        for struct in inner:
            yield from _fields(expression, struct, here)
        if isinstance(field.value, MapLiteral):
            for entry in field.value.entries:
                if isinstance(entry.key, Literal):
                    yield Written(
                        expression, (*here, str(entry.key.value)), entry.value, entry.value
                    )


def _structs(value: Expr) -> Iterator[Struct]:
    """The objects that a value is, or that are its items."""
    match value:
        case Struct():
            yield value
        case ListLiteral():
            for element in value.elements:
                yield from _structs(element)
        case Comprehension():
            yield from _structs(value.step)
        case _:
            for part in getattr(value, "args", ()):
                yield from _structs(part)


def _operation(expression: PolicyExpression, node: Struct) -> Written | None:
    given = {field.name: field.value for field in node.fields}
    op, path = given.get("op"), given.get("path")
    if not isinstance(op, Literal) or not isinstance(path, Literal):
        return None
    steps = tuple(
        part.replace("~1", "/").replace("~0", "~") for part in str(path.value).split("/")[1:]
    )
    return Written(expression, steps, path, given.get("value"), str(op.value))
