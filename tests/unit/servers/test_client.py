"""What a client says before it reaches a service, and what it imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from memory_matrix.servers.client import ADDRESS, ServerError, Servers
from support.tables import table


@pytest.mark.large
def test_the_client_needs_the_standard_library_alone() -> None:
    code = (
        "import json, sys; import memory_matrix.servers.client\n"
        "print(json.dumps(sorted({name.partition('.')[0] for name in sys.modules})))"
    )
    # Without site-packages there is nothing else to import: it fails where it needs more.
    source = Path(__file__).parents[3] / "src"
    command = [sys.executable, "-S", "-c", f"import sys; sys.path.append({str(source)!r})\n{code}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    others = set(json.loads(done.stdout)) - set(sys.stdlib_module_names) - {"__main__"}
    assert others == {"memory_matrix"}


@table("address", ["", "no key", "xyz:/path", "00ff", "00ff:"])
def test_what_is_no_address_is_a_sentence(address: str) -> None:
    with pytest.raises(ServerError, match=f"{ADDRESS} holds no address") as caught:
        Servers.at(address)
    assert caught.value.refused


def test_no_service_is_needed_before_a_server_is_wanted(tmp_path: Path) -> None:
    servers = Servers.at(f"00ff:{tmp_path}/socket")
    for ask in (servers.shared, servers.private):
        with pytest.raises(ServerError, match="cannot be reached") as caught:
            ask("redis")
        assert not caught.value.refused
    servers.close()
