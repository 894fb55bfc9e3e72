// From a bare clone to everything installed and built. Does nothing that was done before: a second run takes about a second.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exists, root, run, step } from './steps.mjs';
import { packages } from './workspace.mjs';

const OLDEST_NODE = [20, 19];
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).devEngines.packageManager;
const stampFile = join(root, 'node_modules', '.q', 'installed.json');

/**
 * Installs and builds what is not yet. Ends the process with a sentence if that fails.
 *
 * @param {{ only?: string }} [options] `only` builds one package and what it needs.
 * @returns {Promise<string>} the folder of the pinned pnpm, which turbo wants on its PATH
 */
export async function setup({ only } = {}) {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major < OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor < OLDEST_NODE[1])) {
    stop(`q needs Node ${OLDEST_NODE.join('.')} or newer; this is Node ${process.versions.node}.`);
  }

  const wanted = { hash: hashOfManifests(), node: `${process.platform}-${process.arch}-${process.versions.modules}` };
  let stamp = readStamp();
  if (stamp?.hash !== wanted.hash || stamp.node !== wanted.node || !exists(stamp.pnpm)) {
    const pnpm = ['npx', '--yes', `pnpm@${version}`];
    if (!(await step('install', () => run([...pnpm, 'install', '--frozen-lockfile'])))) {
      stop(
        `The install failed: what it printed is above. A changed package.json wants \`${pnpm.join(' ')} install\` first.`,
      );
    }
    // pnpm sees no change when only Node did, and would leave native modules built for the other one.
    if (
      stamp &&
      stamp.node !== wanted.node &&
      !(await step('rebuild', () => run([...pnpm, 'rebuild', '--recursive'])))
    ) {
      stop('The native modules could not be built for this Node: what the compiler printed is above.');
    }
    stamp = { ...wanted, pnpm: await pnpmFolder() };
    mkdirSync(dirname(stampFile), { recursive: true });
    writeFileSync(stampFile, JSON.stringify(stamp));
  }

  const path = [stamp.pnpm];
  const filter = only ? [`--filter=${only}`] : [];
  if (!(await step('build', () => run(['turbo', 'run', 'build', ...filter, '--output-logs=errors-only'], { path })))) {
    stop('The build failed: what the compiler printed is above.');
  }
  return stamp.pnpm;
}

/** The lockfile says what to install; the manifests and settings say whether the lockfile is still true. */
function hashOfManifests() {
  const hash = createHash('sha256');
  const manifests = packages().map(({ folder }) => join(folder, 'package.json'));
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc', 'package.json', ...manifests]) {
    if (exists(join(root, file)))
      hash
        .update(`${file}\0`)
        .update(readFileSync(join(root, file)))
        .update('\0');
  }
  return hash.digest('hex');
}

/** npx puts the folder of the pnpm that it fetched on the PATH of what it runs. Asking takes a second, so the stamp keeps the answer. */
async function pnpmFolder() {
  const { code, output } = await run([
    'npx',
    '--yes',
    '--package',
    `pnpm@${version}`,
    '--',
    'node',
    '-p',
    'process.env.PATH',
  ]);
  const folder = output
    .trim()
    .split(delimiter)
    .find((entry) => exists(join(entry, 'pnpm')));
  if (code !== 0 || folder === undefined) stop(`npx installed with pnpm ${version} but cannot find it now:\n${output}`);
  return folder;
}

function readStamp() {
  return exists(stampFile) ? JSON.parse(readFileSync(stampFile, 'utf8')) : undefined;
}

/**
 * @param {string} sentence
 * @returns {never}
 */
function stop(sentence) {
  console.error(sentence);
  process.exit(1);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await setup();
