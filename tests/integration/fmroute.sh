#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fmroute as scripts use it: the keys of its JSON, its text, dumps that judge
# like the engine they came from, options, exit codes, fabrics there and back.
# Runs in the build directory.
set -eu
. "${srcdir:-..}/tests/integration/fmroute.bash"

# The keys of the object in out, not of those within.
keys() { sed -n 's/^ "\([a-z0-9_]*\)":.*/\1/p' out | tr '\n' ' '; }
# What does not depend on the clock or on who made the tables.
facts() { grep -v -e '_m[sb]":' -e '"engine":' out; }

$fmroute gen pgft 2 4,8 1,4 1,1 >tree.net
$fmroute gen torus 4x4x2 1 >torus.net

# ---- the JSON: 8 leaves with 4 hosts, 4 spines
plain="engine refused switches ends lids route_ms verify_ms wall_ms memory_mb vls reachable_pairs \
unreachable_pairs disjoint_pairs switch_pairs_unrouted loops wrong_host vl_errors credit_loops \
max_hops avg_hops "
run 0 tree.net --engine=fattree --json
[ "$(keys)" = "$plain" ] || fail "keys: $(keys)"
is engine '"fattree"'
is refused '[]'
is switches 12
is ends 32
is lids 44
is reachable_pairs $((32 * 31 + 32 * 12))
is unreachable_pairs 0
is max_hops 3
is credit_loops 0
run 0 tree.net --engine=fattree --json --stats
[ "$(keys)" = "${plain}load ebb sp_max a2a_max_over_avg " ] || fail "keys with --stats: $(keys)"
is sp_max 1
is a2a_max_over_avg 1.0
[ "$(tr -d ' \n' <out | sed 's/.*"load":{\([^}]*\)}.*/\1/')" = '"min":28,"avg":28.0,"max":28' ] ||
	fail "load: $(cat out)"
facts >stats

# ---- names of nodes as fmd has them, of the option and of the configuration
guid=$(sed -n 's/^switchguid=0x\([0-9a-f]*\).*/\1/p' tree.net | head -1)
echo "0x$guid \"corner north\"" >names
run 0 tree.net --engine=minhop --node-name-map=names --dump=named
grep -q 'corner north' named/opensm-subnet.lst || fail "--node-name-map: no such name in the dump"
echo 'node_name_map = "names"' >names.conf
run 0 tree.net --engine=minhop --config=names.conf --dump=named.conf
grep -q 'corner north' named.conf/opensm-subnet.lst || fail "node_name_map: no such name in the dump"
run 0 what-if tree.net --engine=minhop --node-name-map=names --down="switch:corner north"
run 2 tree.net --engine=minhop --node-name-map=nowhere

# ---- adaptive routing: each leaf has one group, of all 4 spines, towards the 28
# hosts and 7 leaves elsewhere; spines have no choice
run 0 tree.net --engine=fattree --ar --json
[ "$(keys)" = "${plain}adaptive_routing " ] || fail "keys with --ar: $(keys)"
adaptive() { tr -d ' \n' <out | sed 's/.*"adaptive_routing":{\([^}]*\)}.*/\1/'; }
[ "$(adaptive)" = "\"groups\":8,\"max_groups\":1,\"adaptive\":$((8 * 35)),\"static\":\
$((12 * 44 - 32 - 12 - 8 * 35)),\"dropped\":0,\"avg_alternatives\":4.0" ] || fail "--ar: $(adaptive)"
is credit_loops 0
run 0 tree.net --engine=updn --ar=1 --dump=ar
grep -q '^adaptive    280 entries with 4.00 ports on average, 204 static, 0 of them for want of groups; 8 groups, at most 1 on a switch$' out ||
	fail "text with --ar: $(grep ^adaptive out)"
[ "$(grep -c '^switch 0x' ar/ar-groups)" = 12 ] && [ "$(grep -c '^group 1 5 6 7 8$' ar/ar-groups)" = 8 ] ||
	fail "ar-groups: $(cat ar/ar-groups)"
run 0 tree.net --engine=updn --dump=ar
grep -v 'PHY=4x LOG=ACT SPD=25$' ar/opensm-subnet.lst && fail "cables of 4x EDR are listed as others"
[ "$(grep -vc '^#' ar/ar-groups)" = 0 ] || fail "groups in a dump without --ar"
echo 'AdaptiveRouting { Enable = 1 }' >ar.conf
run 0 tree.net --engine=minhop --config=ar.conf --json
[ "$(keys)" = "${plain}adaptive_routing " ] || fail "keys with AdaptiveRouting: $(keys)"
run 0 torus.net --engine=updn --ar=1 --json
adaptive | grep -q '"dropped":[1-9]' || fail "one group is enough for a torus: $(adaptive)"
run 2 tree.net --engine=updn --ar=0
grep -q 'max_groups = 0 is outside 1..4096 groups' err || fail "--ar=0: $(cat err)"

# ---- the text
run 0 tree.net --engine=fattree --stats
grep -q '^fabric      12 switches, 32 end-ports, 44 LIDs$' out || fail "text: $(cat out)"
grep -q '^engine      fattree$' out || fail "text: $(cat out)"
grep -q '^pairs       1376 reachable, 0 unreachable' out || fail "text: $(cat out)"
grep -q '^load        28..28 routes' out || fail "text: $(cat out)"

# ---- options
run 0 tree.net --engine=fattree --json --lmc=2
is lids $((32 * 4 + 12))
is reachable_pairs $((32 * 31 * 4 + 32 * 12))
run 0 tree.net --engine=fattree --json --vls=1 --repeat=3
is vls 1
for workers in 1 2 5; do
	run 0 tree.net --engine=fattree --json --stats --workers=$workers --dump=dump$workers
	facts | diff - stats || fail "other figures with --workers=$workers"
	diff -r dump1 dump$workers || fail "other tables with --workers=$workers"
done

# ---- the order of hosts: one place in 8 leaves of 4 is left for a host that is off
order=dump1/opensm-ftree-ca-order.dump
[ "$(wc -l <$order)" = 32 ] && [ "$(cut -f 1 $order | sort -u | wc -l)" = 32 ] || fail "order of hosts"
awk 'BEGIN { RS = ""; ORS = "\n\n" } !/Ca[^\n]*"host-1-2"/' tree.net | sed '/"host-1-2"/d' >off.net
run 0 off.net --engine=fattree --json --dump=off
order=off/opensm-ftree-ca-order.dump
[ "$(wc -l <$order)" = 32 ] && [ "$(grep -n DUMMY $order | wc -l)" = 1 ] || fail "order without a host"
grep -q "^0xFFFF	DUMMY$" $order || fail "no DUMMY"
run 0 off.net --engine=updn --json --dump=off
[ ! -e $order ] || fail "updn has no order"

run 0 - --engine=updn --json <tree.net
is engine '"updn"'
is reachable_pairs 1376

# ---- SLs of given tables: a ring turns, unless paths over one edge have a VL of their own
$fmroute gen torus 5 1 >ring.net
echo 'credit_loops = warn' >warn.conf
run 0 ring.net --engine=minhop --config=warn.conf --json --dump=ring
run 3 check ring.net ring --json
[ "$(value credit_loops)" -gt 0 ] || fail "shortest paths on a ring without a credit loop"
# paths between switches 4 and 0: from host (node GUID) to the LIDs of switch and host
over() { for lid; do echo "0x200f400000${guid}00 $lid 1" >>ring/path-sl; done; }
guid=009 && over 1 2
guid=00a && over 1 2 3 4
guid=006 && over 5 6 9 10
guid=007 && over 5 6
awk '{ for (i = 4; i <= 11; i++) $i = "0x01"; print }' ring/sl2vl >sl2vl && mv sl2vl ring/sl2vl
run 0 check ring.net ring --json
is vls 2
is credit_loops 0
run 3 check ring.net ring/lfts
mkdir turning && cp ring/lfts turning/lfts
for line in "0x1 3" "0x1 3 16" "0x1 3 1 1" "x 3 1"; do
	echo "$line" >turning/path-sl
	run 2 check ring.net turning
	grep -q 'path-sl:1: ' err || fail "path-sl \"$line\": $(cat err)"
done
rm turning/path-sl
for line in "0x1 1" "0x1 1 2 0x00" "0x1 1 2 0x001 0x00 0x00 0x00 0x00 0x00 0x00 0x00"; do
	echo "$line" >turning/sl2vl
	run 2 check ring.net turning
	grep -q 'sl2vl:1: ' err || fail "sl2vl \"$line\": $(cat err)"
done

# ---- tables by dump are those of the engine
for file in dump1 dump1/lfts dump1/opensm.fdbs; do
	run 0 check tree.net $file --stats --json
	is engine '"file"'
	facts | diff - stats || fail "check of $file differs"
done

# ---- tables that are wrong: the first switch, leaf-1, has LID 1 and its first
# host LID 2; without that entry, and with it pointing up to a spine
awk '$1 != "0x0002" || done++' dump1/lfts >less.lfts
run 3 check tree.net less.lfts --json
[ "$(value unreachable_pairs)" -gt 0 ] || fail "a missing entry goes unseen"
grep -q '"witness"' out || fail "no witness"
awk '$1 == "0x0002" && !done++ { $2 = "005" } { print }' dump1/lfts >loop.lfts
run 3 check tree.net loop.lfts --json
[ "$(value loops)" -gt 0 ] || fail "a loop goes unseen: $(cat out)"

# ---- what no engine can route
printf 'fallback = no\n' >no.conf
run 3 torus.net --engine=fattree --config=no.conf --json
is engine null
grep -q '"reason": "not a fat tree' out || fail "no reason: $(cat out)"
run 3 torus.net --engine=fattree --config=no.conf
grep -q '^engine      none' out || fail "text: $(cat out)"
run 0 torus.net --engine=fattree,updn --json
is engine '"updn"'
run 0 torus.net --engine=fattree --json
is engine '"fallback"'
run 2 tree.net --engine=nosuch
run 2 tree.net nosuch.net
run 2
grep -q '^usage' err || fail "no usage"
run 0 --help
grep -q '^usage' out || fail "no help"
: >plain
run 1 tree.net --dump=plain/dump

# ---- components apart
run 0 "$top/tests/fabrics/two-components.net" --json
[ "$(value disjoint_pairs)" -gt 0 ] || fail "components are not told apart"
is unreachable_pairs 0

# ---- fabrics there and back
$fmroute convert tree.net >once.net
$fmroute convert once.net | cmp - once.net || fail "convert is not stable"
run 0 once.net --engine=fattree --json --stats
facts | diff - stats || fail "the converted fabric routes otherwise"
$fmroute shuffle tree.net 3 >shuffled.net
$fmroute shuffle tree.net 3 | cmp - shuffled.net || fail "shuffle is not by seed"
cmp -s tree.net shuffled.net && fail "shuffle does nothing"
run 0 shuffled.net --engine=fattree --json --stats
is reachable_pairs 1376
is sp_max 1
$fmroute fail tree.net --links=3 --seed=7 >cut.net
$fmroute fail tree.net --links=3 --seed=7 | cmp - cut.net || fail "fail is not by seed"
[ $(($(grep -c '"spine-[^"]*"\[' tree.net) - $(grep -c '"spine-[^"]*"\[' cut.net))) = 3 ] ||
	fail "not 3 links less"
run 0 cut.net --engine=fattree --json
is engine '"fattree"'
is reachable_pairs 1376
for words in "shuffle tree.net 3x" "shuffle tree.net ' 3'" "shuffle tree.net +3" "shuffle tree.net 010" "shuffle tree.net 0x" \
	"fail tree.net --links=010" "fail tree.net --links=0x5%" "fail tree.net --links=1e1%" "fail tree.net --links=+5%" \
	"fail tree.net --links=-0%" "fail tree.net --links=3 --links=5%" "fail tree.net --switches=leaf-1" "fail tree.net" \
	"fail tree.net --seed=4"; do
	rc=0
	eval "$fmroute $words" >nonsense.net 2>nonsense.err || rc=$?
	[ $rc = 2 ] && [ ! -s nonsense.net ] && [ -s nonsense.err ] || fail "fmroute $words exits with $rc: $(cat nonsense.err)"
done
{ printf '\357\273\277'; cat tree.net; } >marked.net
$fmroute convert marked.net | cmp - once.net || fail "a byte order mark changes a fabric"
$fmroute fail tree.net --switches=1 --seed=1 >fewer.net
run 0 fewer.net --json
is switches 11
