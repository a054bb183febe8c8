"""Why a policy did not look at a request.

The engine says whether its rules, a binding or a condition are the reason. Of rules and selectors
it is found out by trying: the fewest parts that would have to be different for the request to
match are the reasons. The trials are made by the engine itself, with a policy that has only
`matchConstraints`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from celadon.admission import (
    Engine,
    Note,
    Outcome,
    Request,
    World,
    decode_binding,
    decode_policy,
)
from celadon.admission.registration import MatchResources, Rule
from celadon.cli.checking.check_report import Place
from celadon.cli.checking.policy_set import Placed, PolicySet
from celadon.cli.policy_tests.vacuities import Doubt, Vacuity
from celadon.kube import FieldPath, User

_VERSION: Final = "admissionregistration.k8s.io/v1"
_CONSTRAINTS: Final = FieldPath("spec", "matchConstraints")
_MATCH_RESOURCES: Final = FieldPath("spec", "matchResources")
_PROBE: Final = "probe"
_MOST_TOGETHER: Final = 3
"""Parts that are tried to be different at once."""
_ANYONE: Final = User("someone", ("system:authenticated",))

_PARTS: Final[Mapping[Vacuity, Mapping[str, Any]]] = {
    Vacuity.OPERATION: {"operations": ("*",)},
    Vacuity.RESOURCE: {"resources": ("*",)},
    Vacuity.GROUP: {"api_groups": ("*",)},
    Vacuity.VERSION: {"api_versions": ("*",)},
    Vacuity.SCOPE: {"scope": "*"},
    Vacuity.RESOURCE_NAME: {"resource_names": ()},
    Vacuity.SUBRESOURCE: {},
    Vacuity.EXCLUDED: {},
    Vacuity.NAMESPACE_SELECTOR: {},
    Vacuity.OBJECT_SELECTOR: {},
}
"""Parts of rules and selectors, and what makes a part of a rule match everything."""


def unmatched_reasons(
    name: str,
    notes: tuple[Note, ...],
    request: Request,
    world: World,
    found: PolicySet,
    version: str,
) -> Iterator[Doubt]:
    """Why the policy of this name, of a set, did not look at the request."""
    placed = found.policies[name]
    own = [note for note in notes if note.policy == name]
    outcomes = {note.outcome for note in own} or {Outcome.POLICY_UNMATCHED}
    if any(note.outcome is Outcome.EXEMPT for note in notes):
        text = f"no policy ever sees {request.resource.group_resource}"
        yield Doubt(Vacuity.EXEMPT_RESOURCE, text, placed.place())
    elif not any(one.value.spec.policy_name == name for one in found.bindings.values()):
        yield from _unbound(placed, found)
    elif Outcome.POLICY_UNMATCHED in outcomes:
        yield from _unmatched(placed, request, _trial(request, world, version), found)
    for note in own:
        yield from _of_note(note, placed, request, world, found, version)


def _unbound(placed: Placed[Any], found: PolicySet) -> Iterator[Doubt]:
    name = placed.value.name
    yield Doubt(
        Vacuity.NO_BINDING,
        f"policy `{name}` has no binding, so it does nothing",
        placed.place(),
        f"add a binding to the file, or to the test: `bindings: [{{policyName: {name}}}]`",
    )
    for binding in found.bindings.values():
        wanted = binding.value.spec.policy_name
        if wanted not in found.policies:
            yield Doubt(
                Vacuity.STRAY_BINDING,
                f"binding `{binding.value.name}` names policy `{wanted}`, which is not there",
                binding.place(FieldPath("spec", "policyName")),
            )


def _unmatched(
    placed: Placed[Any],
    request: Request,
    matches: Callable[[MatchResources], bool],
    found: PolicySet,
) -> Iterator[Doubt]:
    """Why the constraints of a policy do not match, or those of no binding."""
    constraints = placed.value.spec.match_constraints
    if constraints is not None and not matches(constraints):
        for part in _different(constraints, matches):
            yield Doubt(part, _said(part, constraints, request), placed.place(_CONSTRAINTS))
        return
    for binding in found.bindings.values():
        if binding.value.spec.policy_name == placed.value.name:
            yield from _unbinding(binding, request, matches)


def _unbinding(
    binding: Placed[Any], request: Request, matches: Callable[[MatchResources], bool]
) -> Iterator[Doubt]:
    """Why a binding does not match."""
    resources = binding.value.spec.match_resources
    for part in _different(resources, matches):
        said = f"binding `{binding.value.name}`: {_said(part, resources, request)}"
        yield Doubt(part, said, binding.place(_MATCH_RESOURCES))


def _of_note(
    note: Note, placed: Placed[Any], request: Request, world: World, found: PolicySet, version: str
) -> Iterator[Doubt]:
    """Why a binding, a condition or a param let the request pass."""
    if note.outcome is Outcome.BINDING_UNMATCHED:
        yield from _unbinding(
            found.bindings[note.binding], request, _trial(request, world, version)
        )
    elif note.outcome is Outcome.CONDITION_FALSE:
        place = placed.place(FieldPath("spec", "matchConditions"))
        text = f"match condition `{note.detail}` of policy `{note.policy}` is false"
        yield Doubt(Vacuity.CONDITION_FALSE, text, place)
        yield from _because_of_circumstances(note, place, request, world, found, version)
    elif note.outcome is Outcome.PARAM_NOT_FOUND:
        place = found.bindings[note.binding].place(FieldPath("spec", "paramRef"))
        text = f"binding `{note.binding}` found no params, and its action for that is Allow"
        yield Doubt(Vacuity.PARAM_NOT_FOUND, text, place, "give them under `params`")


def _because_of_circumstances(
    note: Note, place: Place, request: Request, world: World, found: PolicySet, version: str
) -> Iterator[Doubt]:
    """Whether another user, or no dry run, would have made the condition true."""
    from celadon.cli.checking.policy_set import validating_engine  # late: rarely asked

    if note.policy not in found.policies or placed_mutates(found, note.policy):
        return
    engine = validating_engine(found, version)

    def passes(changed: Request) -> bool:
        notes = engine.noted(changed, world).notes
        kept = [one.outcome for one in notes if one.policy == note.policy]
        return bool(kept) and Outcome.CONDITION_FALSE not in kept

    if request.dry_run and passes(replace(request, dry_run=False)):
        yield Doubt(Vacuity.DRY_RUN, "the condition would be true if it were no dry run", place)
    if passes(replace(request, user=_ANYONE)):
        text = f"the condition exempts user `{request.user.name}`, it would be true for others"
        yield Doubt(Vacuity.EXEMPT_USER, text, place, "say who asks: `user`, `groups`")


def placed_mutates(found: PolicySet, name: str) -> bool:
    """Whether a policy of a set is a mutating one."""
    return str(found.policies[name].document.value["kind"]).startswith("Mutating")


def _trial(request: Request, world: World, version: str) -> Callable[[MatchResources], bool]:
    """Whether constraints match the request."""
    probe = decode_policy(
        {
            "apiVersion": _VERSION,
            "kind": "ValidatingAdmissionPolicy",
            "metadata": {"name": _PROBE},
            "spec": {"validations": [{"expression": "true"}]},
        }
    ).value
    bound = decode_binding(
        {
            "apiVersion": _VERSION,
            "kind": "ValidatingAdmissionPolicyBinding",
            "metadata": {"name": _PROBE},
            "spec": {"policyName": _PROBE, "validationActions": ["Audit"]},
        }
    ).value

    def matches(constraints: MatchResources) -> bool:
        policy = replace(probe, spec=replace(probe.spec, match_constraints=constraints))
        notes = Engine([policy], [bound], version).noted(request, world).notes
        return any(note.outcome is Outcome.EVALUATED for note in notes)

    return matches


def _different(
    constraints: MatchResources | None, matches: Callable[[MatchResources], bool]
) -> tuple[Vacuity, ...]:
    """The fewest parts that would have to be different; none if it cannot be told."""
    if constraints is None:
        return ()
    for count in range(1, _MOST_TOGETHER + 1):
        for parts in itertools.combinations(_PARTS, count):
            if matches(_relaxed(constraints, parts)):
                return parts
    return ()


def _relaxed(constraints: MatchResources, parts: tuple[Vacuity, ...]) -> MatchResources:
    found = constraints
    if Vacuity.EXCLUDED in parts:
        found = replace(found, exclude_resource_rules=())
    if Vacuity.NAMESPACE_SELECTOR in parts:
        found = replace(found, namespace_selector={})
    if Vacuity.OBJECT_SELECTOR in parts:
        found = replace(found, object_selector={})
    rules = tuple(_relaxed_rule(rule, parts) for rule in found.resource_rules)
    return replace(found, resource_rules=rules)


def _relaxed_rule(rule: Rule, parts: tuple[Vacuity, ...]) -> Rule:
    for part in parts:
        rule = replace(rule, **_PARTS[part])
    if Vacuity.SUBRESOURCE in parts:
        resources = (f"{one.partition('/')[0]}/*" for one in rule.resources)
        rule = replace(rule, resources=(*rule.resources, *resources))
    return rule


def _said(part: Vacuity, constraints: MatchResources | None, request: Request) -> str:
    """What is asked for, and what the request is."""
    rules = () if constraints is None else constraints.resource_rules
    asked = {
        Vacuity.OPERATION: [one for rule in rules for one in rule.operations],
        Vacuity.RESOURCE: [one for rule in rules for one in rule.resources],
        Vacuity.SUBRESOURCE: [one for rule in rules for one in rule.resources],
        Vacuity.GROUP: [one or '""' for rule in rules for one in rule.api_groups],
        Vacuity.VERSION: [one for rule in rules for one in rule.api_versions],
        Vacuity.SCOPE: [rule.scope or "*" for rule in rules],
        Vacuity.RESOURCE_NAME: [one for rule in rules for one in rule.resource_names],
    }
    actual = {
        Vacuity.OPERATION: request.operation.value,
        Vacuity.RESOURCE: request.resource.resource,
        Vacuity.SUBRESOURCE: "/".join(
            filter(None, (request.resource.resource, request.subresource))
        ),
        Vacuity.GROUP: request.resource.group or '""',
        Vacuity.VERSION: request.resource.version,
        Vacuity.SCOPE: "namespaced" if request.namespace else "cluster-scoped",
        Vacuity.RESOURCE_NAME: request.name,
    }
    if part in asked:
        wanted = ", ".join(dict.fromkeys(asked[part]))
        return f"the rules are about {_NAMED[part]} {wanted}, the request is about {actual[part]}"
    if part is Vacuity.EXCLUDED:
        return "`excludeResourceRules` leave it out"
    if part is Vacuity.NAMESPACE_SELECTOR:
        return f"`namespaceSelector` does not select namespace `{request.namespace}`"
    return "`objectSelector` does not select the labels of the object"


_NAMED: Final = {
    Vacuity.OPERATION: "operation",
    Vacuity.RESOURCE: "resource",
    Vacuity.SUBRESOURCE: "resource",
    Vacuity.GROUP: "group",
    Vacuity.VERSION: "version",
    Vacuity.SCOPE: "scope",
    Vacuity.RESOURCE_NAME: "names",
}
