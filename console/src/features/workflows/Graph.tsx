/** The steps of a workflow as a graph: buttons in the order of the steps, with lines behind them. Arrow keys go from step to step. */
import clsx from 'clsx';
import { GitFork, Hammer, LoaderCircle, Repeat, type LucideIcon } from 'lucide-react';
import { useMemo, useRef, type KeyboardEvent } from 'react';
import { useLanguage } from '@/i18n/language';
import { layoutOf, NODE, type Edge } from './layout';
import type { SpecStep, StepState } from './shapes';
import type { StepLook } from './words';

const KINDS: Record<SpecStep['kind'], LucideIcon> = { tool: Hammer, map: Repeat, choice: GitFork };
const BY: Record<string, number> = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, Home: -Infinity, End: Infinity };

/** How a step of a run stands, and one more word about it. */
export interface Standing {
  state: StepState;
  look: StepLook;
  /** How it stands, then how far it is. */
  words: string;
}

interface Props {
  label: string;
  steps: readonly SpecStep[];
  /** Absent where nothing runs. */
  standings?: ReadonlyMap<string, Standing>;
  /** Which lines a run went along. */
  isTaken?: (edge: Edge) => boolean;
  selected: string | null;
  onSelect: (name: string) => void;
}

export function Graph({ label, steps, standings, isTaken, selected, onSelect }: Props) {
  const { t } = useLanguage();
  const { nodes, edges, width, height } = useMemo(() => layoutOf(steps), [steps]);
  const list = useRef<HTMLOListElement>(null);
  const reached = steps.some(({ name }) => name === selected) ? selected : steps[0]?.name;
  const walk = (event: KeyboardEvent) => {
    const by = BY[event.key];
    if (by === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const at = steps.findIndex(({ name }) => name === reached);
    const to = Math.max(0, Math.min(steps.length - 1, at + by));
    const next = steps[to];
    if (!next) return;
    onSelect(next.name);
    list.current?.querySelectorAll<HTMLElement>('[data-step]')[to]?.focus();
  };
  return (
    <div className="overflow-auto p-3" data-testid="graph">
      <div className="relative mx-auto" style={{ width, height }}>
        <svg aria-hidden width={width} height={height} className="absolute inset-0 fill-none">
          {edges.map((edge) => (
            <path
              key={`${edge.from} ${edge.branch}`}
              d={edge.path}
              strokeWidth={isTaken?.(edge) ? 2 : 1.5}
              strokeDasharray={standings && !isTaken?.(edge) ? '4 4' : undefined}
              className={isTaken?.(edge) ? 'stroke-accent' : 'stroke-line-strong'}
            />
          ))}
        </svg>
        {edges.map(({ from, branch, at: [left, top] }) =>
          branch === 'next' ? null : (
            <span
              key={`${from} ${branch}`}
              aria-hidden
              style={{ left, top }}
              className="absolute -translate-x-1/2 -translate-y-1/2 rounded-sm bg-surface px-1 text-xs text-muted"
            >
              {t(`workflows.branch_${branch}`)}
            </span>
          ),
        )}
        <ol ref={list} aria-label={label} onKeyDown={walk}>
          {nodes.map(({ step, x, y }) => (
            <li key={step.name} className="absolute" style={{ left: x, top: y, width: NODE.width, height: NODE.height }}>
              <Node
                step={step}
                standing={standings?.get(step.name)}
                running={standings !== undefined}
                selected={selected === step.name}
                reachable={reached === step.name}
                onSelect={() => onSelect(step.name)}
              />
            </li>
          ))}
        </ol>
      </div>
    </div>
  );
}

interface NodeProps {
  step: SpecStep;
  standing: Standing | undefined;
  running: boolean;
  selected: boolean;
  reachable: boolean;
  onSelect: () => void;
}

function Node({ step, standing, running, selected, reachable, onSelect }: NodeProps) {
  const { t } = useLanguage();
  const Kind = KINDS[step.kind];
  const [, Icon, tone] = standing ? standing.look : ([null, Kind, 'text-muted'] as const);
  const waiting = running && (!standing || standing.state === 'skipped');
  const below = standing ? standing.words : step.tool || null;
  return (
    <button
      type="button"
      data-step={step.name}
      data-state={standing?.state}
      aria-pressed={selected}
      tabIndex={reachable ? 0 : -1}
      onClick={onSelect}
      className={clsx(
        'flex size-full items-center gap-2.5 rounded-lg border bg-surface px-3 text-start shadow-card hover:bg-raised',
        selected ? 'border-accent ring-1 ring-accent' : standing?.state === 'failed' ? 'border-danger' : 'border-line-strong',
        waiting && 'border-dashed',
      )}
    >
      <Icon size={17} aria-hidden className={clsx('shrink-0', tone, standing?.look[1] === LoaderCircle && 'animate-spin')} />
      <span className="min-w-0 flex-1">
        <span data-raw className="block truncate font-mono text-sm font-medium">{step.name}</span>
        <span className="block truncate text-xs text-muted" {...(standing ? {} : { 'data-raw': true })}>
          {below ?? t(`workflows.kind_${step.kind}`)}
        </span>
      </span>
      {standing && <Kind size={14} aria-hidden className="shrink-0 text-muted" />}
    </button>
  );
}
