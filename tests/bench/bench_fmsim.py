"""A simulator for a bench: programs at its hosts, its console, and fmd with a copy of one another."""
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time

MAGIC, CONSOLE = 0x464d5302, 4  # lab/fmsim/umad_proto.h


class Fmsim:
    def __init__(self, bench, fabric):
        self.bench = bench
        self.dir = tempfile.mkdtemp(prefix="fmsim.", dir=bench.work)
        self.socket = os.path.join(self.dir, "sim")
        self.env = dict(os.environ, FMSIM_SOCKET=self.socket)
        self.children = []
        log = os.path.join(self.dir, "sim.log")
        self.start([os.path.join(bench.build, "fmsim"), fabric], log, self.env)
        self.wait_for(log, "fmsim: ", 60)

    def start(self, command, log, env, stdin=None):
        """A program; without a log its output is for us."""
        with open(log or os.devnull, "w") as out, open(stdin or os.devnull) as fed:
            child = subprocess.Popen(command, env=env, stdin=fed, stdout=out if log else subprocess.PIPE,
                                     stderr=out, text=True)
        self.children.append(child)
        return child

    def at(self, host, command, log, stdin=None, **env):
        """With UMAD_COUNT_FILE in env its MADs are counted there (umad_count.c)."""
        counter = [self.bench.counter] if "UMAD_COUNT_FILE" in env else []
        preload = ":".join([*counter, os.path.join(self.bench.build, ".libs/libfmsim-umad.so")])
        return self.start(command, log, dict(self.env, FMSIM_NODE=host, FMD_PLUGIN_PATH=os.path.join(self.bench.build, "plugins/engines"),
                                             LD_PRELOAD=preload, **env), stdin)

    def tell(self, command):
        """The console's answer, without a process for it."""
        with socket.socket(socket.AF_UNIX) as s:
            s.connect(self.socket)
            s.sendall(struct.pack("=III64s", MAGIC, CONSOLE, 0, b"") + command.encode() + b"\n")
            s.shutdown(socket.SHUT_WR)
            data = b""
            while (part := s.recv(1 << 16)):
                data += part
        error, _ = struct.unpack_from("=iI", data)
        text = data[8:].decode()
        if error or text.startswith("error:"):
            raise SystemExit(f"fmsim: {command}: {text.strip() or error}")
        return text

    def lid(self, node):
        return int(re.search(r" lid (\d+) ", self.tell(f"dump {node}")).group(1))

    def smps(self):
        """{attribute: [Gets, Sets]} that agents have handled."""
        return {int(a, 16): [int(gets), int(sets)] for a, gets, sets in
                re.findall(r"^(0x\w+) gets (\d+) sets (\d+)$", self.tell("smps"), re.M)}

    def ends(self):
        """({MasterSMLID: end ports}, how often hosts were asked to register again)."""
        text = self.tell("ends")
        return ({int(lid): int(n) for lid, n in re.findall(r"^smlid (\d+): (\d+)$", text, re.M)},
                int(re.search(r"^reregister: (\d+)$", text, re.M).group(1)))

    def inner_cable(self):
        """NODE[PORT] of a cable between two switches, at the leaf of the first host."""
        host = self.bench.first_host(self.fabric.path)
        leaf = re.search(r'\[1\] .* -- "([^"]+)"', self.tell(f"dump {host}")).group(1)
        ports = re.findall(r'\[(\d+)\] .* -- "(?!host)', self.tell(f"dump {leaf}"))
        return f"{leaf}[{ports[-1]}]"

    @staticmethod
    def wait_until(true, cap_s):
        deadline = time.time() + cap_s
        while not true():
            if time.time() > deadline:
                raise SystemExit("what is waited for does not come true")
            time.sleep(0.05)

    def wait_for(self, path, words, cap_s):
        self.wait_until(lambda: os.path.exists(path) and words in open(path, errors="replace").read(), cap_s)

    def stop(self, keep=False):
        for child in reversed(self.children):
            child.kill()
            child.wait()
            if child.stdout:
                child.stdout.close()
        if not keep:
            shutil.rmtree(self.dir, ignore_errors=True)


class Fmds(Fmsim):
    """fmd at several hosts; who stands by has a copy of who rules."""

    def __init__(self, bench, fabric_path, spec=""):
        super().__init__(bench, fabric_path + spec)
        self.guid = dict(re.findall(r'"(host-[\d-]+)"\[1\]\(([0-9a-f]+)\)', open(fabric_path).read()))
        self.log, self.sm = {}, {}

    def start_fmd(self, host, copy_from, more, **env):
        conf = os.path.join(self.dir, f"{host}.conf")
        with open(conf, "w") as f:
            f.write(f"sm_key = 0x5ec7e75ec7e75ec7\ncontrol_socket = '{self.dir}/{host}.sock'\n"
                    f"copy_socket = '{self.dir}/{host}.copy'\ncopy_from = '{copy_from}'\n{more}\n")
        os.chmod(conf, 0o600)
        self.log[host] = os.path.join(self.dir, f"{host}.log")
        self.sm[host] = self.at(host, [os.path.join(self.bench.build, "fmd"), "--transport=umad", f"--config={conf}", "--engine=fattree",
                                       f"--state-dir={self.dir}/{host}.state"], self.log[host], **env)

    def ha(self, host):
        done = subprocess.run([os.path.join(self.bench.build, "fmctl"), f"--socket={self.dir}/{host}.sock", "--json", "ha"],
                              capture_output=True, text=True)
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def in_sync(self, host):
        return self.ha(host).get("copy", {}).get("in_sync", False)

    # ---- hosts

    def member(self, group, host):
        return f"0:ff12401bffff0000{group:016x} 16:fe80000000000000{self.guid[host]:0>16}"

    def join_line(self, name, group, host):
        return f"{name}|2|0x38|0x130c7|0|0|0:{self.member(group, host)[2:]} 32:00000b1b 40:ffff 48:01"

    def leave_line(self, name, group, host):
        return f"{name}|0x15|0x38|0x10003|0|0|0:{self.member(group, host)[2:]} 48:01"

    def start_asker(self, host, sm, lines, window, ms, log=None):
        path = os.path.join(self.dir, "questions")
        if os.path.exists(path):
            os.unlink(path)  # another one may still read it
        with open(path, "w") as f:
            f.write("\n".join(lines) + "\n")
        return self.at(host, [os.path.join(self.bench.build, "tests/integration/sa_mads"), str(self.lid(sm)), "whole", str(ms), str(window)],
                       log, stdin=path)

    def members(self, host, sm):
        """All that the SA at sm tells the host: {(MGID, port GID)}."""
        child = self.start_asker(host, sm, ["m|0x12|0x38|0|1|0|"], 1, 60000)
        text = child.stdout.read().rstrip()
        child.wait()
        if "|" not in text or text.endswith("|-"):
            return set()
        data = bytes.fromhex(text.split("|")[1])
        step = int.from_bytes(data[44:46], "big") * 8
        return {(data[at:at + 16], data[at + 16:at + 32]) for at in range(56, len(data) - 51, step)} if step else set()
