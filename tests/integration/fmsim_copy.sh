#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A standby has a copy of what outlives the master, by copy_socket and copy_from: what hosts have
# registered is there after a take-over, and nobody is asked to register again.
# Exit 77 (skipped) where infiniband-diags is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need saquery

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"

declare -A asked_before
conf() { # NAME PRIORITY
	local from=first
	[ "$1" = second ] || from=second
	cat >"$dir/$1.conf" <<END
control_socket = '$dir/$1.control'
copy_socket = '$dir/$1.copy'
copy_from = '$dir/$from.copy'
sm_key = 0x42
sm_priority = $2
sminfo_polling_timeout = 500ms
log_level = debug
debug = 'ha,sa,sweep,ports'
END
}
start_sm() { # NAME NODE WORDS
	asked_before[$1]=0
	: >"$dir/$1.out" # the one before has said SUBNET UP, too
	exec_on_fmsim "$2" "$build/fmd" --transport=umad --config="$dir/$1.conf" --state-dir="$dir/$1.state" \
		>"$dir/$1.out" 2>&1 &
	eval "$1=$!"
	await "$dir/$1.out" "$3"
}
ask() { # NODE SM_NODE LINE...: its answers
	local node=$1 sm=$2
	shift 2
	printf '%s\n' "$@" >"$dir/questions"
	run_on "$node" "$build/tests/integration/sa_mads" "$(lid_of "$sm")" whole 5000 1 <"$dir/questions"
}
guid_of() {
	printf '%016x' "0x$(sed -n "s/.*[[:space:]]\"$1\"\[1\](\([0-9a-f]*\)).*/\1/p" "$dir/net" | head -n 1)"
}
join() { # NODE SM_NODE GROUP
	ask "$1" "$2" "join|2|0x38|0x130c7|0|0|0:ff12401bffff0000000000000000000$3 16:fe80000000000000$(guid_of "$1") 32:00000b1b 40:ffff 48:01" >"$dir/joined"
	grep -q "^join|010302810000" "$dir/joined" || fail "$1 does not join group $3: $(cut -c1-80 "$dir/joined")"
}
members() { # who is in which group
	run_on host-4-4 saquery -m
}
registered() {
	members | grep -E "MGID|PortGid|Mlid|JoinState" | sort
}
ha() { # NAME FIELD...
	"$build/fmctl" --socket="$dir/$1.control" --json ha
}
in_sync() {
	ha "$1" | grep -q '"in_sync": *true'
}
asked() {
	grep -c "is set for ClientReregister" "$dir/$1.out"
}

questions() { # FROM TO
	local i guid
	guid=$(guid_of host-3-3)
	for ((i = $1; i < $2; i++)); do
		printf 'g%04x|2|0x38|0x130c7|0|0|0:ff12401bffff0000000000000000%04x 16:fe80000000000000%s 32:00000b1b 40:ffff 48:01\n' \
			"$i" "$i" "$guid"
	done
}
answered() {
	sed -n 's/^g\([0-9a-f]*\)|010302810000.*/\1/p' "$dir/answers" | sort
}
kept() { # the groups by the last digits of their MGID
	run_on host-4-4 saquery -g | sed -n 's/.*MGID.*:\([0-9a-f]*\)$/\1/p' | sort
}
# A busy machine may keep a standby from being in sync when the master goes: then it is to ask hosts.
was_in_sync() { # NAME: at its last take-over
	grep "what hosts registered with the master is here" "$dir/$1.out" | tail -n 1 | grep -q "is here$"
}
asks_as_it_should() { # NAME WHAT
	local n new
	n=$(asked "$1")
	new=$((n - ${asked_before[$1]:-0}))
	asked_before[$1]=$n
	if was_in_sync "$1"; then
		[ $new = 0 ] || fail "$2: nothing is lost, and $new hosts are asked to register again"
	else
		[ $new -gt 0 ] || fail "$2: $1 was not in sync, and asks nobody to register again"
		echo "$2: $1 was not in sync, and asks hosts to register again"
	fi
}
promises_are_kept() { # NAME WHAT
	was_in_sync "$1" || return 0
	shift
	answered >"$dir/promised"
	kept >"$dir/kept"
	comm -23 "$dir/promised" "$dir/kept" >"$dir/lost"
	[ -s "$dir/lost" ] && fail "$1: of $(wc -l <"$dir/promised") joins that were answered $(wc -l <"$dir/lost") are lost: $(head -n 3 "$dir/lost")"
}

conf first 2
conf second 1
start_sm first host-1-1 "SUBNET UP"
start_sm second host-2-1 "standing by"
until_true in_sync second
join host-3-1 host-1-1 1
join host-3-2 host-1-1 1
join host-4-1 host-1-1 2
registered >"$dir/before"
[ "$(grep -c PortGid "$dir/before")" -ge 3 ] || fail "members are missing: $(cat "$dir/before")"
"$build/fmctl" --socket="$dir/first.control" isolate link:spine-1:1 --yes --wait >"$dir/isolated" 2>&1 ||
	fail "a cable is not isolated: $(cat "$dir/isolated")"
until_true cmp -s "$dir/first.state/isolated" "$dir/second.state/isolated"
until_true cmp -s "$dir/first.state/tables" "$dir/second.state/tables"
until_true in_sync second
echo "ok: a copy beside the master"

took_over() { # NAME WHAT: nothing is lost, and no table is written
	registered >"$dir/after"
	cmp -s "$dir/before" "$dir/after" || fail "$2: what was registered is not what it was: $(diff "$dir/before" "$dir/after")"
	asks_as_it_should "$1" "$2"
	grep -q "Sets: .*\(ForwardingTable\|SLtoVL\|P_Key\)" "$dir/$1.out" && fail "$2: tables are written: $(grep Sets: "$dir/$1.out")"
	echo "ok: $2"
}

kill -KILL "$first"
wait "$first" 2>/dev/null
await "$dir/second.out" "SUBNET UP"
took_over second "the master is killed"
"$build/fmctl" --socket="$dir/second.control" isolate | grep -q spine-1 || fail "the cable is not isolated any more"

# It is the better one, and gets the subnet back when it has all that the other has.
start_sm first host-1-1 "SUBNET UP"
took_over first "the first is back"

# Its host answers, it does not.
until_true in_sync second
n=$(said "$dir/second.out" "SUBNET UP")
stand_still "$first"
# it is asked meanwhile, and has lost the subnet when it could answer
questions 8192 8200 >"$dir/questions"
exec_on_fmsim host-3-3 timeout 30 "$build/tests/integration/sa_mads" "$(lid_of host-1-1)" whole 4000 8 \
	<"$dir/questions" >"$dir/answers" &
joiner=$!
await "$dir/second.out" "SUBNET UP" $((n + 1))
took_over second "the master stands still"
n=$(said "$dir/first.out" "SUBNET UP")
kill -CONT "$first"
await "$dir/first.out" "SUBNET UP" $((n + 1))
until_true in_sync second
wait "$joiner" 2>/dev/null
promises_are_kept first "it goes on"
took_over first "it goes on"

# A standby that stands still keeps an answer waiting, once.
stand_still "$second"
join host-4-2 host-1-1 3
registered >"$dir/before"
kill -CONT "$second"
until_true in_sync second
echo "ok: a standby stands still"

over() { # NAME KIND
	all_over "$2" "$build/fmctl" --socket="$dir/$1.control"
}
stand_still "$second"
join host-4-3 host-1-1 4 # it has something to have
await "$dir/first.out" "has been behind for 5 s: no answer to a host waits for it"
over first copy-behind && fail "a standby has caught up, and it stands still"
kill -CONT "$second"
until_true over first copy-behind
until_true in_sync second
kill -KILL "$second"
wait "$second" 2>/dev/null
await "$dir/first.out" "has no copy any more"
over first copy-lost && fail "a standby has a copy again, and it is gone"
start_sm second host-2-1 "standing by"
until_true over first copy-lost
until_true in_sync second
echo "ok: a standby that is behind, or has no copy, is told of, and when that is over"

# Masters are killed while hosts join: what has been answered is there.
rules=first node=host-1-1 other=second other_node=host-2-1
for ((round = 0; round < ${FMD_COPY_KILLS:-3}; round++)); do
	until_true in_sync $other
	n=$(said "$dir/$other.out" "SUBNET UP")
	questions $((4096 + round * 1000)) $((5096 + round * 1000)) >"$dir/questions"
	exec_on_fmsim host-3-3 timeout 30 "$build/tests/integration/sa_mads" "$(lid_of $node)" whole 1000 4 \
		<"$dir/questions" >"$dir/answers" &
	joiner=$!
	until_true grep -q "|010302810000" "$dir/answers"
	sleep "0.$((RANDOM % 4))$((RANDOM % 10))"
	kill -KILL "${!rules}"
	wait "${!rules}" 2>/dev/null
	await "$dir/$other.out" "SUBNET UP" $((n + 1))
	kill "$joiner" 2>/dev/null
	wait "$joiner" 2>/dev/null
	promises_are_kept $other "round $round"
	echo "ok: $other takes over, $(wc -l <"$dir/promised") joins were answered"
	asks_as_it_should $other "round $round"
	start_sm $rules $node "standing by"
	set -- $rules $node $other $other_node
	rules=$3 node=$4 other=$1 other_node=$2
	n=$(said "$dir/$other.out" "SUBNET UP")
	if [ $other = first ]; then # it is the better one
		await "$dir/first.out" "SUBNET UP"
		set -- $rules $node $other $other_node
		rules=$3 node=$4 other=$1 other_node=$2
	fi
done

# Between the two: the first HELLO tells of a term that is to come, the first connection is never closed towards
# the master, and it is closed towards the standby.
between() { # LISTEN_AT CONNECT_TO
	exec python3 - "$1" "$2" <<'END'
import os, select, socket, struct, sys

def dial():
    up = socket.socket(socket.AF_UNIX)
    up.connect(sys.argv[2])
    return up

def take(sock, n):
    data = b""
    while len(data) < n:
        more = sock.recv(n - len(data))
        if not more:
            sys.exit("a HELLO that ends")
        data += more
    return data

def pass_on(a, b):
    while True:
        for s in select.select([a, b], [], [])[0]:
            data = s.recv(65536)
            if not data:
                return
            (b if s is a else a).sendall(data)

door = socket.socket(socket.AF_UNIX)
door.bind(sys.argv[1])
door.listen(8)
kept = []
for n in range(1000):
    down, up = door.accept()[0], dial()
    kept.append(up)
    head = take(down, 21)
    hello = take(down, struct.unpack(">I", head[:4])[0])
    if n == 0: # version, guid, term
        term = struct.unpack(">Q", hello[16:24])[0] + 10**13
        hello = hello[:16] + struct.pack(">Q", term) + hello[24:]
    up.sendall(head + hello)
    if n == 1: # till the master has given it a place
        up.recv(1)
    else:
        pass_on(down, up)
    down.close()
END
}
term_of() { # NAME
	ha "$1" | sed -n 's/.*"term": *\([0-9]*\).*/\1/p'
}
kill "${!other}"
wait "${!other}" 2>/dev/null
term=$(term_of $rules)
between "$dir/between" "$dir/$rules.copy" 2>"$dir/between.err" &
until_true [ -S "$dir/between" ]
conf $other 1
sed -i "s|^copy_from.*|copy_from = '$dir/between'|" "$dir/$other.conf"
n=$(said "$dir/$rules.out" "discovering anew")
start_sm $other $other_node "standing by"
await "$dir/$rules.out" "a standby has seen a master of a later term: nothing is sent before it is known who rules"
until_true in_sync $other
[ "$(term_of $rules)" = $((10**13 + 1)) ] || fail "the term is $(term_of $rules) after 10^13, $term before"
[ "$(said "$dir/$rules.out" "discovering anew")" = "$n" ] || fail "it is master, and discovers anew"
await "$dir/$rules.out" "has no copy any more: it has connected anew"
[ "$(ha $rules | grep -c '"guid"')" = 1 ] || fail "who connects anew keeps its place of before: $(ha $rules)"
join host-4-2 $node 5
echo "ok: a later term, and a connection whose end nobody tells"

# Who is configured in another way gets no copy, and is told why.
kill "${!other}"
wait "${!other}" 2>/dev/null
conf $other 1
echo "lmc = 1" >>"$dir/$other.conf"
start_sm $other $other_node "standing by"
await "$dir/$other.out" "no copy of the master by .*: the two SMs do not have the same LMC"
await "$dir/$rules.out" "gets no copy: the two SMs do not have the same LMC"
"$build/fmctl" --socket="$dir/$other.control" ha | grep -q "^copy *none: " || fail "fmctl ha says nothing of it"
echo "ok: another configuration"
