"""Tracing: what every part of an expression came to, and where in the text it stands.

    recorder = TraceRecorder()
    program.evaluate_traced(activation, recorder)    # values, errors and costs as ever
    recorder.frame.outcomes[node_id]                 # what a part came to, and its cost
    written_tree(program.checked.ast)                # the parts as they are written, with spans

`recorders` has what is kept; the variant of programs that tells it is `cel.codegen.traced`
(decision 0023). A part that has no outcome was not evaluated: something else decided.
`unexpanded_tree` is the tree of a text before macros are expanded.
"""

from celadon.cel.tracing.recorders import Frame, Outcome, Recorder, Round, Rounds, TraceRecorder
from celadon.cel.tracing.unexpanded import unexpanded_tree
from celadon.cel.tracing.written_tree import Written, written_tree

__all__ = [
    "Frame",
    "Outcome",
    "Recorder",
    "Round",
    "Rounds",
    "TraceRecorder",
    "Written",
    "unexpanded_tree",
    "written_tree",
]
