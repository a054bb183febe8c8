"""The search for requests that a policy lets pass, and for one that each of its rules is against.

It begins with a seed for each kind that the policy matches. First the expressions are asked which
values would make them true or false (`value_search`), and these are tried; then what the
expressions read is changed to what they compare with: one place at a time, then one more, up to
`MOST_TRIALS` requests in all. Each trial is a case that is judged as any other, so whatever is
found is so. Of a policy with several validations, each also gets a request that it lets pass for
what it looks at: the refused one with one place changed.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import field, replace
from typing import Any, Final

from celadon.admission import Operation
from celadon.admission.explain import policy_expressions
from celadon.admission.registration import MatchResources, MutatingAdmissionPolicy, Policy
from celadon.cel import syntax
from celadon.cli.check.check_report import Place
from celadon.cli.check.document_requests import user_info
from celadon.cli.check.manifests import PolicySet, PolicySets
from celadon.cli.policytest import case_results, value_search
from celadon.cli.policytest.case_judging import Bench, outcome_of
from celadon.cli.policytest.mutants.mutant_proofs import solved_requests
from celadon.cli.policytest.referenced_fields import (
    ReadPlaces,
    SeedObjects,
    read_places,
    with_own_name,
    with_value_at,
)
from celadon.cli.reading.documents import Document
from celadon.cli.reading.json_text import Path, value_at
from celadon.kube import GroupVersionKind, JsonObject
from celadon.kube.go import parse_int
from celadon.kube.json_types import JsonDict
from celadon.kube.resources import Catalog, Resource, known_resources
from celadon.kube.schemas import Schema, resolved
from celadon.records import dataclass

# --- What is searched --------------------------------------------------------
#
# What a search is about: a policy, its rules, and what these read.
#
# A rule is a validation, which a request is wanted for that it refuses, or a mutation, for which
# one is wanted that it changes.

_RULES: Final = frozenset({"validations", "mutations"})
_MOST_MATCHED_KINDS: Final = 12
_FIRST_KINDS: Final = ("Pod", "Deployment", "ConfigMap", "Namespace", "Service")
"""Those that are tried where a policy matches anything."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A validation or a mutation: its expression, the path of that, what it reads, and its tree
    (None for what cannot be compiled)."""

    text: str
    field: str
    read: ReadPlaces
    root: syntax.Expr | None


@dataclass(frozen=True, slots=True)
class Subject:
    """Holds what is known of the policy that requests are looked for. `read` is what all
    expressions read that decide, `param_kind` the kind of params and `param_name`,
    `param_namespace` and `param_labels` what bindings call them; labels are those that selectors
    ask for. `conditions` are the trees of match conditions, `variables` those of variables."""

    name: str
    mutates: bool
    rules: tuple[Rule, ...]
    read: ReadPlaces
    conditions: tuple[syntax.Expr, ...]
    variables: Mapping[str, syntax.Expr]
    resources: tuple[tuple[Resource, frozenset[str]], ...]
    object_labels: Mapping[str, str]
    namespace_labels: Mapping[str, str]
    param_kind: GroupVersionKind | None = None
    param_name: str = ""
    param_labels: Mapping[str, str] | None = None
    param_namespace: str = ""


def subject_of(sets: PolicySets, name: str, version: str, catalog: Catalog) -> Subject:
    """Return the policy of a name, and its bindings."""
    part = next(policy_set for policy_set in sets.all if name in policy_set.policies)
    policy = part.policies[name].value
    rules, places, conditions, variables = _rules(policy, version)
    constraints = [policy.spec.match_constraints, *_match_resources(part, name)]
    kind = policy.spec.param_kind
    param_kind = None
    if kind is not None:
        group, _, served = kind.api_version.rpartition("/")
        param_kind = GroupVersionKind(group, served, kind.kind)
    refs = [
        binding.value.spec.param_ref
        for binding in part.bindings.values()
        if binding.value.spec.policy_name == name and binding.value.spec.param_ref is not None
    ]
    return Subject(
        name,
        isinstance(policy, MutatingAdmissionPolicy),
        rules,
        places,
        conditions,
        variables,
        tuple(sorted(_resources(policy.spec.match_constraints, catalog), key=_rank))[
            :_MOST_MATCHED_KINDS
        ],
        _wanted_labels(constraints, "object_selector"),
        _wanted_labels(constraints, "namespace_selector"),
        param_kind,
        next((ref.name for ref in refs if ref.name), "params"),
        next((dict(ref.selector.get("matchLabels", {})) for ref in refs if ref.selector), {}),
        next((ref.namespace for ref in refs if ref.namespace), ""),
    )


_Read = tuple[tuple[Rule, ...], ReadPlaces, tuple[syntax.Expr, ...], dict[str, syntax.Expr]]


def _rules(policy: Policy, version: str) -> _Read:
    """Return the rules, and what they and the match conditions read; the trees of conditions and
    variables."""
    deciding: list[syntax.Expr] = []
    conditions: list[syntax.Expr] = []
    variables: dict[str, syntax.Expr] = {}
    rules: list[tuple[str, str, list[syntax.Expr]]] = []
    for policy_expression in policy_expressions(policy, version):
        section, index = policy_expression.source.path.steps[1:3]
        root = (
            None
            if policy_expression.program is None
            else policy_expression.program.checked.ast.root
        )
        if policy_expression.source.path.steps[-1] == "messageExpression":
            continue
        if section in _RULES:
            rules.append(
                (
                    policy_expression.text,
                    policy_expression.source.path.text,
                    [] if root is None else [root],
                )
            )
        if root is None:
            continue
        if section == "variables":
            assert isinstance(index, int), "variables are a list"
            variables[policy.spec.variables[index].name] = root
        elif section in _RULES or section == "matchConditions":
            deciding.append(root)
            conditions += [root] if section == "matchConditions" else []
    result = tuple(
        Rule(text, field, read_places(roots, variables), next(iter(roots), None))
        for text, field, roots in rules
    )
    return result, read_places(deciding, variables), tuple(conditions), variables


def _match_resources(part: PolicySet, name: str) -> Iterator[MatchResources | None]:
    for binding in part.bindings.values():
        if binding.value.spec.policy_name == name:
            yield binding.value.spec.match_resources


def _rank(candidate: tuple[Resource, frozenset[str]]) -> int:
    """Kinds that many policies are about come first; the order is else that of the rules."""
    kind = candidate[0].gvk.kind
    return _FIRST_KINDS.index(kind) if kind in _FIRST_KINDS else len(_FIRST_KINDS)


def _resources(
    constraints: MatchResources | None, catalog: Catalog
) -> Iterator[tuple[Resource, frozenset[str]]]:
    for rule in () if constraints is None else constraints.resource_rules:
        for resource in catalog:
            gvr = resource.gvr
            if (
                {gvr.group, "*"} & set(rule.api_groups)
                and {gvr.version, "*"} & set(rule.api_versions)
                and {gvr.resource, "*", "*/*"} & set(rule.resources)
            ):
                yield resource, frozenset(rule.operations)


def _wanted_labels(
    constraints: Sequence[MatchResources | None], selector_name: str
) -> dict[str, str]:
    """Return the labels that selectors name."""
    result: JsonDict = {}
    for constraint in constraints:
        if constraint is not None:
            selectors = {
                "namespace_selector": constraint.namespace_selector,
                "object_selector": constraint.object_selector,
            }
            result |= (selectors[selector_name] or {}).get("matchLabels", {})
    return result


# --- Applied ways ------------------------------------------------------------
#
# Objects with the values in them that a way asks for (`value_search`).
#
# What a value is to be follows from the schema of its kind: a way that is about a field which
# the kind does not have is none for it. Items of lists that a way makes get what an API server
# asks of them.

_CONTAINER: Final = {"name": "second", "image": "example.com/app:1"}
_NEEDED: Final[dict[str, JsonObject]] = {
    "containers": {"name": "main", "image": "example.com/app:1"},
    "initContainers": _CONTAINER,
    "ephemeralContainers": _CONTAINER,
    "env": {"name": "NAME"},
    "volumes": {"name": "volume"},
    "volumeMounts": {"name": "volume", "mountPath": "/mnt"},
    "ports": {"containerPort": 8080},
    "hostPath": {"path": "/mnt"},
    "imagePullSecrets": {"name": "example"},
    "subjects": {
        "kind": "User",
        "name": "alice",
        "apiGroup": "rbac.authorization.k8s.io",
    },
    "tolerations": {"operator": "Exists"},
    "ownerReferences": {"apiVersion": "v1", "kind": "Pod", "name": "owner", "uid": "1"},
}
"""What an item of a list, or an object, needs besides what is asked of it, by the field."""
_RULE: Final = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}


def with_way(
    data: JsonObject, way: Iterable[tuple[Path, object]], schema: Schema | None
) -> JsonDict | None:
    """Return a copy of an object with the values at their places (steps into the object); None
    where its kind has no such place."""
    result: dict[str, object] = copy.deepcopy(dict(data))
    assignments = sorted(way, key=lambda assignment: len(assignment[0]))
    for place, value in assignments:
        steps, place_schema = _steps(place), schema_at(schema, place)
        if schema is not None and place_schema is None:
            return None
        if value is value_search.GONE:
            result = with_value_at(result, steps, None) or result
            continue
        has_below = any(
            len(other) > len(place) and other[: len(place)] == place for other, _ in assignments
        )
        if value is value_search.THERE and (has_below or value_at(result, steps) is not None):
            continue
        changed = with_value_at(result, steps, _value(value, place_schema, str(place[-1])))
        if changed is None:
            return None
        result = changed
    for place, value in assignments:
        if value is not value_search.GONE:
            _complete(result, place)
    return result


def _steps(place: Path) -> Path:
    if place and place[-1] in (value_search.KEY, value_search.ANY_VALUE):
        return place[:-1]
    return place


def schema_at(schema: Schema | None, place: Path) -> Schema | None:
    """Return the schema of a place; None where there is none. What may be anything is
    `_ANYTHING`."""
    for step in place:
        if schema is None:
            return None
        schema = resolved(schema)
        if isinstance(step, int):
            schema = schema.items or (_ANYTHING if _is_open(schema) else None)
        elif step in schema.properties:
            schema = schema.properties[step]
        elif step in (value_search.KEY, value_search.ANY_VALUE):
            schema = schema.additional_properties or _ANYTHING
        else:
            schema = schema.additional_properties or (_ANYTHING if _is_open(schema) else None)
    return None if schema is None else resolved(schema)


_ANYTHING: Final = Schema(preserve_unknown=True)


def _is_open(schema: Schema) -> bool:
    return schema.preserve_unknown or schema.open_values


def _value(value: Any, schema: Schema | None, last: str) -> Any:  # noqa: ANN401 - any JSON
    """Return a value as the schema has it."""
    types = () if schema is None else schema.types
    if last == value_search.KEY:
        return {str(value) if isinstance(value, str) else "key": "x"}
    if value is value_search.THERE:
        return _something(schema)
    if isinstance(value, value_search.Length):
        if "array" in types or (not types and schema is _ANYTHING):
            items = None if schema is None else schema.items
            return [_something(items) for _ in range(min(value.count, 100))]
        if "object" in types:
            return {f"key{i}": "x" for i in range(min(value.count, 100))}
        return "x" * min(value.count, 1000)
    if last == value_search.ANY_VALUE:
        return {"key": value}
    if types == ("string",) and not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    if types == ("integer",) and isinstance(value, str):
        with suppress(ValueError):
            return parse_int(value)
    if types == ("array",) and not isinstance(value, list):
        return [value]
    return value


def _something(schema: Schema | None) -> object:
    """Return a value of a type."""
    if schema is None:
        return {}
    schema = resolved(schema)
    if schema.enum:
        return schema.enum[0]
    match schema.types:
        case ("boolean",):
            return True
        case ("integer", *_) | ("number", *_):
            return int(schema.limits.minimum or 1)
        case ("array",):
            return [_something(schema.items)] if schema.items is not None else []
        case ("object",):
            required = {name: schema.properties.get(name) for name in schema.required}
            return {name: _something(member) for name, member in required.items()}
        case ("string",):
            return "x" * max(1, schema.limits.min_length or 1)
        case _:
            return "1" if schema.name.endswith(".Quantity") else {}


def _complete(obj: JsonDict, place: Path) -> None:
    """Give what stands on the way to a place what it needs."""
    for length in range(1, len(place) + 1):
        holder = value_at(obj, place[:length])
        step = place[length - 1]
        field = str(place[length - 2]) if isinstance(step, int) and length > 1 else str(step)
        if not isinstance(holder, dict):
            continue
        needed = _NEEDED.get(field, {})
        if field == "rules" and isinstance(step, int):
            needed = {} if "nonResourceURLs" in holder else _RULE
        if field == "ports" and obj.get("kind") == "Service":
            needed = {"port": 80}
        for name, value in needed.items():
            holder.setdefault(name, copy.deepcopy(value))
        if field == "volumeMounts" and isinstance(step, int):
            _with_volume(obj, place[: length - 4], str(holder["name"]))


def _with_volume(obj: JsonObject, pod: Path, name: str) -> None:
    """Add a volume for a mount, in the same pod."""
    spec = value_at(obj, pod)
    if isinstance(spec, dict):
        volumes = spec.setdefault("volumes", [])
        if not any(volume.get("name") == name for volume in volumes if isinstance(volume, dict)):
            volumes.append({"name": name})


MOST_TRIALS: Final = 2000
MOST_PARAMS: Final = 150
_PLACE: Final = "search"
_USERS: Final = ("", "alice")
_MOST_KINDS: Final = 3


@dataclass(frozen=True, slots=True)
class TrialRequest:
    """A request: its object, the one it replaces (None for a CREATE), params (None for none), who
    asks (empty: an administrator), and the labels of the Namespace."""

    object: JsonDict
    old: JsonDict | None = None
    params: JsonDict | None = None
    user: str = ""
    namespace: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Return a text that is the same for the same request."""
        parts = [self.object, self.old, self.params, self.user, dict(self.namespace)]
        return json.dumps(parts, sort_keys=True)


@dataclass(frozen=True, slots=True)
class Against:
    """A request that a rule is against: the message with which it is refused, or the JSON patch by
    which policies change it."""

    trial_request: TrialRequest
    message: str = ""
    patch: tuple[JsonObject, ...] = ()


@dataclass(slots=True)
class SearchResult:
    """Holds what a search came to: a request that is admitted as it is; by index of the rule one
    that it is against, and one that it lets pass (`passing`, where that is another)."""

    subject: Subject
    trials: int = 0
    admitted: TrialRequest | None = None
    against: dict[int, Against] = field(default_factory=dict)
    passing: dict[int, TrialRequest] = field(default_factory=dict)

    @property
    def unsolved(self) -> list[int]:
        """Return the rules that are against nothing."""
        return [i for i in range(len(self.subject.rules)) if i not in self.against]

    @property
    def is_complete(self) -> bool:
        """Return whether nothing is left to be found."""
        return self.admitted is not None and not self.unsolved


def search(
    documents: Sequence[Document], name: str, version: str, definitions: Sequence[Document] = ()
) -> SearchResult:
    """Search for the policy of a name among the documents, which are taken by the API server.
    `definitions` are those of custom kinds."""
    test = case_results.PolicyTest("search", "", (*documents, *definitions), ())
    return _Search(Bench(test, version), name, version, definitions).found()


class _Search:
    def __init__(
        self, bench: Bench, name: str, version: str, definitions: Sequence[Document]
    ) -> None:
        self._bench = bench
        self._documents: dict[str, Document] = {}
        self._params_left = MOST_PARAMS
        self._alone: set[int] = set()
        """Validations of which a request is known that nothing else refuses."""
        probe = case_results.Case(
            "",
            Place(),
            case_results.Expectation(case_results.CaseVerdict.ADMIT),
            case_results.plain_document(_NOTHING, _PLACE),
        )
        values = [definition.value for definition in definitions]
        catalog = known_resources(all_versions=True).with_crds(values)
        self._seed = SeedObjects(values)
        self._sets = bench.setting(probe).sets
        self._subject = subject_of(self._sets, name, version, catalog)
        self._definitions = values
        self._read: ReadPlaces = self._subject.read
        self._result = SearchResult(self._subject)

    def found(self) -> SearchResult:
        """Return what the search comes to."""
        seeds = [replace(seed, user=user) for user in _USERS for seed in self._seeds()]
        seen: set[str] = set()
        for request in self._of_solver():
            if self._is_new(request, seen):
                self._try(request, alone=True)
        reached = [seed for seed in seeds if self._is_new(seed, seen) and self._try(seed)]
        for request in self._solved(seeds):
            if self._is_new(request, seen):
                self._try(request, alone=not self._subject.mutates)
        first = self._first_kinds(seeds)
        reached = [request for request in reached if request.object["kind"] in first]
        for _ in range(2):
            layer = [
                change
                for seed in reached
                for change in _changed(seed, self._read)
                if self._is_new(change, seen)
            ]
            reached = [request for request in layer if self._try(request)]
        self._find_passing()
        return self._result

    def _of_solver(self) -> Iterator[TrialRequest]:
        """Return what a solver finds, where there is one."""
        subject, policy_set = self._subject, self._sets.validating
        for solved_request in solved_requests(
            policy_set, subject.name, self._bench.version, self._definitions, subject.param_kind
        ):
            yield TrialRequest(*solved_request)

    @staticmethod
    def _first_kinds(seeds: Sequence[TrialRequest]) -> list[str]:
        """Return the kinds for which every place is tried."""
        return list(dict.fromkeys(seed.object["kind"] for seed in seeds))[:_MOST_KINDS]

    def _solved(self, seeds: Sequence[TrialRequest]) -> Iterator[TrialRequest]:
        """Yield the seeds with values that let a request pass, and with those that each rule is
        against, as long as that is looked for."""
        subject, progress = self._subject, self._result
        conditions = [(condition, True) for condition in subject.conditions]
        roots = [rule.root for rule in subject.rules if rule.root is not None]
        passing = [(root, True) for root in roots]
        for seed in seeds:
            way_search = value_search.ValueSearch(subject.variables, _facts(seed))
            if progress.admitted is None and not subject.mutates:
                yield from self._with_ways(seed, way_search.all_of([*conditions, *passing]))
            if subject.mutates:
                yield from self._with_ways(seed, way_search.all_of(conditions))
                continue
            for index, rule in enumerate(subject.rules):
                if rule.root is None or index in self._alone:
                    continue
                other_roots = [(root, True) for root in roots if root is not rule.root]
                for item in ([*conditions, (rule.root, False), *other_roots], [(rule.root, False)]):
                    ways = way_search.all_of([*conditions, *item] if len(item) == 1 else item)
                    for request in self._with_ways(seed, ways):
                        yield request
                        if index in self._alone:
                            break

    def _with_ways(
        self, seed: TrialRequest, ways: Sequence[value_search.Way]
    ) -> Iterator[TrialRequest]:
        """Yield a seed with the values of each way in it."""
        for way in ways:
            request: TrialRequest | None = seed
            for root in ("object", "oldObject", "params"):
                values = [(place[1:], value) for place, value in way.items() if place[0] == root]
                if request is not None and values:
                    request = self._with_values(request, root, values)
            for place, value in way.items():
                if request is not None and place[0] == "namespaceObject":
                    label = (
                        None
                        if value is value_search.GONE
                        else "x"
                        if value is value_search.THERE
                        else value
                    )
                    request = _with_label(request, place, label) or request
            if request is not None:
                yield request

    def _with_values(
        self, seed: TrialRequest, root: str, values: Sequence[tuple[Path, object]]
    ) -> TrialRequest | None:
        value = {"object": seed.object, "oldObject": seed.old, "params": seed.params}[root]
        if value is None or any(not place for place, _ in values):
            return None
        api_version, kind = value["apiVersion"], value["kind"]
        group, _, version = api_version.rpartition("/")
        schema = self._seed.schema(GroupVersionKind(group, version, kind))
        result = with_way(value, values, schema)
        if result is None:
            return None
        return _replaced(seed, root, result)

    def _find_passing(self) -> None:
        """Find for each of several validations what it lets pass that differs in what it reads, and
        is not what is admitted anyway."""
        progress = self._result
        if self._subject.mutates or len(self._subject.rules) == 1:
            return
        for index, against in progress.against.items():
            places = replace(self._read, places=self._subject.rules[index].read.places)
            for request in _changed(against.trial_request, places):
                if progress.admitted is not None and request.key == progress.admitted.key:
                    continue
                if progress.trials >= MOST_TRIALS:
                    return
                progress.trials += 1
                outcome = self._outcome(request)
                if outcome is not None and outcome.verdict is case_results.CaseVerdict.ADMIT:
                    progress.passing[index] = request
                    break

    def _is_new(self, request: TrialRequest, seen: set[str]) -> bool:
        key = request.key
        fresh = key not in seen
        seen.add(key)
        return fresh

    def _seeds(self) -> Iterator[TrialRequest]:
        updates = "oldObject" in {place[0] for place in self._read.places}
        params = self._params()
        labels = self._subject.namespace_labels
        for resource, operations in self._subject.resources:
            value = self._seed.of(resource.gvk, self._subject.object_labels)
            if operations & {"CREATE", "*"} and not updates:
                yield TrialRequest(value, None, params, namespace=labels)
            if operations & {"UPDATE", "*"}:
                yield TrialRequest(value, value, params, namespace=labels)

    def _params(self) -> dict[str, object] | None:
        subject = self._subject
        if subject.param_kind is None:
            return None
        template = self._seed.of(subject.param_kind, subject.param_labels or {})
        meta = {**template["metadata"], "name": subject.param_name}
        if subject.param_namespace:
            meta["namespace"] = subject.param_namespace
        return {**template, "metadata": meta}

    def _try(self, request: TrialRequest, *, alone: bool = False) -> bool:
        """Return whether the policy looked at it, and there is something left to be looked for:
        with `alone`, requests that one rule refuses and no other, too."""
        progress = self._result
        is_done = progress.is_complete and not (
            alone and len(self._alone) < len(progress.subject.rules)
        )
        if is_done or progress.trials >= MOST_TRIALS or not self._may_take(request.params):
            return False
        progress.trials += 1
        outcome = self._outcome(request)
        if outcome is None or outcome.verdict is case_results.CaseVerdict.INVALID:
            return False
        as_it_is = outcome.result.mutated is None
        if (
            outcome.verdict is case_results.CaseVerdict.ADMIT
            and as_it_is
            and progress.admitted is None
        ):
            progress.admitted = request
        if self._subject.mutates:
            self._take_changes(request, outcome)
        else:
            self._take_violations(request, outcome)
        return True

    def _may_take(self, params: JsonObject | None) -> bool:
        """Other params are another world, which costs: they are not many."""
        if params is None:
            return True
        key = json.dumps(params)
        if key not in self._documents and self._params_left == 0:
            return False
        self._params_left -= key not in self._documents
        return True

    def _take_changes(self, request: TrialRequest, outcome: case_results.CaseOutcome) -> None:
        mutated = outcome.result.mutated
        if mutated is None or outcome.verdict is not case_results.CaseVerdict.ADMIT:
            return
        fields = {step.field for step in mutated.steps}
        for i, rule in enumerate(self._subject.rules):
            if rule.field in fields and i not in self._result.against:
                self._result.against[i] = Against(request, patch=mutated.patch)

    def _take_violations(self, request: TrialRequest, outcome: case_results.CaseOutcome) -> None:
        if outcome.verdict is not case_results.CaseVerdict.DENY:
            return
        fields = {violation.field: violation for violation in outcome.deciding}
        for i, rule in enumerate(self._subject.rules):
            violation = fields.get(rule.field)
            against = self._result.against
            better = i not in against or (len(fields) == 1 and i not in self._alone)
            if violation is not None and not violation.is_error and better:
                against[i] = Against(request, violation.message)
                if len(fields) == 1:
                    self._alone.add(i)

    def _outcome(self, request: TrialRequest) -> case_results.CaseOutcome | None:
        document = case_results.plain_document(request.object, _PLACE)
        cluster = [] if request.params is None else [self._kept(request.params)]
        if request.namespace:
            meta = {"name": "default", "labels": dict(request.namespace)}
            cluster.append(self._kept({"apiVersion": "v1", "kind": "Namespace", "metadata": meta}))
        case = case_results.Case(
            "",
            Place(),
            case_results.Expectation(case_results.CaseVerdict.ADMIT),
            document,
            None if request.old is None else case_results.plain_document(request.old, _PLACE),
            Operation.CREATE if request.old is None else Operation.UPDATE,
            cluster=tuple(cluster),
            policies=(self._subject.name,),
        )
        if request.user:
            case = replace(case, user=user_info(request.user, ()))
        judged = self._bench.judged(case)
        return outcome_of(case, judged) if judged.findings.results else None

    def _kept(self, value: JsonObject) -> Document:
        """Return one document for all values that are the same."""
        return self._documents.setdefault(
            json.dumps(value), case_results.plain_document(value, _PLACE)
        )


_NOTHING: Final = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "nothing"}}


def _facts(seed: TrialRequest) -> dict[Path, object]:
    """Return what is given with a request of a kind."""
    value = seed.object
    group, _, version = value["apiVersion"].rpartition("/")
    operation = "CREATE" if seed.old is None else "UPDATE"
    kind = {"group": group, "version": version, "kind": value["kind"]}
    about: dict[Path, Any] = {
        ("object", "kind"): value["kind"],
        ("object", "apiVersion"): value["apiVersion"],
        ("oldObject", "kind"): value["kind"],
        ("request", "operation"): operation,
        ("request", "dryRun"): False,
        ("request", "namespace"): "default",
        ("request", "userInfo", "username"): seed.user or "admin",
    }
    return about | {("request", "kind", name): text for name, text in kind.items()}


def _changed(seed: TrialRequest, places: ReadPlaces) -> Iterator[TrialRequest]:
    """Yield requests with one place changed: gone, or one of the values."""
    for place in places.places:
        for change in (None, *places.values):
            with_change = _with_change(seed, place, change)
            if with_change is not None:
                yield with_change


def _with_change(seed: TrialRequest, place: Path, value: object) -> TrialRequest | None:
    """Return the changed request; None where nothing can be changed."""
    root, *steps = place
    if root == "namespaceObject":
        return _with_label(seed, place, value)
    data = {"object": seed.object, "oldObject": seed.old, "params": seed.params}[str(root)]
    if data is None:
        return None
    result = with_value_at(data, steps, value)
    if result is None:
        return None
    return _replaced(seed, str(root), result)


def _replaced(seed: TrialRequest, root: str, obj: JsonDict) -> TrialRequest:
    """Return the seed with another object, old object or params, named as its kind demands."""
    if root == "object":
        return replace(seed, object=with_own_name(obj))
    if root == "oldObject":
        return replace(seed, old=with_own_name(obj))
    return replace(seed, params=obj)


def _with_label(seed: TrialRequest, place: Path, value: object) -> TrialRequest | None:
    """Return the request with a label; of a Namespace nothing but its labels can be chosen."""
    if place[1:3] != ("metadata", "labels") or len(place) != 4:
        return None
    if value is not None and not isinstance(value, str):
        return None
    key = str(place[3])
    rest = {name: text for name, text in seed.namespace.items() if name != key}
    return replace(seed, namespace=rest if value is None else {**rest, key: value})
