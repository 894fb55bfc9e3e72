import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, describe, expect, inject } from 'vitest';
import { check } from './check.js';
import { compileOnce } from './compile-once.js';
import { type Manager, Project } from './project.js';
import type { Published } from './release.js';
import { CLIENTS, type Store } from './stores.js';

const PACKAGE = join(import.meta.dirname, '..');
const PROGRAMS = join(PACKAGE, 'programs');
const TSC = join(PACKAGE, 'node_modules', '.bin', 'tsc');
const WAY = { nodenext: { module: 'nodenext' }, bundler: { module: 'esnext', moduleResolution: 'bundler' } };

/** Everything that a stranger does with one driver: with each package manager, with the oldest and the newest client. */
export function describeInstalls(store: Store): void {
  describe.each<Manager>(['npm', 'pnpm'])('%s', (manager) => {
    describe.each(['oldest', 'newest'] as const)(`${store.driver} with the %s ${store.client}`, (age) => {
      describeInstall(store, manager, age);
    });
  });
}

function describeInstall(store: Store, manager: Manager, age: 'oldest' | 'newest'): void {
  const inTable = (column: string) => ({
    table: 'installed',
    row: `${store.driver} ${age} client, ${manager}`,
    column,
  });
  const release = inject('release');
  const [core, driver] = ['@q/core', store.driver].map(published) as [Published, Published];
  const allowed = driver.manifest.peerDependencies?.[store.client] ?? '';
  let project: Project;
  let url: string;

  beforeAll(async () => {
    project = await Project.make(release, manager);
    url = await store.open(project.folder);
    await project.copy(join(PROGRAMS, store.driver.slice('@q/'.length)), '.');
    for (const name of ['handlers.ts', 'producer.ts', 'worker.ts'])
      await cp(join(PROGRAMS, name), join(project.folder, name));
  });

  check(inTable('install'), 'installs, and brings no client of another store', async () => {
    const ours = [core, driver].map((one) => `${one.name}@${one.version}`);
    const client = `${store.client}@${age === 'oldest' ? store.oldest : allowed}`;
    const types = store.types === undefined ? [] : [store.types];
    // What is compiled is compiled afterwards, and only if it has not been.
    const flags = store.compiled === undefined ? [] : ['--ignore-scripts'];
    await project.install([...ours, client, ...types, '@types/node@20'], flags);
    if (store.compiled !== undefined) await compileOnce(project, store.client, store.compiled);
    const installed = await project.installed();
    expect(CLIENTS.filter((name) => installed.has(name))).toEqual([store.client]);
    return project.versionOf(store.client);
  });

  check(inTable('import'), 'can be imported, every export of core and of the driver', async () => {
    await project.write({
      'import.mjs': specifiers()
        .map((name, index) => `import * as _${index} from '${name}';\n`)
        .join(''),
    });
    await project.node(['import.mjs']);
  });

  check(inTable('require'), 'can be required, every export of core and of the driver', async () => {
    await project.write({
      'require.cjs': specifiers()
        .map((name) => `require('${name}');\n`)
        .join(''),
    });
    await project.node(['require.cjs']);
  });

  for (const [way, options] of Object.entries(WAY)) {
    check(inTable(way), `has types that compile at ${way}, those of the client included`, async () => {
      const compilerOptions = {
        ...options,
        target: 'es2022',
        strict: true,
        skipLibCheck: false,
        types: ['node'],
        outDir: `./${way}`,
      };
      await project.write({
        'all.ts': specifiers()
          .map((name, index) => `export * as _${index} from '${name}';\n`)
          .join(''),
        [`${way}.json`]: JSON.stringify({ compilerOptions, include: ['*.ts'] }),
      });
      await project.run(TSC, '-p', `${way}.json`);
    });
  }

  check(inTable('job'), 'runs a job that another process has pushed', async () => {
    await aJob('nodenext/producer.js', 'nodenext/worker.js');
  });

  check(inTable('bundle'), 'runs a job in bundles of producer and worker', async () => {
    await build({
      absWorkingDir: project.folder,
      entryPoints: ['producer.ts', 'worker.ts'],
      bundle: true,
      platform: 'node',
      format: 'cjs',
      outdir: 'bundled',
      outExtension: { '.js': '.cjs' },
      external: [...store.external],
      logLevel: 'silent',
    });
    await aJob('bundled/producer.cjs', 'bundled/worker.cjs');
  });

  async function aJob(producer: string, worker: string): Promise<void> {
    const env = { QUEUE_URL: url };
    expect(await project.node([producer], env)).toBe('');
    expect(await project.node([worker], env)).toBe('Hello, Ada\n');
  }

  function published(name: string): Published {
    const found = release.packages.find((one) => one.name === name);
    if (found === undefined) throw new Error(`${name} was not released`);
    return found;
  }

  function specifiers(): string[] {
    return [core, driver].flatMap(exported);
  }
}

/** What can be imported of a package. */
export function exported({ name, manifest }: Published): string[] {
  const paths = Object.keys(manifest.exports).filter((path) => path !== './package.json');
  return paths.map((path) => join(name, path));
}
