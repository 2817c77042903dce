// SPDX-License-Identifier: BSD-2-Clause
// The panel of a node: its ports as a table with an hour of each; of a port its counters, too, and
// what would become of the fabric without it.

import type { App } from "./app";
import { readPlace } from "./address";
import { errorsOf, loadOf, waitOf } from "./cells";
import { drawCurve, tellCurve, type Reading } from "./curve";
import { el, refill, say } from "./dom";
import { HOST, isSwitch, LOST, nodeBy, portName, portOf, rateName, rowOf, type Fabric } from "./fabric";
import { ask } from "./feed";
import { lineItem, linesOf, markIcon } from "./side";
import { MARK } from "./values";
import { count, many, percent, short } from "./words";

const AT_ONCE = 3, CURVE_KEPT_MS = 60000;

/* node -1: there is none by that name. */
export function placeOf(f: Fabric, at: string): { node: number; port: number } {
	const whole = nodeBy(f, at);

	if (whole >= 0)
		return { node: whole, port: 0 };
	const { node, port } = readPlace(at);
	return { node: nodeBy(f, node), port };
}

/* A sentence where the address names what is not there; else null. */
export function whatIsWrongWith(f: Fabric, at: string): string | null {
	const { node, port } = placeOf(f, at), name = readPlace(at).node;

	if (node < 0)
		return f.names.filter(n => n === at || n === name).length > 1
			? `Several nodes are called ${name}: take the GUID of one, or find it by name above.`
			: `There is no node ${port > 0 ? name : at} in the fabric.`;
	if (port > f.ports[node])
		return `${f.names[node]} has ${many(f.ports[node], "port")}, so there is no port ${port}.`;
	return null;
}

interface Counters {
	ports: { node: string; port: number; counters: Record<string, number>; at_end: string[]; state: string }[];
}

interface Forecast {
	error?: string;
	state?: string;
	cables?: number;
	cut_off?: number;
	hosts?: string[];
	fullest?: { before: Fullest | null; after: Fullest | null; failed?: string | null; unreachable_pairs?: number } | null;
}
interface Fullest { routes: number; from: string; port: number; to: string }

function tellForecast(f: Forecast): string {
	const full = (one: Fullest | null | undefined): string => one ? `${count(one.routes)} (${one.from} port ${one.port} – ${one.to})` : "not known";
	const cut = f.cut_off ? ` ${many(f.cut_off, "port of a host", "ports of hosts")} would be cut off: ${(f.hosts ?? []).slice(0, 8).join(", ")}.` : " No host would be cut off.";

	return `Without ${many(f.cables ?? 0, "cable")} the fullest link would carry ${full(f.fullest?.after)} routes, now ${full(f.fullest?.before)}.${cut}` +
		(f.fullest?.failed ? ` It could not be planned: ${f.fullest.failed}.` : "");
}

interface PortRow {
	row: number;
	tr: HTMLTableRowElement;
	load: HTMLElement;
	bar: HTMLElement;
	wait: HTMLElement;
	errors: HTMLElement;
	curve: HTMLCanvasElement;
}

export class Panel {
	private key = "";
	private rows: PortRow[] = [];
	private curves = new Map<string, { at: number; readings: Reading[] }>();
	private turn = 0; /* another node: what was asked for the one before is not shown */

	constructor(private at: HTMLElement) {}

	/* False: the address names no node. */
	update(app: App): boolean {
		const f = app.fabric;

		if (!f || !app.readings || app.address.at === "")
			return this.close();
		const { node, port } = placeOf(f, app.address.at);
		if (node < 0 || port > f.ports[node])
			return this.close();
		const lines = linesOf(app, node, port);
		const key = JSON.stringify([f.guids[node], port, f.generation, f.n, app.theme, lines]);
		if (key !== this.key) {
			this.key = key;
			this.build(app, f, node, port);
		}
		this.at.hidden = false;
		this.fillReadings(app);
		return true;
	}

	private close(): boolean {
		this.at.hidden = true;
		this.key = "";
		this.turn++;
		return false;
	}

	private build(app: App, f: Fabric, node: number, port: number): void {
		const turn = ++this.turn, held = this.at.contains(document.activeElement), lost = node >= f.nPresent;
		const what = isSwitch(f, node) ? `switch${f.levels[node] > 0 ? `, level ${f.levels[node]}` : ""}` : "host";
		const group = f.group[node] >= 0 ? `, group ${f.groups[f.group[node]]}` : "";
		const lids = [f.lids[node]].flat().filter(lid => lid > 0);
		const close = el("button", { type: "button", class: "quiet close", "aria-label": "Close", onclick: () => app.go({ at: "" }) }, "×");
		const lines = linesOf(app, node, port);

		refill(this.at,
			el("div", { class: "title" }, el("h2", {}, f.names[node] || f.guids[node]), close),
			el("p", { class: "soft" }, `${lost ? "lost " : ""}${what}${group}${lids.length > 0 ? `, LID ${lids.join(", ")}` : ""}, ${f.guids[node]}`),
			lines.length > 0 ? el("ul", { class: "items" }, ...lines.slice(0, 12).map(line => lineItem(app, line))) : null,
			port > 0 ? this.portPart(app, f, rowOf(f, node, port), turn) : null,
			port === 0 && isSwitch(f, node) && !lost ? this.forecast(`switch:${f.guids[node]}`, "What if its cables were taken out of routing?", turn) : null,
			this.table(app, f, node, port));
		if (held)
			close.focus();
		void this.fetchCurves(app, f, turn);
	}

	private portPart(app: App, f: Fabric, row: number, turn: number): HTMLElement {
		const peer = f.peer[row], counters = el("div", {}), big = el("canvas", { class: "big", role: "img", "aria-label": "The last hour" });
		const isLost = f.cable[row] >= 0 && f.flags[f.cable[row]] & LOST;
		const both = peer >= 0 && isSwitch(f, f.nodeOf[row]) && isSwitch(f, f.nodeOf[peer]) && !isLost;

		void this.fillCounters(f, row, counters, turn);
		void this.curveOf(f, row).then(readings => {
			if (turn !== this.turn)
				return;
			drawCurve(big, readings, Math.max(200, this.at.clientWidth - 30), 70, app.theme, true);
			big.setAttribute("aria-label", tellCurve(readings));
		}, () => big.remove());
		return el("section", { class: "port" },
			el("h3", {}, `Port ${portOf(f, row)}`, peer >= 0 ? ` – ` : ", no cable",
				peer >= 0 ? el("button", { type: "button", class: "link",
					onclick: () => app.goTo(f.guids[f.nodeOf[peer]], portOf(f, peer)) }, portName(f, peer)) : null),
			el("p", { class: "soft" }, isLost ? "This cable is gone." : rateName(f, f.cable[row])),
			isLost ? null : big,
			isLost ? null : el("p", { class: "axis soft", "aria-hidden": "true" }, el("span", {}, "an hour ago"),
				el("span", {}, el("i", { class: "of-load" }), "load", el("i", { class: "of-wait" }), "wait"), el("span", {}, "now")),
			both ? this.forecast(`link:${f.guids[f.nodeOf[row]]}:${portOf(f, row)}`, "What if this cable were taken out of routing?", turn) : null,
			isLost ? null : el("details", { open: app.marks[row] !== MARK.none }, el("summary", {}, "Counters"), counters));
	}

	/* What fmctl isolate would foretell; nothing is changed. */
	private forecast(what: string, question: string, turn: number): HTMLElement {
		const said = el("p", { role: "status" });
		const poll = async (tries: number): Promise<void> => {
			const answer = await ask<Forecast>("isolate", { what });
			if (turn !== this.turn)
				return;
			if (answer.state === "judging" && tries > 0) {
				say(said, "It is being planned …");
				setTimeout(() => void poll(tries - 1).catch(wrong), 700);
			} else {
				say(said, answer.state === "judging" ? "It takes long to plan: ask again." : tellForecast(answer));
			}
		};
		const wrong = (e: unknown): void => say(said, e instanceof Error ? e.message : String(e));

		return el("div", { class: "forecast" }, el("button", { type: "button", onclick: () => void poll(30).catch(wrong) }, question), said);
	}

	private async fillCounters(f: Fabric, row: number, into: HTMLElement, turn: number): Promise<void> {
		const ends = [row, f.peer[row]].filter(at => at >= 0);
		try {
			const answers = await Promise.all(ends.map(at => ask<Counters>("counters", { node: `${f.guids[f.nodeOf[at]]}:${portOf(f, at)}` })));
			if (turn !== this.turn)
				return;
			const ports = answers.map(a => a.ports[0]), names = new Set(ports.flatMap(p => Object.keys(p?.counters ?? {})));
			const used = [...names].filter(name => ports.some(p => (p?.counters[name] ?? 0) > 0));
			refill(into, used.length === 0 ? el("p", { class: "soft" }, "All counters are 0.") : el("table", { class: "counters" },
				el("caption", {}, "Counters since fmd-perf has seen the port"),
				el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Counter"),
					...ends.map(at => el("th", { scope: "col", class: "number" }, portName(f, at))))),
				el("tbody", {}, ...used.map(name => el("tr", {}, el("th", { scope: "row" }, name),
					...ports.map(p => el("td", { class: "number" }, p?.counters[name] === undefined ? "–"
						: `${p.at_end.includes(name) ? "≥ " : ""}${count(p.counters[name])}`)))))));
		} catch (e) {
			if (turn === this.turn)
				refill(into, el("p", { class: "soft" }, e instanceof Error ? e.message : String(e)));
		}
	}

	private table(app: App, f: Fabric, node: number, chosen: number): HTMLElement {
		const heads = ["Port", "To", "Load", "Wait/s", "Errors/h", ...(f.knowsLoads && isSwitch(f, node) ? ["Routes"] : []), "Last hour"];
		const body = el("tbody", {});

		this.rows = [];
		for (let port = 1; port <= f.ports[node]; port++)
			body.append(this.portRow(app, f, f.first[node] + port - 1, port === chosen, heads.includes("Routes")));
		return el("table", { class: "ports" }, el("caption", { class: "unseen" }, `Ports of ${f.names[node]}`),
			el("thead", {}, el("tr", {}, ...heads.map((h, i) => el("th", { scope: "col", class: h === "Routes" ? "number planned" : i === 1 ? "to" : h === "Last hour" ? "curve" : "number" }, h)))), body);
	}

	private portRow(app: App, f: Fabric, row: number, isChosen: boolean, hasPlanned: boolean): HTMLTableRowElement {
		const peer = f.peer[row], cable = f.cable[row], lost = cable >= 0 && f.flags[cable] & LOST;
		const load = el("span", {}), bar = el("i", { "aria-hidden": "true" }), wait = el("td", { class: "number" });
		const errors = el("td", { class: "number" }), curve = el("canvas", { role: "img", "aria-label": "not read" });
		const to = peer >= 0 ? `${f.names[f.nodeOf[peer]]}${isSwitch(f, f.nodeOf[peer]) || f.ports[f.nodeOf[peer]] > 1 ? `:${portOf(f, peer)}` : ""}`
			: cable >= 0 ? "not known" : "–";
		const tr = el("tr", { "aria-current": isChosen ? "true" : null, class: cable < 0 ? "none" : null },
			el("th", { scope: "row", class: "number" }, el("button", { type: "button", class: "link", "aria-label": `Port ${portOf(f, row)}`,
				onclick: () => app.goTo(f.guids[f.nodeOf[row]], portOf(f, row)) }, String(portOf(f, row)))),
			el("td", { class: "to" }, app.marks[row] !== MARK.none ? markIcon(app, app.marks[row]) : null, to),
			el("td", { class: "number load" }, bar, load), wait, errors,
			hasPlanned ? el("td", { class: "number planned" }, peer >= 0 && f.types[f.nodeOf[peer]] !== HOST && !lost ? count(f.planned[row]) : "") : null,
			el("td", { class: "curve" }, cable >= 0 && !lost ? curve : null));

		if (cable >= 0 && !lost)
			this.rows.push({ row, tr, load, bar, wait, errors, curve });
		return tr;
	}

	private fillReadings(app: App): void {
		const r = app.readings!;

		for (const one of this.rows) {
			const load = loadOf(r.load[one.row]), wait = waitOf(r.wait[one.row]), errors = r.errors[one.row];
			say(one.load, Number.isNaN(load) ? "–" : percent(load));
			one.bar.style.width = `${Number.isNaN(load) ? 0 : Math.round(load * 100)}%`;
			say(one.wait, Number.isNaN(wait) ? "–" : wait === 0 ? "0" : short(wait));
			say(one.errors, errors === 0 ? "0" : `${errors > 1 ? "≥ " : ""}${short(errorsOf(errors))}`);
		}
	}

	private async curveOf(f: Fabric, row: number): Promise<Reading[]> {
		const port = `${f.guids[f.nodeOf[row]]}:${portOf(f, row)}`, had = this.curves.get(port);

		if (had && performance.now() - had.at < CURVE_KEPT_MS)
			return had.readings;
		const readings = (await ask<{ readings: Reading[] }>("history", { port })).readings;
		this.curves.set(port, { at: performance.now(), readings });
		return readings;
	}

	/* A few at a time; where one is refused the rest is not asked for. */
	private async fetchCurves(app: App, f: Fabric, turn: number): Promise<void> {
		const wait = [...this.rows];
		const one = async (): Promise<void> => {
			for (let next = wait.shift(); next && turn === this.turn; next = wait.shift()) {
				try {
					const readings = await this.curveOf(f, next.row);
					drawCurve(next.curve, readings, 72, 18, app.theme, false);
					next.curve.setAttribute("aria-label", tellCurve(readings));
				} catch {
					wait.length = 0; /* the counters say why */
				}
			}
		};

		await Promise.all(Array.from({ length: AT_ONCE }, one));
	}
}

