"""An agent that tracks parcels, release 1."""

from agent.conversation import Conversation, Message
from agent.memory import Memory
from agent.summary import Summary
from agent.tools import TrackingState

__all__ = ["Conversation", "Memory", "Message", "Summary", "TrackingState"]
