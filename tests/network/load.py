"""Load: many connections, large transfers, slow clients."""

import hashlib
import resource
import subprocess
import unittest

from host import (Case, IS_ROOT, PROXY, allow, main, only_if, processes, run, run_python, start, told, until)

MEGABYTES = 1024
# What internet.py sends for so many megabytes, and what the client below does.
BLOCK = bytes(range(256)) * 4096


def digest_of(megabytes):
    total = hashlib.sha256()
    for _ in range(megabytes):
        total.update(BLOCK)
    return total.hexdigest()


DOWN = """
import hashlib, socket, sys
s = socket.create_connection(("good.example", 9002), 120)
s.sendall(sys.argv[1].encode() + b"\\n")
total = hashlib.sha256()
while data := s.recv(1 << 18): total.update(data)
print(total.hexdigest())
"""
UP = """
import socket, sys
s = socket.create_connection(("good.example", 9001), 120)
block = bytes(range(256)) * 4096
for _ in range(int(sys.argv[1])): s.sendall(block)
s.shutdown(socket.SHUT_WR)
s.settimeout(240)
print(s.recv(99).decode())
"""
MANY = """
import resource, socket, sys
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
address = socket.gethostbyname("good.example")
connections = []
for index in range(int(sys.argv[1])):
    s = socket.create_connection((address, 9003), 120)
    connections.append(s)
for s in connections: s.sendall(b"x")
answered = sum(s.recv(1) == b"x" for s in connections)
print("answered", answered, flush=True)
sys.stdin.readline()
"""


class Streams(Case):
    def test_half_closed_and_large_both_ways(self):
        expected = digest_of(MEGABYTES)
        flags = allow("good.example:9001", "good.example:9002")
        self.works(run(["python3", "-c", DOWN, str(MEGABYTES)], *flags, timeout=400), expected)
        self.works(run(["python3", "-c", UP, str(MEGABYTES)], *flags, timeout=400), expected)

    def test_through_the_proxy(self):
        expected = digest_of(32)
        script = UP.replace('("good.example", 9001), 120)', f"""("{PROXY}", 1080), 120)
s.sendall(b"CONNECT good.example:9001 HTTP/1.1\\r\\n\\r\\n")
assert b" 200 " in s.recv(4096)""")
        self.works(run(["python3", "-c", script, "32"], *allow("good.example:9001")), expected)

    def test_kept_connections_to_the_proxy_lose_no_request(self):
        # The server does not say that it closes; a client that is not told sends its next request in vain.
        script = f"""
import http.client, threading
lost = []
def ask():
    connection = http.client.HTTPConnection("{PROXY}", 1080, timeout=120)
    for number in range(30):
        try:
            connection.request("GET" if number % 3 else "POST", "http://good.example/", b"" if number % 3 else b"x" * 5000)
            answer = connection.getresponse()
            if answer.status != 200 or not answer.read():
                lost.append(answer.status)
        except (OSError, http.client.HTTPException) as error:
            lost.append(repr(error))
            connection.close()
threads = [threading.Thread(target=ask) for _ in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(len(lost), lost[:3])
"""
        self.works(run(["python3", "-c", script], *allow("good.example")), "0 []")

    def test_a_published_port_and_a_port_of_the_host(self):
        serve = """
import hashlib, socket
s = socket.create_server(("127.0.0.1", 8000)); print("up", flush=True)
c, _ = s.accept(); total = hashlib.sha256()
while data := c.recv(1 << 18): total.update(data)
c.sendall(total.hexdigest().encode()); c.close()
"""
        client = UP.replace('("good.example", 9001)', '("127.0.0.1", {})')
        with start(["python3", "-c", serve], "--publish", "18084:8000") as sandbox:
            self.assertEqual(sandbox.stdout.readline(), "up\n")
            done = subprocess.run(["python3", "-c", client.format(18084), "64"], capture_output=True, text=True, timeout=240,
                                  check=False)
            self.works(done, digest_of(64))
        with subprocess.Popen(["python3", "-c", serve], stdout=subprocess.PIPE, text=True) as server:
            self.assertEqual(server.stdout.readline(), "up\n")
            self.works(run(["python3", "-c", client.format(8000), "64"], "--host-port", "8000"), digest_of(64))

    def test_a_server_that_goes_away(self):
        # EOF is passed on: everything arrives before it, and nothing hangs.
        script = DOWN.replace("print(", "print(s.recv(1), ")
        self.works(run(["python3", "-c", script, "1"], *allow("good.example:9002")), digest_of(1))


class Slow(Case):
    RESTING = """
import socket, time
s = socket.create_connection(("good.example", 7), 120); time.sleep(17); s.sendall(b"awake"); print(s.recv(9))
"""

    def test_an_endless_head_blocks_no_other_client(self):
        # Other clients are served before the slow ones are ended. On a busy machine that may take several attempts.
        script = f"""
import select, socket, subprocess
for attempt in range(8):
    slow = [socket.create_connection(("{PROXY}", 1080), 120) for _ in range(300)]
    for s in slow: s.sendall(b"GET http://good.example/ HTTP/1.1\\r\\nX: ")
    for _ in range(5):
        subprocess.run(["curl", "-sSf", "-m", "120", "http://good.example/"], check=True, stdout=subprocess.DEVNULL)
    if not select.select(slow, [], [], 0)[0]: break
    for s in slow: s.close()
    slow = []
print("SERVED" if slow else "LATE")
ended = 0
while slow:
    for s in select.select(slow, [], [], 0.5)[0]:
        slow.remove(s)
        s.close()
        ended += 1
    for s in slow:
        try: s.send(b"a")
        except OSError: pass
print("ENDED", ended)
"""
        with start(["python3", "-c", self.RESTING], *allow("good.example:7")) as resting:
            done = run_python(script, *allow("good.example"))
            self.works(done, "SERVED")
            self.assertIn("ENDED 300", done.stdout)
            # Nothing that a slow client asked for.
            self.assertEqual(len(told()["hits"]) % 5, 0)
            # A connection, unlike a request head, has no timeout.
            self.assertIn("awake", resting.communicate(timeout=240)[0])


class Many(Case):
    @only_if(IS_ROOT)  # once is enough
    @unittest.skipIf(resource.getrlimit(resource.RLIMIT_NOFILE)[1] < 12000, "too few descriptors")
    def test_ten_thousand_connections(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        before = processes()
        with start(["python3", "-c", MANY, "10000"], "--open-files", "12000", *allow("good.example:9003")) as sandbox:
            answer = sandbox.stdout.readline()
            with open(f"/proc/{sandbox.pid}/status", encoding="utf-8") as file:
                resident = next(int(line.split()[1]) // 1024 for line in file if line.startswith("VmRSS"))
            _, said = sandbox.communicate("\n", timeout=240)
        self.assertEqual(answer, "answered 10000\n", said)
        self.assertLess(resident, 150)
        self.assertTrue(until(lambda: processes() <= before))

    def test_a_crowd_of_visitors(self):
        # More at once than the socket pair between coop and its init can buffer.
        count = min(900, resource.getrlimit(resource.RLIMIT_NOFILE)[1] // 4 - 100)
        serve = f"""
import asyncio
async def one(reader, writer):
    writer.write(await reader.read(1)); await writer.drain(); writer.close()
async def all():
    server = await asyncio.start_server(one, "127.0.0.1", 8000, backlog=2000); print("up", flush=True)
    await asyncio.sleep(600)
asyncio.run(all())
"""
        visit = f"""
import asyncio, resource, socket
resource.setrlimit(resource.RLIMIT_NOFILE, (resource.getrlimit(resource.RLIMIT_NOFILE)[1],) * 2)
visitors = []
for _ in range({count}):
    s = socket.socket(); s.setblocking(False); s.connect_ex(("127.0.0.1", 18085)); visitors.append(s)
async def one(s):
    loop = asyncio.get_running_loop()
    try:
        await loop.sock_sendall(s, b"x")
        return await loop.sock_recv(s, 1) == b"x"
    except OSError: return False
async def all(): print(sum(await asyncio.gather(*(one(s) for s in visitors))))
asyncio.run(asyncio.wait_for(all(), 240))
"""
        with start(["python3", "-c", serve], "--open-files", "2000", "--publish", "18085:8000") as sandbox:
            try:
                self.assertEqual(sandbox.stdout.readline(), "up\n")
                for _ in range(2):
                    done = subprocess.run(["python3", "-c", visit], capture_output=True, text=True, timeout=300, check=False)
                    self.works(done, str(count))
            finally:
                sandbox.terminate()
            sandbox.wait(60)

    def test_with_few_descriptors_it_works_or_says_so(self):
        # If descriptors are exhausted, the start fails: no command runs with a network that is not served.
        worked = set()
        # The last has the usual limit: the kernel holds descriptors that other processes of this user pass around
        # against a smaller one.
        usual = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        for most in (*range(6, 40, 2), 64, 256, usual):
            done = run("getent hosts good.example", *allow("good.example"), "--publish", "18086:8000",
                       preexec_fn=lambda most=most: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
            self.assertIn(done.returncode, (0, 125), (most, done.stderr))
            worked.add(done.returncode)
        self.assertEqual(worked, {0, 125})

    def test_a_thousand_short_ones(self):
        script = f"""
import concurrent.futures, urllib.request
opener = urllib.request.build_opener(urllib.request.ProxyHandler({{}}))
def one(_): return len(opener.open("http://good.example/", timeout=120).read())
with concurrent.futures.ThreadPoolExecutor(32) as pool: print(sum(size > 0 for size in pool.map(one, range(1000))))
"""
        self.works(run_python(script, *allow("good.example")), "1000")

    def test_names_through_the_proxy_are_limited_too(self):
        # Each is resolved outside: as many as the sandbox's own DNS would give addresses, and no more.
        script = f"""
import asyncio
async def one(limit, index):
    async with limit:
        reader, writer = await asyncio.open_connection("{PROXY}", 1080)
        writer.write(b"CONNECT data-%d.nowhere.example:443 HTTP/1.1\\r\\n\\r\\n" % index)
        await reader.read(); writer.close()
async def all():
    limit = asyncio.Semaphore(100)
    await asyncio.gather(*(one(limit, index) for index in range(17000)))
asyncio.run(all())
"""
        self.works(run_python(script, *allow("*.nowhere.example"), timeout=400))
        asked = sum(name.endswith(".nowhere.example") for name in told()["asked"])
        self.assertGreater(asked, 10000)
        self.assertLessEqual(asked, 16384)


if __name__ == "__main__":
    main()
