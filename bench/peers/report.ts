// What was measured of Courser and the agents beside it, as a picture and as the last part of docs/benchmarks.md.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

export type PeerRow = {
  name: string;
  version: string;
  /** Why there is nothing else to say of it. */
  failure?: string;
  textTurnMs?: number;
  toolTurnMs?: number;
  firstEventMs?: number;
  firstRequestMs?: number;
  peakMb?: number;
  firstRequestKb?: number;
  requests?: number;
  /** How many turns did not do what they were asked, and are not counted. */
  failed?: number;
  note?: string;
};

export type Figures = {
  measured: string;
  rounds: number;
  node: string;
  cores: number;
  /** The highest load average while it was measured, which the agents are a part of. */
  load: number;
  network: string;
  rows: PeerRow[];
};

/** Writes the figures, the picture and the page; says the table. */
export function writeReport(figures: Figures, docs: string): string {
  const [ours, ...others] = figures.rows;
  const sorted = { ...figures, rows: [ours!, ...others.sort((one, other) => order(one) - order(other))] };
  const page = join(docs, "benchmarks.md");
  writeFileSync(join(docs, "peers.json"), `${JSON.stringify(sorted, undefined, 2)}\n`);
  writeFileSync(join(docs, "peers.svg"), peersPlot(sorted));
  writeFileSync(page, withPeers(readFileSync(page, "utf8"), sorted));
  return peersTable(sorted);
}

function order({ toolTurnMs = Number.POSITIVE_INFINITY }: PeerRow): number {
  return toolTurnMs;
}

const heading = "## Compared with other agents\n";

/** The page with its last part as the figures have it. */
export function withPeers(page: string, figures: Figures): string {
  const at = page.indexOf(heading);
  return `${at < 0 ? `${page.trimEnd()}\n\n` : page.slice(0, at)}${heading}\n${peersSection(figures)}`;
}

function peersSection(figures: Figures): string {
  const { measured, rounds, node, cores, load, network, rows } = figures;
  const wasBusy = load > cores + 1;
  const notes = rows.flatMap(({ name, note }) => (note === undefined ? [] : [`- ${name}: ${note}.`]));
  return `![Time and memory of one run with a tool call, Courser and other agents](peers.svg)

${peersTable(figures)}

Medians of ${rounds} interleaved ${rounds === 1 ? "round" : "rounds"} on ${measured}, one machine with ${cores} cores, Node ${node.slice(1)}. Each agent ran in its own directory and home,
with telemetry and update checks off (network: ${network}), against the same small model server on loopback. A turn counts only if the model was asked, the
command was run and its result was sent back. Treat differences of less than a sixth as noise. The time that a real network or a real model
adds is not measured; it is the same for all.${wasBusy ? `\n\n**The machine was busy with other work (load ${load.toFixed(1)} on ${cores} cores):** times are longer than on an idle one, especially for agents that use much CPU.` : ""}

- text turn: from start to exit, for an answer without tool calls. tool turn: the same with one call, \`echo hi\`.
- first event: time to the first line on stdout. first request: time to the first request to the model.
- memory: peak of the process and everything it starts (PSS), measured in separate runs.
- request: size of the first request with tools; requests: number of requests in a tool turn.
${notes.length === 0 ? "" : `${notes.join("\n")}\n`}
To measure it yourself, install the agents to compare, each in its own directory, and run the benchmark. It writes this part of the page,
the picture and [\`peers.json\`](peers.json):

<!-- not run: it installs other agents -->
\`\`\`bash
npm install --prefix /tmp/peers/codex @openai/codex
npm install --prefix /tmp/peers/pi @earendil-works/pi-coding-agent
npm install --prefix /tmp/peers/node22 node@22      # for agents that need a newer Node
npm run bench -- --peers /tmp/peers --rounds 5
\`\`\`
`;
}

const columns: [title: string, value: (row: PeerRow) => string | undefined][] = [
  ["text turn", ({ textTurnMs }) => withUnit(textTurnMs, "ms")],
  ["tool turn", ({ toolTurnMs }) => withUnit(toolTurnMs, "ms")],
  ["first event", ({ firstEventMs }) => withUnit(firstEventMs, "ms")],
  ["first request", ({ firstRequestMs }) => withUnit(firstRequestMs, "ms")],
  ["memory", ({ peakMb }) => withUnit(peakMb, "MB")],
  ["request", ({ firstRequestKb }) => withUnit(firstRequestKb, "kB")],
  ["requests", ({ requests }) => requests?.toString()],
];

function withUnit(value: number | undefined, unit: string): string | undefined {
  return value === undefined ? undefined : `${value.toLocaleString("en-US")} ${unit}`;
}

function peersTable({ rows }: Figures): string {
  const cells = rows.map((row) => {
    const name = `${row.name} ${row.version}`;
    if (row.failure !== undefined)
      return [name, `does not run here: ${row.failure.replaceAll("|", "\\|")}`, ...columns.slice(1).map(() => "")];
    const failed = row.failed === undefined ? "" : ` (${row.failed} turns failed)`;
    return [name + failed, ...columns.map(([, value]) => value(row) ?? "–")];
  });
  const lines = [["agent", ...columns.map(([title]) => title)], ["---", ...columns.map(() => "---")], ...cells];
  return lines.map((line) => `| ${line.join(" | ")} |`).join("\n");
}

const measures = [
  { key: "toolTurnMs", title: "one run with a tool call", unit: "ms" },
  { key: "firstEventMs", title: "until the first event", unit: "ms" },
  { key: "peakMb", title: "peak memory", unit: "MB" },
  { key: "firstRequestKb", title: "first request to the model", unit: "kB" },
] as const;

type Measure = (typeof measures)[number];

const [panelWidth, labels, gap, rowHeight] = [420, 112, 24, 25];

/** Four measures, a bar for each agent. */
export function peersPlot({ measured, rounds, rows: all }: Figures): string {
  const rows = all.filter(({ failure }) => failure === undefined);
  const panelHeight = 30 + rows.length * rowHeight;
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

function panel({ key, title, unit }: Measure, rows: readonly PeerRow[]): string {
  const most = Math.max(...rows.map((row) => row[key] ?? 0));
  const room = panelWidth - labels - 76;
  const bars = rows.map((row, index) => {
    const y = 26 + index * rowHeight;
    const value = row[key];
    const width = value === undefined ? 0 : Math.max(2, Math.round((value / most) * room));
    const name = `<text x="${labels - 8}" y="${y + 13}" text-anchor="end"${index === 0 ? ' class="title"' : ""}>${row.name}</text>`;
    const bar = `<rect class="${index === 0 ? "ours" : "bar"}" x="${labels}" y="${y + 2}" width="${width}" height="14" rx="3"/>`;
    return `${name}${bar}<text class="soft" x="${labels + width + 6}" y="${y + 13}">${withUnit(value, unit) ?? "not measured"}</text>`;
  });
  return `<text class="title" x="0" y="12">${title}</text>${bars.join("")}`;
}
