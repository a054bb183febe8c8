"""A stand-in for kubectl: it runs the kubectl that is installed.

Tests of operators find kubectl beside the servers that they start. Where none is installed, this
file still answers what test servers ask to see whether a server is ready (`get namespaces NAME` and
`get --raw PATH`, with the flags that say where the server is), and says so for everything else. It
is copied into the folder and runs there alone, without Celadon: it needs the standard library only.
No import of the future: lines that find Python may stand before.
"""

import os
import subprocess
import sys

MARKER = "celadon.json"
"""What every folder of assets has: there is no kubectl but this one."""

WITH_VALUES = (
    "certificate-authority",
    "client-certificate",
    "client-key",
    "raw",
    "request-timeout",
    "server",
    "token",
)
SECONDS = 10.0


def main() -> int:
    """Become kubectl, or do the little that this file can do; returns the exit code."""
    real = installed_kubectl(os.environ.get("PATH", ""))
    if not real:
        return answer(sys.argv[1:])
    command = [real, *sys.argv[1:]]
    if os.name != "nt":  # where a program cannot become another one
        os.execv(real, command)
    return subprocess.call(command)


def installed_kubectl(places: str) -> str:
    """Return the first kubectl in these folders that is none of ours; empty if there is none."""
    for folder in filter(None, places.split(os.pathsep)):
        for name in ("kubectl", "kubectl.exe"):
            path = os.path.join(folder, name)
            is_ours = os.path.exists(os.path.join(folder, MARKER))
            if os.path.isfile(path) and os.access(path, os.X_OK) and not is_ours:
                return path
    return ""


def answer(words: list[str]) -> int:
    """Do without kubectl; returns 1 for what cannot be done, and for answers that are errors."""
    options, operands = split(words)
    if operands[:1] == ["version"]:
        return say(sys.stdout, "Client Version: none (a stand-in of Celadon's)\n")
    path = options.get("raw", "")
    if operands[:2] in (["get", "ns"], ["get", "namespace"], ["get", "namespaces"]):
        path = "/".join(("/api/v1/namespaces", *operands[2:3]))
    if operands[:1] != ["get"] or not path or "server" not in options:
        say(
            sys.stderr,
            "error: kubectl is not installed: the stand-in knows only `get namespaces NAME` and "
            "`get --raw PATH`, with `--server`\n",
        )
        return 1
    return get(path, options)


def split(words: list[str]) -> tuple[dict[str, str], list[str]]:
    """Return flags by name, and the other words."""
    options: dict[str, str] = {}
    operands: list[str] = []
    name = ""
    for word in words:
        if word.startswith("-"):
            name, _, options[name] = word.lstrip("-").partition("=")
        elif name in WITH_VALUES and not options[name]:
            options[name] = word
        else:
            operands.append(word)
    return options, operands


def get(path: str, options: dict[str, str]) -> int:
    """Show what a server answers."""
    import http.client
    import ssl
    import urllib.error
    import urllib.request

    context = ssl.create_default_context(cafile=options.get("certificate-authority") or None)
    # As Go: any certificate that is given is trusted, be it an authority's or not.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    if options.get("insecure-skip-tls-verify", "false") in ("", "true"):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate = options.get("client-certificate")
    try:
        if certificate:
            context.load_cert_chain(certificate, options.get("client-key"))
        request = urllib.request.Request(options["server"].rstrip("/") + path)
        if options.get("token"):
            # Go takes it along to the same host only, and redirects of API servers lead there.
            request.add_unredirected_header("Authorization", f"Bearer {options['token']}")
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        with opener.open(request, timeout=SECONDS) as reply:
            return say(sys.stdout, reply.read().decode("utf-8", "replace") + "\n")
    except urllib.error.HTTPError as error:
        with error:  # it is the answer, too
            say(sys.stderr, f"Error from server: {error.code} {error.reason}\n")
    except (OSError, http.client.HTTPException, ValueError) as error:
        say(sys.stderr, f"error: {error}\n")
    return 1


def say(stream, text: str) -> int:  # type: ignore[no-untyped-def]  # a stream of text, or None
    """Write, if anybody can read it; returns the exit code 0."""
    if stream is not None:
        stream.write(text)
        stream.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
