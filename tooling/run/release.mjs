// `npm run version-packages`: turns the changesets into versions and changelogs, and puts the lockfile right.
// `npm run release`: publishes every package whose version the registry does not have, built anew, so that nothing of a source that is gone is left in it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setup } from './setup.mjs';
import { root, run } from './steps.mjs';
import { packages } from './workspace.mjs';

const steps = {
  version: [
    ['changeset', 'version'],
    ['pnpm', 'install', '--lockfile-only'],
  ],
  publish: [
    ['turbo', 'run', 'build', '--filter=./packages/*', '--force', '--output-logs=errors-only'],
    ['changeset', 'publish'],
  ],
}[process.argv[2] ?? ''];
if (steps === undefined) throw new Error('release.mjs wants to be told what to do: version or publish');

const path = [await setup()];
if (process.argv[2] === 'publish') {
  for (const { folder, manifest } of packages()) {
    if (!manifest.private) rmSync(join(root, folder, 'dist'), { recursive: true, force: true });
  }
}
for (const command of steps) {
  const { code } = await run(command, { path, show: true });
  if (code !== 0) {
    console.error(`${command.join(' ')} ended with exit code ${code}.`);
    process.exit(1);
  }
}
