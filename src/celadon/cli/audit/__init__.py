"""`celadon audit`: objects that exist already, against policies that do not.

Read `audit_inputs` (paths to blocks of objects, and the forms that dumps have), `audit_blocks`
(what a block gives), `object_audit` (one object against the policies), and `audit_run`, which has
it all in a row and shares the work among processes. `audit_report` is what came of it, for formats
to show. `etcd_snapshots` reads backups of etcd. For `--fleet`, `fleet_parts` says what a source is
cut into, and `fleet_run` has workers audit the parts, and puts their results in order.
"""
