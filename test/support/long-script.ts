// What long scripts have in common: numbers on the command line, a line on stderr about how far they are, an end by the clock.

const tellMs = 5000;

/** `--name N` for each of these. Anything else is refused. */
export function numbersFrom<Name extends string>(
  argv: readonly string[],
  defaults: Record<Name, number>,
): Record<Name, number> {
  const chosen = { ...defaults };
  for (let at = 0; at < argv.length; at += 2) {
    const name = argv[at]!.replace(/^--/, "") as Name;
    const value = Number(argv[at + 1] ?? Number.NaN);
    if (!(name in defaults) || !(value >= 0)) {
      const known = Object.entries(defaults).map(([each, usual]) => `--${each} N (default: ${usual})`);
      throw new Error(`Cannot use '${argv.slice(at, at + 2).join(" ")}'. There are ${known.join(", ")}.`);
    }
    chosen[name] = value;
  }
  return chosen;
}

/** Past the limit the script ends with what it has started, and says how far it was. */
export async function underWatch<T>(
  work: () => Promise<T>,
  { tell, limitSeconds }: { tell(): string; limitSeconds: number },
): Promise<T> {
  const startedAt = performance.now();
  const telling = setInterval(() => {
    console.error(`${Math.round((performance.now() - startedAt) / 1000)} s: ${tell()}`);
  }, tellMs);
  const limit = setTimeout(() => {
    console.error(`Not over after ${Math.round(limitSeconds)} s: ${tell()}. --timeout SECONDS allows another time.`);
    process.exit(1);
  }, limitSeconds * 1000);
  try {
    return await work();
  } finally {
    clearInterval(telling);
    clearTimeout(limit);
  }
}
