#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Two SMs, each with a place of its own.  The master loses its cable, and its place looks as it did:
# agents leave it for that of the SM that their ports obey, or say that none has its paths, and their
# files are stale; when the cable is back, they are fresh; and the same for an fmd that dies.  With
# --port-guid nobody looks whom the port obeys.
set -u
# shellcheck source=tests/integration/dist.bash
. "$(dirname "$0")/dist.bash"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"

start_fmd() { # NAME NODE PRIORITY; its process id in $fmd
	printf '%s\n' "sm_priority = $3" "sminfo_polling_timeout = 300ms" "sweep_interval = 500ms" \
		"control_socket = '$dir/$1.socket'" "dist_files = '$dir/$1.files'" >"$dir/$1.conf"
	if has_redis; then
		echo "dist_redis = '$dir/$1.sock'" >>"$dir/$1.conf"
	fi
	: >"$dir/fmd-$1.out"
	exec_on_fmsim "$2" "$build/fmd" --config="$dir/$1.conf" --engine=updn --state-dir="$dir/$1.state" >"$dir/fmd-$1.out" 2>&1 &
	fmd=$!
}
start_agent() { # NAME [OPTION...] RELAY...
	local name=$1
	shift
	exec_on_fmsim host-3-3 "$build/fmd-agent" -v --backup-after=0.2 --jitter=0.1 --file="$dir/$name" "$@" >"$dir/$name.out" 2>&1 &
}
says_of_itself() { # NAME STATE
	"$build/fmctl" --socket="$dir/$1.socket" dist >"$dir/dist.out" 2>&1
	grep -q " $2 " "$dir/dist.out" || return 1
}
# The file is as new as a file can be, and has what the SM has published, but for the header.
is_fresh_by() { # FILE NAME
	[ "$(stat -c %Y "$dir/$1")" != 0 ] || return 1
	on_fmsim host-3-3 "$build/fmd-agent" --once --port-guid="$guid" --file="$dir/by-files" "files:$dir/$2.files" 2>/dev/null || return 1
	cmp -s <(tail -c +257 "$dir/by-files") <(tail -c +257 "$dir/$1")
}
is_as_the_sa_says() { # FILE NAME
	"$build/fmctl" --socket="$dir/$2.socket" dist verify --file="$dir/$1" >"$dir/verify.out" 2>&1
}
told() { # TIMES AGENT
	[ "$(grep -c "the port 0x[0-9a-f]* obeys the SM at LID" "$dir/$2.out")" = "$1" ]
}
is_stale() { # FILE
	[ "$(stat -c %Y "$dir/$1")" = 0 ]
}
# Those who have one place, whose SM rules no more: it is told once for each TIME.
are_left_alone() { # TIME
	local agent
	for agent in $followers; do
		case $agent in
		ab | ba) continue ;;
		esac
		until_true told "$1" "$agent"
		until_true is_stale "$agent"
		told "$1" "$agent" || fail "$agent tells it more than once: $(cat "$dir/$agent.out")"
	done
}

guid=$(sed -n 's/^\[[0-9]*\].*"host-3-3"\[1\](\([0-9a-f]*\)).*/0x\1/p' "$dir/net" | head -n 1)
[ -n "$guid" ] || fail "host-3-3 has no GUID"
followers="alone ab ba"
if has_redis; then
	start_redis a
	start_redis b
	followers+=" redis"
	start_agent redis "redis:unix:$dir/a.sock"
fi
start_fmd a host-1-1 14
a=$fmd
await "$dir/fmd-a.out" "SUBNET UP"
until_true says_of_itself a published
start_fmd b host-2-2 3
b=$fmd
start_agent alone "files:$dir/a.files"
start_agent blind --port-guid="$guid" "files:$dir/a.files"
start_agent ab --poll=1 "files:$dir/a.files" "files:$dir/b.files"
start_agent ba --poll=1 "files:$dir/b.files" "files:$dir/a.files"
for agent in $followers blind; do # of the two places the standby's has nothing yet: nobody waits there
	until_true is_fresh_by "$agent" a
done
on_fmsim host-3-3 "$build/fmd-agent" --once --file="$dir/once" "files:$dir/a.files" || fail "--once finds no paths of the SM that rules"

fmsim_say unlink 'host-1-1[1]' >/dev/null
await "$dir/fmd-b.out" "SUBNET UP"
until_true says_of_itself b published
until_true says_of_itself a "not master"
for agent in ab ba; do
	until_true is_fresh_by "$agent" b
	until_true is_as_the_sa_says "$agent" b
done
echo "ok: agents follow the SM that their ports obey"

are_left_alone 1
is_stale blind && fail "an agent with --port-guid finds its file stale"
grep -q "obeys the SM" "$dir/blind.out" && fail "an agent with --port-guid looks whom the port obeys"
on_fmsim host-3-3 "$build/fmd-agent" --once --file="$dir/once" "files:$dir/a.files" 2>"$dir/once.out"
code=$?
[ $code = 2 ] && grep -q "obeys the SM at LID" "$dir/once.out" || fail "--once ends with $code: $(cat "$dir/once.out")"
echo "ok: where none has the paths of that SM, files are stale"

fmsim_say relink 'host-1-1[1]' >/dev/null
until_true says_of_itself a published
until_true says_of_itself b "not master"
for agent in $followers; do
	until_true is_fresh_by "$agent" a
	until_true is_as_the_sa_says "$agent" a
done
echo "ok: files are fresh when their SM is back"

kill -9 "$a"
wait "$a" 2>/dev/null
are_left_alone 2
echo "ok: an fmd that has died"
