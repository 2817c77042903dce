#!/usr/bin/env python3
"""dev/bench: fmd and its peer, on one machine, in one run.

Tables: bring-up on ibsim (fmd against OpenSM as shipped and at its best),
routing offline (with the ratio to a memset and memcpy of the tables), quality
under faults; with --engines those of doc/engines.md (engines.py), with --events
what a change costs (events.py), with --storm what hosts that boot at once get (storm.py), with
--restart how soon the SA answers again (restart.py), with --takeover how soon a standby's does (takeover.py), with --ha
what is kept and what it costs (ha.py), with --dist how fast hosts find paths (dist.py), with --perf what fmd-perf and fmd-web
cost (perf.py).  Peer runs are capped at 120 s and cached by the hash of the
fabric and of the command; --peer=fresh redoes them.
"""
import argparse
import array
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
CAP_S = 120
ATTRS = {0x10: "NodeDesc", 0x11: "NodeInfo", 0x12: "SwitchInfo", 0x14: "GUIDInfo", 0x15: "PortInfo",
         0x16: "P_Key", 0x17: "SL2VL", 0x18: "VLArb", 0x19: "LFT", 0x1b: "MFT", 0x20: "SMInfo"}

FABRICS = {  # name: (generator arguments or file, chain of fmd, engine of OpenSM, quick)
    "ft-648": ("pgft 2 18,36 1,18 1,1", "fattree,updn", "ftree", True),
    "ft-3888": ("pgft 3 18,18,12 1,6,18 1,1,1", "fattree,updn", "ftree", True),
    "ft-11664": ("pgft 3 18,18,36 1,18,18 1,1,1", "fattree,updn", "ftree", False),
    "ft-27648": ("pgft 3 24,24,48 1,24,24 1,1,1", "fattree,updn", "ftree", False),
    "torus-6x5x4": ("torus 6x5x4 2", "auto", "minhop", True),
    "random-60": ("random 60 8 4 1", "auto", "minhop", True),
    "dragonfly-8-4-4": ("dragonfly 8 4 4", "auto", "minhop", True),
    "ndr-dgx-582": ("@ndr-dgx-582.net", "fattree,updn", "ftree", True),
    "qdr-144": ("@qdr-144.net", "fattree,updn", "ftree", True),
}


class Bench:
    def __init__(self, args):
        self.args = args
        self.top = TOP
        self.build = os.path.abspath(args.build)
        self.cache = os.path.join(self.build, "bench-cache")
        self.work = tempfile.mkdtemp(prefix="fmd-bench.")
        os.makedirs(self.cache, exist_ok=True)
        self.out = []
        self.umad2sim = self.find_umad2sim()
        self.counter = os.path.join(self.build, "tests/bench/.libs/umad_count.so")

    @staticmethod
    def find_umad2sim():
        for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib"):
            path = os.path.join(folder, "umad2sim/libumad2sim.so")
            if os.path.exists(path):
                return path
        return None

    def say(self, text=""):
        print(text, flush=True)
        self.out.append(text)
        if self.args.write:
            with open(self.args.write, "w") as f:
                f.write("\n".join(self.out) + "\n")

    def fabric(self, name):
        spec = FABRICS[name][0]
        if spec.startswith("@"):
            folder = os.environ.get("FMD_TOPOLOGIES", os.path.join(TOP, "..", "shared", "topologies"))
            path = os.path.join(folder, spec[1:])
            return path if os.path.exists(path) else None
        path = os.path.join(self.work, name + ".net")
        if not os.path.exists(path):
            with open(path, "w") as f:
                subprocess.run([os.path.join(self.build, "fmroute"), "gen", *spec.split()], stdout=f, check=True)
        return path

    # ---- one program on ibsim

    def ibsim(self, fabric, port):
        env = dict(os.environ, IBSIM_SERVER_PORT=str(port))
        big = ["-N", "65536", "-S", "8192", "-P", "400000", "-L", "49152"]
        sim = subprocess.Popen(["ibsim", "-s", *big, fabric], env=env, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        deadline = time.time() + 60
        os.set_blocking(sim.stdout.fileno(), False)
        seen = b""
        while time.time() < deadline and b"sim>" not in seen:
            seen += sim.stdout.read() or b""
            time.sleep(0.05)
        return sim

    @staticmethod
    def first_host(fabric):
        for line in open(fabric):
            match = re.match(r'(?:Hca|Ca)\s+\d+\s+"([^"]+)"', line)
            if match:
                return match.group(1)
        return None

    def measure(self, fabric, command, up_words):
        """Run a command on ibsim until it exits or the cap; wall, CPU, memory, MADs by kind."""
        port = 21000 + os.getpid() % 20000
        sim = self.ibsim(fabric, port)
        counts = os.path.join(self.work, "counts")
        if os.path.exists(counts):
            os.unlink(counts)
        env = dict(os.environ, IBSIM_SERVER_PORT=str(port), SIM_HOST=self.first_host(fabric),
                   LD_PRELOAD=f"{self.counter}:{self.umad2sim}", UMAD_COUNT_FILE=counts,
                   OSM_TMP_DIR=self.work, OSM_CACHE_DIR=self.work)
        for left_over in ("guid2lid", "guid2mkey", "neighbors"):
            path = os.path.join(self.work, left_over)
            if os.path.exists(path):
                os.unlink(path)
        log = os.path.join(self.work, "run.log")
        start = time.time()
        with open(log, "w") as f:
            child = subprocess.Popen(command, env=env, stdout=f, stderr=f, stdin=subprocess.DEVNULL)
        status, usage, rss_kb = self.watch(child.pid)
        wall = time.time() - start if usage else None
        seen = os.path.join(self.work, "seen.net")
        with open(seen, "w") as f:  # as it stands now: GUIDs that ibsim invented, LIDs
            env.update(LD_PRELOAD=self.umad2sim)
            subprocess.run(["ibnetdiscover"], env=env, stdout=f, stderr=subprocess.DEVNULL, timeout=CAP_S)
        sim.stdin.close()
        sim.terminate()
        sim.wait()
        text = open(log, errors="replace").read()
        result = {"wall": wall, "status": status, "up": bool(re.search(up_words, text))}
        if usage:
            result["cpu"] = usage.ru_utime + usage.ru_stime
            result["rss_mb"] = rss_kb / 1024
            result["smps"] = self.read_counts(counts)
        else:
            result["log_tail"] = text[-400:]
        return result

    @staticmethod
    def watch(pid):
        """Wait for a child, CAP_S at most: its status, usage (None: killed) and VmHWM in kB.
        (ru_maxrss would count the memory of this script, which the child was forked from.)"""
        deadline, rss_kb = time.time() + CAP_S, 0
        while True:
            try:
                for line in open(f"/proc/{pid}/status"):
                    if line.startswith("VmHWM"):
                        rss_kb = max(rss_kb, int(line.split()[1]))
            except OSError:
                pass
            done, status, usage = os.wait4(pid, os.WNOHANG)
            if done:
                return status, usage, rss_kb
            if time.time() > deadline:
                os.kill(pid, signal.SIGKILL)
                os.wait4(pid, 0)
                return None, None, rss_kb
            time.sleep(0.003)

    @staticmethod
    def read_counts(path):
        """What umad_count.c has counted so far, Gets and Sets by attribute."""
        if not os.path.exists(path) or os.path.getsize(path) != 65536 * 8:
            return {}
        counts = array.array("Q", open(path, "rb").read())
        return {f"{word} {ATTRS.get(attr, hex(attr))}": counts[method * 256 + attr]
                for method, word in ((1, "Get"), (2, "Set")) for attr in range(256) if counts[method * 256 + attr]}

    def check_tables(self, tables):
        """fmroute's metrics of tables made by anyone, on the fabric as the last run left it."""
        fabric = os.path.join(self.work, "seen.net")
        if not os.path.exists(tables):
            return None
        done = subprocess.run([os.path.join(self.build, "fmroute"), "check", fabric, tables, "--stats", "--json"],
                              capture_output=True, text=True)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return None

    # ---- tables

    def bring_up(self, names):
        self.say("## Bring-up on ibsim\n")
        self.say("From start to SUBNET UP with an empty cache; MADs counted at umad_send by one preload for all.\n")
        self.say("| fabric | program | up s | CPU s | MB | Gets | Sets | LFT blocks | max hops | max load | credit loops |")
        self.say("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
        for name in names:
            fabric = self.fabric(name)
            if fabric is None:
                self.say(f"| {name} | skipped: the file is absent | | | | | | | | | |")
                continue
            for label, result in self.programs(name, fabric):
                self.say(self.row(name, label, result))

    def programs(self, name, fabric):
        """Label and result of each program.  A first run is measured, a second one dumps its
        tables to be judged: writing dumps is no part of bringing a fabric up."""
        _, chain, engine, _ = FABRICS[name]
        for label, extra in (("opensm", []), ("opensm -n 64", ["-n", "64"])):
            command = ["opensm", "-o", "-R", engine, "-f", "-", *extra]
            yield f"{label} {engine}", self.peer(fabric, command)
        yield f"fmd {chain}", self.own(fabric, chain, "refuse")
        if engine == "minhop":  # what OpenSM does: cyclic tables reach the switches
            yield "fmd minhop, credit_loops = warn", self.own(fabric, "minhop", "warn")

    def peer(self, fabric, command):
        """A peer's run, from the cache unless told otherwise."""
        digest = hashlib.sha256(open(fabric, "rb").read() + repr(command).encode()).hexdigest()[:24]
        path = os.path.join(self.cache, digest + ".json")
        if os.path.exists(path) and self.args.peer != "fresh":
            return json.load(open(path))
        result = self.measure(fabric, command, r"SUBNET UP")
        if result["wall"] is not None:
            dump = os.path.join(self.work, "opensm-lfts.dump")
            if os.path.exists(dump):
                os.unlink(dump)
            self.measure(fabric, [*command, "-D", "0x43"], r"SUBNET UP")
            result["check"] = self.check_tables(dump)
        json.dump(result, open(path, "w"))
        return result

    def own(self, fabric, chain, credit_loops):
        state, out = os.path.join(self.work, "state"), os.path.join(self.work, "dump")
        conf = os.path.join(self.work, "fmd.conf")
        with open(conf, "w") as f:
            f.write(f"credit_loops = {credit_loops}\n")
        command = [os.path.join(self.build, "fmd"), f"--engine={chain}", "--once", f"--config={conf}",
                   f"--state-dir={state}"]
        shutil.rmtree(state, ignore_errors=True)
        result = self.measure(fabric, command, r"SUBNET UP")
        for folder in (state, out):
            shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(out)
        self.measure(fabric, [*command, f"--dump={out}"], r"SUBNET UP")
        result["check"] = self.check_tables(os.path.join(out, "lfts"))
        return result

    @staticmethod
    def row(name, label, r):
        if r.get("wall") is None:
            return f"| {name} | {label} | > {CAP_S} | | | | | | | | |"
        smps, check = r.get("smps", {}), r.get("check") or {}
        gets = sum(n for k, n in smps.items() if k.startswith("Get"))
        sets = sum(n for k, n in smps.items() if k.startswith("Set"))
        up = f"{r['wall']:.2f}" if r["up"] else f"not up ({r['wall']:.1f})"
        load = check.get("load") or {}
        return (f"| {name} | {label} | {up} | {r['cpu']:.2f} | {r['rss_mb']:.0f} | {gets} | {sets} | "
                f"{smps.get('Set LFT', 0)} | {check.get('max_hops', '')} | {load.get('max', '')} | "
                f"{check.get('credit_loops', '')} |")

    def offline(self, names):
        self.say("\n## Routing offline\n")
        self.say("`fmroute FABRIC --engine=E --repeat=9 --stats --json`; floor: memset + memcpy of the same tables, same run.\n")
        self.say("| fabric | engine | route ms | verify ms | floor ms | route / floor | max/avg | shift max | eBB | MB |")
        self.say("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
        for name in names:
            for label, fabric in self.variants(name):
                for engine in ("fattree", "minhop", "updn"):
                    self.say(self.offline_row(label, fabric, engine))
        self.read_and_sweep(names)

    def read_and_sweep(self, names):
        """What routing stands between: reading a fabric file, and a whole sweep without a wire."""
        self.say("\n## Reading, and sweeping `sim:`\n")
        self.say("Medians: of 9 readings of a fabric file; of 3 runs of "
                 "`fmd --once --engine=fattree,updn --transport=sim:FABRIC` with an empty state: the sweep, "
                 "and the CPU time of the whole run, simulated switches and hosts included in both.\n")
        self.say("| what | fabric | ms | goal | CPU ms |")
        self.say("|---|---|--:|--:|--:|")
        for what, name, goal_ms, measure in (("read", "ft-27648", 300, self.read_ms),
                                             ("sweep", "ft-11664", 1500, self.sweep_ms)):
            if name in names:
                ms, cpu_ms = measure(self.fabric(name))
                self.say(f"| {what} | {name} | {ms:.0f} | {goal_ms} | {cpu_ms} |")

    def read_ms(self, fabric):
        done = subprocess.run([os.path.join(self.build, "tests/bench/read_time"), fabric, "9"],
                              capture_output=True, text=True, check=True)
        return float(done.stdout.split()[0]), ""

    def sweep_ms(self, fabric):
        runs, state = [], os.path.join(self.work, "sweep-state")
        for _ in range(3):
            shutil.rmtree(state, ignore_errors=True)
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            done = subprocess.run([os.path.join(self.build, "fmd"), "--once", "--config=none", "--engine=fattree,updn",
                                   f"--state-dir={state}", f"--transport=sim:{fabric}"], capture_output=True, text=True,
                                  check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            up = re.search(r"SUBNET UP: .*?([0-9.]+) ms", done.stderr)
            runs.append((float(up.group(1)),
                         (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1e3))
        return statistics.median(r[0] for r in runs), f"{statistics.median(r[1] for r in runs):.0f}"

    def variants(self, name):
        """As generated; the large ones also under other names and port numbers, and with links cut."""
        fabric = self.fabric(name)
        if fabric is None:
            return
        yield name, fabric
        if name not in ("ft-11664", "ft-27648"):
            return
        fmroute, other, cut = (os.path.join(self.build, "fmroute"), os.path.join(self.work, "shuffled.net"),
                               os.path.join(self.work, "shuffled-cut.net"))
        for path, command in ((other, ["shuffle", fabric, "1"]), (cut, ["fail", other, "--links=2%", "--seed=1"])):
            with open(path, "w") as f:
                subprocess.run([fmroute, *command], stdout=f, stderr=subprocess.DEVNULL, check=True)
        yield f"{name}, shuffled", other
        yield f"{name}, shuffled, 2 % of links cut", cut

    def offline_row(self, name, fabric, engine):
        command = [os.path.join(self.build, "fmroute"), fabric, f"--engine={engine}", "--repeat=9", "--stats", "--json"]
        with tempfile.TemporaryFile("w+") as out:
            child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
            _, _, rss_kb = self.watch(child.pid)
            out.seek(0)
            text = out.read()
        try:
            r = json.loads(text)
        except ValueError:
            return f"| {name} | {engine} | failed | | | | | | | |"
        if r.get("engine") != engine:
            return f"| {name} | {engine} | refused | | | | | | | |"
        floor = self.floor_ms(r["switches"] * r["lids"])
        return (f"| {name} | {engine} | {r['route_ms']:.2f} | {r['verify_ms']:.2f} | {floor:.2f} | "
                f"{r['route_ms'] / floor:.1f} | {r['a2a_max_over_avg']:.2f} | {r['sp_max']} | {r['ebb']:.3f} | "
                f"{rss_kb / 1024:.0f} |")

    def floor_ms(self, n_bytes):
        done = subprocess.run([os.path.join(self.build, "tests/bench/floor"), str(n_bytes)],
                              capture_output=True, text=True, check=True)
        return float(done.stdout)

    def isolation(self):
        self.say("\n## Engines in processes of their own\n")
        self.say("`apart_time ENGINE pgft 3 18,18,36 1,18,18 1,1,1` (11,664 hosts), by turns in fmd's process and in one of "
                 "its own: medians of 101 runs, and of their differences (goal: 2 ms).\n")
        self.say("| engine | here ms | apart ms | more ms |")
        self.say("|---|--:|--:|--:|")
        for engine in ("fattree", "minhop", "updn"):
            done = subprocess.run([os.path.join(self.build, "tests/bench/apart_time"), "-n", "101", "-p",
                                   os.path.join(self.build, "plugins/engines/.libs"), engine, "pgft", "3", "18,18,36",
                                   "1,18,18", "1,1,1"], capture_output=True, text=True, check=True)
            here, apart, more = re.findall(r"(-?[0-9.]+) ms", done.stdout)
            self.say(f"| {engine} | {here} | {apart} | {more} |")

    def faults(self, n_seeds):
        self.say("\n## Faults: pgft 3 8,8,16 1,8,8 1,1,1 with 5 % of the links cut\n")
        self.say(f"| engine | eBB (median of {n_seeds}) | all-to-all max/avg | shift max | unreachable |")
        self.say("|---|--:|--:|--:|--:|")
        whole = os.path.join(self.work, "ft-1024.net")
        with open(whole, "w") as f:
            subprocess.run([os.path.join(self.build, "fmroute"), "gen", "pgft", "3", "8,8,16", "1,8,8", "1,1,1"],
                           stdout=f, check=True)
        for engine in ("fattree", "updn", "minhop"):
            rows = [self.fault_run(whole, engine, seed) for seed in range(1, n_seeds + 1)]
            rows = [r for r in rows if r and r.get("engine") == engine]
            if not rows:
                self.say(f"| {engine} | refused | | | |")
                continue
            median = lambda key: statistics.median(r[key] for r in rows)
            self.say(f"| {engine} | {median('ebb'):.3f} | {median('a2a_max_over_avg'):.2f} | {median('sp_max'):.0f} | "
                     f"{max(r['unreachable_pairs'] for r in rows)} |")

    def fault_run(self, whole, engine, seed):
        cut = os.path.join(self.work, "cut.net")
        with open(cut, "w") as f:
            subprocess.run([os.path.join(self.build, "fmroute"), "fail", whole, "--links=5%", f"--seed={seed}"],
                           stdout=f, stderr=subprocess.DEVNULL, check=True)
        done = subprocess.run([os.path.join(self.build, "fmroute"), cut, f"--engine={engine}", "--stats", "--json"],
                              capture_output=True, text=True)
        try:
            return json.loads(done.stdout)
        except ValueError:
            return None

    @staticmethod
    def machine_line():
        model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "?")
        return (f"{os.cpu_count()} cores, {model}, load average {os.getloadavg()[1]:.1f} (what others ran, too). "
                "Written by `dev/bench`; read ratios, not milliseconds.")

    def machine(self):
        self.say(f"# Measured\n\n{self.machine_line()}\n")


def engine_tables(parser, bench):
    import engines
    names = bench.args.only.split(",") if bench.args.only else list(engines.FABRICS)
    unknown = [n for n in names if n not in (*engines.FABRICS, engines.GOALS)]
    try:
        if unknown:
            parser.error(f"no fabric {unknown[0]}: {' '.join(engines.FABRICS)}, {engines.GOALS}")
        engines.Engines(bench).run([] if bench.args.stored else names)
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


def event_table(bench):
    import events
    try:
        bench.machine()
        events.Events(bench).run(bench.args.fabric or events.FABRICS)
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


def storm_table(bench):
    import storm
    try:
        bench.machine()
        storm.Storm(bench).run()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


def restart_table(bench):
    import restart
    try:
        bench.machine()
        restart.Restart(bench).run()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


def takeover_table(bench):
    import takeover
    try:
        bench.machine()
        takeover.Takeover(bench).run()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


def check_sizes(parser, args, sizes):
    """--only of the measures of which each size is one."""
    if not set((args.only or "16").split(",")) <= {str(n) for n in sizes}:
        parser.error(f"--only with --{'ha' if args.ha else 'perf'}: {', '.join(map(str, sizes))} hosts")


def ha_table(parser, bench):
    import ha
    try:
        check_sizes(parser, bench.args, ha.SIZES)
        bench.machine()
        ha.Ha(bench).run()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


def perf_table(parser, bench):
    import ha
    import perf
    try:
        check_sizes(parser, bench.args, ha.SIZES)
        bench.machine()
        perf.Perf(bench).run()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


def dist_table(bench):
    import dist
    try:
        bench.machine()
        dist.Dist(bench).run()
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(TOP, "build"))
    parser.add_argument("--peer", choices=("cached", "fresh"), default="cached")
    parser.add_argument("--quick", action="store_true", help="small fabrics only")
    parser.add_argument("--engines", action="store_true", help="every engine on every fabric, for doc/engines.md")
    parser.add_argument("--events", action="store_true", help="what links and nodes lost and back cost, for doc/events.md")
    parser.add_argument("--storm", action="store_true", help="2,000 hosts boot at once, on fmsim; with --quick 64")
    parser.add_argument("--restart", action="store_true", help="killed and started anew: how long till the SA tells a path, on fmsim")
    parser.add_argument("--takeover", action="store_true", help="the master dies: how long till the standby's SA tells a path, on fmsim")
    parser.add_argument("--ha", action="store_true", help="the master dies: two fmd with a copy beside two OpenSM, on fmsim; 648 and 11,664 hosts, with --quick 16 and 648")
    parser.add_argument("--dist", action="store_true", help="how fast ibacm answers a host from what fmd publishes, on fmsim")
    parser.add_argument("--perf", action="store_true", help="what it costs to read all counters and to tell of them by HTTP, on fmsim; 11,664 hosts, with --quick 16 and 648")
    parser.add_argument("--stored", action="store_true", help="with --engines: measure nothing, write down what was measured before")
    parser.add_argument("--minutes", type=int, default=0, help="with --engines: no new run of the peer after so many")
    parser.add_argument("--only", help="bring-up, offline, isolation or faults; with --engines: fabrics or goals, with --ha and --perf: numbers of hosts, separated by commas")
    parser.add_argument("--fabric", action="append", choices=sorted(FABRICS), help="these only; may be repeated")
    parser.add_argument("--write", metavar="FILE", help="write the tables there too")
    args = parser.parse_args()
    if not args.engines and not args.ha and not args.perf and args.only not in (None, "bring-up", "offline", "isolation", "faults"):
        parser.error("--only is bring-up, offline, isolation or faults")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    bench = Bench(args)
    if args.engines:
        return engine_tables(parser, bench)
    if args.events:
        return event_table(bench)
    if args.storm:
        return storm_table(bench)
    if args.restart:
        return restart_table(bench)
    if args.takeover:
        return takeover_table(bench)
    if args.ha:
        return ha_table(parser, bench)
    if args.perf:
        return perf_table(parser, bench)
    if args.dist:
        return dist_table(bench)
    names = args.fabric or [n for n, row in FABRICS.items() if row[3] or not args.quick]
    try:
        bench.machine()
        if args.only in (None, "bring-up"):
            if bench.umad2sim and shutil.which("opensm") and shutil.which("ibsim"):
                bench.bring_up(names)
            else:
                bench.say("bring-up skipped: opensm or ibsim is not installed (dev/install run bench)\n")
        if args.only in (None, "offline"):
            bench.offline([n for n in names if n.startswith("ft-")])
        if args.only in (None, "isolation") and not args.quick:
            bench.isolation()
        if args.only in (None, "faults"):
            bench.faults(5 if args.quick else 20)
    finally:
        shutil.rmtree(bench.work, ignore_errors=True)
    return 0


sys.exit(main())
