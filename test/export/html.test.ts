// The HTML export: one page that holds whatever a chat says.
import { describe, expect, it } from "vitest";
import { renderMarkdown } from "../../src/export/rendered-markdown.ts";
import { recordOf, says, seeded } from "../sdk/chat-record.ts";
import { exported, hostileRecord, plain, png } from "../sdk/hostile-chat.ts";

/** The tags of a page with their attributes. Whoever writes a new tag must name it here. */
const allowedTags =
  /^(?:\/?(?:html|head|body|title|style|div|header|h1|h2|h3|h4|h5|h6|dl|dt|dd|nav|ol|ul|li|a|span|small|main|article|section|details|summary|code|pre|p|strong|em|del|blockquote|table|thead|tbody|tr|th|td|time)|!doctype html|meta|hr|br|img)$/;
const allowedAttributes: Record<string, RegExp> = {
  lang: /^en$/,
  charset: /^utf-8$/,
  "http-equiv": /^Content-Security-Policy$/,
  content: /^[\w ';:=+/,.-]*$/,
  name: /^(viewport|referrer)$/,
  class: /^[\w -]+$/,
  id: /^turn-\d+$/,
  href: /^(#turn-\d+|https?:\/\/[^"<>\s]+)$/,
  rel: /^noreferrer noopener nofollow$/,
  datetime: /^[\dT:.Z-]+$/,
  src: /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/,
  alt: /^$/,
  open: /^$/,
  start: /^\d+$/,
  "aria-label": /^Turns$/,
};

function checkPage(page: string): void {
  const withoutStyle = page.replace(/<style>[^<]*<\/style>/, "");
  const stack: string[] = [];
  const tags = withoutStyle.matchAll(/<([^<>]*)>/g);
  for (const [, tag] of tags) {
    const [, name = "", attributes = ""] =
      /^(\/?[a-z0-9]+|!doctype html)((?:\s+[a-z-]+(?:="[^"]*")?)*)$/.exec(tag!) ?? [];
    expect(name, tag).toMatch(allowedTags);
    for (const [, attribute, value = ""] of attributes.matchAll(/\s+([a-z-]+)(?:="([^"]*)")?/g)) {
      expect(allowedAttributes[attribute!], tag).toBeDefined();
      expect(value, tag).toMatch(allowedAttributes[attribute!]!);
    }
    if (/^(!doctype html|meta|hr|br|img)$/.test(name)) continue;
    if (name.startsWith("/")) expect(stack.pop(), page).toBe(name.slice(1));
    else stack.push(name);
  }
  expect(stack).toEqual([]);
  // Nothing is left of a tag that was not closed.
  expect(withoutStyle.replace(/<[^<>]*>/g, "")).not.toMatch(/[<>]/);
}

describe("HTML", () => {
  it("is one page with everything in it, and nothing that runs", async () => {
    const page = await exported(plain, "html");
    checkPage(page);
    expect(page).toMatch(/^<!doctype html>\n/);
    expect(page).toContain(`<img src="data:image/png;base64,${png}" alt="">`);
    expect(page).toContain('<span class="removed">-x</span><span class="added">+y</span>');
    expect(page).toContain("I <strong>fix</strong> it.");
    expect(page).toMatch(/<details class="call failed"><summary>.*npm test/);
    expect(page).toContain('<a href="#turn-1">');
    expect(page).not.toMatch(/<script|<link|@import|url\(|https?:/);
    const policy = /content="(default-src[^"]*)"/.exec(page)![1]!;
    expect(policy).toBe(
      `default-src 'none'; style-src 'sha256-${/sha256-([^']+)/.exec(policy)![1]}'; img-src data:; base-uri 'none'; form-action 'none'`,
    );
    const { createHash } = await import("node:crypto");
    const style = /<style>([^<]*)<\/style>/.exec(page)![1]!;
    expect(policy).toContain(createHash("sha256").update(style).digest("base64"));
  });

  it("holds whatever a chat says", async () => {
    const below = seeded(3);
    for (let round = 0; round < 120; round++) checkPage(await exported(hostileRecord(below), "html"));
  });

  it("shows pictures of known kinds only, and none from elsewhere", async () => {
    const record = recordOf([
      {
        messages: [
          {
            role: "user",
            parts: [
              { type: "image", mime: "image/svg+xml", base64: png },
              { type: "image", mime: "image/png", base64: 'x" onerror="y' },
            ],
          },
          says("![pixel](https://example.com/pixel.png)"),
        ],
      },
    ]);
    const page = await exported(record, "html");
    expect(page).not.toContain("<img");
    expect(page).toContain('<a href="https://example.com/pixel.png" rel="noreferrer noopener nofollow">pixel</a>');
  });
});

describe("Markdown of models as HTML", () => {
  const cases: [markdown: string, html: string][] = [
    [
      "a *b* **c** _d_ __e__ ~~f~~ `g`",
      "<p>a <em>b</em> <strong>c</strong> <em>d</em> <strong>e</strong> <del>f</del> <code>g</code></p>",
    ],
    ["snake_case_name 2 * 3 * 4 a ** b", "<p>snake_case_name 2 * 3 * 4 a ** b</p>"],
    ["\\*not\\* `**code**` ``a`b``", "<p>*not* <code>**code**</code> <code>a`b</code></p>"],
    ["# One\n#### Four", "<h4>One</h4><h6>Four</h6>"],
    ["a\nb  \nc\n\nd", "<p>a\nb<br>\nc</p><p>d</p>"],
    ["- a\n- b\n  - c\n- d", "<ul><li>a</li><li>b\n<ul><li>c</li></ul></li><li>d</li></ul>"],
    ["3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
    ["- [x] a\n- [ ] b", "<ul><li>☑ a</li><li>☐ b</li></ul>"],
    ["> a\n> b", "<blockquote><p>a\nb</p></blockquote>"],
    ["```ts\n<b>\n```\nafter", "<pre><code>&lt;b&gt;</code></pre><p>after</p>"],
    ["````\n```\n````", "<pre><code>```</code></pre>"],
    ["~~~\nopen", "<pre><code>open</code></pre>"],
    ["1. a\n   ```\n   x\n   ```\n2. b", "<ol><li>a<pre><code>x</code></pre></li><li>b</li></ol>"],
    [
      "| a | b |\n|---|--:|\n| `x\\|y` | 2 |",
      '<div class="wide"><table><thead><tr><th>a</th><th class="right">b</th></tr></thead><tbody><tr><td><code>x|y</code></td><td class="right">2</td></tr></tbody></table></div>',
    ],
    ["---", "<hr>"],
    [
      "**[a](https://x.y/_z_*w*)**",
      '<p><strong><a href="https://x.y/_z_*w*" rel="noreferrer noopener nofollow">a</a></strong></p>',
    ],
    [
      "see https://x.y/a?b=1&c=2.",
      '<p>see <a href="https://x.y/a?b=1&amp;c=2" rel="noreferrer noopener nofollow">https://x.y/a?b=1&amp;c=2</a>.</p>',
    ],
    ["[a](javascript:x) [b](/etc) [c](file:///x)", "<p>[a](javascript:x) [b](/etc) [c](file:///x)</p>"],
    ["<b>x</b> & y", "<p>&lt;b&gt;x&lt;/b&gt; &amp; y</p>"],
    ["&#x202e;&lt;b&gt;", "<p>\\u202e&lt;b&gt;</p>"],
    ["[//]: # (a word)", "<p>[//]: # (a word)</p>"],
    ['[a](https://x.y "t") main.rs', '<p><a href="https://x.y" rel="noreferrer noopener nofollow">a</a> main.rs</p>'],
    ["[![a](https://x.y/z.svg)](https://x.y)", '<p><a href="https://x.y" rel="noreferrer noopener nofollow">a</a></p>'],
    [
      "&#106;avascript:x [a](&#106;avascript:x) <javascript:x>",
      "<p>javascript:x [a](javascript:x) &lt;javascript:x&gt;</p>",
    ],
    [`${"> ".repeat(60)}deep`, `<pre><code>${"&gt; ".repeat(60)}deep</code></pre>`],
    [`${"- ".repeat(60)}deep`, `<pre><code>${"- ".repeat(60)}deep</code></pre>`],
    ["", ""],
  ];

  it.each(cases)("%j", (markdown, html) =>
    expect(renderMarkdown(markdown).replaceAll(/(?<=>)\n(?=<)/g, "")).toBe(html),
  );

  it("keeps every word", () => {
    const below = seeded(5);
    // No code blocks and no tables: the language of the one and cells without a head in the other are not shown.
    const marks = [
      "> ",
      "- ",
      "1. ",
      "#",
      "[",
      "](https://x.y)",
      "]: ",
      " ` ",
      "**",
      "~",
      "\n",
      "\n\n",
      "    ",
      "<!--",
      "&",
      "(",
      "<",
    ];
    for (let round = 0; round < 2_000; round++) {
      let text = "";
      for (let word = 0; word < 12; word++) {
        for (let mark = below(4); mark > 0; mark--) text += marks[below(marks.length)];
        text += `w${word}w `;
      }
      const shown = renderMarkdown(text);
      for (let word = 0; word < 12; word++) expect(shown, text).toContain(`w${word}w`);
    }
  });

  it("takes time in proportion to the text", () => {
    const once = (text: string) => {
      const started = performance.now();
      renderMarkdown(text);
      return performance.now() - started;
    };
    // The best of three: others work on this machine as well.
    const slow = (text: string) => Math.min(once(text), once(text), once(text));
    for (const piece of [
      "`",
      "``a`",
      "*a",
      "[",
      "[a](",
      "> ",
      "- ",
      "| a ",
      "~~",
      "_a",
      "\\",
      "<",
      "https://",
      "1. ",
      "![a](https://x.y)",
      "&amp;",
    ]) {
      slow(piece.repeat(500));
      const short = Math.max(slow(piece.repeat(4_000)), 2);
      expect(slow(piece.repeat(32_000)) / short, piece).toBeLessThan(80);
      const lines = Math.max(slow(`${piece}\n`.repeat(1_000)), 2);
      expect(slow(`${piece}\n`.repeat(8_000)) / lines, `${piece} in lines`).toBeLessThan(80);
    }
  });
});
