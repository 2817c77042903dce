#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# SIGKILL at the numbered places of sweep, store, tables and apply, then a
# restart: the fabric ends right, no block is written that did not differ, and the
# run after that sends no Set.  While a new fabric comes up, while one is led round
# a spine that has gone, and while it is led back by it; and while a torus comes up, on
# which VLs go by ports.
#
# What ends right is judged by programs that others wrote (ibnetdiscover,
# dump_lfts) and fmroute check.  The tables are read between the killed run and the
# next: that one writes as many blocks as differ from what they are in the end (a
# switch here has one block), each of them once; where it finds tables that it did not
# write itself, once a step.  A sample of the places with at least one of every kind
# that is passed; FMD_LONG=1: all of them.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(dirname "$0")/lib.bash"
need ibnetdiscover dump_lfts
[ -x "$build/tests/integration/fmd_killable" ] || skip "fmd_killable is not built"
host=host-1-1
engine=fattree
links='spine-1[1] spine-1[2] spine-1[3] spine-1[4]' # that go and come back

# fmd PROGRAM: one sweep; its output in fmd.out, the places in places.
sweep() {
	local program=$1
	rm -f "$dir/places"
	FMD_KILL_LIST=$dir/places on_ibsim $host "$program" --plugin-dir="$build/plugins/engines/.libs" --config="$dir/fmd.conf" --engine=$engine --once \
		--state-dir="$dir/state" >"$dir/fmd.out" 2>&1
}

printf 'log_level = debug\n' >"$dir/fmd.conf"
killable=$build/tests/integration/fmd_killable
# Blocks that were written, by the summary: one that had to be sent again counts once.
lft_sets() { sed -n 's/^Sets .* LinearForwardingTable \([0-9]*\).*/\1/p' "$dir/fmd.out" | grep . || echo 0; }
# Of the sweeps of a run that had an order of writing: blocks that differed, those of the others being
# counted by Sets, and waits.
lft_counts() {
	sed -n 's/.*forwarding tables: change .*, \([0-9]*\) blocks, .* \([0-9]*\) waits, .*/\1 \2/p' "$dir/fmd.out" |
		awk -v sets="$1" '{ n += $1; m += $2 } END { if (NR == 0) n = sets; print n, m + 0 }'
}
kinds() { cut -d ' ' -f 2- "$1" | sort -u; }

# "GUID LID PORT" of all entries.
entries() {
	on_ibsim $host dump_lfts -a -n 2>"$dir/lfts.out" |
		awk '/^Unicast/ { for (i = 1; i < NF; i++) if ($i == "guid") g = $(i + 1) } /^0x/ && $2 != 255 { print g, $1, $2 }' | sort
}

begin() {
	rm -rf "$dir/state"
	simulate "$dir/net" "$dir/ibsim.log"
	[ "${1%up}" = "$1" ] || return
	sweep "$killable" || fail "$1: fmd exits with $?"
	for link in $links; do ibsim_say "Unlink \"${link%[*}\"[${link#*[}"; done
	[ "$1" != back ] && return
	sweep "$killable" || fail "$1: fmd exits with $? without the links"
	for link in $links; do ibsim_say "ReLink \"${link%[*}\"[${link#*[}"; done
}

check_fabric() {
	on_ibsim $host ibnetdiscover >"$dir/seen" 2>"$dir/discover.out" || fail "$1: ibnetdiscover"
	on_ibsim $host dump_lfts >"$dir/lfts" 2>"$dir/lfts.out" || fail "$1: dump_lfts"
	"$build/fmroute" check "$dir/seen" "$dir/lfts" --config=none --json >"$dir/check.out" 2>&1 || fail "$1: fmroute check"
	grep -q "\"reachable_pairs\": $pairs,\$" "$dir/check.out" || fail "$1: not $pairs pairs"
}

# N of the places of this scenario, or all: the first and the last of every kind.
choose() {
	if [ "${FMD_LONG:-}" = 1 ]; then
		cut -d ' ' -f 1 "$1"
	else
		{ sort -u -k 2 "$1"; sort -k 1,1nr "$1" | sort -s -u -k 2; } | cut -d ' ' -f 1 | sort -nu | awk -v every="$2" 'NR % every == 0'
	fi
}

# kill_at SCENARIO N [KIND]: killed there, at the N-th place of all or of that kind, run
# again, and again; 1: this run did not come to it.
kill_at() {
	local scenario=$1 n=$2 place sets want code blocks waits most
	begin "$scenario"
	(
		export FMD_KILL_AT=$n
		[ $# = 2 ] || export FMD_KILL_KIND=$3
		sweep "$killable"
	)
	code=$?
	place="$scenario: killed at $(tail -n 1 "$dir/places" 2>/dev/null)"
	if [ $code = 0 ] && [ "$(grep -c " ${3:-.*}\$" "$dir/places")" -lt "$n" ]; then
		# by the order in which answers came, it was done before
		kinds "$dir/places" | comm -12 - "$dir/always" >"$dir/both"
		mv "$dir/both" "$dir/always"
		ibsim_stop
		return 1
	fi
	[ $code = 137 ] || fail "$place: exit code $code"
	tail -n 1 "$dir/places" | cut -d ' ' -f 2- >>"$dir/killed"
	entries >"$dir/left"
	sweep "$killable" || fail "$place: the next fmd exits with $?"
	grep -q "SUBNET UP" "$dir/fmd.out" || fail "$place: the next fmd does not bring the subnet up"
	sets=$(lft_sets)
	entries >"$dir/right"
	want=$(comm -3 "$dir/left" "$dir/right" | awk '{ print $1 }' | sort -u | wc -l)
	read -r blocks waits < <(lft_counts "$sets")
	[ "$blocks" = "$want" ] || fail "$place: $blocks blocks to be written, $want differ"
	most=$want
	grep -q "hold what another SM has written, or fmd before" "$dir/fmd.out" && most=$((want * (1 + waits)))
	[ "$sets" -ge "$want" ] && [ "$sets" -le "$most" ] || fail "$place: $sets times a block is written, $want differ"
	sweep "$killable" || fail "$place: the third fmd exits with $?"
	grep -q "^Sets *0$" "$dir/fmd.out" || fail "$place: the third fmd sends Sets: $(grep "^Sets" "$dir/fmd.out")"
	check_fabric "$place"
	ibsim_stop
}

# Kinds of places that every run of the scenario passes and at which none was killed yet.
untried() {
	sort -u "$dir/killed" | comm -13 - "$dir/always"
}

# play SCENARIO PAIRS EVERY
play() {
	local scenario=$1 every=$3 n kind count=0
	pairs=$2
	begin "$scenario"
	sweep "$killable" || fail "$scenario: fmd exits with $?"
	cp "$dir/places" "$dir/all"
	kinds "$dir/all" >"$dir/always"
	[ "$(lft_sets)" -gt 0 ] || fail "$scenario: no block is written at all"
	check_fabric "$scenario"
	ibsim_stop
	for n in $(choose "$dir/all" "$every"); do
		kill_at "$scenario" "$n" && count=$((count + 1))
	done
	# the n-th place is not the same one in every run
	for _ in 1 2 3; do
		untried >"$dir/left_over"
		while read -r kind <&3; do
			kill_at "$scenario" 1 "$kind" && count=$((count + 1))
		done 3<"$dir/left_over"
	done
	[ -z "$(untried)" ] || fail "$scenario: never killed at: $(untried | tr '\n' ';')"
	[ "$count" -ge 5 ] || fail "$scenario: killed at $count places only"
	echo "ok: $scenario: $count of $(wc -l <"$dir/all") places"
}

: >"$dir/killed"
"$build/fmroute" gen pgft 2 2,4 1,2 1,1 >"$dir/net" || fail "fmroute gen"
# 4 leaves, 8 hosts, 2 spines
play up $((8 * 7 + 8 * 6)) 2
for what in "send LinearForwardingTable" "send PortInfo" "send SwitchInfo" "answer LinearForwardingTable" "commit LIDs" "committed LIDs" \
	"commit settings" "tables write" "tables written" "tables renamed" "phase tables"; do
	grep -q " $what\$" "$dir/all" || fail "no place \"$what\" is passed"
done
play spine $((8 * 7 + 8 * 5)) 2
play back $((8 * 7 + 8 * 6)) 4

"$build/fmroute" gen torus 3x3 1 >"$dir/net" || fail "fmroute gen"
engine=torus2qos
host=$(first_host "$dir/net")
play torus-up $((9 * 8 + 9 * 9)) 6
grep -q " send SLtoVLMappingTable\$" "$dir/all" || fail "no SL2VL table is written"
