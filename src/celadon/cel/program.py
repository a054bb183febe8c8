"""Programs: generated source loaded, and run.

The only module that calls `compile` and `exec`. The code runs without builtins, with exactly the
names the emitter recorded. A program is immutable and may be used by any number of threads.

`evaluate` is the plain function itself; when it meets anything unusual it hands over to the
metered one, which decides the value or the error (see `codegen`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from celadon.cel.analysis.tree_context import Context
from celadon.cel.codegen.emitter import Emitter
from celadon.cel.codegen.metered import Metered
from celadon.cel.codegen.plain import Plain, Unsupported
from celadon.cel.codegen.shared_prefixes import shared_prefixes
from celadon.cel.errors import EvaluationError
from celadon.cel.issues import Issues
from celadon.cel.partial.unknowns import AttributePattern
from celadon.cel.syntax import Ast
from celadon.cel.types import Type

if TYPE_CHECKING:
    from celadon.cel.analysis.cost_bound import CostBound

#: "No limit", as a number that no cost reaches.
UNLIMITED = (1 << 64) - 1

Activation = Mapping[str, Any]


class Program:
    """One expression, ready to run.

    `evaluate(activation)` returns the value or raises `EvaluationError`; nothing is charged.
    `source` is the generated Python of the plain variant, `metered_source` that of the other,
    which is generated when it is first needed: most programs of most users never need it. Who must
    not compile while evaluating calls `prepare` beforehand. (Two threads that need it at once both
    generate it, and either result serves.)
    """

    __slots__ = (
        "__weakref__",
        "_bound",
        "_context",
        "_metered",
        "evaluate",
        "name",
        "source",
        "type",
    )

    evaluate: Callable[[Activation], Any]

    def __init__(self, context: Context, name: str = "expression") -> None:
        self.name = name
        self.type: Type = context.checked.type
        self._context = context
        self._bound: CostBound | None = None
        self._metered: _Module | None = None
        plain = _plain_source(context)
        if plain is None:
            self.source, self.evaluate = "", self._exact
        else:
            loaded = _load(plain, f"celadon: {name}", exact=self._exact)
            self.source, self.evaluate = loaded.source, loaded.functions["plain"]

    def prepare(self) -> Program:
        """Generate everything now that would be generated at first use."""
        _ = self._metered_module(), self.bound
        return self

    @property
    def metered_source(self) -> str:
        return self._metered_module().source

    def line_map(self) -> tuple[int, ...]:
        """For each line of `metered_source` the id of the node it was written for (0: none)."""
        return _metered_source(self._context)[1]

    def evaluate_metered(self, activation: Activation, limit: int = UNLIMITED) -> tuple[Any, int]:
        """The value and what cel-go charges for it. Raises `EvaluationError` with its `cost`;
        `CostLimitExceeded` when the cost goes over the limit."""
        module = self._metered or self._metered_module()
        value, cost = module.functions["metered"](activation, limit)
        if isinstance(value, EvaluationError):
            error = EvaluationError(value.message)
            error.cost = cost
            raise error
        return value, cost

    def evaluate_partial(
        self, activation: Activation, unknowns: Sequence[AttributePattern]
    ) -> tuple[Any, Ast]:
        """Evaluate while some attributes are unknown: the value, or an `Unknown` that says what it
        waits for, and the expression that is left. Raises `EvaluationError`."""
        # House rule 12: as below.
        from celadon.cel.partial.partial_evaluation import evaluate_partial
        from celadon.cel.partial.residual import residual

        outcome, outcomes = evaluate_partial(self._context, activation, unknowns)
        if isinstance(outcome, EvaluationError):
            raise EvaluationError(outcome.message)
        return outcome, residual(self._context, outcomes)

    def locate(self, activation: Activation, error: EvaluationError) -> Issues:
        """An evaluation error as an issue at the place in the source where it came up, for people
        to read: `locate(...).display()`. The evaluation is repeated to find the place."""
        ast = self._context.checked.ast
        from celadon.cel.partial.partial_evaluation import origin  # House rule 12: as below

        node = origin(self._context, activation)
        issues = Issues(ast.source)
        issues.add(error.message, None if node is None else ast.positions.get(node), node)
        return issues

    def _exact(self, activation: Activation) -> Any:
        return self.evaluate_metered(activation)[0]

    def _metered_module(self) -> _Module:
        if self._metered is None:
            self._metered = _load(_metered_source(self._context), f"celadon: {self.name} (metered)")
        return self._metered

    @property
    def bound(self) -> CostBound:
        """What an evaluation can cost at most; computed when first asked for."""
        if self._bound is None:
            # House rule 12: what only some callers ask for is not loaded with the language.
            from celadon.cel.analysis.cost_bound import CostBound

            self._bound = CostBound(self._context)
        return self._bound

    def cost_bound(self, size: int) -> float:
        """No evaluation can cost more than this, if the JSON text of all inputs together is at
        most `size` bytes long."""
        return self.bound.cost(size)

    def size_bound(self, size: int) -> float:
        """No value can be larger than this (counted like JSON text), for such inputs."""
        return self.bound.size(size)


class _Module(NamedTuple):
    """A generated module: its text and its functions."""

    source: str
    functions: dict[str, Any]


_Generated = tuple[str, tuple[int, ...], dict[str, Any]]
"""The text of a module, the node id behind each line (0: none), and its constants."""


def _metered_source(context: Context) -> _Generated:
    emitter = Emitter()
    Metered(context, emitter).write("metered")
    return *emitter.finish(), emitter.constants


def _plain_source(context: Context) -> _Generated | None:
    emitter = Emitter()
    try:
        Plain(context, emitter, shared_prefixes(context.checked.root)).write("plain")
    except (Unsupported, RecursionError):  # too deep for this one; the metered one is flatter
        return None
    return *emitter.finish(), emitter.constants


class _Text:
    """The loader of a generated module: how tracebacks and debuggers get at its text, without an
    entry anywhere that would outlive the program."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def get_source(self, name: str) -> str:
        return self.text


def _load(generated: _Generated, name: str, **names: Any) -> _Module:
    source, _, constants = generated
    # `linecache` asks the loader only for names without angle brackets
    frame = {"__builtins__": {}, "__name__": name, "__loader__": _Text(source)}
    namespace: dict[str, Any] = {**frame, **constants, **names}
    code = compile(source, name, "exec", dont_inherit=True, optimize=1)
    exec(code, namespace)  # noqa: S102  # house rule 18: the one place; all names are minted
    return _Module(source, namespace)
