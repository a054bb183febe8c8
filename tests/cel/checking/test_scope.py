"""Building declarations from libraries, and what they refuse."""

from __future__ import annotations

import pytest

from celadon.cel.checking.scope import Declarations
from celadon.cel.declarations import Function, Library, ObjectType, Overload, Variable
from celadon.cel.errors import DeclarationError
from celadon.cel.library.standard import LIBRARY
from celadon.cel.types import BOOL, DYN, INT, LIST, STRING, Type, list_of, opaque, type_param


def _function(name: str, *overloads: Overload) -> Library:
    return Library(name, (Function(name, overloads),))


def _overload(id: str, *params: Type, result: Type = INT, member: bool = False) -> Overload:
    return Overload(id, params, result, member=member)


def test_overloads_of_several_libraries_merge_in_load_order() -> None:
    first = _function("f", _overload("f_int", INT))
    second = _function("f", _overload("f_string", STRING), _overload("f_member", INT, member=True))
    found = Declarations.build((first, second)).find_function("f")
    assert found is not None
    assert [o.id for o in found.function.overloads] == ["f_int", "f_string", "f_member"]


def test_the_same_overload_twice_is_one() -> None:
    once = _function("f", _overload("f_int", INT))
    found = Declarations.build((once, once)).find_function("f")
    assert found is not None
    assert len(found.function.overloads) == 1


@pytest.mark.parametrize(
    ("libraries", "message"),
    [
        (
            (_function("f", _overload("one", INT)), _function("f", _overload("two", DYN))),
            "overload signature collision in function f: one collides with two",
        ),
        (
            (_function("f", _overload("a", list_of(INT)), _overload("b", list_of(DYN))),),
            "overload signature collision in function f: a collides with b",
        ),
        (
            (_function("f", _overload("a", type_param("T")), _overload("b", STRING)),),
            "overload signature collision in function f: a collides with b",
        ),
        (
            (_function("f", _overload("a", INT), _overload("a", INT, result=BOOL)),),
            "overload redefinition in function. f: a has multiple definitions",
        ),
        (
            (_function("has", _overload("has_dyn", DYN)),),
            "overlapping macro for name 'has' with 1 args",
        ),
        (
            (_function("map", _overload("map_list", LIST, INT, member=True)),),
            "overlapping macro for name 'map' with 2 args",
        ),
    ],
)
def test_contradicting_functions(libraries: tuple[Library, ...], message: str) -> None:
    with pytest.raises(DeclarationError) as caught:
        Declarations.build(libraries)
    assert str(caught.value) == message


def test_two_singletons() -> None:
    libraries = tuple(
        Library("l", (Function("f", (_overload(f"f_{t.name}", t),), singleton=lambda x: x),))
        for t in (INT, STRING)
    )
    with pytest.raises(DeclarationError, match=r"^function already has a singleton binding: f$"):
        Declarations.build(libraries)


@pytest.mark.parametrize(
    "overloads",
    [
        (_overload("global", INT), _overload("member", INT, member=True)),
        (_overload("one", INT), _overload("two", INT, INT)),
        (_overload("int", INT), _overload("string", STRING)),
        (_overload("ints", list_of(INT)), _overload("strings", list_of(STRING))),
        (_overload("ip", opaque("net.IP")), _overload("cidr", opaque("net.CIDR"))),
    ],
)
def test_signatures_that_do_not_collide(overloads: tuple[Overload, ...]) -> None:
    assert Declarations.build((_function("f", *overloads),)).find_function("f") is not None


def test_a_variable_may_not_be_declared_twice() -> None:
    scope = Declarations.build((), [Variable("x", INT)])
    with pytest.raises(DeclarationError, match=r"^overlapping identifier for name 'x'$"):
        scope.extend([Variable("x", STRING)])


def test_extending_leaves_the_base_alone() -> None:
    base = Declarations.build((LIBRARY,), [Variable("x", INT)])
    more = base.extend([Variable("y.z", INT)], [ObjectType("T", {"f": INT})])
    assert more.find_identifier("x") is not None
    assert more.find_identifier("y.z") is not None
    assert more.find_field("T", "f") is INT
    assert base.find_identifier("y.z") is None
    assert base.find_field("T", "f") is None
    assert base.find_function("size") is more.find_function("size")


def test_candidate_names() -> None:
    scope = Declarations.build((), container="a.b", aliases={"s": "long.name"})
    assert scope.candidates("x") == ("a.b.x", "a.x", "x")
    assert scope.candidates(".x") == ("x",)
    assert scope.candidates("s.x") == ("long.name.x",)
    assert scope.candidates("s") == ("long.name",)


def test_functions_are_found_through_the_container() -> None:
    scope = Declarations.build((_function("a.f", _overload("a_f", INT)),), container="a")
    found = scope.find_function("f")
    assert found is not None
    assert found.name == "a.f"


def test_well_known_messages_are_known_everywhere() -> None:
    scope = Declarations.build()
    found = scope.find_identifier("google.protobuf.Int32Value")
    assert found is not None
    assert found.type.display() == "type(wrapper(int))"
    assert scope.find_field("google.protobuf.Int32Value", "value") is INT
