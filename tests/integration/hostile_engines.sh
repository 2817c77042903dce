#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Engines that mean no good, in the daemon: files that are not run at all, with the reason;
# whatever one that runs does, the next entry of the chain brings the subnet up; a plugin that
# is put into the folder, changed or taken away is found by `fmctl reload`; and SIGTERM ends
# fmd while an engine spins, in a process of its own or in fmd itself.
# Programmers of adaptive routing of others run in the same way.
# Runs in the build directory.
set -eu
. "${srcdir:-..}/tests/integration/fmroute.bash"
fmctl() { "$bin/fmctl" --state-dir="$tmp/state" "$@"; }
daemon=
trap '[ -z "$daemon" ] || kill -9 $daemon 2>/dev/null; rm -rf "$tmp"' EXIT
stop() { sed 's/^/fmd: /' log | tail -n 20; fail "$@"; }
await() { comes_true "$@" || stop "never true: $*"; }
is_up() { fmctl status --json 2>/dev/null | grep -q '"subnet_up": true'; }
engine() { fmctl status --json | sed -n 's/^ *"engine": "\(.*\)",*$/\1/p' | head -n 1; }
is_engine() { [ "$(engine)" = "$1" ]; }
modules=$bin/tests/modules/.libs
hostile=$bin/tests/hostile/.libs
"$bin/fmd" --help | grep -q engine-isolation || fail "no --engine-isolation"
mkdir plugins
cp "$modules/good.so" plugins/
"$bin/fmd" --plugin-dir=plugins --config=none --list-engines >out
! grep -q libseccomp out || { echo "built without libseccomp: skipped"; exit 77; }
rm plugins/good.so
"$bin/fmroute" gen pgft 2 4,4 1,2 1,1 >net
own=$bin/plugins/engines/.libs

# ---- what is not run at all
listed() { # WORDS
	"$bin/fmd" --plugin-dir=plugins --config=none --list-engines >out || fail "--list-engines: $?"
	grep -qF -- "$1" out || fail "--list-engines does not say \"$1\": $(grep refused out)"
}
cp "$hostile/load_abort.so" plugins/
listed "load_abort.so: its process was killed by signal 6 (SIGABRT) while it was loaded"
chmod o+w plugins/load_abort.so
listed "everybody may write to the file (mode 0757): chmod o-w it"
rm plugins/load_abort.so
ln -s "$modules/good.so" plugins/good.so
listed "a symlink that leads out of its folder"
rm plugins/good.so
cp "$modules/good.so" plugins/
ln -s good.so plugins/alias.so
listed "good.so, in a process of its own"
if [ "$(id -u)" = 0 ]; then
	chown 12345 plugins/good.so
	listed "the file is owned by user 12345: a plugin runs only from files and folders of root"
	chown 0:12345 plugins/good.so
	chmod g+w plugins/good.so
	listed "group 12345 may write to the file"
fi
rm plugins/*
cp "$hostile/load_abort.so" plugins/
chmod o+w plugins
listed "plugins: everybody may write to the folder"
chmod o-w plugins
rm plugins/*
echo "ok: what must not run does not"

# ---- what runs, and goes wrong
deeds="crash abort exit ahead behind padding fabric socket fork thread exec kill trace limits vls shape answer mute junk"
cp "$hostile/hostile.so" plugins/
for deed in $deeds spin; do
	printf 'hostile "%s" { deed = %s; time_limit = 2s }\n' "$deed" "$deed"
done | tr ';' '\n' >sections
{
	printf 'chain = {'
	for deed in $deeds; do printf ' "hostile:%s",' "$deed"; done
	printf ' "updn" }\n'
	cat sections
} >fmd.conf
"$bin/fmd" --transport=sim:net,clock=wall --config=fmd.conf --plugin-dir=plugins --plugin-dir="$own" \
	--state-dir="$tmp/state" >log 2>&1 &
daemon=$!
await is_up
is_engine updn || stop "it routes with $(engine)"
fmctl routes --json >status
for deed in $deeds; do
	grep -qF "\"hostile:$deed\"" status || stop "hostile:$deed is not among the refused: $(cat status)"
done
grep -q 'was killed by signal 11 (SIGSEGV)' status || stop "no crash among the refused: $(cat status)"
echo "ok: the next entry goes on"

# ---- it computes for ever; fmd answers meanwhile, and ends when it is told to
rm -r plugins/hostile.so
echo 'chain = { "updn" }' >fmd.conf
fmctl reload >out || stop "reload without the plugin: $(cat out)"
{ echo 'chain = { "hostile:spin", "updn" }'; sed 's/2s/10min/' sections; } >fmd.conf
rc=0
fmctl reload >out 2>&1 || rc=$?
[ $rc = 2 ] || stop "a plugin that is gone is still there: exit $rc"
grep -q "hostile" out || stop "it does not say which: $(cat out)"
cp "$hostile/hostile.so" plugins/
fmctl reload >out || stop "the plugin is not found by reload: $(cat out)"
children() { cat "/proc/$daemon/task/"*/children 2>/dev/null; }
spins() { for pid in $(children); do [ "$(awk '{ print $14 + $15 }' "/proc/$pid/stat" 2>/dev/null || echo 0)" -lt 20 ] || return 0; done; return 1; }
await spins
fmctl status >out || stop "fmctl status while an engine spins"
busy=$(children)
kill $daemon
ended() { ! kill -0 $daemon 2>/dev/null; }
await ended
rc=0
wait $daemon || rc=$?
daemon=
[ $rc = 0 ] || stop "SIGTERM while an engine spins: exit $rc"
for pid in $busy; do ! kill -0 "$pid" 2>/dev/null || stop "its process $pid is still there"; done
echo "ok: SIGTERM, with an engine in its own process"

rm -r state
"$bin/fmd" --transport=sim:net,clock=wall --config=fmd.conf --plugin-dir=plugins --plugin-dir="$own" \
	--engine-isolation=none --state-dir="$tmp/state" >log 2>&1 &
daemon=$!
spins_here() { [ "$(awk '{ print $14 + $15 }' "/proc/$daemon/stat")" -ge 20 ]; }
await fmctl status >out
await spins_here
kill $daemon
await ended
rc=0
wait $daemon || rc=$?
daemon=
[ $rc = 0 ] || stop "SIGTERM while an engine in fmd spins: exit $rc"
grep -q 'fmd ends without waiting for it' log || stop "it does not say why"
[ ! -e state/fmd.sock ] || stop "the control socket is left behind"
"$bin/fmd" --transport=sim:net --engine=updn --config=none --state-dir="$tmp/state" --once >log 2>&1 ||
	stop "the store is not what it was"
echo "ok: SIGTERM, with an engine in fmd itself"

# ---- another file of the same name
echo 'chain = { "hostile", "updn" }' >fmd.conf
rm plugins/*
"$bin/fmd" --transport=sim:net,clock=wall --config=fmd.conf --plugin-dir=plugins --plugin-dir="$own" \
	--state-dir="$tmp/state" >log 2>&1 && stop "it starts without the engine of its chain"
cp "$hostile/hostile.so" plugins/
"$bin/fmd" --transport=sim:net,clock=wall --config=fmd.conf --plugin-dir=plugins --plugin-dir="$own" \
	--state-dir="$tmp/state" >log 2>&1 &
daemon=$!
await is_up
await is_engine hostile
printf 'chain = { "hostile", "updn" }\nhostile { deed = exit }\n' >fmd.conf
cp --remove-destination "$hostile/hostile.so" plugins/
printf 'another' >>plugins/hostile.so
fmctl reload >out || stop "reload with another file: $(cat out)"
await is_engine updn
fmctl routes --json | grep -q "exited with status 3" || stop "no reason: $(fmctl routes --json)"
kill $daemon
wait $daemon || stop "SIGTERM: $?"
daemon=
echo "ok: reload takes another file"

# ---- programmers of adaptive routing, in the folder "vendors" of a plugin directory
rm -r plugins state
mkdir -p plugins/vendors
cp "$bin/plugins/vendors/.libs/example.so" "$hostile/vendor_abort.so" "$hostile/vendor_newer.so" plugins/vendors/
listed "vendor_abort.so: its process was killed by signal 6 (SIGABRT) while it was loaded"
listed "vendor_newer.so: vendor ABI 1.1, this fmd has 1.0"
grep -A 2 '^example$' out | grep -q 'ABI 1.0, in a process of its own' || stop "--list-engines does not show the programmer"
printf 'chain = { "updn" }\nadaptive_routing { enable = yes }\n' >fmd.conf
"$bin/fmd" --transport=sim:net,clock=wall,adaptive=16 --config=fmd.conf --plugin-dir=plugins --plugin-dir="$own" \
	--state-dir="$tmp/state" >log 2>&1 &
daemon=$!
choose() { fmctl status | grep -q 'adaptive    4 switches choose among ports, 2 go by their tables, 0 cannot'; }
programmer() { for pid in $(children); do ! tr '\0' ' ' <"/proc/$pid/cmdline" | grep -q "^fmd-engine-host example .*plugins/vendors/example.so" || echo "$pid"; done; }
is_there() { [ -n "$(programmer)" ] && [ "$(programmer)" != "$1" ]; }
await choose
grep -q 'vendor_abort.so: its process was killed by signal 6 (SIGABRT) while it was loaded' log || stop "no word of vendor_abort"
grep -q 'vendor_newer.so: vendor ABI 1.1, this fmd has 1.0' log || stop "no word of vendor_newer"
await is_there none
gone=$(programmer)
kill -9 "$gone"
fmctl reload >out || stop "reload: $(cat out)"
await is_there "$gone"
await choose
! grep -q 'is not asked any more' log || stop "it is left for a process that somebody else killed"
kill $daemon
wait $daemon || stop "SIGTERM: $?"
daemon=
echo "ok: programmers of others"
