# SPDX-License-Identifier: BSD-2-Clause
# What scripts on simulators share; sourced by lib.bash and fmsim.bash.  Sets $top,
# $build and $dir, a folder of the script's own that goes when it ends.
# shellcheck shell=bash

top=${FMD_TOP:-$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)}
build=${FMD_BUILD:-$PWD}
dir=$(mktemp -d)
# Sixteen ports from this one on are the script's own: not those of a script beside it, whose process
# is the next, nor those that the kernel gives to clients (from 32768 on).
# shellcheck disable=SC2034
ports=$((12000 + $$ % 1250 * 16))

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
	grep -h -A 12 "ERROR: [A-Za-z]*Sanitizer\|runtime error:" "$dir"/*.out 2>/dev/null
	tail -n 60 "$dir"/*.log 2>/dev/null # of OpenSM and ibsim
	exit 1
}

# Wait until so many lines (one) of the file have the words, a minute at most.
await() {
	local file=$1 words=$2 n=${3:-1} tries
	for ((tries = 0; tries < 600; tries++)); do
		[ "$(said "$file" "$words")" -ge "$n" ] && return 0
		sleep 0.1
	done
	fail "no \"$words\" in $(basename "$file")"
}

# How many lines of the file have the words.
said() {
	local n
	n=$(grep -c -- "$2" "$1" 2>/dev/null)
	echo "${n:-0}"
}

# Wait until a command succeeds.
until_true() {
	local tries
	for ((tries = 0; tries < 300; tries++)); do
		"$@" && return 0
		sleep 0.2
	done
	fail "never true: $*"
}

# all_over KIND COMMAND...: of the events of that kind, which COMMAND... (fmctl) shows, each has one end, and there are some.
all_over() {
	"${@:2}" events --kind="$1" --last=1000 --json | python3 -c '
import json, sys
events = [e for e in json.load(sys.stdin) if "n" in e]
begun = sorted(e["n"] for e in events if "ends" not in e)
sys.exit(not begun or begun != sorted(e["ends"] for e in events if "ends" in e))'
}

# Programs in the background that have not ended: the number of one that has may be somebody
# else's by now.
running() {
	jobs -rp
	jobs -sp
}
runs() {
	[[ $'\n'$(running)$'\n' == *$'\n'"$1"$'\n'* ]]
}

# SIGSTOP, and wait until each thread has stopped: until then one of them may go on sending.
stand_still() {
	kill -STOP "$1"
	until_true stands_still "$1"
}
stands_still() {
	! cat "/proc/$1/task"/*/stat | sed 's/.*) //' | grep -qv "^T"
}

# SIGTERM, and after 10 s SIGKILL: an OpenSM may wait for answers for ever.
end_job() {
	local tries
	for ((tries = 0; tries < 100; tries++)); do
		runs "$1" || break
		[ $tries != 0 ] || kill "$1"
		sleep 0.1
	done
	! runs "$1" || kill -9 "$1"
	wait "$1" 2>/dev/null
}

# What is still there when the script ends, but the simulator.
kill_jobs() {
	local pid
	for pid in $(running); do
		[ "$pid" = "$1" ] || kill -9 "$pid"
		[ "$pid" = "$1" ] || wait "$pid" 2>/dev/null
	done
}
