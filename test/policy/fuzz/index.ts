// `npm run long -- fuzz-policy [--rounds N] [--seed S] [--show N]`: attempts to get past the policy, made from a grammar of
// tricks. What the policy allows is run in real bash; a forbidden effect is a success of the attacker, and must not be.
import { decide } from "../../../src/policy/decide.ts";
import { type Random, random } from "../../protocol/random.ts";
import { rulesOf, situationOf } from "../fixture.ts";
import { type Aim, aims } from "./aims.ts";
import { lateExpansion, starting } from "./more-tricks.ts";
import { createOracle, type Oracle } from "./oracle.ts";
import { harvest, sweep } from "./sweep.ts";
import { syntax } from "./syntax-tricks.ts";
import { evaluation, feeding, options, type Payload, shells, structure, wrapping } from "./tricks.ts";

export type FuzzResult = {
  rounds: number;
  attempts: number;
  verdicts: Record<string, number>;
  successes: { aim: string; line: string }[];
  /** How many of those that were run without asking did what they were after. */
  sampled: number;
  effective: number;
  /** Samples without effect, to see why. */
  toothless: { aim: string; line: string }[];
  isConfined: boolean;
};

type Attempt = { aim: Aim; line: string };

const batch = 500;
const samples = 300;

/** `tell` hears how it goes, now and then. */
export async function fuzz({
  rounds,
  seed,
  tell,
}: {
  rounds: number;
  seed: number;
  tell?: (result: FuzzResult, round: number) => void;
}): Promise<FuzzResult> {
  const source = random(seed);
  const oracle = createOracle();
  const result: FuzzResult = {
    rounds,
    attempts: 0,
    verdicts: { allow: 0, ask: 0, deny: 0 },
    successes: [],
    sampled: 0,
    effective: 0,
    toothless: [],
    isConfined: oracle.isConfined,
  };
  try {
    const judge = judgeIn(oracle);
    const swept = harvest();
    const seen = new Set<string>();
    let allowed: Attempt[] = [];
    let sample: Attempt[] = [];
    for (let round = 0; round < rounds; round++) {
      const aim = source.pick(aims);
      const isSweep = aim.values !== undefined && source.below(6) === 0;
      const line = isSweep ? sweep(swept, aim.values!, source) : attempt(aim, source);
      if (seen.has(`${aim.name} ${line}`)) continue;
      if (rounds <= 200_000) seen.add(`${aim.name} ${line}`);
      result.attempts++;
      const verdict = await judge(aim, line);
      result.verdicts[verdict]!++;
      if (verdict === "allow") allowed.push({ aim, line });
      if (!isSweep && round % Math.max(1, Math.floor(rounds / samples)) === 0) sample.push({ aim, line });
      if (allowed.length >= batch) allowed = await runAllowed(oracle, allowed, result);
      if (sample.length >= batch) sample = await runSample(oracle, sample, result);
      if (round % 10_000 === 9_999) tell?.(result, round + 1);
    }
    await runAllowed(oracle, allowed, result);
    await runSample(oracle, sample, result);
    return result;
  } finally {
    oracle.remove();
  }
}

function judgeIn({ template }: Oracle): (aim: Aim, line: string) => Promise<string> {
  const situations = new Map(
    aims.map((aim) => {
      const rules = rulesOf({ allow: [...aim.allow], deny: [...aim.deny] });
      return [aim, situationOf(template, { mode: aim.mode, rules })] as const;
    }),
  );
  return async (aim, line) => {
    const target = line.replaceAll("{BIN}", template.bin);
    return (await decide([{ kind: "Shell", target }], situations.get(aim)!)).verdict;
  };
}

/** A payload, hidden by one to four tricks. */
function attempt(aim: Aim, source: Random): string {
  let payload: Payload = aim.payload(source);
  const depth = 1 + source.below(4);
  for (let level = 0; level < depth; level++) {
    const open = [structure, syntax, syntax, shells, options];
    const lists = [
      ...open,
      starting,
      ...(aim.hidden ? [evaluation, feeding, lateExpansion] : []),
      ...(payload.words ? [wrapping, wrapping] : []),
    ];
    const usable = source.pick(lists).filter((trick) => aim.hidden || !trick.hidden);
    payload = source.pick(usable).make(payload, source) ?? payload;
  }
  return payload.text;
}

async function runAllowed(oracle: Oracle, attempts: readonly Attempt[], result: FuzzResult): Promise<Attempt[]> {
  await runAll(oracle, attempts, ({ aim, line }, happened) => {
    if (happened) result.successes.push({ aim: aim.name, line });
  });
  return [];
}

async function runSample(oracle: Oracle, attempts: readonly Attempt[], result: FuzzResult): Promise<Attempt[]> {
  await runAll(oracle, attempts, ({ aim, line }, happened) => {
    result.sampled++;
    if (happened) result.effective++;
    else result.toothless.push({ aim: aim.name, line });
  });
  return [];
}

async function runAll(
  oracle: Oracle,
  attempts: readonly Attempt[],
  each: (attempt: Attempt, happened: boolean) => void,
) {
  if (attempts.length === 0) return;
  await oracle.run(
    attempts.map(({ line }) => line),
    (index, folders) => each(attempts[index]!, attempts[index]!.aim.happened(folders)),
  );
}

export async function main(argv: readonly string[]): Promise<number> {
  const number = (name: string, otherwise: number) => {
    const at = argv.indexOf(`--${name}`);
    return at === -1 ? otherwise : Number(argv[at + 1]);
  };
  const rounds = number("rounds", 20_000);
  const seed = number("seed", 1);
  const show = number("show", 20);
  const started = performance.now();
  let shown = 0;
  const showNew = ({ successes }: FuzzResult) => {
    for (const { aim, line } of successes.slice(shown, show)) console.log(`SUCCESS (${aim}): ${JSON.stringify(line)}`);
    shown = successes.length;
  };
  const result = await fuzz({
    rounds,
    seed,
    tell: (soFar, round) => {
      showNew(soFar);
      console.error(`${round} of ${rounds} rounds, ${soFar.successes.length} successes`);
    },
  });
  const { attempts, verdicts, successes, sampled, effective, isConfined } = result;
  const seconds = (performance.now() - started) / 1000;
  showNew(result);
  if (argv.includes("--toothless"))
    for (const { aim, line } of result.toothless.slice(0, show))
      console.log(`no effect (${aim}): ${JSON.stringify(line)}`);
  console.log(
    `${attempts} attempts in ${rounds} rounds, seed ${seed}, ${seconds.toFixed(1)} s${isConfined ? "" : ", not confined"}: ` +
      `${verdicts["deny"]} denied, ${verdicts["ask"]} asked about, ${verdicts["allow"]} allowed and run; ${successes.length} successes`,
  );
  const share = effective / Math.max(1, sampled);
  console.log(`Without the policy ${Math.round(share * 100)} % of ${sampled} had their effect.`);
  return successes.length === 0 && share >= 0.5 ? 0 : 1;
}
