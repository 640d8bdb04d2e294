#!/usr/bin/env python3
"""Watches a /metrics page on one kept connection, closely enough to measure.

  metrics.py react REGEX FILE VALUE SECONDS --url URL   writes VALUE to FILE, prints the milliseconds until a line of the
                                                        page matches REGEX; exit code 1 when none does within SECONDS
  metrics.py highest REGEX SECONDS --url URL            prints the largest value (REGEX's group 1) seen within SECONDS
"""
import http.client
import re
import sys
import time
import urllib.parse

INTERVAL_S = 0.03


class Page:
    def __init__(self, url):
        self.parts = urllib.parse.urlsplit(url)
        self.connection = None

    def read(self):
        """The page; a connection that the server closed is opened again."""
        for attempt in (1, 2):
            try:
                if self.connection is None:
                    self.connection = http.client.HTTPConnection(self.parts.netloc, timeout=5)
                self.connection.request("GET", self.parts.path)
                return self.connection.getresponse().read().decode()
            except (OSError, http.client.HTTPException):
                self.connection = None
                if attempt == 2:
                    raise
        return ""


def react(page, regex, path, value, seconds):
    pattern = re.compile(regex, re.MULTILINE)
    if pattern.search(page.read()):
        print("the page matched before anything was done", file=sys.stderr)
        return 1
    start = time.monotonic()
    with open(path, "w", encoding="ascii") as file:
        file.write(value)
    while time.monotonic() - start < float(seconds):
        if pattern.search(page.read()):
            print(round((time.monotonic() - start) * 1000))
            return 0
        time.sleep(INTERVAL_S)
    print(f"no line matches {regex} after {seconds} s", file=sys.stderr)
    return 1


def highest(page, regex, seconds):
    pattern = re.compile(regex, re.MULTILINE)
    end, values = time.monotonic() + float(seconds), []
    while time.monotonic() < end:
        values += [float(value) for value in pattern.findall(page.read())]
        time.sleep(INTERVAL_S)
    if not values:
        print(f"no line matches {regex}", file=sys.stderr)
        return 1
    print(max(values))
    return 0


def main(arguments):
    if len(arguments) < 2 or arguments[-2] != "--url":
        print(__doc__.strip(), file=sys.stderr)
        return 2
    page, words = Page(arguments[-1]), arguments[:-2]
    try:
        if len(words) == 5 and words[0] == "react":
            return react(page, *words[1:])
        if len(words) == 3 and words[0] == "highest":
            return highest(page, *words[1:])
    except (OSError, http.client.HTTPException) as error:
        print(f"metrics.py: {error}", file=sys.stderr)
        return 1
    print(__doc__.strip(), file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
