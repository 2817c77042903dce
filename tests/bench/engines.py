"""dev/bench --engines: every routing engine on every fabric of doc/engines.md,
beside OpenSM's, judged by the same program.

Figures of a fabric are kept in the cache of the build, so that --only=FABRIC
redoes one and the goals are judged over all.  Of doc/engines.md only what
stands between markers is rewritten.
"""
import functools
import json
import os
import re
import shutil
import subprocess
import time

import goals
import peer
import plot

CAP_S = 120
FABRICS = {  # name: (words of fmroute gen or @file, peers, growth family); small ones first, then those of the goals
    "qdr-144": ("@qdr-144.net", True, None),
    "slimfly-5": ("slimfly 5 4", True, None),
    "pgft-648": ("pgft 2 18,36 1,18 1,1", True, "pgft"),
    "ndr-dgx-582": ("@ndr-dgx-582.net", True, None),
    "nue-hyperx-12x8": ("hyperx 12x8 7", True, None),
    "nue-random-125": ("random 125 16 8 1", True, None),
    "nue-torus-6x5x5": ("torus 6x5x5 7 4", True, None),
    "nue-kautz-5-3": ("kautz 5 3 7 2", True, None),
    "hyperx-12x12": ("hyperx 12x12 8", True, None),
    "nue-dragonfly-12-6-6": ("dragonfly 12 6 6 15", True, None),
    "dragonfly-8-4-4": ("dragonfly 8 4 4", True, "dragonfly"),
    "nue-cascade": ("cascade", True, None),
    "hypercube-8": ("hypercube 8 4", True, None),
    "nue-tree-10-3": ("pgft 3 11,10,10 1,10,10 1,1,1", True, None),
    "random-250": ("random 250 12 8 1", True, "random"),
    "torus-8x8x8": ("torus 8x8x8 2", True, "torus"),
    "slimfly-13": ("slimfly 13 9", True, None),
    "pgft-3888": ("pgft 3 18,18,12 1,6,18 1,1,1", True, "pgft"),
    "pgft-11664": ("pgft 3 18,18,36 1,18,18 1,1,1", True, "pgft"),
    "pgft-27648": ("pgft 3 24,24,48 1,24,24 1,1,1", True, "pgft"),
    "torus-16x16x16": ("torus 16x16x16 1", True, "torus"),
    "dragonfly-16-8-8": ("dragonfly 16 8 8", True, "dragonfly"),
    # irregular trees, in tables of their own
    "director-926": ("director 60 20 50 20 4 18 seed=1", True, None),
    "pods-645": ("pods 3 20 20 0 20 18", True, None),
    "pods-1557": ("pods 6 18 4 5 18 18", True, None),
    "storage-1130": ("tree3 8 7 10 5 14 20 storage=2", True, None),
    "rails-432": ("tree3 6 6 6 3 6 12 rails=2 aggregation=1 seed=5", True, None),
    "missing-1130": ("tree3 8 7 10 5 14 20 storage=2 missing=3 slow=8 seed=3", True, None),
    "director-926 less 5 %": ("director 60 20 50 20 4 18 seed=1", True, None),
    "pods-645 less 5 %": ("pods 3 20 20 0 20 18", True, None),
    "storage-1130 less 5 %": ("tree3 8 7 10 5 14 20 storage=2", True, None),
    # for the plot alone
    "torus-4x4x4": ("torus 4x4x4 2", False, "torus"),
    "torus-12x12x12": ("torus 12x12x12 1", False, "torus"),
    "random-60": ("random 60 12 8 1", False, "random"),
    "random-500": ("random 500 12 8 1", False, "random"),
    "random-1000": ("random 1000 12 8 1", False, "random"),
}
IRREGULAR = tuple(n for n in FABRICS if n.split("-")[0] in ("director", "pods", "storage", "rails", "missing"))
# with four LIDs an end, too, and in those tables only
AT_LMC_2 = (*IRREGULAR, "qdr-144", "ndr-dgx-582", "pgft-648", "slimfly-5", "nue-hyperx-12x8", "nue-random-125",
            "nue-torus-6x5x5", "nue-kautz-5-3", "nue-dragonfly-12-6-6", "hypercube-8")
FABRICS.update({f"{n} at LMC 2": (FABRICS[n][0], True, None) for n in AT_LMC_2})
BESIDE = (*IRREGULAR, *(f"{n} at LMC 2" for n in AT_LMC_2))
GOALS = "goals"  # --only: what is measured for the goals beside the fabrics
TREES = ("pgft-648", "pgft-3888", "pgft-11664", "pgft-27648", "nue-tree-10-3")
NUE = tuple(n for n in FABRICS if n.startswith("nue-")) + ("slimfly-5",)
HEAD = ("| engine | by | route ms | times faster | verify ms | MB | VLs | hops avg / max | load min / avg / max | "
        "max/avg | eBB | worst shift | pairs without a path | credit loops, both ways | ibdmchk |\n"
        "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|---|")
COLUMNS = HEAD.split("\n")[0].count("|") - 1
IBDMCHK_ENDS = 700  # at most: it is slow


def lmc_of(name):
    return int(name.partition(" at LMC ")[2] or 0)


def load_json(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


class Engines:
    tree_names, nue_names, cap_s = TREES, NUE, CAP_S

    def __init__(self, bench):
        self.bench = bench
        self.fmroute = os.path.join(bench.build, "fmroute")
        self.peer = peer.Peer(bench, CAP_S)
        self.store = os.path.join(bench.cache, "engines.json")
        self.results = json.load(open(self.store)) if os.path.exists(self.store) else {}
        self.started = time.time()
        self.lmc = 0
        self.over = {}  # label of a peer: fabric on which it exceeded the cap
        self.traits = self.list_engines()

    def list_engines(self):
        done = subprocess.run([os.path.join(self.bench.build, "fmd"), "--list-engines", "--json"],
                              capture_output=True, text=True, check=True)
        found = {e["name"]: e["traits"] for e in json.loads(done.stdout)["engines"]
                 if e["name"] not in ("file", "template")}
        return dict(found, auto=["no-credit-loops"])  # no engine of its own: a chain of those that promise

    # ---- fabrics and runs

    def fabric(self, name):
        """As fmroute writes it, so that every GUID and LID place is there."""
        words = FABRICS[name][0] if name in FABRICS else name
        path = os.path.join(self.bench.work, re.sub(r"\W+", "-", name) + ".net")
        if os.path.exists(path):
            return path
        if words.startswith("@"):
            folder = os.environ.get("FMD_TOPOLOGIES", os.path.join(self.bench.top, "..", "shared", "topologies"))
            source = os.path.join(folder, words[1:])
            if not os.path.exists(source):
                return None
            command = [self.fmroute, "convert", source]
        else:
            command = [self.fmroute, "gen", *words.split()]
        with open(path, "w") as f:
            subprocess.run(command, stdout=f, check=True)
        self.take_out(name, path)
        return path

    def take_out(self, name, path):
        """Of a fabric "less N %", so many of the cables between switches."""
        lost = re.search(r" less (\d+) %", name)
        if lost:
            whole = path + ".whole"
            os.rename(path, whole)
            with open(path, "w") as out, open(whole) as given:  # by stdin: the file names what it was made of
                subprocess.run([self.fmroute, "fail", "-", f"--links={lost.group(1)}%", "--seed=1"], stdin=given,
                               stdout=out, check=True)

    def conf(self, extra="", credit_loops="warn"):
        path = os.path.join(self.bench.work, "engines.conf")
        with open(path, "w") as f:
            f.write(f"fallback = no\ncredit_loops = {credit_loops}\nengine_time_limit = {CAP_S}s\n{extra}")
        return path

    def call(self, *arguments):
        try:
            done = subprocess.run([self.fmroute, *arguments, "--json"], capture_output=True, text=True,
                                  timeout=3 * CAP_S)
        except subprocess.TimeoutExpired:
            return {"failed": f"> {3 * CAP_S} s"}
        found = load_json(done.stdout)
        return found if found is not None else {"failed": done.stderr.strip()[-300:] or f"exit {done.returncode}"}

    def own(self, fabric, engine, stats=True, extra="", more=()):
        """One engine of fmd: figures of --stats, times of the median of 9 where that is quick."""
        conf = self.conf(extra, "refuse" if engine == "auto" else "warn")
        base = [fabric, f"--engine={engine}", f"--config={conf}", f"--lmc={self.lmc}", *more]
        r = self.call(*base, *(["--stats"] if stats else []))
        if r.get("engine") and r["route_ms"] + r["verify_ms"] < 500:
            again = self.call(*base, "--repeat=9")
            r.update({k: again[k] for k in ("route_ms", "verify_ms", "memory_mb") if k in again})
        return r

    @staticmethod
    def has_referee(r, engine):
        """On small fabrics; and where OpenSM promises much and one VL makes the check quick."""
        return r.get("ends", 1 << 30) <= (IBDMCHK_ENDS if not engine.startswith("updn") else 4 * IBDMCHK_ENDS)

    def own_checked(self, fabric, engine):
        """What ibdmchk says of fmd's tables, where that is soon said."""
        folder = os.path.join(self.bench.work, "own")
        shutil.rmtree(folder, ignore_errors=True)
        self.call(fabric, f"--engine={engine}", f"--config={self.conf()}", f"--lmc={self.lmc}", f"--dump={folder}")
        said = peer.ibdmchk(folder, 60)
        shutil.rmtree(folder, ignore_errors=True)
        return said

    def judge(self, label, seen, folder):
        """Figures of OpenSM's tables: as ours are judged, by what OpenSM itself looks at, and by ibdmchk."""
        r = self.call("check", seen, folder, "--stats")
        if r.get("credit_loops"):
            alone = peer.hosts_alone(seen, folder)
            r["own_credit_loops"] = self.call(
                "check", seen, alone, f"--config={self.conf('sl_model = forward' + chr(10))}").get("credit_loops")
        if self.has_referee(r, label):
            out = os.path.join(folder, "again")
            self.call("check", seen, folder, f"--dump={out}")
            r["ibdmchk"] = peer.ibdmchk(out, 60)
        return r

    # ---- one fabric

    def measure(self, name):
        fabric = self.fabric(name)
        self.lmc = lmc_of(name)
        words, wants_peers, _ = FABRICS[name]
        if fabric is None:
            return {"absent": True}
        found = {"words": words, "own": {}, "peers": {}, "load": os.getloadavg()[1],
                 "date": time.strftime("%Y-%m-%d")}
        for engine in self.traits:
            found["own"][engine] = self.own_row(name, fabric, engine, found, wants_peers)
        if wants_peers and self.peer.why_not is None:
            self.measure_peers(name, fabric, words, found)
        return found

    def own_row(self, name, fabric, engine, found, full):
        r = self.own(fabric, engine, stats=full)
        for key in ("switches", "ends", "lids"):
            if key in r:
                found[key] = r[key]
        if full and r.get("engine") and self.has_referee(r, engine):
            r["ibdmchk"] = self.own_checked(fabric, engine)
        self.progress(name, engine, "fmd", r.get("route_ms"), r.get("failed"))
        return r

    def measure_peers(self, name, fabric, words, found):
        size = found.get("switches", 0) * found.get("lids", 0)
        is_small = found.get("switches", 0) <= 260
        for engine, variants in peer.settings(fabric, words, self.bench.work, is_small).items():
            for label, arguments in variants:
                arguments = [*arguments, "-l", str(self.lmc)] if self.lmc > 0 else arguments
                out_of_time = self.bench.args.minutes and time.time() - self.started > 60 * self.bench.args.minutes
                if self.over.get(label, (1 << 62, ""))[0] <= size:
                    r = {"skipped": f"not tried: > {CAP_S} s on {self.over[label][1]}"}
                elif out_of_time:
                    r = {"skipped": f"not tried: {self.bench.args.minutes} minutes were over"}
                else:
                    r = self.peer.run(fabric, arguments, functools.partial(self.judge, label))
                if r.get("over"):
                    self.over[label] = min(self.over.get(label, (1 << 62, "")), (size, name))
                found["peers"].setdefault(engine, []).append((label, r))
                self.progress(name, label, "OpenSM", 1e3 * r["route_s"] if "route_s" in r else None,
                              r.get("failed") or r.get("skipped"))

    def progress(self, name, engine, by, ms, failed):
        print(f"{time.time() - self.started:6.0f} s  {name:22} {by:6} {engine:26} "
              f"{'%10.2f ms' % ms if ms is not None else ''} {failed or ''}", flush=True)

    # ---- rows

    @staticmethod
    def figures(r):
        load = r.get("load") or {}
        if not load:
            return [""] * 8
        return [str(r["vls"]), f"{r['avg_hops']:.2f} / {r['max_hops']}",
                f"{load['min']} / {load['avg']:.0f} / {load['max']}", f"{r['a2a_max_over_avg']:.2f}",
                f"{r['ebb']:.3f}", str(r["sp_max"]), str(r["unreachable_pairs"])]

    @staticmethod
    def own_verdict(r):
        wrong = r["loops"] + r["wrong_host"] + r["vl_errors"]
        return f"**{wrong} faults**" if wrong else str(r["credit_loops"]) if r["credit_loops"] else "none, proven"

    def own_line(self, engine, r, faster):
        if r.get("failed"):
            return self.wide([engine, "fmd"], r["failed"])
        if not r.get("engine"):
            return self.wide([engine, "fmd"], "refused: " + (r.get("refused") or [{"reason": "?"}])[0]["reason"])
        name = f"auto: {r['engine']}" if engine == "auto" else engine
        return self.line([name, "fmd", f"{r['route_ms']:.2f}", faster, f"{r['verify_ms']:.2f}",
                          f"{r['memory_mb']:.0f}", *self.figures(r), self.own_verdict(r), r.get("ibdmchk", "")])

    def peer_line(self, label, r):
        if r.get("skipped"):
            return self.wide([label, "OpenSM"], r["skipped"])
        if r.get("over"):
            return self.wide([label, "OpenSM"], f"> {CAP_S} s")
        if r.get("route_s") is None:
            return self.wide([label, "OpenSM"], "refused: " + (r.get("failed") or "?"))
        loops = "no answer"
        if "credit_loops" in r:
            loops = str(r["credit_loops"] or "none")
            if r.get("own_credit_loops") is not None:
                loops += f" (by OpenSM's terms: {r['own_credit_loops'] or 'none'})"
        return self.line([label, "OpenSM", f"{1e3 * r['route_s']:.2f}", "", "", f"{r['rss_mb']:.0f}", *self.figures(r),
                          loops, r.get("ibdmchk", "")])

    @staticmethod
    def line(cells):
        return "| " + " | ".join(cells) + " |"

    def wide(self, cells, sentence):
        sentence = sentence.replace("|", "/").replace("\n", " ")
        return self.line([*cells, "", "", "", "", "", "", "", "", "", "", "", sentence, ""])

    @staticmethod
    def best_time(variants):
        times = [r["route_s"] for _, r in variants if r.get("route_s") is not None]
        return min(times) if times else None

    @staticmethod
    def when(f):
        return f"; measured on {f['date']} at load average {f['load']:.1f}" if "date" in f else ""

    def table(self, name):
        f = self.results[name]
        if f.get("absent"):
            return f"### {name}\n\nThe file is absent.\n"
        out = [f"### {name}\n", f"`{f['words']}`: {f.get('switches')} switches, {f.get('ends')} end-ports, "
               f"{f.get('lids')} LIDs{self.when(f)}.\n", HEAD]
        for engine, r in sorted(f["own"].items()):
            variants = f["peers"].get(engine, [])
            best = self.best_time(variants)
            faster = f"{1e3 * best / r['route_ms']:.0f}" if best and r.get("engine") else ""
            out.append(self.own_line(engine, r, faster))
            out += [self.peer_line(label, p) for label, p in variants]
        return "\n".join(out) + "\n"

    # ---- irregular trees, and all at LMC 2: every row beside the best of OpenSM's settings

    def side_by_side(self):
        """`auto` beside the best figures of whichever engine."""
        out = ["| fabric | engine | fullest link: fmd, OpenSM | eBB: fmd, OpenSM | |", "|---|---|--:|--:|---|"]
        for name in BESIDE:
            f = self.results.get(name) or {}
            for engine, own in sorted((f.get("own") or {}).items()):
                peers = (f.get("peers") or {}).get(engine, [])
                if engine == "auto":
                    peers = [p for theirs in (f.get("peers") or {}).values() for p in theirs]
                if own.get("load"):
                    named = f"auto: {own['engine']}" if engine == "auto" else engine
                    out.append(self.line([name, named, *self.beside(own, peers, goals.Goals(self).rivals(engine, peers))]))
        return "\n".join(out)

    @staticmethod
    def beside(own, peers, rivals):
        load, ebb = own["load"]["max"], own["ebb"]
        if not rivals:
            why = "OpenSM has no such engine" if not peers else "OpenSM leaves pairs without a path" \
                if any(r.get("unreachable_pairs") for _, r in peers) else "OpenSM refuses"
            return [str(load), f"{ebb:.3f}", why]
        their_load, their_ebb = min(r["load"]["max"] for r in rivals), max(r["ebb"] for r in rivals)
        worse = (["**load**"] if load > their_load else []) + (["**eBB**"] if ebb < their_ebb - 0.005 else [])
        return [f"{load}, {their_load}", f"{ebb:.3f}, {their_ebb:.3f}", "worse: " + ", ".join(worse) if worse else ""]

    # ---- the whole

    def growth(self, path):
        panels = {}
        for name, (words, _, family) in FABRICS.items():
            f = self.results.get(name) or {}
            if family is None or "own" not in f or not f.get("switches"):
                continue
            for engine, r in f["own"].items():
                if r.get("engine"):
                    panels.setdefault(family, {}).setdefault(engine, []).append(
                        (f["switches"] * f["lids"], max(r["route_ms"], 0.001)))
        plot.write(path, panels, "switches x LIDs", "ms to route")

    def run(self, names):
        """Measure these, then write down all that was ever measured in this build folder."""
        wants_goals = not self.bench.args.only and not self.bench.args.stored or GOALS in names
        for name in names:
            if name == GOALS:
                continue
            self.results[name] = self.measure(name)
            with open(self.store, "w") as f:
                json.dump(self.results, f)
        report = goals.Goals(self)
        if wants_goals:
            report.measure_more()
        doc = self.bench.args.write
        sections = {"machine": self.bench.machine_line(), "goals": report.table(),
                    "tables": "\n".join(self.table(n) for n in FABRICS
                                        if n in self.results and FABRICS[n][1] and n not in BESIDE),
                    "irregular": self.side_by_side()}
        if all(n in BESIDE for n in self.results):  # what else the document has was measured elsewhere
            sections = {"irregular": sections["irregular"]}
        if not doc:
            print("\n".join(sections.values()))
            return
        rewrite(doc, sections)
        self.growth(os.path.join(os.path.dirname(os.path.abspath(doc)), "growth.svg"))


def rewrite(path, sections):
    """Replace what stands between <!-- NAME --> and <!-- end NAME -->."""
    text = open(path).read()
    for name, body in sections.items():
        begin, end = f"<!-- {name} -->", f"<!-- end {name} -->"
        if begin not in text or end not in text:
            raise SystemExit(f"{path}: no {begin} .. {end} to write between")
        head, rest = text.split(begin, 1)
        text = head + begin + "\n" + body.strip("\n") + "\n" + end + rest.split(end, 1)[1]
    with open(path, "w") as f:
        f.write(text)
