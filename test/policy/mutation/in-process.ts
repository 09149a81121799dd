// Stands in for the test runner where tests run thousands of times, one by one: `npm run mutate`.
import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from "@vitest/expect";
import * as chai from "chai";
import type { Unit } from "./units.ts";

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);

export const expect = chai.expect;

type Body = (...args: any[]) => unknown;
type Group = { before: Body[]; after: Body[]; beforeEach: Body[]; afterEach: Body[]; outer?: Group };

const newGroup = (outer?: Group): Group => ({
  before: [],
  after: [],
  beforeEach: [],
  afterEach: [],
  ...(outer && { outer }),
});
let current = newGroup();
const found: Unit[] = [];
/** The groups whose preparations are done. */
const ready = new Set<Group>();

export function describe(_name: string, body: Body): void {
  const outer = current;
  current = newGroup(outer);
  body();
  current = outer;
}
describe.each = (rows: readonly any[]) => (name: string, body: Body) => {
  for (const row of rows) describe(name, () => body(...argumentsOf(row)));
};
const noGroup = Object.assign(() => {}, { each: () => () => {} });
describe.runIf = (isWanted: boolean) => (isWanted ? describe : noGroup);
describe.skipIf = (isUnwanted: boolean) => (isUnwanted ? noGroup : describe);

/** Tests about time and great lengths take more of it than all others together. */
const slow = /any text|no more than the product|and says when there are too many|a pile of|cannot be read$/;

export function it(name: string, ...rest: any[]): void {
  const body = rest.findLast((each) => typeof each === "function") as Body;
  if (!slow.test(name)) addTest(name, body, []);
}
it.each =
  (rows: readonly any[]) =>
  (name: string, ...rest: any[]) => {
    const body = rest.findLast((each) => typeof each === "function") as Body;
    if (!slow.test(name)) for (const row of rows) addTest(name, body, argumentsOf(row));
  };
const skip = Object.assign(() => {}, { each: () => () => {} });
it.skipIf = (isUnwanted: boolean) => (isUnwanted ? skip : it);
it.runIf = (isWanted: boolean) => (isWanted ? it : skip);
export const test = it;

function addTest(name: string, body: Body, args: readonly unknown[]): void {
  const group = current;
  const text = [name, ...args.map((each) => (typeof each === "object" ? JSON.stringify(each) : String(each)))].join(
    " ",
  );
  found.push({
    text: args.length > 0 ? text : `${name} ${body}`,
    async run() {
      const path = groupsAround(group);
      for (const each of path) await makeReady(each);
      try {
        for (const each of path) for (const start of each.beforeEach) await start();
        await body(...args);
      } finally {
        for (const each of path.reverse()) for (const end of each.afterEach) await end();
      }
    },
  });
}

function groupsAround(group: Group): Group[] {
  return group.outer ? [...groupsAround(group.outer), group] : [group];
}

async function makeReady(group: Group): Promise<void> {
  if (ready.has(group)) return;
  ready.add(group);
  for (const body of group.before) await body();
}

export function beforeAll(body: Body): void {
  current.before.push(body);
}
export function beforeEach(body: Body): void {
  current.beforeEach.push(body);
}
export function afterAll(body: Body): void {
  current.after.push(body);
}
export function afterEach(body: Body): void {
  current.afterEach.push(body);
}

function argumentsOf(row: unknown): unknown[] {
  return Array.isArray(row) ? row : [row];
}

/** What is done after the tests of each group that was used. */
export async function finishTests(): Promise<void> {
  for (const group of ready) for (const body of group.after) await body();
  ready.clear();
}

/** All tests that were registered. */
export function testUnits(): Unit[] {
  return found;
}
