"""`celadon diff`: both sides read, from files or a revision of git, compared, and every answer put
into the words of the report."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from celadon.admission import (
    Cause,
    Decision,
    Engine,
    Source,
    ValidatingAdmissionPolicy,
    decode_binding,
)
from celadon.cli.check.check_report import Place, PolicyError
from celadon.cli.check.cluster import Circumstances, given_world
from celadon.cli.check.manifests import (
    Manifests,
    Parts,
    PolicySet,
    PolicySets,
    gather,
    policy_sets,
    validating_bindings,
    validating_policies,
    with_policies,
)
from celadon.cli.exits import Exit
from celadon.cli.reading.documents import NOTHING_EXCLUDED, Document, Exclusion, Problem, exit_of
from celadon.kube import GroupVersionKind, Json, JsonObject, metadata
from celadon.kube.crd import custom_kinds
from celadon.kube.releases import answering_as
from celadon.prove import (
    Answer,
    Comparison,
    Differences,
    Direction,
    Example,
    Finding,
    Gap,
    Judgement,
    KnownKinds,
    Side,
)
from celadon.prove.definitions import Demand, RevisionReply, Revisions, schema_path
from celadon.records import dataclass

# --- Files of a revision -----------------------------------------------------
#
# The files of a revision of a git repository, written into a folder to be read there.

_PLAIN_FILES: Final = (b"100644", b"100755")
"""The modes of what is neither a link nor another repository."""


class GitError(Exception):
    """Git cannot say; the text is its own."""


@dataclass(frozen=True, slots=True)
class Range:
    """Two revisions, as `git diff` takes them: `A..B`, `A...B` (B against what both come from)."""

    old: str
    new: str


def revisions(text: str) -> Range | None:
    """The revisions of a text; None if it is no range, but a path. Raises GitError."""
    if ".." not in text or os.path.exists(text):
        return None
    old, dots, new = text.partition("...")
    if not dots:
        old, _, new = text.partition("..")
        if old in ("", ".") or "/" in new[:1]:
            return None
        return Range(old, new or "HEAD")
    old, new = old or "HEAD", new or "HEAD"
    _require_revision(old)
    _require_revision(new)
    return Range(_git("merge-base", old, new).decode().strip(), new)


def write_files(revision: str, paths: Sequence[str], folder: Path) -> list[str]:
    """Write what a revision has of paths below the working directory into a folder; the paths of
    that, without those that the revision does not have. Raises GitError."""
    _require_revision(revision)
    for path in paths:
        if os.path.isabs(path) or os.pardir in Path(path).parts:
            raise GitError(f"`{path}` must be a path below the working directory")
    listed = _git("ls-tree", "-r", "-z", revision, "--", *(os.path.normpath(one) for one in paths))
    for line in listed.split(b"\0"):
        about, _, name = line.partition(b"\t")
        if about[:6] not in _PLAIN_FILES:
            continue
        file = folder / os.fsdecode(name)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_git("cat-file", "blob", about.split()[2].decode()))
    there = (str(folder / path) for path in map(os.path.normpath, paths))
    return [one for one in there if os.path.exists(one)]


def require_paths(paths: Sequence[str], revisions: Sequence[str]) -> None:
    """Raise GitError for a path that no revision has: nothing would be compared, and all of it be
    the same."""
    for path in map(os.path.normpath, paths):
        if not any(_git("ls-tree", "--name-only", one, "--", path) for one in revisions):
            raise GitError(f"neither {' nor '.join(f'`{one}`' for one in revisions)} has `{path}`")


def _require_revision(revision: str) -> None:
    unknown = f"git knows no revision `{revision}`"
    if revision.startswith("-"):  # git would take it for an option
        raise GitError(unknown)
    _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", wrong=unknown)


def _git(*words: str, wrong: str = "") -> bytes:
    """Return what git prints. `wrong` is said if it fails without a word."""
    try:
        done = subprocess.run(
            ["git", *words],
            capture_output=True,
            check=False,
        )
    except OSError as error:
        raise GitError(f"git cannot be run: {(error.strerror or str(error)).lower()}") from error
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise GitError(wrong or said.splitlines()[0].lower())
    return done.stdout


# --- Sides -------------------------------------------------------------------
#
# Files to policies in force: one side of a comparison.

_EPOCH = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class Given:
    """Holds what was read for one side. `shown` turns the name of a file into what the user knows
    it by."""

    label: str
    version: str
    sets: PolicySets
    objects: tuple[JsonObject, ...]
    problems: tuple[Problem, ...]
    shown: Callable[[str], str]
    definitions: tuple[Document, ...] = ()
    """The CustomResourceDefinitions among them."""

    @property
    def errors(self) -> tuple[PolicyError, ...]:
        """Policies and bindings that an API server would not take."""
        found = (error for one in self.sets.all for error in one.errors)
        return tuple(replace(one, place=self._shown_place(one.place)) for one in found)

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to compare, nor anything that is broken."""
        has_policies = any(one.policies or one.errors for one in self.sets.all)
        return not (has_policies or self.definitions or self.problems)

    @property
    def unbound(self) -> frozenset[str]:
        """The policies that no binding puts to work."""
        bound = {one.spec.policy_name for one in validating_bindings(self.sets.validating)}
        return frozenset(self.sets.validating.policies) - bound

    @property
    def mutations(self) -> list[Json]:
        """Mutating policies and their bindings, as they are written."""
        found = self.sets.mutating
        documents = [one.document for one in found.policies.values()]
        documents += [one.document for one in found.bindings.values()]
        return sorted((one.value for one in documents), key=str)

    def side(self, bound_everywhere: frozenset[str]) -> Side:
        """The policies in force; those that are named here are bound to all there is."""
        found = self.sets.validating
        policies = validating_policies(found)
        bindings = validating_bindings(found)
        for policy in policies:
            if policy.name in bound_everywhere:
                bindings.append(decode_binding(_everywhere(policy)).value)
        engine = with_policies(Engine(version=self.version), policies, bindings)
        return Side(engine, self.objects)

    def place(self, source: Source, policy: str, binding: str) -> Place | None:
        """Return where it stands what a decision comes from, or the like of it; None if it is not
        there."""
        found: PolicySet = self.sets.validating
        if source.in_binding:
            if binding not in found.bindings:
                return None
            return self._shown_place(found.bindings[binding].place(source.path))
        if policy not in found.policies:
            return None
        return self._shown_place(found.policies[policy].place(source.path))

    def _shown_place(self, place: Place) -> Place:
        return Place(self.shown(place.file), place.line)


def _everywhere(policy: ValidatingAdmissionPolicy) -> JsonObject:
    spec: dict[str, Json] = {"policyName": policy.name, "validationActions": ["Deny"]}
    if policy.spec.param_kind is not None:
        spec["paramRef"] = {"selector": {}, "parameterNotFoundAction": "Deny"}
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": policy.name},
        "spec": spec,
    }


def read_side(
    label: str,
    paths: Sequence[str],
    version: str,
    *,
    shown: Callable[[str], str] = str,
    exclude: Exclusion = NOTHING_EXCLUDED,
) -> Given:
    """Read files, folders and globs as a release takes them."""
    with answering_as(version):
        found = gather(paths, (), (), Parts(), lambda _: None, exclude) if paths else Manifests()
        sets = policy_sets(found, version)
        prepare = Circumstances(version, _EPOCH).preparation(found.existing)
        world, problems = given_world(found, sets, prepare)
    wrong = tuple(
        replace(one, file=shown(one.file)) for one in dict.fromkeys((*found.problems, *problems))
    )
    definitions = tuple(one for one in found.existing if one.is_definition)
    return Given(label, version, sets, tuple(world.objects), wrong, shown, definitions)


# --- What was found ----------------------------------------------------------
#
# What `celadon diff` found, as one value; every output format is made from it.

SAME: Final = "the same"
BOUNDED: Final = "no difference found"
DIFFERS: Final = "differs"
UNDECIDED: Final = "not decided"

STORED: Final = "STORED"
"""In place of an operation: an object that the old definition of its kind has taken."""


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
    """One side says this of a request: `denied`, `warned`, `audited` or `admitted`."""

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
    """Something is not decided for this reason, at this place."""

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
        if self.operation == STORED:
            return f"stored {self.kind} ({self.api_version})"
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
        """Return the exit code: that of what was not read goes before that of a difference, and
        that before that of what nobody knows."""
        if self.problems:
            return exit_of(self.problems)
        if self.of(DIFFERS):
            return Exit.DENIED
        return Exit.POLICY if self.summary == UNDECIDED else Exit.OK


_ANSWERS = {
    Finding.SAME: SAME,
    Finding.BOUNDED: BOUNDED,
    Finding.DIFFERS: DIFFERS,
    Finding.UNDECIDED: UNDECIDED,
}


@dataclass(frozen=True, slots=True)
class DiffSettings:
    """Limits how much is asked, and for how long."""

    directions: tuple[Direction, ...] = tuple(Direction)
    items: int = 2
    seconds: float = 10


def compared(old: Given, new: Given, settings: DiffSettings) -> DiffReport:
    """The report about two sides."""
    unbound = _unbound(old, new)
    notices = [
        f"`{name}` has no binding: compared as if one denies everywhere" for name in sorted(unbound)
    ]
    differences = Differences(
        old.side(unbound),
        new.side(unbound),
        settings.items,
        settings.seconds,
        kinds=kinds_among([*old.objects, *new.objects]),
    )
    wording = _Wording(old, new)
    answers = tuple(map(wording.answer, differences.comparisons(settings.directions)))
    unseen = [
        Reason(f"{one.endpoint}: not looked at ({', '.join(one.policies)})")
        for one in differences.unseen
    ]
    if old.mutations != new.mutations:
        unseen.append(Reason("mutating policies differ: not looked at"))
    return DiffReport(
        old.label,
        new.label,
        answers,
        tuple(notices),
        tuple(unseen),
        tuple(dict.fromkeys((*old.errors, *new.errors))),
        tuple(dict.fromkeys((*old.problems, *new.problems))),
    )


def _unbound(old: Given, new: Given) -> frozenset[str]:
    """Return the policies that no binding of either side puts to work: without one nothing would be
    compared."""
    names = [frozenset(one.sets.validating.policies) for one in (old, new)]
    unbound = [(names[0] - old.unbound), (names[1] - new.unbound)]
    return (names[0] | names[1]) - unbound[0] - unbound[1]


def kinds_among(objects: Sequence[JsonObject]) -> KnownKinds:
    """The built-in kinds, and those that CustomResourceDefinitions among these define."""
    return KnownKinds.of(filter(metadata.is_definition, objects))


@dataclass(frozen=True, slots=True)
class _Wording:
    """Answers in the words of the report."""

    old: Given
    new: Given

    def answer(self, found: Comparison) -> DiffAnswer:
        endpoint = found.endpoint
        example = None if found.example is None else self._example(found.example)
        place, subject = Place(), ""
        if found.example is not None:
            place, subject = self._spot(found)
        return DiffAnswer(
            endpoint.operation.value,
            endpoint.kind.api_version,
            endpoint.kind.kind,
            found.direction.value,
            _ANSWERS[found.finding],
            example,
            place,
            subject,
            tuple(self._reasons(found)) if found.finding is Finding.UNDECIDED else (),
            found.items if found.bounded else 0,
            found.bounded,
        )

    def _spot(self, found: Comparison) -> tuple[Place, str]:
        """Return where the change is to be looked at: what only the stricter side says, in the new
        files if it is there."""
        assert found.example is not None
        told = [found.example.new.decisions, found.example.old.decisions]
        if found.direction is Direction.LOOSER:
            told.reverse()
        common = set.intersection(*(set(map(_origin, one)) for one in told))
        every = [decision for one in told for decision in one]
        for one in sorted(every, key=lambda decision: _origin(decision) in common):
            for given in (self.new, self.old):
                place = given.place(one.source, one.policy, one.binding)
                if place is not None:
                    return place, f"ValidatingAdmissionPolicy {one.policy}"
        return Place(), ""

    def _example(self, found: Example) -> RequestExample:
        request = found.request
        return RequestExample(
            _verdict(self.old, found.old),
            _verdict(self.new, found.new),
            found.manifest,
            found.old_manifest,
            found.around,
            request.user.name if found.is_about_user else "",
            request.user.groups if found.is_about_user else (),
            f"refused for another reason, too: {found.complaint}" if found.complaint else "",
        )

    def _reasons(self, found: Comparison) -> Iterator[Reason]:
        for gap in found.gaps:
            yield Reason(gap.reason, self._gap_place(gap))
        if not found.gaps:
            yield Reason(found.reason)

    def _gap_place(self, gap: Gap) -> Place:
        for given in (self.new, self.old):
            place = given.place(gap.source, gap.policy, "")
            if place is not None:
                return place
        return Place()


def _origin(decision: Decision) -> tuple[object, ...]:
    """Return what says a thing, and what is done about it."""
    return decision.policy, decision.binding, decision.source, decision.actions


def _verdict(given: Given, judgement: Judgement) -> SideVerdict:
    words = ("denied", judgement.denied), ("warned", judgement.warned)
    verdict = next((word for word, holds in words if holds), "")
    verdict = verdict or ("audited" if judgement.audited else "admitted")
    against = [
        Against(
            one.policy,
            one.binding,
            str(one.source.path),
            given.place(one.source, one.policy, one.binding) or Place(),
            one.message,
            one.param,
            one.cause is not Cause.VALIDATION,
        )
        for one in judgement.decisions
    ]
    return SideVerdict(verdict, tuple(dict.fromkeys(against)))


# --- Definitions -------------------------------------------------------------

# Definitions in `celadon diff`: whether a stored object, which the old definition took, is invalid
# by the new one.

_DIRECTION = "stricter"


def with_definitions(
    report: DiffReport, old: Given, new: Given, settings: DiffSettings
) -> DiffReport:
    """The report about two sides, and what there is to say of their definitions."""
    if Direction.STRICTER not in settings.directions:
        return report
    found = list(_definition_answers(old, new, settings))
    answers = (one for one in found if isinstance(one, DiffAnswer))
    unseen = (one for one in found if isinstance(one, Reason))
    return replace(report, answers=(*report.answers, *answers), unseen=(*report.unseen, *unseen))


def _definition_answers(
    old: Given, new: Given, settings: DiffSettings
) -> Iterator[DiffAnswer | Reason]:
    known = {metadata.name(one.value): one for one in new.definitions}
    for before in old.definitions:
        name = metadata.name(before.value)
        after = known.get(name)
        if after is None:
            yield Reason(f"CustomResourceDefinition {name} is gone: not looked at")
        elif before.value["spec"] != after.value["spec"] or old.version != new.version:
            yield from _Compared(before, after, old, new, settings).answers()


class _Compared:
    """Two revisions of one definition."""

    def __init__(
        self, before: Document, after: Document, old: Given, new: Given, settings: DiffSettings
    ) -> None:
        self._after, self._new, self._settings = after, new, settings
        with answering_as(old.version):
            self._old_kinds = custom_kinds(before.value)
        with answering_as(new.version):
            self._new_kinds = custom_kinds(after.value)

    def answers(self) -> Iterator[DiffAnswer | Reason]:
        """Version by version."""
        numbers = {gvk: number for number, gvk in enumerate(self._new_kinds)}
        for gvk, kind in self._old_kinds.items():
            if gvk not in numbers:
                yield Reason(
                    f"{gvk.kind}: {gvk.version} is gone: objects that are stored in it are not "
                    "looked at"
                )
                continue
            compare = Revisions(
                kind,
                self._new_kinds[gvk],
                self._new.version,
                self._settings.items,
                self._settings.seconds,
            )
            replies = list(compare.replies())
            yield from self._told(gvk, numbers[gvk], replies)

    def _told(
        self, gvk: GroupVersionKind, number: int, replies: Sequence[RevisionReply]
    ) -> Iterator[DiffAnswer]:
        for reply in replies:
            if reply.answer in (Answer.YES, Answer.UNKNOWN):
                yield self._answer(gvk, number, reply)
        bounded = [one for one in replies if one.answer is Answer.BOUNDED]
        if all(one.answer in (Answer.NO, Answer.BOUNDED) for one in replies):
            paths = tuple(dict.fromkeys(path for one in bounded for path in one.bounded))
            items = max((one.items for one in bounded), default=0)
            answer = BOUNDED if bounded else SAME
            yield DiffAnswer(
                STORED,
                gvk.api_version,
                gvk.kind,
                _DIRECTION,
                answer,
                items=items,
                bounded=paths,
            )

    def _answer(self, gvk: GroupVersionKind, number: int, reply: RevisionReply) -> DiffAnswer:
        place = self._place(number, reply.demand)
        name = f"CustomResourceDefinition {metadata.name(self._after.value)}"
        made = DiffAnswer(STORED, gvk.api_version, gvk.kind, _DIRECTION, UNDECIDED, place=place)
        if reply.answer is Answer.UNKNOWN:
            return replace(made, reasons=(Reason(f"{reply.demand.text}: {reply.reason}", place),))
        errors = tuple(
            Against(name, "", reply.demand.text, place, message) for message in reply.errors
        )
        taken = "is taken" if reply.is_forgiven else "is refused, too"
        example = RequestExample(
            SideVerdict("admitted"),
            SideVerdict("denied", errors),
            reply.example,
            remark=f"an update of it that changes labels only {taken}",
        )
        return replace(made, answer=DIFFERS, example=example, subject=name)

    def _place(self, number: int, demand: Demand) -> Place:
        root = ("spec", "versions", number, "schema", "openAPIV3Schema")
        path = schema_path(root, demand.names)
        if demand.rule is not None:
            path = (*path, "x-kubernetes-validations", demand.rule, "rule")
        elif demand.required:
            path = (*path, "required")
        else:
            path = (*path, demand.keywords[0])
        document = self._after
        return Place(self._new.shown(document.file), document.line(path))
