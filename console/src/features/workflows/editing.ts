export { default as EditWorkflow } from './EditWorkflow';
export { default as NewWorkflow } from './NewWorkflow';
