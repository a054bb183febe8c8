"""What `celadon prove` says of the policies and definitions in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from celadon.admission import (
    ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
    decode_binding,
    decode_policy,
)
from celadon.admission.registration import RegistrationError
from celadon.cli.claims.definition_proofs import definition_items
from celadon.cli.claims.proof_cache import ProofCache
from celadon.cli.claims.proof_report import PART, VALIDATION, ProofExample, ProofItem, Remark
from celadon.cli.reading.documents import (
    Document,
    DocumentReader,
    Problem,
    expand_paths,
    read_text,
    shape_problem,
)
from celadon.kube import FieldPath, Json, JsonObject
from celadon.prove import (
    Answer,
    Comparison,
    Finding,
    Part,
    Prover,
    Question,
    Reply,
    Superfluous,
    shadow,
)

_POLICY: Final = ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
_BINDING: Final = (_POLICY[0], "ValidatingAdmissionPolicyBinding")


@dataclass(frozen=True, slots=True)
class ProofLimits:
    """How much is asked, and for how long; `version` is the release that decides."""

    version: str
    items: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A document that is asked about: a policy, or a definition if there is no `policy`."""

    document: Document
    policy: ValidatingAdmissionPolicy | None = None
    bindings: tuple[ValidatingAdmissionPolicyBinding, ...] = ()
    """All of the policy, if it is about one of them, which has this `number`."""
    number: int = 0

    def items(self, limits: ProofLimits, progress: Callable[[str], None]) -> Iterator[ProofItem]:
        """What there is to say of it."""
        if self.policy is None:
            yield from definition_items(
                self.document.value, limits.version, limits.items, limits.seconds, progress
            )
            return
        progress(self.policy.name)
        if self.bindings:
            yield self._binding_item(self.policy, limits)
            return
        proof: Proof | PartProof
        for proof in Proof.about(self.policy, limits.items, limits.seconds):
            yield proof.item
        for proof in PartProof.about(self.document, self.policy, limits.items, limits.seconds):
            yield proof.item

    def answered(
        self, limits: ProofLimits, cache: ProofCache, progress: Callable[[str], None]
    ) -> list[ProofItem]:
        """The same, each in its place; kept where it depends on nothing but the document. Raises
        OSError."""
        key = cache.key(self.document.value, limits.version, limits.items, limits.seconds)
        found = None if self.bindings else cache.get(key)
        if found is None:
            found = list(self.items(limits, progress))
            if not self.bindings:
                cache.put(key, found)
        return [one.placed(self.document) for one in found]

    def _binding_item(self, policy: ValidatingAdmissionPolicy, limits: ProofLimits) -> ProofItem:
        """Whether the other bindings of the policy do all that this one does."""
        found = shadow(policy, self.bindings, self.number, limits.items, limits.seconds)
        undecided = [one.reason for one in found.answers if one.finding is Finding.UNDECIDED]
        differs = any(one.finding is Finding.DIFFERS for one in found.answers)
        remarks = []
        if found.is_fault:
            text = f"the other bindings of {policy.name} do the same"
            remarks.append(Remark("changes nothing (proved)", text, is_fault=True))
        elif undecided and not differs:
            reasons = ", ".join(filter(None, dict.fromkeys(undecided)))
            remarks.append(Remark(_UNDECIDED, f"changes nothing? {reasons}"))
        manifest = found.example and (found.example.manifest or found.example.old_manifest)
        return ProofItem(
            PART,
            self.bindings[self.number].name,
            "spec",
            ("spec",),
            tuple(remarks),
            {"question": "changes nothing", "isFinding": found.is_fault, "object": manifest},
            found.is_fault,
            bool(undecided) and not differs,
            (ProofExample(manifest, "both speak against this"),) if manifest else (),
        )


def _of_bindings(
    policies: Sequence[Subject],
    bindings: Sequence[tuple[Document, ValidatingAdmissionPolicyBinding]],
) -> Iterator[Subject]:
    """The bindings of policies that have several."""
    for subject in policies:
        assert subject.policy is not None
        name = subject.policy.name
        own = [one for one in bindings if one[1].spec.policy_name == name]
        if len(own) > 1:
            every = tuple(binding for _, binding in own)
            for number, (document, _) in enumerate(own):
                yield Subject(document, subject.policy, every, number)


def read_subjects(paths: Sequence[str]) -> tuple[list[Subject], list[Problem]]:
    """The policies and definitions in files, and what is wrong with the files; other documents are
    passed over."""
    subjects: list[Subject] = []
    bindings: list[tuple[Document, ValidatingAdmissionPolicyBinding]] = []
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
            elif isinstance(item, Document) and item.is_definition:
                subjects.append(Subject(item))
            elif isinstance(item, Document) and item.group_kind in (_POLICY, _BINDING):
                try:
                    if item.group_kind == _POLICY:
                        subjects.append(Subject(item, decode_policy(item.value).value))
                    else:
                        bindings.append((item, decode_binding(item.value).value))
                except RegistrationError as error:
                    problems.append(Problem(item.file, item.line(), str(error)))
    policies = [one for one in subjects if one.policy is not None]
    return [*subjects, *_of_bindings(policies, bindings)], problems


@dataclass(frozen=True, slots=True)
class Proof:
    """The answers about one validation, at all endpoints of its policy."""

    policy: str
    path: tuple[str | int, ...]
    replies: tuple[Reply, ...]
    left_out: bool = False
    """Whether the policy matches more than was asked about."""

    @classmethod
    def about(cls, policy: ValidatingAdmissionPolicy, items: int, seconds: int) -> Iterator[Proof]:
        """One for each validation."""
        prover = Prover(policy, items, seconds)
        endpoints = tuple(prover.endpoints())
        for index in range(len(policy.spec.validations)):
            replies = tuple(
                prover.reply(endpoint, index, question)
                for question in _asked(policy, index)
                for endpoint in endpoints
            )
            path = ("spec", "validations", index, "expression")
            yield cls(policy.name, path, replies, prover.left_out)

    @property
    def item(self) -> ProofItem:
        """The same as it is reported."""
        example = self.example
        return ProofItem(
            VALIDATION,
            self.policy,
            str(FieldPath(*self.path)),
            self.path,
            tuple(self.remarks),
            self.to_json(),
            self.is_finding,
            self.is_undecided,
            () if example is None else (ProofExample(example),),
        )

    def _of(self, question: Question, *answers: Answer) -> list[Reply]:
        return [one for one in self.replies if one.question is question and one.answer in answers]

    def _never(self, question: Question) -> bool:
        """Return whether it is proved for all endpoints that are asked about."""
        asked = self._of(question, *Answer)
        return bool(asked) and len(self._of(question, Answer.NO, Answer.BOUNDED)) == len(asked)

    @property
    def is_finding(self) -> bool:
        """Return whether there is something to be mended."""
        return bool(self._found) or any(
            self._never(question) and not self.left_out
            for question in (Question.REFUSES, Question.ADMITS)
        )

    @property
    def _found(self) -> list[Reply]:
        """What should not be, with examples."""
        return [one for bad in _BAD for one in self._of(bad, Answer.YES)]

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
        """An object for which it fails, or has no message."""
        for reply in self._found:
            assert reply.request is not None
            return reply.request.object or reply.request.old_object
        return None

    @property
    def remarks(self) -> Iterator[Remark]:
        """What is found, proved and not decided, each with the endpoints it is about."""
        if not self.replies:
            yield Remark(
                _UNDECIDED, "its policy matches no kind that is known, or subresources only"
            )
        for bad in _BAD:
            if found := self._of(bad, Answer.YES):
                yield Remark(bad.value, _endpoints(found), is_fault=True)
        for question, title in _NEVER.items():
            if self._never(question):
                limits = [_bounds(self._of(question, Answer.BOUNDED))]
                if self.left_out:
                    limits.insert(0, _endpoints(self._of(question, *Answer)))
                is_fault = question is not Question.FAILS and not self.left_out
                yield Remark(title, ", ".join(filter(None, limits)), is_fault)
        if self.left_out and self.replies:
            yield Remark(_UNDECIDED, _LEFT_OUT)
        undecided: dict[str, list[Reply]] = {}
        for reply in self.replies:
            if reply.answer is Answer.UNKNOWN:
                undecided.setdefault(reply.reason, []).append(reply)
        for reason, replies in undecided.items():
            questions = ", ".join(dict.fromkeys(f"{one.question.value}?" for one in replies))
            yield Remark(_UNDECIDED, f"{questions} {_endpoints(replies)}: {reason}")

    def to_json(self) -> JsonObject:
        """For programs."""
        return {
            "leftOut": self.left_out,
            "answers": [_json(reply) for reply in self.replies],
        }


@dataclass(frozen=True, slots=True)
class PartProof:
    """The answer about a part of a policy, at all endpoints of the policy."""

    policy: str
    part: Part
    answers: tuple[Comparison, ...]
    left_out: bool = False

    @classmethod
    def about(
        cls, document: Document, policy: ValidatingAdmissionPolicy, items: int, seconds: int
    ) -> Iterator[PartProof]:
        """One for each part."""
        left_out = Prover(policy, items, seconds).left_out
        for part, answers in Superfluous(document.value, items, seconds).answers():
            yield cls(policy.name, part, tuple(answers), left_out)

    @property
    def item(self) -> ProofItem:
        """The same as it is reported."""
        return ProofItem(
            PART,
            self.policy,
            self.part.field,
            self.part.path,
            tuple(self.remarks),
            self.to_json(),
            self.is_finding,
            self.is_undecided,
        )

    @property
    def is_finding(self) -> bool:
        """Whether it is at fault, for all requests."""
        proved = (Finding.SAME, Finding.BOUNDED)
        return (
            bool(self.answers)
            and not self.left_out
            and all(one.finding in proved for one in self.answers)
        )

    @property
    def is_undecided(self) -> bool:
        """Whether nobody knows."""
        findings = [one.finding for one in self.answers]
        return Finding.UNDECIDED in findings and Finding.DIFFERS not in findings

    @property
    def remarks(self) -> Iterator[Remark]:
        """What is found, and what is not decided."""
        if self.is_finding:
            title = f"{self.part.fault.value} (proved)"
            yield Remark(title, _bounds(self.answers), is_fault=True)
        elif self.is_undecided:
            reasons = (
                gap.reason
                for one in self.answers
                for gap in one.gaps or (one,)
                if one.finding is Finding.UNDECIDED
            )
            text = f"{self.part.fault.value}? {', '.join(dict.fromkeys(reasons))}"
            yield Remark(_UNDECIDED, text)

    def to_json(self) -> JsonObject:
        """For programs."""
        return {
            "leftOut": self.left_out,
            "question": self.part.fault.value,
            "isFinding": self.is_finding,
            "isUndecided": self.is_undecided,
        }


_UNDECIDED: Final = "not decided"
_LEFT_OUT: Final = "the subresources, connections and unknown kinds that its policy matches, too"

_BAD: Final = (Question.FAILS, Question.MESSAGE)
"""What should not be."""

_NEVER: Final = {
    Question.FAILS: "never fails (proved)",
    Question.REFUSES: "never refuses (proved)",
    Question.ADMITS: "never admits (proved)",
}


def _asked(policy: ValidatingAdmissionPolicy, index: int) -> list[Question]:
    """Of validations without messageExpression nobody asks whether it is right."""
    has_message = bool(policy.spec.validations[index].message_expression)
    return [one for one in Question if one is not Question.MESSAGE or has_message]


def _endpoints(replies: Sequence[Reply]) -> str:
    return ", ".join(dict.fromkeys(str(reply.endpoint) for reply in replies))


def _bounds(replies: Sequence[Reply | Comparison]) -> str:
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
