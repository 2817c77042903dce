// SPDX-License-Identifier: BSD-2-Clause
// Where ports stand: each at a place of its own, and a lost spine at one column of all pods.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HOST, makeFabric, nodeBy, portOf, rowOf, type Fabric } from "../src/fabric";
import { arrange, fit, place, portAt, step, type Arrangement, type Places } from "../src/places";
import { cablesOf, fatTree, without } from "./made";

const whole = fatTree(4, 3, 3, 2);
const middle = (f: Fabric, a: Arrangement, p: Places, row: number): [number, number] => {
	const sw = f.nodeOf[row];
	return [p.x[sw] + (a.col[row] + 0.5) * p.cell, p.y[sw] + p.cell / 2];
};

function checkPlaces(f: Fabric, width: number, height: number): Places {
	const a = arrange(f), p = fit(f, a, width, height, 1);
	let cells = 0, ports = 0;

	for (let row = 0; row < f.rows; row++) {
		if (f.types[f.nodeOf[row]] === HOST)
			continue;
		ports++;
		const [x, y] = middle(f, a, p, row);
		assert.ok(x > 0 && y > 0 && x < width && y < p.height, `${f.names[f.nodeOf[row]]} port ${portOf(f, row)} at ${x}, ${y}`);
		if (portAt(f, a, p, x, y) === row)
			cells++;
	}
	assert.equal(cells, ports);
	return p;
}

test("each port of a switch is a cell, in windows of any size", () => {
	const f = makeFabric(whole, []);

	for (const [w, h] of [[1200, 700], [700, 500], [300, 900], [1800, 200]])
		assert.ok(checkPlaces(f, w, h).height <= h, `${w} x ${h}`);
});

test("27,648 hosts fit into a window of 1600 x 900", () => {
	const f = makeFabric(fatTree(48, 24, 24, 24), []), p = place(f, 1168, 730, 1).places;

	assert.equal(f.types.filter(t => t === HOST).length, 27648);
	assert.ok(p.cell > 2, `${p.cell}`);
	assert.ok(p.height <= 730);
});

test("where no size is small enough the map is higher than the window", () => {
	assert.ok(checkPlaces(makeFabric(fatTree(6, 6, 6, 6), []), 120, 60).height > 60);
});

test("a lost spine leaves one hole, at the same column of each pod", () => {
	const f = makeFabric(without(whole, "spine-1-2"), cablesOf(whole, "spine-1-2")), a = arrange(f), before = arrange(makeFabric(whole, []));
	const g = makeFabric(whole, []);
	const columns = [1, 2, 3, 4].map(pod => a.col[rowOf(f, nodeBy(f, `agg-${pod}-2`), 4)]);

	assert.equal(new Set(columns).size, 1);
	assert.equal(columns[0], before.col[rowOf(g, nodeBy(g, "agg-1-2"), 4)]);
});

test("a port without a cable stands where those of its number do", () => {
	const leaf = whole.names.indexOf("leaf-2-2"), cables = whole.cables.filter(c => !(c[0] === leaf && (c[1] === 2 || c[1] === 5)));
	const f = makeFabric({ ...whole, cables }, []), a = arrange(f), other = nodeBy(f, "leaf-2-1");

	for (const port of [1, 2, 3, 4, 5, 6])
		assert.equal(a.col[rowOf(f, leaf, port)], a.col[rowOf(f, other, port)], `port ${port}`);
});

test("hosts stand before switches, and a spine at one column of each leaf's pod", () => {
	const f = makeFabric(whole, []), a = arrange(f), leaf = nodeBy(f, "leaf-1-1");

	assert.deepEqual([...a.order.subarray(f.first[leaf], f.first[leaf + 1])].map(row => portOf(f, row)), [1, 2, 3, 4, 5, 6]);
	assert.deepEqual(a.tiles.map(t => t.name), ["leaf-1-1", "leaf-2-1", "leaf-3-1", "leaf-4-1", "spine-1-1", "spine-1-2", "spine-1-3"]);
});

test("arrows come to each port of a row, and stay at the edge", () => {
	const f = makeFabric(whole, []), a = arrange(f), p = fit(f, a, 1200, 700, 1), leaf = nodeBy(f, "leaf-1-1");
	let row = a.order[f.first[leaf]];
	const seen = [portOf(f, row)];

	assert.equal(step(f, a, p, row, -1, 0), row);
	assert.equal(step(f, a, p, row, 0, -1), row);
	for (let i = 1; i < f.ports[leaf]; i++) {
		row = step(f, a, p, row, 1, 0);
		seen.push(portOf(f, row));
	}
	assert.deepEqual(seen, [1, 2, 3, 4, 5, 6]);
	assert.equal(f.names[f.nodeOf[step(f, a, p, a.order[f.first[leaf]], 0, 1)]], "leaf-1-2");
	assert.equal(f.names[f.nodeOf[step(f, a, p, row, 1, 0)]], "leaf-2-1");
});

test("no switch, and a switch without a level", () => {
	const two = { ...whole, names: ["a", "b"], guids: ["0x1", "0x2"], types: [1, 1], lids: [1, 2], ports: [1, 1], levels: [0, 0], group: [-1, -1],
		groups: [], cables: [[0, 1, 1, 1, 1, 1, 0, 0, 4]] };

	assert.equal(arrange(makeFabric(two, [])).tiles.length, 0);
	checkPlaces(makeFabric({ ...two, types: [2, 2], levels: [-1, -1], ports: [4, 4] }, []), 300, 200);
});
