#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""saquery_table.py DIR: what OpenSM and fmd have answered (dev/saquery-compare), as a table.

What is no matter of the SA is made equal first: LIDs by the name of the node that has them, and
the order of records and of the rows of a table.  A difference for which WHY has no reason is
marked, and the exit code is 1; so it is when fmd has no answer where OpenSM has one, but for REFUSED."""
import collections
import os
import re
import sys

LIDS = {"lid", "dlid", "slid", "fromlid", "tolid", "baselid", "mastersmbaselid", "smlid", "endportlid"}
FIELD = re.compile(r"^([A-Za-z][\w /()\-]*?)\s*[.:]{2,}\s*(.*)$|^([A-Za-z][\w /()\-]*?):\s*(.*)$")
STATUS = re.compile(r"SA_ERR_\w+|timed out|MAD Method/Attrib\w*|(?<=status 0x....: )[\w ,]+")
WHY = {
    "ClassPortInfo (-c)": "what each can",
    "PortInfoRecord": "LocalPort is that of the last Get; OpenSM has switches enforce P_Keys without a partitions file too",
    "PortInfoRecord of a port": "the same",
    "LFTRecord": "routes are the engine's; `fmroute check` judges them",
    "LFTRecord of a switch": "the same",
    "MFTRecord": "trees are each one's own",
    "SL2VLTableRecord": "without QoS OpenSM tells what switches hold, rows to port 0 too; fmd what it maps",
    "VLArbitrationTableRecord": "without QoS OpenSM tells what switches hold; fmd the equal weights that it means",
    "PKeyTableRecord, trusted": "OpenSM tells of all ports of switches; fmd of what it looks at: ports with LIDs and switch ports that enforce partitions, which none does without a partitions file",
    "SMInfoRecord": "how long it has been at work",
    "one path from a GID, to whom is not said": "a Get names both ends (IBA 15.2.5.16); OpenSM tells the first path it finds",
    "a GID and the LID of another": "the status",
    "from a GID of nobody": "the status: fmd says that it is the GID",
    "to a GID of nobody": "the same",
    "to a GID of another subnet": "the same; there is no prefix route",
    "to no GID": "the same",
    "raw traffic": "OpenSM tells a path without P_Key; fmd knows of no raw packets",
    "flow label, traffic class": "fmd repeats what was asked for",
    "QoS class 5": "the same",
    "P_Key 0x7fff": "OpenSM repeats the P_Key; fmd tells that of the source, a full member",
    "MTU the largest": "OpenSM looks at the code, which does not count here",
    "rate the largest": "the same",
    "rate 10": "fmd promises less than there is, as both do of MTUs",
    "a rate that nobody knows": "fmd takes it for more than all it knows",
    "life less than 18": "OpenSM says less than it is; a path's life time is what it is",
    "to a group": "fmd tells the source's LID; OpenSM a number of paths",
    "to a group, from whom is not said": "as a Get of any path",
    "two sources, two destinations": "fmd ranks paths, which is what the field is for",
    "a trace": "OpenSM has none",
    "PathRecord (-p)": "fmd's tables lead from spine to spine, and it tells so; of paths between a spine and another switch nothing is proven, so they are not reversible",
}
# What fmd rightly has no record for.
REFUSED = {"one path from a GID, to whom is not said", "raw traffic", "life less than 18", "to a group, from whom is not said"}


def read_lids(folder):
    return {int(lid): name for lid, name in (line.split() for line in open(os.path.join(folder, "lids")) if len(line.split()) == 2)}


def named(value, lids):
    try:
        return lids.get(int(value, 0), value)
    except ValueError:
        return value


def records(path, lids):
    """A record is a tuple of (field, value), in order."""
    found, now = [], None
    for line in open(path, errors="replace"):
        line = line.strip()
        if line.startswith("ibwarn: ["):  # its process id; what it warns of is told behind it, too
            continue
        if line.endswith("dump:") or (now is None and line):
            now = []
            found.append(now)
            if line.endswith("dump:"):
                now.append(("kind", line))
                continue
        if not line or now is None:
            continue
        match = FIELD.match(line)
        if match:
            key, value = (match.group(1), match.group(2)) if match.group(1) else (match.group(3), match.group(4))
            if re.sub(r"[^a-z]", "", key.lower()) in LIDS:
                value = named(value.split()[0] if value.split() else value, lids)
            now.append((key.strip(), value))
            continue
        row = line.split()
        if len(row) == 2 and row[0].isdigit():  # an LFT's: LID and port
            now.append(("entry of " + named(row[0], lids), row[1]))
        else:
            now.append(("row", line))
    return [tuple(sorted(r)) for r in found]


def is_answer(found):
    return bool(found) and found[0] and any(key == "kind" for key, _ in found[0])


def word(path, found):
    if is_answer(found):
        return str(len(found))
    text = open(path, errors="replace").read().strip()
    match = STATUS.search(text)
    return match.group(0) if match else f"{len(text.splitlines())} lines" if text else "0"


def fields(only_a, only_b):
    """Names of the fields whose values differ, over all records that the other has not."""
    a, b = (collections.Counter(pair for r in side.elements() for pair in r) for side in (only_a, only_b))
    names = {key for key, _ in (a - b)} | {key for key, _ in (b - a)}
    if any(n.startswith("entry of") for n in names):
        names = {n for n in names if not n.startswith("entry of")} | {"entries"}
    return sorted(names)


def main():
    top, rc = sys.argv[1], 0
    sides = [os.path.join(top, kind) for kind in ("opensm", "fmd")]
    lids = [read_lids(side) for side in sides]
    print("| saquery | opensm | fmd | differ | in | why |\n|---|--:|--:|--:|---|---|")
    for i, line in enumerate(open(os.path.join(top, "questions"))):
        name = line.split("|")[0]
        paths = [os.path.join(side, str(i)) for side in sides]
        a, b = (records(p, l) for p, l in zip(paths, lids))
        only_a, only_b = (collections.Counter(x) - collections.Counter(y) for x, y in ((a, b), (b, a)))
        n = max(sum(only_a.values()), sum(only_b.values()))
        names = fields(only_a, only_b) if n and is_answer(a) and is_answer(b) else []
        why = WHY.get(name, "**not explained**") if n else ""
        if n and name not in WHY or is_answer(a) and not is_answer(b) and name not in REFUSED:
            rc = 1
        if len(names) > 6:
            names = ["all"]
        print(f"| {name} | {word(paths[0], a)} | {word(paths[1], b)} | {n or ''} | {', '.join(names)} | {why} |")
    return rc


sys.exit(main())
