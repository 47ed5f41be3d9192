"""The internet's DNS server: public names, names with private addresses, and names whose address changes."""

import collections
import socket
import struct
import threading
import time

PUBLIC, OTHER, PUBLIC6 = "93.184.216.34", "93.184.216.35", "2600:1234:5::34"
PRIVATE, METADATA, LOOPBACK = "10.99.0.1", "169.254.169.254", "127.0.0.1"
A, CNAME, AAAA = 1, 5, 28

FIXED = {
    "good.example": [PUBLIC, PUBLIC6],
    "other.example": [OTHER],
    "relay.example": [OTHER],
    "six.example": [PUBLIC6],
    "private.example": [PRIVATE],
    "loopback.example": [LOOPBACK],
    "metadata.example": [METADATA],
    "both.example": [PUBLIC, PRIVATE],
    "unspecified.example": ["0.0.0.0"],
    "mapped.example": ["::ffff:10.99.0.1"],
    "nat64.example": ["64:ff9b::a63:1"],
    "local6.example": ["fd99::1"],
    "host.example": ["45.33.32.2", "2600:1234::2"],
    "neighbour.example": ["45.33.32.1"],
    "big.example": [PUBLIC],
    "slow.example": [PUBLIC],
    "forged.example": [PUBLIC],
    # Of @github in policies/hosts.txt, and beside it.
    "github.com": [PUBLIC],
    "api.github.com": [PUBLIC],
    "gist.github.com": [PUBLIC],
    "raw.githubusercontent.com": [PUBLIC],
    "githubusercontent.com": [PUBLIC],
    "registry.npmjs.org": [PUBLIC],
}
ALIASES = {"alias.example": "good.example", "inside-alias.example": "private.example",
           "loop.example": "loop.example"}
# The answers for rebind.example, one query after the other; the last one stays.
REBINDING = [PUBLIC, LOOPBACK, PRIVATE, METADATA]

asked = collections.Counter()  # questions for A, by name


def addresses_of(name):
    if name == "rebind.example":
        return [REBINDING[min(asked[name], len(REBINDING)) - 1]]
    if name.endswith(".wild.example"):
        return [PUBLIC]
    return FIXED.get(name, [])


def name_and_type(question):
    at, labels = 12, []
    while question[at]:
        labels.append(question[at + 1:at + 1 + question[at]].decode("latin-1"))
        at += 1 + question[at]
    return ".".join(labels).lower(), struct.unpack(">H", question[at + 1:at + 3])[0], at + 5


def encoded(name):
    return b"".join(bytes([len(label)]) + label.encode() for label in name.split(".")) + b"\0"


def answer(question, addresses, alias=None, flags=0x8180):
    _, kind, end = name_and_type(question)
    owner, records = b"\xc0\x0c", []
    if alias:
        records.append(owner + struct.pack(">HHIH", CNAME, 1, 0, len(encoded(alias))) + encoded(alias))
        owner = encoded(alias)
    family = {A: socket.AF_INET, AAAA: socket.AF_INET6}.get(kind)
    for one in addresses:
        if (":" in one) == (family == socket.AF_INET6) and family:
            data = socket.inet_pton(family, one)
            records.append(owner + struct.pack(">HHIH", kind, 1, 0, len(data)) + data)
    return question[:2] + struct.pack(">HHHHH", flags, 1, len(records), 0, 0) + question[12:end] + b"".join(records)


def reply(question, stream):
    """All datagrams to send back, in order."""
    name, kind, _ = name_and_type(question)
    if kind == A:
        asked[name] += 1
    elif kind not in (AAAA, 41):
        asked[f"{name} type {kind}"] += 1
    if name == "silent.example":
        return []
    if name == "slow.example":
        time.sleep(1.5)
    if name == "big.example" and not stream:
        return [answer(question, [], flags=0x8380)]  # ask again, over TCP
    alias = ALIASES.get(name)
    found = addresses_of(alias or name)
    right = answer(question, found, alias, 0x8180 if found or alias else 0x8183)
    if name == "forged.example":
        forged = answer(question, [PRIVATE])
        return [bytes([forged[0] ^ 255]) + forged[1:], right]
    return [right]


def serve_datagrams(address):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind((address, 53))

    def one(question, sender):
        for message in reply(question, stream=False):
            server.sendto(message, sender)

    while True:
        question, sender = server.recvfrom(4096)
        if b"slow" in question:  # who waits must not let others wait
            threading.Thread(target=one, args=(question, sender), daemon=True).start()
        else:
            one(question, sender)


def serve_streams(address):
    server = socket.create_server((address, 53))
    while True:
        client, _ = server.accept()
        with client, client.makefile("rb") as reader:
            client.settimeout(5)
            size = struct.unpack(">H", reader.read(2))[0]
            for message in reply(reader.read(size), stream=True):
                client.sendall(struct.pack(">H", len(message)) + message)


def start():
    for address in ("93.184.216.53", "8.8.8.8"):
        for serve in (serve_datagrams, serve_streams):
            threading.Thread(target=serve, args=(address,), daemon=True).start()
