"""dev/bench --events: what a change of the fabric costs, on ibsim, fmd next to OpenSM.

A daemon brings the fabric up; then links are taken out and put back by the
simulator's console, which sends trap 128.  An event is over when no MAD has
been sent for four seconds; what was sent, and the CPU time spent, are its cost.
What fmd and OpenSM do without an event, sweeps and the audit, is off.
"""
import os
import re
import shutil
import signal
import subprocess
import time

QUIET_S = 4.0  # longer than a packet's life time, for which fmd may wait
FABRICS = ("ft-648", "ft-3888")
EVENTS = ("host", "leaf", "link", "spine")


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
        before, cpu = self.sent(), self.cpu()
        start = time.time()
        self.sim.stdin.write((words + "\n").encode())
        self.sim.stdin.flush()
        seconds = self.settle(start)
        after = self.sent()
        smps = {k: n - before.get(k, 0) for k, n in after.items() if n != before.get(k, 0)}
        return {"s": seconds, "cpu": self.cpu() - cpu, "smps": smps}

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
        self.bench, self.kinds = bench, []

    def programs(self):
        state = os.path.join(self.bench.work, "event-state")
        conf = os.path.join(self.bench.work, "events.conf")
        with open(conf, "w") as f:
            f.write("sweep_interval = 0s\naudit = 0s\n")
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
            for label, command, up_words in self.programs():
                shutil.rmtree(os.path.join(self.bench.work, "event-state"), ignore_errors=True)
                daemon = Daemon(self.bench, fabric, command, up_words)
                for event in EVENTS if daemon.is_up else ():
                    for verb in ("Unlink", "ReLink"):
                        self.row(name, f"{event} {'lost' if verb == 'Unlink' else 'back'}", label,
                                 daemon.event(f"{verb} {words[event]}"))
                if not daemon.is_up:
                    say(f"| {name} | | {label} | not up | | | | |")
                daemon.stop()
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
        self.kinds.append(f"| {name} | {event} | {label} | {self.by_kind(r['smps'], 'Get')} | "
                          f"{self.by_kind(r['smps'], 'Set')} |")
