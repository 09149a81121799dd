// Write: creates a file or replaces its whole content.
import * as v from "valibot";
import { changeResult } from "../diff.ts";
import { absolutePath, changeFile } from "../files.ts";
import { decodeText, encodeText, lineEndingOf, withCarriages } from "../text-file.ts";
import { pathArgument, pathSpellings, tool } from "./define.ts";
import { failure } from "./tool.ts";

export const write = tool({
  name: "Write",
  wire: "edit",
  aliases: ["write_file", "create_file"],
  description: "Create a file (and its folders) or replace its whole content. To change a part, use Edit.",
  readOnly: false,
  args: v.object({
    path: pathArgument(),
    content: v.string(),
    onlyNew: v.optional(v.pipe(v.boolean(), v.description("Fail if the file exists"))),
  }),
  spellings: { ...pathSpellings, contents: "content", file_text: "content", text: "content" },
  wireArgs: (args, context) => ({ path: absolutePath(args.path, context), streamContent: args.content }),
  needs: (args, context) => [{ kind: "Write", target: absolutePath(args.path, context) }],
  async run(args, context) {
    const path = absolutePath(args.path, context);
    // A file that may be replaced but not read must not leak into the result, not even through its line endings.
    const mayRead = [path, context.approved?.get(path) ?? path].every((each) => context.mayRead?.(each) ?? true);
    let before: string | undefined;
    let after = args.content;
    await changeFile(path, context, (bytes) => {
      if (bytes !== undefined && args.onlyNew) throw failure(`${path} already exists.`, { path });
      if (bytes === undefined || !mayRead) return Buffer.from(after, "utf8");
      const old = decodeText(bytes);
      before = old?.text ?? bytes.toString("utf8");
      if (!old) return Buffer.from(after, "utf8");
      // Models write LF line endings. The file keeps its own line endings, byte order mark and encoding.
      if (lineEndingOf(old.text) === "\r\n") after = withCarriages(after);
      return encodeText(after, { ...old, hasMark: old.hasMark && !after.startsWith("\uFEFF") }, path);
    });
    return changeResult({ path, before, after, message: `Wrote contents to ${path}` }, context);
  },
});
