"""Bytes to requests, as Go's servers read them: pure, without sockets.

`request_heads` reads a head, with `request_targets` for what it asks for; `body_readers` find the
end of a body.
"""
