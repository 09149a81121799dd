// Stands in for the test runner where tests run hundreds of times in one process: `npm run mutate`.
import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";
import * as chai from "chai";

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

export const expect = chai.expect;

type Body = (...args: any[]) => unknown;
type Group = { name: string; before: Body[]; after: Body[]; tests: { name: string; body: Body }[]; groups: Group[] };

const newGroup = (name: string): Group => ({ name, before: [], after: [], tests: [], groups: [] });
const whole = newGroup("");
let current = whole;

export function describe(name: string, body: Body): void {
  const group = newGroup(name);
  const outer = current;
  outer.groups.push(group);
  current = group;
  body();
  current = outer;
}
describe.each = (rows: readonly any[]) => (name: string, body: Body) => {
  for (const row of rows) describe(name, () => body(...argumentsOf(row)));
};
describe.runIf = (isWanted: boolean) => (isWanted ? describe : () => {});
describe.skipIf = (isUnwanted: boolean) => (isUnwanted ? () => {} : describe);

/** Tests about time and great lengths take more of it than all others together. */
const slow = /any text|no more than the product|and says when there are too many|a pile of|cannot be read$/;

export function it(name: string, ...rest: any[]): void {
  if (slow.test(name)) return;
  current.tests.push({ name, body: rest.findLast((each) => typeof each === "function") });
}
it.each =
  (rows: readonly any[]) =>
  (name: string, ...rest: any[]) => {
    const body = rest.findLast((each) => typeof each === "function") as Body;
    for (const row of rows) it(name, () => body(...argumentsOf(row)));
  };
const skip = Object.assign(() => {}, { each: () => () => {} });
it.skipIf = (isUnwanted: boolean) => (isUnwanted ? skip : it);
it.runIf = (isWanted: boolean) => (isWanted ? it : skip);
export const test = it;

export function beforeAll(body: Body): void {
  current.before.push(body);
}
export function afterAll(body: Body): void {
  current.after.push(body);
}
export const beforeEach = beforeAll;
export const afterEach = afterAll;

function argumentsOf(row: unknown): unknown[] {
  return Array.isArray(row) ? row : [row];
}

/** The name of the first test that fails; undefined when all pass. */
export async function runTests(group: Group = whole): Promise<string | undefined> {
  try {
    for (const body of group.before) await body();
    for (const { name, body } of group.tests) {
      try {
        await body();
      } catch (error) {
        return `${name}: ${error instanceof Error ? error.message : error}`;
      }
    }
    for (const inner of group.groups) {
      const failed = await runTests(inner);
      if (failed) return `${inner.name} > ${failed}`;
    }
    return undefined;
  } finally {
    for (const body of group.after) await body();
  }
}
