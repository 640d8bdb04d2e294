#!/usr/bin/env python3
"""words_test.py SOURCE: fails where text that people read uses words that docs/glossary.md replaces.

Read are the string literals of the program (not its comments), the page, rules, dashboards, runbooks, documents, man pages and
the configuration. `words_test.py --self-test` shows that each rule can fail.
"""
import re
import subprocess
import sys

# A phrase, its replacement, and a text that contains it.
BANNED = [
    (r"\bspeaks? (neither )?(for|against)\b", "rules out, evidence against", "it speaks against dirt"),
    (r"\b(no|some)body\b", "name the actor, or use the passive", "nobody answers"),
    (r"\bwho(so)?ever\b", "name the actor", "whoever runs it"),
    (r"\banew\b", "again", "it is read anew"),
    (r"\bunless told\b", "default: …", "unless told otherwise"),
    (r"\bas ever\b", "as before", "the light is as ever"),
    (r"\bof old\b", "previous", "its name of old"),
    (r"\blately\b", "recently, with the time", "a link that changed lately"),
    (r"\bwants? (attention|work)\b", "needs attention", "a port wants attention"),
    (r"\bfrom behind\b", "rear view", "the machine from behind"),
    (r"\bset down\b", "administratively down", "the port is set down"),
    (r"\bset the port (down|up)\b", "disable, enable, bounce", "set the port down and up"),
    (r"\b(links?|ports?|carrier|it|they|that|which|one) fell\b", "went down", "all links fell"),
    (r"\b(before|since|after|at) the fall\b", "link loss", "errors before the fall"),
    (r"\bcame? down\b", "went down", "the link came down"),
    (r"\bknobs?\b", "setting", "a knob for it"),
    (r"\b(is|are) well\b", "healthy", "all ports are well"),
    (r"\bfor want of\b", "no …, lack of", "dropped for want of buffers"),
    (r"\bgives? no\b", "reports no", "the module gives no powers"),
    (r"\bgave up\b", "failed", "the driver gave up"),
    (r"\bsays? (so|that)\b", "reports", "the kernel log says that"),
    (r"\b(is|are|was|were|be|it is|by the) (told|word of)\b", "reported", "what it is told"),
    (r"\b(told|tell|tells) apart\b", "distinguish", "they cannot be told apart"),
    (r"\btells? (it|this|them) from\b", "distinguish from", "what tells it from dirt"),
    (r"\bsigns? of life\b", "keep-alive", "signs of life"),
    (r"\bthe other way round\b", "reversed", "the other way round"),
    (r"\bstill here\b", "keep-alive", "still here"),
    (r"\b\d+ ?% sure\b", "confidence", "83% sure"),
    (r"\d %(?![\w ]*\d)", "no space before %", "with 95 % confidence"),
    (r"\bto be sure\b", "confirm", "to be sure clean it"),
    (r"\bits like\b", "comparable links", "its like correct some"),
    (r"\bends? alike\b|\bended alike\b", "same result", "two in a row end alike"),
    (r"\bby itself\b", "on its own, automatically", "it came back by itself"),
    (r"\btransceivers?\b(?! (thresholds|calibration))", "module", None),
    (r"\bfiber\b", "fibre", "one fiber"),
    (r"\bneighbor", "neighbour", "its neighbor"),
]
# Words that the field itself spells like this.
FIELD = re.compile(r"damaged_fiber|DamagedFiber|fiber_channel|Fiber Channel|show interface \S+ transceiver|"
                   r"(loose|bad) transceiver|dual rate transceivers|power_override|neighbors?\[|-neighbors?\b|lldpcli show neighbors|"
                   r"nobody:|ip neighbor")
PROGRAM = ["base", "model", "probes", "diagnosis", "config", "storage", "exporters", "daemon", "cli"]
PROSE = ["docs/*.md", "docs/runbooks/*.md", "docs/man/*", "dashboards/*.py", "dashboards/rules/*.yaml", "config/*.yaml", "README.md",
         "deploy/*.md", "completions/*"]
# Exempt: the glossary lists the words; decisions and changes are history.
NOT_READ = re.compile(r"docs/(glossary|adr/.*|faults_history)\.md|CHANGELOG\.md")
# The code of the page: only its strings are read by people.
PAGE = ["exporters/web/*.js", "exporters/web/*.html"]
LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')
SCRIPT_LITERAL = re.compile(r"'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|>([^<>{}]+)<")


def files(source, patterns):
    out = subprocess.run(["git", "-C", source, "ls-files", "--", *patterns], check=True, capture_output=True, text=True).stdout
    return [name for name in out.splitlines() if not NOT_READ.fullmatch(name)]


def without_comments(code):
    """Blanks what follows // outside a string; block comments are not used."""
    return re.sub(r'("(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')|//[^\n]*', lambda match: match.group(1) or "", code)


def literals(code):
    code = re.sub(r"^#include.*$", "", without_comments(code), flags=re.MULTILINE)
    joined = re.sub(r'"[ \t]*\n\s*"', lambda match: "\0" * match.group().count("\n"), code)  # a sentence that spans two lines
    for match in LITERAL.finditer(joined):
        text = match.group(1).replace("\0", "")
        if " " in text.strip():
            yield code_line(joined, match.start()), text


def code_line(joined, at):
    return joined.count("\n", 0, at) + joined.count("\0", 0, at) + 1


def page_strings(code):
    for match in SCRIPT_LITERAL.finditer(without_comments(code)):
        text = next(group for group in match.groups() if group is not None)
        if " " in text.strip():
            yield code.count("\n", 0, match.start()) + 1, text


def prose(text):
    for number, line in enumerate(text.splitlines(), 1):
        yield number, line


def breaches(text):
    text = FIELD.sub("", text)
    for pattern, instead, _ in BANNED:
        found = re.search(pattern, text, re.IGNORECASE)
        if found:
            yield found.group(), instead


def check(source):
    wrong = 0
    for patterns, read in (([f"{folder}/*.{end}" for folder in PROGRAM for end in ("cpp", "h")], literals), (PAGE, page_strings),
                           (PROSE, prose)):
        for name in files(source, patterns):
            with open(f"{source}/{name}", encoding="utf-8") as file:
                text = file.read()
            for line, one in read(text):
                for phrase, instead in breaches(one):
                    wrong += 1
                    print(f"{name}:{line}: \"{phrase}\": write {instead} (docs/glossary.md)\n    {one.strip()[:120]}")
    return wrong


def self_test():
    for pattern, _, sample in BANNED:
        assert sample is None or list(breaches(sample)), pattern
        assert sample is None or list(literals(f'print("{sample}");')), sample
    assert not list(literals("// nobody is here: \"it\"\nint x;\n")), "comments are not read"
    split = 'f("the port is set "\n  "down");'
    assert [list(breaches(text)) for _, text in literals(split)] == [[("set down", "administratively down")]]
    assert list(page_strings("el('p', {}, 'All ports are well.')")), "strings of the page are read"
    print("each rule can fail")
    return 0


if __name__ == "__main__":
    sys.exit(self_test() if sys.argv[1] == "--self-test" else 1 if check(sys.argv[1]) else 0)
