"""What `celadon prove` says of the validations in files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.admission import ValidatingAdmissionPolicy, decode_policy
from celadon.admission.registration import RegistrationError
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Problem,
    expand_paths,
    read_text,
    shape_problem,
)
from celadon.kube import Json, JsonObject
from celadon.prove import Answer, Prover, Question, Reply

_POLICY: Final = ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")


def read_policies(
    paths: Sequence[str],
) -> tuple[list[tuple[Document, ValidatingAdmissionPolicy]], list[Problem]]:
    """The policies in files, and what is wrong with the files; other documents are passed over."""
    policies: list[tuple[Document, ValidatingAdmissionPolicy]] = []
    problems: list[Problem] = []
    reader = DocumentReader()
    for file in expand_paths(paths):
        text = file if isinstance(file, Problem) else read_text(file)
        if isinstance(text, Problem):
            problems.append(text)
            continue
        for item in reader.read(text):
            problem = item if isinstance(item, Problem) else shape_problem(item)
            if problem is not None:
                problems.append(problem)
            elif isinstance(item, Document) and item.group_kind == _POLICY:
                try:
                    policies.append((item, decode_policy(item.value).value))
                except RegistrationError as error:
                    problems.append(Problem(item.file, item.line(), str(error)))
    return policies, problems


@dataclass(frozen=True, slots=True)
class Proof:
    """The answers about one validation, at all endpoints of its policy."""

    policy: str
    field: str
    position: str
    replies: tuple[Reply, ...]
    left_out: bool = False
    """Whether the policy matches more than was asked about."""

    @classmethod
    def about(
        cls, document: Document, policy: ValidatingAdmissionPolicy, items: int, seconds: int
    ) -> Iterator[Proof]:
        """One for each validation."""
        prover = Prover(policy, items, seconds)
        endpoints = tuple(prover.endpoints())
        for index in range(len(policy.spec.validations)):
            replies = tuple(
                prover.reply(endpoint, index, question)
                for question in Question
                for endpoint in endpoints
            )
            path = ("spec", "validations", index, "expression")
            field = f"spec.validations[{index}].expression"
            yield cls(policy.name, field, document.position(path), replies, prover.left_out)

    def _of(self, question: Question, *answers: Answer) -> list[Reply]:
        return [one for one in self.replies if one.question is question and one.answer in answers]

    def _never(self, question: Question) -> bool:
        """Return whether it is proved for all endpoints that are asked about."""
        asked = self._of(question, *Answer)
        return bool(asked) and len(self._of(question, Answer.NO, Answer.BOUNDED)) == len(asked)

    @property
    def is_finding(self) -> bool:
        """Return whether there is something to be mended."""
        return bool(self._of(Question.FAILS, Answer.YES)) or any(
            self._never(question) and not self.left_out
            for question in (Question.REFUSES, Question.ADMITS)
        )

    @property
    def is_undecided(self) -> bool:
        """Return whether there is a question without an answer."""
        return (
            self.left_out
            or not self.replies
            or any(one.answer is Answer.UNKNOWN for one in self.replies)
        )

    @property
    def example(self) -> JsonObject | None:
        """An object for which it fails."""
        for reply in self._of(Question.FAILS, Answer.YES):
            assert reply.request is not None
            return reply.request.object or reply.request.old_object
        return None

    @property
    def remarks(self) -> Iterator[tuple[str, str]]:
        """What is found, proved and not decided, each with the endpoints it is about."""
        if not self.replies:
            yield "not decided", "its policy matches no kind that is known, or subresources only"
        if fails := self._of(Question.FAILS, Answer.YES):
            yield "can fail", _endpoints(fails)
        for question, title in _NEVER.items():
            if self._never(question):
                limits = [_bounds(self._of(question, Answer.BOUNDED))]
                if self.left_out:
                    limits.insert(0, _endpoints(self._of(question, *Answer)))
                yield title, ", ".join(filter(None, limits))
        if self.left_out and self.replies:
            yield "not decided", _LEFT_OUT
        undecided: dict[str, list[Reply]] = {}
        for reply in self.replies:
            if reply.answer is Answer.UNKNOWN:
                undecided.setdefault(reply.reason, []).append(reply)
        for reason, replies in undecided.items():
            questions = ", ".join(dict.fromkeys(f"{one.question.value}?" for one in replies))
            yield "not decided", f"{questions} {_endpoints(replies)}: {reason}"

    def to_json(self) -> JsonObject:
        """For programs."""
        return {
            "policy": self.policy,
            "field": self.field,
            "position": self.position,
            "leftOut": self.left_out,
            "answers": [_json(reply) for reply in self.replies],
        }


_LEFT_OUT: Final = "the subresources, connections and unknown kinds that its policy matches, too"

_NEVER: Final = {
    Question.FAILS: "never fails (proved)",
    Question.REFUSES: "never refuses (proved)",
    Question.ADMITS: "never admits (proved)",
}


def _endpoints(replies: Sequence[Reply]) -> str:
    return ", ".join(dict.fromkeys(str(reply.endpoint) for reply in replies))


def _bounds(replies: Sequence[Reply]) -> str:
    paths = dict.fromkeys(path for reply in replies for path in reply.bounded)
    if not paths:
        return ""
    items = max(reply.items for reply in replies)
    return f"with at most {items} items in {', '.join(paths)}"


def _json(reply: Reply) -> Json:
    found: dict[str, Json] = {
        "question": reply.question.value,
        "answer": reply.answer.value,
        "operation": reply.endpoint.operation.value,
        "kind": reply.endpoint.kind.kind,
        "apiVersion": reply.endpoint.kind.api_version,
    }
    if reply.request is not None:
        found["object"] = reply.request.object
        found["oldObject"] = reply.request.old_object
    if reply.reason:
        found["reason"] = reply.reason
    if reply.offset is not None:
        found["offset"] = reply.offset
    if reply.bounded:
        found["items"] = reply.items
        found["bounded"] = list(reply.bounded)
    return found
