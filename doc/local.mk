# SPDX-License-Identifier: BSD-2-Clause
# doc/: man pages, and pages for three readers (doc/README.md).
dist_man_MANS += doc/fmd.8 doc/fmctl.8 doc/fmd-agent.8 doc/fmd-copy-setup.8 doc/fmd-perf.8 doc/fmd-web.8 doc/fmroute.1 doc/fmd-engine-check.1 doc/fmsim.1 doc/libfmdacm.7
nodist_man_MANS = doc/fmd.conf.5 doc/fmd-events.7 doc/fmd-opensm.7
doc/fmd.conf.5: doc/fmd.conf.5.in fmd-doc $(plugin_LTLIBRARIES)
	$(AM_V_GEN)$(MKDIR_P) doc && ./fmd-doc man plugins/engines/.libs >$@.options && \
		cat $(srcdir)/doc/fmd.conf.5.in $@.options >$@.new && rm $@.options && mv $@.new $@
doc/fmd-opensm.7: doc/fmd-opensm.7.in fmd-doc $(plugin_LTLIBRARIES)
	$(AM_V_GEN)$(MKDIR_P) doc && ./fmd-doc opensm plugins/engines/.libs >$@.rows && \
		cat $(srcdir)/doc/fmd-opensm.7.in $@.rows >$@.new && rm $@.rows && mv $@.new $@
doc/fmd-events.7: doc/fmd-events.7.in fmd-doc $(plugin_LTLIBRARIES)
	$(AM_V_GEN)$(MKDIR_P) doc && ./fmd-doc events plugins/engines/.libs >$@.rows && \
		cat $(srcdir)/doc/fmd-events.7.in $@.rows >$@.new && rm $@.rows && mv $@.new $@
EXTRA_DIST += doc/fmd.conf.5.in doc/fmd-events.7.in doc/fmd-opensm.7.in
CLEANFILES += doc/fmd.conf.5 doc/fmd-events.7 doc/fmd-opensm.7
# What HACKING.md and the man pages name by doc/NAME is beside them.
dist_doc_DATA = README.md HACKING.md ChangeLog
docpagesdir = $(docdir)/doc
dist_docpages_DATA = \
	doc/README.md \
	doc/abi.md \
	doc/bench.md \
	doc/compose.md \
	doc/design.md \
	doc/distribution.md \
	doc/engines.md \
	doc/events.md \
	doc/fmsim.md \
	doc/glossary.md \
	doc/growth.svg \
	doc/programmers.md \
	doc/regions.md \
	doc/repair.md \
	doc/running.md \
	doc/sa.md \
	doc/standby.md \
	doc/sweep-fields.md \
	doc/writing-engines.md
