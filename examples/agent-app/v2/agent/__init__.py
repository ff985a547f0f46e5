"""An agent that tracks parcels, release 2."""

from agent.conversation import Conversation, Message
from agent.memory import Memory
from agent.state import TrackingState
from agent.summary import Summary

__all__ = ["Conversation", "Memory", "Message", "Summary", "TrackingState"]
