"""Values as Go's `%#v` prints them."""

from __future__ import annotations

from typing import Any

import pytest

from celadon.kube.go.go_text import GoValue, go_syntax

SELECTOR = "v1.LabelSelector"
NO_EXPRESSIONS = "MatchExpressions:[]v1.LabelSelectorRequirement(nil)"


@pytest.mark.parametrize(
    ("value", "type_", "text"),
    [
        (["a", "b"], "[]string", '[]string{"a", "b"}'),
        ([], "[]string", "[]string{}"),
        (None, "[]string", "[]string(nil)"),
        ({"b": "2", "a": "1"}, "map[string]string", 'map[string]string{"a":"1", "b":"2"}'),
        ({}, SELECTOR, f"v1.LabelSelector{{MatchLabels:map[string]string(nil), {NO_EXPRESSIONS}}}"),
        (
            {"matchLabels": {}},
            SELECTOR,
            f"v1.LabelSelector{{MatchLabels:map[string]string{{}}, {NO_EXPRESSIONS}}}",
        ),
        ({"a": [1, None]}, "", 'map[string]interface {}{"a":[]interface {}{1, interface {}(nil)}}'),
        (True, "", "true"),
        (1.5, "", "1.5"),
        ("LQ==", "[]byte", "[]byte{0x2d}"),
        (None, "[]byte", "[]byte(nil)"),
        ("2001-01-01T00:00:00Z", "v1.Time", "2001-01-01 00:00:00 +0000 UTC"),
        (None, "*v1.Time", "<nil>"),
        ("cpu", "core.ResourceName", "cpu"),
        ("101%", "intstr.IntOrString", 'intstr.IntOrString{Type:1, IntVal:0, StrVal:"101%"}'),
        (5, "intstr.IntOrString", 'intstr.IntOrString{Type:0, IntVal:5, StrVal:""}'),
        (
            {"kind": "ClusterRole", "name": "a"},
            "rbac.RoleRef",
            'rbac.RoleRef{APIGroup:"", Kind:"ClusterRole", Name:"a"}',
        ),
        (
            {"Rules": [{"Action": "Count", "OnPodConditions": [{"Type": "A", "Status": "True"}]}]},
            "batch.PodFailurePolicy",
            "batch.PodFailurePolicy{Rules:[]batch.PodFailurePolicyRule{batch.PodFailurePolicyRule{"
            'Action:"Count", OnExitCodes:(*batch.PodFailurePolicyOnExitCodesRequirement)(nil), '
            "OnPodConditions:[]batch.PodFailurePolicyOnPodConditionsPattern{"
            'batch.PodFailurePolicyOnPodConditionsPattern{Type:"A", Status:"True"}}}}}',
        ),
        (
            {"Type": "X", "RollingUpdate": None},
            "apps.DaemonSetUpdateStrategy",
            'apps.DaemonSetUpdateStrategy{Type:"X", '
            "RollingUpdate:(*apps.RollingUpdateDaemonSet)(nil)}",
        ),
        (
            {"Partition": 1, "MaxUnavailable": None},
            "apps.RollingUpdateStatefulSetStrategy",
            "apps.RollingUpdateStatefulSetStrategy{Partition:1, "
            "MaxUnavailable:(*intstr.IntOrString)(nil)}",
        ),
        (
            [{"JSONPath": ".a"}],
            "[]apiextensions.SelectableField",
            '[]apiextensions.SelectableField{apiextensions.SelectableField{JSONPath:".a"}}',
        ),
        (
            {"Name": "a", "Type": "string", "JSONPath": ".a"},
            "apiextensions.CustomResourceColumnDefinition",
            'apiextensions.CustomResourceColumnDefinition{Name:"a", Type:"string", Format:"", '
            'Description:"", Priority:0, JSONPath:".a"}',
        ),
    ],
)
def test_printed(value: Any, type_: str, text: str) -> None:
    assert go_syntax(value, type_) == text


@pytest.mark.parametrize(
    ("text", "amount", "form"),
    [
        ("1500m", "value:1500, scale:-3", "DecimalSI"),
        ("1Gi", "value:1073741824, scale:0", "BinarySI"),
        ("-1", "value:-1, scale:0", "DecimalSI"),
    ],
)
def test_amounts(text: str, amount: str, form: str) -> None:
    assert go_syntax(text, "resource.Quantity") == (
        f"resource.Quantity{{i:resource.int64Amount{{{amount}}}, "
        f'd:resource.infDecAmount{{Dec:(*inf.Dec)(nil)}}, s:"{text}", Format:"{form}"}}'
    )


def test_a_value_may_have_more_than_its_json() -> None:
    value = GoValue({}, SELECTOR, {"matchLabels": {}})
    assert "MatchLabels:map[string]string{}" in value.go_syntax
