#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Congestion control through umad: for the same opensm.conf fmd sends the Sets that OpenSM sends,
# byte by byte but for the TID, each once; what fmd has set ibccquery reads; a sweep, a reload of the
# same and a take-over by a standby send no Set; a host that boots is set again; a CC_Key that is not
# ours is one event, and has an end.  ibsim, which has no such agents, answers MADs of the class all
# the same: fmd sets nothing, tells of it once, and is converged.  Exit 77 (skipped) where opensm or
# infiniband-diags is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need opensm ibccquery

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
cat >"$dir/fmd.conf" <<'END'
congestion_control TRUE
cc_max_outstanding_mads 100
cc_sw_cong_setting_control_map 0x1f
cc_sw_cong_setting_victim_mask 0x1fffe
cc_sw_cong_setting_credit_mask 0xF
cc_sw_cong_setting_threshold 0x0c
cc_sw_cong_setting_packet_size 3
cc_sw_cong_setting_credit_starvation_threshold 0x05
cc_sw_cong_setting_credit_starvation_return_delay 2:77
cc_sw_cong_setting_marking_rate 9
cc_ca_cong_setting_port_control 0x0001
cc_ca_cong_setting_control_map 0x0003
cc_ca_cong_setting_ccti_timer 0 100
cc_ca_cong_setting_ccti_timer 1 0x65
cc_ca_cong_setting_ccti_increase 0 4
cc_ca_cong_setting_trigger_threshold 1 2
cc_ca_cong_setting_ccti_min 0 1
END
echo "cc_cct $(for ((i = 0; i < 100; i++)); do printf '%s%d:%d' "${comma-}" $((i % 4)) $((i * 7)); comma=,; done)" >>"$dir/fmd.conf"

# The Sets of a record: where, and all but the TID.
sets() {
	sed -n 's/^\([^ ]* ......02........\)................\(.*\)$/\1\2/p' "$1" | sort
}
written() {
	fmsim_say counts | sed -n 's/.*congestion asked [0-9]*, written \([0-9]*\),.*/\1/p'
}
asked() {
	fmsim_say counts | sed -n 's/.*congestion asked \([0-9]*\),.*/\1/p'
}
hold() { # LINE
	fmctl status >"$dir/status"
	grep -q "^congestion  $1$" "$dir/status"
}
all='8 of 8 switches and 16 of 16 host ports hold their settings'

simulate "$dir/net"
fmsim_say record 0x21 "$dir/opensm.record" >/dev/null
start_opensm host-1-1 -F "$dir/fmd.conf"
opensm_sent() {
	[ "$(sets "$dir/opensm.record" | sort -u | wc -l)" -ge 56 ]
}
until_true opensm_sent # 8 switches, 16 hosts with a setting and two blocks
end_job "$osm"
fmsim_stop

simulate "$dir/net"
fmsim_say record 0x21 "$dir/fmd.record" >/dev/null
start_fmd
until_true hold "$all"
fmsim_say record >/dev/null
sets "$dir/opensm.record" | sort -u >"$dir/want"
sets "$dir/fmd.record" >"$dir/have" # of fmd each once, where OpenSM repeats
cmp "$dir/want" "$dir/have" || fail "fmd does not send what OpenSM sends"
[ "$(wc -l <"$dir/have")" = 56 ] || fail "$(wc -l <"$dir/have") Sets, not 56"
echo "ok: the Sets are OpenSM's"

query() { # ATTRIBUTE NODE
	run_on host-1-2 ibccquery "$1" "$(lid_of "$2")" >"$dir/query.out"
}
reads() { # WORDS...
	local words
	for words in "$@"; do
		grep -q "^$words\$" "$dir/query.out" || fail "no \"$words\" in $(cat "$dir/query.out")"
	done
}
query CACongestionSetting host-3-3
reads 'Port_Control:\.*0x0001' 'Control_Map:\.*0x0003' 'CCTI_Timer:\.*101' 'CCTI_Increase:\.*4'
query CongestionControlTable host-3-3
reads 'CCTI_Limit:\.*99' 'CCT_Multiplier:\.*441'
query SwitchCongestionSetting leaf-2
reads 'Threshold:\.*0x0c' 'CS_Threshold:\.*0x05' 'Packet_Size:\.*3' 'CS_ReturnDelay:\.*0x804d' 'Marking_Rate:\.*9'
query CongestionKeyInfo host-3-3
reads 'CC_KeyProtectBit:\.*0' 'CC_KeyViolations:\.*0'
echo "ok: ibccquery"

n=$(written)
exits 0 sweep --wait
kill -HUP "$fmd"
await "$dir/fmd.out" "configuration has been reloaded"
await "$dir/fmd.out" "SUBNET UP" 3
until_true hold "$all"
[ "$(written)" = "$n" ] || fail "a sweep or a reload of the same sends Sets"
sed -i 's/marking_rate 9/marking_rate 10/' "$dir/fmd.conf"
kill -HUP "$fmd"
written_8_more() {
	[ "$(written)" -ge $((n + 8)) ] && hold "$all"
}
until_true written_8_more
[ "$(written)" = $((n + 8)) ] || fail "a reload sends more than what differs"
fmsim_say reboot host-2-4 >/dev/null
until_true eval '[ "$(written)" = $((n + 11)) ]'
until_true hold "$all"
echo "ok: what differs alone"

n=$(written)
cp "$dir/fmd.out" "$dir/first.out"
kill -9 "$fmd"
wait "$fmd" 2>/dev/null
rm -rf "$dir/state"
start_fmd host-4-4 # it knows nothing of what the first has done
until_true hold "$all"
[ "$(written)" = "$n" ] || fail "a take-over sends Sets"
echo "ok: a take-over"

# Two hosts under a key that is not ours, hidden, with a lease of a second; then fmd is to write its
# own: with the second try, after a minute, both have it.
kill "$fmd"
wait "$fmd" 2>/dev/null
for host in host-2-1 host-2-2; do
	for word in key=0x77 protect=1 lease=1; do
		fmsim_say congestion $host $word >/dev/null
	done
done
# A port of a switch has a setting of its own, and loses it; and the switch has marked packets.
fmsim_say congestion leaf-2 own=3 >/dev/null
for ((i = 0; i < 3; i++)); do
	fmsim_say congestion leaf-2 "marks=2:$(lid_of host-1-1):$(lid_of host-2-2):1" >/dev/null
done
n=$(written)
start_fmd
until_true hold '8 of 8 switches and 14 of 16 host ports hold their settings'
[ "$(written)" = $((n + 1)) ] || fail "not one Set for the port, but $(($(written) - n))"
have_marked() {
	exits 0 congestion
	grep -q "^logs  *of 8 of 8 switches were read$" "$dir/answer"
}
until_true have_marked
says "^leaf-2  *3  *3  *[0-9]* s ago  *2 > host-2-2  *host-1-1 LID $(lid_of host-1-1) > host-2-2 LID $(lid_of host-2-2), SL 1$"
exits 0 congestion --json
says '"n_marked": 1' '"events": 3' '"port": 2'
await "$dir/fmd.out" "2 switches and host ports are under a CC_Key that is not ours"
n=$(asked)
exits 0 sweep --wait
exits 0 sweep --wait
[ "$(asked)" = "$n" ] || fail "sweeps ask who is under another key"
exits 0 status --json
says '"foreign-key": *2' '"state": *"foreign-key"' '"converged": *true'
exits 0 events --kind=foreign-cc-key
[ "$(said "$dir/answer" "CC_Key")" = 1 ] || fail "a foreign key is not one event: $(cat "$dir/answer")"
for host in host-2-1 host-2-2; do
	fmsim_say congestion $host key=0 >/dev/null
	fmsim_say congestion $host protect=0 >/dev/null
done
sed -i 's/marking_rate 10/marking_rate 11/' "$dir/fmd.conf"
kill -HUP "$fmd"
until_true hold "$all"
await "$dir/fmd.out" "no switch or host port is under a CC_Key that is not ours any more"
sed -i 's/congestion_control TRUE/congestion_control FALSE/' "$dir/fmd.conf"
n=$(asked)
kill -HUP "$fmd"
await "$dir/fmd.out" "congestion control is off: switches and hosts keep what they hold"
query SwitchCongestionSetting leaf-2
reads 'Marking_Rate:\.*11'
kill "$fmd"
wait "$fmd" 2>/dev/null
fmsim_stop
echo "ok: a key that is not ours"

# shellcheck source=dev/ibsim-lib.sh
. "$top/dev/ibsim-lib.sh"
ibsim_available || { echo "ibsim is absent: that part is left out"; exit 0; }
cd "$dir" || exit 1
leave() {
	kill_jobs "$IBSIM_PID"
	ibsim_stop
	rm -rf "$dir"
}
sed -i 's/congestion_control FALSE/congestion_control TRUE/' "$dir/fmd.conf"
rm -rf "$dir/state"
ibsim_start "$dir/net" || fail "ibsim does not take the fabric"
trap leave EXIT # of which ibsim_start makes one of its own
exec_on_ibsim host-1-1 "$build/fmd" --transport=umad --config="$dir/fmd.conf" --state-dir="$dir/state" \
	>"$dir/ibsim.out" 2>&1 &
fmd=$!
await "$dir/ibsim.out" "SUBNET UP"
await "$dir/ibsim.out" "do not hold what congestion control is set to"
exits 0 sweep --wait
[ "$(said "$dir/ibsim.out" "do not hold what congestion control")" = 1 ] || fail "it is told twice"
exits 0 status --json
says '"converged": *true'
tr -d '\n ' <"$dir/answer" | grep -q '"n":16},"gets":[0-9]*,"sets":0,"others":' || fail "Sets are sent: $(cat "$dir/answer")"
echo "ok: nodes without agents"
