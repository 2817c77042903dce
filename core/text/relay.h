/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * core/text/relay.h - how a Redis is named on a command line, and who logs in to it.
 *
 *	unix:PATH		a socket of this host
 *	HOST:PORT		TCP; HOST may be in brackets, as [::1]
 */
#ifndef CORE_TEXT_RELAY_H
#define CORE_TEXT_RELAY_H

#include <stdbool.h>

#include "lib/error.h"

struct relay_name {
	const char *path; /* of a socket, in the text that was parsed; NULL: TCP */
	char host[256];
	int port;
};
/* FM_E_CONFIG. */
int relay_name_parse(const char *text, struct relay_name *n, struct fm_error *err);
/* The same, and FM_E_CONFIG where it leaves the host and insecure does not say that it may. */
int relay_name_take(const char *text, bool insecure, struct relay_name *n, struct fm_error *err);
/* What is said to it passes a network: it is no socket, and no address of this host in numbers
 * (or the name localhost), as a name can mean anything tomorrow. */
bool relay_leaves_the_host(const struct relay_name *n);

struct relay_login {
	char user[128], password[512];
};
/* The line "USER PASSWORD" of a file; lines that begin with # and empty ones are passed over.
 * FM_E_CONFIG: it cannot be read, or has no such line. */
int relay_login_read(const char *path, struct relay_login *l, struct fm_error *err);

#endif
