#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# MLNX_OFED's routing chains through fmroute, by the files of the examples: each
# path bit goes as its step's engine would send it, fallbacks and the next entry of
# the chain take over, the tables are proven, and mistakes are told with file and
# line.  Runs in the build directory.
set -eu
. "${srcdir:-..}/tests/integration/fmroute.bash"
daemon=
trap '[ -z "$daemon" ] || kill $daemon 2>/dev/null; rm -rf "$tmp"' EXIT
cp "$top"/conf/examples/path-bits.* .

# Of the nth LID of every port that matches: "switch port-guid egress".
ways() {
	awk -v nth="$2" -v like="$3" '
		/^Unicast/ { for (i = 1; i < NF; i++) if ($i == "guid") sw = $(i + 1); split("", seen) }
		/^0x/ && match($0, /portguid 0x[0-9a-f]*/) {
			guid = substr($0, RSTART + 9, RLENGTH - 9)
			if (++seen[guid] == nth && $0 ~ like) print sw, guid, $2
		}' "$1/lfts" | sort
}
same() { diff "$1" "$2" >diffs || fail "$3: $(head -n 5 diffs)"; }

$fmroute gen pgft 3 2,4,4 1,2,2 1,1,1 | sed 's/host-1-1-1/oss-1/g' >tree.net
[ "$(grep -c '^Ca.*"oss-1"' tree.net)" = 1 ] || fail "no host to rename in $(grep -m 3 ^Ca tree.net)"
# 32 hosts with 2 LIDs each
run 0 tree.net --config=path-bits.conf --json --dump=both
is engine '"chains"'
is refused '[]'
is unreachable_pairs 0
is credit_loops 0
switches=$(grep -c ^Switch tree.net)
is reachable_pairs $((32 * 31 * 2 + 32 * switches))
# the base LIDs are those of updn
run 0 tree.net --config=none --engine=updn --dump=updn
ways both 1 "'" >base
ways updn 1 "'" >as
[ "$(wc -l <base)" = $((switches * (32 + switches))) ] || fail "$(wc -l <base) entries of base LIDs"
same base as "path bit 0"
# the second LIDs of compute nodes are those of fattree without storage
awk 'BEGIN { RS = ""; ORS = "\n\n" } !/^Ca[^\n]*"oss-1"/ && !/\nCa[^\n]*"oss-1"/' tree.net | sed '/"oss-1"/d' >compute.net
run 0 compute.net --config=none --engine=fattree --dump=fattree
ways both 2 host- >second
ways fattree 1 host- >as
[ "$(wc -l <second)" = $((switches * 31)) ] || fail "$(wc -l <second) entries of second LIDs"
same second as "path bit 1"
ways both 1 host- | diff - second >/dev/null && fail "both path bits go the same way"
# a group that names nobody: its step changes nothing, and that is told
sed 's/(nas|oss|mds)/(nobody)/' path-bits.pgrp >none.pgrp
sed 's/"path-bits.pgrp"/"none.pgrp"/' path-bits.conf >none.conf
run 0 tree.net --config=none.conf
grep -q 'path-bits.rch: step 30: no host of its topology hangs on a switch of it in this fabric$' err || fail "nobody: $(cat err)"
# its steps need another engine: a torus is no tree, minhop on it is not proven
$fmroute gen torus 4x4 1 >torus.net
run 0 torus.net --config=path-bits.conf --json
is engine '"updn"'
grep -q '"engine": "chains"' out || fail "chains is not refused: $(cat out)"
# fallback-to: step 21 in place of 20, and it is proven
sed 's/engine: minhop/engine: dnup/' path-bits.rch >other.rch && mv other.rch path-bits.rch
run 0 torus.net --config=path-bits.conf --json
is engine '"chains"'
is unreachable_pairs 0
# the step that failed is named, with the reason and the one in its place
grep -q '"engine": "ftree in step 20"' out || fail "step 20 is not told: $(cat out)"
grep -q '; step 21 (.*) is in its place"' out || fail "step 21 is not told: $(cat out)"
# a running fmd tells what became of each step
"$bin/fmd" --transport=sim:torus.net --config=path-bits.conf --state-dir="$tmp/state" >log 2>&1 &
daemon=$!
ask() { "$bin/fmctl" --state-dir="$tmp/state" "$@"; }
up() { ! kill -0 $daemon 2>/dev/null || ask status --json 2>/dev/null | grep -q '"subnet_up": true'; }
comes_true up && kill -0 $daemon || { cat log; fail "the subnet does not come up"; }
ask routes --json >routes
python3 - routes >states <<'EOF'
import json, sys
for s in json.load(open(sys.argv[1]))["regions"][0]["steps"]:
    print(s["step"], s["engine"], s["path_bit"], s["switches"], s["hosts"], s.get("fallback_to"), s["state"])
EOF
printf '10 updn 0 16 16 None routes\n20 ftree 1 16 16 None failed\n21 dnup 1 16 16 20 routes\n30 dnup 1 16 0 None routes\n' | diff - states || fail "fmctl routes: $(cat routes)"
ask routes | grep -Eq '^ *20 +ftree .* failed$' || fail "fmctl routes: $(ask routes)"
grep -q 'engine ftree in step 20 is passed over: not a fat tree.*; step 21 (dnup) is in its place' log || fail "the log: $(cat log)"
kill $daemon
wait $daemon || true
daemon=
# without it the step's reason is the entry's
sed '/^id: 21/,/^end-/d; s/^unicast-step$/&/' path-bits.rch | awk '/^unicast-step/ { held = $0; next } held != "" { if ($0 !~ /^#|^$/) print held; held = "" } { print }' >other.rch
cp path-bits.rch whole.rch && mv other.rch path-bits.rch
run 0 torus.net --config=path-bits.conf --json
grep -q '"reason": "step 20, ftree: not a fat tree' out || fail "no reason: $(cat out)"
is engine '"updn"'
cp whole.rch path-bits.rch

# ---- a configuration of its own for a step
printf '# as opensm writes it\nmax_reverse_hops 0\nroot_guid_file (null)\nlmc 0\ncn_guid_file cn\n' >step.conf
: >cn
sed -n 's/^Ca.*"host-.*//p; s/^caguid=\(0x[0-9a-f]*\).*/\1/p' tree.net | head -n 4 >cn
sed 's/^id: 20$/&\nconfig: step.conf/' whole.rch >path-bits.rch
run 0 tree.net --config=path-bits.conf --json
is engine '"chains"'
sed -i 's/^max_reverse_hops 0/max_reverse_hops many/' step.conf
run 2 tree.net --config=path-bits.conf
grep -q 'path-bits.rch:[0-9]*: config: .*step.conf:2: fattree: max_reverse_hops = many' err || fail "step.conf: $(cat err)"
cp whole.rch path-bits.rch

# ---- every engine, on a fabric that suits it: its step's LIDs go its way, the others updn's
home_of() {
	case $1 in
	fattree | minhop | nue | sssp | shortestpath | dgshortestpath) echo "pgft 2 3,3 1,2 1,1" ;;
	torus2qos) echo "torus 4x3 1" ;;
	dor) echo "mesh 3x3 1" ;;
	hyperx) echo "hyperx 3x3 1" ;;
	dragonfly) echo "dragonfly 3 1 1" ;;
	template) echo "mesh 3 1" ;;
	*) echo "random 9 3 1 5" ;;
	esac
}
printf 'lmc = 1\nsl_model = forward\nchain = "chains"\nfallback = no\nrch_policy_file = "every.rch"\n' >every.conf
for library in "$bin"/plugins/engines/*.la; do
	engine=$(basename "$library" .la)
	[ "$engine" != file ] || continue
	# shellcheck disable=SC2046
	$fmroute gen $(home_of "$engine") >home.net
	printf 'unicast-step\nid: 1\nengine: updn\nend-unicast-step\nunicast-step\nid: 2\nengine: %s\npath-bit: 1\nend-unicast-step\n' "$engine" >every.rch
	run 0 home.net --config=every.conf --json --dump=both
	is engine '"chains"'
	is unreachable_pairs 0
	is credit_loops 0
	run 0 home.net --config=none --engine=updn --dump=updn
	run 0 home.net --config=none --engine="$engine" --dump=alone
	ways both 1 host- >first
	ways updn 1 host- | diff first - >/dev/null || fail "$engine: path bit 0 is not updn's"
	ways both 2 host- >second
	ways alone 1 host- >as
	[ -s second ] && same second as "$engine: path bit 1"
done

# ---- mistakes
wrong() {
	words=$1
	shift
	run 2 "$@"
	grep -qF -e "$words" err || fail "fmroute $*: $(cat err)"
}
wrong "path-bits.rch:9: step 20: path-bit 1 needs lmc = 1, it is 0" tree.net --config=path-bits.conf --lmc=0
wrong "there are no steps: rch_policy_file" tree.net --config=none --engine=chains
sed -i 's/engine: ftree/engine: ftre/' path-bits.rch
wrong "path-bits.rch:9: step 20: no engine 'ftre': did you mean ftree?" tree.net --config=path-bits.conf
sed -i 's/engine: ftre/engine: auto/' path-bits.rch
wrong "step 20: auto is no engine" tree.net --config=path-bits.conf
sed -i 's/^sw-grp: ALL_SWITCHES/sw-grp: ALL_SWITHES/' path-bits.topo
wrong "path-bits.topo:4: sw-grp: there is no port-group ALL_SWITHES" tree.net --config=path-bits.conf
echo "ok"
