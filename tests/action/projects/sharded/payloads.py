import os
import sys
import types

RELEASE = os.environ["RELEASE"]

# Each release has its tickets in a module of its own name; the even ones keep v1's as well.
for name in ("v1", f"v{RELEASE}") if RELEASE in "24" else (f"v{RELEASE}",):
    module = types.ModuleType(name)
    exec("class Ticket(str):\n    pass", module.__dict__)
    module.Ticket.__module__ = name
    sys.modules[name] = module

Ticket = sys.modules[f"v{RELEASE}"].Ticket


def payload_ticket():
    return Ticket("tea")


def payload_turns():
    return ["user", "assistant"]
