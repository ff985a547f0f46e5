"""The report of an earlier run, from the artifact that its workflow made of it, by GitHub's REST API."""

from __future__ import annotations

import http.client
import json
import lzma
import time
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from http.client import HTTPMessage, HTTPResponse
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, urlsplit
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from memory_matrix.errors import MemoryMatrixError, UsageError
from memory_matrix.report.visible import visible

MOST_ANSWER = 20_000_000
MOST_ARCHIVE = 500_000_000
MOST_REPORT = 1_000_000_000
"""Bytes at most of an answer of the API, of an archive, and of the report in it."""
MOST_RUNS = 20
"""Runs that are looked at, the latest first."""
ATTEMPTS = 3
TIMEOUT = 30.0

_NAME = "report.json"
_PIECE = 1 << 20
_DAMAGE = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, EOFError, RuntimeError, OSError, ValueError,
)  # fmt: skip
"""What unpacking raises, by the way it is packed; RuntimeError where it needs a password."""
_AGAIN = frozenset({429, 500, 502, 503, 504})


@dataclass(frozen=True)
class Source:
    """Where earlier runs are looked for."""

    api: str
    repository: str
    run: str
    """The number of a run of the workflow, this one."""
    branch: str
    """The base branch; empty for the repository's default one."""
    token: str = ""
    pause: float = 2.0
    """Seconds before an attempt is made again."""

    @classmethod
    def of(cls, environ: Mapping[str, str], token: str) -> Source:
        """Return what the runner's variables say.

        Raises:
            UsageError: this is no workflow of GitHub Actions, or its API is nowhere.
        """
        repository, run = environ.get("GITHUB_REPOSITORY", ""), environ.get("GITHUB_RUN_ID", "")
        if not (repository and run):
            raise UsageError(
                "A baseline of an artifact needs a workflow of GitHub Actions: GITHUB_REPOSITORY or"
                " GITHUB_RUN_ID is not set."
            )
        api = environ.get("GITHUB_API_URL") or "https://api.github.com"
        if not _is_address(api):
            raise UsageError(
                f"GITHUB_API_URL is {visible(api)!r}, and not the address of GitHub's REST API, such"
                " as 'https://api.github.com'."
            )
        return cls(api, repository, run, environ.get("GITHUB_BASE_REF", ""), token)

    def url(self, path: str, **query: str) -> str:
        """Return the address of something of the repository."""
        pairs = "&".join(f"{key}={quote(value, safe='')}" for key, value in query.items())
        place = f"{self.api.rstrip('/')}/repos/{quote(self.repository)}{path}"
        return f"{place}?{pairs}" if pairs else place


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:  # brackets of no address, a port that is no number
        return False


def fetch(source: Source, name: str, folder: Path) -> Path | None:
    """Put the report in the artifact `name` of the last run that was good into `folder`.

    Runs are those of the workflow on the base branch of this repository: never of a pull request, whose
    author may call a branch anything. Returns where it is; None where no run has such an artifact.

    Raises:
        MemoryMatrixError: GitHub does not answer, or turns the token away; the artifact is damaged, or
            has no report.
    """
    address = _address(source, name)
    if address is None:
        return None
    folder.mkdir(parents=True)
    archive = folder / "artifact.zip"
    with _opened(source, address) as answer, archive.open("xb") as file:
        _copy(answer, file, MOST_ARCHIVE, f"artifact {name!r}")
    report = folder / _NAME
    _extract(archive, report, name)
    archive.unlink()
    return report


def _address(source: Source, name: str) -> str | None:
    """Return where the archive of the artifact `name` is."""
    for run in _runs(source):
        found = _asked(source, source.url(f"/actions/runs/{run}/artifacts", name=name))
        for artifact in _items(found, "artifacts"):
            if artifact.get("name") == name and not artifact.get("expired"):
                return source.url(f"/actions/artifacts/{_number(artifact, 'id')}/zip")
    return None


def _runs(source: Source) -> list[int]:
    """Return the numbers of the runs to look at, the latest first."""
    branch = source.branch or str(_asked(source, source.url("")).get("default_branch"))
    this = _asked(source, source.url(f"/actions/runs/{quote(source.run)}"))
    where = f"/actions/workflows/{_number(this, 'workflow_id')}/runs"
    query = {"branch": branch, "status": "success", "per_page": "100"}
    found = _items(_asked(source, source.url(where, **query)), "workflow_runs")
    own = [_number(run, "id") for run in found if _is_own(run, source, branch)]
    return own[:MOST_RUNS]


def _is_own(run: Mapping[str, Any], source: Source, branch: str) -> bool:
    head = run.get("head_repository")
    name = head.get("full_name") if isinstance(head, dict) else None
    return (
        not str(run.get("event")).startswith("pull_request")
        and run.get("conclusion") == "success"
        and run.get("head_branch") == branch
        and str(name).casefold() == source.repository.casefold()
    )


def _items(answer: Mapping[str, Any], key: str) -> list[dict[str, Any]]:
    found = answer.get(key)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def _number(item: Mapping[str, Any], key: str) -> int:
    number = item.get(key)
    if not isinstance(number, int):
        raise MemoryMatrixError(f"GitHub's API gives no number for {key}, but {number!r}.")
    return number


def _asked(source: Source, url: str) -> Mapping[str, Any]:
    """Return the object that the API answers with.

    Raises:
        MemoryMatrixError: it does not.
    """
    with _opened(source, url) as answer:
        text = answer.read(MOST_ANSWER + 1)
    try:
        found = json.loads(text) if len(text) <= MOST_ANSWER else None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise MemoryMatrixError(f"What GitHub's API answers cannot be read: {url}.")
    return found


@contextmanager
def _opened(source: Source, url: str) -> Iterator[HTTPResponse]:
    """Ask for `url`, again where that may help.

    Raises:
        MemoryMatrixError: it cannot be had.
    """
    answer = _attempts(source, url)
    try:
        yield answer
    except (OSError, http.client.HTTPException) as error:
        raise MemoryMatrixError(f"GitHub's API broke off while it answered: {error}.") from error
    finally:
        answer.close()


def _attempts(source: Source, url: str) -> HTTPResponse:
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _attempt(source, url)
        except HTTPError as error:
            error.close()
            if error.code not in _AGAIN or attempt == ATTEMPTS:
                raise MemoryMatrixError(_refusal(source, url, error)) from None
        except (URLError, OSError, http.client.HTTPException) as error:
            if attempt == ATTEMPTS:
                reason = getattr(error, "reason", error)
                raise MemoryMatrixError(f"GitHub's API does not answer: {url}: {reason}.") from None
        time.sleep(source.pause)
    raise AssertionError


def _attempt(source: Source, url: str) -> HTTPResponse:
    request = Request(url, headers={"Accept": "application/vnd.github+json"})  # noqa: S310 - the API's
    if source.token:
        request.add_unredirected_header("Authorization", f"Bearer {source.token}")
    answer: HTTPResponse = _opener().open(request, timeout=TIMEOUT)
    return answer


@cache
def _opener() -> OpenerDirector:
    return build_opener(_Redirects)


class _Redirects(HTTPRedirectHandler):
    """Follows a redirect with the token only to where the token was meant for, and never to less safety."""

    def http_error_302(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage
    ) -> Any:
        """Follow it; what is no address at all is an error like any other."""
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except ValueError as error:
            fp.close()
            raise URLError(f"it redirects to no address: {error}") from None

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        made = super().redirect_request(req, fp, code, msg, headers, newurl)
        old, new = urlsplit(req.full_url), urlsplit(newurl)
        if new.scheme not in {"https", old.scheme}:
            raise URLError(f"it redirects to {new.scheme}://")
        token = req.unredirected_hdrs.get("Authorization")
        if made is not None and token and (old.scheme, old.netloc) == (new.scheme, new.netloc):
            made.add_unredirected_header("Authorization", token)
        return made


def _refusal(source: Source, url: str, error: HTTPError) -> str:
    said = f"GitHub's API answers {error.code} to {url}"
    if error.code not in {401, 403, 404}:
        return f"{said}: {visible(str(error.reason))}."
    token = "the token may not read it" if source.token else "there is no token"
    return f"{said}: {token}; give the job `permissions: actions: read`, and the action its token."


def _copy(source: IO[bytes] | HTTPResponse, target: IO[bytes], most: int, what: str) -> None:
    """Copy at most `most` bytes.

    Raises:
        MemoryMatrixError: there are more.
    """
    while piece := source.read(_PIECE):
        most -= len(piece)
        if most < 0:
            raise MemoryMatrixError(
                f"The {what} is larger than a report can be; nothing was read of it."
            )
        target.write(piece)


def _extract(archive: Path, report: Path, name: str) -> None:
    """Write the report in `archive` to `report`, whatever paths the archive names."""
    try:
        with zipfile.ZipFile(archive) as opened:
            member = _member(opened, name)
            with opened.open(member) as packed, report.open("xb") as file:
                _copy(packed, file, MOST_REPORT, f"report in the artifact {name!r}")
    except _DAMAGE as error:
        raise MemoryMatrixError(f"The artifact {name!r} cannot be unpacked: {error}.") from None


def _member(archive: zipfile.ZipFile, name: str) -> zipfile.ZipInfo:
    """Return the one report.json that is least deep in `archive`."""
    paths = [(each, PurePosixPath(each.filename)) for each in archive.infolist()]
    reports = [(len(path.parts), each) for each, path in paths if path.name == _NAME]
    least = min((depth for depth, _ in reports), default=0)
    found = [each for depth, each in reports if depth == least]
    if len(found) != 1:
        number = "no" if not found else "more than one"
        raise MemoryMatrixError(f"The artifact {name!r} of the baseline has {number} {_NAME}.")
    return found[0]
