"""Answers of the prover as what is reported: `tests/cases/proofs.txt` has each of them whole, and
`pytest --update-golden` writes it anew, to be read like code."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any, Final

import pytest

pytest.importorskip("z3")

from celadon.admission import Operation, Request, Source
from celadon.cli.check.check_report import Place
from celadon.cli.exit_codes import Exit
from celadon.cli.proof_report import (
    CONDITION,
    PART,
    RULE,
    VALIDATION,
    ProofItem,
    ProofReport,
    kept_items,
)
from celadon.cli.proofs import (
    _OF_CONDITIONS,
    _OF_VARIABLES,
    PartProof,
    Proof,
    _change_item,
    _rule_item,
)
from celadon.cli.reading.documents import Problem
from celadon.kube import FieldPath, GroupVersionKind, Json
from celadon.kube.resources import known_resources
from celadon.prove import Answer, Comparison, Endpoint, Finding, Gap, Question, Reply
from celadon.prove.definitions import ChangeReply, RuleQuestion, RuleReply
from celadon.prove.definitions.rule_questions import Change, Subject
from celadon.prove.definitions.symbolic_rules import Node
from celadon.prove.policy_differences import Direction
from tests.paths import ROOT
from tests.prove.definitions.definitions import kind_of, obj

PROOFS: Final = ROOT / "tests" / "cases" / "proofs.txt"
PATH: Final = ("spec", "validations", 0, "expression")
LISTS: Final = ("object.spec.containers", "object.spec.volumes")


def endpoint(operation: Operation, kind: str = "Pod") -> Endpoint:
    gvk = GroupVersionKind("", "v1", kind)
    (resource,) = (one for one in known_resources() if one.gvk == gvk)
    return Endpoint(resource, gvk, operation)


CREATE, UPDATE = endpoint(Operation.CREATE), endpoint(Operation.UPDATE)
DELETE, SERVICE = endpoint(Operation.DELETE), endpoint(Operation.CREATE, "Service")


def request(of: Endpoint) -> Request:
    """A request with an object in which it says what it is."""
    manifest = {"kind": of.kind.kind, "metadata": {"name": of.operation.value.lower()}}
    is_deletion = of.operation is Operation.DELETE
    return Request(
        of.operation,
        of.kind,
        of.resource.gvr,
        object=None if is_deletion else manifest,
        old_object=None if of.operation is Operation.CREATE else manifest,
    )


def reply(question: Question, answer: Answer, of: Endpoint = CREATE, **more: Any) -> Reply:
    if answer is Answer.YES:
        more.setdefault("request", request(of))
    if answer is Answer.BOUNDED:
        more.setdefault("bounded", LISTS)
    if answer is Answer.UNKNOWN:
        more.setdefault("reason", "the variable authorizer")
    return Reply(0, question, answer, of, **more)


FAILS, REFUSES, ADMITS, MESSAGE = Question
YES, NO, BOUNDED, UNKNOWN = Answer


def every(fails: Answer, refuses: Answer, admits: Answer, of: Endpoint = CREATE) -> list[Reply]:
    """What is asked of every validation."""
    answers = zip((FAILS, REFUSES, ADMITS), (fails, refuses, admits), strict=True)
    return [reply(question, answer, of) for question, answer in answers]


VALIDATIONS: Final[dict[str, tuple[list[Reply], bool]]] = {
    "as it should be": (every(NO, YES, YES), False),
    "matches nothing": ([], False),
    "matches nothing that is known": ([], True),
    "fails everywhere": ([*every(YES, YES, YES), *every(YES, YES, YES, SERVICE)], False),
    "fails of deletions": ([*every(NO, YES, YES), *every(YES, YES, YES, DELETE)], False),
    "never refuses": ([*every(NO, NO, YES), *every(NO, NO, YES, UPDATE)], False),
    "refuses at one endpoint": ([*every(NO, NO, YES), *every(NO, YES, YES, UPDATE)], False),
    "never refuses what is known": (every(NO, NO, YES), True),
    "never refuses up to a bound": (
        [
            *every(BOUNDED, BOUNDED, YES),
            *(reply(one, BOUNDED, UPDATE, bounded=("params.a",), items=5)
              for one in (FAILS, REFUSES)),
        ],
        False,
    ),
    "never refuses what is known, up to a bound": (every(NO, BOUNDED, YES), True),
    "never admits": ([*every(NO, YES, NO), *every(NO, YES, NO, UPDATE)], False),
    "is never asked": (every(NO, NO, NO), False),
    "is never asked at one endpoint": ([*every(NO, NO, NO), *every(NO, YES, NO, UPDATE)], False),
    "has no message": ([*every(NO, YES, YES), reply(MESSAGE, YES)], False),
    "has a message": ([*every(NO, YES, YES), reply(MESSAGE, NO)], False),
    "fails, and has no message": ([*every(YES, YES, YES), reply(MESSAGE, YES, UPDATE)], False),
    "is not decided": (every(UNKNOWN, UNKNOWN, UNKNOWN), False),
    "is not decided for two reasons": (
        [
            reply(FAILS, UNKNOWN, offset=7),
            reply(REFUSES, UNKNOWN, reason="takes too long"),
            reply(ADMITS, UNKNOWN, UPDATE),
        ],
        False,
    ),
    "has no object": (every(YES, NO, YES, DELETE), False),
}  # fmt: skip

SAME, FINDING_BOUNDED, DIFFERS, UNDECIDED = Finding
GAP = Gap("the variable authorizer", "p", Source(FieldPath("spec")))


def compared(finding: Finding, **more: Any) -> Comparison:
    if finding is FINDING_BOUNDED:
        more.setdefault("bounded", LISTS)
    return Comparison(CREATE, Direction.LOOSER, finding, **more)


PARTS: Final[dict[str, tuple[list[Comparison], bool]]] = {
    "the same": ([compared(SAME), compared(SAME)], False),
    "the same, of what is known": ([compared(SAME)], True),
    "nothing": ([], False),
    "up to bounds": (
        [compared(SAME), compared(FINDING_BOUNDED),
         compared(FINDING_BOUNDED, bounded=("a", LISTS[0]), items=4)],
        False,
    ),
    "differs": ([compared(SAME), compared(DIFFERS)], False),
    "differs, and is not decided": ([compared(DIFFERS), compared(UNDECIDED, reason="a")], False),
    "is not decided": (
        [
            compared(UNDECIDED, gaps=(GAP, GAP)),
            compared(UNDECIDED, reason="takes too long"),
            compared(SAME),
            compared(FINDING_BOUNDED),
        ],
        False,
    ),
}  # fmt: skip

KIND: Final = kind_of(obj(size={"type": "integer"}))
NODE: Final = Node(("spec", "sizes", "[*]"), (), KIND.schema, ())
ROOT_NODE: Final = Node((), (), KIND.schema, ())


def rule(question: RuleQuestion, answer: Answer, index: int | None = 1, **more: Any) -> RuleReply:
    if answer is BOUNDED:
        more.setdefault("bounded", ("self.a", "self.a", "self.b"))
    if answer is UNKNOWN:
        more.setdefault("reason", "takes too long")
    return RuleReply(KIND, NODE, index, question, answer, **more)


AFTER, BEFORE = {"kind": "Widget", "now": True}, {"kind": "Widget", "now": False}
RULES: Final[dict[str, list[RuleReply]]] = {
    "as it should be": [rule(RuleQuestion.FAILS, NO), rule(RuleQuestion.REFUSES, YES)],
    "fails": [rule(RuleQuestion.FAILS, YES, example=AFTER, before=BEFORE)],
    "has no message": [
        rule(RuleQuestion.FAILS, NO, example=BEFORE),
        rule(RuleQuestion.MESSAGE, YES, example=AFTER),
    ],
    "at fault without an example": [rule(one, NO) for one in RuleQuestion],
    "no faults": [rule(one, YES) for one in (RuleQuestion.REFUSES, RuleQuestion.ADMITS,
                                             RuleQuestion.ALONE, RuleQuestion.FITS)],
    "up to a bound": [rule(one, BOUNDED) for one in RuleQuestion],
    "without the names of lists": [rule(RuleQuestion.ALONE, BOUNDED, bounded=())],
    "not decided": [
        *(rule(one, UNKNOWN, offset=3) for one in RuleQuestion),
        rule(RuleQuestion.FITS, UNKNOWN, reason="another reason"),
    ],
    "all rules": [rule(RuleQuestion.FITS, NO, None)],
}  # fmt: skip

CHANGED, REMOVED, REPLACED = Change


def changed(change: Change, answer: Answer, *, is_claimed: bool = True, **more: Any) -> ChangeReply:
    subject = Subject(NODE, 2, ("spec", "size"), (), is_claimed)
    if answer is BOUNDED:
        more.setdefault("bounded", ("self.a", "self.b"))
    return ChangeReply(KIND, subject, change, answer, **more)


CHANGES: Final[dict[str, list[ChangeReply]]] = {
    "never changes": [changed(one, NO) for one in Change],
    "changes": [changed(CHANGED, YES, objects=(BEFORE, AFTER)), changed(REMOVED, NO)],
    "is removed": [changed(REMOVED, YES, objects=(BEFORE, AFTER))],
    "is removed and added": [
        changed(CHANGED, NO),
        changed(REMOVED, YES, objects=(BEFORE, AFTER)),
        changed(REPLACED, YES, objects=(BEFORE, {"kind": "Widget"}, AFTER)),
    ],
    "makes no claim": [changed(CHANGED, YES, is_claimed=False, objects=(BEFORE, AFTER))],
    "up to a bound": [changed(one, BOUNDED, items=3) for one in Change],
    "not decided": [changed(one, UNKNOWN, reason="takes too long") for one in Change],
}


def _items() -> Iterator[tuple[str, ProofItem]]:
    for name, (replies, left_out) in VALIDATIONS.items():
        yield f"validation: {name}", Proof("p", PATH, tuple(replies), left_out).item
        for sort, words in (("condition", _OF_CONDITIONS), ("variable", _OF_VARIABLES)):
            proof = Proof("p", PATH, tuple(replies), left_out, CONDITION, words)
            yield f"{sort}: {name}", proof.item
    for name, (comparisons, left_out) in PARTS.items():
        part = PartProof("p", PATH, "changes nothing", tuple(comparisons), left_out, "as others")
        yield f"part: {name}", part.item
    root = ("spec", "versions", 1, "schema", "openAPIV3Schema")
    for name, rule_replies in RULES.items():
        for node in (NODE, ROOT_NODE):
            item = _rule_item("widgets", root, node, rule_replies[0].index, rule_replies)
            yield f"rule of {node.text or 'all'}: {name}", item
    for name, change_replies in CHANGES.items():
        yield f"change: {name}", _change_item("widgets", root, change_replies)


def _lines(name: str, item: ProofItem) -> Iterator[str]:
    yield f"# {name}"
    yield f"{item.sort} {item.subject} {item.field} at {'/'.join(map(str, item.path))}"
    states = {"finding": item.is_finding, "undecided": item.is_undecided}
    yield f"  {', '.join(state for state, holds in states.items() if holds) or 'fine'}"
    for remark in item.remarks:
        yield f"  {'fault' if remark.is_fault else 'remark'} {remark.title}: {remark.text}"
    for example in item.examples:
        yield f"  example {example.title}: {json.dumps(example.manifest)}"
    yield f"  {json.dumps(item.data)}"


def test_whole_items(request: pytest.FixtureRequest) -> None:
    written = "".join(f"{line}\n" for pair in _items() for line in _lines(*pair))
    if request.config.getoption("--update-golden"):
        PROOFS.write_text(written, encoding="utf-8")
    assert written == PROOFS.read_text(encoding="utf-8")


def test_what_is_kept_is_read_again() -> None:
    """All but what is never kept: whether something is undecided, and places."""
    items = [item for _, item in _items() if not item.is_undecided]
    kept = json.loads(json.dumps([asdict(item) for item in items]))
    again = kept_items(kept)
    assert again is not None
    shown = [[list(_lines("", item)) for item in some] for some in (items, again)]
    assert shown[0] == shown[1]
    for field in ("sort", "subject", "field", "path", "remarks", "data", "is_finding", "examples"):
        assert kept_items([{**kept[0], field: None}]) is None
        assert kept_items([{key: value for key, value in kept[0].items() if key != field}]) is None
    wrong_steps: tuple[Json, ...] = (None, 1.5, {})
    for step in wrong_steps:
        assert kept_items([{**kept[0], "path": [step]}]) is None
    assert kept_items(None) is None


FINDING: Final = ProofItem(RULE, "", "", (), (), {}, is_finding=True)
FINE: Final = ProofItem(VALIDATION, "", "", (), (), {}, is_undecided=True)
PROBLEM: Final = Problem("p.yaml", 1, "cannot be read")


@pytest.mark.parametrize(
    ("items", "problems", "code"),
    [
        ((), (), Exit.OK),
        ((FINE,), (), Exit.OK),
        ((FINE, FINDING), (), Exit.DENIED),
        ((FINDING,), (PROBLEM,), Exit.USAGE),
    ],
)
def test_exit_codes(
    items: tuple[ProofItem, ...], problems: tuple[Problem, ...], code: Exit
) -> None:
    report = ProofReport(items, problems)
    assert report.exit is code
    assert report.of(RULE) == [item for item in items if item is FINDING]
    assert report.of(PART) == []
    assert all(item.place == Place() for item in items)
