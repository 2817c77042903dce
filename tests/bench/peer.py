"""OpenSM's routing engines on ibsim, and referees for anyone's tables.

A run ends when the routes are computed: an event plugin (osm_tables.c) writes
forwarding tables, SLs and SL2VL maps and leaves.  Its route time is the
interval between two lines of OpenSM's own log (-D 0x07):

    ucast_mgr_route: building routing with 'E' routing algorithm...
    osm_ucast_mgr_process: E tables configured on all switches

that is hop matrices, tables and putting their blocks into the send queue.
"""
import datetime
import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import time

STAMP = re.compile(r"^(\w{3} \d+ \d\d:\d\d:\d\d) (\d{6}) ", re.M)
BEGIN, END = "ucast_mgr_route: building routing", "tables configured on all switches"
FAILED = re.compile(r"cannot build|routing engine failed|Failed to (?:setup|load|configure)")


def stamp(line):
    day, micro = STAMP.match(line).groups()
    return datetime.datetime.strptime("2000 " + day, "%Y %b %d %H:%M:%S").timestamp() + int(micro) / 1e6


class Log:
    """OpenSM's log as it grows: when routing began, how long it took, why it failed."""

    def __init__(self, path):
        self.path, self.at, self.rest = path, 0, b""
        self.begun = self.seconds = self.sentence = self.error = None

    def read(self):
        try:
            with open(self.path, "rb") as f:
                f.seek(self.at)
                text = f.read()
        except OSError:
            return
        self.at += len(text)
        lines = (self.rest + text).split(b"\n")
        self.rest = lines.pop()
        for line in lines:
            if b"ucast_mgr" in line or b"ERR" in line or b"disabling" in line or b"cannot" in line or b"ailed" in line:
                self.take(line.decode(errors="replace"))

    def take(self, line):
        if not STAMP.match(line) or self.seconds is not None or self.sentence:
            return
        words = re.sub(r"^.*?-> ", "", line).strip()
        if BEGIN in line:
            if self.begun is not None:  # a second attempt
                self.sentence = self.error or "it gives no reason"
            self.begun = stamp(line)
        elif self.begun is None:
            return
        elif END in line:
            self.seconds = stamp(line) - self.begun
        elif "ERR" in line or "disabling" in line:
            self.error = self.error or words
        elif FAILED.search(line):
            self.sentence = self.error or words


class Peer:
    def __init__(self, bench, cap_s):
        self.bench, self.cap_s = bench, cap_s
        self.plugin_dir = os.path.join(bench.build, "tests/bench")
        self.why_not = self.compile()

    def compile(self):
        if not (self.bench.umad2sim and shutil.which("opensm") and shutil.which("ibsim")):
            return "opensm or ibsim is not installed (dev/install run bench)"
        done = subprocess.run(
            ["cc", "-O2", "-shared", "-fPIC", "-I/usr/include/infiniband", "-o",
             os.path.join(self.plugin_dir, "libosmtables.so"),
             os.path.join(os.path.dirname(os.path.abspath(__file__)), "osm_tables.c")],
            capture_output=True, text=True)
        if done.returncode != 0:
            return "the plugin of OpenSM does not compile (libopensm-dev): " + done.stderr.strip().split("\n")[0]
        return None

    # ---- one run

    def run(self, fabric, arguments, judge):
        """The cached or fresh result of one engine; judge(seen, tables) gives the figures of its tables."""
        key = hashlib.sha256(open(fabric, "rb").read())
        key.update(repr([a if not a.startswith("/") else open(a).read() for a in arguments]).encode())
        path = os.path.join(self.bench.cache, "engine-" + key.hexdigest()[:24] + ".json")
        if os.path.exists(path) and self.bench.args.peer != "fresh":
            return json.load(open(path))
        for _ in range(2):  # on ibsim OpenSM sometimes waits for ever for its first answers
            result = self.run_fresh(fabric, arguments, judge)
            if not result.get("stuck"):
                break
        if not result.get("stuck"):  # then the next run tries again
            with open(path, "w") as f:
                json.dump(result, f)
        return result

    def run_fresh(self, fabric, arguments, judge):
        folder = os.path.join(self.bench.work, "osm")
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        with open(os.path.join(folder, "conf"), "w") as f:
            f.write("event_plugin_name osmtables\nmax_wire_smps 64\nforce_log_flush TRUE\n")
        port = 21000 + (os.getpid() * 7 + 13) % 20000
        env = dict(os.environ, IBSIM_SERVER_PORT=str(port))
        sim = self.bench.ibsim(fabric, port)
        env.update(SIM_HOST=self.bench.first_host(fabric), LD_PRELOAD=self.bench.umad2sim,
                   LD_LIBRARY_PATH=self.plugin_dir, OSM_TABLES_DIR=folder, OSM_TMP_DIR=folder, OSM_CACHE_DIR=folder)
        command = ["opensm", "-F", os.path.join(folder, "conf"), "-D", "0x07", "-f", os.path.join(folder, "log"),
                   *arguments]
        child = subprocess.Popen(command, env=env, cwd=folder, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            result = self.wait(child.pid, folder, 60 + os.path.getsize(fabric) / 40000)
        finally:
            sim.stdin.close()
            sim.terminate()
            sim.wait()
        if os.path.exists(os.path.join(folder, "done")):
            result.update(judge(self.with_lids(fabric, folder), folder))
        shutil.rmtree(folder, ignore_errors=True)
        return result

    def wait(self, pid, folder, discovery_s):
        """Until it leaves, fails, or has routed longer than the cap."""
        start, begun, rss_kb, log = time.time(), None, 0, Log(os.path.join(folder, "log"))
        while True:
            rss_kb = max(rss_kb, self.peak_kb(pid))
            done, _, _ = os.wait4(pid, os.WNOHANG)
            log.read()
            begun = begun or (time.time() if log.begun else None)
            limit = discovery_s if not begun else self.cap_s if log.seconds is None else self.cap_s + 120
            late = time.time() - (begun or start) > limit
            if not done and (log.sentence or late):
                os.kill(pid, signal.SIGKILL)
                os.wait4(pid, 0)
            if done or log.sentence or late:
                break
            time.sleep(0.05)
        result = {"rss_mb": rss_kb / 1024}
        if log.seconds is not None:
            result["route_s"] = log.seconds
        elif late and begun:
            result["over"] = True
        elif late:
            result.update(stuck=True, failed=f"it did not come to routing within {discovery_s:.0f} s")
        else:
            result["failed"] = log.sentence or log.error or "it ended without routes"
        return result

    @staticmethod
    def peak_kb(pid):
        try:
            for line in open(f"/proc/{pid}/status"):
                if line.startswith("VmHWM"):
                    return int(line.split()[1])
        except OSError:
            pass
        return 0

    @staticmethod
    def with_lids(fabric, folder):
        """The fabric with the LIDs that OpenSM gave."""
        lids = {}
        for line in open(os.path.join(folder, "lids")):
            guid, lid, lmc = line.split()
            lids[int(guid, 16)] = f"lid {lid} lmc {lmc}"
        out, guid = os.path.join(folder, "seen.net"), 0
        with open(out, "w") as f:
            for line in open(fabric):
                named = re.match(r"(?:switch|ca|rt)guid=(0x[0-9a-f]+)", line)
                port = re.match(r"\[\d+\]\(([0-9a-f]+)\)", line)
                if named:
                    guid = int(named.group(1), 16)
                elif line.startswith("Switch"):
                    line = re.sub(r"lid \d+ lmc \d+", lids.get(guid, "lid 0 lmc 0"), line)
                elif port:
                    line = re.sub(r"lid \d+ lmc \d+", lids.get(int(port.group(1), 16), "lid 0 lmc 0"), line, count=1)
                f.write(line)
        return out


def hosts_alone(seen, folder):
    """The tables without the LIDs of switches: OpenSM's engines keep paths between hosts apart, no others."""
    switches = set()
    for line in open(seen):
        match = re.match(r"Switch.* lid (\d+) lmc", line)
        if match:
            switches.add(f"0x{int(match.group(1)):04x}")
    out = os.path.join(folder, "hosts")
    os.makedirs(out)
    for name in ("path-sl", "sl2vl"):
        if os.path.exists(os.path.join(folder, name)):
            os.link(os.path.join(folder, name), os.path.join(out, name))
    with open(os.path.join(folder, "lfts")) as f, open(os.path.join(out, "lfts"), "w") as g:
        g.writelines(line for line in f if line[:6] not in switches)
    return out


# ------------------------------------------------------------- the settings

def root_file(fabric, folder):
    """One root for up/down off trees: the first switch, as an administrator would have to."""
    path = os.path.join(folder, "root")
    for line in open(fabric):
        match = re.match(r"switchguid=(0x[0-9a-f]+)", line)
        if match:
            with open(path, "w") as f:
                f.write(match.group(1) + "\n")
            return path
    return None


def torus_conf(fabric, folder, dims):
    """torus-2QoS wants to be told size and directions."""
    guid, guids = None, {}
    for line in open(fabric):
        match = re.match(r"switchguid=(0x[0-9a-f]+)", line)
        if match:
            guid = match.group(1)
        match = re.match(r'Switch\s+\d+\s+"sw-([\d-]+)"', line)
        if match:
            guids[tuple(int(d) for d in match.group(1).split("-"))] = guid
    sides = [int(d) for d in dims.split("x")]
    zero = tuple(0 for _ in sides)
    path = os.path.join(folder, "torus-2QoS.conf")
    with open(path, "w") as f:
        f.write("torus " + " ".join(map(str, sides)) + "\n")
        for axis, name in enumerate("xyz"[:len(sides)]):
            ahead = tuple(1 if i == axis else 0 for i in range(len(sides)))
            f.write(f"{name}p_link {guids[zero]} {guids[ahead]}\n")
    return path


def settings(fabric, words, folder, is_small):
    """{engine of fmd: [(label, arguments of opensm)]} for this fabric; the best of several counts."""
    kind = words.split()[0]
    is_tree = kind in ("pgft", "director", "pods", "tree3") or kind.startswith("@")
    root = [] if is_tree else ["-a", root_file(fabric, folder)]
    found = {
        "minhop": [("minhop", ["-R", "minhop,no_fallback"])],
        "updn": [("updn", ["-R", "updn,no_fallback", *root])],
        "dnup": [("dnup", ["-R", "dnup,no_fallback"])],
        "fattree": [("ftree", ["-R", "ftree,no_fallback"])] if is_tree else [],
        "dor": [("dor", ["-R", "dor,no_fallback"])],
        "sssp": [("sssp", ["-R", "sssp,no_fallback"])],
        "dfsssp": [("dfsssp", ["-R", "dfsssp,no_fallback", "-Q"])],
        "lash": [("lash", ["-R", "lash,no_fallback", "-Q"])],
        "nue": [("nue", ["-R", "nue,no_fallback", "-Q", "--nue_max_num_vls", "8"])],
    }
    if is_small:
        found["minhop"].append(("minhop --scatter-ports 7", ["-R", "minhop,no_fallback", "--scatter-ports", "7"]))
        found["nue"].append(("nue, 1 VL", ["-R", "nue,no_fallback", "-Q", "--nue_max_num_vls", "1"]))
    if kind in ("torus", "mesh") and is_small:
        found["lash"].append(("lash --do_mesh_analysis", ["-R", "lash,no_fallback", "-Q", "--do_mesh_analysis"]))
    if kind == "torus" and len(words.split()[1].split("x")) == 3:
        conf = torus_conf(fabric, folder, words.split()[1])
        found["torus2qos"] = [("torus-2QoS", ["-R", "torus-2QoS,no_fallback", "-Q", "--torus_config", conf])]
    return found


# -------------------------------------------------------------- the referee

def ibdmchk(folder, timeout_s):
    """What ibdmchk says of credit loops in a dump of fmroute: "none", "found" or why it says nothing."""
    command = ["ibdmchk", "-s", "opensm-subnet.lst", "-f", "opensm.fdbs", "-m", "opensm.mcfdbs"]
    if os.path.exists(os.path.join(folder, "path-sl")) and os.path.getsize(os.path.join(folder, "path-sl")) > 0:
        command += ["-c", "path-sl", "-d", "sl2vl"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=timeout_s)
    except subprocess.TimeoutExpired:
        return f"> {timeout_s} s"
    except OSError:
        return "absent"
    text = done.stdout + done.stderr
    if re.search(r"no credit loops found", text):
        return "none"
    match = re.search(r"Found:?\s*(\d+) .*(?:credit|loop)|potential credit loop", text, re.I)
    return "found" if match or "credit loop" in text.lower() else "no answer"
