export { default as RunPage } from './RunPage';
export { default as RunsPage } from './RunsPage';
