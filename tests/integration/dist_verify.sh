#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# fmctl dist verify: a file of paths that is as the SA says is found to be so, and one of which a
# single field was spoilt (DLID, SL, MTU, rate, P_Key) is told by that field; a file that is behind
# is said to be.
set -u
# shellcheck source=tests/integration/dist.bash
. "$(dirname "$0")/dist.bash"
need python3

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"

cat >"$dir/fmd.conf" <<END
dist_files = '$dir/dist'
sweep_interval = 1s
control_socket = '$dir/socket'
lmc = 1
END
exec_on_fmsim host-1-1 "$build/fmd" --config="$dir/fmd.conf" --state-dir="$dir/state" >"$dir/fmd.out" 2>&1 &
await "$dir/fmd.out" "SUBNET UP"
fetched() {
	on_fmsim host-2-1 "$build/fmd-agent" --once --file="$dir/paths" "files:$dir/dist" 2>"$dir/agent.out"
}
until_true fetched

exits 0 dist verify --file="$dir/paths"
says "^file  *$dir/paths: term [1-9]" "^published  *files: term" "^different  *0$"
# two LIDs of the host's port, to two of each of 16 hosts and to one of each of 8 switches
paths=$(sed -n 's/^compared  *\([0-9]*\) paths from \([0-9]*\) LIDs.*/\1 \2/p' "$dir/answer")
case $paths in
"0 "* | "") fail "nothing is compared: $(cat "$dir/answer")" ;;
esac
grep -q "another epoch" "$dir/answer" && fail "the file is said to be behind"
fmctl dist verify --file="$dir/paths" --json >"$dir/answer" || fail "--json has another exit code"
says '"different": 0' '"current": true' '"differences": \[\]'
echo "ok: a file that is right ($paths)"

cat >"$dir/spoil.py" <<'END'
import struct, sys

SECTIONS = "subnet link class pkset pksl addr port own row guid name_at name".split()
source, to, field = sys.argv[1:]
data = bytearray(open(source, "rb").read())


def section(name):
    at, n = struct.unpack_from("<QQ", data, 32 + 16 * SECTIONS.index(name))
    return at, n


def row(name, size, i):  # each row of size bytes: its offset
    return section(name)[0] + size * i


def rows(name, size):
    return range(section(name)[1] // size)


if field in ("mtu", "sl", "rate"):  # core/blobs/blobs.h: MTU, rate, SL, 0, Mbit/s
    for i in rows("class", 8):
        at = row("class", 8, i)
        if field == "mtu":
            data[at] = 2
        elif field == "sl":
            data[at + 2] ^= 3
        else:
            struct.pack_into("<I", data, at + 4, 10000)
elif field == "pkey":
    struct.pack_into("<H", data, section("pkset")[0] + 2, 0x8123)
elif field == "dlid":  # two hosts of other switches change places
    ports = [struct.unpack_from("<QHHBBB", data, row("port", 16, i)) for i in rows("port", 16)]
    own = {struct.unpack_from("<H", data, row("own", 8, i))[0] for i in rows("own", 8)}
    hosts = [i for i, (guid, leaf, _, _, _, flags) in enumerate(ports) if guid and not flags and leaf not in own]
    a, b = (row("port", 16, i) for i in (hosts[0], hosts[-1]))
    data[a:a + 8], data[b:b + 8] = data[b:b + 8], data[a:a + 8]
elif field == "term":
    struct.pack_into("<Q", data, 24, 1 << 40)
open(to, "wb").write(data)
END
for field in dlid sl mtu rate pkey; do
	python3 "$dir/spoil.py" "$dir/paths" "$dir/spoilt" $field || fail "$field cannot be spoilt"
	cmp -s "$dir/paths" "$dir/spoilt" && fail "$field is not spoilt"
	exits 3 dist verify --file="$dir/spoilt"
	says "^fields  *[1-9][0-9]* $field$" "^ *[0-9]*  *[0-9]*  *$field "
done
echo "ok: a field that was spoilt is told by its name"

python3 "$dir/spoil.py" "$dir/paths" "$dir/spoilt" term
exits 0 dist verify --file="$dir/spoilt"
says "the file is of another epoch" "^different  *0$"
on_fmsim host-2-1 "$build/fmd-agent" --once --port-guid=0x1 --file="$dir/nobody" "files:$dir/dist" || fail "no file"
exits 1 dist verify --file="$dir/nobody"
says "nothing is compared"
exits 2 dist verify --file="$dir/nowhere"
says "nowhere is not there" "fmd-agent writes it"
head -c 1000 "$dir/paths" >"$dir/short"
exits 2 dist verify --file="$dir/short"
says "it is no file of paths"
exits 2 dist nonsense
says "dist takes status, peers or verify"
exits 2 nodes --file="$dir/paths"
says "nodes takes no --file"
exits 2 paths lid=16000
says "LID 16000 is no port's"
exits 2 paths lid=-1
says "lid is a number of"
exits 0 dist status
says "^files "
echo "ok: sentences"

# a port that has gone since: the file still tells of it
fmsim_say unlink 'host-3-1[1]' >/dev/null
behind() {
	fmctl dist verify --file="$dir/paths" >"$dir/answer"
	[ $? = 3 ] && grep -q " dlid$" "$dir/answer"
}
until_true behind
says "the file is of another epoch" " dlid  *[0-9]*  *none$"
until_true fetched
same() {
	fetched && fmctl dist verify --file="$dir/paths" >"$dir/answer"
}
until_true same
echo "ok: a file that is behind"
