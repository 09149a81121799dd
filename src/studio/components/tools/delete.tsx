// DeleteTool: the path struck through, and how to bring the file back.
import { Card, type ToolProps } from "../card.tsx";

export function DeleteTool(props: ToolProps) {
  return <Card {...props} isStruck outcome="deleted · rewind brings it back" />;
}
