// The Markdown of models as elements: what it may become, that no word is lost, and that no text takes long.
import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { describe, expect, it } from "vitest";
import { Markdown } from "../../src/studio/components/text/markdown.tsx";
import { View } from "../../src/studio/components/view-options.tsx";
import { seeded } from "../sdk/chat-record.ts";

function rendered(text: string): string {
  const view = { isStatic: true, children: h(Markdown, { text }) };
  return renderToString(h(View, view))
    .replace(/^<div class="cr-markdown">|<\/div>$/g, "")
    .replaceAll(/<div class="cr-fenced">(.*?)<\/div>/gs, "$1")
    .replaceAll(' class="cr-code"', "")
    .replaceAll(/<span class="cr-line">(.*?)\n<\/span>/gs, "$1\n")
    .replaceAll("\n</pre>", "</pre>");
}

const link = 'rel="noreferrer noopener nofollow"';

describe("Markdown in answers", () => {
  const cases: [markdown: string, html: string][] = [
    [
      "a *b* **c** _d_ __e__ ~~f~~ `g`",
      "<p>a <em>b</em> <strong>c</strong> <em>d</em> <strong>e</strong> <del>f</del> <code>g</code></p>",
    ],
    ["snake_case_name 2 * 3 * 4 a ** b", "<p>snake_case_name 2 * 3 * 4 a ** b</p>"],
    ["\\*not\\* `**code**` ``a`b``", "<p>*not* <code>**code**</code> <code>a`b</code></p>"],
    ["# One\n#### Four", "<h4>One</h4><h6>Four</h6>"],
    ["a\nb  \nc\n\nd", "<p>a\nb<br/>c</p><p>d</p>"],
    ["- a\n- b\n  - c\n- d", '<ul dir="auto"><li>a</li><li>b<ul dir="auto"><li>c</li></ul></li><li>d</li></ul>'],
    ["3. a\n4. b", '<ol dir="auto" start="3"><li>a</li><li>b</li></ol>'],
    ["- [x] a\n- [ ] b", '<ul dir="auto"><li class="cr-task">☑ a</li><li class="cr-task">☐ b</li></ul>'],
    ["> a\n> b", "<blockquote><p>a\nb</p></blockquote>"],
    ["```ts\n<b>\n```\nafter", "<pre>&lt;b></pre><p>after</p>"],
    ["````\n```\n````", "<pre>```</pre>"],
    [
      "```diff\n+++ a\n x\n-y\n+z\n```",
      '<pre>+++ a\n x\n<span class="cr-line cr-bg-red">-y\n</span><span class="cr-line cr-bg-green">+z\n</span></pre>',
    ],
    ["~~~\nopen", "<pre>open</pre>"],
    ["1. a\n   ```\n   x\n   ```\n2. b", '<ol dir="auto"><li>a<pre>x</pre></li><li>b</li></ol>'],
    [
      "| a | b |\n|---|--:|\n| `x\\|y` | 2 |",
      '<div class="cr-wide" tabindex="0"><table><thead><tr><th>a</th><th class="cr-right">b</th></tr></thead><tbody><tr><td><code>x|y</code></td><td class="cr-right">2</td></tr></tbody></table></div>',
    ],
    ["---", "<hr/>"],
    ["**[a](https://x.y/_z_*w*)**", `<p><strong><a href="https://x.y/_z_*w*" ${link}>a</a></strong></p>`],
    [
      "see https://x.y/a?b=1&c=2.",
      `<p>see <a href="https://x.y/a?b=1&amp;c=2" ${link}>https://x.y/a?b=1&amp;c=2</a>.</p>`,
    ],
    ["[a](javascript:x) [b](/etc) [c](file:///x)", "<p>[a](javascript:x) [b](/etc) [c](file:///x)</p>"],
    ["www.x.y a@b.cd main.rs", "<p>www.x.y a@b.cd main.rs</p>"],
    ["<b>x</b> & y", "<p>&lt;b>x&lt;/b> &amp; y</p>"],
    ["<div>\n\n# x\n\n</div>", "<p>&lt;div></p><h4>x</h4><p>&lt;/div></p>"],
    ["a <!-- b --> c", "<p>a &lt;!-- b --> c</p>"],
    ["&#x202e;&lt;b&gt;", "<p>\\u202e&lt;b></p>"],
    ["[//]: # (a word)", "<p>[//]: # (a word)</p>"],
    ["[a][b]\n\n[b]: https://x.y", `<p>[a][b]</p><p>[b]: <a href="https://x.y" ${link}>https://x.y</a></p>`],
    ['[a](https://x.y "t") main.rs', `<p><a href="https://x.y" ${link}>a</a> main.rs</p>`],
    ["![a](https://x.y/z.png)", `<p><a href="https://x.y/z.png" ${link}>a</a></p>`],
    ["[![a](https://x.y/z.svg)](https://x.y)", `<p><a href="https://x.y" ${link}>a</a></p>`],
    ["[a](&#106;avascript:x) <javascript:x>", "<p>[a](&amp;#106;avascript:x) &lt;javascript:x></p>"],
    [`${"> ".repeat(60)}deep`, `<pre>${"> ".repeat(60)}deep</pre>`],
    [`${"- ".repeat(60)}deep`, `<pre>${"- ".repeat(60)}deep</pre>`],
    ["", ""],
  ];

  it.each(cases)("the studio turns Markdown of an answer into the right elements: %j", (markdown, html) =>
    expect(rendered(markdown)).toBe(html),
  );

  it("rendering Markdown in the studio keeps every word of the text", () => {
    const below = seeded(5);
    // No code blocks and no tables: the language of the one and cells without a head in the other are not shown.
    const marks = "> |- |1. |#|[|](https://x.y)|]: | ` |**|~|\n|\n\n|    |<!--|&|(|<".split("|");
    for (let round = 0; round < 1_000; round++) {
      let text = "";
      for (let word = 0; word < 12; word++) {
        for (let mark = below(4); mark > 0; mark--) text += marks[below(marks.length)];
        text += `w${word}w `;
      }
      const shown = rendered(text);
      for (let word = 0; word < 12; word++) expect(shown, text).toContain(`w${word}w`);
    }
  });

  it("rendering Markdown in the studio takes time in proportion to the text", () => {
    const once = (text: string) => {
      const started = performance.now();
      rendered(text);
      return performance.now() - started;
    };
    // The better of two: others work on this machine as well.
    const slow = (text: string) => Math.min(once(text), once(text));
    const pieces = ["`", "``a`", "*a", "[", "[a](", "> ", "- ", "| a ", "~~", "_a", "\\", "<", "https://", "1. "];
    for (const piece of [...pieces, "![a](https://x.y)", "&amp;", "<a ", "<!--", "#", "    "]) {
      slow(piece.repeat(200));
      const short = Math.max(slow(piece.repeat(500)), 2);
      expect(slow(piece.repeat(4_000)) / short, piece).toBeLessThan(80);
      const lines = Math.max(slow(`${piece}\n`.repeat(250)), 2);
      expect(slow(`${piece}\n`.repeat(2_000)) / lines, `${piece} in lines`).toBeLessThan(80);
    }
  });
});
