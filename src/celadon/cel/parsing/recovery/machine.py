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

from collections.abc import Callable, Generator, Iterable
from dataclasses import field
from typing import TypeAlias

from celadon.cel.parsing import parse_limits as texts
from celadon.cel.parsing import tokens
from celadon.cel.parsing.parse_limits import ParseLimits
from celadon.cel.parsing.recovery.grammar_network import (
    CEL_NETWORK,
    END,
    CallStep,
    ChoiceStep,
    Kinds,
    MatchStep,
    State,
    StateKind,
    Step,
)
from celadon.cel.parsing.recovery.prediction import NoViableAlternativeError, predict
from celadon.cel.parsing.recovery.token_stream import Token, TokenStream
from celadon.patterns import late_pattern
from celadon.records import dataclass

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
    return_state: State | None
    precedence: int
    node: ParseNode


class _RuleFailure(Exception):
    """A rule cannot go on at this token."""

    def __init__(self, message: str, token: Token) -> None:
        super().__init__(message)
        self.message = message
        self.token = token


_Routine: TypeAlias = Generator[CallStep, ParseNode, None]


class Machine:
    """Parses one text. `report` gets message and offset of every syntax error."""

    def __init__(self, text: str, limits: ParseLimits, report: Callable[[str, int], None]) -> None:
        self._limits = limits
        self._report_issue = report
        self._reported = 0
        self._stream = TokenStream(text, self._report)
        self._state = CEL_NETWORK.starts["start"]
        self._open: OpenRule | None = None
        self._depths = dict.fromkeys(CEL_NETWORK.starts, 0)
        self._recovering = False
        self._attempts = 0
        self._last_error_index = -1
        self._last_error_states: set[int] = set()

    def parse(self) -> ParseNode:
        """The parse tree. Raises `ParseStopped`."""
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
        self, rule: str, precedence: int, return_state: State | None
    ) -> tuple[OpenRule, _Routine]:
        self._state = CEL_NETWORK.starts[rule]
        name = CEL_NETWORK.sole_names.get(rule) or rule
        node = ParseNode(name, self._stream.token(1))
        opened = OpenRule(rule, self._open, return_state, precedence, node)
        self._open = opened
        self._depths[rule] += 1
        if self._depths[rule] > self._limits.recursion:
            raise ParseStopped(texts.rules_too_deep(self._limits.recursion))
        return opened, self._perform_rule(opened)

    def _perform_rule(self, opened: OpenRule) -> _Routine:
        try:
            yield from self._perform(CEL_NETWORK.steps[opened.rule], opened)
        except _RuleFailure as failure:
            if not self._recovering:
                self._recovering = True
                self._report(failure.message, failure.token.start)
            self._recover()

    def _perform(self, steps: Iterable[Step], opened: OpenRule) -> _Routine:
        for step in steps:
            self._state = step.state
            match step:
                case MatchStep():
                    _collect(opened.node, step.label, self._match(step))
                case CallStep():
                    _collect(opened.node, step.label, (yield step))
                case ChoiceStep():
                    yield from self._choose(step, opened)

    def _choose(self, step: ChoiceStep, opened: OpenRule) -> _Routine:
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

    def _decide(self, step: ChoiceStep, opened: OpenRule) -> int:
        """Which branch; one beyond the last means none (more)."""
        current = self._stream.token(1)
        if step.look is not None:
            for branch, kinds in enumerate(step.look):
                if current.kind in kinds:
                    return branch
            if step.repeat:
                return len(step.branches)
            raise self._no_viable_alternative(current, current)
        try:
            number = predict(step.decision, opened.precedence, self._stream.kind)
        except NoViableAlternativeError as error:
            raise self._no_viable_alternative(current, self._stream.token(error.ahead)) from None
        return number - 1

    def _match(self, step: MatchStep) -> Token:
        token = self._stream.token(1)
        if token.kind not in step.kinds:
            return self._recover_inline()
        self._end_error()
        self._stream.consume()
        return token

    def _synchronise(self) -> None:
        """Makes the current token one that can come here, or fails the rule."""
        if self._recovering:
            return
        possible = CEL_NETWORK.next_kinds(self._state)
        if END in possible or self._stream.kind(1) in possible:
            return
        if self._state.kind is StateKind.LOOP_BACK:
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
        """Deletes the current token if the next one fits."""
        if self._stream.kind(2) not in self._expected():
            return False
        self._report_unwanted()
        self._stream.consume()
        self._end_error()
        return True

    def _insert_token(self) -> Token:
        """Makes up the missing token if the current one could follow it."""
        current = self._stream.token(1)
        expected = self._expected()
        if current.kind not in self._expected(self._state.transitions[0].target):
            raise self._mismatch()
        if not self._recovering:
            self._recovering = True
            shown = _display_kinds(expected)
            self._report(f"missing {shown} at {_display_token(current)}", current.start)
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

    def _skip_until(self, kinds: Kinds, limit: int | None = None) -> None:
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

    def _expected(self, state: State | None = None) -> Kinds:
        """What may come next, also beyond the ends of the open rules."""
        following = CEL_NETWORK.next_kinds(state or self._state)
        kinds = following
        for return_state in self._return_states():
            if END not in following:
                return kinds - {END}
            following = CEL_NETWORK.next_kinds(return_state)
            kinds |= following
        if END in following:
            kinds |= {tokens.EOF}
        return kinds - {END}

    def _recovery_kinds(self) -> Kinds:
        """What may follow any of the open rules."""
        kinds: set[str] = set()
        for return_state in self._return_states():
            kinds |= CEL_NETWORK.next_kinds(return_state)
        return frozenset(kinds - {END})

    def _return_states(self) -> Iterable[State]:
        """Where the open rules return to, from the innermost outwards."""
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
    """A label that ends in `+` collects several parts."""
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


def _display_kinds(kinds: Kinds) -> str:
    shown = [tokens.display_kind(kind) for kind in sorted(kinds, key=tokens.token_order)]
    return shown[0] if len(shown) == 1 else "{" + ", ".join(shown) + "}"
