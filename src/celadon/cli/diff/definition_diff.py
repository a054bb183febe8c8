"""Definitions in `celadon diff`: whether a stored object, which the old definition took, is invalid
by the new one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from celadon.cli.check.check_report import Place
from celadon.cli.diff.diff_run import (
    BOUNDED,
    DIFFERS,
    SAME,
    STORED,
    UNDECIDED,
    Against,
    DiffAnswer,
    DiffReport,
    DiffSettings,
    Given,
    Reason,
    RequestExample,
    SideVerdict,
)
from celadon.cli.reading.documents import Document
from celadon.kube import GroupVersionKind, metadata
from celadon.kube.crd import custom_kinds
from celadon.kube.releases import answering_as
from celadon.prove import Answer, Direction
from celadon.prove.definitions import Demand, RevisionReply, Revisions, schema_path

_DIRECTION = "stricter"


def with_definitions(
    report: DiffReport, old: Given, new: Given, settings: DiffSettings
) -> DiffReport:
    """The report about two sides, and what there is to say of their definitions."""
    if Direction.STRICTER not in settings.directions:
        return report
    found = list(_definition_answers(old, new, settings))
    answers = (one for one in found if isinstance(one, DiffAnswer))
    unseen = (one for one in found if isinstance(one, Reason))
    return replace(report, answers=(*report.answers, *answers), unseen=(*report.unseen, *unseen))


def _definition_answers(
    old: Given, new: Given, settings: DiffSettings
) -> Iterator[DiffAnswer | Reason]:
    known = {metadata.name(one.value): one for one in new.definitions}
    for before in old.definitions:
        name = metadata.name(before.value)
        after = known.get(name)
        if after is None:
            yield Reason(f"CustomResourceDefinition {name} is gone: not looked at")
        elif before.value["spec"] != after.value["spec"] or old.version != new.version:
            yield from _Compared(before, after, old, new, settings).answers()


class _Compared:
    """Two revisions of one definition."""

    def __init__(
        self, before: Document, after: Document, old: Given, new: Given, settings: DiffSettings
    ) -> None:
        self._after, self._new, self._settings = after, new, settings
        with answering_as(old.version):
            self._old_kinds = custom_kinds(before.value)
        with answering_as(new.version):
            self._new_kinds = custom_kinds(after.value)

    def answers(self) -> Iterator[DiffAnswer | Reason]:
        """Version by version."""
        numbers = {gvk: number for number, gvk in enumerate(self._new_kinds)}
        for gvk, kind in self._old_kinds.items():
            if gvk not in numbers:
                yield Reason(
                    f"{gvk.kind}: {gvk.version} is gone: objects that are stored in it are not "
                    "looked at"
                )
                continue
            compare = Revisions(
                kind,
                self._new_kinds[gvk],
                self._new.version,
                self._settings.items,
                self._settings.seconds,
            )
            replies = list(compare.replies())
            yield from self._told(gvk, numbers[gvk], replies)

    def _told(
        self, gvk: GroupVersionKind, number: int, replies: Sequence[RevisionReply]
    ) -> Iterator[DiffAnswer]:
        for reply in replies:
            if reply.answer in (Answer.YES, Answer.UNKNOWN):
                yield self._answer(gvk, number, reply)
        bounded = [one for one in replies if one.answer is Answer.BOUNDED]
        if all(one.answer in (Answer.NO, Answer.BOUNDED) for one in replies):
            paths = tuple(dict.fromkeys(path for one in bounded for path in one.bounded))
            items = max((one.items for one in bounded), default=0)
            answer = BOUNDED if bounded else SAME
            yield DiffAnswer(
                STORED,
                gvk.api_version,
                gvk.kind,
                _DIRECTION,
                answer,
                items=items,
                bounded=paths,
            )

    def _answer(self, gvk: GroupVersionKind, number: int, reply: RevisionReply) -> DiffAnswer:
        place = self._place(number, reply.demand)
        name = f"CustomResourceDefinition {metadata.name(self._after.value)}"
        made = DiffAnswer(STORED, gvk.api_version, gvk.kind, _DIRECTION, UNDECIDED, place=place)
        if reply.answer is Answer.UNKNOWN:
            return replace(made, reasons=(Reason(f"{reply.demand.text}: {reply.reason}", place),))
        errors = tuple(
            Against(name, "", reply.demand.text, place, message) for message in reply.errors
        )
        taken = "is taken" if reply.is_forgiven else "is refused, too"
        example = RequestExample(
            SideVerdict("admitted"),
            SideVerdict("denied", errors),
            reply.example,
            remark=f"an update of it that changes labels only {taken}",
        )
        return replace(made, answer=DIFFERS, example=example, subject=name)

    def _place(self, number: int, demand: Demand) -> Place:
        root = ("spec", "versions", number, "schema", "openAPIV3Schema")
        path = schema_path(root, demand.names)
        if demand.rule is not None:
            path = (*path, "x-kubernetes-validations", demand.rule, "rule")
        elif demand.required:
            path = (*path, "required")
        else:
            path = (*path, demand.keywords[0])
        document = self._after
        return Place(self._new.shown(document.file), document.line(path))
