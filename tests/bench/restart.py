"""dev/bench --restart: from the start of a subnet manager that was killed to the first path its SA tells, fmd next to OpenSM on fmsim.

Both have what they keep of the run before.  A host asks, one sa_ask after the other, for the path to another one; all
are up and answer, or some are silent.
"""
import os
import statistics
import subprocess
import time

import storm

ASK_S = 0.04  # one that is not answered is given up
CAP_S = 120
RUNS = {"fmd": (10, 10), "opensm": (10, 3)}  # none silent, some: there OpenSM takes its time
WORDS = {False: ("pgft 2 18,36 1,18 1,1", 36, 18, 100), True: ("pgft 2 8,9 1,8 1,1", 9, 8, 10)}


class Restarted(storm.Server):
    def command(self):
        self.words = getattr(self, "words", None) or super().command()
        return self.words

    def tell(self, *words):
        return subprocess.run([os.path.join(self.bench.build, "fmsim"), "--tell", " ".join(words)], env=self.env,
                              capture_output=True, text=True).stdout

    def lid(self, node):
        words = self.tell("dump", node).split()
        return words[words.index("lid") + 1]

    def has_path(self, ask, env):
        try:
            return "PathRecord dump" in subprocess.run(ask, env=env, capture_output=True, text=True, timeout=ASK_S).stdout
        except subprocess.TimeoutExpired:
            return False

    def again(self, ask, env):
        """Killed and started anew; seconds to the first path, None: there was none."""
        self.sm.kill()
        self.sm.wait()
        time.sleep(0.2)  # its port is free
        sm_env = dict(env, FMSIM_NODE=self.place, OSM_TMP_DIR=self.dir, OSM_CACHE_DIR=self.dir,
                      FMD_PLUGIN_PATH=os.path.join(self.bench.build, "plugins/engines"))
        start = time.time()
        self.sm = self.start(self.command(), "sm.log", sm_env)
        while time.time() < start + CAP_S:
            if self.has_path(ask, env):
                return time.time() - start
        return None


class Restart:
    def __init__(self, bench):
        self.bench = bench
        self.words, self.leaves, self.per_leaf, self.n_silent = WORDS[bench.args.quick]

    def fabric(self):
        path = os.path.join(self.bench.work, "restart.net")
        with open(path, "w") as f:
            subprocess.run([os.path.join(self.bench.build, "fmroute"), "gen", *self.words.split()], stdout=f, check=True)
        return path

    def measure(self, kind, fabric):
        s = Restarted(self.bench, kind, fabric)
        env = dict(s.env, FMSIM_NODE="host-2-1", LD_PRELOAD=os.path.join(self.bench.build, ".libs/libfmsim-umad.so"))
        s.place = self.bench.first_host(fabric)
        rows = []
        try:
            time.sleep(3)  # what its own traps start, and what is kept
            ask = [os.path.join(self.bench.build, "tests/integration/sa_ask"), s.lid(s.place), "get",
                   "slid=" + s.lid("host-2-1"), "dlid=" + s.lid(f"host-{self.leaves}-1")]
            for silent in (0, self.n_silent):
                for i in range(silent):
                    s.tell("silence", f"host-{3 + i // self.per_leaf}-{1 + i % self.per_leaf}")
                rows.append((silent, [s.again(ask, env) for _ in range(RUNS[kind][silent > 0])]))
        finally:
            s.stop()
        return rows

    def run(self):
        say = self.bench.say
        say("\n## Restart to the first path, on fmsim\n")
        say(f"{self.words}; the subnet manager is killed (SIGKILL) and started anew; s until a host is told a path that it asks for "
            "again and again.\n")
        say("| server | silent hosts | runs | p50 s | most s |")
        say("|---|--:|--:|--:|--:|")
        fabric = self.fabric()
        for kind in storm.KINDS:
            for silent, took in self.measure(kind, fabric):
                all_of = [t if t is not None else CAP_S for t in took]
                say(f"| {kind} | {silent} | {len(took)} | {statistics.median(all_of):.2f} | {max(all_of):.2f} |")
