// SPDX-License-Identifier: BSD-2-Clause
// How long it takes from fmd's event of a lost switch to a picture that shows it, on this machine as
// it is now.
//
//	lost.mjs URL FMSIM SWITCH...   of an fmd-web that runs beside an fmd on fmsim: each switch is
//	                               powered off for 10 s, one after the other
//
// From the time that the event has to the frame in which the page counts the first lost port more.

import { execFileSync } from "node:child_process";
import { loadavg } from "node:os";
import { fail, isDrawn, openBrowser, openPage } from "./browser.mjs";

const OFF_S = 10, LONGEST_MS = 60000;
const [address, fmsim, ...switches] = process.argv.slice(2);

const sleep = ms => new Promise(done => setTimeout(done, ms));
const events = async since => (await (await fetch(new URL(`api/v1/events?kind=lost-nodes&since=${since}&last=1000`, address))).json())
	.filter(e => e.n > since);
const lastEvent = async () => Math.max(0, ...(await (await fetch(new URL("api/v1/events?last=1", address))).json()).map(e => e.n));

/* When the number of lost ports has risen, ms of this machine's clock. */
const watch = page => page.evaluate(longest => new Promise((done, gaveUp) => {
	const count = () => Number(/lost (\d+)/.exec(document.getElementById("legend").innerText.replace(/\s+/g, " "))?.[1] ?? 0);
	const before = count(), until = performance.now() + longest;
	const look = () => count() > before ? done(Date.now()) : performance.now() > until ? gaveUp(new Error("nothing is shown")) : requestAnimationFrame(look);
	look();
}), LONGEST_MS);

const browser = await openBrowser(), w = await openPage(browser, address), took = [];
await isDrawn(w.page);
for (const name of switches) {
	const since = await lastEvent(), shown = watch(w.page);

	await sleep(500);
	execFileSync(fmsim, ["--tell", `reboot ${name} for ${OFF_S}s`]);
	const at = await shown, told = (await events(since))[0];
	if (!told)
		fail(`${name} is shown as lost, and no event tells of it`);
	took.push(at - Date.parse(told.time));
	await sleep(2 * OFF_S * 1000);
}
await browser.close();
took.sort((a, b) => a - b);
const s = ms => (ms / 1000).toFixed(2);
console.log(`from the event of a lost switch to its picture ${s(took[Math.floor(took.length / 2)])} s (${s(took[0])} to ${s(took.at(-1))}, ` +
	`${took.length} switches), load ${loadavg()[0].toFixed(1)}`);
