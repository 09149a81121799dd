// Delete: removes one file, or a link itself rather than its target.
import * as v from "valibot";
import { absolutePath, deleteFile, describe, errorCode } from "../files.ts";
import { pathArgument, pathSpellings, tool } from "./define.ts";
import { failure, ToolFailure } from "./tool.ts";

export const deleteTool = tool({
  name: "Delete",
  wire: "delete",
  aliases: ["delete_file"],
  description: "Delete one file.",
  readOnly: false,
  args: v.object({ path: pathArgument() }),
  spellings: pathSpellings,
  wireArgs: (args, context) => ({ path: absolutePath(args.path, context), toolCallId: context.callId }),
  needs: (args, context) => [{ kind: "Delete", target: absolutePath(args.path, context), reads: true }],
  async run(args, context) {
    const path = absolutePath(args.path, context);
    try {
      await deleteFile(path, context);
    } catch (error) {
      if (errorCode(error) === "ENOENT") {
        const message = `File not found: ${path}`;
        throw new ToolFailure("error", { path, error: message }, message);
      }
      if (errorCode(error) === "EISDIR") {
        throw failure(`${path} is a directory: Delete removes files only. Remove a directory with Shell.`, { path });
      }
      throw describe(error, path, "delete");
    }
    const message = `Deleted ${path}`;
    return { outcome: { kind: "success", value: { path, message } }, text: message };
  },
});
