// SPDX-License-Identifier: BSD-2-Clause
// What the parts of the page share: what is known now, and where to go.

import type { Address } from "./address";
import type { Readings } from "./cells";
import type { Theme } from "./colours";
import type { Fabric } from "./fabric";
import type { FabricEvent } from "./lost";
import type { CableHealth } from "./values";

export interface Status {
	sm_state: string;
	subnet_up: boolean;
	other_sm: string;
	troubles: number;
	converged: boolean;
	isolated: number;
	mended: boolean;
	version: string;
	unfinished: Record<string, number>;
	as_read: { ports_not_active: number; unreachable_pairs: number | null };
	sweep: { engine?: string; switches?: number; cas?: number; links?: number };
}

export interface TroubleEnd { node?: string; guid?: string; port?: number }

export interface Trouble {
	since: string;
	kind: string;
	tries: number;
	next_ms: number | null;
	at: TroubleEnd | null;
	other: TroubleEnd | null;
	text: string;
}

export interface Health {
	counts: Record<string, number>;
	judged: { age_s: number | null; why: string | null };
	cabling: { file: string; differences: number; notes: number } | null;
	cables: CableHealth[];
}

export interface Region {
	region: string;
	n_switches: number;
	hosts: number;
	engine: string | null;
	chain: string[];
	mended: boolean;
	refused: unknown[];
}

export interface Standbys {
	role: string;
	standbys: { node?: string; name?: string; state?: string }[];
}

export interface App {
	address: Address;
	theme: Theme;
	fabric: Fabric | null;
	readings: Readings | null; /* of fabric */
	marks: Uint8Array;
	reading: { number: number; ended: number; interval: number } | null;
	status: Status | null;
	trouble: { n: number; list: Trouble[] } | null;
	health: Health | null;
	regions: Region[] | null;
	standbys: Standbys | null;
	events: FabricEvent[]; /* oldest first */
	go(change: Partial<Address>): void;
	/* What is lost until now is meant to be. */
	forgetLost(): void;
	/* to the cell of a port, which opens its switch */
	goTo(guid: string | undefined, port: number | undefined): void;
}
