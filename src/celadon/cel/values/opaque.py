"""The base of abstract values: what a library's own type (`net.IP`, …) provides."""

from __future__ import annotations

from typing import Any, ClassVar

from celadon.cel.errors import EvaluationError, no_such_overload
from celadon.cel.types import Type


class Opaque:
    """A value of an abstract type.

    `cel_type` is its type, the same for all values of a class; `go_name` what Go's `%T` prints for
    it in error texts, `go_content` what it prints for a Go value inside that cel-go cannot make a
    CEL value again, and `is_hashable` whether Go can make it a key. Subclasses implement `equals`
    for another value of their own class; against any other class, CEL equality with an opaque
    *left* operand is the error `no such overload` (the
    reference, section 4.2).
    `__eq__` follows CEL, so that generated code may use `==`: it raises for foreign classes.
    `cost_size` is the size the cost model sees (1 unless overridden).
    """

    __slots__ = ()
    cel_type: ClassVar[Type]
    go_name: ClassVar[str] = "types.Opaque"
    go_content: ClassVar[str] = ""
    is_hashable: ClassVar[bool] = True

    def equals(self, other: Opaque) -> bool:
        """Equality with another value of the same class; may raise EvaluationError."""
        raise no_such_overload()

    def __eq__(self, other: object) -> bool:
        if other.__class__ is not self.__class__:
            raise no_such_overload()
        return self.equals(other)

    __hash__ = None  # type: ignore[assignment]  # opaque values are never keys or set members

    def reopened(self) -> Any:
        """What cel-go makes of the Go value inside (see `optional_contents`): this again, or an
        EvaluationError, as a value."""
        if not self.go_content:
            return self
        return EvaluationError(
            f"unsupported conversion to ref.Val: ({self.go_content}){self.display()}"
        )

    @property
    def cost_size(self) -> int:
        """The size that cost rules see; 1 where cel-go knows none."""
        return 1

    @property
    def is_zero(self) -> bool:
        """Whether `optional.ofNonZeroValue` drops the value."""
        return False

    def display(self) -> str:
        """The text that results and error messages show."""
        return f"{self.cel_type.name}"


class Record(Opaque):
    """An abstract value with fields, such as a protobuf message.

    `record["name"]` is the value of a field, its default if it is not set, and `has` says whether
    it is set; both raise EvaluationError for a name that is no field. Unlike other abstract values,
    a record is merely different from a value of another type.
    """

    __slots__ = ()

    def __getitem__(self, field: str) -> Any:
        raise no_such_field(field)

    def has(self, field: str) -> bool:
        """Is the field set? Raises EvaluationError for a field that the type does not have."""
        raise no_such_field(field)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.equals(other)

    __hash__ = None


def no_such_field(field: str) -> EvaluationError:
    """A message or record has no field of that name."""
    return EvaluationError(f"no such field '{field}'")
