import assert from "node:assert/strict";

const { page, pageCount } = await import(`${process.cwd()}/pages.mjs`);
for (const [items, size, count] of [[0, 10, 0], [1, 10, 1], [10, 10, 1], [11, 10, 2], [20, 10, 2], [7, 3, 3]])
  assert.equal(pageCount(items, size), count, `${items} items in pages of ${size} are not ${count} pages`);
assert.deepEqual(page([1, 2, 3, 4, 5], 3, 2), [5], "the last page is wrong");
