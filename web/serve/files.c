/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "web/serve/files.h"

#include <stdlib.h>
#include <string.h>

#include "web/serve/reply.h"

#define MOST 8
#define FOLDER "/page/"

struct files {
	struct page *page[MOST]; /* of files_of_page; NULL: there are no more */
};

static const struct {
	const char *end, *type;
} types[] = { { ".html", REPLY_HTML }, { ".js", "text/javascript; charset=utf-8" },
	{ ".css", "text/css; charset=utf-8" }, { "", "application/octet-stream" } };

static const char *
type_of(const char *name)
{
	size_t i = 0, n = strlen(name);

	while (
	    n < strlen(types[i].end) || strcmp(name + n - strlen(types[i].end), types[i].end) != 0)
		i++;
	return types[i].type;
}

bool
files_answer(struct files *f, struct evhttp_request *req, const char *path)
{
	const char *name = strcmp(path, "/") == 0	 ? "index.html"
	    : strncmp(path, FOLDER, strlen(FOLDER)) == 0 ? path + strlen(FOLDER)
							 : "";

	for (size_t i = 0; i < MOST && f->page[i] != NULL; i++)
		if (strcmp(files_of_page[i].name, name) == 0) {
			reply_kept(req, type_of(name), f->page[i]);
			return true;
		}
	return false;
}

struct files *
files_new(void)
{
	struct files *f = calloc(1, sizeof(*f));

	for (size_t i = 0; f != NULL && i < MOST && files_of_page[i].name != NULL; i++) {
		f->page[i] = page_new(PAGE_FILE);
		if (f->page[i] != NULL)
			text_put(&f->page[i]->text, (const char *)files_of_page[i].bytes,
			    files_of_page[i].n);
		if (f->page[i] == NULL || f->page[i]->text.is_lost) {
			files_free(f);
			return NULL;
		}
	}
	return f;
}

void
files_free(struct files *f)
{
	for (size_t i = 0; f != NULL && i < MOST; i++)
		page_put(f->page[i]);
	free(f);
}
