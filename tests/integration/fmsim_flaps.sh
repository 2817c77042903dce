#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A cable that goes down again and again is told of once, listed with both ends, left out while all
# hosts are reached, and used again when it has been still, or when fmctl restore says so.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
echo "flap_still = 1h" >"$dir/fmd.conf"
start_fmd
status_has() {
	fmctl status --json >"$dir/status" && grep -q "\"$1\": $2,\?\$" "$dir/status"
}
until_true status_has converged true

flaps() { # till it is told
	fmsim_say flap "$1" for 20ms >/dev/null
	[ "$(said "$dir/fmd.out" "warning fabric: flapping: cable")" = "$2" ]
}
until_true flaps 'leaf-2[6]' 1
grep -q "flapping: cable \(\"leaf-2\" port 6 - \"spine-2\" port 2\|\"spine-2\" port 2 - \"leaf-2\" port 6\) (went down [0-9]* times; out of the forwarding tables until still for 3600 s)" "$dir/fmd.out" ||
	fail "how it is told"
listed() { fmctl trouble >"$dir/answer" && grep -q flapping "$dir/answer"; }
until_true listed
says "has gone down [0-9]* times, and is left out of the forwarding tables (fmctl restore takes it back) until it has not for 3600 s" "leaf-2" "spine-2"
until_true status_has converged true
until_true status_has troubles 1 # a late trap may make one more sweep
[ -z "$(fmsim_say lost)" ] || fail "hosts are cut off: $(fmsim_say lost)"
n=$(said "$dir/fmd.out" "fabric:")
for _ in 1 2 3; do
	fmsim_say flap 'leaf-2[6]' for 20ms >/dev/null
done
exits 0 sweep heavy --wait
[ "$(said "$dir/fmd.out" "fabric:")" = "$n" ] || fail "told again: $(tail -n 3 "$dir/fmd.out")"
echo "ok: it is left out"

exits 0 restore link:spine-2:2
says "1 cable between switches may carry routes again" "Nothing is changed: --yes does it"
listed || fail "restored without --yes"
exits 0 restore link:spine-2:2 --yes --wait
until_true status_has troubles 0
grep -q "flapping no more: cable" "$dir/fmd.out" || fail "its end is not told"
[ "$(fmctl events --kind=flapping --json | grep -c '"kind"\|"ends"')" = 3 ] || fail "not an event that began and its end: $(fmctl events --kind=flapping --json)"
exits 2 restore link:spine-2:2 --yes
says "not isolated"
echo "ok: it is restored"

sed -i 's/.*/flap_still = 1s/' "$dir/fmd.conf"
exits 0 reload --yes --wait
until_true flaps 'leaf-2[6]' 2
await "$dir/fmd.out" "flapping no more: cable" 2
until_true status_has troubles 0
[ -z "$(fmsim_say lost)" ] || fail "hosts are cut off: $(fmsim_say lost)"
echo "ok: it is used again"
