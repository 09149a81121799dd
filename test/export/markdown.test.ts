// The Markdown export: readable, and no text breaks out of its place.
import { describe, expect, it } from "vitest";
import { fenced, inlineCode, plainInline } from "../../src/export/markdown-text.ts";
import { sealMarkdown } from "../../src/export/sealed-markdown.ts";
import { exported, plain } from "../sdk/hostile-chat.ts";

describe("Markdown exports", () => {
  it("a Markdown export is readable, with calls folded", async () => {
    const page = await exported(plain, "markdown");
    expect(page).toContain("# A title\n");
    expect(page).toContain("## 1. Fix it\n\n> Fix it\n\n*(a picture: image/png, 9 bytes)*\n\nI **fix** it.\n");
    expect(page).toContain(
      "<summary>Edit <code>a.ts +1 −1</code> · 1.0 s</summary>\n\n```diff\n-x\n+y\n```\n\n</details>",
    );
    expect(page).toContain(
      "<summary>Bash <code>npm test</code> — failed · 1.0 s</summary>\n\n```text\nboom\n[exit code 1]\n```",
    );
    expect(page.endsWith("\n")).toBe(true);
  });

  it("a Markdown export makes code fences longer than any fence in their content", () => {
    expect(fenced("a ``` b ````` c", "ts")).toBe("``````ts\na ``` b ````` c\n``````");
    expect(fenced("x\n", 'a"b c')).toBe("```abc\nx\n```");
    expect(inlineCode("a`b|c\nd")).toBe("``a`b\\|c d``");
    expect(inlineCode("`")).toBe("`` ` ``");
    expect(plainInline("# *a* <b>\n[c]")).toBe("\\# \\*a\\* \\<b\\> \\[c\\]");
  });

  const texts: [what: string, given: string, sealed: string][] = [
    ["tags are text", "a <b>c</b> <!-- 1 < 2", "a &lt;b>c&lt;/b> &lt;!-- 1 < 2"],
    ["code stays", "`<d>` ``a`<e>`` <f>", "`<d>` ``a`<e>`` &lt;f>"],
    ["addresses stay", "<https://x.y> <http://a`b> `", "<https://x.y> &lt;http://a`b> `"],
    ["a backslash opens nothing", "\\`<x>\\` ` <y>", "\\`&lt;x>\\` ` &lt;y>"],
    ["but it closes nothing either", "`a\\` <x> `", "`a\\` &lt;x> `"],
    ["code over lines is in doubt", "`a\n<x>` `<y>`", "`a\n&lt;x>` `&lt;y>`"],
    ["until a blank line", "`a\n\n`<y>`", "`a\n\n`<y>`"],
    ["cells stand alone", "| ` | <x> ` |", "| ` | &lt;x> ` |"],
    ["a code block stays", "```\n<x>\n```\n<y>", "```\n<x>\n```\n&lt;y>"],
    ["blanks may follow its end", "```\n<x>\n``` \t\n<y>", "```\n<x>\n``` \t\n&lt;y>"],
    ["words may not", "```\n<x>\n``` y\n<y>", "```\n<x>\n``` y\n<y>\n```"],
    ["four blanks keep it open", "```\n    ```\n<y>", "```\n    ```\n<y>\n```"],
    ["three do not", "```\n   ```\n<y>", "```\n   ```\n&lt;y>"],
    ["a longer end is one", "~~~\n~~~~\n<y>", "~~~\n~~~~\n&lt;y>"],
    ["blank lines before the first word are dropped, blanks are not", " \n\t\n  a\n \n", "  a"],
    ["and is closed", "~~~~\n<x>\n~~~\nopen", "~~~~\n<x>\n~~~\nopen\n~~~~"],
    ["one in a list ends with it", "- ```\n  <b>\n  ```\n<y>", "- ```\n  <b>\n  ```\n&lt;y>"],
    ["whatever is in it", "- ```\n  <script>\ntext\n```\n<z>", "- ```\n  &lt;script>\ntext\n```\n<z>\n```"],
    [
      "below text that is still of the list",
      "1. a\nlazy\n   ```\n   <b>\n\n<x>",
      "1. a\nlazy\n   ```\n   <b>\n\n&lt;x>",
    ],
    ["one in a quote is in doubt", "> ```\n> <b>\n<x>", "> ```\n> &lt;b>\n&lt;x>"],
    ["what only looks like one", "```a`b\n<x>", "```a`b\n&lt;x>"],
    ["indented, it is none", "    ```\n<x>", "    ```\n&lt;x>"],
    ["a tab indents too", "\t~~~\n<x>", "\t~~~\n&lt;x>"],
    ["rules are not lists", "---> ```<b\nx='`'>- a```<style>\\`", "---> ```&lt;b\nx='`'>- a```&lt;style>\\`"],
  ];

  it.each(texts)("a Markdown export escapes untrusted text: %s", (_, given, expected) =>
    expect(sealMarkdown(given)).toBe(expected),
  );

  it("in exported Markdown, dangerous HTML tags inside code of a list are escaped, and others are kept", () => {
    const sealed = (tag: string) => sealMarkdown(`- \`\`\`\n  ${tag}x>\n  \`\`\``).split("\n")[1]!.trim();
    const worst =
      `script style textarea title xmp plaintext iframe object embed svg math template noscript details summary img
      video audio form base link meta a`.split(/\s+/);
    for (const tag of [...worst.flatMap((name) => [`<${name} `, `</${name} `, `<${name.toUpperCase()} `]), "<!", "<?"])
      expect(sealed(tag)).toBe(`&lt;${tag.slice(1)}x>`);
    for (const name of ["b", "abbr", "article", "scripts", "formula", "p"])
      expect(sealed(`<${name} `)).toBe(`<${name} x>`);
  });

  it("a Markdown export takes a line below a list as part of it, unless a block begins there", () => {
    // A fence that is not of the list is closed at the end.
    const isOfList = (line: string) => !sealMarkdown(`- a\n${line}\n  \`\`\`\n  x`).endsWith("\n```");
    const blocks = ["# h", "###### h", "#", "> q", "***", "_ _ _", "___", "===", "=", "---", "1. c"];
    expect(blocks.filter(isOfList)).toEqual([]);
    const plain = ["lazy", "#h", "####### h", "** b", "-b", "1.c", "1234567890. d", "= =", "_ _"];
    expect(plain.filter((line) => !isOfList(line))).toEqual([]);
  });

  it("exporting Markdown takes time in proportion to the text", () => {
    const slow = (text: string) => {
      const started = performance.now();
      sealMarkdown(text);
      return performance.now() - started;
    };
    for (const piece of ["`", "``a`", "<", "| ", "\\", "> ", "- ", "~~~", "\t", "1. "]) {
      slow(piece.repeat(500));
      const short = Math.max(slow(piece.repeat(8_000)), 2);
      expect(slow(piece.repeat(64_000)) / short, piece).toBeLessThan(80);
    }
  });
});
