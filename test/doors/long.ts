// Every cell of the matrix by itself: `npm run test:doors`.
import { numbersFrom, underWatch } from "../support/long-script.ts";
import { Home } from "./doors.ts";
import { allCells, faultsOfAll } from "./matrix.ts";

const { timeout } = numbersFrom(process.argv.slice(2), { timeout: 1200 });
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
  process.exitCode = faults.length > 0 ? 1 : 0;
} finally {
  await home.end();
}
process.exit();
