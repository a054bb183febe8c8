"""What a namespace says of its content."""

from __future__ import annotations

from celadon.apiserver.controllers.namespaces import Remains, deletion_conditions
from celadon.kube import GroupResource

TYPES = [
    "NamespaceDeletionDiscoveryFailure",
    "NamespaceDeletionGroupVersionParsingFailure",
    "NamespaceDeletionContentFailure",
    "NamespaceContentRemaining",
    "NamespaceFinalizersRemaining",
]


def test_an_empty_namespace_has_five_good_conditions() -> None:
    found = deletion_conditions(None, Remains(), "t")
    assert [one["type"] for one in found] == TYPES
    assert {one["status"] for one in found} == {"False"}
    assert deletion_conditions(found, Remains(), "later") == found


def test_what_is_left_is_counted_in_the_order_of_names() -> None:
    objects = {GroupResource("apps", "deployments"): 1, GroupResource("", "configmaps"): 2}
    remains = Remains(objects, {"b.c/d": 1, "a.b/c": 2}, ("second", "first"))
    found = {one["type"]: one for one in deletion_conditions(None, remains, "t")}
    said = [(found[one]["status"], found[one]["reason"], found[one]["message"]) for one in TYPES]
    assert said[2:] == [
        (
            "True",
            "ContentDeletionFailed",
            "Failed to delete all resource types, 2 remaining: first, second",
        ),
        (
            "True",
            "SomeResourcesRemain",
            "Some resources are remaining: configmaps. has 2 resource instances, "
            "deployments.apps has 1 resource instances",
        ),
        (
            "True",
            "SomeFinalizersRemain",
            "Some content in the namespace has finalizers remaining: "
            "a.b/c in 2 resource instances, b.c/d in 1 resource instances",
        ),
    ]
