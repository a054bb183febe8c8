"""What rules a namespace or the cluster: quotas, roles, storage, configuration."""
