#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmd as a service: the unit is what systemd takes, sd_notify says what it should
# when it should; a daemon on a fabric whose nodes have odd names answers all that
# fmctl asks, and refuses what it does not take.  Runs in the build directory.
set -eu
. "${srcdir:-..}/tests/integration/fmroute.bash"
fmctl() { "$bin/fmctl" --state-dir="$tmp/state" "$@"; }
daemon=
trap '[ -z "$daemon" ] || kill $daemon 2>/dev/null; rm -rf "$tmp"' EXIT

log() { sed 's/^/fmd: /' "$tmp/log" | tail -n 20; }

# ---- the unit
sed "s#^\(Exec[A-Za-z]*=\).*/\(fmd\|fmctl\)#\1$bin/\2#" "$bin/conf/fmd.service" >fmd.service
[ "$(grep -c "^Exec[A-Za-z]*=$bin/fmd" fmd.service)" = 2 ] || fail "the unit does not start fmd: $(cat fmd.service)"
grep -q "^ExecReload=$bin/fmctl reload$" fmd.service || fail "the unit does not reload: $(cat fmd.service)"
user=$(sed -n 's/^u \([^ ]*\) .*/\1/p' "$top/conf/fmd.sysusers")
grep -q "^User=$user$" fmd.service && grep -q "GROUP=\"$user\"" "$top/conf/70-fmd.rules" ||
	fail "unit, sysusers.d and udev do not agree on the user"
if command -v systemd-analyze >/dev/null 2>&1; then
	systemd-analyze verify --man=no --recursive-errors=no "$tmp/fmd.service" >unit 2>&1 || fail "the unit: $(cat unit)"
	[ ! -s unit ] || fail "the unit: $(cat unit)"
	echo "ok: the unit"
fi

# ---- the unit beside it
sed "s#^\(ExecStart=\).*/fmd-perf#\1$bin/fmd-perf#" "$bin/conf/fmd-perf.service" >fmd-perf.service
grep -q "^ExecStart=$bin/fmd-perf" fmd-perf.service && grep -q "^User=$user$" fmd-perf.service ||
	fail "the unit does not start fmd-perf: $(cat fmd-perf.service)"
if [ -x "$bin/fmd-perf" ] && command -v systemd-analyze >/dev/null 2>&1; then
	systemd-analyze verify --man=no --recursive-errors=no "$tmp/fmd-perf.service" >unit 2>&1 || fail "the unit: $(cat unit)"
	[ ! -s unit ] || fail "the unit: $(cat unit)"
	echo "ok: the unit of fmd-perf"
fi

if [ -x "$bin/fmd-web" ]; then
	sed "s#^\(ExecStart=\).*/fmd-web#\1$bin/fmd-web#" "$bin/conf/fmd-web.service" >fmd-web.service
	grep -q "^ExecStart=$bin/fmd-web" fmd-web.service && grep -q "^SupplementaryGroups=$user$" fmd-web.service ||
		fail "the unit does not start fmd-web: $(cat fmd-web.service)"
	if command -v systemd-analyze >/dev/null 2>&1; then
		systemd-analyze verify --man=no --recursive-errors=no "$tmp/fmd-web.service" >unit 2>&1 || fail "the unit: $(cat unit)"
		[ ! -s unit ] || fail "the unit: $(cat unit)"
		echo "ok: the unit of fmd-web"
	fi
fi

# ---- what all units may reach, 0 nothing and 10 everything: 2.0 at most, with what the examples add, too; fmd 1.8
exposed() { # AT MOST, tenths; FILE...
	most=$1
	shift
	cat "$@" | sed 's#@[a-z]*@#/usr/sbin#g' >exposed.service
	systemd-analyze security --offline=true --no-pager --threshold="$most" "$tmp/exposed.service" >unit 2>&1 ||
		fail "$*: more than $most tenths: $(tail -n 1 unit)"
}
if command -v systemd-analyze >/dev/null 2>&1; then
	for f in "$top"/conf/*.service.in "$top"/conf/*.service; do exposed 20 "$f"; done
	# its user is another than fmd's, so that what a relay sends gets nowhere near keys
	grep -q -x 'u fmd-agent .*' "$top/conf/fmd-agent.sysusers" && grep -q -x 'User=fmd-agent' "$top/conf/fmd-agent.service.in" ||
		fail "unit and sysusers.d of fmd-agent do not agree on the user"
	for f in "$top"/conf/fmd-agent-*.conf; do exposed 20 "$top/conf/fmd-agent.service.in" "$f"; done
	exposed 18 "$top/conf/fmd.service.in"
	exposed 20 "$top/conf/fmd.service.in" "$top/conf/fmd-redis.conf"
	echo "ok: what units may reach"
fi

# ---- a daemon; one host's name is Latin-1, another's turns letters around and commands a terminal, a switch's UTF-8
"$bin/fmroute" gen pgft 2 4,4 1,2 1,1 >plain.net
LC_ALL=C sed "s/\"host-1-1\"/\"$(printf 'h\344st')\"/g; s/\"host-1-2\"/\"$(printf 'h\302\233\342\200\256x')\"/g; s/\"spine-1\"/\"$(printf 'sp\303\244n')\"/g" plain.net >net
cat >listen.py <<'END'
import socket, sys
s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
s.bind(sys.argv[1])
print("bound", flush=True)
while True:
    said = s.recv(4096).decode()
    print(said.replace("\n", " "), flush=True)
    if "STOPPING=1" in said:
        break
END
listener=
if command -v python3 >/dev/null 2>&1 && grep -q '^#define HAVE_SYSTEMD 1' "$bin/config.h"; then
	python3 listen.py "$tmp/notify" >said 2>&1 &
	listener=$!
	comes_true grep -q bound said || fail "nobody listens: $(cat said)"
	export NOTIFY_SOCKET="$tmp/notify" WATCHDOG_USEC=200000
fi
"$bin/fmd" --transport=sim:net --config=none --plugin-dir="$bin/plugins/engines/.libs" --state-dir="$tmp/state" >"$tmp/log" 2>&1 &
daemon=$!
unset NOTIFY_SOCKET WATCHDOG_USEC
is_up() { ! kill -0 $daemon 2>/dev/null || fmctl status --json 2>/dev/null | grep -q '"subnet_up": true'; }
comes_true is_up || { log; fail "the subnet does not come up"; }
kill -0 $daemon 2>/dev/null || { log; fail "fmd is gone"; }

# ---- LIDs that OpenSM remembered: taken once, and not again when they have changed since
guid=$(sed -n 's/.*"host-2-1"\[1\](\([0-9a-f]*\)).*/0x\1/p' plain.net | head -n 1)
lid_of_host() {
	printf '%s 0x%04x 0x%04x\n\n' "$guid" "$1" "$1" >guid2lid
	printf 'guid2lid = "guid2lid"\nlog_level = info\n' >lids.conf
	"$bin/fmd" --transport=sim:plain.net --config=lids.conf --plugin-dir="$bin/plugins/engines/.libs" \
		--state-dir="$tmp/lids" --dump="$tmp/dump" --once >lids.log 2>&1 || fail "guid2lid: $(cat lids.log)"
	sed -n "s/^\(0x[0-9a-f]*\) .*portguid 0x0*${guid#0x}: 'host-2-1'.*/\1/p" dump/lfts | sort -u
}
[ "$(lid_of_host 119)" = 0x0077 ] || fail "the LID of guid2lid is not taken: $(lid_of_host 119)"
grep -q '1 LIDs taken from guid2lid' lids.log || fail "nothing is said of guid2lid: $(cat lids.log)"
[ "$(lid_of_host 99)" = 0x0077 ] || fail "guid2lid takes back a LID: $(lid_of_host 99)"
echo "ok: guid2lid"

# ---- every command answers, as text and as JSON, whatever nodes are called
for command in status "status --all" "status sa" nodes "nodes host-*" "nodes --trouble" links "links host-2-1" "links --degraded" \
	fabric progress "sweep --wait" "sweep light --wait" "reload --wait" routes regions partitions "partitions pkey=0xffff" "path 1 2" "path $(printf 'sp\303\244n') host-2-1" \
	"verify" "verify --readback" "verify readback=0" events "events after=1" "sweep light" "sweep scope=heavy" reload help; do
	# shellcheck disable=SC2086
	fmctl $command >out 2>err || { log; fail "fmctl $command: $(cat err)"; }
	[ -s out ] || fail "fmctl $command says nothing"
	# shellcheck disable=SC2086
	fmctl $command --json >out 2>err || { log; fail "fmctl $command --json: $(cat err)"; }
done
fmctl partitions pkey=0x7fff >out
grep -q 'h?st' out || fail "a name that is no UTF-8: $(cat out)"
grep -q 'h??x' out || fail "a name that is not to be printed: $(cat out)"
fmctl path "$(printf 'sp\303\244n')" 1 | grep -q "$(printf 'sp\303\244n')" || fail "a name that is UTF-8 is not shown as it is"
echo "ok: commands"

# ---- keys that are no secrets
printf 'm_key = 0x1234\n' >keys.conf
chmod 644 keys.conf
"$bin/fmd" --check --config=keys.conf >out 2>&1 || fail "--check: $(cat out)"
grep -q 'keys.conf:1: m_key stands in a file that anybody can read (mode 0644): chmod 640 ' out || fail "a key for all: $(cat out)"
grep -q 'keys.conf:1: m_key is set, but sa_key is 1, its default' out || fail "a key with the default sa_key: $(cat out)"
echo "ok: keys"

# ---- members of a group may look, who can be others than root
echo 'control_group = "no such group"' >group.conf
"$bin/fmd" --check --config=group.conf >out 2>&1 || fail "--check: $(cat out)"
grep -q 'group.conf:1: control_group = no such group: there is no such group' out || fail "a group that is none: $(cat out)"
echo 'control_group = "daemon"' >group.conf
as_other() { setpriv --reuid=65534 --regid=65534 --groups="$1" "$bin/fmctl" --socket="$tmp/group.sock" "${@:2}" >out 2>err; }
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null 2>&1 && chmod 755 "$tmp" && gid=$(getent group daemon | cut -d: -f3) &&
	setpriv --reuid=65534 --regid=65534 --clear-groups "$bin/fmctl" --help >/dev/null 2>&1; then
	echo 'control_socket = "group.sock"' >>group.conf
	"$bin/fmd" --transport=sim:plain.net --config=group.conf --plugin-dir="$bin/plugins/engines/.libs" --state-dir="$tmp/group" >group.log 2>&1 &
	other=$!
	trap '[ -z "$daemon$other" ] || kill $daemon $other 2>/dev/null; rm -rf "$tmp"' EXIT
	comes_true as_other "$gid" nodes || fail "a member may not look: $(cat err group.log)"
	grep -q '^ca  *host-1-1 ' out || fail "a member sees: $(cat out)"
	rc=0
	as_other "$gid" sweep || rc=$?
	[ $rc = 2 ] && grep -q "sweep changes something: that is root's and " err || fail "a member sweeps: $rc, $(cat err)"
	rc=0
	as_other 65534 status || rc=$?
	[ $rc = 2 ] && grep -q 'you may not talk to fmd at .*group.sock: root, and look, members of the group daemon may' err ||
		fail "a stranger: $rc, $(cat err)"
	"$bin/fmctl" --socket="$tmp/group.sock" sweep --wait >/dev/null || fail "root may not sweep"
	kill $other
	wait $other || fail "the fmd of a group ends with $?"
	other=
	echo "ok: a group"
fi

# ---- what it does not take
refuses() {
	words=$1
	shift
	rc=0
	fmctl "$@" >out 2>err || rc=$?
	[ $rc = 2 ] && grep -qF -- "$words" err || { log; fail "fmctl $*: $rc, $(cat err)"; }
}
refuses "status takes no arguments: x is one too many" status x=1
refuses "events takes no afte, but after" events afte=3
refuses "after= is the number of an event" events after=x
refuses "after= is the number of an event" events after=-1
refuses "there is no such partition" partitions pkey=0x1ffff
refuses "there is no such partition" partitions pkey=0x1234
refuses "there is no such partition" partitions pkey=x
refuses "readback is 1 or 0" verify readback=maybe
refuses "dry_run is 1 or 0" drain dry_run=please
refuses "no tables wait to be taken up" drain
refuses 'a sweep is "light" or "heavy", not medium' sweep medium
refuses 'a sweep is "light" or "heavy"' sweep scope=3
refuses "say from where to where" path 1
refuses '"nobody" is no LID, GUID or name of a port that is up' path 1 nobody
refuses 'status has no part "nosuch", but as_read, ' status nosuch
refuses "from is the number" nodes from=x
refuses "links takes no nam, but name" links nam=x
refuses "brackets hold numbers" nodes 'a[]'
refuses "there is no command nosuch: help lists them" nosuch
refuses "there is no command stats: did you mean status?" stats
refuses "last= is how many events" events last=0
refuses "--last=0: write 1..1000" events --last=0
refuses "--truble is no option of fmctl: did you mean --trouble?" nodes --truble
refuses "--last lacks its value" events --last
refuses "--yes takes no value" reload --yes=1
refuses "--nosuch is no option of fmctl; see" reload --nosuch
refuses "nodes takes no --last" nodes --last 3
rc=0
fmctl status >/dev/full 2>err || rc=$?
[ $rc = 1 ] && grep -q 'cannot write to standard output' err || fail "a full disk: $rc, $(cat err)"
echo 'control_socket = "other.sock"' >other.conf
for how in --config=none --config=other.conf "--config=none --once"; do
	rc=0
	# shellcheck disable=SC2086
	"$bin/fmd" --transport=sim:net $how --state-dir="$tmp/state" >err 2>&1 || rc=$?
	[ $rc = 1 ] && grep -q "state directory $tmp/state is in use by process $daemon: " err ||
		fail "a second fmd on one state directory, $how: $rc, $(cat err)"
done
for dir in state nowhere; do
	"$bin/fmd" --transport=sim:plain.net --config=none --plugin-dir="$bin/plugins/engines/.libs" --state-dir="$tmp/$dir" --dry-run >out 2>&1 ||
		fail "a dry run beside a daemon: $(cat out)"
done
[ ! -e nowhere ] || fail "a dry run makes a state directory"
dry_run() {
	"$bin/fmd" --transport=sim:plain.net --config=none --plugin-dir="$bin/plugins/engines/.libs" --state-dir="$tmp/nowhere" --dry-run "$@"
}
dry_run >out 2>/dev/null || fail "a dry run: $?"
grep -q '^host-2-1  *PortInfo 1; LID 0 to [0-9]*; 1 link to ACTIVE$' out || fail "a dry run does not name host-2-1: $(cat out)"
if command -v python3 >/dev/null 2>&1; then
	dry_run --json 2>/dev/null | python3 -c '
import json, sys
all = json.load(sys.stdin)
assert all["sets"] == sum(all["by_attribute"].values()) == sum(sum(n["sets"].values()) for n in all["nodes"])' ||
		fail "dry run --json does not add up"
fi
dry_run --summary >out 2>/dev/null && [ "$(wc -l <out)" -le 8 ] || fail "dry run --summary: $(cat out)"
rc=0
"$bin/fmd" --summary --check 2>err || rc=$?
[ $rc = 2 ] && grep -q -- '--summary goes with --dry-run' err || fail "--summary alone: $rc, $(cat err)"
echo "ok: refusals"

# ---- no file may grow: no store, and a subnet all the same
bare=
trap '[ -z "$daemon$bare" ] || kill $daemon $bare 2>/dev/null; rm -rf "$tmp"' EXIT
mkdir bare
(
	ulimit -f 0
	exec "$bin/fmd" --transport=sim:plain.net --config=none --plugin-dir="$bin/plugins/engines/.libs" --state-dir="$tmp/bare" >/dev/null 2>&1
) &
bare=$!
bare_says() { ! kill -0 $bare 2>/dev/null || "$bin/fmctl" --state-dir="$tmp/bare" status --json 2>/dev/null | grep -q "$1"; }
comes_true bare_says '"subnet_up": true' || fail "without a store the subnet does not come up"
bare_says '"store": "none, because it cannot open the store .*: File too large"' || fail "nothing is said of the store: $("$bin/fmctl" --state-dir="$tmp/bare" status)"
kill $bare
wait $bare || fail "without a store fmd ends with $?"
bare=
fmctl status --json | grep -q "\"store\": \"in $tmp/state\"" || fail "where the store is: $(fmctl status)"
echo "ok: no store"

# ---- signals
n=$(grep -c 'the configuration has been reloaded' log)
kill -HUP $daemon
is_reloaded() { [ "$(grep -c 'the configuration has been reloaded' log)" -gt "$n" ]; }
comes_true is_reloaded || { log; fail "no reload on SIGHUP"; }
kill $daemon
rc=0
wait $daemon || rc=$?
daemon=
[ $rc = 0 ] || { log; fail "SIGTERM: $rc"; }
if [ -n "$listener" ]; then
	wait $listener
	grep -q '^WATCHDOG=1$' said || fail "the watchdog is not fed: $(cat said)"
	sed -i '/^WATCHDOG=1$/d' said
	sed -n 2p said | grep -q '^READY=1 STATUS=SUBNET UP\(, converged\|, unfinished: .*\|, a sweep is under way\)$' || fail "it says first: $(cat said)"
	sed -n '/^RELOADING=1$/{n;p;}' said | grep -q '^READY=1$' || fail "after a reload: $(cat said)"
	[ "$(tail -n 1 said)" = STOPPING=1 ] || fail "it says last: $(cat said)"
	echo "ok: what the service manager is told"
fi
