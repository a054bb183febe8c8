"""Programs: generated source loaded, and run.

The only module that calls `compile` and `exec`. The code runs without builtins, with exactly the
names the emitter recorded. A program is immutable and may be used by any number of threads.

`evaluate` is the plain function itself; when it meets anything unusual it hands over to the
metered one, which decides the value or the error (see `codegen`).
"""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Callable, Mapping
from typing import Any

from celadon.cel.bound import CostBound
from celadon.cel.codegen.context import Context
from celadon.cel.codegen.metered import Metered
from celadon.cel.codegen.plain import Plain, Unsupported
from celadon.cel.codegen.prefixes import shared_prefixes
from celadon.cel.emitter import Emitter
from celadon.cel.errors import CostLimitExceeded, EvaluationError
from celadon.cel.types import Type

#: "No limit", as a number that no cost reaches.
UNLIMITED = (1 << 64) - 1

Activation = Mapping[str, Any]


class Program:
    """One expression, ready to run.

    `evaluate(activation)` returns the value or raises `EvaluationError`; nothing is charged.
    `source` is the generated Python of the plain variant, `metered_source` of the other.
    """

    __slots__ = (
        "__weakref__",
        "_bound",
        "_metered",
        "evaluate",
        "metered_source",
        "source",
        "type",
    )

    evaluate: Callable[[Activation], Any]

    def __init__(self, context: Context, name: str = "expression") -> None:
        self.type: Type = context.checked.type
        self._bound: Context | CostBound = context
        metered = _load(_metered_source(context), f"<celadon {name} metered>")
        self._metered: Callable[[Activation, int], tuple[Any, int]] = metered.functions["metered"]
        self.metered_source = metered.source
        exact = _exact(self._metered)
        plain = _plain_source(context)
        if plain is None:
            self.source, self.evaluate = self.metered_source, exact
        else:
            loaded = _load(plain, f"<celadon {name}>", exact=exact)
            self.source, self.evaluate = loaded.source, loaded.functions["plain"]

    def evaluate_metered(self, activation: Activation, limit: int = UNLIMITED) -> tuple[Any, int]:
        """The value and what cel-go charges for it. Raises `EvaluationError` with its `cost`;
        `CostLimitExceeded` when the cost goes over the limit."""
        value, cost = self._metered(activation, limit)
        if isinstance(value, EvaluationError):
            error = EvaluationError(value.message)
            error.cost = cost
            raise error
        return value, cost

    @property
    def bound(self) -> CostBound:
        """What an evaluation can cost at most; computed when first asked for."""
        if isinstance(self._bound, Context):
            self._bound = CostBound(self._bound)
        return self._bound

    def cost_bound(self, size: int) -> float:
        """No evaluation can cost more than this, if the JSON text of all inputs together is at
        most `size` bytes long."""
        return self.bound.cost(size)

    def size_bound(self, size: int) -> float:
        """No value can be larger than this (counted like JSON text), for such inputs."""
        return self.bound.size(size)


def _exact(metered: Callable[[Activation, int], tuple[Any, int]]) -> Callable[[Activation], Any]:
    """The metered variant as an `evaluate`."""

    def exact(activation: Activation) -> Any:
        value, _ = metered(activation, UNLIMITED)
        if isinstance(value, EvaluationError):
            raise (
                CostLimitExceeded()
                if value.__class__ is CostLimitExceeded
                else EvaluationError(value.message)
            )
        return value

    return exact


class _Loaded:
    """A generated module: its text and functions. Its text serves tracebacks while it lives."""

    __slots__ = ("functions", "source")

    def __init__(self, source: str, functions: dict[str, Any]) -> None:
        self.source = source
        self.functions = functions


def _metered_source(context: Context) -> tuple[str, dict[str, Any]]:
    emitter = Emitter()
    Metered(context, emitter).write("metered")
    return emitter.finish()[0], emitter.constants


def _plain_source(context: Context) -> tuple[str, dict[str, Any]] | None:
    emitter = Emitter()
    try:
        Plain(context, emitter, shared_prefixes(context.checked.root)).write("plain")
    except Unsupported:
        return None
    return emitter.finish()[0], emitter.constants


def _load(generated: tuple[str, dict[str, Any]], filename: str, **names: Any) -> _Loaded:
    source, constants = generated
    namespace: dict[str, Any] = {"__builtins__": {}, **constants, **names}
    code = compile(source, filename, "exec", dont_inherit=True, optimize=1)
    exec(code, namespace)  # noqa: S102  # house rule 18: the one place; all names are minted
    return _Loaded(source, namespace)


def register_source(program: Program, filename: str) -> None:
    """Let tracebacks and debuggers show the program's Python until the program is collected."""
    text = program.source
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    weakref.finalize(program, linecache.cache.pop, filename, None)
