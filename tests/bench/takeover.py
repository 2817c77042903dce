"""dev/bench --takeover: from the death of a master to the first path that the standby's SA tells, two fmd on fmsim.

A host asks the standby's SA, one sa_ask after the other.  The master dies in each of the ways that there are, at whatever moment
between two polls.
"""
import os
import random
import signal
import statistics
import subprocess
import time

import storm

ASK_S = 0.04  # one that is not answered is given up
CAP_S = 60
WORDS = {False: "pgft 2 18,36 1,18 1,1", True: "pgft 2 4,4 1,4 1,1"}
POLLS = (("300ms", 4), (None, None))  # None: the defaults
RUNS = 5
MASTER, STANDBY, ASKER = "host-1-1", "host-2-2", "host-3-3"


class Pair:
    def __init__(self, bench, fabric, every, times):
        self.bench, self.dir = bench, bench.work
        self.env = dict(os.environ, FMSIM_SOCKET=os.path.join(self.dir, "takeover.sock"))
        self.preload = os.path.join(bench.build, ".libs/libfmsim-umad.so")
        self.polls = f"sminfo_polling_timeout = {every}\npolling_retry_number = {times}\n" if every else ""
        self.children = []
        self.start([os.path.join(bench.build, "fmsim"), fabric + storm.KERNEL_QUEUE], "sim", self.env)
        self.wait_for("sim", "fmsim: ")
        self.master = self.fmd(MASTER, 5)
        self.wait_for(MASTER, "SUBNET UP")
        self.standby = self.fmd(STANDBY, 3)
        self.wait_for(STANDBY, "standing by")

    def start(self, command, name, env):
        with open(os.path.join(self.dir, name), "w") as f:
            child = subprocess.Popen(command, env=env, stdout=f, stderr=f, stdin=subprocess.DEVNULL)
        self.children.append(child)
        return child

    def fmd(self, host, priority):
        conf = os.path.join(self.dir, host + ".conf")
        with open(conf, "w") as f:
            f.write(f"sm_priority = {priority}\nsm_key = 0x5ec7e75ec7e75ec7\nsa_key = 0x77\n"
                    f"control_socket = '{self.dir}/{host}.sock'\n{self.polls}")
        os.chmod(conf, 0o600)
        env = dict(self.env, FMSIM_NODE=host, LD_PRELOAD=self.preload,
                   FMD_PLUGIN_PATH=os.path.join(self.bench.build, "plugins/engines"))
        return self.start([os.path.join(self.bench.build, "fmd"), "--transport=umad", f"--config={conf}", "--engine=fattree",
                           f"--state-dir={self.dir}/{host}.state"], host, env)

    def wait_for(self, name, words):
        deadline = time.time() + CAP_S
        while words not in open(os.path.join(self.dir, name), errors="replace").read():
            if time.time() > deadline:
                raise SystemExit(f"takeover: {name} does not say \"{words}\"")
            time.sleep(0.02)

    def tell(self, *words):
        return subprocess.run([os.path.join(self.bench.build, "fmsim"), "--tell", " ".join(words)], env=self.env,
                              capture_output=True, text=True).stdout

    def lid(self, node):
        words = self.tell("dump", node).split()
        return words[words.index("lid") + 1]

    def first_path(self, start):
        """Seconds from start to the first path, None: there was none."""
        env = dict(self.env, FMSIM_NODE=ASKER, LD_PRELOAD=self.preload)
        ask = [os.path.join(self.bench.build, "tests/integration/sa_ask"), self.lid(STANDBY), "get", "slid=" + self.lid(ASKER),
               "dlid=" + self.lid("host-4-4")]
        while time.time() < start + CAP_S:
            try:
                if "PathRecord dump" in subprocess.run(ask, env=env, capture_output=True, text=True, timeout=ASK_S).stdout:
                    return time.time() - start
            except subprocess.TimeoutExpired:
                pass
        return None

    def stop(self):
        for child in reversed(self.children):
            child.kill()
            child.wait()


def killed(pair):
    pair.master.kill()


def stopped(pair):
    pair.master.send_signal(signal.SIGSTOP)


def cable(pair):
    pair.tell("unlink", MASTER + "[1]")


def power(pair):
    pair.tell("reboot", MASTER, "for 10000s")
    pair.master.kill()


def silent(pair):
    pair.tell("silence", MASTER)
    pair.master.send_signal(signal.SIGSTOP)


DEATHS = (("kill -9", killed), ("SIGSTOP", stopped), ("cable pulled", cable), ("no power", power),
          ("silent host, its link up", silent))


class Takeover:
    def __init__(self, bench):
        self.bench = bench
        self.words = WORDS[bench.args.quick]

    def measure(self, fabric, every, times, death):
        pair = Pair(self.bench, fabric, every, times)
        try:
            time.sleep(3 + random.random())  # what the start has set off is over
            start = time.time()
            death(pair)
            return pair.first_path(start)
        finally:
            pair.stop()
            subprocess.run(["rm", "-rf"] + [os.path.join(self.bench.work, h + ".state") for h in (MASTER, STANDBY)])

    def run(self):
        say = self.bench.say
        say("\n## Take-over, on fmsim\n")
        say(f"{self.words}; from the death of the master to the first path that the standby's SA tells a host that asks again and "
            "again; s.\n")
        say("| polls | death of the master | runs | p50 s | most s |")
        say("|---|---|--:|--:|--:|")
        fabric = os.path.join(self.bench.work, "takeover.net")
        with open(fabric, "w") as f:
            subprocess.run([os.path.join(self.bench.build, "fmroute"), "gen", *self.words.split()], stdout=f, check=True)
        for every, times in POLLS:
            for name, death in DEATHS:
                took = [self.measure(fabric, every, times, death) or CAP_S for _ in range(RUNS)]
                polls = f"{every} x {times}" if every else "default"
                say(f"| {polls} | {name} | {len(took)} | {statistics.median(took):.2f} | {max(took):.2f} |")
