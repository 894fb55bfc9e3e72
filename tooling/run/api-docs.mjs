// `npm run docs:api`: sets up, then makes the API reference of the docstrings, in tooling/api-docs/dist.
import { join } from 'node:path';
import { setup } from './setup.mjs';
import { root, run, step } from './steps.mjs';

const path = [await setup()];
const home = join(root, 'tooling', 'api-docs');
const typedoc = [
  'node',
  join(home, 'node_modules', 'typedoc', 'bin', 'typedoc'),
  '--options',
  join(home, 'typedoc.json'),
];
if (!(await step('API reference', () => run(typedoc, { path })))) process.exitCode = 1;
