"""Writes tables of a folder, runs the queries of a Markdown file over them, and restores the folder."""

import filecmp
import os
import re
import shutil
import subprocess
import sys
import time

import duckdb

convert, questions, folder = sys.argv[1:]


def run(*arguments):
    start = time.time()
    status = subprocess.run([convert, *arguments]).returncode
    if status not in (0, 1):
        sys.exit(f"{' '.join(arguments)}: status {status}")
    return time.time() - start


def files_of(root):
    return {
        os.path.relpath(os.path.join(path, name), root)
        for path, _, names in os.walk(root)
        for name in names
    }


for name in ("tables", "raw", "restored"):
    shutil.rmtree(name, ignore_errors=True)

print(f"tables of {folder}: {run('tables', '-q', '-o', 'tables', folder):.2f} s")
database = duckdb.connect()
title = ""
n_empty = 0
for heading, block in re.findall(r"^## ([^\n]*)$|^```sql\n(.*?)^```$", open(questions).read(), re.S | re.M):
    title = heading or title
    for statement in filter(str.strip, block.split(";")):
        start = time.time()
        result = database.execute(statement)
        if title:
            rows = len(result.fetchall())
            n_empty += rows == 0
            print(f"{time.time() - start:6.2f} s {rows:4} rows  {title}")
if n_empty > 5:
    sys.exit(f"{n_empty} queries without a result")

took = run("tables", "-q", "--with-raw", "-o", "raw", folder)
took_back = run("restore", "raw", "-o", "restored")
sources = files_of(folder)
differing = [
    name
    for name in sorted(sources)
    if not os.path.exists(os.path.join("restored", name))
    or not filecmp.cmp(os.path.join(folder, name), os.path.join("restored", name), shallow=False)
]
print(f"with raw lines {took:.2f} s, back {took_back:.2f} s: {len(sources)} files, {len(differing)} differ")
if differing or files_of("restored") != sources:
    sys.exit("\n".join(differing[:20]) or "the restored folder has files that the source does not have")
