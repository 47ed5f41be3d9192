"""The servers of the internet: web, git, raw streams, datagrams, a relay, and one that tells what was seen."""

import hashlib
import http.server
import json
import os
import resource
import selectors
import socket
import ssl
import subprocess
import threading

import names

SCRATCH = os.environ["SCRATCH"]
SECRET = "secret of the inside"
INSIDE = ("10.99.0.1", "169.254.169.254", "fd99::1", "127.0.0.1", "::1")
seen = {"hits": [], "relayed": [], "tls_names": []}


class Pages(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def here(self):
        return self.connection.getsockname()[0].removeprefix("::ffff:")

    def note(self):
        seen["hits"].append({"address": self.here(), "method": self.command, "path": self.path,
                             "host": self.headers.get("Host", ""), "names": sorted(name.lower() for name in self.headers)})

    def say(self, text, status=200):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.note()
        if self.path.startswith("/git/"):
            self.run_git(b"")
        else:
            self.say(SECRET if self.here() in INSIDE else f"public page for {self.headers.get('Host')}")

    def do_POST(self):
        self.note()
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path.startswith("/git/"):
            self.run_git(body)
        else:
            self.say(hashlib.sha256(body).hexdigest())

    def run_git(self, body):
        path, _, query = self.path.partition("?")
        environment = {"GIT_PROJECT_ROOT": SCRATCH, "GIT_HTTP_EXPORT_ALL": "1", "PATH_INFO": path.removeprefix("/git"),
                       "QUERY_STRING": query, "REQUEST_METHOD": self.command, "PATH": os.environ["PATH"],
                       "CONTENT_TYPE": self.headers.get("Content-Type", ""), "CONTENT_LENGTH": str(len(body)),
                       "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""), "REMOTE_ADDR": "1.1.1.1",
                       "GIT_PROTOCOL": self.headers.get("Git-Protocol", "")}
        done = subprocess.run(["git", "http-backend"], input=body, env=environment, capture_output=True, check=False)
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in head.decode().split("\r\n")]
        self.send_response(int(next((value.split()[0] for name, value in fields if name == "Status"), "200")))
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *arguments):
        pass


class Told(http.server.BaseHTTPRequestHandler):
    """For the test alone: what was asked and connected so far, and a fresh start."""

    def do_GET(self):
        body = json.dumps(dict(seen, asked=names.asked)).encode()
        if self.path == "/forget":
            names.asked.clear()
            for what in seen.values():
                what.clear()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    request_queue_size = 256

    def handle_error(self, request, client_address):
        pass


class SecureServer(Server):
    def get_request(self):
        client, address = super().get_request()
        # The handler does the handshake: a client that never sends one must not block the others.
        return self.context.wrap_socket(client, server_side=True, do_handshake_on_connect=False), address


def secure_server(port, curve=None):
    server = SecureServer(("::", port), Pages)
    server.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    if curve:  # one that clients do not offer at first: the server asks for a second hello
        server.context.set_ecdh_curve(curve)
    server.context.load_cert_chain(f"{SCRATCH}/server.pem", f"{SCRATCH}/server.key")
    server.context.sni_callback = lambda _socket, name, _context: seen["tls_names"].append(name)
    return server


def copy(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def echo(client):
    copy(client, client)


def digest(client):
    """Hears until the other side has no more to say, and then says what it was: half-closed."""
    total = hashlib.sha256()
    while data := client.recv(1 << 18):
        total.update(data)
    client.sendall(total.hexdigest().encode())


def source(client):
    """A line with a number of megabytes; then so many."""
    block = bytes(range(256)) * 4096
    for _ in range(int(client.makefile("rb").readline())):
        client.sendall(block)


def banner(client):
    """Says little, after it has heard something, and waits."""
    client.recv(9999)
    client.sendall(b"-ERR what?\r\n")
    client.recv(1)


def relay(client):
    """An allowed host that is a proxy itself."""
    head = b""
    while b"\r\n\r\n" not in head:
        head += client.recv(4096)
    target = head.split()[1].decode()
    seen["relayed"].append(target)
    host, _, port = target.rpartition(":")
    address = next(iter(names.addresses_of(host)), host)
    with socket.create_connection((address, int(port)), 5) as server:
        client.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
        other = threading.Thread(target=copy, args=(server, client), daemon=True)
        other.start()
        copy(client, server)
        other.join(10)


def serve(port, handle):
    server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=256)

    def one(client):
        with client:
            try:
                handle(client)
            except (OSError, ValueError, IndexError):
                pass

    def accept():
        while True:
            client, _ = server.accept()
            threading.Thread(target=one, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()


def keep_connections(port):
    """Thousands that rest; a byte is answered with itself."""
    server = socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=4096)
    selector = selectors.DefaultSelector()
    selector.register(server, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is server:
                selector.register(server.accept()[0], selectors.EVENT_READ)
                continue
            try:
                data = key.fileobj.recv(4096)
                key.fileobj.sendall(data)
            except OSError:
                data = b""
            if not data:
                selector.unregister(key.fileobj)
                key.fileobj.close()


def echo_datagrams(address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    server = socket.socket(family, socket.SOCK_DGRAM)
    server.bind((address, port))
    while True:
        data, sender = server.recvfrom(65536)
        server.sendto(data, sender)


def main():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    names.start()
    for server in (Server(("::", 80), Pages), Server(("::", 8080), Pages), secure_server(443), secure_server(8443), secure_server(8444, "secp384r1"),
                   Server(("::", 8053), Told)):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    for port, handle in ((7, echo), (9001, digest), (9002, source), (3128, relay), (9004, banner)):
        serve(port, handle)
    threading.Thread(target=keep_connections, args=(9003,), daemon=True).start()
    for address in ("93.184.216.34", "93.184.216.35", "10.99.0.1", "2600:1234:5::34"):
        threading.Thread(target=echo_datagrams, args=(address, 7), daemon=True).start()
    with open(f"{SCRATCH}/ready", "w", encoding="utf-8") as ready:
        ready.write("ready\n")
    threading.Event().wait()


if __name__ == "__main__":
    main()
