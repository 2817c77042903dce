#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# What an event asks of the switches of a fat tree of 648 hosts, on fmsim: a leaf and a spine that
# lose their power and have it again, where switches tell the states of their ports in one table,
# where they do not, and where they say that they do and do not answer.  The exact figures are in
# tests/sweep/check_port_states.c; here repeated traps and looks at our own port are counted, too.
set -u

. "$(dirname "$0")/fmsim.bash"
need awk

"$build/fmroute" gen pgft 2 18,36 1,18 1,1 >"$dir/net" || exit 1
printf "sweep_interval = 0s\naudit = 0s\n" >"$dir/fmd.conf"
converged() { fmctl status --json | grep -q '"converged": true'; }

up() { # port_states
	fmsim_stop
	simulate "$dir/net" --port_states="$1"
	rm -rf "$dir/state"
	start_fmd
	until_true converged
	look
}
# What has been brought up has not fallen since: each switch says so.
look() {
	fmctl sweep light --wait >/dev/null || fail "sweep"
	until_true converged
}
down() {
	kill "$fmd"
	wait "$fmd"
}
# gets [ATTRIBUTE]: how many agents have answered, of all or of one
gets() {
	fmsim_say smps | awk -v of="${1:-}" 'of == "" || $1 == of { n += $3 } END { print n + 0 }'
}
# event WORDS COMMAND...: Gets till the log has the words and the subnet is up
event() {
	local words=$1 before tables n
	shift
	began=$SECONDS
	before=$(gets)
	tables=$(gets 0x0034)
	n=$(wc -l <"$dir/fmd.out")
	[ $# = 0 ] || fmsim_say "$@" >/dev/null || fail "fmsim: $*"
	told() { tail -n +$((n + 1)) "$dir/fmd.out" | grep -q -- "$words"; }
	until_true told
	until_true converged
	all=$(($(gets) - before))
	of_tables=$(($(gets 0x0034) - tables))
	echo "$words: $all Gets, $of_tables of tables"
}

# So many, and a few for each second that the event lasts: fmd looks at its own port, and leaves
# whose trap was lost with the switch tell it again.
within() { # GETS
	[ "$all" -le $(($1 + 5 * (SECONDS - began + 1))) ]
}

# A sweep takes 3 s where a request has met a switch in its last moment: it has ended before the
# switch is back, on a slow machine, too.
gone=12s
up yes
event 'lost: switch "leaf-36"' reboot leaf-36 for $gone
within 60 || fail "a leaf lost takes $all Gets"
[ "$of_tables" -ge 18 ] || fail "18 spines are asked for $of_tables tables"
event 'came: switch "leaf-36"'
within 260 || fail "a leaf that comes back takes $all Gets"
look
event 'lost: switch "spine-18"' reboot spine-18 for $gone
within 130 || fail "a spine lost takes $all Gets" # 108, and 4 for each leaf whose trap was lost
[ "$of_tables" -ge 36 ] || fail "36 leaves are asked for $of_tables tables"
event 'came: switch "spine-18"'
within 260 || fail "a spine that comes back takes $all Gets"
grep 'offers a table' "$dir/fmd.out" && fail "a table that is right is said to be wrong"
down
echo "ok: with tables"

up no
event 'lost: switch "leaf-36"' reboot leaf-36 for $gone
[ "$all" -ge 600 ] && [ "$all" -le 760 ] || fail "without tables a leaf lost takes $all Gets"
[ "$of_tables" = 0 ] || fail "a table is asked for that nobody offers"
down
echo "ok: without tables"

up silent
event 'lost: switch "leaf-36"' reboot leaf-36 for $gone
event 'came: switch "leaf-36"'
event 'lost: switch "leaf-36"' reboot leaf-36 for $gone
event 'came: switch "leaf-36"'
n=$(grep -c 'offers a table of the states of its ports (SwitchPortStateTable) and does not answer for it: its ports are read one by one' "$dir/fmd.out")
[ "$n" -ge 1 ] || fail "nobody is told that tables are not answered for: $(cat "$dir/fmd.out")"
[ "$(grep 'offers a table' "$dir/fmd.out" | grep -o '"[^"]*" (0x[0-9a-f]*)' | sort | uniq -d)" = "" ] || fail "it is told twice of one switch"
fmctl status --json | grep -q '"n_switches": 54\|"switches": 54' || fail "not all switches: $(fmctl status)"
down
echo "ok: tables that are not answered for"
