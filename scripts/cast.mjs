// `npm run cast`: runs the built CLI on a terminal, records what it prints and when, and draws it as docs/cast.svg.
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

const home = mkdtempSync(join(tmpdir(), "courser-cast-"));
const frames = [];
try {
  for (const args of commands) {
    frames.push({ pauseMs: 900, text: `$ courser ${args.map(quote).join(" ")}`, typed: true });
    frames.push(...(await record(args)));
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
  let at = 400;
  let row = 0;
  const texts = [];
  for (const frame of frames) {
    at += frame.pauseMs;
    for (const line of frame.text.split("\n").flatMap((text) => wrap(text, columns))) {
      const style = frame.typed ? ' fill="#8fd18f"' : line.startsWith("·") ? ' fill="#8aa4c8"' : "";
      texts.push(
        `<text x="20" y="${58 + row * lineHeight}"${style} class="l" style="animation-delay:${at}ms">${escapeXml(line)}</text>`,
      );
      row++;
    }
  }
  const height = 76 + row * lineHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="#e6e6e6">
<style>.l{white-space:pre;opacity:0;animation:show 1ms linear forwards}@keyframes show{to{opacity:1}}@media (prefers-reduced-motion:reduce){.l{opacity:1;animation:none}}</style>
<rect width="${width}" height="${height}" rx="10" fill="#1b1f27"/><circle cx="22" cy="20" r="6" fill="#e0605a"/><circle cx="42" cy="20" r="6" fill="#e0b45a"/><circle cx="62" cy="20" r="6" fill="#6abf69"/>
${texts.join("\n")}
</svg>
`;
}

function wrap(line, columns) {
  const parts = [];
  for (let rest = line; ; rest = `  ${rest.slice(columns)}`) {
    parts.push(rest.slice(0, columns));
    if (rest.length <= columns) return parts;
  }
}

function quote(word) {
  return /^[\w./=-]+$/.test(word) ? word : `"${word}"`;
}

function escapeXml(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}
