"""What the server in process cannot do."""

from __future__ import annotations


class Unsupported(Exception):
    """This server cannot do what the scenario asks for; the text says what that is."""
