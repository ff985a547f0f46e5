"""uv's reasons, as people read them in a report."""

from __future__ import annotations

import pytest

from memory_matrix.environments.words import LONGEST, last_log_line, shorten

UNSOLVABLE_NEW = """\
Using CPython 3.12.1 interpreter at: /somewhere/python
error: No solution found when resolving dependencies
  cause: Because demo<=2 was yanked and only these are available:
             demo<=2
             demo>=3
         we can conclude that demo cannot be used.

hint: Pre-releases are available
"""
UNSOLVABLE_OLD = """\
  \u00d7 No solution found when resolving dependencies:
  \u2570\u2500\u25b6 Because there is no version of demo==99 and you require demo==99, we
      can conclude that your requirements are unsatisfiable.
"""
FAILED_BUILD = """\
error: Failed to build `demo @ file:///home/me/demo`
  cause: The build backend returned an error
  cause: Call to `backend.build` failed (exit status: 1)

         [stdout]
         progress

         [stderr]
         Traceback (most recent call last):
           File "<string>", line 3, in go

         RuntimeError: needs libfoo

hint: Build failures usually indicate a problem
"""
FAILED_BUILD_OLD = """\
  \u00d7 Failed to build `demo`
  \u251c\u2500\u25b6 The build backend returned an error
  \u2570\u2500\u25b6 Call to `backend.build` failed (exit status: 1)

      [stderr]
      RuntimeError: needs libfoo

      hint: This usually indicates a problem with the package.
"""


def test_an_error_and_its_causes_become_one_line() -> None:
    assert shorten(UNSOLVABLE_NEW) == (
        "No solution found when resolving dependencies: Because demo<=2 was yanked and only these "
        "are available: demo<=2 demo>=3 we can conclude that demo cannot be used."
    )


def test_the_drawn_form_of_older_releases_is_read_too() -> None:
    assert shorten(UNSOLVABLE_OLD) == (
        "No solution found when resolving dependencies: Because there is no version of demo==99 and "
        "you require demo==99, we can conclude that your requirements are unsatisfiable."
    )


@pytest.mark.parametrize("stderr", [FAILED_BUILD, FAILED_BUILD_OLD])
def test_a_failed_build_ends_with_the_last_line_of_its_backend(stderr: str) -> None:
    text = shorten(stderr)

    assert text.startswith("Failed to build `demo")
    assert text.endswith("failed (exit status: 1): RuntimeError: needs libfoo")
    assert "hint" not in text


def test_colours_and_credentials_are_left_out() -> None:
    text = shorten(
        "\x1b[1m\x1b[31merror\x1b[39m\x1b[0m: Failed to fetch: `https://me:secret@index.test/simple/x/`"
    )

    assert text == "Failed to fetch: `https://***@index.test/simple/x/`"


def test_words_without_any_label_give_their_last_line() -> None:
    assert shorten("something\nwent wrong\n\n") == "went wrong"


def test_no_words_give_no_text() -> None:
    assert shorten("") == ""


def test_a_very_long_reason_is_cut() -> None:
    text = shorten("error: " + "word " * 1000)

    assert len(text) <= LONGEST
    assert text.endswith("...")


def test_a_rule_under_a_requirement_is_left_out() -> None:
    text = shorten("error: Couldn't parse `-`\n  cause: no such operator\n    demo=9\n        ^^\n")

    assert text == "Couldn't parse `-`: no such operator demo=9"


def test_the_last_line_of_a_log_is_the_one_before_the_error() -> None:
    assert last_log_line("Building wheel...\nOSError: no README\nerror: Failed\n") == (
        "OSError: no README"
    )
    assert last_log_line("error: Failed\n") == ""
