// Combines comments on lines into one prompt for the agent.
export type Comment = {
  /** The path of the file, relative to the workspace. */
  path: string;
  /** The id of the tool call that made the change. */
  step: string;
  line: number;
  code: string;
  text: string;
};

export function commentsPrompt(comments: readonly Comment[]): string {
  const files = new Map<string, Comment[]>();
  for (const comment of comments) files.set(comment.path, [...(files.get(comment.path) ?? []), comment]);
  const parts = [...files].map(([path, list]) => {
    const lines = list
      .toSorted((one, other) => one.line - other.line)
      .map(
        ({ line, code, text }) =>
          `- ${path}:${line}\n  \`${code.trim().slice(0, 200)}\`\n  ${text.replaceAll("\n", "\n  ")}`,
      );
    return lines.join("\n");
  });
  const noun = comments.length === 1 ? "this comment" : "these comments";
  return `I reviewed your changes. Please address ${noun}:\n\n${parts.join("\n")}`;
}
