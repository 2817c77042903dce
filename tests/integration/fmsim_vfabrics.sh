#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Vfabrics of fmd on fmsim: in the P_Key tables, SL-to-VL maps and VL arbitration of ports, in what
# the SA tells of paths and groups, in fmctl vfabrics, and for packets themselves.
# Exit 77 (skipped) where the tools are absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need saquery smpquery python3

"$build/fmroute" gen pgft 2 4,2 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
hosts=($(sed -n 's/^\(Hca\|Ca\)[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\2/p' "$dir/net"))
sm=${hosts[0]} server1=${hosts[1]} server2=${hosts[5]} client1=${hosts[2]} client2=${hosts[6]} plain=${hosts[3]} other=${hosts[7]}
guid_of() { # NODE
	sed -n "s/^\[[0-9]*\].*\"$1\"\[1\](\([0-9a-f]*\)).*/0x\1/p" "$dir/net"
}
cat >"$dir/fmd.conf" <<END
control_socket = "$dir/control"
qos = yes
qos_max_vls = 8
group "servers" { members = { "$server1", "$(guid_of "$server2")" } }
vfabric "storage" {
	pkey = 0x4
	members = { "@servers" }
	limited = { "$client1", "$client2", "name:called-*" }
	sl = 2
	share = 60
	mtu = 1024
	rate = 5
	groups = { "ipoib", "ff12:401b::707" }
}
vfabric "jobs" {
	pkey = 0x6
	members = { "type:ca", "!@servers", "!$sm" }
	share = 20
}
vfabric "open" {
	pkey = 0x7
	limited = { "$client1", "$plain" }
	security = no
	groups = { }
}
END
start() { # OUTPUT
	exec_on_fmsim "$sm" "$build/fmd" --transport=umad --config="$dir/fmd.conf" --state-dir="$dir/state" \
		>"$dir/$1" 2>&1 &
	fmd=$!
	await "$dir/$1" "SUBNET UP"
}
start fmd.out

ask() { "$build/fmctl" --socket="$dir/control" "$@"; }
gid_of() { # NODE
	local g
	g=$(printf '%016x' "$(guid_of "$1")")
	echo "fe80::${g:0:4}:${g:4:4}:${g:8:4}:${g:12:4}"
}
queried() { # NODE OPTIONS...: what saquery prints there, into query.out
	local node=$1
	shift
	timeout 60 bash -c '. "$0"; FMSIM_PRELOAD=$1 FMSIM_RUNTIME=$2; shift 2; exec_on_fmsim "$@"' \
		"$top/dev/fmsim-lib.sh" "$FMSIM_PRELOAD" "$FMSIM_RUNTIME" "$node" saquery "$@" >"$dir/query.out" 2>&1
}
expect() { # WHAT WANTED GOT
	[ "$2" = "$3" ] || fail "$1: $3, not $2"
}

# ---- P_Key tables
keys() { # NODE
	run_on "$1" smpquery -D pkeys 0 1 | grep -o '0x[0-9a-f]\{4\}' | grep -v 0x0000 | sort | tr '\n' ' '
}
expect "keys of the SM" "0xffff " "$(keys "$sm")"
expect "keys of a server" "0x7fff 0x8004 " "$(keys "$server1")"
expect "keys of a server that is named by its GUID" "0x7fff 0x8004 " "$(keys "$server2")"
expect "keys of a client" "0x0004 0x7fff 0x8006 0x8007 " "$(keys "$client1")"
expect "keys of a host in jobs and open" "0x7fff 0x8006 0x8007 " "$(keys "$plain")"
expect "keys of a host in jobs alone" "0x7fff 0x8006 " "$(keys "$other")"
echo "ok: P_Key tables"

# ---- SL to VL: 0 is VL 0, 1 (jobs) VL 1, 2 (storage) VL 2, all others that of SL 0
run_on "$plain" smpquery sl2vl "$(lid_of "$plain")" 1 >"$dir/sl2vl.out" || fail "smpquery sl2vl"
grep -q 'in  0, out  0: | 0| 1| 2| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0| 0|' "$dir/sl2vl.out" || fail "SL to VL: $(cat "$dir/sl2vl.out")"
# shares are 20, 20 and 60
run_on "$plain" smpquery vlarb "$(lid_of "$plain")" 1 >"$dir/vlarb.out" || fail "smpquery vlarb"
tr -s ' ' <"$dir/vlarb.out" | grep -A 2 'Low priority' | grep 'WEIGHT' >"$dir/weights"
expect "weights" "55,55,ff" "$(grep -o '0x[0-9A-Fa-f]*' "$dir/weights" | head -n 3 | sed 's/0x//' | tr A-F a-f | tr '\n' ',' | sed 's/,$//')"
echo "ok: SL to VL, weights"

# ---- paths
path() { # FROM TO FIELD [P_KEY]: of the path in that partition
	queried "$1" ${4:+--pkey "$4"} --slid "$(lid_of "$1")" --dlid "$(lid_of "$2")" PR
	sed -n "s/^[^a-z]*$3\.\.*//p" "$dir/query.out" | head -n 1
}
expect "the P_Key from a server to a client" 0x8004 "$(path "$server1" "$client1" pkey)"
expect "its SL" 0x2 "$(path "$server1" "$client1" sl)"
expect "its MTU" 0x83 "$(path "$server1" "$client1" mtu)"
expect "its rate" 0x85 "$(path "$server1" "$client1" rate)"
expect "the P_Key between two of jobs" 0x8006 "$(path "$plain" "$other" pkey)"
expect "its SL" 0x1 "$(path "$plain" "$other" sl)"
expect "its MTU is that of the links" 0x85 "$(path "$plain" "$other" mtu)"
expect "the P_Key of two in open, one of them asks for it" 0x8007 "$(path "$client1" "$plain" pkey 0x8007)"
expect "its SL" 0x0 "$(path "$client1" "$plain" sl 0x8007)"
expect "between limited members of storage there is none" "" "$(path "$client1" "$client2" pkey 0x0004)"
expect "nor from jobs to storage" "" "$(path "$plain" "$server1" pkey)"
queried "$server1" --sl 1 --slid "$(lid_of "$server1")" --dlid "$(lid_of "$client1")" PR
expect "a path with another SL than its vfabric's" 0 "$(grep -c 'PathRecord dump' "$dir/query.out")"
echo "ok: paths"

# ---- groups
queried "$server1" -g
cat "$dir/query.out" >"$dir/group.out"
grep -q 'ff12:401b:8004::ffff:ffff' "$dir/group.out" || fail "storage has no broadcast group"
grep -q 'ff12:401b:8004::707' "$dir/group.out" || fail "storage has not the group that is written"
expect "groups that a server sees" 2 "$(grep -c MGID "$dir/group.out")"
expect "their MTUs" 2 "$(grep -c 'Mtu\.*0x83' "$dir/group.out")"
expect "their rates" 2 "$(grep -c 'Rate\.*0x85' "$dir/group.out")"
expect "their SLs" 2 "$(grep -c 'SL\.*0x2' "$dir/group.out")"
queried "$client1" -g # of storage it is a limited member, of open and jobs a full one
expect "groups that a client sees" 3 "$(grep -c MGID "$dir/query.out")"
grep -q 'ff12:401b:8006::ffff:ffff' "$dir/query.out" || fail "jobs has no broadcast group"
echo "ok: groups"

# ---- what fmd says of it
ask vfabrics --json >"$dir/all.json" || fail "fmctl vfabrics: $(cat "$dir/all.json")"
python3 - "$dir/all.json" <<'END' || fail "fmctl vfabrics: $(cat "$dir/all.json")"
import json, sys
said = json.load(open(sys.argv[1]))
rows = {v["name"]: v for v in said["vfabrics"]}
want = {"storage": ("0x0004", 2, 60, 2, "1024", "5", 2, 2, 4, 0, 1),
	"jobs": ("0x0006", 1, 20, 1, "any", "any", 5, 0, 5, 0, 0),
	"open": ("0x0007", 0, 20, 0, "any", "any", 2, 0, 2, 0, 0)}
for name, w in want.items():
	v = rows[name]
	got = (v["pkey"], v["sl"], v["share"], v["vl"], v["mtu"], v["rate"], v["full"], v["limited"],
	       v["holding"], v["unread"], len(v["missing"]))
	assert got == w, (name, got, w)
assert rows["storage"]["missing"][0]["item"] == "name:called-*", rows["storage"]
assert (said["sl_by"], said["host_ports"], said["in_none"]) == ("vfabric", 8, 1), said
END
ask vfabrics storage >"$dir/storage.out" || fail "fmctl vfabrics storage"
grep -q "^$client1  *1  *0x[0-9a-f]*  *limited  *limited$" "$dir/storage.out" || fail "fmctl vfabrics storage: $(cat "$dir/storage.out")"
grep -q '^name:called-\*  *limited .*fmd.conf' "$dir/storage.out" || fail "it does not show who is missing: $(cat "$dir/storage.out")"
grep -q 'vfabric storage: items of its lists name nothing in the subnet: n=1: name:called-\* of .*fmd.conf:[0-9]*' "$dir/fmd.out" ||
	fail "the log does not say that an item names nothing: $(cat "$dir/fmd.out")"
ask vfabrics nothing >"$dir/nothing.out" 2>&1 && fail "there is a vfabric nothing"
grep -q 'there is no vfabric nothing' "$dir/nothing.out" || fail "$(cat "$dir/nothing.out")"
echo "ok: fmctl vfabrics"

# ---- packets
answered() { # FROM TO: keys under which packets pass
	run_on "$1" "$build/tests/integration/pkey_probe" "$(lid_of "$2")" | sed -n 's/^[0-9]* \(0x[0-9a-f]*\) answered/\1/p' | sort | tr '\n' ' '
}
if [ -x "$build/tests/integration/pkey_probe" ]; then
	expect "packets from a client to a server" "0x0004 " "$(answered "$client1" "$server2")"
	expect "packets between clients" "0x8006 " "$(answered "$client1" "$client2")"
	expect "packets in open" "0x8006 0x8007 " "$(answered "$client1" "$plain")"
	expect "packets from jobs to a server" "" "$(answered "$other" "$server1")"
	echo "ok: packets"
fi

# ---- a host that is called otherwise from now on is in other vfabrics, by no other event
lid=$(lid_of "$plain")
fmsim_say describe "$plain" '"called-1"' >/dev/null
in_storage() { [ "$(run_on "$server1" smpquery pkeys "$lid" 1 | grep -o '0x[0-9a-f]\{4\}' | grep -v 0x0000 | sort | tr '\n' ' ')" = "0x0004 0x7fff 0x8006 " ]; }
until_true in_storage
echo "ok: a name that changes"

# ---- a host is in no vfabric after a reload
follows() { [ "$(keys "$other")" = "0x7fff " ]; }
sed -i "s/\"!@servers\", \"!$sm\"/\"!@servers\", \"!$sm\", \"!$other\"/" "$dir/fmd.conf"
ask reload >"$dir/reload.out" || fail "fmctl reload: $(cat "$dir/reload.out")"
until_true sh -c "'$build/fmctl' --socket='$dir/control' vfabrics jobs --json | grep -q '\"full\": 4'"
until_true follows
kill "$fmd"
wait "$fmd" || fail "SIGTERM ends fmd with $?"
echo "ok: reload"

# ---- two hosts back to back, where there is nothing to route
printf 'vfabric "a" { members = { "left" } limited = { "right" } }\n' >"$dir/two.conf"
"$build/fmd" --transport="sim:$top/tests/fabrics/two-cas.net" --config="$dir/two.conf" --state-dir="$dir/two" --once \
	>"$dir/two.out" 2>&1 || fail "fmd --once"
grep -q '^Sets .*P_KeyTable 2' "$dir/two.out" || fail "not both have P_Keys: $(cat "$dir/two.out")"
echo "ok: two hosts back to back"
