// SPDX-License-Identifier: BSD-2-Clause
// At the side: trouble worst first with both ends, health, events as they come, who routes what.

import type { App, Trouble } from "./app";
import { sides, type Side } from "./address";
import { byId, el, refill, say } from "./dom";
import { isSwitch, LOST, portName, portOf, rowOf, type Fabric } from "./fabric";
import type { FabricEvent } from "./lost";
import { drawMark, prepare } from "./paint";
import { MARK, markNames, type CableHealth } from "./values";
import { ago, clock, count, many } from "./words";

const names: Record<Side, string> = { trouble: "Trouble", health: "Health", events: "Events", routing: "Routing" };
const SHOWN = 200;

export interface Line {
	mark: number;
	title: string;
	text: string;
	since: string | null;
	guid?: string; /* where a click leads */
	port?: number;
}

/* One line for each node that is gone, and for each cable that is gone between two that are there. */
function lostLines(f: Fabric): Line[] {
	const lines: Line[] = [], cables = new Map<number, number>();

	for (let row = 0; row < f.rows; row++) {
		const peer = f.peer[row], node = f.nodeOf[row];
		if (f.cable[row] < 0 || !(f.flags[f.cable[row]] & LOST))
			continue;
		if (node >= f.nPresent)
			cables.set(node, (cables.get(node) ?? 0) + 1);
		else if (f.nodeOf[peer] < f.nPresent && row < peer)
			lines.push({ mark: MARK.lost, title: `${portName(f, row)} – ${portName(f, peer)}`, text: "This cable is gone.",
				since: f.lostSince.get(f.cable[row]) ?? null, guid: f.guids[node], port: portOf(f, row) });
	}
	for (const [node, n] of cables) {
		const row = Array.from({ length: f.ports[node] }, (_v, i) => f.first[node] + i).find(at => f.peer[at] >= 0) ?? -1;
		const at = row >= 0 ? f.peer[row] : -1, sw = isSwitch(f, node);
		lines.push({ mark: MARK.lost, title: f.names[node], since: row >= 0 ? f.lostSince.get(f.cable[row]) ?? null : null,
			text: sw ? `This switch is gone, with ${many(n, "cable")}.` : `This host is gone. It was at ${at >= 0 ? portName(f, at) : "?"}.`,
			guid: sw ? f.guids[node] : f.guids[f.nodeOf[at]], port: sw ? 0 : portOf(f, at) });
	}
	const rank = (l: Line): number => l.text.startsWith("This switch") ? 0 : l.text.startsWith("This cable") ? 1 : 2;
	return lines.sort((a, b) => rank(a) - rank(b));
}

function healthLine(c: CableHealth): Line {
	const mark = c.health === "bad" ? MARK.bad : c.health === "quarantined" ? MARK.isolated : MARK.watch;

	return { mark, title: `${c.node} port ${c.port} – ${c.peer} port ${c.peer_port}`, since: c.since,
		text: `${c.health}: ${c.reason}.`, guid: c.guid, port: c.port };
}

function troubleLine(t: Trouble): Line {
	const next = t.next_ms === null ? "" : ` Tried ${many(t.tries, "time")}, next in ${ago(t.next_ms / 1000)}.`;

	return { mark: MARK.trouble, title: t.at?.node ? t.at.node + (t.at.port ? ` port ${t.at.port}` : "") : "The subnet",
		text: `${t.kind}: ${t.text}.${next}`, since: t.since, guid: t.at?.guid, port: t.at?.port };
}

function isolatedLines(f: Fabric, marks: Uint8Array, known: Set<string>): Line[] {
	const lines: Line[] = [];

	for (let row = 0; row < f.rows; row++) {
		const peer = f.peer[row], guid = f.guids[f.nodeOf[row]];
		if (marks[row] === MARK.isolated && peer > row && !known.has(`${guid}:${portOf(f, row)}`) &&
		    !known.has(`${f.guids[f.nodeOf[peer]]}:${portOf(f, peer)}`))
			lines.push({ mark: MARK.isolated, title: `${portName(f, row)} – ${portName(f, peer)}`,
				text: "Taken out of routing by an administrator.", since: null, guid, port: portOf(f, row) });
	}
	return lines;
}

/* Worst first: what touches the whole, what is lost, what is bad, what is unfinished, what is watched. */
export function troubleLines(app: App): Line[] {
	const f = app.fabric, list = app.trouble?.list ?? [], health = app.health?.cables ?? [];

	if (!f)
		return [];
	const known = new Set(health.map(c => `${c.guid}:${c.port}`));
	return [
		...list.filter(t => !t.at).map(troubleLine),
		...lostLines(f),
		...health.filter(c => c.health === "bad").map(healthLine),
		...list.filter(t => t.at).map(troubleLine),
		...health.filter(c => c.health === "quarantined").map(healthLine),
		...isolatedLines(f, app.marks, known),
		...health.filter(c => c.health === "watch").map(healthLine),
	];
}

export function markIcon(app: App, mark: number): HTMLElement {
	const canvas = el("canvas", { class: "icon", role: "img", "aria-label": markNames[mark] === "trouble" ? "unfinished" : markNames[mark] });

	drawMark(prepare(canvas, 16, 16, window.devicePixelRatio || 1), mark, 8, 8, 13, app.theme);
	return canvas;
}

export function lineItem(app: App, line: Line): HTMLElement {
	const since = line.since ? el("time", { datetime: line.since }, clock(line.since)) : null;
	const known = line.guid !== undefined && app.fabric?.byGuid.has(line.guid);

	return el("li", { class: "item" }, markIcon(app, line.mark), el("div", {},
		known ? el("button", { type: "button", class: "link", onclick: () => app.goTo(line.guid, line.port) }, line.title)
			: el("strong", {}, line.title),
		since, el("p", {}, line.text)));
}

function trouble(app: App): (Node | null)[] {
	const lines = troubleLines(app);

	if (lines.length === 0)
		return [app.trouble && app.health ? el("p", { class: "well" }, "Nothing is wrong that fmd knows of.")
			: el("p", { class: "soft" }, "Not known yet.")];
	return [el("ul", { class: "items" }, ...lines.slice(0, SHOWN).map(line => lineItem(app, line))),
		lines.some(line => line.mark === MARK.lost) ? el("p", {}, el("button", { type: "button", class: "small",
			title: "In this browser; what comes back and goes again is lost anew.", onclick: () => app.forgetLost() }, "Forget what is lost")) : null,
		el("p", { class: "soft" }, lines.length > SHOWN ? `${count(lines.length - SHOWN)} more: fmctl trouble, fmctl health --all.` : "")];
}

function suspectOf(c: CableHealth): string {
	const s = c.suspect as { node?: unknown; port?: unknown } | string | null;

	if (typeof s === "string")
		return s === "cable" ? "the cable" : s;
	return s && typeof s === "object" && typeof s.node === "string" ? `${s.node}${s.port ? ` port ${String(s.port)}` : ""}` : "";
}

function health(app: App): Node[] {
	const h = app.health;

	if (!h)
		return [el("p", { class: "soft" }, "Not known yet.")];
	const counts = el("dl", { class: "counts" });
	for (const key of ["ok", "watch", "bad", "quarantined"])
		counts.append(el("div", {}, el("dt", {}, key), el("dd", {}, count(h.counts[key] ?? 0))));
	const out: Node[] = [counts];
	if (h.judged.why)
		out.push(el("p", { class: "soft" }, h.judged.why));
	if (h.cabling)
		out.push(el("p", {}, h.cabling.differences === 0 ? `Cabled as ${h.cabling.file} has it.`
			: `${many(h.cabling.differences, "difference")} from ${h.cabling.file}: fmctl topo diff.`));
	out.push(el("ul", { class: "items" }, ...h.cables.slice(0, SHOWN).map(c => {
		const item = lineItem(app, healthLine(c)), suspect = suspectOf(c);
		const words = [suspect && `Suspect: ${suspect}.`, c.advice && `To do: ${c.advice}.`].filter(Boolean).join(" ");
		item.lastElementChild?.append(el("p", { class: "soft" }, words));
		return item;
	})));
	return out;
}

/* Where it happened: the first node or cable that it names and that the map has. */
function whereOf(app: App, e: FabricEvent): { guid: string; port: number } | null {
	for (const end of [...(e.facts?.nodes ?? []), ...(e.facts?.cables ?? []).flatMap(c => [c?.from, c?.to])])
		if (end && typeof end.guid === "string" && app.fabric?.byGuid.has(end.guid))
			return { guid: end.guid, port: typeof end.port === "number" ? end.port : 0 };
	return null;
}

function eventItem(app: App, e: FabricEvent): HTMLElement {
	const at = whereOf(app, e), title = e.level === "notice" || e.level === "info" ? e.kind : `${e.level}: ${e.kind}`;

	return el("li", { "data-level": e.level }, el("time", { datetime: e.time }, clock(e.time)),
		at ? el("button", { type: "button", class: "link", onclick: () => app.goTo(at.guid, at.port) }, title) : el("b", {}, title),
		el("p", {}, e.text));
}

function events(app: App): Node[] {
	const list = [...app.events].reverse().slice(0, SHOWN);

	if (list.length === 0)
		return [el("p", { class: "soft" }, "Nothing is known to have happened.")];
	return [el("ul", { class: "items events" }, ...list.map(e => eventItem(app, e)))];
}

function routing(app: App): Node[] {
	const out: Node[] = [];

	for (const r of app.regions ?? [])
		out.push(el("section", { class: "region" }, el("h3", {}, r.region),
			el("p", {}, `${many(r.n_switches, "switch", "switches")}, ${many(r.hosts, "host")}.`),
			el("p", {}, r.engine ? `Routed by ${r.engine}${r.mended ? ", mended" : ""}.` : "Not routed.",
				el("span", { class: "soft" }, ` Chain: ${r.chain.join(", ")}.`))));
	const s = app.standbys;
	if (s)
		out.push(el("section", { class: "region" }, el("h3", {}, "Subnet managers"), el("p", {}, `This one is ${s.role}.`),
			s.standbys.length > 0 ? el("ul", {}, ...s.standbys.map(one =>
				el("li", {}, `${one.node ?? one.name ?? "standby"}: ${one.state ?? "?"}`)))
				: el("p", { class: "soft" }, s.role === "master" ? "No standby has a copy of what outlives it." : "")));
	if (app.status)
		out.push(el("p", { class: "soft" }, `fmd ${app.status.version}`));
	return out.length > 0 ? out : [el("p", { class: "soft" }, "Not known yet.")];
}

const fill: Record<Side, (app: App) => (Node | null)[]> = { trouble, health, events, routing };

export class SidePart {
	private keys = "";
	private tabs = new Map<Side, HTMLButtonElement>();

	constructor(app: App) {
		for (const side of sides) {
			const tab = el("button", { type: "button", role: "tab", id: `tab-${side}`, "aria-controls": "side",
				onclick: () => app.go({ side }) }, el("span", {}, names[side]), el("b", {}));
			this.tabs.set(side, tab);
			byId("tabs").append(tab);
		}
		byId("tabs").addEventListener("keydown", e => {
			const by = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
			if (by === 0)
				return;
			const side = sides[(sides.indexOf(app.address.side) + by + sides.length) % sides.length];
			app.go({ side });
			this.tabs.get(side)?.focus();
			e.preventDefault();
		});
	}

	update(app: App): void {
		const now = app.address.side, n = troubleLines(app).length, h = app.health;
		const numbers: Record<Side, number> = { trouble: n, health: h ? (h.counts.bad ?? 0) + (h.counts.watch ?? 0) + (h.counts.quarantined ?? 0) : 0,
			events: 0, routing: 0 };

		for (const [side, tab] of this.tabs) {
			tab.setAttribute("aria-selected", String(side === now));
			tab.tabIndex = side === now ? 0 : -1;
			say(tab.lastElementChild!, numbers[side] > 0 ? ` ${count(numbers[side])}` : "");
		}
		/* what has not changed stays, with its focus */
		const key = now + app.theme + JSON.stringify([app.trouble !== null, app.health !== null, now === "trouble" ? [app.fabric?.generation, troubleLines(app)] : 0,
			now === "health" ? [app.health?.cables, app.health?.counts, app.fabric?.generation] : 0, now === "events" ? app.events.length && app.events[app.events.length - 1].n : 0,
			now === "routing" ? [app.regions, app.standbys, app.status?.version] : 0]);
		if (key === this.keys)
			return;
		this.keys = key;
		byId("side").setAttribute("aria-labelledby", `tab-${now}`);
		refill(byId("side"), ...fill[now](app));
	}
}

/* The lines that are about a node or, port not 0, one of its ports. */
export function linesOf(app: App, node: number, port: number): Line[] {
	const f = app.fabric!;

	return troubleLines(app).filter(line => {
		const at = line.guid === undefined ? undefined : f.byGuid.get(line.guid);
		if (at === undefined)
			return false;
		const row = rowOf(f, at, line.port ?? 0), peer = row >= 0 ? f.peer[row] : -1;
		const ends = [[at, line.port ?? 0], peer >= 0 ? [f.nodeOf[peer], portOf(f, peer)] : [-1, 0]];
		return ends.some(([n, p]) => n === node && (port === 0 || p === port || p === 0));
	});
}
