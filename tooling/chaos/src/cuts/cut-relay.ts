import { once } from 'node:events';
import net from 'node:net';
import type { Protocol } from './protocols.js';

/** Where a connection breaks: before the n-th message is passed on (from 1), or when it has been, and its answer is there. */
export interface CutPoint {
  readonly message: number;
  readonly when: 'before' | 'after';
}

/** A relay that knows a protocol, and breaks the connection at one point of it. */
export interface CutRelay extends AsyncDisposable {
  readonly url: string;
  /** From now on messages are counted, on all connections. */
  arm(point: CutPoint): void;
  /** Whether it has cut. A message that gets no answer cannot be cut after: `skipped`. */
  readonly state: 'armed' | 'cut' | 'skipped';
}

export async function startCutRelay(url: string, protocol: Protocol): Promise<CutRelay> {
  const target = new URL(url);
  const sockets = new Set<net.Socket>();
  let point: CutPoint | null = null;
  let seen = 0;
  let state: CutRelay['state'] = 'armed';
  const listener = net.createServer((near) => {
    const far = net.connect({ host: target.hostname, port: Number(target.port) });
    const cut = () => {
      state = 'cut';
      near.destroy();
      far.destroy();
    };
    let isFirst = true;
    let unread = Buffer.alloc(0);
    /** What the server has sent since the message after whose answer it is cut. */
    let withheld: Buffer | null = null;
    near.on('data', (data) => {
      unread = Buffer.concat([unread, data]);
      for (;;) {
        const message = protocol.first(unread, isFirst);
        if (message === null) return;
        const isAtPoint = point !== null && state === 'armed' && ++seen === point.message;
        if (isAtPoint && point?.when === 'before') return cut();
        if (isAtPoint && !message.isAnswered) state = 'skipped';
        if (isAtPoint && message.isAnswered) withheld = Buffer.alloc(0);
        far.write(unread.subarray(0, message.length));
        unread = unread.subarray(message.length);
        isFirst = false;
      }
    });
    far.on('data', (data) => {
      if (withheld === null) return void near.write(data);
      withheld = Buffer.concat([withheld, data]);
      if (protocol.isAnswer(withheld)) cut();
    });
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const through = new URL(url);
  // The cast: a TCP server that listens has an address with a port.
  through.port = String((listener.address() as net.AddressInfo).port);
  return {
    url: through.href,
    get state() {
      return state;
    },
    arm(where) {
      point = where;
      seen = 0;
      state = 'armed';
    },
    async [Symbol.asyncDispose]() {
      const closed = once(listener, 'close');
      listener.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
