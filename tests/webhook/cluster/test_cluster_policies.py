"""Policies of a cluster: what is there counts, what comes counts soon."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from celadon.admission import Operation, Request, Verdict
from celadon.admission.policies.validating import Engine
from celadon.apiserver.clientconfig import ClusterLocation, given_cluster
from celadon.kube import GroupVersionKind, GroupVersionResource, User
from celadon.testing import ClientAccess, KubeApi
from celadon.webhook.cluster.cluster_client import ClusterClient, ClusterUnreachable, Query
from celadon.webhook.cluster.cluster_policies import (
    ClusterPolicies,
    FollowedRelease,
    PolicySettings,
    RegisteredPolicies,
)
from celadon.webhook.review_decisions import Decider, Mutator, Unanswerable, Unanswered
from tests.webhook.cluster.against_server import client_of, config_map, until

GROUP = "admissionregistration.k8s.io/v1"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
RULES = [
    {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "resources": ["configmaps"],
        "operations": ["CREATE"],
    }
]


def policy(name: str, expression: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": GROUP,
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"resourceRules": RULES},
            "validations": [{"expression": expression, "message": f"not {name}"}],
            **spec,
        },
    }


def binding(name: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": GROUP,
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": name, "validationActions": ["Deny"], **spec},
    }


CREATE = Request(
    Operation.CREATE,
    GroupVersionKind("", "v1", "ConfigMap"),
    GroupVersionResource("", "v1", "configmaps"),
    name="new",
    namespace="default",
    object={**config_map("new")},
    user=User("alice", ("system:authenticated",)),
)


@asynccontextmanager
async def source(
    client: ClusterClient, max_staleness: float = 60.0
) -> AsyncIterator[ClusterPolicies]:
    policies = ClusterPolicies(client, PolicySettings("1.36", "default", max_staleness))
    running = asyncio.create_task(policies.run())
    try:
        await until(lambda: running.done() or policies.rulebook() is not None)
        yield policies
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def verdict(policies: ClusterPolicies, request: Request = CREATE) -> Verdict:
    rules = policies.rulebook()
    assert rules is not None
    decider = Decider(request, rules)
    try:
        return decider.verdict()
    except Unanswered as question:
        return await decider.settled(question)


def names(policies: ClusterPolicies) -> list[str]:
    rules = policies.rulebook()
    return [] if rules is None else [one.name for one in rules.engine.policies]


def bindings(policies: ClusterPolicies) -> int:
    rules = policies.rulebook()
    return 0 if rules is None else rules.bindings


@pytest.fixture
def api() -> Iterator[KubeApi]:
    with KubeApi([policy("first", "object.metadata.name == 'x'"), binding("first")]) as started:
        yield started


def run_with(api: KubeApi, work: Callable[[ClusterPolicies], Any]) -> None:
    async def run() -> None:
        async with client_of(api.admin) as client, source(client) as policies:
            await work(policies)

    asyncio.run(run())


def test_policies_come_and_go(api: KubeApi) -> None:
    async def work(policies: ClusterPolicies) -> None:
        assert (await verdict(policies)).message.endswith(
            "ValidatingAdmissionPolicy 'first' with binding 'first' denied request: not first"
        )
        state = policies.state()
        assert (state.missing, state.problems) == ((), ())
        assert set(state.cache_ages) == {
            "configmaps", "customresourcedefinitions", "namespaces",
            "mutatingadmissionpolicies", "mutatingadmissionpolicybindings",
            "validatingadmissionpolicies", "validatingadmissionpolicybindings",
        }  # fmt: skip
        api.request("DELETE", f"{POLICIES}/first")
        await until(lambda: names(policies) == [])
        assert (await verdict(policies)).allowed
        api.create(policy("second", "false"))
        await until(lambda: names(policies) == ["second"])
        assert (await verdict(policies)).allowed, "nothing binds it"

    run_with(api, work)


def test_what_has_not_changed_is_not_compiled_again(api: KubeApi) -> None:
    async def work(policies: ClusterPolicies) -> None:
        rules = policies.rulebook()
        assert rules is not None
        (compiled,) = rules.engine.policies
        api.create(policy("second", "true"))
        await until(lambda: names(policies) == ["first", "second"])
        now = policies.rulebook()
        assert now is not None
        assert now.engine.policies[0] is compiled
        assert now.world().catalog is rules.world().catalog

    run_with(api, work)


def test_config_maps_have_policies_too(api: KubeApi) -> None:
    text = "\n---\n".join(
        map(str, (policy("first", "false"), policy("third", "false"), binding("third")))
    )

    async def work(policies: ClusterPolicies) -> None:
        labelled = config_map("x", **{"all.yaml": text})
        labelled["metadata"]["labels"] = {"celadon.dev/policies": ""}  # type: ignore[index]
        api.create(labelled)
        await until(lambda: names(policies) == ["first", "third"])
        assert policies.state().problems == (
            "`first` in a configmap is not used: there is another one before it",
        )

    run_with(api, work)


def test_config_maps_are_held_to_what_a_cluster_would_take(
    api: KubeApi, caplog: pytest.LogCaptureFixture
) -> None:
    """No API server has looked at what is in them."""
    good = [policy("third", "object.metadata.name == 'y'"), binding("third")]
    bad = [policy("third", "object.("), binding("third")]
    path = "/api/v1/namespaces/default/configmaps/x"

    async def work(policies: ClusterPolicies) -> None:
        api.request("DELETE", f"{POLICIES}/first")
        labelled = config_map("x", **{"all.yaml": "\n---\n".join(map(str, good))})
        labelled["metadata"]["labels"] = {"celadon.dev/policies": ""}  # type: ignore[index]
        api.create(labelled)
        await until(lambda: names(policies) == ["third"])
        api.request("PATCH", path, {"data": {"all.yaml": "\n---\n".join(map(str, bad))}})
        await until(lambda: policies.state().problems)
        (problem,) = policies.state().problems
        assert problem.startswith(
            "configmap `x`, `all.yaml`, line 1: ValidatingAdmissionPolicy.adm"
        )
        assert "spec.validations[0].expression" in problem
        found = await verdict(policies)
        assert found.message.endswith("denied request: not third"), "the old version stays"
        assert policies.state().failed_loads == 1
        told = [getattr(one, "celadon_fields", {}).get("err") for one in caplog.records]
        assert told.count(problem) == 1
        api.request("PATCH", path, {"data": {"all.yaml": "\n---\n".join(map(str, good))}})
        await until(lambda: not policies.state().problems)
        assert policies.state().failed_loads == 1, "a counter never falls"

    run_with(api, work)


def test_a_binding_may_select_namespaces(api: KubeApi) -> None:
    selector = {"namespaceSelector": {"matchLabels": {"strict": "yes"}}}
    api.create(policy("second", "false"), binding("second", matchResources=selector))
    api.request("DELETE", f"{POLICIES}/first")

    async def work(policies: ClusterPolicies) -> None:
        assert (await verdict(policies)).allowed
        api.request(
            "PATCH", "/api/v1/namespaces/default", {"metadata": {"labels": {"strict": "yes"}}}
        )
        await until(lambda: not asyncio_verdict(policies).allowed)

    run_with(api, work)


def asyncio_verdict(policies: ClusterPolicies) -> Verdict:
    rules = policies.rulebook()
    assert rules is not None
    return Decider(CREATE, rules).verdict()


def test_a_namespace_in_no_cache_is_asked_for(api: KubeApi) -> None:
    api.create(policy("second", "namespaceObject.metadata.name != 'later'"), binding("second"))
    api.request("DELETE", f"{POLICIES}/first")
    request = Request(CREATE.operation, CREATE.kind, CREATE.resource, namespace="later", object={})

    async def work(policies: ClusterPolicies) -> None:
        missing = await verdict(policies, request)
        assert (missing.code, missing.message) == (404, 'namespaces "later" not found')
        policies.caches.namespaces._objects.pop("", None)  # as if the cache lagged behind
        api.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "later"}})
        policies.caches.namespaces._objects.get("", {}).pop("later", None)
        assert (await verdict(policies, request)).message.endswith("not second")

    run_with(api, work)


def test_the_authorizer_is_asked(api: KubeApi) -> None:
    expression = (
        "authorizer.group('').resource('secrets').namespace('default').check('get').allowed()"
    )
    api.create(policy("second", expression), binding("second"))
    api.request("DELETE", f"{POLICIES}/first")
    root = Request(**{**_members(CREATE), "user": User("root", ("system:masters",))})

    async def work(policies: ClusterPolicies) -> None:
        assert not (await verdict(policies)).allowed
        assert (await verdict(policies, root)).allowed
        assert policies.authorizer.asked == 2
        await verdict(policies)
        assert policies.authorizer.asked == 2

    run_with(api, work)


def changing(name: str, expression: str, **spec: Any) -> list[dict[str, Any]]:
    """A mutating policy, and its binding."""
    mutation = {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": expression}}
    meta = {"apiVersion": GROUP, "metadata": {"name": name}}
    made = {
        "matchConstraints": {"resourceRules": RULES},
        "reinvocationPolicy": "Never",
        "mutations": [mutation],
        **spec,
    }
    return [
        {**meta, "kind": "MutatingAdmissionPolicy", "spec": made},
        {**meta, "kind": "MutatingAdmissionPolicyBinding", "spec": {"policyName": name}},
    ]


async def patch(policies: ClusterPolicies, request: Request = CREATE) -> list[dict[str, Any]]:
    rules = policies.rulebook()
    assert rules is not None
    assert rules.mutation is not None
    mutator = Mutator(request, rules.mutation, rules.world())
    try:
        found = mutator.verdict()
    except Unanswered as question:
        found = await mutator.settled(question)
    assert found.allowed
    return [dict(one) for one in mutator.patch]


def changing_names(policies: ClusterPolicies) -> list[str]:
    """None as long as the binding has not come, too; there is another one, of another type."""
    rules = policies.rulebook()
    if rules is None or rules.mutation is None:
        return []
    found = [one.name for one in rules.mutation.engine.policies]
    return found if rules.bindings == 2 or not found else []


LABELLED = "Object{metadata: Object.metadata{labels: {'team': %s}}}"


def test_policies_that_change_objects_come_and_go(api: KubeApi) -> None:
    """With params of the cluster, whose kind only they name."""
    secrets = {"apiVersion": "v1", "kind": "ConfigMap"}
    first = changing("label", LABELLED % "params.data.team", paramKind=secrets)
    first[1]["spec"]["paramRef"] = {"name": "team", "parameterNotFoundAction": "Deny"}

    async def work(policies: ClusterPolicies) -> None:
        assert await patch(policies) == []
        api.request("DELETE", f"{POLICIES}/first")
        api.create(config_map("team", team="blue"), *first)
        await until(lambda: changing_names(policies) == ["label"])
        kept = {"configmaps", "params/configmaps"}  # policies, and their params
        await until(lambda: kept <= policies.state().cache_ages.keys())
        assert await patch(policies) == [
            {"op": "add", "path": "/metadata/labels", "value": {"team": "blue"}}
        ]
        api.request(
            "DELETE", "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies/label"
        )
        await until(lambda: changing_names(policies) == [])
        assert await patch(policies) == []
        assert not policies.caches.params

    run_with(api, work)


def test_config_maps_have_policies_that_change_objects_too(api: KubeApi) -> None:
    text = "\n---\n".join(map(str, changing("label", LABELLED % "'blue'")))

    async def work(policies: ClusterPolicies) -> None:
        labelled = config_map("x", **{"all.yaml": text})
        labelled["metadata"]["labels"] = {"celadon.dev/policies": ""}  # type: ignore[index]
        api.create(labelled)
        await until(lambda: changing_names(policies) == ["label"])
        assert len(await patch(policies)) == 1

    run_with(api, work)


def test_custom_resources_are_changed_by_their_schemas(api: KubeApi) -> None:
    rules = [{**RULES[0], "apiGroups": ["example.com"], "resources": ["limits"]}]
    configuration = "Object{most: object.most + 1}"
    request = Request(
        Operation.CREATE,
        GroupVersionKind("example.com", "v1", "Limit"),
        GroupVersionResource("example.com", "v1", "limits"),
        name="l",
        namespace="default",
        object=limit(1),
        user=CREATE.user,
    )
    api.create(
        DEFINITION, *changing("more", configuration, matchConstraints={"resourceRules": rules})
    )

    async def work(policies: ClusterPolicies) -> None:
        assert await patch(policies, request) == [{"op": "replace", "path": "/most", "value": 2}]

    run_with(api, work)


def _members(request: Request) -> dict[str, Any]:
    named = ("operation", "kind", "resource", "name", "namespace", "object")
    return {name: getattr(request, name) for name in named}


DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "limits.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "limits", "kind": "Limit"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {"most": {"type": "integer"}},
                    }
                },
            }
        ],
    },
}


def limit(most: int) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Limit",
        "metadata": {"name": "l", "namespace": "default"},
        "most": most,
    }


def test_params_of_a_kind_that_is_defined_later(api: KubeApi) -> None:
    kind = {"apiVersion": "example.com/v1", "kind": "Limit"}
    api.request("DELETE", f"{POLICIES}/first")
    api.create(
        policy("second", "size(object.metadata.name) <= params.most", paramKind=kind),
        binding("second", paramRef={"name": "l", "parameterNotFoundAction": "Deny"}),
    )

    async def work(policies: ClusterPolicies) -> None:
        assert (
            "failed to find resource referenced by paramKind" in (await verdict(policies)).message
        )
        api.create(DEFINITION)
        await until(lambda: len(policies.caches.params) == 1)
        assert "no params found" in (await verdict(policies)).message
        api.create(limit(1))
        await until(lambda: list(next(iter(policies.caches.params.values()))))
        assert (await verdict(policies)).message.endswith("not second")
        api.request("PATCH", "/apis/example.com/v1/namespaces/default/limits/l", {"most": 5})
        await until(lambda: asyncio_verdict(policies).allowed)
        api.request("DELETE", f"{POLICIES}/second")
        await until(lambda: not policies.caches.params)

    run_with(api, work)


def test_params_that_must_not_be_read_harm_only_their_policy(api: KubeApi) -> None:
    """Whoever may write a policy must not be able to take the webhook out of service."""
    api.create(*READER)
    reader = api.as_user("reader")
    secret = {"apiVersion": "v1", "kind": "Secret"}
    bound = {"name": "s", "parameterNotFoundAction": "Allow"}

    async def run() -> None:
        async with client_of(reader) as client, source(client) as policies:
            await until(lambda: not policies.state().missing)
            api.create(
                policy("second", "params == null", paramKind=secret),
                binding("second", paramRef=bound, matchResources={"resourceRules": RULES}),
            )
            await until(lambda: policies.state().remarks and bindings(policies) == 2)
            state = policies.state()
            assert (state.missing, state.problems) == ((), ())
            (remark,) = state.remarks
            assert remark.startswith("params cannot be read: secrets is forbidden")
            with pytest.raises(Unanswerable, match="secrets: secrets is forbidden"):
                await verdict(policies)
            other = {**_members(CREATE), "operation": Operation.DELETE}
            assert (await verdict(policies, Request(**other))).allowed

    asyncio.run(run())


READER: list[dict[str, Any]] = [
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "reader"},
        "rules": [
            {
                "apiGroups": ["", "apiextensions.k8s.io", "admissionregistration.k8s.io"],
                "resources": [
                    *("namespaces", "configmaps", "customresourcedefinitions"),
                    *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
                    *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
                ],
                "verbs": ["list", "watch"],
            }
        ],
    },
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "reader"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": "reader",
        },
        "subjects": [{"kind": "User", "name": "reader", "apiGroup": "rbac.authorization.k8s.io"}],
    },
]


def test_nothing_is_decided_by_caches_that_are_too_old(api: KubeApi) -> None:
    async def run() -> None:
        async with client_of(api.admin) as client:
            now = [0.0]
            settings = PolicySettings("1.36", "default", 60.0)
            policies = ClusterPolicies(client, settings, monotonic=lambda: now[0])
            running = asyncio.create_task(policies.run())
            await until(lambda: policies.rulebook() is not None)
            rules = policies.rulebook()
            assert rules is not None
            now[0] = 61.0
            assert policies.rulebook() is None
            assert any("not known for 61s" in one for one in policies.state().missing)
            with pytest.raises(
                Unanswerable, match=r"^namespaces: not known for 61s: the cluster does not answer$"
            ):
                rules.world().namespace("default")
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())


def test_what_is_waited_for_has_its_reason(api: KubeApi) -> None:
    nobody = api.as_user("nobody")

    async def run() -> None:
        async with client_of(nobody) as client:
            policies = ClusterPolicies(client, PolicySettings("1.36", "default", 60.0))
            running = asyncio.create_task(policies.run())
            await until(
                lambda: all("forbidden" in one for one in list(policies.state().missing)[:5])
            )
            assert policies.rulebook() is None
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())


class UpgradedCluster(ClusterClient):
    """A client of a cluster whose API servers are replaced by newer ones."""

    def __init__(self, location: ClusterLocation) -> None:
        super().__init__(location)
        self.release = {"major": "1", "minor": "32+"}

    async def get(self, path: str, query: Query | None = None) -> Any:
        return self.release if path == "/version" else await super().get(path, query)


def test_the_release_is_that_of_the_cluster_and_follows_upgrades() -> None:
    """`distinct` of lists came with 1.34."""
    documents = [policy("first", "['a', 'a'].distinct().size() == 1"), binding("first")]

    async def run(access: ClientAccess) -> None:
        client = UpgradedCluster(given_cluster(access.kubeconfig, "", {}, time.time))
        policies = ClusterPolicies(client, PolicySettings("", "default", 60.0))
        running = asyncio.create_task(policies.run())
        await until(lambda: policies.rulebook() is not None)
        before = policies.rulebook()
        assert before is not None
        assert before.release == "1.32"
        assert "undeclared reference to 'distinct'" in (await verdict(policies)).message
        client.release = {
            "major": "1",
            "minor": "36",
            "emulationMajor": "1",
            "emulationMinor": "35",
        }
        await policies.release.ask()
        await until(lambda: policies.rulebook() is not before)
        after = policies.rulebook()
        assert after is not None
        assert after.release == "1.35"
        assert (await verdict(policies)).allowed
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await client.aclose()

    with KubeApi(documents) as api:
        asyncio.run(run(api.admin))


def test_a_cluster_whose_release_is_not_known_is_waited_for(api: KubeApi) -> None:
    class Silent(ClusterClient):
        async def get(self, path: str, query: Query | None = None) -> Any:
            return {} if path == "/version" else await super().get(path, query)

    async def run() -> None:
        client = Silent(given_cluster(api.kubeconfig, "", {}, time.time))
        policies = ClusterPolicies(client, PolicySettings("", "default", 60.0))
        running = asyncio.create_task(policies.run())
        waits = "the release of the cluster (the server does not say its version)"
        await until(lambda: policies.state().missing == (waits,))
        assert policies.rulebook() is None
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await client.aclose()

    asyncio.run(run())


def test_a_release_that_is_given_is_not_asked_for(api: KubeApi) -> None:
    async def run() -> None:
        async with client_of(api.admin) as client:
            policies = ClusterPolicies(client, PolicySettings("1.31", "default", 60.0))
            running = asyncio.create_task(policies.run())
            await until(lambda: policies.rulebook() is not None)
            rules = policies.rulebook()
            assert rules is not None
            assert rules.release == "1.31"
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())


UNNAMED = {key: value for key, value in policy("a", "true").items() if key in {"metadata", "spec"}}
REGISTERED: list[tuple[dict[str, Any], list[str], list[str]]] = [
    (policy("a", "true"), ["a"], []),
    (UNNAMED, ["a"], []),  # as lists of an API server have them
    ({**UNNAMED, "apiVersion": "admissionregistration.k8s.io/v1beta1"}, ["a"], []),
    (
        {**UNNAMED, "spec": 5},
        [],
        [
            'ValidatingAdmissionPolicy `a`: ValidatingAdmissionPolicy in version "v1" cannot be '
            "handled as a ValidatingAdmissionPolicy: json: cannot unmarshal number into Go struct "
            "field ValidatingAdmissionPolicy.spec of type v1.ValidatingAdmissionPolicySpec"
        ],
    ),
]


def registered(*policies: Any) -> RegisteredPolicies[Engine]:
    kinds = "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding"
    found = RegisteredPolicies(Engine(version="1.36"), kinds, policies, [binding("a")])  # type: ignore[arg-type]  # doubles of caches
    found.read({})
    return found


@pytest.mark.parametrize(("document", "policies", "problems"), REGISTERED)
def test_what_is_read_of_a_cluster(
    document: dict[str, Any], policies: list[str], problems: list[str]
) -> None:
    found = registered(document)
    assert [one.name for one in found.policies] == policies
    assert list(found.problems()) == problems
    assert [one.name for one in found.bindings] == ["a"]


def test_kinds_of_params_that_no_version_is_read_of_are_passed_over() -> None:
    named = ("a/b/c", "x.io/v1", "v1")
    found = registered(
        *(
            policy(f"p{number}", "true", paramKind={"apiVersion": version, "kind": "X"})
            for number, version in enumerate(named)
        ),
        policy("none", "true"),
    )
    kinds = [GroupVersionKind("x.io", "v1", "X"), GroupVersionKind("", "v1", "X")]
    assert list(found.param_kinds()) == kinds


def test_policies_that_nobody_has_heard_of_for_long_are_not_in_force(api: KubeApi) -> None:
    now = 1000.0

    async def run() -> None:
        nonlocal now
        async with client_of(api.admin) as client:
            settings = PolicySettings("1.36", "default", 60.0)
            policies = ClusterPolicies(client, settings, monotonic=lambda: now)
            running = asyncio.create_task(policies.run())
            await until(lambda: policies.rulebook() is not None)
            now += 60.0
            assert policies.rulebook() is not None
            now += 0.5
            assert policies.rulebook() is None
            assert policies.state().missing == tuple(
                f"{name}, not known for 60s"
                for name in (
                    *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
                    *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
                    "configmaps",
                )
            )
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())


class Gone:
    """A cluster that nobody reaches, or that refuses."""

    def __init__(self, failure: Exception) -> None:
        self.failure = failure

    async def get(self, path: str, *given: Any, **more: Any) -> dict[str, Any]:
        raise self.failure

    request = get

    async def pages(self, path: str, query: Query) -> AsyncIterator[Any]:
        for failure in [self.failure]:
            raise failure
        yield None


def test_a_release_that_nobody_tells(caplog: pytest.LogCaptureFixture) -> None:
    release = FollowedRelease(Gone(ClusterUnreachable("gone")))  # type: ignore[arg-type]
    for _ in range(2):
        assert not asyncio.run(release.ask())
    assert (release.is_known, release.failure) == (False, "gone")
    (record,) = caplog.records
    assert record.message == "the cluster cannot be asked for its release"
    assert vars(record)["celadon_fields"] == {"err": "gone"}


def test_what_is_said_of_policies(api: KubeApi, caplog: pytest.LogCaptureFixture) -> None:
    def told(text: str) -> list[Any]:
        return [vars(one)["celadon_fields"] for one in caplog.records if one.message == text]

    taken = "the policies of the cluster were taken in"
    wrong = "something of the cluster's policies cannot be used"

    async def work(policies: ClusterPolicies) -> None:
        assert told(taken) == [{"policies": 1, "bindings": 1}]
        before = policies.stamp()
        labelled = config_map("x", **{"all.yaml": str(policy("first", "true"))})
        labelled["metadata"]["labels"] = {"celadon.dev/policies": ""}  # type: ignore[index]
        api.create(labelled)
        await until(lambda: policies.state().problems)
        problem = "`first` in a configmap is not used: there is another one before it"
        assert told(wrong) == [{"err": problem}]
        assert policies.stamp() != before
        await until(lambda: policies.state().loads > 1)
        assert len(told(taken)) == 1, "there are as many as before"

    with caplog.at_level(logging.INFO, "celadon.apiserver"):
        run_with(api, work)


def test_what_is_waited_for(caplog: pytest.LogCaptureFixture) -> None:
    async def run() -> None:
        settings = PolicySettings("", "default", 60.0)
        policies = ClusterPolicies(Gone(ClusterUnreachable("gone")), settings)  # type: ignore[arg-type]
        names = (
            *("validatingadmissionpolicies", "validatingadmissionpolicybindings"),
            *("mutatingadmissionpolicies", "mutatingadmissionpolicybindings"),
            *("configmaps", "namespaces", "customresourcedefinitions"),
        )
        served = "the discovery of what is served"
        missing = (*names, served, "the release of the cluster")
        assert policies.state().missing == missing
        running = asyncio.create_task(policies.run())
        failed = (*(f"{one} (gone)" for one in names), served, "the release of the cluster (gone)")
        await until(lambda: policies.state().missing == failed)
        assert policies.rulebook() is None
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)

    asyncio.run(run())
    texts = {one.message: vars(one)["celadon_fields"] for one in caplog.records}
    for text in (
        "the cluster cannot be asked what it serves",
        "the cluster cannot be asked for its release",
    ):
        assert texts[text] == {"err": "gone"}
