/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * web/serve/files.h - the page: files that are built into fmd-web (web/page/dist).
 *
 *	/              index.html, whatever stands behind the question mark, which is the page's
 *	/page/NAME     the others
 */
#ifndef WEB_SERVE_FILES_H
#define WEB_SERVE_FILES_H

#include <event2/http.h>
#include <stdbool.h>
#include <stddef.h>

struct file_of_page {
	const char *name;
	const unsigned char *bytes; /* [n] */
	size_t n;
};
/* Made by dev/embed; ends with a NULL name. */
extern const struct file_of_page files_of_page[];

struct files;
struct files *files_new(void);	  /* NULL: memory is out */
void files_free(struct files *f); /* NULL is fine */
/* False: there is no such file, and nothing is answered. */
bool files_answer(struct files *f, struct evhttp_request *req, const char *path);

#endif
