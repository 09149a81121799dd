// Renders a Jupyter notebook as text: its cells and their output, without the images that make up most of the file.
import { isObject, tryParse } from "../../json/object.ts";
import { plainOutput } from "../../text/plain-output.ts";

/** The maximum number of characters shown of one cell's output. */
const longestOutput = 2000;

/** Renders the cells and outputs of a Jupyter notebook as text. Returns undefined if the text is not a notebook. */
export function notebookText(json: string): string | undefined {
  const notebook = tryParse(json);
  const cells = isObject(notebook) ? notebook["cells"] : undefined;
  if (!Array.isArray(cells)) return undefined;
  return cells
    .filter(isObject)
    .map(({ cell_type, source, outputs }, index) => {
      const outputTexts = Array.isArray(outputs) ? outputs.map(outputText).filter((text) => text !== "") : [];
      const printed = outputTexts.length > 0 ? [`[output ${index + 1}]`, ...outputTexts] : [];
      return [`[cell ${index + 1}: ${cell_type}]`, joinText(source), ...printed].join("\n");
    })
    .join("\n\n");
}

function outputText(output: unknown): string {
  if (!isObject(output)) return "";
  const { text, data, ename, evalue } = output;
  const kinds = isObject(data) ? Object.keys(data).filter((kind) => kind.startsWith("image/")) : [];
  const plain = joinText(text ?? (isObject(data) ? data["text/plain"] : undefined));
  const failed = typeof ename === "string" ? `${ename}: ${evalue}` : "";
  const plainText = plainOutput([plain, failed].filter(Boolean).join("\n")).trimEnd();
  const cut = plainText.length > longestOutput ? `${plainText.slice(0, longestOutput)}…` : plainText;
  return [cut, ...kinds.map((kind) => `[${kind}]`)].filter(Boolean).join("\n");
}

/** Joins a notebook's text, which is stored as a string or as a list of lines. */
function joinText(text: unknown): string {
  return (Array.isArray(text) ? text.join("") : typeof text === "string" ? text : "").trimEnd();
}
