"""Files to a webhook's rulebook: policies, bindings, and what they look up.

The way is that of `celadon check`, so what a webhook enforces is what `check` has judged by. Where
`check` reports a policy that it cannot use and goes on, a webhook takes all of the files or nothing
of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from celadon.admission import Engine, ObjectWorld, ValidatingAdmissionPolicy, World
from celadon.apiserver.conversion_webhooks import CalledWebhooks, Caller
from celadon.cli.check.check_report import PolicyError
from celadon.cli.check.cluster import Circumstances, given_world
from celadon.cli.check.manifests import (
    Parts,
    PolicySet,
    PolicySets,
    gather,
    mutating_engine,
    policy_sets,
    validating_bindings,
    validating_policies,
    with_policies,
)
from celadon.cli.check.object_preparation import Prepare
from celadon.cli.reading.documents import Problem
from celadon.kube.releases import answering_as
from celadon.webhook.review_decisions import LoadError, MutationRules, ReviewConverter, Rulebook


class PolicyLoader:
    """Reads the paths each time it is called, and remembers what came out: policies that have not
    changed are not compiled again."""

    def __init__(
        self, paths: Sequence[str], release: Callable[[], str], call: Caller | None = None
    ) -> None:
        """`release` is asked each time; `call` calls conversion webhooks, None where nobody
        does."""
        self._paths = paths
        self._release = release
        self._call = call
        self._version = ""
        self._engine = Engine()
        self._policies: dict[str, ValidatingAdmissionPolicy] = {}

    def __call__(self) -> Rulebook:
        """Load the policies. Raises LoadError."""
        version = self._release()
        if version != self._version:
            self._version, self._engine, self._policies = version, Engine(version=version), {}
        with answering_as(version):
            return self._loaded()

    def _loaded(self) -> Rulebook:
        manifests = gather(self._paths, (), (), Parts(), lambda _: None, takes_others=False)
        sets = policy_sets(manifests, self._version, unserved=True)
        policies = sets.validating
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        prepare = Circumstances(self._version, now).preparation(manifests.existing)
        world, problems = given_world(manifests, sets, prepare)
        _complain((*manifests.problems, *problems), sets)
        self._compile(policies)
        return Rulebook(
            self._engine,
            self._worlds(world),
            len(policies.bindings) + len(sets.mutating.bindings),
            self._mutation(sets.mutating, prepare),
            remarks=tuple(
                _error_text(error) for policy_set in sets.all for error in policy_set.unserved
            ),
        )

    def _worlds(self, world: ObjectWorld) -> Callable[[], World]:
        """Return what makes the world of a review."""
        if self._call is None:
            return lambda: world
        webhooks = CalledWebhooks(world.objects, self._version, self._call)
        return lambda: world.with_converter(ReviewConverter(webhooks))

    def _mutation(self, policy_set: PolicySet, prepare: Prepare) -> MutationRules | None:
        if not policy_set.policies:
            return None
        return MutationRules(
            mutating_engine(policy_set, self._version).prepare(), prepare.custom_kind
        )

    def _compile(self, policies: PolicySet) -> None:
        """Compile the policies. An equal one is the same object as before, by which the engine
        knows it."""
        value = {policy.name: policy for policy in validating_policies(policies)}
        for name, policy in value.items():
            previous = self._policies.get(name)
            value[name] = previous if previous is not None and previous == policy else policy
        bindings = validating_bindings(policies)
        self._engine = with_policies(self._engine, value.values(), bindings).prepare()
        self._policies = value


def _complain(problems: Sequence[Problem], sets: PolicySets) -> None:
    texts = [problem.text() for problem in problems]
    texts += [_error_text(error) for policy_set in sets.all for error in policy_set.errors]
    if not texts and not any(policy_set.policies for policy_set in sets.all):
        texts.append("no policy in the given files")
    if texts:
        raise LoadError(tuple(texts))


def _error_text(error: PolicyError) -> str:
    return f"{error.place.file}:{error.place.line}: {error.message}"
