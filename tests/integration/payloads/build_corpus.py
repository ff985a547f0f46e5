"""Run by an interpreter under test: builds the corpus twice and prints as JSON what came of it."""

import json
import sys
import types

package = types.ModuleType("memory_matrix")
package.__path__ = [sys.argv[1]]
sys.modules["memory_matrix"] = package

before = set(sys.modules)

from memory_matrix.payloads import builtin
from memory_matrix.payloads.lacking import Lacking
from memory_matrix.serializers import builtin as serializers

imported = sorted({name.partition(".")[0] for name in set(sys.modules) - before})

from memory_matrix.worker import compare, describe

PLAIN = {"role": "user", "tokens": 3, "parts": [None, True, 1.5, "text"]}


def look(name):
    value = getattr(builtin, "payload_" + name)()
    probe = getattr(builtin, "probe_" + name, None)
    return describe.describe(value if probe is None else probe(value))


def build(name):
    try:
        first, second = look(name), look(name)
    except Lacking as lacking:
        return {"lacking": str(lacking)}
    differences = [str(difference) for difference in compare.compare(first, second)]
    return {"digest": describe.digest(describe.encode(first)), "differences": differences}


def round_trip(name):
    try:
        serializer = serializers.load(name)
        return {"same": serializer.loads(serializer.dumps(PLAIN)) == PLAIN}
    except Lacking as lacking:
        return {"lacking": str(lacking)}
    except ImportError as error:
        return {"missing": error.name}


names = [name[len("payload_") :] for name in vars(builtin) if name.startswith("payload_")]
result = {
    "payloads": {name: build(name) for name in names},
    "serializers": {name: round_trip(name) for name in serializers.NAMES},
    "imported": imported,
}
print(json.dumps(result))
