import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, describe, expect, inject } from 'vitest';
import { check } from './check.js';
import { compileOnce } from './compile-once.js';
import { checkExports, PACKAGE } from './exports.js';
import { type Manager, Project } from './project.js';
import { published } from './release.js';
import { CLIENTS, type Store } from './stores.js';

const PROGRAMS = join(PACKAGE, 'programs');

/** Everything that a stranger does with one driver: with each package manager, with the oldest and the newest client. */
export function describeInstalls(store: Store): void {
  describe.each<Manager>(['npm', 'pnpm'])(`${store.driver} by %s`, (manager) => {
    describe.each(['oldest', 'newest'] as const)(`with the %s ${store.client}`, (age) => {
      describeInstall(store, manager, age);
    });
  });
}

function describeInstall(store: Store, manager: Manager, age: 'oldest' | 'newest'): void {
  const row = `${store.driver}, ${age} client, by ${manager}`;
  const inTable = (column: string) => ({ table: 'installed', row, column });
  const release = inject('release');
  const ours = [published(release, '@q/core'), published(release, store.driver)] as const;
  const allowed = ours[1].manifest.peerDependencies?.[store.client] ?? '';
  let project: Project;
  let url: string;

  beforeAll(async () => {
    project = await Project.make(release, manager);
    url = await store.open(project.folder);
    await copyPrograms(store, project);
  });

  check(inTable('install'), 'installs, and brings no client of another store', async () => {
    const client = `${store.client}@${age === 'oldest' ? oldest(allowed) : allowed}`;
    const types = store.types === undefined ? [] : [store.types];
    // What is compiled is compiled afterwards, and only if it has not been.
    const flags = store.compiled === undefined ? [] : ['--ignore-scripts'];
    await project.install([...ours, client, ...types], flags);
    if (store.compiled !== undefined) await compileOnce(project, store.client, store.compiled);
    const installed = await project.installed();
    expect(CLIENTS.filter((name) => installed.has(name))).toEqual([store.client]);
    return project.versionOf(store.client);
  });

  checkExports(row, ours, () => project);

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
}

/** The lower end of a range such as `>=8.11 <9`. */
function oldest(range: string): string {
  const [, major, minor = '0', patch = '0'] = /^>=(\d+)(?:\.(\d+))?(?:\.(\d+))? /.exec(range) ?? [];
  if (major === undefined) throw new Error(`"${range}" does not begin with the oldest version that is allowed`);
  return `${major}.${minor}.${patch}`;
}

/** A queue, its handlers, a producer and a worker. */
export async function copyPrograms(store: Store, project: Project): Promise<void> {
  const files = ['handlers.ts', 'producer.ts', 'worker.ts', `${store.driver.slice('@q/'.length)}/queue.ts`];
  for (const file of files) await cp(join(PROGRAMS, file), join(project.folder, file.replace(/^.*\//, '')));
}
