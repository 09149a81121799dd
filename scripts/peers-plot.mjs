// Draws docs/peers.svg from the figures in docs/peers.json: four measures, a bar for each agent. `npm run peers-plot`.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const docs = join(dirname(fileURLToPath(import.meta.url)), "../docs");

const measures = [
  { key: "toolTurnMs", title: "one run with a tool call", unit: "ms" },
  { key: "firstEventMs", title: "until the first event", unit: "ms" },
  { key: "peakMb", title: "peak memory", unit: "MB" },
  { key: "firstRequestKb", title: "first request to the model", unit: "kB" },
];

const [panelWidth, panelHeight, labels, gap] = [420, 176, 104, 24];

/** The text of the picture. */
export function peersPlot({ measured, rounds, rows }) {
  const panels = measures.map((measure, index) => {
    const [x, y] = [(index % 2) * (panelWidth + gap), Math.floor(index / 2) * (panelHeight + gap)];
    return `<g transform="translate(${x + 16} ${y + 16})">${panel(measure, rows)}</g>`;
  });
  const [width, height] = [panelWidth * 2 + gap + 32, panelHeight * 2 + gap + 48];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Courser beside other agents">
<style>
  text { font: 12px system-ui, sans-serif; fill: #1d1d1b } .soft { fill: #6a6963 } .title { font-weight: 600 }
  .ground { fill: #fbfbfa } .bar { fill: #c9c8c3 } .ours { fill: #2f5fd0 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6e5e1 } .soft { fill: #9a9a94 } .ground { fill: #16171a } .bar { fill: #3d4048 } .ours { fill: #8ab0ff }
  }
</style>
<rect class="ground" width="${width}" height="${height}" rx="9"/>
${panels.join("\n")}
<text class="soft" x="16" y="${height - 14}">Medians of ${rounds} interleaved rounds on one machine with a model on loopback, ${measured}. Shorter is better.</text>
</svg>
`;
}

function panel({ key, title, unit }, rows) {
  const most = Math.max(...rows.map((row) => row[key]));
  const room = panelWidth - labels - 76;
  const bars = rows.map((row, index) => {
    const y = 26 + index * 25;
    const width = Math.max(2, Math.round((row[key] / most) * room));
    const kind = index === 0 ? "ours" : "bar";
    const value = row[key].toLocaleString("en-US");
    return `<text x="${labels - 8}" y="${y + 13}" text-anchor="end"${index === 0 ? ' class="title"' : ""}>${row.name}</text><rect class="${kind}" x="${labels}" y="${y + 2}" width="${width}" height="14" rx="3"/><text class="soft" x="${labels + width + 6}" y="${y + 13}">${value} ${unit}</text>`;
  });
  return `<text class="title" x="0" y="12">${title}</text>${bars.join("")}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const figures = JSON.parse(readFileSync(join(docs, "peers.json"), "utf8"));
  writeFileSync(join(docs, "peers.svg"), peersPlot(figures));
}
