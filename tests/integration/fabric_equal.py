#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""fabric_equal.py SOCKET: does "fabric" say what "nodes" and "links" say of the fmd at SOCKET, and is its
generation that of "progress"?  One line with what there is, or what differs."""
import collections
import json
import socket
import sys
import time

STATES = ["unknown", "down", "init", "armed", "active"]
TYPES = {1: "ca", 2: "switch", 3: "router"}


def ask(command, **args):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect(sys.argv[1])
        s.sendall((json.dumps({"command": command, "args": args}) + "\n").encode())
        text = b"".join(iter(lambda: s.recv(1 << 16), b""))
    answer = json.loads(text)
    if not answer["ok"]:
        sys.exit("%s: %s" % (command, answer["error"]))
    return answer["result"], len(text)


def pages(command, key):
    rows, page = [], {"next": 0}
    while page["next"] is not None:
        page, _ = ask(command, **{"from": page["next"]})
        rows += page[key]
    return rows


def differ(what, a, b):
    a, b = collections.Counter(a), collections.Counter(b)
    if a != b:
        sys.exit("%s differ: fabric alone %s, beside it %s" % (what, list((a - b))[:3], list((b - a))[:3]))


def lids_of(lids):
    return tuple(l for l in (lids if isinstance(lids, list) else [lids]) if l)


def cable_of(f, row):
    a, port, b, b_port, rate, best, _, _, flags = row
    far = (f["guids"][b], b_port) if b >= 0 else None
    return (f["guids"][a], port, far, *f["rates"][rate], *f["rates"][best], STATES[flags & 7], bool(flags & 8), bool(flags & 16), bool(flags & 32))


def link_of(here, l):
    to = l["to"]
    far = (to["guid"], to["port"]) if to and to["guid"] in here else None
    return (l["from"]["guid"], l["from"]["port"], far, l["width"] or "0x", l["speed"] or "", l["mbps"], l["best_width"] or "0x", l["best_speed"] or "",
            l["best_mbps"], l["state"], l["degraded"], l["isolated"], l["trouble"] is not None)


def of_one_moment():
    """The three answers, with nothing between them, and the loads found."""
    for _ in range(300):
        fabric, size = ask("fabric")
        nodes, links = pages("nodes", "nodes"), pages("links", "links")
        if fabric["loads"] and ask("fabric", generation=fabric["generation"])[0] == {"generation": fabric["generation"], "same": True}:
            return fabric, size, nodes, links
        time.sleep(0.1)
    sys.exit("it is never the same, or loads are never found: %s" % str(fabric)[:200])


def crossed(f):
    """Whose routes cross the first ports of switches: as many as are planned, and nobody's where no switch is behind."""
    rows = [c for c in f["cables"] if f["types"][c[0]] == 2 and c[2] >= 0][:32]
    for _ in range(300):
        answer, _ = ask("crossing", ports=",".join("%s:%d" % (f["guids"][c[0]], c[1]) for c in rows))
        if answer["state"] == "done":
            break
        time.sleep(0.1)
    else:
        sys.exit("it counts for ever who crosses a port")
    for c, port in zip(rows, answer["ports"]):
        if port is None and c[6] != 0 or port is not None and f["types"][c[2]] != 2:
            sys.exit("port %d of %s: %s, and %d routes are planned" % (c[1], f["names"][c[0]], port, c[6]))
        if port is None:
            continue
        if port["routes"] != c[6] or (port["n_from"] <= 8 and sum(n for _, n in port["from"]) != c[6]) or (port["n_to"] <= 8 and sum(n for _, n in port["to"]) != c[6]):
            sys.exit("port %d of %s is crossed by %s, and %d routes are planned" % (c[1], f["names"][c[0]], port, c[6]))


def main():
    fabric, size, nodes, links = of_one_moment()
    columns = [fabric[key] for key in ("types", "names", "guids", "lids", "ports", "levels", "group")]
    if len({len(c) for c in columns}) != 1:
        sys.exit("columns of different lengths")
    differ("nodes", [(TYPES[t], n, g, lids_of(lids), p) for t, n, g, lids, p, _, _ in zip(*columns)],
           [(n["type"], n["node"], n["guid"], tuple(n["lids"]), n["ports"]) for n in nodes])
    here = {n["guid"] for n in nodes}
    differ("cables", [cable_of(fabric, c) for c in fabric["cables"]], [link_of(here, l) for l in links])
    if ask("progress", generation=True)[0]["generation"] != fabric["generation"]:
        sys.exit("progress tells another generation")
    crossed(fabric)
    if max(fabric["group"]) >= len(fabric["groups"]):
        sys.exit("a group that is not there")
    sides = [fabric["types"][i] == 2 and fabric["levels"][i] for i in range(len(here))]
    print("%s %d nodes, %d cables, %d groups by %s, switches of levels %s, loads up to %d, %d bytes" % (
        fabric["generation"], len(here), len(links), len(set(fabric["group"])), fabric["grouped_by"],
        " ".join(str(level) for level in sorted({s for s in sides if s is not False})), max(max(c[6], c[7]) for c in fabric["cables"]), size))


main()
