// TodoTool: the list of what is to be done, with signs and words.
import type { JsonObject } from "../../../json/object.ts";
import { documentText } from "../../../view/document-text.ts";
import { Card, type ToolProps } from "../card.tsx";
import { fieldsOf, objectsIn, textOf } from "../fields.ts";

export function TodoTool(props: ToolProps) {
  const { todos } = fieldsOf(props.call.outcome?.value);
  const items = objectsIn(todos ?? fieldsOf(props.call.args).todos);
  return (
    <Card {...props} opensByItself>
      {items.length > 0 && <TodoList items={items} />}
    </Card>
  );
}

const states: Record<string, { sign: string; word: string; class: string }> = {
  PENDING: { sign: "○", word: "to do", class: "cr-soft" },
  IN_PROGRESS: { sign: "▸", word: "in progress", class: "cr-accent" },
  COMPLETED: { sign: "✓", word: "done", class: "" },
  CANCELLED: { sign: "–", word: "cancelled", class: "cr-soft cr-struck" },
};

export function TodoList({ items }: { items: readonly JsonObject[] }) {
  return (
    <ul class="cr-todos">
      {items.map(({ status, content }, index) => {
        const state = states[textOf(status).replace("TODO_STATUS_", "").toUpperCase()] ?? states.PENDING!;
        return (
          <li key={index} class={state.class}>
            <span class="cr-sign" role="img" aria-label={state.word}>
              {state.sign}
            </span>
            <span>{documentText(textOf(content))}</span>
          </li>
        );
      })}
    </ul>
  );
}
