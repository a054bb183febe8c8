"""A request that tells a policy from an altered one, as a case of a test file.

Where the request was made of a case that is there, the new case is that one with what is different;
else, or where that does not say the same, it says everything. It is read as it would be in the
file, and run with both policies: what is proposed passes with the policy as it is and fails with
the other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Any, Final

from celadon.admission import ADMIN, VALIDATION_FAILURE, Operation
from celadon.cli.check.questions import identity
from celadon.cli.own_files import API_VERSION
from celadon.cli.policytest.distinguishing.policy_stages import Stage, for_altered
from celadon.cli.policytest.distinguishing.request_pool import Generated
from celadon.cli.policytest.files.file_format import KIND
from celadon.cli.policytest.files.file_tests import is_policy_test, read_test
from celadon.cli.policytest.mutants.policy_mutants import Alteration
from celadon.cli.policytest.run.case_comparison import outcome_of
from celadon.cli.policytest.run.case_judging import Bench
from celadon.cli.policytest.run.case_results import (
    AuthorizerAnswer,
    Case,
    CaseOutcome,
    CaseVerdict,
    Status,
)
from celadon.cli.policytest.run.case_running import run_case
from celadon.cli.reading import sources
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.locations import Chunk
from celadon.cli.reading.sources import Text
from celadon.kube import Json, JsonObject, Ruling, metadata
from celadon.kube.registry import patch_between

# --- Written expectations ----------------------------------------------------
#
# What is to be expected of a request so that a case tells two policies apart: as test files say
# it. No more than it takes: the verdict with its message, and what else is different.


def telling_expectations(wanted: CaseOutcome, other: CaseOutcome) -> Iterator[str | JsonObject]:
    """Expectations that hold for what is wanted, the shortest first."""
    fields = _verdict(wanted)
    if not fields:
        yield wanted.verdict.value
    else:
        yield fields
    named = fields or {"verdict": wanted.verdict.value}
    more = dict(_differences(wanted, other))
    if more:
        yield {**named, **more}
    if wanted.result.sentence != other.result.sentence and fields:
        yield {wanted.verdict.value: wanted.result.sentence, **more}


def _verdict(wanted: CaseOutcome) -> dict[str, object]:
    """With the message, if somebody speaks."""
    verdict = wanted.verdict
    if verdict in (CaseVerdict.ADMIT, CaseVerdict.NO_MATCH):
        return {}
    said = (*(one.message for one in wanted.deciding), *(one.message for one in wanted.ignored))
    text = next(iter(said), "")
    return {verdict.value: text} if text else {}


def _differences(wanted: CaseOutcome, other: CaseOutcome) -> Iterator[tuple[str, Json]]:
    """Yield what is said besides, where that is other."""
    own, others = wanted.result, other.result
    texts = [[one.text for one in found.warnings if one.violations] for found in (own, others)]
    if texts[0] != texts[1]:
        yield "warnings", texts[0]
    annotations = {
        key: {"contains": _speaker(wanted)} if key == VALIDATION_FAILURE else value
        for key, value in own.audit_annotations.items()
        if others.audit_annotations.get(key) != value
    }
    if annotations:
        yield "auditAnnotations", annotations
    reasons = [str((found.status or {}).get("reason", "")) for found in (own, others)]
    if reasons[0] and reasons[0] != reasons[1]:
        yield "reason", reasons[0]
    if wanted.before is not None and wanted.after is not None and wanted.after != other.after:
        yield "patch", patch_between(wanted.before, wanted.after)
    fields = [[one.field for one in found.deciding] for found in (wanted, other)]
    if fields[0] and fields[0] != fields[1] and fields[0][0].startswith("spec.validations["):
        yield "validation", int(fields[0][0].partition("[")[2].partition("]")[0])


def _speaker(wanted: CaseOutcome) -> str:
    return next((one.policy for one in wanted.deciding), "")


_OF_REQUESTS: Final = ("name", "expect", "skip", "operation", "patch", "oldPatch")
"""dict[str, Any] of a case that are written anew."""
_DECISIONS: Final = {
    Ruling.ALLOW: "allow",
    Ruling.DENY: "deny",
    Ruling.NO_OPINION: "noOpinion",
}


def _outcome(bench: Bench, case: Case) -> CaseOutcome | None:
    judged = bench.judged(case)
    return outcome_of(case, judged) if judged.findings.results else None


def _text(fields: dict[str, Json]) -> str:
    """YAML, one line for each field."""
    lines = [f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]
    return "".join(f"{'- ' if i == 0 else '  '}{line}\n" for i, line in enumerate(lines))


class CaseWriter:
    """Writes cases for the test of a stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage

    def killing_case(self, alteration: Alteration, other: Bench, found: Generated) -> str:
        """The text of the case, an item of `cases`; empty if there is none that does it. `other` is
        the bench with the alteration."""
        bench = self._stage.bench
        wanted, actual = (_outcome(one, found.case) for one in (bench, other))
        if wanted is None or actual is None or wanted.verdict is CaseVerdict.INVALID:
            return ""
        name = f"notices: {alteration.field} {alteration.text}".replace("`", "")
        for expect in telling_expectations(wanted, actual):
            for fields in self._versions(found):
                whole = {"name": name, **fields, "expect": expect}
                made = self.read(whole)
                if made is None or run_case(bench, made).status is not Status.PASSED:
                    continue
                if run_case(other, for_altered(made, alteration)).is_bad:
                    return _text(whole)
        return ""

    @cached_property
    def _document(self) -> Document:
        """The test as it stands in its file; for one of another tool a test of our own without
        any cases."""
        test = self._stage.test
        text = sources.read(test.file)
        for one in DocumentReader().read(text) if isinstance(text, Text) else ():
            if (
                isinstance(one, Document)
                and is_policy_test(one)
                and read_test(one).name == test.name
            ):
                return one
        value = {"apiVersion": API_VERSION, "kind": KIND, "policies": [], "cases": []}
        return Document(Chunk(test.file, json.dumps(value), 1, 0, is_json=True), (), value)

    def read(self, fields: dict[str, object]) -> Case | None:
        """The case, as it would be if it stood in the file; None if it could not."""
        document = self._document
        value = {**document.value, "cases": [fields]}
        test = read_test(Document(document.chunk, document.path, value))
        return None if test.problems or not test.cases else test.cases[0]

    def _versions(self, found: Generated) -> Iterator[JsonObject]:
        """Yield what it says of the request, the shortest first."""
        if found.origin is not None:
            raw = self._raw(found.origin)
            if raw is not None:
                shorter = self._like(raw, found.case, found.origin)
                if shorter is not None:
                    yield shorter
        known = () if found.origin is None else found.origin.cluster
        cluster = _latest(found.case.cluster)
        yield _whole(found.case, [one for one in cluster if one not in known])
        yield _whole(found.case, cluster)

    def _raw(self, origin: Case) -> dict[str, Json] | None:
        """The case as its file has it."""
        document = self._document
        for i, one in enumerate(document.value["cases"]):
            if document.line(("cases", i)) == origin.place.line:
                found: dict[str, Json] = one
                return found
        return None

    def _like(self, raw: JsonObject, case: Case, origin: Case) -> dict[str, Json] | None:
        """The case of the file with what is different."""
        kept = {key: value for key, value in raw.items() if key not in _OF_REQUESTS}
        base = self.read(
            {**kept, "name": "base", "operation": "CREATE", "patch": [], "expect": "admit"}
        )
        if base is None:
            return None
        made = dict(kept)
        if case.operation is not Operation.CREATE or "operation" in self._defaults:
            made["operation"] = case.operation.value
        patch = patch_between(base.object.value, case.object.value)
        if patch or "patch" in self._defaults:
            made["patch"] = patch
        is_old = case.old is not None and case.old.value == base.object.value
        if case.operation is Operation.UPDATE and case.old is not None and not (is_old and patch):
            made["oldObject"] = case.old.value
        made |= _user(case) if case.user != origin.user else {}
        more = [one.value for one in _latest(case.cluster) if one not in origin.cluster]
        if more:
            made["resources"] = [*kept.get("resources", ()), *more]
        return made

    @property
    def _defaults(self) -> JsonObject:
        found: dict[str, Json] = self._document.value.get("defaults", {})
        return found


def _latest(documents: Iterable[Document]) -> list[Document]:
    """Return the last of those that are the same object."""
    return list({identity(one, ""): one for one in documents}.values())


def _whole(case: Case, cluster: list[Document]) -> dict[str, Any]:
    """Everything, whatever the test has for defaults."""
    found: dict[str, object] = {"operation": case.operation.value, "object": case.object.value}
    if case.old is not None:
        found["oldObject"] = case.old.value
    if case.subresource:
        found["subresource"] = case.subresource
    if not metadata.namespace(case.object.value):
        found["namespace"] = case.namespace
    if case.user != ADMIN:
        found |= _user(case)
    if case.dry_run:
        found["dryRun"] = True
    if cluster:
        found["resources"] = [one.value for one in cluster]
    if case.answers:
        found["authorizer"] = [_answer(one) for one in case.answers]
    if case.policies:
        found["policy"] = list(case.policies)
    return found


def _user(case: Case) -> dict[str, Any]:
    user = case.user
    found: dict[str, object] = {"user": user.name, "groups": list(user.groups)}
    if user.uid:
        found["uid"] = user.uid
    if user.extra:
        found["extra"] = {key: list(values) for key, values in user.extra.items()}
    return found


def _answer(one: AuthorizerAnswer) -> dict[str, Any]:
    found: dict[str, object] = {"decision": _DECISIONS[one.ruling], **one.asked}
    if one.reason:
        found["reason"] = one.reason
    if one.error is not None:
        found["error"] = one.error
    return found
