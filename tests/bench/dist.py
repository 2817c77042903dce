"""dev/bench --dist: paths where they are used: how fast stock ibacm answers a host, on fmsim.

acm_rate.sh brings all up: fmd, what it publishes, fmd-agent, ibacm with libfmdacm.so.  Goals: from the file 99 of 100
within 150 us, 10,000 a second.
"""
import os
import re
import subprocess

P99_US, PER_SECOND = 150, 10000
PROGRAMS = ("tests/integration/acm_probe", "tests/integration/verbs_shim.la")
LINE = re.compile(r"(\w+) (\w+) (\d+) a second, p50 ([\d.]+) us, p99 ([\d.]+) us, (\d+) failed")


class Dist:
    def __init__(self, bench):
        self.bench = bench
        self.words = "pgft 2 8,9 1,8 1,1" if bench.args.quick else "pgft 2 18,36 1,18 1,1"

    def run(self):
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
