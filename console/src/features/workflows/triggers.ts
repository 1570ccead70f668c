export { default as EditTrigger } from './EditTrigger';
export { default as NewTrigger } from './NewTrigger';
export { default as TriggerPage } from './TriggerPage';
export { default as TriggersPage } from './TriggersPage';
