"""Static bearer tokens: lines of `token,user,uid[,"group1,group2"]`.

The file is CSV as Go reads it: empty lines are passed over, a quote inside a field without quotes
is an error. As k8s.io/apiserver `pkg/authentication/token/tokenfile` and Go's `encoding/csv`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final

from celadon.kube import User
from celadon.records import dataclass

COLUMNS: Final = 3


class TokenFileError(ValueError):
    """Why a server does not start with this file."""


@dataclass(frozen=True, slots=True)
class TokenFile:
    """Users by token. `warnings` are about lines that do not count."""

    users: Mapping[str, User] = field(default_factory=dict, repr=False)
    warnings: tuple[str, ...] = ()


def read_token_file(text: str, path: str) -> TokenFile:
    """`path` is for messages only. Raises TokenFileError."""
    users: dict[str, User] = {}
    warnings = []
    for number, record in enumerate(_records(text), 1):
        if len(record) < COLUMNS:
            raise TokenFileError(
                f"token file '{path}' must have at least 3 columns (token, user name, user uid), "
                f"found {len(record)}"
            )
        token, name, uid, *more = record
        if not token:
            warnings.append(_found("empty", path, number))
            continue
        if token in users:
            warnings.append(_found("duplicate", path, number))
        users[token] = User(name, tuple(more[0].split(",")) if more else (), uid)
    return TokenFile(users, tuple(warnings))


def _found(what: str, path: str, number: int) -> str:
    return f"{what} token has been found in token file '{path}', record number '{number}'"


def _records(text: str) -> Iterator[Sequence[str]]:
    lines = text.replace("\r\n", "\n").split("\n")
    at = 0
    while at < len(lines):
        if not lines[at]:
            at += 1
            continue
        record, at = _record(lines, at)
        yield record


def _record(lines: Sequence[str], start: int) -> tuple[list[str], int]:
    """A record, which may go over several lines, and the index of the line after it."""
    fields: list[str] = []
    at, column = start, 0
    while True:
        line = lines[at]
        if line.startswith('"', column):
            value, at, column = _quoted(lines, start, at, column)
            line = lines[at]
        else:
            end = line.find(",", column)
            end = len(line) if end < 0 else end
            value = line[column:end]
            if '"' in value:
                where = column + value.index('"')
                raise _error(start, at, where, 'bare " in non-quoted field')
            column = end
        fields.append(value)
        if column >= len(line):
            return fields, at + 1
        column += 1


def _quoted(lines: Sequence[str], start: int, at: int, column: int) -> tuple[str, int, int]:
    """The value, and the line and column where it ends: at a comma or at the end of a line."""
    value, column = "", column + 1
    while True:
        line = lines[at]
        end = line.find('"', column)
        if end < 0:
            value += line[column:] + "\n"
            at, column = at + 1, 0
            if at == len(lines):
                raise _error(start, at - 1, len(line), 'extraneous or missing " in quoted-field')
            continue
        value += line[column:end]
        column = end + 1
        if line.startswith('"', column):
            value, column = value + '"', column + 1
        elif column == len(line) or line[column] == ",":
            return value, at, column
        else:
            raise _error(start, at, end, 'extraneous or missing " in quoted-field')


def _error(start: int, line: int, column: int, what: str) -> TokenFileError:
    record = f"record on line {start + 1}; " if line != start else ""
    return TokenFileError(f"{record}parse error on line {line + 1}, column {column + 1}: {what}")
