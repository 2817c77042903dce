#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# A cable of a leaf goes and comes in each fabric of conf/examples/regions-*.conf: fmroute what-if and
# a running fmd come to the same. The loss is repaired, no region has another engine, and when the
# cable is back the tables are those before.
set -u

. "$(dirname "$0")/fmsim.bash"
need python3

# The first leaf of a tree, and a port of its that leads to another switch: NAME PORT.
leaf_cable() { # FILE
	awk '/^Switch/ { sw = $3; gsub(/"/, "", sw); is = sw ~ /leaf/ } is && /^\[/ && /"[^"]*(spine|agg)[^"]*"/ {
		split($1, at, /[][]/); print sw, at[2]; exit }' "$1"
}
# "made" of the state after step N, and whether it waits: of the answer of what-if.
after_step() { # FILE N
	python3 -c '
import json, sys
step = json.load(open(sys.argv[1]))["steps"][int(sys.argv[2]) - 1]
way = step.get("transition", {})
print(step["after"]["made"], step["entries"], way.get("drained", 0), way.get("left", 0), "waiting" in way)' "$1" "$2"
}
engines() { fmctl regions --json | python3 -c '
import json, sys
print([(r["region"], r["engine"]) for r in json.load(sys.stdin)["regions"]])'; }
converged() { fmctl status --json | grep -q '"converged": true'; }
mkdir "$dir/dumps"
for example in "$top"/conf/examples/regions-*.conf; do
	name=$(basename "$example" .conf)
	eval "$(sed -n 's/^#   fmroute \(gen .*\)/"$build\/fmroute" \1/p' "$example")" >"$dir/net" || fail "$name: no fabric"
	read -r leaf port <<<"$(leaf_cable "$dir/net")"
	[ -n "$port" ] || fail "$name: no leaf"
	"$build/fmroute" what-if "$dir/net" --config="$example" --down="link:$leaf:$port" --steps --up="link:$leaf:$port" --json >"$dir/what" ||
		fail "$name: what-if"
	read -r made entries drained left waits <<<"$(after_step "$dir/what" 1)"
	[ "$made" = repaired ] || fail "$name: $leaf $port is lost: $made"
	read -r made back drained left waits <<<"$(after_step "$dir/what" 2)"
	[ "$made $drained $left $waits" = "repaired 0 0 False" ] || fail "$name: it is back: $made, drained $drained, left $left, waits: $waits"
	[ "$entries" = "$back" ] || fail "$name: $entries entries there, $back back"

	simulate "$dir/net"
	cp "$example" "$dir/fmd.conf"
	printf 'dump_files_dir = "%s/dumps"\n' "$dir" >>"$dir/fmd.conf"
	start_fmd "$(awk '/^Ca/ { gsub(/"/, "", $3); print $3; exit }' "$dir/net")"
	until_true converged
	was=$(engines)
	[ -n "$was" ] || fail "$name: fmctl regions tells no engines"
	until_true cp "$dir/dumps/lfts" "$dir/before"
	fmsim_say unlink "$leaf[$port]" >/dev/null
	await "$dir/fmd.out" "lost: cable"
	until_true converged
	[ "$(engines)" = "$was" ] || fail "$name: engines were $was, are $(engines)"
	[ -z "$(fmsim_say lost)" ] || fail "$name: lost pairs: $(fmsim_say lost | head -n 3)"
	fmsim_say relink "$leaf[$port]" >/dev/null
	await "$dir/fmd.out" "came: cable"
	until_true cmp -s "$dir/before" "$dir/dumps/lfts"
	kill "$fmd"
	wait "$fmd"
	fmsim_stop
	rm -rf "$dir/state"
	echo "ok: $name: $entries entries"
done
