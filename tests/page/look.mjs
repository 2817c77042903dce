// SPDX-License-Identifier: BSD-2-Clause
// The page on what fmd-web serves, in a headless browser.  It counts, and never takes time.
//
//	look.mjs whole URL FMSIM     every port is a cell; each view, light and dark; a host is found, its
//	                             path told; a spine is lost, which its row and a cell of each leaf
//	                             show, also to who comes later; and comes back; behind a proxy
//	look.mjs cells URL           every port is a cell, on a fabric of whatever kind
//	look.mjs without URL WORDS   nothing is drawn, which is told by a sentence of these words

import { execFileSync } from "node:child_process";
import { createServer, request } from "node:http";
import { fail, isAccessible, isClean, isDrawn, openBrowser, openPage, pixelsOf, portsDrawn, until } from "./browser.mjs";

const [task, address, more] = process.argv.slice(2);
const NOT_COUNTED = ["/api/v1/cells"]; /* refused where fmd-perf does not run */

const ask = async command => (await fetch(new URL(`api/v1/${command}`, address))).json();

/* "leaf-1 port 5" of each port of a switch. */
async function portsOf() {
	const f = await ask("fabric"), ports = new Set();

	f.names.forEach((name, i) => {
		for (let p = 1; f.types[i] !== 1 && p <= f.ports[i]; p++)
			ports.add(`${name} port ${p}`);
	});
	return ports;
}

function sameSet(what, found, wanted) {
	const missing = [...wanted].filter(p => !found.has(p)), surplus = [...found].filter(p => !wanted.has(p));

	if (missing.length + surplus.length > 0)
		fail(`${what}: ${found.size} of ${wanted.size} ports are drawn; not ${missing.slice(0, 5)}; too many ${surplus.slice(0, 5)}`);
}

async function drawsAll(what, page) {
	const wanted = await portsOf(), found = await portsDrawn(page);

	sameSet(what, new Set(Object.keys(found)), wanted);
	return found;
}

const lostOf = found => Object.keys(found).filter(p => found[p].line.includes("was cabled to")).sort();

const views = ["", "?show=wait", "?show=errors&over=hour", "?show=health&side=health", "?show=planned&side=events", "?show=difference&side=routing",
	"?as=table", "?at=leaf-1", "?at=leaf-1:5", "?at=host-1-1", "?from=host-1-1&to=host-2-2", "?from=host-1-1&to=host-2-2&as=table"];
const darkViews = ["", "?show=errors&side=events&at=leaf-1", "?as=table"];

async function everyView(browser) {
	for (const [scheme, query] of [...views.map(v => ["light", v]), ...darkViews.map(v => ["dark", v])]) {
		const w = await openPage(browser, new URL(query, address).href, scheme);

		await until(w.page, `${query}: what is shown is read`, () => document.querySelectorAll("#facts li").length > 0);
		if (!query.includes("as=table"))
			await isDrawn(w.page);
		await w.page.waitForNetworkIdle({ idleTime: 300, concurrency: 1, timeout: 2000 }).catch(() => undefined); /* the stream of events stays open */
		await isAccessible(`${scheme} ${query}`, w.page);
		await isClean(`${scheme} ${query}`, w);
		await w.page.close();
	}
	console.log(`views: ${views.length} light, ${darkViews.length} dark`);
}

/* What is drawn, once that is so. */
async function holds(page, otherwise, test) {
	for (let tries = 0; tries < 60; tries++) {
		const now = await portsDrawn(page);
		if (test(now))
			return now;
		await new Promise(done => setTimeout(done, 500));
	}
	return fail(`${otherwise}: ${lostOf(await portsDrawn(page))}`);
}

async function losesSpine(browser, w, found) {
	const before = await pixelsOf(w.page, found), spine = "spine-1", tell = (...words) => execFileSync(more, ["--tell", words.join(" ")]);
	const wanted = Object.keys(found).filter(p => p.startsWith(`${spine} port`) || found[p].line.includes(`${spine} port`)).sort();
	const ports = wanted.filter(p => p.startsWith(spine)).map(p => p.replace(/ port (\d+)/, "[$1]"));
	const isLost = page => holds(page, `as lost are shown not ${wanted}`, now => lostOf(now).join() === wanted.join());

	ports.forEach(p => tell("unlink", p));
	const now = await isLost(w.page), after = await pixelsOf(w.page, now);
	const changed = wanted.filter(p => before[p] !== after[p]);
	if (changed.length !== wanted.length)
		fail(`of ${wanted.length} lost ports ${changed.length} are drawn otherwise`);
	const later = await openPage(browser, address);
	await isDrawn(later.page);
	await isLost(later.page);
	await isAccessible("a lost spine", later.page);
	await isClean("a lost spine", later);
	await later.page.close();
	ports.forEach(p => tell("relink", p));
	await holds(w.page, "the spine is back, and shown as lost", now => lostOf(now).length === 0);
	console.log(`a spine lost: ${wanted.length} ports`);
}

/* In a folder of a proxy's, as doc/fmd-web.8 has it for nginx: nothing is asked for outside. */
async function behindProxy(browser) {
	const folder = "/fmd/", proxy = createServer((req, res) => {
		if (!req.url.startsWith(folder)) {
			res.writeHead(404).end();
			return;
		}
		const asked = request(new URL(req.url.slice(folder.length), address), { method: req.method, headers: req.headers }, answer => {
			res.writeHead(answer.statusCode, answer.headers);
			answer.pipe(res);
		}).on("error", () => res.destroy());
		res.on("close", () => asked.destroy()); /* as of events, which have no end */
		req.pipe(asked);
	});
	await new Promise(done => proxy.listen(0, "127.0.0.1", done));
	const w = await openPage(browser, `http://127.0.0.1:${proxy.address().port}${folder}?show=wait`);
	await isDrawn(w.page);
	await isClean("behind a proxy", w);
	await w.page.close();
	proxy.closeAllConnections();
	proxy.close();
	console.log("behind a proxy: the same");
}

async function whole(browser) {
	const w = await openPage(browser, address);

	await isDrawn(w.page);
	await until(w.page, "counters are read", () => /^read /.test(document.getElementById("read").textContent));
	const found = await drawsAll("the fabric", w.page);
	console.log(`cells: ${Object.keys(found).length}`);
	await losesSpine(browser, w, found);
	await isClean("the page", w);
	await w.page.close();
	await behindProxy(browser);
	await everyView(browser);
}

async function cells(browser) {
	const w = await openPage(browser, address);

	await isDrawn(w.page);
	const found = await drawsAll(address, w.page);
	await isAccessible(address, w.page);
	await isClean(address, w, NOT_COUNTED);
	console.log(`cells: ${Object.keys(found).length}`);
}

async function without(browser) {
	const w = await openPage(browser, address);

	await until(w.page, `"${more}"`, words => document.body.innerText.includes(words), more);
	await isAccessible(more, w.page);
	await isClean(more, w, ["/api/v1/"]);
	console.log(`told: ${more}`);
}

const browser = await openBrowser();
try {
	await { whole, cells, without }[task](browser);
} finally {
	await browser.close();
}
