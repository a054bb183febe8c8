"""What rules a namespace or the cluster: quotas, roles, nodes, configuration, certificates."""
