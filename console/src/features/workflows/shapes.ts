/** Workflows, runs and triggers as the server tells them: what has a default is always there in an answer. */
import type { Schemas } from '@/api/client';

export type DeclaredInput = Schemas['Input'];
export type WorkflowSummary = Required<Schemas['WorkflowSummary']>;
export type Definition = Omit<Required<Schemas['DefinitionHistory']>, 'spec'> & { spec: Spec };

/** What of a step can be drawn; the server's validator knows the rest. */
export interface SpecStep {
  name: string;
  kind: 'tool' | 'map' | 'choice';
  tool?: string;
  terminal?: boolean;
  then?: string;
  else?: string;
}

export interface Spec {
  slug: string;
  steps: SpecStep[];
}

export type Fault = Schemas['StepError'];
export type RunState = Schemas['RunSummary']['state'];
export type RunSummary = Schemas['RunSummary'];
export type Attempt = Required<Schemas['StepAttempt']>;
export type StepState = Attempt['state'];
export type MapItem = Required<Schemas['MapItem']>;
export type Step = Omit<Required<Schemas['WorkflowStep']>, 'attempts' | 'items'> & { attempts: Attempt[]; items: MapItem[] | null };
export type ItemCounts = Schemas['ItemCounts'];
export type Run = Omit<Schemas['Run'], 'steps'> & { steps: Step[] };

export type Fire = Schemas['Fire'];
export type TriggerDraft = Omit<Required<Schemas['NewTrigger']>, 'input'> & { input: Record<string, unknown> };
export type Trigger = Omit<Required<Schemas['Trigger']>, 'input'> & { input: Record<string, unknown> };
export type TriggerDetail = Trigger & Pick<Schemas['TriggerDetail'], 'fires'>;
export type BudgetLine = Schemas['Budget'];
export type Rehearsal = Schemas['Rehearsal'];
