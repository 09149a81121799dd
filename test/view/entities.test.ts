import { expect, it } from "vitest";
import { decodeEntities } from "../../src/view/entities.ts";

it.each([
  ["a &amp; b", "a & b"],
  ["&lt;p&gt;", "<p>"],
  ["&quot;x&quot; &apos;y&#39;", "\"x\" 'y'"],
  ["1&nbsp;2", "1 2"],
  ["&amp;lt;", "&lt;"],
  ["R&D &unknown; &amp", "R&D &unknown; &amp"],
])("the HTML text %s reads %s", (text, plain) => {
  expect(decodeEntities(text)).toBe(plain);
});
