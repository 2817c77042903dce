#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause
"""claims.py BUILD FOLDER [FAULT...]

What fmd says of the subnet under each fault, beside what is so in the simulator: a row a fault, a
cell a claim.  A cell is right when what is said is what is so; "WELL" is one that says well where
it is not, "ill" one that says ill where it is well.  fmd runs as a daemon on fmsim, with its own
timers; what it says is asked again until it is right, as a fault takes its time to be seen and
mended, and a cell that never becomes right is red.

What is so: packets are walked along the forwarding tables of the simulator, from one host to all
others; whether anything else is not as it is to be is known of each fault (its last column).
"""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time

BUILD, FOLDER = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
# What a program on fmsim is started with, as dev/fmsim-lib.sh starts them: a sanitizer's runtime comes first.
PRELOADED = {"LD_PRELOAD": ":".join(filter(None, (os.environ.get("FMSIM_RUNTIME"), BUILD + "/.libs/libfmsim-umad.so"))),
             "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0:intercept_send=0"}
ONLY = sys.argv[3:]
PATIENCE_S = 40
TREE = ["pgft", "2", "4,4", "1,2", "1,1"]
SELF = "host-1-1"
HAS_REDIS = shutil.which("redis-server") and "define HAVE_HIREDIS 1" in open(BUILD + "/config.h").read()
STATUS = re.compile(rb"STATUS=(.*)")


def wait_until(true, seconds=PATIENCE_S):
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


class Rig:
    """A simulated fabric and an fmd at SELF."""

    def __init__(self, name, kind, conf):
        self.dir = os.path.join(FOLDER, name)
        os.makedirs(self.dir, exist_ok=True)
        self.net = os.path.join(self.dir, "net")
        with open(self.net, "w") as f:
            subprocess.run([BUILD + "/fmroute", "gen", *kind], stdout=f, check=True)
        self.names = {}
        for line in open(self.net):
            m = re.match(r'(Ca|Switch)\s+\d+\s+"([^"]+)"\s*#\s*"([^"]+)"', line)
            if m:
                self.names[m[3]] = m[1]
        self.hosts = [n for n, kind in self.names.items() if kind == "Ca"]
        self.conf = os.path.join(self.dir, "fmd.conf")
        self.started = []
        if "REDIS" in conf:
            with socket.create_server(("127.0.0.1", 0)) as s:
                self.redis_port = s.getsockname()[1]
            self.start_redis("first", "--port", str(self.redis_port))
        self.configure(conf.replace("REDIS", f"dist_redis = '{self.dir}/first.sock'"))
        self.env = {**os.environ, "FMSIM_SOCKET": os.path.join(self.dir, "fmsim.sock"),
                    "FMD_PLUGIN_PATH": BUILD + "/plugins/engines"}
        self.sim = subprocess.Popen([BUILD + "/fmsim", self.net], env=self.env, stdin=subprocess.DEVNULL,
                                    stdout=open(self.dir + "/sim.out", "w"), stderr=subprocess.STDOUT)
        assert wait_until(lambda: "fmsim: " in open(self.dir + "/sim.out").read()), "fmsim does not start"
        self.notify, self.systemd = {}, {}  # of each fmd: its socket, what it has said there last
        self.self = SELF if SELF in self.names else self.hosts[0]
        self.fmd = self.start(self.self, "state")
        up = lambda: "SUBNET UP" in open(self.dir + "/state.out").read()
        assert wait_until(up), "fmd does not come up: " + open(self.dir + "/state.out").read()

    def configure(self, text):
        with open(self.conf, "w") as f:
            f.write(text)

    def start(self, node, state):
        self.notify[state] = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify[state].bind(f"{self.dir}/{state}.notify")
        self.notify[state].setblocking(False)
        env = {**self.env, "FMSIM_NODE": node, **PRELOADED, "NOTIFY_SOCKET": f"{self.dir}/{state}.notify"}
        fmd = subprocess.Popen([BUILD + "/fmd", "--transport=umad", "--config=" + self.conf,
                                "--state-dir=" + os.path.join(self.dir, state)], env=env, stdin=subprocess.DEVNULL,
                               stdout=open(f"{self.dir}/{state}.out", "w"), stderr=subprocess.STDOUT)
        self.started.append(fmd)
        return fmd

    def start_redis(self, name, *options):
        path = os.path.join(self.dir, name)
        redis = subprocess.Popen(["redis-server", "--port", "0", "--bind", "127.0.0.1", "--unixsocket", path + ".sock",
                                  "--save", "", "--dir", self.dir, "--dbfilename", name + ".rdb",
                                  "--repl-diskless-sync-delay", "0", *options], stdin=subprocess.DEVNULL,
                                 stdout=open(path + ".out", "w"), stderr=subprocess.STDOUT)
        self.started.append(redis)
        assert wait_until(lambda: os.path.exists(path + ".sock")), f"{name} does not start"
        return redis

    def stop(self):
        for process in (*self.started, self.sim):
            process.send_signal(signal.SIGCONT)
            process.terminate()
        for process in (*self.started, self.sim):
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def tell(self, command):
        done = subprocess.run([BUILD + "/fmsim", "--tell", command], env=self.env, capture_output=True, text=True)
        assert done.returncode == 0, f"fmsim {command}: {done.stdout}{done.stderr}"
        return done.stdout

    def lost(self):
        """The pairs of hosts that packets do not get through between."""
        return {tuple(line.split()) for line in self.tell("lost").splitlines()}

    def is_whole(self):
        return all(a in self.away or b in self.away for a, b in self.lost())

    def ask(self, *command, timeout=30):
        """Its exit code, and its answer or None."""
        self.told_systemd()  # else its socket is full, and fmd waits
        done = subprocess.run([BUILD + "/fmctl", "--state-dir=" + os.path.join(self.dir, self.ruler), "--json",
                               *command], env=self.env, capture_output=True, text=True, timeout=timeout)
        try:
            return done.returncode, json.loads(done.stdout)
        except ValueError:
            return done.returncode, None

    ruler = "state"  # whose fmd is asked

    def told_systemd(self):
        for state, notify in self.notify.items():
            try:
                while True:
                    found = STATUS.search(notify.recv(8192))
                    if found:
                        self.systemd[state] = found[1].decode()
            except BlockingIOError:
                pass
        return self.systemd.get(self.ruler)


# ---------------------------------------------------------------------------------------- claims
# Each: (rig, is it well) -> what is wrong, None where what is said is so.

def say(said_well, is_well):
    return None if said_well == is_well else "WELL" if said_well else "ill"


def status(rig, well):
    _, s = rig.ask("status")
    return say(bool(s and s["converged"]), well)


def pairs(rig, well):
    _, s = rig.ask("status")
    if s is None or s["as_read"] is None or s["as_read"]["unreachable_pairs"] is None:
        return "ill" if well else None
    return say(s["as_read"]["unreachable_pairs"] == 0, rig.is_whole())


def trouble(rig, well):
    _, t = rig.ask("trouble")
    return say(bool(t and t["troubles"] == 0), well)


def verify(rig, well):
    code, _ = rig.ask("verify")
    return say(code == 0, well)


def readback(rig, well):
    for _ in range(100):
        code, v = rig.ask("verify", "readback=1")
        if v is None or v.get("state") not in ("reading", "judging"):
            break
    return say(code == 0, well)


def path(rig, well):
    """A path is shown where packets arrive, and nowhere else."""
    lost = rig.lost()
    for a in (rig.self, rig.asker):
        for b in rig.hosts:
            if a != b:
                code, p = rig.ask("path", a, b)
                if p is not None and p.get("in_doubt") is not None and not well:
                    continue  # it is not known, and that is said
                wrong = say(code == 0, not {a, b} & rig.away and (a, b) not in lost)
                if wrong:
                    return wrong
    return None


def sa(rig, well):
    """saquery of a host that is there, for the paths to all others."""
    lost = rig.lost()
    for h in rig.hosts:
        if h == rig.asker:
            continue
        env = {**rig.env, "FMSIM_NODE": rig.asker, **PRELOADED}
        done = subprocess.run(["saquery", "-p", "--slid", rig.lids[rig.asker], "--dlid", rig.lids[h]], env=env,
                              capture_output=True, text=True, timeout=60)
        wrong = say("PathRecord" in done.stdout, h not in rig.away and (rig.asker, h) not in lost)
        if wrong:
            return wrong
    return None


def dist(rig, well):
    code, d = rig.ask("dist")
    return say(bool(d and d.get("converged")) and code == 0, well)


def isolate(rig, well):
    """What isolating would do stands beside what is so already."""
    _, i = rig.ask("isolate", "switch:spine-1" if "spine-1" in rig.names else "switch:" + rig.a_switch)
    return say(bool(i and i.get("converged")), well)


def systemd(rig, well):
    line = rig.told_systemd()
    return say(bool(line and "converged" in line), well) if line is not None or not well else None


CLAIMS = [status, trouble, pairs, verify, readback, path, sa, dist, isolate, systemd]


# ---------------------------------------------------------------------------------------- faults
# Each: NAME, the fabric, the configuration, what is done, hosts that are away then, is it well in
# the end: of all claims, or all but these.

def tells(*commands):
    def act(rig):
        for c in commands:
            rig.tell(c)
    return act


def gone(*hosts):
    return set(hosts)


def reloads(conf, *then):
    def act(rig):
        rig.configure(conf)
        subprocess.run([BUILD + "/fmctl", "--state-dir=" + os.path.join(rig.dir, "state"), "reload", "--yes", "--wait"],
                       env=rig.env, capture_output=True, timeout=60)
        for c in then:
            rig.tell(c)
    return act


def loses_requests(rig):
    rig.tell("loss 5%")
    rig.tell("unlink leaf-2[5]")
    assert wait_until(lambda: status(rig, True) is None), "not well with requests lost"
    rig.tell("loss 0%")


def isolates(rig):
    subprocess.run([BUILD + "/fmctl", "--state-dir=" + os.path.join(rig.dir, "state"), "isolate", "link:leaf-2:5",
                    "--yes", "--wait"], env=rig.env, capture_output=True, check=True, timeout=60)


def loses_relay(rig):
    """Of the Redis that fmd publishes to a relay."""
    relay = rig.start_redis("relay", "--replicaof", "127.0.0.1", str(rig.redis_port))

    def follows():
        _, d = rig.ask("dist")
        return d and [f["state"] for f in d["places"][0].get("followers", [])] == ["following"]

    assert wait_until(follows), "fmd does not see the relay"
    assert not any(claim(rig, True) for claim in (dist, trouble)), "not well with the relay"
    relay.kill()
    relay.wait()


def overwrites(rig):
    """A program on a host writes over the table of a spine, which is whole again within a turn."""
    env = {**rig.env, "FMSIM_NODE": "host-2-1", **PRELOADED}
    subprocess.run([BUILD + "/tests/integration/overwrite", "1,5", "1", "255"], env=env, check=True, timeout=60)
    assert not rig.is_whole(), "an empty spine carries all"
    assert wait_until(rig.is_whole, 15), "the spine's table is not written again"


def takes_guid(rig):
    """host-3-2 comes up with the GUIDs of host-2-2, which is there."""
    guid = re.search(r" (0x[0-9a-f]{16})", rig.tell("dump host-2-2"))[1]
    rig.tell(f"guid host-3-2 {guid}")
    rig.tell(f"guid host-3-2[1] {guid}")
    rig.tell("flap host-3-2[1] for 200ms")


def second_rules(*then, stop=None):
    """A second fmd takes over when this has come to the first."""
    def act(rig):
        rig.start("host-2-1", "second")
        assert wait_until(lambda: "standing by" in open(rig.dir + "/second.out").read()), "no standby"
        if stop is not None:
            rig.fmd.send_signal(stop)
        for c in then:
            rig.tell(c)
        rig.ruler = "second"
    return act


CHAIN = 'chain = { "torus2qos" }\nfallback = no\n'
REGIONS = 'region east { switches = { "leaf-[12]", "spine-*" } }\nregion west { switches = { "leaf-[34]" } }\n'
POLL = "sminfo_polling_timeout = 300ms\npolling_retry_number = 4\n"
FAULTS = [
    ("nothing", TREE, "", tells(), gone(), True),
    ("cable lost", TREE, "", tells("unlink leaf-2[5]"), gone(), True),
    ("cable lost and back", TREE, "", tells("unlink leaf-2[5]", "relink leaf-2[5]"), gone(), True),
    ("cable slower", TREE, "", tells("rate leaf-2[5] 1xQDR"), gone(), True),
    ("host's cable lost", TREE, "", tells("unlink host-3-2[1]"), gone("host-3-2"), True),
    ("link down at host", TREE, "", tells("flap host-3-2[1] for 200ms"), gone(), True),
    ("host rebooted", TREE, "", tells("reboot host-3-2 for 200ms"), gone(), True),
    ("leaf lost", TREE, "", tells("unlink leaf-4[5]", "unlink leaf-4[6]"),
     gone("host-4-1", "host-4-2", "host-4-3", "host-4-4"), True),
    ("spine lost", TREE, "", tells(*(f"unlink spine-2[{p}]" for p in (1, 2, 3, 4))), gone(), True),
    ("spine rebooted", TREE, "", tells("reboot spine-2 for 200ms"), gone(), True),
    ("requests lost", TREE, "", loses_requests, gone(), True),
    ("cable isolated", TREE, "", isolates, gone(), True),
    ("regions, gateway lost", TREE, "REGIONS", tells("unlink leaf-3[5]"), gone(), True),
    ("chain reloaded", TREE, "", reloads('chain = { "updn" }\n'), gone(), True),
    ("no engine fits", TREE, "", reloads(CHAIN), gone(), False),
    ("no engine fits, cable lost", TREE, "", reloads(CHAIN, "unlink leaf-2[5]"), gone(), False),
    ("no engine fits, host lost", TREE, "", reloads(CHAIN, "unlink host-3-2[1]"), gone("host-3-2"), False),
    ("other tables wait", ["torus", "4x4", "1"], 'chain = { "updn" }\n', reloads('chain = { "nue" }\n'), gone(), False),
    ("silent host", TREE, "", tells("silence host-3-2", "flap host-3-2[1] for 100ms"), gone("host-3-2"), False),
    ("silent spine", TREE, "", tells("silence spine-2"), gone(), False),
    ("own cable out", TREE, "", tells(f"unlink {SELF}[1]"), None, False),
    ("tables overwritten", TREE, "audit = 10s\n", overwrites, gone(), True),
    ("Sets refused", TREE, "", tells("refuse leaf-2", "unlink leaf-2[5]"), gone(), False),
    ("Sets refused by all", TREE, "", tells(*(f"refuse {n}-{i}" for n, m in (("leaf", 4), ("spine", 2))
                                            for i in range(1, m + 1)), "unlink leaf-2[5]"), gone(), False),
    ("twin GUID", TREE, "", takes_guid, gone("host-3-2"), False),
    ("host without power", TREE, "", tells("reboot host-3-2 for 600s"), gone("host-3-2"), True),
    ("silent master", TREE, POLL, second_rules(stop=signal.SIGSTOP), gone(), True),
    ("master killed", TREE, POLL, second_rules(stop=signal.SIGKILL), gone(), True),
    ("master's cable out", TREE, POLL, second_rules(f"unlink {SELF}[1]"), gone(SELF), True),
    ("relay dead", TREE, "REDIS", loses_relay, gone(), {"dist", "trouble"}),
]


def lids_of(rig):
    return {h: re.search(r" lid (\d+) ", rig.tell(f"dump {h}"))[1] for h in rig.hosts}


def row(n, name, kind, conf, act, away, well):
    rig = Rig(f"{n}", kind, conf.replace("REGIONS", REGIONS))
    is_well = {c: well if isinstance(well, bool) else c.__name__ not in well for c in CLAIMS}
    rig.a_switch = next(x for x, k in rig.names.items() if k == "Switch")
    try:
        rig.lids, rig.away = lids_of(rig), set() if away is None else away
        rig.asker = next(h for h in reversed(rig.hosts) if h not in rig.away and h != rig.self)
        assert wait_until(lambda: status(rig, True) is None), f"{name}: not well before the fault"
        act(rig)
        if away is None:
            rig.away = set(rig.hosts)
        cells, todo = {}, list(CLAIMS)
        end = time.monotonic() + PATIENCE_S
        while todo:
            for claim in list(todo):
                if claim is sa and away is None:
                    wrong = None  # nobody reaches it
                else:
                    wrong = claim(rig, is_well[claim])
                cells[claim.__name__] = wrong
                if wrong is None:
                    todo.remove(claim)
            if time.monotonic() > end:
                break
            time.sleep(0.2)
        # What was right while the fault was mended is to be so in the end.  The trap of a cable's
        # other end may come only now: while fmd looks there once more, it does not say that all is well.
        for claim in CLAIMS:
            if not (claim is sa and away is None):
                is_so = wait_until(lambda c=claim: c(rig, is_well[c]) is None, 3)
                cells[claim.__name__] = None if is_so else claim(rig, is_well[claim])
    finally:
        rig.stop()
    return cells


def main():
    red = 0
    print(f"{'':28}" + " ".join(f"{c.__name__:>8}" for c in CLAIMS))
    for n, fault in enumerate(FAULTS):
        name = fault[0]
        if ONLY and name not in ONLY:
            continue
        if "REDIS" in fault[2] and not HAS_REDIS:
            print(f"{name:28} Redis is absent")
            continue
        try:
            cells = row(n, *fault)
        except AssertionError as e:
            print(f"{name:28} {e}")
            red += 1
            continue
        shown = []
        for c in CLAIMS:
            wrong = cells[c.__name__]
            shown.append(wrong or "so")
            red += wrong is not None
        print(f"{name:28}" + " ".join(f"{s:>8}" for s in shown), flush=True)
    print(f"{red} cells are wrong")
    sys.exit(red > 0)


main()
