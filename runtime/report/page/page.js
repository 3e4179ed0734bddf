"use strict";
const report = JSON.parse(document.getElementById("data").textContent);
const {kernels, buffers, sources, totals, memory, devices} = report;
const byId = (id) => document.getElementById(id);

// ---- Elements and numbers

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children) node.append(child);
  return node;
}
const html = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const namespace = byId("blank").namespaceURI;
const svg = (tag, attributes, ...children) =>
    fill(document.createElementNS(namespace, tag), attributes, children);

const digits = (x) => x >= 99.95 ? x.toFixed(0) : x >= 9.995 ? x.toFixed(1) : x.toFixed(2);
function scaled(x, units) {
  let unit = 0;
  while (x >= 1000 && unit + 1 < units.length) {
    x /= 1000;
    ++unit;
  }
  return digits(x) + " " + units[unit];
}
const time = (s) => s === null ? "-" : s >= 1 ? s.toFixed(2) + " s" : scaled(s * 1e6, ["us", "ms"]);
const bytes = (n) => n < 1000 ? n + " B" : scaled(n, ["B", "kB", "MB", "GB", "TB"]);
const giga = (x) => x === null ? "-" : (x * 1e-9).toFixed(1);
const percent = (x) => x === null ? "-" : (100 * x).toFixed(x < 0.0995 ? 1 : 0) + " %";
const plural = (n, what) => n + " " + what + (n === 1 ? "" : "s");
const sizes = (list) => {
  let n = list.length;
  while (n > 1 && list[n - 1] === 1) --n;
  return list.slice(0, n).join("x");
};
const label = (i) => `${i + 1} ${kernels[i].name}`;

function tip(node, text) {
  node.addEventListener("mousemove", (event) => {
    const box = byId("tip");
    box.textContent = text;
    box.hidden = false;
    box.style.left = Math.min(event.clientX + 14, innerWidth - box.offsetWidth - 8) + "px";
    box.style.top = Math.min(event.clientY + 14, innerHeight - box.offsetHeight - 8) + "px";
  });
  node.addEventListener("mouseleave", () => { byId("tip").hidden = true; });
  return node;
}

// ---- Summary

function showSummary() {
  byId("title").textContent = report.model;
  byId("about").textContent =
      `graph @${report.graph} on ` +
      devices.map((d) => `${d.name} (${d.driver}), target ${d.target}`).join("; ") + ` - ${report.tool}`;
  const rate = (amount) => totals.device_seconds > 0 ? amount / totals.device_seconds : null;
  const figures = [
    [time(totals.run_seconds), report.runs.length > 1 ? `fastest of ${report.runs.length} runs` : "one run"],
    [time(totals.device_seconds), "in kernels"],
    [time(totals.other_seconds), "beyond kernels"],
    [totals.kernels, totals.copies ? `kernels, and ${plural(totals.copies, "copy").replace("copys", "copies")}` : "kernels"],
    [scaled(totals.ops, ["OPS", "kOPS", "MOPS", "GOPS", "TOPS"]), "arithmetic"],
    [giga(rate(totals.ops)), "GFLOP/s"],
    [giga(rate(totals.touched_bytes)), "GB/s"],
    [percent(rate(totals.limit_seconds)), "of the predicted limit"],
    [bytes(memory.peak_bytes), "of device memory at most"],
    [totals.source_lines, `lines of OpenCL C in ${plural(totals.sources, "source")}`],
  ];
  if (kernels.some((k) => k.depends_on_input !== null)) {
    figures.splice(3, 0, [kernels.filter((k) => k.depends_on_input).length, "kernels depend on the input"]);
  }
  if (report.init_kernels) figures.splice(3, 0, [report.init_kernels, "more kernels ran once, before (@init)"]);
  for (const [figure, what] of figures) {
    byId("summary").append(html("div", {class: "figure"}, html("b", {}, String(figure)), html("span", {}, what)));
  }
}

function showStages() {
  const most = Math.max(...report.stages.map((s) => s.seconds), 1e-9);
  for (const stage of report.stages) {
    let name = stage.name + (stage.count > 1 ? ` (${stage.count})` : "");
    if (stage.name === "build" && report.built_from_cache) name += " (cached)";
    byId("stages").append(html("div", {class: "stage"}, html("span", {}, name),
                               html("span", {}, time(stage.seconds)),
                               html("i", {style: `width:${100 * stage.seconds / most}%`})));
  }
}

// A kernel's time counts for the node of the model with the most work in it.
function showNodes() {
  if (!kernels.some((k) => k.nodes.length) || !(totals.device_seconds > 0)) return;
  for (const [title, key] of [["operator", (node) => node.split(" ")[0]], ["node", (node) => node]]) {
    const sums = new Map();
    for (const k of kernels) {
      if (k.is_copy) continue;
      const of = k.nodes.length ? key(k.nodes[0]) : "(no node)";
      const sum = sums.get(of) || {kernels: 0, seconds: 0};
      sum.kernels += 1;
      sum.seconds += k.seconds || 0;
      sums.set(of, sum);
    }
    const rows = [...sums].sort((a, b) => b[1].seconds - a[1].seconds).map(([of, sum]) =>
        html("tr", {}, html("td", {class: "left name"}, of), html("td", {}, String(sum.kernels)),
             html("td", {}, time(sum.seconds)), html("td", {}, percent(sum.seconds / totals.device_seconds))));
    const head = html("tr", {}, ...[title, "kernels", "time", "share"].map((text, i) =>
        html("th", {class: i ? null : "left"}, text)));
    byId("nodes").append(html("details", {open: title === "operator"},
        html("summary", {}, `Time by ${title}, slowest first`),
        html("div", {class: "scroll"}, html("table", {}, html("thead", {}, head), html("tbody", {}, ...rows)))));
  }
}

// ---- Table of kernels

const has = (name) => kernels.some((k) => k[name] !== null);
const nodesOf = (k) => k.nodes.slice(0, 3).join(", ") + (k.nodes.length > 3 ? ` and ${k.nodes.length - 3} more` : "");
const depends = (k) => k.depends_on_input === null ? "-" : k.depends_on_input ? "yes" : "no";
// Title, explanation, value to sort by, text, class.
const columns = [
  ["#", "in launch order", (k, i) => i, (k, i) => i + 1],
  ["kernel", "its name: the sizes of its axes", (k) => k.name, (k) => k.name, "left name"],
  ["time", "the least of all runs", (k) => k.seconds, (k) => time(k.seconds)],
  ["share", "of the time of all kernels", (k) => k.share, (k) => percent(k.share), "share"],
  ["GFLOP/s", "arithmetic operations per second", (k) => k.flops, (k) => giga(k.flops)],
  ["GB/s", "bytes of its buffers per second", (k) => k.bandwidth, (k) => giga(k.bandwidth)],
  ["of limit", "time that the target's rates predict, of its time", (k) => k.limit_share,
   (k) => k.limit_share === null ? "-" : `${percent(k.limit_share)} ${k.limited_by === "compute" ? "c" : "m"}`],
  ["global", "work-items", (k) => k.global.reduce((a, b) => a * b, 1), (k) => sizes(k.global)],
  ["local", "work-items of a group", (k) => k.local.reduce((a, b) => a * b, 1), (k) => sizes(k.local)],
  ["touched", "bytes of its buffers, or of its accesses if that is less", (k) => k.touched_bytes,
   (k) => bytes(Math.round(k.touched_bytes))],
  ["input", "whether its result depends on the input", depends, depends],
  ["lines", "of its source", (k) => k.source_lines, (k) => k.source_lines || "-"],
  ["made of", "the operations that it computes", (k) => k.made_of.join(), (k) => k.made_of.join(", "), "left made"],
  ["nodes", "of the model, the one with the most work first", nodesOf, nodesOf, "left made"],
].filter(([title]) => (title !== "input" || has("depends_on_input")) &&
                       (title !== "nodes" || kernels.some((k) => k.nodes.length)));
let sorted = 0, descending = false;
const opened = new Set();

function details(k, i) {
  const use = (u) => {
    const b = buffers[u.buffer];
    const how = u.reads && u.writes ? "reads and writes" : u.writes ? "writes" : "reads";
    return html("li", {}, `${how} @${b.name} ${b.type}, ${bytes(b.bytes)} (${b.role}${b.device ? ` on '${b.device}'` : ""})`);
  };
  const device = devices[k.device];
  const facts = [
    `${k.ops < 1000 ? plural(k.ops, "operation") : scaled(k.ops, ["", "thousand", "million", "billion"]) + " operations"}; ` +
        `loads ${bytes(Math.round(k.load_bytes))}, stores ${bytes(Math.round(k.store_bytes))}, repeated accesses included`,
    `at least ${time(k.limit_seconds)} by ${k.limited_by === "compute" ? giga(device.flops_per_second) + " GFLOP/s"
                                                                       : giga(device.bytes_per_second) + " GB/s"}`,
  ];
  if (devices.length > 1) facts.push(`on ${device.name} (device ${k.device + 1} of the report)`);
  if (k.schedule) facts.push(`schedule: ${k.schedule}`);
  const left = html("div", {}, html("b", {}, label(i)), html("ul", {}, ...k.uses.map(use)),
                    ...facts.map((text) => html("p", {}, text)));
  if (k.made_of.length) left.append(html("p", {}, "made of: " + k.made_of.join(", ")));
  if (k.nodes.length) left.append(html("p", {}, "nodes: " + k.nodes.join(", ")));
  if (k.tensors.length) left.append(html("p", {}, "stores: " + k.tensors.join(", ")));
  if (k.compile_seconds !== null) left.append(html("p", {}, "compiled in " + time(k.compile_seconds)));
  const right = html("div");
  if (k.source !== null) {
    const same = kernels.flatMap((o, n) => n !== i && o.source === k.source ? [n + 1] : []);
    if (same.length) right.append(html("p", {class: "faint"}, "the same source: " + same.join(", ")));
    right.append(sources[k.source] ? html("pre", {}, sources[k.source])
                                   : html("p", {class: "faint"}, "The source is left out, which keeps the page small; " +
                                                                     "a report as JSON has it."));
  }
  return html("div", {class: "columns"}, left, right);
}

function matches(k, words) {
  const text = [k.name, ...k.made_of, ...k.nodes, ...k.tensors, ...k.uses.map((u) => "@" + buffers[u.buffer].name)].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

function showKernels() {
  const words = byId("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = kernels.map((k, i) => ({k, i})).filter(({k}) => matches(k, words));
  const key = columns[sorted][2];
  rows.sort((a, b) => {
    const x = key(a.k, a.i) ?? -1, y = key(b.k, b.i) ?? -1;
    return ((x > y) - (x < y)) * (descending ? -1 : 1) || a.i - b.i;
  });
  const most = Math.max(...kernels.map((k) => k.share || 0), 1e-9);
  const table = byId("kernels");
  table.replaceChildren(html("thead", {}, html("tr", {}, ...columns.map(([title, about, , , kind], c) => {
    const arrow = html("span", {class: "arrow"}, c === sorted ? (descending ? " \u25be" : " \u25b4") : "");
    const sort = () => {
      descending = c === sorted ? !descending : c > 1;
      sorted = c;
      showKernels();
    };
    return html("th", {class: "sorts " + (kind || ""), title: about, onclick: sort}, title, arrow);
  }))));
  const body = html("tbody");
  for (const {k, i} of rows) {
    const toggle = () => {
      if (!opened.delete(i)) opened.add(i);
      showKernels();
      byId("k" + (i + 1)).focus({preventScroll: true});
    };
    const row = html("tr", {
      class: "kernel" + (opened.has(i) ? " open" : ""), id: "k" + (i + 1), tabindex: 0, onclick: toggle,
      onkeydown: (event) => { if (event.key === "Enter") toggle(); },
    });
    for (const [title, , , text, kind] of columns) {
      const cell = html("td", {class: kind, title: kind && kind.startsWith("left") ? text(k, i) : null}, String(text(k, i)));
      if (title === "share") cell.style.backgroundSize = `${50 * (k.share || 0) / most}% 70%`;
      row.append(cell);
    }
    body.append(row);
    if (opened.has(i)) body.append(html("tr", {class: "detail"}, html("td", {colspan: columns.length}, details(k, i))));
  }
  table.append(body);
  byId("shown").textContent = rows.length === kernels.length ? "" : `${rows.length} of ${kernels.length} kernels`;
}

function openKernel(i) {
  byId("filter").value = "";
  opened.add(i);
  showKernels();
  byId("k" + (i + 1)).scrollIntoView({block: "center"});
}

function showLimitNote() {
  const rates = devices.map((d) => `${giga(d.flops_per_second)} GFLOP/s and ${giga(d.bytes_per_second)} GB/s (${d.target})`);
  const different = [...new Set(rates)];
  byId("limit-note").textContent =
      "The limit is the time of the arithmetic or of the bytes touched, whichever is longer (c: compute, m: memory), " +
      `at the rates of the target, ${different.join("; ")}. Cost models use these rates; they are not measured on this ` +
      "device, so a share above 100 % is possible. Click on a row for buffers, schedule and source.";
}
