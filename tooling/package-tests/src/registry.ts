import { once } from 'node:events';
import type { Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

// The cast: its own types name packages that do not come with it.
const { runServer } = createRequire(import.meta.url)('verdaccio') as { runServer(config: object): Promise<Server> };

export interface Registry {
  readonly url: string;
  /** Where the tarball of a package is kept, just as it was published. */
  tarball(name: string, version: string): string;
  close(): Promise<void>;
}

/** An empty registry on a free port of 127.0.0.1, in this process, for the packages of the scope `@q`. It asks no other registry for anything. */
export async function startRegistry(folder: string): Promise<Registry> {
  const storage = join(folder, 'storage');
  const server = await runServer({
    configPath: join(folder, 'config.yaml'),
    self_path: folder,
    storage,
    auth: { htpasswd: { file: join(folder, 'htpasswd'), max_users: -1 } },
    uplinks: {},
    packages: { '@q/*': { access: '$all', publish: '$anonymous $all' } },
    web: { enable: false },
    log: { type: 'stdout', format: 'pretty', level: 'error' },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  // The cast: what listens on a port has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    tarball: (name, version) => join(storage, name, `${name.replace(/^@.*\//, '')}-${version}.tgz`),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
