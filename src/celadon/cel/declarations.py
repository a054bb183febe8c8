"""What an environment knows: variables, functions, overloads, macros, libraries.

Rule 5 of the house: one overload, one record. `Overload` carries signature, implementation, both
costs, a line of documentation, examples that are run as tests, and the version that brought it.

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

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from celadon.cel.types import Type

if TYPE_CHECKING:
    from celadon.cel.checking.validators import Validator
    from celadon.cel.cost_rules import CostRule
    from celadon.cel.parsing.expansion import Macro

Impl = Callable[..., Any]


class Overload(NamedTuple):
    """One signature of a function. `params` has the receiver first when `member`.

    `cost` None means cel-go's default of 1. `examples` are pairs of CEL source and the source of
    its expected value (`('"abc".charAt(1)', '"b"')`). `since` is the library version, if any.
    """

    id: str
    params: tuple[Type, ...]
    result: Type
    impl: Impl | None = None
    member: bool = False
    cost: CostRule | None = None
    doc: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    since: int = 0


class Function(NamedTuple):
    """All overloads of one name, in declaration order.

    `pattern` is the index (receiver first) of the argument that is a regular expression: constant
    patterns are compiled when the program is built, and a bad one fails it.
    """

    name: str
    overloads: tuple[Overload, ...]
    singleton: Impl | None = None
    pattern: int | None = None


class Variable(NamedTuple):
    name: str
    type: Type
    doc: str = ""


class ObjectType(NamedTuple):
    """A type with fields that the checker knows by name; values are plain maps at run time, unless
    `construct` makes something else of a literal's fields."""

    name: str
    fields: Mapping[str, Type]
    construct: Impl | None = None


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
    """A named set of declarations. `LIBRARY` (or a function `library(version)`) in each module.

    `types` are abstract type names usable as identifiers (`net.IP`); `objects` types with fields.
    `costs` overrides the run-time and estimated cost by *function name*, whatever the receiver and
    overload (Kubernetes' cost table works that way); it wins over `Overload.cost`. A key may also
    be an overload id, which wins over the name where the checker settled on that overload.
    """

    name: str
    functions: tuple[Function, ...] = ()
    variables: tuple[Variable, ...] = ()
    types: tuple[Type, ...] = ()
    objects: tuple[ObjectType, ...] = ()
    macros: tuple[Macro, ...] = ()
    validators: tuple[Validator, ...] = ()
    costs: Mapping[str, CostRule] = MappingProxyType({})
