# SPDX-License-Identifier: BSD-2-Clause
# OpenSM's default file and five as sites have them: OpenSM brings a fabric up with each, then
# fmd with the same file and OpenSM's guid2lid another one like it, and what smpquery reads of a
# sample of ports is the same.  The default file is taken without a word.
# Sourced, behind the functions of a simulator: simulate_net NET, stop_net, and at NODE CMD and
# exec_at NODE CMD, which run a program there.
# shellcheck shell=bash disable=SC2154
export FMD_PLUGIN_PATH=$build/plugins/engines
export OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir/cache
sites=$top/tests/opensm
# What hosts show of an M_Key to who has it.
m_key=0
# What counts, or says whether an SM runs here.
passing='^#|^CapMask:|IsSM$|Violations:|^ClientReregister:'
# Without a file of partitions fmd has switches check nothing, as there is nothing to check.
no_parts='|^PartEnforce'

query() { # KIND LID PORT
	at "$sm" smpquery -y $m_key "$@" 2>>"$dir/smpquery.out"
}

# SLs and VLs of an engine that needs them are its own: OpenSM's torus-2QoS takes 8 VLs, fmd's 4,
# and the SL to the SM (SMSL) is that of OpenSM's path; fmd has hosts send by sm_sl.
lanes=ours

# What is on the wire: of the ports of a leaf and of a spine, and of the hosts that are sampled.
wire() { # LID...
	local lid kind port
	for lid in "$@"; do
		# a host has one port here
		kind=$(query nodeinfo "$lid" | sed -n 's/^NodeType:\.*//p')
		for port in 0 1 2 5; do
			if [ "$kind" = Switch ]; then [ $port != 0 ] || continue; else [ $port = 1 ] || continue; fi
			echo "== $kind $lid port $port"
			query -K portinfo "$lid" $port | grep -vE "$passing$no_parts"
			[ "$lanes" = theirs ] || query sl2vl "$lid" $port | grep -v '^#'
			[ "$lanes" = theirs ] || query vlarb "$lid" $port | grep -v '^#'
			[ "$kind" = Switch ] || query pkeys "$lid" $port | grep -v '^#'
		done
	done
}

# Ten LIDs of hosts and switches, by OpenSM's guid2lid.
sample() {
	awk 'NF == 3 { print $2 }' "$1" | sort -u | awk '{ l[NR] = $1 } END { for (i = 0; i < 10; i++) print l[1 + int(i * (NR - 1) / 9)] }'
}

bring_up_opensm() { # CONF
	rm -rf "$OSM_CACHE_DIR"
	mkdir -p "$OSM_CACHE_DIR"
	: >"$dir/osm.log"
	exec_at "$sm" opensm -d2 -t 1000 -F "$1" -f "$dir/osm.log" >"$dir/osm.out" 2>&1 &
	osm=$!
	await "$dir/osm.log" "SUBNET UP"
	# Its first sweep fits SL to VL to the VLs that ports run before it, the next puts it right.
	kill -HUP "$osm"
	await "$dir/osm.log" "SUBNET UP" 2
	until_true [ -s "$OSM_CACHE_DIR/guid2lid" ]
}

# SLs 0 to 7 and 8 to 15 have no VL in common between switches.
are_apart() {
	query sl2vl "$(awk '/== Switch/ { print $3; exit }' "$dir/torus.fmd")" 2 | awk -F'|' '
		/^ports:/ { n++; for (i = 2; i <= 9; i++) low[$i + 0] = 1; for (i = 10; i <= 17; i++) high[$i + 0] = 1 }
		END { for (vl in low) if (vl in high) exit 1; exit n == 0 }'
}

# The wire under both with CONF on NET; $3: warnings of fmd that are expected, a grep pattern.
compare() { # NAME NET CONF WARNINGS
	local lids
	simulate_net "$2"
	bring_up_opensm "$3"
	# shellcheck disable=SC2046
	lids=$(sample "$OSM_CACHE_DIR/guid2lid")
	# shellcheck disable=SC2086
	wire $lids >"$dir/$1.opensm"
	end_job "$osm"
	stop_net

	simulate_net "$2"
	rm -rf "$dir/state"
	at "$sm" "$build/fmd" --once --config="$3" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 ||
		fail "$1: fmd exits with $?"
	grep -E "(warning|error) +conf" "$dir/fmd.out" | grep -vE "${4:-^$}" && fail "$1: unexpected warnings"
	# shellcheck disable=SC2086
	wire $lids >"$dir/$1.fmd"
	[ "$(grep -c LinkState "$dir/$1.opensm")" -ge 5 ] || fail "$1: too few ports are looked at"
	diff "$dir/$1.opensm" "$dir/$1.fmd" >"$dir/diff.out" || { cat "$dir/diff.out"; fail "$1: the wire differs"; }
	"$build/fmd" --import-opensm "$3" >"$dir/imported.conf" 2>"$dir/import.out" || fail "$1: is not imported"
	"$build/fmd" --check --config="$dir/imported.conf" >"$dir/check.out" 2>&1 || fail "$1: the import has mistakes"
	[ "$1" = default ] || ! cmp -s "$dir/$1.opensm" "$dir/default.opensm" || fail "$1: it says nothing"
	[ "$lanes" = ours ] || are_apart || fail "$1: two levels share a VL between switches"
	"$build/fmd" --export-guid2lid --config="$3" --state-dir="$dir/state" >"$dir/guid2lid" 2>"$dir/export.out" ||
		fail "$1: the LIDs are not written"
	cmp -s <(sort "$dir/guid2lid") <(sort "$OSM_CACHE_DIR/guid2lid") || fail "$1: guid2lid differs from OpenSM's"
	stop_net
	echo "ok: $1: $(grep -c . "$dir/$1.fmd") lines of smpquery are the same"
}

guid_of() { # NAME: of a switch
	grep -B1 "^Switch.*\"$1\"" "$net" | sed -n 's/^switchguid=\(0x[0-9a-f]*\).*/\1/p'
}
hosts() {
	sed -n 's/^\[[0-9]*\]\t"host-[-0-9]*"\[1\](\([0-9a-f]*\)).*/0x\1/p' "$net"
}

sm=host-1-1
net=$dir/tree
"$build/fmroute" gen pgft 2 4,4 1,2 1,1 >"$net" || fail "fmroute gen"
for spine in spine-1 spine-2; do guid_of $spine; done >"$dir/roots"
hosts >"$dir/hosts"
[ "$(grep -c 0x "$dir/roots")" = 2 ] && [ "$(grep -c 0x "$dir/hosts")" = 16 ] || fail "no GUIDs"
for site in fattree updn qos torus partitions; do
	for f in "$sites/$site".*; do
		sed "s|@DIR@|$dir|g" "$f" >"$dir/${f##*/}"
	done
done

env -u OSM_TMP_DIR opensm -c "$dir/default.conf" >/dev/null 2>&1 || fail "opensm -c"
compare default "$net" "$dir/default.conf"
compare fattree "$net" "$dir/fattree.conf"
compare updn "$net" "$dir/updn.conf"
compare qos "$net" "$dir/qos.conf"
m_key=0x1234567800abcdef no_parts=
compare partitions "$net" "$dir/partitions.conf" "anybody can read|node_name_map_name|1 key is passed over"

m_key=0 no_parts='|^PartEnforce'
net=$dir/torus
sm=host-0-0-0-1
"$build/fmroute" gen torus 3x3x3 1 >"$net" || fail "fmroute gen"
origin=$(guid_of sw-0-0-0)
{
	echo "torus 3 3 3"
	echo "xp_link $origin $(guid_of sw-1-0-0)"
	echo "yp_link $origin $(guid_of sw-0-1-0)"
	echo "zp_link $origin $(guid_of sw-0-0-1)"
} >"$dir/torus.layout"
lanes=theirs no_parts="$no_parts|^SMSL:"
compare torus "$net" "$dir/torus.conf"
