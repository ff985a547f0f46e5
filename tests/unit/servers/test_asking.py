"""What is said of servers that do not answer, and how long they are asked."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from memory_matrix.errors import UnavailableError
from memory_matrix.matrix.model import ServerKind
from memory_matrix.servers import asking
from memory_matrix.servers.asking import Answer, NotReadyError, ask_until_ready, without_secrets
from support.tables import table


@table(
    "url",
    [
        "redis://:pa%20ss@h/0",
        "postgresql://me:pa%20ss@h:5432/db",
        "postgresql://h/db?user=me&password=pa%20ss",
        "postgresql://h/db?user=me&sslpassword=pa%20ss",
    ],
)
@table("message", ['bad "pa%20ss"', "bad\n\tpa ss."])
def test_a_message_has_no_password_in_any_spelling(url: str, message: str) -> None:
    cleaned = without_secrets(message, url)
    assert "pa%20ss" not in cleaned
    assert "pa ss" not in cleaned
    assert "bad" in cleaned


def test_a_short_password_does_not_spoil_the_words_around_it() -> None:
    cleaned = without_secrets('it does not exist: "x"', "redis://:x@h/0")
    assert cleaned == 'it does not exist: "***"'


def test_a_message_is_one_short_line() -> None:
    cleaned = without_secrets("a\n" * 1000, "redis://h")
    assert len(cleaned) == 300
    assert "\n" not in cleaned


def test_an_url_that_cannot_be_read_is_not_repeated() -> None:
    assert without_secrets("cannot read x://[:hush", "x://[:hush") == "cannot read ***"


class Clock:
    """Time that passes only when somebody waits."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(asking.time, "monotonic", clock.monotonic)
    return clock


def outcome(
    monkeypatch: pytest.MonkeyPatch,
    clock: Clock,
    answers: Iterator[Answer | NotReadyError],
    ended: str | None = None,
) -> Answer:
    def ask(kind: ServerKind, url: str, *, timeout: float = 10) -> Answer:
        answer = next(answers)
        if isinstance(answer, NotReadyError):
            raise answer
        return answer

    monkeypatch.setattr(asking, "ask", ask)
    return ask_until_ready("redis", "redis://h", timeout=20, pause=clock.pause, ended=lambda: ended)


def always(error: NotReadyError) -> Iterator[NotReadyError]:
    while True:
        yield error


def test_it_is_asked_until_it_answers(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    answer = Answer("8.0.2", "Redis")
    replies = [NotReadyError("no"), NotReadyError("no", refused=True), answer]
    assert outcome(monkeypatch, clock, iter(replies)) == answer


def test_silence_ends_at_the_time_limit(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    with pytest.raises(UnavailableError, match="did not answer within 20 s: nobody there"):
        outcome(monkeypatch, clock, always(NotReadyError("nobody there")))
    assert clock.now == pytest.approx(20, abs=0.1)


def test_a_lasting_refusal_is_called_a_refusal_and_sooner(
    monkeypatch: pytest.MonkeyPatch, clock: Clock
) -> None:
    with pytest.raises(UnavailableError, match="refuses its client: wrong password"):
        outcome(monkeypatch, clock, always(NotReadyError("wrong password", refused=True)))
    assert clock.now < 5


def test_a_refusal_that_passes_is_forgotten(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    refusal, silence = NotReadyError("no", refused=True), NotReadyError("nobody")
    replies = [*[refusal] * 200, silence, *[refusal] * 200, Answer("1", "Redis")]
    assert outcome(monkeypatch, clock, iter(replies)).version == "1"


def test_an_ended_process_is_not_waited_for(monkeypatch: pytest.MonkeyPatch, clock: Clock) -> None:
    with pytest.raises(UnavailableError, match="out of luck"):
        outcome(monkeypatch, clock, always(NotReadyError("nobody")), ended="out of luck")
    assert clock.now == 0
