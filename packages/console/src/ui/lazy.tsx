import { type ComponentType, type FunctionComponent, h } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Failure } from "./failure.tsx";

/** Returns a component whose script is loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): FunctionComponent<Props> {
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [component, setComponent] = useState<{ readonly type?: ComponentType<Props>; readonly error?: unknown }>({
      type: loaded,
    });
    useLayoutEffect(() => {
      if (component.type) return;
      load().then(
        (type) => setComponent({ type: (loaded = type) }),
        (error: unknown) => setComponent({ error }),
      );
    }, []);
    if (component.type) return h(component.type, props);
    return component.error === undefined ? (
      <p class="quiet" aria-busy="true">
        Loading…
      </p>
    ) : (
      <Failure error={component.error} retry={() => location.reload()} />
    );
  };
}
