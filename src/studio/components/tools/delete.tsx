// DeleteTool: the path struck through, and how to bring the file back.
import { Card, type ToolProps } from "../card.tsx";
import { fieldsOf, textOf } from "../fields.ts";
import { useView } from "../view-options.tsx";

export function DeleteTool(props: ToolProps) {
  const { canRewind, workspace } = useView();
  const path = textOf(fieldsOf(props.call.args).path);
  // What lies outside the workspace is not saved before it goes.
  const isSaved = canRewind && workspace !== undefined && (!path.startsWith("/") || path.startsWith(`${workspace}/`));
  return <Card {...props} isStruck outcome={isSaved ? "deleted · rewind brings it back" : "deleted"} />;
}
