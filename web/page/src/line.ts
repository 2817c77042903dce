// SPDX-License-Identifier: BSD-2-Clause
// A port in one line: what it joins, what it carries, and what is wrong with it.

import type { App } from "./app";
import { errorsOf, loadOf, MISSING, NEVER_READ, waitOf, WAS_RESET } from "./cells";
import { flagsOf, HOST, LOST, portName, rateName, type Fabric } from "./fabric";
import { differences, MARK, markNames } from "./values";
import { count, percent, short, signed } from "./words";

function measured(app: App, f: Fabric, row: number): string[] {
	const r = app.readings;

	if (!r || r.state[row] & NEVER_READ || r.load[row] === 0)
		return r && r.state[row] & MISSING ? ["not read"] : [];
	const wait = waitOf(r.wait[row]), peer = f.peer[row], out = [`load ${percent(loadOf(r.load[row]))}`];
	if (peer >= 0 && r.load[peer] !== 0)
		out[0] = `load out ${percent(loadOf(r.load[row]))}, in ${percent(loadOf(r.load[peer]))}`;
	if (!Number.isNaN(wait))
		out.push(`wait ${short(wait)}/s`);
	const errors = Math.max(r.errors[row], peer >= 0 && f.types[f.nodeOf[peer]] === HOST ? r.errors[peer] : 0);
	out.push(errors === 0 ? "no errors" : `${errors > 1 ? "≥ " : ""}${short(errorsOf(errors))} error${errors > 1 ? "s" : ""} in an hour`);
	if (r.state[row] & WAS_RESET)
		out.push("counters were reset");
	return out;
}

function wrong(app: App, f: Fabric, row: number): string[] {
	const mark = app.marks[row], flags = flagsOf(f, row);

	if (mark === MARK.none)
		return [];
	const health = app.health?.cables.find(c => (c.guid === f.guids[f.nodeOf[row]] && c.port === row - f.first[f.nodeOf[row]] + 1)
		|| (f.peer[row] >= 0 && c.guid === f.guids[f.nodeOf[f.peer[row]]] && c.port === f.peer[row] - f.first[f.nodeOf[f.peer[row]]] + 1));
	if (health)
		return [`${health.health}: ${health.reason}`];
	return [flags & LOST ? "lost" : mark === MARK.trouble ? "unfinished" : mark === MARK.watch ? "slower than it could be" : markNames[mark]];
}

/* By parts: the name first. */
export function describe(app: App, row: number): string[] {
	const f = app.fabric;

	if (!f || row < 0)
		return [];
	const peer = f.peer[row], lost = flagsOf(f, row) & LOST;
	const to = peer >= 0 ? `${portName(f, row)} ${lost ? "was cabled to" : "–"} ${portName(f, peer)}`
		: f.cable[row] >= 0 ? `${portName(f, row)} – not known` : `${portName(f, row)}, no cable`;
	const out = [to, ...wrong(app, f, row)];
	if (f.cable[row] < 0 || lost)
		return out;
	out.push(rateName(f, f.cable[row]), ...measured(app, f, row));
	if (f.knowsLoads && peer >= 0 && f.types[f.nodeOf[peer]] !== HOST)
		out.push(`${count(f.planned[row])} routes planned`);
	if (app.address.show === "difference" && app.readings) {
		const d = differences(f, app.readings)[row];
		if (!Number.isNaN(d))
			out.push(`${signed(d)} to plan`);
	}
	return out.filter(Boolean);
}
