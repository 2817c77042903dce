#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""walk_tables.py SEEN LFTS [--same=LFTS2] [--samples=N]

A walker that shares no code with fmd: from what ibnetdiscover saw and
dump_lfts read back, follow every LID of every CA and router port from every
switch, and every switch's LID from every switch that has hosts, hop by hop to
its owner.  Prints one line of facts, then N sample pairs of LIDs for
ibtracert; exits 1 with the first few wrong ways.

--same: the tables of another dump must be the same, entry by entry.
"""
import argparse
import random
import re
import sys

NODE = re.compile(r'^(Switch|Ca|Rt)\s+(\d+)\s+"([^"]+)"\s*(?:#\s*"(.*?)"(?:.* lid (\d+) lmc (\d+))?)?')
PORT = re.compile(r'^\[(\d+)\](?:\(\w+\))?\s+"([^"]+)"\[(\d+)\](?:\s*\(\w+\))?\s*(?:#\s*(?:lid (\d+) lmc (\d+))?)?')
TABLE = re.compile(r'^Unicast lids .* guid 0x([0-9a-f]+) ')
ENTRY = re.compile(r'^0x([0-9a-f]+) (\d+) :')


class Fabric:
    def __init__(self, path):
        self.kind, self.name = {}, {}
        self.peer = {}   # (node, port) -> (node, port)
        self.owner = {}  # LID -> (node, port); port 0 of a switch
        node = None
        for line in open(path):
            if match := NODE.match(line):
                kind, _, node, name, lid, lmc = match.groups()
                self.kind[node], self.name[node] = kind, name
                if kind == "Switch":
                    self.own(lid, lmc, (node, 0))
            elif node and (match := PORT.match(line)):
                port, other, other_port, lid, lmc = match.groups()
                self.peer[node, int(port)] = other, int(other_port)
                if self.kind[node] != "Switch":
                    self.own(lid, lmc, (node, int(port)))

    def own(self, lid, lmc, place):
        if lid is None or int(lid) == 0:
            sys.exit(f"{self.name[place[0]]} port {place[1]} has no LID")
        for one in range(int(lid), int(lid) + (1 << int(lmc))):
            if one in self.owner:
                sys.exit(f"LID {one} belongs to two: {self.owner[one]} and {place}")
            self.owner[one] = place

    def of_kind(self, kind):
        return [node for node, k in self.kind.items() if k == kind]


def read_tables(path):
    tables, table = {}, None
    for line in open(path):
        if match := TABLE.match(line):
            table = tables.setdefault("S-" + match.group(1).zfill(16), {})
        elif table is not None and (match := ENTRY.match(line)):
            table[int(match.group(1), 16)] = int(match.group(2))
    return tables


def walk(fabric, tables, node, lid):
    """Links from node to the owner of lid; else a sentence."""
    way, owner = [], fabric.owner[lid]
    while True:
        if node in way:
            return f"loop through {fabric.name[node]}"
        way.append(node)
        port = tables.get(node, {}).get(lid)
        if port is None or port == 255:
            return f"{fabric.name[node]} has no entry"
        if port == 0:
            return len(way) - 1 if owner == (node, 0) else f"{fabric.name[node]} keeps it"
        there = fabric.peer.get((node, port))
        if there is None:
            return f"{fabric.name[node]} sends it out of port {port}, where nothing is"
        if fabric.kind[there[0]] != "Switch":
            return len(way) if there == owner else f"it comes to {fabric.name[there[0]]} port {there[1]}"
        node = there[0]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("seen")
    parser.add_argument("lfts")
    parser.add_argument("--same")
    parser.add_argument("--samples", type=int, default=0)
    args = parser.parse_args()
    fabric, tables = Fabric(args.seen), read_tables(args.lfts)
    leaves = {a[0] for a, b in fabric.peer.items()
              if fabric.kind[a[0]] == "Switch" and fabric.kind[b[0]] != "Switch"}
    wrong, ways, longest = [], 0, 0
    for lid, owner in sorted(fabric.owner.items()):
        sources = fabric.of_kind("Switch") if owner[1] != 0 else leaves
        for node in sources:
            result = walk(fabric, tables, node, lid)
            ways += 1
            if isinstance(result, str):
                wrong.append(f"LID {lid} of {fabric.name[owner[0]]} from {fabric.name[node]}: {result}")
            else:
                longest = max(longest, result)
    if args.same:
        other = read_tables(args.same)
        for node in fabric.of_kind("Switch"):
            mine = {k: v for k, v in tables.get(node, {}).items() if k in fabric.owner}
            theirs = {k: v for k, v in other.get(node, {}).items() if k in fabric.owner}
            if mine != theirs:
                wrong.append(f"the tables of {fabric.name[node]} differ from those in {args.same}")
    ends = sorted(lid for lid, place in fabric.owner.items() if place[1] != 0)
    print(f"switches={len(fabric.of_kind('Switch'))} cas={len(fabric.of_kind('Ca'))} "
          f"routers={len(fabric.of_kind('Rt'))} cabled={len(fabric.peer)} ways={ways} longest={longest} "
          f"wrong={len(wrong)}")
    rng = random.Random(1)
    for _ in range(args.samples):
        print("sample", *rng.sample(ends, 2))
    for line in wrong[:5]:
        print(line)
    sys.exit(1 if wrong else 0)


main()
