# SPDX-License-Identifier: BSD-2-Clause
# plugins/: engines and the algorithms they share.
# An engine is plugins/engines/NAME/NAME.c, built to plugins/engines/NAME.so.
engine_ldflags = $(FM_LDFLAGS) -module -avoid-version -no-undefined -shared \
	-export-symbols-regex '_LTX_fm_engine$$'
COMMON_SOURCES =
include plugins/common/local.mk

# The same sources twice: a convenience library for the engines of this tree,
# an installed static one (position independent) for engines built elsewhere.
noinst_LTLIBRARIES += libfmcommon.la
libfmcommon_la_SOURCES = $(COMMON_SOURCES)
libfmcommon_la_LIBADD = libfmlib.la
lib_LIBRARIES += libfmalgo.a
libfmalgo_a_SOURCES = $(COMMON_SOURCES) $(LIB_SOURCES)
libfmalgo_a_CFLAGS = $(AM_CFLAGS) -fPIC
fminclude_HEADERS += include/fmd/engine.h include/fmd/error.h
EXTRA_DIST += include/fmd/own.h

# Engines, three lines each:
#	plugin_LTLIBRARIES += plugins/engines/NAME.la
#	plugins_engines_NAME_la_SOURCES = plugins/engines/NAME/NAME.c
#	plugins_engines_NAME_la_LDFLAGS = $(engine_ldflags)
#	plugins_engines_NAME_la_LIBADD = libfmcommon.la

plugin_LTLIBRARIES += plugins/engines/minhop.la
plugins_engines_minhop_la_SOURCES = plugins/engines/minhop/minhop.c
plugins_engines_minhop_la_LDFLAGS = $(engine_ldflags)
plugins_engines_minhop_la_LIBADD = libfmcommon.la

plugin_LTLIBRARIES += plugins/engines/updn.la
plugins_engines_updn_la_SOURCES = plugins/engines/updn/updn.c
plugins_engines_updn_la_LDFLAGS = $(engine_ldflags)
plugins_engines_updn_la_LIBADD = libfmcommon.la

plugin_LTLIBRARIES += plugins/engines/dnup.la
plugins_engines_dnup_la_SOURCES = plugins/engines/dnup/dnup.c
plugins_engines_dnup_la_LDFLAGS = $(engine_ldflags)
plugins_engines_dnup_la_LIBADD = libfmcommon.la

plugin_LTLIBRARIES += plugins/engines/shortestpath.la
plugins_engines_shortestpath_la_SOURCES = plugins/engines/shortestpath/shortestpath.c
plugins_engines_shortestpath_la_LDFLAGS = $(engine_ldflags)
plugins_engines_shortestpath_la_LIBADD = libfmcommon.la

plugin_LTLIBRARIES += plugins/engines/dgshortestpath.la
plugins_engines_dgshortestpath_la_SOURCES = plugins/engines/dgshortestpath/dgshortestpath.c
plugins_engines_dgshortestpath_la_LDFLAGS = $(engine_ldflags)
plugins_engines_dgshortestpath_la_LIBADD = libfmcommon.la

fattree_sources = \
	plugins/engines/fattree/classes.c \
	plugins/engines/fattree/fattree.c plugins/engines/fattree/fattree.h \
	plugins/engines/fattree/reverse.c
plugin_LTLIBRARIES += plugins/engines/fattree.la
plugins_engines_fattree_la_SOURCES = $(fattree_sources)
plugins_engines_fattree_la_LDFLAGS = $(engine_ldflags)
plugins_engines_fattree_la_LIBADD = libfmcommon.la

file_sources = \
	plugins/engines/file/ar_file.c plugins/engines/file/ar_file.h \
	plugins/engines/file/file.c \
	plugins/engines/file/guids.c plugins/engines/file/guids.h \
	plugins/engines/file/misfits.c plugins/engines/file/misfits.h \
	plugins/engines/file/sl_file.c plugins/engines/file/sl_file.h \
	plugins/engines/file/table_file.c plugins/engines/file/table_file.h
plugin_LTLIBRARIES += plugins/engines/file.la
plugins_engines_file_la_SOURCES = $(file_sources)
plugins_engines_file_la_LDFLAGS = $(engine_ldflags)
plugins_engines_file_la_LIBADD = libfmcommon.la

dragonfly_sources = \
	plugins/engines/dragonfly/alternatives.c \
	plugins/engines/dragonfly/between.c \
	plugins/engines/dragonfly/dragonfly.c plugins/engines/dragonfly/dragonfly.h \
	plugins/engines/dragonfly/even.c \
	plugins/engines/dragonfly/groups.c \
	plugins/engines/dragonfly/layout.c \
	plugins/engines/dragonfly/local.c \
	plugins/engines/dragonfly/planes.c plugins/engines/dragonfly/planes.h \
	plugins/engines/dragonfly/round.c \
	plugins/engines/dragonfly/rows.c
plugin_LTLIBRARIES += plugins/engines/dragonfly.la
plugins_engines_dragonfly_la_SOURCES = $(dragonfly_sources)
plugins_engines_dragonfly_la_LDFLAGS = $(engine_ldflags)
plugins_engines_dragonfly_la_LIBADD = libfmcommon.la

# The skeleton needs nothing but fmd/engine.h.  It is to be copied, not to route: it is not installed.
noinst_LTLIBRARIES += plugins/engines/template.la
plugins_engines_template_la_SOURCES = plugins/engines/template/template.c
plugins_engines_template_la_LDFLAGS = $(engine_ldflags) -rpath $(plugindir)

plugin_LTLIBRARIES += plugins/engines/sssp.la
plugins_engines_sssp_la_SOURCES = plugins/engines/sssp/sssp.c
plugins_engines_sssp_la_LDFLAGS = $(engine_ldflags)
plugins_engines_sssp_la_LIBADD = libfmcommon.la

plugin_LTLIBRARIES += plugins/engines/dfsssp.la
plugins_engines_dfsssp_la_SOURCES = plugins/engines/dfsssp/dfsssp.c
plugins_engines_dfsssp_la_LDFLAGS = $(engine_ldflags)
plugins_engines_dfsssp_la_LIBADD = libfmcommon.la

plugin_LTLIBRARIES += plugins/engines/lash.la
plugins_engines_lash_la_SOURCES = plugins/engines/lash/lash.c
plugins_engines_lash_la_LDFLAGS = $(engine_ldflags)
plugins_engines_lash_la_LIBADD = libfmcommon.la
plugin_LTLIBRARIES += plugins/engines/nue.la
plugins_engines_nue_la_SOURCES = $(nue_sources)
plugins_engines_nue_la_LDFLAGS = $(engine_ldflags)
plugins_engines_nue_la_LIBADD = libfmcommon.la
nue_sources = \
	plugins/engines/nue/even.c plugins/engines/nue/lanes.c \
	plugins/engines/nue/nue.c plugins/engines/nue/nue.h \
	plugins/engines/nue/rank.c plugins/engines/nue/room.c \
	plugins/engines/nue/trees.c
torus2qos_sources = \
	plugins/engines/torus2qos/conf.c \
	plugins/engines/torus2qos/mcast.c \
	plugins/engines/torus2qos/torus2qos.c plugins/engines/torus2qos/torus2qos.h
plugin_LTLIBRARIES += plugins/engines/torus2qos.la
plugins_engines_torus2qos_la_SOURCES = $(torus2qos_sources)
plugins_engines_torus2qos_la_LDFLAGS = $(engine_ldflags)
plugins_engines_torus2qos_la_LIBADD = libfmcommon.la

plugin_LTLIBRARIES += plugins/engines/dor.la
plugins_engines_dor_la_SOURCES = plugins/engines/dor/dor.c
plugins_engines_dor_la_LDFLAGS = $(engine_ldflags)
plugins_engines_dor_la_LIBADD = libfmcommon.la

hyperx_sources = \
	plugins/engines/hyperx/hyperx.c \
	plugins/engines/hyperx/turns.c plugins/engines/hyperx/turns.h
plugin_LTLIBRARIES += plugins/engines/hyperx.la
plugins_engines_hyperx_la_SOURCES = $(hyperx_sources)
plugins_engines_hyperx_la_LDFLAGS = $(engine_ldflags)
plugins_engines_hyperx_la_LIBADD = libfmcommon.la

# Programmers of adaptive routing, in the folder beside:
#	vendor_LTLIBRARIES += plugins/vendors/NAME.la
vendordir = $(plugindir)/vendors
vendor_ldflags = $(FM_LDFLAGS) -module -avoid-version -no-undefined -shared \
	-export-symbols-regex '_LTX_fm_vendor$$'
fminclude_HEADERS += include/fmd/vendor.h

vendor_LTLIBRARIES += plugins/vendors/example.la
plugins_vendors_example_la_SOURCES = plugins/vendors/example/example.c
plugins_vendors_example_la_LDFLAGS = $(vendor_ldflags)

vendor_LTLIBRARIES += plugins/vendors/mellanox.la
plugins_vendors_mellanox_la_SOURCES = plugins/vendors/mellanox/mellanox.c
plugins_vendors_mellanox_la_LDFLAGS = $(vendor_ldflags)

# All engines, for tests that link them: the objects of the plugins.
noinst_LTLIBRARIES += libfmengines.la
libfmengines_la_SOURCES = \
	$(dragonfly_sources) \
	$(fattree_sources) \
	$(file_sources) \
	$(hyperx_sources) \
	$(nue_sources) \
	$(torus2qos_sources) \
	plugins/engines/dfsssp/dfsssp.c \
	plugins/engines/dgshortestpath/dgshortestpath.c \
	plugins/engines/dnup/dnup.c \
	plugins/engines/dor/dor.c \
	plugins/engines/lash/lash.c \
	plugins/engines/minhop/minhop.c \
	plugins/engines/shortestpath/shortestpath.c \
	plugins/engines/sssp/sssp.c \
	plugins/engines/updn/updn.c \
	plugins/vendors/example/example.c
