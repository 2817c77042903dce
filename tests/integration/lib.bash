# SPDX-License-Identifier: BSD-2-Clause
# What the tests on ibsim share; sourced.  Sets $top, $build and $dir, a folder
# of the test's own that goes when it ends.
# shellcheck shell=bash

top=${FMD_TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${FMD_BUILD:-$PWD}
# shellcheck source=dev/ibsim-lib.sh
. "$top/dev/ibsim-lib.sh"
dir=$(mktemp -d)
pids=() # of programs in the background
cd "$dir" || exit 1 # a killed program leaves umad2sim's files behind
trap leave EXIT

leave() {
	local pid
	for pid in "${pids[@]}"; do
		kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null
	done
	ibsim_stop
	rm -rf "$dir"
}

skip() {
	echo "$*: skipped"
	exit 77
}

# What the test needs besides ibsim.
need() {
	local tool
	ibsim_available || skip "ibsim is absent"
	for tool in "$@"; do
		command -v "$tool" >/dev/null 2>&1 || skip "$tool is absent"
	done
}

fail() {
	echo "FAIL: $*"
	tail -n 20 "$dir"/*.out 2>/dev/null
	exit 1
}

simulate() {
	ibsim_start "$@" || fail "ibsim does not take $1"
	trap leave EXIT
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

# The same for a command that must succeed.
until_true() {
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		"$@" && return 0
		sleep 0.2
	done
	fail "never true: $*"
}

# A program in the background, attached to NODE; $! is its own process id.
start_on_ibsim() {
	exec_on_ibsim "$@" &
	pids+=("$!")
}

first_host() {
	sed -n 's/^\(Hca\|Ca\)[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\2/p' "$1" | head -n 1
}
