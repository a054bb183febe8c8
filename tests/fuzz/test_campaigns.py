"""Short campaigns; `make fuzz` runs long ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial

import pytest

from tests.fuzz import (
    applies,
    bodies,
    definitions,
    deletions,
    heads,
    identities,
    messages,
    nodes,
    operations,
    policy_decisions,
    policy_matches,
    policy_mutations,
    policy_values,
    policy_writes,
    reads,
    rights,
    scenarios,
    type_checks,
    watches,
    webhook_calls,
    writes,
)
from tests.fuzz.__main__ import main
from tests.fuzz.decisions import campaign, difference
from tests.fuzz.pieces import HOLE, Piece, shrunk
from tests.fuzz.servers import SENT_JSON, InProcess, Reply, Server, release_of
from tests.fuzz.typed_expressions import SIMPLEST
from tests.fuzz.variants import activations, disagreement
from tests.fuzz.variants import campaign as expressions

SEED = 20261122

FOUND_BEFORE = (
    "optional.none()[?semver('1.2.3').minor()]",
    "optional.of([])[object.l[9]].value()",
    "(true ? object.?zz.?a : dyn({}))[[].min()].orValue({})",
    "dyn([object.?s, object.?zz.?a][0][object])",
    "has([optional.of({'a': 1})][0].a)",
    "[1.5].map(x, object.sl.distinct())",
    "[optional.of({'a': {'b': 1}})].map(x, x.a[object.s])",
    "object.?zz.?a.orValue(optional.none())[dyn('')]",
    "[optional.of(quantity('1Gi'))].map(x, x).size()",
    "semver(dyn([]))",
    "(false ? optional.none() : {true: ip(object.ip)}[?true])",
    "optional.of(null).optMap(node, dyn(optional.of(url('https://a.b/c'))))[0]",
    "dyn(dyn(optional.of(0u).optMap(y, quantity('1Gi')))[timestamp(object.t)])",
    "dyn(b'') in {true: 1}",
    "[0u].transformList(object, c, null).map(list, has(object.s), 1u).exists(e1, true)",
    "dyn(0).startsWith('')",
    "object.?s.optMap(names, object.o.s).hasValue()",
    "uint(-(object.l.first().value()))",
)


@pytest.fixture
def server() -> Iterator[Server]:
    running = InProcess()
    yield running
    running.close()


def test_ours_serves_the_release_it_is_compared_in() -> None:
    older = InProcess("1.31")
    assert release_of(older) == "1.31"
    older.close()


@pytest.mark.parametrize("text", FOUND_BEFORE)
def test_what_was_found(text: str) -> None:
    assert not disagreement(text, activations())


@pytest.mark.thorough
def test_expressions() -> None:
    assert [one for one in expressions(SEED, 400) if one] == []


@pytest.mark.thorough
@pytest.mark.parametrize("make", [scenarios.policy_scenario, scenarios.schema_scenario])
def test_decisions(make: scenarios.Maker, server: Server) -> None:
    assert [one for one in campaign(server, make, SEED, 15) if one] == []


class Lenient(InProcess):
    """A server that takes everything."""

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] = SENT_JSON
    ) -> Reply:
        reply = super().call(method, path, body, headers)
        return Reply(201, {}, (), {}) if "dryRun" in path else reply


def test_a_server_that_decides_otherwise_is_noticed() -> None:
    scenario = scenarios.schema_scenario(1)
    scenario["objects"] = [{**scenario["objects"][0], "spec": 7}]
    running = Lenient()
    try:
        assert "allowed=False" in difference(running, scenario)
    finally:
        running.close()


class Strange(InProcess):
    """A server that knows nobody."""

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] = SENT_JSON
    ) -> Reply:
        return Reply(401, {"message": "Unauthorized"})


class Slow(InProcess):
    """A server that needs time: names are not free at once, nor are definitions served."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: Counter[str] = Counter()

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] = SENT_JSON
    ) -> Reply:
        self.asked[path] += 1
        if method == "POST" and self.asked[path] <= 3:
            return Reply(404 if "dryRun" in path else 409, {"message": "not yet"})
        return super().call(method, path, body, headers)


@pytest.mark.parametrize(("kind", "expected"), [(Strange, "401: Unauthorized"), (Slow, "")])
def test_what_is_not_about_the_scenario(kind: type[InProcess], expected: str) -> None:
    running = kind()
    try:
        details = difference(running, scenarios.schema_scenario(1))
        assert details == (expected and f"the server answers {expected}")
    finally:
        running.close()


def test_a_server_that_cannot_be_reached(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["policies", "--count", "1", "--server", "https://127.0.0.1:1"]) == 2
    assert "Connection refused" in capsys.readouterr().err


def test_a_wrong_program_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.properties.interpreter.Interpreter.logic", lambda *_: True)
    assert "interpreter" in disagreement("false && object.b", activations())


def test_texts_get_smaller() -> None:
    zero, one = Piece("int", "0"), Piece("int", "object.l[9]")
    whole = Piece(
        "int", f"({HOLE} + {HOLE})", (Piece("int", f"({HOLE} - {HOLE})", (one, one)), zero)
    )
    assert whole.text == "((object.l[9] - object.l[9]) + 0)"
    assert whole.size == 5
    assert shrunk(whole, SIMPLEST, lambda text: "l[9]" in text).text == "object.l[9]"
    assert shrunk(whole, SIMPLEST, lambda text: "+" in text).text == "(0 + 0)"
    assert shrunk(whole, SIMPLEST, lambda text: False) is whole


def test_scenarios_get_smaller() -> None:
    scenario = {"objects": [{"a": 1}, {"b": [1, 2]}], "rest": {}}
    small = scenarios.shrunk(scenario, lambda one: 2 in str(one).count("2") * [2])
    assert small == {"objects": [{"b": [2]}]}


def test_the_same_seed_makes_the_same() -> None:
    assert scenarios.policy_scenario(5) == scenarios.policy_scenario(5)
    assert scenarios.schema_scenario(5) == scenarios.schema_scenario(5)


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["expressions", "schemas", "--count", "3", "--seed", "7"]) == 0
    assert capsys.readouterr().out == ("expressions: 3 tried\nschemas: 3 tried\n0 disagreements\n")


MAPS = "/api/v1/namespaces/{}/configmaps"
SERVICES = "/api/v1/namespaces/{}/services"
WRITTEN = {
    MAPS: [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"a": "b"}}
    ],
    SERVICES: [
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": {"name": "s"},
            "spec": {"type": "NodePort", "ports": [{"port": 80}]},
        }
    ],
}


class Careless(InProcess):
    """A server that takes every PUT of a ConfigMap as it stands."""

    def call(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] = SENT_JSON
    ) -> Reply:
        if method == "PUT" and "configmaps" in path:
            return Reply(200, body)
        return super().call(method, path, body, headers)


def test_two_servers_that_answer_alike_do_not_differ() -> None:
    ours, real = InProcess(), InProcess()
    try:
        found = list(writes.campaign(ours, real, SEED, 30, WRITTEN))
        assert [one for one in found if one] == []
        careless = writes.campaign(ours, Careless(), SEED + 1, 30, {MAPS: WRITTEN[MAPS]})
        assert {one.method for one in careless if one} == {"PUT"}
    finally:
        ours.close()
        real.close()


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("campaign", "count"),
    [
        pytest.param(writes.of_every_kind, 8, id="kinds"),
        pytest.param(policy_writes.campaign, 8, id="writes"),
        pytest.param(applies.campaign, 8, id="applies"),
        pytest.param(policy_decisions.campaign, 2, id="decisions"),
        pytest.param(policy_matches.campaign, 3, id="matches"),
        pytest.param(policy_values.campaign, 20, id="values"),
        pytest.param(type_checks.campaign, 4, id="types"),
        pytest.param(deletions.campaign, 6, id="deletions"),
        pytest.param(deletions.lives, 6, id="lives"),
        pytest.param(policy_mutations.campaign, 6, id="mutations"),
        pytest.param(operations.campaign, 4, id="operations"),
        pytest.param(nodes.campaign, 1, id="nodes"),
        pytest.param(identities.campaign, 3, id="identities"),
        pytest.param(rights.campaign, 3, id="rights"),
        pytest.param(heads.campaign, 60, id="heads"),
        pytest.param(partial(reads.campaign, given=WRITTEN), 30, id="reads"),
        pytest.param(partial(bodies.campaign, recorded=WRITTEN), 40, id="bodies"),
        pytest.param(partial(messages.campaign, given=WRITTEN), 20, id="messages"),
        pytest.param(definitions.campaign, 2, id="definitions"),
        pytest.param(watches.campaign, 6, id="watches"),
        pytest.param(webhook_calls.campaign, 2, id="webhooks"),
    ],
)
def test_campaigns_find_nothing_between_two_alike(campaign: writes.Campaign, count: int) -> None:
    ours, real = InProcess(), InProcess()
    try:
        found = list(campaign(ours, real, SEED, count))
    finally:
        ours.close()
        real.close()
    assert len(found) >= count
    assert [str(one) for one in found if one] == []


def test_writes_need_a_real_server(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["writes"])
    assert "--server" in capsys.readouterr().err
