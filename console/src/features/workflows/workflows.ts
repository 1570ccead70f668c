export { default as StartRun } from './StartRun';
export { default as WorkflowPage } from './WorkflowPage';
export { default as WorkflowsPage } from './WorkflowsPage';
