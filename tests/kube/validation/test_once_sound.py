"""Values that a rule found nothing wrong with are not looked at again."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from celadon.kube import JsonObject, fieldpath
from celadon.kube.fieldpath import FieldPath
from celadon.kube.json_types import compact
from celadon.kube.pod_warnings import _template_warnings, pod_spec_warnings
from celadon.kube.releases import answering_as
from celadon.kube.validation import apps
from celadon.kube.validation.field_checks import Errors, once_sound
from celadon.kube.validation.pods import pod_specs

PATH = FieldPath("spec")


class Rule:
    """Wants `n` to be below a limit, and tells what it was asked about."""

    def __init__(self) -> None:
        self.asked: list[JsonObject] = []
        self.once = once_sound(self.errors)

    def errors(
        self, path: FieldPath, value: JsonObject, limit: int, *, near: bool = False
    ) -> Errors:
        self.asked.append(value)
        if value["n"] >= limit - near:
            yield fieldpath.invalid(path, value["n"], "too many")

    def found(self, value: JsonObject, limit: int = 9, **named: Any) -> list[str]:
        return [str(one) for one in self.once(PATH, value, limit, **named)]


def test_what_is_sound_is_asked_about_once() -> None:
    rule = Rule()
    assert rule.found({"n": 1}) == rule.found({"n": 1}) == []
    assert rule.asked == [{"n": 1}]


def test_what_is_wrong_is_told_each_time_where_it_stands() -> None:
    rule = Rule()
    for path in (PATH, PATH.child("x")):
        assert [one.path for one in rule.once(path, {"n": 10}, 9)] == [path]


def test_what_else_is_asked_makes_a_difference() -> None:
    rule = Rule()
    assert not rule.found({"n": 1})
    assert rule.found({"n": 1}, 1)
    assert rule.found({"n": 8}, near=True)
    assert not rule.found({"n": 8})


def test_so_do_kinds_of_numbers_and_the_release() -> None:
    rule = Rule()
    for value in ({"n": 1}, {"n": True}, {"n": 1.0}):
        assert not rule.found(value)
    with answering_as("1.30"):
        assert not rule.found({"n": 1})
    assert len(rule.asked) == 4


def test_what_was_not_read_to_its_end_is_not_known() -> None:
    rule = Rule()
    rule.once(PATH, {"n": 1}, 9)
    assert not rule.found({"n": 1})
    assert rule.asked == [{"n": 1}]


def test_long_and_deep_values_are_not_remembered() -> None:
    deep: Any = {}
    for _ in range(3000):
        deep = {"x": deep}
    for value in ({"n": 1, "x": "y" * 5000}, {"n": 1, "x": deep}):
        rule = Rule()
        assert rule.found(value) == rule.found(value) == []
        assert len(rule.asked) == 2


def test_a_changed_value_is_another_one() -> None:
    rule, value = Rule(), {"n": 1}
    assert not rule.found(value)
    value["n"] = 10
    assert rule.found(value)


def test_the_same_texts_have_the_same_bytes_whoever_shares_them() -> None:
    shared = "frontend"
    other = "".join(["front", "end"])
    assert compact({"a": shared, "b": shared}) == compact({"a": shared, "b": other})


# --- templates ---


IMAGES = st.sampled_from(["a:1", "a:2", "", " b"])
CONTAINERS = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["app", "app2", "A"])},
        optional={
            "image": IMAGES,
            "ports": st.lists(st.sampled_from([{"containerPort": 80}, {"containerPort": 0}])),
            "resources": st.sampled_from(
                [{"limits": {"memory": "1"}}, {"limits": {"memory": "1m"}}]
            ),
            "imagePullPolicy": st.sampled_from(["Always", "Never", "never"]),
            "terminationMessagePolicy": st.just("File"),
        },
    ),
    max_size=2,
)
LABELS = st.sampled_from([{"app": "x"}, {"app": "y"}, {"app": "-"}, {}])
SPECS = st.fixed_dictionaries(
    {},
    optional={
        "containers": CONTAINERS,
        "initContainers": CONTAINERS,
        "ephemeralContainers": CONTAINERS,
        "restartPolicy": st.sampled_from(["Always", "Never"]),
        "dnsPolicy": st.sampled_from(["ClusterFirst", "None"]),
        "terminationGracePeriodSeconds": st.sampled_from([30, -1]),
        "nodeSelector": LABELS,
    },
)
TEMPLATES = st.fixed_dictionaries(
    {"spec": SPECS},
    optional={
        "metadata": st.fixed_dictionaries(
            {"labels": LABELS}, optional={"annotations": LABELS | st.just({"x y": "z"})}
        )
    },
)
DEPLOYMENTS = st.fixed_dictionaries(
    {"template": TEMPLATES},
    optional={"selector": st.builds(lambda of: {"matchLabels": of}, LABELS)},
)


@given(DEPLOYMENTS)
def test_what_is_remembered_of_templates_is_what_is_found(spec: JsonObject) -> None:
    """Whatever was asked before: hypothesis asks in any order, and the memory lasts."""
    path = FieldPath("spec")
    found = list(map(str, apps._replicated(path, spec)))
    with pytest.MonkeyPatch.context() as patched:
        bare = pod_specs._template_spec.__wrapped__  # type: ignore[attr-defined]
        patched.setattr(pod_specs, "_template_spec", bare)
        assert found == list(map(str, apps._replicated.__wrapped__(path, spec)))  # type: ignore[attr-defined]
    template = spec["template"]
    warnings = list(pod_spec_warnings(template, path, is_template=True))
    assert list(_template_warnings(path, template)) == warnings
