// SPDX-License-Identifier: BSD-2-Clause
// The answer to "fabric" as arrays, and what is lost in it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { flagsOf, LOST, makeFabric, nodeBy, portName, portOf, rowOf, whatIsWrong } from "../src/fabric";
import { Lost, type FabricEvent } from "../src/lost";
import { MARK, marksOf } from "../src/values";
import { cablesOf, fatTree, without } from "./made";

const whole = fatTree(4, 3, 3, 2);

test("each port is a row, and cables join two", () => {
	const f = makeFabric(whole, []);

	assert.equal(f.rows, whole.ports.reduce((sum, n) => sum + n, 0));
	let cabled = 0;
	for (let row = 0; row < f.rows; row++) {
		assert.equal(rowOf(f, f.nodeOf[row], portOf(f, row)), row);
		if (f.peer[row] >= 0) {
			assert.equal(f.peer[f.peer[row]], row);
			assert.equal(f.cable[row], f.cable[f.peer[row]]);
			cabled++;
		}
	}
	assert.equal(cabled, 2 * whole.cables.length);
});

test("the planned load is that of the port by which it leaves", () => {
	const f = makeFabric(whole, []), leaf = rowOf(f, nodeBy(f, "leaf-2-1"), 5);

	assert.equal(portName(f, f.peer[leaf]), "agg-2-2 port 1");
	assert.equal(f.planned[leaf], 11);
	assert.equal(f.planned[f.peer[leaf]], 21);
});

test("ports that are not there have no row", () => {
	const f = makeFabric(whole, []);

	for (const [node, port] of [[-1, 1], [f.n, 1], [0, 0], [0, 200], [NaN, 1]])
		assert.equal(rowOf(f, node, port), -1);
});

test("cables that make no sense are left out", () => {
	const cables = [...whole.cables, [9999, 1, 0, 1, 1, 1, 0, 0, 4], [0, 99, -1, 0, 1, 1, 0, 0, 4]];
	const f = makeFabric({ ...whole, cables }, []);

	assert.deepEqual(f.peer, makeFabric(whole, []).peer);
});

test("lists of unlike length are told", () => {
	assert.equal(whatIsWrong(whole), null);
	assert.match(whatIsWrong({ ...whole, ports: [] }) ?? "", /ports/);
	assert.match(whatIsWrong({ ...whole, cables: undefined as unknown as number[][] }) ?? "", /cables/);
});

test("a lost spine is found by its event, with the level and group of its plane", () => {
	const f = makeFabric(without(whole, "spine-2-3"), cablesOf(whole, "spine-2-3"));
	const spine = nodeBy(f, "spine-2-3"), sister = nodeBy(f, "spine-1-3");

	assert.ok(spine >= f.nPresent);
	assert.equal(f.levels[spine], 3);
	assert.equal(f.group[spine], f.group[sister]);
	assert.equal(f.ports[spine], 4);
	const marks = marksOf(f, []);
	const lost = [...marks.keys()].filter(row => marks[row] === MARK.lost);
	assert.deepEqual(lost.filter(row => f.nodeOf[row] < f.nPresent).map(row => portName(f, row)).sort(),
		[1, 2, 3, 4].map(pod => `agg-${pod}-3 port 5`));
	assert.equal(lost.filter(row => f.nodeOf[row] === spine).length, 4);
	assert.ok(lost.every(row => flagsOf(f, row) === LOST));
});

test("where groups go by names, so does what is lost", () => {
	const byName = { ...whole, grouped_by: "names", groups: whole.groups.map(name => name.replace(/\d+$/, "")) };
	const f = makeFabric(without(byName, "spine-2-3"), cablesOf(byName, "leaf-1-2").map(c => ({ ...c, from: { ...c.from, node: "spine-1-9", guid: "0x999" } })));

	assert.equal(f.groups[f.group[nodeBy(f, "spine-1-9")]], "spine-1-");
});

test("what the page has seen go is lost, and is not when it is back", () => {
	const lost = new Lost(), before = makeFabric(whole, lost.update(null, whole)), hurt = without(whole, "leaf-3-2");
	const f = makeFabric(hurt, lost.update(before, hurt));

	assert.equal(f.n - f.nPresent, 1);
	/* its hosts are there, and where they were is known */
	assert.equal(portName(f, f.peer[rowOf(f, nodeBy(f, "host-3-2-1"), 1)]), "leaf-3-2 port 1");
	const again = makeFabric(whole, lost.update(f, whole));
	assert.equal(again.n, again.nPresent);
	assert.ok(again.flags.every(flags => !(flags & LOST)));
	assert.deepEqual(lost.update(again, whole), []);
});

test("what is forgotten is not lost, and what is lost later is", () => {
	const lost = new Lost("2026-11-30T11:00:00Z"), event = (time: string, name: string): FabricEvent => ({ n: 1, time, level: "warn", kind: "lost-nodes", text: "",
		facts: { event: "lost-nodes", cables: cablesOf(whole, name).map(c => ({ from: { ...c.from, type: "switch" }, to: { ...c.to, type: "switch" } })) } });
	const hurt = without(without(whole, "spine-1-1"), "spine-2-1");

	lost.hear([event("2026-11-30T10:59:59Z", "spine-1-1"), event("2026-11-30T12:00:00Z", "spine-2-1")]);
	assert.deepEqual([...new Set(lost.update(null, hurt).map(c => c.to.node))], ["spine-2-1"]);
	lost.forget("2026-11-30T12:00:00Z");
	assert.deepEqual(lost.update(makeFabric(hurt, cablesOf(whole, "spine-2-1")), hurt), []);
});

test("what was moved is not lost", () => {
	const lost = new Lost(), cables = whole.cables.map(c => [...c]);
	const before = makeFabric(whole, lost.update(null, whole));
	const spine = whole.names.indexOf("spine-1-1"), host = whole.names.indexOf("host-1-1-1");
	cables.filter(c => c[2] === host).forEach(c => { c[1] = 9; });
	const moved = { ...whole, ports: whole.ports.map((n, i) => whole.levels[i] === 1 || i === spine ? n + 4 : n), cables };

	assert.equal(lost.update(before, moved).length, 0);
});

test("events that make no sense are nothing", () => {
	const lost = new Lost();

	lost.hear([{ n: 1, time: "", level: "warn", kind: "lost-cables", text: "", facts: { event: "lost-cables",
		cables: [{ from: { node: 5 }, to: undefined }, {}, null as unknown as object] } }] as unknown as FabricEvent[]);
	assert.deepEqual(lost.update(null, whole), []);
});
