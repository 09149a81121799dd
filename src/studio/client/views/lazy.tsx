// A view whose code is loaded when it is first shown.
import { type ComponentType, h } from "preact";
import { useEffect, useState } from "preact/hooks";

type LazyProps<Name extends string, Props> = {
  load(): Promise<{ [name in Name]: ComponentType<Props> }>;
  pick: Name;
  /** What it is given. */
  props: Props;
};

export function Lazy<Name extends string, Props extends object>({ load, pick, props }: LazyProps<Name, Props>) {
  const [view, setView] = useState<{ component?: ComponentType<Props>; error?: string }>({});
  useEffect(() => {
    let isHere = true;
    load().then(
      (module) => isHere && setView({ component: module[pick] }),
      () => isHere && setView({ error: "This part of the page could not be loaded. Reload the page." }),
    );
    return () => {
      isHere = false;
    };
  }, [pick]);
  if (view.error) return <p class="empty">{view.error}</p>;
  if (!view.component)
    return (
      <div class="loading" role="status" aria-label="Loading">
        <i style={{ width: "70%" }} />
      </div>
    );
  return h(view.component, props);
}
