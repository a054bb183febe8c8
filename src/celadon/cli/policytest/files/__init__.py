"""Files of kind PolicyTest to tests.

`file_format` is the JSON schema of what may be in them. `file_tests` makes a `PolicyTest` of a
document, with its cases and with objects that are inline, in files, or patches on others.
`snapshots` keep what a case came to.
"""
