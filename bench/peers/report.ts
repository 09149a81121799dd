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
  growth?: Growth;
};

type Workload = { ms: number; bytes: number };

/** By workload; those that failed are absent. `large`: in 50,000 files, a search by name, one by content, a first and a second command that writes. */
export type Growth = Record<string, Workload | number | number[]> & { atOnceMs?: number; large?: number[] };

export type Figures = {
  measured: string;
  rounds: number;
  node: string;
  cores: number;
  /** The highest load average while it was measured, which the agents are a part of. */
  load: number;
  network: string;
  rows: PeerRow[];
  /** When and how busy the machine was, for what grows with the work. */
  growth?: { measured: string; load: number };
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

Medians of ${rounds} interleaved ${rounds === 1 ? "round" : "rounds"} on ${measured}, one machine with ${cores} cores, Node ${node.slice(1)}. Each agent ran in its own directory and home, with telemetry and update checks off (network: ${network}), against the same model server on loopback. A turn counts only if the model was asked, the command was run and its result was sent back. Differences of less than a sixth are noise.${wasBusy ? `\n\n**The machine was busy with other work (load ${load.toFixed(1)} on ${cores} cores):** times are longer than on an idle one, especially for agents that use much CPU.` : ""}

- text turn: from start to exit, without tool calls. tool turn: with one call, \`echo hi\`.
- first event: time to the first line on stdout. first request: time to the first request to the model.
- memory: peak of the process and everything it starts (PSS), measured in separate runs.
- request: size of the first request with tools; requests: number of requests in a tool turn.
${notes.length === 0 ? "" : `${notes.join("\n")}\n`}${growthSection(figures)}
To measure it yourself (this writes this part of the page, the picture and [\`peers.json\`](peers.json)):

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

const workload = (growth: Growth, name: string) => growth[name] as Workload | undefined;
const seconds = (ms: number | undefined) => (ms === undefined ? undefined : Math.round(ms / 10) / 100);

/** `value`: smaller is better. */
const growthColumns: { title: string; unit: string; value(growth: Growth): number | undefined }[] = [
  ...[1, 10, 100, 400].map((count) => ({
    title: `${count} ${count === 1 ? "call" : "calls"}`,
    unit: "s",
    value: (growth: Growth) => seconds(workload(growth, `calls${count}`)?.ms),
  })),
  { title: "resumed after 400", unit: "s", value: (growth) => seconds(workload(growth, "again")?.ms) },
  { title: "12 runs at once", unit: "s", value: ({ atOnceMs }) => seconds(atOnceMs) },
  ...["find by name", "find by content", "first command that writes", "second"].map((title, index) => ({
    title: `50,000 files: ${title}`,
    unit: "ms",
    value: ({ large }: Growth) => (large?.[index] === undefined ? undefined : Math.round(large[index]!)),
  })),
  ...[
    { title: "disk: 400 calls", name: "calls400" },
    { title: "disk: 50 edits in 92 kB", name: "edits" },
    { title: "disk: 30 reads", name: "reads" },
  ].map(({ title, name }) => ({
    title,
    unit: "kB",
    value: (growth: Growth) => {
      const bytes = workload(growth, name)?.bytes;
      return bytes === undefined ? undefined : Math.round(bytes / 1000);
    },
  })),
];

/** The workloads as rows, the agents beside each other; where another agent is ahead, that is said. */
function growthSection({ rows, growth: measured, cores }: Figures): string {
  const found = rows.filter(({ growth }) => growth !== undefined);
  if (found.length === 0 || found[0] !== rows[0]) return "";
  const behind: string[] = [];
  const lines = growthColumns.map(({ title, unit, value }) => {
    const values = found.map(({ growth }) => value(growth!));
    const [ours, ...others] = values;
    const best = others.filter((each) => each !== undefined).sort((one, other) => one - other)[0];
    const first = found[1 + others.indexOf(best)]?.name;
    if (ours !== undefined && best !== undefined && best < ours)
      behind.push(`${title} (${first} ${withUnit(best, unit)}, Courser ${withUnit(ours, unit)})`);
    return `| ${[title, ...values.map((each) => withUnit(each, unit) ?? "–")].join(" | ")} |`;
  });
  const head = [
    ["", ...found.map(({ name }) => name)],
    ["---", ...found.map(() => "---")],
  ];
  return `
### What grows with the work

${[...head.map((cells) => `| ${cells.join(" | ")} |`), ...lines].join("\n")}

One run of each${measured ? ` on ${measured.measured}, at a load of ${measured.load} on ${cores} cores` : ""}, one call in each reply of the model. Times are from start to exit; in the repository of 50,000 tracked files, from the request that
was answered with the call to the one with its result. Disk is what the agent's home grew by. An agent without a tool for it uses its shell. A dash: it did not succeed.

${behind.length === 0 ? "Courser is first in every row." : `Courser is not first in: ${behind.join("; ")}.`}
`;
}

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
