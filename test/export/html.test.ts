// The HTML export: one page that holds whatever a chat says.
import { describe, expect, it } from "vitest";
import { calls, recordOf, result, says, seeded, user } from "../sdk/chat-record.ts";
import { exported, hostileRecord, plain, png } from "../sdk/hostile-chat.ts";

/** The tags of a page with their attributes. Whoever writes a new tag must name it here. */
const allowedTags =
  /^(?:\/?(?:html|head|body|title|style|div|header|h1|h2|h3|h4|h5|h6|dl|dt|dd|nav|ol|ul|li|a|b|s|span|small|main|section|details|summary|code|pre|p|strong|em|del|ins|mark|blockquote|table|thead|tbody|tr|th|td|time|figure|figcaption|svg|g|rect)|!doctype html|meta|hr|br|img)$/;
const allowedAttributes: Record<string, RegExp> = {
  dir: /^auto$/,
  lang: /^en$/,
  charset: /^utf-8$/,
  "http-equiv": /^Content-Security-Policy$/,
  content: /^[\w ';:=+/,.-]*$/,
  name: /^(viewport|referrer)$/,
  class: /^[\w -]+$/,
  id: /^turn-\d+(\.\d+)?$/,
  href: /^(#turn-\d+|https?:\/\/[^"<>\s]+)$/,
  rel: /^noreferrer noopener nofollow$/,
  datetime: /^[\dT:.Z-]+$/,
  src: /^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/,
  alt: /^$/,
  open: /^$/,
  start: /^\d+$/,
  role: /^(group|img)$/,
  "aria-hidden": /^true$/,
  // What a call is about: foreign text, and never more than that.
  "aria-label": /^[^<"]*$/,
  tabindex: /^0$/,
  "data-line": /^\d+$/,
  ...{ x: /^[\d.]+$/, y: /^[\d.e-]+$/, width: /^[\d.]+$/, height: /^[\d.e-]+$/, rx: /^\d$/ },
  viewBox: /^[\d ]+$/,
  preserveAspectRatio: /^none$/,
};

function checkPage(page: string): void {
  const withoutStyle = page.replace(/<style>[^<]*<\/style>/, "");
  const stack: string[] = [];
  for (const [, tag] of withoutStyle.matchAll(/<((?:"[^"]*"|[^"<>])*)>/g)) {
    const [, name = "", attributes = "", end] =
      /^(\/?[a-z0-9]+|!doctype html)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)(\/?)$/.exec(tag!) ?? [];
    expect(name, tag).toMatch(allowedTags);
    for (const [, attribute, value = ""] of attributes.matchAll(/\s+([a-zA-Z-]+)(?:="([^"]*)")?/g)) {
      expect(allowedAttributes[attribute!], tag).toBeDefined();
      expect(value, tag).toMatch(allowedAttributes[attribute!]!);
    }
    if (end === "/" || /^(!doctype html|meta|hr|br|img)$/.test(name)) continue;
    if (name.startsWith("/")) expect(stack.pop(), page).toBe(name.slice(1));
    else stack.push(name);
  }
  expect(stack).toEqual([]);
  // Nothing is left of a tag that was not closed.
  expect(withoutStyle.replace(/<(?:"[^"]*"|[^"<>])*>/g, "")).not.toContain("<");
}

describe("HTML exports", () => {
  it("an HTML export is one self-contained page without scripts", async () => {
    const page = await exported(plain, "html");
    checkPage(page);
    expect(page).toMatch(/^<!doctype html>\n/);
    expect(page).toContain(`<img class="cr-picture" src="data:image/png;base64,${png}" alt/>`);
    expect(page).toMatch(/<del>x<\/del>.*<ins>y<\/ins>/);
    expect(page).toContain("I <strong>fix</strong> it.");
    expect(page).toMatch(/<div class="cr-card cr-failed"[^>]*><details><summary>.*npm test/);
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

  it.each([
    [0, "<dd>1</dd>"],
    [1, "<dd>1, 1 tool call</dd>"],
    [2, "<dd>1, 2 tool calls</dd>"],
  ])("an HTML export counts %i calls", async (count, words) => {
    const ids = Array.from({ length: count }, (_, at) => `c${at}`);
    const messages = [user("a"), ...ids.flatMap((id) => [calls("Read", { path: id }, id), result("b", id)])];
    expect(await exported(recordOf([{ messages }]), "html")).toContain(words);
  });

  it("an HTML export is valid for any chat", async () => {
    const below = seeded(3);
    for (let round = 0; round < 120; round++) checkPage(await exported(hostileRecord(below), "html"));
  });

  it("an HTML export shows only images of known types, and none from other servers", async () => {
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
