// ---- Graph of kernels: a row for each kernel in launch order, and lanes for the buffers between them

const rowHeight = 24, laneWidth = 11, maxGroup = 40;

// Cuts kernels low..high - 1 where at most `limit` temporaries are live, and long pieces again
// where a few more are.
function cut(low, high, limit, live, groups) {
  let begin = low;
  for (let i = low; i < high; ++i) {
    if (i + 1 < high && live[i] > limit) continue;
    if (i + 1 - begin > maxGroup && limit < 64) cut(begin, i + 1, limit + 1, live, groups);
    else groups.push([begin, i + 1]);
    begin = i + 1;
  }
}

function makeGroups() {
  const live = kernels.map(() => 0);  // temporaries that are live after each kernel
  for (const b of buffers) {
    if (b.role !== "temp") continue;
    for (let i = b.first; i < b.last; ++i) ++live[i];
  }
  const groups = [];
  cut(0, kernels.length, 1, live, groups);
  // A chain of kernels is one group.
  const merged = [];
  let chain = false;
  for (const [begin, end] of groups) {
    const alone = end - begin === 1;
    const last = merged[merged.length - 1];
    if (alone && chain && last.end - last.begin < maxGroup / 4) last.end = end;
    else merged.push({begin, end, open: kernels.length <= maxGroup});
    chain = alone;
  }
  return merged;
}
const groups = makeGroups();

// Buffers that a kernel writes and a later one uses.
const edges = (() => {
  const found = new Map();
  kernels.forEach((k, i) => {
    for (const u of k.uses) {
      const e = found.get(u.buffer);
      if (e) e.to.push(i);
      else if (u.writes) found.set(u.buffer, {buffer: buffers[u.buffer], from: i, to: []});
    }
  });
  return [...found.values()].filter((e) => e.to.length);
})();

function visibleRows() {
  const rows = [], rowOf = [];
  for (const group of groups) {
    const single = group.end - group.begin === 1;
    if (!single) rows.push({group});
    for (let i = group.begin; i < group.end; ++i) {
      if (single || group.open) rows.push({kernel: i, inside: !single});
      rowOf[i] = rows.length - 1;
    }
  }
  return {rows, rowOf};
}

const shorten = (text, most) => text.length > most ? text.slice(0, most - 1) + "\u2026" : text;

// Gives each edge between visible rows a lane that is free from its first row to its last; an edge
// that passes no dot is straight.
function placeEdges(rows, rowOf) {
  const ends = [];  // by lane: the last row of the edge that is in it
  const placed = [];
  for (const edge of edges) {
    const from = rowOf[edge.from];
    const to = [...new Set(edge.to.map((i) => rowOf[i]))].filter((row) => row > from);
    if (!to.length) continue;
    const last = Math.max(...to);
    let lane = -1;  // the column of the dots
    const passes = rows.slice(from + 1, last).some((row) => !row.group || !row.group.open);
    if (passes) {
      lane = ends.findIndex((end) => end <= from);
      if (lane < 0) lane = ends.length;
      ends[lane] = last;
    }
    placed.push({...edge, from, to, last, lane});
  }
  return {placed, lanes: ends.length};
}

function edgePath(edge, xOf, dot) {
  const y = (row) => row * rowHeight + rowHeight / 2;
  const x = xOf(edge.lane), half = rowHeight / 2;
  if (edge.lane < 0) return `M${dot} ${y(edge.from)}V${y(edge.last)}`;
  let path = `M${dot} ${y(edge.from)}C${dot} ${y(edge.from) + half} ${x} ${y(edge.from) + half / 2} ${x} ` +
             `${y(edge.from) + rowHeight * 0.8}V${y(edge.last) - rowHeight * 0.8}`;
  for (const row of edge.to) {
    const begin = row === edge.from + 1 ? y(row) - rowHeight * 0.2 : y(row) - rowHeight * 0.8;
    path += `M${x} ${begin}C${x} ${y(row) - half / 2} ${dot} ${y(row) - half} ${dot} ${y(row)}`;
  }
  return path;
}

// The kernel of a group that takes the longest.
function longest(group) {
  let found = group.begin;
  for (let i = group.begin; i < group.end; ++i) {
    if ((kernels[i].seconds || 0) > (kernels[found].seconds || 0)) found = i;
  }
  return kernels[found].seconds === null ? "" : `, the longest ${label(found)}, ${time(kernels[found].seconds)}`;
}

function showGraph() {
  const {rows, rowOf} = visibleRows();
  const {placed, lanes} = placeEdges(rows, rowOf);
  const dot = 14 + lanes * laneWidth;
  const xOf = (lane) => dot - (lane + 1) * laneWidth;
  const width = dot + 1050, height = rows.length * rowHeight + 4;
  const root = svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Graph of kernels"});
  const kernelsOf = ({group, kernel}) => group ? kernels.slice(group.begin, group.end) : [kernels[kernel]];
  const secondsOf = (row) => kernelsOf(row).reduce((sum, k) => sum + (k.seconds || 0), 0);
  const most = Math.max(...rows.map((row) => row.group && row.group.open ? 0 : secondsOf(row)), 1e-12);
  const paths = placed.map((edge, n) => {
    const b = edge.buffer;
    const path = svg("path", {class: "edge", d: edgePath(edge, xOf, dot), stroke: `hsl(${(n * 67) % 360} 55% 52%)`});
    return tip(path, `@${b.name} ${b.type}, ${bytes(b.bytes)} (${b.role})\nwritten by ${label(b.first)}\n` +
                         `last used by ${label(b.last)}`);
  });
  rows.forEach((row, r) => {
    const group = row.group;
    const list = kernelsOf(row), seconds = secondsOf(row);
    const hidden = group && !group.open;
    const text = group ? `${group.open ? "\u25be" : "\u25b8"} kernels ${group.begin + 1} to ${group.end}`
                       : shorten(label(row.kernel), 38);
    const about = group ? plural(list.length, "kernel") + longest(group) : list[0].made_of.join(", ");
    const y = r * rowHeight, x = dot + 14;
    const node = svg("g", {class: "row", tabindex: 0}, svg("rect", {class: "back", x, y, width: width - x, height: rowHeight}),
                     svg("text", {class: group ? "" : "mono", x: x + (row.inside ? 14 : 0), y: y + 16}, text));
    if (!group || hidden) {
      node.append(svg("rect", {class: "time", x: x + 330, y: y + 5, width: 110 * seconds / most, height: rowHeight - 10}),
                  svg("text", {x: x + 450, y: y + 16}, seconds > 0 ? time(seconds) : "-"),
                  svg("text", {class: "faint", x: x + 530, y: y + 16}, shorten(about, 70)));
    }
    const act = () => {
      if (!group) return openKernel(row.kernel);
      group.open = !group.open;
      showGraph();
    };
    node.addEventListener("click", act);
    node.addEventListener("keydown", (event) => { if (event.key === "Enter") act(); });
    const mark = (on) => placed.forEach((e, n) => paths[n].classList.toggle("on", on && (e.from === r || e.to.includes(r))));
    node.addEventListener("mouseenter", () => mark(true));
    node.addEventListener("mouseleave", () => mark(false));
    if (!group) tip(node, `${label(row.kernel)}\n${about}\n` +
                              list[0].uses.map((u) => `${u.writes ? "writes" : "reads"} @${buffers[u.buffer].name} ${buffers[u.buffer].type}`).join("\n"));
    root.append(node);
    row.dot = !group || hidden ? svg("circle", {class: "dot" + (seconds > 0.5 * most ? " hot" : ""), cx: dot, cy: y + rowHeight / 2, r: group ? 6 : 4}) : "";
  });
  root.append(...paths, ...rows.map((row) => row.dot).filter(Boolean));
  byId("graph").replaceChildren(root);
}

function openGroups(open) {
  for (const group of groups) group.open = open;
  showGraph();
}
