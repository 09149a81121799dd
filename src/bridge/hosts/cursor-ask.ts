// How hosts treat `permission: "ask"`, by surface and version. To record a new finding, add a row.

/**
 * How a version treats `ask`. `editor` has versions like 3.2.16, `cli` dates like 2026.09.18-a1b2c3d; Courser also has
 * dates, and identifies itself.
 */
export type AskRow = {
  surface: "editor" | "cli" | "courser";
  /** The first version that this row applies to. */
  from: string;
  /** What the host does with `ask`. `unknown`: it was never seen to ask. */
  treated: "asks" | "deny" | "allow" | "unknown";
  lastVerified?: string;
};

/** A later row of a surface replaces the earlier ones from its version on. */
export const askTable: readonly AskRow[] = [
  { surface: "editor", from: "0", treated: "asks" },
  { surface: "editor", from: "2.4.21", treated: "deny" },
  { surface: "editor", from: "3", treated: "allow", lastVerified: "3.2.16" },
  { surface: "cli", from: "0", treated: "unknown" },
  { surface: "courser", from: "0", treated: "asks" },
];

/** Looks up how a version of Cursor or Courser treats `ask`. */
export function askTreatment(version: string | undefined, surface = surfaceOf(version)): AskRow["treated"] {
  const numbers = numbersOf(version);
  if (!numbers && surface !== "courser") return "unknown";
  const rows = askTable.filter((row) => row.surface === surface && isAtLeast(numbers ?? [], numbersOf(row.from)!));
  return rows.at(-1)?.treated ?? "unknown";
}

function surfaceOf(version: string | undefined): AskRow["surface"] {
  return /^20\d\d\./.test(version ?? "") ? "cli" : "editor";
}

function numbersOf(version: string | undefined): number[] | undefined {
  const found = /^v?(\d+(?:\.\d+)*)/.exec(version ?? "")?.[1];
  return found?.split(".").map(Number);
}

function isAtLeast(version: readonly number[], wanted: readonly number[]): boolean {
  for (let index = 0; index < Math.max(version.length, wanted.length); index++) {
    const difference = (version[index] ?? 0) - (wanted[index] ?? 0);
    if (difference !== 0) return difference > 0;
  }
  return true;
}
