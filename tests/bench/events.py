"""dev/bench --events: what a change of the fabric costs, on ibsim, fmd next to OpenSM.

A daemon brings the fabric up; then links are taken out and put back by the
simulator's console, which sends trap 128.  An event is over when no MAD has
been sent for four seconds; what was sent, and the CPU time spent, are its cost.
Where fmd's time goes it says itself, sweep by sweep.  What fmd and OpenSM do
without an event, sweeps and the audit, is off.
"""
import datetime
import os
import re
import shutil
import signal
import subprocess
import time

QUIET_S = 4.0  # longer than a packet's life time, for which fmd may wait
FABRICS = ("ft-648", "ft-3888", "ft-11664")
ONLY_FMD = {"ft-11664"}
EVENTS = ("host", "leaf", "link", "spine")
# A sweep that has ended: when, its phases, of that of routing two parts; all in ms.
SWEEP = re.compile(r"(\S+ \S+) debug +sweep: .* sweep \(.*\): phases in ms: (.*); of route tables (\S+), their order (\S+)")
# What is told of an event's time, in the order in which it passes, and the phases that each is made of.
READ = ("discover", "reread", "other-sms")
WRITE = ("switches", "tables")
ACTIVATE = ("ports", "activate")


def targets(path):
    """Console words for each event on a generated tree: its last host, the leaf of that, a
    cable above it, and the last switch, which is of the top rank."""
    cables, switches, node = {}, [], None
    for line in open(path):
        head = re.match(r'(Switch|Hca|Ca)\s+\d+\s+"([^"]+)"', line)
        port = re.match(r'\[(\d+)\]\S*\s+"([^"]+)"', line)
        if head:
            node = head.group(2)
            cables[node] = []
            if head.group(1) == "Switch":
                switches.append(node)
        elif port and node:
            cables[node].append((int(port.group(1)), port.group(2)))
    host = [n for n in cables if n not in set(switches)][-1]
    leaf = cables[host][0][1]
    up = next(p for p, far in cables[leaf] if far in set(switches))
    return {"host": f'"{host}"', "leaf": f'"{leaf}"', "link": f'"{leaf}"[{up}]', "spine": f'"{switches[-1]}"'}


def parts(log, start):
    """Milliseconds by part of the sweeps that a log tells of, the first of which an event at `start` has begun; None: of none."""
    sums, n = dict.fromkeys(("trap", "read", "tables", "order", "rest", "write", "activate", "groups"), 0.0), 0
    for when, phases, tables, order in SWEEP.findall(log):
        words = phases.split()
        ms = {phase: float(value) for phase, value in zip(words[::2], words[1::2])}
        ended = datetime.datetime.strptime(when, "%Y-%m-%d %H:%M:%S.%f").timestamp()
        if n == 0:
            sums["trap"] = max(0.0, (ended - start) * 1000 - sum(ms.values()))
        for part, of in (("read", READ), ("write", WRITE), ("activate", ACTIVATE), ("groups", ("multicast",))):
            sums[part] += sum(ms[phase] for phase in of)
        sums["tables"] += float(tables)
        sums["order"] += float(order)
        sums["rest"] += ms["route"] - float(tables) - float(order)
        n += 1
    return dict(sums, sweeps=n) if n else None


class Daemon:
    """A subnet manager on ibsim."""

    def __init__(self, bench, fabric, command, up_words, cap_s=120):
        self.bench, self.log = bench, os.path.join(bench.work, "events.log")
        self.counts = os.path.join(bench.work, "event-counts")
        port = 21000 + (os.getpid() + 7) % 20000
        self.sim = bench.ibsim(fabric, port)
        if os.path.exists(self.counts):
            os.unlink(self.counts)
        env = dict(os.environ, IBSIM_SERVER_PORT=str(port), SIM_HOST=bench.first_host(fabric),
                   LD_PRELOAD=f"{bench.counter}:{bench.umad2sim}", UMAD_COUNT_FILE=self.counts,
                   OSM_TMP_DIR=bench.work, OSM_CACHE_DIR=bench.work)
        with open(self.log, "w") as f:
            self.child = subprocess.Popen(command, env=env, stdout=f, stderr=f, stdin=subprocess.DEVNULL)
        deadline = time.time() + cap_s
        while time.time() < deadline and up_words not in open(self.log, errors="replace").read():
            time.sleep(0.1)
        self.is_up = up_words in open(self.log, errors="replace").read()
        self.settle(time.time())

    def sent(self):
        return self.bench.read_counts(self.counts)

    def cpu(self):
        fields = open(f"/proc/{self.child.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def settle(self, start):
        """Seconds from start to the last MAD before they cease."""
        last, seen, deadline = start, self.sent(), time.time() + 120
        while time.time() < deadline:
            time.sleep(0.005)
            now = self.sent()
            if now != seen:
                last, seen = time.time(), now
            elif time.time() - last > QUIET_S:
                break
        return last - start

    def event(self, words):
        before, cpu, log_end = self.sent(), self.cpu(), os.path.getsize(self.log)
        start = time.time()
        self.sim.stdin.write((words + "\n").encode())
        self.sim.stdin.flush()
        seconds = self.settle(start)
        after = self.sent()
        smps = {k: n - before.get(k, 0) for k, n in after.items() if n != before.get(k, 0)}
        with open(self.log, errors="replace") as f:
            f.seek(log_end)
            told = parts(f.read(), start)
        return {"s": seconds, "cpu": self.cpu() - cpu, "smps": smps, "parts": told}

    def stop(self):
        self.child.send_signal(signal.SIGTERM)
        try:
            self.child.wait(20)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.sim.stdin.close()
        self.sim.terminate()
        self.sim.wait()


class Events:
    def __init__(self, bench):
        self.bench, self.kinds, self.parts = bench, [], []

    def programs(self, only_fmd):
        state = os.path.join(self.bench.work, "event-state")
        conf = os.path.join(self.bench.work, "events.conf")
        with open(conf, "w") as f:
            f.write("sweep_interval = 0s\naudit = 0s\ndebug = 'sweep'\n")
        if not only_fmd:
            yield "opensm ftree", ["opensm", "-s", "0", "-R", "ftree", "-f", "-"], "SUBNET UP"
            yield "opensm -A ftree", ["opensm", "-s", "0", "-A", "-R", "ftree", "-f", "-"], "SUBNET UP"
        yield "fmd fattree,updn", [os.path.join(self.bench.build, "fmd"), "--engine=fattree,updn",
                                   f"--config={conf}", f"--state-dir={state}"], "SUBNET UP"

    def run(self, names):
        say = self.bench.say
        say("\n## Events on ibsim\n")
        say("A node or link is taken out and put back by the simulator's console (trap 128); until no MAD "
            "is sent for four seconds.  Gets and Sets are SMPs, LFT the Sets of forwarding blocks among them.\n")
        say("| fabric | event | program | s | CPU s | Gets | Sets | LFT |")
        say("|---|---|---|--:|--:|--:|--:|--:|")
        for name in names:
            fabric = self.bench.fabric(name)
            words = targets(fabric)
            for label, command, up_words in self.programs(name in ONLY_FMD):
                shutil.rmtree(os.path.join(self.bench.work, "event-state"), ignore_errors=True)
                daemon = Daemon(self.bench, fabric, command, up_words)
                for event in EVENTS if daemon.is_up else ():
                    for verb in ("Unlink", "ReLink"):
                        self.row(name, f"{event} {'lost' if verb == 'Unlink' else 'back'}", label,
                                 daemon.event(f"{verb} {words[event]}"))
                if not daemon.is_up:
                    say(f"| {name} | | {label} | not up | | | | |")
                daemon.stop()
        say("\n### Where fmd's time goes, in ms\n")
        say("From the console's word till the first sweep begins (`trap`: the simulator, ibsim's and fmd's sockets); reading what "
            "has changed; the plan: its tables with their proof, the order in which they are written, the rest (what switches "
            "owe, the snapshot, to the routing thread and back); writing switches and tables; links armed and made active; "
            "multicast groups and alias GUIDs.  By fmd's own clock, wall time.\n")
        say("| fabric | event | trap | read | tables | order | rest | write | activate | groups | in all | sweeps |")
        say("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
        for row in self.parts:
            say(row)
        say("\n### The same by kind\n")
        say("| fabric | event | program | Gets | Sets |")
        say("|---|---|---|---|---|")
        for row in self.kinds:
            say(row)

    @staticmethod
    def by_kind(smps, verb):
        rows = sorted(((n, k.split()[1]) for k, n in smps.items() if k.startswith(verb)), reverse=True)
        return ", ".join(f"{kind} {n}" for n, kind in rows)

    def row(self, name, event, label, r):
        gets = sum(n for k, n in r["smps"].items() if k.startswith("Get"))
        sets = sum(n for k, n in r["smps"].items() if k.startswith("Set"))
        self.bench.say(f"| {name} | {event} | {label} | {r['s']:.2f} | {r['cpu']:.2f} | {gets} | {sets} | "
                       f"{r['smps'].get('Set LFT', 0)} |")
        if r["parts"]:
            ms = [r["parts"][k] for k in ("trap", "read", "tables", "order", "rest", "write", "activate", "groups")]
            self.parts.append(f"| {name} | {event} | " + " | ".join(f"{t:.1f}" for t in (*ms, sum(ms))) +
                              f" | {r['parts']['sweeps']} |")
        self.kinds.append(f"| {name} | {event} | {label} | {self.by_kind(r['smps'], 'Get')} | "
                          f"{self.by_kind(r['smps'], 'Set')} |")
