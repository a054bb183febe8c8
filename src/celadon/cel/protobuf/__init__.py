"""Protobuf messages in CEL: the extra `celadon[protobuf]`, on the `protobuf` package.

    types = ProtobufTypes(pool)                        # or ProtobufTypes() for generated modules
    env = Environment({"x": object_type("my.Message")}, types=types)
    program = env.program(env.compile("my.Other{name: x.name}").checked())
    program.evaluate({"x": types.value(message)})      # a Message; its `.message` is protobuf's

Nothing else in Celadon imports this package. Read first: `provider` (descriptors to types of CEL),
then `message_conversion` (values in both directions).
"""

from celadon.cel.protobuf.messages import EnumValue, Message
from celadon.cel.protobuf.provider import ProtobufTypes

__all__ = ["EnumValue", "Message", "ProtobufTypes"]
