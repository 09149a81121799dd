// Chips: small selects in a row, each labelled with its value.
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { service } from "../state/app.ts";
import { attempt } from "../state/layout.ts";

type ChipProps<Value extends string> = {
  label: string;
  value: Value;
  options: readonly (readonly [value: Value, title: string])[];
  title?: string;
  isDisabled?: boolean | undefined;
  onChange(value: Value): void;
  /** Content before the text, such as the mark of an agent. */
  children?: ComponentChildren;
};

export function Chip<Value extends string>(props: ChipProps<Value>) {
  const { label, value, options, title, isDisabled, onChange, children } = props;
  return (
    <span class="chip chip-select" title={title}>
      {children}
      <Select label={label} value={value} options={options} isDisabled={isDisabled} onChange={onChange} />
    </span>
  );
}

type ToggleProps = { name: string; title: string; isOn: boolean; onChange(isOn: boolean): void };

export function ToggleChip({ name, title, isOn, onChange }: ToggleProps) {
  return (
    <button type="button" class="chip" aria-pressed={isOn} title={title} onClick={() => onChange(!isOn)}>
      {isOn && <span aria-hidden="true">✓</span>}
      {name}
    </button>
  );
}

type ModelProps = { value: string; isListed: boolean; isDisabled?: boolean; onChange(model: string): void };

/** Shows the model; a click opens a field that suggests known models. Other names can be typed. */
export function ModelChip({ value, isListed, isDisabled, onChange }: ModelProps) {
  const isOpen = useSignal(false);
  const models = useSignal<readonly { id: string; displayName: string }[]>([]);
  const choose = (model: string) => {
    isOpen.value = false;
    if (model !== value) onChange(model);
  };
  if (!isOpen.value)
    return (
      <button
        type="button"
        class="chip chip-model"
        disabled={isDisabled}
        title={value || "The configured model"}
        onClick={async () => {
          isOpen.value = true;
          if (isListed) models.value = (await attempt(() => service().models())) ?? [];
        }}
      >
        <span class="chip-name">{value || "Default model"}</span> <span aria-hidden="true">▾</span>
      </button>
    );
  return (
    <>
      <input
        type="text"
        class="chip"
        list="models"
        aria-label="Model"
        placeholder="Name of a model"
        defaultValue={value}
        ref={(input) => input?.focus()}
        onKeyDown={(event) => {
          if (event.key === "Escape") isOpen.value = false;
          if (event.key !== "Enter") return;
          event.preventDefault();
          event.stopPropagation();
          choose(event.currentTarget.value.trim());
        }}
        onBlur={(event) => choose(event.currentTarget.value.trim())}
      />
      <datalist id="models">
        {models.value.map(({ id, displayName }) => (
          <option key={id} value={id}>
            {displayName}
          </option>
        ))}
      </datalist>
    </>
  );
}

type SelectProps<Value extends string> = Pick<
  ChipProps<Value>,
  "label" | "value" | "options" | "isDisabled" | "onChange"
>;

export function Select<Value extends string>({ label, value, options, isDisabled, onChange }: SelectProps<Value>) {
  return (
    <select
      aria-label={label}
      value={value}
      disabled={isDisabled}
      onChange={(event) => onChange(event.currentTarget.value as Value)}
    >
      {options.map(([each, title]) => (
        <option key={each} value={each} selected={each === value}>
          {title}
        </option>
      ))}
    </select>
  );
}
