"""One test and one version of Kubernetes: where its cases are judged, as `celadon check` judges.

What cases share is made once: policies are compiled, the cluster is built. A case that brings
params, bindings or another user has a cluster of its own, in which policies that are the same
are not compiled again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Self

from celadon.admission import ExpressionMemory, Operation
from celadon.cli.check.cluster import (
    Circumstances,
    Cluster,
    Engines,
    cluster_of,
    engines_of,
    with_memory,
)
from celadon.cli.check.manifests import Manifests, described
from celadon.cli.check.notices import Findings, Sightings
from celadon.cli.check.object_judging import Judge, Settings, as_stored
from celadon.cli.check.object_judging import Judged as Looked
from celadon.cli.check.overlaid_world import GivenWorld, OverlaidWorld
from celadon.cli.check.policy_set import (
    PolicySet,
    PolicySets,
    policy_sets,
    validating_bindings,
    validating_policies,
    with_policies,
)
from celadon.cli.check.questions import Asked, Question, ask, identity, strictly_refused
from celadon.cli.check.webhook_documents import Said
from celadon.cli.policytest.run.case_results import AuthorizerAnswer, Case, PolicyTest
from celadon.cli.reading.documents import Document
from celadon.cli.reading.problems import Problem
from celadon.kube import Answer, Attributes, StatusError
from celadon.kube.workload_controllers import created_objects
from celadon.records import dataclass

if TYPE_CHECKING:
    from celadon.admission.explain import Explanation


# --- Answered world ----------------------------------------------------------
#
# A world in which some questions to the authorizer have answers given beforehand.


class AnsweredWorld(OverlaidWorld):
    """A world that answers questions itself; of several answers to one the first one counts."""

    __slots__ = ("_answers",)

    def __init__(self, behind: GivenWorld, answers: Sequence[AuthorizerAnswer]) -> None:
        super().__init__(behind)
        self._answers = answers

    def authorize(self, attributes: Attributes) -> Answer:
        """An answer that was given, else what the roles of the world say."""
        for one in self._answers:
            if _is_asked(one, attributes):
                return one.ruling, one.reason, one.error
        return super().authorize(attributes)


def _is_asked(answer: AuthorizerAnswer, attributes: Attributes) -> bool:
    actual = {
        "user": attributes.user.name,
        "verb": attributes.verb,
        "path": attributes.path,
        "group": attributes.group,
        "version": attributes.version,
        "resource": attributes.resource,
        "subresource": attributes.subresource,
        "namespace": attributes.namespace,
        "name": attributes.name,
    }
    return all(actual[name] == value for name, value in answer.asked.items())


@dataclass(frozen=True, slots=True)
class Sent:
    """A request as it comes to validating policies, and what was `said` before."""

    setting: Cluster
    asked: Asked
    said: Said


@dataclass(frozen=True, slots=True)
class Judged:
    """This is what was found about one case. `before` and `asked` are its request as it came and as
    mutating policies have left it; None for what nobody could ask."""

    setting: Cluster
    findings: Findings
    before: Asked | None
    asked: Asked | None
    mutation: Explanation | None = None
    """What mutating policies did and why, for a bench that looks on."""


class Bench:
    """Judges the cases of a test with one version. One that `looks` on tells why mutating policies
    did what they did. With a `memory`, expressions that are in it are not compiled again."""

    def __init__(
        self,
        test: PolicyTest,
        version: str,
        *,
        looks: bool = False,
        memory: ExpressionMemory | None = None,
    ) -> None:
        self.version = version
        self._looks = looks
        self._memory = memory
        self._test = test
        self._settings: dict[Hashable, Cluster] = {}
        self._engines: dict[Hashable, Engines] = {}
        self._created: dict[int, tuple[Case, Case]] = {}
        self._base: Self | None = None
        self._change: Callable[[PolicySets], PolicySets] = lambda sets: sets

    def altered(self, change: Callable[[PolicySets], PolicySets]) -> Bench:
        """The same with other policies or bindings, for whoever wants to know what those would do.
        All else is shared, and nothing is compiled that is the same."""
        other = Bench(self._test, self.version, looks=self._looks, memory=self._memory)
        other._base, other._change = self, change
        return other

    def sent(self, case: Case) -> Sent | None:
        """The request of a case as mutating policies have left it, before anybody judges it; None
        for what cannot be asked, or is refused for its form. Errors of our own are raised."""
        case = self._about_created(case)
        setting = self.setting(case)
        olds, catalog = _olds(case), setting.world.catalog
        try:
            found = ask(case.object, _question(case), catalog, olds, setting.prepare)
        except StatusError:
            return None
        if isinstance(found, Problem) or strictly_refused(found) is not None:
            return None
        chain = setting.asking().chain(found)
        return Sent(setting, chain.mutated(), chain.before)

    def judged(self, case: Case) -> Judged:
        """Return what `celadon check` would find about the request of a case."""
        case = self._about_created(case)
        setting = self.setting(case)
        settings = Settings(_question(case), self.version, self._test.now)
        findings = Findings(Sightings(wants_namespaces=False))
        seen: list[Looked] = []
        quotas = None if setting.quotas is None else setting.quotas.uncharged()
        cluster = replace(setting, quotas=quotas)
        Judge.of(cluster, settings, _olds(case), findings, seen.append).take(case.object)
        if quotas is not None:
            quotas.settle(findings.results, findings.charges)
        if not seen or seen[0].chain.early_refusal is not None:
            return Judged(setting, findings, None, None)
        one = seen[0]
        mutation = one.before.mutation
        if mutation is None:
            return Judged(setting, findings, one.asked, one.asked)
        return Judged(setting, findings, one.chain.unmutated(), one.asked, mutation.explanation)

    def _about_created(self, case: Case) -> Case:
        """A case about what controllers would create, as one about just that; the case itself where
        nothing is created, for instance since it cannot be asked about."""
        if not case.generated:
            return case
        known = self._created.get(id(case))
        if known is None:
            sent = self.sent(replace(case, generated=""))
            made = case if sent is None else _created_case(case, sent.asked)
            known = self._created[id(case)] = case, replace(made, generated="")
        return known[1]

    def setting(self, case: Case) -> Cluster:
        """That of a case, which others may share."""
        user = case.user
        extra = tuple((key, tuple(values)) for key, values in user.extra.items())
        key = (
            tuple(map(id, case.cluster)),
            tuple(map(id, case.answers)),
            (user.name, user.groups, user.uid, extra),
            case.namespace,
        )
        found = self._settings.get(key)
        if found is None:
            found = self._settings[key] = self._made(case)
        return found

    def _made(self, case: Case) -> Cluster:
        if self._base is None:
            return self._own_setting(case)
        found = self._base.setting(case)
        return replace(found, engines=self._altered_engines(found.engines))

    def _altered_engines(self, found: Engines) -> Engines:
        known = self._engines.get(id(found))
        if known is None:
            known = self._engines[id(found)] = found.with_sets(self._change(found.sets))
        return known

    def _own_setting(self, case: Case) -> Cluster:
        manifests = described(_latest((*self._test.cluster, *case.cluster), case.namespace))
        circumstances = Circumstances(
            self.version,
            self._test.now,
            case.user,
            case.namespace,
            plugins=self._test.plugins,
        )
        cluster = cluster_of(
            manifests,
            self._engines_for(case),
            circumstances,
            asks_plugins=True,
            overlaid=lambda world: AnsweredWorld(world, case.answers) if case.answers else world,
        )
        return replace(cluster, looks=self._looks)

    def _engines_for(self, case: Case) -> Engines:
        brought = described(case.cluster)
        judges = (one for part in brought.given[:4] for one in part)
        key = tuple(map(id, judges))
        found = self._engines.get(key)
        if found is None:
            found = self._more_engines(brought) if key else self._first_engines()
            self._engines[key] = found
        return found

    def _first_engines(self) -> Engines:
        manifests = described(self._test.cluster)
        sets = policy_sets(manifests, self.version, unserved=True)
        return engines_of(sets, self.version, with_memory(self._memory), manifests.problems)

    def _more_engines(self, brought: Manifests) -> Engines:
        first = self._engines.get(())
        if first is None:
            first = self._engines[()] = self._first_engines()
        sets = _merged_sets(first.sets, policy_sets(brought, self.version, unserved=True))
        given = sets.validating
        mutating = None
        if sets.mutating.policies:
            mutating = with_memory(self._memory).mutating(sets.mutating, self.version)
        return Engines(
            sets,
            with_policies(first.validating, validating_policies(given), validating_bindings(given)),
            mutating,
            (*first.problems, *brought.problems),
        )


def _created_case(case: Case, asked: Asked) -> Case:
    """Return what becomes of a workload as mutating policies have left it; the first of a kind."""
    owner, made = asked.document, asked.request.object or {}
    while found := created_objects(made):
        documents = [
            Document(owner.chunk, (*owner.path, *one.template), one.value) for one in found
        ]
        for one, document in zip(found, documents, strict=True):
            if one.value["kind"] == case.generated:
                return replace(
                    case, object=document, old=None, operation=Operation.CREATE, user=one.user
                )
        owner = documents[-1]
        made = as_stored(owner.value)
    return case


def _question(case: Case) -> Question:
    return Question(
        case.operation,
        subresource=case.subresource,
        namespace=case.namespace,
        user=case.user,
        dry_run=case.dry_run,
    )


def _olds(case: Case) -> dict[tuple[str, str, str, str], Document]:
    return {} if case.old is None else {identity(case.object, case.namespace): case.old}


def _merged_sets(first: PolicySets, later: PolicySets) -> PolicySets:
    return PolicySets(
        _merged(first.validating, later.validating), _merged(first.mutating, later.mutating)
    )


def _merged(first: PolicySet, later: PolicySet) -> PolicySet:
    """Both; of two with one name the later."""
    return PolicySet(
        {**first.policies, **later.policies},
        {**first.bindings, **later.bindings},
        (first.broken - later.policies.keys()) | later.broken,
        [*first.errors, *later.errors],
    )


def _latest(documents: Iterable[Document], namespace: str) -> list[Document]:
    """Return the last of those that are the same object."""
    return list({identity(one, namespace): one for one in documents}.values())
