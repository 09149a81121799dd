// Lists the agent CLIs that are installed on this machine, with the capabilities of each.
import { detectCli, getCapabilities } from "../sdk/detect.ts";
import type { Capabilities } from "../sdk/drivers/driver.ts";
import type { ServeContext } from "./context.ts";
import { type CliName, cliNames } from "./fleet.ts";
import { toolForCli } from "./live-options.ts";

export type InstalledCli = { name: CliName; path: string; version: string | null; capabilities: Capabilities };

/** How many milliseconds the list of CLIs is cached, since asking each for its version takes seconds. */
const countsMs = 10 * 60_000;
const found = new WeakMap<ServeContext, { at: number; clis: Promise<InstalledCli[]> }>();

export function installedClis(context: ServeContext): Promise<InstalledCli[]> {
  const existing = found.get(context);
  if (existing && Date.now() - existing.at < countsMs) return existing.clis;
  const clis = findClis(context);
  found.set(context, { at: Date.now(), clis });
  clis.catch(() => found.delete(context));
  return clis;
}

async function findClis({ env, program, version }: ServeContext): Promise<InstalledCli[]> {
  const clis = await Promise.all(
    cliNames.map(async (name): Promise<InstalledCli | undefined> => {
      const tool = toolForCli(name);
      if (name === "courser") {
        const capabilities = await getCapabilities(tool, { executable: program, env });
        return { name, path: program.at(-1)!, version, capabilities };
      }
      const cli = await detectCli(tool, { env });
      // Skip our own program where it is installed under the name of an original CLI.
      if (!cli || cli.isOurs) return undefined;
      const capabilities = await getCapabilities(tool, { env });
      return { name, path: cli.path, version: cli.version ?? null, capabilities };
    }),
  );
  return clis.filter((each) => each !== undefined);
}
