// HTML to Markdown: what a reader of the page would have read, and nothing that only leads elsewhere.
import { describe, expect, it } from "vitest";
import { htmlToMarkdown } from "../../src/web/html/index.ts";

const base = "https://docs.test/guide/start";
const markdown = (html: string) => htmlToMarkdown(html, base).markdown;

describe("html to markdown", () => {
  it.each([
    ["style='display:none'", false],
    ["style='color: red; DISPLAY : none; x: y'", false],
    ["style='x:y;visibility:hidden'", false],
    ["style='visibility: visible; display: block'", true],
    ["style='--display: none'", true],
    ["hidden", false],
    ["aria-hidden='true'", false],
    ["aria-hidden='false'", true],
  ])("an element with %s is read: %s", (attribute, isRead) => {
    expect(markdown(`<title>T</title><p>One two.</p><p ${attribute}>Three.</p>`).includes("Three")).toBe(isRead);
  });

  it("the HTML converter keeps a page's article and leaves out its surroundings", () => {
    const html = `<!doctype html><html><head><title>Start - Docs</title><style>p{}</style></head><body>
      <a class="skip-link" href="#main">Skip</a>
      <header><a href="/">Home</a> <a href="/blog">Blog</a></header>
      <nav><ul><li><a href="/a">Menu entry</a></li></ul></nav>
      <div class="cookie-banner">We use cookies</div>
      <main><h1>Start</h1><p>Install it <b>first</b>, then <a href="../next?x=1#y">go on</a>.</p>
        <div class="sidebar"><a href="/1">One</a> <a href="/2">Two</a></div>
        <p>Second paragraph with enough words to be the thing that somebody came for.</p>
        <script>alert(1)</script><p hidden>Hidden</p><p style="display:none">Gone</p></main>
      <aside>Advert</aside><footer>Imprint</footer></body></html>`;
    const text = markdown(html);
    expect(text).toBe(
      "# Start\n\nInstall it **first**, then [go on](https://docs.test/next?x=1#y).\n\n" +
        "Second paragraph with enough words to be the thing that somebody came for.",
    );
  });

  it("the HTML converter removes menus from pages without semantic tags", () => {
    const links = ["About us", "Products", "Careers", "Contact"].map((name) => `<li><a href="/x">${name}</a></li>`);
    const html = `<title>News</title><body><div id="top"><ul>${links.join("")}</ul></div>
      <div><p>The river rose by two metres, and the bridge was closed at noon.</p>
      <ul><li>Schools stay open.</li><li>Trains run, <a href="/plan">see the plan</a>.</li></ul></div>`;
    expect(markdown(html)).toBe(
      "# News\n\nThe river rose by two metres, and the bridge was closed at noon.\n\n" +
        "- Schools stay open.\n- Trains run, [see the plan](https://docs.test/plan).",
    );
  });

  it("HTML data tables become Markdown tables, with spans, captions and pipes", () => {
    const html = `<table><caption>Limits</caption><thead><tr><th>name</th><th>value</th><th>note</th></tr></thead>
      <tbody><tr><td><code>size</code></td><td>10 MiB</td><td>a | b</td></tr>
      <tr><td colspan="2">time</td><td><p>30 s</p><p>in all</p></td></tr></tbody></table>`;
    expect(markdown(html)).toBe(
      "Limits\n\n| name | value | note |\n| --- | --- | --- |\n| `size` | 10 MiB | a \\| b |\n| time |  | 30 s in all |",
    );
  });

  it("HTML tables used for layout are flattened", () => {
    const html =
      "<table><tr><td><h2>Left</h2><p>Text</p></td><td><table><tr><td>Inner</td></tr></table></td></tr></table>";
    expect(markdown(html)).toBe("## Left\n\nText\n\nInner");
  });

  it("the HTML converter writes code, lists, quotes and definitions as Markdown", () => {
    const html = `<h2>Use<a class="anchor" href="#use">#</a></h2>
      <pre class="highlight"><code class="language-ts">const a = "\`\`\`";
  indent();
</code></pre>
      <ol start="3"><li>Three<ul><li>inner</li></ul></li><li><p>Four</p><p>more</p></li></ol>
      <blockquote><p>Said</p><p>so</p></blockquote><dl><dt>Term</dt><dd>Meaning</dd></dl><hr>
      <p>Line<br>break, <code>a\`b</code>, <em>soft</em> <img alt="A chart" src="/c.png"><img alt="" src="/t.gif"></p>`;
    expect(markdown(html)).toBe(
      [
        "## Use",
        '````ts\nconst a = "```";\n  indent();\n````',
        "3. Three\n\n   - inner\n4. Four\n\n   more",
        "> Said\n>\n> so",
        "**Term**\n: Meaning",
        "---",
        "Line\nbreak, `` a`b ``, *soft* ![A chart](https://docs.test/c.png)",
      ].join("\n\n"),
    );
  });

  it("the HTML converter drops links that cannot be opened", () => {
    const html = `<p><a href="javascript:alert(1)">run</a> <a href="data:text/html,x">data</a> <a href="http://[">bad</a>
      <a href="/a (b)">brackets</a> <a>none</a></p>`;
    expect(markdown(html)).toBe("run data bad [brackets](https://docs.test/a%20%28b%29) none");
  });

  it("the HTML converter reads pages that are hidden until a script runs, and headings that are buttons", () => {
    const html =
      '<html style="visibility:hidden"><body hidden><h2><button>Why?</button></h2><p>Because.</p><button>Copy</button>';
    expect(markdown(html)).toBe("## Why?\n\nBecause.");
  });

  it("relative links of a page are resolved by its <base>", () => {
    expect(markdown('<base href="/v2/"><p><a href="x">x</a></p>')).toBe("[x](https://docs.test/v2/x)");
  });

  it("the HTML converter shows a page that is only a menu", () => {
    expect(markdown('<nav><a href="/a">A</a> <a href="/b">B</a></nav>')).toContain("[A](https://docs.test/a)");
  });

  /** Each of these makes some converter take minutes, or run out of stack. */
  const hostile: Record<string, string> = {
    "deep elements": "<div>".repeat(200_000),
    "deep lists": `${"<ul><li>".repeat(200)}${"x<br>".repeat(20_000)}`,
    "deep inline": `<p>${"<span><b><i>".repeat(150)}${"word ".repeat(50_000)}`,
    "inline around blocks": `${"<span>".repeat(400)}${"<div>a</div><i>b</i>".repeat(10_000)}`,
    "end tags of nothing": `${"<div>".repeat(500)}${"</p></x>".repeat(30_000)}`,
    "wide tables": `<table>${'<tr><td colspan="1000000">a</td><td>b</td></tr>'.repeat(3000)}</table>`,
    "angle brackets": "<".repeat(300_000),
    "unclosed comments": "<!--".repeat(100_000),
    "many paragraphs": "<p>Some words, and more.</p>".repeat(10_000),
  };
  it.each(Object.entries(hostile))("the HTML converter takes little time for %s", (_, html) => {
    const started = performance.now();
    markdown(`<title>T</title>${html}`);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
