from dataclasses import dataclass


@dataclass
class Ticket:
    title: str
