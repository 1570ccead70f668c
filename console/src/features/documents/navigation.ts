import { FileText } from 'lucide-react';
import type { Navigation } from '@/app/feature';

export default {
  navigation: [{ to: '/documents', label: 'documents.title', icon: FileText, group: 'workspace', key: 'd', permission: 'files:read', order: 22 }],
  commands: [{ id: 'documents.new', label: 'documents.new', icon: FileText, to: '/documents/new', permission: 'files:write' }],
} satisfies Navigation;
