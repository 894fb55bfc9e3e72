import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';
import type { Finding } from './finding.js';
import { type Import, readImports } from './read-imports.js';
import { CODE_LOADERS, type PackageRule, RULES } from './rules.js';

interface Manifest {
  readonly name: string;
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly devDependencies?: Record<string, string>;
}

/** Holds every package in `packages/` to its line in the table: what its package.json asks for, and what its `src` imports. */
export function checkArrows(root: string): Finding[] {
  return readdirSync(join(root, 'packages')).flatMap((folder) => checkPackage(root, `packages/${folder}`));
}

function checkPackage(root: string, folder: string): Finding[] {
  const file = `${folder}/package.json`;
  if (!existsSync(join(root, file))) return [];
  const manifest: Manifest = JSON.parse(readFileSync(join(root, file), 'utf8'));
  const rule = RULES[manifest.name];
  if (rule === undefined)
    return [
      {
        where: file,
        what: `${manifest.name} has no line in tooling/checks/src/rules.ts: say there what it may import`,
      },
    ];
  const inManifest = checkManifest(manifest, rule).map((what) => ({ where: file, what: `${manifest.name} ${what}` }));
  return [
    ...inManifest,
    ...sourceFiles(root, folder).flatMap((path) => checkFile(root, folder, path, manifest.name, rule)),
  ];
}

function checkManifest(manifest: Manifest, rule: PackageRule): string[] {
  const installed = Object.keys({ ...manifest.dependencies, ...manifest.optionalDependencies });
  const peers = Object.keys(manifest.peerDependencies ?? {});
  const siblings = Object.keys(manifest.devDependencies ?? {}).filter((name) => name in RULES);
  return [
    ...installed
      .filter((name) => !rule.dependencies?.includes(name))
      .map(
        (name) =>
          `depends on ${name}: a published package has no dependencies; make it a peer, or write what is needed of it`,
      ),
    ...peers.filter((name) => !rule.peers.includes(name)).map((name) => `may not have ${name} as a peer`),
    ...siblings
      .filter((name) => ![...rule.peers, ...(rule.tests ?? [])].includes(name))
      .map((name) => `may not use ${name}, not even in its tests`),
  ];
}

function checkFile(root: string, folder: string, path: string, packageName: string, rule: PackageRule): Finding[] {
  const { imports, dynamicCode, syntaxErrors } = readImports(path, readFileSync(join(root, path), 'utf8'));
  const mayLoad = rule.loaders?.includes(path.slice(folder.length + 1)) ?? false;
  return [
    ...syntaxErrors.map((message) => ({ where: path, what: `cannot be read: ${message}` })),
    ...dynamicCode
      .filter(({ loadsModule }) => !(loadsModule && mayLoad))
      .map(({ line, written }) => ({
        where: `${path}:${line}`,
        what: `${written} chooses code at run time: name the module in the source`,
      })),
    ...imports.flatMap((found) => {
      const problem = found.name.startsWith('.')
        ? escapes(folder, path, found.name)
        : forbidden(found, packageName, rule);
      return problem === undefined ? [] : [{ where: `${path}:${found.line}`, what: problem }];
    }),
  ];
}

/** A relative path out of `src` reaches what is not published, or a sibling past its `exports`. */
function escapes(folder: string, path: string, name: string): string | undefined {
  const target = normalize(join(dirname(path), name));
  return target.startsWith(normalize(`${folder}/src/`)) ? undefined : `${name} is outside of ${folder}/src`;
}

function forbidden({ name, typeOnly }: Import, packageName: string, rule: PackageRule): string | undefined {
  // Every package may assume Node's global types.
  if (name === 'node' && typeOnly) return undefined;
  if (CODE_LOADERS.some((loader) => covers(loader, name)))
    return `${name} chooses code at run time: no package may import it`;
  if (rule.imports.some((allowed) => covers(allowed, name))) return undefined;
  const inTypes = rule.types?.some((allowed) => covers(allowed, name)) ?? false;
  if (inTypes && typeOnly) return undefined;
  return inTypes
    ? `${packageName} may use ${name} in types only: write \`import type\`, and let the user pass the instance in`
    : `${packageName} may not import ${name}: the table is tooling/checks/src/rules.ts`;
}

function covers(allowed: string, name: string): boolean {
  if (allowed.endsWith('*')) return name.startsWith(allowed.slice(0, -1));
  return name === allowed || name.startsWith(`${allowed}/`);
}

function sourceFiles(root: string, folder: string): string[] {
  const src = join(root, folder, 'src');
  if (!existsSync(src)) return [];
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((file) => /\.[cm]?[jt]sx?$/.test(file))
    .map((file) => `${folder}/src/${file.split(sep).join('/')}`)
    .sort();
}
