"""Checks of Azure's store, with Azurite as its mock."""

import base64
import email.utils
import hashlib
import hmac
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request

from other import comes_back
from stage import free_port


def azure(stage):
    """Runs there and back, again, with changed, edited and large objects, and with workers."""
    port = free_port()
    quiet = ["--silent", "--disableTelemetry", "--skipApiVersionCheck"]
    where = ["--blobPort", str(port), "--location", "azurite"]
    server = subprocess.Popen([stage.azurite, *quiet, *where], stdout=subprocess.DEVNULL)
    account, endpoint = "devstoreaccount1", f"http://127.0.0.1:{port}/devstoreaccount1"
    # The key that Azurite always has, according to its documentation.
    key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
    there = {
        "AZURE_STORAGE_ACCOUNT_NAME": account,
        "AZURE_STORAGE_ACCOUNT_KEY": key,
        "AZURE_ENDPOINT": endpoint,
        "AZURE_ALLOW_HTTP": "true",
    }
    try:
        make_container(f"{endpoint}/logs?restype=container", account, key)
        comes_back(stage, "az://logs", "azure", there)
    finally:
        server.terminate()
        server.wait()


def make_container(url, account, key):
    """Creates a container as soon as the server runs."""
    for _ in range(120):
        date = email.utils.formatdate(usegmt=True)
        path = urllib.parse.urlparse(url).path
        words = f"PUT\n\n\n\n\n\n\n\n\n\n\n\nx-ms-date:{date}\nx-ms-version:2021-08-06\n"
        words += f"/{account}{path}\nrestype:container"
        digest = hmac.new(base64.b64decode(key), words.encode(), hashlib.sha256).digest()
        headers = {
            "x-ms-date": date,
            "x-ms-version": "2021-08-06",
            "Authorization": f"SharedKey {account}:{base64.b64encode(digest).decode()}",
            "Content-Length": "0",
        }
        try:
            urllib.request.urlopen(urllib.request.Request(url, method="PUT", headers=headers))
            return
        except urllib.error.HTTPError as error:
            sys.exit(f"Azurite: {error}")
        except OSError:
            time.sleep(0.5)
    sys.exit("Azurite does not start")
