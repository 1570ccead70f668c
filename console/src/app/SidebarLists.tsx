/** What follows the daily places once the screen is up: the person's pins, and the pages of plugins. */
import { PinList } from './PinList';
import { PluginList } from './PluginList';

export default function SidebarLists() {
  return <><PinList /><PluginList /></>;
}
