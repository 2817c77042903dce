#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What partitions and M_Keys do to others is seen on fmsim: limited members
# reach the full one and not each other; who has no M_Key reads nothing; the SM
# gets traps 257 and 256 of both.  OpenSM sets them, ibping and smpquery ask.
# Exit 77 (skipped) where these are absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need opensm ibping smpquery saquery

"$build/fmroute" gen pgft 1 8 1 1 >"$dir/net" || exit 1
simulate "$dir/net"
cat >"$dir/partitions.conf" <<'END'
Default=0x7fff, ipoib : ALL=limited, SELF=full ;
END
cat >"$dir/opensm.conf" <<END
m_key 0x4711
m_key_protection_level 2
partition_config_file $dir/partitions.conf
END
nodes=($(sed -n 's/^\(Hca\|Ca\)[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\2/p' "$dir/net"))
sm=${nodes[0]} one=${nodes[1]} two=${nodes[2]}
rm -f "$dir/osm.log"
OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir exec_on_fmsim "$sm" opensm -d2 -F "$dir/opensm.conf" -f "$dir/osm.log" \
	>"$dir/osm.out" 2>&1 &
await "$dir/osm.log" "SUBNET UP"

pinged() {
	on_fmsim "$1" timeout 5 ibping -c 2 "$2" 2>/dev/null | grep -q "2 received"
}
for node in "$sm" "$two"; do
	exec_on_fmsim "$node" ibping -S >/dev/null 2>&1 &
done
until_true pinged "$one" "$(lid_of "$sm")"
until_true pinged "$sm" "$(lid_of "$two")"
pinged "$one" "$(lid_of "$two")" && fail "limited members reach each other"
await "$dir/osm.log" "Bad P_Key\|num:257"
run_on "$one" saquery >"$dir/nodes.out" # the SA is the full member
grep -q "NodeRecord" "$dir/nodes.out" || fail "the SA does not answer a limited member"
echo "ok: partitions"

on_fmsim "$one" timeout 5 smpquery -t 200 NodeInfo "$(lid_of "$two")" >/dev/null 2>&1 &&
	fail "SMPs pass without the M_Key"
on_fmsim "$one" timeout 60 smpquery -y 0x4711 NodeInfo "$(lid_of "$two")" >"$dir/info.out" 2>&1 ||
	fail "SMPs do not pass with the M_Key"
await "$dir/osm.log" "Bad M_Key\|num:256"
echo "ok: M_Key"
