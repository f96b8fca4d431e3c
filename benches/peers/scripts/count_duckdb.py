"""Lines by type on DuckDB, in one thread."""

import sys

import duckdb

QUERY = """
SELECT coalesce(type, 'null'), count(*)
FROM read_json(?, format = 'newline_delimited', columns = {type: 'VARCHAR'},
               ignore_errors = true, maximum_object_size = 67108864)
GROUP BY ALL ORDER BY 1
"""

db = duckdb.connect(config={"threads": 1})
for kind, count in db.execute(QUERY, [sys.argv[1:]]).fetchall():
    print(kind, count)
