"""Mutation testing: does a test fail when the program is wrong?

`make mutants` draws a sample of small mistakes (`mutations`) in the modules of `TARGETS`, finds out
which tests run the line in question (`relevant_tests`), runs those against each mistake (`trials`),
and lists the mistakes that nobody noticed (`__main__`). Why no tool from elsewhere does it is
decision 0011. Mistakes that change nothing anybody could see are in `equivalent.txt`, with reasons.
"""
