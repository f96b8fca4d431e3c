"use strict";
(() => {
  const root = document.documentElement;
  const find = (id) => document.getElementById(id);
  const main = document.querySelector("main");
  root.classList.remove("no-script");

  // What is shown.
  const toggles = [...document.querySelectorAll("[data-toggle]")];
  const toggle = (name) => {
    const button = toggles.find((button) => button.dataset.toggle === name);
    if (!button) return;
    const isOn = document.body.classList.toggle(name);
    button.setAttribute("aria-pressed", String(isOn));
  };
  for (const button of toggles) {
    button.addEventListener("click", () => toggle(button.dataset.toggle));
  }
  const KEY = "convert-theme";
  const changeTheme = () => {
    const isDark = getComputedStyle(root).colorScheme === "dark"
      || (!root.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);
    root.dataset.theme = isDark ? "light" : "dark";
    try { localStorage.setItem(KEY, root.dataset.theme); } catch { /* A page without storage. */ }
  };
  try {
    const theme = localStorage.getItem(KEY);
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch { /* A page without storage. */ }
  find("theme").addEventListener("click", changeTheme);

  // Rows that open.
  const reveal = (node) => {
    for (let at = node; at && at !== main; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
  };
  const show = (element) => {
    reveal(element);
    element.scrollIntoView({ block: "center" });
    // What was skipped until now has its size only when it is near.
    requestAnimationFrame(() => element.scrollIntoView({ block: "center" }));
  };
  const showTarget = () => {
    const target = location.hash.length > 1 && find(location.hash.slice(1));
    if (target && main.contains(target)) {
      if (target.tagName === "DETAILS") target.open = true;
      const inside = target.querySelector(":scope > details.call");
      if (inside && !target.querySelector(".words")) inside.open = true;
      show(target);
    }
  };
  addEventListener("hashchange", showTarget);
  if (location.hash) showTarget();
  let areOpen = false;
  const openAll = () => {
    areOpen = !areOpen;
    for (const call of main.querySelectorAll("details.call")) call.open = areOpen;
  };
  if (matchMedia("(max-width: 60rem)").matches) {
    for (const list of document.querySelectorAll(".outline > details")) list.open = false;
  }

  // Going from one to the next. Only the outermost articles are asked where they lie: what is
  // inside of one that is out of sight has no place yet, and asking would cost its layout.
  let here = null;
  const outermost = (element) => {
    let at = element;
    while (at.parentElement !== main) at = at.parentElement;
    return at;
  };
  const isHidden = (element) =>
    getComputedStyle(outermost(element)).display === "none" || getComputedStyle(element).display === "none";
  const firstBelow = (places, y) => {
    let [from, to] = [0, places.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (outermost(places[middle]).getBoundingClientRect().bottom <= y) from = middle + 1;
      else to = middle;
    }
    return from;
  };
  const step = (selector, direction) => {
    const places = [...main.querySelectorAll(selector)];
    let idx = here ? places.indexOf(here) : -1;
    if (idx < 0) {
      const follows = (it) => here.compareDocumentPosition(it) & Node.DOCUMENT_POSITION_FOLLOWING;
      let after = here ? places.findIndex(follows) : firstBelow(places, innerHeight / 3);
      if (after < 0) after = places.length;
      idx = direction > 0 ? after - 1 : after;
    }
    do {
      idx += direction;
    } while (idx >= 0 && idx < places.length && isHidden(places[idx]));
    const next = places[idx];
    if (!next) return;
    here = next;
    if (next.tagName === "DETAILS") next.open = true;
    show(next);
    const focus = next.querySelector("summary, a, button");
    if (focus) focus.focus({ preventScroll: true });
  };
  for (const event of ["wheel", "touchmove", "mousedown"]) {
    addEventListener(event, () => { here = null; }, { passive: true });
  }

  // The search: matches are ranges, and the page itself stays as it is.
  const query = find("query");
  const count = find("count");
  const MOST = 10000;
  const canHighlight = "highlights" in CSS;
  let matches = [];
  let current = -1;
  let n_found = 0;
  const clear = () => {
    matches = [];
    current = -1;
    n_found = 0;
    if (canHighlight) for (const name of ["found", "current"]) CSS.highlights.delete(name);
    if (count) count.textContent = "";
  };
  const search = () => {
    clear();
    offer(null);
    const wanted = query.value.toLowerCase();
    if (!wanted) return;
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const text = node.data.toLowerCase();
      // Few letters change their length with their case: then the places would be wrong.
      const isSame = text.length === node.data.length;
      for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
        n_found += 1;
        if (matches.length < MOST) {
          const range = new Range();
          range.setStart(node, isSame ? at : 0);
          range.setEnd(node, isSame ? at + wanted.length : node.data.length);
          matches.push(range);
        }
      }
    }
    if (canHighlight) {
      const found = new Highlight();
      for (const range of matches) found.add(range);
      CSS.highlights.set("found", found);
    }
    count.textContent = n_found === 0 ? "none" : String(n_found);
  };
  const go = (direction) => {
    if (matches.length === 0) return;
    if (current < 0 && direction < 0) current = 0;
    current = (current + direction + matches.length) % matches.length;
    const range = matches[current];
    const element = range.startContainer.parentElement;
    show(element);
    if (canHighlight) {
      CSS.highlights.set("current", new Highlight(range));
    } else {
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
    }
    count.textContent = `${current + 1} / ${n_found}`;
  };
  if (query) {
    let timer = 0;
    let searched = "";
    const searchNow = () => {
      clearTimeout(timer);
      if (searched !== query.value) {
        searched = query.value;
        search();
      }
    };
    query.addEventListener("input", () => {
      clearTimeout(timer);
      timer = setTimeout(searchNow, 150);
    });
    query.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        searchNow();
        go(event.shiftKey ? -1 : 1);
        event.preventDefault();
      }
    });
    find("next").addEventListener("click", () => { searchNow(); go(1); });
    find("previous").addEventListener("click", () => { searchNow(); go(-1); });
  }

  // Words of code get their colors while their message is near the screen: as ranges, like matches. The
  // words stand behind their text, from the last to the first: how far each ends before the next one,
  // its kind, and its length.
  const words = new Map();
  const colored = new Map();
  const rangesOf = (article) => {
    const ranges = [];
    for (const element of article.querySelectorAll("[data-w]")) {
      const text = element.previousSibling;
      if (!text || element.closest("article") !== article) continue;
      let end = text.length;
      for (const [, distance, kind, length] of element.dataset.w.matchAll(/(\d+)([a-z])(\d+)/g)) {
        end -= distance;
        const start = end - length;
        if (start < 0) break;
        ranges.push([kind, new StaticRange({ startContainer: text, startOffset: start, endContainer: text, endOffset: end })]);
        end = start;
      }
    }
    return ranges;
  };
  const color = (article) => {
    if (colored.has(article)) return;
    const ranges = rangesOf(article);
    colored.set(article, ranges);
    for (const [kind, range] of ranges) words.get(kind)?.add(range);
  };
  const fade = (article) => {
    for (const [kind, range] of colored.get(article) || []) words.get(kind)?.delete(range);
    colored.delete(article);
  };
  if (canHighlight && query) {
    for (const kind of "cskftn") {
      words.set(kind, new Highlight());
      words.get(kind).priority = -1;
      CSS.highlights.set(`word-${kind}`, words.get(kind));
    }
    const articles = document.getElementsByTagName("article");
    // The article itself is visible, its content may be skipped.
    const isNear = (article) => article.firstElementChild?.checkVisibility({ contentVisibilityAuto: true });
    main.addEventListener("contentvisibilityautostatechange", (event) => {
      (event.skipped ? fade : color)(event.target);
    }, true);
    // Which articles are skipped is known after the first frame. Those of it had no event to listen to.
    requestAnimationFrame(() => requestAnimationFrame(() => {
      for (const article of articles) if (isNear(article)) color(article);
    }));
    addEventListener("beforeprint", () => { for (const article of articles) color(article); });
    addEventListener("afterprint", () => {
      for (const article of articles) if (!isNear(article)) fade(article);
    });
  }

  // A button copies the text that the pointer is on: a block of code, or else a message.
  const copy = document.createElement("button");
  copy.type = "button";
  copy.className = "copy";
  let source = null;
  const textOf = (element) => {
    copy.remove();
    return element.innerText;
  };
  const copyText = async (element) => {
    const text = textOf(element);
    let isCopied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      getSelection().selectAllChildren(element);
      isCopied = document.execCommand("copy");
      getSelection().removeAllRanges();
    }
    element.append(copy);
    copy.textContent = isCopied ? "Copied" : "Not copied";
  };
  // The button is at the top of the text, or below the bar if the top is above it.
  const place = () => {
    const box = source.getBoundingClientRect();
    const hidden = parseFloat(getComputedStyle(document.documentElement).scrollPaddingTop) - box.top;
    const start = Math.min(hidden, box.height - 2 * copy.offsetHeight);
    copy.style.insetBlockStart = start > 0 ? `${Math.round(start)}px` : "";
  };
  const offer = (element) => {
    if (source !== element) {
      source = element;
      copy.textContent = "Copy";
      copy.setAttribute("aria-label", "Copy this text");
      if (element) element.append(copy);
      else copy.remove();
    }
    if (element) place();
  };
  const copied = (target) => target.closest && target.closest("main pre, main .words");
  if (query) {
    main.addEventListener("pointerover", (event) => {
      if (event.target !== copy) offer(copied(event.target));
    });
    copy.addEventListener("click", () => source && copyText(source));
  }
  const copyHere = () => {
    const places = [...main.querySelectorAll(":scope > article")];
    const at = here ? outermost(here) : places[firstBelow(places, innerHeight / 3)];
    const element = at && (at.querySelector("details[open] pre, .words") || at.querySelector("pre"));
    if (element) {
      offer(element);
      copyText(element);
    }
  };

  // The list of sessions: sorted by a column, and grouped by project.
  const narrow = find("narrow");
  if (narrow) {
    const body = document.querySelector(".sessions tbody");
    const rows = [...body.rows];
    const heads = [...document.querySelectorAll(".sessions thead th")];
    let [column, isDown, isGrouped] = [1, true, false];
    const valueOf = (row) => {
      const cell = row.cells[column];
      return cell.dataset.value === undefined ? cell.textContent.toLowerCase() : Number(cell.dataset.value);
    };
    const arrange = () => {
      const sorted = rows.map((row) => [valueOf(row), row]);
      sorted.sort(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0) * (isDown ? -1 : 1));
      for (const head of heads) head.removeAttribute("aria-sort");
      heads[column].setAttribute("aria-sort", isDown ? "descending" : "ascending");
      const groups = new Map();
      for (const [, row] of sorted) {
        const name = isGrouped ? row.dataset.project : "";
        if (!groups.has(name)) groups.set(name, []);
        groups.get(name).push(row);
      }
      for (const old of body.querySelectorAll(".project")) old.remove();
      for (const [name, members] of groups) {
        if (isGrouped) {
          const row = document.createElement("tr");
          const cell = document.createElement("th");
          row.className = "project";
          cell.colSpan = heads.length;
          cell.scope = "rowgroup";
          cell.textContent = `${name || "No project"} (${members.length})`;
          row.append(cell);
          body.append(row);
        }
        body.append(...members);
      }
      filter();
    };
    const filter = () => {
      const wanted = narrow.value.toLowerCase();
      let n_shown = 0;
      let [head, n_inside] = [null, 0];
      const endGroup = () => { if (head) head.hidden = n_inside === 0; };
      for (const row of body.rows) {
        if (row.className === "project") {
          endGroup();
          [head, n_inside] = [row, 0];
          continue;
        }
        const text = `${row.textContent} ${row.dataset.project}`.toLowerCase();
        row.hidden = !text.includes(wanted);
        n_shown += row.hidden ? 0 : 1;
        n_inside += row.hidden ? 0 : 1;
      }
      endGroup();
      count.textContent = wanted ? String(n_shown) : "";
    };
    narrow.addEventListener("input", filter);
    for (const [idx, head] of heads.entries()) {
      head.querySelector("button").addEventListener("click", () => {
        // Names begin with the first, numbers and times with the largest.
        isDown = column === idx ? !isDown : idx > 0;
        column = idx;
        arrange();
      });
    }
    const group = find("group");
    group.addEventListener("click", () => {
      isGrouped = !isGrouped;
      group.setAttribute("aria-pressed", String(isGrouped));
      arrange();
    });
  }

  // Keys.
  const help = find("help");
  if (help) find("keys").addEventListener("click", () => help.showModal());
  const field = query || narrow;
  const keys = {
    "/": () => { field.focus(); field.select(); },
    "n": () => go(1),
    "N": () => go(-1),
    "j": () => step("main > article", 1),
    "k": () => step("main > article", -1),
    "p": () => step("article.prompt", 1),
    "P": () => step("article.prompt", -1),
    "e": () => step(".call.error, article.error", 1),
    "E": () => step(".call.error, article.error", -1),
    "c": copyHere,
    "o": openAll,
    "t": () => toggle("no-thinking"),
    "w": () => toggle("no-wrap"),
    "d": changeTheme,
    "?": () => help && help.showModal(),
  };
  addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.target === field) {
      field.value = "";
      field.dispatchEvent(new Event("input"));
      field.blur();
      return;
    }
    const isTyping = event.target.matches && event.target.matches("input, textarea, select");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (help && help.open) return;
    const action = Object.hasOwn(keys, event.key) ? keys[event.key] : null;
    if (action && (query || ["/", "d"].includes(event.key))) {
      event.preventDefault();
      action();
    }
  });
})();
