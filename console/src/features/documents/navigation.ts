import { FileText } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  commands: [{ label: 'nav.new_document', icon: FileText, to: '/documents/new', permission: 'files:write' }],
} satisfies Navigation;
