"""Programs: generated source loaded, and run.

The only module that calls `compile` and `exec`. The code runs without builtins, with exactly the
names the emitter recorded. A program is immutable and may be used by any number of threads.

Tracebacks name the program (`<celadon require-owner validations[0] #3>`) and show each line with
its CEL, as long as the program lives; a failure of the generated code, which no expression should
be able to cause, gets a note with the place in the source.

A program is interpreted before it is generated: most that are compiled run once or never, and
generating one takes as long as ten evaluations by the interpreter. Once it is used, `evaluate` is
the plain function itself; when it meets anything unusual it hands over to the metered one, which
decides the value or the error (see `codegen`).
"""

from __future__ import annotations

import linecache
import weakref
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from itertools import count
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, NoReturn, overload

from celadon.cel.analysis.tree_context import Context
from celadon.cel.errors import CostLimitExceeded, EvaluationError, Issues, Panicked
from celadon.cel.syntax import Ast, CheckedAst, Ident
from celadon.cel.types import Type
from celadon.cel.values import Value
from celadon.cel.values.runtime_types import AttributePattern

if TYPE_CHECKING:
    from celadon.cel.analysis.cost_bound import CostBound
    from celadon.cel.codegen.emitter import GeneratedModule
    from celadon.cel.tracing import Recorder

#: "No limit", as a number that no cost reaches.
UNLIMITED = (1 << 64) - 1

Activation = Mapping[str, Any]

#: Cost of evaluations that are repeated only to say where their error came up.
_MAX_REPEATED: Final = 100_000

#: Longest name of a program that its file name shows, in characters.
_MAX_NAME: Final = 300
_numbers: Final = count(1)
_made: Final = count()

#: Programs of one set are asked as often as each other: so that not all of them are generated in
#: the same request, some are hot earlier, by up to so many evaluations.
_SPREAD: Final = 6
#: So many nodes may be visited in an evaluation that is interpreted.
_MAX_VISITS: Final = 250


class Program:
    """Runs one expression that was compiled.

    `evaluate(activation)` returns the value or raises `EvaluationError`; nothing is charged.
    `source` is the generated Python of the plain variant (empty if there is none),
    `counted_source` and `metered_source` those of the others. Each variant is generated when it is
    first needed: most programs of most users never need it. Who must not compile while evaluating
    calls `prepare` beforehand. Who keeps `evaluate` itself, to call it often, keeps what `hot`
    returns. (Two threads that need a variant at once both generate it, and either result serves.)
    `name` says to people whose expression this is, and which: `require-owner validations[0]`.
    """

    #: Evaluations that are interpreted, at most. Generating takes as long as some six of them.
    MAX_COLD: Final = 9

    __slots__ = (
        "__weakref__",
        "_bound",
        "_cold_left",
        "_context",
        "_counted",
        "_metered",
        "_plain",
        "_traced",
        "_uncounted_left",
        "evaluate",
        "evaluate_metered",
        "name",
        "type",
    )

    evaluate: Callable[[Activation], Any]
    evaluate_metered: Callable[..., tuple[Any, int]]
    """`(activation, limit=UNLIMITED)`: the value and what cel-go charges for it. Raises
    `EvaluationError` with its `cost`; `CostLimitExceeded` when the cost goes over the limit."""

    def __init__(self, context: Context, name: str = "expression") -> None:
        self.name = name
        self.type: Type = context.checked.type
        self._context = context
        self._bound: CostBound | None = None
        self._plain: _Loaded | None = None
        self._metered: _Loaded | None = None
        self._traced: _Loaded | None = None
        self._counted: _Loaded | None = None
        # What becomes of optionals in odd places is known to generated code alone.
        seldom = self.MAX_COLD - next(_made) % _SPREAD
        self._cold_left = 0 if context.has_optionals else seldom
        self._uncounted_left = seldom
        self.evaluate = self._cold
        self.evaluate_metered = self._first_counted

    @property
    def checked(self) -> CheckedAst:
        """Return the checked tree that the program was made of."""
        return self._context.checked

    def prepare(self) -> Program:
        """Generate everything now that would be generated at first use."""
        _ = self._plain_module(), self._metered_module(), self.bound
        return self

    def hot(self) -> Callable[[Activation], Any]:
        """Return what `evaluate` is from now on: the plain function, which this generates."""
        self._plain_module()
        return self.evaluate

    @property
    def source(self) -> str:
        """Return the generated Python of the plain variant, which asking for it generates."""
        return self._plain_module().source

    @property
    def metered_source(self) -> str:
        """Return the generated Python of the metered variant, which asking for it generates."""
        return self._metered_module().source

    @property
    def counted_source(self) -> str:
        """Return the generated Python of the counted variant (empty if there is none), likewise."""
        return self._counted_module().source

    def listing(self) -> str:
        """Return the plain variant, or the metered one where there is no other, for people to read:
        a legend of its names, then its lines, each with its CEL as a comment. Without a final line
        feed."""
        # late: few ask for it
        from celadon.cel.codegen.listing import listing
        from celadon.cel.codegen.metered import metered_module
        from celadon.cel.codegen.plain import plain_module

        return listing(plain_module(self._context) or metered_module(self._context), self._context)

    def evaluate_exactly(self, activation: Activation, limit: int = UNLIMITED) -> tuple[Any, int]:
        """Work as `evaluate_metered`, without trying first whether nothing goes wrong."""
        module = self._metered_module()
        try:
            outcome: tuple[Any, int] = module.functions["metered"](activation, limit)
        except Exception as failure:
            self._annotate(failure, module)
            raise
        return _raised(*outcome) if outcome[0].__class__ is EvaluationError else outcome

    def evaluate_traced(
        self, activation: Activation, recorder: Recorder, limit: int = UNLIMITED
    ) -> tuple[Any, int]:
        """Work as `evaluate_metered`, to the last error and the last cost, and the recorder is told
        the value of every part that was evaluated."""
        if self._traced is None:
            from celadon.cel.codegen.metered import traced_module  # late: few ask for it

            self._traced = self._load(traced_module(self._context), {})
        try:
            outcome: tuple[Any, int] = self._traced.functions["traced"](activation, limit, recorder)
        except Exception as failure:
            self._annotate(failure, self._traced)
            raise
        return _raised(*outcome) if outcome[0].__class__ is EvaluationError else outcome

    def evaluate_partial(
        self, activation: Activation, unknowns: Sequence[AttributePattern]
    ) -> tuple[Value, Ast]:
        """Evaluate while some attributes are unknown: the value, or an `Unknown` that says what it
        waits for, and the expression that is left. Raises `EvaluationError`."""
        # late: few ask for it.
        from celadon.cel.partial_evaluation import evaluate_partial, residual

        outcome, outcomes = evaluate_partial(self._context, activation, unknowns)
        if isinstance(outcome, EvaluationError):
            raise EvaluationError(outcome.message, outcome.origin)
        return outcome, residual(self._context, outcomes)

    def locate(self, activation: Activation, error: EvaluationError) -> Issues:
        """Return an evaluation error as an issue at the place in the source where it came up, for
        people to read: `locate(...).display()`. The evaluation is repeated to find the place,
        unless that would take long. What went over its limit has no place, and is not run without
        one."""
        ast = self._context.checked.ast
        node = None
        repeats = error.cost is not None and error.cost <= _MAX_REPEATED
        if repeats and not isinstance(error, CostLimitExceeded):
            # late: few ask for it
            from celadon.cel.partial_evaluation import origin

            node = origin(self._context, activation)
        issues = Issues(ast.source)
        issues.add(error.message, None if node is None else ast.positions.get(node), node)
        return issues

    def _cold(self, activation: Activation) -> Value:
        """Interpret, as long as the program is seldom asked and the work is little."""
        if self._plain is None and self._cold_left:
            self._cold_left -= 1
            # late: what is never evaluated needs no evaluator
            from celadon.cel.partial_evaluation import TooLong, interpret

            try:
                return interpret(self._context, activation, _MAX_VISITS)
            except TooLong:
                pass
            except Exception:  # noqa: BLE001  # as in the plain function: the metered one judges
                return self._exact(activation)
        return self.hot()(activation)

    def _exact(self, activation: Activation) -> Value:
        return self.evaluate_exactly(activation)[0]

    def _first_counted(self, activation: Activation, limit: int = UNLIMITED) -> tuple[Any, int]:
        """Work exactly while the program is seldom asked, if it is prepared for that."""
        if self._metered is not None and self._uncounted_left:
            self._uncounted_left -= 1
            return self.evaluate_exactly(activation, limit)
        self._counted_module()
        return self.evaluate_metered(activation, limit)

    def _plain_module(self) -> _Loaded:
        if self._plain is None:
            from celadon.cel.codegen.plain import plain_module  # late: see `_cold`

            plain = plain_module(self._context)
            if plain is None:
                loaded, evaluate = _NOTHING, self._exact
            else:
                loaded = self._load(plain, {"exact": self._exact})
                evaluate = loaded.functions["plain"]
            self.evaluate, self._plain = evaluate, loaded
        return self._plain

    def _counted_module(self) -> _Loaded:
        if self._counted is None:
            from celadon.cel.codegen.counted import counted_module  # late: see `_cold`

            counted = counted_module(self._context)
            if counted is None:
                loaded, evaluate = _NOTHING, self.evaluate_exactly
            else:
                loaded = self._load(counted, {"exact": self.evaluate_exactly})
                evaluate = loaded.functions["counted"]
            self.evaluate_metered, self._counted = evaluate, loaded
        return self._counted

    def _metered_module(self) -> _Loaded:
        if self._metered is None:
            from celadon.cel.codegen.metered import metered_module  # late: see `_cold`

            self._metered = self._load(metered_module(self._context), {})
        return self._metered

    def _load(self, generated: GeneratedModule, names: Mapping[str, Value]) -> _Loaded:
        """Load a module, and let tracebacks and debuggers get at its text for as long as the
        program lives: to `linecache` it is a file that is never out of date."""
        _clean_up()
        file_name = _file_name(self.name)
        lines = _Lines(generated.source, generated.nodes, self._context)
        linecache.cache[file_name] = len(lines), None, lines, file_name  # type: ignore[assignment]  # any sequence serves
        weakref.finalize(self, _let_go, file_name).atexit = False
        functions = _executed(file_name, generated, names)
        return _Loaded(file_name, generated.source, generated.nodes, functions)

    def _annotate(self, failure: Exception, module: _Loaded) -> None:
        """Add what an exception that leaves a module is to say: a panic what had been charged, one
        that no expression should be able to cause where in the source it came up."""
        if isinstance(failure, Panicked):
            failure.cost = module.cost_at(failure.__traceback__)
        elif not isinstance(failure, EvaluationError):
            ast = self._context.checked.ast
            node = module.node_at(failure.__traceback__)
            issues = Issues(ast.source)
            issues.add(f"internal error in `{self.name}`", ast.positions.get(node), node)
            failure.add_note(issues.display())

    @property
    def is_constant(self) -> bool:
        """Return whether it names no variable, so that every evaluation gives the same. A name of
        its own, as macros have them, counts as one."""
        constants = self._context.constants
        nodes = self._context.checked.nodes
        return not any(isinstance(node, Ident) and node.id not in constants for node in nodes)

    @property
    def bound(self) -> CostBound:
        """Return what an evaluation can cost at most; computed when first asked for."""
        if self._bound is None:
            # late: few ask for it.
            from celadon.cel.analysis.cost_bound import CostBound

            self._bound = CostBound(self._context)
        return self._bound

    def cost_bound(self, size: int) -> float:
        """No evaluation can cost more than this, if all inputs together are of that size or less
        (see `celadon.cel.size_growth`; the JSON text of a value is never shorter than its size).
        Infinite when something in the expression has no bound."""
        return self.bound.cost(size)

    def size_bound(self, size: int) -> float:
        """No value can be larger than this, counted likewise, for such inputs."""
        return self.bound.size(size)


_let_go_of: Final[deque[str]] = deque()
"""Names in `linecache` whose programs are gone."""


def _let_go(file_name: str) -> None:
    """Let go of the text of a program that is collected, at any moment: `linecache` may be going
    through its files just now, so the name stays, as that of one without a text."""
    linecache.cache[file_name] = (str,)
    _let_go_of.append(file_name)


def _clean_up() -> None:
    """Take the names of modules that are gone out of `linecache`."""
    while _let_go_of:
        linecache.cache.pop(_let_go_of.pop(), None)


def _raised(value: EvaluationError, cost: int) -> NoReturn:
    """Raise an error that an evaluation came to."""
    error = EvaluationError(value.message, value.origin)
    error.cost = cost
    raise error


class _Lines(Sequence[str]):
    """The lines of a module as `linecache` wants them, line feeds included, each with its CEL as a
    comment. They are made when the first is asked for."""

    __slots__ = ("_context", "_lines", "_nodes", "_source")

    def __init__(self, source: str, nodes: tuple[int, ...], context: Context) -> None:
        self._source = source
        self._nodes = nodes
        self._context = context
        self._lines: list[str] | None = None

    def __len__(self) -> int:
        return len(self._nodes)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> list[str]: ...

    def __getitem__(self, index: int | slice) -> str | list[str]:
        if self._lines is None:
            from celadon.cel.codegen.listing import annotated  # late: only tracebacks do

            lines = annotated(self._source, self._nodes, self._context)
            self._lines = [f"{line}\n" for line in lines]
        return self._lines[index]


class _Loaded(NamedTuple):
    """A generated module that can run: the name of its file in tracebacks, its text, the node of
    each line, and its functions."""

    file_name: str
    source: str
    nodes: tuple[int, ...]
    functions: dict[str, Any]

    def cost_at(self, trace: TracebackType | None) -> int:
        """Return what had been charged when the innermost function of this module stopped: its
        `c`."""
        cost = 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file_name:
                cost = trace.tb_frame.f_locals.get("c", cost)
            trace = trace.tb_next
        return cost

    def node_at(self, trace: TracebackType | None) -> int:
        """Return the id of the node whose line of this module ran last; 0 if none did."""
        node = 0
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file_name:
                node = self.nodes[trace.tb_lineno - 1]
            trace = trace.tb_next
        return node


_NOTHING: Final = _Loaded("", "", (), {})
"""A variant that cannot express a program."""


def _file_name(name: str) -> str:
    """Return a name that no other module has. What a compiler would not take in one is left out."""
    text = "".join(c for c in name[:_MAX_NAME] if c.isascii() and c.isprintable())
    return f"<celadon {text} #{next(_numbers)}>"


def _with_texts(code: CodeType, texts: Mapping[str, str]) -> CodeType:
    """Return the same code with other texts in the places of minted literals."""
    constants: list[Value] = []
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            constants.append(_with_texts(constant, texts))
        else:
            constants.append(
                texts.get(constant, constant) if constant.__class__ is str else constant
            )
    return code.replace(co_consts=tuple(constants))


def _executed(
    file_name: str, generated: GeneratedModule, names: Mapping[str, Value]
) -> dict[str, Value]:
    """Return the global names of the module after its definitions ran."""
    namespace: dict[str, Value] = {
        "__builtins__": {},
        "__name__": file_name,
        **generated.constants,
        **names,
    }
    code = compile(generated.source, file_name, "exec", dont_inherit=True, optimize=1)
    exec(_with_texts(code, generated.texts), namespace)  # noqa: S102  # house rule 18: the one place; all names are minted
    return namespace
