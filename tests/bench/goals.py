"""The goals of the engines, judged by the figures of one run: reached, or missed by how much."""

SPEED = {  # engine: (times faster, fabrics or None: the largest that OpenSM finishes)
    "fattree": (2000, ("pgft-11664", "pgft-27648")),
    "minhop": (600, ("pgft-11664", "pgft-27648")),
    "updn": (600, ("pgft-11664", "pgft-27648")),
    "dfsssp": (100, None), "lash": (100, None), "nue": (100, None), "torus2qos": (100, None),
    "sssp": (50, None),
}
SEEDS = range(1, 6)
RANDOM = "random 125 16 8 {}"


class Goals:
    def __init__(self, engines):
        self.e = engines
        self.results = engines.results
        self.rows = []

    def say(self, goal, where, figure, reached, note=""):
        verdict = "reached" if reached else f"**missed** {note}".strip() if reached is not None else note
        self.rows.append(f"| {goal} | {where} | {figure} | {verdict} |")

    # ---- speed

    def speed_on(self, engine, name, best=None):
        f = self.results.get(name) or {}
        own = (f.get("own") or {}).get(engine) or {}
        best = best or self.e.best_time((f.get("peers") or {}).get(engine, []))
        return 1e3 * best / own["route_ms"] if best and own.get("engine") else None

    def least_speed_on(self, engine, name):
        """Where OpenSM was stopped at the cap: it would have taken longer."""
        peers = ((self.results.get(name) or {}).get("peers") or {}).get(engine, [])
        return self.speed_on(engine, name, self.e.cap_s) if any(r.get("over") for _, r in peers) else None

    def largest(self, engine):
        """The largest fabric on which both finish."""
        sizes = [(f["switches"] * f["lids"], n) for n, f in self.results.items() if f.get("switches")]
        done = [n for _, n in sorted(sizes) if self.speed_on(engine, n) is not None]
        return done[-1:]

    def speed(self):
        for engine, (factor, names) in SPEED.items():
            if engine not in self.e.traits:
                self.say(f"{engine} {factor} times faster", "", "", None, "the engine is not built")
                continue
            where = names or self.largest(engine)
            for name in where:
                times, least = self.speed_on(engine, name), self.least_speed_on(engine, name)
                if times is None and least is not None:
                    self.say(f"{engine} {factor} times faster", name, f"over {least:.0f} times",
                             True if least >= factor else None, f"OpenSM was stopped after {self.e.cap_s} s")
                elif times is None:
                    self.say(f"{engine} {factor} times faster", name, "", None, "no figure of OpenSM")
                else:
                    self.say(f"{engine} {factor} times faster", name, f"{times:.0f} times", times >= factor,
                             f"by {factor / times:.2f}")

    # ---- deadlocks

    def deadlocks(self):
        for engine, traits in sorted(self.e.traits.items()):
            if "no-credit-loops" not in traits:
                continue
            bad, refused, n = [], [], 0
            for name, f in self.results.items():
                r = (f.get("own") or {}).get(engine) or {}
                if r.get("engine"):
                    n += 1
                    if r["credit_loops"] or r["vl_errors"] or r["loops"] or r["vls"] > 8:
                        bad.append(name)
                elif r:
                    refused.append(name)
            self.say(f"{engine} keeps its promise within 8 VLs", f"{n} fabrics routed, {len(refused)} refused",
                     ", ".join(bad) or "all", not bad if n else None, f"on {len(bad)}" if n else "nothing routed")

    def peers_loops(self):
        """Where OpenSM's engines leave credit loops, or refuse."""
        for engine in ("updn", "dfsssp", "lash", "nue", "torus2qos", "fattree"):
            loops, refused = [], []
            for name, f in self.results.items():
                for label, r in (f.get("peers") or {}).get(engine, []):
                    if r.get("credit_loops"):
                        loops.append(f"{name} ({label}" + (", by its own terms too)" if r.get("own_credit_loops") else ")"))
                    elif r.get("failed"):
                        refused.append(f"{name} ({label})")
            if loops or refused:
                said = [f"credit loops: {', '.join(loops)}"] if loops else []
                said += [f"refused: {', '.join(refused)}"] if refused else []
                self.say(f"OpenSM's {engine}, for comparison", "", "; ".join(said), None)

    # ---- quality

    def rivals(self, engine, peers):
        """OpenSM's tables that reach all and keep the promise by OpenSM's terms, if our engine gives one."""
        promised = "no-credit-loops" in self.e.traits[engine]
        return [r for _, r in peers if r.get("load") and not r.get("unreachable_pairs") and
                not (promised and r.get("own_credit_loops", r["credit_loops"]))]

    def worse(self, engine, own, peers):
        """Where our figures are worse than the best of OpenSM's settings."""
        said = []
        peers = self.rivals(engine, peers)
        for key, less, value in (("largest load", True, lambda r: r["load"]["max"]),
                                 ("eBB", False, lambda r: r["ebb"]), ("VLs", True, lambda r: r["vls"])):
            # of VLs, only tables that need no more of them for replies
            values = [value(r) for r in peers if not r["credit_loops"] or key != "VLs"]
            if not values:
                continue
            ours, best = value(own), min(values) if less else max(values)
            if (less and ours > best) or (not less and ours < best - 0.005):
                said.append(f"{key} {ours:.3g} to {best:.3g}")
        return said

    def quality(self):
        for engine in sorted(self.e.traits):
            said, n = [], 0
            for name, f in self.results.items():
                own, peers = (f.get("own") or {}).get(engine) or {}, (f.get("peers") or {}).get(engine, [])
                if own.get("load") and self.rivals(engine, peers):
                    n += 1
                    worse = self.worse(engine, own, peers)
                    said += [f"{name}: {', '.join(worse)}"] if worse else []
            if n:
                self.say(f"{engine} never worse than OpenSM's best setting", f"{n} fabrics",
                         "; ".join(said) or "all", not said, f"on {len(said)}")

    def trees(self, names):
        for engine in ("fattree", "minhop", "updn", "sssp"):
            rows = [(n, self.results[n]["own"][engine]) for n in names
                    if engine in (self.results.get(n, {}).get("own") or {})]
            rows = [(r["a2a_max_over_avg"], n) for n, r in rows if r.get("load")]
            if rows:
                worst, name = max(rows)
                self.say(f"{engine}: all-to-all max/avg at most 1.05 on intact trees", f"worst: {name}",
                         f"{worst:.3f}", worst <= 1.05, f"by {worst - 1.05:.3f}")

    # ---- what wants runs of its own

    def measure_more(self):
        more = self.results.setdefault("more", {})
        more["efi"] = {engine: [self.efi(engine, seed) for seed in SEEDS]
                       for engine in ("sssp", "dfsssp", "auto") if engine in self.e.traits}
        more["one_vl"] = {n: self.one_vl(n) for n in self.nue_fabrics()} if "nue" in self.e.traits else {}
        more["forward"] = {engine: {n: self.forward_vls(engine, n) for n in self.nue_fabrics()}
                           for engine in ("dfsssp", "lash") if engine in self.e.traits}

    def nue_fabrics(self):
        return [n for n in self.e.nue_names if self.results.get(n, {}).get("own")]

    def efi(self, engine, seed):
        """Largest load to the least average that shortest paths allow."""
        fabric = self.e.fabric(RANDOM.format(seed))
        own, bound = self.e.own(fabric, engine), self.e.own(fabric, "minhop")
        return own["load"]["max"] / bound["load"]["avg"] if own.get("load") and bound.get("load") else None

    def one_vl(self, name):
        r = self.e.own(self.e.fabric(name), "nue", more=("--vls=1",))
        return (r.get("load") or {}).get("max")

    def forward_vls(self, engine, name):
        """VLs when only a path's own SL binds it."""
        extra = f"sl_model = forward\n{engine} {{ paired = no }}\n"
        return self.e.own(self.e.fabric(name), engine, stats=False, extra=extra).get("vls")

    def judge_more(self):
        more = self.results.get("more") or {}
        for engine, values in (more.get("efi") or {}).items():
            known = [v for v in values if v]
            if known:
                mean = sum(known) / len(known)
                self.say(f"{engine}: largest load at most 1.7 of the bound on random graphs",
                         f"{RANDOM.format('1..5')}", f"{mean:.2f}", mean <= 1.7, f"by {mean - 1.7:.2f}")
        for engine, values in (more.get("forward") or {}).items():
            known = {n: v for n, v in values.items() if v}
            if known:
                worst = max(known, key=known.get)
                self.say(f"{engine}: at most 4 VLs forward on the fabrics of the Nue paper", f"worst: {worst}",
                         f"{known[worst]} VLs", known[worst] <= 4, f"by {known[worst] - 4}")
        self.nue(more.get("one_vl") or {})
        paired = (self.results.get("nue-torus-6x5x5", {}).get("own") or {}).get("lash") or {}
        if paired.get("engine"):
            self.say("lash: at most 6 VLs with one SL both ways", "nue-torus-6x5x5", f"{paired['vls']} VLs",
                     paired["vls"] <= 6, f"by {paired['vls'] - 6}")

    def nue(self, one_vl):
        for factor, words, load in ((1.2, "at 8 VLs", lambda n, r: r["load"]["max"]),
                                    (2.0, "at 1 VL", lambda n, r: one_vl.get(n))):
            rows = []
            for name, f in self.results.items():
                own = f.get("own") or {}
                nue, sssp = own.get("nue") or {}, own.get("sssp") or {}
                if nue.get("load") and sssp.get("load") and load(name, nue):
                    rows.append((load(name, nue) / sssp["load"]["max"], name))
            over = [f"{n}: {x:.2f}" for x, n in sorted(rows, reverse=True) if x > factor]
            if rows:
                self.say(f"nue: largest load at most {factor} times sssp's {words}", f"{len(rows)} fabrics",
                         ", ".join(over) or f"at most {max(rows)[0]:.2f}", not over)

    def table(self):
        self.rows = ["| goal | where | figure | verdict |", "|---|---|---|---|"]
        self.speed()
        self.deadlocks()
        self.peers_loops()
        self.quality()
        self.trees(self.e.tree_names)
        self.judge_more()
        return "\n".join(self.rows)
