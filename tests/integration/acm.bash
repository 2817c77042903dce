# SPDX-License-Identifier: BSD-2-Clause
# What the scripts with ibacm share; sourced.  It needs root, for a mount namespace: ibacm's sockets
# have fixed names in /run.
# shellcheck shell=bash

# shellcheck source=tests/integration/fmsim.bash
. "$(dirname "${BASH_SOURCE[0]}")/fmsim.bash"
need ibacm ib_acme unshare
probe=$build/tests/integration/acm_probe
shim=$build/tests/integration/.libs/verbs_shim.so
[ -x "$probe" ] && [ -e "$build/.libs/libfmdacm.so" ] || skip "the provider for ibacm is not built"
unshare -mn true 2>/dev/null || skip "no namespaces here"

mkdir "$dir/providers"
cp "$build/.libs/libfmdacm.so" "$dir/providers/"
# the example, with folders of ours
sed "s|/run/fmd-agent/paths|$dir/paths|; s|^fmd_max_age .*|fmd_max_age 3600|" "$top/conf/examples/ibacm_opts.cfg" >"$dir/opts" || exit 1
cat >>"$dir/opts" <<END
provider_lib_path $dir/providers
log_file $dir/ibacm.out
lock_file $dir/ibacm.pid
log_level 0
END
# In a namespace of its own: ibacm on a node, then our questions.
cat >"$dir/inside" <<'END'
set -u
. "$top/tests/integration/script.bash"
. "$top/dev/fmsim-lib.sh"
rm -rf "$dir"
dir=$theirs
fail() {
	echo "FAIL on $node: $*"
	tail -n 20 "$dir/ibacm.out" "$dir/ibacm.err" 2>/dev/null
	[ -z "$acm" ] || end_job "$acm"
	exit 1
}
acm=
mount -t tmpfs none /run || exit 77
on_node() {
	(exec_on_fmsim "$node" "$@")
}
FMSIM_PRELOAD=$FMSIM_PRELOAD:$shim
start_acm() {
	rm -f "$dir/ibacm.out" "$dir/events"
	mkfifo "$dir/events"
	VERBS_EVENTS=$dir/events exec_on_fmsim "$node" "$probe" serve "$(command -v ibacm)" --systemd -P -A "$dir/addr" -O "$dir/opts" >"$dir/ibacm.err" 2>&1 &
	acm=$!
	await "$dir/ibacm.out" "acm_server: started"
}
fill() { # [WHAT is wrong in it]
	on_node "$probe" fill "$dir/paths" "$@" >"$dir/filled" || fail "no file"
}
asked() { # ARGUMENTS of acm_probe pairs
	on_node "$probe" pairs "$@" >"$dir/pairs"
}
says() {
	grep -q "$1" "$dir/pairs" || fail "not \"$1\" but $(cat "$dir/pairs")"
}
END
inside() { # NODE, a script on stdin
	{ cat "$dir/inside"; cat; } >"$dir/script"
	node=$1 theirs=$dir top=$top probe=$probe shim=$shim FMD_BUILD=$build FMSIM_BUILD=$build FMSIM_PRELOAD=$FMSIM_PRELOAD \
		FMSIM_RUNTIME=$FMSIM_RUNTIME unshare -mn bash "$dir/script"
}
