"use strict";
// Ranks the structures at the reader's number of timers and mix, and plots them with uPlot. Only
// some sizes and mixes were measured. A figure between two of them is interpolated, and beyond the
// last measured one there is none.
(() => {
  const root = document.getElementById("explore");
  const find = (what) => root.querySelector(what);
  const { runs, TIE, COLOURED } = JSON.parse(find("[type='application/json']").textContent);
  const { mixes, sizes: own, takes } = runs[0]; // runs[1] is shown next to it, if there is one
  const sizes = [...new Set(runs.flatMap((run) => run.sizes))].sort((a, b) => a - b);
  const form = find("form"), table = find("table"), figure = find("figure");
  const rows = [...table.tBodies[0].rows], names = rows.map((row) => row.dataset.name);
  const boxes = rows.map((row) => row.querySelector("input"));
  let n, mix, fires, metric; // the choice; no mix if the share is between two mixes

  // The indices of the two values around x in a sorted list, and where x is between them, from 0
  // to 1; null if x is outside the list.
  function around(list, x, scale) {
    const after = list.findIndex((value) => value >= x);
    if (after < 0 || x < list[0]) return null;
    if (list[after] === x) return [after, after, 0];
    const [low, high] = [list[after - 1], list[after]].map(scale);
    return [after - 1, after, (scale(x) - low) / (high - low)];
  }

  function between(a, b, part, to, from) {
    if (part === 0) return a;
    return a === null || b === null ? null : from(to(a) * (1 - part) + to(b) * part);
  }

  const same = (x) => x;

  // The figure of the chosen mix at n in a run; null if the run has none.
  function figureAt(run, name, metric, n) {
    const structure = run.structures.find((it) => it.name === name);
    const share = run.mixes.find((it) => it.name === mix?.name)?.fires ?? fires;
    const across = around(run.mixes.map((it) => it.fires), share, same);
    const along = around(run.sizes, n, Math.log);
    if (!structure || !across || !along) return null;
    const figures = structure[metric], nearest = ([low, high, part]) => part < 0.5 ? low : high;
    // Tails jump, so they are not interpolated: this is the tail at the nearest measured point.
    if (metric === "tail") return figures[nearest(across)][nearest(along)];
    const [few, many, part] = across, [small, large, far] = along;
    const mixed = (at) => between(figures[few][at], figures[many][at], part, same, same);
    return between(mixed(small), mixed(large), far, Math.log, Math.exp);
  }

  const digits = (x) => x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);
  const long = (n) => n.toLocaleString("en");
  const short = (n) => n >= 1e6 ? `${n / 1e6}M` : n >= 1e4 ? `${n / 1e3}k` : long(n);

  function shown(metric, x) {
    if (x === null) return "-";
    if (metric === "bytes") return digits(x);
    const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
    const [size, unit] = units.find(([size]) => x >= size * 0.9995) ?? [1, "ns"];
    return `${digits(x / size)} ${unit}`;
  }

  // The number on the slider: a measured size if one is near, otherwise whole, with two digits.
  function chosenCount() {
    const exponent = Number(form.n.value), n = 10 ** exponent;
    const measured = sizes.find((size) => Math.abs(size / n - 1) < 0.012);
    const step = 10 ** Math.max(0, Math.floor(exponent) - 1);
    return measured ?? Math.round(n / step) * step;
  }

  function chosenMix() {
    const root = Number(form.fires.value);
    const distance = (mix) => Math.abs(Math.sqrt(mix.fires) * 1000 - root);
    const nearest = mixes.reduce((a, b) => distance(b) < distance(a) ? b : a);
    return distance(nearest) < 6 ? nearest : undefined;
  }

  const PRAISE = {
    call: "is the cheapest", tail: "has the shortest tail", bytes: "takes the fewest bytes",
  };

  // The recommendation is about the time of calls, and known at measured points. Elsewhere, and for
  // other metrics, this names the first structure of the ranking.
  function verdict() {
    const taken = mix && metric === "call" && takes[mixes.indexOf(mix)][own.indexOf(n)];
    if (taken) return taken;
    const all = names.map((name) => [figureAt(runs[0], name, metric, n), name]);
    const [best] = all.filter(([figure]) => figure !== null).sort(([a], [b]) => a - b);
    if (!best) return "no structure was measured there.";
    const how = metric === "tail" ? "at the nearest measured point" : "interpolated";
    return (mix && own.includes(n) ? "" : `not measured here; ${how}, `)
      + `${best[1]} ${PRAISE[metric]} (${shown(metric, best[0])}).`;
  }

  function missing(name) {
    const structure = runs[0].structures.find((it) => it.name === name);
    if (structure?.wrong && metric !== "bytes") return "WRONG";
    const last = own.findLast((n) => figureAt(runs[0], name, metric, n) !== null);
    return last ? `to ${long(last)}` : "not measured";
  }

  function write(row, figure, best) {
    const { name } = row.dataset;
    const put = (what, text) => { row.querySelector(what).textContent = text; };
    for (const metric of ["call", "tail", "bytes"])
      put(`.${metric}`, shown(metric, figureAt(runs[0], name, metric, n)));
    if (figure === null) put(`.${metric}`, missing(name));
    put(".ratio", figure === null ? "" : `×${(figure / best).toFixed(2)}`);
    row.classList.toggle("tie", figure !== null && figure <= TIE * best);
    row.classList.toggle("off", figure === null);
    if (!runs[1]) return;
    const other = figureAt(runs[1], name, metric, n);
    const ratio = figure && other ? ` ×${(other / figure).toFixed(2)}` : "";
    put(".other", shown(metric, other).replace(" ", "\u00a0") + ratio);
  }

  function update() {
    [n, mix, metric] = [chosenCount(), chosenMix(), form.metric.value];
    fires = mix?.fires ?? (Number(form.fires.value) / 1000) ** 2;
    form.count.value = long(n);
    const percent = (100 * fires).toFixed(fires < 0.0995 ? 1 : 0);
    form.share.value = `${percent} %${mix ? ` (${mix.name})` : ""}`;
    find(".verdict").textContent =
      `${form.count.value} timers, expiries ${form.share.value}: ${verdict()}`;
    const figures = new Map(rows.map((row) =>
      [row, figureAt(runs[0], row.dataset.name, metric, n)]));
    const ranked = [...rows].sort((a, b) =>
      (figures.get(a) ?? Infinity) - (figures.get(b) ?? Infinity) || 0);
    ranked.forEach((row) => write(row, figures.get(row), figures.get(ranked[0])));
    table.tBodies[0].append(...ranked);
    table.dataset.metric = metric;
    draw(ranked.filter((row) => boxes[rows.indexOf(row)].checked && figures.get(row) !== null));
  }

  // A line for each structure of each run. The best of the visible ones are coloured.
  const lines = runs.flatMap((_, other) => names.map((name, i) => ({ name, i, other })));
  const ink = (name, of = root) => getComputedStyle(of).getPropertyValue(name);
  const tip = document.createElement("div");
  tip.className = "tip";
  let plot, top, near;

  const stroke = (i) => `${ink("--own", rows[i])}${top.includes(rows[i]) ? "" : "50"}`;
  // Returns true if a structure above has the same colour. Then the points are hollow.
  const isAgain = (i) => rows.findIndex((row) => row.style.cssText === rows[i].style.cssText) < i;
  const size = () => ({ width: figure.clientWidth, height: figure.clientWidth < 350 ? 300 : 400 });

  const axis = (size, write) => ({
    size, stroke: () => ink("--faint"), grid: { stroke: () => ink("--line"), width: 1 },
    ticks: { show: false }, font: "13px system-ui, sans-serif",
    values: (_, splits) => splits.map((value) => value === null ? null : write(value)),
  });

  const options = () => ({
    ...size(), legend: { show: false }, focus: { alpha: 0.3 },
    scales: { x: { time: false, distr: 3 }, y: { distr: 3 } },
    axes: [
      { ...axis(30, short), splits: () => sizes, filter: (_, splits) => splits },
      axis(60, (value) => shown(metric, value).replace(/\.0+(?!\d)/, "")),
    ],
    cursor: { y: false, focus: { prox: 24 }, drag: { x: false }, points: { show: false } },
    series: [{}, ...lines.map(({ i, other }) => ({
      stroke: () => stroke(i), width: other ? 1.5 : 2, dash: other ? [5, 4] : [], spanGaps: true,
      points: { show: !other, size: 6, fill: () => isAgain(i) ? ink("--ground") : stroke(i) },
    }))],
    hooks: { draw: [here], setCursor: [hover], setSeries: [focus] },
  });

  function draw(ranked) {
    if (sizes.length === 1) return;
    top = ranked.slice(0, COLOURED);
    const data = [sizes, ...lines.map(({ name, other }) =>
      sizes.map((n) => figureAt(runs[other], name, metric, n) || null))];
    if (plot) plot.setData(data);
    else begin(data);
    lines.forEach(({ i }, at) => {
      if (plot.series[at + 1].show !== boxes[i].checked)
        plot.setSeries(at + 1, { show: boxes[i].checked });
    });
  }

  function begin(data) {
    figure.hidden = false;
    plot = new uPlot(options(), data, figure);
    plot.over.append(tip);
    tip.hidden = true;
    plot.over.addEventListener("click", () => {
      form.n.value = Math.log10(sizes[plot.cursor.idx]);
      choose();
    });
    new ResizeObserver(() => plot.setSize(size())).observe(figure);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => plot.redraw());
  }

  // Marks the chosen number of timers.
  function here({ ctx, bbox, valToPos }) {
    ctx.save();
    ctx.strokeStyle = ink("--ink");
    ctx.setLineDash([2, 3]);
    ctx.stroke(new Path2D(`M${valToPos(n, "x", true)} ${bbox.top}v${bbox.height}`));
    ctx.restore();
  }

  function focus(_, at, { focus }) {
    if (focus === undefined) return;
    near = at === null ? null : lines[at - 1];
    rows.forEach((row, i) => row.classList.toggle("near", near?.i === i));
  }

  // Shows the line under the pointer, or the three best.
  function hover({ cursor: { idx, left }, data, over }) {
    tip.hidden = idx === null || left < 0;
    if (tip.hidden) return;
    const figures = lines.map((line, at) => ({ ...line, figure: data[at + 1][idx] ?? Infinity }));
    const told = near ? figures.filter(({ i }) => i === near.i)
      : figures.filter(({ i, other }) => boxes[i].checked && !other)
        .sort((a, b) => a.figure - b.figure).slice(0, 3);
    tip.textContent = [`${long(data[0][idx])} timers`, ...told.map(({ name, other, figure }) =>
      `${isFinite(figure) ? shown(metric, figure) : "-"} ${other ? runs[1].name : name}`)]
      .join("\n");
    const right = over.clientWidth - left;
    tip.style.left = left < right ? `${left + 12}px` : "";
    tip.style.right = left < right ? "" : `${right + 12}px`;
  }

  // The address contains the choice, so a link leads to it.
  function choose() {
    update();
    const state = new URLSearchParams({ n, mix: mix?.name ?? fires.toFixed(4), metric });
    const kept = names.filter((_, i) => boxes[i].checked);
    if (kept.length < names.length)
      for (const name of kept.length > 0 ? kept : [""]) state.append("show", name);
    history.replaceState(null, "", `#${state}`);
  }

  function recall() {
    const state = new URLSearchParams(location.hash.slice(1)), wrong = [];
    form.reset();
    const read = (key, find, use) => {
      const value = state.get(key), found = value === null ? null : find(value);
      if (found === undefined) wrong.push(`${key}=${value}`);
      else if (found !== null) use(found);
    };
    const within = (list, x) => x >= list[0] && x <= list.at(-1) ? x : undefined;
    const share = (it) => mixes.find(({ name }) => name === it)?.fires
      ?? within(mixes.map(({ fires }) => fires), Number(it));
    read("n", (it) => within(sizes, Number(it)), (n) => { form.n.value = Math.log10(n); });
    read("mix", share, (fires) => { form.fires.value = Math.sqrt(fires) * 1000; });
    read("metric", (it) => [...form.metric.options].find(({ value }) => value === it),
      (option) => { option.selected = true; });
    const kept = state.getAll("show").filter((name) => name !== "");
    boxes.forEach((box, i) => { box.checked = !state.has("show") || kept.includes(names[i]); });
    wrong.push(...kept.filter((name) => !names.includes(name)).map((name) => `show=${name}`));
    find(".warning").hidden = wrong.length === 0;
    find(".warning").textContent = `The address asks for ${wrong.join(", ")}, which is not on this`
      + " page. Choose from the controls below.";
    update();
  }

  rows.forEach((row, i) => {
    for (const [name, at] of [["pointerenter", i + 1], ["pointerleave", null]])
      row.addEventListener(name, () => plot?.setSeries(at, { focus: true }));
  });
  root.addEventListener("input", choose);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", recall);
  for (const it of [form, ...boxes]) it.hidden = false;
  recall();
})();
