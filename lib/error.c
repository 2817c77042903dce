/* SPDX-License-Identifier: BSD-2-Clause */
#include "lib/error.h"

#include <stdio.h>
#include <string.h>

int
fm_vfail(struct fm_error *err, enum fm_error_kind kind, const char *fmt, va_list ap)
{
	if (err != NULL) {
		err->kind = kind;
		vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	}
	return kind;
}

int
fm_fail(struct fm_error *err, enum fm_error_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fm_vfail(err, kind, fmt, ap);
	va_end(ap);
	return kind;
}

int
fm_context(struct fm_error *err, const char *fmt, ...)
{
	char sentence[sizeof(err->msg)];
	va_list ap;
	int n;

	memcpy(sentence, err->msg, sizeof(sentence));
	va_start(ap, fmt);
	n = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n + 3 > sizeof(err->msg))
		return err->kind;
	memcpy(err->msg + n, ": ", 2);
	n += 2;
	snprintf(err->msg + n, sizeof(err->msg) - (size_t)n, "%.*s", (int)sizeof(err->msg) - n - 1,
	    sentence);
	return err->kind;
}

const char *
fm_error_word(enum fm_error_kind kind)
{
	switch (kind) {
	case FM_OK:
		return "ok";
	case FM_E_CONFIG:
		return "configuration";
	case FM_E_TOPOLOGY:
		return "topology";
	case FM_E_RESOURCE:
		return "resource";
	case FM_E_SYSTEM:
		return "system";
	case FM_E_CANCELLED:
		return "cancelled";
	case FM_E_BUG:
		return "bug";
	}
	return "unknown";
}
