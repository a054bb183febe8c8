from __future__ import annotations

from celadon.cel.parsing import tokens
from celadon.cel.parsing.antlr_grammar import (
    CEL_NETWORK,
    END,
    GRAMMAR,
    ChoiceStep,
    Network,
    StateKind,
    Step,
)


def test_all_rules_of_the_grammar_begin_somewhere() -> None:
    for rule, start in CEL_NETWORK.starts.items():
        kinds = CEL_NETWORK.next_kinds(start)
        assert kinds
        assert END not in kinds, f"{rule} can match nothing"


def test_what_may_come_next() -> None:
    assert CEL_NETWORK.next_kinds(CEL_NETWORK.starts["escapeIdent"]) == {
        tokens.IDENTIFIER,
        tokens.ESC_IDENTIFIER,
    }
    stops = [state for state in CEL_NETWORK.states if state.kind is StateKind.STOP]
    assert len(stops) == len(GRAMMAR)
    assert all(CEL_NETWORK.next_kinds(state) == {END} for state in stops)


def test_which_decisions_need_prediction() -> None:
    needed = {rule for rule, steps in CEL_NETWORK.steps.items() if _needs_prediction(steps)}
    assert needed == {
        *("relation", "calc", "unary", "member", "primary", "literal"),
        *("listInit", "mapInitializerList", "fieldInitializerList"),
    }


def _needs_prediction(steps: tuple[Step, ...]) -> bool:
    return any(
        isinstance(step, ChoiceStep)
        and (step.look is None or any(map(_needs_prediction, step.branches)))
        for step in steps
    )


def test_networks_do_not_share_states() -> None:
    other = Network(GRAMMAR)
    assert len(other.states) == len(CEL_NETWORK.states)
    assert not set(map(id, other.states)) & set(map(id, CEL_NETWORK.states))
