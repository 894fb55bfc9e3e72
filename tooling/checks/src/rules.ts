/**
 * Which package may import what. A name covers what is below it (`@q/core` covers `@q/core/driver-kit`), `node:*` every module of Node.
 * What is not in the table is forbidden: a new arrow is a line here, written on purpose and seen in review.
 */
export interface PackageRule {
  /** What `src` may import, besides its own files. */
  readonly imports: readonly string[];
  /** What `src` may import with `import type` only: nothing of it is loaded at run time. */
  readonly types?: readonly string[];
  /** The only `peerDependencies` allowed. `dependencies` are allowed to no package: what a user installs, the user has chosen. */
  readonly peers: readonly string[];
  /** The exception: a program is installed by itself, and nobody who installs it should have to choose its parser. */
  readonly dependencies?: readonly string[];
  /** Siblings that tests may use, besides the peers. */
  readonly tests?: readonly string[];
  /** The files that may import a module whose name is known only at run time. */
  readonly loaders?: readonly string[];
}

/** A driver works on the connection it is given, so it needs its client's types at most. */
function driver(client: string): PackageRule {
  return { imports: ['@q/core', 'node:*'], types: [client], peers: ['@q/core', client], tests: ['@q/conformance'] };
}

/** Command line, tables, TypeScript configs, colours. */
const CLI_LIBRARIES: readonly string[] = ['commander', 'cli-table3', 'jiti', 'picocolors'];

export const RULES: Readonly<Record<string, PackageRule>> = {
  '@q/core': {
    // os names the worker, async_hooks guards against a push outside the transaction.
    imports: ['node:events', 'node:timers', 'node:os', 'node:async_hooks'],
    peers: ['@types/node'],
  },
  // fast-check in the entry for model tests alone: a test of the package holds the suite itself to that.
  '@q/conformance': { imports: ['@q/core', 'node:assert', 'fast-check'], peers: ['@q/core', 'fast-check'] },
  '@q/driver-mysql': driver('mysql2'),
  '@q/driver-pg': driver('pg'),
  '@q/driver-redis': driver('ioredis'),
  '@q/driver-sqlite': driver('better-sqlite3'),
  '@q/cli': {
    imports: ['@q/core', '@q/conformance/doctor', 'node:*', ...CLI_LIBRARIES],
    peers: ['@q/core', '@q/conformance'],
    dependencies: CLI_LIBRARIES,
    tests: ['@q/driver-mysql', '@q/driver-pg', '@q/driver-redis', '@q/driver-sqlite'],
    // The user's config is a module, and brings the driver in.
    loaders: ['src/config.ts'],
  },
};

/** Modules that turn text into code or find modules by a computed name. `node:*` does not cover them. */
export const CODE_LOADERS: readonly string[] = ['node:module', 'node:vm', 'node:repl', 'node:inspector'];

export interface TextRule {
  readonly what: string;
  readonly pattern: RegExp;
  /** The files it is about; all of them when absent. */
  readonly files?: RegExp;
  readonly except?: RegExp;
}

/** What no committed file may say: it would be true on one machine only. */
export const TEXT_RULES: readonly TextRule[] = [
  { what: 'a path of one machine', pattern: /\/(?:work|farm|root)\/|\/tmp\/bash[_]jobs/, except: /^\.ci\// },
  {
    what: 'a host that packages came from',
    pattern: /\btarball: *https?:|https?:\/\/\S+\.tgz\b/,
    files: /(?:^|\/)pnpm-lock\.yaml$/,
  },
  {
    what: 'a registry',
    pattern: /\bregistry"?\s*[:=]\s*"?https?:/,
    files: /(?:^|\/)(?:\.npmrc|pnpm-workspace\.yaml|package\.json)$/,
  },
];
