"""Expressions that somebody is typing: what stands before a place, whatever stands behind it.

context = typing_context("object.spec.containers.all(c, c.", 32, environment)
context.receiver, type_in(context.environment, context.receiver)
"""

from celadon.cel.unfinished.typing_context import (
    OpenCall,
    OpenMessage,
    TypingContext,
    type_in,
    typing_context,
)

__all__ = ["OpenCall", "OpenMessage", "TypingContext", "type_in", "typing_context"]
