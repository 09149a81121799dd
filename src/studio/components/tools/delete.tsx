// DeleteTool: the path struck through, and how to restore the file.
import { fieldsOf, stringOrEmpty } from "../../../json/object.ts";
import { Card, type ToolProps } from "../card.tsx";
import { useView } from "../view-options.tsx";

/** Shows a deletion. */
export function DeleteTool(props: ToolProps) {
  const { canRewind, workspace } = useView();
  const path = stringOrEmpty(fieldsOf(props.call.args).path);
  // Files outside of the workspace are not saved before they are deleted.
  const isSaved = canRewind && workspace !== undefined && (!path.startsWith("/") || path.startsWith(`${workspace}/`));
  return <Card {...props} isStruck outcome={isSaved ? "deleted · rewind brings it back" : "deleted"} />;
}
