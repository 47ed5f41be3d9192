"""What this machine joins while a sandbox with an open network runs: addresses, networks of a link, local routes. Both
full.py and modes.py (veth) have these tests."""

import json
import os
import signal
import socket
import subprocess

from host import COOP, HOST, IS_ROOT, PROJECT, PUBLIC, SCRATCH, Listener, allow, start, temporary_directory, until

# The other end of the link has the NEAR ones from the start, where the gateway leads to them as to the internet.
NEAR, NEAR_TOO, NEAR6 = "45.61.0.1", "45.61.0.70", "2600:1234:61::1"
LINKED = "45.64.0.1"
OWN, ROUTED, OWN6 = "45.62.0.9", "45.63.0.9", "2600:1234:62::9"
PORT = 8186
ASK = """
import errno, socket, sys
def ask(kind, host, port):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM) as s:
        s.settimeout(3)
        s.connect((host, int(port)))
        s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
        return "reached" if s.recv(99) else "closed"
kept = {}
def keep(host, port):
    kept[host] = socket.create_connection((host, int(port)), 3)
    return "kept"
def use(host, port):
    kept[host].sendall(b"x")
    return "reached" if kept[host].recv(1) else "closed"
for line in sys.stdin:
    kind, *place = line.split()
    try: answer = {"keep": keep, "use": use}[kind](*place) if kind in ("keep", "use") else ask(kind, *place)
    except TimeoutError: answer = "late"
    except OSError as error: answer = errno.errorcode.get(error.errno, str(error))
    print(answer, flush=True)
"""


def ip(*words):
    """Root does it, where an ordinary user runs the test: world.sh."""
    with open(f"{SCRATCH}/changes", "w", encoding="utf-8") as changes:
        changes.write(" ".join(words) + "\n")


class Inside:
    """A sandbox that connects to what it is told to."""

    def __init__(self, mode, *flags):
        self.process = start(["python3", "-c", ASK], *flags, network=mode)

    def __enter__(self):
        return self

    def ask(self, host, port=80, kind="tcp"):
        self.process.stdin.write(f"{kind} {host} {port}\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self):
        """Its exit code, and what coop said."""
        said = self.process.communicate(timeout=60)[1]
        return self.process.returncode, said

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        self.process.communicate(timeout=60)


class Joins:
    """MODE is the network's, IPV6 whether it has any."""

    MODE, IPV6 = "", False

    def setUp(self):
        super().setUp()
        self.added = []

    def tearDown(self):
        while self.added:
            self.leave(self.added[0])
        super().tearDown()

    def join(self, *words):
        """`words`: ip's, with "add"."""
        self.added.append(words)
        ip(*words)
        self.assertTrue(until(lambda: self.has_joined(words)), words)

    def leave(self, words):
        self.added.remove(words)
        ip(*("del" if word == "add" else word for word in words if word != "nodad"))
        self.assertTrue(until(lambda: not self.has_joined(words)), words)

    @staticmethod
    def has_joined(words):
        network = next(word for word in words if "/" in word)
        family = "-6" if ":" in network else "-4"
        table = ("route", "show", "table", "all") if "route" in words else ("address", "show")
        shown = subprocess.run(["ip", family, *table], capture_output=True, text=True, check=True).stdout
        return network in shown.split()

    def is_refused(self, sandbox, host, port=80, kind="tcp"):
        """Soon, and from then on."""
        answers = []

        def refused():
            answers.append(sandbox.ask(host, port, kind))
            return answers[-1] in ("ECONNREFUSED", "EPERM")  # by a rule; a server may reset a connection

        self.assertTrue(until(refused, 20), (host, answers[-5:]))
        for _ in range(3):
            self.assertEqual(sandbox.ask(host, port, kind), answers[-1])
        return answers[-1]

    def test_an_address_that_this_machine_gets_is_refused(self):
        with Listener(("0.0.0.0", PORT)), Listener(("::", PORT)), Inside(self.MODE, "--allow-net", HOST) as sandbox:
            self.assertEqual(sandbox.ask(PUBLIC), "reached")  # control
            self.join("address", "add", f"{OWN}/32", "dev", "world")
            self.join("route", "add", "local", "45.63.0.0/24", "dev", "lo")
            if self.IPV6:
                self.join("-6", "address", "add", f"{OWN6}/128", "dev", "world", "nodad")
            for place in (OWN, ROUTED, *([OWN6] if self.IPV6 else [])):
                with socket.create_connection((place, PORT), 10):  # control: the server is there
                    pass
                self.assertEqual(self.is_refused(sandbox, place, PORT), "ECONNREFUSED")
            self.assertEqual(sandbox.ask(PUBLIC), "reached")
            self.assertEqual(sandbox.ask(PUBLIC, 7, "udp"), "reached")

    def test_a_network_of_a_link_without_an_address_is_refused(self):
        network = ("route", "add", "45.64.0.0/24", "dev", "world", "protocol", "kernel")  # as one that a router advertises
        self.join(*network)
        with Inside(self.MODE) as sandbox:  # at the start
            self.assertEqual(self.is_refused(sandbox, LINKED), "ECONNREFUSED")
        self.leave(network)
        with Inside(self.MODE) as sandbox:
            self.assertEqual(sandbox.ask(LINKED), "reached")  # control
            self.join(*network)
            self.assertEqual(self.is_refused(sandbox, LINKED), "ECONNREFUSED")
            self.assertEqual(sandbox.ask(PUBLIC), "reached")

    def test_a_network_that_this_machine_joins_is_refused(self):
        places = [NEAR, *([NEAR6] if self.IPV6 else [])]
        with Inside(self.MODE, "-v", "--deny-net", "9.9.9.9") as sandbox:
            for place in (PUBLIC, *places):
                self.assertEqual(sandbox.ask(place), "reached", place)  # controls: all are the internet
            self.assertEqual(sandbox.ask(NEAR, 9003, "keep"), "kept")
            self.assertEqual(sandbox.ask(PUBLIC, 9003, "keep"), "kept")
            self.join("address", "add", "45.61.0.2/24", "dev", "world")
            if self.IPV6:
                self.join("-6", "address", "add", "2600:1234:61::2/64", "dev", "world", "nodad")
            for place in places:
                self.assertEqual(self.is_refused(sandbox, place), "ECONNREFUSED")
            self.assertEqual(self.is_refused(sandbox, NEAR, 7, "udp"), "EPERM")
            self.assertNotEqual(sandbox.ask(NEAR, 9003, "use"), "reached")  # connections too
            self.assertEqual(sandbox.ask(PUBLIC, 9003, "use"), "reached")
            self.assertEqual(sandbox.ask(PUBLIC), "reached")
            # What was refused stays so.
            self.leave(self.added[0])
            self.assertEqual(self.is_refused(sandbox, NEAR), "ECONNREFUSED")
            status, said = sandbox.end()
            self.assertEqual(status, 0, said)
            self.assertRegex(said, r"neighbour.*45\.61\.0\.0/24")

    def test_what_a_rule_names_in_a_joined_network_is_reached(self):
        flags = [*allow("45.61.0.0/26", "45.61.0.0/16"), "--deny-net", f"{NEAR}:8080"]
        with Inside(self.MODE, *flags) as sandbox:
            for place in (NEAR, NEAR_TOO):
                self.assertEqual(sandbox.ask(place), "reached", place)
            self.join("address", "add", "45.61.0.2/24", "dev", "world")
            self.is_refused(sandbox, NEAR_TOO)  # a rule for a wider network means the internet
            self.assertEqual(sandbox.ask(NEAR), "reached")
            self.assertNotEqual(sandbox.ask(NEAR, 8080), "reached")  # denied
            self.assertNotEqual(sandbox.ask(NEAR, 9001), "reached")  # no port of the rule

    def test_more_changes_than_the_kernel_keeps_hide_none(self):
        with temporary_directory() as place, Inside(self.MODE) as sandbox:
            self.assertEqual(sandbox.ask(NEAR), "reached")
            with open(f"{place}/routes", "w", encoding="utf-8") as routes:
                routes.writelines(f"route add 45.70.{index // 250}.{index % 250}/32 via 45.33.32.1\n" for index in range(5000))
            os.kill(sandbox.process.pid, signal.SIGSTOP)
            try:
                ip("-batch", f"{place}/routes")
                self.join("address", "add", "45.61.0.2/24", "dev", "world")  # behind them
                shown = subprocess.run(["ip", "route"], capture_output=True, text=True, check=True).stdout
                self.assertEqual(shown.count("\n45.70."), 5000)
            finally:
                os.kill(sandbox.process.pid, signal.SIGCONT)
                ip("route", "flush", "root", "45.70.0.0/16")
            self.assertEqual(self.is_refused(sandbox, NEAR), "ECONNREFUSED")
            self.assertEqual(sandbox.ask(PUBLIC), "reached")

    def test_prepared_sandboxes_refuse_it_too(self):
        ask = "import socket; socket.create_connection(('{}', 80), 3); print('REA' + 'CHED')"
        with subprocess.Popen([COOP, "mcp", "--workspace", PROJECT, "--network", self.MODE], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
            def call(number, method, **parameters):
                server.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters}) + "\n")
                server.stdin.flush()
                while (answer := json.loads(server.stdout.readline())).get("id") != number:
                    pass
                return answer

            def run_inside(place):
                return str(call(2, "tools/call", name="bash", arguments={"command": f'python3 -c "{ask.format(place)}"'}))

            call(1, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "test", "version": "1"})
            for place in (PUBLIC, NEAR):
                self.assertIn("REACHED", run_inside(place))
            self.join("address", "add", "45.61.0.2/24", "dev", "world")
            self.assertTrue(until(lambda: "REACHED" not in run_inside(NEAR), 20))
            self.assertIn("REACHED", run_inside(PUBLIC))
            server.communicate(timeout=60)

    def test_rules_that_cannot_be_added_end_the_sandbox(self):
        if not IS_ROOT:
            return
        with Inside(self.MODE) as sandbox:
            self.assertEqual(sandbox.ask(PUBLIC), "reached")
            inside = [pid for pid in os.listdir("/proc") if pid.isdigit() and self.is_the_asker(pid)]
            subprocess.run(["nsenter", "-t", inside[0], "-n", "nft", "delete", "table", "ip", "coop"], check=True)
            self.join("address", "add", "45.61.0.2/24", "dev", "world")
            status, said = sandbox.end()
            self.assertEqual(status, 125, said)
            self.assertIn("the sandbox was ended: refusing a network that this machine has joined", said)

    @staticmethod
    def is_the_asker(pid):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as file:
                words = file.read().split(b"\0")
            return words[0].endswith(b"python3") and ASK.encode() in words and os.readlink(f"/proc/{pid}/ns/net") != os.readlink(
                "/proc/self/ns/net")
        except OSError:
            return False
