#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The configurations of opensm_conf.bash on ibsim, which keeps some fields of PortInfo only.
# Exit 77 (skipped) where opensm, ibsim or smpquery is absent.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(dirname "$0")/lib.bash"
need opensm smpquery

at() { on_ibsim "$@"; }
exec_at() { exec_on_ibsim "$@"; }
simulate_net() { simulate "$1" "$dir/ibsim.out"; }
stop_net() { ibsim_stop; }
# shellcheck source=tests/integration/opensm_conf.bash
. "$top/tests/integration/opensm_conf.bash"
