#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Two SMs with a Redis each, a relay that finds either, an agent at the relay.  Whatever dies, an
# agent has all that was published, and events reach it; it fetches nothing whole a second time, and
# who takes over publishes no row: an SM's cable, an SM with its Redis, an SM alone, a Redis alone; both
# ways.  Who goes from one Redis to the other is missed by nobody.
set -u
# shellcheck source=tests/integration/fmsim.bash
. "$(dirname "$0")/fmsim.bash"
[ -x "$build/fmd-agent" ] || skip "there is no fmd-agent"
need_tools python3 redis-cli
command -v redis-server >/dev/null && grep -qs "define HAVE_HIREDIS 1" "$build/config.h" || skip "Redis is absent"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
declare -A host=([one]=host-1-1 [two]=host-2-2) other=([one]=two [two]=one) port redis fmd
port[one]=$ports
port[two]=$((${port[one]} + 1))
port[way]=$((${port[one]} + 2))

start_redis() { # NAME [OPTION...]
	local name=$1
	shift
	rm -f "$dir/$name.sock"
	redis-server "$top/conf/redis-fmd.conf" --unixsocket "$dir/$name.sock" --dir "$dir" --bind 127.0.0.1 \
		--repl-ping-replica-period 1 --logfile "$dir/$name.out" "$@" >/dev/null 2>&1 &
	redis[$name]=$!
	until_true said_by_redis "$name" PING PONG
}
said_by_redis() { # NAME COMMAND ANSWER
	redis-cli -s "$dir/$1.sock" $2 2>/dev/null | grep -q "$3"
}
# That of an SM keeps what it is told beyond its own death.
start_redis_of_sm() { # NAME
	start_redis "$1" --port "${port[$1]}" --appendonly yes --appendfsync no --appenddirname "aof-$1"
}
start_fmd() { # NAME PRIORITY
	local name=$1
	printf '%s\n' "sm_priority = $2" "sm_key = 0x5ec7e75ec7e75ec7" "sa_key = 0x5ec7e7" "sminfo_polling_timeout = 300ms" \
		"sweep_interval = 500ms" "control_socket = '$dir/$name.socket'" "log_level = info" \
		"dist_files = '$dir/$name.files'" "dist_redis = '$dir/$name.sock'" \
		"dist_redis_peer = '127.0.0.1:${port[${other[$name]}]}'" >"$dir/$name.conf"
	chmod 600 "$dir/$name.conf"
	: >"$dir/fmd-$name.out"
	exec_on_fmsim "${host[$name]}" "$build/fmd" --config="$dir/$name.conf" --engine=updn --state-dir="$dir/$name.state" \
		>"$dir/fmd-$name.out" 2>&1 &
	fmd[$name]=$!
}
end() { # PROCESS
	kill -9 "$1"
	wait "$1" 2>/dev/null
}
place() { # NAME EXPRESSION: is it true of its place of Redis?
	"$build/fmctl" --socket="$dir/$1.socket" --json dist 2>/dev/null |
		python3 -c 'import json,sys; p=[x for x in json.load(sys.stdin)["places"] if x["kind"] == "redis"][0]; sys.exit(not eval(sys.argv[1], {}, p))' "$2" 2>/dev/null
}
published_by() { # NAME
	place "$1" 'state == "published" and epoch > 0'
}
followed_by() { # NAME
	place "$1" 'state == "following" and follows.startswith("127.0.0.1:")' && said_by_redis "$1" role connected
}
# What the agent has is what the SM has published in its folder, too, but for the header.
agent_has_all_of() { # NAME
	on_fmsim host-3-3 "$build/fmd-agent" --once --file="$dir/by-files" "files:$dir/$1.files" 2>/dev/null || return 1
	cmp -s <(tail -c +257 "$dir/by-files") <(tail -c +257 "$dir/paths")
}
link=unlink
event_reaches_agent() { # NAME of who is master
	local before
	before=$(redis-cli -s "$dir/$1.sock" xlen fmd:log)
	fmsim_say $link 'host-4-1[1]' >/dev/null
	[ $link = unlink ] && link=relink || link=unlink
	until_true more_than "$before" "$1"
	until_true agent_has_all_of "$1"
	[ "$(said "$dir/agent.out" "all fetched")" = 1 ] || fail "all was fetched again"
}
more_than() { # N NAME: so many entries has its log
	[ "$(redis-cli -s "$dir/$2.sock" xlen fmd:log)" -gt "$1" ]
}
# What a Redis is told reaches those that follow it when its master likes: after a sync, with the first answer to a
# question that it puts once a second.  Who dies before that takes the rows along.
hold_the_same() { # NAME NAME
	local last
	last=$(last_entry "$1")
	[ -n "$last" ] && [ "$last" = "$(last_entry "$2")" ]
}
last_entry() { # NAME
	redis-cli -s "$dir/$1.sock" xrevrange fmd:log + - count 1
}
told_by() { # NAME: bytes, since it was started
	"$build/fmctl" --socket="$dir/$1.socket" --json dist 2>/dev/null |
		python3 -c 'import json,sys; print([x["bytes"] for x in json.load(sys.stdin)["places"] if x["kind"] == "redis"][0])'
}
takes_over() { # NAME, bytes that it had told: it tells who the SM is, 32 bytes, and no row
	until_true published_by "$1"
	[ $(($(told_by "$1") - $2)) -le 32 ] ||
		fail "$1 publishes more than who it is: $("$build/fmctl" --socket="$dir/$1.socket" --json dist)"
}

no_path_of() { # NAME: who has handed the subnet over answers no more
	! on_fmsim host-3-3 "$build/tests/integration/sa_ask" "$(lid_of "${host[$1]}")" get "slid=$(lid_of host-3-3)" \
		"dlid=$(lid_of host-1-1)" 2>&1 | grep -q "PathRecord dump"
}

# What stunnel does with two "connect" and "failover = prio": the first that takes the call.
cat >"$dir/way.py" <<'END'
import socket, sys, threading


def pump(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
    except OSError:
        pass
    for s in a, b:
        try:
            s.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def serve(client):
    for port in sys.argv[2:]:
        try:
            server = socket.create_connection(("127.0.0.1", int(port)))
        except OSError:
            continue
        threading.Thread(target=pump, args=(server, client), daemon=True).start()
        pump(client, server)
        return
    client.close()


with socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=16) as s:
    print("listens", flush=True)
    while True:
        threading.Thread(target=serve, args=(s.accept()[0],), daemon=True).start()
END
python3 "$dir/way.py" "${port[way]}" "${port[one]}" "${port[two]}" >"$dir/way.out" &
await "$dir/way.out" listens

start_redis_of_sm one
start_redis_of_sm two
start_fmd one 5
await "$dir/fmd-one.out" "SUBNET UP"
start_redis relay --port 0 --replicaof 127.0.0.1 "${port[way]}"
start_fmd two 3
until_true published_by one
until_true followed_by two
exec_on_fmsim host-3-3 "$build/fmd-agent" -v --backup-after=0.2 --jitter=0.1 --poll=1 --file="$dir/paths" \
	"redis:unix:$dir/relay.sock" >"$dir/agent.out" 2>&1 &
await "$dir/agent.out" "all fetched"
event_reaches_agent one
echo "ok: the standby's Redis follows the master's"

# Its Redis is no first of a chain any more, and what it has is the other's.
is_below() { # NAME NAME: the Redis of the one is a copy of that of the other
	followed_by "$1" && said_by_redis "$2" role master && hold_the_same "$1" "$2"
}
# It is no stale one, of the epoch that this one has published last, and says what its SA says.
file_is_fresh_by() { # NAME
	[ "$(stat -c %Y "$dir/paths")" != 0 ] &&
		"$build/fmctl" --socket="$dir/$1.socket" --json dist verify --file="$dir/paths" >"$dir/verify.out" 2>&1 &&
		grep -q '"current": true' "$dir/verify.out"
}
ms_since() { # NANOSECONDS
	echo "$((($(date +%s%N) - $1) / 1000000)) ms"
}
until_true hold_the_same one two
fmsim_say unlink 'host-1-1[1]' >/dev/null
pulled=$(date +%s%N)
until_true is_below one two
below=$(ms_since "$pulled")
until_true file_is_fresh_by two
echo "ok: an SM loses its cable: its Redis is below the other's after $below, the agent's file says what the other's SA says after $(ms_since "$pulled")"
before=$(redis-cli -s "$dir/two.sock" xlen fmd:log)
fmsim_say unlink 'host-4-2[1]' >/dev/null
until_true more_than "$before" two
until_true file_is_fresh_by two
fmsim_say relink 'host-4-2[1]' >/dev/null
until_true more_than $((before + 1)) two
until_true file_is_fresh_by two
fmsim_say relink 'host-1-1[1]' >/dev/null
until_true published_by one
until_true is_below two one
until_true file_is_fresh_by one
event_reaches_agent one
echo "ok: the cable is back"

until_true hold_the_same one two
end "${fmd[one]}"
end "${redis[one]}"
had=$(told_by two)
takes_over two "$had"
event_reaches_agent two
echo "ok: an SM dies with its Redis"

start_redis_of_sm one
start_fmd one 2
until_true followed_by one
event_reaches_agent two
until_true hold_the_same one two
kill "${fmd[one]}"
wait "${fmd[one]}"
start_fmd one 5
takes_over one 0
until_true no_path_of two
until_true followed_by two
event_reaches_agent one
echo "ok: it comes back, follows, and is handed the subnet"

# what ExecStopPost of the unit does
had=$(told_by two)
until_true hold_the_same one two
end "${fmd[one]}"
words=$(sed -n 's/^#ExecStopPost=.*\(REPLICAOF\) .*/\1/p' "$top/conf/fmd-redis.conf")
redis-cli -s "$dir/one.sock" "${words:-no}" 127.0.0.1 "${port[two]}" | grep -q OK || fail "Redis does not take \"$words\""
takes_over two "$had"
until_true said_by_redis one role connected
event_reaches_agent two
echo "ok: an SM dies, its Redis lives"

start_fmd one 2
until_true followed_by one
end "${redis[two]}"
start_redis_of_sm two
event_reaches_agent two
until_true followed_by one
echo "ok: a Redis dies, its SM lives"

# who goes over to the other's Redis, which is a copy, is not missing
relay_goes_to() { # NAME
	redis-cli -s "$dir/relay.sock" REPLICAOF 127.0.0.1 "${port[$1]}" | grep -q OK || fail "the relay does not follow $1"
	until_true said_by_redis relay role connected
}
n_asked() { # NAME: how often its Redis was asked who follows it
	redis-cli -s "$dir/$1.sock" info commandstats | sed -n 's/^cmdstat_info:calls=\([0-9]*\),.*/\1/p'
}
was_asked() { # NAME N: so often by others than us
	asked_by_us=$((asked_by_us + 1))
	[ $(($(n_asked "$1") - asked_by_us)) -ge "$2" ]
}
relay='f["name"] == "127.0.0.1:0"'
relay_goes_to two
until_true place two "any($relay and f['state'] == 'following' for f in followers)"
asked_by_us=$(n_asked one)
relay_goes_to one
until_true was_asked one 2
until_true place two "any($relay and f['state'] == 'following' for f in followers)"
until_true "$build/fmctl" --socket="$dir/two.socket" dist >/dev/null
grep -q "127.0.0.1:0 follows .* no more" "$dir/fmd-two.out" && fail "who is below the other's Redis is called gone"
end "${redis[relay]}"
until_true place two "any($relay and f['state'] == 'gone' for f in followers)"
echo "ok: who follows the other's Redis is counted"

kill "${fmd[one]}" "${fmd[two]}"
wait "${fmd[one]}" || fail "SIGTERM ends fmd with $?"
wait "${fmd[two]}" || fail "SIGTERM ends fmd with $?"
