"""`celadon diff`: two sets of policies, and a request that they decide differently.

Read `git_files` (the files of a revision), `sides` (files to policies in force), `diff_report`
(what is said) and `diff_run` (questions to answers).
"""
