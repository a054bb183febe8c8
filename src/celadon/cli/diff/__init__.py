"""`celadon diff`: two sets of policies, and a request that they decide differently.

`diff_run` has it all in a row: the files of a revision, files to policies in force, questions to
answers, and what is said.
"""
