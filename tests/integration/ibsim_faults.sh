#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A daemon on ibsim while cables are pulled and put back: a host, a link of a
# leaf, a whole spine.  Each time ibnetdiscover, dump_lfts and a walker find
# what is left well routed, and afterwards all LIDs and tables as before.
# Then fmctl's answers, a heavy sweep that sends no Set, reloading of good and
# bad configurations, and SIGTERM.
set -u
# shellcheck source=tests/integration/lib.bash
. "$(dirname "$0")/lib.bash"
need ibnetdiscover dump_lfts python3

host=host-1-1
conf=$dir/fmd.conf

configure() {
	printf "sweep_interval = 500ms\ncontrol_socket = '%s'\n" "$dir/socket" >"$conf"
	[ $# = 0 ] || echo "$*" >>"$conf"
}

ctl() {
	"$build/fmctl" --socket="$dir/socket" "$@" 2>"$dir/ctl.err"
}

# A field of an answer: "status sweep.sets" (python reads what we call JSON).
asked() {
	ctl "$1" --json | python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].split("."):
    value = value[int(key) if isinstance(value, list) else key]
print(value)' "$2"
}

# What the walker sees of the live fabric is what is expected of it.
is_routed() {
	on_ibsim $host ibnetdiscover >"$dir/seen" 2>/dev/null &&
		on_ibsim $host dump_lfts >"$dir/lfts" 2>/dev/null &&
		python3 "$top/tests/integration/walk_tables.py" "$dir/seen" "$dir/lfts" >"$dir/walk.out" 2>&1 &&
		grep -q "^$1 " "$dir/walk.out"
}

# Names of the nodes with their LIDs, as others see them.
lids() {
	on_ibsim $host ibnetdiscover | sed -n 's/^\[.*"[SH]-\([0-9a-f]*\)".* lid \([0-9]*\) [0-9]x.*/\1 \2/p' | sort -u
}

tables() {
	on_ibsim $host dump_lfts 2>/dev/null | sed 's/DR path.*guid/guid/' | sort
}

# A fault, what is seen with it; back again, what is seen then, and all as before.
pull_and_put_back() {
	local what=$1 with=$2 port
	shift 2
	for port in "$@"; do
		ibsim_say "Unlink \"$what\"[$port]"
	done
	until_true is_routed "$with"
	for port in "$@"; do
		ibsim_say "ReLink \"$what\"[$port]"
	done
	until_true is_routed "$whole"
	until_true same_as_before
	echo "ok: $what, ports $*: pulled and put back"
}

same_as_before() {
	[ "$(lids)" = "$lids_before" ] && [ "$(tables)" = "$tables_before" ]
}

"$build/fmroute" gen pgft 2 4,8 1,4 1,1 >"$dir/net" || fail "fmroute gen"
simulate "$dir/net" "$dir/ibsim.log"
configure
start_on_ibsim $host "$build/fmd" --config="$conf" --engine=fattree,updn --state-dir="$dir/state" >"$dir/fmd.out" 2>&1
fmd=$!
await "$dir/fmd.out" "SUBNET UP"
whole="switches=12 cas=32 routers=0 cabled=128"
until_true is_routed "$whole"
lids_before=$(lids) tables_before=$(tables)
[ "$(wc -l <<<"$lids_before")" = 44 ] || fail "not 44 LIDs seen"

pull_and_put_back host-3-2 "switches=12 cas=31 routers=0 cabled=126" 1
pull_and_put_back leaf-2 "switches=12 cas=32 routers=0 cabled=126" 5
pull_and_put_back spine-2 "switches=11 cas=32 routers=0 cabled=112" 1 2 3 4 5 6 7 8
pull_and_put_back leaf-4 "switches=11 cas=28 routers=0 cabled=112" 5 6 7 8
# The sweep of an interval may see one of the eight before its trap comes; not all of them.
grep -q "\(lost\|came\): .* by trap 128 of \"" "$dir/fmd.out" || fail "no trap seen"

converged() { [ "$(asked status converged)" = True ]; }
# Others may see all as before while fmd has not looked at what came back last ...
ctl sweep heavy --wait --timeout=60 >/dev/null
code=$?
[ $code = 0 ] || [ $code = 5 ] || fail "sweep: exit code $code: $(cat "$dir/ctl.err")"
until_true converged # ... or writes the tables of what was gone
[ "$(asked status sm_state)" = master ] || fail "status: sm_state"
[ "$(asked status sweep.engine)" = fattree ] || fail "status: engine"
pairs=$(asked routes regions.0.reachable_pairs)
[ "$pairs" = 1376 ] || fail "routes: $pairs pairs: $(cat "$dir/ctl.err")"
ctl status | grep -q "^state  *master, subnet up" || fail "status as text"
ctl events | grep -q "notice  SUBNET UP" || fail "events as text"
# A sweep of what was unfinished (a cable may flap) may have ended since: one more is asked for then.
heavy_sweep_sets() {
	ctl sweep heavy --wait --timeout=60 >/dev/null || fail "sweep: exit code $?: $(cat "$dir/ctl.err")"
	sets=$(ctl status --json | python3 -c '
import json, sys
sweep = json.load(sys.stdin)["sweep"]
print(sweep["sets"] if sweep["scope"] == "heavy" else "")')
	[ -n "$sets" ]
}
until_true heavy_sweep_sets
[ "$sets" = 0 ] || fail "a heavy sweep over an unchanged fabric sends $sets Sets"
ctl nonsense >/dev/null
code=$?
[ $code = 2 ] && [ -s "$dir/ctl.err" ] || fail "an unknown command: exit code $code"
echo "ok: fmctl"

configure "sm_priority = 99"
kill -HUP "$fmd"
await "$dir/fmd.out" "the old configuration stays"
grep -q "fmd.conf:3:" "$dir/fmd.out" || fail "the bad line is not named"
ctl reload >/dev/null
code=$?
[ $code = 2 ] && grep -q "fmd.conf:3:" "$dir/ctl.err" || fail "reload of a bad configuration: exit code $code"
[ "$(asked status subnet_up)" = True ] || fail "the subnet is not up after a bad configuration"
configure "sm_priority = 7"
ctl reload --wait --timeout=60 >/dev/null || fail "reload: exit code $?: $(cat "$dir/ctl.err")"
until_true is_routed "$whole"
has_priority() { on_ibsim $host sminfo 2>/dev/null | grep -q "priority $1"; }
until_true has_priority 7
echo "ok: good and bad configurations"

kill -TERM "$fmd"
wait "$fmd"
code=$?
[ $code = 0 ] && grep -q "stopped by signal 15" "$dir/fmd.out" || fail "SIGTERM: exit code $code"
[ ! -e "$dir/socket" ] || fail "the control socket is left behind"
! grep -E "ERROR: (Address|Leak)Sanitizer|runtime error" "$dir/fmd.out" || fail "the sanitizer found something"
echo "ok: SIGTERM"

# Without ibsim's own libraries, which have errors of their own.
if command -v valgrind >/dev/null 2>&1 && ! ldd "$build/fmd" | grep -q 'lib[at]san' && ! nm "$build/fmd" | grep -q __asan_; then
	valgrind -q --leak-check=full --show-leak-kinds=definite,indirect --errors-for-leak-kinds=definite,indirect \
		--error-exitcode=99 "$build/fmd" --once --engine=fattree,updn --transport=sim:"$dir/net" \
		--state-dir="$dir/state2" >"$dir/valgrind.out" 2>&1 || fail "valgrind: $?"
	echo "ok: valgrind"
fi
