"""What the tests share: coop on "the host", and what the internet has seen of it."""

import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

from run_tests import main, only_if  # noqa: F401, for the tests

COOP, SCRATCH = os.environ["COOP_PROGRAM"], os.environ["SCRATCH"]
PROJECT = os.path.join(SCRATCH, "home", "project")
PUBLIC, OTHER, PUBLIC6 = "93.184.216.34", "93.184.216.35", "2600:1234:5::34"
PRIVATE, METADATA = "10.99.0.1", "169.254.169.254"
HOST = "45.33.32.2"  # this machine's own address
PROXY = "198.18.0.1"
SECRET = "secret of the inside"
# Directly, and by the two kinds of proxy.
CURL = "curl -sS -f --max-time 20 --cacert /work/ca.pem "
DIRECT = CURL + "--noproxy '*' "
PROXIED = CURL + "--noproxy '' "
SOCKS = f"{PROXIED} -x socks5h://{PROXY}:1080 "
WAYS = (DIRECT, PROXIED, SOCKS)
IS_ROOT = os.geteuid() == 0


def arguments_of(command, *flags, network="allowlist"):
    return [COOP, "run", "--workspace", PROJECT, "--network", network, *flags, "--", *command]


def allow(*hosts):
    return [word for host in hosts for word in ("--allow-net", host)]


def run(command, *flags, network="allowlist", timeout=240, text=True, **more):
    """Runs a command in a sandbox; a string is a shell's."""
    command = ["sh", "-c", command] if isinstance(command, str) else command
    return subprocess.run(arguments_of(command, *flags, network=network), capture_output=True, text=text,
                          timeout=timeout, check=False, stdin=subprocess.DEVNULL, **more)


def run_json(command, *flags, network="allowlist", **more):
    done = run(command, "--json", *flags, network=network, **more)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def run_python(text, *flags, **more):
    return run(["python3", "-c", text], *flags, **more)


def start(command, *flags, network="allowlist", **more):
    command = ["sh", "-c", command] if isinstance(command, str) else command
    return subprocess.Popen(arguments_of(command, *flags, network=network), stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def temporary_directory():
    return tempfile.TemporaryDirectory(dir=os.path.join(SCRATCH, "home"))


def told(path="/"):
    with urllib.request.urlopen("http://93.184.216.53:8053" + path, timeout=60) as answer:
        return json.load(answer)


def forget():
    told("/forget")


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.02)
    return condition()


def processes():
    """Everything that runs in the test's own process namespace."""
    return {int(name) for name in os.listdir("/proc") if name.isdigit()}


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def listening_ports():
    return subprocess.run(["ss", "-Hltn"], capture_output=True, text=True, check=True).stdout


class Listener:
    """A page on the host's own loopback, which no sandbox must see."""

    def __init__(self, place):
        self.server = socket.create_server(place, family=socket.AF_INET6 if ":" in place[0] else socket.AF_INET)
        self.count = 0

    def __enter__(self):
        threading.Thread(target=self.accept, daemon=True).start()
        return self

    def accept(self):
        while True:
            try:
                client, _ = self.server.accept()
            except OSError:
                return
            self.count += 1
            with client:
                client.sendall(f"HTTP/1.0 200 OK\r\n\r\n{SECRET}".encode())

    def __exit__(self, *_):
        self.server.shutdown(socket.SHUT_RDWR)
        self.server.close()


class Case(unittest.TestCase):
    def setUp(self):
        forget()

    def works(self, done, expected=None):
        self.assertEqual(done.returncode, 0, f"{done.stdout}\n{done.stderr}")
        if expected is not None:
            self.assertIn(expected, done.stdout)

    def refused(self, done, *said):
        """It failed, no server inside was reached, and one of the outputs has the given words."""
        self.assertNotEqual(done.returncode, 0, done.stdout)
        self.assertNotIn(SECRET, str(done.stdout) + str(done.stderr))
        self.nothing_inside_reached()
        for words in said:
            self.assertIn(words, str(done.stdout) + str(done.stderr))

    def nothing_inside_reached(self):
        hits = [hit for hit in told()["hits"] if hit["address"] in (PRIVATE, METADATA, "127.0.0.1")]
        self.assertEqual(hits, [])

