"""dev/bench --dist: paths where they are used: how fast stock ibacm answers a host, on fmsim, and how fast hosts hear of changes.

acm_rate.sh brings all up: fmd, what it publishes, fmd-agent, ibacm with libfmdacm.so.  Goals: from the file 99 of 100
within 150 us, 10,000 a second.  dist_chain.c publishes to the first of three Redis servers in a chain and follows the last.
dist_agents.sh kills one of two relays that real agents follow.
"""
import os
import re
import shutil
import subprocess
import tempfile
import time

P99_US, PER_SECOND = 150, 10000
PROGRAMS = ("tests/integration/acm_probe", "tests/integration/verbs_shim.la")
CHAIN = 3
# What dist_chain prints, and its goal in ms.
GOALS = (("57 MB at the last", 1000), ("1000 followers fetch", 3000), ("last of 100,", 25), ("last of 4000,", 500))
AGENTS, BACK_S, MEMORY_KB = 100, 12, 4096  # 2 s, and a jitter of up to 10 s
KILLED = re.compile(r"moved (\d+), back (\d+), first ([\d.]+) s, median ([\d.]+) s, last ([\d.]+) s, whole again (-?\d+)\nmemory (\d+) kB")
LINE = re.compile(r"(\w+) (\w+) (\d+) a second, p50 ([\d.]+) us, p99 ([\d.]+) us, (\d+) failed")


class Dist:
    def __init__(self, bench):
        self.bench = bench
        self.words = "pgft 2 8,9 1,8 1,1" if bench.args.quick else "pgft 2 18,36 1,18 1,1"

    def run(self):
        self.run_hosts()
        self.run_chain()
        self.run_agents()

    def start_redis(self, folder, i, base):
        socket = os.path.join(folder, f"{i}.sock")
        words = ["redis-server", os.path.join(self.bench.top, "conf/redis-fmd.conf"), "--unixsocket", socket, "--dir", folder,
                 "--bind", "127.0.0.1", "--port", str(base + i), "--protected-mode", "no", "--logfile", os.path.join(folder, f"{i}.log")]
        words += ["--replicaof", "127.0.0.1", str(base + i - 1)] if i > 0 else []
        server = subprocess.Popen(words, stdout=subprocess.DEVNULL)
        while not os.path.exists(socket):
            time.sleep(0.05)
            if server.poll() is not None:
                raise SystemExit(f"redis-server ends: {open(os.path.join(folder, f'{i}.log')).read()}")
        return server, socket

    def run_chain(self):
        """57 MB and then epochs through a chain of Redis servers of this host."""
        say = self.bench.say
        if shutil.which("redis-server") is None:
            say("redis-server is absent: no chain is measured")
            return
        subprocess.run(["make", "-s", "-C", self.bench.build, "tests/bench/dist_chain"], check=True)
        servers = []
        with tempfile.TemporaryDirectory() as folder:
            try:
                for i in range(CHAIN):
                    servers.append(self.start_redis(folder, i, 20000 + os.getpid() % 20000))
                time.sleep(2)  # each has its master's data, which is none
                program = os.path.join(self.bench.build, "tests/bench/dist_chain")
                r = subprocess.run([program, servers[0][1], servers[-1][1]], capture_output=True, text=True, timeout=300)
            finally:
                for server, _ in servers:
                    server.terminate()
                    server.wait()
        if r.returncode != 0:
            raise SystemExit(f"dist_chain: exit code {r.returncode}\n{r.stdout}{r.stderr}")
        say(f"\nOver a chain of {CHAIN} Redis servers, publisher, servers and followers on this host:\n\n```\n{r.stdout.rstrip()}\n```\n")
        say("| goal | ms | |\n|---|--:|---|")
        for line in r.stdout.splitlines():
            ms = float(line.split()[-2])
            for words, most in GOALS:
                if words in line:
                    say(f"| {words.rstrip(',')}: {most} ms | {ms:,.1f} | {'reached' if ms <= most else '**missed**'} |")

    def run_agents(self):
        """One of two relays is killed, under an event every half second."""
        say = self.bench.say
        script = os.path.join(self.bench.top, "tests/bench/dist_agents.sh")
        words = ["pgft", "2", "18,36", "1,18", "1,1"]
        r = subprocess.run(["bash", script, str(AGENTS), *words], cwd=self.bench.build, capture_output=True, text=True)
        if r.returncode == 77:
            say(r.stdout.strip())
            return
        found = KILLED.search(r.stdout)
        if r.returncode != 0 or found is None:
            raise SystemExit(f"dist_agents.sh: exit code {r.returncode}\n{r.stdout}{r.stderr}")
        moved, back, first, median, last, again, memory = found.groups()
        say(f"\n{AGENTS} fmd-agent at two relays of one Redis, ft-648, an event every half second; a relay is killed (SIGKILL):\n")
        say("| what | | goal | |\n|---|--:|--:|---|")
        for what, value, goal, reached in (
            ("agents of it that are back", f"{back} of {moved}", "all", int(back) == int(moved)),
            ("after s: first, median, last", f"{first}, {median}, {last}", BACK_S, float(last) <= BACK_S),
            ("fetched everything again", again, 0, again == "0"),
            ("most memory of an agent, kB", memory, MEMORY_KB, int(memory) <= MEMORY_KB),
        ):
            say(f"| {what} | {value} | {goal} | {'reached' if reached else '**missed**'} |")

    def run_hosts(self):
        say = self.bench.say
        subprocess.run(["make", "-s", "-C", self.bench.build, *PROGRAMS], check=True)
        script = os.path.join(self.bench.top, "tests/bench/acm_rate.sh")
        r = subprocess.run(["bash", script, *self.words.split()], cwd=self.bench.build, capture_output=True, text=True)
        say("\n## Paths on a host\n")
        if r.returncode == 77:
            say(r.stdout.strip())
            return
        if r.returncode != 0:
            raise SystemExit(f"acm_rate.sh: exit code {r.returncode}\n{r.stdout}{r.stderr}")
        say(f"Stock ibacm with libfmdacm.so on a host of {self.words}, asked one path after the other; netlink in the place of the "
            "kernel's.\n")
        say("| answered by | way | a second | p50 us | p99 us | goal |")
        say("|---|---|--:|--:|--:|---|")
        for by, way, rate, p50, p99, failed in LINE.findall(r.stdout):
            reached = int(rate) >= PER_SECOND and float(p99) <= P99_US and failed == "0"
            verdict = ("reached" if reached else "**missed**") if by == "found" else ""
            say(f"| {'the file' if by == 'found' else 'the SA'} | {way} | {int(rate):,} | {p50} | {p99} | {verdict} |")
        say("\n" + r.stdout.strip().splitlines()[-1])
