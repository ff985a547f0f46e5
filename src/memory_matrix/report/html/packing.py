"""Data and code as they stand in the page: nothing in them can end their element or be run."""

from __future__ import annotations

import base64
import hashlib
import json
import zlib

MOST_PLAIN = 300_000
"""Characters of data that stand in the page as they are; what is longer is compressed."""

_ESCAPES = {ord(each): f"\\u{ord(each):04x}" for each in "<>&\u2028\u2029"}


def script_json(data: object) -> str:
    """Return `data` as JSON in ASCII that may stand in a script element."""
    return json.dumps(data, separators=(",", ":")).translate(_ESCAPES)


def packed(text: str) -> str:
    """Return `text`, all ASCII, compressed: a zlib stream in base 64."""
    return base64.b64encode(zlib.compress(text.encode("ascii"), 6)).decode("ascii")


def source_hash(text: str) -> str:
    """Return what a Content-Security-Policy allows an inline script or style `text` by."""
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
