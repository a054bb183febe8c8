"""`/version`: which Kubernetes a server speaks for."""

from __future__ import annotations

import json

from celadon.kube import status
from celadon.records import dataclass
from celadon.serve.http_messages import JSON, HttpAnswer, HttpRequest
from celadon.serve.requests.negotiation import require_route


@dataclass(frozen=True, slots=True)
class ServerVersion:
    """`release` is `1.36`; the oldest release that the server gets along with is the one before."""

    release: str
    patch: int = 0
    commit: str = ""
    build_date: str = "1970-01-01T00:00:00Z"
    platform: str = "linux/amd64"

    @property
    def git_version(self) -> str:
        """`v1.36.0`, which clients compare with their own version."""
        return f"v{self.release}.{self.patch}"

    def document(self) -> dict[str, str]:
        """Members in the order of Go."""
        major, _, minor = self.release.partition(".")
        return {
            "major": major,
            "minor": minor,
            "emulationMajor": major,
            "emulationMinor": minor,
            "minCompatibilityMajor": major,
            "minCompatibilityMinor": str(int(minor) - 1),
            "gitVersion": self.git_version,
            "gitCommit": self.commit,
            "gitTreeState": "clean",
            "buildDate": self.build_date,
            "goVersion": "go1.25.0",
            "compiler": "gc",
            "platform": self.platform,
        }


def version_answer(request: HttpRequest, version: ServerVersion) -> HttpAnswer:
    """Indented, whoever asks. Raises StatusError: 404 for what is below the path, 405, 406."""
    if request.path.strip("/") != "version":
        raise status.route_not_found()
    if request.method != "GET":
        raise status.method_not_allowed()
    require_route(request, (JSON,))
    return HttpAnswer(200, JSON, json.dumps(version.document(), indent=2).encode())
