// SPDX-License-Identifier: BSD-2-Clause
// The head: is the subnet up, who rules it, does a standby have a copy, how many nodes there are.

import type { App } from "./app";
import { byId, el, refill, say } from "./dom";
import { HOST } from "./fabric";
import { count, many } from "./words";

interface State { word: string; mood: "well" | "busy" | "bad" | "away" }

function stateOf(app: App): State {
	const s = app.status;

	if (!s)
		return { word: "fmd is not heard", mood: "away" };
	if (s.sm_state !== "master")
		return { word: `${s.sm_state}${s.other_sm ? `: ${s.other_sm} is master` : ""}`, mood: "away" };
	if (!s.subnet_up)
		return { word: "the subnet is not up", mood: "bad" };
	if (s.converged)
		return { word: "up, converged", mood: "well" };
	return { word: s.troubles > 0 ? `up, ${count(s.troubles)} unfinished` : "up, at work", mood: "busy" };
}

function standbys(app: App): string {
	const list = app.standbys?.standbys ?? [], inSync = list.filter(s => s.state === "in sync").length;

	if (!app.standbys || app.standbys.role !== "master")
		return "";
	return list.length === 0 ? "no standby" : `${many(inSync, "standby", "standbys")} of ${list.length} in sync`;
}

export class Head {
	private had = "";

	update(app: App): void {
		const state = stateOf(app), f = app.fabric, s = app.status, facts: string[] = [];
		const at = byId("state");

		at.dataset.mood = state.mood;
		say(at, state.word);
		if (f) {
			let switches = 0, hosts = 0;
			for (let i = 0; i < f.nPresent; i++)
				f.types[i] === HOST ? hosts++ : switches++;
			facts.push(many(switches, "switch", "switches"), many(hosts, "host"));
		}
		if (s?.sm_state === "master")
			facts.push(standbys(app));
		const engines = new Set((app.regions ?? []).map(r => r.engine).filter(Boolean));
		if (app.regions && app.regions.length > 1)
			facts.push(many(app.regions.length, "region"));
		if (engines.size > 0)
			facts.push(`routed by ${[...engines].join(", ")}${s?.mended ? ", mended" : ""}`);
		if (s && s.isolated > 0)
			facts.push(`${count(s.isolated)} isolated`);
		if (s?.as_read.unreachable_pairs)
			facts.push(`${count(s.as_read.unreachable_pairs)} pairs without a path`);
		const text = facts.filter(Boolean).join("|");
		if (text !== this.had)
			refill(byId("facts"), ...facts.filter(Boolean).map(fact => el("li", {}, fact)));
		this.had = text;
	}
}
