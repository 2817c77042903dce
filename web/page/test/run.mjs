// SPDX-License-Identifier: BSD-2-Clause
// The unit tests: bundled by esbuild, run by node --test.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url)), into = mkdtempSync(join(tmpdir(), "fmd-page-"));
const tests = readdirSync(here).filter(name => name.endsWith(".test.ts"));

await build({ entryPoints: tests.map(name => join(here, name)), bundle: true, platform: "node", format: "esm", outdir: into,
	outExtension: { ".js": ".mjs" }, logLevel: "warning", sourcemap: "inline" });
const { status } = spawnSync(process.execPath, ["--enable-source-maps", "--test", ...tests.map(name => join(into, name.replace(/ts$/, "mjs")))],
	{ stdio: "inherit" });
rmSync(into, { recursive: true });
process.exit(status ?? 1);
