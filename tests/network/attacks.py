"""Ways past the allow-list, each beside something that is allowed and works."""

import contextlib

from host import (Case, CURL, DIRECT, IS_ROOT, Listener, METADATA, OTHER, PRIVATE, PROXIED, PROXY, PUBLIC, PUBLIC6, SECRET, SOCKS,
                  WAYS, allow, main, run, run_json, run_python, told)

# Sends raw bytes to the proxy, and prints the answer.
RAW = f"""
import socket, sys
s = socket.create_connection(("{PROXY}", 1080), 10)
s.sendall(eval(sys.argv[1]))
for more in sys.argv[2:]:
    got = s.recv(65536)
    print(got)
    s.sendall(eval(more))
s.settimeout(10)
try:
    while data := s.recv(65536): print(data)
except ConnectionResetError:
    print("reset")
"""


def raw(*sent, flags):
    return run(["python3", "-c", RAW, *(repr(one) for one in sent)], *flags)


class Names(Case):
    def test_spellings_of_an_allowed_name(self):
        flags = allow("good.example")
        for how in WAYS:
            for name in ("good.example", "GOOD.Example", "good.example."):
                self.works(run(how + f"http://{name}/", *flags), "public page")

    def test_spellings_of_another_name(self):
        flags = allow("good.example", "*.wild.example")
        control = run(PROXIED + "http://x.wild.example/", *flags)
        self.works(control, "public page")
        overlong = ".".join(["a" * 63] * 4) + ".wild.example"
        for name in ("good.example.other.example", "xgood.example", "good.example..", ".good.example", "wild.example",
                     "good%00.other.example", "xn--good-example", overlong, "a" * 64 + ".wild.example", "-.other.example"):
            for how in WAYS:
                self.refused(run([*(how.replace("'", "").replace("--noproxy  ", "").split()), f"http://{name}/"], *flags))
        self.assertNotIn("other.example", told()["asked"])

    def test_names_in_other_scripts_do_not_become_allowed_ones(self):
        for name in ("gооd.example", "ｇood.example", "good。example", "good.example\u200b"):
            request = f"GET http://{name}/ HTTP/1.1\r\nHost: {name}\r\n\r\n".encode()
            self.assertNotIn("200 OK", raw(request, flags=allow("good.example")).stdout)

    def test_names_with_a_nul(self):
        flags = allow("good.example")
        self.assertIn("200 OK", raw(b"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n", flags=flags).stdout)
        for name in (b"good.example\0.other.example", b"other.example\0good.example", b"good.example\0"):
            self.assertNotIn("200 OK", raw(b"GET http://" + name + b"/ HTTP/1.1\r\n\r\n", flags=flags).stdout)
            self.assertNotIn("200", raw(b"CONNECT " + name + b":443 HTTP/1.1\r\n\r\n", flags=flags).stdout)
            self.assertRegex(raw(b"\5\1\0", b"\5\1\0\3" + bytes([len(name)]) + name + b"\0\x50", flags=flags).stdout,
                             r"x05\\x0[1-8]")
        self.assertEqual(set(told()["asked"]), {"good.example"})

    def test_an_empty_list_denies_everything(self):
        for how in WAYS:
            for place in ("good.example", PUBLIC, f"[{PUBLIC6}]"):
                self.refused(run(how + f"'http://{place}/'"))
        self.assertEqual((told()["asked"], told()["hits"]), ({}, []))

    def test_a_denial_wins_over_a_wildcard(self):
        flags = [*allow("*.wild.example", "93.184.216.0/24"), "--deny-net", "bad.wild.example", "--deny-net", OTHER]
        for how in WAYS:
            self.works(run(how + "http://fine.wild.example/", *flags), "public page")
            self.refused(run(how + "http://bad.wild.example/", *flags))
            self.refused(run(how + "http://BAD.wild.example./", *flags))
            self.works(run(how + f"http://{PUBLIC}/", *flags), "public page")
            self.refused(run(how + f"http://{OTHER}/", *flags))
        self.assertEqual(set(told()["asked"]), {"fine.wild.example"})

    def test_a_denied_address_is_denied_under_every_name(self):
        for how in WAYS:
            for denied in (OTHER, "93.184.216.0/24"):
                answer = run_json(how + "http://other.example/", *allow("other.example"), "--deny-net", denied)
                self.assertEqual([denial["rule"] for denial in answer["denials"]],
                                 [f"--deny-net {denied}: {OTHER} is denied"])
            self.works(run(how + "http://other.example/", *allow("other.example"), "--deny-net", PUBLIC), "public page")


class Addresses(Case):
    def test_other_ways_to_write_an_address(self):
        control = PUBLIC
        ways = {PRIVATE: ("10.99.1", "0x0a630001", "012.0143.0.1", "174260225", "10.0x63.0.1", "[::ffff:10.99.0.1]",
                          "[::10.99.0.1]", "[64:ff9b::10.99.0.1]", "[2002:a63:1::]", "[fd99::1]"),
                METADATA: ("0xa9fea9fe", "2852039166", "0251.0376.0251.0376", "169.254.43518", "[::ffff:a9fe:a9fe]"),
                "127.0.0.1": ("127.1", "0x7f.1", "0177.0.0.1", "2130706433", "0", "0.0.0.0", "[::]", "[::1]",
                              "[::ffff:127.0.0.1]", "localhost", "localhost.", "a.localhost")}
        with Listener(("127.0.0.1", 80)) if IS_ROOT else contextlib.nullcontext():
            for flags in (allow("good.example"), allow(control)):
                for how in WAYS:
                    for spellings in ways.values():
                        line = "; ".join(f"{how} -m 3 'http://{one}/' && echo GOT {one}" for one in spellings)
                        done = run(line, *flags)
                        self.assertNotIn("GOT", done.stdout)
                        self.assertNotIn(SECRET, done.stdout)
        for how in WAYS:
            self.works(run(how + f"http://{control}/", *allow(control)), "public page")
        self.nothing_inside_reached()

    def test_names_that_lead_inside(self):
        names = ["private.example", "loopback.example", "metadata.example", "both.example", "unspecified.example",
                 "mapped.example", "nat64.example", "local6.example", "inside-alias.example"]
        for how in WAYS:
            for name in names:
                answer = run_json(how + f"http://{name}/", *allow(*names))
                self.assertNotEqual(answer["exit_code"], 0)
                self.assertEqual([denial["rule"].split(":")[0] for denial in answer["denials"]], ["address guard"], answer)
        self.nothing_inside_reached()
        # A rule that names the network as well allows it.
        self.works(run(DIRECT + "http://private.example/", *allow("private.example", "10.99.0.0/16")), SECRET)

    def test_a_name_that_rebinds(self):
        for how in WAYS:
            told("/forget")
            once = how + "http://rebind.example/"
            done = run(f"{once}; for i in 1 2 3 4; do {once} && echo GOT AGAIN; done; true", *allow("rebind.example"))
            self.assertEqual(done.stdout.count("public page"), 1, done.stdout + done.stderr)
            self.assertNotIn("GOT AGAIN", done.stdout)
            self.nothing_inside_reached()

    def test_stand_in_addresses_are_of_one_sandbox_and_of_names_that_were_asked(self):
        flags = allow("good.example", "198.18.0.0/15")
        self.refused(run(DIRECT + "http://198.18.77.77/", *flags))
        self.refused(run(DIRECT + "http://198.19.0.3/", *flags))


class Tls(Case):
    HELLO = ("openssl s_client -connect {to} {proxy} -servername {name} -CAfile /work/ca.pem -brief </dev/null")

    def test_another_name_in_the_hello(self):
        flags = allow("good.example", "other.example")
        for proxy in ("", f"-proxy {PROXY}:1080"):
            told("/forget")
            right = self.HELLO.format(to="good.example:443", proxy=proxy, name="good.example")
            self.works(run(right, *flags))
            for name in ("other.example", "evil.example", "sub.good.example"):
                answer = run_json(self.HELLO.format(to="good.example:443", proxy=proxy, name=name), *flags)
                self.assertNotEqual(answer["exit_code"], 0)
                self.assertEqual(answer["denials"][0]["rule"], f"TLS guard: the TLS ClientHello names {name}")
            self.assertEqual(told()["tls_names"], ["good.example"])

    def test_a_hello_in_pieces_is_still_read(self):
        script = """
import socket, ssl, sys, time
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
context = ssl.create_default_context(cafile="/work/ca.pem")
context.verify_flags |= ssl.VERIFY_X509_STRICT
context.check_hostname = False
tls = context.wrap_bio(incoming, outgoing, server_hostname=sys.argv[1])
try: tls.do_handshake()
except ssl.SSLWantReadError: pass
hello = outgoing.read()
s = socket.create_connection(("good.example", 443), 10)
s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
if sys.argv[2] == "records":
    body = hello[5:]
    hello = b"".join(hello[:3] + len(body[i:i+9]).to_bytes(2, "big") + body[i:i+9] for i in range(0, len(body), 9))
    s.sendall(hello)
else:
    for i in range(0, len(hello), 40): s.sendall(hello[i:i+40]); time.sleep(0.005)
print("ANSWERED" if s.recv(99)[:1] == b"\\x16" else "NO")
"""
        for pieces in ("bytes", "records"):
            self.works(run(["python3", "-c", script, "good.example", pieces], *allow("good.example")), "ANSWERED")
            done = run(["python3", "-c", script, "evil.example", pieces], *allow("good.example"))
            self.assertNotIn("ANSWERED", done.stdout)
        self.assertEqual(set(told()["tls_names"]), {"good.example"})

    def test_another_name_in_a_second_hello(self):
        script = """
import socket, ssl, sys
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
context = ssl.create_default_context(cafile="/work/ca.pem")
context.verify_flags |= ssl.VERIFY_X509_STRICT
tls = context.wrap_bio(incoming, outgoing, server_hostname="good.example")
s = socket.create_connection(("good.example", 8444), 10)
for said in range(4):
    try: tls.do_handshake(); print("DONE after", said); break
    except ssl.SSLWantReadError: pass
    hello = outgoing.read()
    if said == 0 and sys.argv[2:]: hello += hello.replace(b"good.example", b"evil.example")
    if said == 1 and sys.argv[1:]: hello = hello.replace(b"good.example", sys.argv[1].encode())
    try:
        if hello: s.sendall(hello)
        data = s.recv(65536)
    except OSError: data = b""
    if not data: print("ENDED"); break
    incoming.write(data)
"""
        flags = allow("good.example:8444")
        # Control: two ClientHellos with one name.
        self.works(run(["python3", "-c", script], *flags), "DONE after 2")
        self.assertEqual(set(told()["tls_names"]), {"good.example"})
        self.works(run(CURL + "https://good.example:8444/", *flags), "public page")
        for words in (["evil.example"], ["evil.example", "both at once"]):
            answer = run_json(["python3", "-c", script, *words], *flags)
            self.assertIn("ENDED", answer["stdout"]["text"])
            self.assertEqual([denial["rule"] for denial in answer["denials"]],
                             ["TLS guard: the second TLS ClientHello names evil.example"])
        self.assertEqual(set(told()["tls_names"]), {"good.example"})

    def test_other_versions_of_a_record_are_tls_as_well(self):
        script = """
import socket, ssl, sys
incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
tls = ssl.create_default_context().wrap_bio(incoming, outgoing, server_hostname="evil.example")
try: tls.do_handshake()
except ssl.SSLWantReadError: pass
hello = bytearray(outgoing.read()); hello[1] = int(sys.argv[1]); hello[5] = int(sys.argv[2])
s = socket.create_connection(("good.example", 7), 10); s.sendall(hello)
try: print("CAME BACK" if s.recv(99) else "ENDED")
except OSError: print("ENDED")
"""
        for version in ("0", "2", "3", "4", "64"):
            self.works(run(["python3", "-c", script, version, "1"], *allow("good.example:7")), "ENDED")
        self.works(run(["python3", "-c", script, "64", "9"], *allow("good.example:7")), "CAME BACK")  # control: that is no TLS

    def test_an_answer_that_is_no_tls_is_heard(self):
        script = """
import socket, ssl
context = ssl.create_default_context()
try: context.wrap_socket(socket.create_connection(("good.example", 9004), 10), server_hostname="good.example")
except ssl.SSLError as error: print("HEARD", error.reason)
"""
        self.works(run_python(script, *allow("good.example:9004")), "HEARD WRONG_VERSION_NUMBER")

    def test_connect_and_then_no_tls(self):
        # Not refused: the name was, and stays, an allowed one. It goes to that host and to no other.
        done = raw(b"CONNECT good.example:80 HTTP/1.1\r\nHost: good.example:80\r\n\r\n",
                   b"GET / HTTP/1.1\r\nHost: other.example\r\nConnection: close\r\n\r\n", flags=allow("good.example"))
        self.assertIn("public page", done.stdout)
        self.assertEqual([hit["address"] in (PUBLIC, PUBLIC6) for hit in told()["hits"]], [True])
        self.assertNotIn("200", raw(b"CONNECT other.example:80 HTTP/1.1\r\n\r\n", flags=allow("good.example")).stdout)


class Requests(Case):
    HEAD = b"POST http://good.example/ HTTP/1.1\r\nHost: good.example\r\n"

    def test_heads_that_two_would_read_differently(self):
        flags = allow("good.example")
        self.assertIn("200 OK", raw(self.HEAD + b"Content-Length: 3\r\n\r\nabc", flags=flags).stdout)
        told("/forget")
        inner = b"GET /smuggled HTTP/1.1\r\nHost: good.example\r\n\r\n"
        for rest in (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + inner,
                     b"Content-Length: 0\r\nContent-Length: 48\r\n\r\n" + inner,
                     b"Content-Length: 0, 48\r\n\r\n" + inner,
                     b"Content-Length: +0\r\n\r\n" + inner,
                     b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n0\r\n\r\n" + inner,
                     b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + inner,
                     b"X: a\nContent-Length: 48\r\n\r\n" + inner,
                     b"X: a\r\n Content-Length: 48\r\n\r\n" + inner,
                     b"X: a\0b\r\n\r\n" + inner,
                     b"X : a\r\n\r\n" + inner,
                     b"Content-Length : 48\r\n\r\n" + inner,
                     b"Host: other.example\r\n\r\n" + inner,
                     b"X: a\rContent-Length: 48\r\n\r\n" + inner):
            done = raw(self.HEAD + rest, flags=flags)
            self.assertIn("400 Bad Request", done.stdout, rest)
        self.assertEqual(told()["hits"], [])

    def test_one_connection_one_host(self):
        # A second request after the first goes to the first one's host, as data, or nowhere.
        second = b"GET http://other.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n"
        raw(b"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n" + second, flags=allow("good.example"))
        hits = told()["hits"]
        self.assertEqual(hits[0]["host"], "good.example")
        self.assertEqual([hit for hit in hits if hit["address"] == OTHER], [])
        self.assertNotIn("other.example", told()["asked"])

    def test_the_url_decides_and_not_the_host_field(self):
        flags = allow("good.example")
        done = raw(b"GET http://good.example/ HTTP/1.1\r\nHost: other.example\r\n\r\n", flags=flags)
        self.assertIn("400", done.stdout)
        done = raw(b"GET http://other.example/ HTTP/1.1\r\nHost: good.example\r\n\r\n", flags=flags)
        self.assertNotIn("200 OK", done.stdout)
        for url in (b"http://good.example@other.example/", b"http://other.example#good.example/",
                    b"http://other.example\\@good.example/", b"http://good.example:80@other.example:80/",
                    b"http://[good.example]/", b"https://good.example/", b"/", b"ftp://good.example/", b"good.example:80"):
            done = raw(b"GET " + url + b" HTTP/1.1\r\n\r\n", flags=flags)
            self.assertNotIn("200 OK", done.stdout, url)
        self.assertEqual(told()["hits"], [])

    def test_what_is_for_the_proxy_stays_there(self):
        raw(b"GET http://good.example/ HTTP/1.1\r\nHost: good.example\r\nProxy-Authorization: Basic eDp5\r\n"
            b"Proxy-Connection: keep-alive\r\n\r\n", flags=allow("good.example"))
        self.assertNotIn("proxy-authorization", told()["hits"][0]["names"])

    def test_an_allowed_host_that_is_a_proxy_is_a_hole_of_the_list(self):
        # What an allowed host forwards for its clients is its own decision: coop sees bytes to that host, at the
        # allowed port. Only that port of it, and nothing is resolved or connected here for the second host.
        command = CURL + "--noproxy '' -x http://relay.example:3128 -p http://good.example/"
        done = run(command, *allow("relay.example:3128"))
        self.works(done, "public page")
        self.assertEqual(told()["relayed"], ["good.example:80"])
        self.assertEqual(set(told()["asked"]), {"relay.example"})
        self.refused(run(command, *allow("relay.example")))


class Dns(Case):
    def test_denied_names_are_not_sent_to_a_resolver(self):
        self.works(run(DIRECT + "http://good.example/", *allow("good.example")))
        self.assertEqual(told()["asked"], {"good.example": 1})
        told("/forget")
        command = "; ".join(f"dig +short +time=2 +tries=1 {more} secret-{index}.other.example"
                            for index, more in enumerate(("", "TXT", "@8.8.8.8", "+tcp", "@93.184.216.53", "AAAA")))
        run(command + "; getent hosts secret.other.example; " + PROXIED + "http://secret.other.example; "
            + SOCKS + "http://secret.other.example", *allow("good.example"))
        self.assertEqual(told()["asked"], {})

    def test_there_is_a_limit_to_what_names_can_tell(self):
        script = """
import socket, struct
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(5); s.connect(("198.18.0.1", 53))
codes = {}
def ask(name):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    s.send(b"\\1\\2\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0" + labels + b"\\0\\0\\1\\0\\1")
    return s.recv(512)[3] & 15
for i in range(20000):
    code = ask(f"data-{i}.wild.example")
    codes[code] = codes.get(code, 0) + 1
print(codes, ask("data-1.wild.example"))
"""
        done = run_python(script, *allow("*.wild.example"))
        self.works(done, "{0: 16384, 5: 3616} 0")
        self.assertEqual(told()["asked"], {}, "and a lookup alone sends no query outside")

    def test_connections_tell_no_more_names_than_that(self):
        # Through the proxy no DNS query is made inside; the limit must hold there as well. A sample shows that each
        # name is queried once at most.
        names = " ".join(f"http://t{index}.wild.example/" for index in range(20))
        self.works(run(PROXIED + names + " " + names, *allow("*.wild.example")))
        self.assertLessEqual(max(told()["asked"].values()), 2)

    def test_malformed_questions_do_no_harm(self):
        script = """
import os, socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.connect(("198.18.0.1", 53)); s.settimeout(5)
for size in list(range(0, 40)) + [511, 512, 4096, 9000]:
    for _ in range(5): s.send(os.urandom(size))
s.send(b"\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0" + b"\\xc0\\x0c" + b"\\0\\1\\0\\1")
t = socket.create_connection(("198.18.0.1", 53), 5); t.sendall(b"\\xff\\xff" + b"x" * 70000); t.close()
print(socket.gethostbyname("good.example"))
"""
        self.works(run_python(script, *allow("good.example")), "198.1")


if __name__ == "__main__":
    main()
