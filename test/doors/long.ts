// Every cell of the matrix by itself, and what each door does without a restriction: npm run long -- doors [-- --timeout SECONDS].
import { numbersFrom, underWatch } from "../support/long-script.ts";
import { Home } from "./doors.ts";
import { allCells, faultsOfAll } from "./matrix.ts";

export async function main(argv: readonly string[]): Promise<number> {
  const { timeout } = numbersFrom(argv, { timeout: 1200 });
  const cells = allCells();
  const home = new Home();
  let done = 0;
  await home.begin();
  try {
    const faults = await underWatch(() => faultsOfAll(cells, home, () => done++), {
      tell: () => `${done} of ${cells.length} cells`,
      limitSeconds: timeout,
    });
    for (const fault of faults) console.log(fault);
    console.log(`${cells.length} cells, ${faults.length} faults`);
    return faults.length > 0 ? 1 : 0;
  } finally {
    await home.end();
  }
}
