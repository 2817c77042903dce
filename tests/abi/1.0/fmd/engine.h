/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fmd/engine.h - the routing-engine plugin ABI, 1.0
 *
 * A routing engine is a function from an immutable fabric snapshot to a set
 * of tables.  It sends no MADs, takes no locks, keeps no global state and
 * calls nothing but libc and the host services handed to it.
 *
 *	snapshot (struct fm_fabric, const) --+
 *	request  (struct fm_request, const) -+--> route() --> struct fm_tables
 *	options  (your own struct, const) ---+
 *
 * Conventions used throughout:
 *   - All integers are in host byte order.
 *   - Index types: fm_sw (0..n_switches-1), fm_link (0..n_links-1),
 *     fm_end (0..n_ends-1).  LIDs are plain uint16_t named "lid", 1..0xBFFF.
 *   - Array shapes are written after the declaration: [n_switches][lft_stride].
 *     A pointer is NULL only where its comment says so.
 *   - Memory is owned by the host and valid until the callback returns.  Rows
 *     of tables are shared between plans: an engine writes only the tables it
 *     was handed to fill.  What a descriptor points at is the engine's, and
 *     stays as long as its file is loaded.
 *   - Structs that the host hands over begin with their size in the host.
 *     Fields called zero fill what would be holes: nobody reads or writes them.
 *   - A switch keeps its index while the host lives; one that is gone has no
 *     links and no ends, so the past can be compared with today.  Links and
 *     ends are numbered anew in each snapshot (they are grouped by switch).
 *   - An end cabled straight to another end has no switch: its end_sw is
 *     FM_NONE, it stands behind the ends of all switches in end_* and no
 *     engine needs to look at it.
 *   - Functions returning int return 0 or a negative enum fm_error_kind and,
 *     on failure, fill *err: return host->fail(host, err, KIND, "sentence", ...).
 *     A sentence is one line of 10 to 255 characters without its newline; an
 *     administrator reads it behind the engine's name.
 *   - A callback runs on one thread, and on the host's workers inside
 *     parallel_for().  Calls may overlap and come from different threads: an
 *     engine keeps nothing between them.
 */
#ifndef FMD_ENGINE_H
#define FMD_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <fmd/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The version.  1.0 is frozen: doc/abi.md has what is never changed, what a
 * minor may append, and how.  A host loads an engine of its own major and of
 * its own or an older minor, so an engine finds all that its header declares.
 */
#define FM_ABI_MAJOR 1
#define FM_ABI_MINOR 0
#define FM_ABI_MAGIC 0x464d4431u /* "FMD1" */

typedef uint32_t fm_sw;	  /* switch index */
typedef uint32_t fm_link; /* directed switch-to-switch link index */
typedef uint32_t fm_end;  /* end-port index (CA, router, switch port 0) */

#define FM_NONE UINT32_MAX /* no such switch, link or end-port */
#define FM_PORT_NONE 255   /* LFT entry: unreachable */
#define FM_MAX_VLS 15	   /* data VLs, 0..14 */

/* ------------------------------------------------------- fabric snapshot */

/*
 * A fabric snapshot in CSR form, built once per sweep, never modified after.
 * Every array is owned by the snapshot; const all the way down.
 * Links of one switch are sorted by the switch that they lead to (link_to), those
 * to the same switch by link_port; ends of one switch by end_port, those on the same
 * port by end_lid: so engines that scan in order are deterministic.  No link
 * leads from a switch to itself; parallel links are common.
 */
struct fm_fabric {
	uint32_t size; /* sizeof(struct fm_fabric) in the host */
	uint32_t n_switches;
	uint32_t n_links; /* directed: a cable counts twice */
	uint32_t n_ends;
	uint16_t max_lid; /* highest LID in use, 0 where there is none */
	uint16_t zero[3];

	/* switches */
	const uint64_t *sw_guid;	/* [n_switches] NodeGUID */
	const uint64_t *sw_system_guid; /* [n_switches] chassis: SystemImageGUID */
	const char *const *sw_name;	/* [n_switches] NodeDescription, printable; for messages */
	const uint8_t *sw_n_ports;	/* [n_switches] external ports are 1..n, n <= 254 */
	const fm_link *sw_first_link;	/* [n_switches + 1] CSR offsets into link_* */
	const fm_end *sw_first_end;	/* [n_switches + 1] CSR offsets into end_* */
	const uint32_t *sw_vendor_id; /* [n_switches] NodeInfo's VendorID, 24 bits; 0: not known */
	const uint16_t *sw_device_id; /* [n_switches] NodeInfo's DeviceID; 0: not known */
	/* [n_switches] LinearFDBCap: it can forward LIDs 1..n-1 alone; 0xC000 where not known */
	const uint16_t *sw_lft_entries;
	/* [n_switches] groups of adaptive routing that it can hold, 0: it has none; 0xFFFF
	 * where not known.  ar_n_groups of the tables has how many may be used. */
	const uint16_t *sw_ar_groups;

	/* directed switch-to-switch links, grouped by source switch */
	const fm_sw *link_to;		   /* [n_links] */
	const uint8_t *link_port;	   /* [n_links] egress port at the source, 1..254 */
	const fm_link *link_rev;	   /* [n_links] the opposite direction */
	const uint32_t *link_mbps;	   /* [n_links] data rate as it is, Mbit/s */
	const uint32_t *link_nominal_mbps; /* [n_links] what both ends support, Mbit/s */
	const uint8_t *link_n_vls;	   /* [n_links] data VLs of this link, 1..15 */

	/* end-ports, grouped by the switch they hang off */
	const uint64_t *end_guid;	 /* [n_ends] PortGUID; a switch's is its NodeGUID */
	const uint64_t *end_node_guid;	 /* [n_ends] NodeGUID: ports of one HCA share it */
	const uint64_t *end_system_guid; /* [n_ends] host: SystemImageGUID */
	const char *const *end_name;	 /* [n_ends] NodeDescription, printable; for messages */
	const fm_sw *end_sw;		 /* [n_ends] attached (or own) switch, FM_NONE: none */
	const uint8_t *end_port;	 /* [n_ends] port on end_sw; 0 = the switch itself */
	const uint16_t *end_lid;	 /* [n_ends] base LID; 0: it has none */
	const uint8_t *end_lmc;		 /* [n_ends] 0..7: owns LIDs base..base + 2^lmc - 1 */
	const uint8_t *end_kind;	 /* [n_ends] enum fm_end_kind */
	const uint8_t *end_n_vls;	 /* [n_ends] data VLs of the host link, 1..15 */
	const fm_end *lid_end;		 /* [max_lid + 1] owner, FM_NONE if unused */
};

/* A kind that an engine does not know, of a later minor, is routed as FM_END_CA. */
enum fm_end_kind {
	FM_END_CA,
	FM_END_ROUTER,
	FM_END_SWITCH,	   /* port 0 of end_sw */
	FM_END_AGGREGATOR, /* in-network computing node inside a switch: no leaf makes */
	/* On a gateway port: stands for one LID beyond this region, or, with LID
	 * 0, for traffic that only enters here.  Source and destination, never a
	 * host: not for ranks, roots, leaves or order. */
	FM_END_PROXY
};

/* --------------------------------------------------------------- request */

/* One call routes one whole fabric as the engine sees it.  Of a subnet cut
 * into regions each engine is handed its own region as such a fabric. */
struct fm_request {
	uint32_t size; /* sizeof(struct fm_request) in the host */
	uint8_t n_vls; /* VL budget, 1..15: VLs 0..n_vls-1 may be used */
	uint8_t zero[3];
	/* [n_switches] rows of [max_lid + 1] egress ports: the forwarding tables in use, which
	 * this engine has made and the host may have repaired since; or NULL.  NULL always
	 * without FM_USES_PREV.  They were made for another fabric: a port may have no cable
	 * now, a LID another owner; FM_PORT_NONE where nothing is known. */
	const uint8_t *const *prev_lft;
};

/* ---------------------------------------------------------------- tables */

/* How the SL of a path is looked up; the SA answers from this after route()
 * has returned, so it is data, not a callback. */
enum fm_sl_shape {
	FM_SL_ZERO,	 /* every path uses SL 0; sl unused */
	FM_SL_BY_DLID,	 /* sl[0][dlid] */
	FM_SL_BY_SW_DLID /* sl[ssw][dlid], ssw = switch of the source port */
};

/* What the VL of a packet depends on besides its SL, on links between
 * switches.  Host links, either way: vl = sl % (data VLs of that link). */
enum fm_sl2vl_shape {
	FM_SL2VL_MODULO,   /* vl = sl % n_vls_used everywhere; sl2vl unused */
	FM_SL2VL_BY_OUT,   /* sl2vl[link * 16 + sl]	[n_links][16] */
	FM_SL2VL_BY_IN_OUT /* the (in, out) pairs of switch s start at row
				 * sl2vl_first[s]; row += in_port * (sw_n_ports[s] + 1)
				 * + out_port			[rows][16] */
};

/* Engine output.  The host allocates every array that the descriptor's .traits announce and
 * initialises it (LFT to FM_PORT_NONE, order to FM_NONE, the rest to 0); the engine fills it.
 * The others are NULL.  Entries behind max_lid in a row, up to lft_stride, are the host's.
 * "host:" marks what an engine reads. */
struct fm_tables {
	uint32_t size;	    /* host: sizeof(struct fm_tables) */
	uint8_t n_vls_used; /* 1..n_vls of the request; the host begins with 1 */
	uint8_t zero[3];
	size_t lft_stride;    /* host: >= max_lid + 1, multiple of 64 */
	uint8_t *const *lft;  /* [n_switches] rows of [lft_stride] egress ports; 0: the switch */
	uint32_t sl_shape;    /* enum fm_sl_shape */
	uint32_t sl2vl_shape; /* enum fm_sl2vl_shape */
	uint8_t *const *sl;   /* [n_switches, 1 at least] rows of [lft_stride] SLs, 0..15 */
	const uint32_t *sl2vl_first; /* host: [n_switches + 1] row offsets */
	uint8_t *sl2vl;		     /* shape per sl2vl_shape, VLs below n_vls_used */
	/* Adaptive routing; all NULL where it is not wanted.  A group is a set of ports of
	 * one switch, by any of which a packet may go on; the LFT's port is one of
	 * them, all are cabled to switches, and they are two at least.  Group 0 is
	 * none: static, by the LFT alone. */
	/* host: [n_switches] groups 1..n may be used, sw_ar_groups at most; 0: the switch stays
	 * static */
	const uint16_t *ar_n_groups;
	uint16_t *const *ar_group; /* [n_switches] rows of [lft_stride] group numbers */
	/* [n_switches] rows of [ar_n_groups + 1][4]: bit p % 64 of word p / 64 is port p; group 0
	 * is not used */
	uint64_t (*const *ar_ports)[4];
	uint64_t ar_dropped; /* (switch, LID) left static because its groups ran out */
	/* by base LID: place of a host in the order whose shifts suit these tables best;
	 * gaps are allowed, FM_NONE: no place */
	uint32_t *order; /* [lft_stride] */
};

/* What an engine provides, uses and promises.  Bits that the host does not know are refused;
 * those that are not here must be 0.  Bits 24 to 31 will never be here. */
enum fm_traits {
	FM_PROVIDES_LFT = 1 << 0,   /* lft: required */
	FM_PROVIDES_SL = 1 << 1,    /* sl, sl2vl, n_vls_used */
	FM_PROVIDES_AR = 1 << 2,    /* ar_group, ar_ports, ar_dropped, when they are wanted */
	FM_PROVIDES_ORDER = 1 << 3, /* order */
	FM_USES_PREV = 1 << 8,	    /* prev_lft; without it an engine is free of history */
	/* Over all alternatives, replies included: a cycle is then a bug of the engine. */
	FM_PROMISES_NO_CREDIT_LOOPS = 1 << 9
};

/* --------------------------------------------------------- host services */

/* All may be called until the callback returns; from any thread of the call, but for
 * scratch() and parallel_for(). */
struct fm_host {
	uint32_t size; /* sizeof(struct fm_host) in the host */
	uint32_t zero;
	void *self; /* the host's own */
	/* Zeroed scratch memory, 64-byte aligned from 64 bytes on (16 below),
	 * freed as a whole when the callback returns;
	 * NULL when the budget is spent (answer FM_E_RESOURCE).  scratch: on the
	 * thread of the callback, outside parallel_for(); scratch_worker: inside
	 * it, by the worker's own number. */
	void *(*scratch)(const struct fm_host *, size_t bytes);
	void *(*scratch_worker)(const struct fm_host *, unsigned worker, size_t bytes);
	/* fn(arg, i, worker) for i in 0..n-1 on the host's workers, in any order; back when
	 * all are done.  worker: 0..n_workers()-1, one thread each.  On the thread of the
	 * callback, never from within fn. */
	void (*parallel_for)(const struct fm_host *, uint32_t n,
	    void (*fn)(void *arg, uint32_t i, unsigned worker), void *arg);
	unsigned (*n_workers)(const struct fm_host *); /* 1 or more, the same all call long */
	/* Cancelled or over its time limit: answer FM_E_CANCELLED.  Poll every ~ms; who does
	 * not is ended with its process, or waited for in fmd's own, with a warning. */
	bool (*should_stop)(const struct fm_host *);
	void (*progress)(const struct fm_host *, uint32_t done, uint32_t total); /* any unit */
	/* level: 0 error, 1 warning, 2 notice, 3 info, 4 debug; one line. */
	void (*log)(const struct fm_host *, int level, const char *fmt, ...)
	    __attribute__((format(printf, 3, 4)));
	/* Fills *err, which no other thread may touch meanwhile, and returns the kind. */
	int (*fail)(const struct fm_host *, struct fm_error *, enum fm_error_kind, const char *fmt,
	    ...) __attribute__((format(printf, 4, 5)));
};

/* --------------------------------------------------------------- options */

enum fm_opt_type {
	FM_OPT_END = 0,
	FM_OPT_BOOL,	    /* bool */
	FM_OPT_INT,	    /* int64_t, min..max */
	FM_OPT_DURATION,    /* int64_t milliseconds, min..max; "10s", "250ms" in the file */
	FM_OPT_ENUM,	    /* int, index into .choices */
	FM_OPT_STRING,	    /* const char *, owned by the config */
	FM_OPT_NODES,	    /* struct fm_nodeset: GUIDs, names, globs, @groups */
	FM_OPT_NODES_LIST,  /* struct fm_nodeset_list: in the order written (roots, RoutingOrder) */
	FM_OPT_NODE_VALUES, /* struct fm_node_values: GUID, port, number (hop weights, ids) */
	/* struct fm_file: read by the host when the config is committed, so that
	 * route() stays pure; bytes and path, for errors with file and line */
	FM_OPT_FILE
};

/* Values of the composite option types, resolved by the host against the
 * fabric of this call.  What matches nothing is no error: an engine that cannot do
 * without says so.  None of these structs ever grows. */
struct fm_nodeset {
	const uint64_t *sw;  /* bitset [n_switches], never NULL; all 0 where nothing matches */
	const uint64_t *end; /* bitset [n_ends], likewise */
	uint32_t given;	     /* 0: the option was not written, or as { } */
	uint32_t zero;
};
struct fm_nodeset_list {
	const struct fm_nodeset *set; /* [n_sets] */
	uint32_t n_sets;
	uint32_t zero;
};
/* One number, of a node or of one of its ports.  One of sw and end at least is FM_NONE. */
struct fm_node_value {
	uint64_t guid; /* as written */
	int64_t value;
	fm_sw sw;      /* whose sw_guid it is, FM_NONE: no switch's of this fabric */
	fm_end end;    /* else whose end_guid it is, FM_NONE: nobody's */
	uint32_t port; /* 0 where none was written */
	uint32_t zero;
};
struct fm_node_values {
	const struct fm_node_value *row; /* [n_rows] in the order written */
	uint32_t n_rows;
	uint32_t zero;
};
struct fm_file {
	const char *path;  /* for messages */
	const char *bytes; /* [n_bytes], NULL: the option was not written */
	size_t n_bytes;
};

/* One option.  The host derives from this table: the parser, the range check
 * and its message, "fmd --help=<engine>", the commented example file and the
 * options section of the man page.  There is no second place to edit. */
struct fm_option {
	const char *name; /* a letter, then letters, digits, '-' and '_' */
	uint32_t type;	  /* enum fm_opt_type */
	uint32_t offset;  /* into the engine's options struct, aligned as the type */
	const char *def;  /* as written in the file; NULL: none (not BOOL, INT, DURATION, ENUM) */
	int64_t min, max; /* INT, DURATION; NODE_VALUES where min < max, else any */
	const char *const *choices; /* ENUM, NULL-terminated */
	const char *unit;	    /* shown in help: "hops", "Mbit/s"; or NULL */
	const char *help;	    /* one sentence, with the full stop */
};

/* ------------------------------------------------------------ descriptor */

/* opts of the callbacks: the engine's options struct with all values, defaults where nothing is
 * written; NULL where the engine has no options. */
struct fm_engine {
	uint32_t magic; /* FM_ABI_MAGIC */
	uint16_t abi_major, abi_minor;
	uint32_t size;		  /* sizeof(struct fm_engine), of this minor */
	uint32_t option_row_size; /* sizeof(struct fm_option), of this minor */

	const char *name;		 /* as written in the config, and the file's name */
	const char *const *aliases;	 /* NULL-terminated, or NULL: "ftree", ... */
	const char *summary;		 /* one line for --list-engines */
	uint32_t traits;		 /* enum fm_traits */
	uint32_t options_size;		 /* bytes of the engine's options struct */
	const struct fm_option *options; /* ends with FM_OPT_END, or NULL */

	/* Fill *out.  The only required callback.  The same bytes for the same arguments, at
	 * any number of workers.  FM_E_TOPOLOGY with the reason where this fabric is none for
	 * the engine, as early as it can tell: the chain goes on to its next entry. */
	int (*route)(const struct fm_host *, const struct fm_fabric *, const struct fm_request *,
	    const void *opts, struct fm_tables *out, struct fm_error *);
};

/*
 * FM_ENGINE(minhop, .summary = "...", .route = minhop_route);
 *
 * Defines the one symbol an engine exports.  The name carries libtool's
 * _LTX_ infix so that the same object can be dlopened or preloaded.  C++ (20)
 * wants the fields in the order of the struct.
 */
#define FM_ENGINE(id, ...) \
	extern __attribute__((visibility("default"))) const struct fm_engine id##_LTX_fm_engine; \
	const struct fm_engine id##_LTX_fm_engine = { .magic = FM_ABI_MAGIC, \
		.abi_major = FM_ABI_MAJOR, \
		.abi_minor = FM_ABI_MINOR, \
		.size = sizeof(struct fm_engine), \
		.option_row_size = sizeof(struct fm_option), \
		.name = #id, \
		__VA_ARGS__ }

static inline bool
fm_bit(const uint64_t *set, uint32_t i)
{
	return (set[i / 64] >> (i % 64)) & 1;
}

/* The link that leaves switch sw by port; FM_NONE where no switch is behind it.
 * O(links of sw). */
static inline fm_link
fm_link_at(const struct fm_fabric *fab, fm_sw sw, uint32_t port)
{
	for (fm_link l = fab->sw_first_link[sw]; l < fab->sw_first_link[sw + 1]; l++)
		if (fab->link_port[l] == port)
			return l;
	return FM_NONE;
}

#ifdef __cplusplus
}
#endif
#endif /* FMD_ENGINE_H */
