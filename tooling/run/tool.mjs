// `npm run bench`, `npm run chaos`: sets up a private tool, then runs it with the arguments that it was given.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setup } from './setup.mjs';
import { root } from './steps.mjs';

const [tool, ...args] = process.argv.slice(2);
await setup({ only: `@q/${tool}` });
const program = join(root, 'tooling', tool, 'dist', 'cli.js');
spawn(process.execPath, [program, ...args], { stdio: 'inherit' }).on('exit', (code) => {
  process.exitCode = code ?? 1;
});
