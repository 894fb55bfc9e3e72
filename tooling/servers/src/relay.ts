import { once } from 'node:events';
import net from 'node:net';

/**
 * A TCP relay in front of a server, for what happens to a network: it can stop forwarding while both sides' connections
 * stay open (a firewall that has forgotten them), break them, or refuse new ones.
 */
export interface Relay extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  /** The server's URL, by way of the relay. */
  readonly url: string;
  /** How many connections go through it now. */
  readonly connections: number;
  /** Forwards nothing any more, either way, and says nothing: on connections that are there, and on new ones. */
  freeze(): void;
  /**
   * Forwards again. `'new'`: only on connections made from now on, and those that are there stay frozen for good, as after
   * a failover or behind a NAT that dropped them.
   */
  thaw(which?: 'all' | 'new'): void;
  /** Breaks every connection that is there. New ones go through. */
  cut(): void;
  /** Refuses new connections, or takes them again. Those that are there go on. */
  refuse(on: boolean): Promise<void>;
  close(): Promise<void>;
}

interface Pair {
  readonly sockets: readonly [net.Socket, net.Socket];
  /** For good. */
  isForgotten: boolean;
}

/** Starts a relay to where the URL points, on a free port of this machine. */
export async function startRelay(url: string): Promise<Relay> {
  const target = new URL(url);
  const pairs = new Set<Pair>();
  let isFrozen = false;
  const listener = net.createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    const far = net.connect({ host: target.hostname, port: Number(target.port), allowHalfOpen: true });
    const pair: Pair = { sockets: [near, far], isForgotten: false };
    pairs.add(pair);
    connect(pair, () => pairs.delete(pair));
    if (!isFrozen) flow(pair);
  });
  await listen(listener, 0);
  // The cast: a TCP server that listens has an address with a port.
  const { port } = listener.address() as net.AddressInfo;
  const through = new URL(url);
  through.host = `127.0.0.1:${port}`;
  const relay: Relay = {
    host: '127.0.0.1',
    port,
    url: through.href,
    get connections() {
      return pairs.size;
    },
    freeze() {
      isFrozen = true;
      for (const { sockets } of pairs) for (const socket of sockets) socket.pause();
    },
    thaw(which = 'all') {
      isFrozen = false;
      for (const pair of pairs) {
        if (which === 'new') pair.isForgotten = true;
        flow(pair);
      }
    },
    cut() {
      for (const { sockets } of pairs) for (const socket of sockets) socket.destroy();
    },
    async refuse(on) {
      if (on === !listener.listening) return;
      if (on) listener.close();
      else await listen(listener, port);
    },
    async close() {
      const closed = listener.listening ? once(listener, 'close') : null;
      listener.close();
      relay.cut();
      await closed;
    },
    [Symbol.asyncDispose]: () => relay.close(),
  };
  return relay;
}

/** Not `pipe`: that resumes a socket by itself whenever the other one drains, frozen or not. */
function connect({ sockets }: Pair, onClose: () => void): void {
  for (const [index, socket] of sockets.entries()) {
    const other = sockets[1 - index];
    socket.setNoDelay(true);
    socket.on('data', (data) => other?.write(data));
    socket.on('end', () => other?.end());
    socket.on('error', () => {});
    socket.on('close', () => {
      other?.destroy();
      onClose();
    });
  }
}

function flow({ sockets, isForgotten }: Pair): void {
  if (!isForgotten) for (const socket of sockets) socket.resume();
}

async function listen(listener: net.Server, port: number): Promise<void> {
  listener.listen(port, '127.0.0.1');
  await once(listener, 'listening');
}
