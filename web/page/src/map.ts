// SPDX-License-Identifier: BSD-2-Clause
// The map in its part of the window: it is drawn anew when something of it changes, and tells which
// port the pointer is on.

import type { Address } from "./address";
import { palette, type Theme } from "./colours";
import { byId } from "./dom";
import { nodeBy, rowOf, type Fabric } from "./fabric";
import type { Readings } from "./cells";
import { paint, paintAbove, type Picture } from "./paint";
import { place, portAt, step } from "./places";
import { readPlace } from "./address";
import { valuesOf } from "./values";

export interface MapHearer {
	/* row: -1, none */
	onHover(row: number): void;
	onChoose(row: number, byKey: boolean): void;
	onMove(row: number): void;
}

export class PortMap {
	private frame = byId("map-frame");
	private cells = byId<HTMLCanvasElement>("cells");
	private above = byId<HTMLCanvasElement>("above");
	/* what was drawn last */
	private drawn: Fabric | null = null;
	private readings: Readings | null = null;
	private show = "";
	private height = 0;
	private picture: Picture | null = null;
	private hover = -1;
	private chosen = -1;
	private node = -1;
	private path: number[] = [];

	constructor(private hearer: MapHearer) {
		this.above.addEventListener("pointermove", e => this.point(e));
		this.above.addEventListener("pointerleave", () => this.setHover(-1));
		this.above.addEventListener("click", e => {
			this.point(e);
			if (this.hover >= 0)
				this.hearer.onChoose(this.hover, false);
		});
		this.above.addEventListener("keydown", e => this.onKey(e));
	}

	draw(f: Fabric, r: Readings, marks: Uint8Array, address: Address, theme: Theme): void {
		const width = this.frame.clientWidth, height = this.frame.clientHeight;
		const dpr = window.devicePixelRatio || 1, had = this.picture;

		if (width < 50 || height < 20)
			return;
		if (f !== this.drawn)
			this.hover = -1;
		const fits = had && f === this.drawn && had.dpr === dpr && had.places.width === width && this.height === height;
		const { arrangement, places } = fits ? had : place(f, width, height, dpr);
		const isSame = fits && had.theme === theme && this.show === address.show && this.readings === r && had.marks === marks;
		this.height = height;
		this.drawn = f;
		this.show = address.show;
		this.readings = r;
		this.choose(f, address.at);
		if (isSame) {
			this.drawAbove();
			return;
		}
		this.picture = { fabric: f, arrangement, places, values: valuesOf(address.show, f, r, marks), marks,
			palette: palette(address.show, theme), theme, dpr };
		paint(this.cells, this.picture);
		this.drawAbove();
	}

	private choose(f: Fabric, at: string): void {
		const place = readPlace(at), whole = nodeBy(f, at);

		this.node = at === "" ? -1 : whole >= 0 ? whole : nodeBy(f, place.node);
		this.chosen = whole >= 0 ? -1 : rowOf(f, this.node, place.port);
		/* a host has no row: its cell is the port of its switch */
		if (this.node >= 0 && f.types[this.node] === 1) {
			const row = this.chosen >= 0 ? this.chosen : f.first[this.node];
			this.chosen = f.peer[row] ?? -1;
			this.node = -1;
		}
	}

	setPath(rows: number[]): void {
		this.path = rows;
		this.drawAbove();
	}

	private drawAbove(): void {
		if (this.picture)
			paintAbove(this.above, this.picture, { chosen: this.chosen, hover: this.hover, node: this.node, path: this.path });
	}

	private point(e: PointerEvent | MouseEvent): void {
		if (!this.picture)
			return;
		const at = this.above.getBoundingClientRect(), p = this.picture;
		this.setHover(portAt(p.fabric, p.arrangement, p.places, e.clientX - at.left, e.clientY - at.top));
	}

	private setHover(row: number): void {
		if (row === this.hover)
			return;
		this.hover = row;
		this.drawAbove();
		this.hearer.onHover(row);
	}

	private onKey(e: KeyboardEvent): void {
		const moves: Record<string, [number, number]> = {
			ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
		const p = this.picture;

		if (!p || e.ctrlKey || e.metaKey || e.altKey)
			return;
		if (e.key in moves) {
			const from = this.hover >= 0 ? this.hover : this.chosen >= 0 ? this.chosen : this.firstRow(p);
			if (from < 0)
				return;
			const [dx, dy] = moves[e.key];
			const to = this.hover < 0 && this.chosen < 0 ? from : step(p.fabric, p.arrangement, p.places, from, dx, dy);
			this.setHover(to);
			this.hearer.onMove(to);
			this.bring(to);
		} else if (e.key === "Enter" && this.hover >= 0) {
			this.hearer.onChoose(this.hover, true);
		} else {
			return;
		}
		e.preventDefault();
	}

	private firstRow(p: Picture): number {
		const sw = p.arrangement.tiles[0]?.switches[0];

		return sw === undefined ? -1 : p.arrangement.order[p.fabric.first[sw]] ?? -1;
	}

	/* Where the map is higher than its frame. */
	bring(row: number): void {
		if (!this.picture || row < 0)
			return;
		const y = this.picture.places.y[this.picture.fabric.nodeOf[row]], f = this.frame;
		if (y < f.scrollTop)
			f.scrollTop = Math.max(0, y - 40);
		else if (y > f.scrollTop + f.clientHeight - 20)
			f.scrollTop = y - f.clientHeight + 60;
	}
}
