import { describe, expect, it } from 'vitest';
import { checkArrows } from '../src/arrows.js';
import { aTree } from './a-tree.js';

const MANIFESTS = {
  core: { name: '@q/core', peerDependencies: { '@types/node': '*' } },
  conformance: { name: '@q/conformance', peerDependencies: { '@q/core': '*' } },
  'driver-sqlite': {
    name: '@q/driver-sqlite',
    peerDependencies: { '@q/core': '*', 'better-sqlite3': '*' },
    devDependencies: { '@q/conformance': '*', vitest: '*' },
  },
  cli: { name: '@q/cli', peerDependencies: { '@q/core': '*', '@q/conformance': '*' } },
};

type Folder = keyof typeof MANIFESTS;

/** What is found in one package whose manifest is as it should be, with these source files. */
function inSources(folder: Folder, sources: Readonly<Record<string, string>>): string[] {
  const files = Object.entries(sources).map(([name, text]) => [`packages/${folder}/src/${name}`, text]);
  const root = aTree({ [`packages/${folder}/package.json`]: MANIFESTS[folder], ...Object.fromEntries(files) });
  return checkArrows(root).map(({ where, what }) => `${where.replace(`packages/${folder}/src/`, '')} ${what}`);
}

/** What is found in one package without sources, with this manifest. */
function inManifest(folder: Folder, changes: object): string[] {
  return checkArrows(aTree({ [`packages/${folder}/package.json`]: { ...MANIFESTS[folder], ...changes } })).map(
    ({ what }) => what,
  );
}

const TABLE = 'the table is tooling/checks/src/rules.ts';

describe('an import in src', () => {
  it('may be any that the table names, and what lies below it', () => {
    expect(
      inSources('core', {
        'a.ts':
          "import { EventEmitter } from 'node:events';\nimport * as t from 'node:timers/promises';\nimport './b.js';",
      }),
    ).toEqual([]);
    expect(
      inSources('driver-sqlite', {
        'a.ts': "import { CLAIM_ROUNDS } from '@q/core/driver-kit';\nimport type { Database } from 'better-sqlite3';",
      }),
    ).toEqual([]);
    expect(
      inSources('cli', { 'commands/work.ts': "import fs from 'node:fs';\nawait import('@q/conformance/doctor');" }),
    ).toEqual([]);
  });

  it.each([
    ['core', 'node:fs'],
    ['core', 'fs'],
    ['core', 'node:eventsource'],
    ['core', 'better-sqlite3'],
    ['core', '@q/conformance'],
    ['core', '@q/core'],
    ['conformance', 'vitest'],
    ['conformance', '@q/driver-sqlite'],
    ['driver-sqlite', '@q/driver-pg'],
    ['driver-sqlite', '@q/conformance'],
    ['driver-sqlite', '@q/cli'],
    ['driver-sqlite', 'pg'],
    ['cli', '@q/driver-sqlite'],
    ['cli', '@q/conformance'],
  ] as const)('of %s may not be %s', (folder, name) => {
    expect(inSources(folder, { 'a.ts': `\nimport x from '${name}';` })).toEqual([
      `a.ts:2 @q/${folder} may not import ${name}: ${TABLE}`,
    ]);
  });

  it.each([
    "import 'pg';",
    "import type { Pool } from 'pg';",
    "import { type Pool } from 'pg';",
    "export * from 'pg';",
    "export * as pg from 'pg';",
    "export type { Pool } from 'pg';",
    "export { Pool } from 'pg';",
    "let pool: import('pg').Pool;",
    "import pg = require('pg');",
    "import type pg = require('pg');",
    "await import('pg');",
    'await import(`pg`);',
    "require('pg');",
    "process.getBuiltinModule('pg');",
    '/// <reference types="pg" />',
  ])('is seen when it is written %s', (text) => {
    expect(inSources('core', { 'a.ts': text })).toEqual([`a.ts:1 @q/core may not import pg: ${TABLE}`]);
  });

  it('is not seen in a comment or a text', () => {
    expect(
      inSources('core', {
        'a.ts': `// import 'pg';\n/** await import(name); eval(text) */\nexport const text = "import 'pg'";`,
      }),
    ).toEqual([]);
  });

  it.each(["import Database from 'better-sqlite3';", "import { type Database } from 'better-sqlite3';"])(
    'of a client loads nothing of it, as %s would',
    (text) => {
      expect(inSources('driver-sqlite', { 'a.ts': text })).toEqual([
        'a.ts:1 @q/driver-sqlite may use better-sqlite3 in types only: write `import type`, and let the user pass the instance in',
      ]);
    },
  );

  it('stays inside of src', () => {
    expect(
      inSources('core', {
        'deep/a.ts': "import '../b.js';\nimport '../../test/c.js';\nimport '../../../conformance/src/index.js';",
      }),
    ).toEqual([
      'deep/a.ts:2 ../../test/c.js is outside of packages/core/src',
      'deep/a.ts:3 ../../../conformance/src/index.js is outside of packages/core/src',
    ]);
  });
});

describe('code chosen at run time', () => {
  it.each([
    ['await import(name);', 'import(…)'],
    [`await import(\`./handlers/\${name}.js\`);`, 'import(…)'],
    ['require(name);', 'require(…)'],
    ['eval(text);', 'eval(…)'],
    ['globalThis.eval(text);', 'eval(…)'],
    ['new Function(text);', 'Function(…)'],
    ['Function(text);', 'Function(…)'],
    ['process.getBuiltinModule(name);', 'getBuiltinModule(…)'],
  ])('is refused: %s', (text, written) => {
    expect(inSources('core', { 'a.ts': text })).toEqual([
      `a.ts:1 ${written} chooses code at run time: name the module in the source`,
    ]);
  });

  it.each(['node:vm', 'node:module'])('is refused to a package that may import any module of Node: %s', (name) => {
    expect(inSources('cli', { 'a.ts': `import x from '${name}';` })).toEqual([
      `a.ts:1 ${name} chooses code at run time: no package may import it`,
    ]);
  });

  it('is allowed to the one file that loads the config of the user, as far as modules go', () => {
    const text = 'await import(path);\neval(path);';
    expect(inSources('cli', { 'config.ts': text, 'main.ts': text })).toEqual([
      'config.ts:2 eval(…) chooses code at run time: name the module in the source',
      'main.ts:1 import(…) chooses code at run time: name the module in the source',
      'main.ts:2 eval(…) chooses code at run time: name the module in the source',
    ]);
  });
});

describe('a package.json', () => {
  it.each(['dependencies', 'optionalDependencies'])('has no %s', (field) => {
    expect(inManifest('core', { [field]: { ms: '*' } })).toEqual([
      '@q/core depends on ms: a published package has no dependencies; make it a peer, or write what is needed of it',
    ]);
  });

  it('of the command has the libraries that the table names, and no other', () => {
    expect(inManifest('cli', { dependencies: { commander: '*', jiti: '*', ms: '*' } })).toEqual([
      '@q/cli depends on ms: a published package has no dependencies; make it a peer, or write what is needed of it',
    ]);
  });

  it('has no peers but those of the table', () => {
    expect(inManifest('driver-sqlite', { peerDependencies: { '@q/core': '*', pg: '*' } })).toEqual([
      '@q/driver-sqlite may not have pg as a peer',
    ]);
  });

  it('brings in no other driver, not even for tests', () => {
    expect(inManifest('driver-sqlite', { devDependencies: { '@q/driver-pg': '*' } })).toEqual([
      '@q/driver-sqlite may not use @q/driver-pg, not even in its tests',
    ]);
  });

  it('of a package without a line in the table is refused', () => {
    const root = aTree({ 'packages/new/package.json': { name: '@q/new' } });
    expect(checkArrows(root)).toEqual([
      {
        where: 'packages/new/package.json',
        what: '@q/new has no line in tooling/checks/src/rules.ts: say there what it may import',
      },
    ]);
  });
});

it('A file that cannot be parsed is reported, not passed over', () => {
  expect(inSources('core', { 'a.ts': 'import { from;' })).not.toEqual([]);
});
