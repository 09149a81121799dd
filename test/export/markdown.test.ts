// The Markdown export: readable, and no text breaks out of its place.
import { describe, expect, it } from "vitest";
import { fenced, inlineCode, plainInline } from "../../src/export/markdown-text.ts";
import { sealed } from "../../src/export/sealed-markdown.ts";
import { exported, plain } from "../sdk/hostile-chat.ts";

describe("Markdown", () => {
  it("is readable, calls folded away", async () => {
    const page = await exported(plain, "markdown");
    expect(page).toContain("# A title\n");
    expect(page).toContain("## 1. Fix it\n\n> Fix it\n\n*(a picture: image/png, 9 bytes)*\n\nI **fix** it.\n");
    expect(page).toContain("<summary>Edit <code>a.ts +1 −1</code></summary>\n\n```diff\n-x\n+y\n```\n\n</details>");
    expect(page).toContain(
      "<summary>Bash <code>npm test</code> — failed</summary>\n\n```text\nboom\n[exit code 1]\n```",
    );
    expect(page.endsWith("\n")).toBe(true);
  });

  it("fences are longer than what they hold", () => {
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

  it.each(texts)("texts of others: %s", (_, given, expected) => expect(sealed(given)).toBe(expected));

  it("takes time in proportion to the text", () => {
    const slow = (text: string) => {
      const started = performance.now();
      sealed(text);
      return performance.now() - started;
    };
    for (const piece of ["`", "``a`", "<", "| ", "\\", "> ", "- ", "~~~", "\t", "1. "]) {
      slow(piece.repeat(500));
      const short = Math.max(slow(piece.repeat(8_000)), 2);
      expect(slow(piece.repeat(64_000)) / short, piece).toBeLessThan(80);
    }
  });
});
