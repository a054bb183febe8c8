"""Results of every kind come out of their JSON as they went in; other JSON does not come in."""

from __future__ import annotations

import copy
import json
from dataclasses import fields
from typing import Any

import pytest

from celadon.admission import Note, Outcome, Source
from celadon.admission.decision_source import validation
from celadon.cli.audit.audit_inputs import Input, Inputs, Survey
from celadon.cli.audit.audit_report import AuditedObject, Findings, Tally, Violation
from celadon.cli.audit.cluster_audit import Mark, PageResult
from celadon.cli.audit.etcd_snapshots import Snapshot, SnapshotObjects
from celadon.cli.audit.fleet_parts import (
    DumpPart,
    KeysPart,
    NotPlainError,
    ResourcePart,
    from_plain,
    to_plain,
)
from celadon.cli.audit.fleet_parts import Source as FleetSource
from celadon.cli.audit.fleet_run import SurveyedSource
from celadon.cli.check.check_report import Notice, NoticeReason, Place
from celadon.cli.check.notices import Coverage
from celadon.cli.reading.documents import Document, DocumentReader, Problem, Text
from celadon.kube import GroupVersionResource
from celadon.kube.resources import known_resources

NOTE = Note(Outcome.EVALUATED, "p", "b", source=validation(2))
NOTICE = Notice(NoticeReason.ERROR_IGNORED, Place("p.yaml", 3), "an error", "a help")
WEB = AuditedObject(Place("d.yaml", 7), "v1", "Pod", "shop", "wéb\ud800", "u", "5")
FINDINGS = Findings(
    read_bytes=1,
    objects=2,
    total=Tally(1, 1),
    policies={"p": Tally(3, 0, 1)},
    coverage=Coverage(
        {"p": {Outcome.EVALUATED, Outcome.POLICY_UNMATCHED}},
        {(Outcome.EVALUATED, "p", "b"): (NOTE, "Pod a")},
        {"q"},
    ),
    violations=[Violation(WEB, "p", "b", "", "spec", Place(), "no", "deny", is_error=False)],
    problems=[Problem("f", 1, "no", "h", is_internal=True, column=2)],
    ignored={"an error": NOTICE, ("p", Source()): NOTICE},
    guessed={("a.io", "A"): ("as", Place("f", 1))},
    namespaces={"shop": Place("f")},
    covered_outcomes={(1, "p", "b"), (2, "p", "")},
)
CLUSTER = SurveyedSource(
    FleetSource("c", kubeconfig="k", context="x"),
    survey=Survey((), ({"kind": "A", "n": [1, 1.5, None, True]},), known_resources()),
    parts=(ResourcePart(GroupVersionResource("", "v1", "pods")),),
)
DUMPS = SurveyedSource(
    FleetSource("d", ("a", "b")),
    Inputs((Input("a", 5), Problem("b", 0, "cannot be read"))),
    parts=(DumpPart(0, 1, 2, 3), KeysPart(0, 5)),
    notices=(NOTICE,),
)


@pytest.mark.parametrize("value", [FINDINGS, PageResult(FINDINGS, Mark("m", "l")), CLUSTER, DUMPS])
def test_results_come_out_as_they_went_in(value: Any) -> None:
    text = json.dumps(to_plain(type(value), value))
    again = from_plain(type(value), json.loads(text))
    assert [getattr(again, one.name) for one in fields(value)] == [
        getattr(value, one.name) for one in fields(value)
    ]


def test_documents_keep_their_lines() -> None:
    text = "# above\n---\napiVersion: v1\nkind: A\ndata:\n  a: 1\n  a: 2\n"
    documents = list(DocumentReader(keeps_repeated=True).read(Text("f", text)))
    survey = Survey(tuple(one for one in documents if isinstance(one, Document)))
    plain = json.loads(json.dumps(to_plain(Survey, survey)))
    (before,), (after,) = survey.documents, from_plain(Survey, plain).documents
    assert (after.value, after.line(("data", "a"))) == (before.value, before.line(("data", "a")))
    assert [one.complaint for one in after.repeated] == [one.complaint for one in before.repeated]


def changed(*path: str | int, to: object) -> Any:
    plain = json.loads(json.dumps(to_plain(Findings, FINDINGS)))
    inner = plain
    for step in path[:-1]:
        inner = inner[step]
    inner[path[-1]] = to
    return plain


@pytest.mark.parametrize(
    ("plain", "why"),
    [
        (changed("objects", to="2"), ".objects: expected int, not str"),
        (changed("objects", to=True), ".objects: expected int, not bool"),
        (changed("objects", to=1.0), ".objects: expected int, not float"),
        (changed("more", to=1), "not the fields of Findings: 'more'"),
        (changed("violations", to={}), ".violations: expected an array"),
        (changed("violations", 0, to=[]), ".violations.0: expected an object"),
        (
            changed("violations", 0, "object", "place", "line", to=None),
            ".violations.0.object.place.line: expected int, not NoneType",
        ),
        (
            changed("coverage", "outcomes", "p", to=["mro"]),
            ".coverage.outcomes.p.0: no Outcome: 'mro'",
        ),
        (
            changed("coverage", "notes", 0, 0, to=[]),
            ".coverage.notes.0.0: expected an array of 3",
        ),
        (
            changed("ignored", 0, 0, to=["Popen", "x"]),
            ".ignored.0.0: expected one of str, tuple, not 'Popen'",
        ),
        (changed("ignored", 0, 0, to=[[], "x"]), ".ignored.0.0: expected one of str, tuple"),
        (changed("policies", to=[]), ".policies: expected an object"),
        (None, "expected an object"),
    ],
)
def test_other_json_is_refused(plain: object, why: str) -> None:
    with pytest.raises(NotPlainError) as raised:
        from_plain(Findings, copy.deepcopy(plain))
    assert str(raised.value).startswith(why)


def test_fields_that_lack_and_others_are_named() -> None:
    with pytest.raises(NotPlainError) as raised:
        from_plain(Mark, {"last": "", "odd": 1})
    assert str(raised.value) == "not the fields of Mark: 'continue_token', 'odd'"


def test_what_belongs_to_a_process_is_neither_written_nor_read() -> None:
    snapshot = SnapshotObjects("f", Snapshot(5, b"", {}), (), ())
    source = SurveyedSource(FleetSource("s"), Inputs((snapshot,)))
    with pytest.raises(NotPlainError, match="has no plain form"):
        to_plain(SurveyedSource, source)
    plain = to_plain(SurveyedSource, DUMPS)
    plain["inputs"]["inputs"] = [["SnapshotObjects", {"file": "f", "snapshot": {}, "keys": []}]]
    with pytest.raises(NotPlainError):
        from_plain(SurveyedSource, plain)


def test_a_value_of_another_type_is_not_written() -> None:
    with pytest.raises(NotPlainError, match="expected int, not str"):
        to_plain(Tally, Tally(matched="1"))  # type: ignore[arg-type]
