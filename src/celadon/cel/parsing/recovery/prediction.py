"""Which alternative of a decision the coming tokens ask for.

This is the adaptive prediction of ANTLR 4 (Parr, Harwell, Fisher: "Adaptive LL(*) Parsing"): all
alternatives are followed through the network at once, token by token, until one is left.

Theory of operation. A *path* is a state that can be reached, the alternative it came from, and the
stack of states to return to. Paths with the same state and alternative are kept together, with the
set of their stacks (`Group`). There are two rounds:

1. *Without context.* At the bottom of the stack a rule may return to wherever it is invoked. This
   depends on nothing but the decision, the precedence and the tokens, so states of this round are
   remembered (`_Node`) and most predictions are a few dictionary lookups.
2. *With context.* If two alternatives come to the same state with the same stacks, the first round
   cannot tell them apart. It begins again with the true stack of open rules.

If no alternative can go on, one that has completed its rule is taken, in the hope that the caller
can do more with the token. If there is none, the decision fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from celadon.cel.parsing import tokens
from celadon.cel.parsing.recovery.grammar_network import CEL_NETWORK, Network, State, StateKind


class Context:
    """The open rules of the parser: where the last one returns to, and the context it is in.

    Rules that are open in the same way share one instance. The first rule has no `return_state`.
    """

    __slots__ = ("_inner", "parent", "return_state")

    def __init__(self, return_state: State | None = None, parent: Context | None = None) -> None:
        self.return_state = return_state
        self.parent = parent
        self._inner: dict[int, Context] = {}

    def enter(self, return_state: State) -> Context:
        """The context inside a rule that will return to that state; one object for one stack."""
        inner = self._inner.get(return_state.number)
        if inner is None:
            inner = self._inner[return_state.number] = Context(return_state, self)
        return inner


#: States to return to, the next one first. Its end is None (nothing more, or in the first round:
#: anything) or, in the second round, a context of the parser.
Stack: TypeAlias = "tuple[State, Stack] | Context | None"
#: What comes at a position ahead; 1 is the current token.
Lookahead: TypeAlias = Callable[[int], str]


class NoViableAlternativeError(Exception):
    """Prediction failed at the token this far ahead."""

    def __init__(self, ahead: int) -> None:
        super().__init__(ahead)
        self.ahead = ahead


class _Path(NamedTuple):
    """`needs` is a precedence still to be checked. `escaped`: the path has left the rule of the
    decision. `exempt`: it left it to where it was invoked without precedence."""

    state: State
    alternative: int
    stack: Stack
    needs: int = 0
    escaped: bool = False
    exempt: bool = False


@dataclass(slots=True, eq=False)
class Group:
    """Paths that differ in their stacks only."""

    state: State
    alternative: int
    needs: int
    stacks: set[Stack] = field(default_factory=set)
    escaped: bool = False
    exempt: bool = False


class _Checks(NamedTuple):
    """What counts on the way from the start of a decision: its rule, and the precedence there."""

    rule: str
    precedence: int


@dataclass(slots=True, eq=False)
class _Node:
    """A state of the first round. `alternative` is the only one left, if there is only one."""

    groups: tuple[Group, ...]
    alternative: int | None
    in_conflict: bool
    next: dict[str, _Node | None] = field(default_factory=dict)


class _Round:
    """Follows paths without context, or with contexts. Remembers where it has been."""

    def __init__(self, network: Network, *, with_context: bool) -> None:
        self._network = network
        self._with_context = with_context
        self._starts: dict[tuple[int, int, Context | None], _Node] = {}
        self._nodes: dict[frozenset[object], _Node] = {}

    def start(self, decision: State, precedence: int, context: Context | None) -> _Node:
        if not decision.is_suffix_loop:
            precedence = 0
        key = (decision.number, precedence, context)
        node = self._starts.get(key)
        if node is None:
            groups = self._follow_start(decision, precedence, context)
            if decision.is_suffix_loop and not self._with_context:
                groups = _by_precedence(groups, precedence)
            node = self._starts[key] = self._node(groups)
        return node

    def step(self, node: _Node, kind: str) -> _Node | None:
        """Where a token of that kind leads; None if nowhere."""
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
            alternative = _only(groups)
            if alternative is None and self._with_context:
                alternative = _viable(groups)
            in_conflict = alternative is None and not self._with_context and _conflicts(groups)
            node = self._nodes[key] = _Node(groups, alternative, in_conflict)
        return node

    def _follow_start(self, decision: State, precedence: int, stack: Stack) -> tuple[Group, ...]:
        paths = (
            _Path(transition.target, number, stack)
            for number, transition in enumerate(decision.transitions, start=1)
        )
        rule = decision.rule if decision.is_suffix_loop else ""
        return self._follow(paths, _Checks(rule, precedence), at_end=False)

    def _reach(self, groups: Iterable[Group], kind: str) -> tuple[Group, ...]:
        """Where the paths are after a token of this kind."""
        stopped: list[Group] = []
        moved: list[_Path] = []
        at_end = kind == tokens.EOF
        for group in groups:
            if group.state.kind is StateKind.STOP:
                stopped.append(group)
            for transition in group.state.transitions:
                if kind in transition.kinds:
                    moved.extend(_moved(group, transition.target))
        reached = self._follow(moved, None, at_end=at_end)
        if at_end:
            reached = tuple(g for g in reached if g.state.kind is StateKind.STOP)
        if self._with_context or at_end:
            have_stopped = any(g.state.kind is StateKind.STOP for g in reached)
            if not (self._with_context and have_stopped):
                reached += tuple(stopped)
        return reached

    def _follow(
        self, paths: Iterable[_Path], checks: _Checks | None, *, at_end: bool
    ) -> tuple[Group, ...]:
        """All places before a token that the paths lead to by free steps."""
        groups: dict[tuple[State, int, int], Group] = {}
        pending = [(path, 0) for path in paths]
        seen = {path for path, _ in pending}
        while pending:
            path, depth = pending.pop()
            state, alternative, stack, needs, escaped, exempt = path
            if state.kind is StateKind.STOP and stack is not None:
                nexts = [(_returned(path), depth - 1)]
            else:
                if _waits(state, with_context=self._with_context):
                    group = groups.setdefault(
                        (state, alternative, needs), Group(state, alternative, needs)
                    )
                    group.stacks.add(stack)
                    group.escaped |= escaped
                    group.exempt |= exempt
                nexts = self._successors(path, depth, checks, at_end=at_end)
            for step in nexts:
                if step[0] not in seen:
                    seen.add(step[0])
                    pending.append(step)
        if not self._with_context:
            for group in groups.values():
                group.stacks = _absorbed(group.stacks)
        return tuple(groups.values())

    def _successors(
        self, path: _Path, depth: int, checks: _Checks | None, *, at_end: bool
    ) -> list[tuple[_Path, int]]:
        """One free step. `depth` counts the rules entered since the start of the decision."""
        state, stack = path.state, path.stack
        if state.kind is StateKind.STOP:
            return [] if self._with_context else _anywhere(path, depth, checks)
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
            elif checks is not None and depth == 0 and transition.precedence:
                if not self._with_context:
                    needed = path._replace(state=transition.target, needs=transition.precedence)
                    nexts.append((needed, depth))
                elif transition.precedence >= checks.precedence:
                    nexts.append((path._replace(state=transition.target), depth))
            else:
                nexts.append((path._replace(state=transition.target), depth))
        return nexts


def _anywhere(path: _Path, depth: int, checks: _Checks | None) -> list[tuple[_Path, int]]:
    """From the end of a rule, without context, to wherever the rule is invoked."""
    rule = "" if checks is None else checks.rule
    leaves = [(t.target, t.outermost and path.state.rule == rule) for t in path.state.transitions]
    return [
        (path._replace(state=target, escaped=True, exempt=path.exempt or exempt), depth - 1)
        for target, exempt in leaves
    ]


def _moved(group: Group, target: State) -> Iterable[_Path]:
    for stack in group.stacks:
        yield _Path(target, group.alternative, stack, 0, group.escaped, group.exempt)


def _returned(path: _Path) -> _Path:
    """At the end of a rule with something on the stack."""
    stack = path.stack
    if isinstance(stack, tuple):
        state, rest = stack
        return path._replace(state=state, stack=rest)
    assert stack is not None
    if stack.return_state is None:
        return path._replace(stack=None)
    return path._replace(state=stack.return_state, stack=stack.parent)


def _waits(state: State, *, with_context: bool) -> bool:
    """Whether a path stays in this state: before a token, or at the end of everything."""
    if state.kind is StateKind.STOP:
        return with_context or not state.transitions
    return any(transition.kinds for transition in state.transitions)


def _is_inner_loop(state: State, stack: Stack) -> bool:
    """Whether this loop is inside the right operand of another round of the same loop.

    An operator that follows is then left to the outer loop.
    """
    if not state.is_suffix_loop or stack is None:
        return False
    returns_to = stack[0] if isinstance(stack, tuple) else stack.return_state
    return returns_to is not None and returns_to.number in state.operand_returns


def _by_precedence(groups: tuple[Group, ...], precedence: int) -> tuple[Group, ...]:
    """Keeps what the precedence of the open rule allows.

    Entering the loop (alternative 1) needs a precedence. Leaving it is dropped where entering it
    leads to the same place.
    """
    kept = [g for g in groups if g.alternative == 1 and (not g.needs or g.needs >= precedence)]
    entered = {g.state: g.stacks for g in kept}
    for group in groups:
        same = entered.get(group.state) == group.stacks and not group.exempt
        if group.alternative != 1 and not same:
            kept.append(group)
    return tuple(kept)


def _completed(groups: Iterable[Group], ahead: int) -> int:
    """The first alternative whose rule is complete."""
    complete = [
        g.alternative
        for g in groups
        if g.escaped or (g.state.kind is StateKind.STOP and None in g.stacks)
    ]
    if not complete:
        raise NoViableAlternativeError(ahead)
    return min(complete)


def _only(groups: Iterable[Group]) -> int | None:
    alternatives = {group.alternative for group in groups}
    return alternatives.pop() if len(alternatives) == 1 else None


def _absorbed(stacks: Iterable[Stack]) -> set[Stack]:
    """Without context, a stack whose end may be anything includes all that only continue it."""
    by_top: dict[State, set[Stack]] = {}
    for stack in stacks:
        if not isinstance(stack, tuple):
            return {None}
        by_top.setdefault(stack[0], set()).add(stack[1])
    return {(top, rest) for top, rests in by_top.items() for rest in _absorbed(rests)}


def _subsets(groups: Iterable[Group]) -> list[set[int]]:
    """For each place (state and stacks), the alternatives that lead there."""
    places: dict[tuple[State, frozenset[Stack]], set[int]] = {}
    for group in groups:
        place = (group.state, frozenset(group.stacks))
        places.setdefault(place, set()).add(group.alternative)
    return list(places.values())


def _conflicts(groups: tuple[Group, ...]) -> bool:
    """Whether more tokens would not help the first round."""
    if all(group.state.kind is StateKind.STOP for group in groups):
        return True
    if all(len(subset) == 1 for subset in _subsets(groups)):
        return False
    by_state: dict[State, set[int]] = {}
    for group in groups:
        by_state.setdefault(group.state, set()).add(group.alternative)
    return all(len(alternatives) > 1 for alternatives in by_state.values())


def _viable(groups: tuple[Group, ...]) -> int | None:
    """The alternative that wins in all places, in each of which the first one wins."""
    winners = {min(subset) for subset in _subsets(groups)}
    return winners.pop() if len(winners) == 1 else None


#: What is remembered without context is the same for all texts, and finite.
_WITHOUT_CONTEXT = _Round(CEL_NETWORK, with_context=False)


class Predictor:
    """For one parse, because contexts differ from text to text."""

    def __init__(self) -> None:
        self._in_context = _Round(CEL_NETWORK, with_context=True)

    def predict(self, decision: State, precedence: int, context: Context, look: Lookahead) -> int:
        """The number of the alternative, from 1. Raises `NoViableAlternativeError`."""
        node = _WITHOUT_CONTEXT.start(decision, precedence, None)
        alternative = _run(_WITHOUT_CONTEXT, node, look)
        if alternative is None:
            node = self._in_context.start(decision, precedence, context)
            alternative = _run(self._in_context, node, look)
        assert alternative is not None
        return alternative


def _run(how: _Round, node: _Node, look: Lookahead) -> int | None:
    """The alternative; None if two of them are in conflict."""
    ahead = 1
    while True:
        kind = look(ahead)
        following = how.step(node, kind)
        if following is None:
            return _completed(node.groups, ahead)
        if following.in_conflict or following.alternative is not None:
            return following.alternative
        node = following
        ahead += kind != tokens.EOF
