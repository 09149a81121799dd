// Pages as Markdown, one feature at a time: what is kept, what is left out, where links lead. test/web/pages.txt holds them all.
import { join } from "node:path";
import { expect, it } from "vitest";
import { htmlToMarkdown } from "../../src/web/html/index.ts";

const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(" ");
const prose = `<p>${words(60)}</p>`;
const links = (count: number) =>
  Array.from({ length: count }, (_, index) => `<a href="/${index}">Link ${index}</a>`).join(" ");

const roles =
  "navigation banner contentinfo complementary search menu menubar toolbar alert dialog alertdialog tablist main note".split(
    " ",
  );
const classes = (
  "nav navbar navigation menu sidebar side-bar breadcrumb breadcrumbs footer masthead cookie cookies consent gdpr banner popup modal newsletter " +
  "subscribe social share sharing related recommended promo sponsor sponsored advert advertisement ad ads skip-link skip-to-content pagination " +
  "pager toc table-of-contents site-footer navigate-guide content"
).split(" ");
const inlines =
  "a abbr b bdi bdo cite code data del dfn em font i ins kbd label mark q s samp small span strike strong sub sup time tt u var".split(
    " ",
  );

const pages: Record<string, string> = {
  headings: "<h1>A</h1><h2> B <i>c</i></h2><h3></h3><h4>D</h4><h5>E</h5><h6>F</h6><hr><p>x</p>",
  paragraphs: "<p>one\n two</p>three<div>four<br>five</div><p> </p><pre>  code\n    more</pre>",
  code: '<pre><code class="language-ts">let a;\n</code></pre><pre class="lang-py">x</pre><pre>```</pre><p><code>a`b</code> <code> </code><code></code></p>',
  emphasis: "<p><b>a <strong>b</strong></b> <i><em>c</em></i><del>d</del> <b> e </b>f<b></b></p>",
  links:
    '<p><a href="/x">here</a> <a href="#">#</a> <a href="#y">¶</a> <a href="javascript:x">no</a> <a>none</a> <a href="mailto:a@b">mail</a> <a href="x(1)">p</a> <a href="ftp://f/">f</a> <a href="data:x">d</a></p>',
  pictures: '<p><img alt="A  B" src="a.png"><img src="b.png"><img alt="C"><img alt="D" src="javascript:x"></p>',
  lists:
    "<ul><li>a<ul><li>b<p>c</p></li></ul></li>text<li>d</li></ul><ol start='3'><li>x</li><li>y</li></ol><ol start='z'><li>q</li></ol><menu><li>m</li></menu>",
  "deep lists": `${"<ul><li>x".repeat(9)}${"</li></ul>".repeat(9)}`,
  definitions: "<dl><dt>T</dt><dd>D<p>more</p></dd></dl><details><summary>S</summary>inside</details>",
  quotes: "<blockquote>a<blockquote>b</blockquote><ul><li>c</li></ul></blockquote>after",
  table:
    "<table><thead><tr><th>A</th><th>B|C</th></tr></thead><tbody><tr><td>1</td></tr><tr><td>2<br>3</td><td>4</td><td>5</td></tr></tbody></table>",
  "layout table": "<table><tr><td><p>one</p><p>two</p></td></tr></table>",
  "card link": '<a href="/c"><h3>Card</h3><p>Text</p></a>',
  "inline names": inlines.map((name) => `<${name}>${name}</${name}>`).join(" "),
  hidden:
    '<p>seen</p><script>x</script><style>y</style><template>t</template><p hidden>h</p><p aria-hidden="true">z</p><noscript>n</noscript><svg><text>s</text></svg>',
  entities: "<title>A &amp; B</title><p>&lt;x&gt; &nbsp; &#65; &unknown;</p>",
  math: '<p><math alttext="x^2"><mi>x</mi></math> <math><mi>y</mi></math></p>',
  main: `<header>top</header><main>${prose}</main><footer>end</footer>`,
  "two mains": `<main>${prose}</main><main>${prose}<p>second</p></main>`,
  article: `<div>before ${words(5)}</div><article><header>Title ${words(3)}</header>${prose}</article>`,
  "two articles": `<article>${prose}</article><article><p>other ${words(50)}</p></article>`,
  "small main": `<main>little</main><div>${prose}${prose}</div>`,
  "menu only": `<nav>${links(30)}</nav>`,
  "list of links": `${prose}<ul>${Array.from({ length: 4 }, (_, i) => `<li><a href="/${i}">Go ${i}</a></li>`).join("")}</ul>`,
  "three links": `${prose}<ul>${Array.from({ length: 3 }, (_, i) => `<li><a href="/${i}">Go ${i}</a></li>`).join("")}</ul>`,
  header: `<header>${words(20)}</header>${prose}`,
  "long header": `<header>${words(90)}</header>${prose}`,
  ...Object.fromEntries(roles.map((role) => [`role ${role}`, `${prose}<section role="${role}">marked</section>`])),
  ...Object.fromEntries(classes.map((name) => [`class ${name}`, `${prose}<div class="x ${name}">marked</div>`])),
  "named and long": `${prose}<div id="sidebar">${words(60)}</div>`,
  "named and linked": `${prose}<div id="sidebar">${links(2)} x</div>`,
  ...Object.fromEntries(["nav", "aside", "footer"].map((name) => [name, `${prose}<${name}>marked</${name}>`])),
};

it("web pages are converted to Markdown as listed in the table", async () => {
  const rows = Object.entries(pages).map(([name, html]) => {
    const { title, markdown } = htmlToMarkdown(html, "https://example.com/dir/page");
    const short = markdown.replace(/(?:word\d+ ?){20,}/g, (found) => `(${found.trim().split(" ").length} words)`);
    return `== ${name}${title === "" ? "" : ` [${title}]`}\n${short}`;
  });
  await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot(join(import.meta.dirname, "pages.txt"));
});
