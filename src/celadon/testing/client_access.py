"""How clients reach a server as a certain user, and set-ups for the usual libraries.

No library is needed until its set-up is asked for, so they are imported there.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from celadon.records import dataclass

if TYPE_CHECKING:
    import kr8s
    import kubernetes.client
    import lightkube


@dataclass(frozen=True, slots=True)
class ClientAccess:
    """`kubeconfig` and `certificate_authority` are files, which last as long as the server. Over
    plain HTTP, the second has nothing in it."""

    url: str
    token: str
    kubeconfig: Path
    certificate_authority: Path

    def environment(self) -> dict[str, str]:
        """The environment for a program that looks for a cluster: kubectl, helm, an operator."""
        return {**os.environ, "KUBECONFIG": str(self.kubeconfig)}

    def kubernetes_client(self) -> kubernetes.client.ApiClient:
        """For the official library: `client.CoreV1Api(access.kubernetes_client())`. Close it, or
        use it in a `with` block."""
        from kubernetes import client  # late: it is the test's own, and need not be there

        configuration = client.Configuration(
            host=self.url,
            api_key={"authorization": self.token},
            api_key_prefix={"authorization": "Bearer"},
        )
        configuration.ssl_ca_cert = str(self.certificate_authority)
        return client.ApiClient(configuration)

    def kr8s_api(self) -> kr8s.Api:
        """For kr8s: `kr8s.objects.Pod(..., api=access.kr8s_api())`."""
        import kr8s  # late: as above

        return kr8s.api(kubeconfig=str(self.kubeconfig))

    def lightkube_client(self, namespace: str = "default") -> lightkube.Client:
        """For lightkube."""
        import lightkube  # late: as above

        config = lightkube.KubeConfig.from_file(str(self.kubeconfig))
        return lightkube.Client(config=config, namespace=namespace, trust_env=False)
