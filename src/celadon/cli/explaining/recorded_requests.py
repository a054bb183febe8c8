"""`--from`: a request that an API server wrote down, as an AdmissionReview or an audit Event.

A review has the object as policies saw it, so it is judged as it is, without defaults and without
mutating policies, which came before it. An event has what the client sent (for a patch: what it
came to, if the responses were recorded), which goes the whole way. An old object that the record
does not have has to be given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from celadon.admission import ADMIN, Operation
from celadon.admission.webhooks import REVIEW_KIND
from celadon.cli.checking.given.check_inputs import CheckInputs, WrongUseError
from celadon.cli.checking.questions import Question
from celadon.cli.reading import sources
from celadon.cli.reading.document_archive import DocumentArchive
from celadon.cli.reading.documents import Document, DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.kube import User
from celadon.records import dataclass

_VERBS: Final = {
    "create": Operation.CREATE,
    "update": Operation.UPDATE,
    "patch": Operation.UPDATE,
    "delete": Operation.DELETE,
}


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """What was asked about which object. `old` is the object as it was, None if that is not
    recorded; `defaulted` says that the object is as policies saw it."""

    question: Question
    object: Document | None
    old: Document | None
    defaulted: bool


def recorded_request(file: str) -> RecordedRequest:
    """The request of a file. WrongUseError for a file that has none."""
    text = sources.read(file)
    if isinstance(text, Problem):
        raise WrongUseError(text.text())
    for document in DocumentReader().read(text):
        if isinstance(document, Problem):
            raise WrongUseError(document.text())
        kind = document.group_kind
        if kind == ("admission.k8s.io", REVIEW_KIND):
            return _of_review(document)
        if kind == ("audit.k8s.io", "Event"):
            return _of_event(document)
    raise WrongUseError(f"`{file}` holds no AdmissionReview and no audit Event")


def asked_as_recorded(given: CheckInputs, recorded: RecordedRequest) -> CheckInputs:
    """The same world and policies, asked what was recorded. WrongUseError."""
    question = recorded.question
    wanted, old = recorded.object, recorded.old
    if wanted is None and given.manifests.old and question.operation is Operation.DELETE:
        wanted = given.manifests.old[0]
    if wanted is None:
        hint = "record responses, or give it with `--old`"
        raise WrongUseError(f"the object is not in the record: {hint}")
    if question.operation is Operation.UPDATE and old is None and not given.manifests.old:
        raise WrongUseError("the old object is not in the record: give it with `--old`")
    admitted = DocumentArchive()
    admitted.append(wanted)
    olds = [*given.manifests.old, *((old,) if old is not None else ())]
    settings = replace(
        given.settings, question=question, validation=False, defaulting=not recorded.defaulted
    )
    manifests = replace(given.manifests, admitted=admitted, old=olds)
    return CheckInputs(manifests, given.policies, settings)


def _of_review(document: Document) -> RecordedRequest:
    asked = document.value.get("request")
    if not isinstance(asked, dict):
        raise WrongUseError(f"{document.position()}: `request` is missing")
    names = {one.value: one for one in Operation}
    operation = names.get(str(asked.get("operation")))
    if operation is None:
        raise WrongUseError(f"{document.position()}: the review has no operation")
    question = _question(operation, asked.get("userInfo"), asked, str(asked.get("subResource", "")))
    question = replace(question, dry_run=asked.get("dryRun") is True)
    old = _part(document, ("request", "oldObject"))
    new = _part(document, ("request", "object"))
    if operation is Operation.DELETE:
        return RecordedRequest(question, old, None, defaulted=True)
    return RecordedRequest(question, new, old, defaulted=True)


def _of_event(document: Document) -> RecordedRequest:
    event = document.value
    operation = _VERBS.get(str(event.get("verb")))
    if operation is None:
        raise WrongUseError(f"{document.position()}: no policy sees the verb `{event.get('verb')}`")
    about = event.get("objectRef")
    place = about if isinstance(about, dict) else {}
    user = event.get("impersonatedUser") or event.get("user")
    question = _question(operation, user, place, str(place.get("subresource", "")))
    answered = _part(document, ("responseObject",))
    if operation is Operation.DELETE:
        return RecordedRequest(question, None, None, defaulted=False)
    if event.get("verb") == "patch":
        return RecordedRequest(question, answered, None, defaulted=True)
    return RecordedRequest(question, _part(document, ("requestObject",)), None, defaulted=False)


def _question(
    operation: Operation, user: object, place: Mapping[str, Any], subresource: str
) -> Question:
    return Question(
        operation=operation,
        subresource=subresource,
        namespace=str(place.get("namespace") or "default"),
        user=_user(user) if isinstance(user, dict) else ADMIN,
        field_validation="Ignore",
    )


def _user(user: Mapping[str, Any]) -> User:
    return User(
        str(user.get("username") or ""),
        tuple(map(str, user.get("groups") or ())),
        str(user.get("uid") or ""),
        {str(key): tuple(map(str, one or ())) for key, one in (user.get("extra") or {}).items()},
    )


def _part(document: Document, path: tuple[str, ...]) -> Document | None:
    """An object inside of the record; None if there is none, or only a Status."""
    value = document.value_at(path)
    if not isinstance(value, dict) or value.get("kind") == "Status":
        return None
    if not all(isinstance(value.get(name), str) for name in ("apiVersion", "kind")):
        return None
    return Document(document.chunk, (*document.path, *path), value)
