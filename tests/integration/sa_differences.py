#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""sa_differences.py single|other|unheard SELF THERE LEAF SM  (each LID:PORT_GUID)
sa_differences.py compare OPENSM FMD		(each: PATH.whole, PATH.raw)

What tests/integration/sa_mads asks, and what two SAs may answer differently: a difference
that no row of REASONS has fails, and so does a row that nothing falls under.
"""
import collections
import re
import struct
import sys

GET, SET, TABLE, TRACE, MULTI, DELETE = 0x01, 0x02, 0x12, 0x13, 0x14, 0x15
METHODS = {GET: "Get", SET: "Set", TABLE: "GetTable", TRACE: "GetTraceTable", MULTI: "GetMulti", DELETE: "Delete"}
ATTRS = {
    0x0001: "ClassPortInfo", 0x0002: "Notice", 0x0003: "InformInfo", 0x0011: "NodeRecord", 0x0012: "PortInfoRecord",
    0x0013: "SL2VLRecord", 0x0014: "SwitchInfoRecord", 0x0015: "LFTRecord", 0x0016: "RandomFTRecord",
    0x0017: "MFTRecord", 0x0018: "SMInfoRecord", 0x0019: "LinkSpeedWidthPairsRecord", 0x0020: "LinkRecord",
    0x0030: "GUIDInfoRecord", 0x0031: "ServiceRecord", 0x0033: "PKeyRecord", 0x0035: "PathRecord",
    0x0036: "VLArbRecord", 0x0038: "MCMemberRecord", 0x0039: "TraceRecord", 0x003a: "MultiPathRecord",
    0x003b: "ServiceAssociationRecord", 0x003c: "HierarchyInfoRecord", 0x003d: "CableInfoRecord", 0x003e: "PortInfoExtendedRecord",
    0x00f3: "InformInfoRecord", 0x0000: "0x0000", 0x0010: "0x0010", 0x00ff: "0x00ff", 0x0111: "0x0111",
    0xff00: "0xff00", 0xffff: "0xffff",
}
BY_NAME = {name: attr for attr, name in ATTRS.items()}
PREFIX = 0xfe80000000000000

# Question (an expression for its whole name), field, what holds and why it may differ.
T = "(, trusted)?"
REASONS = [
    # by IBA, or more than OpenSM says
    (".*, no component" + T, "answer", "OpenSM drops what it does not have; a request is answered, with 0xc if need be (IBA 13.4.7, 15.4.1)"),
    ("(GetTable|GetMulti) ClassPortInfo, no component" + T, "status", "a method that an attribute has not: 0xc (IBA 13.4.7)"),
    ("(Get|GetTable) MultiPathRecord, no component" + T, "status", "a method that an attribute has not: 0xc (IBA 13.4.7)"),
    ("GetMulti .*", "rmpp_.*", "OpenSM sends a refusal with the RMPP header of the request; it is one MAD and no transfer (IBA 13.6.1)"),
    ("Get ClassPortInfo, no component" + T, "attribute_offset", "of one record any will do (IBA 15.2.1.1); OpenSM repeats the request's"),
    ("Set InformInfo: (subscribe|once more|no more)", "attribute_offset", "36 bytes are 5 words of 8 bytes, not 4 (IBA 15.2.1.1)"),
    ("Get PathRecord( from me|, no component)" + T, "status", "a Get names both ends (IBA 15.2.5.16); OpenSM tells the first path it finds"),
    ("(Get|GetTable) PathRecord to nobody" + T, "status", "IBA 15.2.4 has a status for a GID that nobody has"),
    ("Set ServiceRecord(: without a GID|, no component" + T + ")", "status", "IBA 15.2.4 has a status for too few components"),
    ("Delete ServiceRecord, no component" + T, "status", "IBA 15.2.4 has a status for too few components"),
    ("(Set|Delete) GUIDInfoRecord of another", "status", "OpenSM lets any host set the identities of another's port"),
    ("Delete MCMemberRecord", "@(36-38|42-43)", "MLID, MTU, rate and life time: of the group that was left; OpenSM repeats the request (IBA 15.2.5.17)"),
    (".* MCMemberRecord.*", "@43", "life time: that of paths where none is asked for; OpenSM repeats the request"),
    # settings, and what is the engine's
    ("Get ClassPortInfo, no component" + T, "@[2-7](-[2-7])?", "what each can"),
    (".* PortInfoRecord.*", "@32", "LocalPort is that of the last Get"),
    (".* PortInfoRecord.*", "@47", "PartEnforce: doc/sweep-fields.md says why there is none without a partitions file"),
    (".* LFTRecord.*", "@[0-9-]+", "routes are the engine's; fmroute check judges them"),
    (".* SL2VLRecord.*", "@8-15", "without QoS OpenSM tells what ports hold, fmd what it maps"),
    ("GetTable SL2VLRecord, no component" + T, "records|rmpp_length", "OpenSM tells of rows to port 0 too, to which nothing is mapped"),
    (".* VLArbRecord.*", "@9-23", "without QoS OpenSM tells what ports hold, fmd the equal weights that it means"),
    (".* SMInfoRecord.*", "@2[0-3](-23)?", "ActCount goes on"),
    (".* SMInfoRecord.*, trusted", "@19", "SM_Key: 1 unless it is set in OpenSM, 0 in fmd"),
    ("GetTable PathRecord, no component" + T, "@49", "fmd tells a path reversible where that is proven: not between a spine and another switch"),
    ("Get PKeyRecord of mine, trusted", "status", "fmd has read block 0, OpenSM both"),
    ("GetTable PKeyRecord.*, trusted", "records|rmpp_length", "fmd has read block 0 of ports with LIDs, OpenSM all of all ports"),
]

# ------------------------------------------------------------------- questions


def gid(guid):
    return f"{PREFIX:016x}{guid:016x}"


def ask(name, method, attr, mask=0, payload="", key=0, modifier=0):
    print(f"{name}|{method:#x}|{BY_NAME.get(attr, attr):#x}|{mask:#x}|{key}|{modifier:#x}|{payload}")


def matrix(methods, keys):
    """Every attribute by every method, without a component."""
    for key in keys:
        for attr, name in ATTRS.items():
            for method in methods:
                word = METHODS.get(method, f"{method:#04x}")
                ask(f"{word} {name}, no component{', trusted' if key else ''}", method, attr, key=key)


MGID = "ff12a01c000000000000000000000abc"
JOIN, CREATE = 0x10003, 0x130c7


def member(port, state, mgid=MGID, pkey="ffff"):
    return f"0:{mgid} 16:{gid(port)} 32:00000b1b 40:{pkey} 48:2{state}"


def single(own, there, leaf, sm):
    """One after the other: what is set is there for the next, and gone at the end."""
    (own_lid, own_guid), (far_lid, far_guid), (leaf_lid, _), (sm_lid, _) = own, there, leaf, sm
    mine, far, sw = f"0:{own_lid:04x}", f"0:{far_lid:04x}", f"0:{leaf_lid:04x}"
    for method in GET, TABLE:
        m = METHODS[method]
        for key in 0, 1:
            t = ", trusted" if key else ""
            ask(f"{m} NodeRecord of mine{t}", method, "NodeRecord", 1, mine, key)
            ask(f"{m} NodeRecord of another{t}", method, "NodeRecord", 1, far, key)
            ask(f"{m} NodeRecord of a switch{t}", method, "NodeRecord", 1, sw, key)
            ask(f"{m} NodeRecord of nobody{t}", method, "NodeRecord", 1, "0:bff0", key)
            ask(f"{m} PortInfoRecord of mine{t}", method, "PortInfoRecord", 1, mine, key)
            ask(f"{m} PortInfoRecord of a port{t}", method, "PortInfoRecord", 3, f"{sw} 2:01", key)
            ask(f"{m} PortInfoRecord with IsSM{t}", method, "PortInfoRecord", 0x80, "24:00000002", key, 1 << 31)
            ask(f"{m} PortInfoRecord with IsDM{t}", method, "PortInfoRecord", 0x80, "24:00080000", key, 1 << 31)
            ask(f"{m} SwitchInfoRecord of one{t}", method, "SwitchInfoRecord", 1, sw, key)
            ask(f"{m} LFTRecord block 0{t}", method, "LFTRecord", 3, sw, key)
            ask(f"{m} LFTRecord block 900{t}", method, "LFTRecord", 3, f"{sw} 2:0384", key)
            ask(f"{m} MFTRecord of one{t}", method, "MFTRecord", 1, sw, key)
            ask(f"{m} SL2VLRecord of mine{t}", method, "SL2VLRecord", 1, mine, key)
            ask(f"{m} VLArbRecord of mine, block 1{t}", method, "VLArbRecord", 5, f"{mine} 3:01", key)
            ask(f"{m} PKeyRecord of mine{t}", method, "PKeyRecord", 1, mine, key)
            ask(f"{m} SMInfoRecord of one{t}", method, "SMInfoRecord", 1, f"0:{sm_lid:04x}", key)
            ask(f"{m} LinkRecord of mine{t}", method, "LinkRecord", 1, mine, key)
            ask(f"{m} LinkRecord of a port{t}", method, "LinkRecord", 3, f"{sw} 2:01", key)
            ask(f"{m} GUIDInfoRecord of mine{t}", method, "GUIDInfoRecord", 3, mine, key)
            ask(f"{m} GUIDInfoRecord of nobody{t}", method, "GUIDInfoRecord", 3, "0:bff0", key)
            ask(f"{m} PathRecord by GIDs{t}", method, "PathRecord", 0xc, f"8:{gid(far_guid)} 24:{gid(own_guid)}", key)
            ask(f"{m} PathRecord by LIDs{t}", method, "PathRecord", 0x30, f"40:{far_lid:04x} 42:{own_lid:04x}", key)
            ask(f"{m} PathRecord by LIDs and P_Key{t}", method, "PathRecord", 0x2030,
                f"40:{far_lid:04x} 42:{own_lid:04x} 50:ffff", key)
            ask(f"{m} PathRecord from me{t}", method, "PathRecord", 8, f"24:{gid(own_guid)}", key)
            ask(f"{m} PathRecord to nobody{t}", method, "PathRecord", 0xc, f"8:{gid(0x77)} 24:{gid(own_guid)}", key)
            ask(f"{m} PathRecord to LID of nobody{t}", method, "PathRecord", 0x30, f"40:bff0 42:{own_lid:04x}", key)
    registered(own_guid, far_guid)
    aliases(own_lid, far_lid)
    pair = f"15:01 16:01 24:{gid(own_guid)} 40:{gid(far_guid)}"
    ask("GetMulti MultiPathRecord of a pair", MULTI, "MultiPathRecord", 0x180000, pair)
    pair = f"15:01 16:01 24:{gid(own_guid)} 40:{gid(0x77)}"
    ask("GetMulti MultiPathRecord to nobody", MULTI, "MultiPathRecord", 0x180000, pair)


def registered(own, far):
    ask("Set MCMemberRecord: a group", SET, "MCMemberRecord", CREATE, member(own, 1))
    ask("Set MCMemberRecord: once more", SET, "MCMemberRecord", CREATE, member(own, 1))
    ask("Set MCMemberRecord: of too little", SET, "MCMemberRecord", 3, member(own, 1))
    ask("Set MCMemberRecord: no state", SET, "MCMemberRecord", JOIN, member(own, 0))
    ask("Set MCMemberRecord: a group that lacks", SET, "MCMemberRecord", JOIN, member(own, 1, MGID[:-1] + "d"))
    ask("Set MCMemberRecord: another P_Key", SET, "MCMemberRecord", CREATE, member(own, 1, MGID, "8123"))
    ask("Set MCMemberRecord: another's P_Key", SET, "MCMemberRecord", CREATE, member(own, 1, MGID[:-1] + "e", "8123"))
    ask("Set MCMemberRecord: for nobody", SET, "MCMemberRecord", JOIN, member(0x77, 1))
    for method in GET, TABLE:
        for key in 0, 1:
            t = ", trusted" if key else ""
            m = METHODS[method]
            ask(f"{m} MCMemberRecord of the group{t}", method, "MCMemberRecord", 1, member(own, 0), key)
            ask(f"{m} MCMemberRecord of mine{t}", method, "MCMemberRecord", 3, member(own, 0), key)
            ask(f"{m} MCMemberRecord of none{t}", method, "MCMemberRecord", 1, member(own, 0, MGID[:-1] + "f"), key)
    ask("Delete MCMemberRecord: another's bits", DELETE, "MCMemberRecord", JOIN, member(own, 4))
    ask("Delete MCMemberRecord: of too little", DELETE, "MCMemberRecord", 1, member(own, 1))
    ask("Delete MCMemberRecord", DELETE, "MCMemberRecord", JOIN, member(own, 1))
    ask("Delete MCMemberRecord: once more", DELETE, "MCMemberRecord", JOIN, member(own, 1))
    service = f"0:0000000000000abc 8:{gid(own)} 24:ffff 28:ffffffff 32:00112233445566778899aabbccddeeff 48:7465737400"
    ask("Set ServiceRecord", SET, "ServiceRecord", 0x77, service)
    ask("Set ServiceRecord: once more", SET, "ServiceRecord", 0x77, service)
    ask("Set ServiceRecord: without a GID", SET, "ServiceRecord", 0x75, service)
    for key in 0, 1:
        t = ", trusted" if key else ""
        ask(f"Get ServiceRecord by id{t}", GET, "ServiceRecord", 1, service, key)
        ask(f"GetTable ServiceRecord by name{t}", TABLE, "ServiceRecord", 0x40, service, key)
        ask(f"Get ServiceRecord by another id{t}", GET, "ServiceRecord", 1, "0:0000000000000abd", key)
    ask("Delete ServiceRecord", DELETE, "ServiceRecord", 0x77, service)
    ask("Delete ServiceRecord: once more", DELETE, "ServiceRecord", 0x77, service)
    inform = "16:ffff 22:01 23:{} 24:ffff 26:0040 33:000004 28:{}"
    ask("Set InformInfo: subscribe", SET, "InformInfo", 0x10f2, inform.format("01", "00"))
    ask("Set InformInfo: once more", SET, "InformInfo", 0x10f2, inform.format("01", "00"))
    for method in GET, TABLE:
        for key in 0, 1:
            t = ", trusted" if key else ""
            ask(f"{METHODS[method]} InformInfoRecord of mine{t}", method, "InformInfoRecord", 1, f"0:{gid(own)}", key)
            ask(f"{METHODS[method]} InformInfoRecord of another{t}", method, "InformInfoRecord", 1, f"0:{gid(far)}", key)
    ask("Set InformInfo: no more", SET, "InformInfo", 0x10f2, inform.format("00", "000001"))
    ask("Set InformInfo: no more, again", SET, "InformInfo", 0x10f2, inform.format("00", "000001"))
    ask("Set InformInfo: neither", SET, "InformInfo", 0x10f2, inform.format("02", "00"))


def aliases(own, far):
    mask = 3 | 1 << 5
    want = "0:{:04x} 16:{:016x}"
    ask("Set GUIDInfoRecord of mine", SET, "GUIDInfoRecord", mask, want.format(own, 0xabc))
    ask("Get GUIDInfoRecord of mine with an alias", GET, "GUIDInfoRecord", 3, want.format(own, 0))
    ask("Delete GUIDInfoRecord of mine", DELETE, "GUIDInfoRecord", mask, want.format(own, 0))
    ask("Set GUIDInfoRecord of nobody", SET, "GUIDInfoRecord", mask, want.format(0xbff0, 0xabc))
    ask("Set GUIDInfoRecord without a block", SET, "GUIDInfoRecord", mask & ~2, want.format(own, 0xabc))
    ask("Set GUIDInfoRecord, block 200", SET, "GUIDInfoRecord", mask, want.format(own, 0xabc) + " 2:c8")
    for key in 0, 1:
        t = ", trusted" if key else ""
        ask(f"Set GUIDInfoRecord of another{t}", SET, "GUIDInfoRecord", mask, want.format(far, 0xdef), key)
        ask(f"Delete GUIDInfoRecord of another{t}", DELETE, "GUIDInfoRecord", mask, want.format(far, 0), key)


# --------------------------------------------------------------------- compare

HEADER = [("base_version", 0, 1), ("class", 1, 1), ("class_version", 2, 1), ("method", 3, 1), ("status", 4, 2),
          ("class_specific", 6, 2), ("tid", 12, 4), ("attribute", 16, 2), ("reserved", 18, 2), ("modifier", 20, 4),
          ("rmpp_version", 24, 1), ("rmpp_type", 25, 1), ("rmpp_flags", 26, 1), ("rmpp_status", 27, 1),
          ("rmpp_segment", 28, 4), ("rmpp_length", 32, 4), ("sm_key", 36, 8), ("attribute_offset", 44, 2),
          ("reserved2", 46, 2), ("mask", 48, 8)]


def header(mad):
    return {name: int.from_bytes(mad[at:at + n], "big") for name, at, n in HEADER}


def records(mad, whole):
    """Of a good table, in order of their bytes; of other answers all that is behind the header."""
    h = header(mad)
    step = 8 * h["attribute_offset"]
    if h["method"] not in (0x92, 0x94) or h["status"]:
        return [mad[56:]]
    if not whole:
        return []  # a table's first MAD: any of its records, by whatever order
    return sorted(mad[at:at + step] for at in range(56, len(mad) - step + 1, step)) if step else []


def runs(offsets):
    """[1, 2, 3, 7] as "1-3", "7"."""
    out = []
    for at in sorted(offsets):
        if out and out[-1][1] == at - 1:
            out[-1][1] = at
        else:
            out.append([at, at])
    return [f"@{a}-{b}" if a != b else f"@{a}" for a, b in out]


def differences(a, b, whole):
    """(field, opensm's, fmd's) of one question; b'' is silence, which no reason excuses in fmd."""
    if not a or not b:
        return [] if a == b else [("answer", "none", "one")] if b else [("silence", "one", "none")]
    ha, hb = header(a), header(b)
    found = [(name, f"{ha[name]:#x}", f"{hb[name]:#x}") for name in ha if ha[name] != hb[name]]
    if ha["status"] or hb["status"]:
        same = ha["status"] == hb["status"]
        return (found + ([("payload", "", "")] if a[56:] != b[56:] else [])) if same else \
            [f for f in found if f[0] in ("status", "method", "tid", "sm_key", "modifier", "class")]
    ra, rb = records(a, whole), records(b, whole)
    if len(ra) != len(rb):
        return found + [("records", str(len(ra)), str(len(rb)))]
    at = {i for x, y in zip(ra, rb) for i in range(max(len(x), len(y))) if x[i:i + 1] != y[i:i + 1]}
    return found + [("bytes", run, "") for run in runs(at)]


def read(path):
    answers = collections.OrderedDict()
    for line in open(path):
        name, value = line.rstrip("\n").rsplit("|", 1)
        if name in answers:
            sys.exit(f"{name} is asked twice")
        answers[name] = b"" if value == "-" else bytes.fromhex(value)
    return answers


def reason_for(name, field):
    for i, (question, which, reason) in enumerate(REASONS):
        if re.fullmatch(question, name) and re.fullmatch(which, field):
            return i, reason
    return None, "**not explained**"


def compare(opensm, fmd, how, used):
    theirs, ours = read(opensm + "." + how), read(fmd + "." + how)
    unexplained, n_same, n_both = 0, 0, 0
    print(f"\n| question, {how} | field | opensm | fmd | why |\n|---|---|---|---|---|")
    for name in theirs:
        found = differences(theirs[name], ours.get(name, b""), how == "whole")
        n_both += bool(theirs[name] and ours.get(name))
        n_same += not found
        for field, a, b in found:
            word = a if field == "bytes" else field
            i, reason = reason_for(name, word)
            used.add(i)
            unexplained += i is None
            print(f"| {name} | {word} | {'' if field == 'bytes' else a} | {b} | {reason} |")
    print(f"{len(theirs)} questions, {n_both} answered by both, {n_same} alike; {unexplained} differences not explained")
    return unexplained == 0 and set(theirs) == set(ours)


def compare_all(opensm, fmd):
    used = set()
    good = [compare(opensm, fmd, how, used) for how in ("whole", "raw")]
    idle = [REASONS[i] for i in range(len(REASONS)) if i not in used]
    for row in idle:
        print(f"nothing falls under {row[0]!r}, {row[1]!r}")
    return 0 if all(good) and not idle else 1


def main():
    if sys.argv[1] == "compare":
        return compare_all(*sys.argv[2:])
    ends = [(int(w.split(":")[0]), int(w.split(":")[1], 16)) for w in sys.argv[2:]]
    if sys.argv[1] == "single":
        single(*ends)
    elif sys.argv[1] == "matrix":
        matrix(METHODS, (0, 1))
    else:
        matrix([m for m in range(0x80) if m not in METHODS], (0,))
    return 0


sys.exit(main())
