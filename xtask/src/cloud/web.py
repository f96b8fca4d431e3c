"""Checks of inputs from the web."""

import functools
import http.server

from stage import SECRET, expect, serve


def web(stage):
    """Files from the web are read, also from servers without ranges. Queries of URLs are not printed."""
    name = stage.sessions()[0]
    here = stage.run(str(stage.folder / name), "--to", "clido", "-q").stdout
    handler = functools.partial(Quiet, directory=str(stage.folder))
    with serve(handler) as port:
        url = f"http://127.0.0.1:{port}/{name}?signature={SECRET}"
        there = stage.run(url, "--to", "clido", "-q").stdout
        expect(there == here, f"{name}: a file from the web is converted differently")
        missing = stage.run(url.replace(".jsonl", ".nothing"), "--to", "clido", status=(2,))
        expect("no such object" in missing.stderr, missing.stderr)
        run = stage.run(str(stage.folder / name), "--to", "clido", "-o", url, status=(2,))
        expect("can only be read" in run.stderr, run.stderr)


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass
