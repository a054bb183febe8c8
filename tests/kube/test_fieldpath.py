"""Field paths and the rendering of field errors."""

from __future__ import annotations

import pytest

from celadon.kube import fieldpath
from celadon.kube.fieldpath import OMITTED, ROOT, FieldError, FieldPath, NamedText, SpelledStep
from celadon.kube.go.go_text import GoValue
from celadon.kube.releases import answering_as

PATH = ROOT.child("spec", "items").index(0).child("name").key("a.b/c")


def test_paths() -> None:
    assert str(PATH) == "spec.items[0].name[a.b/c]"
    assert str(ROOT) == "<nil>"
    assert str(FieldPath("")) == "[]"
    assert str(FieldPath("data", "")) == "data[]"


def test_paths_are_steps() -> None:
    assert PATH.steps == ("spec", "items", 0, "name", "a.b/c")
    assert ROOT.text == ""
    assert PATH.join(FieldPath(0, "x")).text == "spec.items[0].name[a.b/c][0].x"
    assert FieldPath(SpelledStep("a", ".a"), SpelledStep("b", ".[b]"), "c").text == ".a.[b].c"


@pytest.mark.parametrize(
    ("error", "body"),
    [
        (fieldpath.required(PATH), "Required value"),
        (fieldpath.required(PATH, "say it"), "Required value: say it"),
        (fieldpath.forbidden(PATH, "no"), "Forbidden: no"),
        (fieldpath.invalid(PATH, 'a"b', "bad"), 'Invalid value: "a\\"b": bad'),
        (fieldpath.invalid(PATH, "<é\x7f>", "bad"), 'Invalid value: "<é\\x7f>": bad'),
        (fieldpath.invalid(PATH, NamedText("<"), "bad"), 'Invalid value: "\\u003c": bad'),
        (fieldpath.invalid(PATH, -1, "bad"), "Invalid value: -1: bad"),
        (fieldpath.invalid(PATH, True, "bad"), "Invalid value: true: bad"),
        (fieldpath.invalid(PATH, None, "bad"), "Invalid value: null: bad"),
        (fieldpath.invalid(PATH, ["*", "x"], "bad"), 'Invalid value: ["*","x"]: bad'),
        (fieldpath.invalid(PATH, {"Key": "&"}, "bad"), 'Invalid value: {"Key":"\\u0026"}: bad'),
        (fieldpath.invalid(PATH, OMITTED, "bad"), "Invalid value: bad"),
        (fieldpath.type_invalid(PATH, 1, "bad"), "Invalid value: 1: bad"),
        (
            fieldpath.not_supported(PATH, "x", ["a", "b"]),
            'Unsupported value: "x": supported values: "a", "b"',
        ),
        (fieldpath.not_supported(PATH, "x", []), 'Unsupported value: "x"'),
        (fieldpath.duplicate(PATH, "x"), 'Duplicate value: "x"'),
        (fieldpath.not_found(PATH, "x"), 'Not found: "x"'),
        (fieldpath.too_long(PATH, 9), "Too long: may not be more than 9 bytes"),
        (fieldpath.too_many(PATH, 3, 1), "Too many: 3: must have at most 1 item"),
        (fieldpath.internal(PATH, "oh"), "Internal error: oh"),
    ],
)
def test_bodies(error: FieldError, body: str) -> None:
    assert error.body == body
    assert str(error) == f"spec.items[0].name[a.b/c]: {body}"


def test_aggregate() -> None:
    first, second = fieldpath.required(ROOT.child("a")), fieldpath.required(ROOT.child("b"))
    assert fieldpath.aggregate([first, first]) == "a: Required value"
    assert fieldpath.aggregate([first, second, first]) == "[a: Required value, b: Required value]"


def test_paths_that_are_shown_have_addresses_of_their_own() -> None:
    """Before 1.34, whose errors show no addresses any more."""
    path = {"name": "dataSource", "index": "", "parent": {}}
    error = fieldpath.invalid(FieldPath("spec"), GoValue(path, "field.Path"), "must match")
    for release, count in (("1.33", 2), ("1.34", 1)):
        with answering_as(release):
            assert fieldpath.aggregate([error, error]).count("must match") == count
