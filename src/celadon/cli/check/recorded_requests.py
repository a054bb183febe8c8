"""`--from`: a request that an API server wrote down, as an AdmissionReview or an audit Event.

A review has the object as policies saw it, so it is judged as it is, without defaults and without
mutating policies, which came before it. An event has what the client sent (for a patch: what it
came to, if the responses were recorded), which goes the whole way. An old object that the record
does not have has to be given.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from celadon.admission import ADMIN, Operation
from celadon.admission.explain import Explanation, HookExplanation, explain, explain_hooks
from celadon.admission.webhooks import REVIEW_KIND
from celadon.cli.check.check_options import CheckInputs
from celadon.cli.check.check_report import Creator, ObjectResult, Place, Report
from celadon.cli.check.check_run import check
from celadon.cli.check.cluster import ANEW, EngineMakers
from celadon.cli.check.document_requests import Question
from celadon.cli.check.manifests import webhook_documents
from celadon.cli.check.object_judging import JudgedObject
from celadon.cli.exit_codes import WrongUseError
from celadon.cli.reading import documents
from celadon.kube import JsonObject, User
from celadon.kube.json_types import Needed, Shape, misfit
from celadon.records import dataclass

_VERBS: Final = {
    "create": Operation.CREATE,
    "update": Operation.UPDATE,
    "patch": Operation.UPDATE,
    "delete": Operation.DELETE,
}

_USER: Final[Shape] = {"username": str, "uid": str, "groups": [str], "extra": {str: [str]}}
_REVIEW: Final[Shape] = {"request": Needed({"operation": str, "userInfo": _USER})}
_EVENT: Final[Shape] = {
    "verb": str,
    "objectRef": {"namespace": str, "subresource": str},
    "user": _USER,
    "impersonatedUser": _USER,
}


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """Holds what was asked about which object. `old` is the object as it was, None if that is not
    recorded; `defaulted` says that the object is as policies saw it."""

    question: Question
    object: documents.Document | None
    old: documents.Document | None
    defaulted: bool


def recorded_request(file: str) -> RecordedRequest:
    """Return the request of a file. WrongUseError for a file that has none."""
    text = documents.read_text(file)
    if isinstance(text, documents.Problem):
        raise WrongUseError(text.text())
    for document in documents.DocumentReader().read(text):
        if isinstance(document, documents.Problem):
            raise WrongUseError(document.text())
        kind = document.group_kind
        if kind == ("admission.k8s.io", REVIEW_KIND):
            return _of_review(document)
        if kind == ("audit.k8s.io", "Event"):
            return _of_event(document)
    raise WrongUseError(f"`{file}` holds no AdmissionReview and no audit Event")


def asked_as_recorded(inputs: CheckInputs, recorded: RecordedRequest) -> CheckInputs:
    """Return the same world and policies, asked what was recorded. Raises WrongUseError."""
    question = recorded.question
    document, old = recorded.object, recorded.old
    if document is None and inputs.manifests.old and question.operation is Operation.DELETE:
        document = inputs.manifests.old[0]
    if document is None:
        hint = "record responses, or give it with `--old`"
        raise WrongUseError(f"the object is not in the record: {hint}")
    if question.operation is Operation.UPDATE and old is None and not inputs.manifests.old:
        raise WrongUseError("the old object is not in the record: give it with `--old`")
    admitted = documents.DocumentArchive()
    admitted.append(document)
    olds = [*inputs.manifests.old, *((old,) if old is not None else ())]
    settings = replace(
        inputs.settings, question=question, validation=False, defaulting=not recorded.defaulted
    )
    manifests = replace(inputs.manifests, admitted=admitted, old=olds)
    return CheckInputs(manifests, inputs.policies, settings)


def _of_review(document: documents.Document) -> RecordedRequest:
    _require(document, _REVIEW)
    request = document.value["request"]
    names = {operation.value: operation for operation in Operation}
    operation = names.get(str(request.get("operation")))
    if operation is None:
        raise WrongUseError(f"{document.position()}: the review has no operation")
    question = _question(
        operation, request.get("userInfo"), request, str(request.get("subResource", ""))
    )
    question = replace(question, dry_run=request.get("dryRun") is True)
    old = _part(document, ("request", "oldObject"))
    new = _part(document, ("request", "object"))
    if operation is Operation.DELETE:
        return RecordedRequest(question, old, None, defaulted=True)
    return RecordedRequest(question, new, old, defaulted=True)


def _of_event(document: documents.Document) -> RecordedRequest:
    _require(document, _EVENT)
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


def _require(document: documents.Document, shape: Shape) -> None:
    wrong = misfit(document.value, shape)
    if wrong is not None:
        raise WrongUseError(f"{document.position()}: {wrong}")


def _question(operation: Operation, user: object, place: JsonObject, subresource: str) -> Question:
    return Question(
        operation=operation,
        subresource=subresource,
        namespace=str(place.get("namespace") or "default"),
        user=_user(user) if isinstance(user, dict) else ADMIN,
        field_validation="Ignore",
    )


def _user(user: JsonObject) -> User:
    return User(
        str(user.get("username") or ""),
        tuple(map(str, user.get("groups") or ())),
        str(user.get("uid") or ""),
        {
            str(key): tuple(map(str, member or ()))
            for key, member in (user.get("extra") or {}).items()
        },
    )


def _part(document: documents.Document, path: tuple[str, ...]) -> documents.Document | None:
    """Return an object inside of the record; None if there is none, or only a Status. WrongUseError
    for one that no API server could have written."""
    value = document.value_at(path)
    if not isinstance(value, dict) or value.get("kind") == "Status":
        return None
    if not all(isinstance(value.get(name), str) for name in ("apiVersion", "kind")):
        return None
    part = documents.Document(document.chunk, (*document.path, *path), value)
    wrong = documents.shape_problem(part)
    if wrong is not None:
        raise WrongUseError(wrong.text())
    return part


# --- Explained objects -------------------------------------------------------
#
# The check, with somebody looking on: what `check` says of each object, and why.


@dataclass(frozen=True, slots=True)
class ExplainedObject:
    """Holds what was judged, and why. `mutation` is None where no mutating policies are given. An
    object that is refused before validating policies see it is explained as they would see it, and
    so is it to all webhooks: as mutating ones have left it."""

    number: int
    judged: JudgedObject
    mutation: Explanation | None
    validation: Explanation
    mutating_hooks: tuple[HookExplanation, ...] = ()
    validating_hooks: tuple[HookExplanation, ...] = ()

    @property
    def result(self) -> ObjectResult:
        """Return what `check` says."""
        return self.judged.result


def explained_objects(
    inputs: CheckInputs,
    is_chosen: Callable[[int, ObjectResult], bool],
    step: Callable[[int], None],
    makers: EngineMakers = ANEW,
) -> tuple[Report, list[ExplainedObject]]:
    """Return the report on all objects, and the explanations of those that are wanted, by their
    number from 1 or by what is known of them. What controllers would create has the number of the
    workload that it is created of."""
    objects: list[ExplainedObject] = []
    count = 0
    version = inputs.settings.version
    webhooks = webhook_documents(inputs.manifests.existing, version)
    hooks = [
        webhooks.hooks(version, mutating=mutating) if webhooks.count else None
        for mutating in (True, False)
    ]

    def look(judged: JudgedObject) -> None:
        nonlocal count
        count += judged.result.created_by is None
        if is_chosen(count, judged.result):
            mutation = (
                None if judged.before.mutation is None else judged.before.mutation.explanation
            )
            request, world = judged.document_request.request, judged.world
            validation = explain(judged.engine, request, world)
            mutating, validating = (
                () if hook is None else explain_hooks(hook, request, world) for hook in hooks
            )
            objects.append(
                ExplainedObject(count, judged, mutation, validation, mutating, validating)
            )

    report = check(inputs, step, look, makers)
    last = {(result.title, result.place, result.created_by): result for result in report.objects}
    return report, [_as_reported(explained, last) for explained in objects]


def _as_reported(
    explained: ExplainedObject, last: Mapping[tuple[str, Place, Creator | None], ObjectResult]
) -> ExplainedObject:
    """Return the object with its last result: quotas are asked when all else is done."""
    result = explained.result
    final = last.get((result.title, result.place, result.created_by), result)
    if not final.plugin or result.is_refused:
        return explained
    return replace(explained, judged=explained.judged._replace(result=final))
