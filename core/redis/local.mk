# SPDX-License-Identifier: BSD-2-Clause
# core/redis/: a connection to Redis.  Who has no libfmcore takes these sources (host/agent).
if HAVE_HIREDIS
CORE_SOURCES += \
	core/redis/info.c \
	core/redis/info.h \
	core/redis/redis.c \
	core/redis/redis.h
endif
