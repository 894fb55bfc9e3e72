import { once } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Relay, startRelay } from '../src/relay.js';

/** A server that says everything back, and a relay in front of it. */
async function anEcho(): Promise<Relay> {
  const server = net.createServer((socket) => socket.on('error', () => {}).pipe(socket)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const relay = await startRelay(`tcp://127.0.0.1:${port}`);
  onTestFinished(async () => {
    await relay.close();
    server.close();
  });
  return relay;
}

async function connect(relay: Relay): Promise<net.Socket> {
  const socket = net.connect(relay.port, relay.host);
  socket.on('error', () => {});
  onTestFinished(() => {
    socket.destroy();
  });
  await once(socket, 'connect');
  return socket;
}

/** Whether what is said comes back within a moment. */
async function answers(socket: net.Socket): Promise<boolean> {
  socket.write('?');
  return Promise.race([once(socket, 'data').then(() => true), sleep(150).then(() => false)]);
}

describe('A relay', () => {
  test('forwards both ways, and passes an end on', async () => {
    const relay = await anEcho();
    const socket = await connect(relay);
    expect([await answers(socket), relay.connections]).toEqual([true, 1]);
    socket.end();
    await once(socket, 'end');
  });

  test('that is frozen says nothing on any connection, and forwards what was said when it thaws', async () => {
    const relay = await anEcho();
    const before = await connect(relay);
    relay.freeze();
    const meanwhile = await connect(relay);
    expect([await answers(before), await answers(meanwhile)]).toEqual([false, false]);
    expect([before.destroyed, meanwhile.destroyed, relay.connections]).toEqual([false, false, 2]);
    const heard = [once(before, 'data'), once(meanwhile, 'data')];
    relay.thaw();
    await Promise.all(heard);
  });

  test('that thaws for new connections leaves the old ones open and silent', async () => {
    const relay = await anEcho();
    const old = await connect(relay);
    relay.freeze();
    relay.thaw('new');
    expect([await answers(old), await answers(await connect(relay)), old.destroyed]).toEqual([false, true, false]);
    relay.freeze();
    relay.thaw();
    expect(await answers(old)).toBe(false);
  });

  test('that is cut breaks what is there, and takes new connections', async () => {
    const relay = await anEcho();
    const old = await connect(relay);
    expect(await answers(old)).toBe(true);
    const closed = once(old, 'close');
    relay.cut();
    await closed;
    expect(await answers(await connect(relay))).toBe(true);
  });

  test('that refuses lets what is there go on, and takes new connections again on the same port', async () => {
    const relay = await anEcho();
    const old = await connect(relay);
    await relay.refuse(true);
    await expect(connect(relay)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    expect(await answers(old)).toBe(true);
    await relay.refuse(false);
    expect(await answers(await connect(relay))).toBe(true);
  });
});
