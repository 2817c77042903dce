// SPDX-License-Identifier: BSD-2-Clause
// Numbers and times in words.

const grouped = new Intl.NumberFormat("en");

export function count(n: number): string {
	return grouped.format(n);
}

export function many(n: number, one: string, more = one + "s"): string {
	return `${count(n)} ${n === 1 ? one : more}`;
}

/* Of 0 to 1. */
export function percent(part: number): string {
	const p = part * 100;

	return Number.isNaN(p) ? "not read" : p === 0 ? "0 %" : p > 0 && p < 0.1 ? "< 0.1 %" : `${p < 10 ? p.toFixed(1) : Math.round(p)} %`;
}

/* With its sign; "0 %" where that would be of nothing. */
export function signed(part: number): string {
	return Math.abs(part) < 0.0005 ? "0 %" : `${part < 0 ? "−" : "+"}${percent(Math.abs(part))}`;
}

export function short(n: number): string {
	if (n < 1000)
		return String(Math.round(n));
	const i = Math.min(3, Math.floor(Math.log10(n) / 3)), v = n / Math.pow(1000, i);

	return `${v < 10 ? v.toFixed(1) : Math.round(v)} ${["", "k", "M", "G"][i]}`;
}

export function ago(seconds: number): string {
	const s = Math.max(0, Math.round(seconds));

	if (s < 90)
		return `${s} s`;
	if (s < 5400)
		return `${Math.round(s / 60)} min`;
	return s < 129600 ? `${Math.round(s / 3600)} h` : `${Math.round(s / 86400)} d`;
}

/* "14:03:07", with the day where it is not today's.  In the time zone of who looks. */
export function clock(time: string): string {
	const at = new Date(time);

	if (Number.isNaN(at.getTime()))
		return time;
	const hours = at.toLocaleTimeString("en-GB");
	return at.toDateString() === new Date().toDateString() ? hours
		: `${at.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} ${hours}`;
}
