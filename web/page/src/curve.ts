// SPDX-License-Identifier: BSD-2-Clause
// The last hour of a port: load as an area, waiting as a line above it, each on a scale of its own.

import { curveColour, markColour, type Theme } from "./colours";
import { prepare } from "./paint";

/* ms of UTC, load 0 to 1, ticks a second; null: not read */
export type Reading = [number, number | null, number | null];

const HOUR = 3600000;

/* Runs of readings without a gap. */
function runs(readings: Reading[], which: 1 | 2): [number, number][][] {
	const out: [number, number][][] = [[]];

	for (const reading of readings) {
		const value = reading[which];
		if (value === null)
			out.push([]);
		else
			out[out.length - 1].push([reading[0], value]);
	}
	return out.filter(run => run.length > 0);
}

export function drawCurve(canvas: HTMLCanvasElement, readings: Reading[], width: number, height: number, theme: Theme, withWait: boolean): void {
	const g = prepare(canvas, width, height, window.devicePixelRatio || 1);
	const end = readings.length > 0 ? readings[readings.length - 1][0] : 0;
	const x = (ms: number): number => width * (1 - (end - ms) / HOUR), floor = height - 1;
	const most = Math.max(1e6, ...readings.map(one => one[2] ?? 0));

	g.clearRect(0, 0, width, height);
	g.fillStyle = curveColour[theme] + "55";
	g.strokeStyle = curveColour[theme];
	g.lineWidth = 1;
	for (const run of runs(readings, 1)) {
		g.beginPath();
		g.moveTo(x(run[0][0]), floor);
		for (const [ms, value] of run)
			g.lineTo(x(ms), floor - value * (height - 2));
		g.lineTo(x(run[run.length - 1][0]), floor);
		g.fill();
		g.beginPath();
		run.forEach(([ms, value], i) => g[i === 0 ? "moveTo" : "lineTo"](x(ms), floor - value * (height - 2)));
		g.stroke();
	}
	g.strokeStyle = markColour[theme].watch;
	for (const run of withWait ? runs(readings, 2) : []) {
		g.beginPath();
		run.forEach(([ms, value], i) => g[i === 0 ? "moveTo" : "lineTo"](x(ms),
			floor - Math.log10(1 + value) / Math.log10(1 + most) * (height - 2)));
		if (run.some(([, value]) => value > 0))
			g.stroke();
	}
	g.fillStyle = `rgba(128,128,128,0.5)`;
	g.fillRect(0, floor, width, 1);
}

/* For who cannot see it. */
export function tellCurve(readings: Reading[]): string {
	const loads = readings.map(one => one[1]).filter((v): v is number => v !== null);

	if (loads.length === 0)
		return "not read in the last hour";
	const mean = loads.reduce((sum, v) => sum + v, 0) / loads.length;
	return `last hour: load ${Math.round(mean * 100)} % in the mean, ${Math.round(Math.max(...loads) * 100)} % at most`;
}
