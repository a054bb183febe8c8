"""When a value of one type may stand where another is expected, and what that binds.

Type parameters (`A` of a signature, `_var0` of an empty list) are variables. A `Substitution` is
what a check has learnt about them so far; `assignable` asks a question and, when the answer is
yes, keeps what it had to assume. When it is no, nothing is kept (cel-go `checker/types.go` copies
its mapping for that; here a trail of changes is undone, because copies grow with the expression).

The relation is not symmetric in its side effects: `assignable(actual, expected)`.

Kinds are compared by identity, one after the other, because hashing an enum member costs more
than the whole comparison (measured: 0.15 µs against 0.02 µs).
"""

from __future__ import annotations

from collections.abc import Sequence

from celadon.cel.types import DYN, Kind, Type, is_dyn

_ANY = Kind.ANY
_DYN = Kind.DYN
_ERROR = Kind.ERROR
_LIST = Kind.LIST
_MAP = Kind.MAP
_NULL = Kind.NULL
_OPAQUE = Kind.OPAQUE
_PARAM = Kind.TYPE_PARAM
_TYPE = Kind.TYPE
_WRAPPER = Kind.WRAPPER

_NULLABLE = (
    Kind.OPAQUE,
    Kind.OBJECT,
    Kind.ANY,
    Kind.DURATION,
    Kind.TIMESTAMP,
    Kind.NULL,
    Kind.WRAPPER,
)


class Substitution:
    """What is known about type parameters, by name.

    With `nullable_joins`, null and a type that admits it have that type in common, and a primitive
    and its wrapper the wrapper; without, cel-go's rules give the second of the two.

    INVARIANT (acyclic): following bindings from any parameter ends; `_occurs` guards every bind.
    """

    __slots__ = ("_bindings", "_nullable_joins", "_trail")

    def __init__(self, *, nullable_joins: bool = False) -> None:
        self._nullable_joins = nullable_joins
        self._bindings: dict[str, Type] = {}
        self._trail: list[tuple[str, Type | None]] = []

    def assignable(self, actual: Type, expected: Type) -> bool:
        """Whether a value of `actual` may stand where `expected` is wanted. Type parameters that
        this binds stay bound if so, and are as before if not."""
        if actual is expected:
            return True
        return self._keep_if(success=self._fits(actual, expected))

    def all_assignable(self, actual: Sequence[Type], expected: Sequence[Type]) -> bool:
        """Pairwise and in order; False when the numbers differ."""
        if len(actual) != len(expected):
            return False
        for one, other in zip(actual, expected):  # noqa: B905  # strict= costs; compared above
            if one is not other and not self._fits(one, other):
                return self._keep_if(success=False)
        return self._keep_if(success=True)

    def join(self, previous: Type, current: Type) -> Type:
        """The type of a literal's elements so far; dyn when two do not go together."""
        if self.assignable(previous, current):
            return self._most_general(previous, current)
        return DYN

    def substitute(self, t: Type, *, to_dyn: bool = False) -> Type:
        """`t` with bound parameters replaced; unbound ones become dyn if `to_dyn`."""
        while t.kind is _PARAM:
            bound = self._bindings.get(t.name)
            if bound is None:
                return DYN if to_dyn else t
            t = bound
        params = t.params
        if not params:
            return t
        changed = False
        replaced = []
        for param in params:
            new = (
                self.substitute(param, to_dyn=to_dyn)
                if param.params or param.kind is _PARAM
                else param
            )
            changed = changed or new is not param
            replaced.append(new)
        return Type(t.kind, t.name, tuple(replaced)) if changed else t

    def _keep_if(self, *, success: bool) -> bool:
        """Ends an attempt: forgets the trail, after undoing it unless the attempt succeeded."""
        trail = self._trail
        if trail:
            if not success:
                for name, before in reversed(trail):
                    if before is None:
                        del self._bindings[name]
                    else:
                        self._bindings[name] = before
            trail.clear()
        return success

    def _bind(self, name: str, t: Type) -> None:
        self._trail.append((name, self._bindings.get(name)))
        self._bindings[name] = t

    def _fits(self, t1: Type, t2: Type) -> bool:
        """One frame per level of nesting, so that deep types stay within Python's stack."""
        if t1 is t2:
            return True
        k1, k2 = t1.kind, t2.kind
        if k2 is _PARAM:
            valid, bound = self._substitutes(t1, t2)
            if valid or bound:
                return valid
        if k1 is _PARAM:
            return self._substitutes(t2, t1)[0]
        if k1 is _DYN or k2 is _DYN or k1 is _ANY or k2 is _ANY or k1 is _ERROR or k2 is _ERROR:
            return True
        if k1 is _NULL or k2 is _NULL:
            return any((k2 if k1 is _NULL else k1) is kind for kind in _NULLABLE)
        if k1 is _TYPE:
            return k2 is _TYPE
        if t1.name != t2.name:
            return False
        if k1 is _LIST or k1 is _MAP or k1 is _OPAQUE:
            if k1 is not k2 or len(t1.params) != len(t2.params):
                return False
            return all(map(self._fits, t1.params, t2.params))
        return k1 is k2 or k1 is _WRAPPER or k2 is _WRAPPER

    def _substitutes(self, t: Type, parameter: Type) -> tuple[bool, bool]:
        """Whether `t` may be what `parameter` stands for, and whether that had a binding."""
        name = parameter.name
        if t.kind is _PARAM and t.name == name:
            return True, True
        bound = self._bindings.get(name)
        if bound is None:
            if self._occurs(name, t):
                return False, False
            self._bind(name, t)
            return True, False
        if t is bound or t == bound:
            return True, True
        if not self._fits(t, bound):
            return False, True
        general = self._most_general(t, bound)
        if general is not bound and not self._occurs(name, general):
            self._bind(name, general)
        return True, True

    def _most_general(self, a: Type, b: Type) -> Type:
        if self._nullable_joins and a.kind is not b.kind:
            if a.kind is _NULL or b.kind is _WRAPPER:
                return a if is_dyn(a) else b
            if b.kind is _NULL or a.kind is _WRAPPER:
                return b if is_dyn(b) else a
        return most_general(a, b)

    def _occurs(self, name: str, within: Type) -> bool:
        """The occurs check: is that parameter within the type, directly or through bindings?"""
        while within.kind is _PARAM:
            if within.name == name:
                return True
            bound = self._bindings.get(within.name)
            if bound is None:
                return False
            within = bound
        for param in within.params:
            if (param.params or param.kind is _PARAM) and self._occurs(name, param):
                return True
        return False


def most_general(a: Type, b: Type) -> Type:
    """The less specific of two types that go together; `a` when they are equal."""
    return a if a is b or _is_equal_or_less_specific(a, b) else b


def _is_equal_or_less_specific(a: Type, b: Type) -> bool:
    ka, kb = a.kind, b.kind
    if ka is _DYN or ka is _ANY or ka is _PARAM:
        return True
    if kb is _DYN or kb is _ANY or kb is _PARAM:
        return False
    if ka is not kb:
        return a.name == b.name and (ka is _WRAPPER or kb is _WRAPPER)
    if ka is _TYPE:
        return True
    if a.name != b.name or len(a.params) != len(b.params):
        return False
    return all(map(_is_equal_or_less_specific, a.params, b.params))
