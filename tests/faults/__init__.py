"""What goes wrong around a server: deaths, floods, clients without manners.

The tests are short; `make soak` does the same for long (`python -m tests.faults`). All traffic is
on the loopback, and everything is bounded in number and time.
"""
