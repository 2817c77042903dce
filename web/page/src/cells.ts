// SPDX-License-Identifier: BSD-2-Clause
// What api/v1/cells says: of each port four bytes, as fmd-perf has read them last, or over the hour.
//
//	head of 64 bytes | u64 guid[nodes] | u32 first_port[nodes] | u32 n_ports[nodes]
//	| load[ports] | wait[ports] | errors[ports] | state[ports]
//
// By node and port they are brought into the rows of the fabric.  Cost: O(ports).

import type { Fabric } from "./fabric";

export const MISSING = 1, NO_CABLE = 2, NEVER_READ = 4, WAS_RESET = 8;

export interface Cells {
	reading: number;
	ended: number; /* ms of UTC */
	interval: number; /* ms */
	nodes: string[]; /* "0x..." */
	first: Uint32Array;
	ports: Uint32Array;
	load: Uint8Array;
	wait: Uint8Array;
	errors: Uint8Array;
	state: Uint8Array;
}

/* By row of the fabric. */
export interface Readings {
	load: Uint8Array;
	wait: Uint8Array;
	errors: Uint8Array;
	state: Uint8Array;
}

const HEAD = 64, MAGIC = 0x43444d46;

/* A sentence where these are none. */
export function readCells(bytes: ArrayBuffer): Cells | string {
	const v = new DataView(bytes);

	if (bytes.byteLength < HEAD || v.getUint32(0, true) !== MAGIC)
		return "What fmd-web has sent as cells is none.";
	if (v.getUint32(4, true) !== 1)
		return `Cells of version ${v.getUint32(4, true)} are not known to this page: reload it.`;
	const nNodes = v.getUint32(8, true), nPorts = v.getUint32(12, true);
	if (bytes.byteLength !== HEAD + nNodes * 16 + nPorts * 4)
		return "The cells are cut short.";
	const nodes: string[] = [], first = new Uint32Array(nNodes), ports = new Uint32Array(nNodes);
	const at = HEAD + nNodes * 8;
	for (let i = 0; i < nNodes; i++) {
		const low = v.getUint32(HEAD + i * 8, true), high = v.getUint32(HEAD + i * 8 + 4, true);
		nodes.push("0x" + high.toString(16).padStart(8, "0") + low.toString(16).padStart(8, "0"));
		first[i] = v.getUint32(at + i * 4, true);
		ports[i] = v.getUint32(at + nNodes * 4 + i * 4, true);
		if (first[i] + ports[i] > nPorts)
			return "The cells make no sense: a node has ports behind the last.";
	}
	const part = (i: number): Uint8Array => new Uint8Array(bytes, HEAD + nNodes * 16 + i * nPorts, nPorts);
	return {
		reading: Number(v.getBigUint64(16, true)), ended: Number(v.getBigInt64(24, true)),
		interval: v.getUint32(32, true), nodes, first, ports,
		load: part(0), wait: part(1), errors: part(2), state: part(3),
	};
}

export function toRows(f: Fabric, c: Cells | null): Readings {
	const r: Readings = { load: new Uint8Array(f.rows), wait: new Uint8Array(f.rows),
		errors: new Uint8Array(f.rows), state: new Uint8Array(f.rows).fill(NEVER_READ) };

	c?.nodes.forEach((guid, i) => {
		const node = f.byGuid.get(guid);
		if (node === undefined)
			return;
		const n = Math.min(c.ports[i], f.ports[node]), from = c.first[i], to = f.first[node];
		for (const key of ["load", "wait", "errors", "state"] as const)
			r[key].set(c[key].subarray(from, from + n), to);
	});
	return r;
}

/* 0 to 1 of what the cable carries; NaN: not read. */
export function loadOf(byte: number): number {
	return byte === 0 ? NaN : byte === 1 ? 0 : Math.pow(1.04, byte - 255);
}

/* Ticks a second; NaN: not read. */
export function waitOf(byte: number): number {
	return byte === 0 ? NaN : byte === 1 ? 0 : Math.pow(1.1, byte - 2);
}

/* At least so many in the last hour. */
export function errorsOf(byte: number): number {
	return byte === 0 ? 0 : Math.pow(2, byte - 1);
}
