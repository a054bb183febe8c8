"""One JSON line for each decision: about what, who asked, what came out, and why.

Denials, warnings and errors are always written, of plain admissions, changed objects among them, a
part (`sample`). Contents of Secrets are redacted, also where a policy's message repeats them. A
file is opened again when it was moved away, so that logrotate needs nothing. A line that cannot be
written is lost, and said once: a review never fails for its log.
"""

from __future__ import annotations

import base64
import binascii
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from celadon import private_files
from celadon.admission import Decision, Request, Verdict
from celadon.admission.policies.mutating import Change, MutationFailure, MutationNotes
from celadon.apiserver.operation import warn
from celadon.kube import JsonObject
from celadon.kube.fieldmanager import LAST_APPLIED
from celadon.kube.json_types import JsonDict
from celadon.records import dataclass
from celadon.webhook.review_decisions import Finding
from celadon.webhook.reviews import Review


@dataclass(frozen=True, slots=True)
class DecisionLogSettings:
    """Holds where decisions are logged, and which. `path` None is standard output; `sample` is the
    part of plain admissions that is logged, from 0 to 1; `with_objects` adds the whole objects."""

    path: Path | None
    sample: float = 1.0
    with_objects: bool = False


# --- Secret texts ------------------------------------------------------------
#
# What must not be told: the contents of Secrets, in objects and in messages made of them.

REDACTED: Final = "[redacted]"
LEAST_CHARACTERS: Final = 4
"""Shorter values would blacken half of each message, and keep no secret."""

_MEMBERS: Final = ("data", "stringData")


def is_about_secrets(request: Request) -> bool:
    """Return whether a request is about Secrets, whatever its objects say that they are."""
    return request.kind.kind == "Secret" and not request.kind.group


def secret_texts(request: Request) -> Iterable[str]:
    """Return the values in the Secrets of a request, as they stand there and decoded, with and
    without the space around them, longest first."""
    if not is_about_secrets(request):
        return ()
    result = {
        text
        for obj in (request.object, request.old_object)
        if obj is not None
        for value in _values(obj)
        for text in (value, value.strip())
        if len(text) >= LEAST_CHARACTERS
    }
    return sorted(result, key=len, reverse=True)


def _values(obj: JsonObject) -> Iterator[str]:
    for member in _MEMBERS:
        values = obj.get(member)
        if not isinstance(values, dict):
            continue
        for value in values.values():
            if isinstance(value, str):
                yield value
                if member == "data":
                    yield from _decoded(value)


def _decoded(value: str) -> Iterator[str]:
    try:
        yield base64.b64decode(value, validate=True).decode()
    except (binascii.Error, ValueError):  # no base64, or no text
        return


def redacted(text: str, secrets: Iterable[str]) -> str:
    """Return the text without secrets."""
    for secret in secrets:
        text = text.replace(secret, REDACTED)
    return text


def redacted_object(obj: JsonObject | None, *, secret: bool) -> JsonDict | None:
    """Redact an object: a Secret keeps its keys and loses its values; other objects are as they
    are."""
    if obj is None:
        return None
    if not secret:
        return dict(obj)
    redacted = {key: _hidden(value) if key in _MEMBERS else value for key, value in obj.items()}
    meta = obj.get("metadata")
    if isinstance(meta, dict) and isinstance(meta.get("annotations"), dict):
        result = {
            key: annotation
            for key, annotation in meta["annotations"].items()
            if key != LAST_APPLIED
        }
        redacted["metadata"] = {**meta, "annotations": result}
    return redacted


def _hidden(value: object) -> object:
    return dict.fromkeys(value, REDACTED) if isinstance(value, Mapping) else REDACTED


_STDOUT: Final = 1


class DecisionLog:
    """Writes down the decisions on reviews. `clock` is Unix time, `dice` gives numbers from 0 to
    1."""

    def __init__(
        self, settings: DecisionLogSettings, clock: Callable[[], float], dice: Callable[[], float]
    ) -> None:
        self._settings = settings
        self._clock = clock
        self._dice = dice
        self._file = (
            _STDOUT if settings.path is None else private_files.open_to_append(settings.path)
        )
        self._is_broken = False
        self._write: Callable[[bytes], None] = self.write

    def collect(self) -> list[bytes]:
        """Collect the lines from now on, which another process will `write`."""
        lines = list[bytes]()
        self._write = lines.append
        return lines

    def decided(
        self,
        path: str,
        review: Review,
        verdict: Verdict,
        micros: int,
        findings: Sequence[Finding] = (),
        mutations: MutationNotes | None = None,
    ) -> None:
        """Write it, or let it pass. `mutations` are what mutating policies did, if they were
        asked."""
        failed = mutations is not None and mutations.failures
        plain = verdict.allowed and not findings and not failed
        sample = self._settings.sample
        if plain and sample < 1 and (sample <= 0 or self._dice() >= sample):
            return
        line = self._line(path, review, verdict, findings, mutations)
        line["micros"] = micros
        self._write(json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def _line(
        self,
        path: str,
        review: Review,
        verdict: Verdict,
        findings: Sequence[Finding],
        mutations: MutationNotes | None,
    ) -> JsonDict:
        request = review.request
        secrets = secret_texts(request)
        line: JsonDict = {
            "ts": datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="milliseconds"),
            "path": path,
            "uid": request.uid,
            "operation": request.operation.value,
            "apiVersion": request.kind.group_version.__str__(),
            "kind": request.kind.kind,
            "resource": str(request.resource.group_resource),
            "subresource": request.subresource,
            "namespace": request.namespace,
            "name": request.name,
            "user": request.user.name,
            "groups": request.user.groups,
            "dryRun": request.dry_run,
            "allowed": verdict.allowed,
            "code": verdict.code,
            "message": redacted(verdict.message, secrets),
            "warnings": [redacted(warning, secrets) for warning in verdict.warnings],
            "annotations": {
                key: redacted(text, secrets) for key, text in verdict.audit_annotations.items()
            },
            "decisions": [
                _decision(decision, redacted(decision.message, secrets))
                for finding in findings
                for decision in finding.decisions
            ],
            "failed": [finding.policy for finding in findings if finding.failed],
            "mutations": [] if mutations is None else list(_mutations(mutations, secrets)),
        }
        line = {key: value for key, value in line.items() if value not in ("", [], {}, ())}
        if self._settings.with_objects:
            secret = is_about_secrets(request)
            line["object"] = redacted_object(request.object, secret=secret)
            line["oldObject"] = redacted_object(request.old_object, secret=secret)
        return line

    def write(self, line: bytes) -> None:
        """Write one line; it is lost if that fails."""
        try:
            os.write(self._file, line)
            self._is_broken = False
        except OSError as error:
            if not self._is_broken:
                warn("decisions cannot be logged", {"err": str(error)})
            self._is_broken = True

    def reopen_if_moved(self) -> None:
        """Reopen the file if it was moved; this is looked at every few seconds."""
        path = self._settings.path
        if path is None:
            return
        try:
            about, mine = os.stat(path), os.fstat(self._file)
            if (about.st_dev, about.st_ino) == (mine.st_dev, mine.st_ino):
                return
        except OSError:
            pass
        try:
            fresh = private_files.open_to_append(path)
        except OSError as error:
            warn("the decision log cannot be opened", {"err": str(error)})
            return
        os.close(self._file)
        self._file = fresh

    def close(self) -> None:
        """Close the log at the end."""
        if self._settings.path is not None:
            os.close(self._file)
        else:
            sys.stdout.flush()


def _decision(decision: Decision, message: str) -> JsonDict:
    entry: JsonDict = {
        "policy": decision.policy,
        "binding": decision.binding,
        "param": decision.param,
        "field": str(decision.source.path),
        "message": message,
        "reason": decision.reason,
        "cause": decision.cause.value,
        "actions": decision.actions,
    }
    return _said(entry)


def _mutations(notes: MutationNotes, secrets: Iterable[str]) -> Iterator[JsonDict]:
    for change in notes.changes:
        yield _said(_mutation(change) | {"result": "applied"})
    for failure in notes.failures:
        result = "ignored" if failure.ignored else "failed"
        yield _said(
            _mutation(failure) | {"result": result, "message": redacted(failure.text, secrets)}
        )


def _mutation(mutation: Change | MutationFailure) -> JsonDict:
    return {
        "policy": mutation.policy,
        "binding": mutation.binding,
        "param": mutation.param,
        "field": str(mutation.source.path),
    }


def _said(entry: JsonDict) -> JsonDict:
    return {key: value for key, value in entry.items() if value not in ("", ())}
