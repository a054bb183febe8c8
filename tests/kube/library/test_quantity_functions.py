"""The quantity library: errors, and the two classes that equality tells apart."""

from __future__ import annotations

import pytest

from tests.kube.library.evaluation import evaluate, failure


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("quantity('50k').add(20).sub(quantity('100k')).asInteger()", -49980),
        ("quantity('50k').add(20).sub(quantity('100k')).sub(-50000).asInteger()", 20),
        ("quantity('50Mi').compareTo(quantity('50M'))", 1),
        ("sign(quantity('0'))", 0),
        ("sign(quantity('-1m'))", -1),
        ("quantity('1Ki') == quantity('1024')", True),
        ("quantity('1') != quantity('2')", True),
        # sums are values of another kind: fine on the left, refused on the right
        ("quantity('50k').add(quantity('20k')) == quantity('70k')", True),
        ("quantity('70k') != quantity('50k').add(quantity('20k'))", True),
        ("quantity('2') in [quantity('1').add(1)]", False),
        ("[quantity('3')] == [quantity('1').add(quantity('1'))]", True),
        ("[quantity('1'), quantity('2')].indexOf(quantity('2'))", 1),
        ("object == quantity('1')", False),
        ("object != quantity('1')", True),
    ],
)
def test_values(expression: str, value: object) -> None:
    assert evaluate(expression, object="1") == value


@pytest.mark.parametrize(
    ("expression", "error"),
    [
        ("quantity('1i')", "unable to parse quantity's suffix"),
        ("quantity('1.0').asInteger()", "cannot convert value to integer"),
        ("quantity('70k') == quantity('50k').add(quantity('20k'))", "no such overload"),
        ("quantity('1').add(1) == quantity('1').add(1)", "no such overload"),
        ("quantity('1') == object", "no such overload"),
        ("quantity(object)", "no such overload: quantity(int)"),
        (
            "object.isLessThan(quantity('1'))",
            "no such overload: isLessThan(int, kubernetes.Quantity)",
        ),
        (
            "quantity('1e2000000000').add(quantity('1'))",
            "unable to parse numeric part of quantity",
        ),
        (
            "quantity('1e2000000000').sub(1)",
            "unable to parse numeric part of quantity",
        ),
    ],
)
def test_errors(expression: str, error: str) -> None:
    assert failure(expression, object=1) == error


def test_there_is_no_conversion_to_text() -> None:
    from tests.kube.library.evaluation import scope

    assert scope().compile("string(quantity('1'))").ast is None
    assert scope().compile("quantity('1').sign()").ast is None


def test_display() -> None:
    assert evaluate("quantity('1.5Gi')").display() == "1536Mi"
    assert evaluate("quantity('1').add(1)").go_name == "*cel.Quantity"
