import { join } from 'node:path';
import { check } from './check.js';
import type { Project } from './project.js';
import type { Published } from './release.js';

export const PACKAGE = join(import.meta.dirname, '..');
export const TSC = join(PACKAGE, 'node_modules', '.bin', 'tsc');

const RESOLUTIONS = { nodenext: { module: 'nodenext' }, bundler: { module: 'esnext', moduleResolution: 'bundler' } };

/**
 * Every export of what a project has installed, imported, required and type-checked, with whatever `*.ts` the project has
 * beside. What was compiled at nodenext is in a folder `nodenext`.
 */
export function checkExports(row: string, packages: readonly Published[], project: () => Project): void {
  const inTable = (column: string) => ({ table: 'installed', row, column });
  const each = (line: (name: string, index: number) => string) =>
    `${packages.flatMap(exported).map(line).join('\n')}\n`;

  check(inTable('import'), 'can be imported, every export', async () => {
    await project().write({ 'import.mjs': each((name, index) => `import * as _${index} from '${name}';`) });
    await project().node(['import.mjs']);
  });

  check(inTable('require'), 'can be required, every export', async () => {
    await project().write({ 'require.cjs': each((name) => `require('${name}');`) });
    await project().node(['require.cjs']);
  });

  for (const [resolution, options] of Object.entries(RESOLUTIONS)) {
    check(inTable(resolution), `has types that compile at ${resolution}, with those of every library`, async () => {
      const strictly = { target: 'es2022', strict: true, skipLibCheck: false, types: ['node'] };
      const compilerOptions = { ...strictly, ...options, outDir: `./${resolution}` };
      await project().write({
        'all.ts': each((name, index) => `export * as _${index} from '${name}';`),
        [`${resolution}.json`]: JSON.stringify({ compilerOptions, include: ['*.ts'] }),
      });
      await project().run(TSC, '-p', `${resolution}.json`);
    });
  }
}

/** What can be imported of a package. */
function exported({ name, manifest }: Published): string[] {
  const paths = Object.keys(manifest.exports).filter((path) => path !== './package.json');
  return paths.map((path) => join(name, path));
}
