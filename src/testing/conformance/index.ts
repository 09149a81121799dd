// Checks a CLI against the rules, and reports each with evidence.
import { visible } from "../../text/visible.ts";
import { xmlAttribute } from "../../text/xml.ts";
import { type Fault, type Rule, rules } from "./rules.ts";
import { type TrialOptions, Trials } from "./trials.ts";

export type Verdict = {
  rule: string;
  statement: string;
  status: "pass" | "fail" | "skip";
  /** What was observed in the trial that decided this rule. */
  evidence?: string;
  /** The arguments with which the CLI was started. */
  arguments: readonly string[];
};

export type ConformanceReport = { command: readonly string[]; passes: boolean; verdicts: Verdict[] };

/** Checks a CLI against the rules. `only` contains ids of rules, or of groups of rules. */
export async function checkConformance(
  options: TrialOptions & { only: readonly string[] },
): Promise<ConformanceReport> {
  const trials = new Trials(options);
  const verdicts: Verdict[] = [];
  try {
    for (const rule of chosenRules(options.only)) {
      options.signal.throwIfAborted();
      const trial = await trials.get(rule.trial);
      const fault = trial.failure === undefined ? await rule.check(trial, trials) : notStarted(trial.failure, verdicts);
      verdicts.push(verdictOf(rule, fault, trial.args));
    }
  } finally {
    trials.end();
  }
  return { command: options.command, passes: verdicts.every(({ status }) => status !== "fail"), verdicts };
}

/** Reports once that the CLI could not be started, and skips the other rules. */
function notStarted(failure: string, before: readonly Verdict[]): Fault {
  return before.some(({ status }) => status === "fail") ? { skip: "the program could not be started" } : failure;
}

export function chosenRules(only: readonly string[]): readonly Rule[] {
  if (only.length === 0) return rules;
  return rules.filter(({ id }) => only.some((name) => id === name || id.startsWith(`${name}.`)));
}

function verdictOf({ id: rule, statement }: Rule, fault: Fault, args: readonly string[]): Verdict {
  if (fault === undefined) return { rule, statement, status: "pass", arguments: args };
  if (typeof fault === "string") return { rule, statement, status: "fail", evidence: fault, arguments: args };
  return { rule, statement, status: "skip", evidence: fault.skip, arguments: args };
}

const marks = { pass: "ok", fail: "FAILED", skip: "skipped" };

export function reportText({ command, verdicts, passes }: ConformanceReport): string {
  const lines = verdicts.flatMap(({ rule, statement, status, evidence }) => [
    `${marks[status].padEnd(8)} ${rule.padEnd(22)} ${statement}`,
    ...(evidence === undefined ? [] : [`${" ".repeat(32)}${visible(evidence.replaceAll("\n", " "))}`]),
  ]);
  const count = (status: Verdict["status"]) => verdicts.filter((each) => each.status === status).length;
  const sum = `${count("pass")} rules passed, ${count("fail")} failed, ${count("skip")} skipped.`;
  return `${command.join(" ")}\n\n${lines.join("\n")}\n\n${passes ? "It conforms" : "It does not conform"}: ${sum}\n`;
}

export function reportJunit({ command, verdicts }: ConformanceReport): string {
  const count = (status: Verdict["status"]) => verdicts.filter((each) => each.status === status).length;
  const cases = verdicts.map(({ rule, statement, status, evidence = "" }) => {
    const [group] = rule.split(".");
    const head = `  <testcase classname=${xmlAttribute(`conformance.${group}`)} name=${xmlAttribute(`${rule}: ${statement}`)}`;
    if (status === "pass") return `${head}/>`;
    const inner =
      status === "fail"
        ? `<failure message=${xmlAttribute(evidence)}/>`
        : `<skipped message=${xmlAttribute(evidence)}/>`;
    return `${head}>${inner}</testcase>`;
  });
  const totals = `tests="${verdicts.length}" failures="${count("fail")}" errors="0" skipped="${count("skip")}"`;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuite name=${xmlAttribute(`conformance of ${command.join(" ")}`)} ${totals}>\n${cases.join("\n")}\n</testsuite>\n`;
}
