"use strict";
// The page's script: reads the data that stands in the page, and shows it by text nodes only.
// Texts in the data come from payloads, stores and errors: none ever becomes markup or code.

(async () => {
  const MOST_ENVIRONMENTS = 40; // in the heatmap, unless all are asked for
  const ROOMY = 8; // environments up to which fields say more
  const FEW = 3; // environments up to which fields are large
  const PAGE = 50; // cells, cases or rows that are shown at once
  const MOST_NAMES = 12;
  const NONE = -1;
  const THEME = "memory-matrix-theme";

  const data = await load();
  const cells = typed(data.cells);
  const kinds = data.kinds;
  const results = typed(data.suite.results);
  const everyKind = kinds.group.map((_, kind) => kind);

  // Data

  async function load() {
    const element = byId("data");
    if (element.type === "application/json") return JSON.parse(element.textContent);
    const bytes = Uint8Array.from(atob(element.textContent), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return JSON.parse(await new Response(stream).text());
  }

  function typed(columns) {
    return Object.fromEntries(
      Object.entries(columns).map(([name, column]) => [name, Int32Array.from(column)]),
    );
  }

  const text = (number) => data.texts[number];
  const kindOf = (cell, name) => kinds[name][cells.kind[cell]];
  const isOwn = (cell) => cells.writer[cell] === cells.reader[cell];

  // Elements

  function byId(id) {
    return document.getElementById(id);
  }

  function make(tag, attributes, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.filter((each) => each !== null));
    return element;
  }

  const code = (name) => make("code", {}, name);
  const format = new Intl.NumberFormat("en");
  const number = (value) => format.format(value);
  const counted = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

  function button(label, act, kind = "plain") {
    const made = make("button", { type: "button", class: kind }, label);
    made.addEventListener("click", act);
    return made;
  }

  function mark(marks, index, word) {
    const [name, symbol] = marks[index];
    return make("span", { class: `mark ${markClass(name)}` }, sign(symbol), ` ${word || name}`);
  }

  const sign = (symbol) => make("span", { class: "symbol", "aria-hidden": "true" }, symbol);
  const markClass = (name) => `mark-${name.replaceAll(" ", "-")}`;
  const badge = (word) => make("span", { class: "badge" }, word);

  function names(table, numbers, separator = ", ") {
    const made = make("span", { class: "names" });
    const add = (some) => {
      for (const each of some) {
        if (made.childNodes.length) made.append(separator);
        made.append(code(table[each]));
      }
    };
    const cut = numbers.length > MOST_NAMES + 1 ? MOST_NAMES : numbers.length;
    add(numbers.slice(0, cut));
    if (cut === numbers.length) return made;
    const more = button(`and ${number(numbers.length - cut)} more`, () => {
      more.remove();
      add(numbers.slice(cut));
    }, "link");
    return make("span", {}, made, " ", more);
  }

  function paged(items, place, show, noun, more = place, size = PAGE) {
    // Appends the first `items` to `place`, and to `more` a button that appends the next.
    const bar = make("p", { class: "more" });
    let shownSoFar = 0;
    const next = () => {
      const from = shownSoFar;
      bar.remove();
      place.append(...items.slice(from, from + size).map(show));
      shownSoFar = Math.min(items.length, from + size);
      const left = items.length - shownSoFar;
      bar.replaceChildren();
      if (left > 0) {
        const label = `Show ${number(Math.min(size, left))} more of ${counted(items.length, noun)}`;
        bar.append(button(label, next));
      }
      if (from > 0) focusFirst(place.children[from]);
      more.append(bar);
    };
    next();
  }

  function focusFirst(element) {
    const first = element.querySelector("summary, button, a") || element;
    if (first === element) element.tabIndex = -1;
    first.focus();
  }

  function say(sentence) {
    byId("said").textContent = sentence;
  }

  // What can be copied

  function commandLine(command) {
    const line = make("code", {}, command);
    const copy = button("Copy", async () => {
      try {
        await navigator.clipboard.writeText(command);
        copy.textContent = "Copied";
        say("The command is in the clipboard.");
      } catch {
        getSelection().selectAllChildren(line);
        copy.textContent = "Press Ctrl+C";
        say("The command is selected.");
      }
    });
    return make("div", { class: "command" },
      make("p", {}, "Run it alone"), make("div", {}, line, copy));
  }

  function command(cell) {
    const { environment, serializer, payload } = data.terms;
    const terms = [
      `writer=${environment[cells.writer[cell]]}`,
      `reader=${environment[cells.reader[cell]]}`,
      `serializer=${serializer[cells.serializer[cell]]}`,
      `payload=${payload[cells.payload[cell]]}`,
    ];
    return `${data.command} '${terms.join(" ")}'`;
  }

  // The filters, and their state in the fragment of the address

  const forms = ["filters", "case-filters"].map(byId).filter(Boolean);
  const controls = forms.flatMap((form) => [...form.elements]).filter((each) => each.name);
  const value = (name) => controls.find((each) => each.name === name)?.value ?? "";
  let opened = null; // writer and reader of the pair whose cells are shown

  function readAddress() {
    // Returns whether the fragment is a state, and not a place in the page.
    const fragment = location.hash.slice(1);
    if (fragment && !fragment.includes("=")) return false;
    const found = new URLSearchParams(fragment);
    for (const each of controls) {
      each.value = found.get(each.name) ?? "";
      if (each.selectedIndex === -1) each.value = "";
    }
    const pair = ["writer", "reader"].map((key) => data.environment.indexOf(found.get(key)));
    opened = pair.includes(-1) ? null : pair;
    return true;
  }

  function writeAddress() {
    const kept = new URLSearchParams();
    for (const each of controls) if (each.value) kept.set(each.name, each.value);
    if (opened) {
      kept.set("writer", data.environment[opened[0]]);
      kept.set("reader", data.environment[opened[1]]);
    }
    try {
      history.replaceState(null, "", `#${kept}`);
    } catch {
      // A frame without an address of its own, or too many changes: the page works without.
    }
  }

  function offer(name, options, least = 2) {
    const select = controls.find((each) => each.name === name);
    if (!select) return;
    for (const [option, label] of options) select.append(make("option", { value: option }, label));
    select.closest(".field").hidden = options.length < least;
  }

  const alike = (table) => table.map((each) => [each, each]);
  const occurring = (table, column) => {
    const found = new Set(column);
    return alike(table.filter((_, index) => found.has(index)));
  };

  function offerCells() {
    const only = [["breaks", "breaks"], ["new", "new breaks"], ["known", "known breaks"]];
    offer("only", only.filter(([name]) => everyKind.some(ONLY[name])), 1);
    offer("serializer", alike(data.serializer));
    offer("outcome", occurring(data.outcomes, kinds.outcome));
    offer("direction", occurring(data.directions, kinds.direction));
    offer("cause", alike([...data.cause].sort()));
    offer("server", alike(data.server));
  }

  const ONLY = {
    breaks: (kind) => kinds.broken[kind] && kinds.known[kind] === NONE,
    new: (kind) => kinds.fresh[kind] && kinds.known[kind] === NONE,
    known: (kind) => kinds.broken[kind] && kinds.known[kind] !== NONE,
  };

  function containing(table, part) {
    const wanted = part.toLowerCase();
    return table.map((each) => each.toLowerCase().includes(wanted));
  }

  function indexes(length, tests) {
    const found = [];
    for (let index = 0; index < length; index += 1) {
      if (tests.every((test) => test(index))) found.push(index);
    }
    return found;
  }

  function cellTests() {
    const tests = [];
    const byKind = (name, passes) => {
      if (!value(name)) return;
      const verdicts = everyKind.map(passes);
      tests.push((cell) => verdicts[cells.kind[cell]]);
    };
    const byColumn = (name, column, passes) => {
      if (value(name)) tests.push((cell) => passes[column[cell]]);
    };
    const equal = (table, name) => table.map((each) => each === value(name));
    byKind("only", ONLY[value("only")]);
    for (const [name, table] of [["outcome", data.outcomes], ["direction", data.directions], ["cause", data.cause]]) {
      byKind(name, (kind) => table[kinds[name][kind]] === value(name));
    }
    byColumn("serializer", cells.serializer, equal(data.serializer, "serializer"));
    byColumn("payload", cells.payload, containing(data.payload, value("payload")));
    byColumn("server", cells.slots, data.slots.map(
      (slots) => slots.some((slot) => data.server[data.owner[slot]] === value("server")),
    ));
    return tests;
  }

  // The heatmap

  const pairs = [];
  const taking = []; // environments that take part in any cell
  const pairOf = new Int32Array(cells.kind.length);
  const heat = { all: false, at: [0, 0], spots: [] };

  function findPairs() {
    const numbers = new Map();
    for (let cell = 0; cell < pairOf.length; cell += 1) {
      const key = cells.writer[cell] * data.environment.length + cells.reader[cell];
      let pair = numbers.get(key);
      if (pair === undefined) {
        pair = pairs.push({ writer: cells.writer[cell], reader: cells.reader[cell], cells: 0, key }) - 1;
        numbers.set(key, pair);
      }
      pairs[pair].cells += 1;
      pairOf[cell] = pair;
    }
    const found = new Set();
    for (const { writer, reader } of pairs) found.add(writer).add(reader);
    taking.push(...[...found].sort((one, other) => one - other));
  }

  const OWN_ONLY = ["own failure", "lossy"];
  const OK = data.marks.findIndex(([name]) => name === "ok");
  const MARKS_OF_SKEW = data.marks.findIndex(([name]) => name === "own failure"); // those before it

  function entriesOf(found) {
    const width = data.marks.length;
    const counts = new Int32Array(pairs.length * width);
    const fresh = new Int32Array(pairs.length);
    // What the writer's own cell shows too is shown there only, unless it is asked for.
    const asked = value("outcome") !== "";
    const elsewhere = data.marks.map(([name], index) => (OWN_ONLY.includes(name) && !asked ? OK : index));
    for (const cell of found) {
      const mark = kindOf(cell, "mark");
      counts[pairOf[cell] * width + (isOwn(cell) ? mark : elsewhere[mark])] += 1;
      fresh[pairOf[cell]] += kindOf(cell, "fresh");
    }
    const entries = new Map();
    pairs.forEach((pair, index) => {
      const own = counts.subarray(index * width, (index + 1) * width);
      const worst = own.findIndex((each) => each > 0);
      if (worst !== -1) {
        const total = own.reduce((sum, each) => sum + each, 0);
        const others = othersThan(worst, own);
        entries.set(pair.key, { ...pair, worst, number: own[worst], total, fresh: fresh[index], others });
      }
    });
    return entries;
  }

  function othersThan(worst, counts) {
    // What else is no good news between two environments, in words.
    if (worst >= OK) return "";
    return data.marks.slice(0, MARKS_OF_SKEW)
      .map(([name], index) => (index > worst && counts[index] ? `${number(counts[index])} ${name}` : ""))
      .filter(Boolean).join(", ");
  }

  function environmentsOf(entries) {
    // Those that take part in the worst, in their own order; all of them where they are few.
    const every = taking;
    if (heat.all || every.length <= MOST_ENVIRONMENTS) return [every, 0];
    const badness = new Map(every.map((each) => [each, [data.marks.length, 0]]));
    for (const { writer, reader, worst, number: times } of entries.values()) {
      for (const each of new Set([writer, reader])) {
        const [mark, sum] = badness.get(each);
        if (worst < mark) badness.set(each, [worst, times]);
        else if (worst === mark) badness.set(each, [mark, sum + times]);
      }
    }
    const order = (each) => badness.get(each)[0] * 1e9 - badness.get(each)[1];
    const kept = [...every].sort((one, other) => order(one) - order(other)).slice(0, MOST_ENVIRONMENTS);
    return [kept.sort((one, other) => one - other), every.length - kept.length];
  }

  function showHeatmap(found) {
    const entries = entriesOf(found);
    const [shown, leftOut] = environmentsOf(entries);
    const table = byId("heatmap");
    table.className = shown.length > ROOMY ? "compact" : shown.length <= FEW ? "few" : "";
    heat.spots = shown.map((writer) => shown.map((reader) => spot(writer, reader, entries)));
    const body = make("tbody", {});
    const headings = runs(shown);
    shown.forEach((writer, row) => body.append(make("tr", { role: "row", class: headings.has(row) ? "first" : null },
      rowHead(writer),
      ...heat.spots[row].map((each) => make("td", { role: "gridcell" }, each)))));
    table.replaceChildren(heads(shown, headings), body);
    moveTo(Math.min(heat.at[0], shown.length - 1), Math.min(heat.at[1], shown.length - 1), false);
    tellLeftOut(shown.length, leftOut);
  }

  function runs(shown) {
    // Neighbours whose names begin alike, by the index of the first: the heading and how many.
    const found = new Map();
    if (!data.labels.length) return found;
    let first = 0;
    shown.forEach((each, index) => {
      if (data.labels[each][0] !== data.labels[shown[first]][0]) first = index;
      const [, length] = found.get(first) ?? [null, 0];
      found.set(first, [data.labels[each][0], length + 1]);
    });
    return found;
  }

  const labelOf = (environment) => data.labels[environment]?.[1] ?? data.environment[environment];

  function heads(shown, headings) {
    const depth = headings.size ? 2 : 1;
    const corner = make("th", { class: "corner", rowspan: depth, scope: "col" },
      make("span", {}, "writer ↓"), make("span", {}, "reader →"));
    const last = shown.map((each) => make("th", { scope: "col", title: data.environment[each] },
      labelOf(each)));
    if (depth === 1) return make("thead", {}, make("tr", { role: "row" }, corner, ...last));
    const first = [...headings.values()].map(
      ([name, length]) => make("th", { scope: "colgroup", colspan: length, class: "heading" }, make("span", {}, name)));
    return make("thead", {}, make("tr", { role: "row" }, corner, ...first),
      make("tr", { role: "row" }, ...last));
  }

  function rowHead(writer) {
    const heading = data.labels[writer] ? make("span", { class: "heading" }, `${data.labels[writer][0]} `) : "";
    return make("th", { scope: "row", title: data.environment[writer] }, heading, labelOf(writer));
  }

  function spot(writer, reader, entries) {
    const entry = entries.get(writer * data.environment.length + reader);
    if (!entry) return make("span", { class: "spot none", tabindex: -1 }, "no cells");
    const [name, symbol] = data.marks[entry.worst];
    const made = button("", () => openPair(entry.writer, entry.reader), `spot ${markClass(name)}`);
    made.tabIndex = -1;
    made.append(
      make("span", { class: "word" }, sign(symbol), " ", name),
      make("span", { class: "number" }, number(entry.number),
        make("span", { class: "of" }, ` of ${number(entry.total)}`)),
      entry.others ? make("span", { class: "others" }, `and ${entry.others}`) : "",
      entry.fresh ? badge(`${number(entry.fresh)} new`) : "",
    );
    return made;
  }

  function tellLeftOut(shown, leftOut) {
    const place = byId("left-out");
    place.hidden = !leftOut && !heat.all;
    if (place.hidden) return;
    const [sentence, label] = leftOut
      ? [`The ${shown} environments that take part in the worst; ${number(leftOut)} more are not shown. `, "Show all"]
      : [`All ${shown} environments. `, "Show the worst only"];
    place.replaceChildren(sentence, button(label, () => {
      heat.all = !heat.all;
      apply();
    }));
  }

  function moveTo(row, column, focus) {
    const after = heat.spots[row]?.[column];
    if (!after) return; // beyond an edge
    const before = heat.spots[heat.at[0]]?.[heat.at[1]];
    if (before) before.tabIndex = -1;
    heat.at = [row, column];
    after.tabIndex = 0;
    if (focus) after.focus();
  }

  const MOVES = {
    ArrowUp: ([row, column]) => [row - 1, column],
    ArrowDown: ([row, column]) => [row + 1, column],
    ArrowLeft: ([row, column]) => [row, column - 1],
    ArrowRight: ([row, column]) => [row, column + 1],
    Home: ([row], event) => [event.ctrlKey ? 0 : row, 0],
    End: ([row], event, last) => [event.ctrlKey ? last : row, last],
    PageUp: ([row, column]) => [Math.max(0, row - 10), column],
    PageDown: ([row, column], _, last) => [Math.min(last, row + 10), column],
  };

  function onHeatmapKey(event) {
    const move = MOVES[event.key];
    if (!move || event.altKey || event.metaKey) return;
    event.preventDefault();
    moveTo(...move(heat.at, event, heat.spots.length - 1), true);
  }

  function onHeatmapFocus(event) {
    heat.spots.forEach((row, index) => {
      const column = row.indexOf(event.target);
      if (column !== -1) moveTo(index, column, false);
    });
  }

  // Cells, one by one

  function evidence(cell) {
    const error = kindOf(cell, "error");
    const places = kindOf(cell, "places");
    if (error.length) {
      return make("div", { class: "error" }, make("p", {}, text(error[0])), make("pre", {}, text(error[1])));
    }
    if (!places.length) {
      return make("p", { class: "quiet" }, "No error and no differences were recorded.");
    }
    const row = (each) => make("tr", {}, ...each.map((part, index) =>
      make(index ? "td" : "th", index ? {} : { scope: "row" }, code(text(part)))));
    const more = kindOf(cell, "more");
    const head = make("tr", {}, ...["Path", "Expected", "Got"].map((each) => make("th", { scope: "col" }, each)));
    return make("div", { class: "scroll", tabindex: 0, role: "group", "aria-label": "Differences" },
      make("table", { class: "diff" }, make("thead", {}, head), make("tbody", {}, ...places.map(row))),
      more ? make("p", { class: "quiet" }, `… and ${counted(more, "more place")}: see report.json.`) : "");
  }

  function hint(cell) {
    const found = data.hints[kindOf(cell, "hint")];
    if (!found) return "";
    const cause = kindOf(cell, "cause");
    const link = make("a", { href: `#${found[0]}` }, cause === NONE ? "What it means" : data.cause[cause]);
    link.addEventListener("click", () => byId("cells").close());
    return make("p", { class: "hint" }, text(found[1]), " ", link);
  }

  function slots(cell) {
    const own = data.slots[cells.slots[cell]];
    return own.length ? make("p", { class: "quiet" }, "Through ", names(data.slot, own)) : "";
  }

  function details(cell) {
    const known = kindOf(cell, "known");
    return [
      known === NONE ? "" : make("p", {}, `Known: ${text(known)}`),
      evidence(cell), hint(cell), slots(cell), commandLine(command(cell)),
    ];
  }

  function cellItem(cell, unfolded, withPair) {
    const cause = kindOf(cell, "cause");
    const way = kindOf(cell, "direction");
    const outcome = data.outcomes[kindOf(cell, "outcome")];
    const found = data.marks[kindOf(cell, "mark")][0];
    const pair = [code(data.environment[cells.writer[cell]]), " → ", code(data.environment[cells.reader[cell]])];
    const summary = make("summary", {},
      mark(data.marks, kindOf(cell, "mark"), found === outcome ? found : `${outcome}, ${found}`),
      make("span", { class: "what" }, code(data.serializer[cells.serializer[cell]]), " ",
        code(data.payload[cells.payload[cell]])),
      withPair ? make("span", { class: "pair" }, ...pair) : "",
      cause === NONE ? "" : make("span", { class: "cause" }, data.cause[cause]),
      way === NONE ? "" : make("span", { class: "quiet" }, data.directions[way]),
      kindOf(cell, "fresh") ? badge("new") : "");
    return folded(summary, () => details(cell), unfolded);
  }

  function folded(summary, fill, unfolded) {
    const made = make("details", {}, summary);
    const body = make("div", { class: "body" });
    const fillOnce = () => {
      if (made.open && !body.childNodes.length) body.append(...fill());
    };
    made.append(body);
    made.addEventListener("toggle", fillOnce);
    made.open = unfolded;
    fillOnce();
    return made;
  }

  function listCells(title, about, found, withPair) {
    const worstFirst = [...found].sort((one, other) => kindOf(one, "mark") - kindOf(other, "mark"));
    const list = make("div", { class: "items" });
    byId("cells-title").textContent = title;
    byId("cells-body").replaceChildren(make("p", { class: "about" }, about), list);
    paged(worstFirst, list, (cell) => cellItem(cell, cell === worstFirst[0], withPair), "cell",
      byId("cells-body"));
    const dialog = byId("cells");
    if (!dialog.open) dialog.showModal();
    dialog.scrollTop = 0;
    byId("cells-title").focus();
  }

  function openPair(writer, reader) {
    const index = pairs.findIndex((each) => each.writer === writer && each.reader === reader);
    const found = current.filter((cell) => pairOf[cell] === index);
    if (index === -1 || !found.length) {
      opened = null;
      return;
    }
    opened = [writer, reader];
    const title = writer === reader
      ? `${data.environment[writer]} reads its own memory`
      : `${data.environment[writer]} → ${data.environment[reader]}`;
    const about = `Written by ${data.environment[writer]}, read by ${data.environment[reader]}: `;
    listCells(title, about + shareOf(found.length, pairs[index].cells), found, false);
    writeAddress();
  }

  function shareOf(some, all) {
    if (some === all) return `${counted(all, "cell")}, worst first.`;
    return `${number(some)} of ${counted(all, "cell")} match the filters, worst first.`;
  }

  // Cells by cause

  let groupNumber = 0;
  const lists = data.lists.map((groups) => groups.map((group) => ({ ...group, index: groupNumber++ })));

  function showLists(found) {
    const inGroups = gather(found);
    const filtered = found.length < pairOf.length;
    document.querySelectorAll("#why .list").forEach((section, index) => {
      const shown = lists[index].filter(
        (group) => !filtered || group.example === NONE || inGroups.has(group.index));
      const place = section.querySelector(".groups");
      place.replaceChildren();
      if (!shown.length) place.append(make("p", { class: "quiet" }, "None of these match the filters."));
      paged(shown, place, (group) => groupItem(group, filtered ? inGroups.get(group.index) : null),
        "cause", place, 20);
    });
  }

  function gather(found) {
    // By group: how many of its cells were found, and which serializers and payloads they have.
    const groups = new Map();
    for (const cell of found) {
      const index = kindOf(cell, "group");
      if (index === NONE) continue;
      if (!groups.has(index)) groups.set(index, { number: 0, whats: new Set() });
      const group = groups.get(index);
      group.number += 1;
      group.whats.add(whatKey(cells.serializer[cell], cells.payload[cell]));
    }
    return groups;
  }

  const whatKey = (serializer, payload) => serializer * data.payload.length + payload;

  function groupItem(group, some) {
    const all = counted(group.cells, "cell");
    const size = some && some.number < group.cells ? `${number(some.number)} of ${all}` : all;
    const title = make("h3", {},
      mark(data.marks, group.mark),
      group.cause === NONE ? "" : make("span", { class: "cause" }, data.cause[group.cause]),
      make("span", { class: "quiet" }, `${size}, ${counted(group.pairs, "pair")}`),
      group.fresh ? badge(`${number(group.fresh)} new`) : "");
    const shown = group.findings.filter(([serializers, payloads]) => !some || serializers.some(
      (serializer) => payloads.some((payload) => some.whats.has(whatKey(serializer, payload)))));
    const findings = make("ul", { class: "findings" });
    const more = make("div", {});
    const made = make("article", { class: "group" }, title,
      group.reason === NONE ? "" : make("p", { class: "hint" }, text(group.reason)),
      group.hint === NONE ? "" : make("p", { class: "hint" }, text(group.hint)), findings, more);
    paged(shown, findings, finding, "finding", more, 5);
    made.append(...example(group));
    return made;
  }

  function finding([serializers, payloads, flows, size]) {
    const place = make("span", { class: "flows" });
    const list = make("li", {},
      names(data.serializer, serializers), ": ", names(data.payload, payloads), place,
      make("span", { class: "quiet" }, counted(size, "cell")));
    for (const [writers, readers, ways] of flows.slice(0, 6)) {
      const way = ways.map((each) => data.directions[each]).join(", ");
      place.append(make("span", { class: "flow" }, names(data.environment, writers), " → ",
        names(data.environment, readers), way ? make("span", { class: "quiet" }, ` ${way}`) : ""));
    }
    if (flows.length > 6) place.append(make("span", { class: "quiet" }, `and ${number(flows.length - 6)} more`));
    return list;
  }

  function example(group) {
    const cell = group.example;
    if (cell === NONE) return [];
    const what = make("p", { class: "example" }, "For example ",
      code(data.environment[cells.writer[cell]]), " → ", code(data.environment[cells.reader[cell]]), ", ",
      code(data.serializer[cells.serializer[cell]]), ", ", code(data.payload[cells.payload[cell]]));
    const all = button(`Show ${group.cells === 1 ? "the cell" : `all ${counted(group.cells, "cell")}`}`, () => {
      const own = indexes(pairOf.length, [(each) => kindOf(each, "group") === group.index]);
      const cause = group.cause === NONE ? "" : `, ${data.cause[group.cause]}`;
      listCells(`${data.marks[group.mark][0]}${cause}`, shareOf(own.length, own.length), own, true);
    });
    return [what, evidence(cell), commandLine(command(cell)), make("p", { class: "more" }, all)];
  }

  // The memory test suite

  const SUITE_MARKS = {
    passed: "ok", failed: "unreadable", error: "own failure", "not-offered": "unwritable",
    waived: "known", skipped: "skipped",
  };
  const RANK = ["failed", "error", "waived", "skipped", "not-offered", "passed"];
  const suite = data.suite;
  const outcomeOf = (result) => suite.outcomes[results.outcome[result]][0];
  const isNew = (result) => suite.compared && outcomeOf(result) === "failed" && !results.still[result];

  function caseMark(outcome) {
    const [name, symbol] = suite.outcomes[outcome];
    return make("span", { class: `mark ${markClass(SUITE_MARKS[name])}` }, sign(symbol), ` ${name}`);
  }

  function offerCases() {
    const fresh = indexes(results.case.length, [isNew]).length ? [["new", "newly failed"]] : [];
    offer("case-outcome", [...occurring(suite.outcomes.map(([name]) => name), results.outcome), ...fresh]);
    offer("case-store", alike(suite.stores));
    offer("case-environment", occurring(data.environment, results.environment));
    offer("case-server", alike(suite.servers));
    offer("case-group", alike([...suite.groups].sort()));
  }

  function caseTests() {
    const tests = [];
    const add = (name, test) => {
      if (value(name)) tests.push(test);
    };
    const outcome = value("case-outcome");
    const contains = containing(suite.cases, value("case"));
    const onServer = suite.sets.map((set) => set.some((each) => suite.servers[each] === value("case-server")));
    add("case-outcome", outcome === "new" ? isNew : (result) => outcomeOf(result) === outcome);
    add("case-store", (result) => suite.stores[results.store[result]] === value("case-store"));
    add("case-environment",
      (result) => data.environment[results.environment[result]] === value("case-environment"));
    add("case-server", (result) => onServer[results.servers[result]]);
    add("case-group", (result) => suite.groups[results.group[result]] === value("case-group"));
    add("case", (result) => contains[results.case[result]]);
    return tests;
  }

  function showSuite() {
    const found = indexes(results.case.length, caseTests());
    const all = results.case.length;
    byId("cases-shown").textContent = found.length === all
      ? `All ${counted(all, "result")}.`
      : `${number(found.length)} of ${counted(all, "result")} match.`;
    showStores(found);
    showTroubles(found);
    showResults(found);
  }

  function showStores(found) {
    const rows = new Map();
    for (const result of found) {
      const key = ["store", "environment", "servers"].map((name) => results[name][result]).join();
      if (!rows.has(key)) rows.set(key, { result, counts: suite.outcomes.map(() => 0) });
      rows.get(key).counts[results.outcome[result]] += 1;
    }
    const came = suite.outcomes.map((_, index) => index).filter(
      (index) => [...rows.values()].some(({ counts }) => counts[index]));
    const head = ["Store", "Environment", "Servers"].map((each) => make("th", { scope: "col" }, each));
    const outcomes = came.map((index) => make("th", { scope: "col", class: "times" }, caseMark(index)));
    const body = make("tbody", {});
    const place = ({ result }) => ["store", "environment", "servers"].map((name) => results[name][result]);
    const sorted = [...rows.values()].sort((one, other) => compare(place(one), place(other)));
    byId("stores").replaceChildren(make("thead", {}, make("tr", {}, ...head, ...outcomes)), body);
    byId("stores-more").replaceChildren();
    paged(sorted, body, ({ result, counts }) => make("tr", {},
      make("th", { scope: "row" }, code(suite.stores[results.store[result]])),
      make("td", {}, code(data.environment[results.environment[result]])),
      make("td", {}, names(suite.servers, suite.sets[results.servers[result]])),
      ...came.map((index) => timesField(counts[index], suite.outcomes[index][0]))),
    "row", byId("stores-more"));
  }

  function compare(some, others) {
    const index = some.findIndex((each, at) => each !== others[at]);
    return index === -1 ? 0 : some[index] - others[index];
  }

  function timesField(times, outcome) {
    const bad = times && ["failed", "error"].includes(outcome);
    return make("td", { class: "times" }, bad
      ? make("span", { class: `mark ${markClass(SUITE_MARKS[outcome])}` }, number(times))
      : number(times));
  }

  const troubleKey = (store, name, outcome, still) => [store, name, outcome, still].join();

  function showTroubles(found) {
    const matched = new Set(found.map((result) => troubleKey(...["store", "case", "outcome", "still"].map(
      (name) => results[name][result]))));
    const place = byId("troubles");
    place.replaceChildren();
    for (const { title, cases, rest } of suite.troubles) {
      const shown = cases.filter((each) => matched.has(troubleKey(each.store, each.case, each.outcome, each.still)));
      const list = make("div", {});
      place.append(make("h3", {}, title), list);
      if (!shown.length) list.append(make("p", { class: "quiet" }, "None of these match the filters."));
      paged(shown, list, troubleItem, "case", list, 20);
      if (rest) place.append(make("p", { class: "quiet" }, `… and ${counted(rest, "more case")}, among the results below.`));
    }
  }

  function troubleItem(each) {
    const messages = make("ul", { class: "findings" }, ...each.messages.map(([where, said]) =>
      make("li", {}, make("span", { class: "quiet" }, text(where)), make("pre", {}, text(said)))));
    return make("article", { class: "group" },
      make("h4", {}, caseMark(each.outcome), code(suite.cases[each.case]), code(suite.stores[each.store]),
        make("span", { class: "quiet" }, `${number(each.cells)} of ${counted(each.ran, "cell")}`),
        suite.compared && !each.still && suite.outcomes[each.outcome][0] === "failed" ? badge("new") : ""),
      messages,
      each.rest ? make("p", { class: "quiet" }, `… and ${counted(each.rest, "more message")} elsewhere.`) : "",
      commandLine(each.command));
  }

  function showResults(found) {
    const rank = (result) => RANK.indexOf(outcomeOf(result));
    const sorted = [...found].sort((one, other) => rank(one) - rank(other));
    const head = ["Outcome", "Case", "Store", "Environment", "Servers", "Reason"];
    const body = make("tbody", {});
    byId("results").replaceChildren(
      make("thead", {}, make("tr", {}, ...head.map((each) => make("th", { scope: "col" }, each)))), body);
    byId("results-more").replaceChildren();
    paged(sorted, body, resultRow, "result", byId("results-more"));
  }

  function resultRow(result) {
    const serializer = results.serializer[result];
    return make("tr", {},
      make("td", {}, caseMark(results.outcome[result]), isNew(result) ? badge("new") : ""),
      make("th", { scope: "row" }, code(suite.cases[results.case[result]])),
      make("td", {}, code(suite.stores[results.store[result]]),
        ...(serializer === NONE ? [] : [" with ", code(suite.serializers[serializer])])),
      make("td", {}, code(data.environment[results.environment[result]])),
      make("td", {}, names(suite.servers, suite.sets[results.servers[result]])),
      make("td", {}, results.reason[result] === NONE ? "" : text(results.reason[result])));
  }

  // All of it

  let current = [];

  function apply() {
    if (byId("filters")) {
      current = indexes(pairOf.length, cellTests());
      const all = counted(pairOf.length, "cell");
      byId("shown").textContent = current.length === pairOf.length
        ? `All ${all} in ${counted(pairs.length, "pair")}.`
        : `${number(current.length)} of ${all} match.`;
      byId("list").disabled = !current.length;
      showHeatmap(current);
      showLists(current);
    }
    if (byId("case-filters")) showSuite();
  }

  function onAddress() {
    if (!readAddress()) {
      byId(location.hash.slice(1))?.focus();
      return;
    }
    byId("cells").close();
    apply();
    if (opened) openPair(...opened);
  }

  function legend(id, marks, style) {
    byId(id)?.append(...marks.map(([name, symbol, meaning]) => make("li", {},
      make("span", { class: `mark ${markClass(style(name))}` }, sign(symbol), ` ${name}`), ` ${meaning}`)));
  }

  function legends() {
    const used = new Set(kinds.mark);
    legend("legend", data.marks.filter((_, index) => used.has(index) || index === OK), (name) => name);
    const came = new Set(results.outcome);
    legend("case-legend", suite.outcomes.filter((_, index) => came.has(index)), (name) => SUITE_MARKS[name]);
  }

  function listen() {
    let waiting = 0;
    const changed = () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => {
        apply();
        writeAddress();
      }, 120);
    };
    for (const form of forms) {
      form.addEventListener("submit", (event) => event.preventDefault());
      form.addEventListener("input", changed);
      form.addEventListener("reset", () => setTimeout(changed));
    }
    byId("heatmap")?.addEventListener("keydown", onHeatmapKey);
    byId("heatmap")?.addEventListener("focusin", onHeatmapFocus);
    byId("list")?.addEventListener("click", () => listCells("Cells", shareOf(current.length, pairOf.length), current, true));
    byId("close").addEventListener("click", () => byId("cells").close());
    byId("cells").addEventListener("click", (event) => {
      if (event.target === byId("cells")) byId("cells").close();
    });
    byId("cells").addEventListener("close", () => {
      if (byId("cells").open) return; // another pair's cells took the place of these
      opened = null;
      if (location.hash.includes("=")) writeAddress();
    });
    addEventListener("hashchange", onAddress);
    for (const link of document.querySelectorAll(".counts a")) link.addEventListener("click", onCount);
  }

  function onCount(event) {
    const form = event.currentTarget.hash.startsWith("#case") ? "suite" : "where";
    setTimeout(() => byId(form).scrollIntoView());
  }

  function packages() {
    for (const each of document.querySelectorAll(".packages")) {
      each.addEventListener("toggle", () => {
        if (each.childElementCount > 1) return;
        const own = data.packages[Number(each.dataset.environment)];
        each.append(make("ul", {}, ...own.map((number) => make("li", {}, code(text(number))))));
      });
    }
  }

  function printing() {
    const shut = [];
    addEventListener("beforeprint", () => {
      shut.push(...document.querySelectorAll("details:not([open])"));
      for (const each of shut) each.open = true;
    });
    addEventListener("afterprint", () => {
      for (const each of shut.splice(0)) each.open = false;
    });
  }

  // Light and dark

  function theme() {
    const toggle = byId("theme");
    const system = matchMedia("(prefers-color-scheme: dark)");
    const root = document.documentElement;
    const remembered = stored(() => localStorage.getItem(THEME));
    if (["light", "dark"].includes(remembered)) root.dataset.theme = remembered;
    const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
    const show = () => {
      toggle.textContent = isDark() ? "Light" : "Dark";
      toggle.setAttribute("aria-label", `Switch to ${isDark() ? "light" : "dark"} colours`);
    };
    toggle.hidden = false;
    toggle.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      stored(() => localStorage.setItem(THEME, root.dataset.theme));
      show();
    });
    system.addEventListener("change", show);
    show();
  }

  function stored(access) {
    try {
      return access();
    } catch {
      return null; // where pages may keep nothing
    }
  }

  document.documentElement.classList.add("scripts");
  theme();
  findPairs();
  offerCells();
  offerCases();
  legends();
  readAddress();
  apply();
  listen();
  packages();
  printing();
  if (opened) openPair(...opened);
  document.documentElement.dataset.ready = "";
})();
