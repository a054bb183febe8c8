"""What is known of a source before its objects are judged: what policies may look up there."""

from __future__ import annotations

from typing import Any

from celadon.admission import Engine, ObjectWorld
from celadon.cli.auditing.audit_lookups import given_objects, lookups_of, preparation
from celadon.cli.auditing.object_audit import AuditSettings, ObjectAuditor
from celadon.cli.checking.policy_set import PolicySets
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import JsonObject
from celadon.kube.catalogue import Catalog
from celadon.records import dataclass


@dataclass(frozen=True, slots=True)
class Survey:
    """`documents` are those of dumps, `objects` those of a cluster, which has a `catalog` of its
    own."""

    documents: tuple[Document, ...] = ()
    objects: tuple[dict[str, Any], ...] = ()
    catalog: Catalog | None = None


@dataclass(frozen=True, slots=True)
class SourceAuditor:
    """Ready to audit the objects of one source. `existing` is what policies can look up."""

    auditor: ObjectAuditor
    existing: tuple[JsonObject, ...]
    problems: tuple[Problem, ...]


def source_auditor(
    survey: Survey,
    given: tuple[Document, ...],
    sets: PolicySets,
    engine: Engine,
    settings: AuditSettings,
) -> SourceAuditor:
    """`given` is what was given with the policies, and counts like what is in the source."""
    documents = (*survey.documents, *given)
    prepare = preparation(
        documents, settings.user, settings.now, settings.version, defaulting=settings.defaulting
    )
    objects, problems = given_objects(documents, prepare)
    world = ObjectWorld(
        [*survey.objects, *objects], implicit_namespaces=True, catalog=survey.catalog
    )
    auditor = ObjectAuditor(
        engine,
        world,
        prepare,
        sets.validating,
        settings,
        wants_namespaces=lookups_of(sets).namespaces,
    )
    existing = (*survey.objects, *(one.value for one in documents))
    return SourceAuditor(auditor, existing, tuple(problems))
