"""fetch_url against servers that try to lead it into this machine: run in a network namespace of its own.

A DNS server of ours, and HTTP servers of the internet (93.184.216.34), of this machine's inside (127.0.0.1, 10.0.0.5,
45.33.32.2) and of a neighbour (45.33.32.1).
"""

import ctypes
import http.server
import json
import os
import socket
import struct
import subprocess
import tempfile
import threading
import time
import unittest
import urllib.request

from run_tests import main

PUBLIC, PRIVATE, LOOPBACK, OWN = "93.184.216.34", "10.0.0.5", "127.0.0.1", "45.33.32.2"
NEIGHBOUR = "45.33.32.1"  # on the same link: the other network serves it as well
SECRET = "secret of the inside"


class Names(threading.Thread):
    """A DNS server whose answers may change from one question to the next."""

    def __init__(self):
        super().__init__(daemon=True)
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((LOOPBACK, 53))
        self.asked = {}
        self.start()

    def addresses(self, name, count):
        return {
            "good.example": [PUBLIC],
            "both.example": [PUBLIC, LOOPBACK],
            "private.example": [PRIVATE],
            "loopback.example": [LOOPBACK],
            "own.example": [OWN],
            "neighbour.example": [NEIGHBOUR],
            "metadata.example": ["169.254.169.254"],
            # DNS rebinding: the first answer is public, the next one loopback.
            "rebind.example": [PUBLIC if count == 1 else LOOPBACK],
        }.get(name, [])

    def run(self):
        while True:
            question, sender = self.socket.recvfrom(4096)
            at, labels = 12, []
            while question[at]:
                labels.append(question[at + 1 : at + 1 + question[at]].decode())
                at += 1 + question[at]
            kind = struct.unpack(">H", question[at + 1 : at + 3])[0]
            name = ".".join(labels).lower()
            found = []
            if kind == 1:
                self.asked[name] = self.asked.get(name, 0) + 1
                found = self.addresses(name, self.asked[name])
            head = question[:2] + struct.pack(">HHHHH", 0x8180, 1, len(found), 0, 0)
            records = b"".join(
                b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 0, 4) + socket.inet_aton(one) for one in found)
            self.socket.sendto(head + question[12 : at + 5] + records, sender)


class Pages(http.server.BaseHTTPRequestHandler):
    hits = []

    def do_GET(self):
        here = self.connection.getsockname()[0]
        Pages.hits.append(here)
        leads = {
            "/to-loopback": "http://127.0.0.1/",
            "/to-private": "http://private.example/",
            "/to-rebind": "http://rebind.example/",
            "/to-metadata": "http://169.254.169.254/",
            "/to-file": "file:///etc/passwd",
            "/loop": "/loop",
        }
        if here == PUBLIC and self.path in leads:
            self.send_response(302)
            self.send_header("Location", leads[self.path])
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = ("public page" if here == PUBLIC else SECRET).encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        pass


def fetch(url):
    with tempfile.TemporaryDirectory() as workspace:
        done = subprocess.run(
            [os.environ["COOP_PROGRAM"], "tool", "fetch_url", json.dumps({"url": url}), "--json", "-w", workspace,
             "--network", "host", "--unsafe", "host_network"],
            capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def serve_pages(network=None):
    """In another network, when one is given: its threads alone are there."""
    if network:
        with open(network, "rb") as there:
            assert ctypes.CDLL(None, use_errno=True).setns(there.fileno(), 0) == 0
    http.server.ThreadingHTTPServer(("0.0.0.0", 80), Pages).serve_forever()


def answers(address):
    with socket.socket() as client:
        return client.connect_ex((address, 80)) == 0


class Rebinding(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = Names()
        for network in (None, os.environ["INTERNET"]):
            threading.Thread(target=serve_pages, args=(network,), daemon=True).start()
        deadline = time.monotonic() + 10
        while not (answers(LOOPBACK) and answers(PUBLIC)):
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def refused(self, url):
        Pages.hits.clear()
        answer = fetch(url)
        self.assertTrue(answer["failed"], answer)
        self.assertEqual(answer["structured"]["outcome"], "refused", answer)
        self.assertIn(answer["structured"]["denials"][0]["rule"], ("address guard", "url guard"), answer)
        self.assertNotIn(SECRET, json.dumps(answer))
        self.assertEqual([hit for hit in Pages.hits if hit != PUBLIC], [], "nothing inside was connected to")

    def test_a_public_page_is_fetched(self):
        answer = fetch("http://good.example/")
        self.assertFalse(answer["failed"], answer)
        self.assertIn("public page", answer["text"])

    def test_the_inside_is_really_there(self):
        for name in ("loopback.example", "private.example", "own.example", "neighbour.example"):
            with urllib.request.urlopen(f"http://{name}/", timeout=10) as page:
                self.assertEqual(page.read().decode(), SECRET)

    def test_names_of_the_inside_are_refused(self):
        for name in ("loopback.example", "private.example", "metadata.example", "both.example", "own.example",
                     "neighbour.example"):
            self.refused(f"http://{name}/")

    def test_redirects_into_the_inside_are_refused(self):
        for path in ("/to-loopback", "/to-private", "/to-metadata", "/to-file"):
            self.refused(f"http://good.example{path}")

    def test_a_name_that_changes_its_address_is_reached_where_it_was_checked(self):
        self.names.asked.pop("rebind.example", None)
        Pages.hits.clear()
        answer = fetch("http://rebind.example/")
        # One query, one answer, one connection: to the checked address.
        self.assertIn("public page", answer["text"])
        self.assertEqual(self.names.asked["rebind.example"], 1)
        self.assertEqual(Pages.hits, [PUBLIC])
        self.refused("http://rebind.example/")  # by now it says loopback

    def test_a_redirect_to_a_name_that_has_changed_is_refused(self):
        self.names.asked["rebind.example"] = 1
        self.refused("http://good.example/to-rebind")

    def test_a_redirect_without_end_ends(self):
        answer = fetch("http://good.example/loop")
        self.assertTrue(answer["failed"], answer)


if __name__ == "__main__":
    main()
