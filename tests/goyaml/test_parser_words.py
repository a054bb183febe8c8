"""A text that cannot be read is refused in the same words with libyaml and without."""

from __future__ import annotations

import pytest
import yaml

from celadon.goyaml.yaml_events import libyaml_words, read_yaml
from celadon.goyaml.yaml_scalars import UnreadableError

TEXTS = [
    *("a: b: c\n", "a:\n  - b\n c: d\n", "a: [1, 2\n", "a: {b: c]\n", "a: 'x\n", 'a: "\\q"\n'),
    *('a: "\\xzz"\n', "a: @b\n", "a: %b\n", "- a\nb: c\n", "a: 1\n- b\n", "a:\n\tb: c\n"),
    *("a\nb: c\n", "? a\n? [\n", "a: |x\n  b\n", "a: &\n", "a: *\n", "a: *b c: d\n"),
    *("%YAML 1.1\n%YAML 1.1\n---\na\n", "%YAML 3.1\n---\na\n", "a: !<x\n", "a: !x!y z\n"),
    *("--- a\n... b\n", "a: 'x\n---\ny'\n", "a: b\n]\n", "]\n", "a: [b, , c]\n", "{a: b\nc: d}\n"),
    *("a: - b\n", "- - a\n - b\n", "x: ? y\n", "a: &x &y b\n", "a: !!str !!int b\n"),
    *("a: |\n  b\n c\n", "a: \x01\n", "a\x00", "a: [\n", "{\n", "'", "[a, b: c: d]\n"),
]


def refusal(text: str) -> tuple[int, str, str]:
    with pytest.raises(UnreadableError) as caught:
        list(read_yaml(text))
    return caught.value.line, caught.value.message, caught.value.upstream


@pytest.mark.skipif(not yaml.__with_libyaml__, reason="this PyYAML has no libyaml")
@pytest.mark.parametrize("text", TEXTS)
def test_words(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = refusal(text)
    monkeypatch.setattr(yaml, "__with_libyaml__", False)
    assert refusal(text) == wanted


def test_what_is_not_known_stays() -> None:
    assert libyaml_words("something new") == "something new"
