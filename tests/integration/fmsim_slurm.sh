#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmctl export slurm: slurmctld takes the file and scontrol names the leaves of hosts; --check says what
# of a site's file is not as the fabric is.
set -u

. "$(dirname "$0")/fmsim.bash"
need grep

"$build/fmroute" gen pgft 3 3,3,4 1,2,3 1,1,2 >"$dir/net" || exit 1
simulate "$dir/net"
echo 'sweep_interval = 1s' >"$dir/fmd.conf"
start_fmd host-1-1-1
has_tree() { fmctl export slurm >"$dir/topology.conf" 2>&1 && grep -q "^SwitchName=group" "$dir/topology.conf"; }
until_true has_tree
[ "$(grep -c '^SwitchName=leaf-[1-4]-[1-3] Nodes=host-[1-4]-[1-3]-\[1-3\]$' "$dir/topology.conf")" = 12 ] || fail "leaves: $(cat "$dir/topology.conf")"
for group in 1 2 3 4; do
	grep -q "^SwitchName=group[1-4] Switches=leaf-$group-1,leaf-$group-2,leaf-$group-3$" "$dir/topology.conf" || fail "no pod $group: $(cat "$dir/topology.conf")"
done
grep -q '^SwitchName=fabric1 Switches=group\[1-4\]$' "$dir/topology.conf" || fail "no root: $(cat "$dir/topology.conf")"
exits 0 export slurm --check="$dir/topology.conf"
says "^36 nodes in the file, 0 differences$"
echo "ok: export"

# ---- a site's file, whose switches are called otherwise
sed 's/^SwitchName=leaf-2-1 Nodes=.*/switchname=s21 nodes=host-2-1-[1-2],host-3-1-3 # rack 7/
	s/^SwitchName=leaf-3-1 Nodes=.*/SwitchName=s31 Nodes=host-3-1-[1-2],host-2-1-3,host-9/
	s/^SwitchName=leaf-4-1 Nodes=.*/SwitchName=s41 Nodes=host-4-1-[1-2,2]/' "$dir/topology.conf" >"$dir/site.conf"
exits 5 export slurm --check="$dir/site.conf"
says "^37 nodes in the file, 5 differences$" \
	"^elsewhere  *host-3-1-3 is below s21 in the file, whose nodes are at switch leaf-2-1, and is at switch leaf-3-1$" \
	"^elsewhere  *host-2-1-3 is below s31 in the file, whose nodes are at switch leaf-3-1, and is at switch leaf-2-1$" \
	"^not-in-fabric  *host-9 is in line [0-9]* of the file, and not in the fabric$" \
	"^not-in-file  *host-4-1-3 is at switch leaf-4-1, and not in the file$" \
	"^twice  *host-4-1-2 is in the file twice, in lines [0-9]* and [0-9]*$"
sed '4s/Nodes=.*/Nodes=host-[1-/' "$dir/topology.conf" >"$dir/bad.conf"
exits 2 export slurm --check="$dir/bad.conf"
says "bad.conf:4: \"host-\[1-\" is no list of nodes: node\[1-3,7\] is right"
sed '4s/.*/Leaf=1/' "$dir/topology.conf" >"$dir/bad.conf"
exits 2 export slurm --check="$dir/bad.conf"
says "bad.conf:4: \"Leaf=1\" is no line of topology.conf"
exits 2 export pbs
says "export takes slurm, not \"pbs\""
echo "ok: check"

# ---- SLURM itself
for program in slurmctld scontrol; do
	command -v $program >/dev/null || { echo "ok: $program is absent, so SLURM is not asked"; exit 0; }
done
mkdir "$dir/slurm" "$dir/slurm/state"
cp "$dir/topology.conf" "$dir/slurm/"
export SLURM_CONF=$dir/slurm/slurm.conf
start_slurm() { # PORT
	cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$1
CommunicationParameters=NoCtldInAddrAny
AuthType=auth/none
CredType=cred/none
SlurmUser=$(id -un)
StateSaveLocation=$dir/slurm/state
SlurmctldPidFile=$dir/slurm/pid
ProctrackType=proctrack/pgid
TopologyPlugin=topology/tree
MailProg=/bin/true
NodeName=$(sed -n 's/^SwitchName=leaf.* Nodes=//p' "$dir/topology.conf" | paste -sd,) NodeAddr=127.0.0.1
PartitionName=all Nodes=ALL Default=YES
END
	slurmctld -D -f "$SLURM_CONF" >"$dir/slurm/log" 2>&1 &
	slurm=$!
}
answers() { ! kill -0 "$slurm" 2>/dev/null || scontrol show topology >"$dir/shown" 2>&1; }
for try in 1 2 3; do # a port that nobody has
	start_slurm $((20000 + ($$ * 7 + try * 1009) % 10000))
	until_true answers
	kill -0 "$slurm" 2>/dev/null && break
done
kill -0 "$slurm" 2>/dev/null || fail "slurmctld does not take it: $(tail -n 5 "$dir/slurm/log")"
! grep -i 'error.*\(topology\|switch\)' "$dir/slurm/log" || fail "slurmctld"
for leaf in $(seq 4); do
	for k in 1 2 3; do
		scontrol show topology "host-$leaf-$k-2" >"$dir/shown" 2>&1 || fail "scontrol: $(cat "$dir/shown")"
		grep -q "^SwitchName=leaf-$leaf-$k Level=0 .*Nodes=host-$leaf-$k-\[1-3\]$" "$dir/shown" || fail "host-$leaf-$k-2: $(cat "$dir/shown")"
		grep -q "^SwitchName=fabric1 Level=2 .*Switches=group\[1-4\]" "$dir/shown" || fail "no root: $(cat "$dir/shown")"
	done
done
kill "$slurm"
echo "ok: SLURM"
