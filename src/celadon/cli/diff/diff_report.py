"""What `celadon diff` found, as one value; every output format is made from it."""

from __future__ import annotations

from typing import Final

from celadon.cli.check.check_report import Place, PolicyError
from celadon.cli.exits import Exit
from celadon.cli.reading.problems import Problem, exit_of
from celadon.kube import JsonObject
from celadon.records import dataclass

SAME: Final = "the same"
BOUNDED: Final = "no difference found"
DIFFERS: Final = "differs"
UNDECIDED: Final = "not decided"


@dataclass(frozen=True, slots=True)
class Against:
    """Something that speaks against the request. `place` is where it is written."""

    policy: str
    binding: str
    field: str
    place: Place
    message: str
    param: str = ""
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class SideVerdict:
    """What one side makes of a request: `denied`, `warned`, `audited` or `admitted`."""

    verdict: str
    against: tuple[Against, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestExample:
    """A request that is decided differently. The manifests have no more than it takes; `around` are
    the objects that have to be there. `user` is who sends it, if that matters."""

    old: SideVerdict
    new: SideVerdict
    manifest: JsonObject | None = None
    old_manifest: JsonObject | None = None
    around: tuple[JsonObject, ...] = ()
    user: str = ""
    groups: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not decided, and where."""

    message: str
    place: Place = Place()


@dataclass(frozen=True, slots=True)
class DiffAnswer:
    """The answer for one endpoint and direction. `place` is where a change is to be looked at."""

    operation: str
    api_version: str
    kind: str
    direction: str
    answer: str
    example: RequestExample | None = None
    place: Place = Place()
    subject: str = ""
    reasons: tuple[Reason, ...] = ()
    items: int = 0
    bounded: tuple[str, ...] = ()

    @property
    def endpoint(self) -> str:
        """`CREATE of Pod`."""
        return f"{self.operation} of {self.kind}"


@dataclass(frozen=True, slots=True)
class DiffReport:
    """Everything, endpoint by endpoint. `old` and `new` are what the sides are called; `unseen`
    what was not looked at."""

    old: str
    new: str
    answers: tuple[DiffAnswer, ...] = ()
    notices: tuple[str, ...] = ()
    unseen: tuple[Reason, ...] = ()
    errors: tuple[PolicyError, ...] = ()
    problems: tuple[Problem, ...] = ()

    def of(self, answer: str) -> tuple[DiffAnswer, ...]:
        """The answers of one sort."""
        return tuple(one for one in self.answers if one.answer == answer)

    @property
    def summary(self) -> str:
        """The answer to the whole question, in a line."""
        differing = self.of(DIFFERS)
        if differing:
            counts = {
                way: sum(one.direction == way for one in differing)
                for way in ("looser", "stricter")
            }
            told = ", ".join(f"{count} {way}" for way, count in counts.items() if count)
            return f"{DIFFERS}: {told}"
        if self.of(UNDECIDED) or self.unseen or self.errors:
            return UNDECIDED
        bounded = self.of(BOUNDED)
        if bounded:
            items = max(one.items for one in bounded)
            return f"{BOUNDED}, with at most {items} items in some lists"
        return f"{SAME} (proved)"

    @property
    def exit(self) -> Exit:
        """What was not read goes before a difference, and that before what nobody knows."""
        if self.problems:
            return exit_of(self.problems)
        if self.of(DIFFERS):
            return Exit.DENIED
        return Exit.POLICY if self.summary == UNDECIDED else Exit.OK
