"""Two sets of policies compared: what is proved the same, and what tells the others apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

pytest.importorskip("z3")

from celadon.admission import Engine, decode_binding, decode_policy
from celadon.kube import JsonObject
from celadon.prove import Comparison, Differences, Direction, Finding, Side
from tests.prove.test_policy_questions import policy

SECONDS = 120
"""How long an answer may take: the machine is busy."""

CONTAINERS = "object.spec.containers"


def binding(name: str = "b", actions: Sequence[str] = ("Deny",), **spec: object) -> JsonObject:
    """A binding of the policy `p`."""
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": name},
        "spec": {"policyName": "p", "validationActions": list(actions), **spec},
    }


def changed(document: JsonObject, **spec: object) -> JsonObject:
    """A policy with other fields in its spec."""
    before = document["spec"]
    assert isinstance(before, Mapping)
    return {**document, "spec": {**before, **spec}}


def side(
    *documents: JsonObject, version: str | None = None, objects: tuple[JsonObject, ...] = ()
) -> Side:
    """Policies in force."""
    policies = [one for one in documents if str(one["kind"]).endswith("Policy")]
    bindings = [one for one in documents if one not in policies] or [binding()]
    return Side(
        Engine(
            [decode_policy(one).value for one in policies],
            [decode_binding(one).value for one in bindings],
            version,
        ),
        objects,
    )


def compared(old: Side, new: Side) -> dict[Direction, Comparison]:
    """The answers about two sides with one endpoint."""
    found = list(Differences(old, new, seconds=SECONDS).comparisons(tuple(Direction)))
    return {one.direction: one for one in found}


def findings(old: Side, new: Side) -> tuple[Finding, Finding]:
    """Whether the new one is looser, and stricter."""
    found = compared(old, new)
    return found[Direction.LOOSER].finding, found[Direction.STRICTER].finding


SAME, DIFFERS, UNDECIDED = Finding.SAME, Finding.DIFFERS, Finding.UNDECIDED
SELECTOR = {
    "matchPolicy": "Equivalent",
    "objectSelector": {},
    "namespaceSelector": {
        "matchExpressions": [
            {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system"]}
        ]
    },
}
VOLUMES = "object.spec.?volumes.orValue([])"
NO_HOST = policy("!object.spec.?hostNetwork.orValue(false)")


@pytest.mark.parametrize(
    ("old", "new", "looser", "stricter"),
    [
        (policy("object.spec.replicas <= 5", "deployments", "apps"),
         policy("object.spec.replicas < 6", "deployments", "apps"), SAME, SAME),
        (policy("object.spec.replicas <= 5", "deployments", "apps"),
         policy("object.spec.replicas < 5", "deployments", "apps"), SAME, DIFFERS),
        (policy("!(has(object.spec.hostNetwork) && object.spec.hostNetwork)"), NO_HOST,
         SAME, SAME),
        (NO_HOST, changed(NO_HOST, failurePolicy="Ignore"), SAME, SAME),
        (policy("object.spec.hostNetwork == true"),
         changed(policy("object.spec.hostNetwork == true"), failurePolicy="Ignore"), DIFFERS, SAME),
        (policy("false"), policy("false", conditions=("request.dryRun",)), DIFFERS, SAME),
        (policy("variables.x == true",
                variables=(("x", "object.spec.?hostPID.orValue(false)"),)),
         policy("object.spec.?hostPID.orValue(false) == true"), SAME, SAME),
        (policy("nonsense(object)"), policy("false"), SAME, SAME),
        # A quantity that is read from digits is their number.
        (policy("quantity(string(object.spec.replicas)).compareTo(quantity('5')) != 1",
                "deployments", "apps"),
         policy("object.spec.replicas <= 5", "deployments", "apps"), SAME, SAME),
        (policy("quantity(string(object.spec.replicas)).isLessThan(quantity('5k'))",
                "deployments", "apps"),
         policy("object.spec.replicas <= 5000", "deployments", "apps"), DIFFERS, SAME),
        # Whether there are so few items is asked of lists of any length.
        (policy(f"{VOLUMES}.filter(v, has(v.hostPath)).size() == 0"),
         policy(f"!{VOLUMES}.exists(v, has(v.hostPath))"), SAME, SAME),
        (policy(f"1 >= size({VOLUMES}.filter(v, has(v.hostPath)))"),
         policy(f"{VOLUMES}.exists_one(v, has(v.hostPath))"), SAME, DIFFERS),
        (policy(f"{VOLUMES}.map(v, v.name).size() > 2"),
         policy(f"size({VOLUMES}) > 1"), DIFFERS, SAME),
        (policy("authorizer.group('').resource('pods').check('get').allowed()"),
         policy("authorizer.group('').resource('pods').check('get').allowed() && true"),
         UNDECIDED, UNDECIDED),
    ],
)  # fmt: skip
def test_policies(old: JsonObject, new: JsonObject, looser: Finding, stricter: Finding) -> None:
    assert findings(side(old), side(new)) == (looser, stricter)


@pytest.mark.parametrize(
    ("old", "new", "looser", "stricter"),
    [
        (binding(), binding(actions=("Warn",)), DIFFERS, SAME),
        (binding(actions=("Audit",)), binding(actions=("Audit", "Warn")), SAME, DIFFERS),
        (binding(actions=("Deny",)), binding(actions=("Deny", "Audit")), SAME, SAME),
        (binding(), binding(matchResources=SELECTOR), DIFFERS, SAME),
        (binding(), binding("another"), SAME, SAME),
    ],
)  # fmt: skip
def test_bindings(old: JsonObject, new: JsonObject, looser: Finding, stricter: Finding) -> None:
    assert findings(side(NO_HOST, old), side(NO_HOST, new)) == (looser, stricter)


def test_namespaces_that_are_left_out_are_found() -> None:
    found = compared(side(NO_HOST), side(NO_HOST, binding(matchResources=SELECTOR)))
    example = found[Direction.LOOSER].example
    assert example is not None
    assert example.request.namespace == "kube-system"


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        ({"matchLabels": {"team": "a"}}, {"team"}),
        ({"matchExpressions": [{"key": "team", "operator": "Exists"}]}, {"team"}),
        ({"matchExpressions": [{"key": "x", "operator": "DoesNotExist"}]}, set()),
    ],
)
def test_labels_are_given_to_objects(labels: JsonObject, wanted: set[str]) -> None:
    matched = {"matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": labels}
    nowhere = {**matched, "objectSelector": {"matchLabels": {"a": "b", "c": "d"}}}
    old = side(policy("false"), binding(matchResources=matched))
    found = compared(old, side(policy("false"), binding(matchResources=nowhere)))
    example = found[Direction.LOOSER].example
    assert example is not None
    assert example.manifest is not None
    metadata = example.manifest["metadata"]
    assert isinstance(metadata, dict)
    labels = metadata.get("labels", {})
    assert isinstance(labels, dict)
    assert set(labels) == wanted


LIMIT = policy(
    "object.spec.replicas <= int(params.data.most)",
    "deployments",
    "apps",
    params={"apiVersion": "v1", "kind": "ConfigMap"},
)
REF = {"name": "limit", "namespace": "x", "parameterNotFoundAction": "Allow"}


def test_params_that_are_missing() -> None:
    strict = {**REF, "parameterNotFoundAction": "Deny"}
    found = findings(side(LIMIT, binding(paramRef=REF)), side(LIMIT, binding(paramRef=strict)))
    assert found == (SAME, DIFFERS)


def test_params_of_files_are_what_they_are() -> None:
    old, new = (
        side(
            LIMIT,
            binding(paramRef=REF),
            objects=(
                {
                    "apiVersion": "v1",
                    "kind": "ConfigMap",
                    "metadata": {"name": "limit", "namespace": "x"},
                    "data": {"most": most},
                },
            ),
        )
        for most in ("3", "5")
    )
    found = compared(old, new)
    assert found[Direction.STRICTER].finding is SAME
    example = found[Direction.LOOSER].example
    assert example is not None
    assert example.manifest is not None
    spec = example.manifest["spec"]
    assert isinstance(spec, dict)
    assert spec["replicas"] in (4, 5)


def test_what_others_refuse_is_no_difference() -> None:
    other = {**policy("object.spec.?hostNetwork.orValue(false) == true"), "metadata": {"name": "q"}}
    of_other = binding("c", policyName="q")
    old = side(NO_HOST, other, binding(), of_other)
    new = side(policy("true"), other, binding(), of_other)
    example = compared(old, new)[Direction.LOOSER].example
    assert example is not None
    assert (example.old.denied, example.new.denied) == (True, False)
    refusing = {**NO_HOST, "metadata": {"name": "q"}}
    old = side(NO_HOST, refusing, binding(), of_other)
    new = side(policy("true"), refusing, binding(), of_other)
    assert findings(old, new) == (SAME, SAME)


def test_a_gap_that_both_sides_have_does_not_matter() -> None:
    asks = "authorizer.group('').resource('pods').check('get').allowed()"
    old = changed(NO_HOST, validations=[{"expression": asks}, {"expression": "true"}])
    new = changed(NO_HOST, validations=[{"expression": "1 < 2"}, {"expression": asks}])
    assert findings(side(old), side(new)) == (SAME, SAME)


def test_an_older_release_does_not_know_newer_fields() -> None:
    document = policy("!has(object.spec.hostnameOverride)")
    assert findings(side(document, version="1.30"), side(document, version="1.36")) == (
        SAME,
        DIFFERS,
    )


@pytest.mark.parametrize(
    ("expression", "old", "expected"),
    [
        # Up to 1.33 a time that is not known is written as null.
        ("!has(object.spec.template.metadata.creationTimestamp)", "1.33", (DIFFERS, SAME)),
        ("!has(object.spec.template.metadata.creationTimestamp)", "1.34", (SAME, SAME)),
        ("!has(object.spec.template.metadata.deletionTimestamp)", "1.33", (SAME, SAME)),
        ("object.spec.template.metadata.?creationTimestamp.orValue(null) != null"
         " || object.metadata.name != 'x'", "1.33", (SAME, SAME)),
    ],
)  # fmt: skip
def test_an_older_release_writes_times_that_are_not_known(
    expression: str, old: str, expected: tuple[Finding, Finding]
) -> None:
    document = policy(expression, "deployments", "apps")
    assert findings(side(document, version=old), side(document, version="1.36")) == expected


def test_several_params_of_a_selector() -> None:
    """Of one param the old policies say less than the new ones; of two together they say more."""
    kind = {"apiVersion": "v1", "kind": "ConfigMap"}
    ref = {"namespace": "n", "selector": {}, "parameterNotFoundAction": "Allow"}

    def given(name: str, action: str, *levels: str) -> list[JsonObject]:
        expression = " && ".join(f"params.?data.?level.orValue('') != '{one}'" for one in levels)
        document = {**policy(expression, params=kind), "metadata": {"name": name}}
        return [document, binding(name, [action], policyName=name, paramRef=ref)]

    old = side(*given("audit", "Audit", "2"), *given("warn", "Warn", "1"))
    new = side(*given("warn", "Warn", "1", "2"))
    assert findings(old, new) == (UNDECIDED, DIFFERS)
    assert findings(new, side(*given("warn", "Warn", "2", "1"))) == (SAME, SAME)


PLANTED = [
    ("!object.spec.?hostNetwork.orValue(false) && !object.spec.?hostPID.orValue(false)",
     "!object.spec.?hostNetwork.orValue(false) || !object.spec.?hostPID.orValue(false)",
     Direction.LOOSER),
    ("(object.spec.containers + object.spec.?initContainers.orValue([]))"
     ".all(c, c.image.startsWith('r.io/'))",
     "object.spec.containers.all(c, c.image.startsWith('r.io/'))", Direction.LOOSER),
    (f"{CONTAINERS}.all(c, c.image.startsWith('r.io/'))",
     f"{CONTAINERS}.all(c, c.image.startsWith('r.io'))", Direction.LOOSER),
    (f"{CONTAINERS}.all(c, has(c.securityContext) && has(c.securityContext.runAsNonRoot)"
     " && c.securityContext.runAsNonRoot || true)",
     f"{CONTAINERS}.all(c, !has(c.securityContext) || !c.securityContext.privileged)",
     Direction.STRICTER),
    # Relatives: of workloads, of other containers, of labels, of numbers.
    ("object.spec.template.spec.?hostNetwork.orValue(false) == false"
     " && object.spec.template.spec.?hostIPC.orValue(false) == false",
     "object.spec.template.spec.?hostNetwork.orValue(false) == false"
     " || object.spec.template.spec.?hostIPC.orValue(false) == false", Direction.LOOSER),
    (f"({CONTAINERS} + object.spec.?initContainers.orValue([]))"
     ".all(c, !c.?securityContext.?privileged.orValue(false))",
     f"{CONTAINERS}.all(c, !c.?securityContext.?privileged.orValue(false))", Direction.LOOSER),
    (f"{CONTAINERS}.all(c, has(c.resources.limits) && 'memory' in c.resources.limits)",
     f"{CONTAINERS}.exists(c, has(c.resources.limits) && 'memory' in c.resources.limits)",
     Direction.LOOSER),
    ("has(object.metadata.labels) && 'team' in object.metadata.labels"
     " || object.metadata.name.startsWith('x-')",
     "has(object.metadata.labels) || object.metadata.name.startsWith('x-')", Direction.LOOSER),
    ("!has(object.metadata.labels) || object.metadata.labels.?team.orValue('a') != ''",
     "object.metadata.labels.?team.orValue('a') != ''", Direction.STRICTER),
    (f"{CONTAINERS}.all(c, c.?securityContext.?capabilities.?add.orValue([])"
     ".all(a, a in ['CHOWN', 'KILL']))",
     f"{CONTAINERS}.all(c, c.?securityContext.?capabilities.?add.orValue([])"
     ".exists(a, a in ['CHOWN', 'KILL']))", Direction.STRICTER),
    (f"{CONTAINERS}.all(c, c.image.matches('^r\\\\.io/'))",
     f"{CONTAINERS}.all(c, c.image.matches('^r.io/'))", Direction.LOOSER),
    ("object.spec.?terminationGracePeriodSeconds.orValue(30) <= 60",
     "object.spec.?terminationGracePeriodSeconds.orValue(30) < 60", Direction.STRICTER),
    # Servers add a volume to pods, and mounts of it, unless they go without a token.
    (f"!has(object.spec.volumes) || {VOLUMES}.all(v, !has(v.hostPath))",
     "object.spec.volumes.all(v, !has(v.hostPath))", Direction.STRICTER),
    (f"{CONTAINERS}.exists(c, c.image == 'a') && {VOLUMES}.all(v, has(v.hostPath))",
     f"{CONTAINERS}.exists(c, c.image == 'b') && object.spec.volumes.all(v, has(v.hostPath))",
     Direction.LOOSER),
    (f"{CONTAINERS}.all(c, c.?volumeMounts.orValue([]).all(m, m.?readOnly.orValue(false)))",
     f"{CONTAINERS}.all(c, c.volumeMounts.all(m, m.?readOnly.orValue(false)))",
     Direction.STRICTER),
    # What a name begins with is no name.
    ("object.spec.?securityContext.?sysctls.orValue([]).all(s, s.name in ['kernel.shm_rmid_forced',"
     " 'net.ipv4.tcp_syncookies'])",
     "object.spec.?securityContext.?sysctls.orValue([]).all(s, s.name.startsWith('kernel.')"
     " || s.name.startsWith('net.'))", Direction.LOOSER),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "direction"), PLANTED)
def test_planted_mistakes_are_found(right: str, wrong: str, direction: Direction) -> None:
    """`||` for `&&`, init containers forgotten, a prefix without its slash, a missing `has`."""
    about = ("deployments", "apps") if ".template." in right else ("pods", "")
    found = compared(side(policy(right, *about)), side(policy(wrong, *about)))[direction]
    assert found.finding is DIFFERS
    example = found.example
    assert example is not None
    assert example.complaint == "", example.manifest
    assert fields(example.manifest) <= 10


def fields(value: object) -> int:
    """How many leaves an object has."""
    if isinstance(value, dict):
        return sum(map(fields, value.values())) or 1
    if isinstance(value, list):
        return sum(map(fields, value)) or 1
    return 1
