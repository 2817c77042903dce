#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmd-web's page in a headless browser: every port is a cell, on trees, tori, dragonflies, irregular
# fabrics and regions, with all LIDs there are, and with no switch; it asks nobody but fmd-web, keeps
# to its policy, and axe-core finds nothing serious; a spine that is lost is shown, and one that is back.
# shellcheck disable=SC2154
set -u

. "$(dirname "$0")/fmsim.bash"
need grep node python3
[ -x "$build/fmd-web" ] && [ -x "$build/fmd-perf" ] || skip "there is no fmd-web"
url=http://127.0.0.1:$ports/
web=

look() { # WHAT URL...
	local rc=0
	node "$top/tests/page/look.mjs" "$@" >"$dir/look.out" 2>&1 || rc=$?
	[ $rc != 77 ] || skip "$(cat "$dir/look.out")"
	[ $rc = 0 ] || fail "look $1: $(cat "$dir/look.out")"
	echo "ok: $1 ${3:-}: $(tr '\n' ' ' <"$dir/look.out")"
}
start_web() {
	[ -z "$web" ] || end_job "$web"
	"$build/fmd-web" --listen="127.0.0.1:$ports" --state-dir="$dir/state" >"$dir/web.out" 2>&1 &
	web=$!
	await "$dir/web.out" "listens at"
}
# fmd on a fabric of its own.
start_sim() { # FABRIC
	rm -rf "$dir/state"
	: >"$dir/fmd.out"
	"$build/fmd" --transport="sim:$1,clock=wall" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
	fmd=$!
	await "$dir/fmd.out" "${2:-SUBNET UP}"
	start_web
}
gen() {
	"$build/fmroute" gen "$@" >"$dir/net" || fail "fmroute gen $*"
}

# ---- nobody is there; then a tree, and counters
gen pgft 2 4,3 1,2 1,1
mkdir "$dir/state"
start_web
look without "$url" "no fmd answers at"
simulate "$dir/net"
printf 'sweep_interval = 0\naudit = 0s\n' >"$dir/fmd.conf"
start_fmd
exec_on_fmsim host-1-1 "$build/fmd-perf" --state-dir="$dir/state" -v --interval=1 >"$dir/perf.out" 2>&1 &
perf=$!
await "$dir/perf.out" "sweep [0-9]*: 36 of 36 ports"
look whole "$url" "$build/fmsim"
end_job $perf
end_job "$fmd"

# ---- fabrics of other kinds, with no counters
others() { # NAME CONFIGURATION
	printf '%s\n' "sweep_interval = 0" "${@:2}" >"$dir/fmd.conf"
	start_sim "$dir/net"
	look cells "$url" "$1"
	end_job "$fmd"
}
gen torus 4x3x3 1
others torus
gen dragonfly 4 2 2
others dragonfly 'chain = { "dragonfly", "dfsssp" }'
gen random 20 5 2 7
others irregular
gen join ft=pgft:2:4,6:1,4:1,1 t=torus:4x4:2 'ft-spine-*~t-sw-*~4'
others regions "$(grep -v '^#' "$top/conf/examples/regions-tree-torus.conf")"
"$build/fmroute" gen pgft 2 6,6 1,3 1,1 | "$build/fmroute" fail - --links=20% --switches=1 --seed=3 >"$dir/net"
others hurt
python3 "$top/tests/page/all_lids.py" >"$dir/net"
others "49,151 LIDs" 'lmc = 7'
python3 "$top/tests/page/all_lids.py" 385 >"$dir/net"
printf 'sweep_interval = 0\nlmc = 7\n' >"$dir/fmd.conf"
start_sim "$dir/net" "unicast LIDs ran out"
look without "$url" "unicast LIDs ran out"
end_job "$fmd"

# ---- no switch at all
cp "$top/tests/fabrics/two-cas.net" "$dir/net"
printf 'sweep_interval = 0\n' >"$dir/fmd.conf"
start_sim "$dir/net"
look without "$url" "There is no switch in this subnet"
end_job "$web"
[ "$(said "$dir/web.out" "Sanitizer")" = 0 ] || fail "$(cat "$dir/web.out")"
