"""Proofs about the policies and definitions in files (`celadon prove`): read, and asked of the
prover or of a folder of earlier answers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, field, replace
from itertools import groupby
from typing import Final

from celadon import admission
from celadon.admission.registration import RegistrationError
from celadon.cli.celadon_documents import AnswerCache
from celadon.cli.project_config import read_manifests
from celadon.cli.proof_report import (
    CONDITION,
    OPEN,
    PART,
    PROVED,
    RULE,
    UNDECIDED,
    VALIDATION,
    ProofExample,
    ProofItem,
    Remark,
    kept_items,
)
from celadon.cli.reading.documents import (
    NOTHING_EXCLUDED,
    Document,
    Exclusion,
    Problem,
    shape_problem,
)
from celadon.kube import FieldPath, Json, JsonObject, User, metadata
from celadon.kube.crd import CustomKind
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import answering_as
from celadon.prove import (
    ANYBODY,
    Answer,
    BoundParts,
    Comparison,
    Endpoint,
    Fault,
    Finding,
    KnownKinds,
    Prover,
    Question,
    Reply,
    Superfluous,
)
from celadon.prove.definitions import (
    ChangeReply,
    DefinitionProver,
    RuleNode,
    RuleQuestion,
    RuleReply,
    Transitions,
    schema_path,
)
from celadon.records import dataclass

_POLICY: Final = ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy")
_BINDING: Final = (_POLICY[0], "ValidatingAdmissionPolicyBinding")


@dataclass(frozen=True, slots=True)
class ProofLimits:
    """Limits how much is asked, and for how long; `version` is the release that decides."""

    version: str
    items: int
    seconds: int


@dataclass(frozen=True, slots=True)
class Subject:
    """A document that is asked about: a policy, or a definition if there is no `policy`."""

    document: Document
    policy: admission.ValidatingAdmissionPolicy | None = None
    bindings: tuple[admission.ValidatingAdmissionPolicyBinding, ...] = ()
    """All of the policy, if it is about one of them, which has this `number`."""
    number: int = 0
    definitions: tuple[JsonObject, ...] = ()
    """Of custom kinds that the policy is about, or that its params are of."""

    def items(self, limits: ProofLimits, progress: Callable[[str], None]) -> Iterator[ProofItem]:
        """Yield what there is to say of it."""
        if self.policy is None:
            yield from definition_items(
                self.document.value, limits.version, limits.items, limits.seconds, progress
            )
            return
        progress(self.policy.name)
        kinds = KnownKinds.of(self.definitions)
        if self.bindings:
            yield from self._binding_items(self.policy, limits, kinds)
            return
        prover = Prover(self.policy, limits.items, limits.seconds, kinds)
        for proof in Proof.of_policy(prover):
            yield proof.item
        superfluous = Superfluous(self.document.value, limits.items, limits.seconds, kinds)
        for part, answers in superfluous.answers():
            fault, found = part.fault.value, tuple(answers)
            yield PartProof(self.policy.name, part.path, fault, found, prover.left_out).item

    def answered(
        self, limits: ProofLimits, cache: AnswerCache, progress: Callable[[str], None]
    ) -> list[ProofItem]:
        """Return the same items, each in its place; kept where it depends on nothing but the
        document. What was not decided is asked again."""
        about = [self.document.value, *self.definitions]
        key = cache.key(about, limits.version, limits.items, limits.seconds)
        items = None if self.bindings else kept_items(cache.get(key))
        if items is None:
            with answering_as(limits.version):
                items = list(self.items(limits, progress))
            if not self.bindings and not any(item.is_undecided for item in items):
                cache.put(key, [asdict(item) for item in items])
        return [item.placed(self.document) for item in items]

    def _binding_items(
        self, policy: admission.ValidatingAdmissionPolicy, limits: ProofLimits, kinds: KnownKinds
    ) -> Iterator[ProofItem]:
        """Yield what says whether the other bindings of the policy do all that this one does, and
        whether its rules exclude anything."""
        name = self.bindings[self.number].name
        left_out = Prover(policy, kinds=kinds).left_out
        fault = Fault.SUPERFLUOUS.value
        bound_parts = BoundParts(policy, self.bindings, limits.items, limits.seconds, kinds)
        if len(self.bindings) > 1:
            shadowing = bound_parts.shadow(self.number)
            reason = f"the other bindings of {policy.name} do the same"
            proof = PartProof(name, ("spec",), fault, shadowing.answers, left_out, reason)
            example = shadowing.example
            manifest = example and (example.manifest or example.old_manifest)
            examples = (ProofExample(manifest, "both speak against this"),) if manifest else ()
            data = {**proof.item.data, "object": manifest}
            yield replace(proof.item, data=data, examples=examples)
        for path, answers in bound_parts.exclusions(self.number, self.document.value):
            yield PartProof(name, path, fault, answers, left_out).item


def _of_bindings(
    policies: Sequence[Subject],
    bindings: Sequence[tuple[Document, admission.ValidatingAdmissionPolicyBinding]],
) -> Iterator[Subject]:
    """Yield the bindings of policies that have several, and those that exclude resources."""
    for subject in policies:
        assert subject.policy is not None
        name = subject.policy.name
        policy_bindings = [binding for binding in bindings if binding[1].spec.policy_name == name]
        every = tuple(binding for _, binding in policy_bindings)
        for number, (document, binding) in enumerate(policy_bindings):
            constraints = binding.spec.match_resources
            has_exclusions = constraints is not None and constraints.exclude_resource_rules
            if len(every) > 1 or has_exclusions:
                yield replace(subject, document=document, bindings=every, number=number)


def read_subjects(
    paths: Sequence[str], unread: list[Problem], exclusion: Exclusion = NOTHING_EXCLUDED
) -> tuple[list[Subject], list[Problem]]:
    """Return the policies and definitions in files, and what is wrong with the files; other
    documents are passed over. Files of folders that are no manifests are added to `unread`."""
    return subjects_among(read_manifests(paths, unread, exclusion))


def subjects_among(documents: Iterable[Document | Problem]) -> tuple[list[Subject], list[Problem]]:
    """Return the policies and definitions among documents, and what is wrong with documents."""
    subjects: list[Subject] = []
    definitions: list[JsonObject] = []
    bindings: list[tuple[Document, admission.ValidatingAdmissionPolicyBinding]] = []
    problems: list[Problem] = []
    for item in documents:
        problem = item if isinstance(item, Problem) else shape_problem(item)
        if problem is not None:
            problems.append(problem)
        elif isinstance(item, Document) and item.is_definition:
            subjects.append(Subject(item))
            definitions.append(item.value)
        elif isinstance(item, Document) and item.group_kind in (_POLICY, _BINDING):
            try:
                if item.group_kind == _POLICY:
                    subjects.append(Subject(item, admission.decode_policy(item.value).value))
                else:
                    bindings.append((item, admission.decode_binding(item.value).value))
            except RegistrationError as error:
                problems.append(Problem(item.file, item.line(), str(error)))
    subjects = [
        subject
        if subject.policy is None
        else replace(subject, definitions=_of_policy(subject.policy, definitions))
        for subject in subjects
    ]
    policies = [subject for subject in subjects if subject.policy is not None]
    return [*subjects, *_of_bindings(policies, bindings)], problems


def _of_policy(
    policy: admission.ValidatingAdmissionPolicy, definitions: Sequence[JsonObject]
) -> tuple[JsonObject, ...]:
    """Return the definitions that may matter to a policy: those of the groups that it names."""
    constraints, params = policy.spec.match_constraints, policy.spec.param_kind
    groups = set() if params is None else {params.api_version.partition("/")[0]}
    for rule in () if constraints is None else constraints.resource_rules:
        groups.update(rule.api_groups)
    return tuple(crd for crd in definitions if {"*", crd["spec"]["group"]} & groups)


@dataclass(frozen=True, slots=True)
class Proof:
    """The answers about one validation, at all endpoints of its policy; or about what is asked like
    one (`sort`). `words` are those of the questions that are reported, and what a proof says."""

    policy: str
    path: tuple[str | int, ...]
    replies: tuple[Reply, ...]
    left_out: bool = False
    """Whether the policy matches more than was asked about."""
    sort: str = VALIDATION
    words: Mapping[Question, tuple[str, str]] = field(default_factory=lambda: _OF_VALIDATIONS)

    @classmethod
    def of_policy(cls, prover: Prover) -> Iterator[Proof]:
        """Yield a proof for each validation, for the match conditions together, and for each
        variable that is a bool."""
        name, spec = prover.policy.name, prover.policy.spec
        for index in range(len(spec.validations)):
            path: tuple[str | int, ...] = ("spec", "validations", index, "expression")
            yield cls(name, path, _replies(prover, index), prover.left_out)
        conditions = prover.of_conditions()
        if conditions is not None and (replies := _replies(conditions, 0)):
            path = ("spec", "matchConditions")
            path = (*path, 0, "expression") if len(spec.match_conditions) == 1 else path
            yield cls(name, path, replies, sort=CONDITION, words=_OF_CONDITIONS)
        variables = prover.of_variables()
        for index in filter(variables.is_bool, range(len(spec.variables))):
            if replies := _replies(variables, index):
                path = ("spec", "variables", index, "expression")
                yield cls(name, path, replies, sort=CONDITION, words=_OF_VARIABLES)

    @property
    def item(self) -> ProofItem:
        """Return the proof as it is reported."""
        example = self.example
        return ProofItem(
            self.sort,
            self.policy,
            str(FieldPath(*self.path)),
            self.path,
            tuple(self.remarks),
            self.to_json(),
            self.is_finding,
            self.is_undecided,
            () if example is None else (example,),
        )

    def _of(self, question: Question, *answers: Answer) -> list[Reply]:
        replies = [reply for reply in self.replies if reply.question is question]
        return [reply for reply in replies if reply.answer in answers]

    def _never(self, question: Question) -> bool:
        """Return whether it is proved for all endpoints that are asked about. What is never asked
        admits everything there."""
        replies = self._of(question, *Answer)
        proved = self._of(question, Answer.NO, Answer.BOUNDED)
        if question is Question.ADMITS and any(self._is_idle(reply.endpoint) for reply in proved):
            return False
        return bool(replies) and len(proved) == len(replies)

    def _is_idle(self, endpoint: Endpoint) -> bool:
        """Return whether it says nothing at all of requests to an endpoint: none meets the match
        conditions."""
        never = self._of(Question.FAILS, Answer.NO, Answer.BOUNDED)
        never += self._of(Question.REFUSES, Answer.NO, Answer.BOUNDED)
        return sum(reply.endpoint == endpoint for reply in never) > 1

    @property
    def is_finding(self) -> bool:
        """Return whether there is something to be mended."""
        return bool(self._counterexamples) or any(
            self._never(question)
            and not self.left_out
            and not self._of(question, Answer.BOUNDED)  # which is no proof
            for question in self.words
            if question not in _BAD  # which should never be
        )

    @property
    def _counterexamples(self) -> list[Reply]:
        """Return the replies that say what should not be, with examples."""
        return [reply for bad in _BAD if bad in self.words for reply in self._of(bad, Answer.YES)]

    @property
    def is_undecided(self) -> bool:
        """Return whether there is a question without an answer."""
        return (
            self.left_out
            or not self.replies
            or any(reply.answer is Answer.UNKNOWN for reply in self._reported)
        )

    @property
    def _reported(self) -> list[Reply]:
        return [reply for reply in self.replies if reply.question in self.words]

    @property
    def example(self) -> ProofExample | None:
        """Return an object for which it fails, or has no message."""
        for reply in self._counterexamples:
            request = reply.request
            assert request is not None
            manifest = request.object or request.old_object
            assert manifest is not None
            user = User("") if request.user == ANYBODY else request.user
            return ProofExample(
                manifest,
                operation=request.operation.value,
                old_manifest=request.old_object if request.object else None,
                around=reply.around,
                user=user.name,
                groups=user.groups,
            )
        return None

    @property
    def remarks(self) -> Iterator[Remark]:
        """Yield what is found, proved and not decided, each with the endpoints it is about."""
        if not self.replies:
            yield Remark(
                UNDECIDED, "its policy matches no kind that is known, or subresources only"
            )
        for bad in _BAD:
            if bad in self.words and (replies := self._of(bad, Answer.YES)):
                yield Remark(bad.value, _endpoints(replies), is_fault=True)
        for question, (possible, never) in self.words.items():
            if never and self._never(question):
                bounds = _bounds(self._of(question, Answer.BOUNDED))
                limits = [bounds]
                if self.left_out:
                    limits.insert(0, _endpoints(self._of(question, *Answer)))
                text = ", ".join(filter(None, limits))
                if bounds:
                    yield Remark(OPEN, f"{possible}? not {text}")
                    continue
                is_fault = question is not Question.FAILS and not self.left_out
                yield Remark(f"{never} (proved)", text, is_fault)
        if self.left_out and self.replies:
            yield Remark(UNDECIDED, _LEFT_OUT)
        undecided: dict[str, list[Reply]] = {}
        for reply in self._reported:
            if reply.answer is Answer.UNKNOWN:
                undecided.setdefault(reply.reason, []).append(reply)
        for reason, replies in undecided.items():
            asked = dict.fromkeys(f"{self.words[reply.question][0]}?" for reply in replies)
            questions = ", ".join(asked)
            yield Remark(UNDECIDED, f"{questions} {_endpoints(replies)}: {reason}")

    def to_json(self) -> JsonObject:
        """Return the proof as programs read it."""
        return {
            "leftOut": self.left_out,
            "answers": [_json(reply, self.words[reply.question][0]) for reply in self._reported],
        }


@dataclass(frozen=True, slots=True)
class PartProof:
    """The answer about a part of a policy or about a binding, at all endpoints of the policy.
    `fault` is what it would be if there is no difference, and `detail` what is said of it then."""

    subject: str
    path: tuple[str | int, ...]
    fault: str
    answers: tuple[Comparison, ...]
    left_out: bool = False
    detail: str = ""

    @property
    def item(self) -> ProofItem:
        """Return the proof as it is reported."""
        return ProofItem(
            PART,
            self.subject,
            str(FieldPath(*self.path)),
            self.path,
            tuple(self.remarks),
            self.to_json(),
            self.is_finding,
            self.is_undecided,
        )

    @property
    def is_finding(self) -> bool:
        """Return whether the part is at fault, for all requests."""
        return (
            bool(self.answers)
            and not self.left_out
            and all(answer.finding is Finding.SAME for answer in self.answers)
        )

    @property
    def is_open(self) -> bool:
        """Return whether it would be at fault if longer lists had nothing else."""
        proved = (Finding.SAME, Finding.BOUNDED)
        return not self.is_finding and all(answer.finding in proved for answer in self.answers)

    @property
    def is_undecided(self) -> bool:
        """Return whether nobody knows."""
        findings = [answer.finding for answer in self.answers]
        return Finding.UNDECIDED in findings and Finding.DIFFERS not in findings

    @property
    def remarks(self) -> Iterator[Remark]:
        """Yield what is found, and what is not decided."""
        if self.is_finding:
            yield Remark(f"{self.fault} (proved)", self.detail, is_fault=True)
        elif self.is_open and (bounds := _bounds(self.answers)):
            yield Remark(OPEN, f"against `{self.fault}`, {bounds}")
        elif self.is_undecided:
            reasons = (
                gap.reason
                for answer in self.answers
                for gap in answer.gaps or (answer,)
                if answer.finding is Finding.UNDECIDED
            )
            text = f"{self.fault}? {', '.join(dict.fromkeys(reasons))}"
            yield Remark(UNDECIDED, text)

    def to_json(self) -> JsonObject:
        """Return the proof as programs read it."""
        result: JsonDict = {
            "leftOut": self.left_out,
            "question": self.fault,
            "isFinding": self.is_finding,
            "isUndecided": self.is_undecided,
        }
        bounded = [answer for answer in self.answers if answer.bounded] if self.is_open else []
        if bounded:
            result["items"] = max(comparison.items for comparison in bounded)
            result["bounded"] = list(
                dict.fromkeys(path for comparison in bounded for path in comparison.bounded)
            )
        return result


_LEFT_OUT: Final = "the subresources, connections and unknown kinds that its policy matches, too"

_BAD: Final = (Question.FAILS, Question.MESSAGE)
"""What should not be."""

_OF_VALIDATIONS: Final[Mapping[Question, tuple[str, str]]] = {
    Question.FAILS: ("can fail", "never fails"),
    Question.REFUSES: ("can refuse", "never refuses"),
    Question.ADMITS: ("can admit", "never admits"),
    Question.MESSAGE: ("can have no message", ""),
}
_OF_CONDITIONS: Final[Mapping[Question, tuple[str, str]]] = {
    Question.FAILS: ("can fail", "never fails"),
    Question.ADMITS: ("can hold", "never holds"),
}
"""That they always hold is said of parts that change nothing."""
_OF_VARIABLES: Final[Mapping[Question, tuple[str, str]]] = {
    Question.REFUSES: ("can be false", "never false"),
    Question.ADMITS: ("can be true", "never true"),
}
"""Where one fails matters where it is used."""


def _replies(prover: Prover, index: int) -> tuple[Reply, ...]:
    """Return the answers about one validation: of one without messageExpression, nobody asks
    whether that is right."""
    has_message = bool(prover.policy.spec.validations[index].message_expression)
    return tuple(
        prover.reply(endpoint, index, question)
        for question in Question
        if question is not Question.MESSAGE or has_message
        for endpoint in prover.endpoints()
    )


def _endpoints(replies: Sequence[Reply]) -> str:
    return ", ".join(dict.fromkeys(str(reply.endpoint) for reply in replies))


def _bounds(replies: Sequence[Reply | RuleReply | ChangeReply | Comparison]) -> str:
    paths = dict.fromkeys(path for reply in replies for path in reply.bounded)
    if not paths:
        return ""
    items = max(reply.items for reply in replies)
    return f"with at most {items} items in {', '.join(paths)}"


def _json(reply: Reply, question: str) -> Json:
    result: dict[str, Json] = {
        "question": question,
        "answer": reply.answer.value,
        "operation": reply.endpoint.operation.value,
        "kind": reply.endpoint.kind.kind,
        "apiVersion": reply.endpoint.kind.api_version,
    }
    if reply.request is not None:
        result["object"] = reply.request.object
        result["oldObject"] = reply.request.old_object
    if reply.reason:
        result["reason"] = reply.reason
    if reply.offset is not None:
        result["offset"] = reply.offset
    if reply.bounded:
        result["items"] = reply.items
        result["bounded"] = list(reply.bounded)
    return result


# --- Definitions -------------------------------------------------------------
#
# What is said of the validation rules of CustomResourceDefinitions.

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
            yield Remark(OPEN, f"{reply.question.value}? not {_bounds([reply])}")
    reasons: dict[str, list[str]] = {}
    for reply in replies:
        if reply.answer is Answer.UNKNOWN:
            reasons.setdefault(reply.reason, []).append(f"{reply.question.value}?")
    for reason, questions in reasons.items():
        yield Remark(UNDECIDED, f"{', '.join(questions)} {reason}")


def _examples(reply: RuleReply) -> Iterator[ProofExample]:
    assert reply.example is not None
    if reply.before is not None:
        yield ProofExample(reply.before, "before")
    yield _step(reply.example, "" if reply.before is None else "after", reply.before)


def _step(manifest: JsonObject, title: str, before: JsonObject | None) -> ProofExample:
    operation = admission.Operation.CREATE if before is None else admission.Operation.UPDATE
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
        *(Remark(_cannot(reply), _bounds([reply])) for reply in replies if reply.answer in PROVED),
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
