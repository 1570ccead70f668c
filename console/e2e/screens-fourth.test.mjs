// Every screen: readable by everybody, at every width. One of four files, so that cores share them and none takes long.
import { everyFourth } from './stage.mjs';

everyFourth(3);
