"""Sessions with the clients that people use: kubectl, helm, and libraries for Python.

What they print and return is what users would notice if the server were a little different from
kube-apiserver. One server for all; each test has a namespace of its own.
"""
