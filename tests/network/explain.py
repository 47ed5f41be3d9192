"""`coop policy explain HOST`, a running sandbox and fetch_url agree on a grid of destinations, in every mode."""

import concurrent.futures
import itertools
import json
import os
import shutil
import subprocess
import unittest

from host import Case, COOP, HOST, IS_ROOT, METADATA, OTHER, PRIVATE, PROJECT, PUBLIC, PUBLIC6, Listener, allow, main, only_if, run
from names import FIXED

HOST_PORT = 8080
PORTS = (80, 8080, 7)
# All of these answer on all ports (internet.sh): what is refused is refused by coop, not for want of a server.
NAMES = ("good.example", "other.example", "six.example", "a.wild.example", "b.a.wild.example", "private.example",
         "metadata.example", "both.example", "local6.example")
INTERNET = (PUBLIC, OTHER, "8.8.8.8", "8.8.8.9", PUBLIC6)
NEARBY = (PRIVATE, "10.99.0.2", METADATA, "169.254.170.2", "172.16.5.5", "192.168.77.1", "100.64.0.1", "100.100.100.200",
          "192.0.2.1", "198.51.100.7", "198.18.77.1", "fd99::1", "fd99::2", "fd00:ec2::254", "64:ff9b::a63:1",
          "45.33.32.1", "2600:1234::1")  # the last two: public, and neighbours of this machine
# Only at HOST_PORT has this machine a service: localhost is the sandbox inside, and the others are as near.
MACHINE = ("localhost", "127.0.0.1", "127.0.0.2", "::1", "0.0.0.0", HOST, "2600:1234::2")
PUBLIC_ADDRESSES = (PUBLIC, OTHER, PUBLIC6)
DESTINATIONS = [*itertools.product(NAMES + INTERNET + NEARBY, PORTS), *((host, HOST_PORT) for host in MACHINE)]
GROUPED = [*itertools.product(("github.com", "api.github.com", "gist.github.com", "raw.githubusercontent.com",
                               "githubusercontent.com", "registry.npmjs.org"), (80, 8080, 22))]

LISTED = [*allow("good.example", "*.wild.example:8080", "private.example", "both.example", "six.example:7", "10.99.0.0/16",
                 OTHER, f"{PUBLIC}:7", f"[{PUBLIC6}]:8080", "fd99::1", "8.8.8.0/24", "0.0.0.0/0:8080", f"{HOST}:8080",
                 "198.18.0.0/15", "169.254.170.2:80"),
          "--deny-net", "8.8.8.8", "--deny-net", "b.a.wild.example", "--deny-net", "10.99.0.2:8080"]
OPEN = [*allow(PRIVATE, "45.33.32.1", "fd99::1", "172.16.0.0/12:8080", "0.0.0.0/0", f"{HOST}:8080", "100.64.0.0/10"),
        "--deny-net", "8.8.8.8", "--deny-net", f"{OTHER}:8080", "--deny-net", "[2600:1234:5::34]:80"]
PORT = ["--host-port", str(HOST_PORT)]

# A destination counts as reached when the server answers: a gateway may accept and then refuse, and localhost may be any server's.
CONNECT = """
import concurrent.futures, json, socket, sys
def reached(place):
    host, port = place
    said = b"there and back" if port == 7 else b"GET / HTTP/1.0\\r\\nHost: " + host.encode() + b"\\r\\n\\r\\n"
    for attempt in range(int(sys.argv[1])):
        try:
            with socket.create_connection((host, port), 4) as server:
                server.sendall(said)
                heard = b""
                while part := server.recv(4096):
                    heard += part
                    if any(words in heard for words in (b"public page", b"secret of the inside", b"there and back", b"SSH-2.0")):
                        return True
        except OSError:
            pass
    return False
with concurrent.futures.ThreadPoolExecutor(16) as pool:
    print(json.dumps(list(pool.map(reached, json.loads(sys.argv[2])))))
"""


def with_port(host, port):
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


class Explain(Case):
    def explained(self, mode, flags, places):
        """The verdict for each place."""
        def ask(place):
            done = subprocess.run([COOP, "policy", "explain", "--json", "--workspace", PROJECT, "--network", mode, *flags,
                                   with_port(*place)], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
            return place, json.loads(done.stdout)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return dict(pool.map(ask, places))

    def expected(self, mode, flags, places):
        """Whether each destination is reached. What explain says of a name holds where its address is a public one."""
        verdicts = self.explained(mode, flags, places)
        behind = {(address, port) for name, port in places for address in FIXED.get(name, [])}
        verdicts |= self.explained(mode, flags, behind - verdicts.keys())

        def allowed(place):
            return verdicts[place]["verdict"] == "reachable"

        def found(address, port):
            denied = verdicts[address, port]["rule"].startswith("network.deny")
            return allowed((address, port)) or (mode == "allowlist" and address in PUBLIC_ADDRESSES and not denied)

        def whole(host, port):
            addresses = [found(address, port) for address in FIXED.get(host, [])]
            # One address that is refused refuses its name where coop resolves it; elsewhere the client tries each.
            return allowed((host, port)) and (not addresses or (all if mode == "allowlist" else any)(addresses))

        return {place: whole(*place) for place in places}

    def compare(self, mode, *flags, attempts=1, without=(), places=DESTINATIONS):
        expected = self.expected(mode, flags, places)
        with Listener(("0.0.0.0", HOST_PORT)), Listener(("::", HOST_PORT)):
            done = run(["python3", "-c", CONNECT, str(attempts), json.dumps(places)], *flags, network=mode, timeout=250)
        self.assertEqual(done.returncode, 0, done.stderr)
        reached = dict(zip(places, json.loads(done.stdout), strict=True))
        wrong = {with_port(*place): f"explain: {expected[place]}, sandbox: {reached[place]}" for place in places
                 if expected[place] != reached[place] and not (place in without and not reached[place])}
        self.assertEqual(wrong, {}, f"{mode} {flags}")
        return sum(expected.values())

    def fetched(self, mode, flags):
        """The destinations that fetch_url does not refuse. Not all of them are HTTP servers: a failure is no refusal."""
        def ask(place):
            done = subprocess.run([COOP, "tool", "fetch_url", json.dumps({"url": f"http://{with_port(*place)}/"}), "--json",
                                   "--workspace", PROJECT, "--network", mode, *flags],
                                  capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1), done.stderr)
            return place, json.loads(done.stdout)
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return {place: answer for place, answer in pool.map(ask, DESTINATIONS)}

    def compare_fetch(self, mode, *flags):
        def expected(verdicts, host, port):
            def denied(address):
                return verdicts[address, port]["rule"].startswith("network.deny")

            def allowed(address):
                by_name = host in FIXED and mode == "allowlist" and address in PUBLIC_ADDRESSES and not denied(address)
                return verdicts[address, port]["verdict"] == "reachable" or by_name

            # Over veth, IPv6 addresses of a name are left out; one that a rule denies still refuses the name.
            behind = [address for address in FIXED.get(host, []) if mode != "veth" or ":" not in address or denied(address)]
            return allowed(host) and (host not in FIXED or (bool(behind) and all(map(allowed, behind))))

        behind = {(address, port) for name, port in DESTINATIONS for address in FIXED.get(name, [])}
        verdicts = self.explained(mode, flags, {*DESTINATIONS, *behind})
        answers = self.fetched(mode, flags)
        wrong = {with_port(*place): f"explain: {expected(verdicts, *place)}, fetch_url: {answer}"
                 for place, answer in answers.items()
                 if expected(verdicts, *place) != (answer["structured"].get("outcome") != "refused")}
        self.assertEqual(wrong, {}, f"{mode} {flags}")
        return sum(answer["structured"].get("outcome") != "refused" for answer in answers.values())

    def test_fetch_url(self):
        self.assertEqual(self.compare_fetch("none", *PORT), 4)
        self.assertGreater(self.compare_fetch("allowlist", *LISTED, *PORT), 15)
        for mode in ("full", "veth") if IS_ROOT else ("full",):
            self.assertGreater(self.compare_fetch(mode, *OPEN, *PORT), 15)

    def test_the_grid_is_large_enough(self):
        self.assertGreaterEqual(len(DESTINATIONS), 100)

    def test_none(self):
        self.assertEqual(self.compare("none"), 0)
        self.assertEqual(self.compare("none", *PORT), 4)  # localhost, 127.0.0.1, ::1 and 0.0.0.0

    def test_allowlist(self):
        self.assertEqual(self.compare("allowlist", *allow("nothing.example")), 0)
        self.assertGreater(self.compare("allowlist", *LISTED), 15)
        self.assertGreater(self.compare("allowlist", *LISTED, *PORT), 15)

    def test_a_group_opens_what_it_lists(self):
        def allowed(*flags):
            self.assertGreater(self.compare("allowlist", *flags, places=GROUPED), 0)
            verdicts = self.explained("allowlist", flags, GROUPED)
            return {with_port(*place) for place in GROUPED if verdicts[place]["verdict"] == "reachable"}

        self.assertEqual(allowed(*allow("@github")), {"github.com:80", "github.com:22", "api.github.com:80",
                                                      "raw.githubusercontent.com:80"})
        self.assertEqual(allowed(*allow("@github:22")), {"github.com:22"})
        self.assertEqual(allowed(*allow("@github", "@npm"), "--deny-net", "@github"), {"registry.npmjs.org:80"})
        verdict = self.explained("allowlist", ["--deny-net", "@npm"], [("registry.npmjs.org", 80)])["registry.npmjs.org", 80]
        self.assertEqual(verdict["rule"], 'network.deny "*.npmjs.org" (--deny-net @npm)')

    @unittest.skipUnless(shutil.which("pasta") or shutil.which("slirp4netns"), "without pasta and slirp4netns")
    @unittest.skipUnless(os.path.exists("/dev/net/tun"), "without a tunnel device")
    def test_full(self):
        # slirp4netns has no IPv6, and now and then Debian 12's pasta lets a connection over IPv6 stand still.
        six = [place for place in DESTINATIONS if ":" in place[0] or place[0] in ("six.example", "local6.example")]
        for flags in ((), (*OPEN, *PORT)):
            self.assertGreater(self.compare("full", *flags, attempts=3, without=six), 15)

    @only_if(IS_ROOT)
    def test_veth(self):
        with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="utf-8") as file:  # of the test's own network
            file.write("1")
        for flags in ((), (*OPEN, *PORT)):
            self.assertGreater(self.compare("veth", *flags), 15)

    def test_host(self):
        self.assertEqual(self.compare("host", "--unsafe", "host_network"), len(DESTINATIONS))


if __name__ == "__main__":
    main()
