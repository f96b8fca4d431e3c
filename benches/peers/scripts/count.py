"""Lines by type on orjson."""

import sys
from collections import Counter

import orjson

counts = Counter()
for name in sys.argv[1:]:
    with open(name, "rb", buffering=1 << 20) as file:
        for line in file:
            try:
                counts[orjson.loads(line).get("type") or "null"] += 1
            except orjson.JSONDecodeError:
                pass
for kind in sorted(counts):
    print(kind, counts[kind])
