"""dev/bench --ha: the master of two dies, fmd whose standby has a copy beside OpenSM, on fmsim.

Hosts have joined groups before.  What the simulator has seen is what counts: when the standby's SA answers, when every end port
has the standby's LID as MasterSMLID, what was read and written until then, and who is a member afterwards.  Simulated hosts do
not join again when they are asked to.
"""
import hashlib
import json
import os
import re
import signal
import socket
import statistics
import struct
import subprocess
import threading
import time

import bench_fmsim
import storm

POLL_S = 0.01
CAP_S = 240
JOINS = 200
GROUPS = 4  # that each host is a member of
PROXY_HOSTS = 1000  # fmd lets a port register 4,096 memberships
KINDS = ("fmd", "opensm")
SIZES = {  # hosts: words, runs of fmd, runs of OpenSM by death
    16: ("pgft 2 4,4 1,4 1,1", 5, 1),
    648: ("pgft 2 18,36 1,18 1,1", 5, 1),
    11664: ("pgft 3 18,18,36 1,18,18 1,1,1", 1, 1),
}
ALL_DEATHS = ("kill -9", "SIGSTOP", "cable pulled")
DEATHS = {("opensm", 11664): ("kill -9",)}  # else all
ATTRS = {0x10: "NodeDescription", 0x11: "NodeInfo", 0x12: "SwitchInfo", 0x14: "GUIDInfo", 0x15: "PortInfo", 0x16: "P_Key",
         0x17: "SLtoVL", 0x18: "VLArb", 0x19: "LFT", 0x1b: "MFT", 0x20: "SMInfo", 0x02: "Notice"}
FRAMES = {3: "records", 4: "LIDs", 5: "marks", 7: "files"}  # core/standby/link.h
FILES, FILES_S = 7, 90  # what an event changes is written in so long, with all members and a busy machine
HEAD = struct.Struct(">IBQQ")


class Fabric:
    def __init__(self, bench, hosts):
        self.words, self.runs, self.runs_of_opensm = SIZES[hosts]
        self.path = os.path.join(bench.work, f"ha-{hosts}.net")
        with open(self.path, "w") as f:
            subprocess.run([os.path.join(bench.build, "fmroute"), "gen", *self.words.split()], stdout=f, check=True)
        text = open(self.path).read()
        self.hosts = list(dict.fromkeys(re.findall(r'"(host-[\d-]+)"\[1\]', text)))
        self.master, self.standby, self.asker = self.hosts[0], self.hosts[len(self.hosts) // 2], self.hosts[-1]
        self.key = hashlib.sha256(text.encode()).hexdigest()[:16]


class Counter(threading.Thread):
    """Between a standby and copy_socket: bytes of the master's frames, by what they are."""

    def __init__(self, path, to):
        super().__init__(daemon=True)
        self.to, self.bytes = to, {}
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen(4)

    def run(self):
        while True:
            here, _ = self.listener.accept()
            there = socket.socket(socket.AF_UNIX)
            try:
                there.connect(self.to)
            except OSError:
                here.close()
                continue
            threading.Thread(target=self.pump, args=(here, there, None), daemon=True).start()
            threading.Thread(target=self.pump, args=(there, here, b""), daemon=True).start()

    def pump(self, a, b, rest):
        try:
            while (data := a.recv(1 << 18)):
                b.sendall(data)
                if rest is not None:
                    rest = self.count(rest + data)
        except OSError:
            pass
        for end in (a, b):
            end.close()

    def count(self, data):
        at = 0
        while len(data) - at >= HEAD.size:
            n, kind, _, _ = HEAD.unpack_from(data, at)
            if len(data) - at < HEAD.size + n:
                break
            self.bytes[kind] = self.bytes.get(kind, 0) + HEAD.size + n
            at += HEAD.size + n
        return data[at:]


class Pair(bench_fmsim.Fmds):
    """Two SMs of a kind; the standby is started by itself."""

    def __init__(self, bench, kind, fabric):
        super().__init__(bench, fabric.path, storm.KERNEL_QUEUE)
        self.kind, self.fabric = kind, fabric
        self.start_sm(fabric.master, 5, "")
        self.wait_for(self.log[fabric.master], "SUBNET UP", CAP_S)

    def start_standby(self, copy_from=None):
        host = self.fabric.standby
        self.start_sm(host, 3, copy_from or f"{self.dir}/{self.fabric.master}.copy")
        self.wait_for(self.log[host], "standing by" if self.kind == "fmd" else "Entering STANDBY", CAP_S)
        if self.kind == "fmd":
            self.wait_until(lambda: self.in_sync(host), CAP_S)

    def start_sm(self, host, priority, copy_from):
        if self.kind == "fmd":
            self.start_fmd(host, copy_from, f"sm_priority = {priority}")
            return
        folder = os.path.join(self.dir, host)
        os.makedirs(folder)
        self.log[host] = os.path.join(folder, "osm.log")
        self.sm[host] = self.at(host, ["opensm", "-d2", "-F", "/dev/null", "-R", "ftree", "-p", str(priority), "-f", self.log[host]],
                                os.path.join(folder, "out"), OSM_TMP_DIR=folder, OSM_CACHE_DIR=folder)

    def has_all(self):
        """Does the standby have all that the master has, files too?"""
        standbys = self.ha(self.fabric.master).get("standbys", [])
        return len(standbys) > 0 and all(s["state"] == "in sync" and not s["sends_files"] and s["have"] == s["sent"] for s in standbys)

    def rss_mb(self, host):
        for line in open(f"/proc/{self.sm[host].pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) / 1024
        return 0

    # ---- hosts

    def ask(self, host, lines, window, ms=10000):
        """(name, answer, seconds since the answer before) as they come to a host, from the SA of the master."""
        child = self.start_asker(host, self.fabric.master, lines, window, ms)
        last = time.time()
        for line in child.stdout:
            name, answer = line.rstrip().split("|")
            now = time.time()
            yield name, answer, now - last
            last = now
        child.wait()

    def register_all(self):
        """Each host in GROUPS groups; by one host for many, which is what an SA has a proxy join for."""
        for at in range(0, len(self.fabric.hosts), PROXY_HOSTS):
            hosts = self.fabric.hosts[at:at + PROXY_HOSTS]
            left = {f"{host}/{g}": (host, g) for host in hosts for g in range(GROUPS)}
            for _ in range(5):
                lines = [self.join_line(name, 0x1000 + g, host) for name, (host, g) in left.items()]
                for name, answer, _ in self.ask(hosts[-1], lines, 64):
                    if answer.startswith("010302810000"):
                        left.pop(name, None)
                if not left:
                    break
            if left:
                raise SystemExit(f"ha: {len(left)} joins are not answered")
        return len(self.members(self.fabric.asker, self.fabric.master))

    def join_times(self, first_group, and_first=False):
        """ms of one join after the other, each of a group of its own; the first has to wait till its program has started."""
        lines = [self.join_line(f"j{i}", first_group + i, self.fabric.asker) for i in range(JOINS)]
        took = [1000 * s for _, answer, s in self.ask(self.fabric.asker, lines, 1) if answer.startswith("010302810000")]
        return took if and_first else took[1:]

    # ---- the death

    def die(self, death):
        master = self.sm[self.fabric.master]
        if death == "kill -9":
            master.kill()
        elif death == "SIGSTOP":
            master.send_signal(signal.SIGSTOP)
        else:
            self.tell(f"unlink {self.fabric.master}[1]")

    def take_over(self, death):
        """What is seen from the death on."""
        asker, standby = self.fabric.asker, self.fabric.standby
        asked_for = {
            "answer_s": [f"p{i}|1|0x35|0x30|0|0|40:{self.lid(self.fabric.hosts[1]):04x}{self.lid(asker):04x}" for i in range(2000)],
            "join_s": [self.join_line(f"j{i}", 0x3000 + i, asker) for i in range(2000)],
        }
        lid, asked, before, r = self.lid(standby), self.ends()[1], self.smps(), {}
        askers = {what: self.start_asker(asker, standby, lines, 1, 20) for what, lines in asked_for.items()}
        text = dict.fromkeys(askers, "")
        start = time.time()
        self.die(death)
        while len(r) < 4 and time.time() < start + CAP_S:
            for what in askers:
                text[what] = text[what][-40:] + self.what_came(askers[what])
                if what not in r and "|010302810000" in text[what]:
                    r[what] = time.time() - start
                elif what not in r and askers[what].poll() is not None:
                    askers[what] = self.start_asker(asker, standby, asked_for[what], 1, 20)
            ends = self.ends()[0]
            if "ends_s" not in r and set(ends) == {lid}:
                r["ends_s"], r["until"] = time.time() - start, self.since(before)
            time.sleep(POLL_S)
        for child in askers.values():
            child.kill()
            child.wait()
        self.wait_quiet()
        r["after"] = self.since(before)
        r["asked"] = self.ends()[1] - asked
        return r

    @staticmethod
    def what_came(child):
        os.set_blocking(child.stdout.fileno(), False)
        try:
            return os.read(child.stdout.fileno(), 1 << 20).decode()
        except BlockingIOError:
            return ""

    def since(self, before):
        return {a: [n - before.get(a, [0, 0])[i] for i, n in enumerate(both)] for a, both in self.smps().items()}

    def wait_quiet(self):
        """No Set for two seconds."""
        last, since = None, time.time()
        while time.time() < since + 2:
            sets = sum(both[1] for both in self.smps().values())
            if sets != last:
                last, since = sets, time.time()
            time.sleep(0.2)


class Ha:
    def __init__(self, bench):
        self.bench = bench
        named = [int(n) for n in (bench.args.only or "").split(",") if n]
        self.sizes = named or ([16, 648] if bench.args.quick else [648, 11664])
        self.joins, self.costs = [], []

    def measure(self, kind, fabric, death):
        pair = Pair(self.bench, kind, fabric)
        try:
            pair.register_all()
            before = pair.members(fabric.asker, fabric.master)
            joins = pair.join_times(0x2000) if kind == "opensm" else []
            pair.start_standby()
            pair.wait_quiet()
            r = pair.take_over(death)
            r["joins"] = joins
            if kind == "fmd":  # till then its SA is busy for who asks of members
                pair.wait_for(pair.log[fabric.standby], "SUBNET UP", CAP_S)
            after = pair.members(fabric.asker, fabric.standby)
            r.update(members=len(before), lost=len(before - after))
            return r
        finally:
            pair.stop()

    def measured(self, kind, fabric, death):
        """Of OpenSM what was measured before, if anything was."""
        path = os.path.join(self.bench.cache, f"ha-joins-{fabric.key}-{death.replace(' ', '')}.json")
        if kind == "opensm" and os.path.exists(path) and self.bench.args.peer != "fresh":
            return json.load(open(path))
        n = fabric.runs if kind == "fmd" else fabric.runs_of_opensm
        found = [self.measure(kind, fabric, death) for _ in range(n)]
        if kind == "opensm":
            with open(path, "w") as f:
                json.dump(found, f)
        return json.loads(json.dumps(found))

    @staticmethod
    def by_attribute(seen, which):
        """"PortInfo 702, ..." of Gets (0) or Sets (1), and their sum."""
        parts = {ATTRS.get(int(a), a): both[which] for a, both in seen.items() if both[which] > 0}
        words = ", ".join(f"{a} {n}" for a, n in sorted(parts.items(), key=lambda p: -p[1]))
        return f"{sum(parts.values())}" + (f": {words}" if words else "")

    def death_row(self, hosts, kind, death, found):
        def spread(key):
            values = [r[key] for r in found if key in r]
            if len(values) < len(found):
                return f"> {CAP_S}"
            return f"{statistics.median(values):.2f}" + (f" (most {max(values):.2f})" if len(values) > 1 else "")
        r = found[-1]
        until = r.get("until", {})
        tables = sum(until.get(str(a), [0])[0] for a in (0x19, 0x1b))
        self.bench.say(f"| {hosts} | {kind} | {death} | {len(found)} | {spread('answer_s')} | {spread('join_s')} | {spread('ends_s')} | "
                       f"{self.by_attribute(until, 0)} | {tables} | {self.by_attribute(until, 1)} | {self.by_attribute(r['after'], 1)} | "
                       f"{r['members']} | {max(x['lost'] for x in found)} | {r['asked']} |")

    # ---- what a copy costs

    def event_bytes(self, pair, counter, command):
        before, files = dict(counter.bytes), FILES
        pair.tell(command)
        deadline = time.time() + FILES_S
        while counter.bytes.get(files, 0) == before.get(files, 0) and time.time() < deadline:
            time.sleep(0.1)
        pair.wait_quiet()
        pair.wait_until(pair.has_all, 60)
        return {name: counter.bytes.get(k, 0) - before.get(k, 0) for k, name in FRAMES.items()}

    def join_row(self, hosts, what, took):
        took = sorted(took)
        self.joins.append(f"| {hosts} | {what} | {len(took)} | {statistics.median(took):.2f} | {took[len(took) * 99 // 100]:.2f} | {took[-1]:.1f} |")

    def cost(self, hosts, fabric):
        pair = Pair(self.bench, "fmd", fabric)
        try:
            members = pair.register_all()
            alone, rss_alone = pair.join_times(0x2000), pair.rss_mb(fabric.master)
            pair.start_standby()
            filling = pair.join_times(0x2300)
            pair.wait_until(pair.has_all, 60)
            copied = pair.join_times(0x2100)
            rss = (rss_alone, pair.rss_mb(fabric.master), pair.rss_mb(fabric.standby))
            pair.sm[fabric.standby].send_signal(signal.SIGSTOP)
            stopped = pair.join_times(0x2200, and_first=True)
            pair.sm[fabric.standby].kill()
            pair.sm[fabric.standby].wait()
            counter = Counter(os.path.join(pair.dir, "counted"), f"{pair.dir}/{fabric.master}.copy")
            counter.start()
            pair.start_standby(os.path.join(pair.dir, "counted"))
            pair.wait_until(pair.has_all, 60)
            whole = {name: counter.bytes.get(k, 0) for k, name in FRAMES.items()}
            cable = pair.inner_cable()
            lost = self.event_bytes(pair, counter, f"unlink {cable}")
            back = self.event_bytes(pair, counter, f"relink {cable}")
        finally:
            pair.stop()
        self.join_row(hosts, "fmd alone", alone)
        self.join_row(hosts, "fmd, the copy has just begun", filling)
        self.join_row(hosts, "fmd with a copy in sync", copied)
        self.join_row(hosts, "fmd, the standby stands still", stopped)
        words = " | ".join(", ".join(f"{name} {n}" for name, n in d.items() if n > 0) or "0" for d in (whole, lost, back))
        self.costs.append(f"| {hosts} | {members} | {words} | {rss[0]:.0f} | {rss[1]:.0f} | {rss[2]:.0f} |")

    def run(self):
        say = self.bench.say
        say("\n## The master dies: fmd with a copy beside OpenSM, on fmsim\n")
        say(f"Each host is a member of {GROUPS} groups. First answer: from the death to the first path that the standby's SA tells (a host asks "
            "again and again), first join: to the first join that it answers. All ends: till every end port of the subnet has the standby's LID as MasterSMLID. Before: until then, as the simulator "
            "has seen it. fmd with its defaults and `copy_from`, OpenSM with its own (10 s between polls). Counts are those of the last run.\n")
        say("| hosts | SMs | death | runs | first answer s | first join s | all ends s | Gets before | LFT and MFT of them | Sets before | Sets in all | members | "
            "lost at most | hosts asked to register again |")
        say("|--:|---|---|--:|--:|--:|--:|---|--:|---|---|--:|--:|--:|")
        for hosts in self.sizes:
            fabric = Fabric(self.bench, hosts)
            for kind in KINDS:
                for death in DEATHS.get((kind, hosts), ALL_DEATHS):
                    found = self.measured(kind, fabric, death)
                    self.death_row(hosts, kind, death, found)
            self.join_row(hosts, "OpenSM", found[-1]["joins"])
            self.cost(hosts, fabric)
        say("\nOne join after the other, until it is answered:\n")
        say("| hosts | | joins | p50 ms | p99 ms | most ms |")
        say("|--:|---|--:|--:|--:|--:|")
        for row in self.joins:
            say(row)
        say("\nBytes that the master sends, but for ALIVE: a whole copy, a lost cable between switches, and its return. Memory: of the master alone, "
            "with a copy, and of the standby, MB.\n")
        say("| hosts | members | a whole copy | a cable lost | it is back | alone | master | standby |")
        say("|--:|--:|---|---|---|--:|--:|--:|")
        for row in self.costs:
            say(row)
