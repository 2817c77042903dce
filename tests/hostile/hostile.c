/* SPDX-License-Identifier: BSD-2-Clause */
/* An engine that does what its option says, and then routes as if nothing had been. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/apart/wire.h"
#include "lib/error.h"
#include "tests/modules/bad.h"

static const char *const deeds[] = { "nothing", "crash", "abort", "exit", "spin", "allocate",
	"ahead", "behind", "padding", "fabric", "socket", "fork", "thread", "exec", "kill", "trace",
	"write", "read", "limits", "vls", "shape", "answer", "mute", "babble", "junk", "hangup",
	"afterwards", "refuse", NULL };
enum deed {
	NOTHING,
	CRASH,
	ABORT,
	EXIT,
	SPIN,
	ALLOCATE,
	AHEAD,
	BEHIND,
	PADDING,
	FABRIC,
	SOCKET,
	FORK,
	THREAD,
	EXEC,
	KILL,
	TRACE,
	WRITE,
	READ,
	LIMITS,
	VLS,
	SHAPE,
	ANSWER,
	MUTE,
	BABBLE,
	JUNK,
	HANGUP,
	AFTERWARDS,
	REFUSE
};

struct opts {
	int deed;
	const char *file;
	struct fm_nodeset roots;
	struct fm_nodeset_list order;
	struct fm_node_values weights;
	struct fm_file text;
};

static int *volatile nowhere = (int *)16;

static void
spin(void)
{
	for (volatile int on = 1; on;)
		continue;
}

/* One worker answers in the engine's place, the others write on. */
static void
write_on(void *arg, uint32_t i, unsigned worker)
{
	const struct wire_answer answer = { .kind = WIRE_ANSWER, .n_vls_used = 1 };
	struct fm_tables *out = arg;

	if (i == 0 && write(WIRE_SOCKET, &answer, sizeof(answer)) < 0)
		abort();
	for (volatile uint8_t *at = out->lft[0];;)
		at[1]++;
}

static void
nothing(void *arg, uint32_t i, unsigned worker)
{
}

static void
allocate(void)
{
	for (;;) {
		char *at = malloc(1 << 20);

		if (at == NULL)
			abort();
		memset(at, 1, 1 << 20);
	}
}

static void
stir(const struct fm_host *host, const struct fm_fabric *fab, const struct opts *o,
    struct fm_tables *out)
{
	volatile uint8_t *at;

	switch (o->deed) {
	case CRASH:
		*nowhere = 1;
		break;
	case ABORT:
		abort();
	case EXIT:
		exit(3);
	case SPIN:
		spin();
		break;
	case ALLOCATE:
		allocate();
		break;
	case AHEAD:
		for (at = out->lft[0];; at--)
			*at = 1;
	case BEHIND:
		for (at = out->lft[fab->n_switches - 1];; at++)
			*at = 1;
	case PADDING:
		out->lft[1][fab->max_lid + 1] = 1;
		break;
	case FABRIC:
		((uint8_t *)(uintptr_t)fab->link_port)[0] = 0;
		break;
	case SOCKET:
		socket(AF_INET, SOCK_STREAM, 0);
		break;
	case FORK:
		fork();
		break;
	case THREAD:
		syscall(SYS_clone, 0, 0, 0, 0, 0);
		break;
	case EXEC:
		execl("/bin/true", "true", (char *)NULL);
		break;
	case KILL:
		kill(getppid(), SIGTERM);
		break;
	case TRACE:
		ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
		break;
	case WRITE:
		if (open(o->file, O_WRONLY | O_CREAT | O_TRUNC, 0600) >= 0)
			abort();
		break;
	case READ:
		if (open(o->file, O_RDONLY) >= 0 || getenv("PATH") != NULL)
			abort();
		break;
	case LIMITS:
		setrlimit(RLIMIT_AS, &(struct rlimit){ RLIM_INFINITY, RLIM_INFINITY });
		break;
	case BABBLE:
		for (;;)
			host->log(host, 2, "\033[2J%s", "still here");
	case AFTERWARDS:
		host->parallel_for(host, 1000, write_on, out);
		break;
	case JUNK:
		for (uint32_t n = 0; n < 1000; n++) {
			uint8_t bytes[64];

			for (unsigned i = 0; i < sizeof(bytes); i++)
				bytes[i] = (uint8_t)(n * 31 + i * 7);
			if (write(WIRE_SOCKET, bytes, n % sizeof(bytes) + 1) < 0)
				break;
		}
		break;
	case HANGUP:
		close(WIRE_SOCKET);
		spin();
		break;
	default:
		host->parallel_for(host, 100, nothing, NULL);
		break;
	}
}

/* Trees, breadth first. */
static int
trees(const struct fm_host *host, const struct fm_fabric *fab, struct fm_tables *out,
    struct fm_error *err)
{
	fm_sw *queue = host->scratch(host, fab->n_switches * sizeof(*queue));
	uint8_t *port = host->scratch(host, fab->n_switches);

	if (queue == NULL || port == NULL)
		return host->fail(host, err, FM_E_RESOURCE, "out of scratch memory");
	for (fm_end e = 0; e < fab->n_ends; e++) {
		uint32_t head = 0, tail = 0;

		if (fab->end_lid[e] == 0 || fab->end_sw[e] == FM_NONE)
			continue;
		memset(port, FM_PORT_NONE, fab->n_switches);
		port[fab->end_sw[e]] = fab->end_port[e];
		queue[tail++] = fab->end_sw[e];
		while (head < tail) {
			fm_sw s = queue[head++];

			for (fm_link l = fab->sw_first_link[s]; l < fab->sw_first_link[s + 1]; l++)
				if (port[fab->link_to[l]] == FM_PORT_NONE) {
					port[fab->link_to[l]] = fab->link_port[fab->link_rev[l]];
					queue[tail++] = fab->link_to[l];
				}
		}
		for (fm_sw s = 0; s < fab->n_switches; s++)
			out->lft[s][fab->end_lid[e]] = port[s];
	}
	return 0;
}

/* What came of the options, as a refusal. */
static int
tell(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const struct opts *o, struct fm_error *err)
{
	uint32_t n = 0;

	for (fm_sw s = 0; s < fab->n_switches; s++)
		n += fm_bit(o->roots.sw, s);
	return host->fail(host, err, FM_E_TOPOLOGY,
	    "%u roots, %u sets, %u rows of %lld, %.8s, %s, %s, prev %d", n, o->order.n_sets,
	    o->weights.n_rows, o->weights.n_rows > 0 ? (long long)o->weights.row[0].value : 0LL,
	    o->text.bytes != NULL ? o->text.bytes : "", fab->sw_name[0],
	    fab->end_name[fab->n_ends - 1], req->prev_lft != NULL ? req->prev_lft[0][1] : -1);
}

static int
hostile_route(const struct fm_host *host, const struct fm_fabric *fab, const struct fm_request *req,
    const void *opts, struct fm_tables *out, struct fm_error *err)
{
	const struct opts *o = opts;
	int rc;

	if (o->deed == REFUSE)
		return host->fail(
		    host, err, FM_E_TOPOLOGY, "not this fabric of %u switches", fab->n_switches);
	if (o->deed == READ && o->text.bytes != NULL)
		return tell(host, fab, req, o, err);
	stir(host, fab, o, out);
	rc = trees(host, fab, out, err);
	out->n_vls_used = o->deed == VLS ? 200 : 1;
	if (o->deed == SHAPE)
		memset(&out->sl_shape, 0x77, sizeof(out->sl_shape));
	if (o->deed == MUTE)
		return FM_E_TOPOLOGY;
	if (o->deed == ANSWER)
		memset(err, 0x80, sizeof(*err));
	return o->deed == ANSWER ? 12345 : rc;
}

#define AT(field) .offset = offsetof(struct opts, field)
static const struct fm_option options[] = { { .name = "deed",
						.type = FM_OPT_ENUM,
						AT(deed),
						.def = "nothing",
						.choices = deeds,
						.help = "What it does." },
	{ .name = "file", .type = FM_OPT_STRING, AT(file), .def = "/nowhere", .help = "A path." },
	{ .name = "roots", .type = FM_OPT_NODES, AT(roots), .def = "", .help = "Nodes." },
	{ .name = "order", .type = FM_OPT_NODES_LIST, AT(order), .def = "", .help = "Nodes." },
	{ .name = "weights",
	    .type = FM_OPT_NODE_VALUES,
	    AT(weights),
	    .def = "",
	    .min = 1,
	    .max = 255,
	    .unit = "port weight",
	    .help = "Weights." },
	{ .name = "text", .type = FM_OPT_FILE, AT(text), .def = "", .help = "A file." },
	{ .type = FM_OPT_END } };
FM_ENGINE(hostile, .summary = "An engine that means no good.",
    .traits = FM_PROVIDES_LFT | FM_USES_PREV, .options = options,
    .options_size = sizeof(struct opts), .route = hostile_route);
