"""dev/bench --perf: what it costs to read all counters and to tell of them by HTTP, on fmsim: fmd-perf, fmd-web, and fmd beside them.

CPU time is counted by the kernel, thread by thread; of MADs count those that a program hands to umad_send().  fmsim shares the
machine with all of them, so seconds want a quiet one.
"""
import array
import http.client
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import time

import bench_fmsim
import ha
import storm

CAP_S = 300
ONCE_RUNS = 5
READINGS = 3
ROUNDS = 3
ASKED = 5  # how often a command, to have a mean
LOSS = "30%"
SCRAPE_S = 5
READING = re.compile(r"sweep (\d+): (\d+) of (\d+) ports, (\d+) MADs, (\d+) lost.*?(out of time)?$", re.M)
GETS, SETS = (slice(256 * method, 256 * method + 256) for method in (1, 2))  # of the words that umad_count.c keeps
QUIET = "sweep_interval = 0\naudit = 0s\nsweep_on_trap = no"  # fmd does nothing of its own accord


class Settings:
    def __init__(self, quick):
        self.interval_s = 2 if quick else 10
        self.rate = 500 if quick else 2000  # path queries a second
        self.window_s = 6 if quick else 30


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def cpu_ms(pid, tid=None):
    """CPU time of a process, or of one of its threads, so far."""
    tids = [tid] if tid else os.listdir(f"/proc/{pid}/task")
    return sum(int(open(f"/proc/{pid}/task/{t}/schedstat").read().split()[0]) for t in tids) / 1e6


def peak_mb(pid):
    return next(int(line.split()[1]) for line in open(f"/proc/{pid}/status") if line.startswith("VmHWM")) / 1024


class Stand(bench_fmsim.Fmds):
    """fmd on a fabric, with or without fmd-perf and fmd-web beside it."""

    def __init__(self, bench, fabric, settings):
        super().__init__(bench, fabric.path, storm.KERNEL_QUEUE)
        self.fabric, self.set = fabric, settings
        self.control = f"{self.dir}/{fabric.master}.sock"
        self.counts, self.web_socket = os.path.join(self.dir, "counts"), os.path.join(self.dir, "web.sock")
        self.start_fmd(fabric.master, "", QUIET, UMAD_COUNT_FILE=self.counts)
        self.fmd = self.sm[fabric.master].pid
        self.wait_for(self.log[fabric.master], "SUBNET UP", CAP_S)
        self.n_logs = 0

    def path(self, name):
        return os.path.join(self.bench.build, name)

    def new_log(self, name):
        self.n_logs += 1
        return os.path.join(self.dir, f"{name}-{self.n_logs}.log")

    def start_perf(self, interval_s, *more):
        self.perf_log = self.new_log("perf")
        command = [self.path("fmd-perf"), f"--socket={self.control}", "-v", f"--interval={interval_s}", *more]
        self.perf = self.at(self.fabric.master, command, self.perf_log)

    def start_web(self):
        log = self.new_log("web")
        self.web = self.start([self.path("fmd-web"), f"--socket={self.control}", f"--listen={self.web_socket}"], log, self.env)
        self.wait_for(log, "listens at", 20)

    def end(self, child):
        child.kill()
        child.wait()
        self.children.remove(child)

    def readings(self):
        """[(number, ports read, ports, MADs, lost, out of time)] that fmd-perf has told of."""
        return [(*map(int, r[:5]), bool(r[5])) for r in READING.findall(open(self.perf_log).read())]

    def await_reading(self, n):
        """The n-th, and when it was there."""
        self.wait_until(lambda: len(self.readings()) >= n, CAP_S)
        return self.readings()[n - 1], time.time()

    def ask(self, command, **args):
        """Of fmd, on its control socket: (result, bytes)."""
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.control)
            s.sendall((json.dumps({"command": command, "args": args}) + "\n").encode())
            parts = list(iter(lambda: s.recv(1 << 18), b""))
        answer = json.loads(b"".join(parts))
        if not answer["ok"]:
            raise SystemExit(f"perf: {command}: {answer['error']}")
        return answer["result"], sum(map(len, parts))

    def get(self, address):
        """By HTTP: (text, ms)."""
        start = time.time()
        connection = UnixConnection(self.web_socket)
        connection.request("GET", address)
        answer = connection.getresponse()
        data = answer.read()
        ms = 1000 * (time.time() - start)
        connection.close()
        if answer.status != 200:
            raise SystemExit(f"perf: {address}: {answer.status} {data[:200]}")
        return data.decode(), ms

    def sent(self):
        """MADs that fmd has sent so far: (Gets, Sets, others, which are answers of its SA and reports)."""
        counts = array.array("Q", open(self.counts, "rb").read())
        gets, sets = sum(counts[GETS]), sum(counts[SETS])
        return gets, sets, sum(counts) - gets - sets

    def query(self, seconds, rate):
        """Path queries at that rate, for answers()."""
        log = self.new_log("storm")
        words = ["steady", self.fabric.path, str(self.n_askers()), str(seconds), str(rate)]
        return log, self.start([self.path("tests/bench/storm"), *words], log, self.env)

    def n_askers(self):
        return min(2000, len(self.fabric.hosts) - 1)  # but that of fmd

    def answers(self, asked):
        """What the hosts have seen, as tests/bench/storm tells it."""
        log, child = asked
        child.wait(CAP_S)
        self.children.remove(child)
        text = open(log).read()
        try:
            return json.loads(text)
        except ValueError:
            raise SystemExit(f"perf: storm: {text.strip()}")


class Perf:
    def __init__(self, bench):
        self.bench, self.say = bench, bench.say
        self.set = Settings(bench.args.quick)
        named = [int(n) for n in (bench.args.only or "").split(",") if n]
        self.sizes = named or ([16, 648] if bench.args.quick else [11664])

    # ---- reading

    def once(self, stand):
        """fmd-perf --once: (reading, s, CPU s of it, of fmsim)."""
        sim = stand.children[0].pid
        before, start = cpu_ms(sim), time.time()
        stand.start_perf(self.set.interval_s, "--once")
        _, usage, _ = self.bench.watch(stand.perf.pid)
        took = time.time() - start
        stand.perf.returncode = 0  # watch() has waited for it
        stand.children.remove(stand.perf)
        if usage is None or not stand.readings():
            raise SystemExit(f"perf: fmd-perf --once: {open(stand.perf_log).read()[-400:]}")
        return stand.readings()[0], took, usage.ru_utime + usage.ru_stime, (cpu_ms(sim) - before) / 1000

    def once_row(self, stand):
        runs = [self.once(stand) for _ in range(ONCE_RUNS)]
        took, cpu, sim_cpu = ([r[i] for r in runs] for i in (1, 2, 3))
        reading = min((r[0] for r in runs), key=lambda reading: reading[1])
        self.say(f"| {ONCE_RUNS} | {reading[1]} of {reading[2]} | {reading[3]} | {reading[4]} | {min(took):.2f} | {statistics.median(took):.2f} | "
                 f"{max(took):.2f} | {statistics.median(cpu):.2f} | {statistics.median(sim_cpu):.2f} |")

    def paced_row(self, stand, what):
        """READINGS of them, from the end of the one before; fmd-perf runs on."""
        n = len(stand.readings()) + 1
        _, start = stand.await_reading(n)
        before, sim = cpu_ms(stand.perf.pid), cpu_ms(stand.children[0].pid)
        last, end = stand.await_reading(n + READINGS)
        share = 100 / (1000 * (end - start))
        late = sum(r[5] for r in stand.readings()[n:n + READINGS])
        self.say(f"| {what} | {(end - start) / READINGS:.2f} | {last[1]} of {last[2]} | {last[3]} | {last[4]} | {late} | "
                 f"{(cpu_ms(stand.perf.pid) - before) * share:.1f} | {(cpu_ms(stand.children[0].pid) - sim) * share:.0f} | "
                 f"{peak_mb(stand.perf.pid):.0f} |")

    # ---- path queries beside it

    def path_rows(self, stand):
        found = {False: [], True: []}
        for i in range(2 * ROUNDS):
            reads = i % 2 == 1
            if reads:
                stand.start_perf(self.set.interval_s)
                stand.await_reading(1)
            found[reads].append(stand.answers(stand.query(self.set.interval_s, self.set.rate)))
            if reads:
                stand.end(stand.perf)
        p99 = {}
        for reads, runs in found.items():
            p50, p99[reads], most = (statistics.median(r[key] for r in runs) for key in ("p50_ms", "p99_ms", "max_ms"))
            each = ", ".join(f"{r['p99_ms']:.2f}" for r in runs)
            self.say(f"| {'reads' if reads else 'does not run'} | {ROUNDS} | {sum(r['asked'] for r in runs)} | "
                     f"{sum(r['lost'] for r in runs)} | {p50:.2f} | {p99[reads]:.2f} ({each}) | {most:.1f} | "
                     f"{f'{p99[True] / p99[False]:.2f}' if reads else ''} |")

    # ---- what fmd is asked

    @staticmethod
    def pages(stand, command, args):
        """All that a command tells, page after page: (bytes, pages)."""
        n_bytes, n_pages, page = 0, 0, {"next": 0}
        while page.get("next") is not None:
            page, more = stand.ask(command, **args, **({"from": page["next"]} if n_pages else {}))
            n_bytes, n_pages = n_bytes + more, n_pages + 1
        return n_bytes, n_pages

    def command_rows(self, stand):
        known = {}

        def is_same():  # planned loads are counted when they are first asked for, and come later
            known.update(generation=stand.ask("fabric")[0]["generation"])
            return stand.ask("fabric", **known)[0].get("same", False)
        stand.wait_until(is_same, CAP_S)
        for command, args in (("fabric", {}), ("fabric", known), ("links", {}), ("nodes", {}), ("status", {}), ("health", {})):
            before, start = cpu_ms(stand.fmd, stand.fmd), time.time()
            for _ in range(ASKED):
                n_bytes, n_pages = self.pages(stand, command, args)
            ms, wall = cpu_ms(stand.fmd, stand.fmd) - before, 1000 * (time.time() - start)
            self.say(f"| {command}{', known already' if args else ''} | {n_pages} | {n_bytes} | {ms / ASKED:.2f} | {wall / ASKED:.1f} |")

    # ---- by HTTP

    @staticmethod
    def n_series(text):
        return sum(1 for line in text.splitlines() if line and line[0] != "#")

    def web_row(self, stand, address):
        """After each of some readings asked twice: what the second takes is for the text that there is."""
        first, again, fmd_ms, web_ms = [], [], [], []
        for _ in range(READINGS):
            stand.await_reading(len(stand.readings()) + 1)
            fmd, web = cpu_ms(stand.fmd, stand.fmd), cpu_ms(stand.web.pid)
            text, ms = stand.get(address)
            first.append(ms)
            fmd_ms.append(cpu_ms(stand.fmd, stand.fmd) - fmd)
            web_ms.append(cpu_ms(stand.web.pid) - web)
            again.append(stand.get(address)[1])
        figures = " | ".join(f"{statistics.median(values):.1f}" for values in (first, again, web_ms, fmd_ms))
        self.say(f"| {address} | {self.n_series(text)} | {len(text)} | {figures} | {peak_mb(stand.web.pid):.0f} |")

    # ---- what fmd sends

    def window_row(self, stand, what, scrapes):
        """A sweep is asked for, and paths, whatever happens beside it."""
        before = stand.sent()
        deadline, asker = time.time() + self.set.window_s, stand.query(self.set.window_s - 2, self.set.rate // 4)
        subprocess.run([stand.path("fmctl"), f"--socket={stand.control}", "sweep", "--wait"], stdout=subprocess.DEVNULL, check=True)
        while time.time() < deadline:
            if scrapes:
                stand.get("/metrics")
                stand.get("/metrics/ports?set=all")
            time.sleep(max(0, min(SCRAPE_S, deadline - time.time())))
        seen = stand.answers(asker)
        gets, sets, others = (b - a for a, b in zip(before, stand.sent()))
        self.say(f"| {what} | {gets} | {sets} | {others} | {seen['asked']} | {seen['lost']} |")

    # ---- all of it

    def table(self, words, *columns):
        """A paragraph, and the head of the table under it; the first column is of words."""
        self.say(f"\n{words}\n\n| {' | '.join(columns)} |\n|---|{'--:|' * (len(columns) - 1)}")

    def tell_reading(self, stand):
        self.table("`fmd-perf --once`, from its start to its end: counts of the worst run, median CPU time (goal: 1.5 s).",
                   "runs", "ports read", "MADs", "lost", "least s", "median s", "most s", "CPU s", "CPU s of fmsim")
        self.once_row(stand)
        self.table(f"`fmd-perf --interval={self.set.interval_s}`, {READINGS} readings: counts of the last one, CPU of all (goal: 8 % of a core where "
                   "the interval is 10 s).", "", "s between readings", "ports read", "MADs", "lost", "out of time", "CPU %", "CPU % of fmsim", "MB")
        stand.start_perf(self.set.interval_s)
        self.paced_row(stand, "all answer")
        stand.tell(f"loss {LOSS}")
        self.paced_row(stand, f"{LOSS} of all packets are lost")
        stand.tell("loss 0")
        stand.end(stand.perf)

    def tell_paths(self, stand):
        self.table(f"{self.set.rate} path queries a second of {stand.n_askers()} hosts for {self.set.interval_s} s, by turns without fmd-perf and while it "
                   "reads: medians; fmsim carries the MADs of both in one thread (goal: 1.2 times the p99).",
                   "fmd-perf", "runs", "asked", "lost", "p50 ms", "p99 ms", "most ms", "times")
        self.path_rows(stand)

    def tell_fmd(self, stand):
        self.table(f"On fmd's control socket, the mean of {ASKED}: bytes, CPU time of fmd's loop, time till all is there (goals of `fabric`: 2 MB, 10 ms).",
                   "command", "answers", "bytes", "ms of the loop", "ms")
        self.command_rows(stand)
        self.table(f"By HTTP, medians of {READINGS} readings: the first that asks after a reading, the next one, CPU time of the first (goals: 500 series of "
                   "/metrics; 0.5 s for 420,000 of ports).",
                   "address", "series", "bytes", "first ms", "next ms", "CPU ms of fmd-web", "CPU ms of fmd's loop", "MB of fmd-web")
        for address in ("/metrics", "/metrics/ports", "/metrics/ports?set=load", "/metrics/ports?set=all"):
            self.web_row(stand, address)

    def tell_sent(self, stand):
        self.table(f"What fmd sends in {self.set.window_s} s in which one sweep is asked for, and {self.set.rate // 4} paths a second. While they run, "
                   f"/metrics and all ports are asked for each {SCRAPE_S} s.",
                   "fmd-perf and fmd-web", "Gets", "Sets", "answers of the SA and reports", "paths asked", "lost")
        self.window_row(stand, "do not run", False)
        stand.start_perf(self.set.interval_s)
        stand.start_web()
        stand.await_reading(1)
        self.window_row(stand, "run", True)
        for child in (stand.perf, stand.web):
            child.send_signal(signal.SIGSTOP)
        self.window_row(stand, "stand still (SIGSTOP)", False)
        for child in (stand.perf, stand.web):
            stand.end(child)
        self.window_row(stand, "are killed", False)

    def measure(self, hosts):
        fabric = ha.Fabric(self.bench, hosts)
        stand = Stand(self.bench, fabric, self.set)
        try:
            self.tell_reading(stand)
            self.tell_paths(stand)
            stand.start_perf(self.set.interval_s)
            stand.start_web()
            self.tell_fmd(stand)
            for child in (stand.perf, stand.web):
                stand.end(child)
            self.tell_sent(stand)
        finally:
            stand.stop()

    def run(self):
        for hosts in self.sizes:
            self.say(f"\n## fmd-perf and fmd-web, on fmsim: {hosts} hosts of {ha.SIZES[hosts][0]}\n\nLoad average {os.getloadavg()[0]:.1f} when this "
                     "was begun. fmd does nothing of its own accord: no sweeps, no audit.")
            self.measure(hosts)
