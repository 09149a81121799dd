// CreatePlan: submits the plan at the end of plan mode. The user accepts or rejects it, and an accepted plan is saved to a file.
import { pathToFileURL } from "node:url";
import * as v from "valibot";
import type { CreatePlanToolCallResult } from "../../protocol/tool-shapes.ts";
import { unlessStopped } from "../../protocol/unless-stopped.ts";
import { keepPlan, type PlanTodo, planFile } from "../../store/plans.ts";
import { tool } from "./define.ts";
import { failure, type ToolResult } from "./tool.ts";

export const createPlan = tool({
  name: "CreatePlan",
  wire: "createPlan",
  aliases: ["create_plan", "ExitPlanMode"],
  description: "Submit the finished plan, whole.",
  readOnly: true,
  once: true,
  args: v.object({
    name: v.pipe(v.string(), v.description("3 to 5 words")),
    overview: v.optional(v.string()),
    plan: v.pipe(
      v.string(),
      v.check((text) => text.trim() !== "", "must not be empty"),
      v.description("Markdown"),
    ),
    todos: v.optional(v.array(v.object({ id: v.optional(v.string()), content: v.string() }))),
  }),
  reshape: (input) => (input["name"] === undefined ? { ...input, name: planTitle(input["plan"]) } : input),
  wireArgs: (args) => planOnWire(args),
  needs: () => [],
  async run(args, { turn, signal, configDir }): Promise<ToolResult> {
    if (!turn || configDir === undefined) throw failure("Plans cannot be saved here: give the plan as your answer.");
    const { name, overview = "", plan: text } = args;
    const file = planFile(configDir, name);
    const planUri = pathToFileURL(file).href;
    const respond = async (): Promise<{ result: CreatePlanToolCallResult }> => {
      const refusal = await turn.person?.refusesPlan({ name, text, file }, signal);
      if (refusal !== undefined) return { result: { rejected: { reason: refusal } } };
      unlessStopped(signal, () => keepPlan(file, { name, overview, text, todos: todosOf(args.todos) }));
      return { result: { success: {}, planUri } };
    };
    const { result } = await turn.query("createPlanRequestQuery", { args: planOnWire(args) }, respond);
    const { rejected } = result;
    if (rejected)
      return {
        outcome: { kind: "rejected", value: rejected },
        text: `The user did not accept the plan: ${rejected.reason}`,
      };
    return {
      outcome: { kind: "success", value: {}, siblings: { planUri } },
      text: `The plan was accepted and saved: ${file}. End with two lines: what it does, and what is open.`,
    };
  },
});

type PlanArguments = {
  name: string;
  overview?: string | undefined;
  plan: string;
  todos?: readonly { id?: string | undefined; content: string }[] | undefined;
};

function planOnWire({ name, overview = "", plan, todos }: PlanArguments): Record<string, unknown> {
  const pending = todosOf(todos).map((todo) => ({ ...todo, status: "TODO_STATUS_PENDING" }));
  return { plan, todos: pending, overview, name, isProject: false, phases: [] };
}

function todosOf(todos: PlanArguments["todos"]): PlanTodo[] {
  return (todos ?? []).map(({ id, content }, index) => ({ id: id ?? String(index + 1), content }));
}

/** Returns the first line of a plan that has no name. */
function planTitle(plan: unknown): string {
  const line = typeof plan === "string" ? /[^\s#][^\n]*/.exec(plan)?.[0].trim() : undefined;
  return (line ?? "Plan").slice(0, 60);
}
