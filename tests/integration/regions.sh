#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The regions of conf/examples on the fabrics they say they fit: shown, routed,
# proven; what fmroute --regions says of a fabric that is not all there.
# Runs in the build directory.
set -eu
. "${srcdir:-..}/tests/integration/fmroute.bash"
engine_dir=$bin/plugins/engines/.libs
gen=$fmroute
fmroute="$bin/fmroute --plugin-dir=$engine_dir"
daemon=
trap '[ -z "$daemon" ] || kill $daemon 2>/dev/null; rm -rf "$tmp"' EXIT

# Who routes which region of the fabric in out: "region engine" a line.
engines() {
	awk '/^   "region":/ { r = $2 } r != "" && /^   "engine":/ { print r, $2 }' out | tr -d '",' | sort | tr '\n' ';'
}
expect() {
	case $1 in
	regions-dragonfly) echo "default fattree;dragonfly dragonfly;" ;;
	regions-leftover) echo "default minhop;tree fattree;" ;;
	regions-pods-torus) echo "default null;pods fattree:pods;torus torus2qos;" ;;
	regions-storage) echo "default fattree;storage minhop;" ;;
	regions-tree-torus) echo "default fattree;torus torus2qos;" ;;
	regions-trees-by-gateways) echo "b fattree:b;default fattree:a;" ;;
	regions-two-trees) echo "a fattree:a;b fattree:b;default null;" ;;
	esac
}

for f in "$top"/conf/examples/regions-*.conf; do
	example=$(basename "$f" .conf)
	eval "$(sed -n 's/^#   fmroute \(gen .*\)/"$gen" \1/p' "$f")" >"$example.net"
	run 0 "$example.net" --config="$f" --regions --json
	is unreachable_pairs 0
	is loops 0
	is credit_loops 0
	for region in default $(sed -n 's/^region "\(.*\)" {/\1/p' "$f"); do
		grep -q "^ *\"region\": \"$region\",$" out || fail "$example: no region $region"
	done
	[ "$(engines)" = "$(expect "$example")" ] || fail "$example: routed by $(engines)"
	case $(value joined) in
	'"flat"' | '"islands"') ;;
	*) fail "$example: joined: $(value joined)" ;;
	esac
	grep -q '"n_switches": 0,' out && fail "$example: an empty region"
	run 0 "$example.net" --config="$f" --regions
	grep -q '^region      default$' out || fail "$example: $(cat out)"
done

# The tree sends each LID of the island, 18 hosts and 3 switches, by one cable.
run 0 regions-storage.net --config="$top/conf/examples/regions-storage.conf" --regions
grep -q '^  border      4 cables to storage, 21 routes:$' out || fail "borders: $(cat out)"

grep -q '^  busiest     [0-9.]* times the mean of all cables, \(in\|out\) by ' out || fail "the busiest cable: $(cat out)"

# What errors of a section name.
"$bin/fmd" --help=region | grep -q '^  chain = { }' || fail "--help=region"
"$bin/fmd" --check --config="$top/conf/examples/regions-storage.conf" --plugin-dir="$engine_dir" |
	grep -q "overlap depends on the fabric: fmroute FABRIC --config=FILE --regions" || fail "--check"
"$bin/fmd" --help=group | grep -q '^  members = { }' || fail "--help=group"

# --engine= is the chain of the default region.
example=regions-storage
run 0 $example.net --config="$top/conf/examples/$example.conf" --engine=nue --regions --json
[ "$(engines)" = "default nue;storage minhop;" ] || fail "--engine=nue: routed by $(engines)"

# A switch that is not there: an error with the line, or a warning.
example=regions-storage
conf=$top/conf/examples/$example.conf
$gen gen pgft 2 4,8 1,4 1,1 >ft.net
run 2 ft.net --config="$conf" --regions
grep -q "regions-storage.conf:8: region storage: 'name:st-\*' names nothing in this fabric" err ||
	fail "an absent region: $(cat err)"
run 0 ft.net --config="$conf" --regions=found
grep -q "region storage holds no switch of this fabric" err || fail "an empty region: $(cat err)"
run 0 ft.net --config="$conf"
run 2 ft.net --config="$conf" --regions=lost

# A switch in two regions is an error with or without --regions.
sed 's/name:st-\*/All/; $a region "more" { switches = { "st-sw-0" } }' "$conf" >overlap.conf
run 2 $example.net --config=overlap.conf --regions
grep -q "^fmroute: overlap.conf:[0-9]*: region more: 'st-sw-0' claims switch st-sw-0 (0x[0-9a-f]*) as 'All' of region storage does in line 8: " err ||
	fail "an overlap: $(cat err)"
run 2 $example.net --config=overlap.conf
rc=0
"$bin/fmd" --transport=sim:$example.net --config=overlap.conf --plugin-dir="$engine_dir" --state-dir="$tmp/once" --once 2>err || rc=$?
[ $rc = 2 ] && grep -q "overlap.conf:[0-9]*: region more: 'st-sw-0' claims" err || fail "fmd --once: $rc, $(cat err)"

# What --once tells of them, though the log be silent.
{ cat "$conf"; echo 'log_level = err'; } >once.conf
"$bin/fmd" --transport=sim:$example.net --config=once.conf --plugin-dir="$engine_dir" --state-dir="$tmp/once" --once >out 2>err ||
	fail "fmd --once: $(cat err)"
[ -s err ] && fail "fmd --once: $(cat err)"
for line in 'fabric      15 switches, 50 CAs, 0 routers, ' 'region      default: fattree' 'region      storage: minhop' \
	'joined      flat' 'faults      0 loops, 0 wrong hosts, 0 credit loops, 0 VL errors' 'subnet      up, '; do
	grep -q "^$line" out || fail "fmd --once tells no \"$line\": $(cat out)"
done

# A region that may have credit loops of its own: said, and nobody else's.
$gen gen join ft=pgft:2:4,4:1,4:1,1 t=torus:5x5:1 'ft-leaf-*~t-sw-*~2' >loops.net
echo 'chain = { "fattree" } region "t" { switches = { "name:t-*" } chain = { "minhop" } credit_loops = warn }' >loops.conf
run 0 loops.net --config=loops.conf --regions --json
[ "$(engines)" = "default fattree;t minhop;" ] || fail "credit loops allowed: routed by $(engines)"
[ "$(value loops_allowed)" -gt 0 ] && [ "$(value credit_loops)" = "$(value loops_allowed)" ] || fail "credit loops allowed: $(cat out)"
run 0 loops.net --config=loops.conf
grep -q '^allowed     [1-9]' out || fail "credit loops allowed: $(cat out)"

# Nothing is joined where nothing could be routed, and the reasons are told.
printf 'fallback = no chain = { "fattree" } region "t" { switches = { "name:t-*" } chain = { "fattree" } }\n' >none.conf
run 3 loops.net --config=none.conf --regions
grep -q '^  refused     fattree: not a fat tree' out || fail "no engine, and why: $(cat out)"
grep -q '^joined' out && fail "joined, and not routed: $(cat out)"
run 3 loops.net --config=none.conf --regions --json
grep -q '"joined"' out && fail "joined, and not routed: $(cat out)"

# One region that is all of the fabric is routed by its chain.
echo 'region "x" { switches = { "All" } chain = { "fattree", "minhop" } }' >all.conf
run 0 $example.net --config=all.conf --regions --json
[ "$(engines)" = "x minhop;" ] || fail "a region of all: routed by $(engines)"

# ---- a running fmd: what could not be never replaces what is
ask() { "$bin/fmctl" --state-dir="$tmp/state" "$@"; }
up() { ! kill -0 $daemon 2>/dev/null || ask status --json 2>/dev/null | grep -q '"subnet_up": true'; }
log() { sed 's/^/fmd: /' log | tail -n 20; }
cp "$conf" fmd.conf
"$bin/fmd" --transport=sim:$example.net --config=fmd.conf --plugin-dir="$engine_dir" --state-dir="$tmp/state" >log 2>&1 &
daemon=$!
comes_true up || { log; fail "the subnet does not come up"; }
kill -0 $daemon 2>/dev/null || { log; fail "fmd is gone"; }
ask regions --json >regions
grep -q '"region": "storage"' regions || fail "fmctl regions: $(cat regions)"
grep -q '"st-sw-\[0-2\]"' regions || fail "fmctl regions: $(cat regions)"
grep -q '"max_over_avg"' regions || fail "fmctl regions tells no busiest cable: $(cat regions)"
ask regions >table
awk '/^REGION/ { for (i = 1; i <= NF; i++) if ($i == "COMPONENTS") c = i; next } c && $1 == "storage" { exit !($c ~ /^[0-9]+$/) }' table ||
	fail "fmctl regions counts no components: $(cat table)"
ask routes --json >routes
grep -q '"joined": "flat"' routes || fail "fmctl routes: $(cat routes)"
ask status --json | grep -q '"joined": "flat"' || fail "fmctl status: $(ask status)"
grep -q "region storage: engine minhop" log || { log; fail "the log does not tell who routes a region"; }
# at each hop of a path, who routed the region of the switch, and by what rule
ask path --why st-host-0-1 ft-host-1-1 >why || fail "fmctl path --why: $(cat why)"
[ "$(sed -n 's/^    by port .* nearer: \([a-z]*\).*/\1/p' why | uniq | tr '\n' ' ')" = "minhop fattree " ] && grep -q '^    fattree: fat trees' why && grep -q '^    minhop: ' why ||
	fail "who routes along a path: $(cat why)"
cp overlap.conf fmd.conf
rc=0
ask reload 2>err || rc=$?
[ $rc = 2 ] && grep -q "region more: 'st-sw-0' claims switch st-sw-0" err || fail "a bad reload: $rc, $(cat err)"
echo rubbish >bad.pgrp
{ cat "$conf"; echo 'pgrp_policy_file = "bad.pgrp"'; } >fmd.conf
rc=0
ask reload 2>err || rc=$?
[ $rc = 2 ] && grep -q "bad.pgrp:1: " err || fail "a reload with bad port groups: $rc, $(cat err)"
ask regions --json >again
cmp regions again || fail "a reload that was refused left its mark"
sed 's/"storage"/"island"/' "$conf" >fmd.conf
ask reload >/dev/null
is_reloaded() { ask regions --json | grep -q '"region": "island"'; }
comes_true is_reloaded || fail "a good reload: $(ask regions)"
kill $daemon
wait $daemon || true
daemon=
