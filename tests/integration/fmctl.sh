#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What an administrator sees of the fabric through fmctl: cables that are worse than they could be,
# nodes and paths by the first word of their names, tables that were spoilt behind fmd's back by
# their exit code, and a sweep that is waited for.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep

"$build/fmroute" gen pgft 2 4,2 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf 'sweep_on_trap = no\nsweep_interval = 0\n' >"$dir/fmd.conf"
start_fmd

# ---- cables
exits 0 links
says "^FROM  *PORT  *LID  *TO " "^leaf-1  *1  *[0-9]*  *host-1-1  *1  *[0-9]*  active  4x EDR  4x EDR$"
[ "$(wc -l <"$dir/answer")" = 13 ] || fail "not 12 cables: $(cat "$dir/answer")"
exits 0 links --degraded
says "^none$"
fmsim_say rate "leaf-1[5]" 1xQDR >/dev/null || fail "fmsim sets no rate"
fmsim_say rate "host-2-1[1]" 4xSDR >/dev/null || fail "fmsim sets no rate"
exits 0 sweep --wait
says "^sweep [0-9]*: the subnet is up"
degraded() {
	fmctl links --degraded >"$dir/answer" && [ "$(grep -c degraded "$dir/answer")" = 2 ]
}
until_true degraded
says "^leaf-1  *5 .* 1x QDR  4x EDR  *degraded$" "^leaf-2  *1 .*host-2-1 .* 4x SDR  4x EDR  *degraded$"
exits 0 links host-2-1 --json
says '"speed": "SDR"' '"best_speed": "EDR"' '"best_mbps": 100000' '"degraded": true'
exits 0 links spine-1 --trouble
says "^none$"
echo "ok: cables"

# ---- what is not taken: what would be
exits 2 node spine-1
says "there is no command node: did you mean nodes?"
exits 2 trouble spine-1
says "unexpected argument spine-1: trouble takes none"
exits 2 reload now
says "unexpected argument now: reload takes \[--yes\] \[--wait\]"
exits 1 nodes nosuch
says "there is no node of the name or GUID nosuch"
exits 1 links nosuch
says "there is no node of the name or GUID nosuch"
exits 0 nodes spine-1 --trouble
says "^none$"
exits 2 crossing
says "ports is GUID:PORT,..., as 0x0002c90300a1b2c3:1; it is missing"
for ports in x 0x1 0x1:0 0x1:255 0x1:1, 0x1:1:2 "$(printf '0x1:1,%.0s' {1..32})0x1:1"; do
	exits 2 crossing "ports=$ports"
	says "ports is GUID:PORT,..., as 0x0002c90300a1b2c3:1; \|ports: more than 32 are asked for at once"
done
echo "ok: words that are not taken"

# ---- names: by their first word, where that is one's alone
fmsim_say describe host-1-2 '"node17 HCA-1"' >/dev/null
fmsim_say describe host-2-2 '"node18 HCA-1"' >/dev/null
fmsim_say describe host-2-3 '"node18 HCA-2"' >/dev/null
exits 0 sweep heavy --wait
exits 0 nodes node17
says "^ca  *node17 HCA-1  0x"
exits 0 nodes 'node1*'
[ "$(wc -l <"$dir/answer")" = 4 ] || fail "not three nodes: $(cat "$dir/answer")"
lid=$(lid_of host-2-2)
exits 0 path node17 "$lid"
says '^From ca {0x[0-9a-f]*} portnum 1 lid [0-9]*-[0-9]* "node17 HCA-1"$' \
	'^\[1\] -> switch port {0x[0-9a-f]*}\[2\] lid [0-9]*-[0-9]* "leaf-1"  vl 0 mtu 4096 rate 100.0 Gb/s$' \
	'^\[2\] -> ca port {0x[0-9a-f]*}\[1\] lid [0-9]*-[0-9]* "node18 HCA-1"  vl 0 mtu ' \
	'^To ca {0x[0-9a-f]*} portnum 1 lid [0-9]*-[0-9]* "node18 HCA-1"$' \
	"^Path from LID [0-9]* to LID $lid: sl 0 mtu 4096 rate "
exits 0 path --why node17 "$lid"
says '^    fattree: fat trees, whole or damaged: ' '^    by port [0-9]*, one of 2 that lead nearer: [a-z]*, [0-9]* routes$' \
	'^      not by port [0-9]* to "spine-[12]", [0-9]* routes: \(bears more routes\|as good: the engine.s choice\)$'
exits 0 path --why node17 "$lid" --json
says '"planned": "done"' '"n_others": 1' '"repaired_from": null' '"rule": ".*"'
exits 2 status --why
says "status takes no --why"
exits 2 path nowhere
says "from where to where: path FROM TO"
exits 2 path node17 node18
says "\"node18\" is node18 HCA-[12] port 1 (LID [0-9]*), node18 HCA-[12] port 1 (LID [0-9]*): write a LID"
exits 2 path node1 node17
says '"node1" is no LID, GUID or name of a port that is up'
exits 0 path "node18 HCA-2" node17
fmsim_say describe host-1-2 "$lid" >/dev/null # a name that is a number
exits 0 sweep --wait
exits 0 path -L 1 "$lid"
says 'To ca .* "node18 HCA-1"$'
exits 2 path -G 1 "$lid"
says "\"1\" is no GUID of a port that is up"
exits 2 path --lid 1 node18
exits 2 status -G
says "status takes no --guid"
fmsim_say describe host-1-2 '"node17 HCA-1"' >/dev/null
exits 0 sweep --wait
echo "ok: names"

# ---- every command says what it takes
for command in $(fmctl help --json | sed -n 's/^ *"command": "\([a-z_-]*\)".*/\1/p'); do
	exits 0 "$command" -h
	says "^usage: fmctl \[OPTION\]... $command"
done
echo "ok: -h"

# ---- completion: what is offered for the last word of a line
# shellcheck source=conf/bash-completion/fmctl
. "$top/conf/bash-completion/fmctl"
offers() { # WORDS LINE...: --x=y is three words, as bash has it
	local want=$1
	shift
	COMP_LINE="fmctl --state-dir=$dir/state $*"
	COMP_WORDS=("$build/fmctl" --state-dir "=" "$dir/state" "$@")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_fmctl
	[ "${COMPREPLY[*]}" = "$want" ] || fail "\"fmctl $*\" is completed by: ${COMPREPLY[*]}"
}
offers "status" st
offers "nodes" n
offers "links" li
offers "--degraded" links --d
offers "--follow" events --f
offers "node17 node18" path node1
offers "leaf-1 leaf-2" links leaf
offers "light" sweep l
offers "" links "" # not all that there are
offers "--timeout=" --ti
offers "switch: link: system:" isolate ""
offers "switch: system: spine-1 spine-2" isolate s
offers "leaf-1 leaf-2" isolate switch : le
offers "" isolate switch : node1 # of switches only
offers "spine-1" isolate link : spine-1
exits 0 isolate switch:spine-2 --yes --wait
offers "spine-2" restore switch : # of what is isolated
offers "" restore link : le
exits 0 restore switch:spine-2 --yes --wait
offers "progress" pr
offers "paths" paths
echo "ok: completion"

# ---- tables that were lost while nobody looked
exits 0 verify
exits 0 verify --readback
says "^verdict  *all is well"
fmsim_say reboot spine-1 for 1us >/dev/null
exits 3 verify --readback
says "^differ  *[1-9]" "^pairs .*, [1-9][0-9]* without$" "^verdict  *NOT as it should be"
exits 0 sweep --wait
exits 0 verify --readback
echo "ok: exit codes"

# ---- lists of several pages: each node and each cable once
"$build/fmroute" gen pgft 2 18,36 1,18 1,1 >"$dir/large" || exit 1
"$build/fmd" --transport=sim:"$dir/large" --config=none --state-dir="$dir/several" >"$dir/large.out" 2>&1 &
await "$dir/large.out" "SUBNET UP"
several() { "$build/fmctl" --state-dir="$dir/several" "$@"; }
several nodes --json | sed -n 's/^ *"guid": //p' | sort >"$dir/guids"
[ "$(uniq "$dir/guids" | wc -l)" = 702 ] && [ "$(wc -l <"$dir/guids")" = 702 ] || fail "$(wc -l <"$dir/guids") nodes"
several links | tail -n +2 | sort >"$dir/cables"
[ "$(uniq "$dir/cables" | wc -l)" = 1296 ] && [ "$(wc -l <"$dir/cables")" = 1296 ] || fail "$(wc -l <"$dir/cables") cables"
[ "$(several links spine-18 | grep -c spine-18)" = 36 ] || fail "not the cables of spine-18: $(several links spine-18)"
[ "$(several links from=0 --json | grep -c '"best_speed"')" = 400 ] || fail "a page has not 400 cables"
several links from=0 --json | grep -q '"next": [1-9]' || fail "a page does not say where the next begins"
echo "ok: pages"

# ---- answers that nobody would give
if command -v python3 >/dev/null 2>&1; then
	python3 "$top/tests/integration/fmctl_answers.py" "$dir/state/fmd.sock" "$build/fmctl" 300 >"$dir/answer" || fail "$(cat "$dir/answer")"
	echo "ok: answers that nobody would give"
fi
