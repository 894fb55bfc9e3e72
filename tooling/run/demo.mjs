// `npm run demo`: sets up, then runs examples/demo, which sees Ctrl-C itself and stops in its own time.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setup } from './setup.mjs';
import { root } from './steps.mjs';

await setup({ only: '@q/example-demo' });
const demo = spawn(process.execPath, ['dist/main.js'], { cwd: join(root, 'examples', 'demo'), stdio: 'inherit' });
process.on('SIGINT', () => {});
process.on('SIGTERM', () => demo.kill('SIGTERM'));
demo.on('exit', (code) => {
  process.exitCode = code ?? 1;
});
