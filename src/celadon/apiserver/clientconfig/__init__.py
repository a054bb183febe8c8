"""Calling others over the network: connections, whom to trust, who we are, where a cluster is.

`go_network` opens connections whose failures are told in the words of Go, since clients of the API
see them; `certificate_failures` says likewise what is wrong with TLS, and which roots are trusted.
`kubeconfig_file` reads kubeconfigs, `cluster_location` what stands in one (or in a pod) about one
cluster, `client_credentials` proves who we are with each request, and runs the programs that
kubeconfigs name for that.
"""

from celadon.apiserver.clientconfig.client_credentials import (
    ClientCredentials,
    ClusterLocation,
    CredentialsError,
    given_cluster,
    own_cluster,
    tls_to_cluster,
)
from celadon.apiserver.clientconfig.go_network import GoNetwork
from celadon.apiserver.clientconfig.kubeconfig_file import (
    ExecCommand,
    Kubeconfig,
    KubeconfigCluster,
    KubeconfigError,
    KubeconfigUser,
    read_kubeconfigs,
)
from celadon.apiserver.http_messages import NetworkFailure

__all__ = [
    "ClientCredentials",
    "ClusterLocation",
    "CredentialsError",
    "ExecCommand",
    "GoNetwork",
    "Kubeconfig",
    "KubeconfigCluster",
    "KubeconfigError",
    "KubeconfigUser",
    "NetworkFailure",
    "given_cluster",
    "own_cluster",
    "read_kubeconfigs",
    "tls_to_cluster",
]
