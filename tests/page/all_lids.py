#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""A netlist that takes every unicast LID there is, 1 to 49,151, where lmc is 7: 127 switches, which have a LID each, and 383 hosts,
which have 128.  all_lids.py [HOSTS]: with more hosts it takes more than there are."""
import sys

LEAVES, HOSTS = 126, int((sys.argv + ["383"])[1])
last = {}


def port(switch):
    last[switch] = last.get(switch, 0) + 1
    return last[switch]


rows, hosts = {"root": []}, []
for i in range(1, LEAVES + 1):
    leaf = f"leaf-{i}"
    down, up = port("root"), port(leaf)
    rows["root"].append((down, leaf, up))
    rows[leaf] = [(up, "root", down)]
for i in range(1, HOSTS + 1):
    leaf = f"leaf-{(i - 1) % LEAVES + 1}"
    at = port(leaf)
    rows[leaf].append((at, f"host-{i}", 1))
    hosts.append((f"host-{i}", leaf, at))
for switch, row in rows.items():
    print(f'Switch {len(row)} "{switch}"')
    for at, node, there in row:
        print(f'[{at}] "{node}"[{there}]')
for host, leaf, at in hosts:
    print(f'Hca 1 "{host}"\n[1] "{leaf}"[{at}]')
