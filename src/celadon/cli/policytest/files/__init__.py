"""Files of kind PolicyTest to tests.

`file_format` is the JSON schema of what may be in them. `file_tests` makes a `PolicyTest` of a
document, with `case_fields` for its cases and `given_objects` for objects that are inline, in
files, or patches on others.
"""
