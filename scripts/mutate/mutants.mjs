// The small changes that can be made to a source file, and the same file with probes that tell which of them a test can feel.
import { parseAst } from "rolldown/parseAst";

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
  IfStatement: condition,
  ConditionalExpression: condition,
  Literal(node, { add, above }) {
    if (above.some((each) => /^(Import|Export(All|Named))|^TS.*(Type|Keyword|Declaration|Signature)/.test(each.type)))
      return;
    const holder = above.at(-1);
    const isKey = holder?.type === "Property" && holder.key === node;
    if (isKey) return;
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
      add(node.callee.property, "call", other, { watched: node });
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
      add(node, "statement", ";", { isStatement: true });
  },
  ObjectExpression(node, { add, above, source }) {
    if (!isTable(above)) return;
    for (const property of node.properties) remove(property, { add, source });
  },
  ArrayExpression(node, { add, above, source }) {
    if (!isTable(above)) return;
    for (const element of node.elements) if (element) remove(element, { add, source });
  },
};

function operator(node, { add, source }) {
  const after = swapped[node.operator];
  if (!after) return;
  const at = source.indexOf(node.operator, node.left.end);
  add({ start: at, end: at + node.operator.length }, "operator", after, { watched: node });
}

/** A test that is always answered alike by itself cannot be felt where it was answered so anyway. */
function condition(node, { add }) {
  add(node.test, "condition", "true", { feltWhen: false });
  add(node.test, "condition", "false", { feltWhen: true });
}

/** Constants of a module are tables; what functions return is not. */
function isTable(above) {
  return !above.some((each) => /Function/.test(each.type)) && above.some((each) => each.type === "VariableDeclaration");
}

function remove(node, { add, source }) {
  const comma = /^\s*,/.exec(source.slice(node.end));
  add({ start: node.start, end: node.end + (comma?.[0].length ?? 0) }, "row", "");
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

/** Types hold nothing that runs; `x as T`, `x satisfies T` and `x!` hold x. */
const aroundValues = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression"]);

function visit(node, above, each) {
  if (typeof node?.type !== "string") return;
  if (node.type.startsWith("TS") && !aroundValues.has(node.type)) return;
  each(node, above);
  for (const value of Object.values(node))
    for (const child of Array.isArray(value) ? value : [value])
      if (child && typeof child === "object") visit(child, [...above, node], each);
}

/**
 * All changes of a file. `probe` names the place that must be reached for a change to be felt, `feltWhen` what must have
 * come out there; without a probe the change is made when the module loads, and everything may feel it.
 */
export function mutantsOf(file, source) {
  const found = [];
  visit(parseAst(source, { lang: "ts" }), [], (node, above) => {
    const isInFunction = above.some((each) => /Function/.test(each.type));
    const add = (place, kind, after, { watched = place, isStatement = false, feltWhen } = {}) => {
      const before = source.slice(place.start, place.end);
      if (before === after) return;
      found.push({
        id: `${file}:${place.start}:${after}`,
        file,
        line: source.slice(0, place.start).split("\n").length,
        kind,
        before: oneLine(before),
        after: oneLine(after),
        words: wordsOf(before).filter((word) => !wordsOf(after).includes(word)),
        source: source.slice(0, place.start) + after + source.slice(place.end),
        feltWhen,
        ...(isInFunction && {
          probe: { key: `${file}:${watched.start}:${watched.end}`, ...range(watched), isStatement },
        }),
      });
    };
    changes[node.type]?.(node, { add, text: (each) => source.slice(each.start, each.end), above, source });
  });
  return found;
}

/** The file with every probed place telling that it was reached, and what came out there. */
export function withProbes(source, mutants) {
  const probes = [...new Map(mutants.flatMap(({ probe }) => (probe ? [[probe.key, probe]] : [])))].map(([, it]) => it);
  const marks = probes.flatMap(({ key, start, end, isStatement }) => {
    const call = `globalThis.felt(${JSON.stringify(key)}`;
    const size = end - start;
    return [
      { at: start, order: -size, text: isStatement ? `{${call});` : `${call},` },
      { at: end, order: size - 1e9, text: isStatement ? "}" : ")" },
    ];
  });
  // What closes at a place comes before what opens there; the inner closes first, the outer opens first.
  marks.sort((a, b) => a.at - b.at || a.order - b.order);
  let text = "";
  let at = 0;
  for (const mark of marks) {
    text += source.slice(at, mark.at) + mark.text;
    at = mark.at;
  }
  return text + source.slice(at);
}

function range({ start, end }) {
  return { start, end };
}

function wordsOf(text) {
  return text.match(/[\w.-]{2,}/g) ?? [];
}

function oneLine(text) {
  const plain = text.replace(/\s+/g, " ");
  return plain.length > 60 ? `${plain.slice(0, 57)}…` : plain;
}
