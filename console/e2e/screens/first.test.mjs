// Every screen in its own words: readable by everybody in both modes, at every width. One of four files, so that cores share them.
import { everyFourth } from '../stage.mjs';

everyFourth(0);
