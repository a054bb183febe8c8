"""Sources of webhooks' answers: none, files, or the webhooks themselves."""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

from celadon.admission import World
from celadon.cli.check.check_report import Notice, NoticeReason, Place
from celadon.cli.options import did_you_mean
from celadon.cli.reading.documents import Document, DocumentReader, Problem, read_texts
from celadon.kube import Json, JsonObject
from celadon.records import dataclass, field

if TYPE_CHECKING:
    from celadon.admission.webhooks import AsJson, Call, NoReply, Reply
    from celadon.cli.check.conversion_calls import Services


class Answers(Protocol):
    """Knows the answers of webhooks."""

    def answer(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply | None]:
        """Return what came of each call; None for a webhook that is not asked."""
        ...


class NoAnswers:
    """Nobody is asked."""

    def answer(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply | None]:
        """Return None for each call: nobody is asked."""
        return [None] * len(calls)


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """Holds what the command line says about webhooks; `services` says where those are that they
    are behind."""

    folder: str = ""
    calls: bool = False
    services: Services = field(default_factory=dict)
    converts: bool = False
    """Whether webhooks of conversion are called."""

    @property
    def asks(self) -> bool:
        """Return whether webhooks are to be asked at all."""
        return self.calls or bool(self.folder)


@dataclass(frozen=True, slots=True)
class AnswerSource:
    """Holds what answers, and what was found on the way to it."""

    answers: Answers
    as_json: AsJson
    problems: tuple[Problem, ...] = ()
    notices: tuple[Notice, ...] = ()


@contextmanager
def answer_source(
    settings: AnswerSettings, world: World, webhooks: Iterable[str]
) -> Iterator[AnswerSource]:
    """Yield what answers for the webhooks of these names, until the block ends."""
    if settings.folder:
        answers = recorded_answers(settings.folder)
        yield AnswerSource(answers, _json, tuple(answers.problems), tuple(answers.unused(webhooks)))
    elif settings.calls:
        from celadon.apiserver.webhook_routes import as_json

        with RealCalls(world, settings.services) as calls:
            yield AnswerSource(calls, as_json)
    else:
        yield AnswerSource(NoAnswers(), _json)


def _json(body: bytes) -> bytes:
    """Bodies from files are JSON already."""
    return body


# --- Answers from files ------------------------------------------------------
#
# Answers of webhooks from files, `--webhook-answers DIR`.
#
# The path below the folder says what an answer is for:
#
#     WEBHOOK.yaml                          every request that the webhook of this name gets
#     WEBHOOK/KIND.yaml                     those about objects of a kind
#     WEBHOOK/KIND/NAME.yaml                about one object, in whatever namespace
#     WEBHOOK/KIND/NAMESPACE/NAME.yaml      about one object
#
# Each document is an AdmissionReview with a `response`. If it has a `request`, too, as a review
# that was recorded has, it answers only requests that agree with it in all of `MEMBERS` that it
# gives. A Status stands for an HTTP answer with its code, which is a call that failed. Where
# several would do, the longer path is taken, then the one whose `request` says more.
#
# The uid of an answer is not its own: that of the question replaces it, unless the file has a
# `request` with another one (an answer to some other question, which the server does not trust).
# `patch` may be the operations themselves in place of their base64.

MEMBERS: Final = ("operation", "kind", "resource", "subResource", "namespace", "name")
"""Of a recorded request, what another has to have as well to be given the same answer."""
_LONGEST: Final = 4
_STATUS: Final = "Status"
_FAILURE_CODE: Final = 500


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """A document of the folder and the names in its path."""

    document: Document
    names: tuple[str, ...]

    @property
    def webhook(self) -> str:
        """The name of the webhook whose answer it is."""
        return self.names[0]

    def rank(self, review_request: JsonObject) -> tuple[int, int] | None:
        """Return how much it says about the request of a review; None if it is about another."""
        request = self.document.value.get("request") or {}
        members = [member for member in MEMBERS if request.get(member)]
        if not _fits(self.names[1:], review_request):
            return None
        if any(request[member] != review_request.get(member) for member in members):
            return None
        return len(self.names), len(members)

    def reply(self, call: Call) -> Reply:
        """Return what the webhook has answered, to this call."""
        from celadon.admission.webhooks import Reply  # late: most checks ask no webhook

        value = self.document.value
        if value["kind"] == _STATUS:
            return Reply(int(value.get("code") or _FAILURE_CODE), _body(value))
        response = dict(value["response"])
        recorded = (value.get("request") or {}).get("uid")
        if not recorded or recorded == response.get("uid"):
            response["uid"] = call.uid
        if isinstance(response.get("patch"), list):
            response["patch"] = base64.b64encode(_body(response["patch"])).decode()
            response.setdefault("patchType", "JSONPatch")
        return Reply(200, _body({**value, "response": response}))


@dataclass(slots=True)
class RecordedAnswers:
    """All answers of a folder, by webhook."""

    answers: dict[str, list[RecordedAnswer]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def answer(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply | None]:
        """Return a reply for each call; None for one that nothing was recorded of."""
        return [self._reply(call) for call in calls]

    def _reply(self, call: Call) -> Reply | None:
        request = call.document["request"]
        ranked = [
            (rank, answer)
            for answer in self.answers.get(call.hook.name, ())
            if (rank := answer.rank(request)) is not None
        ]
        if not ranked:
            return None
        return max(ranked, key=lambda item: item[0])[1].reply(call)

    def unused(self, webhooks: Iterable[str]) -> Iterator[Notice]:
        """Answers of webhooks that are not there."""
        names = list(webhooks)
        for name, answer in self.answers.items():
            if name not in names:
                document = answer[0].document
                yield Notice(
                    NoticeReason.ANSWER_UNUSED,
                    Place(document.file, document.line()),
                    f"there is no webhook `{name}` whose answer this could be"
                    f"{did_you_mean(name, names)}",
                )


def recorded_answers(folder: str) -> RecordedAnswers:
    """Read a folder; what is no answer is among the problems."""
    answers = RecordedAnswers()
    if not Path(folder).is_dir():
        answers.problems.append(Problem(folder, 0, "not a folder"))
        return answers
    reader = DocumentReader()
    for text in read_texts([folder]):
        if isinstance(text, Problem):
            answers.problems.append(text)
            continue
        names = Path(os.path.relpath(text.file, folder)).with_suffix("").parts
        for item in reader.read(text):
            problem = item if isinstance(item, Problem) else _problem(item, names)
            if problem is not None:
                answers.problems.append(problem)
            elif isinstance(item, Document):
                answers.answers.setdefault(names[0], []).append(RecordedAnswer(item, names))
    return answers


def _problem(document: Document, names: Sequence[str]) -> Problem | None:
    from celadon.admission.webhooks import REVIEW_KIND  # late: see `RecordedAnswer`

    value = document.value
    if len(names) > _LONGEST:
        text = "too deep a path: WEBHOOK/KIND/NAMESPACE/NAME is the longest"
        return Problem(document.file, document.line(), text)
    if value["kind"] == _STATUS:
        return None
    if value["kind"] != REVIEW_KIND:
        text = f"an {REVIEW_KIND} is expected here, not a {value['kind']}"
        return Problem(document.file, document.line(("kind",)), text)
    if not isinstance(value.get("response"), dict):
        return Problem(document.file, document.line(), f"this {REVIEW_KIND} has no `response`")
    if not isinstance(value.get("request") or {}, dict):
        return Problem(document.file, document.line(("request",)), "`request` is no object")
    return None


def _fits(names: Sequence[str], review_request: JsonObject) -> bool:
    """Return whether the names behind that of the webhook are those of a request."""
    kind, *rest = names or [""]
    if kind and kind != review_request["kind"]["kind"]:
        return False
    request_names = [review_request.get("namespace", ""), review_request.get("name", "")]
    return not rest or rest == request_names[-len(rest) :]


def _body(value: Json) -> bytes:
    return json.dumps(value).encode()


# --- Webhooks really called --------------------------------------------------
#
# Webhooks really called, `--call-webhooks`: over HTTPS, as the API server calls them.
#
# Services are looked up among the given objects, unless `--webhook-service` says where they are.
# Needs the packages of `celadon[serve]`.

REQUEST_SECONDS: Final = 34.0
"""What a write has at most for all its webhooks (k8s.io/apiserver
`pkg/endpoints/handlers/create.go`)."""


class RealCalls:
    """Calls webhooks, those of one phase side by side, for as long as its `with` block lasts."""

    def __init__(
        self, world: World, services: Mapping[tuple[str, str, int], tuple[str, int]]
    ) -> None:
        # late: a check that calls nobody does without the server and its event loop
        import asyncio

        from celadon.apiserver.webhook_routes import CallerOnDemand, ServiceRoutes

        self._runner = asyncio.Runner()
        self._client = CallerOnDemand(ServiceRoutes(world, services))

    def __enter__(self) -> RealCalls:
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._client.aclose())
        self._runner.close()

    def answer(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply | None]:
        """Return what each webhook answers, or why it does not."""
        return self._runner.run(self._all(calls))

    async def _all(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply]:
        import asyncio  # late: see above

        return await asyncio.gather(*(self._client.call(call, REQUEST_SECONDS) for call in calls))
