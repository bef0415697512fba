import { describe, expect, test } from 'vitest';
import { isBroken, killRuns } from '../kill/run';

describe('npm run kill', () => {
  // The second kill is followed by what Chromium sometimes does itself, so that it is seen to be told apart.
  test('[OB-01] [OB-04] [OB-05] [OB-13] what was kept arrives once, in order, but for a wiped database', async () => {
    const report = await killRuns({ runs: 2, seed: 'npm test', wipeIn: 2 });
    const { kept, arrived, wipes, lostAfterWipe, control } = report;
    expect(report.breaches.filter(({ kind }) => kind !== 'lostAfterWipe')).toEqual([]);
    expect(isBroken(report)).toBe(false);
    expect(wipes).toBeGreaterThanOrEqual(1);
    expect(kept).toBeGreaterThan(5);
    // One may be kept whose answer did not reach the page any more.
    expect(arrived).toBeGreaterThanOrEqual(kept - lostAfterWipe);
    expect(control.kept).toBeGreaterThan(20);
    expect(control.lostWithoutWipe).toBe(0);
  });
});
