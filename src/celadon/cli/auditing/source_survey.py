"""What is known of a source before its objects are judged: what policies may look up there."""

from __future__ import annotations

from typing import Any

from celadon.admission import Engine, ObjectWorld
from celadon.cli.auditing.audit_lookups import given_objects, lookups_of, preparation
from celadon.cli.auditing.object_audit import AuditSettings, ObjectAuditor
from celadon.cli.checking.object_preparation import Prepare
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
class LookedUp:
    """What policies can look up: as it was found (`existing`), and as a server has it (`objects`),
    with what is wrong with others."""

    existing: tuple[JsonObject, ...]
    objects: tuple[JsonObject, ...]
    problems: tuple[Problem, ...]
    prepare: Prepare


def looked_up_in(survey: Survey, given: tuple[Document, ...], settings: AuditSettings) -> LookedUp:
    """`given` is what was given with the policies, and counts like what is in the source."""
    documents = (*survey.documents, *given)
    prepare = preparation(
        documents, settings.user, settings.now, settings.version, defaulting=settings.defaulting
    )
    objects, problems = given_objects(documents, prepare)
    existing = (*survey.objects, *(one.value for one in documents))
    return LookedUp(existing, (*survey.objects, *objects), tuple(problems), prepare)


def source_auditor(
    survey: Survey, found: LookedUp, sets: PolicySets, engine: Engine, settings: AuditSettings
) -> ObjectAuditor:
    """Ready to audit the objects of a source."""
    world = ObjectWorld(found.objects, implicit_namespaces=True, catalog=survey.catalog)
    return ObjectAuditor(
        engine,
        world,
        found.prepare,
        sets.validating,
        settings,
        wants_namespaces=lookups_of(sets).namespaces,
    )
