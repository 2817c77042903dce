// SPDX-License-Identifier: BSD-2-Clause
// The bytes of api/v1/cells, and what they look like.

import assert from "node:assert/strict";
import { test } from "node:test";
import { shows } from "../src/address";
import { loadOf, NEVER_READ, readCells, toRows, waitOf } from "../src/cells";
import { palette, placeOf, scaleAt } from "../src/colours";
import { makeFabric, nodeBy, rowOf } from "../src/fabric";
import { differences, valuesOf } from "../src/values";
import { fatTree } from "./made";

const answer = fatTree(2, 2, 2, 1), f = makeFabric(answer, []);

/* The nodes in another order than the fabric has them; load is the low byte of GUID + port. */
function bytes(change: (v: DataView) => void = () => undefined): ArrayBuffer {
	const nodes = [...Array(f.n).keys()].reverse(), nPorts = f.rows, at = 64 + nodes.length * 16;
	const v = new DataView(new ArrayBuffer(at + nPorts * 4));
	let row = 0;

	v.setUint32(0, 0x43444d46, true);
	v.setUint32(4, 1, true);
	v.setUint32(8, nodes.length, true);
	v.setUint32(12, nPorts, true);
	v.setBigUint64(16, 7n, true);
	v.setBigInt64(24, 1764500000000n, true);
	v.setUint32(32, 10000, true);
	nodes.forEach((node, i) => {
		v.setBigUint64(64 + i * 8, BigInt(f.guids[node]), true);
		v.setUint32(64 + nodes.length * 8 + i * 4, row, true);
		v.setUint32(64 + nodes.length * 12 + i * 4, f.ports[node], true);
		for (let port = 1; port <= f.ports[node]; port++, row++) {
			v.setUint8(at + row, node + port);
			v.setUint8(at + nPorts + row, port);
			v.setUint8(at + 2 * nPorts + row, node % 7);
			v.setUint8(at + 3 * nPorts + row, port % 8);
		}
	});
	change(v);
	return v.buffer as ArrayBuffer;
}

test("ports are found by GUID and number", () => {
	const cells = readCells(bytes());

	assert.ok(typeof cells !== "string");
	assert.deepEqual([cells.reading, cells.ended, cells.interval], [7, 1764500000000, 10000]);
	const r = toRows(f, cells);
	for (let node = 0; node < f.n; node++)
		for (let port = 1; port <= f.ports[node]; port++)
			assert.deepEqual([r.load, r.wait, r.errors, r.state].map(part => part[rowOf(f, node, port)]), [node + port, port, node % 7, port % 8]);
	assert.equal(toRows(f, null).state[0], NEVER_READ);
});

test("what is no answer is a sentence", () => {
	assert.equal(typeof readCells(new ArrayBuffer(0)), "string");
	assert.equal(typeof readCells(bytes(v => v.setUint32(0, 1, true))), "string");
	assert.match(readCells(bytes(v => v.setUint32(4, 2, true))) as string, /reload/);
	assert.match(readCells(bytes().slice(0, -1)) as string, /short/);
	assert.match(readCells(bytes(v => v.setUint32(64 + f.n * 8, 4000000000, true))) as string, /no sense/);
});

test("bytes are what the contract says", () => {
	assert.ok(Number.isNaN(loadOf(0)) && Number.isNaN(waitOf(0)));
	assert.equal(loadOf(1), 0);
	assert.equal(loadOf(255), 1);
	assert.equal(waitOf(1), 0);
	assert.equal(waitOf(2), 1);
});

const light = ([r, g, b]: number[]): number => 0.2126 * r + 0.7152 * g + 0.0722 * b;

test("lightness runs one way along each scale", () => {
	for (const theme of ["light", "dark"] as const)
		for (const show of ["load", "wait", "errors", "planned"]) {
			const steps = [...Array(21).keys()].map(i => light(scaleAt(theme, show, i / 20)));
			const down = theme === "light" ? 1 : -1;
			for (let i = 1; i < steps.length; i++)
				assert.ok((steps[i - 1] - steps[i]) * down > 0, `${theme} ${show} ${i}`);
		}
});

test("more is never further down the scale", () => {
	for (const show of shows.filter(s => s !== "health")) {
		let last = -1;
		for (let byte = 1; byte < 256; byte++) {
			const at = placeOf(show, byte);
			assert.ok(at >= last && at <= 1, `${show} ${byte}: ${at}`);
			last = at;
		}
		assert.equal(palette(show, "dark").length, 256);
	}
	assert.notEqual(palette("errors", "light")[0], palette("errors", "light")[1]);
});

test("a host's cell is the worse of both ends", () => {
	const r = toRows(f, null), leaf = rowOf(f, nodeBy(f, "leaf-1-1"), 1);

	r.errors[f.peer[leaf]] = 5;
	assert.equal(valuesOf("errors", f, r, new Uint8Array(f.rows))[leaf], 5);
});

test("the differences to plan are 0 in sum where all cables are alike", () => {
	const r = toRows(f, null);

	for (let row = 0; row < f.rows; row++)
		r.load[row] = 200 + row % 50;
	const all = differences(f, r), sum = all.filter(d => !Number.isNaN(d)).reduce((a, b) => a + b, 0);
	assert.ok(all.some(d => d > 0) && all.some(d => d < 0));
	assert.ok(Math.abs(sum) < 1e-4, `${sum}`);
});
