"""Backups of etcd: `bolt_pages` (the file), `snapshot_revisions` (what etcd keeps in it),
`stored_values` (what Kubernetes keeps in etcd), `snapshot_blocks` (objects to be audited)."""
