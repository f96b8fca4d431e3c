"""Opens pages of sessions in Chromium, uses them as a person does, and checks the results.

usage: pages.py CONVERT SCRATCH PICTURES FOLDER...
"""

import base64
import json
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request

MOST_SECONDS = 3.0
# The size in bytes of the long session, and the most lines: a real session of this size has about 20,000.
LONG = 50_000_000
MOST_LINES = 20_000

FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run
--disable-background-networking --disable-component-update --disable-sync
--hide-scrollbars""".split()


class Browser:
    """Chromium, through its driver."""

    def __init__(self, scratch):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.driver = subprocess.Popen(
            ["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.base = f"http://127.0.0.1:{port}"
        for _ in range(100):
            try:
                if self.call("GET", "/status")["ready"]:
                    break
            except OSError:
                time.sleep(0.1)
        options = {
            "args": [*FLAGS, f"--user-data-dir={scratch / 'profile'}"],
            "binary": shutil.which("chromium") or shutil.which("chromium-browser"),
        }
        wanted = {
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }
        session = self.call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self.base += f"/session/{session['sessionId']}"

    def call(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.base + path, data, method=method)
        with urllib.request.urlopen(request, timeout=300) as answer:
            return json.load(answer)["value"]

    def open(self, page):
        self.call("POST", "/url", {"url": page.as_uri()})

    def run(self, script, *arguments):
        return self.call("POST", "/execute/sync", {"script": script, "args": list(arguments)})

    def keys(self, keys):
        presses = [{"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]
        self.call("POST", "/actions", {"actions": [{"type": "key", "id": "k", "actions": presses}]})
        time.sleep(0.4)

    def click(self, selector):
        """Moves the pointer to the middle of an element and clicks."""
        box = self.run(
            "const box = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)]", selector)
        moves = [{"type": "pointerMove", "x": box[0], "y": box[1], "duration": 50},
                 {"type": "pointerDown", "button": 0}, {"type": "pointerUp", "button": 0}]
        pointer = {"type": "pointer", "id": "p", "parameters": {"pointerType": "mouse"}, "actions": moves}
        self.call("POST", "/actions", {"actions": [pointer]})
        time.sleep(0.3)

    def devtools(self, command, **parameters):
        return self.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def log(self, kind):
        return self.call("POST", "/se/log", {"type": kind})

    def size(self, width, height, scheme):
        self.devtools(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.devtools("Emulation.setEmulatedMedia", features=[feature])

    def picture(self, path):
        time.sleep(0.3)
        data = self.devtools("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def quit(self):
        try:
            self.call("DELETE", "")
        except OSError:
            pass
        finally:
            self.driver.terminate()
            self.driver.wait()


CONTRAST = """
const light = (color) => {
  const [r, g, b] = color.map((it) => it / 255).map((it) =>
    it <= 0.04045 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
const read = (color) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const seen = new Set();
const poor = [];
// Elements out of sight have no style yet, and computing it takes long.
const articles = [...document.querySelectorAll("main > *")];
const isNear = (it) => Math.abs(it.getBoundingClientRect().top) < 3 * innerHeight;
const near = articles.filter(isNear).flatMap((it) => [it, ...it.querySelectorAll("*")]);
const outside = [...document.querySelectorAll("body *")].filter((it) => !it.closest("main"));
for (const element of [...outside.slice(0, 300), ...near.slice(0, 1500)]) {
  const hasText = [...element.childNodes].some((it) => it.nodeType === 3 && it.data.trim());
  if (!hasText || !element.checkVisibility({ visibilityProperty: true })) continue;
  let at = element;
  while (at && read(getComputedStyle(at).backgroundColor)[3] < 255) at = at.parentElement;
  const behind = at ? getComputedStyle(at).backgroundColor : "#fff";
  // The words of code have the colors of highlights.
  const code = element.querySelector(":scope > [data-w]");
  const kinds = new Set(code ? code.dataset.w.match(/[a-z]/g) : []);
  const styles = ["", ...[...kinds].map((kind) => `::highlight(word-${kind})`)];
  for (const style of styles) {
    const colors = [getComputedStyle(element, style || null).color, behind];
    if (seen.has(colors.join())) continue;
    seen.add(colors.join());
    const [one, other] = colors.map((it) => light(read(it).slice(0, 3)));
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    if (ratio < 4.5) {
      poor.push(`${ratio.toFixed(2)} <${element.localName} class="${element.className}"> ${style}`);
    }
  }
}
return poor;
"""

NAMELESS = """
return [...document.querySelectorAll("a, button, input, summary, img, nav, section[role]")]
  .filter((it) => !it.closest("[aria-hidden]"))
  .filter((it) => !(it.textContent.trim() || it.getAttribute("aria-label") || it.alt))
  .map((it) => it.outerHTML.slice(0, 120));
"""


class Check:
    """The checks of one page."""

    def __init__(self, browser, page, name, pictures):
        self.browser, self.page, self.name, self.pictures = browser, page, name, pictures
        self.problems = []

    def expect(self, is_so, what):
        if not is_so:
            self.problems.append(f"{self.name}: {what}")

    def run(self):
        browser = self.browser
        browser.size(1440, 1000, "light")
        browser.log("performance"), browser.log("browser")
        browser.devtools("Performance.enable", timeDomain="threadTicks")
        browser.open(self.page)
        seconds = self.seconds()
        self.expect(seconds < MOST_SECONDS, f"takes {seconds:.2f} s to open")
        self.picture("desktop-light")
        self.landmarks()
        self.folding()
        self.search()
        self.filters()
        self.timeline()
        self.words()
        self.copying()
        self.printing()
        for width, height, screen in [(1440, 1000, "desktop"), (390, 844, "phone")]:
            for scheme in ["light", "dark"]:
                browser.size(width, height, scheme)
                browser.open(pathlib.Path("/dev/null"))
                browser.open(self.page)
                self.picture(f"{screen}-{scheme}")
                wide = browser.run("return document.documentElement.scrollWidth - innerWidth")
                self.expect(wide <= 0, f"{screen}: {wide} pixels too wide")
                browser.run(
                    "const all = [...document.querySelectorAll('main > article')];"
                    "const at = all[Math.min(8, all.length - 1)];"
                    "for (const it of document.querySelectorAll('main .diff, main .agent, main .failed')) {"
                    "  it.closest('details.call')?.setAttribute('open', ''); }"
                    "const first = document.querySelector('main .diff, main .agent, main .failed');"
                    "(first || at)?.scrollIntoView({ block: 'start' });"
                )
                self.picture(f"{screen}-{scheme}-open")
                poor = browser.run(CONTRAST)
                self.expect(not poor, f"{screen} {scheme}: contrast {poor[:5]}")
        self.quiet()
        size = self.page.stat().st_size / 1e6
        lines = browser.run("return document.querySelector('footer').textContent.split(' ')[0]")
        print(f"{self.name}: {lines} lines, {size:.1f} MB, opens in {seconds:.2f} s of work")

    def seconds(self):
        """Waits until the page is drawn. Returns the CPU time of its thread, so that other programs do
        not count."""
        script = """
        const done = arguments[arguments.length - 1];
        requestAnimationFrame(() => requestAnimationFrame(() => done()));
        """
        self.browser.call("POST", "/execute/async", {"script": script, "args": []})
        metrics = self.browser.devtools("Performance.getMetrics")["metrics"]
        return next(it["value"] for it in metrics if it["name"] == "TaskDuration")

    def landmarks(self):
        for selector in ["header", "main", "nav[aria-label]", "[role=search]", "h1", "a.skip"]:
            n = self.browser.run("return document.querySelectorAll(arguments[0]).length", selector)
            self.expect(n >= 1, f"no {selector}")
        nameless = self.browser.run(NAMELESS)
        self.expect(not nameless, f"without a name: {nameless[:3]}")

    def folding(self):
        count = "return document.querySelectorAll('main details.call[open]').length"
        self.expect(self.browser.run(count) == 0, "calls are open at first")
        self.browser.keys("o")
        n = self.browser.run("return document.querySelectorAll('main details.call').length")
        self.expect(self.browser.run(count) == n > 0, "o does not open all calls")
        self.browser.keys("o")
        self.expect(self.browser.run(count) == 0, "o does not close all calls")
        self.browser.run("document.querySelector('main details.call > summary').click()")
        self.expect(self.browser.run(count) == 1, "a click does not open a call")

    def search(self):
        word = self.browser.run(
            "for (const it of document.querySelectorAll('main details.call pre')) {"
            "  const word = it.textContent.match(/[a-z]{5,}/);"
            "  if (word) return word[0]; } return 'the';"
        )
        self.browser.run("scrollTo(0, 0)")
        self.browser.keys("/")
        self.browser.keys(word)
        count = "return document.getElementById('count').textContent"
        time.sleep(0.5)
        found = self.browser.run(count)
        self.expect(found.isdigit() and int(found) > 0, f"{word!r} is not found: {found!r}")
        self.browser.keys("\ue007")
        time.sleep(0.3)
        self.expect(self.browser.run(count).startswith("1 / "), "Enter does not go to the first match")
        seen = """
        const range = [...CSS.highlights.get('current')][0];
        const box = range.getBoundingClientRect();
        return box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
        """
        self.expect(self.browser.run(seen), "the match is not in sight")
        self.picture("search")
        self.browser.run("document.activeElement.blur()")
        if int(found) > 1:
            self.browser.keys("n")
            self.expect(self.browser.run(count).startswith("2 / "), "n does not go on")
            self.browser.keys("N")
            self.expect(self.browser.run(count).startswith("1 / "), "N does not go back")
        self.browser.keys("/")
        self.browser.keys("\ue00c")
        self.expect(self.browser.run(count) == "", "Esc does not end the search")

    def filters(self):
        # Only the first 12, because each look at an element out of sight makes Chromium draw it.
        shown = """return [...document.querySelectorAll(arguments[0])].slice(0, 12)
            .filter((it) => it.checkVisibility()).length"""
        for name, selector in [
            ("no-tools", "main > article > .call"),
            ("no-thinking", ".thinking"),
            ("no-user", "article.user > .words"),
            ("no-assistant", "article.assistant > .words"),
            ("no-agents", ".agent"),
            ("no-notices", ".notice"),
            ("no-pictures", "article img"),
        ]:
            before = self.browser.run(shown, selector)
            self.browser.run(f"document.querySelector('[data-toggle={name}]').click()")
            self.expect(self.browser.run(shown, selector) == 0, f"{name} hides nothing")
            self.browser.run(f"document.querySelector('[data-toggle={name}]').click()")
            self.expect(self.browser.run(shown, selector) == before, f"{name} brings nothing back")
        self.browser.run("document.querySelector('[data-toggle=only-errors]').click()")
        fine = self.browser.run(shown, "main > article > .call:not(.error):not(:has(.error))")
        self.expect(fine == 0, f"only-errors shows {fine} calls without one")
        self.picture("errors")
        self.browser.run("document.querySelector('[data-toggle=only-errors]').click()")

    def words(self):
        """Checks that words of code have colors where they are near the screen, and nowhere else."""
        first = "[...document.querySelectorAll('main [data-w]')].find((it) => it.closest('article.assistant > details'))"
        if not self.browser.run(f"return !!{first}"):
            return
        for _ in range(3):
            self.browser.run(
                f"const first = {first}; first.closest('details').open = true;"
                "first.parentElement.scrollIntoView({ block: 'center' })"
            )
            time.sleep(0.2)
        colored = self.browser.run(
            f"const text = {first}.previousSibling;"
            "const ranges = [...'cskftn'].flatMap((kind) => [...CSS.highlights.get(`word-${kind}`)]);"
            "return [ranges.filter((it) => it.startContainer === text).length, ranges.length]"
        )
        wanted = self.browser.run(f"return {first}.dataset.w.split(' ').length")
        self.expect(colored[0] == wanted, f"{colored[0]} of {wanted} words of code have a color")
        self.expect(colored[1] < 20_000, f"{colored[1]} words of code have a color at once")

    def copying(self):
        # What comes into sight gets its size only then.
        for _ in range(3):
            self.browser.run("document.querySelector('main > .prompt .words').scrollIntoView({ block: 'center' })")
            time.sleep(0.2)
        self.browser.click("main > .prompt .words")
        self.expect(self.browser.run("return !!document.querySelector('main > .prompt .copy')"), "no button to copy")
        self.browser.click("main > .prompt .copy")
        # The clipboard answers later.
        words = "return document.querySelector('.copy')?.textContent"
        for _ in range(30):
            if self.browser.run(words) == "Copied":
                break
            time.sleep(0.1)
        self.expect(self.browser.run(words) == "Copied", f"copies nothing: {self.browser.run(words)}")

    def printing(self):
        if self.page.stat().st_size > 2_000_000:
            return
        self.browser.devtools("Emulation.setEmulatedMedia", media="print")
        shown = "return [...document.querySelectorAll(arguments[0])].slice(0, 12).filter((it) => it.checkVisibility()).length"
        self.expect(self.browser.run(shown, ".bar, .outline, .copy") == 0, "printing has the controls")
        folded = "main > article > .call > .input"
        self.expect(self.browser.run(shown, folded) > 0, "printing leaves out what is folded")
        self.browser.devtools("Emulation.setEmulatedMedia", media="")

    def timeline(self):
        dead = self.browser.run(
            "return [...document.querySelectorAll('.timeline a, .outline a')]"
            ".filter((it) => !document.getElementById(it.getAttribute('href').slice(1))).length"
        )
        self.expect(dead == 0, f"{dead} links of the timeline and the prompts lead nowhere")
        self.browser.run(
            "const all = document.querySelectorAll('.timeline a');"
            "all[all.length - 1]?.dispatchEvent(new MouseEvent('click', { bubbles: true, cancelable: true }));"
        )
        time.sleep(0.4)
        seen = """
        const target = document.getElementById(location.hash.slice(1));
        if (!target) return 'nothing';
        const box = target.getBoundingClientRect();
        return box.top < innerHeight && box.bottom > 0 ? 'seen' : `${box.top}`;
        """
        if self.browser.run("return document.querySelectorAll('.timeline a').length"):
            where = self.browser.run(seen)
            self.expect(where == "seen", f"the timeline leads out of sight: {where}")

    def quiet(self):
        for entry in self.browser.log("browser"):
            self.expect(False, f"console: {entry['message']}")
        for entry in self.browser.log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                self.expect(url.startswith(("file:", "data:")), f"asks for {url}")

    def picture(self, name):
        self.browser.picture(self.pictures / f"{self.name}-{name}.png")


def sessions(folders):
    files = [it for folder in folders for it in sorted(pathlib.Path(folder).rglob("*.jsonl"))]
    return [it for it in files if it.is_file() and not it.name.startswith("agent-")]


def chosen(files, scratch):
    """Returns a session with sub-agents, one with pictures, and a long one, joined from the longest."""
    texts = {it: it.read_bytes() for it in files}
    # The checks below need a page with a tool call.
    has = lambda text: b'"parentUuid"' in text and b'"tool_result"' in text
    ours = {it: text for it, text in texts.items() if has(text)}
    agents = lambda it: ours[it].count(b'"isSidechain":true') + 1000 * (it.with_suffix("").is_dir())
    images = lambda it: len(re.findall(rb'"media_type": ?"image/', ours[it]))
    lines = lambda it: ours[it].count(b"\n")
    picked = {}
    for name, worth in [("agents", agents), ("pictures", images)]:
        best = max(ours, key=worth)
        if worth(best):
            picked[name] = best
    long = scratch / "long.jsonl"
    n_bytes = n_lines = 0
    with long.open("wb") as joined:
        while n_bytes < LONG and n_lines < MOST_LINES:
            for it in sorted(ours, key=lines, reverse=True)[:20]:
                if n_bytes < LONG and n_lines < MOST_LINES:
                    n_bytes += joined.write(ours[it].rstrip(b"\n") + b"\n")
                    n_lines += lines(it)
    return picked | {"long": long}


def check_index(browser, convert, folder, scratch, pictures):
    """Checks that the index of a folder sorts its rows, groups them and leads to pages."""
    problems = []
    pages = scratch / "pages"
    subprocess.run([convert, "export", "--html", "-q", folder, "-o", pages], check=False)
    browser.size(1440, 1000, "light")
    browser.open(pages / "index.html")
    costs = "return [...document.querySelectorAll('.sessions tbody tr:not(.project)')].map((it) => +it.cells[7].dataset.value)"
    before = browser.run(costs)
    browser.run("document.querySelectorAll('.sessions thead button')[7].click()")
    if browser.run(costs) != sorted(before, reverse=True):
        problems.append("index: a click on Cost does not sort by it")
    browser.run("document.getElementById('group').click()")
    groups = browser.run(
        "return [...document.querySelectorAll('.sessions .project')].map((it) => it.textContent)")
    names = browser.run(
        "return [...new Set([...document.querySelectorAll('.sessions tbody tr:not(.project)')]"
        ".map((it) => it.dataset.project))]")
    if len(groups) != len(names):
        problems.append(f"index: {len(groups)} groups of {len(names)} projects")
    browser.picture(pictures / "index.png")
    dead = [it for it in browser.run("return [...document.querySelectorAll('.sessions a')].map((it) => it.href)")
            if not pathlib.Path(urllib.request.url2pathname(it.removeprefix("file://"))).exists()]
    if dead:
        problems.append(f"index: {len(dead)} links lead nowhere, such as {dead[0]}")
    for entry in browser.log("browser"):
        problems.append(f"index: console: {entry['message']}")
    print(f"index: {len(before)} sessions, {len(groups)} projects")
    return problems


def main():
    convert, scratch, pictures = (pathlib.Path(it).absolute() for it in sys.argv[1:4])
    scratch.mkdir(parents=True, exist_ok=True)
    pictures.mkdir(parents=True, exist_ok=True)
    picked = chosen(sessions(sys.argv[4:]), scratch)
    browser, problems = Browser(scratch), []
    try:
        for name, session in picked.items():
            page = scratch / f"{name}.html"
            # The long one is joined from sessions, most of which would be folded as branches.
            branches = ["--all-branches"] if name == "long" else []
            export = [convert, "export", "--html", *branches, "--force", session, "-o", page]
            subprocess.run(export, check=False)
            check = Check(browser, page, name, pictures)
            check.run()
            problems += check.problems
        problems += check_index(browser, convert, sys.argv[4], scratch, pictures)
    finally:
        browser.quit()
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


main()
