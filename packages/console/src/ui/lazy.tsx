import { type ComponentType, type FunctionComponent, h } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Failure } from "./failure.tsx";

/** The properties of a component that a module exports. */
type PropsOf<Component> = Component extends ComponentType<infer Props extends object> ? Props : never;

/** Returns the component that a module exports under a name. The module's script is loaded when the component is first shown. */
export function lazy<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): FunctionComponent<PropsOf<Module[Name]>> {
  type Props = PropsOf<Module[Name]>;
  let loaded: ComponentType<Props> | undefined;
  return function Lazy(props: Props) {
    const [component, setComponent] = useState<{ readonly type?: ComponentType<Props>; readonly error?: unknown }>({
      type: loaded,
    });
    useLayoutEffect(() => {
      if (component.type) return;
      load().then(
        (module) => setComponent({ type: (loaded = module[name] as ComponentType<Props>) }),
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
