// SPDX-License-Identifier: BSD-2-Clause
// The map on a canvas: cells as pixels, then titles and marks; above it what is chosen and the path.
//
// Cells are written into one ImageData, 5 ms for 58,000 of them; a call of the canvas for each would
// take a hundred times as long without a GPU.

import { ground, markColour, pixelOf, type Theme } from "./colours";
import { HOST, type Fabric } from "./fabric";
import { LABEL_FONT, type Arrangement, type Places } from "./places";
import { MARK, markNames } from "./values";

export interface Picture {
	fabric: Fabric;
	arrangement: Arrangement;
	places: Places;
	values: Uint8Array; /* by row */
	marks: Uint8Array;
	palette: Uint32Array;
	theme: Theme;
	dpr: number;
}

const FONT = "system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

/* Of that size in CSS pixels; the unit of what is drawn then. */
export function prepare(canvas: HTMLCanvasElement, width: number, height: number, dpr: number): CanvasRenderingContext2D {
	const w = Math.max(1, Math.round(width * dpr)), h = Math.max(1, Math.round(height * dpr));

	if (canvas.width !== w || canvas.height !== h) {
		canvas.width = w;
		canvas.height = h;
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height}px`;
	}
	const g = canvas.getContext("2d")!;
	g.setTransform(dpr, 0, 0, dpr, 0, 0);
	return g;
}

function fillCells(p: Picture, pixels: Uint32Array, w: number, h: number): void {
	const { fabric: f, places, arrangement: a, dpr } = p;
	const none = pixelOf(ground[p.theme].none), lost = pixelOf(ground[p.theme].lost);
	const size = places.cell * dpr, gap = size >= 6 ? 1 : 0;

	for (let sw = 0; sw < f.n; sw++) {
		if (f.types[sw] === HOST || Number.isNaN(places.x[sw]))
			continue;
		const top = Math.round(places.y[sw] * dpr);
		const bottom = Math.min(h, Math.max(top + 1, Math.round(places.y[sw] * dpr + size) - gap));
		for (let row = f.first[sw]; row < f.first[sw + 1]; row++) {
			const x = places.x[sw] * dpr + a.col[row] * size;
			const left = Math.round(x), right = Math.min(w, Math.max(left + 1, Math.round(x + size) - gap));
			const colour = sw >= f.nPresent ? lost : f.cable[row] < 0 ? none
				: p.marks[row] === MARK.lost ? none : p.palette[p.values[row]];
			for (let y = top; y < bottom; y++)
				pixels.fill(colour, y * w + left, y * w + right);
		}
	}
}

function cut(g: CanvasRenderingContext2D, text: string, most: number): string {
	if (g.measureText(text).width <= most)
		return text;
	while (text.length > 1 && g.measureText(text + "…").width > most)
		text = text.slice(0, -1);
	return text + "…";
}

/* What all names begin with, up to a sign between words. */
function commonStart(names: string[]): string {
	let start = names[0] ?? "";

	for (const name of names)
		while (!name.startsWith(start))
			start = start.slice(0, -1);
	return start.replace(/[A-Za-z0-9]*$/, "");
}

/* Where a name is too long for its tile, what it has of its own. */
function writeTitles(g: CanvasRenderingContext2D, p: Picture): void {
	const start = commonStart(p.arrangement.tiles.map(t => t.name));

	g.fillStyle = ground[p.theme].soft;
	g.font = `600 ${p.places.title < 15 ? 10 : 11}px ${FONT}`;
	g.textBaseline = "alphabetic";
	g.textAlign = "left";
	p.arrangement.tiles.forEach((tile, i) => {
		const box = p.places.boxes[i];
		if (box.w >= 18)
			g.fillText(g.measureText(tile.name).width <= box.w ? tile.name : cut(g, tile.name.slice(start.length), box.w), box.x, box.y + p.places.title - (p.places.title < 15 ? 3 : 5));
	});
}

function writeLabels(g: CanvasRenderingContext2D, p: Picture): void {
	const { places, fabric: f } = p;

	if (places.labels === 0)
		return;
	g.font = `${Math.min(LABEL_FONT, places.cell)}px ${FONT}`;
	g.textBaseline = "middle";
	g.textAlign = "right";
	for (let sw = 0; sw < f.n; sw++) {
		if (Number.isNaN(places.x[sw]))
			continue;
		g.fillStyle = sw >= f.nPresent ? ground[p.theme].ink : ground[p.theme].soft;
		g.fillText(cut(g, f.names[sw], places.labels - 6), places.x[sw] - 5, places.y[sw] + places.cell / 2);
	}
}

/* Each kind has a shape and a size of its own: lost a crossed square, bad a disc, isolated a bar,
 * unfinished a diamond, watched a triangle. */
export function drawMark(g: CanvasRenderingContext2D, mark: number, x: number, y: number, cell: number, theme: Theme): void {
	const r = Math.max(mark === MARK.bad ? 4.2 : 3.4, Math.min(cell * 0.36, 7));

	g.fillStyle = markColour[theme][markNames[mark]];
	g.strokeStyle = ground[theme].page;
	g.lineWidth = 1.4;
	g.beginPath();
	switch (mark) {
	case MARK.bad:
		g.arc(x, y, r, 0, 2 * Math.PI);
		break;
	case MARK.lost:
		g.rect(x - r * 0.85, y - r * 0.85, r * 1.7, r * 1.7);
		break;
	case MARK.isolated:
		g.rect(x - r * 1.25, y - r * 0.5, r * 2.5, r);
		break;
	case MARK.trouble:
		g.moveTo(x, y - r * 1.2);
		g.lineTo(x + r * 1.2, y);
		g.lineTo(x, y + r * 1.2);
		g.lineTo(x - r * 1.2, y);
		g.closePath();
		break;
	default:
		g.moveTo(x, y - r * 1.05);
		g.lineTo(x + r * 1.1, y + r * 0.85);
		g.lineTo(x - r * 1.1, y + r * 0.85);
		g.closePath();
	}
	g.stroke();
	g.fill();
	if (mark === MARK.lost) {
		const d = r * 0.45;
		g.beginPath();
		g.moveTo(x - d, y - d);
		g.lineTo(x + d, y + d);
		g.moveTo(x + d, y - d);
		g.lineTo(x - d, y + d);
		g.lineWidth = 1.2;
		g.stroke();
	}
}

export function centre(p: Picture, row: number): { x: number; y: number } {
	const sw = p.fabric.nodeOf[row];

	return { x: p.places.x[sw] + (p.arrangement.col[row] + 0.5) * p.places.cell - 0.5,
		y: p.places.y[sw] + p.places.cell / 2 - 0.5 };
}

/* The worst last, so that it lies on top. */
function drawMarks(g: CanvasRenderingContext2D, p: Picture): void {
	const f = p.fabric;

	for (let mark = MARK.watch; mark <= MARK.lost; mark++)
		for (let row = 0; row < f.rows; row++) {
			const sw = f.nodeOf[row];
			if (p.marks[row] !== mark || sw >= f.nPresent || Number.isNaN(p.places.x[sw]))
				continue;
			const { x, y } = centre(p, row);
			drawMark(g, mark, x, y, p.places.cell, p.theme);
		}
}

export function paint(canvas: HTMLCanvasElement, p: Picture): void {
	const g = prepare(canvas, p.places.width, p.places.height, p.dpr);
	const image = g.createImageData(canvas.width, canvas.height);
	const pixels = new Uint32Array(image.data.buffer);

	pixels.fill(pixelOf(ground[p.theme].page));
	fillCells(p, pixels, canvas.width, canvas.height);
	g.putImageData(image, 0, 0);
	writeTitles(g, p);
	writeLabels(g, p);
	drawMarks(g, p);
}

function ring(g: CanvasRenderingContext2D, p: Picture, row: number, colour: string, wide: number): void {
	const { x, y } = centre(p, row), half = Math.max(p.places.cell / 2, 5) + 1.5;

	g.strokeStyle = ground[p.theme].page;
	g.lineWidth = wide + 2;
	g.strokeRect(x - half, y - half, half * 2, half * 2);
	g.strokeStyle = colour;
	g.lineWidth = wide;
	g.strokeRect(x - half, y - half, half * 2, half * 2);
}

function drawPath(g: CanvasRenderingContext2D, p: Picture, path: number[]): void {
	const on = path.filter(row => row >= 0 && !Number.isNaN(p.places.x[p.fabric.nodeOf[row]]));

	for (const [wide, colour] of [[4.5, ground[p.theme].page], [2, ground[p.theme].ink]] as const) {
		g.lineWidth = wide;
		g.strokeStyle = colour;
		g.lineJoin = "round";
		g.beginPath();
		on.forEach((row, i) => {
			const { x, y } = centre(p, row);
			if (i === 0)
				g.moveTo(x, y);
			else
				g.lineTo(x, y);
		});
		g.stroke();
	}
	on.forEach(row => ring(g, p, row, ground[p.theme].ink, 1.5));
}

export interface Above {
	chosen: number; /* row; -1: none */
	hover: number;
	node: number; /* whose row is framed; -1: none */
	path: number[];
}

export function paintAbove(canvas: HTMLCanvasElement, p: Picture, above: Above): void {
	const g = prepare(canvas, p.places.width, p.places.height, p.dpr), f = p.fabric;

	g.clearRect(0, 0, p.places.width, p.places.height);
	if (above.node >= 0 && !Number.isNaN(p.places.x[above.node])) {
		const last = p.arrangement.order[f.first[above.node + 1] - 1];
		const wide = (p.arrangement.col[last] + 1) * p.places.cell;
		g.strokeStyle = ground[p.theme].ink;
		g.lineWidth = 1.5;
		g.strokeRect(p.places.x[above.node] - 2, p.places.y[above.node] - 2, wide + 3, p.places.cell + 3);
	}
	if (above.path.length > 0)
		drawPath(g, p, above.path);
	const peer = above.hover >= 0 ? f.peer[above.hover] : -1;
	if (peer >= 0 && !Number.isNaN(p.places.x[f.nodeOf[peer]]))
		ring(g, p, peer, ground[p.theme].soft, 1.5);
	if (above.chosen >= 0 && !Number.isNaN(p.places.x[f.nodeOf[above.chosen]]))
		ring(g, p, above.chosen, ground[p.theme].ink, 2.5);
	if (above.hover >= 0 && above.hover !== above.chosen)
		ring(g, p, above.hover, ground[p.theme].ink, 1.5);
}
