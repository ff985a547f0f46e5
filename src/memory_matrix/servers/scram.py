"""What Postgres keeps of a password, made so that a connection costs as little as it can."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os

_DIGEST = "sha256"


def verifier(password: str, *, iterations: int = 1, salt: bytes | None = None) -> str:
    """Return the SCRAM-SHA-256 verifier of `password`, which Postgres takes instead of it.

    Each connection derives a key `iterations` times, by default 4096 in Postgres, to slow down who
    guesses passwords: most of what connecting takes, and of no use where a password is random.
    """
    salt = os.urandom(16) if salt is None else salt
    derived = hashlib.pbkdf2_hmac(_DIGEST, password.encode(), salt, iterations)
    client_key = hmac.digest(derived, b"Client Key", _DIGEST)
    server_key = hmac.digest(derived, b"Server Key", _DIGEST)
    stored = hashlib.new(_DIGEST, client_key).digest()
    return f"SCRAM-SHA-256${iterations}:{_text(salt)}${_text(stored)}:{_text(server_key)}"


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
