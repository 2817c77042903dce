# SPDX-License-Identifier: BSD-2-Clause
# What scripts on simulators share; sourced by lib.bash and fmsim.bash.  Sets $top,
# $build and $dir, a folder of the script's own that goes when it ends.
# shellcheck shell=bash

top=${FMD_TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${FMD_BUILD:-$PWD}
dir=$(mktemp -d)
pids=() # of programs in the background

skip() {
	echo "$*: skipped"
	exit 77
}

need_tools() {
	local tool
	for tool in "$@"; do
		command -v "$tool" >/dev/null 2>&1 || skip "$tool is absent"
	done
}

fail() {
	echo "FAIL: $*"
	tail -n 20 "$dir"/*.out 2>/dev/null
	exit 1
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
