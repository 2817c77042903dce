#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""miscable.py hurt NETLIST SEED: the fabric with a few cables between switches unplugged, swapped or moved.
miscable.py ibnl TOPO DIR: a definition of each type of the file, as ibutils wants them.
miscable.py same DIFF.json IBTOPODIFF.out: do fmctl topo diff and ibtopodiff -e tell of the same cables?"""
import json
import os
import random
import re
import sys

NODE = re.compile(r'(Switch|Ca|Rt)\s+\d+\s+"([^"]+)"')
PORT = re.compile(r'\[(\d+)\](?:\([0-9a-f]+\))?\s+"([^"]+)"\[(\d+)\]')


def read(lines):
    """type of each node, peer of each end (node, port)"""
    types, peer, node = {}, {}, None
    for line in lines:
        if m := NODE.match(line):
            node = m[2]
            types[node] = m[1]
        elif m := PORT.match(line):
            peer[node, int(m[1])] = (m[2], int(m[3]))
    return types, peer


def plug(peer, a, b):
    peer[a], peer[b] = b, a


def unplug(peer, a):
    peer.pop(peer.pop(a))


def hurt(name, seed):
    rng = random.Random(int(seed))
    lines = open(name).read().split("\n")
    types, peer = read(lines)
    links = sorted((a, b) for a, b in peer.items() if a < b and types[a[0]] == types[b[0]] == "Switch")
    rng.shuffle(links)
    for kind in [rng.choice(["unplug", "swap", "move"]) for _ in range(rng.randint(1, 3))]:
        a, b = links.pop()
        unplug(peer, a)
        if kind == "unplug":
            continue
        while True:  # of four switches, so that no cable is there twice
            c, d = links.pop()
            if len({a[0], b[0], c[0], d[0]}) == 4:
                break
        unplug(peer, c)
        plug(peer, a, d)
        if kind == "swap":
            plug(peer, c, b)
    node = None
    for line in lines:
        if m := NODE.match(line):
            node = m[2]
        m = PORT.match(line)
        if m and types[node] == types[m[2]] == "Switch":
            if (there := peer.get((node, int(m[1])))) is None:
                continue
            line = f'[{m[1]}]\t"{there[0]}"[{there[1]}]\t\t# "{there[0]}" 4xQDR'
        print(line)


def ibnl(name, folder):
    types = set()
    for words in map(str.split, open(name)):
        if len(words) == 2:
            types.add(words[0])
        elif len(words) == 5 and words[1].endswith(">"):
            types.add(words[2])
    os.makedirs(folder, exist_ok=True)
    for t in types:
        ports = "".join(f"{p} -> P{p}\n" for p in range(1, int(t[2:]) + 1))
        open(f"{folder}/{t}.ibnl", "w").write(f"\nTOPSYSTEM {t}\n\nNODE {t[:2]} {t[2:]} {t} U1\n{ports}\n")


def cable(a, b):
    return tuple(sorted((a, b)))


def told_by_fmctl(diff):
    missing, extra = set(), set()
    for row in diff["list"]:
        e = [f'{end["node"]}/P{end["port"]}' for end in row["ends"]]
        if row["kind"] == "missing":
            missing.add(cable(*e))
        elif row["kind"] == "moved":
            missing.add(cable(e[0], e[1]))
            extra.add(cable(e[2], e[3]))
        elif row["kind"] == "swapped":
            missing |= {cable(e[0], e[1]), cable(e[2], e[3])}
            extra |= {cable(e[0], e[3]), cable(e[2], e[1])}
        else:
            sys.exit(f"fmctl tells of something else: {row}")
    return missing, extra


def told_by_ibtopodiff(lines):
    missing, extra = set(), set()
    for line in lines:
        if m := re.search(r"Missing cable between (\S+) and (\S+)", line):
            missing.add(cable(m[1], m[2]))
        elif m := re.search(r"port:(\S+) should be connected to:(\S+) but connects to:(\S+)", line):
            missing.add(cable(m[1], m[2]))
            extra.add(cable(m[1], m[3]))
        elif line.startswith("-E-") and "Total" not in line:
            sys.exit(f"ibtopodiff tells of something else: {line}")
    return missing, extra


def same(ours, theirs):
    a, b = told_by_fmctl(json.load(open(ours))), told_by_ibtopodiff(open(theirs))
    if a != b or not a[0]:
        sys.exit(f"fmctl: missing {a[0]}, extra {a[1]}\nibtopodiff: missing {b[0]}, extra {b[1]}")


globals()[sys.argv[1]](*sys.argv[2:])
