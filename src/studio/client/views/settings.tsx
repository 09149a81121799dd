// The user's settings as `courser config` lists them: each with its value, its source, and its meaning.
import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { ListedSetting } from "../../../serve/api.ts";
import { service } from "../state/app.ts";
import { attempt, showMessage } from "../state/layout.ts";
import { Select } from "./chips.tsx";
import { Loading } from "./lazy.tsx";
import { useTitle } from "./title.ts";
import { TopBar } from "./top-bar.tsx";

const groups: readonly (readonly [file: string, title: string])[] = [
  ["cli-config.json", "Shared with the terminal"],
  ["courser.json", "Models, limits and services"],
];

export function Settings() {
  useTitle("Settings");
  const found = useSignal<readonly ListedSetting[] | undefined>(undefined);
  const load = async () => {
    found.value = (await attempt(() => service().settings())) ?? found.value ?? [];
  };
  useEffect(() => void load(), []);
  const save = async (name: string, value: string | null) => {
    const text = await attempt(() => service().saveSetting(name, value));
    if (text !== undefined) showMessage(text.split("\n")[0]!);
    await load();
  };
  return (
    <main id="main" class="middle wide" tabIndex={-1}>
      <TopBar />
      <header class="head">
        <div class="head-line">
          <h1>Settings</h1>
          <span class="head-facts">of this user, for every project</span>
        </div>
      </header>
      <div class="scroll broad settings">
        {!found.value && <Loading widths={[40, 60, 50]} />}
        {found.value &&
          groups.map(([file, title]) => (
            <section key={file}>
              <h2>
                {title} <code class="soft">{file}</code>
              </h2>
              {found
                .value!.filter((setting) => setting.file === file)
                .map((setting) => (
                  <Line key={setting.name} setting={setting} onSave={(value) => void save(setting.name, value)} />
                ))}
            </section>
          ))}
      </div>
    </main>
  );
}

type LineProps = { setting: ListedSetting; onSave(value: string | null): void };

function Line({ setting, onSave }: LineProps) {
  const { name, meaning, source, file, changedBy } = setting;
  return (
    <div class="setting">
      <div>
        <code>{name}</code>
        <p class="soft">{meaning}</p>
      </div>
      <div class="setting-value">
        {changedBy === undefined ? (
          <Control setting={setting} onSave={onSave} />
        ) : (
          <p>
            {formatValue(setting.value) || "none"}
            <code class="soft">courser {changedBy}</code>
          </p>
        )}
        <p class="soft">
          {source === file ? (
            <button type="button" class="quiet" aria-label={`Reset ${name}`} onClick={() => onSave(null)}>
              Reset
            </button>
          ) : source === "default" || source === "not set" ? (
            source
          ) : (
            `${source} is set, and takes precedence`
          )}
        </p>
      </div>
    </div>
  );
}

function Control({ setting, onSave }: LineProps) {
  const { name, value, takes } = setting;
  const words = settingChoices(setting);
  if (words)
    return (
      <Select
        label={name}
        value={formatValue(value)}
        options={[...(value === null ? ["", ...words] : words)].map((word) => [word, word || "not set"])}
        onChange={(next) => next !== "" && onSave(next)}
      />
    );
  return (
    <input
      type="text"
      aria-label={name}
      key={formatValue(value)}
      defaultValue={formatValue(value)}
      placeholder={takes}
      title={takes}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key === "Escape") event.currentTarget.value = formatValue(value);
      }}
      onBlur={({ currentTarget }) => {
        const typed = currentTarget.value.trim();
        if (typed !== formatValue(value)) onSave(typed === "" ? null : typed);
      }}
    />
  );
}

function settingChoices({ words, takes }: ListedSetting): readonly string[] | undefined {
  return words ?? (takes === "true or false" ? ["true", "false"] : undefined);
}

/** Formats a value as the user would type it. */
function formatValue(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) return value.join(", ");
  return typeof value === "string" ? value : JSON.stringify(value);
}
