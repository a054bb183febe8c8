"""What `celadon prove` says of the validation rules of CustomResourceDefinitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Final

from celadon.admission import Operation
from celadon.cli.proof_report import OPEN, PROVED, RULE, UNDECIDED, ProofExample, ProofItem, Remark
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
    """Yield what there is to say of each rule, of the rules at a place, and of each field that does
    not change; versions with the same schema are asked once."""
    name = metadata.name(definition)
    prover = DefinitionProver(definition, version, items, seconds)
    custom_kinds: list[CustomKind] = []
    for number, kind in enumerate(prover.kinds.values()):
        if any(kind.schema == custom_kind.schema for custom_kind in custom_kinds):
            continue
        custom_kinds.append(kind)
        root = ("spec", "versions", number, "schema", "openAPIV3Schema")
        replies = prover.replies(kind)
        for (node, index), group in groupby(replies, lambda reply: (reply.node, reply.index)):
            progress(f"{name} {kind.gvk.version} {node.text or 'the object'}")
            yield _rule_item(name, root, node, index, list(group))
        with answering_as(version):
            changes = Transitions(kind, version, items, seconds).replies()
            for subject, same in groupby(changes, lambda reply: reply.subject):
                progress(f"{name} {kind.gvk.version} {subject.text}")
                yield _change_item(name, root, list(same))


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
    faults = [reply for reply in replies if _fault(reply) is not None]
    reply = next((fault for fault in faults if fault.example is not None), None)
    examples = [] if reply is None else _examples(reply)
    return ProofItem(
        RULE,
        name,
        field,
        path,
        tuple(_remarks(replies)),
        {"answers": [_rule_json(reply) for reply in replies]},
        bool(faults),
        any(reply.answer is Answer.UNKNOWN for reply in replies),
        tuple(examples),
    )


def _fault(reply: RuleReply) -> str | None:
    return _FAULTS.get((reply.question, reply.answer))


def _remarks(replies: Sequence[RuleReply]) -> Iterator[Remark]:
    for reply in replies:
        title = _fault(reply)
        if title is not None:
            yield Remark(title, is_fault=True)
        elif reply.answer is Answer.BOUNDED and (reply.question, Answer.NO) in _FAULTS:
            # It would be at fault if longer lists had nothing else; nobody knows that.
            yield Remark(OPEN, f"{reply.question.value}? not {_bounds_of_rule(reply)}")
    reasons: dict[str, list[str]] = {}
    for reply in replies:
        if reply.answer is Answer.UNKNOWN:
            reasons.setdefault(reply.reason, []).append(f"{reply.question.value}?")
    for reason, questions in reasons.items():
        yield Remark(UNDECIDED, f"{', '.join(questions)} {reason}")


def _bounds_of_rule(reply: RuleReply | ChangeReply) -> str:
    if not reply.bounded:
        return ""
    return f"with at most {reply.items} items in {', '.join(dict.fromkeys(reply.bounded))}"


def _examples(reply: RuleReply) -> Iterator[ProofExample]:
    assert reply.example is not None
    if reply.before is not None:
        yield ProofExample(reply.before, "before")
    yield _step(reply.example, "" if reply.before is None else "after", reply.before)


def _step(manifest: JsonObject, title: str, before: JsonObject | None) -> ProofExample:
    operation = Operation.CREATE if before is None else Operation.UPDATE
    return ProofExample(manifest, title, operation.value, before)


def _rule_json(reply: RuleReply) -> JsonObject:
    result: dict[str, Json] = {
        "question": reply.question.value,
        "answer": reply.answer.value,
    }
    if reply.example is not None:
        result["object"] = reply.example
    if reply.before is not None:
        result["oldObject"] = reply.before
    if reply.reason:
        result["reason"] = reply.reason
    if reply.offset is not None:
        result["offset"] = reply.offset
    if reply.bounded:
        result |= {"items": reply.items, "bounded": list(reply.bounded)}
    return result


def _change_item(
    name: str, root: tuple[str | int, ...], replies: Sequence[ChangeReply]
) -> ProofItem:
    subject = replies[0].subject
    node = subject.node
    path = (*schema_path(root, node.names), "x-kubernetes-validations", subject.rule, "rule")
    faults = [reply for reply in replies if reply.is_finding]
    remarks = [
        *(Remark(fault.change.value, is_fault=True) for fault in faults),
        *(
            Remark(_cannot(reply), _bounds_of_rule(reply))
            for reply in replies
            if reply.answer in PROVED
        ),
        *(
            Remark(UNDECIDED, f"{reply.change.value}? {reply.reason}")
            for reply in replies
            if reply.answer is Answer.UNKNOWN
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
            "answers": [_change_json(reply) for reply in replies],
        },
        bool(faults),
        any(reply.answer is Answer.UNKNOWN for reply in replies),
        tuple(map(_step, objects, _titles(objects), (None, *objects))),
    )


def _cannot(reply: ChangeReply) -> str:
    proved = " (proved)" if reply.answer is Answer.NO else ""
    return f"cannot {reply.change.value.removeprefix('can ')}{proved}"


def _titles(objects: Sequence[JsonObject]) -> list[str]:
    if len(objects) < 3:
        return ["before", "after"][: len(objects)]
    return ["created", "then removed", "then added again"]


def _change_json(reply: ChangeReply) -> JsonObject:
    result: dict[str, Json] = {"question": reply.change.value, "answer": reply.answer.value}
    if reply.objects:
        result["objects"] = list(reply.objects)
    if reply.reason:
        result["reason"] = reply.reason
    if reply.bounded:
        result |= {"items": reply.items, "bounded": list(reply.bounded)}
    return result
