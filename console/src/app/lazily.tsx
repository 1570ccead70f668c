/** Code that is loaded when it is needed, and what is shown when it cannot be: no connection, or an upgrade removed the file. */
import { Component, Suspense, use, type ComponentType, type ReactNode } from 'react';
import { Button } from '@/ui/Button';
import { useLanguage } from '@/i18n/language';

export type Load<Props> = () => Promise<{ default: ComponentType<Props> }>;

/** The code of a screen or a part of one did not arrive; `again` asks for it once more and says whether it came. */
export class CodeMissing extends Error {
  constructor(
    readonly again: () => Promise<boolean>,
    cause: unknown,
  ) {
    super('code could not be loaded', { cause });
    this.name = 'CodeMissing';
  }
}

/** Like React's `lazy`, but a failure is forgotten once somebody tries again. */
export function lazily<Props extends object>(
  load: Load<Props>,
): ComponentType<Props> & { preload: () => Promise<void>; forget: () => void } {
  let loading: Promise<void> | null = null;
  let Found: ComponentType<Props> | null = null;
  let missing: CodeMissing | null = null;
  const ask = async (): Promise<void> => {
    try {
      Found = (await load()).default;
    } catch (cause) {
      missing = new CodeMissing(async () => (await preload(), Found !== null), cause);
    } finally {
      loading = null;
    }
  };
  /** Never refuses: whoever hovers over a link need not know, and whoever opens it gets the error where it is drawn. */
  const preload = (): Promise<void> => {
    if (Found) return Promise.resolve();
    missing = null;
    return (loading ??= ask());
  };
  function Lazy(props: Props): ReactNode {
    if (Found) return <Found {...props} />;
    if (missing) throw missing;
    use(preload());
    return null;
  }
  const forget = () => {
    missing = null;
  };
  return Object.assign(Lazy, { preload, forget });
}

/** A part of a page: without its code the rest of the page stays, and it can be tried again where it stands. */
export function lazyPart<Props extends object>(load: Load<Props>, fallback: ReactNode = null): ComponentType<Props> {
  const Lazy = lazily(load);
  return function Part(props: Props) {
    return (
      <Boundary instead={(error, reset) => <Unloaded error={error} onAgain={reset} />}>
        <Suspense fallback={fallback}><Lazy {...props} /></Suspense>
      </Boundary>
    );
  };
}

/** What a page can do without: when its code is missing, nothing is shown. */
export function lazyExtra<Props extends object>(load: Load<Props>): ComponentType<Props> {
  const Lazy = lazily(load);
  return function Extra(props: Props) {
    return <Boundary instead={() => null}><Suspense><Lazy {...props} /></Suspense></Boundary>;
  };
}

interface BoundaryProps {
  instead: (error: CodeMissing, reset: () => void) => ReactNode;
  children: ReactNode;
}

/** Holds back missing code only; every other error is the page's. */
export class Boundary extends Component<BoundaryProps, { error: unknown }> {
  override state: { error: unknown } = { error: null };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === null) return this.props.children;
    if (!(error instanceof CodeMissing)) throw error;
    return this.props.instead(error, () => this.setState({ error: null }));
  }
}

function Unloaded({ error, onAgain }: { error: CodeMissing; onAgain: () => void }) {
  const { t } = useLanguage();
  return (
    <div role="alert" className="flex flex-wrap items-center gap-3 rounded-lg bg-warning-soft px-3 py-2.5 text-warning">
      <p className="min-w-0 flex-1 basis-52">{t('app.part_unloaded')}</p>
      <Button size="small" onClick={() => void error.again().then(onAgain)}>{t('ui.retry')}</Button>
    </div>
  );
}
