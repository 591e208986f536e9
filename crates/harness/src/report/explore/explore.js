"use strict";
// Ranks the structures at the reader's number of timers and mix. Measured are some sizes and some
// mixes; a figure between two of them is interpolated, and there is none beyond the last one
// measured.
(() => {
  const root = document.getElementById("explore");
  const find = (what) => root.querySelector(what);
  const data = JSON.parse(find("script[type='application/json']").textContent);
  const { sizes, mixes, structures } = data.points;
  const { TIE, COLOURED } = data;
  const form = find("form"), body = find("tbody"), filter = find(".filter"), plot = find("svg");
  let sorted = { column: 1, rising: true };

  // The places of the two values around x in a rising list, and how far x is from the first to the
  // second.
  function around(list, x, scale) {
    let at = 0;
    while (at + 2 < list.length && list[at + 1] <= x) at += 1;
    if (list.length === 1 || x <= list[0]) return [0, 0, 0];
    const [low, high] = [list[at], list[at + 1]];
    return [at, at + 1, Math.min(1, (scale(x) - scale(low)) / (scale(high) - scale(low)))];
  }

  // Between a and b; an end that has no weight need not have been measured.
  function between(a, b, part, to, from) {
    if (part === 0) return a;
    if (part === 1) return b;
    return a === null || b === null ? null : from(to(a) * (1 - part) + to(b) * part);
  }

  const same = (x) => x;

  // What a structure costs where the sliders stand; each field is null if it was not measured
  // there.
  function at(structure, n, fires) {
    const [small, large, part] = around(sizes, n, Math.log);
    const [few, many, share] = around(mixes.map((mix) => mix.fires), fires, same);
    const mixed = (size) =>
      between(structure.ns[few][size], structure.ns[many][size], share, same, same);
    // Tails jump with n: that of the nearest measured point, which is named, and none in between.
    const [mix, size] = [share < 0.5 ? few : many, part < 0.5 ? small : large];
    const ns = between(mixed(small), mixed(large), part, Math.log, Math.exp);
    return {
      structure, ns,
      tail: ns === null ? null : structure.tail[mix][size],
      at: sizes[size] === n ? "" : ` (at ${sizes[size].toLocaleString("en")})`,
      bytes: ns === null ? null
        : between(structure.bytes[small], structure.bytes[large], part, same, same),
      line: sizes.map((size, i) => [size, mixed(i)]).filter(([, cost]) => cost !== null),
    };
  }

  const digits = (x) => x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);

  function time(ns) {
    if (ns === null) return "-";
    const units = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];
    const [size, unit] = units.find(([size]) => ns >= size * 0.9995) ?? [1, "ns"];
    return `${digits(ns / size)} ${unit}`;
  }

  // Two digits tell enough of a number that a slider chose, unless it stands on a measured size.
  function count(exponent) {
    const n = 10 ** exponent;
    const measured = sizes.find((size) => Math.abs(size / n - 1) < 0.012);
    if (measured) return measured;
    const step = 10 ** (Math.floor(exponent) - 1);
    return Math.round(n / step) * step;
  }

  function share() {
    const root = Number(form.fires.value);
    const distance = (mix) => Math.abs(Math.sqrt(mix.fires) * 1000 - root);
    const nearest = mixes.reduce((a, b) => distance(b) < distance(a) ? b : a);
    return distance(nearest) < 6 ? nearest.fires : (root / 1000) ** 2;
  }

  // Whom to take is known where it was measured. Between is only a guess at who is cheapest.
  function verdict(ranked, n, mix) {
    const taken = mix && data.points.takes[mixes.indexOf(mix)][sizes.indexOf(n)];
    if (taken) return taken;
    const [best] = ranked.filter((it) => it.ns !== null);
    if (!best) return "nobody was measured there.";
    return `not measured; by the points next to it, ${best.structure.name} is the cheapest`
      + ` (${time(best.ns)}).`;
  }

  function missing(it, last) {
    if (it.structure.wrong) return "WRONG";
    return last === null ? "not measured" : `to ${last.toLocaleString("en")}`;
  }

  // A row as the page has it, written anew.
  function write(it, best, rank) {
    const row = body.querySelector(`[data-at="${structures.indexOf(it.structure)}"]`);
    const last = it.line.length > 0 ? it.line[it.line.length - 1][0] : null;
    const cells = it.ns === null
      ? [missing(it, last), "", "", ""]
      : [time(it.ns), `×${(it.ns / best).toFixed(2)}`, time(it.tail),
        it.bytes === null ? "-" : digits(it.bytes)];
    cells.forEach((text, i) => { row.children[i + 1].textContent = text; });
    row.classList.toggle("top", rank < COLOURED && it.ns !== null);
    row.classList.toggle("tie", it.ns !== null && it.ns <= TIE * best);
    row.classList.toggle("off", it.ns === null);
    row.hidden = !it.structure.name.toLowerCase().includes(filter.value.trim().toLowerCase());
    return row;
  }

  // What a column is sorted by.
  const cost = (it) => it.ns;
  const keys = [(it) => it.structure.name, cost, cost, (it) => it.tail, (it) => it.bytes];

  function compare(a, b) {
    const [x, y] = [a, b].map(keys[sorted.column]);
    if (x === null || y === null) return (x === null) - (y === null);
    return (x < y ? -1 : x > y ? 1 : 0) * (sorted.rising ? 1 : -1);
  }

  // The place of a value on an axis of which two places are known.
  function axis(name) {
    if (!plot) return () => 0;
    const [a, placeA, b, placeB] = find(".scale").dataset[name].split(" ").map(Number);
    const slope = a === b ? 0 : (placeB - placeA) / Math.log(b / a);
    return (value) => (placeA + slope * Math.log(value / a)).toFixed(1);
  }
  const [x, y] = [axis("x"), axis("y")];

  function draw(ranked, n) {
    if (!plot) return; // measured at one number of timers
    for (const [rank, it] of [...ranked.entries()].reverse()) {
      const line = plot.querySelector(`polyline[data-at="${structures.indexOf(it.structure)}"]`);
      const points = it.line.map(([n, ns]) => `${x(n)},${y(ns)}`);
      // One point twice is a dot.
      if (points.length === 1) points.push(points[0]);
      line.setAttribute("points", points.join(" "));
      line.classList.toggle("top", rank < COLOURED && it.ns !== null);
      plot.append(line); // the best on top
    }
    find(".here").setAttribute("transform", `translate(${x(n)})`);
  }

  function update() {
    const n = count(Number(form.n.value)), fires = share();
    const mix = mixes.find((mix) => mix.fires === fires);
    form.count.value = n.toLocaleString("en");
    const percent = (100 * fires).toFixed(fires < 0.0995 ? 1 : 0);
    form.share.value = `${percent} %${mix ? ` (${mix.name})` : ""}`;
    const all = structures.map((structure) => at(structure, n, fires));
    const ranked = [...all].sort((a, b) => (a.ns ?? Infinity) - (b.ns ?? Infinity) || 0);
    const where = `${form.count.value} timers, ${form.share.value} fire`;
    find(".verdict").textContent = `${where}: ${verdict(ranked, n, mix)}`;
    const rows = new Map(ranked.map((it, rank) => [it, write(it, ranked[0].ns, rank)]));
    body.append(...[...ranked].sort(compare).map((it) => rows.get(it)));
    draw(ranked, n);
  }

  function sortBy(column) {
    sorted = { column, rising: sorted.column !== column || !sorted.rising };
    root.querySelectorAll("th").forEach((head, i) => {
      if (i !== column) head.removeAttribute("aria-sort");
      else head.setAttribute("aria-sort", sorted.rising ? "ascending" : "descending");
    });
    update();
  }

  root.querySelectorAll("th").forEach((head, column) => {
    const button = document.createElement("button");
    button.textContent = head.textContent;
    button.addEventListener("click", () => sortBy(column));
    head.replaceChildren(button);
  });
  for (const name of ["pointerover", "pointerout"])
    body.addEventListener(name, (event) => {
      const row = event.target.closest("tr");
      const line = row && plot?.querySelector(`polyline[data-at="${row.dataset.at}"]`);
      line?.classList.toggle("near", name === "pointerover");
    });
  form.addEventListener("input", update);
  form.addEventListener("submit", (event) => event.preventDefault());
  filter.addEventListener("input", update);
  form.hidden = filter.hidden = false;
  update();
})();
