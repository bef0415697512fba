import type { ComponentType, FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { useUi } from './context';

/** A part of the screen whose code comes with a file of its own, so that the first paint does not wait for it. */
export interface Lazy<P> {
  readonly Part: FunctionComponent<P>;
  /** Brings the code before it is asked for; a failure is told when the part is drawn. */
  readonly fetch: () => void;
}

/** Draws nothing until `load` has brought the component, and offers another try when it could not. */
export function lazily<P extends object>(load: () => Promise<ComponentType<P>>): Lazy<P> {
  let Loaded: ComponentType<P> | undefined;
  const bring = () =>
    load().then((part) => {
      Loaded = part;
    });
  const Part: FunctionComponent<P> = (props) => {
    const { texts } = useUi();
    const [tried, setTried] = useState<'waits' | 'there' | 'failed'>('waits');
    const state = Loaded ? 'there' : tried;
    useEffect(() => {
      if (state !== 'waits') return undefined;
      let current = true;
      bring().then(
        () => current && setTried('there'),
        () => current && setTried('failed'),
      );
      return () => {
        current = false;
      };
    }, [state]);
    if (Loaded) return <Loaded {...props} />;
    if (state !== 'failed') return null;
    return (
      <p class="problem" role="alert">
        {texts.partFailed}{' '}
        <button type="button" class="link" onClick={() => setTried('waits')}>
          {texts.tryAgain}
        </button>
      </p>
    );
  };
  return { Part, fetch: () => void bring().catch(() => undefined) };
}
