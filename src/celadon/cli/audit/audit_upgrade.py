"""What several releases of Kubernetes say of what exists, and where they differ.

Each release audits all of it, by policies and plugins of its own. What does not depend on policies
is looked at once: in which version objects are stored, which versions those name who apply objects
(`ApiUse`); then each release says whether it serves the version, or can read it. The answers are
those of `celadon.cli.check.upgrade_report`, and so is the report.
"""

from __future__ import annotations

import asyncio
import functools
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any, Final, NamedTuple

from celadon.apiserver.clientconfig import ClusterLocation
from celadon.cli.audit.audit_blocks import AnyPiece, Block, Head
from celadon.cli.audit.audit_inputs import Inputs
from celadon.cli.audit.audit_lookups import (
    ClusterCopy,
    CopyingClient,
    listed_resources,
    pages,
    path_of,
)
from celadon.cli.audit.audit_report import (
    AUDIT,
    DENY,
    WARN,
    AuditReport,
    FailOn,
    Violation,
)
from celadon.cli.audit.audit_run import audited_in_order
from celadon.cli.audit.etcd_snapshots import StoredPiece
from celadon.cli.check.check_report import Notice, Place, Silence
from celadon.cli.check.upgrade_report import (
    NOT_READABLE,
    NOT_SERVED,
    READABLE,
    SERVED,
    Answer,
    Differences,
    UpgradeReport,
    flipped_gates,
    replacement,
)
from celadon.cli.options import VERSIONS
from celadon.cli.reading.documents import DocumentReader
from celadon.cli.reading.problems import Problem
from celadon.cli.worker_pipes import possible_workers
from celadon.kube import GroupVersionKind, JsonObject, metadata
from celadon.kube.fieldmanager import LAST_APPLIED
from celadon.kube.releases import answering_as, is_since
from celadon.kube.resources import deprecation_of, known_resources
from celadon.records import dataclass
from celadon.webhook.cluster import ClusterClient, ClusterError, cluster_catalog, discover

# --- Versions in use ---------------------------------------------------------
#
# Which versions of which kinds are named by what exists, and where.

STORED: Final = "stored"
WRITTEN: Final = "written"
APPLIED: Final = "last applied"
MANAGED: Final = "managed"
_DEFINITION: Final = "CustomResourceDefinition"


class ApiUse(NamedTuple):
    """A version of a kind, and who names it: etcd (STORED), the object as it was read (WRITTEN),
    whoever applied it (APPLIED), or a field `manager` (MANAGED)."""

    gvk: GroupVersionKind
    by: str
    manager: str = ""


@dataclass(slots=True)
class ApiUses:
    """This is how many objects have each use, with the place and the title of the first. `lost` are
    the versions of definitions that objects are stored in, and nobody can read any more."""

    counts: Counter[ApiUse] = field(default_factory=Counter)
    first: dict[ApiUse, tuple[Place, str]] = field(default_factory=dict)
    lost: dict[str, tuple[Place, str]] = field(default_factory=dict)
    objects: int = 0

    def add(self, following: ApiUses) -> None:
        """Takes in what was found behind these."""
        self.counts.update(following.counts)
        for use, first in following.first.items():
            self.first.setdefault(use, first)
        self.lost.update(following.lost)
        self.objects += following.objects

    def note(self, use: ApiUse, place: Place, title: str) -> None:
        """One more object."""
        self.counts[use] += 1
        self.first.setdefault(use, (place, title))

    def note_object(self, value: JsonObject, place: Place, *, stored: bool) -> None:
        """All uses that an object shows."""
        gvk = metadata.gvk(value)
        namespace, name = metadata.namespace(value), metadata.name(value)
        title = f"{namespace}/{name}" if namespace else name
        self.objects += 1
        for use in dict.fromkeys((ApiUse(gvk, STORED if stored else WRITTEN), *_named(value))):
            self.note(use, place, title)
        if gvk.kind == _DEFINITION:
            versions = {one.get("name") for one in _dict(value.get("spec")).get("versions") or ()}
            stored_in = _dict(value.get("status")).get("storedVersions") or ()
            for version in stored_in:
                if versions and version not in versions:
                    self.lost[f"{name}/{version}"] = place, name


def _named(value: JsonObject) -> Iterator[ApiUse]:
    """The versions that those name who write an object."""
    about = metadata.metadata(value)
    kind = str(value.get("kind"))
    applied = _dict(about.get("annotations")).get(LAST_APPLIED)
    if isinstance(applied, str):
        try:
            configuration = _dict(json.loads(applied))
        except (ValueError, RecursionError):
            configuration = {}
        if isinstance(configuration.get("apiVersion"), str):
            yield ApiUse(_gvk(configuration["apiVersion"], kind), APPLIED)
    for entry in about.get("managedFields") or ():
        version = _dict(entry).get("apiVersion")
        if isinstance(version, str) and not _dict(entry).get("subresource"):
            yield ApiUse(_gvk(version, kind), MANAGED, str(entry.get("manager") or ""))


def _gvk(api_version: str, kind: str) -> GroupVersionKind:
    return metadata.gvk({"apiVersion": api_version, "kind": kind})


def _dict(value: object) -> JsonObject:
    return value if isinstance(value, Mapping) else {}


def uses_of_inputs(inputs: Inputs, jobs: int) -> ApiUses:
    """Return those of all objects of files."""
    uses = ApiUses()
    for one in audited_in_order(inputs.blocks, _uses_of_block, possible_workers(jobs)):
        uses.add(one)
    return uses


def _uses_of_block(block: Block) -> ApiUses:
    uses, reader = ApiUses(), DocumentReader()
    for piece in block.pieces():
        if isinstance(piece, Problem):
            continue
        stored = isinstance(piece, StoredPiece)
        for found in piece.objects(reader):
            if not isinstance(found, Problem):
                uses.note_object(found.value, found.place, stored=stored)
            elif stored:
                _note_head(uses, piece)
    return uses


def _note_head(uses: ApiUses, piece: AnyPiece) -> None:
    """Note the version that the envelope tells of a value that cannot be decoded."""
    head: Head | None = piece.head()
    if head is not None:
        use = ApiUse(_gvk(head.api_version, head.kind), STORED)
        uses.note(use, piece.place, piece.place.file.rpartition("/")[2])
        uses.objects += 1


def uses_of_cluster(location: ClusterLocation, copy: ClusterCopy) -> tuple[ApiUses, list[Problem]]:
    """Return those of all objects that can be listed in a cluster, and what cannot. The copy has
    them then."""
    return asyncio.run(_uses_of_cluster(CopyingClient(location, copy)))


async def _uses_of_cluster(client: ClusterClient) -> tuple[ApiUses, list[Problem]]:
    uses, problems = ApiUses(), []
    try:
        for resource in listed_resources(cluster_catalog(await discover(client), [])):
            try:
                async for page, _ in pages(client, resource):
                    for value in page:
                        uses.note_object(value, Place(), stored=False)
            except ClusterError as error:
                problems.append(Problem(path_of(resource), 0, str(error)))
    except ClusterError as error:
        problems.append(Problem(client.location.cluster.server, 0, str(error)))
    finally:
        await client.aclose()
    return uses, problems


# --- Comparison --------------------------------------------------------------


_WORDS: Final = {DENY: "denied", WARN: "warned", AUDIT: "audited"}
_FINE: Final = Answer("admitted")


def compared_audit(
    releases: Sequence[str],
    audited: Callable[[str, Callable[[Violation], None]], AuditReport],
    uses: ApiUses,
    problems: Sequence[Problem] = (),
    fail_on: FailOn = FailOn.DENY,
) -> UpgradeReport:
    """`audited` audits under a release, which is the current one meanwhile, and tells of each
    violation."""
    differences = Differences(releases)
    reports = []
    for release in releases:
        violations: dict[tuple[object, ...], list[Violation]] = {}

        def emit(one: Violation, by_object: dict[Any, list[Violation]] = violations) -> None:
            about = one.object
            key = about.place.file, about.place.line, about.api_version, about.title
            by_object.setdefault(key, []).append(one)

        with answering_as(release):
            reports.append(audited(release, emit))
            for use in uses.counts:
                _say_version(differences, release, use, uses)
        for key, found in violations.items():
            about = found[0].object
            differences.say(key, about.place, about.title, release, _answer(found), _FINE)
        for error in reports[-1].policy_errors:
            differences.refuse_policy(release, error)
    return UpgradeReport(
        tuple(releases),
        max(uses.objects, *(one.objects for one in reports)),
        max(len([one for one in report.policies if one.bindings]) for report in reports),
        tuple(differences.all()),
        tuple(dict.fromkeys((*problems, *_common_problems(reports)))),
        strict=reports[0].strict,
        fail_on_warning=fail_on is FailOn.VIOLATION,
        never_fails=fail_on is FailOn.NEVER,
        gates=flipped_gates(releases),
        notices=tuple(_lost(uses)),
    )


def _common_problems(reports: Sequence[AuditReport]) -> Iterator[Problem]:
    """Inputs that no release can read, and defects of ours. What only some can read is said of its
    version."""
    common = set.intersection(*(set(one.problems) for one in reports))
    for report in reports:
        yield from (one for one in report.problems if one in common or one.is_internal)


def _answer(violations: Sequence[Violation]) -> Answer:
    """The strongest of what policies and plugins have against an object."""
    effects = [one.effect for one in violations]
    effect = next(one for one in _WORDS if one in effects)
    texts = [f"{one.policy}: {one.message}" for one in violations if one.effect == effect]
    refused = effect == DENY
    return Answer(
        _WORDS[effect],
        refused,
        "; ".join(texts) if refused else "",
        () if refused else tuple(texts),
    )


def _say_version(differences: Differences, release: str, use: ApiUse, uses: ApiUses) -> None:
    place, title = uses.first[use]
    count = uses.counts[use]
    names = f"`{title}`" if count == 1 else f"{count} objects, first `{title}`"
    what = {
        STORED: "stored",
        WRITTEN: "written",
        APPLIED: "last applied",
        MANAGED: f"managed by `{use.manager}`",
    }[use.by]
    title = f"{use.gvk.kind} {what} in {use.gvk.api_version} ({names})"
    answer = _stored(use.gvk) if use.by == STORED else _served(use)
    differences.say(use, place, title, release, answer, answer)


def _stored(gvk: GroupVersionKind) -> Answer:
    if _is_readable(gvk):
        return Answer(READABLE)
    message = f'no kind "{gvk.kind}" is registered for version "{gvk.api_version}"'
    return Answer(NOT_READABLE, is_refused=True, message=message, replacement=replacement(gvk))


def _is_readable(gvk: GroupVersionKind) -> bool:
    """Return whether the current release can read what is stored in a version. Versions of long ago
    are known as long as nobody has taken them out, those of custom resources are no matter of the
    release."""
    deprecation = deprecation_of(gvk)
    if deprecation is not None and deprecation.is_forgotten:
        return False
    first = _first_release(gvk)
    return not first or is_since(first)


@functools.cache
def _first_release(gvk: GroupVersionKind) -> str:
    """The oldest release that knows a version of a kind; empty if none does."""
    for release in VERSIONS:
        with answering_as(release):
            if known_resources(all_versions=True).by_gvk(gvk) is not None:
                return release
    return ""


def _served(use: ApiUse) -> Answer:
    """A manager may have written long ago, so that it would be refused now stops nobody."""
    gvk = use.gvk
    if known_resources(all_versions=True).by_gvk(gvk) is not None:
        deprecation = deprecation_of(gvk)
        warning = deprecation.warning(gvk) if deprecation is not None else ""
        return Answer(SERVED, warnings=(warning,) if warning else ())
    message = f'no matches for kind "{gvk.kind}" in version "{gvk.api_version}"'
    return Answer(
        NOT_SERVED,
        is_refused=use.by != MANAGED,
        message=message,
        replacement=replacement(gvk),
    )


def _lost(uses: ApiUses) -> Iterator[Notice]:
    for key, (place, definition) in uses.lost.items():
        version = key.rpartition("/")[2]
        yield Notice(
            Silence.UNKNOWN_KIND,
            place,
            f"`{definition}` has objects that are stored in `{version}`, which it does not have "
            "any more: nobody can read them",
            "bring the version back, write the objects anew, then take it out of "
            "`status.storedVersions`",
        )
