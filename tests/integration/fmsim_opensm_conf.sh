#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The configurations of opensm_conf.bash on fmsim, which keeps all of PortInfo and minds M_Keys.
# Exit 77 (skipped) where opensm or smpquery is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need opensm smpquery

at() { on_fmsim "$@"; }
exec_at() { exec_on_fmsim "$@"; }
simulate_net() { simulate "$1"; }
stop_net() { fmsim_stop; }
# shellcheck source=tests/integration/opensm_conf.bash
. "$top/tests/integration/opensm_conf.bash"
