import { output } from './places.js';
import type { Recipe } from './recipe.js';
import type { Server, ServerSource } from './server.js';
import { notOurs } from './sources.js';
import { type Readiness, supervise } from './supervise.js';

export interface SupervisedOptions {
  readonly url: string;
  readonly source: ServerSource;
  readonly recipe: Recipe;
  readonly readiness: Readiness;
  /** What Docker has to be told first. */
  readonly create?: readonly string[];
  readonly readOnly: (on: boolean) => Promise<void>;
}

/** A server that a recipe starts: the whole of `Server`, for whatever kind. Resolves when it answers. */
export async function startSupervised(options: SupervisedOptions): Promise<Server> {
  const { url, source, recipe, readiness, create, readOnly } = options;
  if (create !== undefined) await output('docker', create);
  const supervised = supervise(recipe, readiness);
  try {
    await supervised.start();
  } catch (error) {
    await supervised.close();
    throw error;
  }
  return {
    ...placeOf(url),
    source,
    stop: supervised.stop,
    kill: supervised.kill,
    start: supervised.start,
    async restart() {
      await supervised.stop();
      await supervised.start();
    },
    readOnly,
    close: supervised.close,
    [Symbol.asyncDispose]: supervised.close,
  };
}

/** A server that is somebody else's: it can be used, and that is all. */
export function serverOfTheEnvironment(url: string): Server {
  const refuse = (what: string) => async () => {
    throw notOurs(what);
  };
  return {
    ...placeOf(url),
    source: 'environment',
    stop: refuse('stopped'),
    kill: refuse('killed'),
    start: refuse('started'),
    restart: refuse('restarted'),
    readOnly: refuse('made read-only'),
    close: async () => {},
    [Symbol.asyncDispose]: async () => {},
  };
}

function placeOf(url: string): Pick<Server, 'url' | 'host' | 'port'> {
  const { hostname, port } = new URL(url);
  return { url, host: hostname, port: Number(port) };
}
