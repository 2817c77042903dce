#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The node name map: names of the administrator's stand in the log, in fmctl and in dumps, and
# configuration may use them beside node descriptions, which the SA goes on to tell.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep saquery

"$build/fmroute" gen pgft 2 4,4 1,2 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
fmctl() {
	"$build/fmctl" --state-dir="$dir/state" "$@"
}
guid_of() {
	fmsim_say dump "$1" | sed -n 's/^"[^"]*" \(0x[0-9a-f]*\).*/\1/p'
}
printf '# names\n%s "rack 7"\n%s "top-1"\n%s "top-2"\n' "$(guid_of leaf-2)" "$(guid_of spine-1)" "$(guid_of spine-2)" >"$dir/names"
# One top by its new name, the other by what it says of itself.
printf "chain = { 'fattree:named' }\nnode_name_map = '%s'\nfattree 'named' { roots = { 'top-1', 'spine-2' } }\n" "$dir/names" >"$dir/fmd.conf"
exec_on_fmsim host-1-1 "$build/fmd" --transport=umad --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
fmd=$!
await "$dir/fmd.out" "SUBNET UP"
converged() { fmctl status --json | grep -q '"converged": true'; }
until_true converged
grep -q 'engine fattree' "$dir/fmd.out" || fail "fattree does not take roots by their new and old names"

shows() { # WORDS COMMAND...
	local words=$1
	shift
	fmctl "$@" >"$dir/answer" 2>&1
	grep -q -- "$words" "$dir/answer" || fail "no \"$words\" in fmctl $*: $(cat "$dir/answer")"
}
shows '^switch  *rack 7  *0x' nodes 'rack*'
shows '^switch  *rack 7  *0x' nodes rack
shows '^switch  *rack 7  *0x' nodes leaf-2
shows '^top-1  *2 .*rack 7  *5 \|^rack 7  *5 .*top-1  *2 ' links
shows '"rack 7"' path host-2-1 host-3-1
run_on host-3-3 saquery NodeRecord >"$dir/records"
grep -q 'NodeDescription\.*leaf-2' "$dir/records" || fail "the SA tells another description: $(grep NodeDesc "$dir/records")"
fmsim_say unlink 'leaf-2[5]' >/dev/null
await "$dir/fmd.out" 'lost: cable .*"rack 7" port 5'
fmsim_say relink 'leaf-2[5]' >/dev/null
await "$dir/fmd.out" 'came: cable .*"rack 7" port 5'
echo "ok: names"

echo '0x1 nonsense "x"' >>"$dir/names"
sed -i 's/rack 7/rack 8/' "$dir/names"
sed -i '$d' "$dir/names" && echo '0x1x "x"' >>"$dir/names"
kill -HUP "$fmd"
await "$dir/fmd.out" "names:5: \"0x1x\" is no GUID of a node"
shows '^switch  *rack 7  *0x' nodes leaf-2
sed -i '$d' "$dir/names"
fmctl reload --wait >/dev/null || fail "reload"
shows '^switch  *rack 8  *0x' nodes leaf-2
await "$dir/fmd.out" 'has another name: "rack 8" (0x[0-9a-f]*), before "rack 7"'
echo "ok: reload"

"$build/fmd" --transport=sim:"$dir/net" --config=none --node-name-map="$dir/names" --once --dump="$dir/dump" >"$dir/once.out" 2>&1 || fail "--once with names"
grep -rq "top-1" "$dir/dump" || fail "no name in the dumps"
echo "ok: dumps"
