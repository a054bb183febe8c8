"""Members of etcd for tests: Debian's `etcd`, one process each, on loopback."""
