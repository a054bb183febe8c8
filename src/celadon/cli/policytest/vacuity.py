"""Doubts about one case, which may mean less than it seems: each function looks for one thing.

Of a case that failed they say why; one that is as expected fails for the graver ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from celadon.admission import (
    Engine,
    Note,
    Operation,
    Outcome,
    Request,
    ValidatingAdmissionPolicy,
    World,
    decode_binding,
    decode_policy,
)
from celadon.admission.registration import MatchResources, Rule, missing_kind
from celadon.cli.check.check_report import Place
from celadon.cli.check.manifests import Placed, PolicySet, validating_engine
from celadon.cli.policytest.case_judging import JudgedCase, decisive, overlaid
from celadon.cli.policytest.case_results import (
    Case,
    CaseOutcome,
    CaseResult,
    CaseVerdict,
    Doubt,
    How,
    PolicyTest,
    TextMatch,
    Vacuity,
)
from celadon.kube import FieldPath, JsonObject, User, metadata
from celadon.kube.releases import LATEST_RELEASE, OLDEST_RELEASE
from celadon.kube.well_known_values import NAMESPACES

# --- Unmatched reasons -------------------------------------------------------
#
# Why a policy did not look at a request.
#
# The engine says whether its rules, a binding or a condition are the reason. Of rules and
# selectors it is found out by trying: the fewest parts that would have to be different for the
# request to match are the reasons. The trials are made by the engine itself, with a policy that
# has only `matchConstraints`.

_VERSION: Final = "admissionregistration.k8s.io/v1"
_CONSTRAINTS: Final = FieldPath("spec", "matchConstraints")
_MATCH_RESOURCES: Final = FieldPath("spec", "matchResources")
_PROBE: Final = "probe"
_MOST_TOGETHER: Final = 3
"""Parts that are tried to be different at once."""
_ANYONE: Final = User("someone", ("system:authenticated",))

_PARTS: Final[Mapping[Vacuity, JsonObject]] = {
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
    policy_set: PolicySet,
    version: str,
) -> Iterator[Doubt]:
    """Yield why the policy of this name, of a set, did not look at the request."""
    placed = policy_set.policies[name]
    policy_notes = [note for note in notes if note.policy == name]
    outcomes = {note.outcome for note in policy_notes} or {Outcome.POLICY_UNMATCHED}
    if any(note.outcome is Outcome.EXEMPT for note in notes):
        text = f"no policy ever sees {request.resource.group_resource}"
        yield Doubt(Vacuity.EXEMPT_RESOURCE, text, placed.place())
    elif not any(
        binding.value.spec.policy_name == name for binding in policy_set.bindings.values()
    ):
        yield from _unbound(placed, policy_set)
    elif Outcome.POLICY_UNMATCHED in outcomes:
        yield from _unmatched(placed, request, _trial(request, world, version), policy_set)
    for note in policy_notes:
        yield from _of_note(note, placed, request, world, policy_set, version)


def _unbound(placed: Placed[Any], policy_set: PolicySet) -> Iterator[Doubt]:
    name = placed.value.name
    yield Doubt(
        Vacuity.NO_BINDING,
        f"policy `{name}` has no binding, so it does nothing",
        placed.place(),
        f"add a binding to the file, or to the test: `bindings: [{{policyName: {name}}}]`",
    )
    for binding in policy_set.bindings.values():
        policy_name = binding.value.spec.policy_name
        if policy_name not in policy_set.policies:
            yield Doubt(
                Vacuity.STRAY_BINDING,
                f"binding `{binding.value.name}` names policy `{policy_name}`, which is not there",
                binding.place(FieldPath("spec", "policyName")),
            )


def _unmatched(
    placed: Placed[Any],
    request: Request,
    matches: Callable[[MatchResources], bool],
    policy_set: PolicySet,
) -> Iterator[Doubt]:
    """Yield why the constraints of a policy do not match, or those of no binding."""
    constraints = placed.value.spec.match_constraints
    if constraints is not None and not matches(constraints):
        for part in _different(constraints, matches):
            yield Doubt(part, _said(part, constraints, request), placed.place(_CONSTRAINTS))
        return
    for binding in policy_set.bindings.values():
        if binding.value.spec.policy_name == placed.value.name:
            yield from _unbinding(binding, request, matches)


def _unbinding(
    binding: Placed[Any], request: Request, matches: Callable[[MatchResources], bool]
) -> Iterator[Doubt]:
    """Yield why a binding does not match."""
    resources = binding.value.spec.match_resources
    for part in _different(resources, matches):
        text = f"binding `{binding.value.name}`: {_said(part, resources, request)}"
        yield Doubt(part, text, binding.place(_MATCH_RESOURCES))


def _of_note(
    note: Note,
    placed: Placed[Any],
    request: Request,
    world: World,
    policy_set: PolicySet,
    version: str,
) -> Iterator[Doubt]:
    """Yield why a binding, a condition or a param let the request pass."""
    if note.outcome is Outcome.BINDING_UNMATCHED:
        yield from _unbinding(
            policy_set.bindings[note.binding], request, _trial(request, world, version)
        )
    elif note.outcome is Outcome.CONDITION_FALSE:
        place = placed.place(FieldPath("spec", "matchConditions"))
        text = f"match condition `{note.detail}` of policy `{note.policy}` is false"
        yield Doubt(Vacuity.CONDITION_FALSE, text, place)
        yield from _because_of_circumstances(note, place, request, world, policy_set, version)
    elif note.outcome is Outcome.PARAM_NOT_FOUND:
        place = policy_set.bindings[note.binding].place(FieldPath("spec", "paramRef"))
        text = f"binding `{note.binding}` found no params, and its action for that is Allow"
        yield Doubt(Vacuity.PARAM_NOT_FOUND, text, place, "give them under `params`")


def _because_of_circumstances(
    note: Note, place: Place, request: Request, world: World, policy_set: PolicySet, version: str
) -> Iterator[Doubt]:
    """Yield whether another user, or no dry run, would have made the condition true."""
    if note.policy not in policy_set.policies or placed_mutates(policy_set, note.policy):
        return
    engine = validating_engine(policy_set, version)

    def passes(changed: Request) -> bool:
        notes = engine.noted(changed, world).notes
        outcomes = [other.outcome for other in notes if other.policy == note.policy]
        return bool(outcomes) and Outcome.CONDITION_FALSE not in outcomes

    if request.dry_run and passes(replace(request, dry_run=False)):
        yield Doubt(Vacuity.DRY_RUN, "the condition would be true if it were no dry run", place)
    if passes(replace(request, user=_ANYONE)):
        text = f"the condition exempts user `{request.user.name}`, it would be true for others"
        yield Doubt(Vacuity.EXEMPT_USER, text, place, "say who asks: `user`, `groups`")


def placed_mutates(policy_set: PolicySet, name: str) -> bool:
    """Return whether a policy of a set is a mutating one."""
    return str(policy_set.policies[name].document.value["kind"]).startswith("Mutating")


def _trial(request: Request, world: World, version: str) -> Callable[[MatchResources], bool]:
    """Return whether constraints match the request."""
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
    """Return the fewest parts that would have to be different; none if it cannot be told."""
    if constraints is None:
        return ()
    for count in range(1, _MOST_TOGETHER + 1):
        for parts in itertools.combinations(_PARTS, count):
            if matches(_relaxed(constraints, parts)):
                return parts
    return ()


def _relaxed(constraints: MatchResources, parts: tuple[Vacuity, ...]) -> MatchResources:
    resources = constraints
    if Vacuity.EXCLUDED in parts:
        resources = replace(resources, exclude_resource_rules=())
    if Vacuity.NAMESPACE_SELECTOR in parts:
        resources = replace(resources, namespace_selector={})
    if Vacuity.OBJECT_SELECTOR in parts:
        resources = replace(resources, object_selector={})
    rules = tuple(_relaxed_rule(rule, parts) for rule in resources.resource_rules)
    return replace(resources, resource_rules=rules)


def _relaxed_rule(rule: Rule, parts: tuple[Vacuity, ...]) -> Rule:
    for part in parts:
        rule = replace(rule, **_PARTS[part])
    if Vacuity.SUBRESOURCE in parts:
        resources = (f"{resource.partition('/')[0]}/*" for resource in rule.resources)
        rule = replace(rule, resources=(*rule.resources, *resources))
    return rule


def _said(part: Vacuity, constraints: MatchResources | None, request: Request) -> str:
    """Return what is asked for, and what the request is."""
    rules = () if constraints is None else constraints.resource_rules
    texts = {
        Vacuity.OPERATION: [operation for rule in rules for operation in rule.operations],
        Vacuity.RESOURCE: [resource for rule in rules for resource in rule.resources],
        Vacuity.SUBRESOURCE: [resource for rule in rules for resource in rule.resources],
        Vacuity.GROUP: [api_group or '""' for rule in rules for api_group in rule.api_groups],
        Vacuity.VERSION: [api_version for rule in rules for api_version in rule.api_versions],
        Vacuity.SCOPE: [rule.scope or "*" for rule in rules],
        Vacuity.RESOURCE_NAME: [
            resource_name for rule in rules for resource_name in rule.resource_names
        ],
    }
    # A Namespace is of the cluster, though its own name is the namespace of a request about it.
    is_namespaced = bool(request.namespace) and request.resource != NAMESPACES
    actual = {
        Vacuity.OPERATION: request.operation.value,
        Vacuity.RESOURCE: request.resource.resource,
        Vacuity.SUBRESOURCE: "/".join(
            filter(None, (request.resource.resource, request.subresource))
        ),
        Vacuity.GROUP: request.resource.group or '""',
        Vacuity.VERSION: request.resource.version,
        Vacuity.SCOPE: "namespaced" if is_namespaced else "cluster-scoped",
        Vacuity.RESOURCE_NAME: request.name,
    }
    if part in texts:
        names = ", ".join(dict.fromkeys(texts[part]))
        return f"the rules are about {_NAMED[part]} {names}, the request is about {actual[part]}"
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

_SAYING: Final = frozenset({CaseVerdict.DENY, CaseVerdict.WARN, CaseVerdict.AUDIT})
_BY_CHANCE: Final = frozenset({Vacuity.NO_BINDING, Vacuity.STRAY_BINDING})
"""Reasons for which nothing would ever match, so that nobody can expect `noMatch` for them."""

RELEASES: Final = tuple(
    f"{OLDEST_RELEASE[0]}.{minor}" for minor in range(OLDEST_RELEASE[1], LATEST_RELEASE[1] + 1)
)
"""Those that a test may name."""


def case_doubts(case: Case, judged: JudgedCase, outcome: CaseOutcome, version: str) -> list[Doubt]:
    """Return all doubts about a case; `outcome` is what became of it."""
    return [
        *_unreached(case, judged, outcome, version),
        *_not_what_it_seems(case, outcome),
        *_not_served(case, judged, outcome, version),
        *_any_text(case),
        *_any_denial(case, judged, outcome),
        *_changes(case, judged, outcome),
        *_weak_policies(case, judged, outcome),
        *_assumptions(case, judged, outcome),
    ]


def _unreached(
    case: Case, judged: JudgedCase, outcome: CaseOutcome, version: str
) -> Iterator[Doubt]:
    """Yield why policies under test did not look at it."""
    document_request = judged.document_request
    if outcome.verdict is not CaseVerdict.NO_MATCH or document_request is None:
        return
    expects_no_match = case.expect.verdict is CaseVerdict.NO_MATCH
    doubts: list[Doubt] = []
    for policy_set in judged.setting.sets.all:
        for name in sorted(outcome.under_test & policy_set.policies.keys()):
            notes = _notes_on(name, outcome, policy_set)
            reasons = unmatched_reasons(
                name, notes, document_request.request, judged.setting.world, policy_set, version
            )
            if not expects_no_match:
                yield from reasons
            elif case.expect.because:
                doubts += reasons
            elif not any(
                binding.value.spec.policy_name == name for binding in policy_set.bindings.values()
            ):
                yield from (reason for reason in reasons if reason.vacuity in _BY_CHANCE)
    if expects_no_match:
        yield from _other_reason(case.expect.because, doubts, case.expect.place)


def _other_reason(expected: str, doubts: Sequence[Doubt], place: Place) -> Iterator[Doubt]:
    """Yield where nothing matches, but not for the reason that is expected."""
    if expected and expected not in {doubt.vacuity.value for doubt in doubts}:
        actual = "; ".join(doubt.text for doubt in doubts) or "no reason is known"
        text = f"nothing matches, but not because of `{expected}`: {actual}"
        yield Doubt(Vacuity.OTHER_REASON, text, place)


def _notes_on(name: str, outcome: CaseOutcome, policy_set: PolicySet) -> tuple[Note, ...]:
    """Mutating engines say nothing of what no request to an endpoint concerns."""
    if any(note.policy == name for note in outcome.notes) or not placed_mutates(policy_set, name):
        return outcome.notes
    return (*outcome.notes, Note(Outcome.POLICY_UNMATCHED, name))


def _not_what_it_seems(case: Case, outcome: CaseOutcome) -> Iterator[Doubt]:
    """Yield where something else happened than the expected verdict."""
    wanted_verdict, actual, place = case.expect.verdict, outcome.verdict, case.expect.place
    if wanted_verdict is actual and not outcome.other_violations:
        return
    if actual is CaseVerdict.INVALID:
        text = f"the API server refuses it before any policy is asked: {outcome.result.sentence}"
        yield Doubt(Vacuity.REFUSED_BEFORE, text, place)
    elif actual is CaseVerdict.ERROR and outcome.ignored:
        text = f"`failurePolicy: Ignore` let an error pass: {outcome.ignored[0].message}"
        yield Doubt(Vacuity.ERROR_IGNORED, text, outcome.ignored[0].place)
    elif actual is CaseVerdict.ERROR:
        text = "an expression could not be evaluated: that is no answer of the policy"
        yield Doubt(Vacuity.ERROR_NOT_DENIAL, text, outcome.deciding[0].rule)
    elif actual is CaseVerdict.AUDIT:
        text = f"binding `{outcome.deciding[0].binding}` only audits"
        yield Doubt(Vacuity.ONLY_AUDITS, text, outcome.deciding[0].rule)
    elif actual is CaseVerdict.WARN:
        text = f"binding `{outcome.deciding[0].binding}` warns, and does not deny"
        yield Doubt(Vacuity.ONLY_WARNS, text, outcome.deciding[0].rule)
    if outcome.other_violations:
        by = outcome.other_violations[0]
        text = f"policy `{by.policy}`, which is not under test, denies it: {by.message}"
        yield Doubt(Vacuity.DENIED_BY_ANOTHER, text, by.rule)


def _not_served(
    case: Case, judged: JudgedCase, outcome: CaseOutcome, version: str
) -> Iterator[Doubt]:
    """Policies of a version that the release does not know."""
    for policy_set in judged.setting.sets.all:
        for name in sorted(outcome.under_test & policy_set.policies.keys()):
            placed = policy_set.policies[name]
            gvk = metadata.gvk(placed.document.value)
            text = missing_kind(gvk, version, also_gone=True)
            if text:
                releases = [
                    release
                    for release in RELEASES
                    if not missing_kind(gvk, release, also_gone=True)
                ]
                help = f"releases that serve it, for `kubernetesVersions`: {', '.join(releases)}"
                yield Doubt(Vacuity.NOT_SERVED, text, placed.place(FieldPath("apiVersion")), help)


def _any_text(case: Case) -> Iterator[Doubt]:
    """Texts that are expected, and that any text is."""
    expect = case.expect
    texts = [expect.message, *(expect.warnings or ()), *expect.audit_annotations.values()]
    for text in texts:
        if text is not None and text.how is not How.IS and _holds_always(text):
            yield Doubt(Vacuity.ANY_TEXT, f"any text {text.how.value} `{text.text}`", text.place)


def _holds_always(match: TextMatch) -> bool:
    return all(map(match.holds, ("", "x", "\N{SNOWMAN} 1\n")))


def _any_denial(case: Case, judged: JudgedCase, outcome: CaseOutcome) -> Iterator[Doubt]:
    """Yield the doubt that several validations could be the reason for a verdict."""
    expect = case.expect
    if expect.verdict not in _SAYING or outcome.verdict is not expect.verdict:
        return
    if expect.message is not None or expect.validation is not None or expect.reason:
        return
    names = [expect.policy] if expect.policy else sorted(outcome.under_test)
    count = sum(
        len(policy.value.spec.validations)
        for policy in judged.setting.sets.validating.policies.values()
        if policy.value.name in names and isinstance(policy.value, ValidatingAdmissionPolicy)
    )
    if count > 1:
        by = decisive(expect, outcome)[0]
        text = f"any of {count} validations could be the reason; it was {by.field}: {by.message}"
        help = f"say which: `{expect.verdict.value}: TEXT`, or `validation`"
        yield Doubt(Vacuity.ANY_DENIAL, text, expect.place, help)


def _changes(case: Case, judged: JudgedCase, outcome: CaseOutcome) -> Iterator[Doubt]:
    """Doubt updates that change nothing, and mutations that nobody looks at."""
    expect = case.expect
    request = None if judged.before is None else judged.before.request
    updates = request is not None and request.operation is Operation.UPDATE
    if request is not None and updates and request.object == request.old_object:
        text = "the object is what it was: an UPDATE that changes nothing"
        yield Doubt(Vacuity.NOTHING_CHANGES, text, case.place)
    mutated = outcome.result.mutated
    by_test = mutated is not None and not outcome.under_test.isdisjoint(mutated.policies)
    if by_test and expect.object is None and expect.patch is None:
        text = "the policy changes the object, and the case says nothing of that"
        help = "say what is to come of it: `object` or `patch`"
        yield Doubt(Vacuity.CHANGE_UNSEEN, text, expect.place, help)
    before = outcome.before
    if expect.object is not None and mutated and overlaid(before, expect.object) == before:
        text = "`object` would be as expected without the policy, too"
        yield Doubt(Vacuity.TRUE_BEFORE, text, expect.place)


def _weak_policies(case: Case, judged: JudgedCase, outcome: CaseOutcome) -> Iterator[Doubt]:
    """Policies that cannot speak, or that are asked without what they are to look at."""
    policy_set = judged.setting.sets.validating
    for name in sorted(outcome.reached & policy_set.policies.keys()):
        placed = policy_set.policies[name]
        if not placed.document.value_at(("spec", "validations")):
            text = f"policy `{name}` has no validations: nothing can speak against the request"
            yield Doubt(Vacuity.NO_VALIDATION, text, placed.place())
        if placed.value.spec.param_kind is None:
            continue
        for binding in policy_set.bindings.values():
            spec = binding.value.spec
            if spec.policy_name == name and spec.param_ref is None:
                text = f"binding `{binding.value.name}` has no paramRef, so `params` is null"
                yield Doubt(Vacuity.NULL_PARAMS, text, binding.place())


def _assumptions(case: Case, judged: JudgedCase, outcome: CaseOutcome) -> Iterator[Doubt]:
    """Yield what is taken for granted, since the test does not say it."""
    document_request = judged.document_request
    if document_request is None:
        return
    place = case.place
    if document_request.endpoint.is_guessed:
        kind = document_request.endpoint.kind
        text = f"kind `{kind.kind}` of {kind.api_version} is not known: its fields and its resource"
        yield Doubt(Vacuity.UNKNOWN_KIND, f"{text} are guessed", place, "give its CRD under `crds`")
    namespace = document_request.request.namespace
    concerned = outcome.reached or any(
        note.outcome is Outcome.BINDING_UNMATCHED for note in outcome.notes
    )
    if concerned and document_request.endpoint.namespaced and _looks_at_namespaces(judged):
        documents = [
            document
            for document in judged.setting.manifests.existing
            if document.value["kind"] == "Namespace"
        ]
        if namespace not in {metadata.name(document.value) for document in documents}:
            text = f"namespace `{namespace}` is not given, taken to have no labels but its name"
            help = "policies look at it: `namespace: {labels: ...}`"
            yield Doubt(Vacuity.NAMESPACE_ASSUMED, text, place, help)


def _looks_at_namespaces(judged: JudgedCase) -> bool:
    # late: asked of few cases
    from celadon.cli.check.notices import Sightings

    return Sightings.wanted(judged.setting.sets).wants_namespaces


# --- Shared doubts -----------------------------------------------------------
#
# What the cases of a test leave out together.

_CONTENT = frozenset({CaseVerdict.ADMIT, CaseVerdict.NO_MATCH})


def shared_doubts(test: PolicyTest, results: Sequence[CaseResult]) -> Iterator[Doubt]:
    """Yield doubts about all cases that were run together; none if one could not be."""
    outcomes = [result.outcome for result in results if result.outcome is not None]
    yield from test.assumed
    yield from _same_cases([case for case in test.cases if not case.skip])
    if not outcomes or len(outcomes) < len(results):
        return
    place = Place(test.file)
    for name in sorted(set().union(*(outcome.under_test for outcome in outcomes))):
        reaching = [outcome for outcome in outcomes if name in outcome.reached]
        if not reaching:
            yield Doubt(Vacuity.NEVER_REACHED, f"no case reaches policy `{name}`", place)
        elif all(
            outcome.verdict in _CONTENT and not outcome.result.mutated for outcome in reaching
        ):
            text = f"in no case policy `{name}` speaks against a request, or changes one"
            yield Doubt(Vacuity.NEVER_SPEAKS, text, place)
        elif not any(outcome.verdict is CaseVerdict.ADMIT for outcome in reaching):
            text = f"in no case policy `{name}` looks at a request and lets it pass"
            yield Doubt(Vacuity.NEVER_CONTENT, text, place)


def _same_cases(cases: Sequence[Case]) -> Iterator[Doubt]:
    seen: dict[str, Case] = {}
    for case in cases:
        before = seen.setdefault(_asked(case), case)
        if before is not case:
            text = f"case `{case.name}` asks what case `{before.name}` asks"
            yield Doubt(Vacuity.SAME_CASE, text, case.place)


def _asked(case: Case) -> str:
    """Return a text that is the same for the same request in the same cluster."""
    parts = (
        case.object.value,
        None if case.old is None else case.old.value,
        case.operation,
        case.subresource,
        case.namespace,
        case.user,
        case.dry_run,
        [document.value for document in case.cluster],
        case.answers,
        case.policies,
        case.versions,
    )
    return repr(parts)
