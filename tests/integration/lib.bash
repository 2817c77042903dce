# SPDX-License-Identifier: BSD-2-Clause
# What the scripts on ibsim share; sourced.
# shellcheck shell=bash

# shellcheck source=tests/integration/script.bash
. "$(dirname "${BASH_SOURCE[0]}")/script.bash"
# shellcheck source=dev/ibsim-lib.sh
. "$top/dev/ibsim-lib.sh"
cd "$dir" || exit 1 # a killed program leaves umad2sim's files behind
trap leave EXIT

leave() {
	kill_jobs "$IBSIM_PID"
	ibsim_stop
	rm -rf "$dir"
}

# What the script needs besides ibsim.
need() {
	[ -x "$build/tests/integration/umad_probe" ] || skip "nothing is built for libibumad"
	ibsim_available || skip "ibsim is absent"
	need_tools "$@"
}

simulate() {
	ibsim_start "$@" || fail "ibsim does not take $1"
	trap leave EXIT
}

# A program in the background, attached to NODE; $! is its own process id.
start_on_ibsim() {
	exec_on_ibsim "$@" &
}

first_host() {
	sed -n 's/^\(Hca\|Ca\)[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\2/p' "$1" | head -n 1
}
