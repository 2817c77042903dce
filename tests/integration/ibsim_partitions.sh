#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Partitions on ibsim, seen by smpquery: tables of hosts, a new file on SIGHUP,
# and a bad one that leaves all as it is.  Exit 77 (skipped) where the tools
# are absent.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(dirname "$0")/lib.bash"
need smpquery
export FMD_PLUGIN_PATH=$build/plugins/engines
# The keys of a port, as smpquery prints them from host-2-2, without the empty places.
host_1_1=0,1,3,1,1 host_1_2=0,1,3,1,2 host_2_1=0,1,1 leaf_2=0,1
keys() { # ROUTE PORT
	on_ibsim host-2-2 smpquery -D pkeys "$1" "$2" 2>>"$dir/smpquery.out" |
		grep -o '0x[0-9a-f]\{4\}' | grep -v 0x0000 | sort | tr '\n' ' '
}
has_keys() { # ROUTE PORT KEYS
	[ "$(keys "$1" "$2")" = "$3" ]
}

"$build/fmroute" gen pgft 2 2,2 1,2 1,1 >"$dir/net" || fail "fmroute gen"
guid() { # NODE
	sed -n "s/^\[[0-9]*\].*\"$1\"\[1\](\([0-9a-f]*\)).*/0x\1/p" "$dir/net"
}
b=$(guid host-1-2) c=$(guid host-2-1)
[ -n "$b" ] && [ -n "$c" ] || fail "no GUIDs"
simulate "$dir/net" "$dir/ibsim.out"

printf 'Default : ALL=limited, SELF=full;\nA=0x1 : %s=full, %s;\n' "$b" "$c" >"$dir/partitions.conf"
echo "partition_config_file = \"$dir/partitions.conf\"" >"$dir/fmd.conf"
start_on_ibsim host-1-1 "$build/fmd" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1
fmd=$!
await "$dir/fmd.out" "SUBNET UP"
[ "$(keys $host_1_1 1)" = "0xffff " ] || fail "the SM's port has $(keys $host_1_1 1)"
[ "$(keys $host_1_2 1)" = "0x7fff 0x8001 " ] || fail "host-1-2 has $(keys $host_1_2 1)"
[ "$(keys $host_2_1 1)" = "0x0001 0x7fff " ] || fail "host-2-1 has $(keys $host_2_1 1)"
# ibsim's switches can enforce nothing, and say so: they are left alone.
[ "$(keys $leaf_2 1)" = "0xffff " ] || fail "port 1 of leaf-2 has $(keys $leaf_2 1)"

# A bad file changes nothing.
printf 'A=0x1 : ALL=full;\nB : nonsense;\n' >"$dir/partitions.conf"
kill -HUP "$fmd"
await "$dir/fmd.out" 'partitions.conf:2: "nonsense" is no port'
[ "$(keys $host_2_1 1)" = "0x0001 0x7fff " ] || fail "a bad file gives host-2-1 $(keys $host_2_1 1)"

printf 'A=0x1 : %s=full;\nB=0x2 : %s=full;\n' "$b" "$c" >"$dir/partitions.conf"
kill -HUP "$fmd"
until_true has_keys $host_2_1 1 "0x7fff 0x8002 "

"$build/fmctl" --state-dir="$dir/state" --json partitions >"$dir/partitions.out" || fail "fmctl"
grep -q '"name": "B"' "$dir/partitions.out" || fail "fmctl shows no partition B"
"$build/fmctl" --state-dir="$dir/state" partitions pkey=2 | grep -q "host-2-1" ||
	fail "fmctl shows no members"
echo "partitions on ibsim: ok"
