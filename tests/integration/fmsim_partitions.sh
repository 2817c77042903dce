#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Partitions of fmd on fmsim are apart: in the tables of ports, in what the SA tells whom, and
# for packets themselves.  And with an M_Key, protected, nobody but fmd reads or
# writes a port, and fmd goes on.
# Exit 77 (skipped) where the tools are absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need saquery smpquery

"$build/fmroute" gen pgft 2 4,2 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
hosts=($(sed -n 's/^\(Hca\|Ca\)[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\2/p' "$dir/net"))
sm=${hosts[0]} red1=${hosts[1]} red2=${hosts[5]} blue1=${hosts[2]} blue2=${hosts[6]} limited1=${hosts[3]} limited2=${hosts[7]}
guid_of() { # NODE
	sed -n "s/^\[[0-9]*\].*\"$1\"\[1\](\([0-9a-f]*\)).*/0x\1/p" "$dir/net"
}
cat >"$dir/partitions.conf" <<END
Default=0x7fff, ipoib : ALL=limited, SELF=full ;
Red=0x1, ipoib : $(guid_of "$red1")=full, $(guid_of "$red2")=full ;
Blue=0x2, ipoib : $(guid_of "$blue1")=full, $(guid_of "$blue2")=full, $(guid_of "$limited1"), $(guid_of "$limited2") ;
Gone=0x9 : 0xdead01=full ;
END
cat >"$dir/fmd.conf" <<END
partition_config_file = "$dir/partitions.conf"
control_socket = "$dir/control"
END
exec_on_fmsim "$sm" "$build/fmd" --transport=umad --config="$dir/fmd.conf" --state-dir="$dir/state" \
	>"$dir/fmd.out" 2>&1 &
fmd=$!
await "$dir/fmd.out" "SUBNET UP"

# ---- what fmd says of a partition, by its name
"$build/fmctl" --socket="$dir/control" partitions Gone >"$dir/gone.out" 2>&1 || fail "fmctl partitions Gone: $(cat "$dir/gone.out")"
grep -q '^0x0000000000dead01  *4$' "$dir/gone.out" || fail "the absent port: $(cat "$dir/gone.out")"
"$build/fmctl" --socket="$dir/control" partitions Nobody >"$dir/nobody.out" 2>&1 && fail "there is a partition Nobody"
grep -q 'there is no such partition, by P_Key or by name' "$dir/nobody.out" || fail "$(cat "$dir/nobody.out")"
grep -q 'ports that partitions.conf names are not in the subnet: n=1: 0x0000000000dead01 of line 4' "$dir/fmd.out" ||
	fail "the log does not name the absent port"
echo "ok: absent ports"

gid_of() { # NODE
	local g
	g=$(printf '%016x' "$(guid_of "$1")")
	echo "fe80::${g:0:4}:${g:4:4}:${g:8:4}:${g:12:4}"
}
count() { # NODE KIND OPTIONS...: how many records of a kind saquery prints there
	local node=$1 kind=$2
	shift 2
	timeout 60 bash -c '. "$0"; FMSIM_PRELOAD=$1 FMSIM_RUNTIME=$2; shift 2; exec_on_fmsim "$@"' \
		"$top/dev/fmsim-lib.sh" "$FMSIM_PRELOAD" "$FMSIM_RUNTIME" "$node" saquery "$@" >"$dir/count.out" 2>&1
	grep -c "$kind" "$dir/count.out"
}
expect() { # WHAT WANTED GOT
	[ "$2" = "$3" ] || fail "$1: $3, not $2"
}

# ---- what stands in the ports
keys() { # NODE
	run_on "$1" smpquery -D pkeys 0 1 | grep -o '0x[0-9a-f]\{4\}' | grep -v 0x0000 | sort | tr '\n' ' '
}
expect "keys of the SM" "0xffff " "$(keys "$sm")"
expect "keys of a red host" "0x7fff 0x8001 " "$(keys "$red1")"
expect "keys of a blue host" "0x7fff 0x8002 " "$(keys "$blue2")"
expect "keys of a limited blue host" "0x0002 0x7fff " "$(keys "$limited1")"
echo "ok: P_Key tables"

# ---- what the SA tells: row asks for the path to column
members=("$sm" "$red1" "$red2" "$blue1" "$blue2" "$limited1" "$limited2")
shares() { # A B: by the file
	case $1:$2 in
	"$sm":*|*:"$sm") echo 1 ;;
	"$red1":"$red2"|"$red2":"$red1") echo 1 ;;
	"$blue1":"$blue2"|"$blue2":"$blue1") echo 1 ;;
	"$blue1":"$limited1"|"$blue1":"$limited2"|"$blue2":"$limited1"|"$blue2":"$limited2") echo 1 ;;
	"$limited1":"$blue1"|"$limited1":"$blue2"|"$limited2":"$blue1"|"$limited2":"$blue2") echo 1 ;;
	*) echo 0 ;;
	esac
}
for a in "${members[@]}"; do
	for b in "${members[@]}"; do
		[ "$a" != "$b" ] || continue
		expect "paths from $a to $b" "$(shares "$a" "$b")" \
			"$(count "$a" "PathRecord dump" --sgid-to-dgid "$(gid_of "$a")-$(gid_of "$b")")"
	done
done
key=$(grep -o 'pkey\.*0x[0-9a-f]*' "$dir/count.out" | head -n 1) # of the last path: limited to a full one
expect "a pair across that a third asks for" 0 \
	"$(count "$red1" "PathRecord dump" --sgid-to-dgid "$(gid_of "$blue1")-$(gid_of "$blue2")")"
expect "the same for who shows the SA key" 1 \
	"$(count "$red1" "PathRecord dump" --smkey 1 --sgid-to-dgid "$(gid_of "$blue1")-$(gid_of "$blue2")")"
expect "a path across under a P_Key" 0 \
	"$(count "$red1" "PathRecord dump" --pkey 0x8002 --slid "$(lid_of "$red1")" --dlid "$(lid_of "$blue1")" PR)"
echo "ok: paths within, none across (the last${key:+: $key})"

sees() { # NODE: the hosts whose NodeRecords it gets
	count "$1" "NodeRecord dump" NR >/dev/null
	sed -n 's/.*NodeDescription\.*//p' "$dir/count.out" | grep -c "^host"
}
expect "hosts that a red one sees" 3 "$(sees "$red1")"
expect "hosts that a limited blue one sees" 4 "$(sees "$limited2")"
expect "hosts that the SM's port sees" 8 "$(sees "$sm")"
expect "groups that a red host sees" 2 "$(count "$red1" "MGID" -g)"
expect "groups that the SM's port sees" 1 "$(count "$sm" "MGID" -g)"
expect "P_Key tables for anybody" 0 "$(count "$red1" "PKeyTableRecord dump" PKTR)"
[ "$(count "$red1" "PKeyTableRecord dump" --smkey 1 PKTR)" -ge 8 ] || fail "no P_Key tables with the SA key"
expect "records for a wrong key" 0 "$(count "$red1" "NodeRecord dump" --smkey 2 NR)"
echo "ok: records, groups, trust"

# ---- packets: under each key of the port, to each host
[ -x "$build/tests/integration/pkey_probe" ] || { echo "pkey_probe is not built: skipped"; exit 77; }
answered() { # FROM TO: keys under which packets pass
	run_on "$1" "$build/tests/integration/pkey_probe" "$(lid_of "$2")" | sed -n 's/^[0-9]* \(0x[0-9a-f]*\) answered/\1/p' | tr '\n' ' '
}
expect "red to red" "0x8001 " "$(answered "$red1" "$red2")"
expect "red to blue" "" "$(answered "$red1" "$blue1")"
expect "blue to red" "" "$(answered "$blue1" "$red2")"
expect "blue to blue" "0x8002 " "$(answered "$blue1" "$blue2")"
expect "limited to full" "0x0002 " "$(answered "$limited1" "$blue2")"
expect "limited to limited" "" "$(answered "$limited1" "$limited2")"
expect "red to the SM" "0x7fff " "$(answered "$red1" "$sm")"
echo "ok: packets"
kill "$fmd"
wait "$fmd" || fail "SIGTERM ends fmd with $?"

# ---- M_Key
cat >"$dir/fmd.conf" <<END
m_key = 0x4711
m_key_protection_level = 2
log_level = info
control_socket = "$dir/control"
END
exec_on_fmsim "$sm" "$build/fmd" --transport=umad --config="$dir/fmd.conf" --state-dir="$dir/state" \
	>"$dir/fmd2.out" 2>&1 &
fmd=$!
await "$dir/fmd2.out" "SUBNET UP"
other=$(lid_of "$blue1") leaf=$(lid_of leaf-2)
for lid in "$other" "$leaf"; do
	on_fmsim "$red1" timeout 10 smpquery -t 200 PortInfo "$lid" >"$dir/smp.out" 2>&1 &&
		fail "LID $lid is read without the M_Key"
	on_fmsim "$red1" timeout 10 smpquery -t 200 -y 0x4712 PortInfo "$lid" >"$dir/smp.out" 2>&1 &&
		fail "LID $lid is read with a wrong M_Key"
	run_on "$red1" smpquery -y 0x4711 PortInfo "$lid" >"$dir/smp.out"
	grep -q "ProtectBits:\.*2" "$dir/smp.out" || fail "LID $lid is not protected"
done
on_fmsim "$red1" timeout 10 smpquery -t 200 -D NodeInfo 0,1,2 >"$dir/smp.out" 2>&1 &&
	fail "directed SMPs pass without the M_Key"
await "$dir/fmd2.out" "256\|M_Key"
fmsim_say unlink "leaf-2[1]" >/dev/null
await "$dir/fmd2.out" "7 CAs"
n=$(said "$dir/fmd2.out" "8 CAs")
fmsim_say relink "leaf-2[1]" >/dev/null
await "$dir/fmd2.out" "8 CAs" $((n + 1))
expect "paths, M_Key or not" 1 "$(count "$red1" "PathRecord dump" --sgid-to-dgid "$(gid_of "$red1")-$(gid_of "$blue1")")"
kill "$fmd"
wait "$fmd" || fail "SIGTERM ends fmd with $?"
echo "ok: M_Key"
