"""What the agent remembers, built by each release with its own classes."""

from datetime import datetime, timezone

from agent import Conversation, Summary, TrackingState


def payload_conversation():
    conversation = Conversation()
    conversation.say("user", "Where is parcel 42?")
    conversation.say("assistant", "In Ghent, and with you tomorrow.")
    return conversation


def probe_conversation(value):  # what the app makes of it, whatever the fields are called
    return value.transcript()


def payload_tracking():
    state = TrackingState(parcel=42)
    state.arrived("Antwerp")
    state.arrived("Ghent")
    return state


def payload_summary():
    at = datetime(2026, 3, 1, 9, 30, tzinfo=timezone.utc)
    return Summary("Asked for parcel 42, which is in Ghent.", turns=2, at=at)
