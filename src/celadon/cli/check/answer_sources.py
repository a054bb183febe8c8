"""Where the answers of webhooks come from: nowhere, files, or the webhooks themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from celadon.admission import World
from celadon.cli.check.check_report import Notice
from celadon.cli.reading.problems import Problem
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.admission.webhooks import AsJson, Call, NoReply, Reply
    from celadon.cli.check.conversion_calls import Services


class Answers(Protocol):
    """This is what knows the answers of webhooks."""

    def answer(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply | None]:
        """Return what came of each call; None for a webhook that is not asked."""
        ...


class NoAnswers:
    """Nobody is asked."""

    def answer(self, calls: Sequence[Call]) -> Sequence[Reply | NoReply | None]:
        """Return None for each."""
        return [None] * len(calls)


@dataclass(frozen=True, slots=True)
class AnswerSettings:
    """This is what the command line says about webhooks; `services` says where those are that they
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
    """This is what answers, and what was found on the way to it."""

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
        from celadon.cli.check.recorded_answers import recorded_answers

        found = recorded_answers(settings.folder)
        yield AnswerSource(found, _json, tuple(found.problems), tuple(found.unused(webhooks)))
    elif settings.calls:
        from celadon.apiserver.webhook_routes import as_json
        from celadon.cli.check.real_calls import RealCalls

        with RealCalls(world, settings.services) as calls:
            yield AnswerSource(calls, as_json)
    else:
        yield AnswerSource(NoAnswers(), _json)


def _json(body: bytes) -> bytes:
    """Bodies from files are JSON already."""
    return body
