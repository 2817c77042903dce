// SPDX-License-Identifier: BSD-2-Clause
// What stands in the address, and what is typed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { plain, readAddress, readPlace, shows, writeAddress, type Address } from "../src/address";
import { makeFabric } from "../src/fabric";
import { findNodes, splitPath } from "../src/find";
import { fatTree } from "./made";

test("what is written is read back", () => {
	const names = ["leaf-1:7", "0x0002c90300000001:36", "a b&c=d", "ä > ö", "100%", "?#+"];

	for (const show of shows)
		for (const at of names) {
			const address: Address = { show, over: "hour", as: "table", side: "events", at, from: names[2], to: names[3] };
			assert.deepEqual(readAddress(writeAddress(address)), { address, wrong: [] });
		}
	assert.equal(writeAddress(plain), "?");
});

test("what makes no sense is a sentence, and the rest holds", () => {
	const { address, wrong } = readAddress("?show=heat&over=hour&colour=red&from=a&__proto__=1");

	assert.deepEqual(address, { ...plain, over: "hour" });
	assert.equal(wrong.length, 4);
	assert.match(wrong[0], /show=heat: it takes load, wait/);
});

test("a port behind a name", () => {
	assert.deepEqual(readPlace("leaf-1:7"), { node: "leaf-1", port: 7 });
	assert.deepEqual(readPlace("leaf-1"), { node: "leaf-1", port: 0 });
	assert.deepEqual(readPlace("a:b:12"), { node: "a:b", port: 12 });
	assert.deepEqual(readPlace("a:b"), { node: "a:b", port: 0 });
});

test("a path", () => {
	assert.deepEqual(splitPath("a > b"), { from: "a", to: "b" });
	assert.deepEqual(splitPath("a->b"), { from: "a", to: "b" });
	assert.equal(splitPath("a-b"), null);
});

test("the node that is meant comes first", () => {
	const f = makeFabric(fatTree(12, 2, 2, 2), []), first = (words: string): string => f.names[findNodes(f, words)[0]];

	assert.equal(first("leaf-1-1"), "leaf-1-1");
	assert.equal(first("SPINE-2-1"), "spine-2-1");
	assert.equal(first("host-3-1"), "host-3-1-1");
	assert.equal(first(f.guids[5]), f.names[5]);
	assert.equal(first(String(f.lids[7])), f.names[7]);
	f.names[f.names.indexOf("host-1-1-1")] = "x-1";
	f.names[f.names.indexOf("agg-1-1")] = "x-1-switch";
	assert.equal(first("x-"), "x-1-switch");
	assert.equal(first("x-1"), "x-1");
	assert.deepEqual(findNodes(f, "nothing"), []);
	assert.deepEqual(findNodes(f, "  "), []);
});
