"""Violations as rows of a file that is written while they are found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol

from celadon.cli.auditing.audit_findings import Violation
from celadon.cli.formats.audits.fleet_data import fleet_violation_line

COLUMNS: Final[dict[str, Callable[[Violation], object]]] = {
    "file": lambda one: one.object.place.file,
    "line": lambda one: one.object.place.line,
    "apiVersion": lambda one: one.object.api_version,
    "kind": lambda one: one.object.kind,
    "namespace": lambda one: one.object.namespace,
    "name": lambda one: one.object.name,
    "uid": lambda one: one.object.uid,
    "effect": lambda one: one.effect,
    "policy": lambda one: one.policy,
    "binding": lambda one: one.binding,
    "param": lambda one: one.param,
    "field": lambda one: one.field,
    "message": lambda one: one.message,
    "error": lambda one: one.is_error,
}
"""Of a Parquet file, behind `source`."""
_ROWS: Final = 50_000
_TYPES: Final = {"line": "int64", "error": "bool_"}


class ViolationFile(Protocol):
    """A file that takes violations."""

    def write(self, source: str, violation: Violation) -> None:
        """One of a source. Raises OSError."""
        ...

    def close(self) -> None:
        """All is written. Raises OSError."""
        ...


def violation_file(path: str) -> ViolationFile:
    """A new file, by how its name ends. Raises OSError."""
    return _ParquetFile(path) if path.endswith(".parquet") else _LinesFile(path)


class _LinesFile:
    """JSON lines."""

    def __init__(self, path: str) -> None:
        self._stream = open(path, "w", encoding="utf-8")  # noqa: SIM115 - closed by close()

    def write(self, source: str, violation: Violation) -> None:
        self._stream.write(fleet_violation_line(source, violation))

    def close(self) -> None:
        self._stream.close()


class _ParquetFile:
    """Groups of rows; texts that come again and again are written once in each."""

    def __init__(self, path: str) -> None:
        try:
            import pyarrow  # late: an extra
            from pyarrow import parquet  # late: an extra
        except ImportError:
            raise OSError("Parquet needs a package more: pip install 'celadon[fleet]'") from None
        types = {name: getattr(pyarrow, _TYPES.get(name, "string"))() for name in _NAMES}
        self._schema = pyarrow.schema(types)
        self._table: Any = pyarrow.Table
        self._writer = parquet.ParquetWriter(path, self._schema)
        self._rows: list[dict[str, object]] = []

    def write(self, source: str, violation: Violation) -> None:
        row = {name: told(violation) for name, told in COLUMNS.items()}
        self._rows.append({"source": source, **row})
        if len(self._rows) == _ROWS:
            self._flush()

    def _flush(self) -> None:
        self._writer.write_table(self._table.from_pylist(self._rows, self._schema))
        self._rows = []

    def close(self) -> None:
        if self._rows:
            self._flush()
        self._writer.close()


_NAMES: Final = ("source", *COLUMNS)
