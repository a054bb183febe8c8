"""The commands: files in, verdicts out, and an exit code a pipeline can trust.

Start with `main` (arguments and the table of commands), then `commands.check` and `check` (the main
job); `check.manifests` says which document plays which part. `reading` turns files into documents,
`output` is the only module that prints. Nothing imports this room.
"""
