"""Real clients through --network allowlist: most of them know nothing of proxies."""

import json
import os
import shutil
import subprocess
import unittest

from host import (COOP, Case, HOST, OTHER, PRIVATE, PROJECT, PROXY, PUBLIC, PUBLIC6, allow, main, run, run_json, run_python, start,
                  told, until)

CURL = "curl -sS --max-time 20 --cacert /work/ca.pem "
DIRECT = CURL + "--noproxy '*' "
SSH = "ssh -i client.key -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"


class Web(Case):
    def test_curl_without_a_proxy(self):
        for url in ("http://good.example/", "https://good.example/"):
            self.works(run(DIRECT + url, *allow("good.example")), "public page for good.example")

    def test_curl_by_the_variables(self):
        for url in ("http://good.example/", "https://good.example/"):
            self.works(run(CURL + url, *allow("good.example")), "public page for good.example")

    def test_curl_over_socks(self):
        for scheme in ("socks5h", "socks5"):
            self.works(run(f"{CURL} --noproxy '' -x {scheme}://{PROXY}:1080 https://good.example/", *allow("good.example")),
                       "public page for good.example")

    def test_curl_over_ipv6(self):
        self.works(run(DIRECT + "-6 http://good.example/", *allow("good.example")), "public page")
        self.works(run(DIRECT + "http://six.example/", *allow("six.example")), "public page")
        self.works(run(DIRECT + f"'http://[{PUBLIC6}]/'", *allow(PUBLIC6)), "public page")

    def test_addresses_and_networks_can_be_allowed(self):
        self.works(run(DIRECT + f"http://{PUBLIC}/", *allow(PUBLIC)), "public page")
        self.works(run(DIRECT + f"http://{OTHER}/", *allow("93.184.216.0/24")), "public page")
        self.works(run(DIRECT + f"http://{PRIVATE}/", *allow("10.99.0.0/16")), "secret of the inside")

    def test_other_ports_only_when_they_are_named(self):
        self.works(run(DIRECT + "http://good.example:8080/", *allow("good.example:8080")), "public page")
        self.refused(run(DIRECT + "-f http://good.example:8080/", *allow("good.example")))
        self.refused(run(DIRECT + "-f http://good.example/", *allow("good.example:8080")))

    def test_wildcards_cover_what_is_below(self):
        self.works(run(DIRECT + "https://a.b.wild.example/ -k", *allow("*.wild.example")), "public page")
        self.refused(run(DIRECT + "https://wild.example/", *allow("*.wild.example")))

    def test_names_that_are_aliases_truncated_slow_or_forged(self):
        for name in ("alias.example", "big.example", "slow.example", "forged.example"):
            self.works(run(DIRECT + f"http://{name}/", *allow(name)), f"public page for {name}")

    def test_what_is_refused_says_why(self):
        for how in (DIRECT, CURL):
            done = run(how + f"http://{PUBLIC}/", *allow("good.example"))
            self.assertIn("refused: no rule allows it", done.stdout)
            self.assertIn(f"hint: --allow-net {PUBLIC}", done.stdout)
        done = run(CURL + "-D - http://other.example/", *allow("good.example"))
        self.assertIn("403 Forbidden", done.stdout)
        self.assertIn("hint: --allow-net other.example", done.stdout)
        self.refused(run(CURL + "https://other.example/", *allow("good.example")), "403")
        self.refused(run(DIRECT + "https://other.example/", *allow("good.example")), "resolve")

    @unittest.skipUnless(shutil.which("node"), "there is no node")
    def test_node_fetch(self):
        script = "fetch(process.argv[1]).then(r => r.text()).then(console.log, e => { console.log(e.cause); process.exit(1) })"
        command = ["node", "-e", script, "https://good.example/"]
        more = ["--env", "NODE_EXTRA_CA_CERTS=/work/ca.pem"]
        self.works(run(command, *allow("good.example"), *more), "public page for good.example")
        self.refused(run(command, *allow("other.example"), *more), "ENOTFOUND")

    def test_python_urllib(self):
        script = "import urllib.request as u; print(u.urlopen('http://good.example/', timeout=10).read())"
        self.works(run_python(script, *allow("good.example")), "public page")

    def test_a_static_client_without_proxies(self):
        for name in ("good.example", PUBLIC):
            self.works(run(["/work/plain_client", name, "80"], *allow(name)), f"public page for {name}")
        self.refused(run(["/work/plain_client", "other.example", "80"], *allow("good.example")), "no such name")
        self.assertIn("403 Forbidden", run(["/work/plain_client", OTHER, "80"], *allow("good.example")).stdout)
        self.refused(run(["/work/plain_client", OTHER, "443"], *allow("good.example")), "reset")


class Others(Case):
    def test_git_over_https(self):
        for environment in ("env -u HTTPS_PROXY -u https_proxy -u ALL_PROXY -u all_proxy", "env"):
            command = f"rm -rf /tmp/c; {environment} git -c http.sslCAInfo=/work/ca.pem clone -q " \
                      "https://good.example/git/repository.git /tmp/c && cat /tmp/c/README"
            self.works(run(command, *allow("good.example")), "from far away")
        self.refused(run(command, *allow("other.example")))

    def test_git_over_ssh(self):
        repository = os.environ["SCRATCH"] + "/repository.git"
        command = f"git clone -q ssh://root@good.example{repository} /tmp/c && cat /tmp/c/README"
        variable = ["--env", f"GIT_SSH_COMMAND={SSH}", "--unsafe-env", "GIT_SSH_COMMAND"]
        for view in ("minimal", "host"):
            self.works(run(command, *allow("good.example:22"), *variable, "--view", view), "from far away")
        self.refused(run(command, *allow("good.example"), *variable))  # the usual ports are those of the web

    def test_openssl_with_the_right_name_and_another(self):
        command = "openssl s_client -connect good.example:443 -servername {} -CAfile /work/ca.pem -brief -verify_return_error " \
                  "</dev/null 2>&1"
        self.works(run(command.format("good.example"), *allow("good.example", "other.example")), "Verification: OK")
        answer = run_json(command.format("other.example"), *allow("good.example", "other.example"))
        self.assertNotEqual(answer["exit_code"], 0)
        self.assertEqual([denial["rule"] for denial in answer["denials"]], ["TLS guard: the TLS ClientHello names other.example"])
        self.assertEqual(told()["tls_names"], ["good.example"])

    def test_dig(self):
        flags = allow("good.example")
        for more in ("", "+tcp", "@8.8.8.8", "@8.8.8.8 +tcp", f"@{PUBLIC6}"):
            done = run(f"dig +short +time=3 +tries=1 {more} good.example A", *flags)
            self.works(done)
            self.assertRegex(done.stdout, r"^198\.(18|19)\.\d+\.\d+\n$", more)
        done = run("dig +short good.example AAAA", *flags)
        self.assertRegex(done.stdout, "^fdc0:6f70:")
        self.assertIn("NXDOMAIN", run("dig other.example", *flags).stdout)
        for kind in ("TXT", "MX", "ANY", "HTTPS"):
            done = run(f"dig +time=3 +tries=1 good.example {kind}", *flags)
            self.works(done)
            self.assertIn("ANSWER: 0", done.stdout, kind)
        self.assertEqual(told()["asked"], {}, "lookups alone send no query outside")

    @unittest.skipUnless(shutil.which("redis-server") and shutil.which("redis-cli"), "there is no redis")
    def test_redis_over_a_port_of_the_host(self):
        with subprocess.Popen(["redis-server", "--port", "6390", "--bind", "127.0.0.1", "--save", "", "--dir", PROJECT],
                              stdout=subprocess.DEVNULL) as server:
            try:
                def ping():
                    return subprocess.run(["redis-cli", "-p", "6390", "ping"], capture_output=True, check=False).stdout
                self.assertTrue(until(lambda: ping() == b"PONG\n"))
                command = "redis-cli -h localhost -p 6390 set key value && redis-cli -p 6390 get key"
                for mode in ("none", "allowlist"):
                    self.works(run(command, "--host-port", "6390", network=mode), "value")
                self.refused(run(command), "refused")
                self.refused(run(command, network="none"), "refused")
            finally:
                server.terminate()

    def test_datagrams_by_network_and_port(self):
        script = "import socket,sys\n" \
                 "family=socket.AF_INET6 if ':' in sys.argv[1] else socket.AF_INET\n" \
                 "s=socket.socket(family,socket.SOCK_DGRAM); s.settimeout(5)\n" \
                 "s.connect((sys.argv[1],7)); s.send(b'there and back'); print(s.recv(99), s.getpeername()[0])"
        command = ["python3", "-c", script]
        self.works(run([*command, PUBLIC], "--allow-udp", f"{PUBLIC}:7"), "there and back")
        self.works(run([*command, OTHER], "--allow-udp", "93.184.216.0/24:7"), "there and back")
        self.works(run([*command, PUBLIC6], "--allow-udp", f"[{PUBLIC6}]:7"), "there and back")
        self.refused(run([*command, PUBLIC], "--allow-udp", f"{PUBLIC}:8"), "not permitted")
        self.refused(run([*command, PUBLIC], "--allow-udp", f"{OTHER}:7"), "not permitted")
        self.refused(run([*command, PUBLIC], *allow(f"{PUBLIC}:7")), "not permitted")

    def test_published_ports(self):
        serve = "echo published >/tmp/page; cd /tmp; exec python3 -m http.server --bind {} 8000"
        for bind in ("127.0.0.1", "0.0.0.0"):
            with start(serve.format(bind), "--publish", "18080:8000") as sandbox:
                try:
                    def fetch(address):
                        return subprocess.run(["curl", "-s", "-m", "5", f"http://{address}:18080/page"], capture_output=True,
                                              text=True, check=False).stdout
                    self.assertTrue(until(lambda: fetch("127.0.0.1") == "published\n"), bind)
                    self.assertEqual(fetch(HOST), "", "only on loopback when nothing else is said")
                finally:
                    sandbox.terminate()
        with start(serve.format("127.0.0.1"), "--publish", f"{HOST}:18080:8000") as sandbox:
            try:
                self.assertTrue(until(lambda: fetch(HOST) == "published\n"))
            finally:
                sandbox.terminate()


class Told(Case):
    def test_json_has_denials_and_events(self):
        command = DIRECT + "http://good.example/; " + DIRECT + "https://other.example/; " + CURL + "http://other.example:8080/"
        answer = run_json(command, *allow("good.example"))
        self.assertIn({"what": "connecting to other.example:8080", "rule": "no rule allows it",
                       "grant": "--allow-net other.example:8080"}, answer["denials"])
        self.assertIn({"what": "looking up other.example", "rule": "no rule allows it", "grant": "--allow-net other.example"},
                      answer["denials"])
        made = [event for event in answer["network"] if event["verdict"] == "allowed" and event["kind"] == "connection"]
        self.assertEqual([(event["host"], event["port"], event["rule"]) for event in made],
                         [("good.example", 80, "--allow-net good.example")])
        self.assertIn(made[0]["address"], (PUBLIC, PUBLIC6))
        self.assertGreater(made[0]["sent"], 50)
        self.assertGreater(made[0]["received"], 50)

    def test_the_grant_that_is_told_is_enough(self):
        command, grants = DIRECT + "-f http://other.example:8080/", []
        for _ in range(3):  # first its name, then its port
            answer = run_json(command, *grants)
            grants += [word for denial in answer["denials"] for word in denial["grant"].split()]
        self.assertEqual(answer["exit_code"], 0, answer)


class Unreached(Case):
    """Hosts that are allowed and do not answer: the program often says only that it failed."""

    def test_hosts_that_are_allowed_and_not_reached_are_named_with_the_reason(self):
        flags = ["--allow-net", "gone.example", "--allow-net", "good.example:81", "--allow-net", "good.example"]
        command = "curl -sS http://gone.example; curl -sS http://good.example:81; curl -sS http://good.example"
        done = run(command, *flags)
        self.assertIn("could not reach gone.example:80, which is allowed: ", done.stderr)
        self.assertIn("could not reach good.example:81, which is allowed: ECONNREFUSED", done.stderr)
        self.assertNotIn("could not reach good.example:80", done.stderr)  # control: that was reached
        listed = run_json(command, *flags)["unreached"]
        self.assertEqual([(entry["host"], entry["port"]) for entry in listed], [("gone.example", 80), ("good.example", 81)])
        self.assertTrue(all(entry["problem"] for entry in listed))

    def test_a_tool_says_so_too(self):
        arguments = json.dumps({"command": "curl -sS http://good.example:81; curl -sS http://good.example"})
        done = subprocess.run([COOP, "tool", "bash", arguments, "--json", "--workspace", PROJECT, "--allow-net", "good.example:81",
                               "--allow-net", "good.example"], capture_output=True, text=True, check=False)
        notes = [note for note in json.loads(done.stdout)["structured"]["notes"] if note.startswith("could not reach")]
        self.assertEqual(len(notes), 1, done.stdout)
        self.assertIn("could not reach good.example:81, which is allowed: ECONNREFUSED", notes[0])

    def test_the_list_at_the_end_is_bounded(self):
        done = run("for n in $(seq 40); do curl -sS -m 5 http://h$n.gone.example; done", "--allow-net", "*.gone.example")
        lines = [line for line in done.stderr.splitlines() if line.startswith("coop: could not reach")]
        self.assertEqual(len(lines), 10)
        self.assertIn("more hosts were not reached", done.stderr)


if __name__ == "__main__":
    main()
