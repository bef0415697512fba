import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { endAll, ensureBuilt, ensureInstalled, root } from './setup.mjs';

// npm run relay | sim | bench | kill | fuzz | soak: sets up and builds what is missing, then becomes the built program.
const [name = '', ...args] = process.argv.slice(2);
if (!['relay', 'sim', 'bench', 'kill', 'fuzz', 'soak'].includes(name)) {
  console.error('Usage: node src/tool.mjs relay|sim|bench|kill|fuzz|soak [options of the program]');
  process.exit(2);
}
const stop = () => {
  endAll();
  process.exit(130);
};
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
if (!(await ensureInstalled()) || !(await ensureBuilt())) process.exit(1);
process.off('SIGINT', stop);
process.off('SIGTERM', stop);
const program = join(root, 'dist/node', `${name}.js`);
process.argv = [process.execPath, program, ...args];
await import(pathToFileURL(program).href);
