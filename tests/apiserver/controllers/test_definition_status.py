"""Names of definitions: who gets them, and what the conditions say."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.apiserver.controllers.custom_resource_definitions import (
    AcceptedNames,
    established_status,
    named_status,
)
from celadon.kube.releases import answering_as

NOW = "2026-01-01T00:00:00Z"
LATER = "2026-02-01T00:00:00Z"
INSTALLING = ("Established", "False", "Installing", "the initial names have been accepted")
ACCEPTED = ("NamesAccepted", "True", "NoConflicts", "no conflicts found")
NOT_ACCEPTED = ("Established", "False", "NotAccepted", "not all names are accepted")


def definition(group: str = "example.com", **names: Any) -> dict[str, Any]:
    wanted = {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"}
    wanted.update(names)
    return {
        "metadata": {"name": f"{wanted['plural']}.{group}"},
        "spec": {
            "group": group,
            "names": wanted,
            "versions": [{"name": "v1", "storage": True}, {"name": "v2", "storage": False}],
        },
        "status": {"acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]},
    }


def named(obj: dict[str, Any], *others: dict[str, Any], now: str = NOW) -> dict[str, Any]:
    return {**obj, "status": named_status(obj, AcceptedNames((obj, *others)), now)}


def texts(obj: dict[str, Any]) -> list[tuple[str, ...]]:
    conditions = obj["status"]["conditions"]
    return [(one["type"], one["status"], one["reason"], one["message"]) for one in conditions]


def test_names_that_are_free_are_accepted_then_served() -> None:
    obj = named(definition(shortNames=["wd"], categories=["all"]))
    assert obj["status"]["acceptedNames"] == obj["spec"]["names"]
    assert texts(obj) == [ACCEPTED, INSTALLING]
    served = {**obj, "status": established_status(obj, LATER)}
    message = "the initial names have been accepted"
    assert texts(served) == [ACCEPTED, ("Established", "True", "InitialNamesAccepted", message)]
    times = [one["lastTransitionTime"] for one in served["status"]["conditions"]]
    assert times == [NOW, LATER]


@pytest.mark.parametrize("release", ["1.30", "1.31", "1.36"])
def test_who_trusts_nobody_is_not_served(release: str) -> None:
    obj = definition()
    obj["spec"]["conversion"] = {"webhook": {"clientConfig": {"caBundle": "Cg=="}}}
    message = "The conversion webhook CABundle is invalid"
    refused = ("Established", "False", "InvalidCABundle", message)
    with answering_as(release):
        obj = named(obj)
        held = {**obj, "status": established_status(obj, NOW)}
        if release == "1.30":
            assert texts(held)[1][1:3] == ("True", "InitialNamesAccepted")
            return
        assert texts(held) == [ACCEPTED, refused]
        assert named(held, now=LATER) == held, "or it would never come to rest"
        del held["spec"]["conversion"]
        mended = named(held)
        mended = {**mended, "status": established_status(mended, LATER)}
    assert texts(mended)[1][1:3] == ("True", "InitialNamesAccepted")


def test_conditions_that_somebody_took_away_stay_away() -> None:
    """Names that were accepted are looked at again only when others are wanted."""
    obj = named(definition(shortNames=[]))
    obj["status"]["conditions"] = []
    assert named(obj)["status"]["conditions"] == []
    obj["spec"]["names"]["shortNames"] = ["wd"]
    assert texts(named(obj)) == [ACCEPTED, INSTALLING]


def test_what_is_right_already_stays_as_it_is() -> None:
    obj = named(definition())
    served = {**obj, "status": established_status(obj, NOW)}
    assert named(served, now=LATER) == served
    assert established_status(served, LATER) == served["status"]


@pytest.mark.parametrize(
    ("names", "reason", "message"),
    [
        ({"plural": "widgets"}, "PluralConflict", '"widgets" is already in use'),
        ({"singular": "wd"}, "SingularConflict", '"wd" is already in use'),
        ({"shortNames": ["x", "wd"]}, "ShortNamesConflict", '"wd" is already in use'),
        (
            {"shortNames": ["wd", "widget"]},
            "ShortNamesConflict",
            '["wd" is already in use, "widget" is already in use]',
        ),
        ({"kind": "Widget"}, "KindConflict", '"Widget" is already in use'),
        ({"listKind": "WidgetList"}, "ListKindConflict", '"WidgetList" is already in use'),
    ],
)
def test_a_taken_name_is_refused(names: dict[str, Any], reason: str, message: str) -> None:
    first = named(definition(shortNames=["wd"]))
    wanted = {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"}
    obj = definition(**{**wanted, **names})
    obj["metadata"]["name"] = "second"
    obj = named(obj, first)
    assert texts(obj) == [("NamesAccepted", "False", reason, message), NOT_ACCEPTED]
    (field,) = names
    assert not obj["status"]["acceptedNames"].get(field)
    assert established_status(obj, NOW) == obj["status"]
    assert texts(named(obj)) == [ACCEPTED, INSTALLING], "once the first one is gone"


def test_the_last_conflict_is_told() -> None:
    first = named(definition())
    second = definition()
    second["metadata"]["name"] = "second"
    assert texts(named(second, first))[0][2] == "ListKindConflict"


def test_a_served_definition_stays_served_with_a_conflict() -> None:
    first = named(definition(shortNames=["wd"]))
    names = {"plural": "gadgets", "singular": "gadget", "kind": "Gadget", "listKind": "GadgetList"}
    second = named(definition(**names))
    second = {**second, "status": established_status(second, NOW)}
    second["spec"] = definition(**names, shortNames=["wd"])["spec"]
    found = named(second, first)
    assert [one[:3] for one in texts(found)] == [
        ("NamesAccepted", "False", "ShortNamesConflict"),
        ("Established", "True", "InitialNamesAccepted"),
    ]


def test_a_new_storage_version_is_remembered_beside_the_old_ones() -> None:
    obj = definition()
    for version in obj["spec"]["versions"]:
        version["storage"] = not version["storage"]
    assert named(obj)["status"]["storedVersions"] == ["v1", "v2"]


@pytest.mark.parametrize(
    ("annotation", "status", "reason", "message"),
    [
        (
            None,
            "False",
            "MissingAnnotation",
            "protected groups must have approval annotation "
            '"api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111',
        ),
        ("unapproved, test", "False", "UnapprovedAnnotation", 'not approved: "unapproved, test"'),
        ("https://a.b/1", "True", "ApprovedAnnotation", "approved in https://a.b/1"),
        (
            "yes",
            "False",
            "InvalidAnnotation",
            'protected groups must have approval annotation "api-approved.kubernetes.io" with '
            'either a URL or a reason starting with "unapproved", '
            "see https://github.com/kubernetes/enhancements/pull/1111",
        ),
    ],
)
def test_groups_of_the_community_need_approval(
    annotation: str | None, status: str, reason: str, message: str
) -> None:
    obj = definition("x.k8s.io")
    if annotation is not None:
        obj["metadata"]["annotations"] = {"api-approved.kubernetes.io": annotation}
    found = texts(named(obj))[-1]
    assert found == ("KubernetesAPIApprovalPolicyConformant", status, reason, message)


class Compared(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    times = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return str.__eq__(self, other)


def test_many_short_names_are_looked_up_not_searched_for() -> None:
    """Every change of a definition looks at its names again, on the event loop."""
    obj = named(definition(shortNames=[f"s{number}" for number in range(1_000)]))
    wanted = [Compared(f"s{number}") for number in range(1_000)]
    obj["spec"]["names"] = {**obj["spec"]["names"], "shortNames": wanted}
    Compared.times = 0
    assert texts(named(obj)) == [ACCEPTED, INSTALLING]
    assert Compared.times <= 10_000


def test_who_waits_for_a_name_is_known_until_it_has_one() -> None:
    first = named(definition())
    second = definition(plural="gadgets")
    second["metadata"]["name"] = "second"
    second = named(second, first)
    names = AcceptedNames((first, second))
    assert names.waiting(first) == ["second"]
    assert not names.waiting(definition("other.example.com"))
    names.remove(first)
    assert not names.has_another(second, "kind ", "Widget")
    names.remove(second)
    names.put(named(second))
    assert not names.waiting(first)


def test_a_definition_looks_at_its_own_names_among_those_of_thousands() -> None:
    """Each of a thousand definitions would look at those of all others, on the event loop."""
    text = Compared("widget")
    others = AcceptedNames(
        named(definition(plural=f"p{number}", singular=f"s{number}", kind=f"K{number}"))
        for number in range(1_000)
    )
    Compared.times = 0
    accepted = named_status(definition(singular=text, listKind="L"), others, NOW)["acceptedNames"]
    assert accepted["singular"] == "widget"
    assert Compared.times <= 100
