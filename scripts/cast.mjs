// `npm run long -- cast`: runs the built CLI on a terminal, records what it prints and when, and draws it as docs/cast.svg.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const cli = join(root, "dist/courser.cjs");
const commands = [
  ["-p", "--force", "create a file called hello.txt with text 'Hello World', then run cat hello.txt"],
  ["-p", "--force", "--output-format", "json", "what is 6*7?"],
];
/** Reading time: programs are faster than people. */
const beforeOutputMs = 700;
const beforeCommandMs = 1800;
const lastLookMs = 5000;

const home = mkdtempSync(join(tmpdir(), "courser-cast-"));
const frames = [];
try {
  for (const args of commands) {
    frames.push({ pauseMs: beforeCommandMs, text: `$ courser ${args.map(quote).join(" ")}`, typed: true });
    const [first, ...rest] = await record(args);
    frames.push({ ...first, pauseMs: first.pauseMs + beforeOutputMs }, ...rest, { pauseMs: 0, text: "" });
  }
} finally {
  rmSync(home, { recursive: true, force: true });
}
writeFileSync(join(root, "docs/cast.svg"), draw(frames));

/** A terminal of its own (python's pty), so that the program behaves as it does for a person. */
function record(args) {
  const program = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
  const child = spawn("python3", ["-c", program, process.execPath, cli, ...args], {
    cwd: home,
    env: { PATH: process.env.PATH, HOME: home, TERM: "xterm", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const found = [];
  let last = Date.now();
  child.stdout.on("data", (chunk) => {
    found.push({ pauseMs: Date.now() - last, text: chunk.toString().replaceAll("\r\n", "\n").replace(/\n$/, "") });
    last = Date.now();
  });
  return new Promise((resolve, reject) => {
    child.on("close", (code) => (code === 0 ? resolve(found) : reject(new Error(`exit ${code}`))));
  });
}

function draw(frames) {
  const width = 920;
  const lineHeight = 20;
  const columns = 104;
  let at = 0;
  const lines = [];
  for (const frame of frames) {
    at += frame.pauseMs;
    for (const line of frame.text.split("\n").flatMap((text) => wrap(text, columns))) {
      lines.push({ line, at, color: frame.typed ? "#8fd18f" : line.startsWith("·") ? "#8aa4c8" : "#e6e6e6" });
    }
  }
  const total = at + lastLookMs;
  const height = 76 + lines.length * lineHeight;
  // Everything is visible where nothing moves: previews, printers, people who asked for less motion.
  const moments = lines.map(({ at }, index) => {
    const from = ((100 * at) / total).toFixed(2);
    return `@keyframes l${index}{0%,${from}%{opacity:0}${(Number(from) + 0.01).toFixed(2)}%,99%{opacity:1}100%{opacity:0}}#l${index}{animation:l${index} ${total}ms infinite}`;
  });
  const texts = lines.map(
    ({ line, color }, index) =>
      `<text id="l${index}" x="20" y="${58 + index * lineHeight}" fill="${color}" xml:space="preserve">${escapeXml(line)}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14">
<title>Courser writes a file, runs a command, and answers in JSON</title>
<style>@media (prefers-reduced-motion: no-preference){${moments.join("")}}</style>
<rect width="${width}" height="${height}" rx="10" fill="#1b1f27"/><circle cx="22" cy="20" r="6" fill="#e0605a"/><circle cx="42" cy="20" r="6" fill="#e0b45a"/><circle cx="62" cy="20" r="6" fill="#6abf69"/>
${texts.join("\n")}
</svg>
`;
}

/** Long lines break after a comma where they can. */
function wrap(line, columns) {
  const parts = [];
  let rest = line;
  while (rest.length > columns) {
    const comma = rest.lastIndexOf(",", columns - 1) + 1;
    const end = comma > columns / 2 ? comma : columns;
    parts.push(rest.slice(0, end));
    rest = `  ${rest.slice(end)}`;
  }
  return [...parts, rest];
}

function quote(word) {
  return /^[\w./=-]+$/.test(word) ? word : `"${word}"`;
}

function escapeXml(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
