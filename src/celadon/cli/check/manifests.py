"""Which document plays which part.

A document's kind decides: policies and bindings judge (unless they are RESOURCES that `--admit`
names: static policies judge policies), everything else exists. What was given with
`-f` describes the cluster and is only looked up (params, namespaces, CRDs, RBAC objects, ...); what
was given as a RESOURCE is to be admitted, and may be looked up as well, as it would be in a cluster
once it is there. Without any RESOURCE, the documents of `-f` that are of none of the kinds usually
looked up are the ones to admit. `--lookup` and `--admit` decide for a kind where that is wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from typing import Final

from celadon.admission.registration import (
    BINDING_KIND,
    MUTATING_BINDING_KIND,
    MUTATING_POLICY_KIND,
    POLICY_KIND,
)
from celadon.cli.options import did_you_mean
from celadon.cli.project_files import other_file, passed_over
from celadon.cli.reading import sources
from celadon.cli.reading.documents import (
    Document,
    DocumentArchive,
    DocumentReader,
    Kind,
    shape_problem,
)
from celadon.cli.reading.problems import Problem
from celadon.cli.reading.sources import NOTHING_EXCLUDED, Exclusion
from celadon.kube.defaulting import LOOKED_UP
from celadon.kube.resources import known_resources
from celadon.kube.well_known_values import ADMISSION_REGISTRATION, RBAC_GROUP
from celadon.records import dataclass

_JUDGES: Final = (POLICY_KIND, BINDING_KIND, MUTATING_POLICY_KIND, MUTATING_BINDING_KIND)
_LOOKED_UP: Final = frozenset({"Namespace", "CustomResourceDefinition"})


@dataclass(slots=True)
class Manifests:
    """The documents by their part, and what could not be read. `also_looked_up` are those of the
    admitted ones that policies, plugins or the command itself may look at while others are
    judged."""

    policies: list[Document] = field(default_factory=list)
    bindings: list[Document] = field(default_factory=list)
    mutating_policies: list[Document] = field(default_factory=list)
    mutating_bindings: list[Document] = field(default_factory=list)
    looked_up: list[Document] = field(default_factory=list)
    admitted: DocumentArchive = field(default_factory=DocumentArchive)
    also_looked_up: list[Document] = field(default_factory=list)
    old: list[Document] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: list[Problem] = field(default_factory=list)
    """The files of folders that are no manifests (`project_files`)."""

    @property
    def existing(self) -> tuple[Document, ...]:
        """All that may be looked at while objects are judged."""
        return (*self.looked_up, *self.also_looked_up)

    @property
    def beside(self) -> tuple[Document, ...]:
        """All that judges nobody."""
        return (*self.looked_up, *self.admitted)

    @property
    def given(self) -> tuple[list[Document], ...]:
        """All but what is to be admitted."""
        changing = (self.mutating_policies, self.mutating_bindings)
        return self.policies, self.bindings, *changing, self.looked_up, self.old


@dataclass(frozen=True, slots=True)
class Parts:
    """This is what the user said about the parts of kinds: `--lookup` and `--admit`, in lower
    case."""

    lookup: frozenset[str] = frozenset()
    admit: frozenset[str] = frozenset()

    @staticmethod
    def of(lookup: Iterable[str], admit: Iterable[str]) -> Parts:
        """From the options, where several kinds may stand behind one another with commas."""
        return Parts(_kinds(lookup), _kinds(admit))


def _kinds(options: Iterable[str]) -> frozenset[str]:
    return frozenset(
        kind.strip().lower() for option in options for kind in option.split(",") if kind.strip()
    )


def gather(
    cluster: Sequence[str],
    resources: Sequence[str],
    old: Sequence[str],
    parts: Parts,
    step: Callable[[int], None],
    exclusion: Exclusion = NOTHING_EXCLUDED,
    *,
    takes_others: bool = True,
) -> Manifests:
    """Reads everything but what is excluded. Files of folders that are no manifests are passed over
    if it `takes_others`. `step` is told how many documents there are so far.
    Keys that occur twice are for an API server to complain about, in what is to be admitted."""
    found = Manifests()
    reader = DocumentReader(keeps_repeated=True)
    count = itertools.count(1)

    def documents(arguments: Sequence[str]) -> Iterator[Document]:
        named = arguments if takes_others else None
        for document in _read(sources.expand(arguments, exclusion), named, reader, found):
            step(next(count))
            yield document

    alone = not resources
    for document in documents(cluster):
        _sort(found, document, parts, is_resource=False, alone=alone)
    params = _param_kinds((*found.policies, *found.mutating_policies))
    if alone:
        _move_params(found, params, parts)
    for document in documents(resources):
        _sort(found, document, parts, is_resource=True, alone=False)
    found.old = [one for one in documents(old) if _part(one) is None]
    return _sorted(found)


def described(
    documents: Iterable[Document], admitted: Iterable[Document] = (), old: Iterable[Document] = ()
) -> Manifests:
    """Return those that describe a cluster, what is to be admitted there, and what that
    replaces."""
    found = Manifests()
    for document in documents:
        _sort(found, document, Parts(), is_resource=False, alone=False)
    for document in admitted:
        _sort(found, document, Parts(), is_resource=True, alone=False)
    found.old += old
    return _sorted(found)


def _sorted(found: Manifests) -> Manifests:
    """With what can be said once every document has its part."""
    params = _param_kinds((*found.policies, *found.mutating_policies))
    found.also_looked_up += found.admitted.of_kinds(_looked_up_kinds(params))
    for part in found.given:
        _refuse_repeated(part, found.problems)
    return found


def _refuse_repeated(documents: list[Document], problems: list[Problem]) -> None:
    """Refuse what stands several times and is sent to no server: it must be unambiguous."""
    wrong = [one for one in documents if one.repeated]
    if wrong:
        documents[:] = [one for one in documents if not one.repeated]
    for document in wrong:
        first = document.repeated[0]
        line = document.chunk.first_line + first.line - 1
        problems.append(Problem(document.file, line, first.complaint))


def _read(
    files: Iterable[str | Problem],
    named: Sequence[str] | None,
    reader: DocumentReader,
    found: Manifests,
) -> Iterator[Document]:
    """`named` are the files that are manifests for certain; None: all are."""
    for file in files:
        text = file if isinstance(file, Problem) else sources.read(file)
        if isinstance(text, Problem):
            found.problems.append(text)
            continue
        if named is not None and (other := passed_over(text, named)):
            found.others.append(other_file(text.file, other))
            continue
        for item in reader.read(text):
            problem = item if isinstance(item, Problem) else shape_problem(item)
            if problem is not None:
                found.problems.append(problem)
            elif isinstance(item, Document):
                yield item


def group_of(document: Document) -> str:
    """The API group; empty for the core group."""
    return document.group_kind[0]


def _part(document: Document) -> str | None:
    """The kind of what judges or changes others, None for all others."""
    kind = str(document.value["kind"])
    if kind in _JUDGES and group_of(document) == ADMISSION_REGISTRATION:
        return kind
    return None


def _sort(
    found: Manifests, document: Document, parts: Parts, *, is_resource: bool, alone: bool
) -> None:
    judges = {
        POLICY_KIND: found.policies,
        BINDING_KIND: found.bindings,
        MUTATING_POLICY_KIND: found.mutating_policies,
        MUTATING_BINDING_KIND: found.mutating_bindings,
    }
    part = _part(document)
    kind = str(document.value["kind"])
    if part is not None and not (is_resource and kind.lower() in parts.admit):
        judges[part].append(document)
        return
    admitted = is_resource or (alone and not _usually_looked_up(document))
    if kind.lower() in parts.lookup:
        admitted = False
    elif kind.lower() in parts.admit:
        admitted = True
    (found.admitted if admitted else found.looked_up).append(document)


def _usually_looked_up(document: Document) -> bool:
    kind, group = str(document.value["kind"]), group_of(document)
    if kind in _LOOKED_UP or group == RBAC_GROUP:
        return True
    return group == ADMISSION_REGISTRATION


def _param_kinds(policies: Iterable[Document]) -> set[tuple[str, str]]:
    kinds = set()
    for policy in policies:
        spec = policy.value.get("spec")
        kind: object = spec.get("paramKind") if isinstance(spec, dict) else None
        if isinstance(kind, dict):
            kinds.add((str(kind.get("apiVersion")), str(kind.get("kind"))))
    return kinds


def _move_params(found: Manifests, params: set[tuple[str, str]], parts: Parts) -> None:
    """Take objects of a param kind for params, where nothing was said to be a RESOURCE."""

    def is_param(document: Document) -> bool:
        kind = str(document.value["kind"])
        named = (str(document.value["apiVersion"]), kind)
        return named in params and kind.lower() not in parts.admit

    if any(map(is_param, found.admitted.of_kinds(_group_kinds(params).__contains__))):
        admitted, found.admitted = found.admitted, DocumentArchive()
        for document in admitted:
            if is_param(document):
                found.looked_up.append(document)
            else:
                found.admitted.append(document)


def _group_kinds(params: Iterable[tuple[str, str]]) -> set[Kind]:
    return {(version.rpartition("/")[0], kind) for version, kind in params}


def _looked_up_kinds(params: Iterable[tuple[str, str]]) -> Callable[[Kind], bool]:
    """Return whether somebody may look at objects of a kind that are themselves to be admitted:
    policies, plugins, or those who call webhooks."""
    kinds = {
        *_group_kinds(params),
        *(one.gvk.group_kind for one in known_resources(all_versions=True) if one.gvr in LOOKED_UP),
        ("", "ResourceQuota"),
        ("", "Service"),
    }

    def wanted(kind: Kind) -> bool:
        return (
            kind in kinds
            or kind[0] in {RBAC_GROUP, ADMISSION_REGISTRATION}
            or kind[1] in _LOOKED_UP
        )

    return wanted


def unknown_kind(parts: Parts, found: Manifests) -> str:
    """Return what is wrong with the first kind of `--lookup` and `--admit` that neither a server
    nor the documents know; empty if all are good."""
    kinds = {one.gvk.kind.lower() for one in known_resources(all_versions=True)}
    kinds.update(kind.lower() for _, kind in found.admitted.kinds)
    for document in (*found.existing, *found.old):
        kinds.add(str(document.value["kind"]).lower())
        kinds.add(_defined_kind(document))
    for kind in sorted(parts.lookup | parts.admit):
        if kind not in kinds:
            return f"no kind `{kind}`{did_you_mean(kind, kinds)}"
    return ""


def _defined_kind(document: Document) -> str:
    """In lower case, the kind that a CustomResourceDefinition defines; else empty."""
    spec = document.value.get("spec")
    names = spec.get("names") if isinstance(spec, dict) else None
    return str(names.get("kind")).lower() if isinstance(names, dict) else ""
