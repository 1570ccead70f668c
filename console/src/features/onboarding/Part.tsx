import type { ReactNode } from 'react';
import { Card } from '@/ui/bits';

/** One part of the editor, under its own heading. */
export function Part({ title, lead, children }: { title: string; lead?: string; children: ReactNode }) {
  return (
    <Card className="p-5">
      <h2 className="text-lg font-semibold">{title}</h2>
      {lead && <p className="mt-0.5 mb-4 text-muted">{lead}</p>}
      {children}
    </Card>
  );
}
