// ---- Memory of temporaries over time, and the list of buffers

// Round numbers from 0 up to `most`, about `count` of them, which are whole.
function roundSteps(most, count) {
  const power = 10 ** Math.max(0, Math.floor(Math.log10(most / count)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => most / size <= count);
  return Array.from({length: Math.floor(most / step) + 1}, (_, i) => i * step);
}

function showMemory() {
  const temporaries = buffers.filter((b) => b.role === "temp");
  const live = memory.live_by_kernel;
  const peak = live.indexOf(Math.max(...live));
  byId("memory-note").textContent = !temporaries.length
      ? `There are no temporaries. Inputs, outputs, params and states take ${bytes(memory.stored_bytes)}.`
      : `Temporaries take ${bytes(memory.temporary_bytes)}: ${bytes(memory.separate_bytes)} without sharing, ` +
            `${bytes(memory.live_bytes)} live at most, at kernel ${label(peak)}. ` +
            `Inputs, outputs, params and states take ${bytes(memory.stored_bytes)}.`;
  if (!temporaries.length) return;
  const width = 1200, height = 300, left = 70, bottom = 34;
  const most = Math.max(memory.temporary_bytes, memory.live_bytes, 1);
  const x = (step) => left + (width - left - 10) * step / kernels.length;
  const y = (size) => (height - bottom) - (height - bottom - 14) * size / most;
  const root = svg("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Memory over time"});
  for (const size of roundSteps(most, 6)) {
    root.append(svg("line", {class: "axis", x1: left, x2: width - 10, y1: y(size), y2: y(size)}),
                svg("text", {class: "faint", x: left - 8, y: y(size) + 4, "text-anchor": "end"}, bytes(Math.round(size))));
  }
  for (const number of roundSteps(kernels.length, 16)) {
    const i = Math.max(number, 1) - 1;
    root.append(svg("text", {class: "faint", x: x(i + 0.5), y: height - bottom + 16, "text-anchor": "middle"}, String(i + 1)));
  }
  root.append(svg("text", {class: "faint", x: width - 10, y: height - 3, "text-anchor": "end"},
                  "kernel; a rectangle is a buffer in the arena, the line is what is live"));
  temporaries.forEach((b, n) => {
    if (b.offset === null) return;
    const block = svg("rect", {
      class: "block", x: x(b.first), y: y(b.offset + b.bytes), width: x(b.last + 1) - x(b.first),
      height: y(b.offset) - y(b.offset + b.bytes), fill: `hsl(${(n * 67) % 360} 45% 55% / 0.55)`,
    });
    root.append(tip(block, `@${b.name} ${b.type}, ${bytes(b.bytes)}\nkernels ${label(b.first)} to ${label(b.last)}`));
  });
  let line = "";
  live.forEach((size, i) => { line += `${i ? "L" : "M"}${x(i)} ${y(size)}H${x(i + 1)}`; });
  root.append(svg("path", {class: "live", d: line}));
  byId("memory").append(root);
}

function showBuffers() {
  byId("buffers-title").textContent = plural(buffers.length, "buffer") + ", the largest first";
  const heads = ["buffer", "type", "role", "size", "first", "last"];
  const list = [...buffers].sort((a, b) => b.bytes - a.bytes);
  byId("buffers").append(
      html("thead", {}, html("tr", {}, ...heads.map((t, c) => html("th", {class: c < 3 ? "left" : ""}, t)))),
      html("tbody", {}, ...list.map((b) => html("tr", {}, ...[
        html("td", {class: "left name"}, "@" + b.name), html("td", {class: "left code"}, b.type),
        html("td", {class: "left"}, b.role), html("td", {}, bytes(b.bytes)),
        html("td", {}, String(b.first + 1)), html("td", {}, String(b.last + 1)),
      ]))));
}

showSummary();
showStages();
showNodes();
showKernels();
showLimitNote();
showGraph();
showMemory();
showBuffers();
byId("filter").addEventListener("input", showKernels);
byId("open-all").addEventListener("click", () => openGroups(true));
byId("close-all").addEventListener("click", () => openGroups(false));
