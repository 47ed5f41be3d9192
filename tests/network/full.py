"""--network full: world.sh runs this once for each program that can provide it, and without them (COOP_PROVIDER)."""

import json
import os
import shutil
import signal
import socket
import subprocess
import unittest

from host import (COOP, Case, HOST, IS_ROOT, METADATA, OTHER, PRIVATE, PROJECT, PUBLIC, PUBLIC6, SECRET, allow, command_of, main,
                  only_if, processes, run, start, temporary_directory, told, until)
from joins import NEAR, Inside, Joins

PROVIDER = os.environ["COOP_PROVIDER"]
CURL = "curl -sS -f --max-time 10 --cacert ca.pem "
UDP = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(3)
s.connect((sys.argv[1], 7)); s.send(b"there and back"); print(s.recv(99))
"""


@only_if(PROVIDER in ("pasta", "slirp4netns"))
@unittest.skipUnless(shutil.which(PROVIDER), f"without {PROVIDER}")
class Full(Case):
    def test_the_internet(self):
        self.works(run(CURL + "-4 http://good.example/ https://good.example/", network="full"), "public page")
        self.works(run(CURL + f"http://{PUBLIC}/", network="full"), "public page")
        self.works(run(["python3", "-c", UDP, PUBLIC], network="full"), "there and back")
        self.works(run("env | grep -ci _proxy || true", network="full"), "0")

    @only_if(PROVIDER == "pasta")  # slirp4netns has no IPv6 by itself
    def test_the_internet_of_ipv6(self):
        # Debian 12's pasta sometimes stalls a connection over IPv6, without coop as well.
        fetch = f"{CURL} -m 3 'http://[{PUBLIC6}]/'"
        self.works(run(f"for attempt in 1 2 3 4 5; do {fetch} && exit 0; done; exit 1", network="full"), "public page")

    def test_the_host_has_no_abstract_sockets_there(self):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("\0coop-network-full")
            server.listen()
            script = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0coop-network-full'); print('REACHED')"
            self.refused(run(["python3", "-c", script], network="full"))
            self.works(subprocess.run(["python3", "-c", script], capture_output=True, text=True, check=False), "REACHED")

    @unittest.skipUnless(shutil.which("dig"), "there is no dig")
    def test_only_plain_queries_reach_the_name_server(self):
        dig = "dig +time=3 +tries=1 "
        told("/forget")
        for more in ("", "+tcp", "+noedns", "+tcp +noedns", "+dnssec"):
            self.works(run(f"{dig} +short {more} good.example A", network="full"), PUBLIC)
        self.works(run(f"{dig} +tcp _sip._tcp.good.example SRV", network="full"))
        for more in ("SOA +opcode=update", "SOA +opcode=notify", "AXFR", "IXFR=1", "SOA +tcp +opcode=update", "IXFR=1 +notcp"):
            self.assertNotIn("ANSWER: 1", run(f"{dig} good.example {more}; true", network="full").stdout, more)
        self.assertEqual(told()["asked"], {"good.example": 5, "_sip._tcp.good.example type 33": 1})

    def test_neighbours_are_refused_quickly(self):
        for place in (PRIVATE, METADATA, "private.example", "metadata.example", "loopback.example", "local6.example",
                      "'[fd99::1]'", "'[::ffff:10.99.0.1]'", "'[64:ff9b::a63:1]'"):
            done = run("timeout 3 " + CURL + f"http://{place}/; echo code $?", network="full")
            self.assertNotIn(SECRET, done.stdout)
            self.assertNotIn("code 0", done.stdout, place)
            self.assertNotIn("code 124", done.stdout, f"{place} is refused quickly")
        self.nothing_inside_reached()
        self.assertNotIn("there", run(["python3", "-c", UDP, PRIVATE], network="full").stdout)

    def test_lists(self):
        self.works(run(CURL + f"http://{PRIVATE}/", *allow("10.99.0.0/16"), network="full"), SECRET)
        told("/forget")
        self.refused(run(CURL + f"http://{OTHER}/", "--deny-net", OTHER, network="full"))
        done = run("true", "--deny-net", "good.example", network="full")
        self.assertEqual(done.returncode, 125)
        self.assertIn("--network allowlist", done.stderr)

    def test_whatever_signals_the_caller_ignores(self):
        self.works(run(CURL + f"http://{PUBLIC}/", network="full",
                       preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_IGN)), "public page")

    def test_a_long_list_of_denials(self):
        flags = [word for index in range(500) for word in ("--deny-net", f"8.8.{index // 250}.{index % 250}:53")]
        self.works(run(CURL + f"http://{PUBLIC}/", *flags, "--deny-net", OTHER, network="full"), "public page")
        self.refused(run(CURL + f"http://{OTHER}/", *flags, "--deny-net", OTHER, network="full"))
        self.refused(run(CURL + "'http://[2600:1234:5::34]/'", "--deny-net", "[2600:1234:5::34]", network="full"))

    def test_the_host_is_not_there(self):
        with subprocess.Popen(["python3", "-m", "http.server", "8183", "--bind", "127.0.0.1"], stderr=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, cwd=PROJECT) as server:
            try:
                control = ["curl", "-sf", "http://127.0.0.1:8183/ca.pem"]
                self.assertTrue(until(lambda: subprocess.run(control, capture_output=True, check=False).returncode == 0))
                gateway = "$(ip route | sed -n 's/^default via \\([^ ]*\\).*/\\1/p')"
                for place in ("127.0.0.1", "10.0.2.2", gateway, HOST):
                    self.refused(run("timeout 2 " + CURL + f"http://{place}:8183/ca.pem", network="full"))
                self.works(run(CURL + "http://127.0.0.1:8183/ca.pem", "--host-port", "8183", network="full"), "CERTIFICATE")
            finally:
                server.terminate()

    def test_it_ends_with_coop(self):
        before = processes()
        self.works(run("true", network="full"))
        self.assertTrue(until(lambda: processes() <= before), [command_of(pid) for pid in processes() - before])
        with start("echo up; sleep 60", network="full") as sandbox:
            self.assertEqual(sandbox.stdout.readline(), "up\n")
            self.assertTrue(any(PROVIDER in command_of(pid) for pid in processes() - before))
            os.kill(sandbox.pid, signal.SIGKILL)
        self.assertTrue(until(lambda: processes() <= before), [command_of(pid) for pid in processes() - before])

    def test_ports_are_published(self):
        serve = "echo published >/tmp/page; cd /tmp; exec python3 -m http.server 8000"
        with start(serve, "--publish", "18081:8000", network="full") as sandbox:
            fetch = ["curl", "-sf", "-m", "3", "http://127.0.0.1:18081/page"]
            try:
                self.assertTrue(until(lambda: subprocess.run(fetch, capture_output=True, check=False).stdout == b"published\n"))
            finally:
                sandbox.terminate()


@only_if(PROVIDER in ("pasta", "slirp4netns"))
@unittest.skipUnless(shutil.which(PROVIDER), f"without {PROVIDER}")
class FullJoins(Joins, Case):
    MODE, IPV6 = "full", PROVIDER == "pasta"

    @only_if(IS_ROOT and PROVIDER == "pasta")
    def test_what_comes_between_the_plan_and_the_command_is_refused(self):
        program = shutil.which(PROVIDER)
        with temporary_directory() as place:
            shutil.copy(program, f"{place}/program")
            with open(f"{place}/late", "w", encoding="utf-8") as script:
                script.write(f"#!/bin/bash\ntouch {place}/begun\nwhile [[ -e {place}/begun ]]; do sleep 0.02; done\n"
                             f'exec -a {PROVIDER} {place}/program "$@"\n')
            os.chmod(f"{place}/late", 0o755)
            subprocess.run(["mount", "--bind", f"{place}/late", program], check=True)
            try:
                with Inside(self.MODE) as sandbox:
                    self.assertTrue(until(lambda: os.path.exists(f"{place}/begun"), 20))  # the plan is made
                    self.join("address", "add", "45.61.0.2/24", "dev", "world")
                    os.remove(f"{place}/begun")
                    self.assertEqual(sandbox.ask(NEAR), "ECONNREFUSED")  # from the first moment on
                    self.assertEqual(sandbox.ask(PUBLIC), "reached")
            finally:
                subprocess.run(["umount", program], check=True)


class Without(Case):
    @only_if(PROVIDER == "neither")
    def test_without_either_there_is_a_clear_error(self):
        done = run("true", network="full")
        self.assertEqual(done.returncode, 125)
        self.assertIn("neither pasta nor slirp4netns", done.stderr)
        self.assertIn("--network allowlist", done.stderr)

    @only_if(PROVIDER == "no device" and not IS_ROOT)
    def test_where_the_device_is_roots_the_error_names_it(self):
        done = run("true", network="full")
        self.assertEqual(done.returncode, 125)
        self.assertIn("open /dev/net/tun: EACCES", done.stderr)
        self.assertIn("--network allowlist", done.stderr)
        status = json.loads(subprocess.run([COOP, "status", "--json"], capture_output=True, check=False).stdout)
        for program in "pasta", "slirp4netns":
            self.assertFalse(status["features"][program]["available"])


if __name__ == "__main__":
    main()
