"""Declarations, the contents of an environment: variables, functions, overloads, macros,
validators, libraries.

Rule 5 of the house: one overload, one record. `Overload` carries all that any part of the compiler
knows about a function: signature, implementation, cost (charged, estimated, bounded), the growth of
its result, how a call may be written inline, a line of documentation, and examples that are run as
tests. Which release of Kubernetes has it is said where libraries are put together.

How a call is run (as cel-go's planner does it):

* A function with `singleton` (the operators, `size`, `matches`, ...) always runs that one
  implementation, whatever the overload; it must check its arguments itself.
* Otherwise, if the checker left exactly one candidate overload, that overload's `impl` runs,
  guarded by the run-time types of its arguments (cel-go: kinds and names; of a non-empty list only
  the first element, of a non-empty map only the first entry). The guard is applied by the caller,
  so an `impl` may rely on its parameter types at that depth.
* Otherwise all overloads of the function are tried in order by guard.
* No match: `no such overload: name(type, type)`.

An `impl` takes the evaluated arguments, receiver first, as native values (see
`celadon.cel.values`) and returns one, or raises `EvaluationError` with cel-go's exact text.
"""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from celadon.cel import size_growth
from celadon.cel.errors import Issue, IssueKind
from celadon.cel.size_growth import Growth
from celadon.cel.syntax import CheckedAst, Expr, children
from celadon.cel.types import Kind, Type
from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.cel.cost import CostRule, Lazily
    from celadon.cel.parsing.macros import Macro


# --- Validators --------------------------------------------------------------
#
# What a validator is: a named check of trees that the type checker accepted.
#
# The environment has some of its own (`checking.validators`, which also runs them), libraries
# bring others (cel-go `cel/validator.go`).

_Node = TypeVar("_Node", bound="Expr")


@dataclass(slots=True, eq=False)
class ValidationContext:
    """Holds what a validator sees.

    `exempt_functions` is the union of what all validators of the run exempt: literals anywhere
    below a call of such a function may be heterogeneous.
    """

    checked: CheckedAst
    exempt_functions: frozenset[str]
    reported: list[Issue] = field(default_factory=list)
    _classes: dict[type, list[Any]] = field(default_factory=dict)
    _parents: dict[int, Expr] | None = None

    def of_class(self, kind: type[_Node]) -> Sequence[_Node]:
        """Return the nodes of one kind, children before parents: most validators look at few kinds,
        and most trees have none of them."""
        classes = self._classes
        if not classes:
            for node in self.checked.nodes:
                classes.setdefault(node.__class__, []).append(node)
        return classes.get(kind, ())

    def report(
        self,
        node_id: int,
        message: str,
        kind: IssueKind = IssueKind.OTHER,
        types: tuple[Type, ...] = (),
    ) -> None:
        """Add an issue located at that node; `types` are those that `kind` is about."""
        offset = self.checked.ast.positions.get(node_id)
        self.reported.append(Issue(message, offset, node_id, kind, types))

    def ancestors(self, node: Expr) -> Iterator[Expr]:
        """Yield the nodes above, nearest first."""
        if self._parents is None:
            self._parents = {
                child.id: above for above in self.checked.nodes for child in children(above)
            }
        parent = self._parents.get(node.id)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent.id)


class Validator(NamedTuple):
    """Checks checked trees. `exempt_functions` are names of functions below which literals may be
    heterogeneous."""

    name: str
    check: Callable[[ValidationContext], None]
    exempt_functions: frozenset[str] = frozenset()


Impl = Callable[..., Any]
"""Values in, a value out; raises EvaluationError. The receiver of a method comes first."""


class Inline(NamedTuple):
    """Says how calls may be written in Python source; `celadon.cel.codegen.inline_functions` and
    `inline_operators` have them all.

    `plain(writer, node)` writes the call in the plain variant. In the metered one,
    `metered(writer, node, atoms)` writes what is done with the evaluated operands, and
    `whole(context, node)` gives what writes a call that does not evaluate them all. Each may
    decline by returning None.
    """

    plain: Callable[..., str | None] | None = None
    metered: Callable[..., Any] | None = None
    whole: Callable[..., Callable[..., str] | None] | None = None


class Contents(enum.Enum):
    """Says which part of its arguments a result is, so that what is known of the part is known of
    it."""

    ITEM = "an item of the first"
    VALUE = "a value of the first"
    JOINED = "the items of all"
    CHOSEN = "those of the second or third"


class Overload(NamedTuple):
    """Records one signature of a function. `params` has the receiver first when `member`.

    `cost` None means the function's, or else cel-go's default of 1. `growth` bounds the size of
    the result; None means that nothing is known but its type (see `result_growth`). `inline` is how
    code generation may write calls; None means that the implementation is called. `examples` are
    pairs of CEL source and the source of its expected value (`('"abc".charAt(1)', '"b"')`).

    Without `guarded` the implementation checks its arguments itself. `variadic` is how cel-go calls
    it, though it has two parameters: the second is not evaluated once the first has failed.

    Two facts are for estimates alone: `contents` of the result, and `lazily`, the estimate of a
    call that may leave out some of its operands, these included; otherwise all are evaluated.
    """

    id: str
    params: tuple[Type, ...]
    result: Type
    impl: Impl | None = None
    member: bool = False
    cost: CostRule | None = None
    doc: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    growth: Growth | None = None
    inline: Inline | None = None
    contents: Contents | None = None
    lazily: Lazily | None = None
    guarded: bool = True
    variadic: bool = False

    @classmethod
    def method(
        cls,
        id: str,
        params: tuple[Type, ...],
        result: Type,
        impl: Impl | None,
        doc: str,
        *examples: tuple[str, str],
        cost: CostRule | None = None,
        growth: Growth | None = None,
        inline: Inline | None = None,
    ) -> Overload:
        """Return an overload that is called on its first parameter."""
        return cls(
            id,
            params,
            result,
            impl,
            member=True,
            cost=cost,
            doc=doc,
            examples=examples,
            growth=growth,
            inline=inline,
        )

    @property
    def result_growth(self) -> Growth:
        """Return the bound of the result's size, unbounded if unknown."""
        if self.growth is not None:
            return self.growth
        return size_growth.single if self.result.kind in _SINGLE else size_growth.fixed(math.inf)


#: Kinds whose values all count for one.
_SINGLE = frozenset(
    {
        Kind.BOOL,
        Kind.DOUBLE,
        Kind.DURATION,
        Kind.INT,
        Kind.NULL,
        Kind.TIMESTAMP,
        Kind.TYPE,
        Kind.UINT,
    }
)


class Function(NamedTuple):
    """Holds all overloads of one name, in declaration order.

    `pattern` is the index (receiver first) of the argument that is a regular expression: constant
    patterns are compiled when the program is built, and a bad one fails it. `cost` is charged
    whatever the overload (Kubernetes charges by function name), unless the call's only overload has
    a cost of its own. `unpaid` runs where a loop may repeat calls that are hardly charged: it takes
    the `UnpaidWork` of the evaluation and what would run otherwise, and then the arguments.
    """

    name: str
    overloads: tuple[Overload, ...]
    singleton: Impl | None = None
    pattern: int | None = None
    cost: CostRule | None = None
    unpaid: Callable[..., Any] | None = None

    @classmethod
    def single(
        cls,
        name: str,
        id: str,
        params: tuple[Type, ...],
        result: Type,
        impl: Impl,
        doc: str,
        *examples: tuple[str, str],
        member: bool = False,
        cost: CostRule | None = None,
        growth: Growth | None = None,
        inline: Inline | None = None,
    ) -> Function:
        """Return a function of one overload."""
        overload = Overload(id, params, result, impl, member, cost, doc, examples, growth, inline)
        return cls(name, (overload,))

    def with_each(self, **changes: Any) -> Function:
        """Return this function, with all its overloads changed alike."""
        return self._replace(overloads=tuple(o._replace(**changes) for o in self.overloads))


class Variable(NamedTuple):
    """Declares a variable that expressions may name; `doc` is for people."""

    name: str
    type: Type
    doc: str = ""


class ObjectType(NamedTuple):
    """Declares a type with fields that the checker knows by name; values are plain maps at run
    time, unless `construct` makes something else of a literal's fields: of a size that nobody
    knows, or (`keeps_size`) the same with another name."""

    name: str
    fields: Mapping[str, Type]
    construct: Impl | None = None
    keeps_size: bool = False


class Constant(NamedTuple):
    """A value that has a name, such as a value of an enum."""

    value: object
    type: Type


class TypeProvider(Protocol):
    """Types that are described elsewhere, such as those of protobuf descriptors, and found by
    their full name when an expression names them. `library` is what else comes with them."""

    @property
    def library(self) -> Library: ...
    def find_object(self, name: str) -> ObjectType | None: ...
    def find_constant(self, name: str) -> Constant | None: ...


class Library(NamedTuple):
    """Holds a named set of declarations. `LIBRARY` (or a function `library(version)`) in each
    module.

    `types` are abstract type names usable as identifiers (`net.IP`); `objects` types with fields.
    """

    name: str
    functions: tuple[Function, ...] = ()
    variables: tuple[Variable, ...] = ()
    types: tuple[Type, ...] = ()
    objects: tuple[ObjectType, ...] = ()
    macros: tuple[Macro, ...] = ()
    validators: tuple[Validator, ...] = ()


# --- What an environment allows ----------------------------------------------


class Switches(NamedTuple):
    """Holds the switches of the language. The defaults are cel-go's own; Kubernetes sets several of
    them (see `kube.versions`).

    `optional_syntax` is `.?`, `[?]`, `{?k: v}`; `escaped_identifiers` is `` a.`b-c` ``;
    `track_macros` keeps macro calls, for the unparser; `fold_constants` computes constant
    conversions when the program is built and makes them free; `presence_test_has_cost` charges
    `has()` 1 of its own; `keyword_fields` lets `x.namespace` find a field declared `__namespace__`.

    `older_names` resolves names as cel-go did before 0.27: a dotted name means the global of that
    name though its first part is a loop's variable, a leading dot does not reach past a loop's
    variable, and messages show `list` and `map` as types of lists and maps of anything
    (`type(list(A))`). `older_sizes` estimates costs as before 0.23, when nothing was known of the
    sizes of what an expression makes itself and everything in a loop had the size of its range;
    `older_texts` reads texts as before 0.23, when a backtick began no token, a surrogate was a
    character and a loop's variable could be `__result__`; `older_lines` shows what begins a line at
    the end of the one before, as before 0.22, and `oldest_texts` not so what the parser finds, and
    calls types of optional values `optional`, as before 0.18; `older_optionals` gives what `optMap`
    and `optFlatMap` look at twice one type, as before 0.22. With `older_schemas` the names of
    types that a schema declares are values of these types to the checker, as in Kubernetes before
    1.32.

    The last three bring cel-go closer to the specification. `bad_presence_test_is_error` (cel-go's
    `EnableErrorOnBadPresenceTest`) fails `has(x.f)` and `x.?f` where x has no fields at all;
    `strict_map_keys` refuses map literals with a key that is no string, bool, int or uint, or that
    occurs twice; `nullable_joins` makes `[duration('1s'), null]` a list of durations, and a list of
    ints and wrapped ints a list of wrapped ints.
    """

    optional_syntax: bool = False
    escaped_identifiers: bool = False
    track_macros: bool = False
    fold_constants: bool = True
    cross_type_numeric_comparisons: bool = False
    presence_test_has_cost: bool = True
    keyword_fields: bool = False
    older_names: bool = False
    older_sizes: bool = False
    older_texts: bool = False
    older_lines: bool = False
    oldest_texts: bool = False
    older_optionals: bool = False
    older_schemas: bool = False
    bad_presence_test_is_error: bool = False
    strict_map_keys: bool = False
    nullable_joins: bool = False


DEFAULT_SWITCHES = Switches()
