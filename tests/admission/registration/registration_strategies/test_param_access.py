"""Who may refer to which params: 422 with the user in Go's form."""

from __future__ import annotations

from celadon.admission.registration.registration_strategies import (
    check_binding,
    check_policy,
    user_text,
)
from celadon.kube.authorization import Answer, Attributes, Ruling, User
from celadon.kube.resources import known_resources
from tests.admission.building import binding, policy

CATALOG = known_resources()
ALICE = User("alice", ("devs",), extra={"team": ("a", "b")})
SHOWN = "&{alice  [devs] map[team:[a b]]}"


class Recorder:
    def __init__(self, ruling: Ruling = Ruling.NO_OPINION) -> None:
        self.ruling = ruling
        self.asked: list[Attributes] = []

    def authorize(self, attributes: Attributes) -> Answer:
        self.asked.append(attributes)
        return self.ruling, "", None


MAPS = {"apiVersion": "v1", "kind": "ConfigMap"}
GIVEN = policy(paramKind=MAPS)


def test_users_print_as_in_go() -> None:
    assert user_text(ALICE) == SHOWN
    assert user_text(User("bob", (), "u1")) == "&{bob u1 [] map[]}"


def test_a_policy_needs_get_on_everything_of_its_kind() -> None:
    recorder = Recorder()
    (error,) = check_policy(GIVEN, None, ALICE, CATALOG, recorder.authorize)
    assert str(error) == (
        f'spec.paramKind: Forbidden: user {SHOWN} must have "get" permission on all objects of '
        "the referenced paramKind (kind=ConfigMap, apiVersion=v1)"
    )
    (asked,) = recorder.asked
    assert (asked.verb, asked.resource, asked.version, asked.namespace, asked.name) == (
        "get",
        "configmaps",
        "v1",
        "*",
        "*",
    )


def test_an_unchanged_kind_is_not_asked_about() -> None:
    recorder = Recorder()
    assert check_policy(GIVEN, GIVEN, ALICE, CATALOG, recorder.authorize) == []
    assert check_policy(policy(), None, ALICE, CATALOG, recorder.authorize) == []
    masters = User("root", ("system:masters",))
    assert check_policy(GIVEN, None, masters, CATALOG, recorder.authorize) == []
    assert recorder.asked == []


def test_an_unknown_kind_asks_for_all_resources() -> None:
    recorder = Recorder(Ruling.ALLOW)
    unknown = policy(paramKind={"apiVersion": "x.io/v1", "kind": "X"})
    assert check_policy(unknown, None, ALICE, CATALOG, recorder.authorize) == []
    (asked,) = recorder.asked
    assert (asked.group, asked.version, asked.resource) == ("x.io", "v1", "*")


NAMED = binding(paramRef={"name": "a", "namespace": "n", "parameterNotFoundAction": "Deny"})
SELECTED = binding(paramRef={"selector": {}, "parameterNotFoundAction": "Deny"})


def test_bindings_need_get_or_list() -> None:
    for given, verb in ((NAMED, "get"), (SELECTED, "list")):
        recorder = Recorder()
        (error,) = check_binding(given, GIVEN, ALICE, CATALOG, recorder.authorize)
        assert str(error) == (
            f'spec.paramRef: Forbidden: user {SHOWN} does not have "{verb}" permission on the '
            "object referenced by paramRef"
        )
        assert recorder.asked[0].verb == verb


def test_bindings_to_what_is_not_known_need_everything() -> None:
    rest = f'and user {SHOWN} does not have "get" permission for all groups, versions and resources'
    unknown = policy(paramKind={"apiVersion": "x.io/v1", "kind": "X"})
    bad = policy(paramKind={"apiVersion": "a/b/c", "kind": "X"})
    for given, text in (
        (None, "unable to get policy p to determine minimum required permissions"),
        (unknown, "unable to resolve paramKind &{x.io/v1 X} to determine minimum required "),
        (bad, "unable to parse paramKind &{a/b/c X} to determine minimum required permissions"),
    ):
        (error,) = check_binding(NAMED, given, ALICE, CATALOG, Recorder().authorize)
        assert error.detail.startswith(text)
        assert error.detail.endswith(rest)
