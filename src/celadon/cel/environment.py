"""The environment: what expressions may name, and the compiler's phases in their order.

    compile = parse (macros expanded) → check → validate       text to a checked tree, or issues
    program = fold constants → generate → load                 checked tree to a `Program`

An environment is immutable and may be shared between threads. `extend` makes a variant with more
variables or object types cheaply; functions and macros are shared.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from celadon.cel import declarations
from celadon.cel.analysis.constant_folding import constant_identifiers, fold
from celadon.cel.analysis.estimator import Sizes, estimate
from celadon.cel.analysis.tree_context import Context, ResolvedCalls
from celadon.cel.checking import validators as ast_validators
from celadon.cel.checking.checker import check, without_check
from celadon.cel.checking.scope import Declarations, ObjectFamily
from celadon.cel.cost import Range
from celadon.cel.errors import CompileError, Issues, Source
from celadon.cel.library.standard import LIBRARY as STANDARD
from celadon.cel.parsing.macros import Macro
from celadon.cel.parsing.parser import ParseOptions, parse
from celadon.cel.program import Program
from celadon.cel.syntax import Ast, CheckedAst
from celadon.cel.types import Type
from celadon.cel.values import Value
from celadon.memoization import WeightedMemory


class Compilation(NamedTuple):
    """Holds the outcome of `compile`: a checked tree, or the issues that say why there is none."""

    ast: CheckedAst | None
    issues: Issues

    def checked(self) -> CheckedAst:
        """Return the tree; raises `CompileError` when there are issues."""
        if self.ast is None:
            raise CompileError(self.issues)
        return self.ast


class Environment:
    """Variables, functions, types and switches that expressions are compiled against.

    `variables` maps names to types. `libraries` come after the standard library, in load order.
    `family` knows types with fields that are too many to list, `types` those of protobuf (see
    `celadon.cel.protobuf`) or of anything else that describes types.
    Raises `DeclarationError` when declarations contradict each other.
    """

    __slots__ = (
        "_is_shared",
        "_resolved",
        "_trees",
        "declarations",
        "parse_options",
        "switches",
        "validators",
    )

    def __init__(
        self,
        variables: Mapping[str, Type] | None = None,
        *,
        libraries: Iterable[declarations.Library] = (),
        objects: Iterable[declarations.ObjectType] = (),
        enums: Mapping[str, int] | None = None,
        aliases: Mapping[str, str] | None = None,
        container: str = "",
        validators: Iterable[declarations.Validator] = (),
        standard: declarations.Library = STANDARD,
        switches: declarations.Switches = declarations.DEFAULT_SWITCHES,
        family: ObjectFamily | None = None,
        types: declarations.TypeProvider | None = None,
    ) -> None:
        loaded = (standard, *libraries, *((types.library,) if types is not None else ()))
        self.switches = switches
        self.declarations = Declarations.build(
            loaded,
            [declarations.Variable(name, t) for name, t in (variables or {}).items()],
            objects=objects,
            enums=enums,
            aliases=aliases,
            container=container,
            cross_type_numeric_comparisons=switches.cross_type_numeric_comparisons,
            keyword_fields=switches.keyword_fields,
            nullable_joins=switches.nullable_joins,
            older_names=switches.older_names,
            older_schemas=switches.older_schemas,
            family=_either(family, types),
            constants=None if types is None else types.find_constant,
        )
        macros: tuple[Macro, ...] = tuple(m for library in loaded for m in library.macros)
        self.parse_options = ParseOptions(
            macros=macros,
            optional_syntax=switches.optional_syntax,
            escape_syntax=switches.escaped_identifiers,
            older_texts=switches.older_texts,
            older_lines=switches.older_lines,
            oldest_texts=switches.oldest_texts,
            macro_calls=switches.track_macros,
        )
        self._trees = _trees_of(self.parse_options)
        self._is_shared = False
        self._resolved: ResolvedCalls = {}
        self.validators = (*validators, *(v for library in loaded for v in library.validators))

    def extend(
        self,
        variables: Mapping[str, Type] | None = None,
        objects: Iterable[declarations.ObjectType] | None = None,
    ) -> Environment:
        """Return this environment and more names; a schema declares `objects`, even if they are
        none."""
        other = object.__new__(Environment)
        other.switches = self.switches
        other.declarations = self.declarations.extend(
            [declarations.Variable(name, t) for name, t in (variables or {}).items()], objects
        )
        other.parse_options = self.parse_options
        other._trees = self._trees
        other._is_shared = False
        other._resolved = self._resolved
        other.validators = self.validators
        return other

    def shared(self) -> Environment:
        """Return this environment for policies that have no names of their own: what
        `compile_once_more` checks in it is remembered. It must not change any more."""
        other = self.extend()
        other._is_shared = True
        return other

    def compile(self, text: str, description: str = "<input>") -> Compilation:
        """Parse, check and validate. Never raises for bad text; `issues` says what is wrong."""
        ast, issues = self.parse(text, description)
        if ast is None or issues:
            return Compilation(None, issues)
        return self.check(ast)

    def compile_once_more(self, text: str) -> Compilation:
        """Compile a text that is compiled more than once: when a policy is written, when its types
        are checked, when it is in force. Its tree is remembered for all environments, and what
        became of it here if this one is shared."""
        checked = _CHECKED.get((self, text)) if self._is_shared else None
        if checked is not None:
            return Compilation(checked, Issues(checked.ast.source))
        ast = self._trees.get(text)
        if ast is None:
            ast, issues = self.parse(text)
            if ast is None or issues:
                return Compilation(None, issues)
            self._trees.keep(text, ast, len(text) + _NODE_BYTES * len(ast.positions))
        compilation = self.check(ast)
        if self._is_shared and compilation.ast is not None:
            weight = len(text) + _CHECKED_NODE_BYTES * len(ast.positions)
            _CHECKED.keep((self, text), compilation.ast, weight)
        return compilation

    def check(self, ast: Ast) -> Compilation:
        """Check and validate a tree that `parse` gave, which stays as it is."""
        checked, issues = check(ast, self.declarations)
        if checked is None or issues:
            return Compilation(None, issues)
        if self.validators:
            issues = ast_validators.run(checked, self.validators)
            if issues:
                return Compilation(None, issues)
        return Compilation(checked, issues)

    def parse(self, text: str, description: str = "<input>") -> tuple[Ast | None, Issues]:
        """Return the tree with macros expanded, or the issues; nothing is checked."""
        source = Source(
            text,
            description,
            older_lines=self.switches.older_lines,
            oldest_texts=self.switches.oldest_texts,
        )
        return parse(source, self.parse_options)

    def unchecked(self, ast: Ast) -> CheckedAst:
        """Return a parsed tree ready for `program` without a check: everything is dyn."""
        return without_check(ast, self.declarations)

    def program(self, checked: CheckedAst, name: str = "expression") -> Program:
        """Generate and load. Raises `ProgramError` when constant folding fails. `name` appears in
        tracebacks."""
        return Program(self._planned(checked), name)

    def refuse_unrunnable(self, checked: CheckedAst) -> None:
        """Check that a tree can run, without making a program. Raises `ProgramError` as `program`
        does."""
        self._planned(checked)

    def _planned(self, checked: CheckedAst) -> Context:
        constants = constant_identifiers(checked, self.declarations)
        functions = self.declarations.functions
        folded: dict[int, Value] = {}
        if self.switches.fold_constants:
            folded = fold(
                checked, functions, constants, strict_map_keys=self.switches.strict_map_keys
            )
        return Context(
            checked,
            folded,
            functions,
            constants,
            self.switches,
            self.declarations.find_object,
            self._resolved,
            self.declarations.has_schema,
        )

    def estimate(self, checked: CheckedAst, sizes: Sizes | None = None) -> Range:
        """Return what an evaluation can cost at least and at most, before anything is folded.
        `sizes` tells the sizes of variables and their fields; unknown without it."""
        return estimate(checked, self.declarations.functions, sizes, self.switches)

    def with_switches(self, **changes: bool) -> Environment:
        """Return this environment with some evaluation switches changed (not those of the
        parser)."""
        other = self.extend()
        other.switches = self.switches._replace(**changes)
        return other


# --- What is compiled more than once -----------------------------------------
#
# A policy is validated when it is written, its types are checked, it is compiled when it is in
# force, and all that again in the next engine of the process. Many are validated before the first
# is in force: there is room for ten thousand expressions.

_MIB: Final = 1024 * 1024
_TREES_BYTES: Final = 32 * _MIB
_NODE_BYTES: Final = 150
"""What a node of a parsed tree takes, with its position."""
_CHECKED_NODE_BYTES: Final = 240
"""The same with its type and reference."""
_CHECKED: Final = WeightedMemory[tuple[Environment, str], CheckedAst](64 * _MIB)
"""By the shared environment and the text."""


@lru_cache(maxsize=8)
def _trees_of(options: ParseOptions) -> WeightedMemory[str, Ast]:
    """Return the trees that were parsed with these options, by their texts, in whichever
    environment."""
    return WeightedMemory(_TREES_BYTES)


def _either(
    family: ObjectFamily | None, types: declarations.TypeProvider | None
) -> ObjectFamily | None:
    """Return what finds the types of both."""
    if types is None:
        return family
    find_object = types.find_object
    return find_object if family is None else lambda name: find_object(name) or family(name)
