// `npm run mutate -- [--sample N] [--seed S] [--file NAME] [--show]`: changes src/policy one small thing at a time and looks
// whether a test or a case notices. Prints the share of changes that were noticed; survivors say which test is missing.
import { fork } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAst } from "rolldown/parseAst";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const folder = join(root, "src/policy");
const options = readOptions(process.argv.slice(2));
const longestRunMs = 60_000;
let mutants = [];
let scratch = "";
const survivors = [];
const counts = new Map();
let killed = 0;
let done = 0;

/** Takes mutants one by one; a process that hangs is ended, and that counts as noticed. */
async function work(number) {
  let runner = await startRunner(number);
  while (mutants.length > 0) {
    const mutant = mutants.shift();
    const noticed = await runner.run(mutant);
    if (noticed === "lost") runner = await startRunner(number);
    done++;
    const [hit, all] = counts.get(mutant.file) ?? [0, 0];
    counts.set(mutant.file, [hit + (noticed ? 1 : 0), all + 1]);
    if (noticed) killed++;
    else survivors.push(mutant);
    if (options.show)
      console.error(`${noticed ? "noticed " : "SURVIVED"} ${mutant.file}:${mutant.line} ${mutant.kind}`);
    else if (done % 50 === 0) console.error(`${done} done, ${mutants.length} to go, ${killed} noticed`);
  }
  runner.stop();
}

async function startRunner(number) {
  const child = fork(join(root, "scripts/mutate-runner.mjs"), [join(scratch, String(number))], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  await new Promise((settle, reject) => {
    child.once("message", settle);
    child.once("exit", (code) => reject(new Error(`The tests do not pass without any change (${code}).`)));
  });
  child.removeAllListeners("exit");
  return {
    run: ({ file, source }) =>
      new Promise((settle) => {
        const timer = setTimeout(() => child.kill("SIGKILL"), longestRunMs);
        const end = (answer) => {
          clearTimeout(timer);
          child.removeAllListeners();
          settle(answer);
        };
        child.once("message", ({ noticed }) => end(noticed));
        child.once("exit", () => end("lost"));
        child.send({ file, source });
      }),
    stop: () => child.disconnect(),
  };
}

function mutantsOf(file, source) {
  const found = [];
  const add = (node, kind, after) => {
    const before = source.slice(node.start, node.end);
    if (before === after) return;
    const line = source.slice(0, node.start).split("\n").length;
    const changed = source.slice(0, node.start) + after + source.slice(node.end);
    found.push({ file, line, kind, before: oneLine(before), after: oneLine(after), source: changed });
  };
  const text = (node) => source.slice(node.start, node.end);
  visit(parseAst(source, { lang: "ts" }), [], (node, above) => {
    const change = changes[node.type];
    if (change) change(node, { add, text, above, source });
  });
  return found;
}

const swapped = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "+": "-",
  "-": "+",
};

/** What is changed in each kind of node. Sentences for people are left alone: no test should hang on their words. */
const changes = {
  BinaryExpression: operator,
  LogicalExpression: operator,
  UnaryExpression(node, { add, text }) {
    if (node.operator === "!") add(node, "negation", `(${text(node.argument)})`);
  },
  IfStatement(node, { add }) {
    add(node.test, "condition", "true");
    add(node.test, "condition", "false");
  },
  ConditionalExpression(node, { add }) {
    add(node.test, "condition", "true");
    add(node.test, "condition", "false");
  },
  Literal(node, { add, above }) {
    if (above.some((each) => /^(Import|Export(All|Named))|^TS/.test(each.type))) return;
    if (typeof node.value === "boolean") add(node, "constant", String(!node.value));
    if (typeof node.value === "number") add(node, "constant", String(node.value + 1));
    if (node.regex)
      for (const pattern of fewerAlternatives(node.regex.pattern))
        add(node, "pattern", `/${pattern}/${node.regex.flags}`);
  },
  CallExpression(node, { add, text }) {
    const name = node.callee.property?.name;
    if (name === "some" || name === "every") {
      const other = name === "some" ? "every" : "some";
      add(node.callee.property, "call", other);
    }
    // A list of words: each of them is a row.
    const list = node.arguments[0];
    if (node.callee.name === "words" && list) {
      const names = text(list).slice(1, -1).trim().split(/\s+/);
      for (const index of names.keys()) add(list, "row", `"${names.filter((_, at) => at !== index).join(" ")}"`);
    }
  },
  ExpressionStatement(node, { add }) {
    if (node.expression.type === "CallExpression" || node.expression.type === "AssignmentExpression")
      add(node, "statement", ";");
  },
  ObjectExpression(node, { add, above, source }) {
    if (!isTable(above)) return;
    for (const property of node.properties) remove(property, { add, source }, "row");
  },
  ArrayExpression(node, { add, above, source }) {
    if (!isTable(above)) return;
    for (const element of node.elements) if (element) remove(element, { add, source }, "row");
  },
};

function operator(node, { add, source }) {
  const after = swapped[node.operator];
  if (!after) return;
  const at = source.indexOf(node.operator, node.left.end);
  add({ start: at, end: at + node.operator.length }, "operator", after);
}

/** Constants of a module are tables; what functions return is not. */
function isTable(above) {
  return !above.some((each) => /Function/.test(each.type)) && above.some((each) => each.type === "VariableDeclaration");
}

function remove(node, { add, source }, kind) {
  const comma = /^\s*,/.exec(source.slice(node.end));
  add({ start: node.start, end: node.end + (comma?.[0].length ?? 0) }, kind, "");
}

/** The pattern with one of its alternatives left out, for each group that has some. */
function fewerAlternatives(pattern) {
  const found = [];
  for (const group of pattern.matchAll(/\((\?:|\?!)?([^()[\]]*\|[^()[\]]*)\)/g)) {
    const parts = group[2].split("|");
    for (const index of parts.keys()) {
      const rest = parts.filter((_, at) => at !== index).join("|");
      found.push(
        `${pattern.slice(0, group.index)}(${group[1] ?? ""}${rest})${pattern.slice(group.index + group[0].length)}`,
      );
    }
  }
  return found;
}

function visit(node, above, each) {
  if (typeof node?.type !== "string" || node.type.startsWith("TS")) return;
  each(node, above);
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (child && typeof child === "object") visit(child, [...above, node], each);
}

function oneLine(text) {
  const plain = text.replace(/\s+/g, " ");
  return plain.length > 60 ? `${plain.slice(0, 57)}…` : plain;
}

function sampled(all) {
  let state = options.seed;
  const random = () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
  const shuffled = all.map((mutant) => [random(), mutant]).sort((a, b) => a[0] - b[0]);
  return shuffled.map(([, mutant]) => mutant).slice(0, options.sample ?? all.length);
}

function readOptions(argv) {
  const value = (name) => (argv.includes(name) ? argv[argv.indexOf(name) + 1] : undefined);
  return {
    sample: value("--sample") === undefined ? undefined : Number(value("--sample")),
    seed: Number(value("--seed") ?? 1),
    file: value("--file"),
    show: argv.includes("--show"),
  };
}

mutants = sampled(
  readdirSync(folder)
    .filter((name) => name.endsWith(".ts") && (!options.file || name.includes(options.file)))
    .flatMap((name) => mutantsOf(name, readFileSync(join(folder, name), "utf8"))),
);
mkdirSync(join(root, "node_modules/.cache"), { recursive: true });
scratch = mkdtempSync(join(root, "node_modules/.cache/mutate-"));
try {
  await Promise.all([0, 1].map(work));
} finally {
  rmSync(scratch, { recursive: true, force: true });
}
for (const mutant of survivors.sort((a, b) => a.file.localeCompare(b.file) || a.line - b.line))
  console.log(`survived ${mutant.file}:${mutant.line}  ${mutant.kind}  ${mutant.before} -> ${mutant.after}`);
for (const [file, [hit, all]] of [...counts].sort()) console.log(`${file.padEnd(24)} ${hit} of ${all}`);
console.log(`${killed} of ${done} changes were noticed: ${((100 * killed) / Math.max(1, done)).toFixed(1)} %`);
process.exit(killed >= 0.9 * done ? 0 : 1);
