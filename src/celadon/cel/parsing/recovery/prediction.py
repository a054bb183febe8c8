"""Which alternative of a decision the coming tokens ask for.

This is the adaptive prediction of ANTLR 4 (Parr, Harwell, Fisher: "Adaptive LL(*) Parsing"): all
alternatives are followed through the network at once, token by token, until one is left.

Theory of operation. A *path* is a state that can be reached, the alternative it came from, and the
stack of states to return to. Paths with the same state and alternative are kept together, with the
set of their stacks (`Group`). At the bottom of the stack a rule may return to wherever it is
invoked. This depends on nothing but the decision, the precedence and the tokens, so states are
remembered (`_Node`) and most predictions are a few dictionary lookups.

If two alternatives come to the same state with the same stacks, more tokens cannot tell them apart,
and the first alternative is taken: cel-go predicts in ANTLR's mode SLL, which never looks at the
rules that are really open.

If no alternative can go on, one that has completed its rule is taken, in the hope that the caller
can do more with the token. If there is none, the decision fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import field
from typing import NamedTuple, TypeAlias

from celadon.cel.parsing import tokens
from celadon.cel.parsing.recovery.grammar_network import CEL_NETWORK, Network, State, StateKind
from celadon.records import dataclass

#: States to return to, the next one first. Its end is None: anything.
Stack: TypeAlias = "tuple[State, Stack] | None"
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


@dataclass(slots=True, eq=False)
class _Node:
    """Where the paths are before a token. `alternative` is the one to take, if that is decided."""

    groups: tuple[Group, ...]
    alternative: int | None
    next: dict[str, _Node | None] = field(default_factory=dict)


class _Paths:
    """Follows paths through a network. Remembers where it has been."""

    def __init__(self, network: Network) -> None:
        self._network = network
        self._starts: dict[tuple[int, int], _Node] = {}
        self._nodes: dict[frozenset[object], _Node] = {}

    def start(self, decision: State, precedence: int) -> _Node:
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
            node = self._nodes[key] = _Node(groups, _decided(groups))
        return node

    def _follow_start(self, decision: State) -> tuple[Group, ...]:
        paths = (
            _Path(transition.target, number, None)
            for number, transition in enumerate(decision.transitions, start=1)
        )
        rule = decision.rule if decision.is_suffix_loop else ""
        return self._follow(paths, rule, at_end=False)

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
            reached += tuple(stopped)
        return reached

    def _follow(
        self, paths: Iterable[_Path], deciding: str | None, *, at_end: bool
    ) -> tuple[Group, ...]:
        """All places before a token that the paths lead to by free steps. `deciding` is the rule
        with the suffixes to decide on; empty for other decisions, None beyond the start of one."""
        groups: dict[tuple[State, int, int], Group] = {}
        pending = [(path, 0) for path in paths]
        seen = {path for path, _ in pending}
        while pending:
            path, depth = pending.pop()
            state, alternative, stack, needs, escaped, exempt = path
            if state.kind is StateKind.STOP and stack is not None:
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
        if state.kind is StateKind.STOP:
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


def _moved(group: Group, target: State) -> Iterable[_Path]:
    for stack in group.stacks:
        yield _Path(target, group.alternative, stack, 0, group.escaped, group.exempt)


def _waits(state: State) -> bool:
    """Whether a path stays in this state: before a token, or at the end of everything."""
    if state.kind is StateKind.STOP:
        return not state.transitions
    return any(transition.kinds for transition in state.transitions)


def _is_inner_loop(state: State, stack: Stack) -> bool:
    """Whether this loop is inside the right operand of another round of the same loop.

    An operator that follows is then left to the outer loop.
    """
    if not state.is_suffix_loop or stack is None:
        return False
    return stack[0].number in state.operand_returns


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


def _decided(groups: tuple[Group, ...]) -> int | None:
    """The only alternative left, or the first of those that no token can tell apart."""
    alternatives = {group.alternative for group in groups}
    return min(alternatives) if len(alternatives) == 1 or _conflicts(groups) else None


def _absorbed(stacks: Iterable[Stack]) -> set[Stack]:
    """A stack whose end may be anything includes all that only continue it."""
    by_top: dict[State, set[Stack]] = {}
    for stack in stacks:
        if stack is None:
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
    """Whether more tokens would not help."""
    if all(group.state.kind is StateKind.STOP for group in groups):
        return True
    if all(len(subset) == 1 for subset in _subsets(groups)):
        return False
    by_state: dict[State, set[int]] = {}
    for group in groups:
        by_state.setdefault(group.state, set()).add(group.alternative)
    return all(len(alternatives) > 1 for alternatives in by_state.values())


#: What is remembered is the same for all texts, and finite.
_PATHS = _Paths(CEL_NETWORK)


def predict(decision: State, precedence: int, look: Lookahead) -> int:
    """The number of the alternative, from 1. Raises `NoViableAlternativeError`."""
    node = _PATHS.start(decision, precedence)
    ahead = 1
    while True:
        kind = look(ahead)
        following = _PATHS.step(node, kind)
        if following is None:
            return _completed(node.groups, ahead)
        if following.alternative is not None:
            return following.alternative
        node = following
        ahead += kind != tokens.EOF
