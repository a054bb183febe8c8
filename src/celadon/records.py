"""Dataclasses that take little time to define.

The standard library's `dataclass` writes six functions for each frozen class as texts and compiles
every one of them, 1.5 ms where everything else about a class takes 0.02: with three hundred
classes, two fifths of what a command computed before it began to work. Here all classes share
their functions (comparison, hash, representation), and nothing is compiled for a class with slots:
its `__init__` is that of a model with as many fields, made once by the standard library, with the
names of its own fields in place of the model's (`_initializer`). Classes without slots, and those
with anything that only the standard library knows (`__post_init__`, class variables, fields that
are no arguments), are made by it.

For type checkers this is the standard library's `dataclass`: they refuse whoever assigns to a
field of a frozen class. Nothing does while a program runs, so such objects are also made as fast
as others, in a quarter of the time. `dataclasses.fields`, `replace` and `match` work as ever.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:
    import dataclasses
    from dataclasses import MISSING, Field
    from dataclasses import field as field
    from dataclasses import replace as replace
    from functools import cache
    from operator import attrgetter
    from reprlib import recursive_repr
    from types import CellType, FunctionType

    def dataclass(*, frozen=False, slots=False, eq=True, kw_only=False):
        """Make a class a dataclass, as `dataclasses.dataclass` does, with what this package needs
        of its options."""
        standard = dataclasses.dataclass(slots=slots, kw_only=kw_only, eq=False, repr=False)

        def decorate(cls):
            own = cls.__dict__
            known_fields = _known_fields(cls, kw_only) if slots else None
            made = standard(cls) if known_fields is None else _slotted(cls, known_fields, kw_only)
            if "__repr__" not in own:
                made.__repr__ = _represented
            if eq and "__eq__" not in own:
                made.__eq__ = _equality(made)
            if eq and own.get("__hash__") is None:
                made.__hash__ = _hash(made) if frozen else None
            return made

        return decorate

    def _known_fields(cls, kw_only):
        """Return the fields of the class by name, its bases' among them; None if there is something
        about them, or about the class, that only the standard library knows."""
        fields = {}
        for base in cls.__mro__[:0:-1]:
            fields.update(base.__dict__.get("__dataclass_fields__", {}))
        for name, annotation in cls.__annotations__.items():
            if annotation.__class__ is not str or "Var" in annotation or "KW_ONLY" in annotation:
                return None
            fields[name] = _field(name, annotation, cls.__dict__.get(name, MISSING), kw_only)
        plain = all(value.init and value.kw_only == kw_only for value in fields.values())
        if not plain or not _ordered(fields, kw_only) or hasattr(cls, "__post_init__"):
            return None
        return fields

    def _field(name, annotation, given, kw_only):
        made = given if given.__class__ is Field else dataclasses.field(default=given)
        made.name, made.type, made._field_type = name, annotation, dataclasses._FIELD
        if made.kw_only is MISSING:
            made.kw_only = kw_only
        return made

    def _ordered(fields, kw_only):
        """Return whether no field without a default follows one with, and no default can be
        changed."""
        optional = [_is_optional(value) for value in fields.values()]
        return (kw_only or optional == sorted(optional)) and all(
            value.default.__class__.__hash__ for value in fields.values()
        )

    def _is_optional(field):
        return field.default is not MISSING or field.default_factory is not MISSING

    def _slotted(cls, fields, kw_only):
        """Return the class anew, with slots for what its bases have none for."""
        namespace = {name: value for name, value in cls.__dict__.items() if name not in fields}
        namespace.pop("__dict__", None)
        namespace.pop("__weakref__", None)
        mro = {name for base in cls.__mro__ for name in base.__dict__.get("__slots__", ())}
        namespace["__slots__"] = tuple(name for name in fields if name not in mro)
        namespace["__dataclass_fields__"] = fields
        namespace["__dataclass_params__"] = _model(0).__dataclass_params__
        namespace.setdefault("__match_args__", () if kw_only else tuple(fields))
        namespace.setdefault("__init__", _initializer(cls, tuple(fields.values()), kw_only))
        made = type(cls)(cls.__name__, cls.__bases__, namespace)
        made.__qualname__ = cls.__qualname__
        return made

    @cache
    def _model(count, *, has_factories=False, kw_only=False):
        """Return a dataclass of fields `f0`, `f1`, ..., all with a default, or all with a factory,
        in place of which stands the field's name. Without a docstring the standard library would
        inspect the function for one, which takes a third of the time."""
        names = [f"f{n}" for n in range(count)]
        default = "default_factory" if has_factories else "default"
        fields = [(name, object, dataclasses.field(**{default: name})) for name in names]
        return dataclasses.make_dataclass(
            "Model",
            fields,
            namespace={"__doc__": "A model."},
            eq=False,
            repr=False,
            kw_only=kw_only,
        )

    def _initializer(cls, fields, kw_only):
        """Return the model's function with the names, factories and defaults of these fields. If
        one has a factory, the model asks for all whether they were given; there are half as many
        models as with one for each set of fields that have factories."""
        has_factories = any(item.default_factory is not MISSING for item in fields)
        model = _model(len(fields), has_factories=has_factories, kw_only=kw_only).__init__
        code, names = model.__code__, {f"f{n}": item.name for n, item in enumerate(fields)}
        function_type = FunctionType(
            code.replace(
                co_names=tuple(names.get(name, name) for name in code.co_names),
                co_varnames=tuple(names.get(name, name) for name in code.co_varnames),
            ),
            model.__globals__,
            closure=tuple(_filled(cell, fields) for cell in model.__closure__ or ()),
        )
        function_type.__qualname__ = f"{cls.__qualname__}.__init__"
        function_type.__annotations__ = {item.name: item.type for item in fields} | {"return": None}
        marks = (model.__kwdefaults__ or {}).values() if kw_only else model.__defaults__ or ()
        defaults = {
            item.name: mark if item.default is MISSING else item.default
            for item, mark in zip(fields, marks, strict=True)
            if _is_optional(item)
        }
        function_type.__kwdefaults__ = defaults if kw_only else None
        function_type.__defaults__ = None if kw_only else tuple(defaults.values())
        return function_type

    def _filled(cell, fields):
        """Return what the function reads from outside: a factory, where the model has a name."""
        name = cell.cell_contents
        return CellType(fields[int(name[1:])].default_factory) if name.__class__ is str else cell

    @recursive_repr()
    def _represented(self):
        shown = (f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr)
        return f"{self.__class__.__qualname__}({', '.join(shown)})"

    def _equality(cls):
        values = _values([f.name for f in dataclasses.fields(cls) if f.compare])

        def __eq__(self, other):
            if other.__class__ is self.__class__:
                return values(self) == values(other)
            return NotImplemented

        return __eq__

    def _hash(cls):
        compared = [f for f in dataclasses.fields(cls) if (f.compare if f.hash is None else f.hash)]
        values = _values([f.name for f in compared])
        return lambda self: hash(values(self))

    def _values(names):
        """Return the function that gives these of an object as a tuple."""
        if len(names) > 1:
            return attrgetter(*names)
        return lambda self: tuple(getattr(self, name) for name in names)
