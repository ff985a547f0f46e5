"""The payloads of the built-in corpus, apart those that take long."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from memory_matrix.payloads import builtin, libraries

PAYLOADS: dict[str, Callable[[], Any]] = {
    name.removeprefix("payload_"): function
    for name, function in vars(builtin).items()
    if name.startswith("payload_")
}
LARGE = [
    name
    for name, function in PAYLOADS.items()
    if name == "messages_10000" or function.__module__ == libraries.__name__
]
"""Of thousands of values, or of a library that takes long to import: not for the stage `unit`."""
SMALL = [name for name in PAYLOADS if name not in LARGE]
