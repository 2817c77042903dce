# A bare Debian 12 in a folder, for dev/fresh and dev/deb; sourced.  It needs root.
# shellcheck shell=bash
#
#	root_make DIR [PACKAGE,...]	debootstrap, with apt as on this machine
#	root_run DIR COMMAND...		in it, with nothing of this environment but the proxy
#	root_remove DIR

root_make() {
	local root=$1 packages=${2:-} mirror
	command -v debootstrap >/dev/null || apt-get -qq install -y debootstrap >/dev/null
	mirror=$(awk '/^deb /{ for (i = 2; i <= NF; i++) if ($i ~ /^(http|https|file|mirror)/) { print $i; exit } }
		/^URIs:/{ print $2; exit }' /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | head -n 1)
	debootstrap --variant=minbase --include="ca-certificates${packages:+,$packages}" bookworm "$root" "$mirror" >"$root.log" 2>&1 ||
		{ tail -n 20 "$root.log"; return 1; }
	rm -f "$root.log" "$root/etc/apt/sources.list"
	chmod 755 "$root"
	# apt as on this machine: where packages come from, and whom to trust
	cp -a /etc/apt/sources.list "$root/etc/apt/" 2>/dev/null || true
	cp -a /etc/apt/sources.list.d/. "$root/etc/apt/sources.list.d/" 2>/dev/null || true
	cp -a /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
	cp -a /etc/apt/trusted.gpg.d/. "$root/etc/apt/trusted.gpg.d/" 2>/dev/null || true
	cp -a /usr/share/keyrings/. "$root/usr/share/keyrings/" 2>/dev/null || true
	cp -a /usr/local/share/ca-certificates/. "$root/usr/local/share/ca-certificates/" 2>/dev/null || true
	cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
	# A root that is no mount point has no mount namespaces of its own: acm.sh and others would be skipped.
	mount --bind "$root" "$root"
	mount -t proc proc "$root/proc"
	mkdir -p "$root/dev/pts" "$root/dev/shm"
	mount -t devpts devpts "$root/dev/pts" 2>/dev/null || true
	mount -t tmpfs tmpfs "$root/dev/shm"
}

root_run() {
	local root=$1
	shift
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM="${TERM:-dumb}" LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
		http_proxy="${http_proxy:-}" https_proxy="${https_proxy:-}" chroot "$root" "$@"
}

root_remove() {
	local m
	for m in dev/pts dev/shm proc .; do umount "$1/$m" 2>/dev/null || true; done
	rm -rf --one-file-system "$1"
}
