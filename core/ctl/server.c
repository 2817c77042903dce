/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The server's side of the control socket.
 *
 *	accept --> credentials --> a line --> command --> reply --> close
 *
 * A client is a buffered socket and one timer; whatever it does, or does not
 * do, the timer ends it.  Replies are buffered whole and drained by the loop.
 */
#include "config.h"

#include "core/ctl/ctl.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <grp.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "core/text/json_text.h"
#include "core/text/suggest.h"
#include "lib/clock.h"
#include "lib/log.h"

struct client {
	struct ctl_server *server;
	struct client *next, **link; /* in server->clients */
	struct bufferevent *io;
	struct event *deadline;
	int64_t moved_ms; /* when a byte last came or went */
	bool answered;
	bool only_reads; /* of the group */
};

struct ctl_server {
	struct event_base *base;
	struct evconnlistener *listener;
	const struct ctl_command *commands;
	void *arg;
	struct client *clients;
	unsigned n_clients;
	int64_t idle_ms; /* who has not moved for so long makes room for others */
	bool has_group;
	gid_t group; /* its members may use what reads */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct fm_log_bucket strangers;
};

/* ---------------------------------------------------------------- clients */

static void
drop(struct client *c)
{
	*c->link = c->next;
	if (c->next != NULL)
		c->next->link = c->link;
	c->server->n_clients--;
	if (c->deadline != NULL)
		event_free(c->deadline);
	bufferevent_free(c->io);
	free(c);
}

/* A sentence for one that gets no answer; it is not waited for. */
static void
send_refusal(int fd, enum fm_error_kind kind, const char *why)
{
	char line[256];
	int n = snprintf(line, sizeof(line), "{\"ok\":false,\"error\":\"%s\",\"kind\":\"%s\"}\n",
	    why, fm_error_word(kind));

	(void)!send(fd, line, (size_t)n, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void
hang_up(struct client *c, const char *why)
{
	if (!c->answered) /* else it has its answer before it, or a part */
		send_refusal(bufferevent_getfd(c->io), FM_E_SYSTEM, why);
	drop(c);
}

static void
on_deadline(evutil_socket_t fd, short what, void *arg)
{
	hang_up(arg, "no whole request came in time");
}

static void
free_text(const void *bytes, size_t n, void *arg)
{
	free((void *)(uintptr_t)bytes);
}

/* False: memory is out, and the text is released. */
static bool
put_text(struct evbuffer *out, const struct ctl_text *text)
{
	void (*release)(const void *, size_t, void *) =
	    text->release != NULL ? text->release : free_text;

	if (text->bytes != NULL &&
	    evbuffer_add_reference(out, text->bytes, text->n, release, text->arg) == 0)
		return true;
	release(text->bytes, text->n, text->arg);
	return false;
}

static bool
put_words(struct evbuffer *out, const char *words)
{
	return evbuffer_add(out, words, strlen(words)) == 0;
}

/* All of the reply is in its buffer, or it could not be. */
static void
end_answer(struct client *c, bool is_whole)
{
	struct timeval limit = { CTL_DEADLINE_S, 0 };

	c->answered = true;
	bufferevent_disable(c->io, EV_READ);
	if (!is_whole)
		bufferevent_flush(c->io, EV_WRITE, BEV_FINISHED);
	event_add(c->deadline, &limit); /* as long again for reading the reply */
}

static void
answer(struct client *c, json_t *reply)
{
	struct ctl_text text = { .bytes = reply != NULL ? json_dumps(reply, JSON_COMPACT) : NULL };

	json_decref(reply);
	text.n = text.bytes != NULL ? strlen(text.bytes) : 0;
	end_answer(c,
	    put_text(bufferevent_get_output(c->io), &text) &&
		put_words(bufferevent_get_output(c->io), "\n"));
}

/* The text is the callee's. */
static void
answer_text(struct client *c, struct ctl_text *text)
{
	struct evbuffer *out = bufferevent_get_output(c->io);
	bool is_whole = put_words(out, CTL_TEXT_HEAD);

	is_whole = put_text(out, text) && is_whole;
	end_answer(c, is_whole && put_words(out, CTL_TEXT_TAIL));
}

static void
answer_error(struct client *c, const struct fm_error *err)
{
	answer(c,
	    json_pack("{s:b, s:o, s:s}", "ok", 0, "error", json_text(err->msg), "kind",
		fm_error_word(err->kind)));
}

/* --------------------------------------------------------------- commands */

static json_t *
list_commands(const struct ctl_command *commands)
{
	json_t *all = json_array();

	for (; commands->name != NULL; commands++)
		json_array_append_new(all,
		    json_pack("{s:s, s:s, s:b, s:s*, s:s*}", "command", commands->name, "help",
			commands->help, "reads", (int)commands->reads, "but", commands->but, "asks",
			commands->asks));
	return all;
}

static bool
has_word(const char *words, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = words; n > 0 && (at = strstr(at, word)) != NULL; at += n)
		if ((at == words || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

/* A word misspelt must not be a word unsaid. */
static int
check_args(const struct ctl_command *c, const json_t *args, struct fm_error *err)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)(uintptr_t)args, key, value)
	{
		if (c->args == NULL || has_word(c->args, key))
			continue;
		if (c->args[0] == '\0')
			return fm_fail(err, FM_E_CONFIG,
			    "%s takes no arguments: %.40s is one too many", c->name, key);
		return fm_fail(
		    err, FM_E_CONFIG, "%s takes no %.40s, but %s", c->name, key, c->args);
	}
	return 0;
}

static bool
only_looks(const struct ctl_command *c, const json_t *args)
{
	return c->reads && (c->but == NULL || json_object_get(args, c->but) == NULL);
}

static int
refuse_command(const struct ctl_command *commands, const char *name, struct fm_error *err)
{
	struct suggestion s;

	suggest_init(&s, name);
	for (; commands->name != NULL; commands++)
		suggest_offer(&s, commands->name);
	return suggest_best(&s) != NULL
	    ? fm_fail(err, FM_E_CONFIG, "there is no command %.40s: did you mean %s?", name,
		  suggest_best(&s))
	    : fm_fail(err, FM_E_CONFIG, "there is no command %.40s: help lists them", name);
}

/* What a command has found: one of the two. */
struct finding {
	json_t *value; /* a reference */
	struct ctl_text text;
};

static int
run_command(const struct client *from, const char *name, const json_t *args, struct finding *result,
    struct fm_error *err)
{
	const struct ctl_server *s = from->server;

	if (strcmp(name, "help") == 0) {
		result->value = list_commands(s->commands);
		return 0;
	}
	for (const struct ctl_command *c = s->commands; c->name != NULL; c++) {
		if (strcmp(c->name, name) != 0)
			continue;
		if (from->only_reads && !only_looks(c, args))
			return fm_fail(err, FM_E_CONFIG,
			    "%s changes something: that is root's and the daemon's own user's; "
			    "members of control_group may look",
			    name);
		if (check_args(c, args, err) != 0)
			return (int)err->kind;
		return c->write != NULL ? c->write(s->arg, args, &result->text, err)
					: c->run(s->arg, args, &result->value, err);
	}
	return refuse_command(s->commands, name, err);
}

/* A whole request line. */
static void
serve(struct client *c, const char *line, size_t n)
{
	json_t *request, *args, *none = json_object();
	struct finding result = { 0 };
	const char *name = NULL;
	json_error_t where;
	struct fm_error err;
	int rc;

	request = json_loadb(line, n, 0, &where);
	args = json_object_get(request, "args");
	if (args == NULL)
		args = none;
	name = json_string_value(json_object_get(request, "command"));
	if (request == NULL)
		rc = fm_fail(&err, FM_E_CONFIG, "the request is no JSON: %s at byte %d", where.text,
		    where.position);
	else if (name == NULL || !json_is_object(args))
		rc = fm_fail(
		    &err, FM_E_CONFIG, "a request is {\"command\":\"NAME\",\"args\":{...}}");
	else
		rc = run_command(c, name, args, &result, &err);
	if (rc != 0)
		answer_error(c, &err);
	else if (result.text.bytes != NULL)
		answer_text(c, &result.text);
	else
		answer(c, json_pack("{s:b, s:o?}", "ok", 1, "result", result.value));
	json_decref(request);
	json_decref(none);
}

static void
on_read(struct bufferevent *io, void *arg)
{
	struct evbuffer *in = bufferevent_get_input(io);
	struct client *c = arg;
	struct fm_error err;
	size_t n;
	char *line;

	if (c->answered)
		return;
	line = evbuffer_readln(in, &n, EVBUFFER_EOL_LF);
	if (line != NULL) {
		serve(c, line, n);
	} else if (evbuffer_get_length(in) >= CTL_REQUEST_MAX) {
		fm_fail(&err, FM_E_CONFIG, "the request is longer than %d bytes", CTL_REQUEST_MAX);
		answer_error(c, &err);
	}
	free(line);
}

/* All is written: the exchange is over. */
static void
on_drained(struct bufferevent *io, void *arg)
{
	struct client *c = arg;

	if (c->answered)
		drop(c);
}

static void
on_end(struct bufferevent *io, short what, void *arg)
{
	drop(arg);
}

/* -------------------------------------------------------------- listening */

/* Is whoever is at the other end of fd a member?  By the list that it had when it connected. */
static bool
is_member(int fd, gid_t group)
{
	socklen_t size = 64 * sizeof(gid_t);
	gid_t *list = malloc(size), *more;
	bool is = false;
	int rc = list != NULL ? getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, list, &size) : -1;

	if (list != NULL && rc != 0 && errno == ERANGE && (more = realloc(list, size)) != NULL) {
		list = more;
		rc = getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, list, &size);
	}
	for (size_t i = 0; rc == 0 && i < size / sizeof(gid_t); i++)
		is = is || list[i] == group;
	free(list);
	return is;
}

enum rights { NOTHING, READS, ALL };

static enum rights
rights_of(const struct ctl_server *s, int fd)
{
	struct ucred peer;
	socklen_t n = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) != 0)
		return NOTHING;
	if (peer.uid == 0 || peer.uid == geteuid())
		return ALL;
	return s->has_group && (peer.gid == s->group || is_member(fd, s->group)) ? READS : NOTHING;
}

static void
turn_away(struct ctl_server *s, int fd)
{
	send_refusal(fd, FM_E_CONFIG,
	    s->has_group ? "fmd answers root, its own user and members of its control_group"
			 : "fmd answers root and its own user; a control_group may be given");
	fm_log_rl(
	    &s->strangers, FM_LOG_WARN, "ctl", "a stranger at the control socket was turned away");
}

static int64_t
now_ms(void)
{
	return fm_clock_ms(CLOCK_MONOTONIC);
}

static void
on_moved(struct evbuffer *buffer, const struct evbuffer_cb_info *info, void *arg)
{
	struct client *c = arg;

	c->moved_ms = now_ms();
}

/* The one that has been idle the longest goes, where one has been long enough. */
static bool
make_room(struct ctl_server *s)
{
	struct client *idlest = s->clients;

	if (s->n_clients < CTL_CLIENTS_MAX)
		return true;
	for (struct client *c = s->clients; c != NULL; c = c->next)
		if (c->moved_ms <= idlest->moved_ms) /* new ones come first */
			idlest = c;
	if (now_ms() - idlest->moved_ms < s->idle_ms)
		return false;
	hang_up(idlest, "others wait, and no whole request came from here");
	return true;
}

static struct client *
new_client(struct ctl_server *s, int fd)
{
	struct client *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return NULL;
	c->io = bufferevent_socket_new(s->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (c->io == NULL) {
		free(c);
		return NULL;
	}
	c->server = s;
	c->moved_ms = now_ms();
	c->next = s->clients;
	c->link = &s->clients;
	if (c->next != NULL)
		c->next->link = &c->next;
	s->clients = c;
	s->n_clients++;
	return c;
}

static void
on_accept(struct evconnlistener *l, evutil_socket_t fd, struct sockaddr *sa, int len, void *arg)
{
	struct timeval limit = { CTL_DEADLINE_S, 0 };
	struct ctl_server *s = arg;
	enum rights rights = rights_of(s, fd);
	struct client *c = NULL;

	if (rights == NOTHING)
		turn_away(s, fd);
	else if (!make_room(s))
		send_refusal(fd, FM_E_SYSTEM, "too many clients of the control socket: try again");
	else
		c = new_client(s, fd);
	if (c == NULL) {
		close(fd);
		return;
	}
	c->only_reads = rights == READS;
	c->deadline = evtimer_new(s->base, on_deadline, c);
	if (c->deadline == NULL || event_add(c->deadline, &limit) != 0) {
		drop(c);
		return;
	}
	bufferevent_setcb(c->io, on_read, on_drained, on_end, c);
	evbuffer_add_cb(bufferevent_get_input(c->io), on_moved, c);
	evbuffer_add_cb(bufferevent_get_output(c->io), on_moved, c);
	bufferevent_setwatermark(c->io, EV_READ, 0, CTL_REQUEST_MAX);
	bufferevent_enable(c->io, EV_READ | EV_WRITE);
}

/* Does somebody listen at addr, perhaps with too many before us, or by datagrams? */
static bool
is_alive(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool alive = fd >= 0 &&
	    (connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0 ||
		errno != ECONNREFUSED);

	if (fd >= 0)
		close(fd);
	return alive;
}

/* Only a socket that a dead daemon has left behind is removed. */
static int
clear_path(const char *what, const struct sockaddr_un *addr, struct fm_error *err)
{
	const char *path = addr->sun_path;
	struct stat st;

	if (lstat(path, &st) != 0)
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return fm_fail(err, FM_E_CONFIG,
		    "%s %s: that is there and is no socket: choose another path, or move it away",
		    what, path);
	if (is_alive(addr))
		return fm_fail(err, FM_E_SYSTEM, "%s %s: another fmd answers there", what, path);
	unlink(path);
	return 0;
}

static int
make_folder(const char *what, const char *path, struct fm_error *err)
{
	char copy[PATH_MAX], *dir;

	snprintf(copy, sizeof(copy), "%s", path);
	dir = dirname(copy);
	if (mkdir(dir, 0755) != 0 && errno != EEXIST)
		return fm_fail(
		    err, FM_E_SYSTEM, "%s: cannot make %s: %s", what, dir, strerror(errno));
	return 0;
}

int
ctl_bind(const char *what, const char *path, int *out, struct fm_error *err)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	mode_t mask;
	int fd, rc;

	if (strlen(path) >= sizeof(addr.sun_path))
		return fm_fail(err, FM_E_CONFIG,
		    "%s %s: longer than %zu bytes, choose another path", what, path,
		    sizeof(addr.sun_path) - 1);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	if ((rc = make_folder(what, path, err)) != 0 || (rc = clear_path(what, &addr, err)) != 0)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	mask = umask(0177);
	rc = fd < 0 ? -1 : bind(fd, (const struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (rc != 0) {
		rc = fm_fail(err, FM_E_SYSTEM, "%s %s: %s", what, path, strerror(errno));
		if (fd >= 0)
			close(fd);
		return rc;
	}
	*out = fd;
	return 0;
}

int
ctl_open(struct event_base *base, const char *path, const struct ctl_command *commands, void *arg,
    struct ctl_server **out, struct fm_error *err)
{
	struct ctl_server *s;
	int fd = -1, rc = ctl_bind("control socket", path, &fd, err);

	if (rc != 0)
		return rc;
	signal(SIGPIPE, SIG_IGN); /* a client that hangs up must not end the daemon */
	s = calloc(1, sizeof(*s));
	if (s != NULL)
		s->listener = evconnlistener_new(base, on_accept, s,
		    LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, CTL_CLIENTS_MAX, fd);
	if (s == NULL || s->listener == NULL) {
		close(fd);
		unlink(path);
		free(s);
		return fm_fail(err, FM_E_RESOURCE, "control socket %s: out of memory", path);
	}
	s->base = base;
	s->commands = commands;
	s->arg = arg;
	s->idle_ms = CTL_IDLE_MS;
	s->strangers = (struct fm_log_bucket){ .burst = 5, .every_ms = 60000 };
	memcpy(s->path, path, strlen(path) + 1);
	*out = s;
	return 0;
}

int
ctl_allow_group(struct ctl_server *s, const char *group, struct fm_error *err)
{
	const struct group *g = getgrnam(group);

	if (g == NULL)
		return fm_fail(
		    err, FM_E_CONFIG, "control_group = %.60s: there is no such group", group);
	if (chown(s->path, (uid_t)-1, g->gr_gid) != 0 || chmod(s->path, 0660) != 0)
		return fm_fail(err, FM_E_CONFIG,
		    "control_group = %.60s: cannot give it %.80s: %s; is fmd's user a member "
		    "(SupplementaryGroups= of its unit)?",
		    group, s->path, strerror(errno));
	s->has_group = true;
	s->group = g->gr_gid;
	return 0;
}

void
ctl_set_idle(struct ctl_server *s, int64_t ms)
{
	s->idle_ms = ms;
}

void
ctl_close(struct ctl_server *s)
{
	if (s == NULL)
		return;
	while (s->clients != NULL)
		drop(s->clients);
	evconnlistener_free(s->listener);
	unlink(s->path);
	free(s);
}

int
ctl_read_flag(const json_t *args, const char *key, bool *flag, struct fm_error *err)
{
	const json_t *given = json_object_get(args, key);
	json_int_t n = json_integer_value(given);

	*flag = json_is_true(given) || n == 1;
	return given == NULL || json_is_boolean(given) ||
		(json_is_integer(given) && n >= 0 && n <= 1)
	    ? 0
	    : fm_fail(err, FM_E_CONFIG, "%s is 1 or 0", key);
}
