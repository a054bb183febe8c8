"""Everything that listens or calls out: the API server, and what puts it on the network.

At its core there are no sockets and no threads: `http_messages` has requests and answers as values,
and one handler turns the first into the second. Read `http_messages`, then `rest` (what a request
means and how its answer is written).
"""

from celadon.serve.http_messages import HttpAnswer, HttpRequest

__all__ = ["HttpAnswer", "HttpRequest"]
