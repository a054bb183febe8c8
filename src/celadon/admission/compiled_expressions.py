"""The expressions of policies and webhooks: what they may name and must give, compiled; and match
conditions, evaluated in order.

A `PolicyScope` is where the expressions of one policy are compiled: `declare` its variables in
order, then `compile` the rest. Compiling never raises; an `Expression` that cannot run knows the
text about it. Two environments exist per Kubernetes version: one for new objects, which knows only
what the minor version before knew (so that a rollback finds nothing it cannot run), and one for
stored objects, which knows everything.

As `CompileCELExpression` in k8s.io/apiserver `pkg/admission/plugin/cel/compile.go`.
"""

from __future__ import annotations

import json
import marshal
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, NoReturn

from celadon.admission import policy_limits
from celadon.admission.decision_source import WHOLE, Source
from celadon.cel import Environment, EvaluationError, Issue, Program, ProgramError, types
from celadon.cel.extend import ObjectType
from celadon.kube import library
from celadon.kube.json_types import JsonDict, JsonObject
from celadon.kube.releases import is_since, per_release, wording
from celadon.records import dataclass, replace

# --- Declared types ----------------------------------------------------------
#
# The types of `request`, `namespaceObject` and `variables`, as expressions are checked against.
#
# They say what the checker knows; values are plain JSON and may differ:
# `namespaceObject.metadata` declares `UID` while the data has `uid`, and timestamps are declared
# where strings are found. As `BuildRequestType` and `BuildNamespaceType` in k8s.io/apiserver
# `pkg/admission/plugin/cel/compile.go`.

VARIABLES_TYPE: Final = "kubernetes.variables"
REQUEST: Final = types.object_type("kubernetes.AdmissionRequest")
NAMESPACE: Final = types.object_type("kubernetes.Namespace")
VARIABLES: Final = types.object_type(VARIABLES_TYPE)

_KIND: Final = types.object_type("kubernetes.GroupVersionKind")
_RESOURCE: Final = types.object_type("kubernetes.GroupVersionResource")
_USER: Final = types.object_type("kubernetes.UserInfo")
_NAMESPACE_METADATA: Final = types.object_type("kubernetes.NamespaceMetadata")
_NAMESPACE_SPEC: Final = types.object_type("kubernetes.NamespaceSpec")
_NAMESPACE_STATUS: Final = types.object_type("kubernetes.NamespaceStatus")
_NAMESPACE_CONDITION: Final = types.object_type("kubernetes.NamespaceCondition")
_TEXT_MAP: Final = types.map_of(types.STRING, types.STRING)

OBJECT_TYPES: Final = (
    ObjectType(_KIND.name, {"group": types.STRING, "version": types.STRING, "kind": types.STRING}),
    ObjectType(
        _RESOURCE.name, {"group": types.STRING, "version": types.STRING, "resource": types.STRING}
    ),
    ObjectType(
        _USER.name,
        {
            "username": types.STRING,
            "uid": types.STRING,
            "groups": types.list_of(types.STRING),
            "extra": types.map_of(types.STRING, types.list_of(types.STRING)),
        },
    ),
    ObjectType(
        REQUEST.name,
        {
            "kind": _KIND,
            "resource": _RESOURCE,
            "subResource": types.STRING,
            "requestKind": _KIND,
            "requestResource": _RESOURCE,
            "requestSubResource": types.STRING,
            "name": types.STRING,
            "namespace": types.STRING,
            "operation": types.STRING,
            "userInfo": _USER,
            "dryRun": types.BOOL,
            "options": types.DYN,
        },
    ),
    ObjectType(
        _NAMESPACE_METADATA.name,
        {
            "name": types.STRING,
            "generateName": types.STRING,
            "namespace": types.STRING,
            "labels": _TEXT_MAP,
            "annotations": _TEXT_MAP,
            "UID": types.STRING,
            "creationTimestamp": types.TIMESTAMP,
            "deletionTimestamp": types.TIMESTAMP,
            "deletionGracePeriodSeconds": types.INT,
            "generation": types.INT,
            "resourceVersion": types.STRING,
            "finalizers": types.list_of(types.STRING),
        },
    ),
    ObjectType(_NAMESPACE_SPEC.name, {"finalizers": types.list_of(types.STRING)}),
    ObjectType(
        _NAMESPACE_CONDITION.name,
        {
            "status": types.STRING,
            "type": types.STRING,
            "lastTransitionTime": types.TIMESTAMP,
            "message": types.STRING,
            "reason": types.STRING,
        },
    ),
    ObjectType(
        _NAMESPACE_STATUS.name,
        {"phase": types.STRING, "conditions": types.list_of(_NAMESPACE_CONDITION)},
    ),
    ObjectType(
        NAMESPACE.name,
        {
            "metadata": _NAMESPACE_METADATA,
            "spec": _NAMESPACE_SPEC,
            "status": _NAMESPACE_STATUS,
        },
    ),
)

_KEPT: Final = frozenset(
    {
        types.Kind.ANY,
        types.Kind.BOOL,
        types.Kind.BYTES,
        types.Kind.DOUBLE,
        types.Kind.DURATION,
        types.Kind.INT,
        types.Kind.NULL,
        types.Kind.STRING,
        types.Kind.TIMESTAMP,
        types.Kind.UINT,
    }
)

_MOST_LEVELS: Final = 20
"""Lists in lists whose types a variable keeps. Of deeper ones, which only a chain of variables can
make, cel-go knows the whole type; what looks into types here would need too deep a stack."""


def variable_type(result: types.Type, levels: int = _MOST_LEVELS) -> types.Type:
    """Return the type under which a variable is known to later expressions."""
    if result.kind in _KEPT:
        return result
    if result.kind is types.Kind.LIST and levels:
        return types.list_of(variable_type(result.params[0], levels - 1))
    if result.kind is types.Kind.MAP and levels:
        key, value = (variable_type(param, levels - 1) for param in result.params)
        return types.map_of(key, value)
    return types.DYN


def variables_object(fields: Mapping[str, types.Type]) -> ObjectType:
    """Return what `variables` is; it grows with the fields that it is given."""
    return ObjectType(VARIABLES_TYPE, fields)


def variable_types(
    obj: types.Type, *, params: types.Type | None, authorizer: bool
) -> dict[str, types.Type]:
    """Return the variables of an expression about objects of that type, but for `variables`;
    without a type for params there are none."""
    names = {"object": obj, "oldObject": obj, "request": REQUEST, "namespaceObject": NAMESPACE}
    if params is not None:
        names["params"] = params
    if authorizer:
        names |= {
            "authorizer": library.AUTHORIZER,
            "authorizer.requestResource": library.RESOURCE_CHECK,
        }
    return names


BOOL_RESULT: Final = (types.BOOL,)
MESSAGE_RESULT: Final = (types.STRING,)
ANNOTATION_RESULT: Final = (types.STRING, types.NULL)
ANY_RESULT: Final[tuple[types.Type, ...]] = ()


@dataclass(frozen=True, slots=True)
class ExpressionError:
    """Says why an expression cannot run. `internal` ones are reported as such on write. `issues`
    are what the compiler said, with offsets in the text that was compiled."""

    detail: str
    internal: bool
    issues: tuple[Issue, ...]


@dataclass(frozen=True, slots=True)
class Expression:
    """A compiled expression: a program, or an error, or neither where only the question was whether
    it is right. `text` is as it was written, `source` the
    field it was written in, as far as the compiler was told."""

    text: str
    program: Program | None
    error: ExpressionError | None = None
    type: types.Type = types.DYN
    source: Source = WHOLE

    @property
    def detail(self) -> str:
        """Return why it cannot run; empty if it can."""
        return "" if self.error is None else self.error.detail

    def prepare(self) -> None:
        """Generate now what the program would generate at its first error or counted evaluation."""
        if self.program is not None:
            self.program.prepare()


class _ProgramKey(NamedTuple):
    """Holds all that an expression's program depends on; `fields` are the variables before it."""

    text: str
    allowed: tuple[types.Type, ...]
    version: str
    flags: tuple[bool, ...]
    fields: tuple[tuple[str, types.Type], ...] | None


ExpressionMemory = dict[_ProgramKey, Expression]
"""Expressions that were compiled, for whoever compiles policies that differ in little."""


def base_environment(
    version: str, *, has_params: bool, authorizer: bool, has_patch_types: bool = False
) -> Environment:
    """Return what every expression may name: the request, its objects, the namespace.
    `has_patch_types` adds what only mutations have. Policies and webhooks are charged for all calls
    since 1.32."""
    return _base_environment(version, has_params, authorizer, has_patch_types, is_since("1.32"))


@per_release()
def _base_environment(
    version: str,
    has_params: bool,  # noqa: FBT001
    authorizer: bool,  # noqa: FBT001
    has_patch_types: bool,  # noqa: FBT001
    has_strict_costs: bool,  # noqa: FBT001
) -> Environment:
    names = variable_types(
        types.DYN, params=types.DYN if has_params else None, authorizer=authorizer
    )
    base = library.environment(
        version, has_patch_types=has_patch_types, has_strict_costs=has_strict_costs
    )
    return base.extend(names, OBJECT_TYPES).shared()


def compile_expression(
    env: Environment,
    text: str,
    allowed: tuple[types.Type, ...] = ANY_RESULT,
    source: Source = WHOLE,
    owner: str = "",
    *,
    runs: bool = True,
) -> Expression:
    """Compile an expression. `allowed` are the result types; none at all allows everything.
    Tracebacks call the program by its owner and its source. What only has to be right, and never
    `runs`, gets no program."""

    def broken(detail: str, *, issues: Iterable[Issue] = (), internal: bool = False) -> Expression:
        error = ExpressionError(detail, internal, tuple(issues))
        return Expression(text, None, error, source=source)

    compilation = env.compile_once_more(text)
    checked = compilation.ast
    if checked is None:
        issues = compilation.issues
        return broken(f"compilation failed: {issues.display()}", issues=issues)
    result = checked.type
    if allowed and result not in allowed:
        return broken(_wrong_type(result, allowed))
    program = None
    try:
        if runs:
            program = env.program(checked, f"{owner} {source}".strip() or "expression")
        else:
            env.refuse_unrunnable(checked)
    except ProgramError as error:
        return broken(f"program instantiation failed: {error}", internal=True)
    return Expression(text, program, None, result, source)


_BUT_GOT: Final = wording(" but got {}", v1_32="")


def _wrong_type(result: types.Type, allowed: tuple[types.Type, ...]) -> str:
    expected = allowed[0] if len(allowed) == 1 else f"one of [{' '.join(map(str, allowed))}]"
    return f"must evaluate to {expected}{_BUT_GOT.text.format(result)}"


class PolicyScope:
    """The names that the expressions of one policy see, growing with each variable.

    `owner` is the name of the policy, which tracebacks show with the field that an expression is
    in (`validations[0]`). `version` is the server's; expressions are compiled as new ones, at the
    version before, unless `stored` says that the stored object already has them; those that need
    not `runs` get no programs. A policy without
    variables has no `variables` at all; one with variables has it from the first of them on, empty
    as yet. What is in the `memory` is not compiled again.
    """

    def __init__(
        self,
        version: str,
        *,
        has_params: bool,
        has_variables: bool,
        owner: str = "policy",
        runs: bool = True,
        memory: ExpressionMemory | None = None,
    ) -> None:
        self._owner = owner
        self._runs = runs
        self._memory = memory
        self._versions = {False: library.previous_minor(version), True: version}
        self._has_params = has_params
        self._has_variables = has_variables
        self._fields: dict[str, types.Type] = {}
        self._environments: dict[tuple[bool, bool, bool], Environment] = {}

    def declare(
        self, name: str, text: str, *, stored: bool = False, source: Source = WHOLE
    ) -> Expression:
        """Compile a variable and let later expressions see it; a broken one is dyn."""
        expression = self.compile(text, stored=stored, source=source)
        self._fields[name] = variable_type(expression.type)
        return expression

    def compile(
        self,
        text: str,
        allowed: tuple[types.Type, ...] = ANY_RESULT,
        *,
        authorizer: bool = True,
        stored: bool = False,
        source: Source = WHOLE,
    ) -> Expression:
        """Compile any other expression, in an environment with the variables so far."""
        return self._compiled(text, allowed, source, stored=stored, authorizer=authorizer)

    def condition(self, text: str, *, stored: bool = False) -> Expression:
        """Return a match condition, as written objects are checked: without the variables."""
        env = base_environment(self._versions[stored], has_params=self._has_params, authorizer=True)
        return compile_expression(env, text, BOOL_RESULT, runs=self._runs)

    def mutation(
        self,
        text: str,
        allowed: tuple[types.Type, ...],
        *,
        stored: bool = False,
        source: Source = WHOLE,
    ) -> Expression:
        """Return the expression of a mutation, which may name the types of patches."""
        return self._compiled(text, allowed, source, stored=stored, has_patch_types=True)

    def _compiled(
        self,
        text: str,
        allowed: tuple[types.Type, ...],
        source: Source,
        *,
        stored: bool,
        authorizer: bool = True,
        has_patch_types: bool = False,
    ) -> Expression:
        env = self._environment(
            stored=stored, authorizer=authorizer, has_patch_types=has_patch_types
        )
        if self._memory is None:
            return compile_expression(env, text, allowed, source, self._owner, runs=self._runs)
        fields = tuple(self._fields.items()) if self._has_variables else None
        flags = (self._has_params, authorizer, has_patch_types, self._runs)
        key = _ProgramKey(text, allowed, self._versions[stored], flags, fields)
        if key not in self._memory:
            expression = compile_expression(
                env, text, allowed, source, self._owner, runs=self._runs
            )
            self._memory[key] = expression
        return replace(self._memory[key], source=source)

    def _environment(
        self, *, stored: bool, authorizer: bool = True, has_patch_types: bool = False
    ) -> Environment:
        key = (stored, authorizer, has_patch_types)
        env = self._environments.get(key)
        if env is None:
            version = self._versions[stored]
            env = base_environment(
                version,
                has_params=self._has_params,
                authorizer=authorizer,
                has_patch_types=has_patch_types,
            )
            if self._has_variables:
                # one for all expressions, which grows: ten thousand of them would not fit in memory
                env = env.extend({"variables": VARIABLES}, [variables_object(self._fields)])
            self._environments[key] = env
        return env


# --- Size bounds -------------------------------------------------------------
#
# How large a value is at most, as far as costs go.
#
# Costs depend on sizes. Where the size of everything a request brings is small enough, no
# expression of a policy can reach a limit, and nothing needs to be counted (`policy.compile`).
# So this must be quick rather than tight, and never too low.

_MARSHAL_FORMAT: Final = 2  # without references: every value is counted where it stands


def size_bound(value: Any) -> int:  # noqa: ANN401 - a value of CEL
    """Return an upper bound of what the cost model can count in a value: one for everything in it,
    and one more for each byte of a text. Marshalling without references is just that, and quick."""
    try:
        return len(marshal.dumps(value, _MARSHAL_FORMAT))
    except ValueError:  # nested too deeply, or a mapping that is no dict
        return _json_size(value)


def _json_size(value: object) -> int:
    try:
        return len(json.dumps(value, default=dict))
    except RecursionError:
        return policy_limits.UNBOUNDED_SIZE


# --- Match conditions --------------------------------------------------------
#
# Match conditions: whether a policy or webhook cares about a request it matches.
#
# All conditions are evaluated, whatever the first says, and charged to one budget. A false one
# wins over errors. As k8s.io/apiserver `pkg/admission/plugin/webhook/matchconditions/matcher.go`.

# --- Lazy variables ----------------------------------------------------------
#
# `variables` in expressions: computed when first read, as often as there are phases.
#
# A variable that reads a variable that reads a variable, and so on, would need as many frames
# of Python as there are links, and a policy may have ten thousand. So from a certain depth on
# nothing is computed: the computation is given up (`_TooDeep` passes through generated code,
# which catches nothing of the kind), the variable in question is computed first, from the
# bottom, and then what was given up again, which now finds it. Each is given up once for so
# many links, and what was computed stays, so the work is about twice that of a short chain;
# what is given up is not charged.
#
# As k8s.io/apiserver `pkg/admission/plugin/cel/composition.go`.

Activation = Mapping[str, Any]
Run = Callable[[Expression, Activation], Any]

_MOST_LINKS: Final = 25
"""Variables computed one within another."""

_LONGEST_ERROR: Final = 16 * 1024
"""Characters of one error within another."""


class _TooDeep(BaseException):
    """A variable has to be computed before those that wait for it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class LazyVariables(JsonDict):
    """Variables computed when first read, and kept; errors too, with the field of the variable that
    is to blame as their origin.

    INVARIANT (one phase): match conditions, validations, message expressions and audit annotations
    each start with a new one, so a variable is computed at most once in each.
    """

    __slots__ = ("_activation", "_depth", "_errors", "_expressions", "_run")

    def __init__(
        self, expressions: Mapping[str, Expression], activation: JsonObject, run: Run
    ) -> None:
        super().__init__()
        self._expressions = expressions
        self._activation = activation
        self._run = run
        self._errors: dict[str, tuple[str, Source]] = {}
        self._depth = 0

    def __missing__(self, name: str) -> object:
        if name not in self._expressions:
            raise KeyError(name)
        if name not in self._errors:
            if self._depth == 0:
                self._compute_from_the_bottom(name)
            elif self._depth < _MOST_LINKS:
                self._compute(name)
            else:
                raise _TooDeep(name)
        failed = self._errors.get(name)
        if failed is not None:
            raise EvaluationError(*failed)
        return self[name]

    def _compute_from_the_bottom(self, name: str) -> None:
        """Compute the variable, after those at the end of chains that are too long."""
        waiting = [name]
        while waiting:
            try:
                self._compute(waiting[-1])
            except _TooDeep as deeper:
                waiting.append(deeper.name)
            else:
                waiting.pop()

    def _compute(self, name: str) -> None:
        """Put the value among the values, or the error among the errors."""
        expression = self._expressions[name]
        self._depth += 1
        try:
            self[name] = self._run(expression, self._activation)
        except EvaluationError as error:
            subject = "compile" if expression.error is not None else "evaluate"
            text = f'composited variable "{name}" fails to {subject}: {_shortened(str(error))}'
            self._errors[name] = text, blamed(error, expression)
        except RecursionError:
            if self._depth == 1:
                raise
            raise _TooDeep(name) from None
        finally:
            self._depth -= 1

    def __contains__(self, name: object) -> bool:
        """`has(variables.x)` evaluates x."""
        if name not in self._expressions:
            return False
        self[str(name)]
        return True

    def get(self, name: str, default: object = None) -> Any:  # noqa: ANN401 - a value of CEL
        return self[name] if name in self._expressions else default


def _shortened(text: str) -> str:
    """Return an error text of which only the end, the cause, is kept where it is too long: along a
    chain of variables it grows with each."""
    return text if len(text) <= _LONGEST_ERROR else f"...{text[-_LONGEST_ERROR:]}"


def blamed(error: EvaluationError, expression: Expression) -> Source:
    """Return the field that the error of an expression comes from: its own, or that of a
    variable."""
    return error.origin if isinstance(error.origin, Source) else expression.source


# --- Metering ----------------------------------------------------------------
#
# Running expressions: plainly where no budget can be reached, else against a budget.
#
# Both ways give the same values. `run_plain` is used where the compiled bound of all
# expressions of a policy, for the size of the request at hand, stays within every limit; a
# `Meter` counts, charging in upstream's order: first the variables that an expression read for
# the first time, then the expression itself. Going over the budget is `OutOfBudget`; going over
# the limit of a single expression is an ordinary `EvaluationError` of that expression.
#
# As `ForInput` in k8s.io/apiserver `pkg/admission/plugin/cel/condition.go`.


@dataclass(frozen=True, slots=True)
class Failure:
    """Says why an expression gave no answer, as a decision says it, and the field to blame."""

    text: str
    source: Source


class OutOfBudget(BaseException):
    """The budget of a phase is used up; `failure` names the expression that was too much. Generated
    code, which catches exceptions of other kinds, lets it pass."""

    def __init__(self, source: Source) -> None:
        super().__init__(library.OUT_OF_BUDGET)
        self.failure = Failure(library.OUT_OF_BUDGET, source)


def run_plain(expression: Expression, activation: Activation) -> object:
    """Run an expression without counting. Raises EvaluationError with the expression's own text,
    unwrapped."""
    if expression.program is None:
        raise EvaluationError(expression.detail)
    return expression.program.evaluate(activation)


class Meter:
    """One budget. `cost` is what the latest expression cost, its variables included."""

    __slots__ = ("_running", "_variables", "cost", "remaining")

    def __init__(self, budget: int) -> None:
        self.remaining = budget
        self.cost = 0
        self._variables = 0
        self._running: Expression | None = None

    def run(self, expression: Expression, activation: Activation) -> Any:  # noqa: ANN401 - a value of CEL
        """Run an expression of the phase itself, which is charged at once, failed or not."""
        self._variables = 0
        self._running = expression
        try:
            value, cost = self.evaluated(expression, activation)
        except EvaluationError as error:
            self._charge(error.cost or 0, expression)
            raise
        self._charge(cost, expression)
        return value

    def run_variable(self, expression: Expression, activation: Activation) -> object:
        """Run a variable, which is charged together with the expression that reads it. What the
        variables together cost is known to be too much as soon as it is."""
        try:
            value, cost = self.evaluated(expression, activation)
        except EvaluationError as error:
            self._charge_variable(error.cost or 0, expression)
            raise
        self._charge_variable(cost, expression)
        return value

    def evaluated(self, expression: Expression, activation: Activation) -> tuple[object, int]:
        """Return the value, and the cost of the expression itself. EvaluationError."""
        if expression.program is None:
            raise EvaluationError(expression.detail)
        return expression.program.evaluate_metered(activation, policy_limits.PER_CALL_COST)

    def _charge_variable(self, cost: int, variable: Expression) -> None:
        self._variables += cost
        if self._variables > self.remaining:
            self._exhausted(self._running or variable)

    def _charge(self, cost: int, expression: Expression) -> None:
        self.cost = self._variables + cost
        for part in (self._variables, cost):
            if part > self.remaining:
                self._exhausted(expression)
            self.remaining -= part

    def _exhausted(self, expression: Expression) -> NoReturn:
        self.remaining = -1
        raise OutOfBudget(expression.source)


def attempt(run: Run, expression: Expression, activation: Activation) -> tuple[Any, Failure | None]:
    """Return the value, or None and what a decision says about the failure."""
    if expression.program is None:
        return None, Failure(f"compilation error: {expression.detail}", expression.source)
    try:
        return run(expression, activation), None
    except EvaluationError as error:
        text = f"expression '{expression.text}' resulted in error: {error}"
        return None, Failure(text, blamed(error, expression))


@dataclass(frozen=True, slots=True)
class Condition:
    """A compiled match condition; the name is what notes say when it is false."""

    name: str
    expression: Expression


@dataclass(frozen=True, slots=True)
class ConditionResult:
    """Matched, or not: because of `false_condition`, or of a failure (never both)."""

    false_condition: str = ""
    failure: Failure | None = None


MATCHED: Final = ConditionResult()


def evaluate(conditions: Sequence[Condition], run: Run, activation: Activation) -> ConditionResult:
    """Evaluate match conditions. The failure policy is the caller's business: an error here is only
    reported."""
    false: list[str] = []
    failures: list[Failure] = []
    try:
        for condition in conditions:
            value, failure = attempt(run, condition.expression, activation)
            if failure is not None:
                failures.append(failure)
            elif value is False:  # what is neither of the two does not keep from matching
                false.append(condition.name)
    except OutOfBudget as error:
        return ConditionResult(failure=error.failure)
    if false:
        return ConditionResult(false[0])
    return ConditionResult(failure=_aggregate(failures)) if failures else MATCHED


def _aggregate(failures: Sequence[Failure]) -> Failure:
    """Join all texts, at the place of the first."""
    texts = list(dict.fromkeys(failure.text for failure in failures))
    text = texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"
    return Failure(text, failures[0].source)
