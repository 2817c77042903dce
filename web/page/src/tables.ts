// SPDX-License-Identifier: BSD-2-Clause
// The same as tables: all switches, and the ports that have most of what is shown.
//
// A column sorts.  They are made anew when something of them changed, and the focus stays where it was.

import type { App } from "./app";
import type { Show } from "./address";
import { errorsOf, loadOf, waitOf } from "./cells";
import { el, refill } from "./dom";
import { HOST, isSwitch, portName, portOf, type Fabric } from "./fabric";
import { markIcon } from "./side";
import { differences, MARK, valuesOf } from "./values";
import { count, many, percent, short, signed } from "./words";

const PAGE = 200, TOP = 50;

interface Row {
	sw: number;
	name: string;
	group: string;
	level: number;
	cabled: number;
	mark: number;
	marked: number; /* ports */
	load: number;
	wait: number;
	errors: number;
	planned: number;
}
type Key = Exclude<keyof Row, "sw" | "mark">;

const natural = new Intl.Collator("en", { numeric: true });

function rowsOf(app: App, f: Fabric): Row[] {
	const r = app.readings!, rows: Row[] = [];

	for (let sw = 0; sw < f.n; sw++) {
		if (!isSwitch(f, sw))
			continue;
		const one: Row = { sw, name: f.names[sw], group: f.group[sw] >= 0 ? f.groups[f.group[sw]] : "", level: f.levels[sw],
			cabled: 0, mark: sw >= f.nPresent ? MARK.lost : MARK.none, marked: 0, load: NaN, wait: NaN, errors: 0, planned: 0 };
		for (let row = f.first[sw]; row < f.first[sw + 1]; row++) {
			if (f.cable[row] < 0)
				continue;
			one.cabled++;
			one.marked += app.marks[row] !== MARK.none ? 1 : 0;
			one.mark = Math.max(one.mark, app.marks[row]);
			const load = loadOf(r.load[row]), wait = waitOf(r.wait[row]);
			one.load = Number.isNaN(one.load) ? load : Math.max(one.load, Number.isNaN(load) ? 0 : load);
			one.wait = Number.isNaN(one.wait) ? wait : Math.max(one.wait, Number.isNaN(wait) ? 0 : wait);
			one.errors = Math.max(one.errors, errorsOf(r.errors[row]));
			one.planned = Math.max(one.planned, f.planned[row]);
		}
		rows.push(one);
	}
	return rows;
}

const number = (v: number, write: (v: number) => string): string => Number.isNaN(v) ? "–" : write(v);
const heads: [Key, string][] = [["name", "Switch"], ["group", "Group"], ["level", "Level"], ["cabled", "Cables"], ["marked", "Marked"],
	["load", "Fullest"], ["wait", "Most wait/s"], ["errors", "Most errors/h"], ["planned", "Most planned"]];

export class Tables {
	private key = "";
	private sort: Key = "name";
	private isDown = false;
	private shown = PAGE;

	constructor(private at: HTMLElement) {}

	update(app: App): void {
		const f = app.fabric, is = app.address.as === "table";

		this.at.hidden = !is;
		if (!is || !f || !app.readings)
			return;
		const key = JSON.stringify([f.generation, f.n, app.reading?.number, app.address.show, app.address.over, app.theme, this.sort, this.isDown,
			this.shown, app.health?.counts]);
		if (key === this.key)
			return;
		this.key = key;
		const held = this.at.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.key : undefined;
		refill(this.at, this.top(app, f), this.switches(app, f));
		if (held)
			[...this.at.querySelectorAll<HTMLElement>("[data-key]")].find(e => e.dataset.key === held)?.focus();
	}

	private link(app: App, f: Fabric, node: number, port: number, text: string, table: string): HTMLElement {
		return el("button", { type: "button", class: "link", "data-key": `${table}${f.guids[node]}:${port}`,
			onclick: () => app.goTo(f.guids[node], port) }, text);
	}

	private switches(app: App, f: Fabric): HTMLElement {
		const rows = rowsOf(app, f), by = this.sort;

		rows.sort((a, b) => {
			const x = a[by], y = b[by];
			const order = typeof x === "string" ? natural.compare(x, y as string)
				: (Number.isNaN(x) ? -1 : x) - (Number.isNaN(y as number) ? -1 : y as number);
			return (this.isDown ? -order : order) || natural.compare(a.name, b.name);
		});
		const more = rows.length - this.shown;
		return el("section", {}, el("h3", {}, `${many(rows.length, "switch", "switches")}`),
			el("table", {}, el("caption", { class: "unseen" }, "All switches"),
				el("thead", {}, el("tr", {}, ...heads.map(([key, name], i) => el("th", { scope: "col", class: i > 1 ? "number" : null,
					"aria-sort": key === by ? (this.isDown ? "descending" : "ascending") : null },
					el("button", { type: "button", class: "sort", "data-key": `sort ${key}`, onclick: () => this.sortBy(app, key) }, name,
						el("span", { "aria-hidden": "true" }, key === by ? (this.isDown ? " ↓" : " ↑") : "")))))),
				el("tbody", {}, ...rows.slice(0, this.shown).map(r => el("tr", {},
					el("th", { scope: "row" }, this.link(app, f, r.sw, 0, r.name || f.guids[r.sw], "s")),
					el("td", {}, r.group), el("td", { class: "number" }, r.level > 0 ? String(r.level) : "–"),
					el("td", { class: "number" }, count(r.cabled)), el("td", { class: "number" }, r.mark !== MARK.none ? markIcon(app, r.mark) : null, count(r.marked)),
					el("td", { class: "number" }, number(r.load, percent)), el("td", { class: "number" }, number(r.wait, short)),
					el("td", { class: "number" }, count(r.errors)), el("td", { class: "number" }, f.knowsLoads ? count(r.planned) : "–"))))),
			more > 0 ? el("p", {}, el("button", { type: "button", "data-key": "more", onclick: () => {
				this.shown += PAGE * 5;
				this.update(app);
			} }, `${count(more)} more`)) : null);
	}

	private sortBy(app: App, key: Key): void {
		this.isDown = this.sort === key ? !this.isDown : key !== "name" && key !== "group" && key !== "level";
		this.sort = key;
		this.update(app);
	}

	/* The ports with most of what is shown. */
	private top(app: App, f: Fabric): HTMLElement {
		const show = app.address.show, values = valuesOf(show, f, app.readings!, app.marks), least = show === "load" || show === "wait" ? 1 : 0;
		const far = differences(f, app.readings!), rank = (row: number): number => show === "difference"
			? (Number.isNaN(far[row]) ? 0 : Math.abs(far[row])) : show === "health" ? app.marks[row] : values[row] > least ? values[row] : 0;
		const rows: number[] = [];

		for (let row = 0; row < f.rows; row++)
			if (f.types[f.nodeOf[row]] !== HOST && f.cable[row] >= 0 && rank(row) > 0)
				rows.push(row);
		rows.sort((a, b) => rank(b) - rank(a) || a - b);
		const titles: Record<Show, string> = { load: "Fullest ports", wait: "Ports that wait most", errors: "Ports with most errors",
			health: "Ports that are not well", planned: "Ports with most planned routes", difference: "Ports furthest from plan" };
		if (rows.length === 0)
			return el("section", {}, el("h3", {}, titles[show]), el("p", { class: "soft" }, "None."));
		return el("section", {}, el("h3", {}, titles[show]),
			el("table", {}, el("caption", { class: "unseen" }, `${titles[show]}, ${TOP} at most`),
				el("thead", {}, el("tr", {}, ...["Port", "To", "Load out", "Wait/s", "Errors/h", "Planned", "To plan"].map((h, i) =>
					el("th", { scope: "col", class: i > 1 ? "number" : null }, h)))),
				el("tbody", {}, ...rows.slice(0, TOP).map(row => this.portRow(app, f, row, far[row])))));
	}

	private portRow(app: App, f: Fabric, row: number, difference: number): HTMLElement {
		const r = app.readings!, peer = f.peer[row];

		return el("tr", {}, el("th", { scope: "row" }, app.marks[row] !== MARK.none ? markIcon(app, app.marks[row]) : null,
			this.link(app, f, f.nodeOf[row], portOf(f, row), portName(f, row), "p")),
			el("td", {}, peer >= 0 ? portName(f, peer) : "not known"), el("td", { class: "number" }, number(loadOf(r.load[row]), percent)),
			el("td", { class: "number" }, number(waitOf(r.wait[row]), short)), el("td", { class: "number" }, count(errorsOf(r.errors[row]))),
			el("td", { class: "number" }, f.knowsLoads && peer >= 0 && isSwitch(f, f.nodeOf[peer]) ? count(f.planned[row]) : ""),
			el("td", { class: "number" }, Number.isNaN(difference) ? "" : signed(difference)));
	}
}
