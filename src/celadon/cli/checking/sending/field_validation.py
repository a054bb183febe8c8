"""Fields that an object's kind does not have, or that its document has twice.

An API server drops the ones and takes the last of the others, and says so if it is asked to: with
`Strict`, which is what kubectl asks for, it refuses the document, with `Warn` it warns. The texts
are those of `celadon.kube.registry`; here they get the lines of the file.
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cli.checking.check_report import Fault, Place
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.goyaml import RepeatedKey, strict_error
from celadon.kube import StatusError
from celadon.kube.go import Document as JsonDocument
from celadon.kube.go import read_json
from celadon.kube.registry import Target, patch, request_bodies, stray_fields
from celadon.kube.schemas import StrayField
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class StrayFields:
    """Those of a document that is sent as `target`, which `is_refused` for them, or warned about.
    `keys` are those that its YAML repeats: a server that is sent YAML complains about them in words
    of their own, first. `patched` is what a patch has made of the object, if it was sent as one."""

    document: Document
    target: Target
    fields: Sequence[StrayField]
    keys: Sequence[RepeatedKey]
    is_refused: bool
    patched: patch.Patched | None = None

    def warnings(self) -> list[str]:
        """What is said under `Warn`."""
        return [*(one.text for one in self.keys), *(one.text for one in self.fields)]

    def refusal(self) -> StatusError:
        """What is answered under `Strict`."""
        said = [strict_error(one.text for one in self.keys)] if self.keys else []
        said += [one.text for one in self.fields]
        kind = self.target.kind
        why = request_bodies.strict_decoding_error(said)
        if self.patched is not None:
            return self.patched.refusal(why)
        return request_bodies.undecodable(kind, kind.kind, why)

    def faults(self) -> list[Fault]:
        """Each of them, and where it stands."""
        return [
            *(Fault(self._place(one), one.shown.strip('"'), one.complaint) for one in self.keys),
            *(Fault(self._line(one), one.path, one.text, one.likely) for one in self.fields),
        ]

    def problem(self) -> Problem:
        """The refusal, at the first of them."""
        place = self.faults()[0].place
        return Problem(place.file, place.line, str(self.refusal()))

    def _place(self, key: RepeatedKey) -> Place:
        return Place(self.document.file, self.document.chunk.first_line + key.line - 1)

    def _line(self, field: StrayField) -> Place:
        return Place(self.document.file, self.document.line(field.steps))


def stray_fields_of(document: Document, target: Target, *, strict: bool) -> StrayFields | None:
    """None if there are none. For documents whose values fit the kind."""
    repeated = document.repeated
    is_json = document.chunk.is_json
    sent = _sent(document) if repeated and is_json else JsonDocument(document.value)
    found = StrayFields(
        document,
        target,
        stray_fields(sent, target.kind, target),
        () if is_json else repeated,
        is_refused=strict,
    )
    return found if found.fields or found.keys else None


def _sent(document: Document) -> JsonDocument:
    """The document with what a dict cannot hold."""
    start, end = document.chunk.span(document.path)
    return read_json(document.chunk.text[start:end], merge=True)
