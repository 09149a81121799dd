// Loads the code of a view when it is first shown.
import { type ComponentType, h } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Returns a component whose code is loaded on first use. After that, it renders without delay. */
export function lazyComponent<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  let component: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [state, setState] = useState<"loading" | "loaded" | "failed">("loading");
    useEffect(() => {
      if (component) return;
      let isHere = true;
      load().then(
        (loaded) => {
          component = loaded;
          if (isHere) setState("loaded");
        },
        () => isHere && setState("failed"),
      );
      return () => {
        isHere = false;
      };
    }, []);
    if (component) return h(component, props);
    if (state === "failed")
      return (
        <p class="empty">
          This part of the page could not be loaded. Reload the page; if that does not help: courser studio
        </p>
      );
    return <Loading widths={[70]} />;
  };
}

/** Shows placeholder lines while content is loading. */
export function Loading({ widths }: { widths: readonly number[] }) {
  return (
    <div class="loading" role="status" aria-label="Loading">
      {widths.map((width) => (
        <i key={width} style={{ width: `${width}%` }} />
      ))}
    </div>
  );
}
