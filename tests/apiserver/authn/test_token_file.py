"""Token files: users by token, Go's CSV and its complaints."""

from __future__ import annotations

import pytest

from celadon.apiserver.authn.authentication import TokenFileError, read_token_file
from celadon.kube import User


@pytest.mark.parametrize(
    ("text", "users"),
    [
        ("", {}),
        ("t,alice,u\n", {"t": User("alice", (), "u")}),
        ("t,alice,", {"t": User("alice")}),
        ('t,alice,u,"a,b"\r\n\n', {"t": User("alice", ("a", "b"), "u")}),
        ("t,alice,u,a,ignored", {"t": User("alice", ("a",), "u")}),
        ("t,alice,u,", {"t": User("alice", ("",), "u")}),
        ('"t""x",alice,u', {'t"x': User("alice", (), "u")}),
        (
            't,"two\nlines",u\ns,bob,v',
            {"t": User("two\nlines", (), "u"), "s": User("bob", (), "v")},
        ),
    ],
)
def test_users(text: str, users: dict[str, User]) -> None:
    assert read_token_file(text, "f").users == users


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "t,alice",
            "token file 'f' must have at least 3 columns (token, user name, user uid), found 2",
        ),
        ('a,b,c\nt,al"ice,u', 'parse error on line 2, column 5: bare " in non-quoted field'),
        ('t,"a"b,u', 'parse error on line 1, column 5: extraneous or missing " in quoted-field'),
        (
            't,"a\nb',
            "record on line 1; parse error on line 2, column 2: "
            'extraneous or missing " in quoted-field',
        ),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(TokenFileError) as refused:
        read_token_file(text, "f")
    assert str(refused.value) == message


def test_lines_that_do_not_count() -> None:
    read = read_token_file(",nobody,x\nt,first,u\nt,second,u\n", "f")
    assert read.users == {"t": User("second", (), "u")}
    assert read.warnings == (
        "empty token has been found in token file 'f', record number '1'",
        "duplicate token has been found in token file 'f', record number '3'",
    )


def test_tokens_are_not_shown() -> None:
    assert "secret" not in repr(read_token_file("secret,alice,u", "f"))
