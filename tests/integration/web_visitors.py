#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""What strangers may send to fmd-web, each answered by a sentence or hung up on; and listeners.

web_visitors.py SOCKET requests    half requests, bodies, long headers, methods
web_visitors.py SOCKET draw PORTS  what the page asks for: its files, all ports, the fabric, an hour of a port
web_visitors.py SOCKET slow        one that never ends its request is hung up on
web_visitors.py SOCKET listen N    events from N on, a line each, till it is ended
web_visitors.py SOCKET crowd       more listeners than may be
web_visitors.py SOCKET same N      N who ask the same at a time of an fmd that stands still, each told so: fmd is asked once for all
web_visitors.py SOCKET flood N     N requests, as fast as they are answered
"""
import gzip
import json
import socket
import struct
import sys

PATH = sys.argv[1]
HALVES = 1000


def dial():
    s = socket.socket(socket.AF_UNIX)
    s.connect(PATH)  # waits for a place in the row of those that are not let in yet
    s.settimeout(60)
    return s


def read_all(s):
    data = b""
    try:
        while part := s.recv(65536):
            data += part
    except ConnectionResetError:
        pass
    return data


def ask(text):
    """All that comes back for these bytes."""
    s = dial()
    s.sendall(text)
    answer = read_all(s)
    s.close()
    return answer


def code(answer):
    words = answer.split(b" ", 2)
    return int(words[1]) if len(words) > 2 and words[0].startswith(b"HTTP/1.") else 0


def get(path, more=b"", method=b"GET"):
    return ask(method + b" " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" + more + b"\r\n")


def expect(what, answer, *codes):
    if code(answer) not in codes:
        sys.exit(f"{what}: {answer[:300]!r}, expected {codes}")


def requests():
    expect("GET", get(b"/metrics"), 200)
    head = get(b"/metrics", method=b"HEAD")
    expect("HEAD", head, 200)
    if head.partition(b"\r\n\r\n")[2]:
        sys.exit("HEAD has a body")
    for method in b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"PATCH":
        answer = get(b"/api/v1/status", method=method)
        expect(method, answer, 405)
        if b"Allow: GET, HEAD" not in answer or b"nothing can be changed here" not in answer:
            sys.exit(f"{method}: {answer!r}")
    expect("a method that is none", get(b"/", method=b"STEAL"), 400, 405, 501)
    expect("a body", get(b"/metrics", b"Content-Length: 5\r\n\r\nhello"[:-2]), 400, 413)
    expect("a body that is said to be huge", get(b"/metrics", b"Content-Length: 99999999999\r\n"), 400, 413)
    expect("chunks", get(b"/metrics", b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n"), 200, 400, 413)
    expect("POST of a body", get(b"/api/v1/reload", b"Content-Length: 2\r\n\r\n{}"[:-2], method=b"POST"), 400, 405, 413)
    expect("a long header", get(b"/metrics", b"X: " + b"a" * 20000 + b"\r\n"), 400, 413)
    expect("many headers", get(b"/metrics", b"X: a\r\n" * 4000), 400, 413)
    expect("a long address", get(b"/" + b"a" * 20000), 400, 413, 414)
    expect("nonsense", ask(b"\0\1\2\3\r\n\r\n"), 400)
    expect("another path", get(b"/../../etc/passwd"), 404)
    for path, wanted in ((b"/api/v1/status?x=1", 400), (b"/api/v1/nodes?name=%ff", 400), (b"/metrics/ports?set=few", 400),
                         (b"/metrics/ports?group=nobody", 404), (b"/metrics/ports?names=mine", 400), (b"/metrics/ports?a=b", 400),
                         (b"/api/v1/cells?over=day", 400), (b"/api/v1/cells?over=", 400), (b"/api/v1/cells?over=now&over=hour", 400),
                         (b"/api/v1/cells?under=1", 400), (b"/api/v1/fabric?generation=", 400), (b"/api/v1/fabric?generation=" + b"a" * 1000, 400),
                         (b"/api/v1/fabric?generation=%00", 400), (b"/api/v1/fabric?name=x", 400), (b"/api/v1/history", 400),
                         (b"/api/v1/history?port=", 400), (b"/api/v1/history?port=leaf-1", 400), (b"/api/v1/history?port=leaf-*:1", 400),
                         (b"/api/v1/history?port=leaf-1:0", 400), (b"/api/v1/history?port=leaf-1:255", 400), (b"/api/v1/history?port=leaf-1:1x", 400),
                         (b"/api/v1/history?port=nobody:1", 400), (b"/api/v1/history?port=" + b"n" * 5000 + b":1", 400),
                         (b"/api/v1/history?node=leaf-1:1", 400), (b"/page/", 404), (b"/page/nothing.js", 404), (b"/page/../index.html", 404),
                         (b"/api/v1/" + b"x" * 100, 404), (b"/api/v1/", 404), (b"/api/v1/counters?node=*", 400)):
        answer = get(path)
        expect(path, answer, wanted)
        if not json.loads(answer.partition(b"\r\n\r\n")[2])["error"]:
            sys.exit(f"{path}: no sentence")
    halves = []
    for i in range(HALVES):
        halves.append(dial())
        halves[-1].sendall(b"GET /metrics HTTP/1.1\r\nX-Half: ")
    expect("a whole request behind 1,000 half ones", get(b"/metrics"), 200)
    print("requests:", HALVES, "half ones")


def parts(answer):
    """(headers, by small letters; body)"""
    head, _, body = answer.partition(b"\r\n\r\n")
    return {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head.decode().split("\r\n")[1:])}, body


def kept(path):
    """What a browser may keep: by gzip the same, nothing where it has it, HEAD without a body."""
    plain = get(path)
    expect(path, plain, 200)
    headers, body = parts(plain)
    zipped, zipped_body = parts(get(path, b"Accept-Encoding: br, gzip;q=0.5\r\n"))
    if zipped.get("content-encoding") == "gzip":
        zipped_body = gzip.decompress(zipped_body)
    elif len(body) > 1000:
        sys.exit(f"{path}: not by gzip: {zipped}")
    refused = parts(get(path, b"Accept-Encoding: gzip;q=0, br\r\n"))[0]
    if zipped_body != body or "content-encoding" in refused or zipped["etag"] != headers["etag"]:
        sys.exit(f"{path}: by gzip it is something else")
    tag = headers["etag"].encode()
    again = get(path, b'If-None-Match: "x", ' + tag + b"\r\n")
    expect(path, again, 304)
    expect(path, get(path, b'If-None-Match: W/"0000000000000000"\r\n'), 200)
    head, none = parts(get(path, method=b"HEAD"))
    if parts(again)[1] or none or int(head["content-length"]) != len(body):
        sys.exit(f"{path}: {again!r} {head}")
    return headers, body


POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'")


def draw_files():
    for path, kind in ((b"/", "text/html"), (b"/?show=load&show=load&%ff", "text/html"), (b"/page/app.js", "text/javascript"),
                       (b"/page/app.css", "text/css")):
        headers, body = kept(path)
        if (not headers["content-type"].startswith(kind) or headers["content-security-policy"] != POLICY or not body
                or headers["x-content-type-options"] != "nosniff" or headers["referrer-policy"] != "no-referrer"):
            sys.exit(f"{path}: {headers}")
    expect("the addresses", get(b"/help"), 200)


def draw_cells(path, n_ports):
    body = kept(path)[1]
    magic, version, nodes, ports, number, ended, interval = struct.unpack_from("<4sIIIQqI", body)
    if (magic, version, ports) != (b"FMDC", 1, n_ports) or number < 1 or ended < 1 or interval < 1:
        sys.exit(f"{path}: {body[:64]!r}")
    firsts, counts = (struct.unpack_from(f"<{nodes}I", body, 64 + at * nodes) for at in (8, 12))
    if len(body) != 64 + 16 * nodes + 4 * ports or list(firsts) != [sum(counts[:i]) for i in range(nodes)] or sum(counts) != ports:
        sys.exit(f"{path}: rows of nodes: {firsts} {counts}, {len(body)} bytes")


def draw(n_ports):
    draw_files()
    draw_cells(b"/api/v1/cells", n_ports)
    draw_cells(b"/api/v1/cells?over=now", n_ports)
    draw_cells(b"/api/v1/cells?over=hour", n_ports)
    fabric = json.loads(kept(b"/api/v1/fabric")[1])
    generation = fabric["generation"].encode()
    same = json.loads(parts(get(b"/api/v1/fabric?generation=" + generation))[1])
    if same != {"generation": fabric["generation"], "same": True}:
        sys.exit(f"the same fabric: {same}")
    for other in b"1234567890123456", b"0x10", b"%220123456789abcdef%22":
        if json.loads(parts(get(b"/api/v1/fabric?generation=" + other))[1]) != fabric:
            sys.exit("another generation is not told the whole")
    name = next(n for n, t in zip(fabric["names"], fabric["types"]) if t == 2)
    for node in name, fabric["guids"][fabric["names"].index(name)]:
        readings = json.loads(parts(get(f"/api/v1/history?port={node}:1".encode()))[1])["readings"]
        if not readings or any(len(r) != 3 or not r[0] > 1e12 for r in readings):
            sys.exit(f"an hour of {node}:1: {readings}")
    print("draw:", n_ports, "ports,", len(fabric["cables"]), "cables")


def slow():
    """A byte now and then does not prolong it."""
    s = dial()
    s.settimeout(1)
    s.sendall(b"GET / HTTP/1.1\r\nX: ")
    for n in range(60):
        try:
            s.sendall(b"a")
            if not s.recv(1):
                break
        except TimeoutError:
            continue
        except OSError:
            break
    else:
        sys.exit("it is still there after a minute")
    print("slow: hung up")


def listen(last):
    s = dial()
    s.settimeout(None)
    since = f"Last-Event-ID: {last}\r\n" if last != "-" else ""
    s.sendall(f"GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\n{since}\r\n".encode())
    for line in s.makefile(encoding="utf-8", newline="\n"):
        print(line.rstrip("\r\n"), flush=True)


def crowd():
    listeners = []
    for n in range(17):
        s = dial()
        s.sendall(b"GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        first = s.recv(12)
        if first != (b"HTTP/1.1 200" if n < 16 else b"HTTP/1.1 503"):
            sys.exit(f"listener {n}: {first!r}")
        listeners.append(s)
    listeners[0].close()
    for _ in range(600):
        if code(get(b"/")) != 200:
            sys.exit("the front page")
        s = dial()
        s.sendall(b"GET /api/v1/events/stream HTTP/1.1\r\nHost: localhost\r\n\r\n")
        if s.recv(12) == b"HTTP/1.1 200":
            print("crowd: 16 listen")
            return
    sys.exit("the place of one that has gone is not free")


def same(n):
    """More than may ask fmd at a time."""
    for path in b"/api/v1/trouble", b"/api/v1/fabric":
        asked = [dial() for _ in range(n)]
        for s in asked:
            s.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        for s in asked:
            answer = read_all(s)
            expect(path, answer, 503)
            if b"did not answer in time" not in answer:
                sys.exit(f"{path}: {answer!r}")
            s.close()
    print("same:", n)


def flood(n):
    codes = {}
    for i in range(n):
        c = code(get((b"/metrics", b"/metrics/ports?set=all", b"/api/v1/status", b"/api/v1/links")[i % 4]))
        codes[c] = codes.get(c, 0) + 1
    if codes.keys() - {200, 429, 503} or not codes.get(200):
        sys.exit(f"flood: {codes}")
    print("flood:", codes)


def main():
    task = sys.argv[2]
    if task == "listen":
        listen(sys.argv[3])
    elif task == "flood":
        flood(int(sys.argv[3]))
    elif task == "same":
        same(int(sys.argv[3]))
    elif task == "draw":
        draw(int(sys.argv[3]))
    else:
        {"requests": requests, "slow": slow, "crowd": crowd}[task]()


main()
