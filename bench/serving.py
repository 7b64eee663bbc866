# SPDX-License-Identifier: MIT
"""Measures a server from outside: its processor time per request, under a load from another core.

A server is a program that prints "ready PORT" and serves until it is killed; nginx is the one that has to be asked otherwise. It
runs on the first core that there is, and whoever loads it, wrk or the program ping, on the last.
"""
import os
import re
import select
import socket
import subprocess
import tempfile
import time

CONNECTIONS = 64
SECONDS = 5
WARM_S = 1
READY_S = 20
SIZES = {"64": 64, "16k": 16384}

NGINX = """
daemon off;
master_process off;
worker_processes 1;
pid {folder}/pid;
error_log stderr crit;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 1000000000;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port};
        location / {{ default_type text/plain; return 200 "Hello, world!"; }}
    }}
}}
"""


class Failed(Exception):
    """Why there is no figure."""


class Server:
    """A server that runs, pinned to its core, for as long as the block."""

    def __init__(self, path, name, environment):
        self.path, self.name, self.environment = path, name, environment
        self.is_nginx = os.path.basename(path) == "nginx"

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory()
        command = self.nginx_command() if self.is_nginx else [self.path, self.name]
        self.process = subprocess.Popen(command, env=self.environment, stdout=subprocess.PIPE, text=True,
                                        preexec_fn=lambda: os.sched_setaffinity(0, {cores()[0]}))
        try:
            self.port = self.await_nginx() if self.is_nginx else self.await_word()
        except Failed:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.folder.cleanup()

    def nginx_command(self):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.free_port = probe.getsockname()[1]
        configuration = os.path.join(self.folder.name, "conf")
        with open(configuration, "w", encoding="ascii") as file:
            file.write(NGINX.format(folder=self.folder.name, port=self.free_port))
        return [self.path, "-p", self.folder.name, "-e", "stderr", "-c", configuration]

    def await_nginx(self):
        limit = time.monotonic() + READY_S
        while time.monotonic() < limit and self.process.poll() is None:
            try:
                socket.create_connection(("127.0.0.1", self.free_port), timeout=1).close()
                return self.free_port
            except OSError:
                time.sleep(0.02)
        raise Failed("did not become ready")

    def await_word(self):
        ready, _, _ = select.select([self.process.stdout], [], [], READY_S)
        words = self.process.stdout.readline().split() if ready else []
        if len(words) != 2 or words[0] != "ready":
            raise Failed("did not become ready")
        return int(words[1])

    def cpu_us(self):
        """Processor time of all its threads, those that have ended included."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1e6 / os.sysconf("SC_CLK_TCK")

    def resident_mb(self):
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def cores():
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


def run_client(command, seconds):
    answer = subprocess.run(command, capture_output=True, text=True, check=False, timeout=seconds + 60,
                            preexec_fn=lambda: os.sched_setaffinity(0, {cores()[1]}))
    if answer.returncode != 0:
        raise Failed(f"{os.path.basename(command[0])}: {answer.stderr.strip() or answer.stdout.strip()}")
    return answer.stdout


def hello(path, name, environment, seconds):
    """Rows by their last word: (value, unit)."""
    with Server(path, name, environment) as server:
        ask = lambda s: run_client(["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{s}s", "--latency",  # noqa: E731
                                    f"http://127.0.0.1:{server.port}/"], s)
        ask(WARM_S)
        before = server.cpu_us()
        told = ask(seconds)
        cpu = server.cpu_us() - before
        memory = server.resident_mb()
    requests = re.search(r"(\d+) requests in", told)
    latency = re.search(r"99%\s+([\d.]+)(us|ms|s)\b", told)
    if not requests or not latency or int(requests[1]) == 0 or "Non-2xx" in told or "Socket errors" in told:
        raise Failed("wrk says:\n" + told)
    unit_us = {"us": 1, "ms": 1e3, "s": 1e6}[latency[2]]
    return {"cpu": (cpu / int(requests[1]), "us"), "p99": (float(latency[1]) * unit_us, "us"),
            "memory": (memory, "MB"), "rps": (float(re.search(r"Requests/sec:\s+([\d.]+)", told)[1]), "1/s")}


def echo(path, ping, environment, size, seconds):
    """(value, unit): processor time of the server for one message there and back."""
    with Server(path, "echo", environment) as server:
        ask = lambda s: run_client([ping, str(server.port), str(SIZES[size]), str(s),  # noqa: E731
                                    str(CONNECTIONS)], s)
        ask(WARM_S)
        before = server.cpu_us()
        rounds = int(ask(seconds).split()[0])
        return (server.cpu_us() - before) / rounds, "us"
