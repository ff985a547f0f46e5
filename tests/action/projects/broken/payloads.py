try:
    from models import Ticket
except ImportError:
    from tickets import Ticket


def payload_ticket():
    return Ticket("tea")


def payload_turns():
    return ["user", "assistant"]
