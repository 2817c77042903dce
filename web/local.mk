# SPDX-License-Identifier: BSD-2-Clause
# web/: fmd-web.  libfmweb is all but the program, for tests.
# The page, as dev/page has built it of web/page.
page_files = web/page/dist/index.html web/page/dist/app.js web/page/dist/app.css
EXTRA_DIST += $(page_files) dev/embed
EXTRA_DIST += web/page/src web/page/test web/page/package.json web/page/package-lock.json web/page/tsconfig.json web/page/.npmrc dev/page
if HAVE_EVHTTP
noinst_LTLIBRARIES += libfmweb.la
libfmweb_la_SOURCES = \
	web/serve/api.c \
	web/serve/api.h \
	web/serve/counted.c \
	web/serve/counted.h \
	web/serve/fabric.c \
	web/serve/fabric.h \
	web/serve/files.c \
	web/serve/files.h \
	web/serve/listen.c \
	web/serve/listen.h \
	web/serve/query.c \
	web/serve/query.h \
	web/serve/questions.c \
	web/serve/questions.h \
	web/serve/reply.c \
	web/serve/reply.h \
	web/serve/scrape.c \
	web/serve/scrape.h \
	web/serve/site.c \
	web/serve/site.h \
	web/serve/stream.c \
	web/serve/stream.h \
	web/serve/visitors.c \
	web/serve/visitors.h \
	web/text/cells.c \
	web/text/cells.h \
	web/text/hour.c \
	web/text/hour.h \
	web/text/levels.c \
	web/text/levels.h \
	web/text/metrics.c \
	web/text/metrics.h \
	web/text/places.c \
	web/text/places.h \
	web/text/ports.c \
	web/text/ports.h \
	web/text/readings.c \
	web/text/readings.h \
	web/text/text.c \
	web/text/text.h
nodist_libfmweb_la_SOURCES = web/page/page_files.c
libfmweb_la_CFLAGS = $(AM_CFLAGS) $(EVHTTP_CFLAGS) $(JANSSON_CFLAGS)
libfmweb_la_LIBADD = $(EVHTTP_LIBS)

web/page/page_files.c: $(page_files) dev/embed
	$(AM_V_GEN)$(MKDIR_P) web/page && $(SHELL) $(srcdir)/dev/embed $(page_files:%=$(srcdir)/%) >$@.new && mv $@.new $@
CLEANFILES += web/page/page_files.c

sbin_PROGRAMS += fmd-web
fmd_web_SOURCES = web/serve/web.c
fmd_web_CFLAGS = $(AM_CFLAGS) $(EVHTTP_CFLAGS) $(JANSSON_CFLAGS)
fmd_web_LDADD = libfmweb.la libfmperf.la libfmcore.la $(EVHTTP_LIBS) $(JANSSON_LIBS)
endif
