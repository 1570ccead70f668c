import type { ReactNode } from 'react';
import { Card } from '@/ui/bits';

export function Panel({ title, body, children }: { title: string; body: string; children: ReactNode }) {
  return (
    <Card className="mb-5 p-5">
      <h2 className="text-lg font-semibold">{title}</h2>
      <p className="mt-0.5 mb-4 text-muted">{body}</p>
      {children}
    </Card>
  );
}
