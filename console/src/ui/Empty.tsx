import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';

/** Nothing here yet: why, and the one thing to do about it. */
export function Empty({
  icon: Icon,
  title,
  body,
  action,
  level = 2,
}: {
  icon: LucideIcon;
  title: string;
  body: string;
  action?: ReactNode;
  level?: 2 | 3;
}) {
  const Heading = `h${level}` as const;
  return (
    <div className="grid place-items-center px-6 py-14 text-center">
      <span className="mb-4 grid size-12 place-items-center rounded-xl bg-accent-soft text-link"><Icon size={22} aria-hidden /></span>
      <Heading className="text-lg font-semibold">{title}</Heading>
      <p className="mt-1 max-w-sm text-muted">{body}</p>
      {action && <div className="mt-5 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}
