"""What is near a sandbox: the host, other sandboxes, the supervisor, its own kernel. None of it is a way out."""

import os
import socket
import subprocess
import threading
import unittest

from host import (Case, DIRECT, HOST, Listener, PROXIED, PROXY, PUBLIC, SECRET, WAYS, allow, main, run, run_json, run_python, start,
                  temporary_directory, until)

NEIGHBOUR, NEIGHBOUR6 = "45.33.32.1", "2600:1234::1"


class Neighbours(Case):
    def test_services_of_the_host_are_not_there(self):
        with Listener(("127.0.0.1", 8181)) as here, Listener((HOST, 8182)) as outside:
            for place in ("127.0.0.1:8181", "localhost:8181", "[::1]:8181", "[::ffff:127.0.0.1]:8181", f"{HOST}:8182",
                          f"{PROXY}:8181", "0.0.0.0:8181"):
                for how in WAYS:
                    self.refused(run(how + f"'http://{place}/'", *allow("good.example")))
            # By a name that resolves to this machine, or a CIDR rule that contains its address.
            for place, rule in (("host.example", "host.example:8182"), (HOST, "45.33.32.0/24:8182"), (HOST, "0.0.0.0/0:8182")):
                for how in WAYS:
                    answer = run_json(how + f"'http://{place}:8182/'", *allow(rule))
                    self.assertNotEqual(answer["exit_code"], 0)
                    self.assertEqual([(denial["rule"], denial["grant"]) for denial in answer["denials"]],
                                     [(f"address guard: {HOST} is an address of this machine", f"--allow-net {HOST}:8182")])
            self.assertEqual((here.count, outside.count), (0, 0))
            self.works(run(DIRECT + "http://127.0.0.1:8181/", "--host-port", "8181"), SECRET)  # control
            self.works(run(DIRECT + f"http://{HOST}:8182/", *allow(f"{HOST}:8182")), SECRET)

    def test_neighbours_with_public_addresses_need_a_rule_that_names_them(self):
        # The other end of the link has a web server on every address, as a printer or router of a campus network may.
        for place, rule in (("neighbour.example", "neighbour.example"), (NEIGHBOUR, "0.0.0.0/0"), (NEIGHBOUR, "45.0.0.0/8"),
                            (f"[{NEIGHBOUR6}]", "::/0")):
            for how in WAYS:
                answer = run_json(how + f"'http://{place}/'", *allow(rule))
                self.assertNotEqual(answer["exit_code"], 0, (place, rule))
                self.assertIn("is in a network of this machine", answer["denials"][0]["rule"])
        for place, rule in ((NEIGHBOUR, NEIGHBOUR), (NEIGHBOUR, "45.33.32.0/24"), (NEIGHBOUR, "45.33.32.0/28"),
                            (f"[{NEIGHBOUR6}]", NEIGHBOUR6)):
            self.works(run(DIRECT + f"'http://{place}/'", *allow(rule)), "public page")  # controls: named, and
        self.works(run(DIRECT + "http://good.example/", *allow("good.example")), "public page")  # not on the link

    def test_abstract_sockets_of_the_host_are_not_there(self):
        with socket.socket(socket.AF_UNIX) as server:
            server.bind("\0coop-network-test")
            server.listen()
            script = "import socket; s = socket.socket(socket.AF_UNIX); s.connect('\\0coop-network-test'); print('REACHED')"
            for mode in ("none", "allowlist"):
                self.assertNotIn("REACHED", run_python(script, network=mode).stdout)
            control = subprocess.run(["python3", "-c", script], capture_output=True, text=True, check=False)
            self.assertIn("REACHED", control.stdout)

    def test_another_sandbox_is_not_there(self):
        serve = "echo page >/tmp/page; cd /tmp; exec python3 -m http.server --bind 0.0.0.0 8000"
        with start(serve, "--publish", "18090:8000", *allow("good.example")) as first:
            try:
                control = ["curl", "-sf", "-m", "5", "http://127.0.0.1:18090/page"]
                self.assertTrue(until(lambda: subprocess.run(control, capture_output=True, check=False).returncode == 0))
                for place in ("127.0.0.1:8000", f"{PROXY}:8000", "127.0.0.1:18090", "localhost:18090", f"{HOST}:18090"):
                    for how in WAYS:
                        self.refused(run(how + f"http://{place}/page", *allow("other.example")))
                # The other sandbox's proxy has the same address as ours; ours applies our rules.
                self.refused(run(PROXIED + "http://good.example/", *allow("other.example")))
                self.works(run(PROXIED + "http://other.example/", *allow("other.example")))
            finally:
                first.terminate()

    def test_what_is_no_tcp_fails_at_once(self):
        script = """
import errno, socket, sys
def attempt(what, action):
    try: action(); result = "OPEN"
    except socket.timeout: result = "SLOW"
    except OSError as error: result = errno.errorcode.get(error.errno, str(error))
    print(what, result)
def datagram(family, kind, protocol, place):
    s = socket.socket(family, kind, protocol); s.settimeout(30); s.connect(place)
    s.send(b"\\x08\\0\\xf7\\xff\\0\\0\\0\\0"); s.recv(99)
four, six = socket.AF_INET, socket.AF_INET6
def unconnected(place):
    s = socket.socket(socket.AF_INET6 if ":" in place[0] else socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(30)
    s.sendto(b"x", place); s.recvfrom(99)
for place in (("93.184.216.34", 443), ("2600:1234:5::34", 443)): attempt("quic", lambda: unconnected(place))
for place in (("93.184.216.34", 7), ("93.184.216.34", 443), ("10.99.0.1", 7), ("45.33.32.2", 9), ("8.8.8.8", 123)):
    attempt("udp", lambda: datagram(four, socket.SOCK_DGRAM, 0, place))
attempt("udp6", lambda: datagram(six, socket.SOCK_DGRAM, 0, ("2600:1234:5::34", 7)))
attempt("ping", lambda: datagram(four, socket.SOCK_DGRAM, socket.IPPROTO_ICMP, ("93.184.216.34", 0)))
attempt("raw", lambda: datagram(four, socket.SOCK_RAW, socket.IPPROTO_ICMP, ("93.184.216.34", 0)))
attempt("raw6", lambda: datagram(six, socket.SOCK_RAW, 58, ("2600:1234:5::34", 0)))
attempt("packet", lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0x300))
attempt("sctp", lambda: datagram(four, socket.SOCK_STREAM, 132, ("93.184.216.34", 7)))
attempt("tcp", lambda: datagram(four, socket.SOCK_STREAM, 0, ("93.184.216.34", 9001)))
attempt("tcp6", lambda: datagram(six, socket.SOCK_STREAM, 0, ("2600:1234:5::34", 9001)))
attempt("vsock", lambda: datagram(40, socket.SOCK_STREAM, 0, (2, 80)))
"""
        for mode in ("allowlist", "none"):
            for who in ("--as-self", "--as-root"):
                done = run_python(script, who, *(allow("good.example") if mode == "allowlist" else []), network=mode)
                self.works(done)
                self.assertNotIn("OPEN", done.stdout, mode)
                self.assertNotIn("SLOW", done.stdout, mode)
                self.assertEqual(len(done.stdout.splitlines()), 16)

    def test_processes_inside_reach_each_other(self):
        script = """
import socket, struct
r = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); r.settimeout(30); r.bind(("", 5007))
r.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.255.0.1") + socket.inet_aton("127.0.0.1"))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.sendto(b"many", ("239.255.0.1", 5007)); print(r.recv(9))
s.sendto(b"one", ("127.0.0.1", 5007)); print(r.recv(9))
"""
        done = run_python(script, *allow("good.example"))
        self.works(done, "many")
        self.works(done, "one")

    @unittest.skipUnless(os.path.exists("/usr/sbin/nft") and os.path.exists("/usr/sbin/ip"), "no nft or ip")
    def test_the_sandbox_cannot_change_its_network(self):
        for who in ("--as-self", "--as-root"):
            for command in ("nft flush ruleset", "nft list ruleset && exit 9; exit 1", "ip route add 1.2.3.4 dev lo",
                            "ip address add 10.0.0.1/8 dev lo", "ip link set lo down", "ip link add x type dummy",
                            "ip route del local default dev lo table local", "unshare -n true", "unshare -Un ip link set lo up"):
                done = run(f"export PATH=$PATH:/usr/sbin:/sbin; {command}", who, *allow("good.example"))
                if command.startswith("unshare -Un") and done.returncode == 0:
                    continue  # a network of its own, with nothing in it, is no way out
                self.refused(done)
            done = run("nft flush ruleset; ip link set lo down; " + DIRECT + f"http://{PUBLIC}/", who, *allow("good.example"))
            self.refused(done)
            self.works(run("ip link set lo down; " + DIRECT + "http://good.example/", who, *allow("good.example")))


    def test_the_doors_to_the_supervisor_lead_nowhere_by_themselves(self):
        # A connection to the redirect target itself has the sandbox as its destination.
        script = f"""
import socket
for address in ("{PROXY}", "127.0.0.1", "fdc0:6f70::c612:1"):
    for port in (1, 20000):
        try:
            s = socket.create_connection((address, port), 30); s.sendall(b"GET / HTTP/1.0\\r\\n\\r\\n")
            print("ANSWER" if b"200" in s.recv(99) else "NOTHING")
        except socket.timeout: print("SLOW")
        except OSError: print("REFUSED")
"""
        done = run_python(script, *allow("good.example", "198.18.0.0/15", "0.0.0.0/0"), "--allow-udp", f"{PUBLIC}:7")
        self.works(done)
        self.assertEqual(len(done.stdout.splitlines()), 6, done.stdout)
        self.assertNotIn("ANSWER", done.stdout)
        self.assertNotIn("SLOW", done.stdout)

    def test_everything_allowed_is_still_not_the_hosts_loopback(self):
        flags = allow("0.0.0.0/0:8185", "[::/0]:8185")
        with Listener(("127.0.0.1", 8185)) as here:
            for place in ("127.0.0.1", "127.9.9.9", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]", "[::]", "localhost", f"{PROXY}"):
                for how in WAYS:
                    self.refused(run(how + f"'http://{place}:8185/'", *flags))
            self.assertEqual(here.count, 0)


class Sockets(Case):
    def serve(self, path):
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()

        def accept():
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                with client:
                    client.sendall(b"echo " + client.recv(99))

        threading.Thread(target=accept, daemon=True).start()
        return server

    def test_sockets_are_there_when_they_are_named(self):
        script = "import socket,sys; s=socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.send(b'x'); print(s.recv(9))"
        with temporary_directory() as place:
            path, docker = place + "/one.sock", place + "/docker.sock"
            with self.serve(path), self.serve(docker):
                command = ["python3", "-c", script, path]
                for mode in ("none", "allowlist"):
                    self.works(run(command, "--socket", path, network=mode), "echo x")
                    self.refused(run(command, network=mode))
                    self.refused(run(command, "--socket", docker, "--unsafe", "control_sockets", network=mode))
                done = run(["python3", "-c", script, docker], "--socket", docker)
                self.refused(done, "control_sockets")
                self.assertEqual(done.returncode, 125)
                self.works(run(["python3", "-c", script, docker], "--socket", docker, "--unsafe", "control_sockets"), "echo x")
                # The same socket under another name.
                os.symlink(docker, place + "/harmless.sock")
                self.refused(run(["true"], "--socket", place + "/harmless.sock"), "control_sockets")
            self.refused(run(["true"], "--socket", place + "/missing"), "there is no")


if __name__ == "__main__":
    main()
