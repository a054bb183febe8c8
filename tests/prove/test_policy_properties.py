"""Properties of policies: what is proved of them, and the requests against them."""

from __future__ import annotations

import pytest

pytest.importorskip("z3")

from celadon.cel import Environment
from celadon.kube import JsonObject
from celadon.kube.library import environment
from celadon.prove import Comparison, Finding, Properties, Property, Standard, Subject
from celadon.prove.example_search import Claim, free_loops
from celadon.prove.policy_properties import side_of
from tests.prove.test_policy_differences import LIMIT, PLANTED, REF, SECONDS, binding, side
from tests.prove.test_policy_questions import policy

NO_HOST = policy("!object.spec.?hostNetwork.orValue(false)")
IMAGES = "object.spec.containers.all(c, c.image.startsWith('r.io/'))"
RULES: dict[str, JsonObject] = {
    resource: {
        "apiGroups": [group],
        "apiVersions": ["*"],
        "operations": ["CREATE"],
        "resources": [resource],
    }
    for resource, group in (("pods", ""), ("deployments", "apps"))
}


def answer(document: JsonObject, about: Property) -> Comparison:
    """The answer about one policy and one endpoint."""
    assert not list(about.complaints("1.36"))
    (found,) = Properties(side(document), seconds=SECONDS).answers(about)
    return found


def claim(
    that: str,
    *assume: str,
    of: Subject = Subject.ADMITTED,
    variables: tuple[tuple[str, str], ...] = (),
    resource: str = "pods",
) -> Property:
    """A property."""
    return Property("p", that, (RULES[resource],), of, assume, variables)


SAME, DIFFERS = Finding.SAME, Finding.DIFFERS
REFUSED = Subject.REFUSED


@pytest.mark.parametrize(
    ("document", "about", "finding"),
    [
        (NO_HOST, claim("!object.spec.?hostNetwork.orValue(false)"), SAME),
        (NO_HOST, claim("!object.spec.?hostPID.orValue(false)"), DIFFERS),
        (NO_HOST, claim("false", "has(object.spec.hostNetwork) && object.spec.hostNetwork"), SAME),
        (NO_HOST, claim("object.spec.hostNetwork == true", of=REFUSED), SAME),
        (NO_HOST, claim("request.namespace != 'kube-system'", of=REFUSED), DIFFERS),
        (NO_HOST, claim("false", "request.namespace == 'kube-system'", of=REFUSED), DIFFERS),
        (NO_HOST, claim("false", "!has(object.spec.hostNetwork)", of=REFUSED), SAME),
        (policy(IMAGES), claim("object.spec.containers.all(c, c.image != 'a')"), SAME),
        (policy(IMAGES), claim("variables.all.all(c, c.image != 'a')",
                               variables=(("all", "object.spec.containers"),)), SAME),
        (policy(IMAGES), claim("object.spec.?initContainers.orValue([]).all(c, c.image != 'a')"),
         DIFFERS),
        # A comment ends with its line.
        (NO_HOST, claim("!object.spec.?hostNetwork.orValue(false) // nobody", "true // all"), SAME),
        (NO_HOST, claim("object.spec.hostNetwork == true //", "true //", of=REFUSED), SAME),
        # An error counts against a property.
        (NO_HOST, claim("object.metadata.labels.a == 'b' || true"), SAME),
        (NO_HOST, claim("object.metadata.labels['a'] != '?'"), DIFFERS),
    ],
)  # fmt: skip
def test_properties(document: JsonObject, about: Property, finding: Finding) -> None:
    found = answer(document, about)
    assert found.finding is finding, found
    assert (found.example is not None) == (finding is DIFFERS)


def test_examples_are_decided_by_the_engine() -> None:
    found = answer(NO_HOST, claim("!object.spec.?hostPID.orValue(false)"))
    assert found.example is not None
    assert (found.example.old.denied, found.example.new.denied) == (True, False)
    assert found.example.manifest is not None
    assert found.example.manifest["spec"]["hostPID"] is True


@pytest.mark.parametrize(("right", "wrong", "direction"), PLANTED[:3])
def test_planted_mistakes_are_against_a_property(right: str, wrong: str, direction: object) -> None:
    assert answer(policy(right), claim(right)).finding is SAME
    found = answer(policy(wrong), claim(right))
    assert found.finding is DIFFERS
    assert found.example is not None
    assert found.example.complaint == ""


def test_params_are_those_of_files_or_any() -> None:
    given = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "limit", "namespace": "x"},
        "data": {"most": "3"},
    }
    of_files = side(LIMIT, binding(paramRef=REF), objects=(given,))
    about = claim("object.spec.replicas < 4", resource="deployments")
    for any_params, finding in ((False, SAME), (True, DIFFERS)):
        asked = Property("p", about.that, about.rules, any_params=any_params)
        (found,) = Properties(of_files, seconds=SECONDS).answers(asked)
        assert found.finding is finding


@pytest.mark.parametrize(
    ("about", "path"),
    [
        (claim("object.spec.x +"), ("that",)),
        (claim("1"), ("that",)),
        (claim("true", "true", "nonsense"), ("assume", 1)),
        (claim("true", variables=(("x", "nonsense"),)), ("variables", 0, "expression")),
        (claim("params.x == 1"), ("that",)),
        (claim("variables.x"), ("that",)),
    ],
)
def test_what_does_not_compile_is_said(about: Property, path: tuple[str | int, ...]) -> None:
    assert [where for where, _ in about.complaints("1.36")] == [path]


@pytest.mark.parametrize(
    "about",
    [
        claim("variables.x", variables=(("x", "true"), ("y", "variables.x"))),
        claim("authorizer.path('/').check('get').allowed()"),
        # What came with the release is known in what is stored, and not taken yet.
        claim("[1].distinct() == [1]"),
        claim("true", "[1].distinct() == [1]"),
        claim("true", variables=(("x", "[1].distinct()"),)),
    ],
)
def test_what_compiles(about: Property) -> None:
    assert list(about.complaints("1.34")) == []


# --- Standards ---


def test_a_standard_implies_itself_and_no_more() -> None:
    """On a few checks, one with annotations, one with pods and containers; thoroughly below."""
    standard = Standard("restricted", 36)
    names = ("hostNamespaces", "runAsNonRoot", "restrictedVolumes")
    mine = {**standard.asked(*names), "metadata": {"name": "mine"}}
    policies = [standard.asked(one, operations=["CREATE"]) for one in (*names, "hostPorts")]
    found = dict(Properties(side_of(mine, "1.36"), seconds=SECONDS).refuses_all(policies))
    assert [found[number].finding for number in range(4)] == [SAME, SAME, SAME, DIFFERS]
    assert all(not one.bounded for one in found.values())


@pytest.mark.thorough
@pytest.mark.parametrize("minor", range(30, 37))
@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_standards_are_implied_by_themselves(level: str, minor: int) -> None:
    """Every check of every release is proved, without a bound."""
    standard = Standard(level, minor)
    mine = {**standard.asked(), "metadata": {"name": "mine"}}
    properties = Properties(side_of(mine, f"1.{minor}"), seconds=SECONDS)
    policies = [standard.asked(one, operations=["CREATE"]) for one in standard.checks]
    for number, found in properties.refuses_all(policies):
        assert found.finding is SAME, list(standard.checks)[number]
    (back,) = properties.refuses_only(standard.asked(operations=["CREATE"]))
    assert back.finding is SAME


@pytest.mark.parametrize("level", ["baseline", "restricted"])
def test_each_check_that_is_left_out_is_missed(level: str) -> None:
    standard = Standard(level, 36)
    name = {"baseline": "sysctls", "restricted": "restrictedVolumes"}[level]
    rest = [one for one in standard.checks if one != name][:3]
    mine = {**standard.asked(*rest), "metadata": {"name": "mine"}}
    policies = [standard.asked(name, operations=["CREATE"])]
    ((_, found),) = Properties(side_of(mine, "1.36"), seconds=SECONDS).refuses_all(policies)
    assert found.finding is DIFFERS


# --- Witnesses ---

ENV: Environment = environment("1.36")


@pytest.mark.parametrize(
    ("text", "value", "holds", "free"),
    [
        ("[1].all(x, x > 0)", True, True, 1),
        ("[1].all(x, x > 0)", True, False, 0),
        ("[1].all(x, x > 0)", False, False, 1),
        ("[1].all(x, x > 0)", False, True, 0),
        ("[1].exists(x, x > 0)", True, True, 0),
        ("[1].exists(x, x > 0)", True, False, 1),
        ("!([1].exists(x, x > 0))", True, True, 1),
        ("[1].exists_one(x, x > 0)", True, True, 0),
        ("[1].all(x, [2].all(y, x < y))", True, True, 2),
        ("[1].all(x, [2].exists(y, x < y))", True, True, 1),
        ("[1].all(x, x > 0) || [1].exists(x, x > 0)", True, True, 1),
        ("[1].all(x, x > 0) == true", True, True, 0),
        ("true ? [1].all(x, x > 0) : false", True, True, 1),
        ("([1].all(x, x > 0)) ? true : false", True, True, 0),
        ("[1].filter(x, x > 0).all(y, y > 0)", True, True, 2),
        ("[1].filter(x, x > 0).all(y, y > 0)", True, False, 1),
        ("[1].filter(x, x > 0).all(y, y > 0)", False, False, 1),
        ("[1].filter(x, x > 0).size() == 0", True, True, 0),
    ],
)
def test_loops_without_witnesses(text: str, value: bool, holds: bool, free: int) -> None:
    checked = ENV.compile(text).ast
    assert checked is not None
    assert len(free_loops(checked.root, Claim(value, holds))) == free
