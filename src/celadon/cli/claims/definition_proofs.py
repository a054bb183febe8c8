"""What `celadon prove` says of the validation rules of CustomResourceDefinitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final

from celadon.cli.claims.proof_report import RULE, ProofExample, ProofItem, Remark
from celadon.kube import Json, JsonObject, metadata
from celadon.kube.crd import CustomKind
from celadon.kube.releases import answering_as
from celadon.prove import Answer
from celadon.prove.definitions import (
    ChangeReply,
    DefinitionProver,
    RuleNode,
    RuleQuestion,
    RuleReply,
    Transitions,
    schema_path,
)

_UNDECIDED: Final = "not decided"
_PROVED: Final = (Answer.NO, Answer.BOUNDED)

_FAULTS: Final = {
    (RuleQuestion.FAILS, Answer.YES): "can fail",
    (RuleQuestion.MESSAGE, Answer.YES): "can have no message",
    (RuleQuestion.REFUSES, Answer.NO): "never refuses (proved)",
    (RuleQuestion.ADMITS, Answer.NO): "never admits (proved)",
    (RuleQuestion.ALONE, Answer.NO): "changes nothing (proved)",
    (RuleQuestion.FITS, Answer.NO): "admit nothing together (proved)",
}
"""Answers that are faults, and what they are called."""


def definition_items(
    definition: JsonObject,
    version: str,
    items: int,
    seconds: float,
    progress: Callable[[str], None],
) -> Iterator[ProofItem]:
    """What there is to say of each rule, of the rules at a place, and of each field that does not
    change; versions with the same schema are asked once."""
    name = metadata.name(definition)
    prover = DefinitionProver(definition, version, items, seconds)
    asked: list[CustomKind] = []
    for number, kind in enumerate(prover.kinds.values()):
        if any(kind.schema == one.schema for one in asked):
            continue
        asked.append(kind)
        root = ("spec", "versions", number, "schema", "openAPIV3Schema")
        replies = prover.replies(kind)
        for (node, index), group in groupby(replies, lambda one: (one.node, one.index)):
            progress(f"{name} {kind.gvk.version} {node.text or 'the object'}")
            yield _rule_item(name, root, node, index, list(group))
        with answering_as(version):
            changes = Transitions(kind, version, items, seconds).replies()
            for subject, found in groupby(changes, lambda one: one.subject):
                progress(f"{name} {kind.gvk.version} {subject.text}")
                yield _change_item(name, root, list(found))


def _rule_item(
    name: str,
    root: tuple[str | int, ...],
    node: RuleNode,
    index: int | None,
    replies: Sequence[RuleReply],
) -> ProofItem:
    path = (*schema_path(root, node.names), "x-kubernetes-validations")
    field = f"{root[1]}[{root[2]}] {node.text or 'the object'}"
    if index is not None:
        path, field = (*path, index, "rule"), f"{field} rule {index}"
    faults = [one for one in replies if _fault(one) is not None]
    shown = next((one for one in faults if one.example is not None), None)
    examples = [] if shown is None else _examples(shown)
    return ProofItem(
        RULE,
        name,
        field,
        path,
        tuple(_remarks(replies)),
        {"answers": [_rule_json(one) for one in replies]},
        bool(faults),
        any(one.answer is Answer.UNKNOWN for one in replies),
        tuple(examples),
    )


def _fault(reply: RuleReply) -> str | None:
    answer = Answer.NO if reply.answer is Answer.BOUNDED else reply.answer
    return _FAULTS.get((reply.question, answer))


def _remarks(replies: Sequence[RuleReply]) -> Iterator[Remark]:
    for reply in replies:
        title = _fault(reply)
        if title is not None:
            yield Remark(title, _bounds(reply), is_fault=True)
    reasons: dict[str, list[str]] = {}
    for reply in replies:
        if reply.answer is Answer.UNKNOWN:
            reasons.setdefault(reply.reason, []).append(f"{reply.question.value}?")
    for reason, questions in reasons.items():
        yield Remark(_UNDECIDED, f"{', '.join(questions)} {reason}")


def _bounds(reply: RuleReply | ChangeReply) -> str:
    if not reply.bounded:
        return ""
    return f"with at most {reply.items} items in {', '.join(dict.fromkeys(reply.bounded))}"


def _examples(reply: RuleReply) -> Iterator[ProofExample]:
    assert reply.example is not None
    if reply.before is not None:
        yield ProofExample(reply.before, "before")
    yield ProofExample(reply.example, "" if reply.before is None else "after")


def _rule_json(reply: RuleReply) -> JsonObject:
    found: dict[str, Json] = {
        "question": reply.question.value,
        "answer": reply.answer.value,
    }
    if reply.example is not None:
        found["object"] = reply.example
    if reply.before is not None:
        found["oldObject"] = reply.before
    if reply.reason:
        found["reason"] = reply.reason
    if reply.offset is not None:
        found["offset"] = reply.offset
    if reply.bounded:
        found |= {"items": reply.items, "bounded": list(reply.bounded)}
    return found


def _change_item(
    name: str, root: tuple[str | int, ...], replies: Sequence[ChangeReply]
) -> ProofItem:
    subject = replies[0].subject
    node = subject.node
    path = (*schema_path(root, node.names), "x-kubernetes-validations", subject.rule, "rule")
    faults = [one for one in replies if one.is_finding]
    remarks = [
        *(Remark(one.change.value, is_fault=True) for one in faults),
        *(
            Remark(f"cannot {one.change.value.removeprefix('can ')} (proved)", _bounds(one))
            for one in replies
            if one.answer in _PROVED
        ),
        *(
            Remark(_UNDECIDED, f"{one.change.value}? {one.reason}")
            for one in replies
            if one.answer is Answer.UNKNOWN
        ),
    ]
    objects = faults[-1].objects if faults else ()
    return ProofItem(
        RULE,
        name,
        f"{root[1]}[{root[2]}] {subject.text} (unchanged)",
        path,
        tuple(remarks),
        {
            "subject": subject.text,
            "isClaimed": subject.is_claimed,
            "answers": [_change_json(one) for one in replies],
        },
        bool(faults),
        any(one.answer is Answer.UNKNOWN for one in replies),
        tuple(
            ProofExample(one, title) for one, title in zip(objects, _titles(objects), strict=True)
        ),
    )


def _titles(objects: Sequence[JsonObject]) -> list[str]:
    if len(objects) < 3:
        return ["before", "after"][: len(objects)]
    return ["created", "then removed", "then added again"]


def _change_json(reply: ChangeReply) -> JsonObject:
    found: dict[str, Json] = {"question": reply.change.value, "answer": reply.answer.value}
    if reply.objects:
        found["objects"] = list(reply.objects)
    if reply.reason:
        found["reason"] = reply.reason
    if reply.bounded:
        found |= {"items": reply.items, "bounded": list(reply.bounded)}
    return found
