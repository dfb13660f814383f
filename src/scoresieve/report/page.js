"use strict";
(() => {
  const contents = JSON.parse(document.getElementById("contents").textContent);
  const state = { part: 0, size: 0, query: "", key: "size", down: true };
  const find = (id) => document.getElementById(id);
  const short = (x, digits = 3) => Number(x).toFixed(digits);
  const weight = (x) => (x < 0 ? "−" : "+") + Math.abs(x).toPrecision(4);
  const count = (n, noun) => `${n} ${n === 1 ? noun.slice(0, -1) : noun}`;

  // Names of features are only ever text of a node, never HTML.
  function add(parent, tag, text, attributes = {}) {
    const node = document.createElement(tag);
    if (text !== undefined) node.textContent = text;
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    parent.append(node);
    return node;
  }
  function shape(parent, tag, attributes, text) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }
  const part = () => contents.parts[state.part];
  const size = () => part().sizes[state.size];

  // A chart as wide as its place, so that its letters have the size of the page's.
  function chart(place, about, xs, ys, labels, draw) {
    place.textContent = "";
    const width = Math.max(260, Math.min(place.clientWidth || 640, 760));
    const height = Math.round(Math.min(380, Math.max(240, 0.55 * width)));
    const box = { left: 62, right: 14, top: 12, bottom: 46 };
    const at = (axis, low, high) => (v) => {
      const [a, b, x] = axis.log ? [Math.log(axis.min), Math.log(axis.max), Math.log(v)] : [axis.min, axis.max, v];
      return low + ((x - a) / (b - a || 1)) * (high - low);
    };
    const x = at(xs, box.left, width - box.right), y = at(ys, height - box.bottom, box.top);
    const svg = shape(place, "svg", {
      viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": about,
    });
    for (const tick of ys.ticks) {
      shape(svg, "line", { x1: box.left, x2: width - box.right, y1: y(tick), y2: y(tick), class: "grid" });
      shape(svg, "text", { x: box.left - 7, y: y(tick) + 4, "text-anchor": "end" }, ys.text(tick));
    }
    let last = -99;
    for (const tick of xs.ticks) {
      if (x(tick) - last < 26) continue;
      last = x(tick);
      shape(svg, "text", { x: x(tick), y: height - box.bottom + 19, "text-anchor": "middle" }, xs.text(tick));
    }
    shape(svg, "line", { x1: box.left, x2: width - box.right, y1: height - box.bottom, y2: height - box.bottom, class: "axis" });
    shape(svg, "text", { x: (box.left + width) / 2, y: height - 6, "text-anchor": "middle", class: "faint" }, labels[0]);
    shape(svg, "text", { x: 13, y: (height - box.bottom) / 2, "text-anchor": "middle", class: "faint", transform: `rotate(-90 13 ${(height - box.bottom) / 2})` }, labels[1]);
    draw(svg, x, y, { left: box.left, right: width - box.right, top: box.top, bottom: height - box.bottom });
  }
  const line = (points, x, y) => points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("");
  // Precision holds from one threshold to the next, so that the curve has steps.
  const steps = (points, x, y) => points.map(([a, b], i) => (i ? `H${x(a).toFixed(1)}V${y(b).toFixed(1)}` : `M${x(a).toFixed(1)} ${y(b).toFixed(1)}`)).join("");

  function niceTicks(low, high) {
    const raw = (high - low) / 4 || 0.1, unit = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map((m) => m * unit).find((s) => s >= raw);
    const ticks = [];
    for (let t = Math.ceil(low / step - 1e-9) * step; t <= high + 1e-9; t += step) ticks.push(t);
    return { ticks, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
  }

  function drawCurve() {
    const { sizes, chosen, floor, measure, noun } = part();
    const lows = sizes.map((s) => s.best.score - s.best.error), highs = sizes.map((s) => s.best.score + s.best.error);
    const low = Math.max(0, Math.min(...lows) - 0.02), high = Math.min(1.02, Math.max(...highs) + 0.02);
    const { ticks, digits } = niceTicks(low, high);
    const first = sizes[0].size, last = sizes[sizes.length - 1].size;
    const top = Math.max(...sizes.map((s) => s.best.score));
    const spread = last > first ? (last / first) ** 0.04 : 1.5;
    chart(find("curve"), `${measure} against the number of ${noun}; the table below has the numbers`,
      { min: first / spread, max: last * spread, log: true, ticks: sizes.map((s) => s.size), text: String },
      { min: low, max: high, ticks, text: (t) => t.toFixed(digits) },
      [`number of ${noun}`, measure],
      (svg, x, y, box) => {
        shape(svg, "rect", { x: box.left, width: box.right - box.left, y: y(top), height: Math.max(1, y(Math.max(floor, low)) - y(top)), fill: "var(--band)" });
        shape(svg, "path", { d: line(sizes.map((s) => [s.size, s.best.score]), x, y), fill: "none", stroke: "var(--for)", "stroke-width": 2 });
        sizes.forEach((s, i) => {
          const a = x(s.size);
          shape(svg, "line", { x1: a, x2: a, y1: y(Math.max(low, lows[i])), y2: y(highs[i]), stroke: "var(--for)" });
          shape(svg, "circle", { cx: a, cy: y(s.best.score), r: 4, fill: "var(--for)" });
          if (i === chosen) shape(svg, "circle", { cx: a, cy: y(s.best.score), r: 9, fill: "none", stroke: "var(--mark)", "stroke-width": 2 });
          if (i === state.size) shape(svg, "line", { x1: a, x2: a, y1: box.top, y2: box.bottom, stroke: "var(--mark)", "stroke-dasharray": "4 4", id: "now" });
        });
      });
    const table = document.createElement("table");
    add(table, "caption", `Cross-validated ${measure}`);
    const head = add(add(table, "thead"), "tr");
    for (const text of [noun, measure, "standard error", "best setting"]) add(head, "th", text, { scope: "col" });
    const body = add(table, "tbody");
    sizes.forEach((s, i) => {
      const row = add(body, "tr");
      add(row, "th", s.size + (i === chosen ? " (chosen)" : ""), { scope: "row" });
      for (const text of [short(s.best.score), short(s.best.error), s.best.setting]) add(row, "td", text);
    });
    find("curve-table").replaceChildren(table);
  }

  function showSize() {
    const { noun, chosen, measure } = part(), { best, model, folds } = size(), n = size().size;
    find("size-now").textContent = count(n, noun);
    if (!best) return;
    let words = `${count(n, noun)}${state.size === chosen ? " (chosen)" : ""}: cross-validated ${measure} ${short(best.score)} `
      + `(standard error ${short(best.error)}), selected by ${best.setting}.`;
    if (model && model.setting !== best.setting) {
      words += ` The table below shows the chosen setting with ${count(n, noun)}: ${measure} ${short(model.score)}, selected by ${model.setting}.`;
    }
    if (!model && folds) words += ` The table below shows the ${noun} selected in the ${folds.n_fits} fits of the cross-validation.`;
    if (!model && !folds) words += ` No ${noun} are saved for this number; to see them, fit with it.`;
    find("size-words").textContent = words;
    find("size").setAttribute("aria-valuetext", `${count(n, noun)}, ${measure} ${short(best.score)}`);
  }

  // Name, weight (null without a model) and number of fits (null where that is not known).
  function listed() {
    const { model, folds } = size();
    const counts = new Map(folds ? folds.columns.map((column, i) => [column, folds.counts[i]]) : []);
    if (model) return model.features.map(([name, w], i) => [name, w, folds ? counts.get(model.columns[i]) || 0 : null]);
    return folds ? folds.names.map((name, i) => [name, null, folds.counts[i]]) : [];
  }

  function showFeatures() {
    const { noun } = part(), { model, folds } = size(), table = find("features"), body = table.tBodies[0];
    const all = listed(), key = model || state.key === "name" ? state.key : "fits";
    table.classList.toggle("without-weights", !model);
    table.classList.toggle("without-fits", !folds);
    const weights = model ? "Weights: positive (solid) for the class, negative (hatched) against it. " : "";
    const fits = folds ? `Fits: how many of the ${folds.n_fits} fits of the cross-validation ${model ? "also " : ""}selected it.` : "";
    find("features-caption").textContent = weights + fits;
    const query = state.query.trim().toLowerCase();
    const seen = all.filter(([name]) => name.toLowerCase().includes(query));
    const value = { name: ([name]) => name, weight: ([, w]) => w, size: ([, w]) => Math.abs(w), fits: ([, , n]) => n }[key];
    seen.sort((one, other) => {
      const [a, b] = [value(one), value(other)];
      const order = typeof a === "string" ? a.localeCompare(b, undefined, { numeric: true }) : a - b;
      return state.down ? -order : order;
    });
    const largest = Math.max(...all.map(([, w]) => Math.abs(w)), 0) || 1;
    body.replaceChildren();
    const bar = (cell, share, kind) => {
      const track = add(cell, "span", undefined, { class: "track", "aria-hidden": "true" });
      add(track, "span", undefined, { class: kind }).style.width = `${100 * share}%`;
    };
    for (const [name, w, n] of seen) {
      const row = add(body, "tr");
      add(row, "th", name, { scope: "row" });
      add(row, "td", model ? weight(w) : "", { class: "number" });
      bar(add(row, "td", undefined, { class: "bar" }), Math.abs(w) / largest, w < 0 ? "against" : "for");
      const cell = add(row, "td", folds ? `${n} of ${folds.n_fits}` : "", { class: "fits" });
      if (!model) bar(cell, n / folds.n_fits, "for");
    }
    const tall = table.parentElement, more = tall.scrollHeight > tall.clientHeight + 2 ? "; scroll for more" : "";
    find("count").textContent = all.length ? `${seen.length} of ${count(all.length, noun)} shown${more}` : "";
    find("features-words").textContent = featuresWords();
    for (const th of table.tHead.rows[0].cells) {
      th.setAttribute("aria-sort", th.dataset.key === key ? (state.down ? "descending" : "ascending") : "none");
    }
  }

  function featuresWords() {
    const { noun, sizes, chosen } = part(), { model, folds, size: n } = size(), most = sizes[chosen].size;
    if (model) return "";
    if (!folds) return `No ${noun} are saved for ${n}. Move the slider to ${most} or fewer.`;
    return `Models of all ${contents.rows} have at most ${count(most, noun)}. For ${n}, the table shows how often the fits of the `
      + "cross-validation selected each; every fit has its own weights, so none are shown.";
  }

  // Of several classes the score of all of them is in the overview, and each has its own here.
  function testScore() {
    const { title } = part(), { model } = size(), test = contents.test;
    const about = count(test.n_samples, `test ${contents.rows}`);
    if (!contents.overview) return `The fitted model: ${test.measure} ${short(test.score)} on ${about}.`;
    const own = model && model.point && model.point.score;
    return typeof own === "number" ? `${title} against the rest: ${test.measure} ${short(own)} on ${about}.` : `${title} against the rest, on ${about}.`;
  }

  function fill(table, head, rows) {
    const top = add(table.tHead, "tr");
    head.forEach((text, i) => add(top, "th", text, { scope: "col", ...(i ? { class: "number" } : {}) }));
    for (const [name, ...cells] of rows) {
      const row = add(table.tBodies[0], "tr");
      add(row, "th", name, { scope: "row" });
      for (const text of cells) add(row, "td", text, { class: "number" });
    }
  }

  function showOverview() {
    const { overview, test, rows: noun } = contents;
    find("s-overview").hidden = !overview;
    if (!overview) return;
    for (const [name, text] of overview.facts) { add(find("overview-facts"), "dt", name); add(find("overview-facts"), "dd", text); }
    const columns = overview.columns.map(([heading, cells]) => [heading, ...cells]);
    const points = contents.parts.map((each) => each.sizes[each.chosen].model.point);
    if (test && points.some((point) => point && point.score !== null)) {
      columns.push([`${test.measure}, test`, ...points.map((point) => (point ? short(point.score) : "-"))]);
    }
    const [head, ...rows] = columns[0].map((_, i) => columns.map((column) => column[i]));
    fill(find("overview"), head, rows);
    if (!test) return;
    find("overview-words").textContent = `All classes: ${test.measure} ${short(test.score)} on ${count(test.n_samples, `test ${noun}`)}.`;
    find("s-classes").hidden = !test.confusion;
    if (!test.confusion) return;
    const { labels, counts } = test.confusion;
    fill(find("classes"), ["", ...labels], counts.map((row, i) => [labels[i], ...row]));
  }

  function showTest() {
    const { title, measure, noun } = part(), { model } = size(), point = model && model.point, test = contents.test;
    let words = "No test rows were given. model.report(path, X_test, y_test) adds the score on them.";
    if (test) words = testScore();
    if (test && !model) words += ` No model with ${count(size().size, noun)} was fitted on all training ${contents.rows}.`;
    if (test && model && !point && measure) words += ` They lack either ${title} or other classes, so there is no curve.`;
    if (point && state.size !== part().chosen) words += ` Below: the chosen setting with ${count(size().size, noun)}.`;
    find("test-words").textContent = words;
    find("test").hidden = !point;
    if (!point) return;
    const body = find("confusion").tBodies[0], [[tn, fp], [fn, tp]] = point.confusion;
    body.replaceChildren();
    for (const [name, a, b, right] of [["others", tn, fp, 0], [title, fn, tp, 1], ["sum", tn + fn, fp + tp, 2]]) {
      const row = add(body, "tr");
      add(row, "th", name, { scope: "row" });
      add(row, "td", a, right === 0 ? { class: "right" } : {});
      add(row, "td", b, right === 1 ? { class: "right" } : {});
      add(row, "td", a + b);
    }
    const fifths = [0, 0.2, 0.4, 0.6, 0.8, 1], axis = { min: 0, max: 1, ticks: fifths, text: (t) => t.toFixed(1) };
    chart(find("recall"), `Precision against recall; the model has precision ${short(point.precision)} and recall ${short(point.recall)}`,
      axis, { ...axis, max: 1.04 }, ["recall", "precision"],
      (svg, x, y, box) => {
        shape(svg, "line", { x1: box.left, x2: box.right, y1: y(point.share), y2: y(point.share), stroke: "var(--faint)", "stroke-dasharray": "2 4" });
        shape(svg, "path", { d: steps(point.curve, x, y), fill: "none", stroke: "var(--for)", "stroke-width": 2 });
        if (point.price_line.length) shape(svg, "path", { d: line(point.price_line, x, y), fill: "none", stroke: "var(--against)", "stroke-width": 2, "stroke-dasharray": "7 4" });
        shape(svg, "circle", { cx: x(point.recall), cy: y(point.precision), r: 6, fill: "var(--mark)" });
      });
    find("recall-words").textContent = `The dot is the model: precision ${short(point.precision)}, recall ${short(point.recall)}. `
      + "Solid: all thresholds. Dotted: random predictions."
      + (point.price_line.length ? ` Dashed: worth the same if a false alarm costs ${short(point.price, 2)} of a missed positive.` : "");
  }

  function showCalibration() {
    const { calibration, chosen } = part(), isShown = Boolean(calibration) && state.size === chosen;
    find("calibration-figure").hidden = !isShown;
    if (!isShown) return;
    const fifths = [0, 0.2, 0.4, 0.6, 0.8, 1], axis = { min: 0, max: 1, ticks: fifths, text: (t) => t.toFixed(1) };
    chart(find("calibration"), "Share of positives against predicted probability", axis, { ...axis, max: 1.04 },
      ["predicted probability", "share of positives"],
      (svg, x, y) => {
        shape(svg, "line", { x1: x(0), x2: x(1), y1: y(0), y2: y(1), stroke: "var(--faint)", "stroke-dasharray": "2 4" });
        shape(svg, "path", { d: line(calibration, x, y), fill: "none", stroke: "var(--for)", "stroke-width": 2 });
        for (const [a, b] of calibration) shape(svg, "circle", { cx: x(a), cy: y(b), r: 4, fill: "var(--for)" });
      });
  }

  function showPart() {
    const { sizes, heading, facts, noun, n_columns } = part();
    for (const node of document.querySelectorAll(".noun")) node.textContent = noun;
    for (const node of document.querySelectorAll(".rows")) node.textContent = contents.rows;
    find("heading").textContent = heading;
    find("s-sizes").hidden = !sizes[0].best || sizes.length < 2;
    find("size").max = sizes.length - 1;
    find("size").value = state.size;
    const list = find("facts");
    list.replaceChildren();
    for (const [name, text] of facts) { add(list, "dt", name); add(list, "dd", text); }
    const rows = [["fitted on", (facts.find(([name]) => name === "fitted on") || [])[1]],
      ["columns to select from", n_columns], ["selected", count(sizes[part().chosen].model.features.length, noun)],
      [`test ${contents.rows}`, contents.test ? contents.test.n_samples : "none"]];
    const body = find("data-table").tBodies[0];
    body.replaceChildren();
    for (const [name, text] of rows) {
      if (text === undefined || text === null) continue;
      const row = add(body, "tr");
      add(row, "th", name, { scope: "row" });
      add(row, "td", text);
    }
    show();
  }
  function show() {
    if (!find("s-sizes").hidden) drawCurve();
    showSize();
    showFeatures();
    showTest();
    showCalibration();
  }

  contents.parts.forEach((each, number) => add(find("part"), "option", each.title, { value: number }));
  showOverview();
  find("chooser").hidden = contents.parts.length < 2;
  find("part").addEventListener("change", (event) => {
    state.part = Number(event.target.value);
    state.size = part().chosen;
    showPart();
  });
  find("size").addEventListener("input", (event) => { state.size = Number(event.target.value); show(); });
  find("search").addEventListener("input", (event) => { state.query = event.target.value; showFeatures(); });
  for (const th of find("features").tHead.rows[0].cells) {
    th.firstElementChild.addEventListener("click", () => {
      state.down = state.key === th.dataset.key ? !state.down : th.dataset.key !== "name";
      state.key = th.dataset.key;
      showFeatures();
    });
  }
  const isDark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const mark = () => find("theme").setAttribute("aria-pressed", String(isDark()));
  find("theme").addEventListener("click", () => { document.documentElement.dataset.theme = isDark() ? "light" : "dark"; mark(); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", mark);
  addEventListener("resize", show);
  mark();
  state.size = part().chosen;
  showPart();
})();
