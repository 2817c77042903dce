#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The parts of the page that need no browser: what fmd tells as arrays, places, colours, addresses.
# shellcheck disable=SC2154
set -u

. "$(dirname "$0")/script.bash"
trap 'rm -rf "$dir"' EXIT
need_tools node
[ -e "$top/web/page/node_modules/esbuild" ] || skip "npm's packages are absent (npm ci --ignore-scripts in web/page)"
(cd "$top/web/page" && TMPDIR=$dir node test/run.mjs) >"$dir/units.out" 2>&1 || { cat "$dir/units.out"; fail "the page's units"; }
grep -E "^# (tests|pass) " "$dir/units.out"
