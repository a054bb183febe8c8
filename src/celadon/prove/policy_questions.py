"""The questions about a policy, and how the solver answers them.

Each validation is asked three things about every kind and operation that the policy matches: can it
fail, can it refuse, can it admit? The policy's variables are evaluated symbolically, its match
conditions are assumed to hold. "No" is a proof, for all objects that the schema admits or for those
whose lists are not longer than a bound. "Yes" comes with a request, and only after the engine has
decided it as claimed. What cannot be told says why, and where.

Costs are not modelled: an expression that is fine here may still be too expensive.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Protocol, TypeVar

import z3

from celadon.admission import (
    Action,
    Cause,
    Engine,
    ObjectWorld,
    Operation,
    Request,
    ValidatingAdmissionPolicy,
    decode_binding,
    decode_policy,
)
from celadon.admission.compiled_expressions import Expression, base_environment
from celadon.admission.lint import matched_resources
from celadon.admission.registration import Rule
from celadon.cel import CheckedAst, Environment, syntax
from celadon.kube import GroupVersionKind, Json, JsonObject, parse_api_version
from celadon.kube.resources import Catalog, known_resources
from celadon.prove.example_search import Search, items_needed
from celadon.prove.solver_terms import FALSE, TRUE, Formula, Term, both, either, negated
from celadon.prove.symbolic_evaluator import Evaluator
from celadon.prove.symbolic_objects import ITEMS, Inputs
from celadon.prove.symbolic_requests import (
    ANYBODY,
    BUILT_IN,
    PARAM,
    Endpoint,
    KnownKinds,
    SymbolicRequest,
)
from celadon.prove.symbolic_values import (
    NotModelled,
    Null,
    Outcome,
    Text,
    Variables,
    certain,
    is_false,
    is_true,
)
from celadon.prove.uninterpreted_functions import Unmodelled


class Question(enum.Enum):
    """Names a question about a validation."""

    FAILS = "can fail"
    REFUSES = "can refuse"
    ADMITS = "can admit"
    MESSAGE = "can have no message"
    """Whether it refuses something and its messageExpression is an error then, or no text."""


class Answer(enum.Enum):
    """Names an answer of the prover. `BOUNDED` is a proof for lists and maps that are not longer
    than a bound."""

    YES = "yes"
    NO = "no"
    BOUNDED = "no, up to a bound"
    UNKNOWN = "not decided"


@dataclass(frozen=True, slots=True)
class Reply:
    """Holds an answer about one validation at one endpoint.

    `request` is the example for a yes, `around` the objects that it needs: its namespace, params.
    `reason` is why there is no answer, `offset` where in its expression that is. `bounded` are the
    lists that no more than `items` items were looked at of.
    """

    index: int
    question: Question
    answer: Answer
    endpoint: Endpoint
    request: Request | None = None
    around: tuple[JsonObject, ...] = ()
    reason: str = ""
    offset: int | None = None
    bounded: tuple[str, ...] = ()
    items: int = ITEMS


class Answered(Protocol):
    """A reply to any question."""

    @property
    def answer(self) -> Answer:
        """Return the answer."""


R = TypeVar("R", bound=Answered)


def proved_with(inputs: Inputs) -> tuple[Answer, tuple[str, ...], int]:
    """Return what a proof with these inputs comes to: the answer, the lists and maps it is bounded
    by, and how many items of them were looked at."""
    return Answer.BOUNDED if inputs.bounded else Answer.NO, inputs.bounded, inputs.items


def with_enough_items(items: int, ask: Callable[[Inputs], tuple[R, Unmodelled]]) -> R:
    """Return the reply with as many items in lists as the expressions have questions about them,
    at least so many as given. If those are too many to decide, it is the one with fewer."""
    before: R | None = None
    while True:
        inputs = Inputs(items)
        reply, unmodelled = ask(inputs)
        if reply.answer is Answer.UNKNOWN and before is not None:
            return before
        needed = items_needed(inputs, unmodelled)
        # An example is one however short its lists are; only proofs need enough items.
        if reply.answer not in (Answer.NO, Answer.BOUNDED) or needed <= items:
            return reply
        items, before = needed, reply


class Prover:
    """Answers the questions about one policy. `items` is the length of lists up to which is
    looked, if no more are needed; `seconds` is for one answer."""

    def __init__(
        self,
        policy: ValidatingAdmissionPolicy,
        items: int = ITEMS,
        seconds: int = 10,
        kinds: KnownKinds = BUILT_IN,
    ) -> None:
        self.policy = policy
        self._items = items
        self._seconds = seconds
        self._kinds = kinds
        self._catalog = kinds.catalog
        self._param = param_kind(policy)
        binding = everywhere(policy, self._catalog)
        self._engine = Engine([policy], [decode_binding(binding).value])

    def endpoints(self) -> Iterator[Endpoint]:
        """Yield the kinds and operations that the policy's rules name, subresources left out."""
        constraints = self.policy.spec.match_constraints
        for rule in () if constraints is None else constraints.resource_rules:
            operations = [
                item
                for item in (Operation.CREATE, Operation.UPDATE, Operation.DELETE)
                if item.value in rule.operations or "*" in rule.operations
            ]
            for resource, subresource in matched_resources(rule, self._catalog):
                if not subresource:
                    yield from (
                        Endpoint(resource, resource.gvk, operation) for operation in operations
                    )

    @property
    def left_out(self) -> bool:
        """Return whether the policy may match what is no endpoint here: subresources, connections,
        kinds that are not known."""
        constraints = self.policy.spec.match_constraints
        return constraints is not None and any(
            _reaches_further(rule, self._kinds) for rule in constraints.resource_rules
        )

    def of_conditions(self) -> Prover | None:
        """Return a prover about one validation that says what all match conditions say together:
        false where one of them is, an error where none is and one fails. None if there are none, or
        if they name the namespace, which they are not given."""
        texts = [condition.expression for condition in self.policy.spec.match_conditions]
        if not texts or any("namespaceObject" in text for text in texts):
            return None
        conjunction = " && ".join(map(enclosed, texts))
        spec = replace(self.policy.spec, match_conditions=(), variables=())
        return self._about(replace(self.policy, spec=spec), [conjunction])

    def of_variables(self) -> Prover:
        """Return a prover about validations that are the policy's variables."""
        variables = self.policy.spec.variables
        return self._about(self.policy, [f"variables.{variable.name}" for variable in variables])

    def _about(self, policy: ValidatingAdmissionPolicy, expressions: Sequence[str]) -> Prover:
        """Return a prover about a policy with these validations in place of its own."""
        spec = {"validations": [{"expression": text} for text in expressions]}
        validations = decode_policy({"metadata": {}, "spec": spec}).value.spec.validations
        about = replace(policy, spec=replace(policy.spec, validations=validations))
        return Prover(about, self._items, self._seconds, self._kinds)

    def is_bool(self, index: int) -> bool:
        """Return whether a validation compiles, as only a bool does."""
        return self._engine.policies[0].validations[index].expression.program is not None

    def reply(self, endpoint: Endpoint, index: int, question: Question) -> Reply:
        """Return the answer to a question about one validation of the policy."""
        expression = self._engine.policies[0].validations[index].expression
        if expression.program is None:
            return Reply(index, question, Answer.UNKNOWN, endpoint, reason=expression.detail)
        if question is Question.MESSAGE and _message(self._engine, index) is None:
            return Reply(index, question, Answer.NO, endpoint)
        return self._reply(endpoint, index, expression.program.checked, question)

    def _reply(
        self, endpoint: Endpoint, index: int, checked: CheckedAst, question: Question
    ) -> Reply:
        def ask(inputs: Inputs) -> tuple[Reply, Unmodelled]:
            look = _EndpointQuestion(
                self._engine, endpoint, inputs, self._param, self._seconds, self._kinds
            )
            return look.reply(index, checked, question), look.unmodelled

        return with_enough_items(self._items, ask)


def enclosed(text: str) -> str:
    """Return an expression as a part of another one. It may end with a comment, which ends with its
    line."""
    return f"({text}\n)"


def _reaches_further(rule: Rule, kinds: KnownKinds) -> bool:
    if (
        any("/" in resource for resource in rule.resources)
        or Operation.CONNECT.value in rule.operations
    ):
        return True
    return not kinds.has_all(rule)


def everywhere(policy: ValidatingAdmissionPolicy, catalog: Catalog | None = None) -> JsonObject:
    """Return a binding that puts a policy in force everywhere; the catalog has the kind of its
    params if that is a custom one."""
    spec: dict[str, Json] = {"policyName": policy.name, "validationActions": ["Deny"]}
    if policy.spec.param_kind is not None:
        kind = param_kind(policy)
        resource = None if kind is None else (catalog or known_resources()).by_gvk(kind)
        is_namespaced = resource is not None and resource.namespaced
        place = {"namespace": PARAM} if is_namespaced else {}
        spec["paramRef"] = {"name": PARAM, **place, "parameterNotFoundAction": "Deny"}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": PARAM},
        "spec": spec,
    }


def param_kind(policy: ValidatingAdmissionPolicy) -> GroupVersionKind | None:
    """Return the kind of a policy's params, if it has any."""
    kind = policy.spec.param_kind
    if kind is None:
        return None
    group, version = parse_api_version(kind.api_version)
    return GroupVersionKind(group, version, kind.kind)


@dataclass(slots=True)
class _EndpointQuestion:
    """One question at one endpoint."""

    engine: Engine
    endpoint: Endpoint
    inputs: Inputs
    param: GroupVersionKind | None
    seconds: int
    kinds: KnownKinds
    unmodelled: Unmodelled = field(init=False)
    request: SymbolicRequest = field(init=False)
    place: tuple[CheckedAst, syntax.Expr] | None = None

    def __post_init__(self) -> None:
        self.unmodelled = Unmodelled(_environment(self.engine), inputs=self.inputs)
        self.request = SymbolicRequest(self.endpoint, self.inputs, self.param, self.kinds)

    def reply(self, index: int, checked: CheckedAst, question: Question) -> Reply:
        """Return the answer about one validation."""
        try:
            formula = self._wanted(index, checked, question)
        except NotModelled as error:
            return self._undecided(index, question, str(error))
        return self._searched(index, question, formula)

    def _wanted(self, index: int, checked: CheckedAst, question: Question) -> Formula:
        outcome = self._evaluated(checked, self._scope())
        matched = self._matched()
        # Expressions of type dyn may come to what is no bool: the engine calls that an error, too.
        answer = {
            Question.FAILS: either((outcome.error, _neither(outcome))),
            Question.REFUSES: is_false(outcome),
            Question.ADMITS: is_true(outcome),
            Question.MESSAGE: both(is_false(outcome), self._has_no_message(index, question)),
        }[question]
        return both(matched, answer)

    def _has_no_message(self, index: int, question: Question) -> Formula:
        """Return where a validation has no message, as `_message` of
        `celadon.admission.policies.compiled_policy` decides. Raises NotModelled."""
        message = _message(self.engine, index)
        if question is not Question.MESSAGE or message is None:
            return FALSE
        if message.program is None:
            return TRUE
        outcome = self._evaluated(message.program.checked, self._scope())
        texts = [
            both(case.guard, negated(is_blank(case.value.term)))
            for case in outcome.cases
            if isinstance(case.value, Text)
        ]
        # Names are never blank, whatever a kind lets them be.
        return both(negated(either(texts)), negated(is_blank(self.request.name)))

    def _undecided(self, index: int, question: Question, reason: str) -> Reply:
        offset = None
        if self.place is not None:
            checked, node = self.place
            offset = checked.ast.positions.get(node.id)
        return Reply(index, question, Answer.UNKNOWN, self.endpoint, reason=reason, offset=offset)

    # What expressions see.

    def _scope(self, *, in_condition: bool = False) -> dict[str, Outcome]:
        policy = self.engine.policies[0]
        request = self.request
        scope = {
            "object": request.object,
            "oldObject": request.old_object,
            "request": request.variable(),
            "namespaceObject": certain(Null()) if in_condition else request.namespace,
            "params": request.params,
        }
        values: dict[str, Outcome] = {}

        def variable(name: str) -> Outcome:
            if name not in values:
                program = policy.variables[name].program
                if program is None:
                    raise NotModelled(f"variables.{name}, which does not compile")
                values[name] = self._evaluated(program.checked, scope)
            return values[name]

        scope["variables"] = certain(Variables(variable))
        return scope

    def _evaluated(self, checked: CheckedAst, scope: dict[str, Outcome]) -> Outcome:
        evaluator = Evaluator(checked, self.unmodelled)
        try:
            return evaluator.evaluate(scope)
        except NotModelled:
            if self.place is None:
                self.place = checked, evaluator.place[0]
            raise

    def _matched(self) -> Formula:
        scope = self._scope(in_condition=True)
        conditions = []
        for condition in self.engine.policies[0].conditions:
            program = condition.expression.program
            if program is None:
                raise NotModelled(f"the match condition {condition.name}, which does not compile")
            conditions.append(is_true(self._evaluated(program.checked, scope)))
        return both(*conditions)

    # Looking for an example.

    def _searched(self, index: int, question: Question, formula: Formula) -> Reply:
        def confirmed(model: z3.ModelRef) -> tuple[Request, tuple[JsonObject, ...]] | None:
            request, around = self.request.example(model)
            for candidate in (replace(request, user=ANYBODY), request):
                if self._holds(index, question, candidate, around):
                    return candidate, around
            return None

        outcome = Search(self.inputs, self.unmodelled, self.seconds).find(formula, confirmed)
        if outcome.is_proved:
            return self._proved(index, question)
        if outcome.example is None:
            return self._undecided(index, question, outcome.reason)
        return Reply(index, question, Answer.YES, self.endpoint, *outcome.example)

    def _proved(self, index: int, question: Question) -> Reply:
        answer, bounded, items = proved_with(self.inputs)
        return Reply(index, question, answer, self.endpoint, bounded=bounded, items=items)

    def _holds(
        self, index: int, question: Question, request: Request, around: Sequence[JsonObject]
    ) -> bool:
        """Return whether the engine decides as claimed."""
        world = ObjectWorld(around, catalog=self.kinds.catalog)
        candidates = self.engine.candidates(request, world)
        if not candidates:
            return False
        verdict = self.engine.review(request, world)
        # An error is one if it is ignored, too.
        decisions = [
            decision
            for decision in verdict.decisions
            if decision.index == index
            and (decision.action is Action.DENY or decision.cause is Cause.ERROR)
        ]
        causes = [decision.cause for decision in decisions]
        if question is Question.ADMITS:
            return not causes
        if question is Question.MESSAGE:
            default_message = self.engine.policies[0].validations[index].default_message
            return [(decision.cause, decision.message) for decision in decisions] == [
                (Cause.VALIDATION, default_message)
            ]
        cause = Cause.ERROR if question is Question.FAILS else Cause.VALIDATION
        return causes == [cause]


def _message(engine: Engine, index: int) -> Expression | None:
    return engine.policies[0].validations[index].message_expression


_BLANKS: Final = z3.Star(z3.Union(*(z3.Re(text) for text in " \t\n\v\f\r")))


def is_blank(text: Term) -> Formula:
    """Return where a text says nothing; one of several lines, or one that is too long, is not
    found."""
    formula: Formula = z3.InRe(text, _BLANKS)
    return formula


def _neither(outcome: Outcome) -> Formula:
    """Return where an outcome is a value that is no bool."""
    return both(negated(outcome.error), negated(either((is_true(outcome), is_false(outcome)))))


def _environment(engine: Engine) -> Environment:
    return base_environment(engine.version, has_params=True, authorizer=True)
