#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# fmroute diff and what-if as an administrator uses them: planned maintenance
# with one step and with several, what is written counted by comparing dumps
# line by line, the words of mistakes, exit codes.  Runs in the build directory.
set -eu
. "${srcdir:-..}/tests/integration/fmroute.bash"

# Values of a key, wherever it stands; the n-th of them.
values() { sed -n "s/^ *\"$1\": \(.*[^,]\),*\$/\1/p" out; }
nth() { values "$1" | sed -n "$2p"; }
is() { [ "$(nth "$1" "$2")" = "$3" ] || fail "$1 number $2 is $(nth "$1" "$2"), not $3: $(cat out)"; }

# "guid lid port" of every entry of a dump.
entries() { awk '/^Unicast/ { for (i = 1; i < NF; i++) if ($i == "guid") g = $(i + 1) } /^0x/ { print g, $1, $2 }' "$1/lfts" | sort; }
# Entries in which two dumps differ: those of either, by switch and LID.
differing() {
	entries "$1" >e1
	entries "$2" >e2
	comm -3 e1 e2 | awk '{ print $1, $2 }' | sort -u
}

$fmroute gen pgft 2 4,8 1,4 1,1 >tree.net
none=--config=none

# ---- diff: two engines on one fabric
$fmroute gen torus 4x4 1 >torus.net
$fmroute gen hyperx 4x4 1 >hyperx.net
run 0 hyperx.net $none --engine=hyperx --dump=a
run 0 hyperx.net $none --engine=updn --dump=b
differing a b >changed
[ -s changed ] || fail "hyperx and updn are the same here"
blocks=$(awk '{ print $1, int(strtonum($2) / 64) }' changed 2>/dev/null | sort -u | wc -l)
run 0 diff a b $none --json
is entries 1 "$(wc -l <changed)"
[ "$blocks" = 0 ] || is blocks 1 "$blocks"
is lost_pairs 1 0
is gained_pairs 1 0
[ $(($(nth kept_pairs 1) + $(nth moved_pairs 1))) = $((16 * 15 + 16 * 16)) ] || fail "pairs: $(cat out)"
[ "$(nth moved_pairs 1)" -gt 0 ] || fail "nothing has moved"
entries_a_b=$(nth entries 1)
for sides in "engine:hyperx engine:updn --fabric=hyperx.net" "a/lfts b/lfts --fabric=hyperx.net" "a engine:updn --fabric=hyperx.net"; do
	# shellcheck disable=SC2086
	run 0 diff $sides $none --json
	is entries 1 "$entries_a_b"
done
echo 'chain = "minhop"' >minhop.conf
run 0 diff config:minhop.conf engine:minhop --fabric=tree.net --json
is entries 1 0
is smps 1 0
is moved_pairs 1 0
run 0 diff a a $none
grep -q '^written     0 entries, 0 of them only cut off, in 0 blocks of 0 switches$' out || fail "text: $(cat out)"
# a fabric and the same with less: LIDs are those of the first
awk 'BEGIN { RS = ""; ORS = "\n\n" } !/^Ca[^\n]*"host-8-4"/ && !/\nCa[^\n]*"host-8-4"/' tree.net | sed '/"host-8-4"/d' >less.net
run 0 diff tree.net less.net $none --engine=fattree --json
sed -n '/"gone"/,/]/p' out | grep -q '"host-8-4"' || fail "who is gone: $(cat out)"
[ "$(nth lost_with_an_end 1)" = $((31 * 2 + 12)) ] || fail "pairs of host-8-4: $(nth lost_with_an_end 1)"
# an entry less: a verdict, and exit code 3
mkdir broken && cp a/fabric.net broken/
awk '$1 != "0x0002" || done++' a/lfts >broken/lfts
run 3 diff a broken $none --json
is entries 1 1
is entries_cut 1 1
[ "$(nth lost_without_route 1)" -gt 0 ] || fail "nobody is cut off"
sed -n '/"disconnected"/,/]/p' out | grep -q '"to": "' || fail "who is cut off: $(cat out)"

# ---- what-if: a spine of four goes and comes back
run 0 what-if tree.net $none --engine=fattree --down=switch:spine-2 --steps --up=switch:spine-2 --json
[ "$(values entries | wc -l)" = 2 ] || fail "not two steps: $(cat out)"
is lost_pairs 1 32
is lost_with_an_end 1 32
is gained_pairs 2 32
is routed 1 true
is kind 1 '"loss"'
is kind 2 '"recovery"'
is drained 2 0
run 0 what-if tree.net $none --engine=fattree --down=switch:spine-2
grep -q '^step 1      down switch:spine-2$' out || fail "text: $(cat out)"
grep -Eq '^  most routes on a link +28 +[3-5][0-9]$' out || fail "load: $(cat out)"
grep -q '^  proven  *yes  *yes$' out || fail "text: $(cat out)"
grep -q '^transition  loss: ' out || fail "text: $(cat out)"
# a name that several have, a pattern or not, is told with their number
run 0 what-if tree.net $none --engine=fattree --down='switch:spine-[1-2]' --down=host:host-3-1
grep -q '^step 1      down switch:spine-\[1-2\] (2 of them), down host:host-3-1$' out || fail "text: $(cat out)"
# a host that goes changes no entry; a leaf neither
run 0 what-if tree.net $none --engine=fattree --down=host:host-3-1 --json
is entries 1 0
is smps 1 0
is made 2 '"kept"'
is lingering_lids 2 1
sed -n '/"gone"/,/]/p' out | grep -q '"host-3-1"' || fail "who is gone: $(cat out)"
run 0 what-if tree.net $none --engine=fattree --down=switch:leaf-4 --json
is entries 1 0
is made 2 '"kept"'
# several at once is one step; with --then as many as there are
run 0 what-if tree.net $none --engine=fattree --down=link:leaf-1:5 --down=link:leaf-1:6 --json
[ "$(values entries | wc -l)" = 1 ] || fail "not one step: $(cat out)"
is lost_pairs 1 0
[ "$(nth moved_pairs 1)" -gt 0 ] || fail "nobody has moved"
is made 2 '"repaired"'
run 0 what-if tree.net $none --engine=fattree --down=switch:spine-1 --then --up=switch:spine-1 --down=switch:spine-2 --json
[ "$(values entries | wc -l)" = 2 ] || fail "not two steps: $(cat out)"
# all the ways out of a leaf: told by name
run 0 what-if tree.net $none --engine=updn --down=link:leaf-1:5 --down=link:leaf-1:6 --down=link:leaf-1:7 --down=link:leaf-1:8 --json
is lost_without_cables 1 $((2 * 4 * 28 + 4 * 11 + 28))
[ "$(values from | wc -l)" = "$(nth lost_without_cables 1)" ] || fail "not all pairs are named"

# ---- switches of more ports than a word has bits: 70 and 69, and what hangs above port 64
$fmroute gen pgft 2 4,69 1,66 1,1 >wide.net
for engine in fattree minhop updn dfsssp; do
	run 0 what-if wide.net $none --engine=$engine --down=link:leaf-1:70 --steps --up=link:leaf-1:70 --json
	is made 2 '"repaired"'
	is lost_pairs 1 0
	[ "$(nth entries 1)" -gt 0 ] || fail "$engine: nobody went over port 70"
	is entries 2 "$(nth entries 1)"
	[ "$(values proven | sort -u)" = true ] || fail "$engine: not proven: $(cat out)"
done
run 0 what-if wide.net $none --engine=fattree --down=switch:spine-66 --json
is lost_without_route 1 0

# ---- fabrics of real clusters, where they are there: a switch goes and comes back
for net in "${FMD_TOPOLOGIES:-$top/../shared/topologies}"/*.net; do
	[ -f "$net" ] || continue
	sw=$(sed -n 's/^Switch[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\1/p' "$net" | tail -n 1)
	run 0 what-if "$net" $none --engine=fattree,updn --down=switch:"$sw" --steps --up=switch:"$sw" --json
	[ "$(values proven | sort -u)" = true ] || fail "$net: not proven: $(cat out)"
	is lost_without_route 1 0
	if [ "$(nth entries 1)" = 0 ]; then # a leaf lingers: none but it is written when it is back
		is switches_written 2 1
	else
		is entries 2 "$(nth entries 1)"
	fi
	echo "ok: $(basename "$net")"
done

# ---- what no engine can route any more
printf 'fallback = no\n' >no.conf
run 3 what-if torus.net --config=no.conf --engine=fattree --down=switch:sw-1-1
grep -q '^not routed  ' out || fail "text: $(cat out)"

# ---- the cable of a leaf of three levels, out and in again: all is as before
for tree in "4,4,3 1,2,4 1,1,1" "6,6,4 1,3,6 1,1,1"; do
	# shellcheck disable=SC2086
	$fmroute gen pgft 3 $tree >three.net
	leaf=$(sed -n 's/^Switch.*"\(leaf-[^"]*\)".*/\1/p' three.net | tail -n 1)
	cable=link:$leaf:$((${tree%%,*} + 1))
	run 0 what-if three.net $none --engine=fattree --steps --down="$cable" --up="$cable"
	[ "$(grep -c '^transition .* 0 emptied first, 0 left as they were$' out)" = 2 ] || fail "pgft 3 $tree, $cable: $(cat out)"
	grep -q "^transition  recovery: .*[1-9] in order, 0 after a packet's life time" out || fail "pgft 3 $tree, $cable waits: $(cat out)"
	[ "$(sed -n 's/^written *\([0-9]*\) entries.*/\1/p' out | sort -u | wc -l)" = 1 ] || fail "pgft 3 $tree, $cable: $(cat out)"
done

# ---- mistakes
wrong() {
	words=$1
	shift
	run 2 "$@"
	grep -qF -e "$words" err || fail "fmroute $*: $(cat err)"
}
wrong "what-if wants an event" what-if tree.net
wrong "did you mean spine-1?" what-if tree.net $none --down=switch:spin-1
wrong "names no part" what-if tree.net $none --down=spine-1
wrong "spine-1 has ports 1..8" what-if tree.net $none --down=link:spine-1:36
wrong "is not down" what-if tree.net $none --up=switch:spine-1
wrong "is down already" what-if tree.net $none --down=switch:spine-1 --down=switch:spine-1
wrong "--then stands between steps" what-if tree.net $none --then --down=switch:spine-1
wrong "one of the two" what-if tree.net $none --steps --down=switch:spine-1 --then --up=switch:spine-1
wrong "nothing stands after" what-if tree.net $none --down=switch:spine-1 --then
wrong "one FABRIC" what-if --down=switch:spine-1
wrong "diff takes A and B, 1 given" diff a
wrong "of which fabric?" diff a/lfts b/lfts
wrong "holds no fabric.net" diff . b
wrong "holds no tables" diff tree.net b --fabric=tree.net
wrong "no engine 'nosuch'" diff engine:nosuch b --fabric=tree.net
echo "ok"
