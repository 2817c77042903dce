"""dev/bench --storm: 2,000 hosts of one simulated fabric boot at once, against OpenSM and against fmd.

Beside them stands sa_echo.c, which sends each request back, on a fabric that fmd has brought up:
the floor under the CPU time of a server that receives and sends a MAD a system call.

tests/bench/storm.c plays the hosts on fmsim.  Two runs each: the boot, of which CPU seconds
of the server count (fmsim shares the machine, so wall time is its, too), and a steady load
of path queries: in quiet, while one full re-route follows the other, and while two other hosts ask as
fast as they can.
"""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time

KERNEL_QUEUE = ",recv_queue=200000"  # MADs that the kernel keeps for who does not read
KINDS = ("opensm", "fmd", "echo")
ROUNDS = 3  # boots of each, in turn; the one of median CPU time is told
DEEDS = ("spin", "crash", "allocate")  # of an engine that means no good (tests/hostile)
CAP_S = 300
FLOODERS = 2
TICK = 0.01  # s: less CPU time than that is not seen


class Server:
    """fmsim with a subnet manager on its first host."""

    def __init__(self, bench, kind, fabric):
        self.bench, self.kind = bench, kind
        self.dir = tempfile.mkdtemp(prefix=kind + ".", dir=bench.work)
        self.socket = os.path.join(self.dir, "socket")
        self.log = os.path.join(self.dir, "log")
        self.turn, self.deed = 0, None
        self.env = dict(os.environ, FMSIM_SOCKET=self.socket)
        self.sim = self.start([os.path.join(bench.build, "fmsim"), fabric + KERNEL_QUEUE], "sim.log", self.env)
        self.wait_for(os.path.join(self.dir, "sim.log"), "fmsim: ", 1)
        env = dict(self.env, FMSIM_NODE=bench.first_host(fabric), OSM_TMP_DIR=self.dir, OSM_CACHE_DIR=self.dir,
                   LD_PRELOAD=os.path.join(bench.build, ".libs/libfmsim-umad.so"),
                   FMD_PLUGIN_PATH=os.path.join(bench.build, "plugins/engines"))
        self.start_s = time.time()
        if kind == "echo":
            self.up = self.replace_fmd(env)
        else:
            self.sm = self.start(self.command(), "sm.log", env)
            self.up = self.wait_for(self.log, "SUBNET UP", 1)
        self.start_s = time.time() - self.start_s

    def replace_fmd(self, env):
        """sa_echo in the place of an fmd that has brought the subnet up."""
        fmd = self.start(self.command() + ["--once"], "fmd.log", env)
        up = fmd.wait(CAP_S) == 0
        self.sm = self.start([os.path.join(self.bench.build, "tests/bench/sa_echo")], "sm.log", env)
        return self.wait_for(self.log, "ready", 1) and up

    def start(self, command, log, env):
        with open(os.path.join(self.dir, log), "w") as f:
            return subprocess.Popen(command, env=env, stdout=f, stderr=f, stdin=subprocess.DEVNULL)

    def command(self):
        if self.kind == "opensm":
            # -s 0: no light sweeps of its own
            return ["opensm", "-d2", "-s", "0", "-F", "/dev/null", "-R", "ftree", "-f", self.log]
        self.log = os.path.join(self.dir, "sm.log")
        self.write_conf()
        plugins = os.path.join(self.dir, "plugins")
        os.mkdir(plugins)
        if os.path.exists(self.hostile()):  # built with the tests
            shutil.copy(self.hostile(), plugins)
        return [os.path.join(self.bench.build, "fmd"), "--transport=umad", f"--config={self.dir}/fmd.conf",
                f"--state-dir={self.dir}/state", f"--plugin-dir={plugins}"]

    def hostile(self):
        return os.path.join(self.bench.build, "tests/hostile/.libs/hostile.so")

    def write_conf(self):
        chain, section = "'updn'" if self.turn % 2 else "'fattree'", ""
        if self.deed:
            chain = f"'hostile:{self.deed}', {chain}"
            section = f'hostile "{self.deed}" {{\n deed = {self.deed}\n time_limit = 2s\n}}\n'
        with open(os.path.join(self.dir, "fmd.conf"), "w") as f:
            f.write(f"chain = {{ {chain} }}\nsweep_interval = 0s\ncontrol_socket = '{self.dir}/control'\n{section}")

    def wait_for(self, path, words, n, cap_s=CAP_S):
        deadline = time.time() + cap_s
        while time.time() < deadline:
            if os.path.exists(path) and open(path, errors="replace").read().count(words) >= n:
                return True
            time.sleep(0.02)
        return False

    def ups(self):
        return open(self.log, errors="replace").read().count("SUBNET UP")

    def cpu(self):
        fields = open(f"/proc/{self.sm.pid}/stat").read().rsplit(")", 1)[1].split()
        return [int(f) / os.sysconf("SC_CLK_TCK") for f in fields[11:13]]  # user, system

    def storm(self, *words):
        """What the hosts have seen; None: it did not end."""
        try:
            done = subprocess.run([os.path.join(self.bench.build, "tests/bench/storm"), *map(str, words)], env=self.env,
                                  capture_output=True, text=True, timeout=CAP_S)
        except subprocess.TimeoutExpired:
            return None
        try:
            return json.loads(done.stdout)
        except ValueError:
            raise SystemExit(f"storm: {done.stderr.strip()}")

    def flood(self, fabric, seconds):
        return subprocess.Popen([os.path.join(self.bench.build, "tests/bench/storm"), "flood", fabric, str(FLOODERS), str(seconds)],
                                env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def reroute(self):
        """One full re-route, from SIGHUP to SUBNET UP; seconds, None: it did not end."""
        n, start = self.ups(), time.time()
        self.turn += 1
        if self.kind == "fmd":
            self.write_conf()  # another engine: nothing of before can be kept
        self.sm.send_signal(signal.SIGHUP)
        return time.time() - start if self.wait_for(self.log, "SUBNET UP", n + 1, 60) else None

    def stop(self):
        for child in (self.sm, self.sim):
            child.send_signal(signal.SIGTERM)
            try:
                child.wait(20)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()


class Storm:
    def __init__(self, bench):
        self.bench = bench
        quick = bench.args.quick
        self.words = "pgft 2 8,9 1,8 1,1" if quick else "pgft 3 16,16,8 1,8,16 1,1,1"
        self.n_hosts, self.n_paths = (64, 50) if quick else (2000, 50)
        self.seconds, self.rate = (4, 500) if quick else (20, 2000)

    def fabric(self):
        path = os.path.join(self.bench.work, "storm.net")
        with open(path, "w") as f:
            subprocess.run([os.path.join(self.bench.build, "fmroute"), "gen", *self.words.split()], stdout=f, check=True)
        return path

    def measure_boot(self, s, fabric):
        before = s.cpu()
        r = {"up_s": s.start_s, "boot": s.storm("boot", fabric, self.n_hosts, self.n_paths)}
        r["boot_cpu"] = [b - a for a, b in zip(before, s.cpu())]
        return r

    def measure(self, kind, fabric, whole):
        """A boot; if whole, also what follows."""
        s = Server(self.bench, kind, fabric)
        try:
            if not s.up:
                return None
            time.sleep(3)  # what its own traps start
            r = self.measure_boot(s, fabric)
            if not whole:
                return r if r["boot"] else None
            r["quiet"] = s.storm("steady", fabric, self.n_hosts, self.seconds, self.rate)
            if kind != "echo":  # it knows of no re-routes
                r["busy"], r["routes"] = self.measure_busy(s, fabric)
                r["deeds"] = {}
            for s.deed in DEEDS if kind == "fmd" and os.path.exists(s.hostile()) else ():
                r["deeds"][s.deed] = self.measure_busy(s, fabric)
            r["flood"] = self.measure_flood(s, fabric)  # last: it leaves a full queue behind
            return r if all(r.get(k, True) for k in ("boot", "quiet", "busy")) else None
        finally:
            s.stop()

    def measure_all(self, fabric):
        """Boots in turn, so that all have the same of what else the machine does."""
        found = {kind: self.measure(kind, fabric, True) for kind in KINDS}
        boots = {kind: [found[kind]] for kind in KINDS}
        for _ in range(ROUNDS - 1):
            for kind in KINDS:
                boots[kind].append(self.measure(kind, fabric, False))
        for kind in KINDS:
            if all(boots[kind]):
                median = sorted(boots[kind], key=lambda r: sum(r["boot_cpu"]))[ROUNDS // 2]
                found[kind].update(boot=median["boot"], boot_cpu=median["boot_cpu"])
        return found

    def measure_busy(self, s, fabric):
        """Queries while one re-route follows the other; and what each of those took."""
        routes, stop = [], threading.Event()

        def keep_routing():
            while not stop.is_set():
                routes.append(s.reroute())
        thread = threading.Thread(target=keep_routing)
        thread.start()
        try:
            return s.storm("steady", fabric, self.n_hosts, self.seconds, self.rate), routes
        finally:
            stop.set()
            thread.join()

    def measure_flood(self, s, fabric):
        """Queries at a tenth of the rate while FLOODERS other hosts ask as fast as they can."""
        flood = s.flood(fabric, self.seconds + CAP_S)
        try:
            return s.storm("steady", fabric, self.n_hosts - FLOODERS, self.seconds, self.rate // 10)
        finally:
            flood.kill()
            flood.wait()

    def row(self, kind, r):
        if r is None:
            return f"| {kind} | not up, or not through, after {CAP_S} s | | | | | | | | | |"
        b = r["boot"]
        user, kernel = r["boot_cpu"]
        return (f"| {kind} | {r['up_s']:.1f} | {b['seconds']:.1f} | {b['paths']} | {b['lost']} | {b['refused']} | {b['busy']} | "
                f"{user:.2f} | {kernel:.2f} | {b['paths'] / max(user + kernel, TICK):.0f} | {b['paths'] / max(user, TICK):.0f} |")

    @staticmethod
    def latency_row(kind, what, q, routes):
        ended = [t for t in routes if t is not None]
        words = f"{len(ended)} of {sum(ended) / len(ended):.2f} s" if ended else "none ended" if routes else ""
        return (f"| {kind} | {what} | {q['asked']} | {q['lost']} | {q['p50_ms']:.2f} | {q['p99_ms']:.2f} | "
                f"{q['max_ms']:.1f} | {q['silence_ms']:.0f} | {words} |")

    def run(self):
        say, fabric = self.bench.say, self.fabric()
        found = self.measure_all(fabric)
        say(f"\n## Boot storm on fmsim: {self.n_hosts} hosts of {self.words}\n")
        say(f"Each asks for its PortInfoRecord, ClassPortInfo, joins the broadcast group and asks for {self.n_paths} paths. CPU is "
            f"that of the server alone, the median of {ROUNDS} boots in turn; system time is that of the sockets that stand for an "
            "adapter. `echo` sends every request back as it came (tests/bench/sa_echo.c).\n")
        say("| server | up s | boot s | paths | lost | refused | busy | user s | system s | paths per CPU s | per user s |")
        say("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
        for kind in KINDS:
            say(self.row(kind, found[kind]))
        say(f"\n{self.rate} path queries a second, answered how long after they were due; re-routes follow one another by SIGHUP.\n")
        say("| server | | asked | lost | p50 ms | p99 ms | most ms | longest silence ms | re-routes |")
        say("|---|---|--:|--:|--:|--:|--:|--:|---|")
        for kind in KINDS:
            if found[kind]:
                say(self.latency_row(kind, "quiet", found[kind]["quiet"], []))
            if found[kind] and "busy" in found[kind]:
                say(self.latency_row(kind, "re-routing", found[kind]["busy"], found[kind]["routes"]))
                for deed, (q, routes) in found[kind]["deeds"].items():
                    if q:
                        say(self.latency_row(kind, f"... with an engine that does this first: {deed}", q, routes))
        for kind in KINDS:
            if found[kind] and found[kind]["flood"]:
                say(self.latency_row(kind, f"{FLOODERS} hosts flood; a tenth of the rate", found[kind]["flood"], []))
        self.judge(found)

    def judge(self, found):
        if not all(found.values()):
            return
        ours, theirs = found["fmd"], found["opensm"]
        all_of, user = (ours["boot"]["paths"] / max(part(ours["boot_cpu"]), TICK) /
                        (theirs["boot"]["paths"] / max(part(theirs["boot_cpu"]), TICK)) for part in (sum, lambda c: c[0]))
        floor = sum(ours["boot_cpu"]) / max(sum(found["echo"]["boot_cpu"]), TICK)
        p99 = ours["busy"]["p99_ms"]
        self.bench.say(f"\nCPU time of a boot: {floor:.2f} times that of a server that sends each request back (goal 1.3). "
                       f"Paths per CPU second: {all_of:.1f} times OpenSM's, {user:.1f} times without system calls. "
                       f"Longest silence while re-routing: {ours['busy']['silence_ms']:.0f} ms (goal 10). "
                       f"p99 while re-routing: {p99:.2f} ms (goal 5). "
                       f"Lost in fmd's boot: {ours['boot']['lost']} (goal 0).")
