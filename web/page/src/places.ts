// SPDX-License-Identifier: BSD-2-Clause
// Where each port stands: a row a switch, tiles by group, ports ordered by what is behind them.
//
//	fabric --arrange()--> rows and columns, in cells --fit()--> pixels, for a window
//
// Columns of a row: hosts, lower switches, the same level (own group, then others), higher ones,
// and ports that have no cable.  Within each by where the other end stands, so that a spine is at
// the same column of each pod.  Cost: O(ports log ports), 60 ms at 11,664 hosts.

import { HOST, isSwitch, portOf, type Fabric } from "./fabric";

export interface Tile {
	name: string;
	switches: Uint32Array; /* in the order of rows */
	gapBefore: Uint8Array; /* 1: another level begins */
	units: number; /* how wide, in cells */
	begins: boolean; /* the first of those that begin at its level */
}

export interface Arrangement {
	tiles: Tile[];
	col: Float32Array; /* by row: left edge in its switch's row, in cells */
	order: Uint32Array; /* rows of each switch from left to right, at first[switch] */
	longestName: number;
}

const HOSTS = 0, LOWER = 1, LEVEL = 2, OTHERS = 3, HIGHER = 4, EMPTY = 5, CLASSES = 6;
const CLASS_GAP = 0.6; /* in cells */
const LEVEL_GAP = 0.8;
const STACK_GAP = 1.6;

/* leaf-2 before leaf-10; an Intl.Collator that compares so takes ten times as long. */
const naturalKey = (name: string): string => name.replace(/\d+/g, digits => digits.padStart(10, "0"));
const compare = (a: string, b: string): number => a < b ? -1 : a > b ? 1 : 0;

function classOf(f: Fabric, row: number): number {
	const a = f.nodeOf[row], peer = f.peer[row];

	if (peer < 0)
		return EMPTY;
	const b = f.nodeOf[peer];
	if (!isSwitch(f, b))
		return HOSTS;
	const levelA = f.levels[a], levelB = f.levels[b];
	if (levelA >= 0 && levelB >= 0 && levelA !== levelB)
		return levelB < levelA ? LOWER : HIGHER;
	return f.group[a] === f.group[b] ? LEVEL : OTHERS;
}

const level = (f: Fabric, sw: number): number => f.levels[sw] < 0 ? 1e6 : f.levels[sw];

/* Switches that are alone in their group stand together, a tile for each level; merged: so do all
 * that have no hosts, as the spines, which saves the room between their tiles. */
function makeTiles(f: Fabric, merged: boolean): Tile[] {
	const size = new Int32Array(f.groups.length + 1), found = new Map<string, number[]>();

	for (let i = 0; i < f.n; i++)
		if (f.types[i] !== HOST && f.group[i] >= 0)
			size[f.group[i]]++;
	const lowest = new Float64Array(f.groups.length).fill(1e6);
	for (let i = 0; i < f.n; i++)
		if (f.types[i] !== HOST && f.group[i] >= 0)
			lowest[f.group[i]] = Math.min(lowest[f.group[i]], level(f, i));
	const single = size.filter(n => n === 1).length > 1;
	for (let i = 0; i < f.n; i++) {
		if (f.types[i] === HOST)
			continue;
		const g = f.group[i], alone = g < 0 || (single && size[g] === 1) || (merged && lowest[g] > 1);
		const key = alone ? `l${level(f, i)}` : `g${g}`;
		found.get(key)?.push(i) ?? found.set(key, [i]);
	}
	const tiles = [...found.entries()].map(([key, list]) => {
		const keys = new Map(list.map(sw => [sw, naturalKey(f.names[sw])]));
		list.sort((a, b) => level(f, a) - level(f, b) || compare(keys.get(a)!, keys.get(b)!));
		const name = tileName(f, key, list);
		return { list, lowest: level(f, list[0]), name, key: naturalKey(name) };
	});
	tiles.sort((a, b) => a.lowest - b.lowest || compare(a.key, b.key));
	return tiles.map((t, at) => ({
		begins: at > 0 && t.lowest !== tiles[at - 1].lowest, name: t.name, switches: Uint32Array.from(t.list), units: 0,
		gapBefore: Uint8Array.from(t.list.map((sw, i) =>
			i > 0 && f.levels[sw] !== f.levels[t.list[i - 1]] ? 1 : 0)),
	}));
}

function tileName(f: Fabric, key: string, list: number[]): string {
	if (key[0] === "g")
		return f.groups[f.group[list[0]]].replace(/[-_. ]+$/, "");
	return f.levels[list[0]] > 0 ? `level ${f.levels[list[0]]}` : "switches";
}

/* What a port without a cable would be for: what most ports of that number and level are. */
function usualClasses(f: Fabric, classes: Uint8Array): Map<number, Uint8Array> {
	const counts = new Map<number, Uint32Array>(), usual = new Map<number, Uint8Array>();

	for (let row = 0; row < f.rows; row++) {
		const sw = f.nodeOf[row];
		if (f.types[sw] === HOST)
			continue;
		const count = counts.get(f.levels[sw]) ?? new Uint32Array(256 * CLASSES);
		counts.set(f.levels[sw], count);
		count[(portOf(f, row) & 255) * CLASSES + classes[row]]++;
	}
	for (const [lev, count] of counts) {
		const best = new Uint8Array(256).fill(EMPTY);
		for (let port = 0; port < 256; port++) {
			let all = 0;
			for (let c = 0; c < CLASSES; c++)
				all += count[port * CLASSES + c];
			for (let c = 0; c < EMPTY; c++)
				if (count[port * CLASSES + c] * 2 > all)
					best[port] = c;
		}
		usual.set(lev, best);
	}
	return usual;
}

/* The rows of a switch from left to right. */
function orderRow(f: Fabric, sw: number, classes: Uint8Array, where: Float64Array, usual: Uint8Array,
    order: Uint32Array): void {
	const from = f.first[sw], to = f.first[sw + 1];
	const key = new Float64Array(to - from);

	for (let row = from; row < to; row++) {
		if (classes[row] === HOSTS || classes[row] === EMPTY)
			key[row - from] = row - from;
		else
			key[row - from] = where[f.nodeOf[f.peer[row]]] * 256 + portOf(f, f.peer[row]);
	}
	/* without a cable: beside the next lower port of its kind */
	for (let row = from; row < to; row++) {
		if (classes[row] !== EMPTY)
			continue;
		classes[row] = usual[portOf(f, row) & 255];
		if (classes[row] === HOSTS || classes[row] === EMPTY)
			continue;
		let at = row - 1;
		while (at >= from && classes[at] !== classes[row])
			at--;
		if (at < from)
			key[row - from] = -1;
		else
			key[row - from] = key[at - from] + 0.001;
	}
	const rows = order.subarray(from, to);
	for (let i = 0; i < rows.length; i++)
		rows[i] = from + i;
	rows.sort((a, b) => classes[a] - classes[b] || key[a - from] - key[b - from] || a - b);
}

/* Columns are the same for all switches of a level in a tile. */
function placeColumns(f: Fabric, tile: Tile, classes: Uint8Array, order: Uint32Array, col: Float32Array): void {
	const most = new Map<number, Uint32Array>();

	for (const sw of tile.switches) {
		const count = new Uint32Array(CLASSES);
		for (let row = f.first[sw]; row < f.first[sw + 1]; row++)
			count[classes[row]]++;
		const m = most.get(f.levels[sw]) ?? new Uint32Array(CLASSES);
		count.forEach((n, c) => { m[c] = Math.max(m[c], n); });
		most.set(f.levels[sw], m);
	}
	for (const sw of tile.switches) {
		const begin = new Float32Array(CLASSES), m = most.get(f.levels[sw])!;
		let at = 0;
		for (let c = 0; c < CLASSES; c++) {
			begin[c] = at;
			if (m[c] > 0)
				at += m[c] + CLASS_GAP;
		}
		tile.units = Math.max(tile.units, at - CLASS_GAP);
		for (let i = f.first[sw]; i < f.first[sw + 1]; i++)
			col[order[i]] = begin[classes[order[i]]]++;
	}
}

export function arrange(f: Fabric, merged = false): Arrangement {
	const tiles = makeTiles(f, merged), classes = new Uint8Array(f.rows), where = new Float64Array(f.n);
	const order = new Uint32Array(f.rows), col = new Float32Array(f.rows);
	let at = 0, longestName = 0;

	for (let row = 0; row < f.rows; row++)
		if (f.types[f.nodeOf[row]] !== HOST)
			classes[row] = classOf(f, row);
	for (const tile of tiles)
		for (const sw of tile.switches) {
			where[sw] = at++;
			longestName = Math.max(longestName, f.names[sw].length);
		}
	const usual = usualClasses(f, classes), none = new Uint8Array(256).fill(EMPTY);
	for (const tile of tiles) {
		for (const sw of tile.switches)
			orderRow(f, sw, classes, where, usual.get(f.levels[sw]) ?? none, order);
		placeColumns(f, tile, classes, order, col);
	}
	return { tiles, col, order, longestName };
}

/* ------------------------------------------------------------------ pixels */

export interface Box { x: number; y: number; w: number; h: number }

export interface Places {
	cell: number; /* from one cell to the next, CSS pixels */
	title: number; /* room for the name of a tile above it */
	labels: number; /* room for names of switches at the left of rows; 0: none */
	width: number;
	height: number;
	boxes: Box[]; /* of tiles, with their titles */
	x: Float32Array; /* by node: left edge of its first cell; NaN: it has no row */
	y: Float32Array;
	tileOf: Int32Array;
}

const TIGHT = 4; /* cells smaller than that have less room around their tiles */
const titleOf = (cell: number): number => cell < TIGHT ? 12 : 17;
const gapOf = (cell: number): number => cell < TIGHT ? 4 : 12; /* between tiles */
const SPREAD = 24; /* what may be added to that */
const MERGED_GAIN = 1.1; /* cells must be so much larger for tiles to be given up */
const EDGE = 6; /* at both sides, for rings around cells */
const LARGEST = 20, LABELLED = 9, SMALLEST = 2;
export const LABEL_FONT = 10;
const LABEL_MOST = 120;

interface Fold {
	stacks: number;
	rows: number; /* of a stack, in cells, with gaps between levels */
}

/* Into how many stacks a tile is folded where none is to have more than `most` rows. */
function fold(tile: Tile, most: number): Fold {
	const n = tile.switches.length, stacks = Math.max(1, Math.ceil(n / most));
	const gaps = tile.gapBefore.reduce((sum, g) => sum + g, 0);

	return { stacks, rows: Math.ceil(n / stacks) + gaps * LEVEL_GAP };
}

/* Room that is left over goes between tiles, as far as it looks like one map. */
function spread(at: Box[], width: number, height: number, total: number): void {
	const shelves = new Map<number, Box[]>();

	for (const box of at)
		shelves.get(box.y)?.push(box) ?? shelves.set(box.y, [box]);
	const ends = [...shelves.values()].map(list => list[list.length - 1]);
	const fullest = Math.max(1, ...[...shelves.values()].map(list => list.length));
	const wide = fullest > 1 ? Math.min(SPREAD, Math.floor((width - Math.max(...ends.map(b => b.x + b.w))) / (fullest - 1))) : 0;
	const high = shelves.size > 1 ? Math.min(SPREAD, Math.floor((height - total) / (shelves.size - 1))) : 0;
	[...shelves.values()].forEach((list, shelf) => list.forEach((box, i) => {
		box.x += Math.max(0, wide) * i;
		box.y += Math.max(0, high) * shelf;
	}));
}

interface Try {
	height: number;
	at: Box[];
}

function pack(tiles: Tile[], folds: Fold[], cell: number, labels: number, width: number): Try {
	const title = titleOf(cell), gap = gapOf(cell);
	let x = 0, y = 0, shelf = 0;
	const at = tiles.map((tile, i) => {
		const { stacks, rows } = folds[i];
		const w = stacks * (tile.units * cell + labels) + (stacks - 1) * STACK_GAP * cell;
		const h = rows * cell + title;
		if (x > 0 && (tile.begins || x + w > width)) {
			x = 0;
			y += shelf + gap;
			shelf = 0;
		}
		const box = { x, y, w, h };
		x += w + gap;
		shelf = Math.max(shelf, h);
		return box;
	});
	return { height: y + shelf, at };
}

function sizes(dpr: number): number[] {
	const list: number[] = [];

	for (let s = LARGEST; s >= 4; s -= 1 / Math.max(1, Math.round(dpr)))
		list.push(s);
	for (let s = 3.75; s >= SMALLEST; s -= 0.125)
		list.push(s);
	return list;
}

/* How many rows a stack may have. */
function foldsToTry(a: Arrangement): Set<number> {
	const tallest = Math.max(1, ...a.tiles.map(t => t.switches.length)), mosts = new Set<number>();

	for (let k = 1; k <= 40 && k <= tallest; k++)
		mosts.add(Math.ceil(tallest / k));
	return mosts;
}

/* The largest cells that let all tiles into the window; the smallest, and a higher map, where none do. */
function search(a: Arrangement, width: number, height: number, labels: number, least: number, dpr: number) {
	let best: { cell: number; folds: Fold[]; tried: Try } | null = null;

	for (const most of foldsToTry(a)) {
		const folds = a.tiles.map(t => fold(t, most));
		for (const cell of sizes(dpr)) {
			if (cell < least || (best && cell <= best.cell))
				break;
			if (a.tiles.some((t, i) => folds[i].stacks * (t.units * cell + labels) > width))
				continue;
			const tried = pack(a.tiles, folds, cell, labels, width);
			if (tried.height <= height) {
				best = { cell, folds, tried };
				break;
			}
		}
	}
	return best;
}

/* The smallest cells, with the tiles so folded that the map is least high. */
function fallback(a: Arrangement, width: number) {
	const cell = SMALLEST;
	let best: { cell: number; folds: Fold[]; tried: Try } | null = null;

	for (const most of foldsToTry(a)) {
		const folds = a.tiles.map(t => fold(t, Math.max(most, Math.ceil(t.switches.length * (t.units + STACK_GAP) * cell / width))));
		const tried = pack(a.tiles, folds, cell, 0, width);
		if (!best || tried.height < best.tried.height)
			best = { cell, folds, tried };
	}
	return best!;
}

/* Arranged and fitted: with fewer tiles where that is what lets larger cells in. */
export function place(f: Fabric, width: number, height: number, dpr: number): { arrangement: Arrangement; places: Places } {
	const plain = arrange(f), places = fit(f, plain, width, height, dpr);

	if (places.cell >= TIGHT)
		return { arrangement: plain, places };
	const merged = arrange(f, true), others = fit(f, merged, width, height, dpr);
	const isBetter = places.height > height ? others.height < places.height : others.cell > places.cell * MERGED_GAIN;
	return isBetter ? { arrangement: merged, places: others } : { arrangement: plain, places };
}

export function fit(f: Fabric, a: Arrangement, whole: number, height: number, dpr: number): Places {
	const width = whole - 2 * EDGE;
	let labels = Math.min(LABEL_MOST, Math.ceil(a.longestName * LABEL_FONT * 0.62) + 8);
	let found = search(a, width, height, labels, LABELLED, dpr);

	if (!found) {
		labels = 0;
		found = search(a, width, height, 0, SMALLEST, dpr) ?? fallback(a, width);
	}
	const { cell, folds, tried } = found;
	spread(tried.at, width, height, tried.height);
	tried.at.forEach(box => { box.x += EDGE; });
	const p: Places = { cell, title: titleOf(cell), labels, width: whole, height: Math.ceil(Math.max(1, ...tried.at.map(b => b.y + b.h))), boxes: tried.at,
		x: new Float32Array(f.n).fill(NaN), y: new Float32Array(f.n).fill(NaN),
		tileOf: new Int32Array(f.n).fill(-1) };
	a.tiles.forEach((tile, i) => {
		const perStack = Math.ceil(tile.switches.length / folds[i].stacks), box = tried.at[i];
		let gaps = 0;
		tile.switches.forEach((sw, at) => {
			const stack = Math.floor(at / perStack), line = at % perStack;
			gaps = line === 0 ? 0 : gaps + tile.gapBefore[at];
			p.tileOf[sw] = i;
			p.x[sw] = box.x + stack * ((tile.units + STACK_GAP) * cell + labels) + labels;
			p.y[sw] = box.y + p.title + (line + gaps * LEVEL_GAP) * cell;
		});
	});
	return p;
}

/* The port at a place, or the nearest of its switch within half a cell; -1. */
export function portAt(f: Fabric, a: Arrangement, p: Places, x: number, y: number): number {
	for (let i = 0; i < p.boxes.length; i++) {
		const box = p.boxes[i];
		if (x < box.x || y < box.y || x >= box.x + box.w || y >= box.y + box.h)
			continue;
		for (const sw of a.tiles[i].switches) {
			if (y < p.y[sw] || y >= p.y[sw] + p.cell || x < p.x[sw] - p.labels)
				continue;
			if (x > p.x[sw] + a.tiles[i].units * p.cell)
				continue;
			return inRow(f, a, p, sw, x);
		}
	}
	return -1;
}

function inRow(f: Fabric, a: Arrangement, p: Places, sw: number, x: number): number {
	for (let i = f.first[sw]; i < f.first[sw + 1]; i++) {
		const left = p.x[sw] + a.col[a.order[i]] * p.cell;
		if (x >= left - CLASS_GAP * p.cell / 2 && x < left + p.cell * (1 + CLASS_GAP / 2))
			return a.order[i];
	}
	return -1;
}

/* The next port in a direction (dx, dy of -1, 0, 1), over gaps; the same where there is none. */
export function step(f: Fabric, a: Arrangement, p: Places, row: number, dx: number, dy: number): number {
	const sw = f.nodeOf[row];
	let x = p.x[sw] + (a.col[row] + 0.5) * p.cell, y = p.y[sw] + p.cell / 2;

	while (x >= 0 && y >= 0 && x <= p.width && y <= p.height) {
		x += dx * p.cell / 2;
		y += dy * p.cell / 2;
		const at = portAt(f, a, p, x, y);
		if (at >= 0 && at !== row)
			return at;
	}
	return row;
}
