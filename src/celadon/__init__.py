"""Celadon: Kubernetes' admission control, anywhere Python runs.

Importing this package loads nothing else; use the rooms: `celadon.cel` (the language),
`celadon.kube` (the words of Kubernetes), `celadon.admission` (the engine).
"""

__version__ = "0.1.0"
