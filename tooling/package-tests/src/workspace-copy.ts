import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './run.js';

export const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What `changeset` and `pnpm publish` look at; the built files, which are not in git, come besides. */
const COPIED = [
  '.changeset',
  'LICENSE',
  'package.json',
  'pnpm-lock.yaml',
  'pnpm-workspace.yaml',
  'packages',
  'tooling/*/package.json',
  'examples/*/package.json',
];

const GIT_SETTINGS = ['user.name=q', 'user.email=q@localhost', 'commit.gpgsign=false', 'tag.gpgsign=false'];

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string | Readonly<Record<string, string>>>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A repository of its own with the packages as they are on disk, built: for commands that write versions, changelogs and tags. */
export class WorkspaceCopy {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(folder: string): Promise<WorkspaceCopy> {
    const listed = await run(['git', 'ls-files', '-z', '-co', '--exclude-standard', '--', ...COPIED], ROOT);
    const files = listed.split('\0').filter((path) => path !== '' && !/^packages\/[^/]+\/test\//.test(path));
    for (const file of new Set(files)) {
      await mkdir(dirname(join(folder, file)), { recursive: true });
      await cp(join(ROOT, file), join(folder, file)).catch((error) => {
        // Deleted, and not yet committed: git still lists it.
        if (error.code !== 'ENOENT') throw error;
      });
    }
    for (const name of await readdir(join(folder, 'packages'))) {
      await cp(join(ROOT, 'packages', name, 'dist'), join(folder, 'packages', name, 'dist'), { recursive: true });
    }
    await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    await writeFile(join(folder, '.gitignore'), 'node_modules\ndist\n.npmrc\n');
    const copy = new WorkspaceCopy(folder);
    await copy.#git('init', '--quiet', '--initial-branch=main');
    // Of its own, since `changeset publish` tags by itself: a machine may have no name, or sign everything.
    for (const setting of GIT_SETTINGS) await copy.#git('config', ...setting.split('='));
    await copy.commit();
    return copy;
  }

  /** By name. */
  async manifests(): Promise<Map<string, Manifest>> {
    const folders = await readdir(join(this.folder, 'packages'));
    const manifests = folders.map(async (name): Promise<Manifest> => {
      return JSON.parse(await readFile(join(this.folder, 'packages', name, 'package.json'), 'utf8'));
    });
    return new Map((await Promise.all(manifests)).map((manifest) => [manifest.name, manifest]));
  }

  /** A changeset as `npx changeset` writes one. */
  async addChangeset(releases: Readonly<Record<string, 'patch' | 'minor' | 'major'>>): Promise<void> {
    const lines = Object.entries(releases).map(([name, size]) => `'${name}': ${size}\n`);
    await writeFile(join(this.folder, '.changeset', 'rehearsed.md'), `---\n${lines.join('')}---\n\nRehearsed.\n`);
    await this.commit();
  }

  /** Turns all changesets into versions and changelogs. */
  async version(): Promise<void> {
    await this.changeset('version');
    await this.commit();
  }

  changeset(command: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
    return run([join(this.folder, 'node_modules', '.bin', 'changeset'), command], this.folder, env);
  }

  async head(): Promise<string> {
    return (await this.#git('rev-parse', 'HEAD')).trim();
  }

  async goBackTo(commit: string): Promise<void> {
    await this.#git('reset', '--quiet', '--hard', commit);
  }

  async commit(): Promise<void> {
    await this.#git('add', '--all');
    await this.#git('commit', '--quiet', '--allow-empty', '--message=Rehearsal');
  }

  #git(...args: string[]): Promise<string> {
    return run(['git', ...args], this.folder);
  }
}
