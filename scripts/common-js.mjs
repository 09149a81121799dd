// Turns esbuild's chunks, which are ES modules, into CommonJS. esbuild can do that too, but exports each name through two getters and
// brings their makers into each chunk: with two hundred chunks that is a tenth of the code cache, and a detour in each call.
import { transform } from "esbuild";

/**
 * A name is exported as a value once its chunk has run: no chunk imports itself in a circle. Only what is assigned later, by a
 * function, is exported by a getter. `text` is not minified, so that a name means one thing.
 */
export function withPlainExports(text) {
  const list = /\nexport \{([^{}]*)\};\s*$/.exec(text);
  const body = (list ? text.slice(0, list.index) : text)
    .replace(/\bimport\((".\/[^"]+")\)/g, "Promise.resolve().then(() => require($1))")
    .replace(/^import (?:\* as )?([\w$]+) from ("node:[^"]+");$/gm, "var $1 = require($2);");
  const names = (list?.[1] ?? "").split(",").map((each) => each.trim().split(" as "));
  const lines = names.filter(([local]) => local !== "").map(([local, name = local]) => exportOf(body, local, name));
  // Without this mark, esbuild takes the whole module for its default export.
  if (names.some(([, name]) => name === "default")) lines.unshift("exports.__esModule = true;");
  return `${body}\n${lines.join("\n")}\n`;
}

function exportOf(body, local, name) {
  if (isAssignedOnce(body, local)) return `exports.${name} = ${local};`;
  return `Object.defineProperty(exports, "${name}", { enumerable: true, get: () => ${local} });`;
}

function isAssignedOnce(body, local) {
  const word = local.replaceAll("$", "\\$");
  const assigned = new RegExp(
    `(?<![\\w$.])${word}\\s*(?:(?:[-+*/%&|^]|\\*\\*|\\?\\?|\\|\\||&&|<<|>>>?)?=(?![=>])|\\+\\+|--)`,
    "g",
  );
  const count = [...body.matchAll(assigned)].length;
  if (new RegExp(`(?:\\+\\+|--)${word}(?![\\w$])`).test(body)) return false;
  if (new RegExp(`^(?:async )?function\\*? ${word}\\(`, "m").test(body)) return count === 0;
  return count === 1 && new RegExp(`^(?:var|let|const) ${word} = `, "m").test(body);
}

export async function commonJs(text, how, target) {
  const { code } = await transform(text, {
    ...how,
    format: "cjs",
    platform: "node",
    target,
    legalComments: "none",
    supported: { "dynamic-import": false },
    define: { "import.meta.url": "__fileUrl" },
  });
  // esbuild leaves other characters only in regular expressions. Without them V8 keeps the text in half the memory.
  return code.replace(/[\u0080-\uffff]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
