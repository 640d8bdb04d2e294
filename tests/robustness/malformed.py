"""Requests that are not HTTP/1.1, or that two parsers may read differently: (bytes, what the answer may begin with).

None: the connection may also end without an answer (it was no whole request, or nobody could tell where it ends).
"""
GOOD = b"GET /-/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
REFUSED = ("400", "413", "421", "431", "501", "405", "404")


def head(line=b"GET /-/ready HTTP/1.1", *fields):
    return b"\r\n".join((line, b"Host: localhost", *fields)) + b"\r\n\r\n"


def all_of_them():
    requests = []
    # Request lines.
    for line in (b"", b" ", b"GET", b"GET ", b"GET /", b"GET /-/ready", b"GET  /-/ready HTTP/1.1", b"GET /-/ready  HTTP/1.1",
                 b" GET /-/ready HTTP/1.1", b"GET\t/-/ready\tHTTP/1.1", b"GET /-/ready HTTP/1.1 ", b"GET /-/ready HTTP/1.1 x",
                 b"GET /-/ready HTTP/1.", b"GET /-/ready HTTP/11", b"GET /-/ready HTTP/2.0", b"GET /-/ready HTTP/0.9",
                 b"GET /-/ready HTTP/1.10", b"GET /-/ready http/1.1", b"GET /-/ready HTTPS/1.1", b"GET /-/ready HTTP/-1.1",
                 b"GET /-/ready HTTP/1,1", b"GET /-/ready\x00 HTTP/1.1", b"GET /a b HTTP/1.1", b"GET /\x7f HTTP/1.1",
                 b"GET /\x01 HTTP/1.1", b"GET metrics HTTP/1.1", b"GET * HTTP/1.1", b"GET ?x HTTP/1.1", b"G(T / HTTP/1.1",
                 b"GE\x00T / HTTP/1.1", b"GET: / HTTP/1.1", b"\xff\xfe / HTTP/1.1", b"PRI * HTTP/2.0", b"CONNECT localhost:22 HTTP/1.1",
                 b"OPTIONS * HTTP/1.1", b"TRACE / HTTP/1.1", b"SSH-2.0-OpenSSH", b"\x16\x03\x01\x02\x00\x01", b"{\"a\":1}",
                 b"GET http://evil.example/ HTTP/1.1", b"GET /" + b"a" * 9000 + b" HTTP/1.1", b"A" * 9000):
        requests.append(head(line))
    # Fields.
    for field in (b"X : a", b"X\t: a", b": a", b" X: a", b"\tX: a", b"X", b"X a", b"X: a\r\n folded", b"X: a\r\n\tfolded", b"X: a\rb",
                  b"X: a\r", b"X: a\nY: b", b"X: a\x00b", b"X\x00: a", b"X\x80: a", b"X\x7f: a", b"X: a\x01", b"X: a\x7f", b"X(: a",
                  b"X@: a", b"X/: a", b"\"X\": a", b"Host: other", b"Host : localhost", b"hOST: localhost",
                  b"Authorization: Basic YTpi\r\nAuthorization: Basic YTpj", b"Content-Type: a\r\nContent-Type: b",
                  b"Origin: http://a\r\nOrigin: http://b", b"X: " + b"a" * 9000, b"X: a\r\n" * 2000):
        requests.append(head(b"GET /-/ready HTTP/1.1", field))
    # The end of a body.
    post = b"POST /api/v1/maintenance HTTP/1.1"
    for fields in ((b"Content-Length: -1",), (b"Content-Length: +1",), (b"Content-Length: 0x1",), (b"Content-Length: 1 1",),
                   (b"Content-Length: 1,1",), (b"Content-Length: 1.0",), (b"Content-Length:",), (b"Content-Length: a",),
                   (b"Content-Length: 99999999999999999999999",), (b"Content-Length: 18446744073709551616",),
                   (b"Content-Length: 100000",), (b"Content-Length: 3", b"Content-Length: 4"),
                   (b"Content-Length : 0",), (b" Content-Length: 0",), (b"Content-Length: 0\x0b",),
                   (b"Transfer-Encoding: chunked",), (b"Transfer-Encoding: chunked", b"Content-Length: 3"),
                   (b"Content-Length: 3", b"Transfer-Encoding: chunked"), (b"Transfer-Encoding : chunked",),
                   (b"Transfer-Encoding:\x0bchunked",), (b"Transfer-Encoding: xchunked",), (b"Transfer-Encoding: chunked, identity",),
                   (b"Transfer-Encoding: identity",), (b"Transfer-Encoding: chunked", b"Transfer-Encoding: x"),
                   (b"Transfer-Encoding: gzip",), (b"Transfer_Encoding : chunked",)):
        requests.append(head(post, *fields) + b"abc")
    # Hosts, and miscellaneous.
    requests += [b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nX: a\r\n\r\n", b"GET / HTTP/1.1\nHost: localhost\n\n",
                 b"GET / HTTP/1.1\r\nHost: localhost\n\r\n", b"GET / HTTP/1.1\rHost: localhost\r\r", b"\r\n" * 5000, b"\x00" * 9000,
                 b"\n\n\n\n", b"GET / HTTP/1.1\r\n : \r\n\r\n"]
    for host in (b"a b", b"a/b", b"a\\b", b"user@localhost", b"a,b", b"a?b", b"a#b", b"\"a\"", b"<a>", b"a\x80", b"localhost:99999999", b"[",
                 b"[::1", b"a]", b"localhost:x"):
        requests.append(b"GET /-/ready HTTP/1.1\r\nHost: " + host + b"\r\n\r\n")
    return requests
