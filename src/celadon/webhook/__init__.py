"""Being an admission webhook: AdmissionReviews in, answers out.

A review is answered by policies (`reviews`, then `deciding`), which come from files
(`policy_sources`) or from a cluster, and the `service` puts that on the network: `celadon webhook`.
This door is light: it loads no server and no package of others.
"""

__all__: list[str] = []
