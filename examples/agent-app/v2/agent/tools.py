"""The old place of the tool's state: what release 1 has pickled names it."""

from agent.state import TrackingState

__all__ = ["TrackingState"]
