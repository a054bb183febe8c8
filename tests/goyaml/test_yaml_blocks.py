"""The quick reader reads what it accepts exactly as the complete one does."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from celadon.goyaml.yaml_blocks import BlockReader, UnusualError
from celadon.goyaml.yaml_events import read_yaml
from celadon.goyaml.yaml_scalars import UnreadableError
from tests.examples import examples

DEPLOYMENT = """\
# the shop's front end
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app.kubernetes.io/name: web   # shown in the dashboard
    "quoted/key": 'single'
  annotations:
spec:
  replicas: 3

  selector:
    matchLabels: {}
  template:
    spec:
      containers:
      - name: web
        image: "registry.example.com/shop/web:1.4.2"
        args: ["--port", '8080', 8080, yes]
        command: []
        env:
          - name: MODE
            value: -x
          - name: URL
            value: https://example.com/#top
        script: |
          set -e

          echo "hello: world"
        tail: |-
          one
           two
      - name: two
        ports:
        - containerPort: 80
        - 81
      tolerations:
      -   key: a
          effect: b
"""


def slow(text: str) -> Any:
    values = [value for _, value in read_yaml(text)]
    return values[0] if values else None


def agree(text: str) -> bool:
    """Whether the quick reader accepted; fails if it accepted something else."""
    try:
        got = BlockReader().read(text)
    except UnusualError:
        return False
    try:
        want = slow(text)
    except UnreadableError as error:
        raise AssertionError(f"accepted, though: {error.message}\n{text!r}") from error
    assert _tagged(got) == _tagged(want), text
    return True


def _tagged(value: Any) -> Any:
    """The value with its types, so that 1 and True and 1.0 differ."""
    if isinstance(value, dict):
        return [(key, _tagged(item)) for key, item in value.items()]
    if isinstance(value, list):
        return [_tagged(item) for item in value]
    return type(value).__name__, value


def test_a_manifest_is_understood() -> None:
    assert agree(DEPLOYMENT)
    assert BlockReader().read(DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]["args"] == [
        "--port",
        "8080",
        8080,
        True,
    ]


UNDERSTOOD = [
    "a: b\n",
    "a: b",
    "a:\n",
    "a:\nb:\n  c:\n",
    "a:\n- b\n- c: d\n  e:\n  - f\ng: h\n",
    "a:\n  - b\n  -  c\n",
    "a: |\n  x\n\n\nb: c\n",
    "a: |\n\n  x\n",
    "- a: 1\n"[2:],
    "# nothing\n\n",
    "a: {}\nb: [ ]\nc: [x , 'y']\n",
    "a: x y  # comment\n",
    "a: 'it is: fine' # yes\n",
    "a: b#c\n",
    "a: :8080\nb:\n- :80 # odd\n- :x:y\n",
    "a: x é ü\n",
    "a-b_c.d/e: 0x10\n",
    "a:\n- b:\n  - c\n  d:\n- e: |\n    text\n  f: g\n",
    "a: 'it''s'\nb: ['''', 'x''y']\n",
    "a: b\n  c\n",
    "a: b  \n  == 'c' && {d[e]}\n",
    "a: 1\n  2)\nb: c\n",
    "x:\n- a: b\n    &c\n   - d\n  e: f\n",
    "x:\n- a b\n  *c\n- d\n",
    "a: b\n  (c\n\nd: e\n",
    "a: b\n  (c\n  # d\ne: f\n",
    "a: 'b \n    c'  \nd: \"e\n  f: g # h\n   i \"\nj: k\n",
    "x:\n- a: '\n    b'\n  c: d\n",
    "a: 'b\n  ''c'' d'\n",
    "a: >\n  x\n",
    "a: >-\n  x\n  y \n\n  z\n\n\n  v\n\nb: c\n",
    "x:\n- a: >-\n    b\n    c\n  d: e\n",
]


@pytest.mark.parametrize("text", UNDERSTOOD)
def test_understood(text: str) -> None:
    assert agree(text)


UNUSUAL = [
    "a: b # c\n  d)\n",
    "a: b\n\n  c)\n",
    "a: b\n  c: d\n",
    "a: b\n  (c # d\n  e)\n",
    "a: 'b'\n  c)\n",
    "a: 'b\n\n  c'\n",
    "a: 'b\nc'\n",
    "a: 'b\n  c: d'\n  e)\n",
    "a: 'b\n  c' d\n",
    "a: 'b\n",
    'a: "b\\\n  c"\n',
    "a:\n  b: c\n  (d\n",
    "a: [b]\n  c)\n",
    "a: >\n  x\n   y\n",
    "a: >\n\n  x\n",
    "a: >+\n  x\n",
    "a: &x 1\n",
    "a: *x\n",
    "a: !!str 1\n",
    "a:\tb\n",
    "a: b\na: c\n",
    "a: b: c\n",
    "- a\n- b\n",
    "- - a\n",
    "a:\n  b: 1\n c: 2\n",
    "a:\n    b: 1\n  c: 2\n",
    "a: - b\n",
    'a: "x\\ty"\n',
    "yes: 1\n",
    "1: 2\n",
    "a : b\n",
    "a: {b: c}\n",
    "a: [b: c]\n",
    "a: .nan\n",
    "a: [.inf]\n",
    "a: b \n  - c\n",
    "a: @b\n",
    "a: \u2028\n",
    "a: 'x\x85y'\n",
    "a: \x07\n",
    "a: |2\n   x\n",
    "a: |+\n  x\n\n",
    "a: |\n  x\n y\n",
    "a: |\nb: c\n",
    "a: |\n   \n  x\n",
    " a: b\n",
    "<<: {a: b}\n",
    "? a\n: b\n",
    "text\n",
    "a: b\n---\nc: d\n",
    "a: b\n...\n",
    "a: [b,\n  c]\n",
]


@pytest.mark.parametrize("text", UNUSUAL)
def test_unusual(text: str) -> None:
    with pytest.raises(UnusualError):
        BlockReader().read(text)


def test_repeated_lines_do_not_share_lists() -> None:
    reader = BlockReader()
    first, second = reader.read("a: []\nb: {}\n"), reader.read("a: []\nb: {}\n")
    first["a"].append(1)
    first["b"]["x"] = 1
    assert second == {"a": [], "b": {}}


WORDS = """a|b|name|yes|no|1|0x1|017|1.5|1e3|~|null|-1|x y|a:b|a#b|http://x/y||2001-01-01|10:20|é
|- x|it''s|'it''s'|'a|b'|"a|b"|''b|(c|== d)|> x|'q'|"q"
|{}|[]|[a, b]|&a|*a|!t|# c|a # c|a: b|%|@|`|'|"|\t|?|>-|a,b|[a]x|{a}"""
_words = st.sampled_from([*WORDS.replace("\n", "").split("|"), "|", "|-", "|+", ">", ">-"])
_line = st.tuples(
    st.integers(0, 6),
    st.sampled_from(["", "", "- ", "-  ", "- - "]),
    _words,
    st.sampled_from([": ", ":", "", " : "]),
    _words,
).map(lambda part: " " * part[0] + "".join(part[1:]))


@settings(max_examples=examples(400), deadline=None)
@given(st.lists(_line, max_size=8).map("\n".join), st.sampled_from(["", "\n"]))
def test_random_lines(text: str, end: str) -> None:
    agree(text + end)


@settings(max_examples=examples(400), deadline=None)
@given(
    st.integers(0, len(DEPLOYMENT) - 1),
    st.integers(0, 12),
    st.one_of(_words, st.text("\n -:#'\"[]{}|>&*!ab1\t\\", max_size=6), st.text(max_size=3)),
)
def test_mutated_manifest(at: int, removed: int, inserted: str) -> None:
    agree(DEPLOYMENT[:at] + inserted + DEPLOYMENT[at + removed :])


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=examples(300), deadline=None)
@given(st.dictionaries(st.text("abcdef./", min_size=1), _json, min_size=1, max_size=5))
def test_dumped_values(value: dict[str, Any]) -> None:
    agree(yaml.safe_dump(value, default_flow_style=False, allow_unicode=True))
