// TodoTool: the todo list, with a sign and a word for each state.
import { fieldsOf, type JsonObject, objectsIn } from "../../../json/object.ts";
import { documentText } from "../../../view/document-text.ts";
import { shownTodos, type TodoState } from "../../../view/todos.ts";
import { Card, type ToolProps } from "../card.tsx";

/** Shows a call that changes todos. */
export function TodoTool(props: ToolProps) {
  const { todos } = fieldsOf(props.call.outcome?.value);
  const items = objectsIn(todos ?? fieldsOf(props.call.args).todos);
  return (
    <Card {...props} opensByItself>
      {items.length > 0 && <TodoList items={items} />}
    </Card>
  );
}

const states: Record<TodoState, { sign: string; word: string; class: string }> = {
  PENDING: { sign: "○", word: "to do", class: "cr-soft" },
  IN_PROGRESS: { sign: "▸", word: "in progress", class: "cr-accent" },
  COMPLETED: { sign: "✓", word: "done", class: "" },
  CANCELLED: { sign: "–", word: "cancelled", class: "cr-soft cr-struck" },
};

/** Shows a list of todos. */
export function TodoList({ items }: { items: readonly JsonObject[] }) {
  return (
    <ul class="cr-todos">
      {shownTodos(items).map(({ state, words }, index) => (
        <li key={index} class={states[state].class}>
          <span class="cr-sign" role="img" aria-label={states[state].word}>
            {states[state].sign}
          </span>
          <span>{documentText(words)}</span>
        </li>
      ))}
    </ul>
  );
}
