"""A stand-in for etcd: it says that it is healthy, and keeps nothing.

`kube-apiserver` of the same folder keeps its objects itself; tests start etcd all the same, and
wait until it answers. The file is copied into that folder and runs there alone, without Celadon:
it needs the standard library only. It takes the flags of etcd, with one dash or two, and looks at
`--listen-client-urls`. No import of the future: lines that find Python may stand before.
"""

import os
import selectors
import signal
import socket
import sys

VERSION = "3.6.0"
DEFAULT_URLS = "http://localhost:2379"
LONGEST_REQUEST = 64 << 10

_FLAGS = """
advertise-client-urls auth-token auth-token-ttl auto-compaction-mode auto-compaction-retention
auto-tls backend-batch-interval backend-batch-limit backend-bbolt-freelist-type bcrypt-cost
bootstrap-defrag-threshold-megabytes cert-file cipher-suites client-cert-allowed-hostname
client-cert-auth client-cert-file client-crl-file client-key-file compact-hash-check-time
compaction-batch-limit compaction-sleep-interval config-file corrupt-check-time cors data-dir
discovery discovery-cacert discovery-cert discovery-dial-timeout discovery-endpoints
discovery-fallback discovery-insecure-skip-tls-verify discovery-insecure-transport
discovery-keepalive-time discovery-keepalive-timeout discovery-key discovery-password
discovery-proxy discovery-request-timeout discovery-srv discovery-srv-name discovery-token
discovery-user distributed-tracing-address distributed-tracing-instance-id
distributed-tracing-sampling-rate distributed-tracing-service-name downgrade-check-time
election-timeout enable-distributed-tracing enable-grpc-gateway enable-log-rotation enable-pprof
enable-v2 experimental-bootstrap-defrag-threshold-megabytes
experimental-compact-hash-check-enabled experimental-compact-hash-check-time
experimental-compaction-batch-limit experimental-compaction-sleep-interval
experimental-corrupt-check-time experimental-distributed-tracing-address
experimental-distributed-tracing-instance-id experimental-distributed-tracing-sampling-rate
experimental-distributed-tracing-service-name experimental-downgrade-check-time
experimental-enable-distributed-tracing experimental-enable-lease-checkpoint
experimental-enable-lease-checkpoint-persist experimental-enable-v2v3
experimental-initial-corrupt-check experimental-local-address experimental-memory-mlock
experimental-peer-skip-client-san-verification experimental-snapshot-catch-up-entries
experimental-snapshot-catchup-entries experimental-stop-grpc-service-on-defrag
experimental-txn-mode-write-with-shared-buffer experimental-wait-cluster-ready-timeout
experimental-warning-apply-duration experimental-warning-unary-request-duration
experimental-watch-progress-notify-interval feature-gates force-new-cluster
grpc-keepalive-interval grpc-keepalive-min-time grpc-keepalive-timeout heartbeat-interval
host-whitelist initial-advertise-peer-urls initial-cluster initial-cluster-state
initial-cluster-token initial-election-tick-advance key-file listen-client-http-urls
listen-client-urls listen-metrics-urls listen-peer-urls log-format log-level log-outputs
log-rotation-config-json logger max-concurrent-streams max-learners max-request-bytes
max-snapshots max-txn-ops max-wals memory-mlock metrics name peer-auto-tls peer-cert-allowed-cn
peer-cert-allowed-hostname peer-cert-file peer-client-cert-auth peer-client-cert-file
peer-client-key-file peer-crl-file peer-key-file peer-skip-client-san-verification
peer-trusted-ca-file pre-vote proxy proxy-dial-timeout proxy-failure-wait proxy-read-timeout
proxy-refresh-interval proxy-write-timeout quota-backend-bytes raft-read-timeout
raft-write-timeout self-signed-cert-validity snapshot-catchup-entries snapshot-count
socket-reuse-address socket-reuse-port strict-reconfig-check tls-max-version tls-min-version
trusted-ca-file unsafe-no-fsync v2-deprecation wal-dir warning-apply-duration
warning-unary-request-duration watch-progress-notify-interval
"""

FLAGS = _FLAGS.split()
ANSWERS = {
    "/health": '{"health":"true","reason":""}',
    "/livez": "ok\n",
    "/readyz": "ok\n",
    "/version": f'{{"etcdserver":"{VERSION}","etcdcluster":"{VERSION}"}}',
    "/metrics": "# TYPE etcd_server_has_leader gauge\netcd_server_has_leader 1\n",
}


def main() -> int:
    """Answer until SIGTERM or SIGINT; returns 1 for what cannot be listened on."""
    words = sys.argv[1:]
    if any(word in ("-h", "-help", "--help", "help") for word in words):
        lines = (f"  --{name} ''\n" for name in FLAGS)
        return say(sys.stdout, f"Usage:\n\n  etcd [flags]\n\n{''.join(lines)}")
    if any(word in ("-version", "--version") for word in words):
        return say(sys.stdout, f"etcd Version: {VERSION} (a stand-in of Celadon's)\n")
    options = read_options(words)
    for name in options:
        if name not in FLAGS:
            say(sys.stderr, f"warning: etcd has no flag `--{name}` that is known here: ignored\n")
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: os._exit(0))
    try:
        listeners = [
            listener
            for url in (options.get("listen-client-urls") or DEFAULT_URLS).split(",")
            for listener in listen(url)
        ]
    except (OSError, ValueError) as error:
        say(sys.stderr, f"error: {error}\n")
        return 1
    serve(listeners)
    return 0


def say(stream, text: str) -> int:  # type: ignore[no-untyped-def]  # a stream of text, or None
    """Write, if anybody can read it; returns the exit code 0."""
    if stream is not None:
        stream.write(text)
        stream.flush()
    return 0


def read_options(words: list[str]) -> dict[str, str]:
    """Values by name: `--name=value`, `--name value`, `-name value` and `--name` alone."""
    options: dict[str, str] = {}
    name = ""
    for word in words:
        if word.startswith("-"):
            name, _, options[name] = word.lstrip("-").partition("=")
        elif name and not options[name]:
            options[name] = word
    return options


def listen(url: str) -> list[socket.socket]:
    """Sockets that listen at `http://HOST:PORT`: one for each address of the host. Raises OSError,
    and ValueError for other texts."""
    scheme, result, place = url.strip().partition("://")
    host, _, port = place.partition("/")[0].rpartition(":")
    if scheme != "http" or not result or not port.isdecimal() or len(port) > 5:
        raise ValueError(f"`{url}` is not http://HOST:PORT: the stand-in of etcd has no TLS")
    places = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    listeners: list[socket.socket] = []
    for family, kind, protocol, _, address in places:
        listener = socket.socket(family, kind, protocol)
        try:
            if os.name != "nt":  # where it would let two programs listen at the same port
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen()
            listener.settimeout(0)
        except OSError as error:
            listener.close()
            if listeners:  # a machine without IPv6 has names for it all the same
                continue
            raise OSError(f"cannot listen at `{url}`: {error.strerror}") from None
        listeners.append(listener)
    return listeners


def serve(listeners: list[socket.socket]) -> None:
    """Answer requests of HTTP/1, for ever. What does not read its answer is not waited for."""
    selector = selectors.DefaultSelector()
    for listener in listeners:
        selector.register(listener, selectors.EVENT_READ)
    requests: dict[socket.socket, bytes] = {}
    while True:
        for key, _ in selector.select():
            connection = key.fileobj
            assert isinstance(connection, socket.socket)
            if connection in listeners:
                client, _ = connection.accept()
                client.settimeout(0)
                requests[client] = b""
                selector.register(client, selectors.EVENT_READ)
            elif not go_on(connection, requests):
                selector.unregister(connection)
                connection.close()
                del requests[connection]


def go_on(connection: socket.socket, requests: dict[socket.socket, bytes]) -> bool:
    """Read what has come, and answer the requests that are complete. Returns whether the connection
    stays open."""
    try:
        data = connection.recv(LONGEST_REQUEST)
        request = requests[connection] + data
        *heads, rest = request.split(b"\r\n\r\n")
        for head in heads:
            connection.sendall(answer(head))
    except BlockingIOError:
        return True
    except OSError:
        return False
    requests[connection] = rest
    return bool(data) and len(rest) < LONGEST_REQUEST and not request.startswith(b"PRI ")


def answer(head: bytes) -> bytes:
    """Return the answer to the first lines of a request; requests with a body are not expected."""
    words = head.split(b"\r\n", 1)[0].decode("latin-1").split(" ")
    path = words[1].partition("?")[0] if len(words) > 1 else ""
    text = ANSWERS.get(path)
    status = "404 Not Found" if text is None else "200 OK"
    body = (text or "404 page not found\n").encode()
    kind = "application/json" if body.startswith(b"{") else "text/plain; charset=utf-8"
    lines = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
    return lines.encode() + (b"" if words[0] == "HEAD" else body)


if __name__ == "__main__":
    sys.exit(main())
