// Every screen once: its words, what axe says, its widths. One of two files, so that both cores share them and a team is furnished twice only.
import { sweep } from './stage.mjs';

sweep(1, 2);
