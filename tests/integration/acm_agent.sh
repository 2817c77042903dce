#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# From fmd's view of the subnet by way of a folder and fmd-agent to stock ibacm and librdmacm: what
# hosts get is what the SA answers, byte by byte, and all of it is in the file.  A torus whose
# engine gives SLs; a fat tree with two LIDs a port and partitions that have SLs.  Exit 77 (skipped)
# where ibacm is absent.
set -u

# shellcheck source=tests/integration/acm.bash
. "$(dirname "$0")/acm.bash"
[ -x "$build/fmd-agent" ] || skip "there is no fmd-agent"

bring_up() { # NODE: fmd there, by $dir/fmd.conf and what is simulated; what it publishes
	: >"$dir/addresses"
	: >"$dir/fmd.out" # of the fmd before, which said SUBNET UP, too
	exec_on_fmsim "$1" "$build/fmd" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
	fmd=$!
	await "$dir/fmd.out" "SUBNET UP"
	run_on "$1" "$probe" hosts >"$dir/addresses.new" && mv "$dir/addresses.new" "$dir/addresses"
}
take_down() {
	kill "$fmd"
	wait "$fmd" || fail "SIGTERM ends fmd with $?"
	fmsim_stop
	rm -rf "$dir/state" "$dir/dist"
}
# The file of a host that knows all addresses.
cat >>"$dir/inside" <<'END'
has_file() {
	on_node "$FMD_BUILD/fmd-agent" --once --file="$dir/paths" "files:$dir/dist" >"$dir/agent.out" 2>&1 &&
		on_node "$probe" pairs 1 1 librdmacm >"$dir/pairs" && grep -q "asked 1: . found, . by the SA, 0 failed, 0 differ" "$dir/pairs"
}
start_with_file() {
	on_node "$probe" addresses >"$dir/addr" || fail "no addresses"
	start_acm
	until_true has_file
}
END
need_all() { # MORE OPTIONS of fmd
	printf "%s\n" "transport = umad" "dist_files = '$dir/dist'" "dist_addresses = '$dir/addresses'" \
		"sweep_interval = 1s" "control_socket = '$dir/socket'" "$@" >"$dir/fmd.conf"
}

# ---- SLs of an engine, links of two rates
"$build/fmroute" gen torus 4x4 2 >"$dir/net" || exit 1
simulate "$dir/net"
mapfile -t nodes < <(sed -n 's/^Ca[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\1/p' "$dir/net")
for ((i = 0; i < ${#nodes[@]}; i += 4)); do
	fmsim_say rate "${nodes[i]}[1]" 1xSDR >/dev/null || fail "no rate of ${nodes[i]}"
done
need_all 'chain = { "lash" }'
bring_up "${nodes[1]}"
for node in "${nodes[0]}" "${nodes[1]}" "${nodes[18]}" "${nodes[31]}"; do
	inside "$node" <<'END' || exit $?
start_with_file
for way in socket "netlink $acm" librdmacm; do
	# shellcheck disable=SC2086
	asked 250 1 $way
	says "asked 250: 250 found, 0 by the SA, 0 failed, 0 differ"
done
end_job "$acm"
exit 0
END
done
take_down
echo "ok: a torus"

# ---- two LIDs a port, partitions of which one has an SL, limited members
"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
mapfile -t nodes < <(sed -n 's/^Ca[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\1/p' "$dir/net")
guid_of() {
	sed -n "s/^\[[0-9]*\].*\"$1\"\[1\](\([0-9a-f]*\)).*/0x\1/p" "$dir/net" | head -n 1
}
{
	echo "Default=0x7fff, ipoib, sl=1: ALL=full;"
	echo "a=0x0001, sl=3: $(guid_of "${nodes[0]}")=full, $(guid_of "${nodes[5]}")=full, $(guid_of "${nodes[6]}")=limited, $(guid_of "${nodes[7]}")=limited;"
	echo "b=0x0002, sl=5: $(guid_of "${nodes[6]}")=full, $(guid_of "${nodes[7]}")=limited;"
} >"$dir/partitions.conf"
need_all 'chain = { "updn" }' "lmc = 1" "qos = yes" "partition_config_file = '$dir/partitions.conf'"
bring_up "${nodes[1]}"
run_on "${nodes[0]}" "$build/tests/integration/sa_ask" "$(lid_of "${nodes[1]}")" get "slid=$(lid_of "${nodes[0]}")" \
	"dlid=$(lid_of "${nodes[6]}")" >"$dir/asked"
grep -q "pkey\.*0x8001" "$dir/asked" && grep -q "sl\.*3$" "$dir/asked" || fail "no path in partition a: $(cat "$dir/asked")"
for node in "${nodes[0]}" "${nodes[6]}" "${nodes[7]}"; do
	inside "$node" <<'END' || exit $?
start_with_file
asked 250 1 librdmacm
says "asked 250: 250 found, 0 by the SA, 0 failed, 0 differ"
asked 250 2 netlink "$acm" # to spines, which have no rows: the SA tells
says "asked 250: 2[0-9]* found, [1-4][0-9] by the SA, 0 failed, 0 differ"
asked 250 3 socket # by one LID alone: the SA chooses the other
says "asked 250: [12][0-9]* found, [1-9][0-9] by the SA, 0 failed, 0 differ"
end_job "$acm"
exit 0
END
done
take_down
echo "ok: a fat tree with partitions"

# ---- a policy decides by service: no path is the file's to tell, names and addresses are
cat >"$dir/policy" <<END
qos-levels
	qos-level
		name: DEFAULT
		sl: 0
	end-qos-level
	qos-level
		name: service
		sl: 3
		mtu-limit: 3
	end-qos-level
end-qos-levels
qos-match-rules
	qos-match-rule
		service-id: 0x1234
		qos-level-name: service
	end-qos-match-rule
end-qos-match-rules
END
simulate "$dir/net"
need_all 'chain = { "updn" }' "qos = yes" "qos_policy_file = '$dir/policy'"
bring_up "${nodes[1]}"
inside "${nodes[0]}" <<'END' || exit $?
start_with_file
asked 250 1 socket
says "asked 250: 0 found, 250 by the SA, 0 failed, 0 differ"
asked 250 2 netlink "$acm"
says "asked 250: 0 found, 250 by the SA, 0 failed, 0 differ"
end_job "$acm"
exit 0
END
take_down
echo "ok: a policy"
