"""CEL080 to CEL089: mutating policies, what they write and what comes of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final

from celadon.admission.lint.findings import Severity
from celadon.admission.lint.kind_typecheck import ROOT, path_in_object, trials
from celadon.admission.lint.lint_context import (
    Bundle,
    FieldWrite,
    MutatingCase,
    MutationPath,
    Report,
    Rule,
    at_node,
)
from celadon.admission.registration.registration_types import MatchResources
from celadon.cel.syntax import Call, Expr, ListLiteral, Literal, MapLiteral, Select, Struct
from celadon.kube import GroupVersionKind, Json
from celadon.kube.fieldmanager import MergeType, merge_type

_SERVER_OWNED: Final[Mapping[MutationPath, str]] = {
    ("metadata", "uid"): "the server gives it; on update the request is refused",
    ("metadata", "resourceVersion"): "a request with another one is refused",
    ("metadata", "namespace"): "a request in another namespace is refused",
    ("metadata", "managedFields"): "it is atomic, and the server's own",
    ("metadata", "creationTimestamp"): "the server gives it",
    ("metadata", "deletionTimestamp"): "on update the request is refused",
    ("metadata", "generation"): "the server counts it",
    ("apiVersion",): "it is overwritten, or the object becomes another one",
    ("kind",): "it is overwritten, or the object becomes another one",
}
_IMMUTABLE: Final[Mapping[str, tuple[MutationPath, ...]]] = {
    "DaemonSet": (("spec", "selector"),),
    "Deployment": (("spec", "selector"),),
    "Job": (("spec", "selector"), ("spec", "template"), ("spec", "completionMode")),
    "PersistentVolumeClaim": (("spec", "accessModes"), ("spec", "storageClassName")),
    "ReplicaSet": (("spec", "selector"),),
    "Secret": (("type",),),
    "Service": (("spec", "clusterIP"),),
    "StatefulSet": (("spec", "selector"), ("spec", "serviceName")),
    "StorageClass": (("provisioner",), ("parameters",)),
}
"""Fields that do not change once an object is there (k8s.io/kubernetes `pkg/apis/*/validation`)."""


def _report(case: MutatingCase, write: FieldWrite, message: str, help: str = "") -> Report:
    return Report(at_node(case.document, write.expression, write.node), message, help)


# --- types ---


def _type_errors(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.mutating:
        for write in case.writes:
            problem = _problem(bundle, case, write)
            if problem is not None:
                yield _report(case, write, *problem)


def _problem(bundle: Bundle, case: MutatingCase, write: FieldWrite) -> tuple[str, str] | None:
    type_name = ".".join((ROOT, *write.path))
    if write.type_name and write.type_name != type_name:
        return f"the type `{write.type_name}` stands where `{type_name}` has to", "name it so"
    for kind in case.kinds:
        target = _at(bundle, kind, write.path)
        if target is None or not _is_made_for(bundle, kind, write):
            continue
        if isinstance(target, str):
            # Of a custom resource, what a patch adds beside its schema is dropped.
            adds = write.op in ("add", "replace") and kind not in bundle.custom
            if adds or not write.op:
                return f"{kind.kind} has no field `{target}`", ""
        elif not write.op and (wrong := _misfit(target, write)) is not None:
            return f"`{'.'.join(write.path)}` of {kind.kind} {wrong[0]}", wrong[1]
    return None


def _is_made_for(bundle: Bundle, kind: GroupVersionKind, write: FieldWrite) -> bool:
    """Return False for a write whose conditions say that the object is of another kind."""
    return all(
        _truth(bundle, kind, condition) in (None, is_true)
        for condition, is_true in write.conditions
    )


def _truth(bundle: Bundle, kind: GroupVersionKind, condition: Expr) -> bool | None:
    """Return what a condition is for all objects of a kind; None where it may be either."""
    match condition:
        case Select(test_only=True):
            paths = list(path_in_object(condition))
            return (
                False if any(isinstance(_at(bundle, kind, path), str) for path in paths) else None
            )
        case Call(function="_==_" | "_!=_" as function, args=(first, second)):
            for subject, value in ((first, second), (second, first)):
                if isinstance(value, Literal) and ("kind",) in path_in_object(subject):
                    return (value.value == kind.kind) is (function == "_==_")
        case Call(function="@in", args=(subject, ListLiteral(elements=elements))):
            if ("kind",) in path_in_object(subject) and all(
                isinstance(element, Literal) for element in elements
            ):
                return any(
                    isinstance(element, Literal) and element.value == kind.kind
                    for element in elements
                )
        case Call(function="!_", args=(inner,)):
            inner_truth = _truth(bundle, kind, inner)
            return None if inner_truth is None else not inner_truth
        case Call(function="_&&_" | "_||_" as function, args=args):
            decisive = function == "_||_"
            truths = [_truth(bundle, kind, arg) for arg in args]
            if decisive in truths:
                return decisive
            return None if None in truths else not decisive
    return None


def _at(bundle: Bundle, kind: GroupVersionKind, path: MutationPath) -> MergeType | str | None:
    """Return the type of a field; a text names the one that is not there, None says that nobody
    knows."""
    type_ = merge_type(kind, bundle.custom.get(kind))
    for i, name in enumerate(path):
        if type_ is None:
            return None
        if type_.list is not None and type_.map is None and (name == "-" or name.isdecimal()):
            type_ = type_.list.item
            continue
        while type_.map is None and type_.list is not None and not type_.list.atomic:
            type_ = type_.list.item
        if type_.map is None:
            return None
        child = type_.map.child(name)
        if child is None:
            return ".".join(path[: i + 1])
        type_ = child
    return type_


def _misfit(type_: MergeType, write: FieldWrite) -> tuple[str, str] | None:
    if (type_.map is not None and type_.map.atomic) or (
        type_.list is not None and type_.list.atomic and type_.map is None
    ):
        return "is atomic, which a configuration may not set", "use a JSON patch"
    value = write.value
    if isinstance(value, Literal) and value.value is None:
        return "may not be null", "leave it out: a configuration cannot remove a field"
    shapes = (
        (isinstance(value, (MapLiteral, Struct)), type_.map is None, "is no object"),
        (isinstance(value, ListLiteral), type_.list is None, "is no list"),
        (isinstance(value, Literal), not type_.scalar, "is no scalar"),
    )
    for is_given, is_missing, text in shapes:
        if is_given and is_missing:
            return text, ""
    return None


# --- what happens ---


def _not_idempotent(bundle: Bundle) -> Iterator[Report]:
    for trial in trials(bundle):
        if trial.is_unstable:
            yield Report(
                at_node(trial.case.document, trial.expression, trial.node),
                f"a second run changes the {trial.kind.kind} again: at `{trial.unstable_path}`",
                "policies run twice where `reinvocationPolicy` is IfNeeded, and at every update: "
                "look first whether the change is there",
            )


def _missing_parents(bundle: Bundle) -> Iterator[Report]:
    for trial in trials(bundle):
        if trial.missing_parent:
            yield Report(
                at_node(trial.case.document, trial.expression, trial.node),
                f"fails for a {trial.kind.kind} without `{trial.missing_parent}`",
                "add the parent first where it is not there, or use an ApplyConfiguration",
            )


def _refused(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.mutating:
        for write in case.writes:
            reason = _SERVER_OWNED.get(write.path, "")
            if not reason and write.path == ("metadata", "name") and case.updated:
                reason = "names do not change: an update is refused"
            if not reason:
                reason = _immutability(bundle, case, write)
            if reason:
                yield _report(
                    case, write, f"`{'.'.join(write.path)}` is not for policies: {reason}"
                )


def _immutability(bundle: Bundle, case: MutatingCase, write: FieldWrite) -> str:
    for kind in (kind for kind in case.kinds if kind in case.updated):
        for fixed in _IMMUTABLE.get(kind.kind, ()):
            if _below(write.path, fixed) and _is_made_for(bundle, kind, write):
                return f"in a {kind.kind} it cannot change, so an update is refused"
    return ""


# --- two policies ---


def _order_dependence(bundle: Bundle) -> Iterator[Report]:
    for first, second in combinations(bundle.mutating, 2):
        if not set(first.kinds) & set(second.kinds) or _exclude_each_other(first, second):
            continue
        values = {write.path: write for write in first.writes if _constant(write) is not None}
        for write in second.writes:
            other = values.get(write.path)
            if other is None or _constant(write) is None or _constant(write) == _constant(other):
                continue
            yield _report(
                second,
                write,
                f"policy `{first.name}` sets `{'.'.join(write.path)}` to another value: which one "
                "stays depends on the order of policies",
                "an API server does not say in which order it asks policies",
            )


def _exclude_each_other(first: MutatingCase, second: MutatingCase) -> bool:
    """Return whether no request is for both: they demand other values of one label."""
    matches = [item.policy.spec.match_constraints or MatchResources() for item in (first, second)]
    return any(
        label in labels[1] and labels[1][label] != value
        for name in ("namespace_selector", "object_selector")
        if (
            labels := [
                (getattr(resources, name) or {}).get("matchLabels") or {} for resources in matches
            ]
        )
        for label, value in labels[0].items()
    )


def _constant(write: FieldWrite) -> tuple[str, Json] | None:
    """Return the value of a scalar literal, with its type."""
    if write.op not in ("", "add", "replace") or not isinstance(write.value, Literal):
        return None
    return type(write.value.value).__name__, write.value.value


def _undone(bundle: Bundle) -> Iterator[Report]:
    for remover in bundle.mutating:
        written = [write for write in remover.writes if write.op == "remove" and write.path]
        for case in bundle.mutating:
            if case is remover or not set(case.kinds) & set(remover.kinds):
                continue
            for write in written:
                undone = [w for w in case.writes if w.op != "remove" and _below(w.path, write.path)]
                if undone:
                    yield _report(
                        remover,
                        write,
                        f"removes what policy `{case.name}` sets: `{'.'.join(undone[-1].path)}`",
                        "whichever runs last wins, and an API server does not say which",
                    )


def _below(path: MutationPath, parent: MutationPath) -> bool:
    return path[: len(parent)] == parent


def _replaced_lists(bundle: Bundle) -> Iterator[Report]:
    for case in bundle.mutating:
        for write in case.writes:
            if write.op not in ("add", "replace") or write.is_absent or _is_item(write.path):
                continue
            is_list = isinstance(write.value, ListLiteral)
            if not is_list and not isinstance(write.value, MapLiteral):
                continue
            for kind in case.kinds:
                target = _at(bundle, kind, write.path)
                if isinstance(target, MergeType) and _merges(target, is_list=is_list):
                    subject = "list" if is_list else "map"
                    yield _report(
                        case,
                        write,
                        f"replaces the whole {subject} `{'.'.join(write.path)}` of a {kind.kind}",
                        "what the object has there is lost: an ApplyConfiguration merges",
                    )
                    break


def _is_item(path: MutationPath) -> bool:
    return bool(path) and (path[-1] == "-" or path[-1].isdecimal())


def _merges(type_: MergeType, *, is_list: bool) -> bool:
    if is_list:
        return type_.list is not None and not type_.list.atomic
    return type_.map is not None and not type_.map.atomic and type_.map.element is not None


def _example(mutation: str, name: str = "p", **rules: str) -> str:
    operations = rules.get("operations", "CREATE")
    resource = rules.get("resource", "deployments")
    group = "apps" if resource == "deployments" else '""'
    return (
        "apiVersion: admissionregistration.k8s.io/v1\n"
        "kind: MutatingAdmissionPolicy\n"
        f"metadata: {{name: {name}}}\n"
        "spec:\n"
        "  reinvocationPolicy: IfNeeded\n"
        "  matchConstraints:\n"
        "    resourceRules:\n"
        f"    - apiGroups: [{group}]\n"
        "      apiVersions: [v1]\n"
        f"      operations: [{operations}]\n"
        f"      resources: [{resource}]\n"
        "  mutations:\n"
        f"{mutation}"
    )


def _apply(text: str) -> str:
    return (
        f'  - patchType: ApplyConfiguration\n    applyConfiguration:\n      expression: "{text}"\n'
    )


def _patch(text: str) -> str:
    return f'  - patchType: JSONPatch\n    jsonPatch:\n      expression: "{text}"\n'


_LABEL: Final = "Object{{metadata: Object.metadata{{labels: {{'a': '{}'}}}}}}"

RULES: Final = (
    Rule(
        "CEL080",
        "mutation-type",
        Severity.ERROR,
        "A configuration does not fit the kind that it is merged into: a field that the kind does "
        "not have, a value of another shape, an atomic field, or a type that is not named after "
        "its path; or a JSON patch adds a field that the kind does not have. The API server takes "
        "the policy, and refuses the objects.",
        _example(_apply("Object{spec: Object.spec{replica: 3}}")),
        _example(_apply("Object{spec: Object.spec{replicas: 3}}")),
        _type_errors,
    ),
    Rule(
        "CEL081",
        "not-idempotent",
        Severity.WARNING,
        "A second run changes the object again. Found out by running the policy twice on objects "
        "made for the purpose. Policies run again when others have changed the object, and on "
        "every update.",
        _example(
            _patch(
                "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', "
                "value: Object.spec.template.spec.containers{name: 'x', image: 'x:1'}}]"
            )
        ),
        _example(
            _patch(
                "object.spec.template.spec.containers.exists(c, c.name == 'x') ? [] : "
                "[JSONPatch{op: 'add', path: '/spec/template/spec/containers/-', "
                "value: Object.spec.template.spec.containers{name: 'x', image: 'x:1'}}]"
            )
        ),
        _not_idempotent,
    ),
    Rule(
        "CEL082",
        "order-dependence",
        Severity.WARNING,
        "Two policies set the same field of the same kind to different values. What remains "
        "depends on their order, which an API server does not promise. Policies whose selectors "
        "demand different values of one label never meet.",
        _example(_apply(_LABEL.format("b"))) + "---\n" + _example(_apply(_LABEL.format("c")), "q"),
        _example(_apply(_LABEL.format("b"))) + "---\n" + _example(_apply(_LABEL.format("b")), "q"),
        _order_dependence,
    ),
    Rule(
        "CEL083",
        "refused-field",
        Severity.WARNING,
        "The policy changes a field that the server owns, or that cannot change any more when the "
        "object is updated. Such requests are refused, or the change is lost.",
        _example(
            _apply("Object{metadata: Object.metadata{name: 'x'}}"), operations="CREATE, UPDATE"
        ),
        _example(_apply("Object{metadata: Object.metadata{name: 'x'}}")),
        _refused,
    ),
    Rule(
        "CEL084",
        "undone-mutation",
        Severity.WARNING,
        "A policy removes what another one sets. Only one of them has an effect.",
        _example(_apply(_LABEL.format("b")))
        + "---\n"
        + _example(_patch("[JSONPatch{op: 'remove', path: '/metadata/labels/a'}]"), "q"),
        _example(_apply(_LABEL.format("b"))),
        _undone,
    ),
    Rule(
        "CEL085",
        "replaced-list",
        Severity.WARNING,
        "A JSON patch puts a whole list or map in the place of what the object has there. A "
        "configuration would merge them. A patch that looks first whether nothing is there "
        "(`has(object.metadata.labels) ? … : …`) is not meant.",
        _example(_patch("[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]")),
        _example(_apply(_LABEL.format("b"))),
        _replaced_lists,
    ),
    Rule(
        "CEL086",
        "missing-parent",
        Severity.WARNING,
        "A JSON patch fails for objects in which the parent of its path is not there. Found out by "
        "running the mutations of the policy, one after the other, on the smallest object of the "
        "kind.",
        _example(_patch("[JSONPatch{op: 'add', path: '/metadata/labels/a', value: 'b'}]")),
        _example(
            _patch(
                "has(object.metadata.labels) ? "
                "[JSONPatch{op: 'add', path: '/metadata/labels/a', value: 'b'}] : "
                "[JSONPatch{op: 'add', path: '/metadata/labels', value: {'a': 'b'}}]"
            )
        ),
        _missing_parents,
    ),
)
