"""What came of claims about policies, as one value; every output format is made from it."""

from __future__ import annotations

from typing import Final

from celadon.cli.check.check_report import Place, PolicyError
from celadon.cli.diff.diff_run import Reason, SideVerdict
from celadon.cli.exits import Exit
from celadon.cli.reading.documents import Problem, exit_of
from celadon.kube import JsonObject
from celadon.records import dataclass

PROVED: Final = "proved"
BOUNDED: Final = "no counterexample"
COUNTEREXAMPLE: Final = "counterexample"
UNDECIDED: Final = "not decided"


@dataclass(frozen=True, slots=True)
class ClaimExample:
    """A request against a claim, and what the policies say of it. The manifests have no more than
    it takes; `around` are the objects that have to be there. `user` is who sends it, if that
    matters."""

    verdict: SideVerdict
    manifest: JsonObject | None = None
    old_manifest: JsonObject | None = None
    around: tuple[JsonObject, ...] = ()
    user: str = ""
    groups: tuple[str, ...] = ()
    remark: str = ""


@dataclass(frozen=True, slots=True)
class ClaimAnswer:
    """The answer for one claim and endpoint. `claim` says what was asked, in words; `place` is
    where it is written, or the policy that speaks against it."""

    name: str
    operation: str
    api_version: str
    kind: str
    answer: str
    claim: str
    example: ClaimExample | None = None
    place: Place = Place()
    reasons: tuple[Reason, ...] = ()
    items: int = 0
    bounded: tuple[str, ...] = ()

    @property
    def endpoint(self) -> str:
        """`CREATE of Pod`."""
        return f"{self.operation} of {self.kind}"


@dataclass(frozen=True, slots=True)
class ClaimReport:
    """Everything, claim by claim."""

    answers: tuple[ClaimAnswer, ...] = ()
    notices: tuple[str, ...] = ()
    errors: tuple[PolicyError, ...] = ()
    problems: tuple[Problem, ...] = ()

    def of(self, answer: str) -> tuple[ClaimAnswer, ...]:
        """The answers of one sort."""
        return tuple(one for one in self.answers if one.answer == answer)

    @property
    def summary(self) -> str:
        """How many answers there are of each sort."""
        words = (PROVED, BOUNDED, COUNTEREXAMPLE, UNDECIDED)
        counts = ((len(self.of(one)), one) for one in words)
        said = [f"{count} {one}" for count, one in counts if count]
        return ", ".join(said) or "nothing was asked"

    @property
    def exit(self) -> Exit:
        """What was not read goes before a counterexample, and that before what nobody knows."""
        if self.problems:
            return exit_of(self.problems)
        if self.of(COUNTEREXAMPLE):
            return Exit.DENIED
        return Exit.POLICY if self.of(UNDECIDED) or self.errors else Exit.OK
