#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# The host of the SM has several ports on the fabric: when the one in use loses its cable fmd goes on
# by another one, with the LIDs, the tables and what hosts have registered, and says so.  A port on
# another subnet is left alone.  Where a standby has taken over meanwhile fmd stands by.
# Exit 77 (skipped) where infiniband-diags is absent.
set -u

. "$(dirname "$0")/fmsim.bash"
need saquery ibstat

# host-1-1 has three ports: on leaf-1, on leaf-2 in the place of host-2-1, and on a switch that is
# joined to nothing else.
"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/tree" || exit 1
guid=$(sed -n 's/^caguid=0x\(.*\)00$/\1/p' "$dir/tree" | head -n 1)
awk -v g="$guid" '
	/^(sysimgguid|caguid)=/ { held = held $0 "\n"; next }
	/^Ca.*"host-2-1"/ { skip = 2 }
	skip > 0 { skip--; held = ""; next }
	{ printf "%s", held; held = "" }
	/^\[1\].*"host-2-1"\[1\]/ { print "[1]\t\"host-1-1\"[2](" g "02)\t\t# \"host-1-1\" lid 0 4xEDR"; next }
	/^Ca.*"host-1-1"/ { sub(/Ca\t1/, "Ca\t3"); print; own = 1; next }
	{ print }
	own { own = 0
		print "[2](" g "02)\t\"leaf-2\"[1]\t\t# lid 0 lmc 0 \"leaf-2\" lid 0 4xEDR"
		print "[3](" g "03)\t\"other\"[1]\t\t# lid 0 lmc 0 \"other\" lid 0 4xEDR" }
	END { print "\nswitchguid=0xee00(ee00)\nSwitch\t2 \"other\"\t\t# \"other\" base port 0 lid 0 lmc 0"
		print "[1]\t\"host-1-1\"[3](" g "03)\t\t# \"host-1-1\" lid 0 4xEDR" }
' "$dir/tree" >"$dir/net"
simulate "$dir/net"

conf() { # NAME
	cat >"$dir/$1.conf" <<END
control_socket = '$dir/$1.control'
sminfo_polling_timeout = 200ms
master_sm_priority = 14
log_level = debug
debug = 'ha,sweep,ports'
END
}
start_sm() { # NAME NODE WORDS [OPTION]
	: >"$dir/$1.out"
	exec_on_fmsim "$2" "$build/fmd" --config="$dir/$1.conf" --state-dir="$dir/$1.state" ${4:+"$4"} >"$dir/$1.out" 2>&1 &
	eval "$1=$!"
	await "$dir/$1.out" "$3"
}
do_it() { # COMMAND of the simulator
	fmsim_say "$@" >"$dir/console.out" || fail "the console refuses $*: $(cat "$dir/console.out")"
}
nodes=$(sed -n 's/^\(Ca\|Switch\).*"\([^"]*\)".*#.*/\2/p' "$dir/net" | grep -v other)
# Where the SM is to be obeyed, a line each, as the simulator has it: node, port, LID, MasterSMLID.
# The cables between switches are left out.
truth() {
	# shellcheck disable=SC2086
	fmsim_say "$(printf 'dump %s\n' $nodes)" | awk '
		/^"/ { gsub(/"/, "", $1); node = $1 }
		/^  \[/ && (node ~ /^host/ || $1 == "[0]") { gsub(/[][]/, "", $1); print node, $1, $4, $8 }'
}
lids() {
	truth | awk '!/^host-1-1 3/ { print $1, $2, $3 }'
}
lid_at() { # PORT of host-1-1
	truth | awk -v p="$1" '$1 == "host-1-1" && $2 == p { print $3 }'
}
all_obey() { # LID; but for the ports of the SM
	truth | awk -v lid="$1" '$1 != "host-1-1" && $4 != lid { bad = 1 } END { exit bad }'
}
ask() { # NODE LINE
	echo "$2" >"$dir/question"
	run_on "$1" "$build/tests/integration/sa_mads" "$sm" whole 5000 1 <"$dir/question"
}
guid_of() {
	printf '%016x' "0x$(sed -n "s/.*[[:space:]]\"$1\"\[1\](\([0-9a-f]*\)).*/\1/p" "$dir/net" | head -n 1)"
}
join() { # NODE GROUP
	ask "$1" "join|2|0x38|0x130c7|0|0|0:ff12401bffff0000000000000000000$2 16:fe80000000000000$(guid_of "$1") 32:00000b1b 40:ffff 48:01" >"$dir/answer"
	grep -q "^join|010302810000" "$dir/answer" || fail "$1 does not join group $2: $(cut -c1-80 "$dir/answer")"
}
offer() { # NODE ID: a service
	ask "$1" "offer|2|0x31|0x2f|0|0|0:00000000000$2 8:fe80000000000000$(guid_of "$1") 24:ffff 28:ffffffff 48:6f66666572" >"$dir/answer"
	grep -q "^offer|010302810000" "$dir/answer" || fail "$1 does not offer $2: $(cut -c1-80 "$dir/answer")"
}
registered() {
	run_on host-4-4 saquery --smkey 1 -m | grep -E "MGID|PortGid|Mlid|JoinState" | sort
	run_on host-4-4 saquery -S | grep -E "ServiceID|ServiceGID|ServiceName" | sort
}
answers() { # the SA: it may still be busy
	(run_on host-4-4 saquery -c) >/dev/null 2>&1
}
is_sm() { # PORT: by the IsSM bit
	local mask
	mask=$(on_fmsim host-1-1 ibstat fmsim0 "$1" | sed -n 's/.*Capability mask: //p')
	[ $((mask & 2)) != 0 ]
}
status() {
	"$build/fmctl" --socket="$dir/first.control" status
}
in_use() { # PORT
	status | grep -q "^local port  fmsim0:$1, .*, in use$"
}
marked=0
mark() { # what is said from here on
	marked=$(wc -l <"$dir/first.out")
	n_up=$(said "$dir/first.out" "SUBNET UP")
}
since() {
	tail -n +$((marked + 1)) "$dir/first.out"
}
# By the port, as if nothing had happened.
goes_on_by() { # PORT
	await "$dir/first.out" "SUBNET UP" $((n_up + 1))
	sm=$(lid_at "$1")
	until_true all_obey "$sm"
	until_true answers
	in_use "$1" || fail "fmctl status does not say that fmsim0:$1 is in use: $(status)"
	lids >"$dir/lids.after"
	cmp -s "$dir/lids.before" "$dir/lids.after" || fail "LIDs are others: $(diff "$dir/lids.before" "$dir/lids.after")"
	registered >"$dir/after"
	cmp -s "$dir/before" "$dir/after" || fail "what was registered is not what it was: $(diff "$dir/before" "$dir/after")"
	since | grep "is set for ClientReregister" && fail "hosts are asked to register again"
	since | grep "Sets: .*\(ForwardingTable\|SLtoVL\|P_Key\)" && fail "tables are written"
	is_sm "$1" || fail "IsSM is not set on port $1"
	echo "ok: it goes on by port $1"
}

list=fmsim0:1,fmsim0:3,fmsim0:2
conf first
echo "sm_priority = 2" >>"$dir/first.conf"
do_it unlink 'host-1-1[1]'
do_it unlink 'host-1-1[2]'
do_it unlink 'host-1-1[3]'
start_sm first host-1-1 "our port has no link; waiting for one" --port=$list
do_it relink 'host-1-1[2]'
await "$dir/first.out" "fmsim0:1 has no link: fmd goes on by fmsim0:2"
await "$dir/first.out" "SUBNET UP"
echo "ok: it waits for a link on any of them"
do_it relink 'host-1-1[1]'
do_it relink 'host-1-1[3]'
kill "$first"
wait "$first" 2>/dev/null
echo "port = '$list'" >>"$dir/first.conf"
start_sm first host-1-1 "SUBNET UP"
in_use 1 || fail "the first port with a link is not taken: $(status)"
grep "is set for ClientReregister" "$dir/first.out" && fail "a start at another port asks hosts to register again"
sm=$(lid_at 1)
until_true all_obey "$sm"
until_true answers
join host-3-1 1
join host-3-2 1
join host-4-1 2
offer host-3-3 01234
registered >"$dir/before"
[ "$(grep -c "PortGid\|ServiceID" "$dir/before")" -ge 4 ] || fail "what was registered is missing: $(cat "$dir/before")"
lids >"$dir/lids.before"
[ "$(wc -l <"$dir/lids.before")" = 24 ] || fail "the simulator tells other ports: $(cat "$dir/lids.before")"
is_sm 1 || fail "IsSM is not set on port 1"

mark
do_it unlink 'host-1-1[1]'
goes_on_by 2
grep -q "fmd does not go on by fmsim0:3: the port 0x000000000000ee00 behind its cable has never been on the subnet" "$dir/first.out" ||
	fail "nothing is said of the port on another subnet"
is_sm 1 && fail "IsSM is still set on port 1"

# Neither has a link, then the first one has, and keeps the subnet.
mark
do_it unlink 'host-1-1[2]'
waits() {
	status | grep -q "our port has no link: waiting for one"
}
until_true waits
do_it relink 'host-1-1[1]'
goes_on_by 1
is_sm 2 && fail "IsSM is still set on port 2"
do_it relink 'host-1-1[2]'

# A standby has taken over while it stood still: it comes back by its second port, and stands by.
conf second
start_sm second host-4-3 "standing by"
mark
stand_still "$first"
do_it unlink 'host-1-1[1]'
await "$dir/second.out" "SUBNET UP"
kill -CONT "$first"
await "$dir/first.out" "fmd goes on by fmsim0:2" 2
await "$dir/first.out" "standing by"
until_true in_use 2
sm=$(lid_of host-4-3)
all_obey "$sm" || fail "two rule"
echo "ok: it stands by where another one rules"
