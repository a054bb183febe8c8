"""The parser that reports and recovers.

It performs the steps of the rules one by one, as cel-go's generated parser does, and keeps the
state it is in. What happens on errors is ANTLR's default strategy:

* *Matching.* If the wrong token is there but the one behind it would do, it is deleted. Else, if
  the wrong token could follow the missing one, that is made up. Else the rule fails.
* *Synchronising.* Before choices and loops, a token that cannot begin or follow is deleted if that
  helps; else the rule fails. After a round of a loop, tokens are skipped until something fits.
* *Failing.* The failure is reported, tokens are skipped until one may follow any of the open rules,
  and the rule is left as if it were complete.

From a report to the next match nothing else is reported (`_recovering`).

Rules are generators, and `parse` keeps their stack, so that Python's does not limit the nesting.
"""

from __future__ import annotations

import functools
from bisect import bisect_left
from collections.abc import Callable, Generator, Iterable
from typing import NamedTuple, TypeAlias

from celadon.cel.parsing import antlr_grammar, tokens
from celadon.cel.parsing import recursive_descent as texts
from celadon.cel.parsing.lexer import next_token
from celadon.cel.parsing.recursive_descent import ParseLimits
from celadon.late_patterns import late_pattern
from celadon.records import dataclass, field

# --- Tokens on demand --------------------------------------------------------
#
# Tokens on demand, with the errors of the lexer in between.
#
# A token is read only when the parser looks at it. So a parse that stops early reports no errors of
# the lexer further on, as in cel-go.


class Token(NamedTuple):
    """Holds one token. `start` and `end` are the code-point offsets of its first and last
    character."""

    kind: str
    text: str
    start: int
    end: int


class TokenStream:
    """A position in the tokens of a text. `report` gets message and offset of lexer errors, also of
    each character of `junk` where a token would begin."""

    def __init__(self, text: str, report: Callable[[str, int], None], junk: str = "") -> None:
        self._text = text
        self._junk_characters = frozenset(junk)
        self._report = report
        self._tokens: list[Token] = []
        self._scanned = 0
        #: Starts and ends of what is no token.
        self._junk_starts: list[int] = []
        self._junk_ends: list[int] = []
        self.index = 0
        self.token(1)

    def token(self, ahead: int) -> Token:
        """1 is the current token. Beyond the end of input is the end of input."""
        index = self.index + ahead - 1
        while len(self._tokens) <= index:
            if self._tokens and self._tokens[-1].kind == tokens.EOF:
                return self._tokens[-1]
            self._scan()
        return self._tokens[index]

    def kind(self, ahead: int) -> str:
        """Return the kind of the token `ahead` places further; 1 is the current one."""
        return self.token(ahead).kind

    def previous(self) -> Token | None:
        """Return the token consumed last; None at the beginning."""
        return self._tokens[self.index - 1] if self.index else None

    def consume(self) -> None:
        """Step to the next token; stay at the end of input."""
        if self.token(1).kind != tokens.EOF:
            self.index += 1
            self.token(1)

    def text_between(self, first: Token, last: Token) -> str:
        """Return the text between two tokens, both included, with white space and comments, without
        what is no token."""
        end = last.start if last.kind == tokens.EOF else last.end
        parts: list[str] = []
        index = first.start
        for number in range(bisect_left(self._junk_starts, index), len(self._junk_starts)):
            if self._junk_starts[number] >= end:
                break
            parts.append(self._text[index : self._junk_starts[number]])
            index = self._junk_ends[number]
        parts.append(self._text[index:end])
        return "".join(parts)

    def _scan(self) -> None:
        while True:
            kind, start, end = next_token(self._text, self._scanned)
            if self._text[start : start + 1] in self._junk_characters:
                kind, end = None, start + 1
            self._scanned = end
            if kind is not None:
                text = self._text[start:end]
                self._tokens.append(Token(kind, text, start, end))
                return
            self._junk_starts.append(start)
            self._junk_ends.append(end)
            self._report(f"token recognition error at: '{self._text[start:end]}'", start)


# --- Prediction --------------------------------------------------------------
#
# Which alternative of a decision the coming tokens ask for.
#
# This is the adaptive prediction of ANTLR 4 (Parr, Harwell, Fisher: "Adaptive LL(*) Parsing"):
# all alternatives are followed through the network at once, token by token, until one is left.
#
# Theory of operation. A *path* is a state that can be reached, the alternative it came from,
# and the stack of states to return to. Paths with the same state and alternative are kept
# together, with the set of their stacks (`Group`). At the bottom of the stack a rule may return
# to wherever it is invoked. This depends on nothing but the decision, the precedence and the
# tokens, so states are remembered (`_Node`) and most predictions are a few dictionary lookups.
#
# If two alternatives come to the same state with the same stacks, more tokens cannot tell them
# apart, and the first alternative is taken: cel-go predicts in ANTLR's mode SLL, which never
# looks at the rules that are really open.
#
# If no alternative can go on, one that has completed its rule is taken, in the hope that the
# caller can do more with the token. If there is none, the decision fails.

#: States to return to, the next one first. Its end is None: anything.
Stack: TypeAlias = "tuple[antlr_grammar.State, Stack] | None"
#: What comes at a position ahead; 1 is the current token.
Lookahead: TypeAlias = Callable[[int], str]


class NoViableAlternativeError(Exception):
    """Prediction failed at the token this far ahead."""

    def __init__(self, ahead: int) -> None:
        super().__init__(ahead)
        self.ahead = ahead


class _Path(NamedTuple):
    """Holds one path of a prediction. `needs` is a precedence still to be checked. `escaped`: the
    path has left the rule of the decision. `exempt`: it left it to where it was invoked without
    precedence."""

    state: antlr_grammar.State
    alternative: int
    stack: Stack
    needs: int = 0
    escaped: bool = False
    exempt: bool = False


@dataclass(slots=True, eq=False)
class Group:
    """Paths that differ in their stacks only."""

    state: antlr_grammar.State
    alternative: int
    needs: int
    stacks: set[Stack] = field(default_factory=set)
    escaped: bool = False
    exempt: bool = False


@dataclass(slots=True, eq=False)
class _Node:
    """Says where the paths are before a token. `alternative` is the one to take, if that is
    decided."""

    groups: tuple[Group, ...]
    alternative: int | None
    next: dict[str, _Node | None] = field(default_factory=dict)


class _Paths:
    """Follows paths through a network. Remembers where it has been."""

    def __init__(self, network: antlr_grammar.Network) -> None:
        self._network = network
        self._starts: dict[tuple[int, int], _Node] = {}
        self._nodes: dict[frozenset[object], _Node] = {}

    def start(self, decision: antlr_grammar.State, precedence: int) -> _Node:
        if not decision.is_suffix_loop:
            precedence = 0
        key = (decision.number, precedence)
        node = self._starts.get(key)
        if node is None:
            groups = self._follow_start(decision)
            if decision.is_suffix_loop:
                groups = _by_precedence(groups, precedence)
            node = self._starts[key] = self._node(groups)
        return node

    def step(self, node: _Node, kind: str) -> _Node | None:
        """Return where a token of that kind leads; None if nowhere."""
        if kind in node.next:
            return node.next[kind]
        groups = self._reach(node.groups, kind)
        following = self._node(groups) if groups else None
        node.next[kind] = following
        return following

    def _node(self, groups: tuple[Group, ...]) -> _Node:
        key = frozenset((g.state, g.alternative, g.escaped, frozenset(g.stacks)) for g in groups)
        node = self._nodes.get(key)
        if node is None:
            node = self._nodes[key] = _Node(groups, _decided(groups))
        return node

    def _follow_start(self, decision: antlr_grammar.State) -> tuple[Group, ...]:
        paths = (
            _Path(transition.target, number, None)
            for number, transition in enumerate(decision.transitions, start=1)
        )
        rule = decision.rule if decision.is_suffix_loop else ""
        return self._follow(paths, rule, at_end=False)

    def _reach(self, groups: Iterable[Group], kind: str) -> tuple[Group, ...]:
        """Return where the paths are after a token of this kind."""
        stopped: list[Group] = []
        moved: list[_Path] = []
        at_end = kind == tokens.EOF
        for group in groups:
            if group.state.kind is antlr_grammar.StateKind.STOP:
                stopped.append(group)
            for transition in group.state.transitions:
                if kind in transition.kinds:
                    moved.extend(_moved(group, transition.target))
        reached = self._follow(moved, None, at_end=at_end)
        if at_end:
            reached = tuple(g for g in reached if g.state.kind is antlr_grammar.StateKind.STOP)
            reached += tuple(stopped)
        return reached

    def _follow(
        self, paths: Iterable[_Path], deciding: str | None, *, at_end: bool
    ) -> tuple[Group, ...]:
        """All places before a token that the paths lead to by free steps. `deciding` is the rule
        with the suffixes to decide on; empty for other decisions, None beyond the start of one."""
        groups: dict[tuple[antlr_grammar.State, int, int], Group] = {}
        pending = [(path, 0) for path in paths]
        seen = {path for path, _ in pending}
        while pending:
            path, depth = pending.pop()
            state, alternative, stack, needs, escaped, exempt = path
            if state.kind is antlr_grammar.StateKind.STOP and stack is not None:
                nexts = [(path._replace(state=stack[0], stack=stack[1]), depth - 1)]
            else:
                if _waits(state):
                    group = groups.setdefault(
                        (state, alternative, needs), Group(state, alternative, needs)
                    )
                    group.stacks.add(stack)
                    group.escaped |= escaped
                    group.exempt |= exempt
                nexts = self._successors(path, depth, deciding, at_end=at_end)
            for step in nexts:
                if step[0] not in seen:
                    seen.add(step[0])
                    pending.append(step)
        for group in groups.values():
            group.stacks = _absorbed(group.stacks)
        return tuple(groups.values())

    def _successors(
        self, path: _Path, depth: int, deciding: str | None, *, at_end: bool
    ) -> list[tuple[_Path, int]]:
        """One free step. `depth` counts the rules entered since the start of the decision."""
        state, stack = path.state, path.stack
        if state.kind is antlr_grammar.StateKind.STOP:
            return _anywhere(path, depth, deciding)
        nexts: list[tuple[_Path, int]] = []
        for number, transition in enumerate(state.transitions):
            if transition.kinds:
                if at_end and tokens.EOF in transition.kinds:
                    nexts.append((path._replace(state=transition.target), depth))
            elif transition.rule:
                start = self._network.starts[transition.rule]
                entered = path._replace(state=start, stack=(transition.target, stack))
                nexts.append((entered, depth + (depth >= 0)))
            elif number == 0 and _is_inner_loop(state, stack):
                continue
            elif deciding is not None and depth == 0 and transition.precedence:
                needed = path._replace(state=transition.target, needs=transition.precedence)
                nexts.append((needed, depth))
            else:
                nexts.append((path._replace(state=transition.target), depth))
        return nexts


def _anywhere(path: _Path, depth: int, deciding: str | None) -> list[tuple[_Path, int]]:
    """From the end of a rule to wherever the rule is invoked."""
    leaves = [
        (t.target, t.outermost and path.state.rule == deciding) for t in path.state.transitions
    ]
    return [
        (path._replace(state=target, escaped=True, exempt=path.exempt or exempt), depth - 1)
        for target, exempt in leaves
    ]


def _moved(group: Group, target: antlr_grammar.State) -> Iterable[_Path]:
    for stack in group.stacks:
        yield _Path(target, group.alternative, stack, 0, group.escaped, group.exempt)


def _waits(state: antlr_grammar.State) -> bool:
    """Return whether a path stays in this state: before a token, or at the end of everything."""
    if state.kind is antlr_grammar.StateKind.STOP:
        return not state.transitions
    return any(transition.kinds for transition in state.transitions)


def _is_inner_loop(state: antlr_grammar.State, stack: Stack) -> bool:
    """Return whether this loop is inside the right operand of another round of the same loop.

    An operator that follows is then left to the outer loop.
    """
    if not state.is_suffix_loop or stack is None:
        return False
    return stack[0].number in state.operand_returns


def _by_precedence(groups: tuple[Group, ...], precedence: int) -> tuple[Group, ...]:
    """Keep what the precedence of the open rule allows.

    Entering the loop (alternative 1) needs a precedence. Leaving it is dropped where entering it
    leads to the same place.
    """
    result = [g for g in groups if g.alternative == 1 and (not g.needs or g.needs >= precedence)]
    entered = {g.state: g.stacks for g in result}
    for group in groups:
        same = entered.get(group.state) == group.stacks and not group.exempt
        if group.alternative != 1 and not same:
            result.append(group)
    return tuple(result)


def _completed(groups: Iterable[Group], ahead: int) -> int:
    """Return the first alternative whose rule is complete."""
    complete = [
        g.alternative
        for g in groups
        if g.escaped or (g.state.kind is antlr_grammar.StateKind.STOP and None in g.stacks)
    ]
    if not complete:
        raise NoViableAlternativeError(ahead)
    return min(complete)


def _decided(groups: tuple[Group, ...]) -> int | None:
    """Return the only alternative left, or the first of those that no token can tell apart."""
    alternatives = {group.alternative for group in groups}
    return min(alternatives) if len(alternatives) == 1 or _conflicts(groups) else None


def _absorbed(stacks: Iterable[Stack]) -> set[Stack]:
    """Leave out what others include: a stack whose end may be anything includes all that only
    continue it."""
    by_top: dict[antlr_grammar.State, set[Stack]] = {}
    for stack in stacks:
        if stack is None:
            return {None}
        by_top.setdefault(stack[0], set()).add(stack[1])
    return {(top, rest) for top, rests in by_top.items() for rest in _absorbed(rests)}


def _subsets(groups: Iterable[Group]) -> list[set[int]]:
    """Return for each place (state and stacks) the alternatives that lead there."""
    places: dict[tuple[antlr_grammar.State, frozenset[Stack]], set[int]] = {}
    for group in groups:
        place = (group.state, frozenset(group.stacks))
        places.setdefault(place, set()).add(group.alternative)
    return list(places.values())


def _conflicts(groups: tuple[Group, ...]) -> bool:
    """Return whether more tokens would not help."""
    if all(group.state.kind is antlr_grammar.StateKind.STOP for group in groups):
        return True
    if all(len(subset) == 1 for subset in _subsets(groups)):
        return False
    by_state: dict[antlr_grammar.State, set[int]] = {}
    for group in groups:
        by_state.setdefault(group.state, set()).add(group.alternative)
    return all(len(alternatives) > 1 for alternatives in by_state.values())


@functools.cache
def _paths_of(network: antlr_grammar.Network) -> _Paths:
    """Return what is remembered of a network: the same for all texts, and finite."""
    return _Paths(network)


def predict(
    network: antlr_grammar.Network, decision: antlr_grammar.State, precedence: int, look: Lookahead
) -> int:
    """Return the number of the alternative, from 1. Raises `NoViableAlternativeError`."""
    paths = _paths_of(network)
    node = paths.start(decision, precedence)
    ahead = 1
    while True:
        kind = look(ahead)
        following = paths.step(node, kind)
        if following is None:
            return _completed(node.groups, ahead)
        if following.alternative is not None:
            return following.alternative
        node = following
        ahead += kind != tokens.EOF


#: A selected keyword gives this message a friendlier form (cel-go `parser/parser.go`).
_KEYWORD_SELECTED = late_pattern("no viable alternative at input '.(true|false|null)'")


@dataclass(slots=True, eq=False)
class ParseNode:
    """A rule or a named alternative of it. `parts` are what the labels of the grammar collected.

    The left part of operators and suffixes is labelled `left`.
    """

    name: str
    start: Token
    parts: dict[str, Part] = field(default_factory=dict)


Part: TypeAlias = "Token | ParseNode | list[Token | ParseNode]"


class ParseStopped(Exception):
    """The parse cannot go on. `message`, if any, is still to be reported, without a position."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message)
        self.message = message


@dataclass(slots=True, eq=False)
class OpenRule:
    """A rule that has begun. The first rule has no `return_state`."""

    rule: str
    parent: OpenRule | None
    return_state: antlr_grammar.State | None
    precedence: int
    node: ParseNode


class _RuleFailure(Exception):
    """A rule cannot go on at this token."""

    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.message = message
        self.token = token


_Routine: TypeAlias = Generator[antlr_grammar.CallStep, ParseNode, None]


class Machine:
    """Parses one text. `report` gets message and offset of every syntax error; `older` takes the
    grammar before cel-go 0.23, in which no token began with a backtick."""

    def __init__(
        self,
        text: str,
        limits: ParseLimits,
        report: Callable[[str, int], None],
        *,
        older: bool = False,
    ) -> None:
        self._network = antlr_grammar.older_network() if older else antlr_grammar.CEL_NETWORK
        self._limits = limits
        self._report_issue = report
        self._reported = 0
        self._stream = TokenStream(text, self._report, "`" if older else "")
        self._state = self._network.starts["start"]
        self._open: OpenRule | None = None
        self._depths = dict.fromkeys(self._network.starts, 0)
        self._recovering = False
        self._attempts = 0
        self._last_error_index = -1
        self._last_error_states: set[int] = set()

    def parse(self) -> ParseNode:
        """Return the parse tree. Raises `ParseStopped`."""
        running: list[tuple[OpenRule, _Routine]] = [self._begin("start", 0, None)]
        result: ParseNode | None = None
        while running:
            opened, routine = running[-1]
            try:
                step = next(routine) if result is None else routine.send(result)
            except StopIteration:
                running.pop()
                self._depths[opened.rule] -= 1
                self._open = opened.parent
                result = opened.node
            else:
                return_state = step.state.transitions[0].target
                running.append(self._begin(step.rule, step.precedence, return_state))
                result = None
        assert result is not None
        return result

    def _begin(
        self, rule: str, precedence: int, return_state: antlr_grammar.State | None
    ) -> tuple[OpenRule, _Routine]:
        self._state = self._network.starts[rule]
        name = self._network.sole_names.get(rule) or rule
        node = ParseNode(name, self._stream.token(1))
        opened = OpenRule(rule, self._open, return_state, precedence, node)
        self._open = opened
        self._depths[rule] += 1
        if self._depths[rule] > self._limits.recursion:
            raise ParseStopped(texts.rules_too_deep(self._limits.recursion))
        return opened, self._perform_rule(opened)

    def _perform_rule(self, opened: OpenRule) -> _Routine:
        try:
            yield from self._perform(self._network.steps[opened.rule], opened)
        except _RuleFailure as failure:
            if not self._recovering:
                self._recovering = True
                self._report(failure.message, failure.token.start)
            self._recover()

    def _perform(self, steps: Iterable[antlr_grammar.Step], opened: OpenRule) -> _Routine:
        for step in steps:
            self._state = step.state
            match step:
                case antlr_grammar.MatchStep():
                    _collect(opened.node, step.label, self._match(step))
                case antlr_grammar.CallStep():
                    _collect(opened.node, step.label, (yield step))
                case antlr_grammar.ChoiceStep():
                    yield from self._choose(step, opened)

    def _choose(self, step: antlr_grammar.ChoiceStep, opened: OpenRule) -> _Routine:
        self._synchronise()
        branch = 0 if step.repeat == "+" else self._decide(step, opened)
        while branch < len(step.branches):
            if step.wraps_left:
                left = opened.node
                name = step.names[branch] or opened.rule
                opened.node = ParseNode(name, left.start, {"left": left})
            elif step.names[branch]:
                opened.node.name = step.names[branch]
            yield from self._perform(step.branches[branch], opened)
            if step.repeat not in ("*", "+"):
                break
            self._state = step.loop_state
            self._synchronise()
            branch = self._decide(step, opened)

    def _decide(self, step: antlr_grammar.ChoiceStep, opened: OpenRule) -> int:
        """Return which branch; one beyond the last means none (more)."""
        current = self._stream.token(1)
        if step.look is not None:
            for branch, kinds in enumerate(step.look):
                if current.kind in kinds:
                    return branch
            if step.repeat:
                return len(step.branches)
            raise self._no_viable_alternative(current, current)
        try:
            number = predict(self._network, step.decision, opened.precedence, self._stream.kind)
        except NoViableAlternativeError as error:
            raise self._no_viable_alternative(current, self._stream.token(error.ahead)) from None
        return number - 1

    def _match(self, step: antlr_grammar.MatchStep) -> Token:
        token = self._stream.token(1)
        if token.kind not in step.kinds:
            return self._recover_inline()
        self._end_error()
        self._stream.consume()
        return token

    def _synchronise(self) -> None:
        """Make the current token one that can come here, or fail the rule."""
        if self._recovering:
            return
        possible = self._network.next_kinds(self._state)
        if antlr_grammar.END in possible or self._stream.kind(1) in possible:
            return
        if self._state.kind is antlr_grammar.StateKind.LOOP_BACK:
            self._report_unwanted()
            self._skip_until(self._expected() | self._recovery_kinds())
        elif not self._delete_token():
            raise self._mismatch()

    def _recover_inline(self) -> Token:
        self._count_attempt()
        if self._delete_token():
            token = self._stream.token(1)
            self._stream.consume()
            return token
        return self._insert_token()

    def _delete_token(self) -> bool:
        """Delete the current token if the next one fits."""
        if self._stream.kind(2) not in self._expected():
            return False
        self._report_unwanted()
        self._stream.consume()
        self._end_error()
        return True

    def _insert_token(self) -> Token:
        """Make up the missing token if the current one could follow it."""
        current = self._stream.token(1)
        expected = self._expected()
        if current.kind not in self._expected(self._state.transitions[0].target):
            raise self._mismatch()
        if not self._recovering:
            self._recovering = True
            text = _display_kinds(expected)
            self._report(f"missing {text} at {_display_token(current)}", current.start)
        previous = self._stream.previous()
        place = previous if current.kind == tokens.EOF and previous is not None else current
        kind = min(expected, key=tokens.token_order)
        return Token(kind, f"<missing {kind}>", place.start, place.start)

    def _recover(self) -> None:
        """Skips to a token that may follow one of the open rules."""
        self._count_attempt()
        skipped = 0
        if (
            self._last_error_index == self._stream.index
            and self._state.number in self._last_error_states
        ):
            self._stream.consume()
            skipped = 1
        self._last_error_index = self._stream.index
        self._last_error_states.add(self._state.number)
        self._skip_until(self._recovery_kinds(), self._limits.recovery_lookahead - skipped)

    def _skip_until(self, kinds: antlr_grammar.Kinds, limit: int | None = None) -> None:
        skipped = 0
        while self._stream.kind(1) != tokens.EOF and self._stream.kind(1) not in kinds:
            if skipped == limit:
                raise ParseStopped(texts.recovery_too_long(self._limits.recovery_lookahead))
            skipped += 1
            self._stream.consume()

    def _count_attempt(self) -> None:
        limit = self._limits.recovery_attempts
        self._attempts += 1
        if self._attempts > limit:
            self._report(texts.too_many_recoveries(limit), self._stream.token(1).start)
            raise ParseStopped

    def _end_error(self) -> None:
        self._recovering = False
        self._last_error_states.clear()

    def _expected(self, state: antlr_grammar.State | None = None) -> antlr_grammar.Kinds:
        """Return what may come next, also beyond the ends of the open rules."""
        following = self._network.next_kinds(state or self._state)
        kinds = following
        for return_state in self._return_states():
            if antlr_grammar.END not in following:
                return kinds - {antlr_grammar.END}
            following = self._network.next_kinds(return_state)
            kinds |= following
        if antlr_grammar.END in following:
            kinds |= {tokens.EOF}
        return kinds - {antlr_grammar.END}

    def _recovery_kinds(self) -> antlr_grammar.Kinds:
        """Return what may follow any of the open rules."""
        kinds: set[str] = set()
        for return_state in self._return_states():
            kinds |= self._network.next_kinds(return_state)
        return frozenset(kinds - {antlr_grammar.END})

    def _return_states(self) -> Iterable[antlr_grammar.State]:
        """Yield where the open rules return to, from the innermost outwards."""
        opened = self._open
        while opened is not None and opened.return_state is not None:
            yield opened.return_state
            opened = opened.parent

    def _report(self, message: str, offset: int) -> None:
        message = _KEYWORD_SELECTED.sub(r"mismatched input '\1' expecting IDENTIFIER", message)
        if self._reported < self._limits.syntax_errors:
            self._reported += 1
            self._report_issue(message, offset)
            return
        self._report_issue(texts.too_many_syntax_errors(self._limits.syntax_errors), offset)
        raise ParseStopped

    def _report_unwanted(self) -> None:
        if self._recovering:
            return
        self._recovering = True
        token = self._stream.token(1)
        expected = _display_kinds(self._expected())
        self._report(f"extraneous input {_display_token(token)} expecting {expected}", token.start)

    def _mismatch(self) -> _RuleFailure:
        token = self._stream.token(1)
        expected = _display_kinds(self._expected())
        return _RuleFailure(f"mismatched input {_display_token(token)} expecting {expected}", token)

    def _no_viable_alternative(self, first: Token, offending: Token) -> _RuleFailure:
        if first.kind == tokens.EOF:
            text = tokens.EOF
        else:
            text = self._stream.text_between(first, offending)
        return _RuleFailure(f"no viable alternative at input {_quote(text)}", offending)


def _collect(node: ParseNode, label: str, part: Token | ParseNode) -> None:
    """Collect a part; a label that ends in `+` collects several."""
    if label.endswith("+"):
        several = node.parts.setdefault(label, [])
        assert isinstance(several, list)
        several.append(part)
    elif label:
        node.parts[label] = part


def _display_token(token: Token) -> str:
    return _quote(token.text or tokens.EOF)


def _quote(text: str) -> str:
    escaped = text.replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")
    return f"'{escaped}'"


def _display_kinds(kinds: antlr_grammar.Kinds) -> str:
    names = [tokens.display_kind(kind) for kind in sorted(kinds, key=tokens.token_order)]
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"
