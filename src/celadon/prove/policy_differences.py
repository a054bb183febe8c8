"""Proves that two sets of policies decide every request alike, or finds a request that tells them
apart.

Each endpoint that a changed policy is about is asked twice: is something less strict now, is
something stricter? A request is refused, or it is admitted with a warning, or it is recorded, or
none of that; the first of these that differs says which way. Texts are not compared.

Only what has changed is compared at first: where the changed policies agree, so do the sets. The
engine decides with the whole sets.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import z3

from celadon.admission import (
    Action,
    Cause,
    Decision,
    Engine,
    ObjectWorld,
    Operation,
    Request,
    Verdict,
)
from celadon.admission.lint import matched_resources
from celadon.admission.policies.compiled_policy import CompiledPolicy
from celadon.admission.policies.matching import Hook
from celadon.admission.registration import Rule
from celadon.cel import syntax
from celadon.kube import GroupVersionResource, JsonObject
from celadon.kube.registry import create
from celadon.kube.releases import answering_as, parse_version
from celadon.kube.resources import Catalog, Resource
from celadon.kube.well_known_values import PODS
from celadon.prove.example_repair import WrittenRequest, mended
from celadon.prove.example_search import Search, SearchOutcome, items_needed
from celadon.prove.solver_terms import TRUE, Formula, both, either, negated, same
from celadon.prove.symbolic_decisions import ACTIONS, Decider, Effects, Gap, Scene, Sought, target
from celadon.prove.symbolic_objects import ITEMS, Inputs
from celadon.prove.symbolic_requests import ANYBODY, BUILT_IN, Endpoint, KnownKinds

FIRST_TRIES: Final = 1
"""Examples that are looked at before those policies are looked at that have not changed: what they
refuse is no difference."""

FEWEST_ITEMS: Final = 1
"""Of lists, where an example is looked for at first: most that is told apart is told apart by one
item, and the solver's work grows with all that may be there."""

MOST_TEXTS: Final = 30
"""Of policies, that are tried in examples."""

UNDEFINED: Final = "kinds without a definition"
"""In place of an endpoint: those that policies may be about, and that nobody has defined."""

_WRITES: Final = (
    (Operation.CREATE, "create"),
    (Operation.UPDATE, "update"),
    (Operation.DELETE, "delete"),
)


class Direction(enum.Enum):
    """Names the way in which the new policies decide differently from the old ones."""

    LOOSER = "looser"
    STRICTER = "stricter"


class Finding(enum.Enum):
    """Names an answer of the prover. `BOUNDED` is a proof for lists and maps that are not longer
    than a bound."""

    SAME = "the same"
    BOUNDED = "no difference up to a bound"
    DIFFERS = "differs"
    UNDECIDED = "not decided"


PROVED: Final = (Finding.SAME, Finding.BOUNDED)


@dataclass(frozen=True, slots=True)
class Side:
    """Holds policies in force: an engine, and the other objects of their files, which may be
    params."""

    engine: Engine
    objects: Sequence[JsonObject] = ()


@dataclass(frozen=True, slots=True)
class Judgement:
    """Holds the verdict of one side on a request. `decisions` are those against it."""

    denied: bool = False
    warned: bool = False
    audited: bool = False
    decisions: tuple[Decision, ...] = ()
    message: str = ""

    @property
    def rank(self) -> tuple[bool, bool, bool]:
        """The higher, the stricter: of what is refused nobody minds what else happens."""
        return self.denied, self.warned and not self.denied, self.audited and not self.denied


@dataclass(frozen=True, slots=True)
class Example:
    """Holds a request that is decided differently. The manifests have no more fields than it takes;
    `around` are the objects that have to be there."""

    request: Request
    manifest: JsonObject | None
    old_manifest: JsonObject | None
    around: tuple[JsonObject, ...]
    old: Judgement
    new: Judgement
    is_about_user: bool = False
    """Whether it matters who sends it."""
    complaint: str = ""
    """Why an API server would refuse it all the same."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Holds the answer for one endpoint and direction. `gaps` are what keeps it from being decided;
    `bounded` the lists of which no more than `items` items were looked at."""

    endpoint: Endpoint
    direction: Direction
    finding: Finding
    example: Example | None = None
    reason: str = ""
    gaps: tuple[Gap, ...] = ()
    bounded: tuple[str, ...] = ()
    items: int = ITEMS


@dataclass(frozen=True, slots=True)
class UnmodelledEndpoint:
    """An endpoint that a changed policy is about, and that is not modelled."""

    endpoint: str
    policies: tuple[str, ...]


@dataclass(slots=True)
class Differences:
    """Compares two sets. `items` is the length of lists up to which is looked, if no more are
    needed; `seconds` is for one answer."""

    old: Side
    new: Side
    items: int = ITEMS
    seconds: float = 10
    about: str = ""
    """The policy whose requests are asked about, if it is not all that have changed. Then it is
    only asked what is refused."""
    kinds: KnownKinds = BUILT_IN
    subresources: bool = False
    """Whether subresources are asked about whose requests have the whole object."""
    unseen: list[UnmodelledEndpoint] = field(default_factory=list)
    catalog: Catalog = field(init=False)

    def __post_init__(self) -> None:
        self.catalog = self.kinds.catalog

    @property
    def sides(self) -> tuple[Side, Side]:
        """Return the old one, and the new one."""
        return self.old, self.new

    @property
    def newest(self) -> str:
        """Return the newer release of the two sides, whose objects are compared."""
        return max((side.engine.version for side in self.sides), key=parse_version)

    def comparisons(self, directions: Sequence[Direction]) -> Iterator[Comparison]:
        """Yield the answers, endpoint by endpoint. It is the newer release meanwhile."""
        with answering_as(self.newest):
            for endpoint in self.endpoints():
                yield from (self.compare(endpoint, direction) for direction in directions)

    def endpoints(self) -> Iterator[Endpoint]:
        """Yield the endpoints whose requests a changed policy may see, in the order of the catalog;
        what is not modelled goes to `unseen`."""
        unseen: dict[str, set[str]] = {}
        for resource in self.catalog:
            if not resource.served:
                continue
            changed = [hook for hook in self._changed(resource.gvr) if self._is_asked(hook)]
            seen: set[tuple[Operation, str]] = set()
            for hook in changed:
                for operation, subresources in _matched(hook, resource, self.catalog):
                    for name in subresources:
                        if self.subresources and name and resource.kind_of(name) == resource.gvk:
                            seen |= {(operation, name)} & {(Operation.UPDATE, name)}
                        elif not _note(unseen, hook, resource, operation, name):
                            seen.add((operation, ""))
            for operation, verb in _WRITES:
                if (operation, "") in seen and verb in resource.verbs:
                    yield Endpoint(resource, resource.gvk, operation)
            for operation, name in sorted(seen, key=lambda endpoint: endpoint[1]):
                if name:
                    yield Endpoint(resource, resource.gvk, operation, name)
        for hook in self._changed(PODS):  # as of all that policies see
            if not all(map(self.kinds.has_all, _rules(hook))):
                unseen.setdefault(UNDEFINED, set()).add(hook.policy.name)
        self.unseen = [
            UnmodelledEndpoint(name, tuple(sorted(value))) for name, value in unseen.items()
        ]

    def _is_asked(self, hook: Hook[CompiledPolicy]) -> bool:
        return self.about in ("", hook.policy.name)

    def _changed(self, resource: GroupVersionResource) -> list[Hook[CompiledPolicy]]:
        """Return the policies of either side that the other has not, or not like this."""
        old, new = (
            {hook.policy.name: hook for hook in side.engine.hooks_for(resource)}
            for side in self.sides
        )
        result = []
        for name in sorted({*old, *new}):
            before, after = old.get(name), new.get(name)
            if before is None or after is None or not self._is_same(before, after):
                result += [hook for hook in (before, after) if hook is not None and hook.bindings]
        return result

    def _is_same(self, before: Hook[CompiledPolicy], after: Hook[CompiledPolicy]) -> bool:
        specs = [
            (hook.policy.spec, [(bound.name, bound.spec) for bound in hook.bindings])
            for hook in (before, after)
        ]
        if specs[0] != specs[1] or self.old.engine.version != self.new.engine.version:
            return False
        return before.policy.spec.param_kind is None or self._params_are_same

    @property
    def _params_are_same(self) -> bool:
        return list(self.old.objects) == list(self.new.objects)

    def compare(self, endpoint: Endpoint, direction: Direction) -> Comparison:
        """Return the answer, with as many items in lists as the expressions have questions about
        them."""
        items, before = min(self.items, FEWEST_ITEMS), None
        while True:
            look = self.look(direction, self.scene(endpoint, items))
            comparison = look.answer()
            if items < self.items and comparison.finding is not Finding.DIFFERS:
                items = self.items
                continue
            if comparison.finding is Finding.UNDECIDED and before is not None:
                return before
            if not look.asks_for_more:
                return comparison
            items, before = look.needed, comparison

    def scene(self, endpoint: Endpoint, items: int) -> Scene:
        """Return a request to an endpoint, with so many items in lists."""
        return Scene(endpoint, Inputs(items), self.newest, self.kinds)

    def look(self, direction: Direction, scene: Scene) -> EndpointQuestion:
        """Return the question about one endpoint, with the lists of a scene."""
        resource = scene.endpoint.resource.gvr
        changed = frozenset(hook.policy.name for hook in self._changed(resource))
        return EndpointQuestion(self, scene.endpoint, direction, changed, scene)


def compared_together(
    comparisons: Sequence[Differences], endpoint: Endpoint
) -> Iterator[tuple[int, Comparison]]:
    """Compare each of several policies with the same set: does it refuse what the set admits? Yield
    which it is, and the answer. What the set decides is evaluated once."""
    left = list(range(len(comparisons)))
    items = comparisons[0].items
    before: dict[int, Comparison] = {}
    while left:
        scene = comparisons[0].scene(endpoint, items)
        again, more = [], items
        for number in left:
            look = comparisons[number].look(Direction.LOOSER, scene)
            look.prepare()
            with scene.inputs.one_question():
                comparison = look.answer()
                if look.asks_for_more:
                    again.append(number)
                    more = max(more, look.needed)
                    before[number] = comparison
                    continue
            is_decided = comparison.finding is not Finding.UNDECIDED
            yield number, comparison if is_decided else before.get(number, comparison)
        left, items = again, more


def _matched(
    hook: Hook[CompiledPolicy], resource: Resource, catalog: Catalog
) -> Iterator[tuple[Operation, list[str]]]:
    """Yield the operations of a policy's rules, and the subresources (empty: the resource itself)
    that they are about."""
    for rule in _rules(hook):
        names = [
            name
            for matched_resource, name in matched_resources(rule, catalog)
            if matched_resource.gvr == resource.gvr
        ]
        for operation in Operation:
            if operation.value in rule.operations or "*" in rule.operations:
                yield operation, names


def _rules(hook: Hook[CompiledPolicy]) -> Sequence[Rule]:
    constraints = hook.policy.spec.match_constraints
    return () if constraints is None else constraints.resource_rules


def _note(
    unseen: dict[str, set[str]],
    hook: Hook[CompiledPolicy],
    resource: Resource,
    operation: Operation,
    subresource: str,
) -> bool:
    """Return whether a hook of a policy is not modelled, and note it if so."""
    if not subresource and operation is not Operation.CONNECT:
        return False
    if subresource:
        unseen.setdefault(f"{resource.gvr.resource}/{subresource}", set()).add(hook.policy.name)
    return True


@dataclass(slots=True)
class EndpointQuestion:
    """One question about one endpoint, with the lists of a scene."""

    differences: Differences
    endpoint: Endpoint
    direction: Direction
    changed: frozenset[str]
    scene: Scene
    is_proved: bool = False

    def prepare(self) -> None:
        """Evaluate the new side."""
        self._effects(self.differences.new, Sought.ADMITTED)

    @property
    def needed(self) -> int:
        """Return the items of lists that the questions can ask for."""
        return items_needed(self.scene.inputs, self.scene.unmodelled)

    @property
    def asks_for_more(self) -> bool:
        """Return whether longer lists may have what these have not."""
        return self.is_proved and self.needed > self.scene.inputs.items

    def answer(self) -> Comparison:
        """Return the answer for these lists."""
        sides = self.differences.sides
        before_after = sides[::-1] if self.direction is Direction.STRICTER else sides
        before, after = map(self._effects, before_after, Sought)
        scene = self.scene
        search = Search(scene.inputs, scene.unmodelled, self.differences.seconds)
        lost = less_strict(before, after, several=scene.has_several_params)
        lost = lost[: 1 if self.differences.about else None]
        outcome = search.find(either(lost), self._confirmed, lost[:1], tries=FIRST_TRIES)
        if not outcome.is_proved and outcome.example is None:
            admitted = [negated(item.denied) for item in self._unchanged()]
            example = search.adapted(admitted, self._confirmed)
            outcome = SearchOutcome(example)
            if example is None:
                lost = [both(item, *admitted) for item in lost]
                outcome = search.find(either(lost), self._confirmed, lost[:1])
        self.is_proved = outcome.is_proved
        if outcome.is_proved:
            return self._proved()
        finding = Finding.UNDECIDED if outcome.example is None else Finding.DIFFERS
        gaps = tuple(scene.gaps) if finding is Finding.UNDECIDED else ()
        return Comparison(
            self.endpoint, self.direction, finding, outcome.example, outcome.reason, gaps
        )

    def _proved(self) -> Comparison:
        inputs = self.scene.inputs
        finding = Finding.BOUNDED if inputs.bounded else Finding.SAME
        return Comparison(
            self.endpoint, self.direction, finding, bounded=inputs.bounded, items=inputs.items
        )

    def _effects(self, side: Side, sought: Sought) -> Effects:
        with answering_as(side.engine.version):
            side.engine.prepare()
        world = self._world(side, ())
        asked_effects = sought if self.differences.about else None
        return Decider(self.scene, side.engine, world, asked_effects).effects(self.changed)

    def _unchanged(self) -> list[Effects]:
        """Return the effects of each policy that has not changed, which are the same on both
        sides."""
        side = self.differences.new
        names = [hook.policy.name for hook in side.engine.hooks_for(self.endpoint.resource.gvr)]
        decider = Decider(self.scene, side.engine, self._world(side, ()))
        return [decider.effects(frozenset([name])) for name in names if name not in self.changed]

    def _world(self, side: Side, around: Sequence[JsonObject]) -> ObjectWorld:
        return ObjectWorld([*side.objects, *around], catalog=self.differences.catalog)

    def _confirmed(self, model: z3.ModelRef) -> Example | None:
        """Return the request of a model, if the engine decides it as claimed."""
        sketch = self.scene.example(model)
        if not self._differs(sketch.request, sketch.around):
            return None
        kind = self.endpoint.kind

        def request_of(new: JsonObject | None, old: JsonObject | None) -> Request:
            kinds = self.differences.kinds
            new, old = (item and kinds.completed(item, kind) for item in (new, old))
            return replace(sketch.request, object=new, old_object=old)

        value, before = (
            None if item is None else dict(item) for item in (sketch.object, sketch.old_object)
        )
        written = WrittenRequest(value, before)
        if kind not in self.differences.kinds.custom:
            written = mended(
                kind,
                sketch.object,
                sketch.old_object,
                lambda new, old: self._differs(request_of(new, old), sketch.around) is not None,
                self._texts(),
            )
        request = request_of(written.object, written.old_object)
        anybody = replace(request, user=ANYBODY)
        if self._differs(anybody, sketch.around) is not None:
            request = anybody
        judgements = self._differs(request, sketch.around)
        assert judgements is not None
        return Example(
            request,
            written.object,
            written.old_object,
            sketch.told,
            *judgements,
            request.user != ANYBODY,
            written.complaint,
        )

    def _texts(self) -> list[str]:
        """Return the texts that the policies of this endpoint name."""
        result: dict[str, None] = {}
        for side in self.differences.sides:
            for candidate in side.engine.candidates(target(self.endpoint), self._world(side, ())):
                for expression in candidate.compiled.expressions:
                    if expression.program is not None:
                        nodes = syntax.walk(expression.program.checked.root)
                        result |= dict.fromkeys(
                            node.value
                            for node in nodes
                            if isinstance(node, syntax.Literal) and isinstance(node.value, str)
                        )
        return list(result)[:MOST_TEXTS]

    def _differs(
        self, request: Request, around: Sequence[JsonObject]
    ) -> tuple[Judgement, Judgement] | None:
        """Return the engine's judgements of both sides, if they differ as it is asked."""
        old, new = (self._judged(side, request, around) for side in self.differences.sides)
        if self.differences.about and old.denied == new.denied:
            return None
        is_looser = old.rank > new.rank
        if old.rank == new.rank or is_looser is not (self.direction is Direction.LOOSER):
            return None
        return old, new

    def _judged(self, side: Side, request: Request, around: Sequence[JsonObject]) -> Judgement:
        """Return a side's judgement of a request; an older release leaves out what it does not
        know."""
        with answering_as(side.engine.version):
            if side.engine.version != self.scene.version:
                kind = self.endpoint.kind
                old, new = (
                    item and create.admit_form(item, kind)
                    for item in (request.old_object, request.object)
                )
                request = replace(request, object=new, old_object=old)
            return judged(side.engine, request, self._world(side, around))


def less_strict(before: Effects, after: Effects, *, several: bool) -> list[Formula]:
    """Return where something is refused before only; where it is refused by neither, and warned
    about before only; or recorded before only. Where there are `several` params of which these are
    the effects of one, another one may warn on both sides."""
    lost = [both(item, negated(other)) for item, other in zip(before, after, strict=True)]
    admitted = both(negated(before.denied), negated(after.denied))
    as_warned = TRUE if several else same(before.warned, after.warned)
    return [lost[0], both(admitted, lost[1]), both(admitted, as_warned, lost[2])]


def judged(engine: Engine, request: Request, world: ObjectWorld) -> Judgement:
    """Return the engine's judgement of a request."""
    return judgement_of(engine.review(request, world))


def judgement_of(verdict: Verdict) -> Judgement:
    """Return what of a verdict is compared."""
    against = tuple(decision for decision in verdict.decisions if decision.action is Action.DENY)
    decisions = [
        decision
        for decision in against
        if decision.cause not in (Cause.CONFIGURATION, Cause.ANNOTATION)
    ]
    warned, audited = (
        any(action in decision.actions for decision in decisions) for action in ACTIONS[1:]
    )
    return Judgement(not verdict.allowed, warned, audited, against, verdict.message)
