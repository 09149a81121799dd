// The small changes that can be made to a source file. All that are wanted are written into one text, each behind a condition, so
// that one build holds them all and a number chooses which of them is there.
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
  "*": "/",
};
const otherCall = new Map([
  ["some", "every"],
  ["every", "some"],
  ["min", "max"],
  ["max", "min"],
  ["startsWith", "endsWith"],
  ["endsWith", "startsWith"],
]);
/** Calls that are left out: what they are called on stays. */
const dropped = new Set(["filter", "trim", "trimEnd", "trimStart", "sort", "reverse", "toLowerCase"]);

/** What is changed in each kind of node. Sentences for people are left alone: no test should hang on their words. */
const changes = {
  BinaryExpression: operator,
  LogicalExpression(node, tools) {
    operator(node, tools);
    if (node.operator === "??") tools.add(node, "default", tools.text(node.left));
  },
  UnaryExpression(node, { add, text }) {
    if (node.operator === "!") add(node, "negation", text(node.argument));
  },
  IfStatement: condition,
  ConditionalExpression: condition,
  Literal(node, { add, above }) {
    if (above.some((each) => /^(Import|Export(All|Named))|^JSXAttribute/.test(each.type))) return;
    const holder = above.at(-1);
    if (holder?.key === node && !holder.computed) return;
    if (typeof node.value === "boolean") add(node, "constant", String(!node.value));
    if (typeof node.value === "number") add(node, "constant", String(node.value + 1));
    if (node.regex)
      for (const pattern of fewerAlternatives(node.regex.pattern).filter((each) => isPattern(each, node.regex.flags)))
        add(node, "pattern", `/${pattern}/${node.regex.flags}`);
  },
  CallExpression(node, { add, text, above, source }) {
    // Inside a chain of ?. the rest of the chain would no longer be skipped.
    if (["MemberExpression", "CallExpression"].includes(above.at(-1)?.type) && above.some(isChain)) return;
    const { callee } = node;
    if (callee.type !== "MemberExpression" || callee.optional || callee.computed) return;
    const { name } = callee.property;
    const other = otherCall.get(name);
    if (other)
      add(
        node,
        "call",
        source.slice(node.start, callee.property.start) + other + source.slice(callee.property.end, node.end),
      );
    if (dropped.has(name)) add(node, "call", text(callee.object));
  },
  ExpressionStatement(node, { add }) {
    const { expression } = node;
    const inner = expression.type === "AwaitExpression" ? expression.argument : expression;
    if (inner.type === "CallExpression" && inner.callee.type !== "Super") add(node, "statement", "", "statement");
    if (inner.type === "AssignmentExpression") add(node, "statement", "", "statement");
  },
  // What is handed on only sometimes is a spread; what is always there, types ask for, but for the rows of tables.
  ObjectExpression(node, { add, above }) {
    const isTable = isOutside(above);
    for (const property of node.properties)
      if (isTable || property.type === "SpreadElement") add(property, "row", "", "property");
  },
  ArrayExpression(node, { add, above }) {
    const isTable = isOutside(above);
    for (const element of node.elements)
      if (element && (isTable || element.type === "SpreadElement")) add(element, "row", "", "element");
  },
};

function isChain(node) {
  return node.type === "ChainExpression";
}

function operator(node, { add, source }) {
  const after = swapped[node.operator];
  // Texts that are put together do not subtract.
  if (!after || (node.operator === "+" && [node.left, node.right].some(isText))) return;
  const at = source.indexOf(node.operator, node.left.end);
  const changed = source.slice(node.start, at) + after + source.slice(at + node.operator.length, node.end);
  add(node, "operator", mixed(node, changed));
}

/** `a && b || c` with one of its operators changed may stand beside `??`, or bind otherwise: it keeps its parts together. */
function mixed(node, changed) {
  return node.type === "LogicalExpression" ? changed : `(${changed})`;
}

function isText(node) {
  return node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string");
}

function condition(node, { add }) {
  add(node.test, "condition", "true");
  add(node.test, "condition", "false");
}

/** Constants of a module are tables; what functions return is not. */
function isOutside(above) {
  return !above.some(isFunction) && above.some((each) => each.type === "VariableDeclaration");
}

function isFunction(node) {
  return /Function/.test(node.type);
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

function isPattern(pattern, flags) {
  try {
    return new RegExp(pattern, flags) !== undefined;
  } catch {
    return false;
  }
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

function parsed(file, source) {
  return parseAst(source, { lang: file.endsWith("x") ? "tsx" : "ts" });
}

/** The functions of a file in the order of their text; number 0 is the module around them. */
function functionsIn(tree) {
  const found = [];
  visit(tree, [], (node) => {
    if (isFunction(node) && node.body) found.push(node);
  });
  return found.sort((a, b) => a.start - b.start);
}

/** All changes of a file, each with the number of the innermost function around it. */
export function mutantsOf(file, source) {
  const tree = parsed(file, source);
  const functions = functionsIn(tree);
  const found = [];
  visit(tree, [], (node, above) => {
    if (above.some((each, index) => isForOthers(each, above[index + 1] ?? node, source))) return;
    const around = above.findLast((each) => isFunction(each) && each.body);
    const add = (place, kind, after, form = "expression") => {
      const before = source.slice(place.start, place.end);
      if (before === after) return;
      const { line, column } = positionOf(source, place.start);
      found.push({
        id: `${file}:${place.start}:${place.end}:${after}`,
        file,
        line,
        column,
        kind,
        form,
        before: oneLine(before),
        after: oneLine(after),
        code: oneLine(source.split("\n")[line - 1].trim()),
        start: place.start,
        end: place.end,
        text: after,
        function: around ? functions.indexOf(around) + 1 : 0,
      });
    };
    changes[node.type]?.(node, { add, text: (each) => source.slice(each.start, each.end), above, source });
  });
  return found;
}

/** What only another system runs cannot be noticed on this one. */
function isForOthers(node, child, source) {
  if (isFunction(node)) return process.platform !== "win32" && /Windows$/.test(node.id?.name ?? "");
  if (!/^(IfStatement|ConditionalExpression)$/.test(node.type) || child !== node.consequent) return false;
  const [, system] = /^process\.platform === "(\w+)"$/.exec(source.slice(node.test.start, node.test.end)) ?? [];
  return system !== undefined && system !== process.platform;
}

/** What may be the same place: the outer one first. */
const formOrder = ["property", "element", "statement", "expression"];

/** The text with all of these changes in it: the one whose `number` is in `chosen`, an expression, takes effect. */
export function withMutants(source, mutants, chosen) {
  const groups = new Map();
  for (const mutant of mutants) {
    const key = `${mutant.start}:${mutant.end}:${mutant.form}`;
    groups.set(key, [...(groups.get(key) ?? []), mutant]);
  }
  const sorted = [...groups.values()].sort(
    ([a], [b]) => a.start - b.start || b.end - a.end || formOrder.indexOf(a.form) - formOrder.indexOf(b.form),
  );
  let next = 0;
  const render = (start, end) => {
    let text = "";
    let at = start;
    while (next < sorted.length && sorted[next][0].start < end) {
      const group = sorted[next++];
      const [first] = group;
      text += source.slice(at, first.start) + wrapped(group, render(first.start, first.end), chosen);
      at = first.end;
    }
    return text + source.slice(at, end);
  };
  return render(0, source.length);
}

function wrapped(group, original, chosen) {
  const { form } = group[0];
  const isChosen = group.map(({ number }) => `${chosen}===${number}`).join("||");
  if (form === "statement") return `{if(!(${isChosen})){${original}}}`;
  if (form === "property") return `...(${isChosen}?{}:{${original}})`;
  if (form === "element") return `...(${isChosen}?[]:[${original}])`;
  return `(${group.map(({ number, text }) => `${chosen}===${number}?(${text}):`).join("")}(${original}))`;
}

/** The text with a call of `hit(number)` where each function begins. */
export function withProbes(file, source, hit) {
  const marks = functionsIn(parsed(file, source)).flatMap(({ body }, index) =>
    body.type === "BlockStatement" || body.type === "FunctionBody"
      ? [{ at: body.start + 1, order: 0, text: `${hit}(${index + 1});` }]
      : [
          { at: body.start, order: 1e9 - (body.end - body.start), text: `(${hit}(${index + 1}),(` },
          { at: body.end, order: body.end - body.start - 1e9, text: "))" },
        ],
  );
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

function positionOf(source, at) {
  const lines = source.slice(0, at).split("\n");
  return { line: lines.length, column: lines.at(-1).length + 1 };
}

function oneLine(text) {
  const plain = text.replace(/\s+/g, " ");
  return plain.length > 100 ? `${plain.slice(0, 97)}…` : plain;
}
