# SPDX-License-Identifier: MIT
"""Python's http.client talks to weft's server: client.py BASE RENEWED FOLDER. It follows no redirects: those are looked at."""
import gzip
import http.client
import os
import sys
import urllib.parse
import zlib

BASE, RENEWED, FOLDER = sys.argv[1:4]


def load(name):
    with open(os.path.join(FOLDER, name), "rb") as file:
        return file.read()


BIG, TEXT = load("big"), load("text")
failures = 0


def connect(base=BASE):
    where = urllib.parse.urlsplit(base)
    return http.client.HTTPConnection(where.hostname, where.port, timeout=60)


def ask(connection, method, path, body=None, headers=None, **more):
    connection.request(method, path, body, headers or {}, **more)
    response = connection.getresponse()
    return response, response.read()


def same(got, wanted):
    if got != wanted:
        raise AssertionError(f"{str(got)[:60]}, not {str(wanted)[:60]}")


def summed(length, body):
    return f"{length} {len(body)} {zlib.adler32(body)}".encode()


def stays(connection):
    """The next request on the same connection gets its own answer: nothing of the last one was left."""
    socket = connection.sock
    same(ask(connection, "GET", "/text")[1], TEXT)
    same(connection.sock is socket and socket is not None, True)


def keep_alive():
    connection = connect()
    first = ask(connection, "GET", "/accepted")[1]
    for _ in range(5):
        same(ask(connection, "GET", "/accepted")[1], first)


def chunked_response():
    connection = connect()
    response, body = ask(connection, "GET", "/chunked")
    same(response.getheader("Transfer-Encoding"), "chunked")
    same(body, TEXT)
    stays(connection)


def chunked_request():
    connection = connect()
    pieces = (TEXT[at:at + 1000] for at in range(0, len(TEXT), 1000))
    same(ask(connection, "POST", "/sum", pieces, encode_chunked=True)[1], summed(-1, TEXT))
    stays(connection)


def gzipped():
    connection = connect()
    response, body = ask(connection, "GET", "/text", headers={"Accept-Encoding": "gzip"})
    same(response.getheader("Content-Encoding"), "gzip")
    same(len(body) < len(TEXT) / 2, True)
    same(gzip.decompress(body), TEXT)
    response, body = ask(connection, "GET", "/text", headers={"Accept-Encoding": "gzip;q=0"})
    same(response.getheader("Content-Encoding"), None)
    same(body, TEXT)


def gzip_in_pieces():
    connection = connect()
    response, body = ask(connection, "GET", "/stream", headers={"Accept-Encoding": "gzip"})
    same((response.getheader("Content-Encoding"), response.getheader("Transfer-Encoding")), ("gzip", "chunked"))
    same(gzip.decompress(body), TEXT)
    stays(connection)


def range_206():
    connection = connect()
    response, body = ask(connection, "GET", "/big", headers={"Range": "bytes=1000-1499"})
    same((response.status, response.getheader("Content-Range")), (206, f"bytes 1000-1499/{len(BIG)}"))
    same(body, BIG[1000:1500])
    stays(connection)


def range_416():
    connection = connect()
    response, _ = ask(connection, "GET", "/big", headers={"Range": f"bytes={len(BIG)}-"})
    same((response.status, response.getheader("Content-Range")), (416, f"bytes */{len(BIG)}"))
    stays(connection)


def redirects():
    connection = connect()
    for status in (301, 302, 303, 307, 308):
        response, _ = ask(connection, "POST", f"/redirect/{status}", b"hello")
        same((response.status, response.getheader("Location")), (status, "/method"))
    stays(connection)


def expect_100():
    connection = connect()
    connection.putrequest("POST", "/sum")
    connection.putheader("Content-Length", str(len(TEXT)))
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    same(connection.sock.recv(100), b"HTTP/1.1 100 Continue\r\n\r\n")
    connection.send(TEXT)
    same(connection.getresponse().read(), summed(len(TEXT), TEXT))


def expect_refused():
    connection = connect()
    connection.putrequest("POST", "/refused")
    connection.putheader("Content-Length", str(len(TEXT)))
    connection.putheader("Expect", "100-continue")
    connection.endheaders()
    same(connection.getresponse().status, 403)


def head():
    connection = connect()
    response, body = ask(connection, "HEAD", "/big")
    same((response.status, response.getheader("Content-Length"), body), (200, str(len(BIG)), b""))
    stays(connection)


def status_204():
    connection = connect()
    response, body = ask(connection, "GET", "/nothing")
    same((response.status, body), (204, b""))
    stays(connection)


def status_304():
    connection = connect()
    tag = ask(connection, "HEAD", "/big")[0].getheader("ETag")
    response, body = ask(connection, "GET", "/big", headers={"If-None-Match": tag})
    same((response.status, body), (304, b""))
    stays(connection)


def big_down():
    connection = connect()
    same(ask(connection, "GET", "/big")[1] == BIG, True)
    stays(connection)


def big_up():
    connection = connect()
    same(ask(connection, "POST", "/sum", BIG)[1], summed(len(BIG), BIG))
    stays(connection)


def closed_between():
    """The server has closed: http.client says so at the next request, and connects again by itself for one more."""
    connection = connect(RENEWED)
    same(ask(connection, "GET", "/accepted")[1], b"1")
    same(ask(connect(), "GET", "/renew")[1], b"renewed")
    try:
        answer = ask(connection, "GET", "/accepted")[1]
    except (http.client.RemoteDisconnected, ConnectionError):
        answer = ask(connection, "GET", "/accepted")[1]
    same(answer, b"2")


def http_1_0():
    connection = connect()
    connection._http_vsn, connection._http_vsn_str = 10, "HTTP/1.0"  # there is no public way
    response, body = ask(connection, "GET", "/chunked")
    same((response.getheader("Transfer-Encoding"), body), (None, TEXT))


CASES = (("keep-alive", keep_alive), ("chunked response", chunked_response), ("chunked request", chunked_request),
         ("gzip", gzipped), ("gzip, in pieces", gzip_in_pieces),
         ("range 206", range_206), ("range 416", range_416), ("redirects", redirects),
         ("expect: 100-continue", expect_100), ("expect, refused", expect_refused), ("head", head), ("status 204", status_204),
         ("status 304", status_304), ("8 MB down", big_down), ("8 MB up", big_up), ("closed between requests", closed_between),
         ("HTTP/1.0", http_1_0))

for name, case in CASES:
    try:
        case()
        print("ok", name)
    except Exception as failure:  # whatever it was, the other cases are run
        print(f"FAILED {name}: {type(failure).__name__} {failure}")
        failures += 1
sys.exit(failures > 0)
