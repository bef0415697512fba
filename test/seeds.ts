import '../src/core/limits-relations';
import { configureGlobal } from 'fast-check';

/** Property tests draw the same cases on every run, so a red run is red again when it is repeated. */
configureGlobal({ seed: 0x11c014e5 });
