#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-2-Clause
# doc/standby.md sets two hosts up: its commands are run as they stand there, with a folder for each
# host, two stunnels on loopback and two fmd on fmsim.  A host that is not pinned gets no copy, which
# both sides say, and the master goes on.  Exit 77 (skipped) where openssl or stunnel is absent.
set -u

# shellcheck source=tests/integration/fmsim.bash
. "$(dirname "$0")/fmsim.bash"
need openssl stunnel4
page=$top/doc/standby.md

declare -A node=([sm1]=host-1-1 [sm2]=host-2-1 [sm3]=host-3-1) at=([sm1]=$ports [sm2]=$((ports + 1)) [sm3]=$((ports + 2)))
declare -A tunnel sm

# ---- what the page's commands are here: $host is where they run

apt-get() {
	[ "$*" = "install stunnel4 openssl" ] || fail "apt-get $* is not what this test needs"
}
scp() { # FILE HOST:
	cp "$1" "$dir/${2%:}.home/"
}
fmd-copy-setup() {
	local words=("$@")
	case $1 in
	init) words+=("--listen=127.0.0.1:${at[$host]}" "--sockets=$dir/$host.run" "--copy-socket=$dir/$host.copy") ;;
	peer) words[2]=127.0.0.1:${at[$3]} ;;
	esac
	"$build/fmd-copy-setup" "${words[@]}" --dir="$dir/$host/copy"
}
fmctl() {
	"$build/fmctl" --socket="$dir/$host.control" "$@"
}
fmd() {
	"$build/fmd" --config="$dir/$host/fmd.conf" "$@"
}
systemctl() { # ... SERVICE
	case $* in
	"enable --now fmd-copy") start_tunnel ;;
	"reload fmd-copy") kill -HUP "${tunnel[$host]}" ;;
	"restart fmd")
		start_sm
		await "$dir/$host.out" "SUBNET UP\|standing by"
		;;
	*) fail "systemctl $* is not what this test knows" ;;
	esac
}
start_tunnel() { # in fmd-copy.service systemd makes the folder, and takes it away
	[ -z "${tunnel[$host]:-}" ] || kill "${tunnel[$host]}"
	rm -rf "$dir/$host.run" && mkdir "$dir/$host.run"
	stunnel4 "$dir/$host/copy/stunnel.conf" >"$dir/$host.stunnel.out" 2>&1 &
	tunnel[$host]=$!
	until_true has_end
}
has_end() {
	compgen -G "$dir/$host.run/*" >/dev/null
}
start_sm() {
	: >"$dir/$host.out" # of the one before
	exec_on_fmsim "${node[$host]}" "$build/fmd" --transport=umad --config="$dir/$host/fmd.conf" --state-dir="$dir/$host.state" \
		>"$dir/$host.out" 2>&1 &
	sm[$host]=$!
}

# Lines of the page's block with WORDS in it.
block() { # WORDS
	awk -v words="$1" '/^```/ { if (on && index(text, words)) printf "%s", text; on = !on; text = ""; next } on { text = text $0 "\n" }' "$page"
}
run_block() { # WORDS: of its first line that matters
	local line who n=0
	while IFS= read -r line <&3; do
		who=${line%%#*}
		line=${line#*# }
		line=${line//\/etc\/fmd/\$dir/\$host}
		for host in ${who/both/sm1 sm2}; do
			cd "$dir/$host.home" || exit 1
			eval "$line" >"$dir/answer" 2>&1 || fail "$host: $line: exit code $?: $(cat "$dir/answer")"
		done
		n=$((n + 1))
	done 3< <(block "$1")
	echo "ok: $n commands"
}
# Of fmd.conf: what stands for both, and what for this host.
conf() { # HOST
	block "copy_socket =" | awk -v host="$1" '/^# on/ { on = $3 == "both" || $3 == host; next } on' |
		sed "s#/run/fmd/copy#$dir/$1.copy#; s#/run/fmd-copy/#$dir/$1.run/#"
	printf '%s\n' "control_socket = '$dir/$1.control'" "sminfo_polling_timeout = 500ms" "log_level = info"
}
ha() { # HOST WORDS
	host=$1
	fmctl ha >"$dir/answer" 2>&1 && grep -q -- "$2" "$dir/answer"
}
shows() { # HOST WORDS
	ha "$@" || fail "fmctl ha on $1 says no \"$2\": $(cat "$dir/answer")"
}

"$build/fmroute" gen pgft 2 4,4 1,4 1,1 >"$dir/net" || exit 1
simulate "$dir/net"
for host in sm1 sm2 sm3; do
	mkdir -p "$dir/$host" "$dir/$host.home"
	conf $host >"$dir/$host/fmd.conf"
	chmod 600 "$dir/$host/fmd.conf"
done
[ "$(block "init sm1" | wc -l)" = 10 ] || fail "the page does not have ten commands"
run_block "init sm1"
until_true ha sm2 "^copy *in sync$"
shows sm1 "^role *master$"
shows sm1 "^standby *0x[0-9a-f]* in sync, [0-9]* of [0-9]* changes"
shows sm2 "^role *standby$"
for host in sm1 sm2; do
	! grep -q "Rejected" "$dir/$host.stunnel.out" || fail "stunnel of $host refuses somebody: $(cat "$dir/$host.stunnel.out")"
	[ "$(stat -c %a "$dir/$host/copy/own.key")" = 600 ] || fail "the key of $host can be read by others"
	! grep -rl "PRIVATE KEY" "$dir/$host/copy" | grep -qv "/own.key$" || fail "a key of $host lies elsewhere, too"
done
# it is TLS 1.3, and nobody comes in who shows nothing
echo | openssl s_client -connect "127.0.0.1:${at[sm1]}" -tls1_2 >"$dir/tls12" 2>&1 && fail "TLS 1.2 is taken"
printf 'nothing' | openssl s_client -connect "127.0.0.1:${at[sm1]}" -tls1_3 -quiet -no_ign_eof >"$dir/tls13" 2>&1
until_true grep -q "peer did not return a certificate" "$dir/sm1.stunnel.out"
echo "ok: a copy through stunnel"

# ---- a third host: who has not been pinned gets no copy, and the master goes on
cp "$dir/sm1/copy/sm1.pem" "$dir/sm3.home/"
printf '%s\n' "copy_from = '$dir/sm3.run/sm1,$dir/sm3.run/sm2'" "sm_priority = 0" >>"$dir/sm3/fmd.conf"
host=sm3
cd "$dir/sm3.home" || exit 1
fmd-copy-setup init sm3 >/dev/null && fmd-copy-setup peer sm1.pem sm1 >/dev/null || fail "sm3 is not set up"
start_tunnel
start_sm
until_true ha sm3 "^copy *none: by $dir/sm3.run/sm1: it has left without a word: where stunnel is between, its log here and on the other host says why$"
until_true ha sm3 "^copy *none: by $dir/sm3.run/sm2: No such file or directory$"
grep -q "Rejected by CERT at depth=0: O=fmd copy, CN=sm3$" "$dir/sm1.stunnel.out" ||
	fail "stunnel of sm1 does not say whom it rejects: $(cat "$dir/sm1.stunnel.out")"
until_true grep -q "alert unknown ca\|TLS socket closed (SSL_write)" "$dir/sm3.stunnel.out" # it hears so, or that it is gone
shows sm1 "^role *master$"
[ "$(grep -c "^standby .* in sync" "$dir/answer")" = 1 ] || fail "who has a copy: $(cat "$dir/answer")"
run_on host-4-1 "$build/tests/integration/sa_ask" "$(lid_of host-1-1)" get "slid=$(lid_of host-4-1)" "dlid=$(lid_of host-1-1)" |
	grep -q "PathRecord dump" || fail "the master does not answer"
echo "ok: one that is not pinned"

# pinned, it comes in, and the copy that is there goes on
run_block "init sm3"
until_true ha sm3 "^copy *in sync$"
[ "$(said "$dir/sm1.out" "begins a copy")" = 2 ] || fail "the copy of sm2 did not outlive a reload: $(grep copy "$dir/sm1.out")"
echo "ok: three hosts"

# ---- a host loses its power: its connection stays, and it is back before anybody has noticed
host=sm3
stand_still "${tunnel[sm3]}"
kill -KILL "${sm[sm3]}"
wait "${sm[sm3]}" 2>/dev/null
unset "tunnel[sm3]"
at[sm3]=$((ports + 3))
fmd-copy-setup init sm3 >/dev/null || fail "sm3 does not take another port"
start_tunnel
start_sm
until_true ha sm3 "^copy *in sync$"
await "$dir/sm1.out" "has no copy any more: it has connected anew"
ha sm1 "^role *master$" && [ "$(grep -c "^standby" "$dir/answer")" = 2 ] || fail "who has a copy: $(cat "$dir/answer")"
echo "ok: back without a farewell"

# ---- the master stands still, and its connections with it: its heir has all, the third one finds the heir
until_true ha sm2 "^copy *in sync$"
stand_still "${sm[sm1]}"
until_true ha sm2 "^role *master$"
grep -q "what hosts registered with the master is here" "$dir/sm2.out" || fail "sm2 has taken over without a copy"
until_true ha sm2 "^standby *0x[0-9a-f]* in sync" # sm3 itself still has that of sm1 when this begins
until_true ha sm3 "^copy *in sync$"		 # which sm2 says of it before it has heard so
kill -KILL "${sm[sm1]}" "${tunnel[sm1]}"
wait "${sm[sm1]}" "${tunnel[sm1]}" 2>/dev/null
echo "ok: a take-over"

# ---- what the script refuses, and leaves as it was
host=sm2
cd "$dir/sm2.home" || exit 1
find "$dir/sm2/copy" -type f -exec cksum {} + | sort >"$dir/was"
refuses() { # CODE WORDS ARGUMENT...
	local rc=0
	"$build/fmd-copy-setup" "${@:3}" --dir="$dir/sm2/copy" >"$dir/answer" 2>&1 || rc=$?
	[ $rc = "$1" ] && grep -q -- "$2" "$dir/answer" || fail "fmd-copy-setup ${*:3}: $rc: $(cat "$dir/answer")"
}
"$build/fmd-copy-setup" init sm1 --dir="$dir/another" --days=30 >/dev/null || fail "another sm1 is not made"
"$build/fmd-copy-setup" init sm2 --dir="$dir/same" >/dev/null || fail "another sm2 is not made"
refuses 0 "sm2 has its key and certificate already: they stay" init sm2
refuses 0 "127.0.0.1:${at[sm1]} is pinned" peer "$dir/sm1/copy/sm1.pem" "127.0.0.1:${at[sm1]}"
refuses 1 "this node is sm2, and the others know it as that" init sm4
refuses 1 "has a private key in it, which is to stay on its node" peer "$dir/sm1/copy/own.key" sm1
refuses 1 "is the certificate of this node" peer "$dir/sm2/copy/sm2.pem" sm1
refuses 1 "the other node is called sm2, too" peer "$dir/same/sm2.pem" sm1
refuses 1 "sm1 has another certificate pinned here, .*: where sm1 has made a new key, add --replace" peer "$dir/another/sm1.pem" sm1
refuses 1 "is not a certificate: it is to be NAME.pem of the other node" peer "$page" sm1
refuses 2 '"a b" is no host' peer "$dir/sm3/copy/sm3.pem" 'a b'
refuses 2 "an IPv6 address stands in brackets" peer "$dir/sm3/copy/sm3.pem" fd00::3
refuses 2 '"65536" is no port' peer "$dir/sm3/copy/sm3.pem" sm3:65536
refuses 2 "peer wants the other node's certificate and where" peer "$dir/sm3/copy/sm3.pem"
refuses 1 "there is no peer sm4" forget sm4
refuses 2 "there is no command shw" shw
refuses 2 "is no option, or lacks its value" show --days
refuses 0 "^peer *sm1 at 127.0.0.1:${at[sm1]}$" show
find "$dir/sm2/copy" -type f -exec cksum {} + | sort | diff "$dir/was" - || fail "one of these has changed something"
"$build/fmd-copy-setup" show --dir="$dir/another" >"$dir/answer" && fail "a certificate that soon ends is nothing to tell: $(cat "$dir/answer")"
"$build/fmd-copy-setup" show --dir="$dir/nowhere" >"$dir/answer" 2>&1 && fail "there is something nowhere"
[ ! -e "$dir/nowhere" ] || fail "show makes a folder"
echo "ok: refusals"

# ---- the shipped example is what the script writes
"$build/fmd-copy-setup" init sm1 --dir="$dir/example" >/dev/null && "$build/fmd-copy-setup" peer "$dir/same/sm2.pem" sm2 --dir="$dir/example" >/dev/null ||
	fail "the example is not made"
sed "s#$dir/example#/etc/fmd/copy#" "$dir/example/stunnel.conf" | diff - <(tail -n +3 "$top/conf/examples/stunnel-copy.cfg") ||
	fail "conf/examples/stunnel-copy.cfg is not what fmd-copy-setup writes"
if command -v systemd-analyze >/dev/null 2>&1; then
	sed "s#^AssertPathExists=.*##" "$build/conf/fmd-copy.service" >"$dir/fmd-copy.service"
	systemd-analyze verify --man=no --recursive-errors=no "$dir/fmd-copy.service" >"$dir/unit" 2>&1 && [ ! -s "$dir/unit" ] || fail "the unit: $(cat "$dir/unit")"
fi
grep -q "^ExecStart=/usr/bin/stunnel4 .*/fmd/copy/stunnel.conf$" "$build/conf/fmd-copy.service" || fail "the unit runs another stunnel"
grep -q "^RuntimeDirectory=fmd-copy$" "$build/conf/fmd-copy.service" || fail "the unit has another folder for sockets"
echo "ok: example and unit"
