"""The whole built-in corpus in one namespace: every `payload_NAME` and `probe_NAME` there is."""

from types import ModuleType
from typing import Any, Dict, Tuple

from memory_matrix.payloads import (
    callables,
    classes,
    containers,
    conversations,
    embeddings,
    enums,
    failures,
    libraries,
    numeric,
    records,
    references,
    standard,
    text,
    times,
)

THEMES: Tuple[ModuleType, ...] = (
    conversations,
    times,
    numeric,
    text,
    containers,
    enums,
    classes,
    records,
    references,
    callables,
    standard,
    failures,
    embeddings,
    libraries,
)


def _functions(module: ModuleType) -> Dict[str, Any]:
    return {
        name: value
        for name, value in vars(module).items()
        if name.startswith(("payload_", "probe_"))
    }


for _theme in THEMES:
    globals().update(_functions(_theme))
