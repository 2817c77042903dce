# SPDX-License-Identifier: BSD-2-Clause
# conf/: configuration, examples, service files.
# fmd.conf comes from the option rows of the daemon and of the engines built.
conf/fmd.conf: fmd-doc $(plugin_LTLIBRARIES)
	$(AM_V_GEN)$(MKDIR_P) conf && ./fmd-doc conf plugins/engines/.libs >$@.new && mv $@.new $@
noinst_DATA += conf/fmd.conf

# An administrator's file is never overwritten, and removed only if untouched.
fmdconf = $(DESTDIR)$(sysconfdir)/fmd/fmd.conf
install-data-hook: conf/fmd.conf
	$(MKDIR_P) $(DESTDIR)$(sysconfdir)/fmd
	test -e $(fmdconf) || $(INSTALL_DATA) conf/fmd.conf $(fmdconf)
uninstall-hook:
	if cmp -s conf/fmd.conf $(fmdconf); then rm -f $(fmdconf); fi

# found by bash-completion by the name of the program
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = conf/bash-completion/fmctl

examplesdir = $(docdir)/examples
dist_examples_DATA = conf/examples/adaptive.conf conf/examples/fat-tree.conf conf/examples/ibacm_opts.cfg conf/examples/irregular.conf \
	conf/examples/partitions.conf conf/examples/path-bits.conf conf/examples/path-bits.pgrp conf/examples/path-bits.rch conf/examples/path-bits.topo conf/examples/qos-policy.conf \
	conf/examples/regions-dragonfly.conf conf/examples/regions-leftover.conf conf/examples/regions-pods-torus.conf \
	conf/examples/regions-storage.conf conf/examples/regions-tree-torus.conf conf/examples/regions-trees-by-gateways.conf \
	conf/examples/regions-two-trees.conf conf/examples/standby.conf conf/examples/stunnel-copy.cfg conf/examples/vfabrics.conf \
	conf/fmd-agent-neighbours.conf conf/fmd-agent-register.conf \
	conf/fmd-alerts.yml conf/fmd-grafana.json conf/fmd-redis.conf conf/redis-fmd-users.conf conf/redis-fmd.conf plugins/engines/template/template.c

conf/fmd.service: conf/fmd.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && $(SED) 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/conf/fmd.service.in >$@.new && mv $@.new $@
conf/fmd-agent.service: conf/fmd-agent.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && $(SED) 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/conf/fmd-agent.service.in >$@.new && mv $@.new $@
conf/fmd-relay.service: conf/fmd-relay.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && $(SED) 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/conf/fmd-relay.service.in >$@.new && mv $@.new $@
conf/fmd-copy.service: conf/fmd-copy.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && $(SED) 's|@sysconfdir[@]|$(sysconfdir)|g' $(srcdir)/conf/fmd-copy.service.in >$@.new && mv $@.new $@
conf/fmd-perf.service: conf/fmd-perf.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && $(SED) 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/conf/fmd-perf.service.in >$@.new && mv $@.new $@
conf/fmd-web.service: conf/fmd-web.service.in Makefile
	$(AM_V_GEN)$(MKDIR_P) conf && $(SED) 's|@sbindir[@]|$(sbindir)|g' $(srcdir)/conf/fmd-web.service.in >$@.new && mv $@.new $@
nodist_systemdsystemunit_DATA = conf/fmd.service conf/fmd-agent.service conf/fmd-relay.service conf/fmd-copy.service conf/fmd-perf.service
if HAVE_EVHTTP
nodist_systemdsystemunit_DATA += conf/fmd-web.service
endif
dist_systemdsystemunit_DATA = conf/redis-fmd@.service
# Their users, and the devices of these.  Below a prefix of its own they lie beside the unit.
sysusersdir = $(systemdsystemunitdir)/../../sysusers.d
udevrulesdir = $(systemdsystemunitdir)/../../udev/rules.d
dist_udevrules_DATA = conf/70-fmd.rules
install-data-local:
	$(MKDIR_P) $(DESTDIR)$(sysusersdir)
	$(INSTALL_DATA) $(srcdir)/conf/fmd.sysusers $(DESTDIR)$(sysusersdir)/fmd.conf
	$(INSTALL_DATA) $(srcdir)/conf/fmd-agent.sysusers $(DESTDIR)$(sysusersdir)/fmd-agent.conf
uninstall-local:
	rm -f $(DESTDIR)$(sysusersdir)/fmd.conf $(DESTDIR)$(sysusersdir)/fmd-agent.conf

EXTRA_DIST += conf/fmd.service.in conf/fmd-agent.service.in conf/fmd-relay.service.in conf/fmd-copy.service.in conf/fmd-perf.service.in conf/fmd-web.service.in conf/fmd.sysusers conf/fmd-agent.sysusers
CLEANFILES += conf/fmd.conf conf/fmd.service conf/fmd-agent.service conf/fmd-relay.service conf/fmd-copy.service conf/fmd-perf.service conf/fmd-web.service

sbin_SCRIPTS += fmd-copy-setup
fmd-copy-setup: conf/fmd-copy-setup.in Makefile
	$(AM_V_GEN)$(SED) 's|@sysconfdir[@]|$(sysconfdir)|g' $(srcdir)/conf/fmd-copy-setup.in >$@.new && chmod +x $@.new && mv $@.new $@
EXTRA_DIST += conf/fmd-copy-setup.in
CLEANFILES += fmd-copy-setup

# Debian's packages; what machine has which is in doc/running.md.
EXTRA_DIST += debian/changelog debian/control debian/copyright debian/fmd-acm.install debian/fmd-agent.dirs debian/fmd-agent.install \
	debian/fmd-agent.postinst debian/fmd-agent.postrm debian/fmd-engine-dev.install debian/fmd-perf.install debian/fmd-sim.install debian/fmd-tools.install \
	debian/fmd-tools.lintian-overrides debian/fmd-web.install debian/fmd.install debian/fmd.postinst debian/fmd.postrm debian/not-installed debian/rules \
	debian/source/format debian/source/lintian-overrides debian/tests/control debian/tests/engine debian/tests/fabric
