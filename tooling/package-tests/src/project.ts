import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Published, Release } from './release.js';
import { run } from './run.js';

export type Manager = 'npm' | 'pnpm';

/** A stranger's project: a folder that knows nothing of this workspace, and gets our packages from the registry of the release. */
export class Project {
  readonly folder: string;
  readonly #manager: Manager;

  private constructor(folder: string, manager: Manager) {
    this.folder = folder;
    this.#manager = manager;
  }

  static async make(release: Release, manager: Manager): Promise<Project> {
    const folder = await mkdtemp(join(release.folder, 'project-'));
    // A fresh cache: npm would take a tarball of the same name and version for the same.
    const npmrc = [`@q:registry=${release.registry}`, 'audit=false', 'fund=false', 'update-notifier=false'];
    if (manager === 'npm') npmrc.push(`cache=${join(release.folder, 'npm-cache')}`, 'strict-peer-deps=true');
    await writeFile(join(folder, '.npmrc'), `${npmrc.join('\n')}\n`);
    await writeFile(join(folder, 'pnpm-workspace.yaml'), PNPM_SETTINGS(join(release.folder, 'pnpm-cache')));
    await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    return new Project(folder, manager);
  }

  /** Packages of ours, and others by specs as on a command line: `pg@8.11.0`. */
  async install(packages: readonly (Published | string)[], flags: readonly string[] = []): Promise<void> {
    const specs = packages.map((one) => (typeof one === 'string' ? one : `${one.name}@${one.version}`));
    await this.run(this.#manager, this.#manager === 'npm' ? 'install' : 'add', ...flags, ...specs, '@types/node@20');
  }

  /** The names of all packages that the install brought, however deep. */
  async installed(): Promise<ReadonlySet<string>> {
    const list = this.#manager === 'npm' ? ['npm', 'ls', '--all'] : ['pnpm', 'ls', '--depth=Infinity'];
    const paths = (await this.run(...list, '--parseable')).trim().split('\n');
    return new Set(paths.map((path) => path.split('/node_modules/').at(-1) ?? ''));
  }

  async versionOf(name: string): Promise<string> {
    const manifest = await readFile(join(this.folder, 'node_modules', name, 'package.json'), 'utf8');
    return JSON.parse(manifest).version;
  }

  /** Runs the scripts of a package that was installed without. What they compile is not optimised, which takes a third of the time. */
  async compile(name: string): Promise<void> {
    await run([this.#manager, 'rebuild', name], this.folder, { CFLAGS: '-O0', CXXFLAGS: '-O0' });
  }

  async write(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, text] of Object.entries(files)) await writeFile(join(this.folder, path), text);
  }

  run(...command: string[]): Promise<string> {
    return run(command, this.folder);
  }

  node(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    return run([process.execPath, ...args], this.folder, env);
  }
}

/** What pnpm wants said by whoever installs: which packages may compile, and that ours may be a minute old. */
const PNPM_SETTINGS = (cache: string) => `cacheDir: ${cache}
strictPeerDependencies: true
minimumReleaseAgeExclude: ['@q/*']
allowBuilds:
  better-sqlite3: true
`;
