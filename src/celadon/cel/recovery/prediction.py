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
from typing import NamedTuple, Protocol, TypeAlias

from celadon.cel import tokens
from celadon.cel.recovery.network import CEL_NETWORK, Network, State, StateKind


class Frame(Protocol):
    """An open rule of the parser; `return_state` is None for the first one."""

    @property
    def return_state(self) -> State | None: ...

    @property
    def parent(self) -> Frame | None: ...


#: States to return to, the next one first. Its end is None (nothing more, or in the first round:
#: anything) or, in the second round, an open rule of the parser.
Stack: TypeAlias = "tuple[State, Stack] | Frame | None"
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


class _Round(NamedTuple):
    """How paths are followed. `precedence` is that of the open rule, where it matters."""

    rule: str
    with_context: bool
    precedence: int


@dataclass(slots=True, eq=False)
class _Node:
    """A state of the first round. `alternative` is the only one left, if there is only one."""

    groups: tuple[Group, ...]
    alternative: int | None
    in_conflict: bool
    next: dict[str, _Node | None] = field(default_factory=dict)


class Predictor:
    """Remembers the first round of all decisions, which changes no answer."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._starts: dict[tuple[int, int], _Node] = {}
        self._nodes: dict[frozenset[object], _Node] = {}

    def predict(self, decision: State, precedence: int, frame: Frame, look: Lookahead) -> int:
        """The number of the alternative, from 1. Raises `NoViableAlternativeError`."""
        if not decision.is_suffix_loop:
            precedence = 0
        node = self._start(decision, precedence)
        ahead = 1
        while True:
            kind = look(ahead)
            following = self._step(node, kind)
            if following is None:
                return _completed(node.groups, ahead)
            if following.in_conflict:
                return self._predict_in_context(decision, precedence, frame, look)
            if following.alternative is not None:
                return following.alternative
            node = following
            ahead += kind != tokens.EOF

    def _predict_in_context(
        self, decision: State, precedence: int, frame: Frame, look: Lookahead
    ) -> int:
        how = _Round("", with_context=True, precedence=precedence)
        groups = self._follow_start(decision, frame, how)
        ahead = 1
        while True:
            kind = look(ahead)
            following = self._reach(groups, kind, how)
            if not following:
                return _completed(groups, ahead)
            alternative = _only(following) or _viable(following)
            if alternative is not None:
                return alternative
            groups = following
            ahead += kind != tokens.EOF

    def _start(self, decision: State, precedence: int) -> _Node:
        key = (decision.number, precedence)
        node = self._starts.get(key)
        if node is None:
            rule = decision.rule if decision.is_suffix_loop else ""
            groups = self._follow_start(decision, None, _Round(rule, False, precedence))
            if decision.is_suffix_loop:
                groups = _by_precedence(groups, precedence)
            node = self._starts[key] = self._node(groups)
        return node

    def _step(self, node: _Node, kind: str) -> _Node | None:
        if kind in node.next:
            return node.next[kind]
        groups = self._reach(node.groups, kind, _Round("", with_context=False, precedence=0))
        following = self._node(groups) if groups else None
        node.next[kind] = following
        return following

    def _node(self, groups: tuple[Group, ...]) -> _Node:
        key = frozenset((g.state, g.alternative, g.escaped, frozenset(g.stacks)) for g in groups)
        node = self._nodes.get(key)
        if node is None:
            alternative = _only(groups)
            in_conflict = alternative is None and _conflicts(groups)
            node = self._nodes[key] = _Node(groups, alternative, in_conflict)
        return node

    def _follow_start(self, decision: State, stack: Stack, how: _Round) -> tuple[Group, ...]:
        paths = (
            _Path(transition.target, number, stack)
            for number, transition in enumerate(decision.transitions, start=1)
        )
        return self._follow(paths, how, checking=True, at_end=False)

    def _reach(self, groups: Iterable[Group], kind: str, how: _Round) -> tuple[Group, ...]:
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
        reached = self._follow(moved, how, checking=False, at_end=at_end)
        if at_end:
            reached = tuple(g for g in reached if g.state.kind is StateKind.STOP)
        if how.with_context or at_end:
            have_stopped = any(g.state.kind is StateKind.STOP for g in reached)
            if not (how.with_context and have_stopped):
                reached += tuple(stopped)
        return reached

    def _follow(
        self, paths: Iterable[_Path], how: _Round, *, checking: bool, at_end: bool
    ) -> tuple[Group, ...]:
        """All places before a token that the paths lead to. With `checking`, precedences count."""
        groups: dict[tuple[State, int, int], Group] = {}
        pending = [(path, 0) for path in paths]
        seen = {path for path, _ in pending}
        while pending:
            path, depth = pending.pop()
            state, alternative, stack, needs, escaped, exempt = path
            if state.kind is StateKind.STOP and stack is not None:
                nexts = [(_returned(path), depth - 1)]
            else:
                if _waits(state, with_context=how.with_context):
                    group = groups.setdefault(
                        (state, alternative, needs), Group(state, alternative, needs)
                    )
                    group.stacks.add(stack)
                    group.escaped |= escaped
                    group.exempt |= exempt
                nexts = self._successors(path, depth, how, checking=checking, at_end=at_end)
            for step in nexts:
                if step[0] not in seen:
                    seen.add(step[0])
                    pending.append(step)
        if not how.with_context:
            for group in groups.values():
                group.stacks = _absorbed(group.stacks)
        return tuple(groups.values())

    def _successors(
        self, path: _Path, depth: int, how: _Round, *, checking: bool, at_end: bool
    ) -> list[tuple[_Path, int]]:
        """One free step. `depth` counts the rules entered since the start of the decision."""
        state, alternative, stack, needs, _, exempt = path
        if state.kind is StateKind.STOP:
            if how.with_context:
                return []
            return [
                (
                    _Path(
                        *(t.target, alternative, None, needs, True),
                        exempt or (t.outermost and state.rule == how.rule),
                    ),
                    depth - 1,
                )
                for t in state.transitions
            ]
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
            elif checking and depth == 0 and transition.precedence:
                if not how.with_context:
                    needed = path._replace(state=transition.target, needs=transition.precedence)
                    nexts.append((needed, depth))
                elif transition.precedence >= how.precedence:
                    nexts.append((path._replace(state=transition.target), depth))
            else:
                nexts.append((path._replace(state=transition.target), depth))
        return nexts


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


CEL_PREDICTOR = Predictor(CEL_NETWORK)
