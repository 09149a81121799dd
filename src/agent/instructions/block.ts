// Wraps text in a tag that it cannot close, so that the model sees where it starts, ends and comes from.
import { oneLine } from "../../text/one-line.ts";

export function block(tag: string, attributes: Record<string, string | undefined>, text: string): string {
  // The text stays unchanged; the tag name changes if the text contains it.
  let fence = tag;
  const lower = text.toLowerCase();
  for (let number = 2; lower.includes(`</${fence}`); number++) fence = `${tag}-${number}`;
  const attributeText = Object.entries(attributes)
    .filter((entry) => entry[1] !== undefined)
    .map(([name, value]) => ` ${name}="${oneLine(value!).replaceAll('"', "&quot;")}"`)
    .join("");
  return `<${fence}${attributeText}>\n${withoutLastBreaks(text)}\n</${fence}>`;
}

function withoutLastBreaks(text: string): string {
  let end = text.length;
  while (text[end - 1] === "\n") end--;
  return text.slice(0, end);
}
