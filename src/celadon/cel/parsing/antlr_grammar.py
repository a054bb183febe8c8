"""CEL's grammar as data (cel-go `parser/gen/CEL.g4`).

The shape matters, not only the language: which alternatives a rule has, and in which order, decides
what a message says. Labels name the parts that `diagnosis` asks for; one that ends in `+`
collects several. The rules `relation`, `calc` and `member` call themselves on the left. They are
given as their operands followed by a loop of suffixes, each with the precedence that it needs.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Iterable, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from celadon.cel.parsing import tokens
from celadon.cel.parsing.lexer import PRODUCT, RELATION, SUM, signs
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """One token of any of these kinds."""

    kinds: tuple[str, ...]
    label: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """An invocation of a rule; `precedence` matters to rules with suffixes only."""

    name: str
    label: str = ""
    precedence: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """Holds a block of a rule of the grammar. Alternatives; `repeat` is `?`, `*`, `+`, or empty for
    exactly once."""

    alternatives: tuple[Alternative, ...]
    repeat: str = ""


Element: TypeAlias = Token | Rule | Block


@dataclass(frozen=True, slots=True)
class Alternative:
    """Holds an alternative of a rule. `name` is that of the node in the parse tree; `precedence` is
    for suffixes."""

    elements: tuple[Element, ...]
    name: str = ""
    precedence: int = 0


@dataclass(frozen=True, slots=True)
class Definition:
    """A rule: alternatives, and (for rules that begin with themselves) suffixes."""

    alternatives: tuple[Alternative, ...]
    suffixes: tuple[Alternative, ...] = ()


def _token(kind: str, label: str = "") -> Token:
    return Token((kind,), label)


def _repeat(repeat: str, *elements: Element) -> Block:
    return Block((Alternative(elements),), repeat)


def _optional(*elements: Element) -> Block:
    return _repeat("?", *elements)


def _plain(*elements: Element) -> Definition:
    return Definition((Alternative(elements),))


_QUESTION = _optional(_token("?", "opt"))
_TRAILING_COMMA = _optional(_token(","))
_LEADING_DOT = _optional(_token(".", "leading_dot"))
_ARGUMENTS = _optional(Rule("exprList", "args"))
_IDENTIFIER = _token(tokens.IDENTIFIER, "id")

_SIGN = _optional(_token("-", "sign"))
_LITERAL_NAMES = {
    tokens.INT: "Int",
    tokens.UINT: "Uint",
    tokens.FLOAT: "Double",
    tokens.STRING: "String",
    tokens.BYTES: "Bytes",
    "true": "BoolTrue",
    "false": "BoolFalse",
    "null": "Null",
}


def _literal(kind: str) -> Alternative:
    before = (_SIGN,) if kind in tokens.SIGNED else ()
    return Alternative((*before, _token(kind, "tok")), _LITERAL_NAMES[kind])


GRAMMAR: dict[str, Definition] = {
    "start": _plain(Rule("expr", "e"), _token(tokens.EOF)),
    "expr": _plain(
        Rule("conditionalOr", "e"),
        _optional(_token("?", "op"), Rule("conditionalOr", "e1"), _token(":"), Rule("expr", "e2")),
    ),
    "conditionalOr": _plain(
        Rule("conditionalAnd", "e"),
        _repeat("*", _token("||", "ops+"), Rule("conditionalAnd", "e1+")),
    ),
    "conditionalAnd": _plain(
        Rule("relation", "e"), _repeat("*", _token("&&", "ops+"), Rule("relation", "e1+"))
    ),
    "relation": Definition(
        (Alternative((Rule("calc", "e"),)),),
        (Alternative((Token(signs(RELATION), "op"), Rule("relation", "right", 2)), "", 1),),
    ),
    "calc": Definition(
        (Alternative((Rule("unary", "e"),)),),
        (
            Alternative((Token(signs(PRODUCT), "op"), Rule("calc", "right", 3)), "", 2),
            Alternative((Token(signs(SUM), "op"), Rule("calc", "right", 2)), "", 1),
        ),
    ),
    "unary": Definition(
        (
            Alternative((Rule("member", "e"),), "MemberExpr"),
            Alternative((_repeat("+", _token("!", "ops+")), Rule("member", "e")), "LogicalNot"),
            Alternative((_repeat("+", _token("-", "ops+")), Rule("member", "e")), "Negate"),
        )
    ),
    "member": Definition(
        (Alternative((Rule("primary", "e"),), "PrimaryExpr"),),
        (
            Alternative((_token(".", "op"), _QUESTION, Rule("escapeIdent", "id")), "Select", 3),
            Alternative(
                (
                    _token(".", "op"),
                    _IDENTIFIER,
                    _token("(", "open"),
                    _ARGUMENTS,
                    _token(")"),
                ),
                "MemberCall",
                2,
            ),
            Alternative(
                (_token("[", "op"), _QUESTION, Rule("expr", "index"), _token("]")), "Index", 1
            ),
        ),
    ),
    "primary": Definition(
        (
            Alternative((_LEADING_DOT, _IDENTIFIER), "Ident"),
            Alternative(
                (_LEADING_DOT, _IDENTIFIER, _token("(", "op"), _ARGUMENTS, _token(")")),
                "GlobalCall",
            ),
            Alternative((_token("("), Rule("expr", "e"), _token(")")), "Nested"),
            Alternative(
                (
                    _token("[", "op"),
                    _optional(Rule("listInit", "elems")),
                    _TRAILING_COMMA,
                    _token("]"),
                ),
                "CreateList",
            ),
            Alternative(
                (
                    _token("{", "op"),
                    _optional(Rule("mapInitializerList", "entries")),
                    _TRAILING_COMMA,
                    _token("}"),
                ),
                "CreateStruct",
            ),
            Alternative(
                (
                    _LEADING_DOT,
                    _token(tokens.IDENTIFIER, "ids+"),
                    _repeat("*", _token(".", "ops+"), _token(tokens.IDENTIFIER, "ids+")),
                    _token("{", "op"),
                    _optional(Rule("fieldInitializerList", "entries")),
                    _TRAILING_COMMA,
                    _token("}"),
                ),
                "CreateMessage",
            ),
            Alternative((Rule("literal", "e"),), "ConstantLiteral"),
        )
    ),
    "exprList": _plain(Rule("expr", "e+"), _repeat("*", _token(","), Rule("expr", "e+"))),
    "listInit": _plain(
        Rule("optExpr", "elems+"), _repeat("*", _token(","), Rule("optExpr", "elems+"))
    ),
    "fieldInitializerList": _plain(
        Rule("optField", "fields+"),
        _token(":", "cols+"),
        Rule("expr", "values+"),
        _repeat(
            "*",
            _token(","),
            Rule("optField", "fields+"),
            _token(":", "cols+"),
            Rule("expr", "values+"),
        ),
    ),
    "optField": _plain(_QUESTION, Rule("escapeIdent", "id")),
    "mapInitializerList": _plain(
        Rule("optExpr", "keys+"),
        _token(":", "cols+"),
        Rule("expr", "values+"),
        _repeat(
            "*",
            _token(","),
            Rule("optExpr", "keys+"),
            _token(":", "cols+"),
            Rule("expr", "values+"),
        ),
    ),
    "escapeIdent": Definition(
        (
            Alternative((_IDENTIFIER,), "SimpleIdentifier"),
            Alternative((_token(tokens.ESC_IDENTIFIER, "id"),), "EscapedIdentifier"),
        )
    ),
    "optExpr": _plain(_QUESTION, Rule("expr", "e")),
    "literal": Definition(tuple(_literal(kind) for kind in tokens.LITERALS)),
}

_OLDER_SUFFIXES = (
    Alternative((_token(".", "op"), _QUESTION, _IDENTIFIER), "Select", 3),
    *GRAMMAR["member"].suffixes[1:],
)
_OLDER_PRIMARIES = (
    Alternative(
        (
            _LEADING_DOT,
            _IDENTIFIER,
            _optional(_token("(", "op"), _ARGUMENTS, _token(")")),
        ),
        "IdentOrGlobalCall",
    ),
    *GRAMMAR["primary"].alternatives[2:],
)
OLDER_GRAMMAR: dict[str, Definition] = {
    **{name: rule for name, rule in GRAMMAR.items() if name != "escapeIdent"},
    "member": Definition(GRAMMAR["member"].alternatives, _OLDER_SUFFIXES),
    "primary": Definition(_OLDER_PRIMARIES),
    "optField": _plain(_QUESTION, _IDENTIFIER),
}
"""The grammar before cel-go 0.23: no names in backticks, and variables and calls are one."""


# --- Grammar network ---------------------------------------------------------
#
# The grammar as a network of states, and what may come next in each of them.
#
# Every place between two elements of a rule is a state. Transitions consume a token, enter a
# rule, or are free; some free ones need a precedence. The steps of a rule (what the parser
# does, in order) are made together with the states, because the parser must know at any time in
# which state it is.
#
# No rule of this grammar can match nothing. That keeps the sets simple.

#: Stands in a set of kinds for "the rule may end here".
END = "<end of rule>"

Kinds: TypeAlias = frozenset[str]


class StateKind(enum.Enum):
    """Says what synchronisation needs to know of a state."""

    BASIC = enum.auto()
    #: The end of a rule. Its free transitions lead to wherever the rule is invoked.
    STOP = enum.auto()
    #: Before a choice or the first round of a loop.
    ENTRY = enum.auto()
    #: After a round of a loop.
    LOOP_BACK = enum.auto()


@dataclass(slots=True, eq=False)
class State:
    """Holds a state of the grammar's network. `transitions` are in order of preference.

    The entry of a suffix loop has `operand_returns`: the states to which the right operands of its
    suffixes return.
    """

    number: int
    rule: str
    kind: StateKind
    transitions: list[Transition] = field(default_factory=list)
    is_suffix_loop: bool = False
    operand_returns: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Transition:
    """Consumes one of `kinds`, or enters `rule` (the target is where it returns), or is free.

    `precedence` is what a free one needs, or what a rule is invoked with. `outermost` marks the
    return from a rule that was invoked without precedence.
    """

    target: State
    kinds: Kinds = frozenset()
    rule: str = ""
    precedence: int = 0
    outermost: bool = False


@dataclass(frozen=True, slots=True)
class MatchStep:
    """Take a token of one of these kinds."""

    state: State
    kinds: Kinds
    label: str


@dataclass(frozen=True, slots=True)
class CallStep:
    """Parse another rule; only suffixes of at least this precedence belong to it."""

    state: State
    rule: str
    label: str
    precedence: int


@dataclass(slots=True, eq=False)
class ChoiceStep:
    """Alternatives, repeated or not.

    `state` is where the parser synchronises first, `loop_state` where it does after each round.
    `decision` is the state whose transitions are the alternatives, the last of which leaves if the
    choice is repeated. `look` has the kinds that start each of them if one token of lookahead
    always decides; it is None if the decision needs prediction. With `wraps_left`, a branch makes a
    new node of which the node so far becomes the left part.
    """

    repeat: str
    state: State
    decision: State
    loop_state: State
    branches: tuple[tuple[Step, ...], ...]
    names: tuple[str, ...]
    wraps_left: bool = False
    look: tuple[Kinds, ...] | None = None


Step: TypeAlias = MatchStep | CallStep | ChoiceStep


class Network:
    """All states of all rules, and the questions that parsing asks about them."""

    def __init__(self, grammar: dict[str, Definition]) -> None:
        self.states: list[State] = []
        self.steps: dict[str, tuple[Step, ...]] = {}
        #: The names of the nodes of rules with a single alternative (suffixes not counted).
        self.sole_names: dict[str, str] = {}
        self.starts: dict[str, State] = {name: self._state(name) for name in grammar}
        self._stops = {name: self._state(name, StateKind.STOP) for name in grammar}
        self._choices: list[ChoiceStep] = []
        self._next_kinds: dict[int, Kinds] = {}
        for name, definition in grammar.items():
            self.steps[name] = self._rule(name, definition)
        for choice in self._choices:
            choice.look = self._lookahead(choice)

    def next_kinds(self, state: State) -> Kinds:
        """Return what may come next within the rule; has `END` if the rule may end here."""
        kinds = self._next_kinds.get(state.number)
        if kinds is None:
            kinds = self._next_kinds[state.number] = self._reach(state, beyond=False)
        return kinds

    def _reach(self, start: State, *, beyond: bool) -> Kinds:
        """`beyond` the end of the rule: whatever may follow it anywhere."""
        result: set[str] = set()
        seen = {start.number}
        pending = [start]
        while pending:
            state = pending.pop()
            if state.kind is StateKind.STOP and not beyond:
                result.add(END)
                continue
            for transition in state.transitions:
                result |= transition.kinds
                target = self.starts[transition.rule] if transition.rule else transition.target
                if not transition.kinds and target.number not in seen:
                    seen.add(target.number)
                    pending.append(target)
        return frozenset(result)

    def _lookahead(self, choice: ChoiceStep) -> tuple[Kinds, ...] | None:
        """Return the kinds that start each alternative, if these sets are disjoint."""
        if choice.wraps_left or choice.decision.is_suffix_loop:
            return None
        looks = tuple(self._reach(t.target, beyond=True) for t in choice.decision.transitions)
        if sum(map(len, looks)) > len(frozenset().union(*looks)):
            return None
        return looks

    def _state(self, rule: str, kind: StateKind = StateKind.BASIC) -> State:
        state = State(len(self.states), rule, kind)
        self.states.append(state)
        return state

    def _rule(self, name: str, definition: Definition) -> tuple[Step, ...]:
        first, last, steps = self._alternatives(name, definition.alternatives)
        _free(self.starts[name], first)
        if definition.suffixes:
            entry, end, loop = self._loop(name, definition.suffixes, is_suffix=True)
            _free(last, entry)
            last = end
            steps = (*steps, loop)
        _free(last, self._stops[name])
        return steps

    def _alternatives(
        self, rule: str, alternatives: Sequence[Alternative]
    ) -> tuple[State, State, tuple[Step, ...]]:
        """Exactly one of the alternatives; only more than one is a choice."""
        if len(alternatives) == 1:
            self.sole_names[rule] = alternatives[0].name
            return self._sequence(rule, alternatives[0].elements)
        entry = self._state(rule, StateKind.ENTRY)
        end = self._state(rule)
        choice = self._choice("", rule, alternatives, (entry, entry, entry), end)
        return entry, end, (choice,)

    def _sequence(
        self, rule: str, elements: Iterable[Element]
    ) -> tuple[State, State, tuple[Step, ...]]:
        first = last = self._state(rule)
        steps: list[Step] = []
        for element in elements:
            before, after, result = self._element(rule, element)
            _free(last, before)
            last = after
            steps.extend(result)
        return first, last, tuple(steps)

    def _element(self, rule: str, element: Element) -> tuple[State, State, tuple[Step, ...]]:
        match element:
            case Token():
                before, after = self._state(rule), self._state(rule)
                kinds = frozenset(element.kinds)
                before.transitions.append(Transition(after, kinds))
                return before, after, (MatchStep(before, kinds, element.label),)
            case Rule():
                return self._invocation(rule, element)
            case Block() if element.repeat == "?":
                entry, end = self._state(rule, StateKind.ENTRY), self._state(rule)
                states = (entry, entry, entry)
                choice = self._choice("?", rule, element.alternatives, states, end)
                _free(entry, end)
                return entry, end, (choice,)
            case Block() if element.repeat == "*":
                entry, end, choice = self._loop(rule, element.alternatives, is_suffix=False)
                return entry, end, (choice,)
            case Block():
                return self._at_least_once(rule, element)

    def _invocation(self, rule: str, element: Rule) -> tuple[State, State, tuple[Step, ...]]:
        before, after = self._state(rule), self._state(rule)
        step = CallStep(before, element.name, element.label, element.precedence)
        before.transitions.append(
            Transition(after, rule=element.name, precedence=element.precedence)
        )
        back = Transition(after, outermost=element.precedence == 0)
        self._stops[element.name].transitions.append(back)
        return before, after, (step,)

    def _loop(
        self, rule: str, alternatives: Sequence[Alternative], *, is_suffix: bool
    ) -> tuple[State, State, ChoiceStep]:
        entry = self._state(rule, StateKind.ENTRY)
        entry.is_suffix_loop = is_suffix
        block = self._state(rule, StateKind.ENTRY)
        back = self._state(rule, StateKind.LOOP_BACK)
        end = self._state(rule)
        _free(entry, block)
        _free(entry, end)
        _free(back, entry)
        body = self._choice(
            "", rule, alternatives, (block, block, block), back, wraps_left=is_suffix
        )
        if is_suffix:
            entry.operand_returns.update(
                state.number for state in self._operand_returns(body, rule)
            )
        if len(alternatives) == 1:
            loop = replace(body, repeat="*", state=entry, decision=entry, loop_state=back)
        else:
            loop = ChoiceStep("*", entry, entry, back, ((body,),), ("",))
        self._choices.append(loop)
        return entry, end, loop

    def _operand_returns(self, body: ChoiceStep, rule: str) -> Iterable[State]:
        for branch in body.branches:
            last = branch[-1]
            if isinstance(last, CallStep) and last.rule == rule:
                yield last.state.transitions[0].target

    def _at_least_once(self, rule: str, block: Block) -> tuple[State, State, tuple[Step, ...]]:
        entry = self._state(rule, StateKind.ENTRY)
        back = self._state(rule, StateKind.LOOP_BACK)
        end = self._state(rule)
        choice = self._choice("+", rule, block.alternatives, (entry, back, back), back)
        _free(back, entry)
        _free(back, end)
        return entry, end, (choice,)

    def _choice(
        self,
        repeat: str,
        rule: str,
        alternatives: Sequence[Alternative],
        states: tuple[State, State, State],
        end: State,
        *,
        wraps_left: bool = False,
    ) -> ChoiceStep:
        """`states` are those of the `ChoiceStep`; the branches start at the first of them."""
        branches: list[tuple[Step, ...]] = []
        for alternative in alternatives:
            first, last, steps = self._sequence(rule, alternative.elements)
            states[0].transitions.append(Transition(first, precedence=alternative.precedence))
            _free(last, end)
            branches.append(steps)
        names = tuple(alternative.name for alternative in alternatives)
        choice = ChoiceStep(repeat, *states, tuple(branches), names, wraps_left)
        self._choices.append(choice)
        return choice


def _free(source: State, target: State) -> None:
    source.transitions.append(Transition(target))


CEL_NETWORK = Network(GRAMMAR)


@functools.cache
def older_network() -> Network:
    """Return the network of cel-go's grammar before 0.23."""
    return Network(OLDER_GRAMMAR)
