// Dialogs of the page: confirmation and text input.
import { render } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

type Asked = { title: string; text?: string; label?: string; value?: string; yes: string; isDangerous?: boolean };

/** Asks the user for a text. Resolves to undefined if the user cancels. */
export function askForText(request: Asked & { label: string; value: string }): Promise<string | undefined> {
  return openDialog(request);
}

export async function askToConfirm(request: Asked): Promise<boolean> {
  return (await openDialog({ ...request, isDangerous: true })) !== undefined;
}

function openDialog(request: Asked): Promise<string | undefined> {
  const place = document.body.appendChild(document.createElement("div"));
  return new Promise((resolve) => {
    const end = (value: string | undefined) => {
      render(null, place);
      place.remove();
      resolve(value);
    };
    render(<Dialog asked={request} onEnd={end} />, place);
  });
}

function Dialog({ asked, onEnd }: { asked: Asked; onEnd(value: string | undefined): void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const field = useRef<HTMLInputElement>(null);
  useLayoutEffect(() => {
    dialog.current!.showModal();
    field.current?.select();
  }, []);
  return (
    <dialog ref={dialog} class="dialog" aria-label={asked.title} onClose={() => onEnd(undefined)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onEnd(field.current?.value ?? "");
        }}
      >
        <h2>{asked.title}</h2>
        {asked.text && <p class="soft">{asked.text}</p>}
        {asked.label && (
          <label>
            <span>{asked.label}</span>
            <input ref={field} type="text" defaultValue={asked.value} />
          </label>
        )}
        <p class="buttons">
          <button type="button" onClick={() => onEnd(undefined)}>
            Cancel
          </button>
          <button type="submit" class={asked.isDangerous ? "danger" : "main"}>
            {asked.yes}
          </button>
        </p>
      </form>
    </dialog>
  );
}
