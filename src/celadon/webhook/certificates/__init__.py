"""TLS that runs itself: a certificate from a Secret, an authority of our own, bundles kept right.

Read `kept_certificates` first (what is kept, and the steps in which it is renewed), then
`own_authority` (the leader at work), `secret_certificate` (what each replica shows),
`trusted_bundles` and `leader_election`.
"""

from celadon.webhook.certificates.leader_election import LeaderElection, leases_path
from celadon.webhook.certificates.own_authority import AuthoritySettings, OwnAuthority
from celadon.webhook.certificates.secret_certificate import SecretCertificate

__all__ = [
    "AuthoritySettings",
    "LeaderElection",
    "OwnAuthority",
    "SecretCertificate",
    "leases_path",
]
