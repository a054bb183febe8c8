"""The line writer: indentation, minted names, constants, and which line belongs to which node.

Rules of the file: every name in the generated text is minted here from a counter; whatever comes
from the user (strings, regexes, implementations) is kept apart and reached through a minted global
name or, for texts, a minted literal (`'@3'`), so that no text of the user's becomes Python source.
Only numbers, booleans and None are written as they are, and only when their exact type allows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, Protocol

from celadon.cel.analysis.tree_context import Context, Step
from celadon.cel.declarations import Impl
from celadon.cel.runtime import EXPORTS
from celadon.cel.syntax import Call, Comprehension, Expr, Ident
from celadon.cel.values.container_access import UNPAID_WORK

#: CPython's parser refuses 100 levels of indentation and its compiler 20 nested loops; the
#: generators start a new function before either is near.
MAX_INDENT = 60
MAX_LOOPS = 12

_INDENT = "    "
_SMALL = 1 << 64
#: Classes whose objects CPython shares, so that identity says nothing.
_SCALARS = frozenset({type(None), bool, int, float, bytes})


class GeneratedModule(NamedTuple):
    """The text of a module, per line the id of the node it was written for, and what its names
    stand for: the values of the global ones, and in words the fixed ones of its main function.
    `texts` are those that take the places of the literals in the compiled code."""

    source: str
    nodes: tuple[int, ...]
    constants: dict[str, Any]
    texts: dict[str, str]
    parameters: Mapping[str, str]


class Emitter:
    """Writes one module of generated functions."""

    def __init__(self) -> None:
        self.constants: dict[str, Any] = {}
        self.lines: list[str] = []
        self.nodes: list[int] = []
        self.indent = 1
        self.loops = 0
        self.unpaid_work = ""
        self._node = 0
        self._counter = 0
        self._by_identity: dict[int, str] = {}
        self._strings: dict[str, str] = {}
        self._literals: dict[str, str] = {}
        self._texts: dict[str, str] = {}
        self._finished: list[tuple[list[str], list[int]]] = []

    def emit(self, line: str, node: int = 0) -> None:
        """Append one line at the current depth, on behalf of a node id (0: the block's)."""
        self.lines.append(_INDENT * self.indent + line)
        self.nodes.append(node or self._node)

    def name(self, prefix: str = "t") -> str:
        """Return a name that nothing in the module has: the prefix and a number."""
        self._counter += 1
        return f"{prefix}{self._counter}"

    def begin_unpaid_work(self, context: Context) -> dict[str, str]:
        """Where work may be repeated that is hardly charged, begin what remembers it: a name that
        all functions of the module get, as if it were one of the expression's own. A few calls look
        for what several expressions share when they need it, which short texts do not."""
        if not context.counts_unpaid_work():
            return {}
        shared, own = self.named(UNPAID_WORK), f"{self.runtime('UnpaidWork')}()"
        self.unpaid_work = f"a.get({shared}) or {own}"
        if not context.repeats_unpaid_work():
            return {}
        self.unpaid_work = self.assign(self.unpaid_work)
        return {"@unpaidWork": self.unpaid_work}

    def callee(self, context: Context, node: Call, impl: Impl | None) -> list[str]:
        """Return the sources of what is called where `impl` would run, and of what it is given
        before the arguments."""
        function = context.function(node)
        if not self.unpaid_work or function is None or not context.is_unpaid(node):
            return [self.bind(impl, "f")]
        return [self.bind(function.unpaid, "f"), self.unpaid_work, self.bind(impl, "f")]

    def call(self, context: Context, node: Call, impl: Impl | None, args: Iterable[str]) -> str:
        """Return the source of such a call."""
        function, *given = self.callee(context, node, impl)
        return f"{function}({', '.join([*given, *args])})"

    def inserting(self, key: Expr | None) -> list[str]:
        """Return the sources of what inserts an entry with that key into a map that a loop makes,
        or all entries of another map, and of what it is given before the arguments."""
        if key is not None:
            return [self.runtime("insert_entry")]
        return [
            self.runtime("insert_entries"),
            self.unpaid_work or f"{self.runtime('UnpaidWork')}()",
        ]

    def assign(self, code: str, node: int = 0) -> str:
        """Store the value of `code` in a new temporary and return its name."""
        name = self.name()
        self.emit(f"{name} = {code}", node)
        return name

    @contextmanager
    def block(self, header: str, node: int = 0) -> Iterator[None]:
        """Begin a compound statement; write `pass` when nothing was emitted inside."""
        self.emit(header, node)
        before = len(self.lines)
        outer = self.indent, self._node
        self.indent, self._node = self.indent + 1, node or self._node
        yield
        if len(self.lines) == before:
            self.emit("pass")
        self.indent, self._node = outer

    @contextmanager
    def loop(self, header: str, node: int = 0) -> Iterator[None]:
        """Begin a `for` block; what is inside counts as one loop deeper (see `is_deep`)."""
        self.loops += 1
        with self.block(header, node):
            yield
        self.loops -= 1

    def is_deep(self) -> bool:
        """Return whether the next nested construct is to go into a function of its own."""
        return self.indent > MAX_INDENT or self.loops > MAX_LOOPS

    @contextmanager
    def capture(self, *, levels: int = 1) -> Iterator[tuple[list[str], list[int]]]:
        """Collect what is emitted that many levels deeper, to be placed later with `splice` or
        dropped if nothing was: how the generators learn whether a branch needs statements."""
        saved = (self.lines, self.nodes, self.indent)
        captured: tuple[list[str], list[int]] = ([], [])
        self.lines, self.nodes, self.indent = *captured, self.indent + levels
        yield captured
        self.lines, self.nodes, self.indent = saved

    def splice(self, captured: tuple[list[str], list[int]]) -> None:
        """Place captured lines here, at the level they were captured for."""
        self.lines += captured[0]
        self.nodes += captured[1]

    @contextmanager
    def function(self, header: str, node: int) -> Iterator[None]:
        """Begin a new module-level function for a node, written while another one is being
        written."""
        saved = (self.lines, self.nodes, self.indent, self.loops, self._node)
        self.lines, self.nodes, self.indent, self.loops, self._node = [header], [node], 1, 0, node
        yield
        self._finished.append((self.lines, self.nodes))
        self.lines, self.nodes, self.indent, self.loops, self._node = saved

    def constant(self, value: Any) -> str:
        """Return the source of a constant: a literal for plain numbers, else a minted global."""
        kind = value.__class__
        if value is None or kind is bool:
            return repr(value)
        if kind is int and -_SMALL < value < _SMALL:
            return repr(value) if value >= 0 else f"({value!r})"
        return self.named(value)

    def key(self, value: Any) -> str:
        """Return the source of a constant that keys or compares: of a text, a minted literal whose
        place it takes once the module is compiled, which is faster than a global name. Not for
        operands that Python's compiler may compute with: beside it must stand no constant."""
        if value.__class__ is not str:
            return self.constant(value)
        if value not in self._literals:
            literal = self.name("@")
            self._literals[value] = repr(literal)
            self._texts[literal] = value
        return self._literals[value]

    def named(self, value: object) -> str:
        """Return a global name for a constant, also where a literal would do: Python warns about `5
        is True`, and `5.__class__` is no expression."""
        if value.__class__ is str:
            if value not in self._strings:
                self._strings[value] = self._global("k", value)
            return self._strings[value]
        return self._global("k", value) if value.__class__ in _SCALARS else self.bind(value, "k")

    def bind(self, value: object, prefix: str) -> str:
        """Return a global name for an object, the same for the same object."""
        name = self._by_identity.get(id(value))
        if name is None:
            name = self._by_identity[id(value)] = self._global(prefix, value)
        return name

    def runtime(self, name: str) -> str:
        """Use a function of `runtime.EXPORTS` under its own name."""
        self.constants[name] = EXPORTS[name]
        return name

    def _global(self, prefix: str, value: object) -> str:
        name = self.name(prefix)
        self.constants[name] = value
        return name

    def finish(self, parameters: Mapping[str, str]) -> GeneratedModule:
        """Return everything written, once the last function is complete."""
        text: list[str] = []
        nodes: list[int] = []
        for lines, ids in self._finished:
            text += lines
            nodes += ids
        source = "\n".join(text) + "\n"
        return GeneratedModule(source, tuple(nodes), self.constants, self._texts, parameters)


# --- Writer protocols --------------------------------------------------------
#
# What the modules of a variant ask of the writer that walks the tree.
#
# `plain` and `metered` walk the tree and hand calls and loops to modules of their own, whose
# operands the walk writes again: the ring that this makes at run time is cut here for the
# imports.


class Writer(Protocol):
    """Either variant. All sources are of Python, all nodes of the tree being written."""

    @property
    def context(self) -> Context:
        """Return what is known about the tree being written."""

    @property
    def emitter(self) -> Emitter:
        """Return where the lines go."""


class PlainWriter(Writer, Protocol):
    """The walk of the plain variant (`plain.Plain`)."""

    def value(self, node: Expr) -> str:
        """Return the source of the node's value, to be used exactly once."""

    def atom(self, node: Expr) -> str:
        """Return a name or literal for the node's value, safe to write more than once."""

    def boolean(self, node: Expr) -> str:
        """Return the source of the node's value as a Python bool; raises when run if it is none."""

    def maybe(self, node: Expr) -> tuple[str, str] | None:
        """Return an optional as a condition that holds when it is present and the source of the
        value then, without building it; None if this node has no such form."""

    def scope(self, names: Mapping[str, str]) -> AbstractContextManager[None]:
        """Variables visible inside: CEL name to Python name."""


class MeteredWriter(Writer, Protocol):
    """The walk of the metered variant (`metered.Metered`)."""

    def value(self, node: Expr, *, branch: bool = False) -> str:
        """Write the node's evaluation; a name or literal for its value, or its error. `branch`
        marks the chosen branch of a conditional, which is not charged again."""

    def base(self, base: Expr) -> str:
        """Return the value that a chain starts from, nothing charged for an identifier."""

    def steps(self, base: str, steps: tuple[Step, ...]) -> str:
        """Apply qualifiers to a value."""

    def is_bound(self, node: Ident) -> bool:
        """Return whether it is a name of the expression's own rather than an input."""

    def outlined(self, node: Expr, write: Callable[[Expr], str] | None = None) -> str:
        """Return the node computed by a function of its own. `write` writes it, if not as a
        value."""

    def reached(self, node: Expr, atom: str) -> None:
        """Note that the atom holds the value of a node that is evaluated as part of a larger
        one."""

    def lazy(self, node: Expr) -> str:
        """Return a local that computes the node at its first use."""

    def charge(self, units: int = 1) -> None:
        """Add single steps to what the next `flush` writes out."""

    def flush(self) -> None:
        """Write out the steps charged so far."""

    def add(self, amount: str, node: int = 0) -> None:
        """Charge a computed amount, and check the limit."""

    def is_error(self, atom: str) -> str:
        """Return the source of the test whether the atom holds an error."""

    def never_fails(self, node: Expr) -> bool:
        """Is the node sure to be a value, no error?"""

    def sequence(self, parts: Sequence[Expr], *, check_last: bool = True) -> tuple[list[str], str]:
        """Evaluate in order up to the first error: the atoms, and the local that holds that error
        or None (empty if no part can fail). Without `check_last` the last part's error is left to
        whoever uses the atoms."""

    def unless(self, failed: str, result: str, node: int) -> AbstractContextManager[None]:
        """Begin a body that assigns `result` from the atoms of a `sequence`, unless that failed."""

    def branch(self, header: str, node: int = 0) -> AbstractContextManager[None]:
        """Return a block that may not run; pending charges stay on their own side."""

    def resolved(self, node: Expr, atom: str) -> str:
        """Return the node's value as it comes out of an attribute."""

    def terms(self, node: Call) -> list[Expr]:
        """Return what a run of logical operators is evaluated as."""

    def loop(self, header: str, node: Comprehension) -> AbstractContextManager[None]:
        """Return the loop of a comprehension, and what is inside."""

    def round(self, node: Comprehension, names: Mapping[str, str]) -> None:
        """Begin a round of a loop, with its variables."""

    def scope(
        self, names: Mapping[str, str], lazy: str | None = None
    ) -> AbstractContextManager[None]:
        """Names visible inside; `lazy` is the one that is bound to a `Lazy`."""


class CountedWriter(MeteredWriter, Protocol):
    """The walk of the counted variant (`counted.Counted`), which has no errors."""

    @property
    def atoms(self) -> Mapping[int, str]:
        """Names for the values of nodes that were written, by id."""

    def boolean(self, node: Expr) -> str:
        """Return a name for the node's value, which is a bool; anything else gives up."""

    def found(self, base: Expr, steps: tuple[Step, ...]) -> str:
        """Return a name for what an optional chain finds, or for MISSING."""
