"""API priority and fairness: decides which requests are answered at once, and which of them wait.

A FlowSchema says of a request to which priority level it belongs and from which flow it comes. A
level has seats; a request that finds none waits in a queue of its level, or is rejected. Flows are
dealt over the queues, so that one that asks for much delays few others, and queues take turns by
the time that their requests took. A request takes as many seats as it is expected to make work, and
levels lend each other what they do not need. Read first `flow_control`, then `priority_levels`.
As k8s.io/apiserver `pkg/util/flowcontrol` and `pkg/server/filters/priority-and-fairness.go`
(docs/operation.md).
"""
