import { Workflow, Zap } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  commands: [
    { label: 'nav.new_workflow', icon: Workflow, to: '/workflows/_new', permission: 'workflows:write' },
    { label: 'nav.new_trigger', icon: Zap, to: '/triggers/new', permission: 'workflows:write' },
  ],
} satisfies Navigation;
