import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { root } from '../../src/setup.mjs';

describe('a relay', () => {
  test('(invalid_config_does_not_open_dag_trees) that is told nonsense makes no file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-config-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, 'relay.toml');
    const text = '[relay]\nlisten = "127.0.0.1:0"\nstore = "relay.sqlite"\n[profile]\n';
    writeFileSync(file, `${text}retained_slots = 2\nsync_slots = 3\n`);
    const child = spawn(process.execPath, [join(root, 'dist/node/relay.js'), '--config', file]);
    expect(await new Promise((done) => child.once('close', done))).toBe(2);
    expect(readdirSync(folder)).toEqual(['relay.toml']);
  });
});
