"""Notices of what went by without a word: a check that is green because nothing was checked.

Each function looks for one kind of silence; `notices` asks them in turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, Protocol

from celadon.admission import Cause, Engine, Note, Operation, Outcome, Verdict, World
from celadon.admission.registration import MutatingAdmissionPolicy, Policy
from celadon.cli.check.check_report import Notice, NoticeReason, ObjectResult, Place
from celadon.cli.check.document_requests import DocumentRequest
from celadon.cli.check.manifests import Manifests, Placed, PolicySet, PolicySets, is_configuration
from celadon.cli.check.object_preparation import Endpoint
from celadon.cli.options import did_you_mean
from celadon.cli.project_config import summary
from celadon.cli.reading.documents import Problem, to_translate
from celadon.cli.reading.json_text import Path
from celadon.kube import FieldPath, GroupKind, GroupVersionKind, JsonObject, metadata
from celadon.kube.well_known_values import NAMESPACE_NAME
from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.cli.check.object_mutation import ObjectMutation


# --- Coverage ----------------------------------------------------------------
#
# Which policies had a say about which objects.
#
# The engine notes on its way to a verdict why each policy and binding spoke or did not; here
# that is gathered over all objects.

_MATCHED: Final = frozenset(
    {
        Outcome.EVALUATED,
        Outcome.CONDITION_FALSE,
        Outcome.CONDITION_ERROR_IGNORED,
        Outcome.PARAM_NOT_FOUND,
        Outcome.CONFIGURATION_ERROR_IGNORED,
        Outcome.UNDECIDED,
    }
)


class Titled(Protocol):
    """Something that can be spoken of."""

    @property
    def title(self) -> str:
        """Return `Deployment shop/web`."""
        ...


_NAME: Final = ("metadata", "name")

_MOST_KNOWN: Final = 256
"""Verdicts and notes that are remembered."""


@dataclass(slots=True)
class Coverage:
    """Holds what was found. `outcomes` has per policy how its evaluations ended; `notes` keeps
    the first of each kind, with the title of its object; `misconfigured` are policies that denied
    because of their own configuration; `known` are verdicts and notes of this process that were
    taken in before, by identity, with the number of pairs of policy and binding that match."""

    outcomes: dict[str, set[Outcome]] = field(default_factory=dict)
    notes: dict[tuple[Outcome, str, str], tuple[Note, str]] = field(default_factory=dict)
    misconfigured: set[str] = field(default_factory=set)
    known: dict[int, tuple[Verdict | tuple[Note, ...], int]] = field(
        default_factory=dict, compare=False
    )

    def evaluated(self, policy: str) -> bool:
        """Return whether the policy was evaluated, or failed to be, on any object."""
        return policy in self.misconfigured or Outcome.EVALUATED in self.outcomes.get(policy, ())

    def judge(
        self, engine: Engine, world: World, document_request: DocumentRequest
    ) -> tuple[Verdict, int]:
        """Return what the policies say to an object, and how many pairs of policy and binding
        match."""
        verdict = engine.noted(document_request.request, world)
        # The engine gives the same notes, and while nobody objects the same verdict, for all
        # requests of one kind, so identity tells quickly whether they are known.
        unconcerned = engine.unconcerned(document_request.request, world)
        if id(unconcerned) not in self.known:
            self.take(unconcerned, document_request)
            self._know(unconcerned, 0)
        if id(verdict) in self.known:
            return verdict, self.known[id(verdict)][1]
        count = self._taken(verdict, document_request)
        self._know(verdict, count)
        return verdict, count

    def _know(self, key: Verdict | tuple[Note, ...], count: int) -> None:
        if len(self.known) == _MOST_KNOWN:  # most are of one object each
            self.known.clear()
        self.known[id(key)] = key, count

    def _taken(self, verdict: Verdict, document_request: DocumentRequest) -> int:
        """Take a verdict in, and return how many pairs match."""
        self.take(verdict.notes, document_request)
        wrong = [
            decision for decision in verdict.decisions if decision.cause is Cause.CONFIGURATION
        ]
        self.misconfigured.update(decision.policy for decision in wrong)
        pairs = {(note.policy, note.binding) for note in verdict.notes if note.outcome in _MATCHED}
        return len(pairs.union((decision.policy, decision.binding) for decision in wrong))

    def take_mutation(
        self, happened: ObjectMutation | None, document_request: DocumentRequest
    ) -> None:
        """Take in what mutating policies have made of an object."""
        if happened is not None:
            self.take(happened.notes, document_request)
            self.misconfigured.update(
                failure.policy
                for failure in happened.failures
                if failure.index is None and not failure.ignored
            )

    def take(self, notes: Iterable[Note], titled: Titled) -> None:
        """Take in what was noted about an object."""
        for note in notes:
            if note.policy:
                self.outcomes.setdefault(note.policy, set()).add(note.outcome)
            key = (note.outcome, note.policy, note.binding)
            # The first object is enough to show what is meant; a thousand would say the same.
            if key not in self.notes:
                self.notes[key] = (note, titled.title)

    def add(self, following: Coverage) -> None:
        """Take in what was found about the objects behind these."""
        for policy, outcomes in following.outcomes.items():
            self.outcomes.setdefault(policy, set()).update(outcomes)
        for key, noted in following.notes.items():
            self.notes.setdefault(key, noted)
        self.misconfigured |= following.misconfigured

    def count_silent(self, policies: PolicySet) -> None:
        """Take in, at the end, that policies of which nothing was noted match nothing."""
        for name in policies.policies:
            self.outcomes.setdefault(name, {Outcome.POLICY_UNMATCHED})


_FEW: Final = 20
"""Notices of the same kind."""
_NAMESPACE: Final = GroupKind("", "Namespace")
_SPOKEN: Final = frozenset(
    {
        Outcome.PARAM_NOT_FOUND,
        Outcome.CONDITION_ERROR_IGNORED,
        Outcome.CONFIGURATION_ERROR_IGNORED,
        Outcome.UNDECIDED,
    }
)


@dataclass(slots=True)
class Sightings:
    """Holds what was met among the objects, with the place of the first: kinds that nobody
    defined, and namespaces, if `wants_namespaces`. `any` says whether there was an object at
    all."""

    wants_namespaces: bool
    any: bool = False
    guessed: dict[GroupVersionKind, tuple[Endpoint, Place]] = field(default_factory=dict)
    namespaces: dict[str, Place] = field(default_factory=dict)

    @staticmethod
    def wanted(sets: PolicySets) -> Sightings:
        """Namespaces are of interest if some policy looks at them."""
        return Sightings(any(map(_looks_at_namespaces, sets.all)))

    def take(self, document_request: DocumentRequest) -> None:
        """Take in an object."""
        self.any = True
        endpoint, namespace = document_request.endpoint, document_request.request.namespace
        if endpoint.is_guessed and endpoint.kind not in self.guessed:
            self.guessed[endpoint.kind] = endpoint, _place(document_request, ("kind",))
        if self.wants_namespaces and endpoint.namespaced and namespace not in self.namespaces:
            self.namespaces[namespace] = _place(document_request, ("metadata", "namespace"))

    def add(self, following: Sightings) -> None:
        """Take in what was met behind these."""
        self.any = self.any or following.any
        for kind, guessed in following.guessed.items():
            self.guessed.setdefault(kind, guessed)
        for namespace, place in following.namespaces.items():
            self.namespaces.setdefault(namespace, place)


def _place(document_request: DocumentRequest, path: Path) -> Place:
    return Place(document_request.document.file, document_request.document.line(path))


def notices(
    manifests: Manifests,
    sets: PolicySets,
    operation: Operation | None,
    sightings: Sightings,
    mutations: Coverage | None,
    coverage: Coverage,
) -> Iterator[Notice]:
    """Yield everything that should be said, the most general first. `operation` is that of all
    requests, if all have the same; `mutations` is what mutating policies did (None if nobody asked
    them), `coverage` what validating ones said."""
    yield from _nothing(manifests, sets)
    if manifests.others:
        yield Notice(NoticeReason.NO_MANIFEST, Place(), summary(manifests.others))
    if mutations is None:
        yield from _not_evaluated(sets.mutating)
    for policies, counts in ((sets.mutating, mutations), (sets.validating, coverage)):
        if counts is None:
            continue
        yield from policy_notices(
            policies,
            operation,
            counts,
            [document.value for document in manifests.existing],
            objects=sightings.any,
        )
    yield from _unknown_kinds(sightings)
    existing = (document.value for document in manifests.existing)
    yield from assumed_namespaces(sightings.namespaces, existing)


def policy_notices(
    policies: PolicySet,
    operation: Operation | None,
    coverage: Coverage,
    existing: Sequence[JsonObject],
    *,
    objects: bool,
) -> Iterator[Notice]:
    """Yield what policies and bindings of one type did not do; `objects`: whether there were
    any."""
    yield from _replaced(policies)
    yield from _unbound(policies)
    yield from _without_policy(policies)
    if objects:
        yield from _unmatched(policies, operation, coverage)
    yield from _missing_params(existing, policies)
    yield from _not_found_params(policies, coverage)
    yield from _failures(policies, coverage)


def _nothing(manifests: Manifests, sets: PolicySets) -> Iterator[Notice]:
    if not manifests.admitted and not manifests.problems:
        yield Notice(
            NoticeReason.NOTHING_TO_CHECK,
            Place(),
            "there is no object to admit",
            "give files or folders behind the options: `celadon check -f policies/ manifests/`",
        )
    has_policies = any(policy_set.policies or policy_set.broken for policy_set in sets.all)
    if not has_policies and not _has_webhooks(manifests):
        yield Notice(
            NoticeReason.NO_POLICY,
            Place(),
            "there is no ValidatingAdmissionPolicy or MutatingAdmissionPolicy",
            _where_policies_are(manifests),
        )


def _where_policies_are(manifests: Manifests) -> str:
    """Return what to type where no policy was given; what was given in its place is named."""
    text = "give policies and bindings with `-f`; `celadon init` writes a first one"
    if other_engine := to_translate([*manifests.looked_up, *islice(manifests.admitted, _FEW)]):
        return other_engine
    if not manifests.looked_up:
        return text
    other = manifests.looked_up[0]
    return f"{other.file} has a {other.value['kind']}, and no policy: {text}"


def _has_webhooks(manifests: Manifests) -> bool:
    return any(map(is_configuration, manifests.existing))


def unasked(results: Sequence[ObjectResult]) -> Iterator[Notice]:
    """Webhooks whose answers are not known, once each."""
    titles: dict[tuple[Place, str], list[str]] = {}
    for result in results:
        for call in result.unasked:
            titles.setdefault((call.place, call.webhook), []).append(result.title)
    last = len(titles) - 1
    for i, ((place, name), about) in enumerate(titles.items()):
        subjects = list(dict.fromkeys(about))
        more = f" and {len(subjects) - 1} more" if len(subjects) > 1 else ""
        yield Notice(
            NoticeReason.WEBHOOK_UNASKED,
            place,
            f"webhook `{name}` was not asked about {subjects[0]}{more}",
            "give answers with `--webhook-answers`, or ask with `--call-webhooks`"
            if i == last
            else "",
        )


def _replaced(policies: PolicySet) -> Iterator[Notice]:
    for earlier, later in policies.replaced:
        if earlier.value != later.value:
            yield Notice(
                NoticeReason.REPLACED,
                Place(earlier.file, earlier.line(_NAME)),
                f"{earlier.value['kind']} `{metadata.name(earlier.value)}` is not used: that at "
                f"{later.file}:{later.line(_NAME)} has the same name and comes later",
            )


def _unbound(policies: PolicySet) -> Iterator[Notice]:
    bound = {placed.value.spec.policy_name for placed in policies.bindings.values()}
    for name, placed in policies.policies.items():
        # A binding that cannot be used has been named as an error already.
        if name not in bound and not _has_broken_binding(policies, name):
            yield Notice(
                NoticeReason.POLICY_UNBOUND,
                placed.place(),
                f"policy `{name}` has no binding, so it does nothing",
                f"add a {placed.document.value['kind']}Binding with `policyName: {name}`",
            )


def _has_broken_binding(policies: PolicySet, name: str) -> bool:
    return any(error.policy == name for error in policies.errors)


def _without_policy(policies: PolicySet) -> Iterator[Notice]:
    for name, placed in policies.bindings.items():
        policy_name = placed.value.spec.policy_name
        if policy_name not in policies.policies and policy_name not in policies.broken:
            hint = did_you_mean(policy_name, policies.policies)
            yield Notice(
                NoticeReason.BINDING_WITHOUT_POLICY,
                placed.place(FieldPath("spec", "policyName")),
                f"binding `{name}` names policy `{policy_name}`, which is not there{hint}",
            )


def _unmatched(
    policies: PolicySet, operation: Operation | None, coverage: Coverage
) -> Iterator[Notice]:
    bound = {placed.value.spec.policy_name for placed in policies.bindings.values()}
    for name, placed in policies.policies.items():
        outcomes = coverage.outcomes.get(name, set[Outcome]())
        spoke = coverage.evaluated(name) or not outcomes.isdisjoint(_SPOKEN)
        # A policy without outcomes was never asked, for instance since its objects could not be
        # read.
        if name not in bound or spoke or not outcomes:
            continue
        # The nearest miss says most: a false condition before a binding that does not match, and
        # that before the rules.
        if Outcome.CONDITION_FALSE in outcomes:
            note, _ = next(
                note
                for (outcome, policy, _), note in coverage.notes.items()
                if outcome is Outcome.CONDITION_FALSE and policy == name
            )
            reason = f"its match condition `{note.detail}` is false for all that its rules match"
        elif Outcome.BINDING_UNMATCHED in outcomes:
            reason = f"its rules match, but none of its bindings does{_asked(policies, name)}"
        else:
            reason = f"its rules are about {_subject(placed)}"
        yield Notice(
            NoticeReason.POLICY_UNMATCHED,
            placed.place(FieldPath("spec", "matchConstraints")),
            f"policy `{name}` matched none of the objects: {reason}",
            "" if operation is None else _operation_help(placed, operation.value),
        )


def _asked(policies: PolicySet, policy: str) -> str:
    """Return what the bindings of a policy ask of objects: ` (they have a namespaceSelector)`."""
    matches = [
        placed.value.spec.match_resources
        for placed in policies.bindings.values()
        if placed.value.spec.policy_name == policy
    ]
    asked = {
        "a namespaceSelector": any(match and match.namespace_selector for match in matches),
        "an objectSelector": any(match and match.object_selector for match in matches),
        "resourceRules": any(match and match.resource_rules for match in matches),
        "excludeResourceRules": any(match and match.exclude_resource_rules for match in matches),
    }
    subject = "it has" if len(matches) == 1 else "they have"
    texts = [text for text, is_asked in asked.items() if is_asked]
    return f" ({subject} {', '.join(texts)})" if texts else ""


def _subject(placed: Placed[Policy]) -> str:
    """`deployments.apps, pods on CREATE or UPDATE`."""
    constraints = placed.value.spec.match_constraints
    rules = constraints.resource_rules if constraints is not None else ()
    resources = dict.fromkeys(
        f"{resource}.{group}" if group else resource
        for rule in rules
        for group in rule.api_groups
        for resource in rule.resources
    )
    operations = dict.fromkeys(operation for rule in rules for operation in rule.operations)
    return f"{', '.join(resources)} on {' or '.join(operations)}"


def _operation_help(placed: Placed[Policy], operation: str) -> str:
    constraints = placed.value.spec.match_constraints
    rules = constraints.resource_rules if constraints is not None else ()
    operations = {operation for rule in rules for operation in rule.operations}
    if not operations or operations & {operation, "*"}:
        return ""
    return f"the objects were checked as {operation}: see `--operation`"


def _missing_params(existing: Sequence[JsonObject], policies: PolicySet) -> Iterator[Notice]:
    """Bindings that name an object nobody gave, in any namespace."""
    names = {(*metadata.gvk(value).group_kind, metadata.name(value)) for value in existing}
    for name, placed in policies.bindings.items():
        policy = policies.policies.get(placed.value.spec.policy_name)
        kind = policy.value.spec.param_kind if policy is not None else None
        ref = placed.value.spec.param_ref
        if kind is None:
            continue
        if ref is None:
            yield Notice(
                NoticeReason.PARAM_MISSING,
                placed.place(),
                f"binding `{name}` has no paramRef, so `params` is null",
            )
        elif ref.name and (kind.api_version.rpartition("/")[0], kind.kind, ref.name) not in names:
            yield Notice(
                NoticeReason.PARAM_MISSING,
                placed.place(FieldPath("spec", "paramRef", "name")),
                f"binding `{name}` names {kind.kind} `{ref.name}`, which is not there",
                "give it with `-f`",
            )


def _not_found_params(policies: PolicySet, coverage: Coverage) -> Iterator[Notice]:
    for (outcome, policy, binding), (_, title) in coverage.notes.items():
        if outcome is Outcome.PARAM_NOT_FOUND:
            yield Notice(
                NoticeReason.PARAM_MISSING,
                policies.bindings[binding].place(FieldPath("spec", "paramRef")),
                f"binding `{binding}` found no params for {title}, so policy `{policy}` "
                "let it pass",
            )


def _failures(policies: PolicySet, coverage: Coverage) -> Iterator[Notice]:
    for (_, policy, binding), (note, title) in coverage.notes.items():
        if note.source is None:
            continue
        place = policies.place(note.source, policy, binding)
        if note.outcome is Outcome.UNDECIDED:
            text = f"policy `{policy}` was not judged on {title}: {note.detail}"
            yield Notice(NoticeReason.NOT_EVALUATED, place, text)
        else:
            text = f"policy `{policy}` ignored an error on {title}: {note.detail}"
            yield Notice(NoticeReason.ERROR_IGNORED, place, text)


def _unknown_kinds(sightings: Sightings) -> Iterator[Notice]:
    for endpoint, place in sightings.guessed.values():
        kind = endpoint.kind
        yield Notice(
            NoticeReason.UNKNOWN_KIND,
            place,
            f"kind `{kind.kind}` of {kind.api_version} is not known, taken for the "
            f"namespaced resource `{endpoint.resource.group_resource}`",
            "give its CustomResourceDefinition with `-f`: "
            f"`kubectl get crd {endpoint.resource.group_resource} -o yaml` prints it",
        )


def assumed_namespaces(
    places: Mapping[str, Place], existing: Iterable[JsonObject], source: str = ""
) -> Iterator[Notice]:
    """Namespaces of objects that nobody gave; `source` says where else they could be given."""
    existing_names = {
        metadata.name(value) for value in existing if metadata.gvk(value).group_kind == _NAMESPACE
    }
    missing = [name for name in places if name not in existing_names]
    help = f"give the Namespace with `-f`{source}: policies look at its labels"
    for name in missing[:_FEW]:
        text = f"namespace `{name}` is not there, taken to have no labels but its name"
        yield Notice(NoticeReason.NAMESPACE_ASSUMED, places[name], text, help)
    if len(missing) > _FEW:
        text = f"{len(missing) - _FEW} more namespaces are not there, taken to have no labels too"
        yield Notice(NoticeReason.NAMESPACE_ASSUMED, places[missing[_FEW]], text, help)


def not_applied(policies: PolicySet, instead: str) -> Iterator[Notice]:
    """Mutating policies where nothing is mutated; `instead` says what happens."""
    for name, placed in policies.policies.items():
        text = f"mutating policy `{name}` is not applied"
        yield Notice(NoticeReason.NOT_EVALUATED, placed.place(), text, instead)


def _looks_at_namespaces(policies: PolicySet) -> bool:
    matches = [
        *(placed.value.spec.match_constraints for placed in policies.policies.values()),
        *(placed.value.spec.match_resources for placed in policies.bindings.values()),
    ]
    if any(match is not None and _reads_labels(match.namespace_selector) for match in matches):
        return True
    return any(
        "namespaceObject" in expression
        for placed in policies.policies.values()
        for expression in _expressions(placed.value)
    )


def _reads_labels(selector: Any) -> bool:  # noqa: ANN401 - JSON
    """Return whether a selector is about more than the label that every namespace has."""
    fields = selector or {}
    keys = [*(fields.get("matchLabels") or {})]
    keys += [
        match_expression.get("key") for match_expression in fields.get("matchExpressions") or ()
    ]
    return any(key != NAMESPACE_NAME for key in keys)


def _expressions(policy: Policy) -> Iterator[str]:
    for variable in policy.spec.variables:
        yield variable.expression
    if isinstance(policy, MutatingAdmissionPolicy):
        for mutation in policy.spec.mutations:
            yield mutation.apply_configuration or mutation.json_patch or ""
        return
    for validation in policy.spec.validations:
        yield validation.expression
        yield validation.message_expression
    for annotation in policy.spec.audit_annotations:
        yield annotation.value_expression


def _not_evaluated(policies: PolicySet) -> Iterator[Notice]:
    for name, placed in policies.policies.items():
        yield Notice(
            NoticeReason.NOT_EVALUATED,
            placed.place(),
            f"mutating policy `{name}` is not applied",
            "mutations work on objects with their defaults: leave out `--no-defaulting`",
        )


# --- Findings about a stretch of objects -------------------------------------
#
# What checking a stretch of the objects has come to.
#
# Objects are judged one after the other; what is found is gathered here: a result for each, and
# what is said about all of them together. Findings about one stretch can be put behind those
# about the stretch before it.

if TYPE_CHECKING:
    from celadon.cli.check.plugins import Charge, Unasked


@dataclass(slots=True)
class Findings:
    """Holds what was found about a number of documents. `unsendable` are objects that nobody could
    ask about, `crashes` errors of our own, before and while objects are judged; `ignored` has a
    notice per expression or webhook whose errors were let pass; `charges` are requests that may use
    something of a quota; `unasked` counts, per plugin and reason, the objects that it could not be
    asked about. `coverage` is about validating policies, `mutations` about mutating ones."""

    sightings: Sightings
    documents: int = 0
    coverage: Coverage = field(default_factory=Coverage)
    mutations: Coverage = field(default_factory=Coverage)
    results: list[ObjectResult] = field(default_factory=list)
    unsendable: list[Problem] = field(default_factory=list)
    early_crashes: list[Problem] = field(default_factory=list)
    crashes: list[Problem] = field(default_factory=list)
    ignored: dict[Hashable, Notice] = field(default_factory=dict)
    charges: list[Charge] = field(default_factory=list)
    unasked: Counter[Unasked] = field(default_factory=Counter)

    def add(self, following: Findings) -> None:
        """Take in what was found about the objects behind these."""
        self.documents += following.documents
        self.sightings.add(following.sightings)
        self.coverage.add(following.coverage)
        self.mutations.add(following.mutations)
        self.charges += [charge.behind(len(self.results)) for charge in following.charges]
        self.unasked.update(following.unasked)
        self.results += following.results
        self.unsendable += following.unsendable
        self.early_crashes += following.early_crashes
        self.crashes += following.crashes
        for key, notice in following.ignored.items():
            self.ignored.setdefault(key, notice)
