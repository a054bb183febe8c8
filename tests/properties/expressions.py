"""Random CEL expressions: mostly well typed, often failing at run time, always parseable."""

from __future__ import annotations

from typing import TypeAlias

from hypothesis import strategies as st

Expressions: TypeAlias = st.SearchStrategy[str]

#: What the expressions run on. `nul`, `zz` (absent) and the mixed list make errors likely.
OBJECT = {
    "i": 7,
    "b": True,
    "s": "marker-text",
    "l": [5, 6, 7],
    "d": 2.25,
    "nul": None,
    "mixed": [1, "one", True, None, 1.0],
    "m": {"k": "v", "marker-text": "x"},
    "o": {"i": -2, "s": "zz", "l": [1], "f": False},
    "items": [{"name": "a", "n": 1}, {"name": "b"}, {"name": "a", "n": 3, "on": True}],
}

#: In every string literal, so that its appearance in generated source can be looked for.
MARKER = "qzx"

_strings = st.sampled_from([f"'{MARKER}'", f"'{MARKER}-a'", f"'{MARKER}b'"])
_names = st.sampled_from(["x", "y"])
_quantifiers = st.sampled_from(["all", "exists", "exists_one"])

ints: Expressions = st.deferred(
    lambda: st.one_of(
        st.sampled_from(
            ["0", "1", "2", "-3", "9223372036854775807", "object.i", "object.o.i", "object.zz"]
        ),
        st.sampled_from(["object.nul", "x", "y", "object.l[0]", "object.l[9]", "object.s"]),
        st.builds("({} {} {})".format, ints, st.sampled_from("+-*/%"), ints),
        st.builds("size({})".format, st.one_of(lists, strings)),
        st.builds("({} ? {} : {})".format, bools, ints, ints),
        st.builds("{}[{}]".format, lists, ints),
        st.builds("object.?o.?i.orValue({})".format, ints),
        st.builds("object.?zz.?i.orValue({})".format, ints),
        st.builds("object[?'{}'].optMap(x, x + {}).orValue(1)".format, st.sampled_from("il"), ints),
    )
)
strings: Expressions = st.deferred(
    lambda: st.one_of(
        _strings,
        st.sampled_from(["object.s", "object.o.s", "object.m['k']", "x", "object.items[0].name"]),
        st.builds("({} + {})".format, strings, strings),
        st.builds("string({})".format, ints),
        st.builds("{}.replace({}, {})".format, strings, strings, strings),
        st.builds("{}.substring({})".format, strings, ints),
        st.builds("object.m[{}]".format, strings),
    )
)
lists: Expressions = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["object.l", "object.o.l", "[]", "[1, 2]", "object.mixed", "object.m"]),
        st.builds("[{}, {}]".format, ints, ints),
        st.builds("({} + {})".format, lists, lists),
        st.builds("{}.map({}, {})".format, lists, _names, ints),
        st.builds("{}.map({}, {}, {})".format, lists, _names, bools, ints),
        st.builds("{}.filter({}, {})".format, lists, _names, bools),
        st.builds("{}.transformList(x, y, {})".format, lists, ints),
        st.builds("{}.sortBy(x, {})".format, lists, ints),
        st.builds("[{{'{}': {}}}]".format, st.just(MARKER), ints),
    )
)
bools: Expressions = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["true", "false", "object.b", "object.o.f", "object.zz", "object.nul"]),
        st.sampled_from(
            ["has(object.o.i)", "has(object.zz)", "has(object.nul.x)", "x", "has(x.n)"]
        ),
        st.builds("({} {} {})".format, bools, st.sampled_from(["&&", "||"]), bools),
        st.builds("!({})".format, bools),
        st.builds("({} {} {})".format, ints, st.sampled_from(["==", "!=", "<", ">="]), ints),
        st.builds("({} == {})".format, strings, strings),
        st.builds("({} in {})".format, ints, lists),
        st.builds("({} in [{}, {}])".format, strings, _strings, _strings),
        st.builds("{}.startsWith({})".format, strings, strings),
        st.builds("{}.contains({})".format, strings, strings),
        st.builds("{}.matches('^[a-z{}]+$')".format, strings, st.just(MARKER)),
        st.builds(
            "{}.{}({}, {})".format,
            lists,
            st.sampled_from(["all", "exists", "exists_one"]),
            _names,
            bools,
        ),
        st.builds("object.items.{}(i, i.name == {} && {})".format, _quantifiers, strings, bools),
        st.builds("object.items.{}(i, has(i.on) && i.on)".format, _quantifiers),
        st.builds("({} ? {} : {})".format, bools, bools, bools),
    )
)
expressions: Expressions = st.one_of(bools, ints, strings, lists)
