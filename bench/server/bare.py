"""`python -m bench.server.bare FILE --listen HOST:PORT`: what the HTTP server costs by itself.

The same HTTP server as Celadon's, with a handler that has read nothing and gives everybody the
bytes of a file, with the headers that Celadon's answers have; over TLS if there is a certificate.
"""

from __future__ import annotations

import argparse
import asyncio
import socket
import ssl
from pathlib import Path

import uvloop

from celadon.apiserver.http.http_server import HttpServer
from celadon.apiserver.http_messages import JSON, HttpAnswer, HttpRequest


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--listen")
    parser.add_argument("--certificate", nargs=2, metavar=("FILE", "KEY"))
    options = parser.parse_args()
    host, _, port = options.listen.partition(":")
    listener = socket.create_server((host, int(port)), backlog=2048)
    context = None
    if options.certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*options.certificate)
    headers = (("Audit-Id", "0" * 36), ("Cache-Control", "no-cache, private"))
    answer = HttpAnswer(200, JSON, options.file.read_bytes(), headers)

    async def handle(_: HttpRequest) -> HttpAnswer:
        return answer

    async def serve() -> None:
        await HttpServer(handle, lambda: None, context).serve(sockets=[listener])

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(serve())


if __name__ == "__main__":
    main()
