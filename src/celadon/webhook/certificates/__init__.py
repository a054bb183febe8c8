"""TLS that runs itself: a certificate from a Secret, an authority of our own, bundles kept right.

Read `kept_certificates` first (what is kept, and the steps in which it is renewed), then
`own_authority` (the leader at work), `secret_certificate` (what each replica shows),
`trusted_bundles`. The election itself is in `celadon.serve.leading`.
"""

from celadon.webhook.certificates.cluster_leases import ClusterLeases
from celadon.webhook.certificates.own_authority import AuthoritySettings, OwnAuthority
from celadon.webhook.certificates.secret_certificate import SecretCertificate

__all__ = [
    "AuthoritySettings",
    "ClusterLeases",
    "OwnAuthority",
    "SecretCertificate",
]
