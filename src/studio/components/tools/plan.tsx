// PlanTool and QuestionTool: a plan to approve; questions to the user, and their answers.
import { fieldsOf, type JsonObject, objectsIn, stringOrEmpty } from "../../../json/object.ts";
import { documentText } from "../../../view/document-text.ts";
import { Card, type ToolProps } from "../card.tsx";
import { Markdown } from "../text/markdown.tsx";
import { TodoList } from "./todo.tsx";

/** Shows a plan. */
export function PlanTool(props: ToolProps) {
  const { plan, overview, todos } = fieldsOf(props.call.args);
  return (
    <Card {...props} opensByItself>
      {(stringOrEmpty(plan) || stringOrEmpty(overview)) !== "" && (
        <Markdown text={stringOrEmpty(plan) || stringOrEmpty(overview)} />
      )}
      {objectsIn(todos).length > 0 && <TodoList items={objectsIn(todos)} />}
    </Card>
  );
}

/** Shows questions to the user, and their answers. */
export function QuestionTool(props: ToolProps) {
  const { questions } = fieldsOf(props.call.args);
  const { answers } = fieldsOf(props.call.outcome?.value);
  return (
    <Card {...props} opensByItself>
      {(props.question ? [] : objectsIn(questions)).map((question, index) => (
        <Asked
          key={index}
          question={question}
          answer={objectsIn(answers).find((each) => each.questionId === question.id)}
        />
      ))}
    </Card>
  );
}

function Asked({ question, answer }: { question: JsonObject; answer: JsonObject | undefined }) {
  const chosen = Array.isArray(answer?.selectedOptionIds) ? answer.selectedOptionIds : [];
  const typedAnswer = stringOrEmpty(answer?.freeformText);
  return (
    <div class="cr-asked">
      <p class="cr-title">{documentText(stringOrEmpty(question.prompt))}</p>
      <ul class="cr-todos">
        {objectsIn(question.options).map(({ id, label }, index) => (
          <Choice key={index} label={stringOrEmpty(label)} isChosen={chosen.includes(id)} />
        ))}
        {typedAnswer !== "" && <Choice label={typedAnswer} isChosen />}
      </ul>
    </div>
  );
}

function Choice({ label, isChosen }: { label: string; isChosen: boolean }) {
  return (
    <li class={isChosen ? "" : "cr-soft"}>
      <span class="cr-sign" role="img" aria-label={isChosen ? "chosen" : "not chosen"}>
        {isChosen ? "●" : "○"}
      </span>
      <span>{documentText(label)}</span>
    </li>
  );
}
