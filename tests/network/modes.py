"""none, veth and host, what the view has for each mode, and that nothing stays behind."""

import os
import shutil
import signal
import subprocess

from host import (Case, HOST, IS_ROOT, METADATA, OTHER, PRIVATE, PUBLIC, SECRET, allow, command_of, listening_ports, main,
                  only_if, processes, run, run_json, start, until)
from joins import NEAR, Inside, Joins

CURL = "curl -sS -f --max-time 10 --cacert ca.pem "
UDP = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(3)
s.connect((sys.argv[1], 7)); s.send(b"there and back"); print(s.recv(99))
"""


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def forward_packets(value):
    with open("/proc/sys/net/ipv4/ip_forward", "w", encoding="utf-8") as file:  # of the test's own network
        file.write(value)


class Files(Case):
    NAMES = ("resolv.conf", "hosts", "nsswitch.conf")

    def setUp(self):
        super().setUp()
        self.before = {name: text_of(f"/etc/{name}") for name in self.NAMES}

    def tearDown(self):
        self.assertEqual(self.before, {name: text_of(f"/etc/{name}") for name in self.NAMES}, "the host's are as they were")

    def inside(self, name, mode, view, *flags):
        done = run(["cat", f"/etc/{name}"], "--view", view, *flags, network=mode)
        return done.stdout if done.returncode == 0 else None

    def test_without_a_network(self):
        for view in ("minimal", "host"):
            self.assertNotIn("nameserver", self.inside("resolv.conf", "none", view))
            self.assertIn("127.0.0.1 localhost", self.inside("hosts", "none", view))
            self.assertNotIn("of-the-host", self.inside("hosts", "none", view))
        self.assertIn("hosts: files", self.inside("nsswitch.conf", "none", "minimal"))

    def test_where_the_supervisor_answers_for_names(self):
        modes = ["allowlist", *(["veth"] if IS_ROOT else []), *(["full"] if shutil.which("pasta") else [])]
        if IS_ROOT:
            forward_packets("1")
        for mode in modes:
            for view in ("minimal", "host"):
                self.assertIn("nameserver 198.18.0.1\n", self.inside("resolv.conf", mode, view))
                self.assertNotIn("93.184.216.53", self.inside("resolv.conf", mode, view))
                self.assertNotIn("of-the-host", self.inside("hosts", mode, view))
                self.assertIn("localhost", self.inside("hosts", mode, view))
                self.assertIn("hosts: files dns\n", self.inside("nsswitch.conf", mode, view))

    def test_on_the_host_network_they_are_the_hosts(self):
        for view in ("minimal", "host"):
            self.assertEqual(self.inside("resolv.conf", "host", view, "--unsafe", "host_network"), self.before["resolv.conf"])
            self.assertEqual(self.inside("hosts", "host", view, "--unsafe", "host_network"), self.before["hosts"])

    def test_the_certificates_of_the_host_are_there(self):
        if os.path.exists("/etc/ssl/certs/ca-certificates.crt"):
            for view in ("minimal", "host"):
                self.works(run(["head", "-c", "9", "/etc/ssl/certs/ca-certificates.crt"], "--view", view))

    def test_names_by_the_library(self):
        for view in ("minimal", "host"):
            self.works(run(["getent", "ahosts", "good.example"], "--view", view, *allow("good.example")), "198.1")
            self.works(run(["getent", "hosts", "localhost"], "--view", view, *allow("good.example")))


    def test_its_own_name(self):
        for mode in ("none", "allowlist"):
            for more in ([], ["--hostname", "builder"]):
                self.works(run("getent hosts $(hostname)", *more, network=mode))
        self.assertEqual(run_json("getent hosts $(hostname)")["denials"], [])


class Nothing(Case):
    def test_only_loopback_and_it_is_up(self):
        self.works(run("ip -br link | wc -l", network="none"), "1")
        self.works(run("cd /tmp; echo page > page; python3 -m http.server 8000 --bind 127.0.0.1 2>/dev/null & "
                       "for i in 1 2 3 4 5 6 7 8 9; do sleep 0.3; curl -sf 127.0.0.1:8000/page && break; done; kill $!",
                       network="none"), "page")
        for place in ("http://good.example/", f"http://{PUBLIC}/", f"http://{HOST}:1/"):
            self.refused(run(CURL + place, network="none"))
        self.works(run("env | grep -ci proxy || true", network="none"), "0")


class Veth(Case):
    """A link of the kernel's."""

    @staticmethod
    def traces():
        tables = subprocess.run(["nft", "list", "tables"], capture_output=True, text=True, check=True).stdout
        links = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout
        routes = subprocess.run(["ip", "route"], capture_output=True, text=True, check=True).stdout
        return tables, links.replace("\n", ";"), routes

    @only_if(not IS_ROOT)
    def test_an_ordinary_user_is_told_what_else_there_is(self):
        done = run("true", network="veth")
        self.assertEqual(done.returncode, 125)
        for words in ("needs root", "--network full", "--network allowlist"):
            self.assertIn(words, done.stderr)

    @only_if(IS_ROOT)
    def test_the_internet_and_not_the_neighbours(self):
        forward_packets("0")
        done = run("true", network="veth")
        self.assertEqual(done.returncode, 125)
        self.assertIn("ip_forward", done.stderr)
        forward_packets("1")
        before = self.traces()
        self.works(run(CURL + "http://good.example/ https://good.example/", network="veth"), "public page")
        self.works(run(["python3", "-c", UDP, PUBLIC], network="veth"), "there and back")
        for place in (PRIVATE, METADATA, "private.example", f"{HOST}:8053"):
            done = run("timeout 3 " + CURL + f"http://{place}/; echo code $?", network="veth")
            self.assertNotIn("code 0", done.stdout, place)
            self.assertNotIn("code 124", done.stdout, f"{place} is refused quickly")
        self.nothing_inside_reached()
        self.refused(run(CURL + f"http://{OTHER}/", "--deny-net", OTHER, network="veth"))
        self.works(run(CURL + f"http://{PRIVATE}/", *allow("10.99.0.0/16"), network="veth"), SECRET)
        self.assertTrue(until(lambda: self.traces() == before), self.traces())

    @only_if(IS_ROOT)
    def test_nothing_stays_after_kill(self):
        forward_packets("1")
        before, running = self.traces(), processes()
        with start("echo up; sleep 60", network="veth") as sandbox:
            self.assertEqual(sandbox.stdout.readline(), "up\n")
            tables = self.traces()[0]
            self.assertNotEqual(self.traces(), before)
            self.assertRegex(tables, "table ip coop-")
            self.assertRegex(tables, "table ip6 coop-")
            os.kill(sandbox.pid, signal.SIGKILL)
        self.assertTrue(until(lambda: self.traces() == before), self.traces())
        self.assertTrue(until(lambda: processes() <= running))

    @only_if(IS_ROOT)
    def test_what_a_killed_one_left_goes_with_the_next(self):
        forward_packets("1")
        before = self.traces()
        # A connection that is not closed keeps the network namespace and its veth alive after all processes have
        # exited.
        hold = f"import socket, time; s = socket.create_connection(('{PUBLIC}', 7)); print('up', flush=True); time.sleep(60)"
        with start(["python3", "-c", hold], network="veth") as sandbox, \
             start("echo up; sleep 60", network="veth") as other:
            try:
                self.assertEqual((sandbox.stdout.readline(), other.stdout.readline()), ("up\n", "up\n"))
                os.kill(sandbox.pid, signal.SIGKILL)
                sandbox.wait()
                self.works(run(CURL + "http://good.example/", network="veth"), "public page")
                self.assertTrue(until(lambda: self.traces()[1].count("coop-") == 1), self.traces())  # the one that runs
            finally:
                other.terminate()
        self.assertTrue(until(lambda: self.traces() == before), self.traces())

    @only_if(IS_ROOT)
    def test_two_at_once_do_not_see_each_other(self):
        forward_packets("1")
        serve = "ip -4 -br address show eth0; cd /tmp; exec python3 -m http.server 8000"
        with start(serve, network="veth") as first:
            try:
                address = first.stdout.readline().split()[2].split("/")[0]
                self.works(run(CURL + "http://good.example/", network="veth"), "public page")
                self.refused(run(f"timeout 3 {CURL} http://{address}:8000/", network="veth"))
                self.refused(run(f"timeout 3 {CURL} http://{address}:8000/", *allow("good.example")))
            finally:
                first.terminate()


@only_if(IS_ROOT)
class VethJoins(Joins, Case):
    MODE = "veth"

    def setUp(self):
        super().setUp()
        forward_packets("1")

    def test_the_hosts_rules_refuse_it_too(self):
        with Inside(self.MODE) as sandbox:
            self.assertEqual(sandbox.ask(NEAR), "reached")
            self.assertNotIn("45.61.0.0/24", self.rules())
            self.join("address", "add", "45.61.0.2/24", "dev", "world")
            self.assertTrue(until(lambda: "45.61.0.0/24" in self.rules(), 20), self.rules())

    @staticmethod
    def rules():
        return subprocess.run(["nft", "list", "ruleset"], capture_output=True, text=True, check=True).stdout


class Host(Case):
    def test_it_needs_the_word_and_is_shown(self):
        done = run("true", network="host")
        self.assertEqual(done.returncode, 125)
        self.assertIn("host_network", done.stderr)
        done = run(CURL + "http://good.example/", "--unsafe", "host_network", network="host")
        self.works(done, "public page")
        self.assertIn("unsafe.host_network: the sandbox shares the host's network", done.stderr)
        answer = run_json("true", "--unsafe", "host_network", network="host")
        self.assertIn("unsafe.host_network", "".join(answer["notes"]))
        self.works(run(["python3", "-c", UDP, PUBLIC], "--unsafe", "host_network", network="host"), "there and back")


class Killed(Case):
    def test_ports_and_processes_end_with_coop(self):
        before = processes()
        with start("echo up; sleep 60", "--publish", "18082:8000", *allow("good.example")) as sandbox:
            self.assertEqual(sandbox.stdout.readline(), "up\n")
            self.assertIn(":18082", listening_ports())
            os.kill(sandbox.pid, signal.SIGKILL)
        self.assertTrue(until(lambda: processes() <= before), [command_of(pid) for pid in processes() - before])
        self.assertNotIn(":18082", listening_ports())

    def test_a_port_that_is_taken_is_an_error(self):
        with start("echo up; sleep 60", "--publish", "18083:8000") as sandbox:
            try:
                self.assertEqual(sandbox.stdout.readline(), "up\n")
                done = run("true", "--publish", "18083:8000")
                self.assertEqual(done.returncode, 125)
                self.assertIn("18083", done.stderr)
            finally:
                sandbox.terminate()


if __name__ == "__main__":
    main()
