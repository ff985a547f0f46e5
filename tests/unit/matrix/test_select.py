"""`--select` keeps the part of a matrix that is asked for, and never keeps silent about a typo."""

from __future__ import annotations

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.matrix.model import Matrix
from memory_matrix.matrix.select import Part, narrow, narrow_parts, parse
from support.tables import table

from .conftest import ReadText

TEXT = """
[axes]
python = ["3.10", "3.12"]
packages = {pydantic = ["==1.10.*", ">=2,<3"]}

[[environment]]
name = "production"
python = "3.11"
app = "."

[compat]
serializers = ["pickle", "pickle:4", "json"]

[[known]]
writer = "production"
payload = "tool_state"
reason = "known"

[servers]
postgres = ["pgvector/pgvector:pg17"]
redis = ["redis:8.0", "valkey/valkey:9.1"]

[suite]
stores = ["memory_matrix.stores:PostgresStore", "app.stores:Main", "other.stores:Main"]
serializers = ["json", "orjson"]
"""


@pytest.fixture
def matrix(read_text: ReadText) -> Matrix:
    return read_text(TEXT)


def names(matrix: Matrix) -> list[str]:
    return [each.name for each in matrix.environments]


@table(
    ("expression", "expected"),
    [
        ("environment=production", ["production"]),
        ("python=3.11", ["production"]),
        ("python=3.1[02] pydantic==1.10.*", ["py3.10-pydantic==1.10.*", "py3.12-pydantic==1.10.*"]),
        ("python=3.10,pydantic='>=2,<3'", ["py3.10-pydantic>=2,<3"]),
        ('python=3.10,"pydantic=>=2,<3"', ["py3.10-pydantic>=2,<3"]),
        ("Pydantic=*2*  python=3.12", ["py3.12-pydantic>=2,<3"]),
        ("python=3.11,python=3.10,pydantic==1.10.*", ["py3.10-pydantic==1.10.*"]),
        ("app=.", ["production"]),
        (
            "writer=production reader=py3.12-pydantic==1.10.*",
            ["py3.12-pydantic==1.10.*", "production"],
        ),
        ("environment=py3.12-pydantic==1.10.*", ["py3.12-pydantic==1.10.*"]),
    ],
)
def test_environments_are_selected(matrix: Matrix, expression: str, expected: list[str]) -> None:
    assert names(narrow(matrix, parse(expression))) == expected


def test_a_writer_alone_keeps_every_reader(matrix: Matrix) -> None:
    assert names(narrow(matrix, parse("writer=production"))) == names(matrix)


def test_serializers_and_servers_are_selected(matrix: Matrix) -> None:
    narrowed = narrow(matrix, parse("serializer=pickle* server=redis:*,server=pg17"))

    assert narrowed.compat.serializers == ("pickle", "pickle:4")
    assert [each.name for each in narrowed.servers] == ["pg17", "redis:8.0"]
    assert narrowed.environments == matrix.environments


@table(
    ("expression", "stores"),
    [
        ("store=memory_matrix.stores:*", ["memory_matrix.stores:PostgresStore"]),
        ("store=PostgresStore", ["memory_matrix.stores:PostgresStore"]),
        ("store=Main", ["app.stores:Main", "other.stores:Main"]),
        ("store=app.stores:Main", ["app.stores:Main"]),
        ("store=Post*,store=other*", ["memory_matrix.stores:PostgresStore", "other.stores:Main"]),
    ],
)
def test_stores_are_selected_whole_or_by_the_name_of_the_object(
    matrix: Matrix, expression: str, stores: list[str]
) -> None:
    assert narrow(matrix, parse(expression), "suite").suite.stores == tuple(stores)


def test_the_suite_has_serializers_of_its_own(matrix: Matrix) -> None:
    narrowed = narrow(matrix, parse("serializer=orjson"), "suite")

    assert narrowed.suite.serializers == ("orjson",)
    assert narrowed.compat == matrix.compat


def test_where_no_server_of_a_kind_is_selected_the_suite_keeps_them_for_stores_of_both(
    matrix: Matrix,
) -> None:
    narrowed = narrow(matrix, parse("server=valkey*"), "suite")

    assert [each.name for each in narrowed.servers] == ["pg17", "valkey:9.1"]


def test_cases_are_asked_one_by_one(matrix: Matrix) -> None:
    selection = parse("case=vec_*")

    assert narrow(matrix, selection, "suite") == matrix
    assert selection.allows("case", "vec_zero_query")
    assert not selection.allows("case", "text_ascii_round_trip")


@table(
    ("expression", "on", "serializer", "allowed"),
    [
        ("", [], None, True),
        ("server=pg*", ["pg17", "redis:8.0"], None, True),
        ("server=pg*", ["redis:8.0"], None, False),
        ("server=pg*", [], None, False),
        ("serializer=json", ["pg17"], "json", True),
        ("serializer=json", ["pg17"], "orjson", False),
        ("serializer=*", ["pg17"], None, False),
        ("serializer=json server=pg*", ["redis:8.0"], "json", False),
    ],
)
def test_cells_of_the_suite_stay_with_a_selected_server_and_serializer(
    expression: str, on: list[str], serializer: str | None, allowed: bool
) -> None:
    assert parse(expression).allows_on(on, serializer) is allowed


def test_terms_narrow_the_parts_that_they_speak_about(matrix: Matrix) -> None:
    selection = parse("writer=production,reader=production store=Main serializer=*json app=.")

    parts = narrow_parts(matrix, parse("writer=production,reader=production store=Main"))
    assert names(parts["compat"]) == ["production"]
    assert names(parts["suite"]) == names(matrix)
    assert parts["suite"].suite.stores == ("app.stores:Main", "other.stores:Main")
    assert parts["compat"].suite == matrix.suite

    parts = narrow_parts(matrix, selection)
    assert names(parts["compat"]) == names(parts["suite"]) == ["production"]
    assert parts["compat"].compat.serializers == ("json",)
    assert parts["suite"].suite.serializers == ("json", "orjson")


def test_a_serializer_of_one_part_alone_leaves_the_other_without(matrix: Matrix) -> None:
    parts = narrow_parts(matrix, parse("serializer=orjson"))

    assert parts["compat"].compat.serializers == ()
    assert parts["suite"].suite.serializers == ("orjson",)
    with pytest.raises(UsageError, match="matches no serializer"):
        narrow_parts(matrix, parse("serializer=dill"))


@table(
    ("part", "expression", "sentence"),
    [
        ("suite", "writer=production", "writer speaks about compat only; for suite, there are env"),
        ("suite", "payload=*", "payload speaks about compat only; .*, server, store, case, pydan"),
        ("compat", "store=Main", "store speaks about suite only; for compat, there are environ"),
        ("compat", "case=vec_*", "case speaks about suite only; .*, payload, server, pydantic"),
        ("suite", "stor=Main", 'there is no key "stor"; .* Did you mean "store"?'),
        ("suite", "serializer=pickle", 'matches no serializer; there are "json", "orjson"'),
        ("compat", "serializer=orjson", 'matches no serializer; there are "pickle"'),
        ("suite", "store=Man", 'matches no store; there are "memory_matrix.stores:Postg'),
        ("suite", "python=3.11 pydantic=*", "leaves no environment; there are "),
    ],
)
def test_each_part_says_what_can_be_selected_there(
    matrix: Matrix, part: Part, expression: str, sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        narrow(matrix, parse(expression), part)


@table("part", ["compat", "suite"])
@table("expression", ["", "  ", " , ,"])
def test_an_empty_expression_selects_everything(
    matrix: Matrix, expression: str, part: Part
) -> None:
    selection = parse(expression)

    assert narrow(matrix, selection, part) == matrix
    assert selection.allows("payload", "anything")


def test_payloads_are_asked_one_by_one() -> None:
    selection = parse("payload=tool_*,payload=summary")

    assert selection.allows("payload", "tool_state")
    assert selection.allows("payload", "summary")
    assert not selection.allows("payload", "history")
    assert selection.allows("serializer", "json")


@table(
    ("expression", "kept"),
    [
        ("writer=production", 1),
        ("writer=py3.12*", 0),
        ("environment=py3.12*", 0),
        ("payload=tool_state", 1),
        ("payload=history", 0),
        ("serializer=json", 1),
    ],
)
def test_expected_breaks_that_cannot_show_are_left_out(
    matrix: Matrix, expression: str, kept: int
) -> None:
    assert len(narrow(matrix, parse(expression)).known) == kept


@table(
    ("expression", "sentence"),
    [
        ("writter=production", 'there is no key "writter"; .* Did you mean "writer"?'),
        ("msgpack=*", 'there is no key "msgpack"; .*, server, pydantic'),
        ("environment=prodction", 'no environment; there are .* Did you mean "production"?'),
        ("python=3.10,python=3.13", '"python=3.13" matches no python; there are "3.10", "3.12"'),
        ("pydantic=1.10.*", 'matches no pydantic; there are "==1.10.*", ">=2,<3"'),
        ("serializer=yaml", 'matches no serializer; there are "pickle"'),
        ("server=pg18", 'matches no server; there are "pg17", .* Did you mean "pg17"?'),
        ("app=git:*", 'matches no app; there are "."'),
        ("python=3.11 pydantic=*", "leaves no environment; there are "),
    ],
)
def test_what_selects_nothing_is_refused(matrix: Matrix, expression: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        narrow(matrix, parse(expression))


@table(
    ("expression", "sentence"),
    [
        ("production", "is no key=glob"),
        ("=3.12", "is no key=glob"),
        ("pydantic=>=2,<3", '"<3": this is no key=glob, .* quote a value'),
        ("python='3.12", "a quote is not closed"),
        ("python=", "is no key=glob"),
    ],
)
def test_what_is_no_expression_is_refused(expression: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        parse(expression)


def test_what_there_is_is_listed_up_to_ten(read_text: ReadText) -> None:
    values = ", ".join(f'"=={number}"' for number in range(30))
    matrix = read_text(f"[axes.packages]\nmsgpack = [{values}]\n")

    with pytest.raises(UsageError, match='"==9" and 20 more'):
        narrow(matrix, parse("msgpack=none"))


def test_a_selection_can_be_given_again_as_it_is_shown(matrix: Matrix) -> None:
    selection = parse("""python=3.10,"pydantic=>=2,<3" payload="it's" "environment=a,b" case=*""")

    assert parse(str(selection)) == selection
