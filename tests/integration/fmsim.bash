# SPDX-License-Identifier: BSD-2-Clause
# What the tests on fmsim share; sourced.  Sets $top, $build and $dir, a folder
# of the test's own that goes when it ends.
# shellcheck shell=bash

top=${FMD_TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${FMD_BUILD:-$PWD}
# shellcheck source=dev/fmsim-lib.sh
. "$top/dev/fmsim-lib.sh"
export FMD_PLUGIN_PATH=$build/plugins/engines
[ -e "$build/.libs/libfmsim-umad.so" ] || { echo "libfmsim-umad.so is not built: skipped"; exit 77; }
dir=$(mktemp -d)
pids=() # of programs in the background
trap leave EXIT

leave() {
	local pid
	for pid in "${pids[@]}"; do
		end "$pid"
	done
	fmsim_stop
	rm -rf "$dir"
}

# SIGTERM, and after 5 s SIGKILL: an OpenSM may wait for answers for ever.
end() {
	local tries
	kill "$1" 2>/dev/null || return
	for ((tries = 0; tries < 50; tries++)); do
		kill -0 "$1" 2>/dev/null || break
		sleep 0.1
	done
	kill -9 "$1" 2>/dev/null
	wait "$1" 2>/dev/null
}

need() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null 2>&1 || { echo "$tool is absent: skipped"; exit 77; }
	done
}

fail() {
	echo "FAIL: $*"
	tail -n 20 "$dir"/*.out 2>/dev/null
	exit 1
}

simulate() {
	fmsim_start "$build" "$@" || fail "fmsim does not take $*"
}

# Wait until the words are in the file, 30 s at most.
await() {
	local file=$1 words=$2 tries
	for ((tries = 0; tries < 300; tries++)); do
		grep -q "$words" "$file" 2>/dev/null && return 0
		sleep 0.1
	done
	fail "no \"$words\" in $(basename "$file")"
}

# The output of a command on NODE, which must succeed.
run_on() {
	timeout 60 bash -c '. "$0"; FMSIM_PRELOAD=$1 FMSIM_RUNTIME=$2; shift 2; exec_on_fmsim "$@"' \
		"$top/dev/fmsim-lib.sh" "$FMSIM_PRELOAD" "$FMSIM_RUNTIME" "$@" 2>"$dir/tool.err" ||
		{ cat "$dir/tool.err" >&2; fail "$* fails"; }
}

# opensm on NODE with its files in $dir; its process id in $osm.
start_opensm() {
	local node=$1
	shift
	rm -f "$dir/osm.log"
	OSM_TMP_DIR=$dir OSM_CACHE_DIR=$dir exec_on_fmsim "$node" \
		opensm -d2 -F /dev/null -f "$dir/osm.log" "$@" >"$dir/osm.out" 2>&1 &
	osm=$!
	pids+=("$osm")
	await "$dir/osm.log" "SUBNET UP"
}
