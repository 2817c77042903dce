#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmctl topo of a running fmd, and topology_file: what differs from it is an event, a row of fmctl
# trouble and a line of fmctl health, with both ends, and over when it is put right.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep

"$build/fmroute" gen pgft 2 4,4 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
echo 'sweep_interval = 1s' >"$dir/fmd.conf"
start_fmd
until_true fmctl health
exits 0 topo save "$dir/site.topo"
says "^22 nodes and 24 cables are in $dir/site.topo$"
exits 0 topo diff "$dir/site.topo"
says "^24 cables are as in the file; 0 differences, 0 notes$"
"$build/fmctl" topo diff "$dir/site.topo" "$dir/net" >"$dir/answer" || fail "against the simulated fabric: $(cat "$dir/answer")"
exits 0 health
! grep -q cabling: "$dir/answer" || fail "no file is given, and the cabling is told of: $(cat "$dir/answer")"
echo "ok: topo"

# ---- the file has the cables of leaf-2 and leaf-3 to spine-1 the other way round
cp "$dir/site.topo" "$dir/right.topo"
sed -i 's/ spine-1 P2$/ spine-1 Pxx/; s/ spine-1 P3$/ spine-1 P2/; s/ spine-1 Pxx$/ spine-1 P3/' "$dir/site.topo"
! cmp -s "$dir/site.topo" "$dir/right.topo" || fail "spine-1 is not the second end in $(cat "$dir/site.topo")"
echo "topology_file = '$dir/site.topo'" >>"$dir/fmd.conf"
fmctl reload --wait >"$dir/answer" || fail "reload: $(cat "$dir/answer")"
shows() { # COMMAND WORDS
	fmctl "$1" >"$dir/answer" 2>&1
	grep -q -- "$2" "$dir/answer"
}
swapped='two cables are swapped: "leaf-2" port 5 leads to "spine-1" port 2 instead of "spine-1" port 3, and "leaf-3" port 5 the other way round (topology_file)$'
until_true shows trouble "^20.*Z  *cabling .*$swapped"
shows health "^cabling: 1 differences from $dir/site.topo (fmctl trouble)$" || fail "$(cat "$dir/answer")"
await "$dir/fmd.out" "cabling: 1 difference from $dir/site.topo (fmctl trouble), the first: two cables are swapped"
exits 5 topo diff "$dir/site.topo"
says "^swapped "
since=$(fmctl trouble --json | sed -n 's/.*"since": "\(.*\)".*/\1/p' | head -n 1)
echo "ok: swapped"

# ---- another difference beside it, and gone again: the first one stays since then
fmsim_say unlink 'leaf-1[6]' >/dev/null
missing='the cable from "leaf-1" port 6 to "spine-2" port 1 is missing (topology_file)$'
until_true shows trouble "$missing"
shows trouble "^$since .*$swapped" || fail "since $since it is not told: $(cat "$dir/answer")"
await "$dir/fmd.out" "cabling: 2 differences from"
fmsim_say relink 'leaf-1[6]' >/dev/null
until_true shows health "^cabling: 1 differences"
cp "$dir/right.topo" "$dir/site.topo"
fmctl reload --wait >/dev/null || fail reload
until_true shows health "^cabling: 0 differences from $dir/site.topo$"
! shows trouble cabling || fail "it is right, and trouble says: $(cat "$dir/answer")"
fmctl events --kind=cabling --json >"$dir/answer"
[ "$(grep -c '"ends"\|"ended"' "$dir/answer")" -gt 0 ] || fail "no end in $(cat "$dir/answer")"
says "the cabling is as topology_file has it"
echo "ok: put right"

# ---- a wrong file is refused, and the old one stays
sed -i '4s/->/=>/' "$dir/site.topo"
! fmctl reload >"$dir/answer" 2>&1 || fail "a wrong file is taken"
says "site.topo:4: \"-4x-25G=>\" is no arrow"
shows health "^cabling: 0 differences from" || fail "$(cat "$dir/answer")"
echo "ok: a wrong file"
