"""`celadon diff`: both sides read, from files or a revision of git, compared, and every answer put
into the words of the report."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from celadon import admission, prove
from celadon.cli.celadon_documents import AnswerCache
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
from celadon.cli.exit_codes import Exit, WrongUseError
from celadon.cli.proof_report import Against, ExampleRequest, Reason, SideVerdict
from celadon.cli.reading.documents import NOTHING_EXCLUDED, Document, Exclusion, Problem, exit_of
from celadon.kube import GroupVersionKind, Json, JsonObject, metadata
from celadon.kube.crd import CustomKind, custom_kinds
from celadon.kube.releases import answering_as
from celadon.prove.definitions import Demand, RevisionReply, Revisions, schema_path
from celadon.records import dataclass

# --- Files of a revision -----------------------------------------------------
#
# The files of a revision of a git repository, written into a folder to be read there.

_PLAIN_FILES: Final = (b"100644", b"100755")
"""The modes of what is neither a link nor another repository."""


class GitError(WrongUseError):
    """Git cannot say; the text is its own."""


@dataclass(frozen=True, slots=True)
class Range:
    """Two revisions, as `git diff` takes them: `A..B`, `A...B` (B against what both come from)."""

    old: str
    new: str


def revisions(text: str) -> Range | None:
    """Return the revisions of a text; None if it is no range, but a path. Raises GitError."""
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
    listed = _git(
        "ls-tree", "-r", "-z", revision, "--", *(os.path.normpath(path) for path in paths)
    )
    for line in listed.split(b"\0"):
        about, _, name = line.partition(b"\t")
        if about[:6] not in _PLAIN_FILES:
            continue
        file = _below(folder, os.fsdecode(name))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(_git("cat-file", "blob", about.split()[2].decode()))
    copies = (str(folder / path) for path in map(os.path.normpath, paths))
    return [text for text in copies if os.path.exists(text)]


def _below(folder: Path, name: str) -> Path:
    """Return where a file of a revision belongs. Raises GitError for a name that leads out of the
    folder: git itself writes no such file, but lists it."""
    root = os.path.join(os.path.normpath(folder), "")
    path = os.path.normpath(os.path.join(root, name))
    if not path.startswith(root):
        raise GitError(f"the revision has a file whose name leads out of its folder: `{name}`")
    return Path(path)


def require_paths(paths: Sequence[str], revisions: Sequence[str]) -> None:
    """Raise GitError for a path that no revision has: nothing would be compared, and all of it be
    the same."""
    for path in map(os.path.normpath, paths):
        if not any(_git("ls-tree", "--name-only", revision, "--", path) for revision in revisions):
            raise GitError(
                f"neither {' nor '.join(f'`{revision}`' for revision in revisions)} has `{path}`"
            )


def _require_revision(revision: str) -> None:
    unknown = f"git knows no revision `{revision}`"
    if revision.startswith("-"):  # git would take it for an option
        raise GitError(unknown)
    _git("rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}", wrong=unknown)


def _git(*words: str, wrong: str = "") -> bytes:
    """Return what git prints. `wrong` is said if it fails without a word."""
    try:
        done = subprocess.run(["git", *words], capture_output=True, check=False)
    except OSError as error:
        raise GitError(f"git cannot be run: {(error.strerror or str(error)).lower()}") from error
    if done.returncode:
        error_text = done.stderr.decode(errors="replace").strip().removeprefix("fatal: ")
        raise GitError(wrong or error_text.splitlines()[0].lower())
    return done.stdout


# --- Sides -------------------------------------------------------------------
#
# Files to policies in force: one side of a comparison.

_EPOCH = "1970-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True)
class DiffSide:
    """Holds what was read for one side. `shown` turns the name of a file into what the user knows
    it by."""

    label: str
    version: str
    sets: PolicySets
    objects: tuple[JsonObject, ...]
    problems: tuple[Problem, ...]
    display_name: Callable[[str], str]
    definitions: tuple[Document, ...] = ()
    """The CustomResourceDefinitions among them."""

    @property
    def errors(self) -> tuple[PolicyError, ...]:
        """Policies and bindings that an API server would not take."""
        policy_errors = (error for policy_set in self.sets.all for error in policy_set.errors)
        return tuple(
            replace(error, place=self._shown_place(error.place)) for error in policy_errors
        )

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to compare, nor anything that is broken."""
        has_policies = any(policy_set.policies or policy_set.errors for policy_set in self.sets.all)
        return not (has_policies or self.definitions or self.problems)

    @property
    def unbound(self) -> frozenset[str]:
        """Return the policies that no binding puts to work."""
        bound = {
            validating_binding.spec.policy_name
            for validating_binding in validating_bindings(self.sets.validating)
        }
        return frozenset(self.sets.validating.policies) - bound

    @property
    def mutations(self) -> list[Json]:
        """Mutating policies and their bindings, as they are written."""
        policy_set = self.sets.mutating
        documents = [policy.document for policy in policy_set.policies.values()]
        documents += [binding.document for binding in policy_set.bindings.values()]
        return sorted((document.value for document in documents), key=str)

    def side(self, bound_everywhere: frozenset[str]) -> prove.Side:
        """Return the policies in force; those that are named here are bound to all there is."""
        policy_set = self.sets.validating
        policies = validating_policies(policy_set)
        bindings = validating_bindings(policy_set)
        for policy in policies:
            if policy.name in bound_everywhere:
                bindings.append(admission.decode_binding(binding_everywhere(policy)).value)
        engine = with_policies(admission.Engine(version=self.version), policies, bindings)
        return prove.Side(engine, self.objects)

    def place(self, source: admission.Source, policy: str, binding: str) -> Place | None:
        """Return where it stands what a decision comes from, or the like of it; None if it is not
        there."""
        policy_set: PolicySet = self.sets.validating
        if source.in_binding:
            if binding not in policy_set.bindings:
                return None
            return self._shown_place(policy_set.bindings[binding].place(source.path))
        if policy not in policy_set.policies:
            return None
        return self._shown_place(policy_set.policies[policy].place(source.path))

    def against(self, judgement: prove.Judgement) -> tuple[Against, ...]:
        """Return what speaks against a request that was judged, each once."""
        return tuple(
            dict.fromkeys(
                Against(
                    decision.policy,
                    decision.binding,
                    str(decision.source.path),
                    self.place(decision.source, decision.policy, decision.binding) or Place(),
                    decision.message,
                    decision.param,
                    decision.cause is not admission.Cause.VALIDATION,
                )
                for decision in judgement.decisions
            )
        )

    def _shown_place(self, place: Place) -> Place:
        return Place(self.display_name(place.file), place.line)


def undecided_reasons(comparison: prove.Comparison, *sides: DiffSide) -> tuple[Reason, ...]:
    """Return why a comparison is not decided, with places in the files of the first side that has
    them; nothing for one that is decided."""
    if comparison.finding is not prove.Finding.UNDECIDED:
        return ()
    reasons = dict.fromkeys(
        Reason(gap.reason, _first_place(sides, gap.source, gap.policy) or Place())
        for gap in comparison.gaps
    )
    return tuple(reasons) or (Reason(comparison.reason),)


def _first_place(
    sides: Sequence[DiffSide], source: admission.Source, policy: str, binding: str = ""
) -> Place | None:
    places = (side.place(source, policy, binding) for side in sides)
    return next((place for place in places if place is not None), None)


def binding_everywhere(policy: admission.ValidatingAdmissionPolicy) -> JsonObject:
    """Return a binding with which a policy denies everywhere, with all params there are."""
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
    display_name: Callable[[str], str] = str,
    exclude: Exclusion = NOTHING_EXCLUDED,
) -> DiffSide:
    """Read files, folders and globs as a release takes them."""
    with answering_as(version):
        manifests = (
            gather(paths, (), (), Parts(), lambda _: None, exclude) if paths else Manifests()
        )
    return side_of(label, manifests, version, display_name)


def side_of(
    label: str, manifests: Manifests, version: str, display_name: Callable[[str], str] = str
) -> DiffSide:
    """Return what manifests are for a release."""
    with answering_as(version):
        sets = policy_sets(manifests, version)
        prepare = Circumstances(version, _EPOCH).preparation(manifests.existing)
        world, problems = given_world(manifests, sets, prepare)
    wrong = tuple(
        replace(problem, file=display_name(problem.file))
        for problem in dict.fromkeys((*manifests.problems, *problems))
    )
    definitions = tuple(document for document in manifests.existing if document.is_definition)
    return DiffSide(label, version, sets, tuple(world.objects), wrong, display_name, definitions)


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
class DiffExample:
    """A request that is decided differently, and what either side says of it."""

    old: SideVerdict
    new: SideVerdict
    request: ExampleRequest


@dataclass(frozen=True, slots=True)
class DiffAnswer:
    """The answer for one endpoint and direction. `place` is where a change is to be looked at."""

    operation: str
    api_version: str
    kind: str
    direction: str
    answer: str
    example: DiffExample | None = None
    place: Place = Place()
    subject: str = ""
    reasons: tuple[Reason, ...] = ()
    items: int = 0
    bounded: tuple[str, ...] = ()

    @property
    def endpoint(self) -> str:
        """Return the endpoint in words: `CREATE of Pod`."""
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
        """Return the answers of one sort."""
        return tuple(item for item in self.answers if item.answer == answer)

    @property
    def summary(self) -> str:
        """Return the answer to the whole question, in a line."""
        differing = self.of(DIFFERS)
        if differing:
            counts = {
                way: sum(answer.direction == way for answer in differing)
                for way in ("looser", "stricter")
            }
            changes = ", ".join(f"{count} {way}" for way, count in counts.items() if count)
            return f"{DIFFERS}: {changes}"
        if self.of(UNDECIDED) or self.unseen or self.errors or self.problems:
            return UNDECIDED
        bounded = self.of(BOUNDED)
        if bounded:
            items = max(answer.items for answer in bounded)
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
    prove.Finding.SAME: SAME,
    prove.Finding.BOUNDED: BOUNDED,
    prove.Finding.DIFFERS: DIFFERS,
    prove.Finding.UNDECIDED: UNDECIDED,
}


@dataclass(frozen=True, slots=True)
class DiffSettings:
    """Limits how much is asked, and for how long."""

    directions: tuple[prove.Direction, ...] = tuple(prove.Direction)
    items: int = 2
    seconds: float = 10
    cache: AnswerCache = field(default_factory=lambda: AnswerCache(""))
    """Keeps what was proved. An example is looked for again: the engine decides it, and it says
    where it stands in the files."""

    def key(self, *about: Json) -> str:
        """Return the name under which a proof is kept."""
        return self.cache.key("diff", self.items, self.seconds, *about)


@dataclass(frozen=True, slots=True)
class _Bound:
    """A proof: for lists of any length, or for those with no more than so many `items`."""

    items: int = 0
    bounded: tuple[str, ...] = ()

    @classmethod
    def kept(cls, value: Json) -> _Bound | None:
        """Return the proof that was kept; None for what is none."""
        match value:
            case {"items": int(items), "bounded": [*paths]} if all(
                isinstance(path, str) for path in paths
            ):
                return cls(items, tuple(map(str, paths)))
        return None

    @property
    def value(self) -> JsonObject:
        """Return what is kept of it."""
        return {"items": self.items, "bounded": list(self.bounded)}


Progress = Callable[[str], None]


def compared(
    old: DiffSide, new: DiffSide, settings: DiffSettings, progress: Progress = lambda _: None
) -> DiffReport:
    """Return the report about two sides; each answer is progress."""
    unbound = bound_by_neither(old, new)
    notices = [
        f"`{name}` has no binding: compared as if one denies everywhere" for name in sorted(unbound)
    ]
    differences = prove.Differences(
        old.side(unbound),
        new.side(unbound),
        settings.items,
        settings.seconds,
        kinds=kinds_among([*old.objects, *new.objects]),
    )
    wording = _Wording(old, new)
    answers: list[DiffAnswer] = []
    for comparison in _comparisons(differences, settings, [_about(side) for side in (old, new)]):
        answers.append(answer := wording.answer(comparison))
        progress(f"{answer.direction}: {answer.endpoint}: {answer.answer}")
    unseen = [
        Reason(f"{unseen.endpoint}: not looked at ({', '.join(unseen.policies)})")
        for unseen in differences.unseen
    ]
    if old.mutations != new.mutations:
        unseen.append(Reason("mutating policies differ: not looked at"))
    return DiffReport(
        old.label,
        new.label,
        tuple(answers),
        tuple(notices),
        tuple(unseen),
        tuple(dict.fromkeys((*old.errors, *new.errors))),
        tuple(dict.fromkeys((*old.problems, *new.problems))),
    )


def _about(side: DiffSide) -> Json:
    """Return all that the answers about a side depend on."""
    policy_set = side.sets.validating
    documents = [policy.document for policy in policy_set.policies.values()]
    documents += [binding.document for binding in policy_set.bindings.values()]
    return [side.version, [document.value for document in documents], list(side.objects)]


def _comparisons(
    differences: prove.Differences, settings: DiffSettings, about: Json
) -> Iterator[prove.Comparison]:
    """Yield the answers, endpoint by endpoint: those that were proved before, or new ones."""
    with answering_as(differences.newest):
        for endpoint in differences.endpoints():
            for direction in settings.directions:
                key = settings.key(
                    about, str(endpoint.resource.gvr), str(endpoint), direction.value
                )
                proof = _Bound.kept(settings.cache.get(key))
                if proof is None:
                    comparison = differences.compare(endpoint, direction)
                    if comparison.finding in (prove.Finding.SAME, prove.Finding.BOUNDED):
                        proof = _Bound(comparison.items, comparison.bounded)
                        settings.cache.put(key, proof.value)
                    yield comparison
                    continue
                finding = prove.Finding.BOUNDED if proof.bounded else prove.Finding.SAME
                yield prove.Comparison(
                    endpoint, direction, finding, bounded=proof.bounded, items=proof.items
                )


def bound_by_neither(old: DiffSide, new: DiffSide) -> frozenset[str]:
    """Return the policies that no binding of either side puts to work: without one nothing would be
    compared."""
    names = [frozenset(side.sets.validating.policies) for side in (old, new)]
    unbound = [(names[0] - old.unbound), (names[1] - new.unbound)]
    return (names[0] | names[1]) - unbound[0] - unbound[1]


def kinds_among(objects: Sequence[JsonObject]) -> prove.KnownKinds:
    """Return the built-in kinds, and those that CustomResourceDefinitions among these define."""
    return prove.KnownKinds.of(filter(metadata.is_definition, objects))


@dataclass(frozen=True, slots=True)
class _Wording:
    """Answers in the words of the report."""

    old: DiffSide
    new: DiffSide

    def answer(self, comparison: prove.Comparison) -> DiffAnswer:
        endpoint = comparison.endpoint
        example, place, subject = None, Place(), ""
        if comparison.example is not None:
            example = DiffExample(
                _verdict(self.old, comparison.example.old),
                _verdict(self.new, comparison.example.new),
                ExampleRequest.of(comparison.example),
            )
            place, subject = self._spot(comparison)
        return DiffAnswer(
            endpoint.operation.value,
            endpoint.kind.api_version,
            endpoint.kind.kind,
            comparison.direction.value,
            _ANSWERS[comparison.finding],
            example,
            place,
            subject,
            undecided_reasons(comparison, self.new, self.old),
            comparison.items if comparison.bounded else 0,
            comparison.bounded,
        )

    def _spot(self, comparison: prove.Comparison) -> tuple[Place, str]:
        """Return where the change is to be looked at: what only the stricter side says, in the new
        files if it is there."""
        assert comparison.example is not None
        both_sides = [comparison.example.new.decisions, comparison.example.old.decisions]
        if comparison.direction is prove.Direction.LOOSER:
            both_sides.reverse()
        common = set.intersection(*(set(map(_origin, decisions)) for decisions in both_sides))
        decisions_of_both = [each for decisions in both_sides for each in decisions]
        for decision in sorted(decisions_of_both, key=lambda each: _origin(each) in common):
            place = _first_place(
                (self.new, self.old), decision.source, decision.policy, decision.binding
            )
            if place is not None:
                return place, f"ValidatingAdmissionPolicy {decision.policy}"
        return Place(), ""


def _origin(decision: admission.Decision) -> tuple[object, ...]:
    """Return what says a thing, and what is done about it."""
    return decision.policy, decision.binding, decision.source, decision.actions


def _verdict(side: DiffSide, judgement: prove.Judgement) -> SideVerdict:
    words = ("denied", judgement.denied), ("warned", judgement.warned)
    verdict = next((word for word, holds in words if holds), "")
    verdict = verdict or ("audited" if judgement.audited else "admitted")
    return SideVerdict(verdict, side.against(judgement))


# --- Definitions -------------------------------------------------------------

# Definitions in `celadon diff`: whether a stored object, which the old definition took, is invalid
# by the new one.

_DIRECTION = "stricter"


def with_definitions(
    report: DiffReport, old: DiffSide, new: DiffSide, settings: DiffSettings
) -> DiffReport:
    """Return the report about two sides, and what there is to say of their definitions."""
    if prove.Direction.STRICTER not in settings.directions:
        return report
    definition_answers = list(_definition_answers(old, new, settings))
    answers = (answer for answer in definition_answers if isinstance(answer, DiffAnswer))
    unseen = (reason for reason in definition_answers if isinstance(reason, Reason))
    return replace(report, answers=(*report.answers, *answers), unseen=(*report.unseen, *unseen))


def _definition_answers(
    old: DiffSide, new: DiffSide, settings: DiffSettings
) -> Iterator[DiffAnswer | Reason]:
    definitions = {metadata.name(definition.value): definition for definition in new.definitions}
    for before in old.definitions:
        name = metadata.name(before.value)
        after = definitions.get(name)
        if after is None:
            yield Reason(f"CustomResourceDefinition {name} is gone: not looked at")
        elif before.value["spec"] != after.value["spec"] or old.version != new.version:
            yield from _Compared(before, after, old, new, settings).answers()


_PROVED: Final = (prove.Answer.NO, prove.Answer.BOUNDED)


def _bound_of(replies: Sequence[RevisionReply]) -> _Bound:
    """Return what a proof of all these parts comes to."""
    bounded = [reply for reply in replies if reply.answer is prove.Answer.BOUNDED]
    paths = tuple(dict.fromkeys(path for reply in bounded for path in reply.bounded))
    return _Bound(max((reply.items for reply in bounded), default=0), paths)


class _Compared:
    """Two revisions of one definition."""

    def __init__(
        self,
        before: Document,
        after: Document,
        old: DiffSide,
        new: DiffSide,
        settings: DiffSettings,
    ) -> None:
        self._after, self._new, self._settings = after, new, settings
        self._about: Json = [[old.version, before.value], [new.version, after.value]]
        with answering_as(old.version):
            self._old_kinds = custom_kinds(before.value)
        with answering_as(new.version):
            self._new_kinds = custom_kinds(after.value)

    def answers(self) -> Iterator[DiffAnswer | Reason]:
        """Yield the answers version by version."""
        numbers = {gvk: number for number, gvk in enumerate(self._new_kinds)}
        for gvk, kind in self._old_kinds.items():
            if gvk not in numbers:
                yield Reason(
                    f"{gvk.kind}: {gvk.version} is gone: objects that are stored in it are not "
                    "looked at"
                )
                continue
            key = self._settings.key(self._about, str(gvk))
            proof = _Bound.kept(self._settings.cache.get(key))
            if proof is None:
                replies = self._replies(gvk, kind)
                open_replies = [reply for reply in replies if reply.answer not in _PROVED]
                yield from (self._answer(gvk, numbers[gvk], reply) for reply in open_replies)
                if open_replies:
                    continue
                proof = _bound_of(replies)
                self._settings.cache.put(key, proof.value)
            yield DiffAnswer(
                STORED,
                gvk.api_version,
                gvk.kind,
                _DIRECTION,
                BOUNDED if proof.bounded else SAME,
                items=proof.items,
                bounded=proof.bounded,
            )

    def _replies(self, gvk: GroupVersionKind, kind: CustomKind) -> list[RevisionReply]:
        revisions = Revisions(
            kind,
            self._new_kinds[gvk],
            self._new.version,
            self._settings.items,
            self._settings.seconds,
        )
        return list(revisions.replies())

    def _answer(self, gvk: GroupVersionKind, number: int, reply: RevisionReply) -> DiffAnswer:
        place = self._place(number, reply.demand)
        name = f"CustomResourceDefinition {metadata.name(self._after.value)}"
        answer = DiffAnswer(STORED, gvk.api_version, gvk.kind, _DIRECTION, UNDECIDED, place=place)
        if reply.answer is prove.Answer.UNKNOWN:
            return replace(answer, reasons=(Reason(f"{reply.demand.text}: {reply.reason}", place),))
        errors = tuple(
            Against(name, "", reply.demand.text, place, message) for message in reply.errors
        )
        outcome = "is taken" if reply.is_forgiven else "is refused, too"
        remark = f"an update of it that changes labels only {outcome}"
        example = DiffExample(
            SideVerdict("admitted"),
            SideVerdict("denied", errors),
            ExampleRequest(reply.example, remark=remark),
        )
        return replace(answer, answer=DIFFERS, example=example, subject=name)

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
        return Place(self._new.display_name(document.file), document.line(path))
