"""Verifiers of passwords, against the example of RFC 7677."""

from __future__ import annotations

import base64
import hashlib
import hmac

from memory_matrix.servers.scram import verifier

SALT = base64.b64decode("W22ZaJ0SNY7soEsUEjb6gQ==")
MESSAGE = (
    b"n=user,r=rOprNGfwEbeRWgbNEkqO,"
    b"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
    b"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
)
PROOF = base64.b64decode("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
SIGNATURE = base64.b64decode("6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")


def test_the_proof_and_the_signature_of_the_standards_example_hold() -> None:
    made = verifier("pencil", iterations=4096, salt=SALT)

    head, keys = made.rsplit("$", 1)
    stored, server_key = map(base64.b64decode, keys.split(":"))
    assert head == "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ=="
    assert hmac.digest(server_key, MESSAGE, "sha256") == SIGNATURE
    masked = hmac.digest(stored, MESSAGE, "sha256")
    client_key = bytes(one ^ other for one, other in zip(PROOF, masked, strict=True))
    assert hashlib.sha256(client_key).digest() == stored


def test_each_verifier_has_a_salt_of_its_own_and_one_iteration() -> None:
    first, second = verifier("x"), verifier("x")

    assert first.startswith("SCRAM-SHA-256$1:")
    assert first != second
