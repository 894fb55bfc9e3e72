import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { dockerRecipe, findSource, versionsIn, type Wanted } from '../src/sources.js';
import { serverOfTheEnvironment } from '../src/supervised-server.js';

const URL_OF_SOMEBODY = 'postgres://somebody@db.example:6432/app';

function wanted(what: Partial<Wanted> = {}): Wanted {
  return {
    name: 'Postgres',
    variable: 'Q_TEST_SOMETHING_URL',
    aptPackage: 'a-package-that-is-not-there',
    image: 'postgres:17-alpine',
    findBinaries: () => null,
    ...what,
  };
}

/** A PATH with nothing on it but these programs, which do nothing and end with this code. */
function onlyOnPath(programs: Readonly<Record<string, number>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'q-path-'));
  for (const [name, code] of Object.entries(programs)) {
    writeFileSync(join(folder, name), `#!/bin/sh\nexit ${code}\n`);
    chmodSync(join(folder, name), 0o755);
  }
  vi.stubEnv('PATH', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true });
  });
  return folder;
}

describe('A server is taken from', () => {
  test('the environment first, unless the test needs one of its own', async () => {
    onlyOnPath({});
    vi.stubEnv('Q_TEST_SOMETHING_URL', URL_OF_SOMEBODY);
    const here = wanted({ findBinaries: () => '/opt/bin' });
    expect(await findSource(here)).toEqual({ source: 'environment', url: URL_OF_SOMEBODY });
    expect(await findSource(here, { own: true })).toEqual({ source: 'binaries', folder: '/opt/bin' });
  });

  test('Docker where there are no programs and a daemon answers', async () => {
    onlyOnPath({ docker: 0 });
    expect(await findSource(wanted())).toEqual({ source: 'docker', image: 'postgres:17-alpine' });
  });

  test('nowhere, in one sentence that says what to do, where there is nothing', async () => {
    onlyOnPath({ docker: 1 });
    await expect(findSource(wanted())).rejects.toThrow(
      'These tests need Postgres, and there is none: set Q_TEST_SOMETHING_URL to the URL of a server, install the package ' +
        'a-package-that-is-not-there, or start Docker',
    );
  });
});

describe('A server of the environment', () => {
  test('can be used, and that is all', async () => {
    const server = serverOfTheEnvironment(URL_OF_SOMEBODY);
    expect([server.host, server.port]).toEqual(['db.example', 6432]);
    for (const act of [server.stop, server.kill, server.start, server.restart, () => server.readOnly(true)]) {
      await expect(act()).rejects.toThrow('start one with { own: true }');
    }
    await server.close();
  });
});

describe('A recipe for Docker', () => {
  test('is a container of its own on a port of this machine, which is removed with its volumes', () => {
    const { create, recipe } = dockerRecipe({
      image: 'x:1',
      port: 4_000,
      innerPort: 5_432,
      env: { A: 'b' },
      args: ['-c', 'd=e'],
    });
    const name = create[2] ?? '';
    expect(create).toEqual([
      'create',
      '--name',
      name,
      '--publish',
      '127.0.0.1:4000:5432',
      '--env',
      'A=b',
      'x:1',
      '-c',
      'd=e',
    ]);
    expect(recipe).toEqual({
      run: { program: 'docker', args: ['start', '--attach', name] },
      stop: { program: 'docker', args: ['stop', name] },
      kill: { program: 'docker', args: ['kill', name] },
      remove: { program: 'docker', args: ['rm', '--force', '--volumes', name] },
    });
  });
});

test('Of several versions the highest comes first, by number', () => {
  const folder = onlyOnPath({ 9: 0, 15: 0, 100: 0 });
  expect(versionsIn(folder)).toEqual(['100', '15', '9']);
  expect(versionsIn(join(folder, 'nowhere'))).toEqual([]);
});
