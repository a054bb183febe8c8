"""What is proved of the policies in the panes, as `celadon prove` and `celadon diff` prove it of
files.

Answers take seconds. So whoever asks is told meanwhile (`tell`) of each item of a report, and of
how far it is. A request that shows something comes with the panes that ask for it, as texts.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from celadon.admission import Operation
from celadon.cli import property_proofs
from celadon.cli.check.manifests import described, validating_policies
from celadon.cli.diff import (
    STORED,
    DiffSettings,
    DiffSide,
    binding_everywhere,
    bound_by_neither,
    compared,
    side_of,
    with_definitions,
)
from celadon.cli.playground.panes import PANES_OF, Pane, PaneReader, State, StateError, state_of
from celadon.cli.proof_report import VALIDATION, ProofExample, ProofItem, ProofReport
from celadon.cli.proofs import ProofLimits, subjects_among
from celadon.cli.reading.documents import Document, Problem, Text
from celadon.cli.report.proof_view import ClaimView, DiffView, ProofView
from celadon.cli.report.report_model import data, yaml_text
from celadon.kube import GroupVersionKind, JsonObject, metadata
from celadon.kube.json_types import JsonDict
from celadon.kube.releases import answering_as
from celadon.records import dataclass

Tell: TypeAlias = Callable[[JsonObject], None]

_SUBJECTS: Final = (
    Pane.POLICY,
    Pane.BINDING,
    Pane.PARAMS,
    Pane.NAMESPACE,
    Pane.CLUSTER,
    Pane.AUTHORIZER,
)
"""Panes with what decides, and with what that looks up."""

_MOST: Final = {"items": 12, "seconds": 120}
"""The largest limits that can be asked for."""


@dataclass(frozen=True, slots=True)
class ProofQuestion:
    """A state of the page, and how much is asked about it: so many `items` of lists, for so many
    `seconds` of the solver for each answer."""

    state: State
    items: int
    seconds: int

    @staticmethod
    def of(value: Any) -> ProofQuestion:  # noqa: ANN401 - JSON
        """Return what the page asks. Raises StateError."""
        limits = {name: value.get(name) for name in _MOST}
        for name, limit in limits.items():
            if not isinstance(limit, int) or not 1 <= limit <= _MOST[name]:
                raise StateError(f"`{name}` is no number from 1 to {_MOST[name]}")
        return ProofQuestion(state_of(value.get("state")), **limits)

    @property
    def limits(self) -> ProofLimits:
        """Return the limits of `celadon prove`."""
        return ProofLimits(self.state.release, self.items, self.seconds)


def prove(question: ProofQuestion, tell: Tell) -> JsonObject:
    """Prove what can be said of policies and definitions by themselves. Each item is told: a row of
    `celadon prove -o json`, with its remarks and examples."""
    state = question.state
    documents = _documents(state, PaneReader())
    subjects, problems = subjects_among(documents)
    if not subjects and not problems:
        raise StateError("there is no ValidatingAdmissionPolicy and no CustomResourceDefinition")
    side = _side("policies", documents, state)
    examples = _Examples(state, side, side.unbound)
    items: list[ProofItem] = []
    with answering_as(state.release):
        for subject in subjects:
            for item in subject.items(question.limits, _progress(tell)):
                items.append(placed := item.placed(subject.document))
                tell({"item": _row(placed, examples)})
    view = ProofView(ProofReport(tuple(items), tuple(problems)))
    return {"summary": view.counts(), "problems": [data(problem) for problem in problems]}


def _row(item: ProofItem, examples: _Examples) -> JsonObject:
    (row,) = ProofView(ProofReport((item,))).data()
    return {
        **row,
        "place": data(item.place),
        "remarks": [data(remark) for remark in item.remarks],
        "isTold": item.is_told or item.sort == VALIDATION,
        "examples": [examples.shown(example) for example in item.examples],
    }


def diff(question: ProofQuestion, tell: Tell) -> JsonObject:
    """Compare the policies with those before: the `report` is that of `celadon diff -o json`. What
    the pane of those before has no object of its kind of is the same on both sides."""
    reader, state = PaneReader(), question.state
    if not state.text(Pane.BEFORE).strip():
        raise StateError("the pane `before` is empty: put in what is to be compared with")
    before = reader.read(state, Pane.BEFORE)
    now = _documents(state, reader)
    kinds = {document.group_kind for document in before.documents}
    common = [item for item in now if isinstance(item, Problem) or item.group_kind not in kinds]
    old = _side("before", [*before.documents, *before.problems, *common], state)
    new = _side("now", now, state)
    settings = DiffSettings(items=question.items, seconds=question.seconds)
    report = compared(old, new, settings, _progress(tell))
    report = with_definitions(report, old, new, settings)
    examples = _Examples(state, new, bound_by_neither(old, new))
    return {"report": examples.in_report(DiffView(report).data())}


def claim(question: ProofQuestion, tell: Tell) -> JsonObject:
    """Prove the properties in their pane: the `report` is that of `celadon prove --property`."""
    state = question.state
    text = state.text(Pane.PROPERTIES)
    if not text.strip():
        raise StateError("the pane `properties` is empty: put in what is to be proved")
    pane = Text(Pane.PROPERTIES.value, text)
    properties, problems = property_proofs.properties_among([pane], state.release)
    side = _side("policies", _documents(state, PaneReader()), state)
    if problems:
        report = property_proofs.ClaimReport(problems=tuple(problems))
    else:
        report = property_proofs.answered(
            side,
            property_proofs.Claims(tuple(properties)),
            question.items,
            question.seconds,
            _progress(tell),
        )
    examples = _Examples(state, side, side.unbound)
    return {"report": examples.in_report(ClaimView(report).data())}


QUESTIONS: Final[Mapping[str, Callable[[ProofQuestion, Tell], JsonObject]]] = {
    "prove": prove,
    "diff": diff,
    "claim": claim,
}


def _progress(tell: Tell) -> Callable[[str], None]:
    def progress(text: str) -> None:
        tell({"progress": text})

    return progress


def _documents(state: State, reader: PaneReader) -> list[Document | Problem]:
    items: list[Document | Problem] = []
    for pane in _SUBJECTS:
        reading = reader.read(state, pane)
        items += (*reading.documents, *reading.problems)
    return items


def _side(label: str, items: Sequence[Document | Problem], state: State) -> DiffSide:
    documents = [item for item in items if isinstance(item, Document)]
    with answering_as(state.release):
        manifests = described(documents)
    manifests.problems += [item for item in items if isinstance(item, Problem)]
    return side_of(label, manifests, state.release)


# --- Examples ----------------------------------------------------------------
#
# A request as the panes that ask for it: whoever puts them into the page sees it decided. What is
# proved of a policy without a binding is seen with one that denies everywhere.

_NAMESPACE: Final = GroupVersionKind("", "v1", "Namespace")


class _Examples:
    """Writes examples for a state; `unbound` are the policies of a side that get a binding."""

    def __init__(self, state: State, side: DiffSide, unbound: Collection[str]) -> None:
        self._state = state
        documents = PaneReader().documents(state, _SUBJECTS)
        self._present = frozenset(_key(document.value) for document in documents)
        policies = validating_policies(side.sets.validating)
        self._bindings = [
            binding_everywhere(policy) for policy in policies if policy.name in unbound
        ]

    def in_report(self, report: JsonDict) -> JsonDict:
        """Return the report with each example as panes, too."""
        for answer in report["answers"]:
            example = answer.get("example")
            if example is not None:
                manifest, old = example.get("object"), example.get("oldObject")
                request = ProofExample(
                    manifest or old,
                    operation=answer["operation"],
                    old_manifest=old if manifest else None,
                    around=tuple(example.get("around", ())),
                    user=example.get("user", ""),
                    groups=tuple(example.get("groups", ())),
                )
                example |= self.shown(request)
        return report

    def shown(self, example: ProofExample) -> JsonDict:
        """Return the title, the operation and the panes of an example."""
        old, around = example.old_manifest, example.around
        params = [obj for obj in around if metadata.gvk(obj) != _NAMESPACE]
        namespaces = [obj for obj in around if obj not in params and not _is_plain(obj)]
        user: JsonDict = {"username": example.user, "groups": list(example.groups)}
        texts = {
            Pane.OBJECT: yaml_text(example.manifest),
            Pane.OLD_OBJECT: "" if old is None else yaml_text(old),
            Pane.NAMESPACE: _joined(map(yaml_text, namespaces)),
            Pane.USER: yaml_text(user) if example.user else "",
            Pane.PARAMS: self._with(Pane.PARAMS, params),
            Pane.BINDING: self._with(Pane.BINDING, self._bindings),
        }
        panes = PANES_OF[self._state.mode]
        is_stored = example.operation == STORED
        return {
            "title": example.title,
            "operation": Operation.CREATE.value if is_stored else example.operation,
            "panes": {pane.value: text for pane, text in texts.items() if pane in panes},
        }

    def _with(self, pane: Pane, objects: Sequence[JsonObject]) -> str:
        """Return the text of a pane, with those objects behind it that no pane has."""
        missing = [yaml_text(obj) for obj in objects if _key(obj) not in self._present]
        text = self._state.text(pane)
        return _joined([text, *missing] if text.strip() else missing) if missing else text


def _joined(texts: Iterable[str]) -> str:
    return "---\n".join(text if text.endswith("\n") else f"{text}\n" for text in texts)


def _is_plain(namespace: JsonObject) -> bool:
    """Return whether a namespace is as one that nobody describes."""
    labels = metadata.labels(namespace).keys() - {"kubernetes.io/metadata.name"}
    return not labels and not metadata.annotations(namespace)


def _key(obj: JsonObject) -> tuple[GroupVersionKind, str, str]:
    return metadata.gvk(obj), metadata.namespace(obj), metadata.name(obj)
