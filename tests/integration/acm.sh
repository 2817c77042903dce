#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Stock ibacm with our provider, and stock librdmacm, on fmsim: what they answer is what the SA
# answers, byte by byte, from a file that was made of the SA's answers and without one; a spoilt
# file is found out.  Exit 77 (skipped) where ibacm is absent.
set -u

# shellcheck source=tests/integration/acm.bash
. "$(dirname "$0")/acm.bash"

# ---- a torus, with SLs that differ and links that do: a quarter of the hosts is slow
"$build/fmroute" gen torus 4x4 2 >"$dir/net" || exit 1
simulate "$dir/net"
mapfile -t nodes < <(sed -n 's/^Ca[[:space:]]*[0-9]*[[:space:]]*"\([^"]*\)".*/\1/p' "$dir/net")
for ((i = 0; i < ${#nodes[@]}; i += 4)); do
	fmsim_say rate "${nodes[i]}[1]" 1xSDR >/dev/null || fail "no rate of ${nodes[i]}"
done
exec_on_fmsim "${nodes[1]}" "$build/fmd" --engine=lash --transport=umad --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
fmd=$!
await "$dir/fmd.out" "SUBNET UP"

# ---- every way of asking, from four hosts: all is found, and all is right
for node in "${nodes[0]}" "${nodes[5]}" "${nodes[18]}" "${nodes[31]}"; do
	inside "$node" <<'END' || exit $?
on_node "$probe" addresses >"$dir/addr" || fail "no addresses"
fill
start_acm
asked 250 1 socket
says "asked 250: 250 found, 0 by the SA, 0 failed, 0 differ"
asked 250 2 netlink "$acm"
says "asked 250: 250 found, 0 by the SA, 0 failed, 0 differ"
asked 250 3 librdmacm
says "asked 250: 250 found, 0 by the SA, 0 failed, 0 differ"
asked 50 4 query
says "asked 50: 0 found, 50 by the SA, 0 failed, 0 differ"
asked 100 5 beyond
says "asked 100: 0 found, 100 by the SA, 0 failed, 0 differ"
end_job "$acm"
exit 0
END
done

# ---- files that are wrong, old, none at all
inside "${nodes[0]}" <<'END' || exit $?
on_node "$probe" addresses >"$dir/addr" || fail "no addresses"
start_acm
asked 50 1 socket # the file is another host's: it has no row of ours
says "asked 50: 0 found, 50 by the SA, 0 failed, 0 differ"
rm "$dir/paths"
asked 100 1 paths
says "asked 100: 0 found, 100 by the SA, 0 failed, 0 differ"
asked 100 2 netlink "$acm"
says "asked 100: 0 found, 100 by the SA, 0 failed, 0 differ"
asked 20 3 librdmacm # no routes: the kernel would find them
says "asked 20: 0 found, 0 by the SA, 20 failed, 0 differ"
for how in rate mtu sl dlid; do
	fill "$how"
	for way in socket "netlink $acm" librdmacm; do
		# shellcheck disable=SC2086
		asked 100 4 $way && fail "a wrong $how is not seen by $way"
		says "asked 100: 100 found, 0 by the SA, 0 failed, [1-9][0-9]* differ"
	done
done
fill
asked 100 5 socket
says "asked 100: 100 found, 0 by the SA, 0 failed, 0 differ"

touch -d "2 hours ago" "$dir/paths" # who is meant is still told
asked 100 6 socket
says "asked 100: 0 found, 100 by the SA, 0 failed, 0 differ"
asked 100 7 librdmacm
says "asked 100: 0 found, 100 by the SA, 0 failed, 0 differ"
asked 100 8 netlink "$acm"
says "asked 100: 0 found, 100 by the SA, 0 failed, 0 differ"
grep -q "fmdacm: paths in $dir/paths: they are too old, the SA is asked" "$dir/ibacm.out" || fail "an old file is not told of"
touch "$dir/paths"
asked 100 9 socket
says "asked 100: 100 found, 0 by the SA, 0 failed, 0 differ"

head -c 5000 /dev/urandom >"$dir/paths.new" && mv "$dir/paths.new" "$dir/paths"
asked 100 10 netlink "$acm"
says "asked 100: 0 found, 100 by the SA, 0 failed, 0 differ"
grep -q "cannot read $dir/paths: it is no file of paths" "$dir/ibacm.out" || fail "a file of nonsense is not told of"
fill
asked 100 11 socket
says "asked 100: 100 found, 0 by the SA, 0 failed, 0 differ"

# ---- ib_acme, and an event
name=$(sed -n 's/ .*//p' "$dir/addr" | head -n 1)
on_node ib_acme -f n -s "$name" -d "$name" -v >"$dir/acme" 2>&1 || fail "ib_acme fails: $(cat "$dir/acme")"
grep -q "SA verification: success" "$dir/acme" || fail "ib_acme: $(cat "$dir/acme")"
on_node ib_acme -e >"$dir/acme" 2>&1
grep -q "fmdacm" "$dir/acme" || fail "no endpoint of ours: $(cat "$dir/acme")"
on_node ib_acme -P >"$dir/acme" 2>&1
grep -q "Route Cache Count" "$dir/acme" || fail "no counters: $(cat "$dir/acme")"
echo 17 >"$dir/events" # IBV_EVENT_CLIENT_REREGISTER
asked 100 12 socket
says "asked 100: 100 found, 0 by the SA, 0 failed, 0 differ"
echo 11 >"$dir/events" # IBV_EVENT_LID_CHANGE: all endpoints are closed and opened again
asked 100 13 socket
says "asked 100: 100 found, 0 by the SA, 0 failed, 0 differ"
end_job "$acm"
exit 0
END
kill "$fmd"
wait "$fmd" || fail "SIGTERM ends fmd with $?"
echo "ok: ibacm"
