#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# Paths asked of fmd on fmsim in ways that a host may and saquery cannot: what is left open,
# raw, service levels, many GIDs in one question, a trace beside that of ibtracert.
# dev/saquery-compare asks OpenSM the same.  Exit 77 (skipped) where ibtracert is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need ibtracert
[ -x "$build/tests/integration/sa_ask" ] || skip "sa_ask is not built"

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
exec_on_fmsim host-1-1 "$build/fmd" --engine=updn --transport=umad --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
fmd=$!
await "$dir/fmd.out" "SUBNET UP"

gid_of() { # NODE
	echo "fe80000000000000:$(sed -n "s/^\[[0-9]*\].*\"$1\"\[1\](\([0-9a-f]*\)).*/\1/p" "$dir/net" | head -n 1)"
}
sm=$(lid_of host-1-1) self=$(gid_of host-1-2) there=$(gid_of host-4-4)
asked() { # WORDS...: what the SA says to host-1-2
	run_on host-1-2 "$build/tests/integration/sa_ask" "$sm" "$@" >"$dir/asked"
}
records() {
	grep -c "Record dump" "$dir/asked"
}
says() { # FIELD VALUE
	grep -q "$1\.*$2\$" "$dir/asked" || fail "$1 is not $2: $(cat "$dir/asked")"
}

# ---- what is left open
asked table "sgid=$self"
[ "$(records)" = 24 ] || fail "$(records) paths from one port, not 24"
asked table "dgid=$there"
[ "$(records)" = 24 ] || fail "$(records) paths to one port, not 24"
asked get "sgid=$self"
grep -q "status 0x0600" "$dir/asked" || fail "a path to nobody in particular: $(cat "$dir/asked")"
asked table "sgid=$self" "dgid=$there" n=0
[ "$(records)" = 0 ] || fail "there are paths where 0 are wanted"
asked get "sgid=$self" "dgid=$there" n=0
[ "$(records)" = 1 ] || fail "a Get is for one path, whatever NumbPath says"
asked table "sgid=$self" "dgid=$there" raw=1
[ "$(records)" = 0 ] || fail "raw packets have a path"
asked get "sgid=$self" "dgid=$there" pkey=0
grep -q "status 0x0300" "$dir/asked" || fail "a path under P_Key 0: $(cat "$dir/asked")"

# ---- what is asked for comes back
asked get "sgid=$self" "dgid=$there" hop=64 flow=5 tclass=7 sl=3 mtu=">3" rate="most" reversible=0
says hop 0
says flow 5
says tclass 7
says sl 3
says mtu "2 [4-5]"
says reversible 1

# ---- many at once: eight to eight, paths that share no end
words=()
for i in 1 2; do
	for k in 1 2 3 4; do
		words+=("sgid=$(gid_of "host-$i-$k")" "dgid=$(gid_of "host-$((i + 2))-$k")")
	done
done
asked multi "${words[@]}" n=8 independent=1
[ "$(records)" = 8 ] || fail "$(records) paths, not 8"
for side in sgid dgid; do
	n=$(sed -n "s/.*$side\.*//p" "$dir/asked" | sort -u | wc -l)
	[ "$n" = 8 ] || fail "8 paths share a $side: $n different ones"
done
asked multi "sgid=$self" "dgid=$there" dgid=fe80000000000000:77
grep -q "status 0x0500" "$dir/asked" || fail "a GID of nobody among others: $(cat "$dir/asked")"

# ---- a trace is what ibtracert finds
asked trace "sgid=$self" "dgid=$there"
run_on host-1-2 ibtracert "$(lid_of host-1-2)" "$(lid_of host-4-4)" >"$dir/trace"
[ "$(records)" = 5 ] || fail "a trace of $(records) nodes, not 5"
sed -n 's/.*node\.*0x0*\([0-9a-f]*\)$/\1/p' "$dir/asked" | sed -n '2,4p' >"$dir/ours"
sed -n 's/.*-> switch port {0x0*\([0-9a-f]*\)}.*/\1/p' "$dir/trace" >"$dir/theirs"
cmp -s "$dir/ours" "$dir/theirs" || fail "a trace by $(tr '\n' ' ' <"$dir/ours"), ibtracert's by $(tr '\n' ' ' <"$dir/theirs")"
kill "$fmd"
wait "$fmd" || fail "SIGTERM ends fmd with $?"
echo "ok: paths"
