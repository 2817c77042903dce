#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The whole fabric in one answer: on several fabrics it says what nodes and links say, its generation
# stays while nothing changes, and is another one when a cable, a rate, a name, a LID or what is
# isolated changes.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep python3

# What fabric says, compared: in $dir/answer.
compare() { # SOCKET
	python3 "$top/tests/integration/fabric_equal.py" "$1" >"$dir/answer" 2>&1 || fail "$(cat "$dir/answer")"
}
# ---- several fabrics
on() { # NAME WORDS OPTION...: WORDS are what fabric_equal.py is to say
	local name=$1 words=$2 pid
	shift 2
	"$build/fmroute" gen "$@" >"$dir/$name.net" || exit 1
	"$build/fmd" --transport="sim:$dir/$name.net" --config="$dir/$name.conf" --state-dir="$dir/$name" >"$dir/$name.out" 2>&1 &
	pid=$!
	await "$dir/$name.out" "SUBNET UP"
	compare "$dir/$name/fmd.sock"
	says "$words"
	end_job $pid
	echo "ok: $name: $(cut -d " " -f 2- "$dir/answer")"
}
touch "$dir/tree.conf" "$dir/pods.conf" "$dir/torus.conf"
printf 'region left {\n\tswitches = {"leaf-1", "leaf-2"}\n}\n' >"$dir/regions.conf"
on tree " 14 nodes, 24 cables, 5 groups by levels, switches of levels 1 2, loads up to [1-9]" pgft 2 2,4 1,2 1,2
on pods " 36 nodes, 48 cables, 6 groups by levels, switches of levels 1 2 3, loads" pgft 3 2,2,4 1,2,2 1,1,1
on torus " 54 nodes, 108 cables, [0-9]* groups by names, switches of levels 1, loads" torus 3x3x3 1
on regions " 2 groups by regions, " pgft 2 2,4 1,2 1,2

# ---- another generation, when and only when something is another
"$build/fmroute" gen pgft 2 4,2 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
printf 'sweep_on_trap = no\nsweep_interval = 0\nbabbling_port_policy = no\n' >"$dir/fmd.conf"
start_fmd
compare "$dir/state/fmd.sock"
generation() {
	cut -d " " -f 1 "$dir/answer"
}
same() { # COMMAND...
	local was
	compare "$dir/state/fmd.sock"
	was=$(generation)
	"$@" >/dev/null || fail "$* fails"
	compare "$dir/state/fmd.sock"
	[ "$(generation)" = "$was" ] || fail "another generation after $*"
}
other() { # COMMAND...
	local was
	compare "$dir/state/fmd.sock"
	was=$(generation)
	"$@" >/dev/null || fail "$* fails"
	compare "$dir/state/fmd.sock"
	[ "$(generation)" != "$was" ] || fail "the same generation after $*"
}
sweep() {
	fmctl sweep heavy --wait
}
rate() {
	fmsim_say rate "leaf-1[5]" "$1" && sweep
}
unplug() {
	fmsim_say unlink "leaf-1[6]" && { sweep || true; }
}
replug() {
	fmsim_say relink "leaf-1[6]" && { sweep || true; }
}
name() {
	fmsim_say describe host-1-2 "\"$1\"" && sweep
}
lids() {
	sed -i '/^lmc/d' "$dir/fmd.conf" && echo "lmc = $1" >>"$dir/fmd.conf" && fmctl reload --yes --wait
}
same sweep
first=$(generation)
other name "node\\17 HCA"
other name host-1-2
[ "$(generation)" = "$first" ] || fail "another generation, though all is as it was"
other unplug
other replug
[ "$(generation)" = "$first" ] || fail "another generation, though all is as it was"
other rate 1xQDR
other fmctl isolate switch:spine-1 --yes --wait
other fmctl restore switch:spine-1 --yes --wait
other lids 2
echo "ok: generations"

exits 2 fabric generation=3
says "generation is the string that the answer before had"
exits 0 fabric --json
says '"grouped_by": "levels"'
echo "ok: by fmctl"
