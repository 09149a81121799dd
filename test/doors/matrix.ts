// The matrix: every field that restricts a run, by every way to start one. A cell holds where nothing happened that the field forbids.
import type { RunRequest } from "../../src/protocol/run.ts";
import type { RestrictingField } from "../../src/protocol/run-request.ts";
import { type Door, doors, type Home } from "./doors.ts";
import { fieldNames, missingIn, restrictions, type Seen, undoneIn } from "./restrictions.ts";

/** Fields that one run is given together. None: what an unrestricted run does, so that a cell cannot hold for another reason. */
export type Cell = { door: string; fields: readonly RestrictingField[] };

/** Several restrictions in one run: as many as do not hide each other. */
export function shortCells(): Cell[] {
  const groups = ["calls", "turns", "servers", "unlisted"] as const;
  const namesOf = (group: string) => fieldNames.filter((name) => restrictions[name].group === group);
  const isRefused = ({ door }: Cell) => doors[door]!.isStored;
  return [
    ...groups
      .flatMap((group) => cellsOf(namesOf(group)))
      .map((cell) =>
        cell.fields.includes("limits") && !isRefused(cell)
          ? { ...cell, fields: [...cell.fields, "ephemeral" as const] }
          : cell,
      ),
    ...cellsOf(["ephemeral"]).filter(isRefused),
  ];
}

/** Each alone. */
export function allCells(): Cell[] {
  return [...fieldNames.flatMap((name) => cellsOf([name])), ...cellsOf([])];
}

function cellsOf(fields: readonly RestrictingField[]): Cell[] {
  const isSaid = ({ takesData }: Door) => takesData || fields.every((name) => restrictions[name].flags);
  return Object.entries(doors).flatMap(([door, each]) => (isSaid(each) && !each.skipped ? [{ door, fields }] : []));
}

/** What is wrong, in words; empty: the cell holds. */
export async function faultsOf({ door, fields }: Cell, home: Home): Promise<string[]> {
  const place = home.place();
  const given = fields.map((name) => restrictions[name]);
  const request: Partial<RunRequest> = Object.assign({}, ...given.map((each) => each.request(place)));
  const flags = given.flatMap((each) => each.flags?.(place) ?? []);
  const isForced = !fields.includes("unlistedCommands");
  const outcome = await doors[door]!.open(place, { request, flags, isForced }, home);
  const seen: Seen = { folder: place.path, ...outcome, place };
  const broken = fields.flatMap((name) => {
    const what = restrictions[name].broken(seen);
    return what === false ? [] : [`${name}: ${what}`];
  });
  const isOfCalls = fields.length === 0 || given.every(({ group }) => group === "calls");
  const missing = isOfCalls ? missingIn(seen) : undefined;
  const undone = fields.length === 0 ? undoneIn(seen).map((name) => `${name} would hold by itself: ${seen.said}`) : [];
  return [...broken, ...(missing === undefined ? [] : [missing]), ...undone].map((fault) => `${door}, ${fault}`);
}

/** So many at once. */
export async function faultsOfAll(
  cells: readonly Cell[],
  home: Home,
  onDone: () => void = () => {},
): Promise<string[]> {
  const faults: string[] = [];
  const waiting = [...cells];
  const work = async () => {
    for (let cell = waiting.shift(); cell; cell = waiting.shift()) {
      const found = await faultsOf(cell, home).catch((error: Error) => [
        `${cell!.door}, ${cell!.fields}: ${error.stack}`,
      ]);
      faults.push(...found);
      onDone();
    }
  };
  await Promise.all(Array.from({ length: 3 }, work));
  return faults;
}
