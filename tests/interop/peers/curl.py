# SPDX-License-Identifier: MIT
"""curl talks to weft's server: curl.py BASE RENEWED FOLDER."""
import os
import subprocess
import sys
import zlib

BASE, RENEWED, FOLDER = sys.argv[1:4]
BIG_PATH, TEXT_PATH = os.path.join(FOLDER, "big"), os.path.join(FOLDER, "text")


def load(path):
    with open(path, "rb") as file:
        return file.read()


BIG, TEXT = load(BIG_PATH), load(TEXT_PATH)


def curl(*arguments):
    """What it prints of bodies, and what it tells of the conversation."""
    done = subprocess.run(["curl", "-q", "-sS", "-v", "--noproxy", "*", "--http1.1", "--max-time", "120", *arguments],
                          capture_output=True, check=False)
    told = done.stderr.decode("latin-1").replace("\r", "")
    if done.returncode != 0:
        raise AssertionError(f"status {done.returncode}: {told.strip().splitlines()[-1]}")
    return done.stdout, told


def same(got, wanted):
    if got != wanted:
        raise AssertionError(f"{str(got)[:60]}, not {str(wanted)[:60]}")


def told_of(told, *lines):
    """The lines of the conversation, upper or lower case, in any order."""
    for line in lines:
        if line.lower() not in told.lower():
            raise AssertionError(f"no \"{line}\"")


def connections(told):
    return told.count("* Connected to ")


def summed(length, body):
    return f"{length} {len(body)} {zlib.adler32(body)}".encode()


def keep_alive():
    first, _ = curl(BASE + "/accepted")
    body, told = curl(*[BASE + "/accepted"] * 5)
    same(body, str(int(first) + 1).encode() * 5)
    same(connections(told), 1)


def chunked_response():
    body, told = curl(BASE + "/chunked", BASE + "/chunked")
    told_of(told, "< Transfer-Encoding: chunked")
    same((body, connections(told)), (TEXT * 2, 1))


def chunked_request():
    body, told = curl("-H", "Transfer-Encoding: chunked", "--data-binary", "@" + TEXT_PATH, BASE + "/sum", BASE + "/sum")
    same((body, connections(told)), (summed(-1, TEXT) * 2, 1))


def gzipped():
    body, told = curl("--compressed", BASE + "/text", BASE + "/text")
    told_of(told, "< Content-Encoding: gzip", "< Vary: Accept-Encoding")
    same((body, connections(told)), (TEXT * 2, 1))
    packed, _ = curl("-H", "Accept-Encoding: gzip", BASE + "/text")
    same((len(packed) < len(TEXT) / 2, zlib.decompress(packed, 31)), (True, TEXT))
    body, told = curl(BASE + "/text")
    same((body, "content-encoding" in told.lower()), (TEXT, False))


def fields(told):
    """Those of the last answer, without what may differ: HEAD needs not tell of chunks that it does not send."""
    found = [line[2:].lower() for line in told.splitlines() if line.startswith("< ") and ":" in line]
    return sorted(field for field in found if not field.startswith(("date:", "transfer-encoding:")))


def gzip_head():
    """The header of HEAD is that of GET."""
    _, told = curl("--compressed", "-I", BASE + "/text", BASE + "/text")
    same(connections(told), 1)
    for path in ("/text", "/stream", "/pages/fetch.js"):
        _, told = curl("--compressed", "-I", BASE + path)
        _, other = curl("--compressed", BASE + path)
        same(fields(told), fields(other))


def gzip_in_pieces():
    body, told = curl("--compressed", BASE + "/stream", BASE + "/stream")
    told_of(told, "< Content-Encoding: gzip", "< Transfer-Encoding: chunked")
    same((body, connections(told)), (TEXT * 2, 1))


def gzip_file():
    """Packed as a whole, not packed as a range, and not sent again to whoever has it."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fetch.js")
    url, path = BASE + "/pages/fetch.js", os.path.join(FOLDER, "packed.tag")
    body, told = curl("--compressed", "--etag-save", path, url)
    told_of(told, "< Content-Encoding: gzip")
    same(body, load(script))
    body, told = curl("--compressed", "--etag-compare", path, url, url)
    told_of(told, "HTTP/1.1 304")
    same((body, connections(told)), (b"", 1))
    body, told = curl("--compressed", "-r", "100-199", url)
    told_of(told, "HTTP/1.1 206")
    same(body, load(script)[100:200])


def gzip_1_0():
    body, _ = curl("--http1.0", "--compressed", BASE + "/text")
    same(body, TEXT)


def range_206():
    body, told = curl("-r", "1000-1499", BASE + "/big", "--next", "-sS", "-r", "-500", BASE + "/big")
    told_of(told, "HTTP/1.1 206", f"< Content-Range: bytes 1000-1499/{len(BIG)}")
    same(body, BIG[1000:1500] + BIG[-500:])


def range_416():
    _, told = curl("-r", f"{len(BIG)}-", BASE + "/big")
    told_of(told, "HTTP/1.1 416", f"< Content-Range: bytes */{len(BIG)}")


def resumed():
    """A download that goes on where a part of it ended."""
    path = os.path.join(FOLDER, "resumed")
    with open(path, "wb") as file:
        file.write(BIG[:1000000])
    curl("-C", "-", "-o", path, BASE + "/big")
    same(load(path) == BIG, True)


def redirect(status, wanted):
    def case():
        body, told = curl("-L", "--data", "hello", f"{BASE}/redirect/{status}")
        told_of(told, f"HTTP/1.1 {status}")
        same((body, connections(told)), (wanted, 1))
        same(curl("-L", f"{BASE}/redirect/{status}")[0], b"GET 0")
    return case


def expect_100():
    body, told = curl("-H", "Expect: 100-continue", "--expect100-timeout", "100", "--data-binary", "@" + TEXT_PATH,
                      BASE + "/sum")
    told_of(told, "HTTP/1.1 100 Continue")
    same(body, summed(len(TEXT), TEXT))


def expect_refused():
    _, told = curl("-H", "Expect: 100-continue", "--expect100-timeout", "100", "--data-binary", "@" + BIG_PATH,
                   BASE + "/refused")
    told_of(told, "HTTP/1.1 403")
    same("100 Continue" in told, False)


def head():
    body, told = curl("-I", BASE + "/big", BASE + "/big")
    told_of(told, f"< Content-Length: {len(BIG)}")
    same(connections(told), 1)


def status_204():
    body, told = curl(BASE + "/nothing", BASE + "/nothing")
    told_of(told, "HTTP/1.1 204")
    same((body, connections(told)), (b"", 1))


def status_304():
    path = os.path.join(FOLDER, "tag")
    curl("-o", os.devnull, "--etag-save", path, BASE + "/big")
    body, told = curl("--etag-compare", path, BASE + "/big", BASE + "/big")
    told_of(told, "HTTP/1.1 304")
    same((body, connections(told)), (b"", 1))


def big_down():
    body, told = curl(BASE + "/big", BASE + "/big")
    same((body == BIG + BIG, connections(told)), (True, 1))


def big_up():
    body, told = curl("--data-binary", "@" + BIG_PATH, BASE + "/sum", BASE + "/sum")
    same((body, connections(told)), (summed(len(BIG), BIG) * 2, 1))


def big_put():
    body, _ = curl("-T", BIG_PATH, BASE + "/sum")
    same(body, summed(len(BIG), BIG))


def closed_between():
    body, told = curl(RENEWED + "/accepted", BASE + "/renew", RENEWED + "/accepted")
    same((body, connections(told)), (b"1renewed2", 3))


def http_1_0():
    body, _ = curl("--http1.0", BASE + "/chunked")
    same(body, TEXT)


def in_parallel():
    body, _ = curl("-Z", "--parallel-max", "20", f"{BASE}/text?[1-60]")
    same(len(body), 60 * len(TEXT))


CASES = (("keep-alive", keep_alive), ("chunked response", chunked_response), ("chunked request", chunked_request),
         ("gzip", gzipped), ("gzip, head", gzip_head), ("gzip, in pieces", gzip_in_pieces), ("gzip, file", gzip_file),
         ("gzip, HTTP/1.0", gzip_1_0), ("range 206", range_206), ("range 416", range_416),
         ("resumed download", resumed), ("redirect 301", redirect(301, b"GET 0")), ("redirect 302", redirect(302, b"GET 0")),
         ("redirect 303", redirect(303, b"GET 0")), ("redirect 307", redirect(307, b"POST 5")),
         ("redirect 308", redirect(308, b"POST 5")), ("expect: 100-continue", expect_100),
         ("expect, refused", expect_refused), ("head", head), ("status 204", status_204), ("status 304", status_304),
         ("8 MB down", big_down), ("8 MB up", big_up), ("8 MB up, put", big_put),
         ("closed between requests", closed_between), ("HTTP/1.0", http_1_0), ("60 in parallel", in_parallel))

failures = 0
for name, case in CASES:
    try:
        case()
        print("ok", name)
    except Exception as failure:  # whatever it was, the other cases are run
        print(f"FAILED {name}: {failure}")
        failures += 1
sys.exit(failures > 0)
