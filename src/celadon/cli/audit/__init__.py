"""`celadon audit`: objects that exist already, against policies that do not.

Read `audit_inputs` (paths to blocks of objects), `object_streams` (the forms that dumps have),
`audit_blocks` (what a block gives), `object_audit` (one object against the policies),
`audit_findings` (what came of many, put together), `audit_workers` (several processes), and
`audit_run`, which has it all in a row. `audit_report` is what formats show.
"""
