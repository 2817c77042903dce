# SPDX-License-Identifier: BSD-2-Clause
# What the scripts on fmsim share; sourced.
# shellcheck shell=bash

# shellcheck source=tests/integration/script.bash
. "$(dirname "${BASH_SOURCE[0]}")/script.bash"
# shellcheck source=dev/fmsim-lib.sh
. "$top/dev/fmsim-lib.sh"
export FMD_PLUGIN_PATH=$build/plugins/engines
trap leave EXIT

leave() {
	kill_jobs "$FMSIM_PID"
	fmsim_stop
	rm -rf "$dir"
}

need() {
	[ -e "$build/.libs/libfmsim-umad.so" ] || skip "libfmsim-umad.so is not built"
	need_tools "$@"
}

simulate() {
	fmsim_start "$build" "$@" || fail "fmsim does not take $*"
}

lid_of() { # NODE
	fmsim_say dump "$1" | sed -n 's/.* lid \([0-9]*\) .*/\1/p' | head -n 1
}

# The output of a command on NODE, which must succeed.
run_on() {
	timeout 60 bash -c '. "$0"; FMSIM_PRELOAD=$1 FMSIM_RUNTIME=$2; shift 2; exec_on_fmsim "$@"' \
		"$top/dev/fmsim-lib.sh" "$FMSIM_PRELOAD" "$FMSIM_RUNTIME" "$@" 2>"$dir/tool.err" ||
		{ cat "$dir/tool.err" >&2; fail "$* fails"; }
}

# fmd on this host, by $dir/fmd.conf, up; its process id in $fmd.
start_fmd() { # [HOST]
	: >"$dir/fmd.out"
	exec_on_fmsim "${1:-host-1-1}" "$build/fmd" --transport=umad --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
	fmd=$!
	await "$dir/fmd.out" "SUBNET UP"
}

# The fmctl of that one.
fmctl() {
	"$build/fmctl" --state-dir="$dir/state" "$@"
}
# exits CODE COMMAND...: the answer is in $dir/answer.
exits() {
	local want=$1 rc=0
	shift
	fmctl "$@" >"$dir/answer" 2>&1 || rc=$?
	[ $rc = "$want" ] || fail "fmctl $* exits with $rc, not $want: $(cat "$dir/answer")"
}
# It has the words, each.
says() { # WORDS...
	local words
	for words in "$@"; do
		grep -q -- "$words" "$dir/answer" || fail "no \"$words\" in $(cat "$dir/answer")"
	done
}

# opensm on NODE with its files in $dir; its process id in $osm.  Nothing is lost on fmsim: it
# waits for answers, as on a busy machine they take their time.
start_opensm() {
	local node=$1
	shift
	rm -f "$dir/osm.log"
	OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir exec_on_fmsim "$node" \
		opensm -d2 -F /dev/null -t 1000 -f "$dir/osm.log" "$@" >"$dir/osm.out" 2>&1 &
	osm=$!
	await "$dir/osm.log" "SUBNET UP"
}
