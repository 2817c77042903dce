/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What has happened between two pictures of a fabric, in sentences: a table of events, each with
 * all the lines that it is to be told in.
 *
 * The fabric: leaves 0.. of `n_hosts` hosts each, cabled to all spines; host h of leaf l hangs at
 * port h + 1 of it, spine s at port n_hosts + s + 1, at the spine's port l + 1.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/inventory/flaps.h"
#include "core/inventory/lasting.h"
#include "core/inventory/news.h"
#include "tests/run.h"

#define N_OF(a) (sizeof(a) / sizeof((a)[0]))
#define BEGUN 1000000 /* UTC of the first picture */

static struct inventory inv;
static uint32_t n_leaves, n_hosts, n_spines;

static uint32_t
leaf(uint32_t l)
{
	return inv_find(&inv, 0x1000 + l);
}

static uint32_t
spine(uint32_t s)
{
	return inv_find(&inv, 0x2000 + s);
}

static uint32_t
host(uint32_t l, uint32_t h)
{
	return inv_find(&inv, 0x100000 + l * n_hosts + h);
}

static uint32_t
add(uint64_t guid, uint8_t type, unsigned n_ports, const char *name, uint32_t i)
{
	struct wire_node_info info = { .node_guid = guid,
		.port_guid = guid,
		.system_guid = guid,
		.node_type = type,
		.n_ports = (uint8_t)n_ports };
	uint32_t slot = inv_add(&inv, &info);

	ck_assert_uint_ne(slot, INV_NONE);
	inv_node(&inv, slot)->present = true;
	snprintf(inv_node(&inv, slot)->name, sizeof(inv_node(&inv, slot)->name), "%s-%u", name, i);
	return slot;
}

/* A port as of a cable that runs at 4x HDR, and could. */
static void
light(uint32_t slot, unsigned port)
{
	struct inv_port *p = &inv_node(&inv, slot)->ports[port];

	p->known = true;
	p->info.port_state = WIRE_PORT_ACTIVE;
	p->info.link_width_supported = 3;
	p->info.link_width_active = 2;
	p->info.link_speed_supported = 7;
	p->info.link_speed_active = 4;
	p->info.link_speed_ext_supported = 7;
	p->info.link_speed_ext_active = 4;
}

static void
cable(uint32_t a, unsigned a_port, uint32_t b, unsigned b_port)
{
	light(a, a_port);
	light(b, b_port);
	inv_link(&inv, a, (uint8_t)a_port, b, (uint8_t)b_port);
}

static void
plug_host(uint32_t l, uint32_t h)
{
	cable(leaf(l), h + 1, host(l, h), 1);
}

static void
plug_spine(uint32_t l, uint32_t s)
{
	cable(leaf(l), n_hosts + s + 1, spine(s), l + 1);
}

static void
make(uint32_t leaves, uint32_t hosts, uint32_t spines)
{
	inv_init(&inv);
	n_leaves = leaves;
	n_hosts = hosts;
	n_spines = spines;
	for (uint32_t s = 0; s < spines; s++)
		light(add(0x2000 + s, WIRE_NODE_SWITCH, leaves, "spine", s), 0);
	for (uint32_t l = 0; l < leaves; l++) {
		light(add(0x1000 + l, WIRE_NODE_SWITCH, hosts + spines, "leaf", l), 0);
		for (uint32_t h = 0; h < hosts; h++) {
			add(0x100000 + l * hosts + h, WIRE_NODE_CA, 2, "host", l * hosts + h);
			plug_host(l, h);
		}
		for (uint32_t s = 0; s < spines && l < 250; s++)
			plug_spine(l, s);
	}
}

static void
lose(uint32_t slot)
{
	inv_unlink_all(&inv, slot);
	inv_node(&inv, slot)->present = false;
}

static void
lose_leaf(uint32_t l)
{
	for (uint32_t h = 0; h < n_hosts; h++)
		lose(host(l, h));
	lose(leaf(l));
}

static void
back_leaf(uint32_t l)
{
	inv_node(&inv, leaf(l))->present = true;
	for (uint32_t h = 0; h < n_hosts; h++) {
		inv_node(&inv, host(l, h))->present = true;
		plug_host(l, h);
	}
	for (uint32_t s = 0; s < n_spines; s++)
		plug_spine(l, s);
}

static void
cut(uint32_t slot, unsigned port)
{
	inv_unlink(&inv, slot, (uint8_t)port, EDGE_NONE);
}

/* A cable as slow as this, by both its ends. */
static void
run_at(uint32_t slot, unsigned port, uint8_t width_active, uint8_t ext_active)
{
	struct inv_port *p = &inv_node(&inv, slot)->ports[port];
	struct inv_port *far = &inv_node(&inv, p->peer)->ports[p->peer_port];

	p->info.link_width_active = far->info.link_width_active = width_active;
	p->info.link_speed_ext_active = far->info.link_speed_ext_active = ext_active;
}

/* --------------------------------------------------------------- the events */

static void
nothing(void)
{
}

static void
one_host(void)
{
	lose(host(2, 1));
}

static void
two_hosts_of_a_leaf(void)
{
	lose(host(2, 0));
	lose(host(2, 2));
}

static void
one_leaf(void)
{
	lose_leaf(1);
}

static void
one_spine(void)
{
	lose(spine(1));
}

static void
two_leaves(void)
{
	lose_leaf(3);
	lose_leaf(1);
}

static void
one_cable(void)
{
	cut(leaf(2), n_hosts + 1);
}

static void
two_cables_apart(void)
{
	cut(leaf(2), n_hosts + 1);
	cut(leaf(3), n_hosts + 2);
}

static void
cables_of_a_spine(void)
{
	for (uint32_t l = 0; l < 3; l++)
		cut(spine(1), l + 1);
}

static void
moved(void)
{
	inv_unlink_all(&inv, host(0, 0));
	cut(leaf(2), 2);
	lose(host(2, 1));
	cable(leaf(2), 2, host(0, 0), 1);
}

static void
bounced(void)
{
	inv_node(&inv, leaf(2))->ports[n_hosts + 1].n_falls++;
}

/* So often within a minute, as both its ends were read. */
static void
fall(unsigned n)
{
	for (unsigned i = 1; i <= n; i++) {
		inv_node(&inv, leaf(2))->ports[n_hosts + 1].n_falls++;
		flaps_fell(&inv, leaf(2), n_hosts + 1, 30000, i * 1000);
		flaps_fell(&inv, spine(0), 3, 30000, i * 1000 + 10);
	}
}

static void
flapping(void)
{
	fall(4);
}

static void
flapping_and_down(void)
{
	fall(3);
	cut(leaf(2), n_hosts + 1);
}

static void
fallen_twice(void)
{
	fall(2);
}

/* All cables of the leaf: one of them is the only way. */
static void
flapping_leaf(void)
{
	for (unsigned i = 1; i <= 3; i++)
		for (unsigned s = 1; s <= n_spines; s++)
			flaps_fell(&inv, leaf(2), n_hosts + s, 30000, i * 1000);
	for (uint32_t i = 0; i < inv.nodes.n; i++)
		inv_node(&inv, i)->sw_known = inv_node(&inv, i)->ports[0].known = true;
	flaps_decide(&inv, NULL, true, 4000);
}

static void
still(void)
{
	flaps_decide(&inv, NULL, true, 40000);
}

static void
narrower(void)
{
	inv_node(&inv, leaf(2))->ports[n_hosts + 1].n_falls++;
	run_at(leaf(2), n_hosts + 1, 1, 4);
}

static void
slower(void)
{
	run_at(spine(0), 1, 2, 2);
	run_at(spine(0), 2, 2, 1);
}

static void
renamed(void)
{
	snprintf(inv_node(&inv, host(0, 0))->name, 65, "node17 HCA-1");
}

static void
replaced(void)
{
	struct wire_node_info info = {
		.node_guid = 0x1001, .port_guid = 0x1001, .node_type = WIRE_NODE_CA, .n_ports = 1
	};
	uint32_t slot = inv_add(&inv, &info);

	inv_node(&inv, slot)->present = true;
	snprintf(inv_node(&inv, slot)->name, 65, "new");
}

static const struct {
	const char *name;
	void (*happens)(void);
	const char *lines[4];
} losses[] = {
	{ "nothing", nothing, { NULL } },
	{ "a host", one_host,
	    { "lost: host \"host-7\" (0x0000000000100007), cabled to \"leaf-2\" port 2; there "
	      "for at least 1 d 2 h" } },
	{ "two hosts of a leaf", two_hosts_of_a_leaf,
	    { "lost: 2 hosts of switch \"leaf-2\": \"host-6\" (port 1), \"host-8\" (port 3); "
	      "there for at least 1 d 2 h" } },
	{ "a leaf", one_leaf,
	    { "lost: switch \"leaf-1\" (0x0000000000001001) and its 3 hosts: \"host-3\", "
	      "\"host-4\", "
	      "\"host-5\", cabled to \"spine-0\" port 2, \"spine-1\" port 2; there for at "
	      "least 1 d 2 h" } },
	{ "a spine", one_spine,
	    { "lost: switch \"spine-1\" (0x0000000000002001), cabled to \"leaf-0\" port 5, "
	      "\"leaf-1\" port 5, \"leaf-2\" port 5, \"leaf-3\" port 5; there for at least 1 "
	      "d 2 h" } },
	{ "two leaves", two_leaves,
	    { "lost: switch \"leaf-1\" (0x0000000000001001) and its 3 hosts: \"host-3\", "
	      "\"host-4\", "
	      "\"host-5\", cabled to \"spine-0\" port 2, \"spine-1\" port 2; there for at "
	      "least 1 d 2 h",
		"lost: switch \"leaf-3\" (0x0000000000001003) and its 3 hosts: \"host-9\", "
		"\"host-10\", \"host-11\", cabled to \"spine-0\" port 4, \"spine-1\" port 4; "
		"there for at least 1 d 2 h" } },
	{ "a cable", one_cable,
	    { "lost: cable \"spine-0\" port 3 - \"leaf-2\" port 4 (4xHDR); there for at least "
	      "1 d 2 h" } },
	{ "two cables of four switches", two_cables_apart,
	    { "lost: cable \"spine-0\" port 3 - \"leaf-2\" port 4 (4xHDR); there for at least "
	      "1 d 2 h",
		"lost: cable \"spine-1\" port 4 - \"leaf-3\" port 5 (4xHDR); there for at "
		"least 1 d 2 h" } },
	{ "three cables of a spine", cables_of_a_spine,
	    { "lost: 3 cables of \"spine-1\": port 1 - \"leaf-0\" port 5 (4xHDR), port 2 - "
	      "\"leaf-1\" port 5 (4xHDR), port 3 - \"leaf-2\" port 5 (4xHDR); there for at "
	      "least 1 d 2 h" } },
	{ "a host at the place of another", moved,
	    { "lost: host \"host-7\" (0x0000000000100007), cabled to \"leaf-2\" port 2; there "
	      "for at least 1 d 2 h",
		"moved: cable \"leaf-2\" port 2 - \"host-0\" port 1 (before at \"leaf-0\" port 1) "
		"(4xHDR)" } },
	{ "a cable that comes back at once", bounced,
	    { "went down and came back: cable \"spine-0\" port 3 - \"leaf-2\" port 4 (4xHDR)" } },
	{ "a cable that goes down again and again", flapping,
	    { "flapping: cable \"spine-0\" port 3 - \"leaf-2\" port 4 (went down 4 times; out of "
	      "the "
	      "forwarding tables until still for 30 s)" } },
	{ "... and is down", flapping_and_down,
	    { "flapping: cable \"spine-0\" port 3 - \"leaf-2\" port 4 (went down 3 times; out of "
	      "the "
	      "forwarding tables until still for 30 s)" } },
	{ "a cable that went down twice", fallen_twice,
	    { "went down and came back: cable \"spine-0\" port 3 - \"leaf-2\" port 4 (4xHDR)" } },
	{ "all cables of a leaf", flapping_leaf,
	    { "flapping: 2 cables of \"leaf-2\": port 4 - \"spine-0\" port 3 (went down 3 times; "
	      "used "
	      "all the same, as the only way), port 5 - \"spine-1\" port 3 (went down 3 times; out "
	      "of "
	      "the forwarding tables until still for 30 s)" } },
	{ "a cable that comes back with one lane", narrower,
	    { "another width or speed than before: cable \"spine-0\" port 3 - \"leaf-2\" port 4 "
	      "(1xHDR, before 4xHDR, both ends support 4xHDR)" } },
	{ "two cables with another speed", slower,
	    { "another width or speed than before: 2 cables of \"spine-0\": port 1 - \"leaf-0\" "
	      "port "
	      "4 (4xEDR, before 4xHDR, both ends support 4xHDR), port 2 - \"leaf-1\" port 4 "
	      "(4xFDR, "
	      "before 4xHDR, both ends support 4xHDR)" } },
	{ "a name", renamed,
	    { "has another name: \"node17 HCA-1\" (0x0000000000100000), before \"host-0\"" } },
};

static void
expect(const struct news *news, const char *const *lines, size_t n, const char *what)
{
	for (size_t i = 0; i < news->items.n || (i < n && lines[i] != NULL); i++) {
		ck_assert_msg(i < news->items.n, "%s: not told: %s", what, lines[i]);
		ck_assert_msg(i < n && lines[i] != NULL, "%s: told beside: %s", what,
		    news->items.item[i].text);
		ck_assert_str_eq(news->items.item[i].text, lines[i]);
	}
}

START_TEST(each_event_is_a_line)
{
	struct seen *before, *now;
	struct news news;

	make(4, 3, 2);
	before = seen_make(&inv, NULL, BEGUN);
	losses[_i].happens();
	now = seen_make(&inv, before, BEGUN + 26 * 3600);
	ck_assert(news_tell(before, now, BEGUN + 26 * 3600, &news));
	expect(&news, losses[_i].lines, N_OF(losses[_i].lines), losses[_i].name);
	news_fini(&news);
	seen_free(before);
	seen_free(now);
	inv_fini(&inv);
}
END_TEST

/* ------------------------------------------------------------ and back again */

/* The pictures before and after the second of two events, 75 s later. */
static void
tell_second(void (*first)(void), void (*second)(void), struct news *news)
{
	struct seen *a = seen_make(&inv, NULL, BEGUN), *b, *c;

	first();
	b = seen_make(&inv, a, BEGUN + 100);
	second();
	c = seen_make(&inv, b, BEGUN + 175);
	ck_assert(news_tell(b, c, BEGUN + 175, news));
	seen_free(a);
	seen_free(b);
	seen_free(c);
}

static void
leaf_back(void)
{
	back_leaf(1);
}

static void
cable_back_slow(void)
{
	plug_spine(2, 0);
	run_at(leaf(2), n_hosts + 1, 1, 4);
}

static void
host_back(void)
{
	inv_node(&inv, host(2, 1))->present = true;
	plug_host(2, 1);
}

static void
host_back_slow(void)
{
	host_back();
	run_at(host(2, 1), 1, 1, 4);
}

/* At another port, and with a lane. */
static void
host_back_elsewhere(void)
{
	inv_node(&inv, host(2, 1))->present = true;
	cut(leaf(2), 3);
	cable(leaf(2), 3, host(2, 1), 1);
}

static void
two_hosts_back_crossed(void)
{
	for (uint32_t h = 0; h < 3; h += 2)
		inv_node(&inv, host(2, h))->present = true;
	cable(leaf(2), 1, host(2, 2), 1);
	cable(leaf(2), 3, host(2, 0), 1);
}

static void
cable_back_elsewhere(void)
{
	cut(leaf(3), n_hosts + 1);
	cable(leaf(3), n_hosts + 1, spine(0), 3);
}

/* Told once, and once that it is over. */
START_TEST(flapping_is_told_once)
{
	static const char *const over[] = {
		"flapping no more: cable \"spine-0\" port 3 - \"leaf-2\" "
		"port 4 (went down 4 times)"
	};
	static const char *const over_down[] = {
		"flapping no more: cable \"spine-0\" port 3 - "
		"\"leaf-2\" port 4 (went down 3 times, and is down)"
	};
	struct news news;

	make(4, 3, 2);
	tell_second(flapping, bounced, &news);
	ck_assert_uint_eq(news.items.n, 0);
	news_fini(&news);
	inv_fini(&inv);
	make(4, 3, 2);
	tell_second(flapping_and_down, one_leaf, &news); /* another one */
	ck_assert_uint_eq(news.items.n, 1);
	news_fini(&news);
	inv_fini(&inv);
	make(4, 3, 2);
	tell_second(flapping, still, &news);
	expect(&news, over, 1, "still");
	news_fini(&news);
	inv_fini(&inv);
	make(4, 3, 2);
	tell_second(flapping_and_down, still, &news);
	expect(&news, over_down, 1, "still and down");
	news_fini(&news);
	inv_fini(&inv);
}
END_TEST

START_TEST(who_comes_back_elsewhere_is_told_with_where_it_was)
{
	static const char *const slow[] = {
		"came: host \"host-7\" (0x0000000000100007), cabled to \"leaf-2\" port 2 (1xHDR, "
		"before 4xHDR, both ends support 4xHDR); gone for 1 min 15 s"
	};
	static const char *const host_line =
	    "came: host \"host-7\" (0x0000000000100007), cabled to \"leaf-2\" port 3 (before at "
	    "\"leaf-2\" port 2); gone for 1 min 15 s";
	static const char *const crossed[] = {
		"came: 2 hosts of switch \"leaf-2\": \"host-6\" (port 3, before at \"leaf-2\" port "
		"1), \"host-8\" (port 1, before at \"leaf-2\" port 3); gone for 1 min 15 s"
	};
	static const char *const cable_line =
	    "came: cable \"spine-0\" port 3 - \"leaf-3\" port 4 (before at \"spine-0\" port 4)";
	struct news news;

	make(4, 3, 2);
	tell_second(one_host, host_back_slow, &news);
	expect(&news, slow, 1, "a slow host");
	ck_assert(news.items.item[0].worse);
	news_fini(&news);
	inv_fini(&inv);
	make(4, 3, 2);
	tell_second(one_host, host_back_elsewhere, &news);
	ck_assert_str_eq(news.items.item[news.items.n - 1].text, host_line);
	news_fini(&news);
	inv_fini(&inv);
	make(4, 3, 2);
	tell_second(two_hosts_of_a_leaf, two_hosts_back_crossed, &news);
	expect(&news, crossed, 1, "two hosts");
	news_fini(&news);
	inv_fini(&inv);
	make(4, 3, 2);
	tell_second(one_cable, cable_back_elsewhere, &news);
	ck_assert_uint_eq(news.items.n, 2);
	ck_assert_msg(strncmp(news.items.item[1].text, cable_line, strlen(cable_line)) == 0, "%s",
	    news.items.item[1].text);
	news_fini(&news);
	inv_fini(&inv);
}
END_TEST

START_TEST(what_comes_back_was_gone_for_so_long)
{
	static const char *const leaf_line[] = {
		"came: switch \"leaf-1\" (0x0000000000001001) and its 3 hosts: \"host-3\", "
		"\"host-4\", \"host-5\", cabled to \"spine-0\" port 2, \"spine-1\" port 2; "
		"gone for 1 min 15 s"
	};
	static const char *const cable_line[] = {
		"came: cable \"spine-0\" port 3 - \"leaf-2\" port 4 (1xHDR, before 4xHDR, both "
		"ends "
		"support 4xHDR); gone for 1 min 15 s"
	};
	static const char *const host_line[] = {
		"came: host \"host-7\" (0x0000000000100007), cabled to \"leaf-2\" port 2; gone "
		"for 1 min 15 s"
	};
	struct news news;

	make(4, 3, 2);
	tell_second(one_leaf, leaf_back, &news);
	expect(&news, leaf_line, 1, "a leaf");
	news_fini(&news);
	tell_second(one_cable, cable_back_slow, &news);
	expect(&news, cable_line, 1, "a cable");
	ck_assert(news.items.item[0].worse);
	news_fini(&news);
	tell_second(one_host, host_back, &news);
	expect(&news, host_line, 1, "a host");
	news_fini(&news);
	inv_fini(&inv);
}
END_TEST

/* The last of them comes with one lane. */
static void
cables_back(void)
{
	for (uint32_t l = 0; l < 3; l++)
		cable(spine(1), l + 1, leaf(l), 5);
	run_at(leaf(2), 5, 1, 4);
}

START_TEST(one_slow_cable_of_several_counts)
{
	struct news news;

	make(4, 3, 2);
	tell_second(cables_of_a_spine, cables_back, &news);
	ck_assert_uint_eq(news.items.n, 1);
	ck_assert_ptr_nonnull(strstr(news.items.item[0].text, "came: 3 cables of \"spine-1\""));
	ck_assert(news.items.item[0].worse);
	news_fini(&news);
	inv_fini(&inv);
}
END_TEST

/* ------------------------------------------------------------------ what lasts */

static struct lasting lasting;
static uint64_t n_over, last_over;

static void
count_over(void *arg, const struct lasting_part *last)
{
	n_over++;
	last_over = last->event;
}

/* The picture after what happens, told as events from 10 * (1 + its turn) on. */
static struct seen *
follow(struct seen *before, void (*happens)(void), unsigned turn)
{
	struct seen *now;
	struct news news;

	if (happens != NULL)
		happens();
	now = seen_make(&inv, before, BEGUN + turn);
	ck_assert(news_tell(before, now, BEGUN + turn, &news));
	lasting_follow(&lasting, now, count_over, NULL);
	for (size_t i = 0; i < news.items.n; i++)
		ck_assert(
		    lasting_add(&lasting, 10 * (1 + turn) + i, now, &news, &news.items.item[i]));
	news_fini(&news);
	seen_free(before);
	return now;
}

static void
leaf_back_but_a_host(void)
{
	back_leaf(1);
	lose(host(1, 2));
}

static void
last_host_back(void)
{
	inv_node(&inv, host(1, 2))->present = true;
	plug_host(1, 2);
}

static void
cable_back(void)
{
	plug_spine(2, 0);
}

static void
leaf_end_elsewhere(void)
{
	cut(spine(1), 4);
	cable(leaf(2), n_hosts + 1, spine(1), 4);
}

static void
slow_cable(void)
{
	run_at(leaf(2), n_hosts + 1, 1, 4);
}

static void
full_cable(void)
{
	run_at(leaf(2), n_hosts + 1, 2, 4);
}

static const struct {
	const char *name;
	void (*happens[4])(void);
	unsigned over_by; /* the turn that ends what began in turn 1; 0: none does */
} lasts[] = {
	{ "a leaf, back at once", { one_leaf, leaf_back }, 2 },
	{ "a leaf, a host of it later", { one_leaf, leaf_back_but_a_host, last_host_back }, 3 },
	{ "a leaf, but a host of it", { one_leaf, leaf_back_but_a_host, nothing }, 0 },
	{ "a host at another port", { one_host, nothing, host_back_elsewhere }, 3 },
	{ "two hosts that are exchanged", { two_hosts_of_a_leaf, two_hosts_back_crossed }, 2 },
	{ "a cable", { one_cable, nothing, cable_back }, 3 },
	{ "another cable at one end", { one_cable, cable_back_elsewhere }, 2 },
	{ "another cable at the other", { one_cable, leaf_end_elsewhere }, 2 },
	{ "a slow cable", { slow_cable, nothing, full_cable }, 3 },
	{ "a slow cable that is lost", { slow_cable, one_cable }, 2 },
	{ "one that flaps", { flapping, still }, 2 },
	{ "one that flaps on", { flapping, nothing }, 0 },
	{ "another name", { renamed, nothing }, 0 },
};

/* The first event ends with the turn that ends it, once, and none else. */
START_TEST(what_lasts_has_an_end)
{
	struct seen *now;

	make(4, 3, 2);
	n_over = last_over = 0;
	now = follow(NULL, NULL, 0);
	for (unsigned turn = 1; turn <= 4; turn++) {
		now = follow(now, lasts[_i].happens[turn - 1], turn);
		ck_assert_msg(n_over == (lasts[_i].over_by != 0 && turn >= lasts[_i].over_by),
		    "%s: %lu over in turn %u", lasts[_i].name, (unsigned long)n_over, turn);
	}
	ck_assert_uint_eq(last_over, lasts[_i].over_by != 0 ? 20 : 0);
	lasting_forget(&lasting);
	seen_free(now);
	inv_fini(&inv);
}
END_TEST

/* It was lost, and is there with a lane: one event is over, and another one begins. */
START_TEST(a_cable_that_comes_slow)
{
	struct seen *now;

	make(4, 3, 2);
	n_over = last_over = 0;
	now = follow(NULL, NULL, 0);
	now = follow(now, one_cable, 1);
	now = follow(now, cable_back_slow, 2);
	ck_assert(n_over == 1 && last_over == 20);
	now = follow(now, full_cable, 3);
	ck_assert(n_over == 2 && last_over == 30);
	ck_assert_uint_eq(lasting.parts.n, 0);
	lasting_forget(&lasting);
	seen_free(now);
	inv_fini(&inv);
}
END_TEST

/* What has the GUID of a leaf, and is a host. */
START_TEST(another_node_of_the_guid_is_told)
{
	struct seen *before, *now;
	struct news news;

	make(4, 1, 2);
	before = seen_make(&inv, NULL, BEGUN);
	replaced();
	now = seen_make(&inv, before, BEGUN + 1);
	ck_assert(news_tell(before, now, BEGUN + 1, &news));
	ck_assert_uint_eq(news.items.n, 2);
	ck_assert_ptr_nonnull(strstr(news.items.item[0].text, "lost: switch \"leaf-1\""));
	ck_assert_ptr_nonnull(strstr(news.items.item[1].text, "came: host \"new\""));
	news_fini(&news);
	seen_free(before);
	seen_free(now);
	inv_fini(&inv);
}
END_TEST

/* ----------------------------------------------------------------- folding */

/* A picture, the event, and all that is told of it. */
static void
tell(void (*event)(void), struct news *news)
{
	struct seen *before = seen_make(&inv, NULL, BEGUN), *now;

	event();
	now = seen_make(&inv, before, BEGUN + 5);
	ck_assert(news_tell(before, now, BEGUN + 5, news));
	seen_free(before);
	seen_free(now);
}

static void
all_leaves_but_one(void)
{
	for (uint32_t l = 1; l < n_leaves; l++)
		lose_leaf(l);
}

static void
half_of_all_hosts(void)
{
	for (uint32_t l = 0; l < n_leaves; l++)
		for (uint32_t h = 0; h < n_hosts; h += 2)
			lose(host(l, h));
}

static void
many_cables(void)
{
	for (uint32_t l = 0; l < n_leaves; l++)
		for (uint32_t s = 0; s < n_spines; s++)
			cut(leaf(l), n_hosts + s + 1);
}

static void
many_slow(void)
{
	for (uint32_t l = 0; l < n_leaves; l++)
		for (uint32_t s = 0; s < n_spines; s++)
			run_at(leaf(l), n_hosts + s + 1, 1, 4);
}

static void
new_names(void)
{
	for (uint32_t i = 0; i < inv.nodes.n; i++)
		inv_node(&inv, i)->name[0] = 'X';
}

START_TEST(ten_thousand_are_a_handful_of_lines)
{
	static const struct {
		void (*happens)(void);
		uint32_t n_nodes, n_cables; /* told of in all lines together */
		bool ways_out;		    /* ... beside cables to others */
	} events[] = { { all_leaves_but_one, 199 * 51, 0, true },
		{ half_of_all_hosts, 200 * 25, 0, true }, { many_cables, 0, 200 * 20, false },
		{ many_slow, 0, 200 * 20, false }, { new_names, 200 * 51 + 20, 0, false } };

	for (size_t e = 0; e < N_OF(events); e++) {
		uint32_t n_nodes = 0, n_cables = 0;
		struct news news;

		make(200, 50, 20);
		tell(events[e].happens, &news);
		ck_assert_uint_ge(news.items.n, 1);
		ck_assert_uint_le(news.items.n, NEWS_LINES);
		for (size_t i = 0; i < news.items.n; i++) {
			n_nodes += news.items.item[i].n_nodes;
			n_cables += news.items.item[i].n_cables;
			ck_assert_uint_le(strlen(news.items.item[i].text), 240);
		}
		ck_assert_uint_eq(n_nodes, events[e].n_nodes);
		if (!events[e].ways_out)
			ck_assert_uint_eq(n_cables, events[e].n_cables);
		news_fini(&news);
		inv_fini(&inv);
	}
}
END_TEST

/* All that is behind one cable is one line, and the cable is in it. */
static void
cut_behind(void)
{
	for (uint32_t l = 1; l < n_leaves; l++)
		lose_leaf(l);
	for (uint32_t s = 1; s < n_spines; s++)
		lose(spine(s));
	cut(spine(0), 1);
	lose(spine(0));
}

START_TEST(a_part_behind_one_cable_is_one_line)
{
	struct news news;

	make(4, 3, 2);
	cut(leaf(0), 5);
	tell(cut_behind, &news);
	ck_assert_uint_eq(news.items.n, 1);
	ck_assert_str_eq(news.items.item[0].text,
	    "lost: 5 switches and 9 hosts: \"spine-0\", \"spine-1\", \"leaf-1\", \"leaf-2\", "
	    "\"leaf-3\", \"host-3\", \"host-4\", \"host-5\", \"host-6\", \"host-7\", \"host-8\", "
	    "\"host-9\", \"host-10\" and 1 more, cabled to \"leaf-0\" port 4; there for at "
	    "least 5 s");
	news_fini(&news);
	inv_fini(&inv);
}
END_TEST

/* The switches of a director that are not cabled to one another, all its leaf boards. */
static void
lose_boards(void)
{
	lose_leaf(1);
	lose_leaf(2);
}

START_TEST(a_chassis_is_one_line)
{
	struct news news;

	make(4, 2, 2);
	inv_node(&inv, leaf(1))->system_guid = inv_node(&inv, leaf(2))->system_guid = 0xcc;
	tell(lose_boards, &news);
	ck_assert_uint_eq(news.items.n, 1);
	ck_assert_str_eq(news.items.item[0].text,
	    "lost: chassis 0x00000000000000cc, 2 switches and 4 hosts: \"leaf-1\", \"leaf-2\", "
	    "\"host-2\", \"host-3\", \"host-4\", \"host-5\", cabled to \"spine-0\" port 2, "
	    "\"spine-1\" port 2 and 2 more ports; there for at least 5 "
	    "s");
	ck_assert(news.items.item[0].worse);
	news_fini(&news);
	inv_fini(&inv);
}
END_TEST

/* At the start all is new, and only what is slow is told. */
START_TEST(the_first_picture_tells_what_is_slow)
{
	static const char *const lines[] = {
		"slower or narrower than both ends support: cable \"spine-1\" port 3 - \"leaf-2\" "
		"port "
		"5 (1xHDR, both ends support 4xHDR)"
	};
	struct seen *now;
	struct news news;

	make(4, 3, 2);
	run_at(leaf(2), 5, 1, 4);
	now = seen_make(&inv, NULL, BEGUN);
	ck_assert(news_tell(NULL, now, BEGUN, &news));
	expect(&news, lines, 1, "a slow cable");
	news_fini(&news);
	seen_free(now);
	inv_fini(&inv);
}
END_TEST

START_TEST(most_cables_alike_are_one_line)
{
	static const char *const lines[] = {
		"19 of 20 cables run 4xEDR, could run 4xHDR (fmctl links "
		"--degraded)",
		"slower or narrower than both ends support: cable \"leaf-0\" port 1 - \"host-0\" "
		"port 1 (4xFDR, both ends support 4xHDR)"
	};
	struct seen *now;
	struct news news;

	make(4, 3, 2);
	for (uint32_t l = 0; l < 4; l++)
		for (unsigned p = 1; p <= 5; p++)
			run_at(leaf(l), p, 2, 2);
	run_at(leaf(0), 1, 2, 1);
	now = seen_make(&inv, NULL, BEGUN);
	ck_assert(news_tell(NULL, now, BEGUN, &news));
	expect(&news, lines, 2, "all cables are slow");
	ck_assert_uint_eq(news.items.item[0].n_cables, 19);
	news_fini(&news);
	seen_free(now);
	inv_fini(&inv);
}
END_TEST

/* Names as long as they may be are cut at a place, never within what follows. */
static void
long_names(void)
{
	for (uint32_t i = 0; i < inv.nodes.n; i++)
		snprintf(inv_node(&inv, i)->name, 65, "%064u", i);
}

START_TEST(long_names_leave_room_for_the_rest)
{
	static void (*const events[])(
	    void) = { all_leaves_but_one, half_of_all_hosts, many_cables, many_slow, one_spine };

	for (size_t e = 0; e < N_OF(events); e++) {
		struct news news;

		make(20, 18, 10);
		long_names();
		tell(events[e], &news);
		for (size_t i = 0; i < news.items.n; i++)
			ck_assert_msg(strlen(news.items.item[i].text) < NEWS_TEXT - 1, "%s",
			    news.items.item[i].text);
		news_fini(&news);
		inv_fini(&inv);
	}
}
END_TEST

int
main(void)
{
	Suite *s = suite_create("news");
	TCase *tc = tcase_create("news");

	tcase_add_loop_test(tc, each_event_is_a_line, 0, (int)N_OF(losses));
	tcase_add_test(tc, what_comes_back_was_gone_for_so_long);
	tcase_add_test(tc, flapping_is_told_once);
	tcase_add_test(tc, who_comes_back_elsewhere_is_told_with_where_it_was);
	tcase_add_test(tc, one_slow_cable_of_several_counts);
	tcase_add_loop_test(tc, what_lasts_has_an_end, 0, (int)N_OF(lasts));
	tcase_add_test(tc, a_cable_that_comes_slow);
	tcase_add_test(tc, another_node_of_the_guid_is_told);
	tcase_add_test(tc, ten_thousand_are_a_handful_of_lines);
	tcase_add_test(tc, a_part_behind_one_cable_is_one_line);
	tcase_add_test(tc, a_chassis_is_one_line);
	tcase_add_test(tc, the_first_picture_tells_what_is_slow);
	tcase_add_test(tc, most_cables_alike_are_one_line);
	tcase_add_test(tc, long_names_leave_room_for_the_rest);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
