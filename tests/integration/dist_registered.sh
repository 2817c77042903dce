#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Addresses that hosts register: fmd-agent tells the SA those of a file, other hosts find them in
# their files of paths, with QPN, flags and P_Key; they change, and go at a clean end.  A record for
# a GID of another port is refused and named; of two that claim an address the first keeps it, the
# administrator's file wins, and fmctl tells of both.  A thousand hosts register, exchange
# addresses, get other QPNs, withdraw, lose their cables: the file of each is the truth, also after
# fmd was killed.
set -u
# shellcheck source=tests/integration/dist.bash
. "$(dirname "$0")/dist.bash"

hosts=${REGISTERED_HOSTS:-1000}
"$build/fmroute" gen pgft 2 32,32 1,32 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
conf() { # NAME OTHER PRIORITY
	cat <<END
dist_files = '$dir/dist'
dist_addresses = '$dir/addresses'
sweep_interval = 1s
sminfo_polling_timeout = 500ms
sm_key = 0x42
sm_priority = $3
control_socket = '$dir/$1socket'
copy_socket = '$dir/$1copy'
copy_from = '$dir/$2copy'
END
}
conf "" second- 2 >"$dir/fmd.conf"
conf second- "" 1 >"$dir/second.conf"
if has_redis; then
	start_redis first
	echo "dist_redis = '$dir/first.sock'" >>"$dir/fmd.conf"
fi
echo "10.2.0.9 host-4-1" >"$dir/addresses"
start() {
	: >"$dir/fmd.out"
	exec_on_fmsim host-1-1 "$build/fmd" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 3>&- &
	fmd=$!
	await "$dir/fmd.out" "SUBNET UP"
}
start

guid_of() { # NODE: 16 hexadecimal digits
	printf '%016x' "0x$(sed -n "s/^\[[0-9]*\].*\"$1\"\[1\](\([0-9a-f]*\)).*/\1/p" "$dir/net" | head -n 1)"
}
# The hardware address of an interface of NODE.
hardware() { # NODE FLAGS:QPN
	printf '%s:fe:80:00:00:00:00:00:00:%s' "$2" "$(guid_of "$1" | sed 's/../&:/g; s/:$//')"
}
# Has the file of NAME the line?
has() { # NAME WORDS
	"$build/tests/integration/registering" "$dir/$1" | grep -q -- "$2"
}
has_not() {
	! has "$@"
}
agent() { # NAME NODE [OPTION...]
	local name=$1 node=$2
	shift 2
	exec_on_fmsim "$node" "$build/fmd-agent" -v --poll=0.2 --backup-after=0 --jitter=0 --file="$dir/$name" "$@" "files:$dir/dist" >"$dir/$name.out" 2>&1 &
	pid=$!
}

# ---- one agent registers, another is told
cat >"$dir/a" <<END
10.2.0.1/16 $(hardware host-2-1 80:00:00:48)   # of ib0
fd00::2:1   $(hardware host-2-1 80:00:00:48)
END
agent one host-2-1 --register="$dir/a" --lease=400
one=$pid
agent two host-3-1
two=$pid
guid=0x$(guid_of host-2-1) lid=$(lid_of host-2-1)
until_true has two "^10.2.0.1 $guid $lid 0x80000048 0xffff"
until_true has two "^fd00::2:1 $guid $lid 0x80000048 0xffff"
await "$dir/one.out" "10.2.0.1 is registered for 400 s"
fmctl dist >"$dir/answer" || fail "fmctl dist: exit code $?"
grep -q "^registered  2 addresses" "$dir/answer" || fail "$(cat "$dir/answer")"
if has_redis; then
	by_redis() {
		on_fmsim host-3-2 "$build/fmd-agent" --once --file="$dir/by-redis" "redis:unix:$dir/first.sock" &&
			has by-redis "^10.2.0.1 $guid $lid 0x80000048 0xffff"
	}
	until_true by_redis
fi
echo "ok: an agent registers, another is told"

cat >"$dir/a.new" <<END
10.2.0.2/16 $(hardware host-2-1 80:00:00:49)
fd00::2:1   $(hardware host-2-1 80:00:00:49)
END
mv "$dir/a.new" "$dir/a"
until_true has two "^10.2.0.2 $guid $lid 0x80000049 0xffff"
until_true has two "^fd00::2:1 $guid $lid 0x80000049 0xffff"
until_true has_not two "^10.2.0.1 "
echo "nonsense" >"$dir/a.new"
mv "$dir/a.new" "$dir/a"
await "$dir/one.out" "a:1: \"nonsense\" is no IPv4 or IPv6 address; what is registered stays"
has two "^10.2.0.2 $guid" || fail "a file with a mistake takes addresses away"
echo "ok: what changes is told, and a mistake changes nothing"

# ---- fmd has lost all that was registered: the agent sees that hosts are not told any more
registered() { # HOW_MANY
	fmctl --json dist | python3 -c 'import json,sys; sys.exit(json.load(sys.stdin)["places"][0]["registered"] != int(sys.argv[1]))' "$1"
}
kill -KILL "$fmd"
wait "$fmd" 2>/dev/null
rm -rf "$dir/state"
start
until_true registered 2
until_true has two "^10.2.0.2 $guid $lid 0x80000049 0xffff"
echo "ok: what an SM has lost is registered again"

# ---- the administrator's file wins; the first of two keeps an address
echo "10.2.0.9/16 $(hardware host-5-1 00:00:00:50)
10.2.0.2/16 $(hardware host-5-1 00:00:00:50)" >"$dir/b"
agent three host-5-1 --register="$dir/b"
three=$pid
await "$dir/fmd.out" "port 0x$(guid_of host-5-1) (host-5-1) claims 10.2.0.9, which the file of addresses gives to port 0x$(guid_of host-4-1) (host-4-1)"
await "$dir/fmd.out" "port 0x$(guid_of host-5-1) (host-5-1) claims 10.2.0.2, which is registered by port $guid (host-2-1)"
await "$dir/three.out" "hosts are told that 10.2.0.2 is of the port $guid"
has two "^10.2.0.2 $guid" || fail "an address is taken over"
fmctl dist >"$dir/answer"
code=$?
[ $code = 5 ] || fail "fmctl dist with contested addresses: exit code $code"
grep -q "host-5-1) claims 10.2.0.9" "$dir/answer" || fail "$(cat "$dir/answer")"
fmctl trouble >"$dir/answer"
grep -q "address-contested.*host-5-1) claims 10.2.0.2" "$dir/answer" || fail "$(cat "$dir/answer")"
echo "ok: who has an address keeps it"

# ---- a clean end withdraws; what it kept another from is the other's then
kill "$one"
wait "$one" || fail "an agent that is ended exits with $?"
until_true has two "^10.2.0.2 0x$(guid_of host-5-1) .* 0x00000050"
until_true has_not two "^fd00::2:1"
kill "$three"
wait "$three"
until_true has_not two "^10.2.0"
kill "$two"
wait "$two"
echo "ok: a clean end withdraws"

"$build/fmd-agent" --register --once files:/x 2>"$dir/said.out" && fail "--register --once is taken"
grep -q -- "--register goes on" "$dir/said.out" || fail "no sentence about --register --once"
"$build/fmd-agent" --register="$dir/a" --lease=1 2>"$dir/said.out" && fail "a lease of a second is taken"
grep -q -- "--lease=1: expected" "$dir/said.out" || fail "no sentence about --lease"
echo "ok: bad words are refused"

# ---- many hosts
mkfifo "$dir/commands"
"$build/tests/integration/registering" "$dir/net" "$hosts" "$dir/dist" "$dir/many" <"$dir/commands" >"$dir/many.out" 2>&1 &
many=$!
exec 3>"$dir/commands"
n_files=0
files() { # WHAT
	echo "files" >&3
	n_files=$((n_files + 1))
	for ((tries = 0; tries < 900; tries++)); do
		[ "$(said "$dir/many.out" "^files")" -ge $n_files ] && break
		kill -0 "$many" 2>/dev/null || fail "$1: $(tail -n 1 "$dir/many.out")"
		sleep 0.1
	done
	echo "ok: $1: $(tail -n 1 "$dir/many.out")"
}
some=$((hosts / 10))
echo "register 0 $hosts" >&3
files "$hosts hosts register"
echo "swap 0 $((hosts / 2))" >&3
files "half of them exchange addresses"
echo "qpn 0 $hosts" >&3
files "all have another QPN"
echo "forge 3 4" >&3
await "$dir/fmd.out" "is refused an address: 10.1.0..* is registered for a GID that this port has not"
echo "claim 5 6" >&3
files "a forged record and a claim change nothing"
echo "unclaim 5 6" >&3
echo "withdraw 0 $some" >&3
files "a tenth withdraws"
for ((i = some; i < some + 8; i++)); do
	fmsim_say unlink "host-$(((i + 1) / 32 + 1))-$(((i + 1) % 32 + 1))[1]" >/dev/null
done
echo "gone $some $((some + 8))" >&3
files "eight lose their cables"
# What was published is what is so: nothing is told again.
nothing_is_told() { # NAME BYTES
	"$build/fmctl" --socket="$dir/$1socket" --json dist |
		python3 -c 'import json,sys; p=json.load(sys.stdin)["places"][0]; sys.exit(p["epoch"] == 0 or p["registered"] < 2 or p["bytes"] != int(sys.argv[1]))' "$2"
}
kill -KILL "$fmd"
wait "$fmd" 2>/dev/null
start
until_true nothing_is_told "" 0
files "fmd is killed and started anew"
for ((i = some; i < some + 8; i++)); do
	fmsim_say relink "host-$(((i + 1) / 32 + 1))-$(((i + 1) % 32 + 1))[1]" >/dev/null
done
echo "back $some $((some + 8))" >&3
files "their cables are in again"

# ---- a standby that has a copy takes over: all that is told is who the SM is now
exec_on_fmsim host-32-32 "$build/fmd" --config="$dir/second.conf" --state-dir="$dir/second.state" >"$dir/second.out" 2>&1 3>&- &
second=$!
in_sync() {
	"$build/fmctl" --socket="$dir/second-socket" --json ha 2>/dev/null | grep -q '"in_sync": *true'
}
until_true in_sync
kill -KILL "$fmd"
wait "$fmd" 2>/dev/null
await "$dir/second.out" "SUBNET UP"
until_true nothing_is_told second- 32
files "the SM is killed, and a standby takes over"
kill "$second"
wait "$second"
exec 3>&-
wait "$many" || fail "registering: $(tail -n 1 "$dir/many.out")"
