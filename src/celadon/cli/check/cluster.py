"""The cluster that files describe: how objects are prepared, what can be looked up, who judges.

It is set up here for all who judge objects from files: `check` and whatever is built on it, tests
of policies, the playground, the simulation of a cluster that comes up; audits, replays and the
webhook take the parts that they need.

    circumstances = Circumstances(version, now)
    engines = engines_of(policy_sets(manifests, version), version)
    cluster = cluster_of(manifests, engines, circumstances)
    cluster.asking()                     whom objects are shown to beside the validating policies
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from celadon.admission import ADMIN, Engine, ExpressionMemory, ObjectWorld, implicit_namespace
from celadon.cli.check.manifests import (
    Manifests,
    PolicySet,
    PolicySets,
    is_configuration,
    mutating_bindings,
    mutating_engine,
    mutating_policies,
    validating_bindings,
    validating_engine,
    validating_policies,
    with_policies,
)
from celadon.cli.check.object_chain import AnsweredWebhooks, ChainSetup
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.check.plugins import GivenWorld, PluginChoice, PluginDesk, QuotaLedger, objects_of
from celadon.cli.reading.documents import Document, Problem
from celadon.kube import Json, User, metadata
from celadon.kube.defaulting import LOOKED_UP
from celadon.kube.registry import request_bodies
from celadon.kube.resources import DEFAULT_PLUGINS, known_resources
from celadon.kube.well_known_values import SYSTEM_NAMESPACES
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.admission.policies.mutating import MutatingEngine


@dataclass(frozen=True, slots=True)
class EngineMakers:
    """Holds who makes engines of policies and a release. Whoever checks again and again
    remembers."""

    validating: Callable[[PolicySet, str], Engine] = validating_engine
    mutating: Callable[[PolicySet, str], MutatingEngine] = mutating_engine


ANEW: Final = EngineMakers()


def with_memory(memory: ExpressionMemory | None) -> EngineMakers:
    """Makers that do not compile again what is in the memory."""
    return EngineMakers(
        lambda policy_set, version: validating_engine(policy_set, version, memory),
        lambda policy_set, version: mutating_engine(policy_set, version, memory),
    )


@dataclass(frozen=True, slots=True)
class Engines:
    """Policies and bindings, ready to be asked; `mutating` is None if there are none of these."""

    sets: PolicySets
    validating: Engine
    mutating: MutatingEngine | None
    problems: tuple[Problem, ...] = ()

    def with_sets(self, sets: PolicySets) -> Engines:
        """Return the engines with other sets; one whose set is the same object stays, and so does
        every program of a policy that is the same."""
        validating, mutating = self.validating, self.mutating
        if sets.validating is not self.sets.validating:
            policy_set = sets.validating
            policies, bindings = validating_policies(policy_set), validating_bindings(policy_set)
            validating = with_policies(validating, policies, bindings)
        if mutating is not None and sets.mutating is not self.sets.mutating:
            policy_set = sets.mutating
            changed = mutating_policies(policy_set), mutating_bindings(policy_set)
            mutating = with_policies(mutating, *changed)
        return replace(self, sets=sets, validating=validating, mutating=mutating)


def engines_of(
    sets: PolicySets, version: str, makers: EngineMakers = ANEW, problems: Iterable[Problem] = ()
) -> Engines:
    """Return the engines of policies and a release."""
    mutating = makers.mutating(sets.mutating, version) if sets.mutating.policies else None
    return Engines(sets, makers.validating(sets.validating, version), mutating, tuple(problems))


@dataclass(frozen=True, slots=True)
class Circumstances:
    """Holds the circumstances in which objects come: `user` is who sends them, `namespace` that of
    objects that do not say theirs, `now` the time of their creation. `plugins` are those that are
    there; None for those that a server has by default, of whom only the rules are followed."""

    version: str
    now: str
    user: User = ADMIN
    namespace: str = "default"
    defaulting: bool = True
    field_validation: str = request_bodies.STRICT
    plugins: PluginChoice | None = None

    def preparation(self, existing: Iterable[Document]) -> Prepare:
        """Return how objects are prepared among those that exist."""
        return Prepare(
            tuple(existing),
            self.user,
            self.now,
            namespace=self.namespace,
            defaulting=self.defaulting,
            field_validation=self.field_validation,
            plugins=DEFAULT_PLUGINS if self.plugins is None else self.plugins.names,
        )


@dataclass(frozen=True, slots=True)
class Cluster:
    """Holds what objects are judged in. `quotas` are as they are before anything was charged;
    None where nothing is limited. With `looks`, what mutating policies do is explained."""

    engines: Engines
    prepare: Prepare
    world: GivenWorld
    manifests: Manifests
    problems: tuple[Problem, ...] = ()
    quotas: QuotaLedger | None = None
    webhooks: AnsweredWebhooks | None = None
    looks: bool = False

    @property
    def sets(self) -> PolicySets:
        """Return the policies and bindings."""
        return self.engines.sets

    def asking(self) -> ChainSetup:
        """Return who is asked about objects beside the validating policies."""
        engine, world, prepare = self.engines.mutating, self.world, self.prepare
        if engine is None:
            return ChainSetup(world, prepare, None, self.webhooks)
        # late: few have any
        from celadon.cli.check.object_mutation import Mutators

        mutators = Mutators(engine, world, prepare.custom_kind, self.looks)
        return ChainSetup(world, prepare, mutators, self.webhooks)


def cluster_of(
    manifests: Manifests,
    engines: Engines,
    circumstances: Circumstances,
    *,
    asks_plugins: bool = False,
    overlaid: Callable[[ObjectWorld], GivenWorld] | None = None,
) -> Cluster:
    """Return the cluster of some manifests. With `asks_plugins`, those of the circumstances are
    asked, and not only their rules are followed; `overlaid` makes a world that knows some things
    better."""
    choice = circumstances.plugins
    prepare = circumstances.preparation(manifests.existing)
    whole = choice is not None and choice.whole_cluster
    built_world, problems = given_world(manifests, engines.sets, prepare, whole=whole)
    world = built_world if overlaid is None else overlaid(built_world)
    wrong = (*manifests.problems, *engines.problems, *problems)
    if not circumstances.defaulting:  # nobody knows what policies would make of an object
        engines = replace(engines, mutating=None)
    cluster = Cluster(engines, prepare, world, manifests, tuple(dict.fromkeys(wrong)))
    if choice is None or not asks_plugins:
        return cluster
    return _with_plugins(cluster, choice, circumstances)


def _with_plugins(cluster: Cluster, choice: PluginChoice, circumstances: Circumstances) -> Cluster:
    manifests, world, prepare = cluster.manifests, cluster.world, cluster.prepare
    classes = [
        metadata.name(document.value)
        for document in manifests.also_looked_up
        if document.value["kind"] == "PriorityClass"
    ]
    desk = PluginDesk(choice, circumstances.version, world, classes)
    limited = () if choice.settings is None else choice.settings.limited_resources
    result = objects_of(world, "ResourceQuota")
    quotas = None
    if "ResourceQuota" in choice.names and (result or limited):
        prepared = map(prepare.existing, (*manifests.looked_up, *manifests.old))
        objects = [value for value in prepared if isinstance(value, dict)]
        quotas = QuotaLedger(result, objects, circumstances.now, limited)
    return replace(cluster, prepare=prepare.with_plugins(desk), quotas=quotas)


def given_world(
    manifests: Manifests, policies: PolicySets, prepare: Prepare, *, whole: bool = False
) -> tuple[ObjectWorld, list[Problem]]:
    """Return what policies may look up: the given objects, and any namespace that an object is in,
    unless the objects are the `whole` cluster.

    They are as they would be in the cluster: defaulted, namespaces labelled. Of what is to be
    admitted only namespaces, params and what plugins look at are looked up; what is wrong with it
    is said when it is judged.
    """
    completed = {("v1", "Namespace"), ("v1", "ResourceQuota")}
    completed.update(
        (known_resource.gvk.api_version, known_resource.gvk.kind)
        for known_resource in known_resources()
        if known_resource.gvr in LOOKED_UP
    )
    for placed in (
        policy for policy_set in policies.all for policy in policy_set.policies.values()
    ):
        kind = placed.value.spec.param_kind
        if kind is not None:
            completed.add((kind.api_version, kind.kind))
    objects: list[dict[str, Json]] = []
    problems: list[Problem] = []
    for document in manifests.also_looked_up:
        value: dict[str, Json] | Problem = document.value
        if (document.value["apiVersion"], document.value["kind"]) in completed:
            value = prepare.existing(document)
        if not isinstance(value, Problem):
            objects.append(value)
    for document in manifests.looked_up:
        if is_configuration(document):  # what is wrong with one is said where it is used
            continue
        value = prepare.existing(document)
        if isinstance(value, Problem):
            problems.append(value)
        else:
            objects.append(value)
    if whole:
        objects[:0] = [dict(implicit_namespace(name)) for name in SYSTEM_NAMESPACES]
    return ObjectWorld(objects, implicit_namespaces=not whole), problems
