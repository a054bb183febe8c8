"""Compiling the expressions of policies and webhooks: what they may name, what they must give.

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
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final, NamedTuple

from celadon.admission import policy_limits
from celadon.admission.decision_source import WHOLE, Source
from celadon.admission.expressions.declared_types import (
    OBJECT_TYPES,
    VARIABLES,
    variable_type,
    variable_types,
    variables_object,
)
from celadon.cel import Environment, Issue, Program, ProgramError, types
from celadon.kube.library import environment, previous_minor
from celadon.kube.releases import is_since, per_release
from celadon.kube.wordings import wording
from celadon.records import dataclass

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


class _Known(NamedTuple):
    """All that an expression's program depends on; `fields` are the variables before it."""

    text: str
    allowed: tuple[types.Type, ...]
    version: str
    flags: tuple[bool, ...]
    fields: tuple[tuple[str, types.Type], ...] | None


ExpressionMemory = dict[_Known, Expression]
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
    base = environment(version, has_patch_types=has_patch_types, has_strict_costs=has_strict_costs)
    return base.extend(names, OBJECT_TYPES)


def compile_expression(
    env: Environment,
    text: str,
    allowed: tuple[types.Type, ...] = ANY_RESULT,
    source: Source = WHOLE,
    owner: str = "",
    *,
    runs: bool = True,
) -> Expression:
    """`allowed` are the result types; none at all allows everything. Tracebacks call the program by
    its owner and its source. What only has to be right, and never `runs`, gets no program."""

    def broken(detail: str, *, issues: Iterable[Issue] = (), internal: bool = False) -> Expression:
        error = ExpressionError(detail, internal, tuple(issues))
        return Expression(text, None, error, source=source)

    compilation = env.compile(text)
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
    wanted = allowed[0] if len(allowed) == 1 else f"one of [{' '.join(map(str, allowed))}]"
    return f"must evaluate to {wanted}{_BUT_GOT.text.format(result)}"


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
        self._versions = {False: previous_minor(version), True: version}
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
        """Any other expression, in an environment with the variables so far."""
        return self._compiled(text, allowed, source, stored=stored, authorizer=authorizer)

    def condition(self, text: str, *, stored: bool = False) -> Expression:
        """A match condition, as written objects are checked: without the variables."""
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
        """The expression of a mutation, which may name the types of patches."""
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
        key = _Known(text, allowed, self._versions[stored], flags, fields)
        if key not in self._memory:
            made = compile_expression(env, text, allowed, source, self._owner, runs=self._runs)
            self._memory[key] = made
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
    """An upper bound of what the cost model can count in a value: one for everything in it, and
    one more for each byte of a text. Marshalling without references is just that, and quick."""
    try:
        return len(marshal.dumps(value, _MARSHAL_FORMAT))
    except ValueError:  # nested too deeply, or a mapping that is no dict
        return _json_size(value)


def _json_size(value: object) -> int:
    try:
        return len(json.dumps(value, default=dict))
    except RecursionError:
        return policy_limits.UNBOUNDED_SIZE
