"""One of several replicas leads: `leader_election`, on the Leases of a server, ours or another."""

from celadon.serve.leading.leader_election import (
    LeaderElection,
    LeaseError,
    LeaseRefused,
    leases_path,
)

__all__ = ["LeaderElection", "LeaseError", "LeaseRefused", "leases_path"]
